//! What rules say of two pages: which keys they share, what they show, and whether that is enough.
//!
//! [`Rule::pair`] says all of it, for who explains a decision or measures how far a pair is from it; [`Rule::score`] says
//! only what is decided, and stops as soon as it is: an index asks that of every page it meets. Both decide as the join
//! of many pages does ([`super::many`]).
//!
//! Cost: of two pages, all their keys and one comparison of what is held of them.

use super::{Between, Plan, Rule};

/// What is held of a page.
pub trait Row {
    fn column(&self, at: usize) -> &[u64];

    /// Ascending.
    fn set(&self, at: usize) -> &[u64];
}

/// What is measured, from where on it is enough, and the greatest there can be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    pub value: f64,
    pub threshold: f64,
    pub greatest: f64,
}

impl Measured {
    pub fn enough(&self) -> bool {
        self.value >= self.threshold
    }
}

/// What a rule says of two pages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Finding {
    /// Whether the rule holds for such a pair at all.
    pub applies: bool,
    pub keys_shared: usize,
    pub keys_needed: usize,
    /// Keys that there are: of a page, or where pages have lists of them of both together.
    pub keys: usize,
    pub measured: Measured,
    /// What must be shown as well, where a rule asks for it.
    pub confirming: Option<Measured>,
    /// From 0 to 1: what is measured, if the rule holds and all that is evidence beside it is there, whether or not the
    /// two would have met; else 0.
    pub score: f64,
}

impl Finding {
    pub fn confirmed(&self) -> bool {
        self.confirming.is_none_or(|beside| beside.enough())
    }

    pub fn accepted(&self) -> bool {
        self.applies && self.keys_shared >= self.keys_needed && self.measured.enough() && self.confirmed()
    }
}

impl Between {
    /// Whether a rule holds for two pages that each are on one site, or on none that is known.
    pub fn holds(self, same_site: bool) -> bool {
        match self {
            Between::Any => true,
            Between::SameSite => same_site,
            Between::DifferentSite => !same_site,
        }
    }
}

impl Plan {
    /// What each rule says of two pages; `same_site` if both are on one known site.
    pub fn pair(&self, a: &impl Row, b: &impl Row, same_site: bool) -> Vec<Finding> {
        self.rules.iter().map(|rule| rule.pair(a, b, same_site)).collect()
    }
}

impl Rule {
    /// What the rule says of two pages; `same_site` if both are on one known site.
    pub fn pair(&self, a: &impl Row, b: &impl Row, same_site: bool) -> Finding {
        let applies = self.between.holds(same_site);
        let (keys_shared, keys) = self.keys.shared(a, b);
        let (measured, confirming) = self.evidence.measured(a, b);
        let mut finding =
            Finding { applies, keys_shared, keys_needed: 1, keys, measured, confirming, score: 0.0 };
        let met = !self.key_is_evidence() || keys_shared >= finding.keys_needed;
        if applies && met && finding.confirmed() {
            finding.score = measured.value / measured.greatest;
        }
        finding
    }

    /// The score of two pages that the rule holds for, if it accepts them.
    pub fn score(&self, a: &impl Row, b: &impl Row) -> Option<f64> {
        if self.keys.meet(a, b) { self.evidence.score(a, b) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Held, any_held, any_rule, fitting};
    use super::super::{Evidence, KeySource, Lanes};
    use super::*;
    use crate::projection::piece_key;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// The same by its definition, with everything written down.
    fn plain(rule: &Rule, a: &Held, b: &Held, same_site: bool) -> Option<f64> {
        let both = |at: usize| a.column(at).iter().zip(b.column(at));
        let agree = |at: usize| both(at).filter(|(a, b)| a == b).count();
        let bit = |row: &[u64], at: usize| row[at / 64] >> (at % 64) & 1;
        let lanes = |of: Lanes| {
            let lane = |row: &[u64], at: usize| {
                (0..of.bits as usize).map(|part| bit(row, at * of.bits as usize + part)).collect::<Vec<_>>()
            };
            let (a, b) = (a.column(of.column), b.column(of.column));
            let agreeing =
                (0..64 * a.len() / of.bits as usize).filter(|&at| lane(a, at) == lane(b, at)).count();
            agreeing as f64 / of.lanes as f64
        };
        let bits = |at: usize| {
            let width = 64 * a.column(at).len();
            let agreeing =
                (0..width).filter(|&place| bit(a.column(at), place) == bit(b.column(at), place)).count();
            (agreeing, agreeing as f64 / width as f64)
        };
        let sets = |at: usize| -> (BTreeSet<u64>, BTreeSet<u64>) {
            (a.set(at).iter().copied().collect(), b.set(at).iter().copied().collect())
        };
        let applies = match rule.between {
            Between::Any => true,
            Between::SameSite => same_site,
            Between::DifferentSite => !same_site,
        };
        let met = match rule.keys {
            KeySource::Columns(at) => agree(at) >= 1,
            KeySource::Pairs(at) => agree(at) >= 2,
            KeySource::Pieces(at, pieces) => (0..pieces).any(|piece| {
                piece_key(a.column(at), piece, pieces) == piece_key(b.column(at), piece, pieces)
            }),
            KeySource::Groups(at, groups) => {
                let width = a.column(at).len();
                let cut = |group: usize| group * width / groups..(group + 1) * width / groups;
                (0..groups).any(|group| a.column(at)[cut(group)] == b.column(at)[cut(group)])
            }
            KeySource::Sets(at) => {
                let (a, b) = sets(at);
                !a.is_disjoint(&b)
            }
        };
        let score = match rule.evidence {
            Evidence::Key => Some(1.0),
            Evidence::Columns(at, least) => {
                (agree(at) >= least).then(|| agree(at) as f64 / a.column(at).len() as f64)
            }
            Evidence::Bits(at, least) => (bits(at).0 >= least as usize).then(|| bits(at).1),
            Evidence::ConfirmedBits(at, least, beside) => {
                let enough = lanes(beside) >= beside.least as f64 / beside.lanes as f64;
                (enough && bits(at).0 >= least as usize).then(|| bits(at).1)
            }
            Evidence::Lanes(of) => (lanes(of) >= of.least as f64 / of.lanes as f64).then(|| lanes(of)),
            Evidence::Sets { at, least, of_larger } => {
                let (a, b) = sets(at);
                let shared = a.intersection(&b).count() as f64;
                let whole = if of_larger { a.len().max(b.len()) } else { a.union(&b).count() };
                let value = if whole == 0 { 0.0 } else { shared / whole as f64 };
                (value >= least && whole > 0).then_some(value)
            }
        };
        if applies && met { score } else { None }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn a_pair_is_decided_as_its_definition_says(
            (rule, (a, b)) in any_rule().prop_map(fitting).prop_flat_map(|rule| (Just(rule), any_held())),
            same_site: bool,
        ) {
            let expected = plain(&rule, &a, &b, same_site);
            let finding = rule.pair(&a, &b, same_site);
            prop_assert_eq!(finding.accepted(), expected.is_some(), "{}: {:?}", rule, finding);
            if let Some(score) = expected {
                prop_assert_eq!(finding.score, score);
            }
            let score = if rule.between.holds(same_site) { rule.score(&a, &b) } else { None };
            prop_assert_eq!(score, expected, "{}", rule);
            // And the same with the two changed over.
            prop_assert_eq!(rule.pair(&b, &a, same_site), finding);
        }

        #[test]
        fn what_is_looked_up_finds_whatever_is_accepted(
            (rule, (a, b)) in any_rule().prop_map(fitting).prop_flat_map(|rule| (Just(rule), any_held())),
        ) {
            let keys = |row: &Held| {
                let mut keys = BTreeSet::new();
                rule.each_key(row, |column, key| {
                    keys.insert((column, key));
                });
                keys
            };
            let shared = keys(&a).intersection(&keys(&b)).count();
            if rule.score(&a, &b).is_some() {
                prop_assert!(shared >= rule.keys.lookups_needed(), "{rule}");
            }
        }
    }
}
