//! A rule over many pages: the keys and the verifier that a join asks for, made of what is held of the pages.

use std::borrow::Cow;

use super::{Between, Rule};
use crate::join::{Buckets, Joined, Limits, Predicate, Sites, Standing};
use crate::keys::{KeyKind, Keys};
use crate::lanes::AgreeingLanes;
use crate::screen::Screened;
use crate::sets::Sets;
use crate::verify::{AgreeingBits, ConfirmedBits, EqualColumns, Everything, Glance, Jaccard};

/// A set of each page, or in its place how large it is and its parity: then a pair is accepted unless these rule it out.
#[derive(Debug)]
pub enum HeldSets<'a> {
    Whole(Sets<'a>),
    Glances(Sets<'a>),
}

/// What is held of many pages: each column's numbers, one row a page behind another, and their sets. What no rule that
/// is asked speaks of need not be there.
#[derive(Debug, Default)]
pub struct Pages<'a> {
    pub count: usize,
    pub widths: Vec<usize>,
    pub columns: Vec<&'a [u64]>,
    pub sets: Vec<Option<HeldSets<'a>>>,
}

impl<'a> Pages<'a> {
    pub(super) fn set(&self, at: usize) -> &HeldSets<'a> {
        self.sets[at].as_ref().expect("a set that a rule speaks of is there")
    }
}

/// The keys of a rule, with what was made for them.
#[derive(Debug)]
pub enum PageKeys<'a> {
    Rows(KeyKind, usize, Cow<'a, [u64]>),
    Lists(Cow<'a, [u64]>, Cow<'a, [u64]>),
}

impl PageKeys<'_> {
    pub fn keys(&self) -> Keys<'_> {
        match self {
            PageKeys::Rows(kind, width, values) => Keys::of(*kind, *width, values),
            PageKeys::Lists(offsets, values) => Keys::lists(offsets, values),
        }
    }
}

impl Rule {
    /// The columns and sets that the rule speaks of, in no order.
    pub fn speaks_of(&self) -> (Vec<usize>, Option<usize>) {
        let columns = self.keys.column().into_iter().chain(self.evidence.columns());
        (columns.collect(), self.evidence.set())
    }

    /// The keys of many pages, of which those that are not `active` need none.
    pub fn page_keys<'a>(&self, pages: &'a Pages<'a>, active: &[bool]) -> PageKeys<'a> {
        self.keys.over(pages, active, self.evidence.least_jaccard().unwrap_or(1.0))
    }

    /// What pairs of these pages are verified with.
    pub fn verifier<'a>(&self, pages: &'a Pages<'a>) -> Verifier<'a> {
        self.evidence.over(pages)
    }

    pub fn predicate<'a>(&self, sites: Sites<'a>) -> Predicate<'a> {
        match self.between {
            Between::Any => Predicate::Any,
            Between::SameSite => Predicate::SameSite(sites),
            Between::DifferentSite => Predicate::DifferentSite(sites),
        }
    }
}

/// What pairs of one rule are verified with.
#[derive(Debug)]
pub enum Verifier<'a> {
    Key(Everything),
    Columns(EqualColumns<'a>),
    Bits(AgreeingBits<'a>),
    ConfirmedBits(ConfirmedBits<'a>),
    Lanes(AgreeingLanes<'a>),
    Sets(Jaccard<'a>),
    Glances(Glance<'a>),
}

/// The same for every verifier, each compiled for itself: what verifies a pair is asked too often to be looked up.
macro_rules! each {
    ($verifier:expr, $known:ident => $done:expr) => {
        match $verifier {
            Verifier::Key($known) => $done,
            Verifier::Columns($known) => $done,
            Verifier::Bits($known) => $done,
            Verifier::ConfirmedBits($known) => $done,
            Verifier::Lanes($known) => $done,
            Verifier::Sets($known) => $done,
            Verifier::Glances($known) => $done,
        }
    };
}

impl Verifier<'_> {
    /// The pairs of all buckets within limits.
    pub fn join(&self, buckets: &Buckets<'_>, limits: Limits) -> Joined {
        each!(self, verifier => buckets.join_within(verifier, limits))
    }

    /// The pairs of buckets that were put together elsewhere.
    pub fn join_given(&self, buckets: &Buckets<'_>, standing: &[Standing]) -> Joined {
        each!(self, verifier => buckets.join_given(standing, verifier))
    }

    /// The same buckets, as hot ones beside which nothing is joined.
    pub fn join_beside(&self, buckets: &Buckets<'_>, hot: &[Standing]) -> Joined {
        each!(self, verifier => buckets.join_beside(hot, verifier))
    }

    pub fn screened(&self) -> &dyn Screened {
        each!(self, verifier => verifier)
    }
}

#[cfg(test)]
mod tests {
    use super::super::pair::Row;
    use super::super::testing::{Held, any_held, any_rule, columns, fitting};
    use super::*;
    use crate::parity;
    use proptest::prelude::*;

    /// What is held of pages, as a join has it.
    fn whole_sets<'a>(held: &'a [Held], at: usize, parities: &'a [Vec<u64>]) -> HeldSets<'a> {
        let sets: Vec<&[u64]> = held.iter().map(|page| page.set(at)).collect();
        let sizes = sets.iter().map(|set| set.len() as u32).collect();
        HeldSets::Whole(Sets::new(Box::new(sets), sizes, parities.iter().map(Vec::as_slice).collect()))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]
        #[test]
        fn a_join_accepts_what_is_accepted_pair_by_pair(
            rule in any_rule().prop_map(fitting),
            twos in proptest::collection::vec(any_held(), 1..5),
            sites in proptest::collection::vec(0u32..3, 8),
        ) {
            let held: Vec<Held> = twos.into_iter().flat_map(|(a, b)| [a, b]).collect();
            let widths = columns().widths;
            let values: Vec<Vec<u64>> = (0..widths.len())
                .map(|at| held.iter().flat_map(|page| page.column(at)).copied().collect())
                .collect();
            let parity = |page: &Held, at: usize| {
                let mut words = Vec::new();
                parity::append(page.set(at), &mut words);
                words
            };
            let parities: Vec<Vec<Vec<u64>>> =
                (0..2).map(|at| held.iter().map(|page| parity(page, at)).collect()).collect();
            let pages = Pages {
                count: held.len(),
                widths,
                columns: values.iter().map(Vec::as_slice).collect(),
                sets: (0..2).map(|at| Some(whole_sets(&held, at, &parities[at]))).collect(),
            };
            let active = vec![true; held.len()];
            let offsets: Vec<u64> = (0..=held.len() as u64).collect();
            let of_pages = Sites { offsets: &offsets, values: &sites[..held.len()] };
            let keys = rule.page_keys(&pages, &active);
            prop_assert_eq!(keys.keys().count(), rule.keys.count(&columns()));
            let buckets = Buckets::new(keys.keys(), &active, rule.predicate(of_pages));
            let joined = rule.verifier(&pages).join(&buckets, Limits::NONE);
            let mut expected = Vec::new();
            for a in 0..held.len() {
                for b in a + 1..held.len() {
                    let same_site = sites[a] == sites[b] && sites[a] != 0;
                    let finding = rule.pair(&held[a], &held[b], same_site);
                    if finding.accepted() {
                        expected.push((a as u32, b as u32, finding.score));
                    }
                }
            }
            let found: Vec<_> = joined.pairs.iter().map(|pair| (pair.a, pair.b, pair.score)).collect();
            prop_assert_eq!(found, expected, "{}", rule);
        }
    }
}
