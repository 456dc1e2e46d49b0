//! What is asked of a candidate pair before it is accepted: each answer is a score in 0..=1, or none.

use crate::projection::agreement;

/// Scores a candidate pair, or rejects it.
pub trait Verify: Sync {
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
    fn score(&self, a: u32, b: u32) -> Option<f64> {
        let count = self.count(a, b);
        (count >= self.least).then(|| f64::from(count) / (64 * self.width) as f64)
    }
}

/// Exact Jaccard similarity of two sets, each sorted and without repetition.
#[derive(Clone, Copy, Debug)]
pub struct Jaccard<'a> {
    pub offsets: &'a [u64],
    pub values: &'a [u64],
    pub least: f64,
}

impl<'a> Jaccard<'a> {
    #[inline(always)]
    pub fn set(&self, page: u32) -> &'a [u64] {
        &self.values[self.offsets[page as usize] as usize..self.offsets[page as usize + 1] as usize]
    }
}

impl Verify for Jaccard<'_> {
    #[inline(always)]
    fn score(&self, a: u32, b: u32) -> Option<f64> {
        let (a, b) = (self.set(a), self.set(b));
        let (small, large) = (a.len().min(b.len()), a.len().max(b.len()));
        // Even if the smaller set lay wholly in the larger one, the similarity would be small / large.
        if (small as f64) < self.least * large as f64 {
            return None;
        }
        let score = jaccard(a, b);
        (score >= self.least).then_some(score)
    }
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
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn merge_counts_the_intersection(a: BTreeSet<u8>, b: BTreeSet<u8>) {
            let sorted = |set: &BTreeSet<u8>| set.iter().map(|&value| u64::from(value)).collect::<Vec<_>>();
            prop_assert_eq!(shared(&sorted(&a), &sorted(&b)), a.intersection(&b).count());
        }

        #[test]
        fn the_length_filter_rejects_nothing_it_should_not(a: BTreeSet<u8>, b: BTreeSet<u8>, least in 0.0f64..1.0) {
            let values: Vec<u64> = a.iter().chain(&b).map(|&value| u64::from(value)).collect();
            let offsets = [0, a.len() as u64, values.len() as u64];
            let verifier = Jaccard { offsets: &offsets, values: &values, least };
            let union = a.union(&b).count();
            let exact = if union == 0 { 0.0 } else { a.intersection(&b).count() as f64 / union as f64 };
            prop_assert_eq!(verifier.score(0, 1), (exact >= least).then_some(exact));
        }
    }
}
