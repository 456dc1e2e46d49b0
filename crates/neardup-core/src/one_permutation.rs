//! One-permutation hashing with optimal densification (Li, Owen and Zhang, NIPS 2012; Shrivastava, ICML 2017).
//!
//! One hash function instead of k: a shingle's hash says which of k bins it falls into and its value there; a bin keeps
//! the smallest. A bin that stays empty borrows from a full one, chosen by a hash of (bin, attempt) alone, tried until
//! a full one is met: so two pages whose bin is empty choose alike as far as their full bins agree, and each of the k
//! numbers agrees with probability equal to the Jaccard similarity, with the smallest variance a densification can have
//! (Shrivastava, Theorem 1). Cost: one multiplication a shingle, then k; against k a shingle for min-values.

use crate::format::{SEED_ONE_PERMUTATION, splitmix};
use crate::hash::mix;

const EMPTY: u64 = u64::MAX;

/// Writes k = `out.len()` numbers, each tagged with its bin in the upper half; without shingles all are the maximum.
pub fn sketch(shingles: &[u64], out: &mut [u64]) {
    out.fill(EMPTY);
    let bins = out.len() as u64;
    for &shingle in shingles {
        let hash = mix(shingle ^ SEED_ONE_PERMUTATION);
        // The upper half chooses the bin, the lower is the value: at most 2³² − 1, so no value is EMPTY.
        let bin = ((hash >> 32) * bins) >> 32;
        let slot = &mut out[bin as usize];
        *slot = (*slot).min(hash & 0xffff_ffff);
    }
    if shingles.is_empty() {
        return;
    }
    let empty: Vec<usize> = (0..out.len()).filter(|&bin| out[bin] == EMPTY).collect();
    let lent: Vec<u64> = empty.iter().map(|&bin| borrowed(out, bin)).collect();
    for (&bin, value) in empty.iter().zip(lent) {
        out[bin] = value;
    }
    for (bin, value) in out.iter_mut().enumerate() {
        *value |= (bin as u64) << 32;
    }
}

/// The value of the first full bin that an empty one comes to.
fn borrowed(bins: &[u64], bin: usize) -> u64 {
    let count = bins.len() as u64;
    let mut attempt = 0;
    loop {
        let draw = splitmix(SEED_ONE_PERMUTATION ^ (bin as u64) << 32, attempt);
        let other = (((draw >> 32) * count) >> 32) as usize;
        if bins[other] != EMPTY {
            return bins[other];
        }
        attempt += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn of(shingles: &[u64], k: usize) -> Vec<u64> {
        let mut out = vec![0; k];
        sketch(shingles, &mut out);
        out
    }

    proptest! {
        #[test]
        fn full_bins_hold_their_smallest(set in proptest::collection::btree_set(any::<u64>(), 1..200), k in 1usize..40) {
            let shingles: Vec<u64> = set.iter().copied().collect();
            let found = of(&shingles, k);
            let hash = |shingle: u64| mix(shingle ^ SEED_ONE_PERMUTATION);
            let bin = |shingle: u64| (((hash(shingle) >> 32) * k as u64) >> 32) as usize;
            for at in 0..k {
                prop_assert_eq!(found[at] >> 32, at as u64);
                let own: BTreeSet<u64> =
                    shingles.iter().filter(|&&s| bin(s) == at).map(|&s| hash(s) & 0xffff_ffff).collect();
                let all: BTreeSet<u64> = shingles.iter().map(|&s| hash(s) & 0xffff_ffff).collect();
                match own.first() {
                    Some(&smallest) => prop_assert_eq!(found[at] & 0xffff_ffff, smallest),
                    None => prop_assert!(all.contains(&(found[at] & 0xffff_ffff))),
                }
            }
        }

        #[test]
        fn order_and_repetition_do_not_matter(mut shingles in proptest::collection::vec(any::<u64>(), 1..60)) {
            let before = of(&shingles, 16);
            shingles.reverse();
            shingles.push(shingles[0]);
            prop_assert_eq!(of(&shingles, 16), before);
        }
    }

    #[test]
    fn agreement_is_the_jaccard_similarity_even_where_bins_are_empty() {
        // 30 or 300 shingles over 64 bins: many or few empty; J = 1/2.
        for size in [30u64, 300] {
            let (mut agreeing, pairs, k) = (0usize, 2000, 64);
            let mut squares = 0.0;
            for pair in 0..pairs {
                let shingles =
                    |from: u64, to: u64| (from..to).map(|at| splitmix(pair, at)).collect::<Vec<_>>();
                // Two sets of 3/4 of the union each, sharing half of it.
                let (a, b) = (of(&shingles(0, 3 * size / 4), k), of(&shingles(size / 4, size), k));
                let same = a.iter().zip(&b).filter(|(a, b)| a == b).count();
                agreeing += same;
                squares += (same as f64 / k as f64).powi(2);
            }
            let quarter = (size / 4) as f64;
            let expected = ((3 * size / 4) as f64 - quarter) / size as f64;
            let mean = agreeing as f64 / (pairs as f64 * k as f64);
            let deviation = (squares / pairs as f64 - mean * mean).sqrt();
            // Five standard errors, measured over the pairs.
            let bound = 5.0 * deviation / (pairs as f64).sqrt();
            assert!((mean - expected).abs() < bound, "{size}: {mean} against {expected} ± {bound}");
        }
    }
}
