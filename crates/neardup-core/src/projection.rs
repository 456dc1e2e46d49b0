//! Random projections of a page's tokens to b bits (Charikar 2002; Henzinger's Alg. C, b = 384).
//!
//! Each token stands for b numbers, +1 or −1; they are summed over the token *sequence*, so frequency counts, and
//! bit i of the page is 1 where sum i is positive (ties give 0). The share of bits on which two pages agree follows
//! 1 − θ/π, θ the angle between their term-frequency vectors.
//!
//! The signs of a token t = (high, low) are, 32 at a time: y = (low ⊕ c_j)·a_j, y = (y ⊕ y≫15 ⊕ high)·d_j,
//! y ⊕ y≫16, all mod 2³², where a 1 bit stands for +1. They are added without unpacking, in bit-sliced counters:
//! eight tokens go through a tree of carry-save adders, so a token costs a handful of vector operations for all b
//! sums together, where the plain way adds b integers.

use crate::cpu;
use crate::format::{SEED_PROJECTION, splitmix};

/// 32-bit lanes worked on together: 512 bits.
const LANES: usize = 16;
/// Enough counter planes for 2³² − 1 tokens.
const PLANES: usize = 32;

type Lanes = [u32; LANES];

/// A projection to `bits` bits.
#[derive(Clone, Debug)]
pub struct Projection {
    words: usize,
    blocks: Vec<Block>,
}

#[derive(Clone, Debug)]
struct Block {
    flips: Lanes,
    first: Lanes,
    second: Lanes,
}

impl Projection {
    /// `bits` is a multiple of 64.
    pub fn new(bits: usize) -> Self {
        let words = bits.div_ceil(32);
        let blocks = (0..words.div_ceil(LANES)).map(|block| {
            let draw =
                |of: u64, lane: usize| splitmix(SEED_PROJECTION, 3 * (block * LANES + lane) as u64 + of);
            Block {
                flips: std::array::from_fn(|lane| draw(0, lane) as u32),
                first: std::array::from_fn(|lane| draw(1, lane) as u32 | 1),
                second: std::array::from_fn(|lane| draw(2, lane) as u32 | 1),
            }
        });
        Projection { words, blocks: blocks.collect() }
    }

    /// 64-bit words a sketch takes.
    pub fn width(&self) -> usize {
        self.words.div_ceil(2)
    }

    /// Writes the bits of the token sequence to `out` (`width` words; bit 0 is the lowest of the first).
    pub fn bits(&self, tokens: &[u64], out: &mut [u64]) {
        debug_assert_eq!(out.len(), self.width());
        out.fill(0);
        for (index, block) in self.blocks.iter().enumerate() {
            let positive = cpu::dispatch!(block_bits(block, tokens));
            for (lane, &bits) in positive.iter().enumerate() {
                let word = index * LANES + lane;
                if word < self.words {
                    out[word / 2] |= u64::from(bits) << (32 * (word % 2));
                }
            }
        }
    }
}

#[inline(always)]
fn signs(block: &Block, token: u64) -> Lanes {
    let (low, high) = (token as u32, (token >> 32) as u32);
    let mut signs = [0; LANES];
    for lane in 0..LANES {
        let y = (low ^ block.flips[lane]).wrapping_mul(block.first[lane]);
        let y = (y ^ (y >> 15) ^ high).wrapping_mul(block.second[lane]);
        signs[lane] = y ^ (y >> 16);
    }
    signs
}

/// Full adder of three bits in every position: (carry, sum).
#[inline(always)]
fn add(a: &Lanes, b: &Lanes, c: &Lanes) -> (Lanes, Lanes) {
    let (mut carry, mut sum) = ([0; LANES], [0; LANES]);
    for lane in 0..LANES {
        let half = a[lane] ^ b[lane];
        sum[lane] = half ^ c[lane];
        carry[lane] = (a[lane] & b[lane]) | (half & c[lane]);
    }
    (carry, sum)
}

/// Adds `value`, which stands for 2^`plane` each, to the counters.
#[inline(always)]
fn ripple(planes: &mut [Lanes; PLANES], mut plane: usize, mut value: Lanes) {
    while plane < PLANES && value != [0; LANES] {
        for lane in 0..LANES {
            let carry = planes[plane][lane] & value[lane];
            planes[plane][lane] ^= value[lane];
            value[lane] = carry;
        }
        plane += 1;
    }
}

#[inline(always)]
fn block_bits(block: &Block, tokens: &[u64]) -> Lanes {
    let mut planes = [[0u32; LANES]; PLANES];
    let mut waiting = [[0u32; LANES]; PLANES];
    let (mut ones, mut twos, mut fours) = ([0; LANES], [0; LANES], [0; LANES]);
    let mut eights = tokens.chunks_exact(8);
    for (count, token) in (&mut eights).enumerate() {
        let (twos_a, ones_a) = add(&ones, &signs(block, token[0]), &signs(block, token[1]));
        let (twos_b, ones_b) = add(&ones_a, &signs(block, token[2]), &signs(block, token[3]));
        let (fours_a, twos_c) = add(&twos, &twos_a, &twos_b);
        let (twos_d, ones_c) = add(&ones_b, &signs(block, token[4]), &signs(block, token[5]));
        let (twos_e, ones_d) = add(&ones_c, &signs(block, token[6]), &signs(block, token[7]));
        let (fours_b, twos_f) = add(&twos_c, &twos_d, &twos_e);
        let (eight, fours_c) = add(&fours, &fours_a, &fours_b);
        (ones, twos, fours) = (ones_d, twos_f, fours_c);
        // Every second value of a weight meets the one that waits there; their carry goes on to the next weight.
        // When that happens depends on the count alone, so nothing waits for the data.
        let (mut value, mut plane, mut count) = (eight, 3, count);
        while count & 1 == 1 {
            (value, planes[plane]) = add(&planes[plane], &waiting[plane], &value);
            plane += 1;
            count >>= 1;
        }
        waiting[plane] = value;
    }
    let count = tokens.len() / 8;
    for plane in 3..PLANES {
        if count >> (plane - 3) & 1 == 1 {
            ripple(&mut planes, plane, waiting[plane]);
        }
    }
    ripple(&mut planes, 0, ones);
    ripple(&mut planes, 1, twos);
    ripple(&mut planes, 2, fours);
    for &token in eights.remainder() {
        ripple(&mut planes, 0, signs(block, token));
    }
    more_than(&planes, tokens.len() / 2)
}

/// In which positions the counter exceeds `limit`: the sum of ±1 is positive where more than half were +1.
#[inline(always)]
fn more_than(planes: &[Lanes; PLANES], limit: usize) -> Lanes {
    let (mut greater, mut equal) = ([0u32; LANES], [u32::MAX; LANES]);
    for plane in (0..PLANES).rev() {
        let bit = if limit >> plane & 1 == 1 { u32::MAX } else { 0 };
        for lane in 0..LANES {
            greater[lane] |= equal[lane] & planes[plane][lane] & !bit;
            equal[lane] &= !(planes[plane][lane] ^ bit);
        }
    }
    greater
}

cpu::variants!(fn block_bits(block: &Block, tokens: &[u64]) -> Lanes);

/// The keys of a sketch: its bits cut into `pieces` consecutive pieces as even as can be (at most 32 bits each,
/// so `pieces` is at least bits / 32), tagged with their place. By the pigeonhole principle two sketches that differ
/// in fewer bits than there are pieces share a key.
pub fn piece_keys(sketch: &[u64], pieces: usize, out: &mut Vec<u64>) {
    out.extend((0..pieces).map(|piece| piece_key(sketch, piece, pieces)));
}

/// One of them.
#[inline(always)]
pub fn piece_key(sketch: &[u64], piece: usize, pieces: usize) -> u64 {
    let bits = 64 * sketch.len();
    let (start, end) = (piece * bits / pieces, (piece + 1) * bits / pieces);
    let low = sketch[start / 64] >> (start % 64);
    let high = match sketch.get(start / 64 + 1) {
        Some(next) if start % 64 > 0 => next << (64 - start % 64),
        _ => 0,
    };
    let value = (low | high) & ((1 << (end - start)) - 1);
    (piece as u64) << 32 | value
}

/// On how many of `bits` bits two sketches agree (C-similarity).
#[inline(always)]
pub fn agreement(a: &[u64], b: &[u64]) -> u32 {
    let bits = 64 * a.len() as u32;
    bits - a.iter().zip(b).map(|(a, b)| (a ^ b).count_ones()).sum::<u32>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The definition: b integers, one addition each a token.
    fn naive(bits: usize, tokens: &[u64]) -> Vec<u64> {
        let mut sums = vec![0i64; bits];
        for &token in tokens {
            for (at, sum) in sums.iter_mut().enumerate() {
                let draw = |of: u64| splitmix(SEED_PROJECTION, 3 * (at / 32) as u64 + of) as u32;
                let y = (token as u32 ^ draw(0)).wrapping_mul(draw(1) | 1);
                let y = (y ^ (y >> 15) ^ (token >> 32) as u32).wrapping_mul(draw(2) | 1);
                *sum += if (y ^ (y >> 16)) >> (at % 32) & 1 == 1 { 1 } else { -1 };
            }
        }
        let mut words = vec![0u64; bits.div_ceil(64)];
        for (at, &sum) in sums.iter().enumerate() {
            words[at / 64] |= u64::from(sum > 0) << (at % 64);
        }
        words
    }

    fn sketch(bits: usize, tokens: &[u64]) -> Vec<u64> {
        let projection = Projection::new(bits);
        let mut out = vec![0; projection.width()];
        projection.bits(tokens, &mut out);
        out
    }

    proptest! {
        #[test]
        fn agrees_with_the_definition(
            tokens in proptest::collection::vec(any::<u64>(), 0..60),
            words in 1usize..14,
        ) {
            prop_assert_eq!(sketch(64 * words, &tokens), naive(64 * words, &tokens));
        }

        #[test]
        fn order_does_not_matter(mut tokens in proptest::collection::vec(any::<u64>(), 0..60)) {
            let before = sketch(384, &tokens);
            tokens.sort_unstable();
            prop_assert_eq!(sketch(384, &tokens), before);
        }
    }

    #[test]
    fn long_pages_agree_too() {
        let tokens: Vec<u64> = (0..5001).map(|at| splitmix(3, at % 700)).collect();
        assert_eq!(sketch(384, &tokens), naive(384, &tokens));
    }

    #[test]
    fn every_path_gives_the_same_bits() {
        let tokens: Vec<u64> = (0..1003).map(|at| splitmix(5, at)).collect();
        let projection = Projection::new(384);
        cpu::assert_variants_agree!(block_bits(&projection.blocks[0], &tokens));
    }

    proptest! {
        #[test]
        fn fewer_differences_than_pieces_share_a_key(
            sketch: [u64; 6],
            flips in proptest::collection::btree_set(0usize..384, 0..30),
            pieces in 12usize..40,
        ) {
            let mut other = sketch;
            for bit in &flips {
                other[bit / 64] ^= 1 << (bit % 64);
            }
            let (mut keys, mut others) = (Vec::new(), Vec::new());
            piece_keys(&sketch, pieces, &mut keys);
            piece_keys(&other, pieces, &mut others);
            let touched = |piece: usize| {
                flips.iter().any(|&bit| (piece * 384 / pieces..(piece + 1) * 384 / pieces).contains(&bit))
            };
            for piece in 0..pieces {
                prop_assert_eq!(keys[piece] == others[piece], !touched(piece));
            }
            prop_assert!(flips.len() >= pieces || keys.iter().zip(&others).any(|(a, b)| a == b));
        }
    }

    #[test]
    fn ties_and_nothing_give_zero() {
        assert_eq!(sketch(384, &[]), [0; 6]);
        let a = sketch(384, &[11]);
        assert_eq!(sketch(384, &[11, 11, 11]), a);
        assert_eq!(agreement(&a, &a), 384);
    }
}
