//! Shingling by the k smallest (Broder 1997, 2000): of a page's chunks the k with the smallest numbers, each page by
//! the same random order.
//!
//! The k smallest of the *union* of two pages are a random sample of it, and both pages know which of these are theirs:
//! the share of them that stands on both estimates the Jaccard similarity without bias ([`estimate`]). One order serves
//! all k, where min-values need k functions. Cost: one pass, and a selection in O(chunks).

use crate::batch::Shingling;
use crate::ordered::{Ordered, to_set};

/// Appends the k smallest chunks of the page.
pub fn select(tokens: &[u64], windows: Shingling, count: usize, chunks: &mut Vec<u64>, out: &mut Vec<u64>) {
    windows.fill(tokens, chunks);
    to_set(chunks, &mut Ordered::default());
    out.extend(chunks.iter().take(count));
}

/// The Jaccard similarity as the k smallest of both pages tell it; sketches are sorted.
pub fn estimate(a: &[u64], b: &[u64], count: usize) -> f64 {
    let (mut at_a, mut at_b, mut seen, mut shared) = (0, 0, 0, 0);
    while seen < count && (at_a < a.len() || at_b < b.len()) {
        let (x, y) = (a.get(at_a).copied(), b.get(at_b).copied());
        let first = x.unwrap_or(u64::MAX).min(y.unwrap_or(u64::MAX));
        shared += usize::from(x == y);
        at_a += usize::from(x == Some(first));
        at_b += usize::from(y == Some(first));
        seen += 1;
    }
    if seen == 0 { 0.0 } else { shared as f64 / seen as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::splitmix;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn sketch(tokens: &[u64], count: usize) -> Vec<u64> {
        let mut out = Vec::new();
        select(tokens, Shingling { k: 1, rabin: false }, count, &mut Vec::new(), &mut out);
        out
    }

    proptest! {
        #[test]
        fn sketches_of_parts_make_the_sketch_of_the_whole(
            a in proptest::collection::vec(any::<u64>(), 0..40),
            b in proptest::collection::vec(any::<u64>(), 0..40),
            count in 1usize..20,
        ) {
            let parts: BTreeSet<u64> = [sketch(&a, count), sketch(&b, count)].concat().into_iter().collect();
            let whole = sketch(&[a, b].concat(), count);
            prop_assert_eq!(parts.into_iter().take(count).collect::<Vec<_>>(), whole);
        }

        #[test]
        fn with_everything_kept_the_estimate_is_exact(a: BTreeSet<u8>, b: BTreeSet<u8>) {
            let tokens = |set: &BTreeSet<u8>| set.iter().map(|&value| splitmix(1, value.into())).collect::<Vec<_>>();
            let union = a.union(&b).count();
            let exact = if union == 0 { 0.0 } else { a.intersection(&b).count() as f64 / union as f64 };
            prop_assert_eq!(estimate(&sketch(&tokens(&a), 600), &sketch(&tokens(&b), 600), 600), exact);
        }
    }

    #[test]
    fn the_estimate_is_unbiased() {
        // 300 pairs at Jaccard similarity 600/1000, 100 smallest: the mean of 30,000 draws without replacement.
        let (mut sum, pairs) = (0.0, 300u64);
        for pair in 0..pairs {
            let tokens = |from: u64, to: u64| (from..to).map(|at| splitmix(pair, at)).collect::<Vec<_>>();
            sum += estimate(&sketch(&tokens(0, 800), 100), &sketch(&tokens(200, 1000), 100), 100);
        }
        let mean = sum / pairs as f64;
        let bound = 5.0 * (0.6 * 0.4 / (100.0 * pairs as f64)).sqrt();
        assert!((mean - 0.6).abs() < bound, "{mean}");
    }
}
