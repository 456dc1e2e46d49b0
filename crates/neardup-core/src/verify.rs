//! What is asked of a candidate pair before it is accepted: each answer is a score in 0..=1, or none.

use crate::projection::agreement;
use crate::sets::ShingleSets;

/// Scores a candidate pair, or rejects it.
pub trait Verify: Sync {
    /// Whether a glance shows that the pair will be rejected: asked before anything dearer.
    #[inline(always)]
    fn hopeless(&self, _a: u32, _b: u32) -> bool {
        false
    }

    fn score(&self, a: u32, b: u32) -> Option<f64>;
}

/// Sharing a key is enough.
#[derive(Clone, Copy, Debug)]
pub struct Everything;

impl Verify for Everything {
    #[inline(always)]
    fn score(&self, _: u32, _: u32) -> Option<f64> {
        Some(1.0)
    }
}

/// At least `least` columns of two rows are equal: B-similarity over supershingles.
#[derive(Clone, Copy, Debug)]
pub struct EqualColumns<'a> {
    pub width: usize,
    pub values: &'a [u64],
    pub least: usize,
}

impl EqualColumns<'_> {
    #[inline(always)]
    pub fn count(&self, a: u32, b: u32) -> usize {
        let of = |page: u32| &self.values[page as usize * self.width..][..self.width];
        of(a).iter().zip(of(b)).filter(|(a, b)| a == b).count()
    }
}

impl Verify for EqualColumns<'_> {
    #[inline(always)]
    fn score(&self, a: u32, b: u32) -> Option<f64> {
        let count = self.count(a, b);
        (count >= self.least).then(|| count as f64 / self.width as f64)
    }
}

/// At least `least` bits of two sketches agree: C-similarity.
#[derive(Clone, Copy, Debug)]
pub struct AgreeingBits<'a> {
    pub width: usize,
    pub values: &'a [u64],
    pub least: u32,
}

impl AgreeingBits<'_> {
    #[inline(always)]
    pub fn count(&self, a: u32, b: u32) -> u32 {
        let of = |page: u32| &self.values[page as usize * self.width..][..self.width];
        agreement(of(a), of(b))
    }
}

impl Verify for AgreeingBits<'_> {
    #[inline(always)]
    fn hopeless(&self, a: u32, b: u32) -> bool {
        self.count(a, b) < self.least
    }

    #[inline(always)]
    fn score(&self, a: u32, b: u32) -> Option<f64> {
        let count = self.count(a, b);
        (count >= self.least).then(|| f64::from(count) / (64 * self.width) as f64)
    }
}

/// Exact Jaccard similarity of shingle sets.
#[derive(Clone, Copy, Debug)]
pub struct Jaccard<'a> {
    pub sets: &'a ShingleSets<'a>,
    pub least: f64,
}

impl Jaccard<'_> {
    /// In how many elements two sets of this size together may differ.
    #[inline(always)]
    fn allowed(&self, total: usize) -> usize {
        // J ≥ t exactly when the sets differ in at most (|A| + |B|)·(1 − t)/(1 + t) elements; half of one more, so
        // that rounding cannot reject a pair at the threshold: the score itself decides.
        (total as f64 * (1.0 - self.least) / (1.0 + self.least) + 0.5) as usize
    }
}

impl Verify for Jaccard<'_> {
    #[inline(always)]
    fn hopeless(&self, a: u32, b: u32) -> bool {
        let (size_a, size_b) = (self.sets.size(a), self.sets.size(b));
        let allowed = self.allowed(size_a + size_b);
        size_a.abs_diff(size_b) > allowed || self.sets.parity(a).differences(self.sets.parity(b)) > allowed
    }

    #[inline(always)]
    fn score(&self, a: u32, b: u32) -> Option<f64> {
        let total = self.sets.size(a) + self.sets.size(b);
        if total == 0 || self.hopeless(a, b) {
            return None;
        }
        let allowed = self.allowed(total);
        let shared = shared_within(&self.sets.values(a), &self.sets.values(b), allowed)?;
        let score = shared as f64 / (total - shared) as f64;
        (score >= self.least).then_some(score)
    }
}

/// |A ∩ B|, or none as soon as more than `allowed` elements of either set are known to be missing from the other.
fn shared_within(a: &[u64], b: &[u64], allowed: usize) -> Option<usize> {
    const STRETCH: usize = 64;
    let (mut at_a, mut at_b, mut count) = (0, 0, 0);
    while at_a < a.len() && at_b < b.len() {
        for _ in 0..STRETCH.min(a.len() - at_a).min(b.len() - at_b) {
            let (x, y) = (a[at_a], b[at_b]);
            count += usize::from(x == y);
            at_a += usize::from(x <= y);
            at_b += usize::from(y <= x);
        }
        if at_a + at_b - 2 * count > allowed {
            return None;
        }
    }
    Some(count)
}

/// |A ∩ B| / |A ∪ B| of two sorted sets; of two empty ones, 0: there is nothing they share.
pub fn jaccard(a: &[u64], b: &[u64]) -> f64 {
    let shared = shared(a, b);
    let union = a.len() + b.len() - shared;
    if union == 0 { 0.0 } else { shared as f64 / union as f64 }
}

/// |A ∩ B| of two sorted sets, by a merge whose steps do not branch on the data.
pub fn shared(a: &[u64], b: &[u64]) -> usize {
    let (mut at_a, mut at_b, mut count) = (0, 0, 0);
    while at_a < a.len() && at_b < b.len() {
        let (x, y) = (a[at_a], b[at_b]);
        count += usize::from(x == y);
        at_a += usize::from(x <= y);
        at_b += usize::from(y <= x);
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::splitmix;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn merge_counts_the_intersection(a: BTreeSet<u8>, b: BTreeSet<u8>) {
            let sorted = |set: &BTreeSet<u8>| set.iter().map(|&value| u64::from(value)).collect::<Vec<_>>();
            prop_assert_eq!(shared(&sorted(&a), &sorted(&b)), a.intersection(&b).count());
        }

        #[test]
        fn the_filters_reject_nothing_they_should_not(
            a: BTreeSet<u8>,
            mut b: BTreeSet<u8>,
            mostly: bool,
            least in 0.01f64..1.0,
        ) {
            if mostly {
                b.extend(a.iter().skip(3));
            }
            // Spread, as hashes are: the parity of a set looks at the low bits.
            let spread = |set: &BTreeSet<u8>| set.iter().map(|&value| splitmix(9, u64::from(value))).collect::<Vec<_>>();
            let sets = ShingleSets::from_lists(&[spread(&a), spread(&b)]);
            let union = a.union(&b).count();
            let exact = if union == 0 { 0.0 } else { a.intersection(&b).count() as f64 / union as f64 };
            let found = Jaccard { sets: &sets, least }.score(0, 1);
            prop_assert_eq!(found, (exact >= least).then_some(exact));
        }
    }
}
