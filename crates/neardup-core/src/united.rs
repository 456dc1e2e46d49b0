//! Pairs that several rules accepted, put together.
//!
//! Each rule's pairs come in order, so one pass over all lists at once is enough. Cost: a comparison of each list's next
//! pair for every pair; rules are few.

use crate::join::Pair;

/// The pairs of one rule, sorted by (a, b), each once.
#[derive(Clone, Copy, Debug)]
pub struct OfRule<'a> {
    pub a: &'a [u32],
    pub b: &'a [u32],
    pub score: &'a [f64],
}

impl OfRule<'_> {
    fn key(&self, at: usize) -> Option<(u32, u32)> {
        self.a.get(at).map(|&a| (a, self.b[at]))
    }
}

/// All pairs, sorted, each once.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct United {
    pub a: Vec<u32>,
    pub b: Vec<u32>,
    pub score: Vec<f64>,
    /// The place of the rule whose score it is.
    pub rule: Vec<i8>,
}

/// A pair that several rules accepted is told by its highest score, then by the first rule. There are at most 127 rules.
pub fn united(rules: &[OfRule<'_>]) -> United {
    let most = rules.iter().map(|rule| rule.a.len()).sum();
    let mut all = United {
        a: Vec::with_capacity(most),
        b: Vec::with_capacity(most),
        score: Vec::with_capacity(most),
        rule: Vec::with_capacity(most),
    };
    let mut next = vec![0usize; rules.len()];
    while let Some(key) = rules.iter().zip(&next).filter_map(|(rule, &at)| rule.key(at)).min() {
        let mut best: Option<(f64, i8)> = None;
        for (number, (rule, at)) in rules.iter().zip(&mut next).enumerate() {
            if rule.key(*at) == Some(key) {
                if best.is_none_or(|(score, _)| rule.score[*at] > score) {
                    best = Some((rule.score[*at], number as i8));
                }
                *at += 1;
            }
        }
        let (score, rule) = best.expect("the least key is some rule's");
        all.a.push(key.0);
        all.b.push(key.1);
        all.score.push(score);
        all.rule.push(rule);
    }
    all
}

/// Puts further pairs of the same rule among its pairs, both sorted by (a, b); from the back, so that no other list is
/// needed.
pub fn merge(pairs: &mut Vec<Pair>, more: &[Pair]) {
    let (mut left, mut right) = (pairs.len(), more.len());
    pairs.extend_from_slice(more);
    while left > 0 && right > 0 {
        let from_left = pairs[left - 1].order() > more[right - 1].order();
        let last = if from_left { pairs[left - 1] } else { more[right - 1] };
        pairs[left + right - 1] = last;
        left -= usize::from(from_left);
        right -= usize::from(!from_left);
    }
    pairs[..right].copy_from_slice(&more[..right]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    type Pairs = BTreeMap<(u32, u32), u8>;

    proptest! {
        #[test]
        fn each_pair_once_by_its_highest_score_then_the_first_rule(
            rules in proptest::collection::vec(
                proptest::collection::btree_map((0u32..6, 6u32..12), 0u8..4, 0..20), 0..4,
            ),
        ) {
            let mut best: BTreeMap<(u32, u32), (f64, i8)> = BTreeMap::new();
            let column = |rule: &Pairs, of: fn(&(u32, u32)) -> u32| rule.keys().map(of).collect::<Vec<u32>>();
            let mut lists = Vec::new();
            for (number, rule) in rules.iter().enumerate() {
                for (&pair, &score) in rule {
                    let told = (f64::from(score) / 4.0, number as i8);
                    let held = best.entry(pair).or_insert(told);
                    if told.0 > held.0 {
                        *held = told;
                    }
                }
                let scores: Vec<f64> = rule.values().map(|&score| f64::from(score) / 4.0).collect();
                lists.push((column(rule, |pair| pair.0), column(rule, |pair| pair.1), scores));
            }
            let views: Vec<OfRule> = lists.iter().map(|(a, b, score)| OfRule { a, b, score }).collect();
            let found = united(&views);
            let keys: Vec<(u32, u32)> = found.a.iter().copied().zip(found.b.iter().copied()).collect();
            prop_assert_eq!(keys, best.keys().copied().collect::<Vec<_>>());
            let told: Vec<(f64, i8)> = found.score.iter().copied().zip(found.rule.iter().copied()).collect();
            prop_assert_eq!(told, best.values().copied().collect::<Vec<_>>());
        }

        #[test]
        fn merging_is_sorting_all(
            mut pairs in proptest::collection::vec((0u32..9, 0u32..9), 0..20),
            mut more in proptest::collection::vec((0u32..9, 0u32..9), 0..20),
        ) {
            let list = |pairs: &mut Vec<(u32, u32)>| {
                pairs.sort_unstable();
                pairs.iter().map(|&(a, b)| Pair { a, b, score: 0.5 }).collect::<Vec<_>>()
            };
            let (mut merged, further) = (list(&mut pairs), list(&mut more));
            merge(&mut merged, &further);
            pairs.append(&mut more);
            prop_assert_eq!(merged, list(&mut pairs));
        }
    }
}
