//! b-bit signatures (Li and König, WWW 2010): of every min-value only b bits.
//!
//! Of m min-values b bits each are kept, packed into lanes of 64-bit words: 16 or 32 times less than the values. Where
//! the values agree, so do the bits; where they differ, the bits agree by chance with probability 2^−b. So of m lanes
//! m·(J + (1 − J)·2^−b) agree on average, from which J is told. The bits are those of a hash of (function, value), not
//! of the value itself, whose lowest bits would be those of one shingle under every function. b is 1, 2, 4 or 8. Cost:
//! m / 64·b words a page; comparing folds the differences of each lane to one bit and counts.

use crate::format::{SEED_LANES, splitmix};
use crate::hash::{fold, mix};
use crate::screen::Screened;
use crate::verify::Verify;

/// Words that m lanes of b bits take.
pub fn width(lanes: usize, bits: u32) -> usize {
    (lanes * bits as usize).div_ceil(64)
}

/// Packs b bits of each min-value into `out`; lanes that are not filled stay 0.
pub fn pack(minima: &[u32], bits: u32, out: &mut [u64]) {
    const FACTOR: u64 = splitmix(SEED_LANES, u64::MAX - 1) | 1;
    out.fill(0);
    let a_word = 64 / bits as usize;
    for (at, &value) in minima.iter().enumerate() {
        let hash = mix(fold(splitmix(SEED_LANES, at as u64) ^ u64::from(value), FACTOR));
        let kept = hash >> (64 - bits);
        out[at / a_word] |= kept << (at % a_word * bits as usize);
    }
}

/// At least `least` lanes of two sketches agree.
#[derive(Clone, Copy, Debug)]
pub struct AgreeingLanes<'a> {
    /// Words of a sketch.
    pub width: usize,
    pub values: &'a [u64],
    /// Of a lane: 1, 2, 4 or 8.
    pub bits: u32,
    /// Lanes of a sketch, of those that fit into its words.
    pub lanes: usize,
    pub least: usize,
}

/// Lanes of two sketches that differ: each lane's differences are folded onto its lowest bit.
#[inline(always)]
pub fn differing(a: &[u64], b: &[u64], bits: u32) -> usize {
    let lowest = match bits {
        1 => u64::MAX,
        2 => 0x5555_5555_5555_5555,
        4 => 0x1111_1111_1111_1111,
        _ => 0x0101_0101_0101_0101,
    };
    let count = |(a, b): (&u64, &u64)| {
        let mut differing = a ^ b;
        let mut reach = 1;
        while reach < bits {
            differing |= differing >> reach;
            reach *= 2;
        }
        (differing & lowest).count_ones() as usize
    };
    a.iter().zip(b).map(count).sum()
}

impl AgreeingLanes<'_> {
    #[inline(always)]
    pub fn differing(&self, a: u32, b: u32) -> usize {
        let of = |page: u32| &self.values[page as usize * self.width..][..self.width];
        differing(of(a), of(b), self.bits)
    }
}

impl Verify for AgreeingLanes<'_> {
    #[inline(always)]
    fn hopeless(&self, a: u32, b: u32) -> bool {
        self.differing(a, b) > self.lanes - self.least
    }

    #[inline(always)]
    fn score(&self, a: u32, b: u32) -> Option<f64> {
        let agreeing = self.lanes - self.differing(a, b);
        (agreeing >= self.least).then(|| agreeing as f64 / self.lanes as f64)
    }
}

impl Screened for AgreeingLanes<'_> {
    fn words(&self, _: u32) -> &[u64] {
        &[]
    }

    fn share(&self, _: u32) -> u64 {
        (self.lanes - self.least) as u64
    }

    fn distance(&self, a: u32, b: u32) -> u64 {
        self.differing(a, b) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::{Lists, Shingling, minima};
    use proptest::prelude::*;

    fn lane(words: &[u64], at: usize, bits: u32) -> u64 {
        let a_word = 64 / bits as usize;
        words[at / a_word] >> (at % a_word * bits as usize) & ((1 << bits) - 1)
    }

    proptest! {
        #[test]
        fn counting_agrees_with_looking_at_every_lane(
            a in proptest::collection::vec(any::<u32>(), 1..100), flips: Vec<(usize, u32)>, power in 0u32..4,
        ) {
            let bits = 1 << power;
            let mut b = a.clone();
            for (at, value) in flips {
                b[at % a.len()] = value;
            }
            let width = width(a.len(), bits);
            let mut values = vec![0; 2 * width];
            let (first, second) = values.split_at_mut(width);
            pack(&a, bits, first);
            pack(&b, bits, second);
            let expected = (0..a.len()).filter(|&at| lane(first, at, bits) != lane(second, at, bits)).count();
            let verifier = AgreeingLanes { width, values: &values, bits, lanes: a.len(), least: a.len() / 2 };
            prop_assert_eq!(verifier.differing(0, 1), expected);
            prop_assert_eq!(verifier.score(0, 1).is_some(), a.len() - expected >= a.len() / 2);
            prop_assert_eq!(verifier.hopeless(0, 1), verifier.score(0, 1).is_none());
        }
    }

    #[test]
    fn lanes_agree_as_often_as_the_paper_says() {
        let (pairs, lanes) = (400u64, 128);
        for bits in [1u32, 2, 4, 8] {
            let (mut sum, mut squares) = (0.0, 0.0);
            for pair in 0..pairs {
                let tokens = |from: u64, to: u64| (from..to).map(|at| splitmix(pair, at)).collect::<Vec<_>>();
                let (a, b) = (tokens(0, 400), tokens(100, 500));
                let values = [a, b].concat();
                let lists = Lists { offsets: &[0, 400, 800], values: &values };
                let minima = minima(lists, Shingling { k: 1, rabin: false }, lanes);
                let width = width(lanes, bits);
                let mut packed = vec![0; 2 * width];
                pack(&minima[..lanes], bits, &mut packed[..width]);
                pack(&minima[lanes..], bits, &mut packed[width..]);
                let verifier = AgreeingLanes { width, values: &packed, bits, lanes, least: 0 };
                let share = 1.0 - verifier.differing(0, 1) as f64 / lanes as f64;
                sum += share;
                squares += share * share;
            }
            let mean = sum / pairs as f64;
            let bound = 5.0 * ((squares / pairs as f64 - mean * mean) / pairs as f64).sqrt();
            let expected = 0.6 + 0.4 / f64::from(1u32 << bits);
            assert!((mean - expected).abs() < bound, "b = {bits}: {mean} against {expected} ± {bound}");
        }
    }
}
