//! Chunks selected without regard to what they say: one of a sliding window, and at random (Potthast & Stein, Table 1).
//!
//! *One of a sliding window*: the chunks that start at every m-th word. One inserted word shifts all that follow, so
//! two pages share what is before the first change, and little more: the method's known weakness, kept as a yardstick.
//! *Random*: k of the page's distinct chunks, drawn without replacement. The generator is seeded by the page's own
//! tokens, so that the same page gives the same choice wherever it is read, while different pages draw independently:
//! of c chunks that two pages of C chunks each share, c·(k/C)² are expected to be drawn on both. Cost: O(words).

use crate::batch::Shingling;
use crate::format::{SEED_RANDOM, splitmix};
use crate::hash::identity;
use crate::ordered::{Ordered, to_set};

/// Appends the windows that start at places 0, m, 2m …
pub fn every(tokens: &[u64], windows: Shingling, step: usize, chunks: &mut Vec<u64>, out: &mut Vec<u64>) {
    windows.fill(tokens, chunks);
    out.extend(chunks.iter().step_by(step.max(1)));
}

/// Appends k of the page's distinct chunks, or all if there are fewer.
pub fn random(tokens: &[u64], windows: Shingling, count: usize, chunks: &mut Vec<u64>, out: &mut Vec<u64>) {
    windows.fill(tokens, chunks);
    to_set(chunks, &mut Ordered::default());
    let seed = identity(tokens) as u64 ^ SEED_RANDOM;
    for at in 0..count.min(chunks.len()) {
        // The upper half of a product maps 64 random bits to a place; what is off is below 2⁻³².
        let left = (chunks.len() - at) as u128;
        let place = at + ((u128::from(splitmix(seed, at as u64)) * left) >> 64) as usize;
        chunks.swap(at, place);
        out.push(chunks[at]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    const PAIRS: Shingling = Shingling { k: 2, rabin: false };

    fn drawn(tokens: &[u64], count: usize) -> BTreeSet<u64> {
        let mut out = Vec::new();
        random(tokens, PAIRS, count, &mut Vec::new(), &mut out);
        let set: BTreeSet<u64> = out.iter().copied().collect();
        assert_eq!(set.len(), out.len(), "drawn without replacement");
        set
    }

    proptest! {
        #[test]
        fn a_draw_is_a_part_of_the_page(tokens in proptest::collection::vec(0u64..9, 0..60), count in 1usize..50) {
            let mut all = Vec::new();
            PAIRS.fill(&tokens, &mut all);
            let all: BTreeSet<u64> = all.into_iter().collect();
            let found = drawn(&tokens, count);
            prop_assert!(found.is_subset(&all));
            prop_assert_eq!(found.len(), count.min(all.len()));
        }

        #[test]
        fn every_mth_window_is_taken(tokens in proptest::collection::vec(any::<u64>(), 0..60), step in 1usize..9) {
            let (mut all, mut found) = (Vec::new(), Vec::new());
            PAIRS.fill(&tokens, &mut all);
            every(&tokens, PAIRS, step, &mut Vec::new(), &mut found);
            let expected: Vec<u64> =
                all.iter().enumerate().filter(|(at, _)| at % step == 0).map(|(_, &chunk)| chunk).collect();
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn independent_draws_meet_as_often_as_chance_has_it() {
        // 400 pairs of pages that differ in their last token only: 499 of 500 chunks are shared, 100 drawn of each.
        let (mut shared, pairs) = (0, 400u64);
        for pair in 0..pairs {
            let page: Vec<u64> = (0..501).map(|at| splitmix(pair, at)).collect();
            let mut other = page.clone();
            other[500] ^= 1;
            shared += drawn(&page, 100).intersection(&drawn(&other, 100)).count();
        }
        let expected = pairs as f64 * 499.0 * (0.2 * 0.2);
        // A hypergeometric number of variance below 20 a pair; five standard deviations.
        assert!(
            (shared as f64 - expected).abs() < 5.0 * (20.0 * pairs as f64).sqrt(),
            "{shared} against {expected}"
        );
    }
}
