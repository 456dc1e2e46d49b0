//! What is asked of a candidate pair before it is accepted: each answer is a score in 0..=1, or none.

use crate::lanes::AgreeingLanes;
use crate::merging::{expect, shared_within};
use crate::parity;
use crate::projection::agreement;
use crate::sets::Sets;

/// Scores a candidate pair, or rejects it.
pub trait Verify: Sync {
    /// Whether a glance shows that the pair will be rejected: asked before anything dearer.
    #[inline(always)]
    fn hopeless(&self, _a: u32, _b: u32) -> bool {
        false
    }

    fn score(&self, a: u32, b: u32) -> Option<f64>;

    /// The same of a pair that is known not to be hopeless.
    #[inline(always)]
    fn score_hopeful(&self, a: u32, b: u32) -> Option<f64> {
        self.score(a, b)
    }

    /// A page that will be scored next: what that needs may be fetched.
    #[inline(always)]
    fn score_next(&self, _page: u32) {}

    /// A page that will be glanced at in a while, and one whose turn is nearer.
    #[inline(always)]
    fn glance_later(&self, _page: u32) {}
    #[inline(always)]
    fn glance_soon(&self, _page: u32) {}
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
        equal(of(a), of(b))
    }
}

/// In how many places two rows are equal.
#[inline(always)]
pub fn equal(a: &[u64], b: &[u64]) -> usize {
    a.iter().zip(b).filter(|(a, b)| a == b).count()
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

/// [`AgreeingBits`] that lanes confirm: those of another sketch, of which enough must agree as well. The score is that of
/// the bits.
#[derive(Clone, Copy, Debug)]
pub struct ConfirmedBits<'a> {
    pub bits: AgreeingBits<'a>,
    pub lanes: AgreeingLanes<'a>,
}

impl Verify for ConfirmedBits<'_> {
    #[inline(always)]
    fn hopeless(&self, a: u32, b: u32) -> bool {
        self.bits.hopeless(a, b) || self.lanes.hopeless(a, b)
    }

    #[inline(always)]
    fn score(&self, a: u32, b: u32) -> Option<f64> {
        self.bits.score(a, b).filter(|_| !self.lanes.hopeless(a, b))
    }
}

/// Exact Jaccard similarity of sets.
#[derive(Clone, Copy, Debug)]
pub struct Jaccard<'a> {
    pub sets: &'a Sets<'a>,
    pub least: f64,
    /// Scored is what both share of the larger set instead, of which this much is asked for; `least` is then
    /// [`of_either`] of it, which no such pair falls below.
    pub of_larger: Option<f64>,
}

/// The Jaccard similarity of two sets of one size that share this much of it; of two sizes it is higher.
pub fn of_either(of_larger: f64) -> f64 {
    of_larger / (2.0 - of_larger)
}

/// More than rounding adds to the elements in which two sets may differ, and far less than one of them.
const LITTLE: f64 = 1e-3;

/// In how many elements two sets of this size together may differ whose Jaccard similarity is at least `least`.
#[inline(always)]
fn allowed(total: usize, least: f64) -> usize {
    // J ≥ t exactly when the sets differ in at most (|A| + |B|)·(1 − t)/(1 + t) elements; a little more, so that
    // rounding cannot reject a pair at the threshold: the score itself decides.
    (total as f64 * (1.0 - least) / (1.0 + least) + LITTLE) as usize
}

/// What sets of these sizes share of their union, or of the larger one; empty ones share nothing.
#[inline(always)]
pub fn share(shared: usize, a: usize, b: usize, of_larger: bool) -> f64 {
    let whole = if of_larger { a.max(b) } else { a + b - shared };
    if whole == 0 { 0.0 } else { shared as f64 / whole as f64 }
}

/// The score of two ordered sets, if it reaches `least`; empty ones have none.
pub fn of_sets(a: &[u64], b: &[u64], least: f64, of_larger: bool) -> Option<f64> {
    let jaccard = if of_larger { of_either(least) } else { least };
    let allowed = allowed(a.len() + b.len(), jaccard);
    if a.is_empty() && b.is_empty() || a.len().abs_diff(b.len()) > allowed {
        return None;
    }
    let score = share(shared_within(a, b, allowed)?, a.len(), b.len(), of_larger);
    (score >= least).then_some(score)
}

impl Jaccard<'_> {
    #[inline(always)]
    fn allowed(&self, total: usize) -> usize {
        allowed(total, self.least)
    }
}

impl Verify for Jaccard<'_> {
    #[inline(always)]
    fn hopeless(&self, a: u32, b: u32) -> bool {
        let (size_a, size_b) = (self.sets.size(a), self.sets.size(b));
        let allowed = self.allowed(size_a + size_b);
        size_a.abs_diff(size_b) > allowed || parity::differ(self.sets.parity(a), self.sets.parity(b), allowed)
    }

    #[inline(always)]
    fn score(&self, a: u32, b: u32) -> Option<f64> {
        if self.hopeless(a, b) { None } else { self.score_hopeful(a, b) }
    }

    #[inline(always)]
    fn score_hopeful(&self, a: u32, b: u32) -> Option<f64> {
        let (size_a, size_b) = (self.sets.size(a), self.sets.size(b));
        if size_a + size_b == 0 {
            return None;
        }
        let allowed = self.allowed(size_a + size_b);
        let shared = shared_within(&self.sets.values(a), &self.sets.values(b), allowed)?;
        let score = share(shared, size_a, size_b, self.of_larger.is_some());
        (score >= self.of_larger.unwrap_or(self.least)).then_some(score)
    }

    #[inline(always)]
    fn score_next(&self, page: u32) {
        if let Some(set) = self.sets.at_hand(page) {
            expect(set);
        }
    }

    #[inline(always)]
    fn glance_later(&self, page: u32) {
        self.sets.fetch_place(page);
    }

    #[inline(always)]
    fn glance_soon(&self, page: u32) {
        self.sets.fetch_parity(page);
    }
}

/// Sets of which only sizes and parities are at hand: accepts what a glance does not reject, for a later look at the
/// sets themselves.
#[derive(Clone, Copy, Debug)]
pub struct Glance<'a>(pub Jaccard<'a>);

impl Verify for Glance<'_> {
    #[inline(always)]
    fn hopeless(&self, a: u32, b: u32) -> bool {
        self.0.sets.size(a) + self.0.sets.size(b) == 0 || self.0.hopeless(a, b)
    }

    #[inline(always)]
    fn score(&self, _: u32, _: u32) -> Option<f64> {
        Some(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::splitmix;
    use crate::sets::testing::Made;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn bits_are_confirmed_by_lanes(
            sketches in proptest::collection::vec(any::<u8>(), 2),
            terms in proptest::collection::vec(any::<u8>(), 2),
            least in 0u32..=64,
            confirming in 0usize..=64,
        ) {
            let words = |bytes: &[u8]| bytes.iter().map(|&byte| u64::from(byte)).collect::<Vec<_>>();
            let (sketches, terms) = (words(&sketches), words(&terms));
            let bits = AgreeingBits { width: 1, values: &sketches, least };
            let lanes = AgreeingLanes { width: 1, values: &terms, bits: 1, lanes: 64, least: confirming };
            let found = ConfirmedBits { bits, lanes };
            let agree = |of: &[u64]| 64 - (of[0] ^ of[1]).count_ones();
            let holds = agree(&sketches) >= least && agree(&terms) as usize >= confirming;
            prop_assert_eq!(found.score(0, 1), holds.then_some(f64::from(agree(&sketches)) / 64.0));
            prop_assert_eq!(found.hopeless(0, 1), !holds);
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
            let made = Made::new(&[spread(&a), spread(&b)]);
            let sets = made.sets();
            let union = a.union(&b).count();
            let exact = if union == 0 { 0.0 } else { a.intersection(&b).count() as f64 / union as f64 };
            let found = Jaccard { sets: &sets, least, of_larger: None }.score(0, 1);
            prop_assert_eq!(found, (exact >= least).then_some(exact));
            let larger = a.len().max(b.len());
            let share = if larger == 0 { 0.0 } else { a.intersection(&b).count() as f64 / larger as f64 };
            let found = Jaccard { sets: &sets, least: of_either(least), of_larger: Some(least) }.score(0, 1);
            prop_assert_eq!(found, (share >= least).then_some(share));
        }
    }
}
