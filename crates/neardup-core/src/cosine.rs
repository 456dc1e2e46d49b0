//! The vector space model: pages as vectors of weighted terms, and the cosine of the angle between two of them.
//!
//! A term weighs as often as a page has it (tf), or that times ln(N / df), where df of N pages have it (tf-idf; Salton
//! and others): a term that every page has weighs nothing. This is the reference similarity of Potthast and Stein's
//! evaluation. Rounding must not decide whether two pages are the same: the cosine is 1 exactly where two pages have the
//! same terms equally often, or where the counts of the terms that weigh something are in proportion, both by whole
//! numbers; it is below 1 everywhere else. Cost: a sort of each page's tokens and a merge a pair; for tf-idf one more
//! sort over all pages' terms.

use std::collections::HashMap;

use rayon::prelude::*;

use crate::sets::Batches;

#[derive(Clone, Copy, Debug)]
struct Term {
    term: u64,
    count: u64,
    /// The count times what the term weighs.
    weight: f64,
}

/// The terms of a page, ascending, how often it has each, and how much that weighs.
#[derive(Debug)]
pub struct Frequencies {
    terms: Vec<Term>,
    /// The square of the vector's length.
    square: f64,
}

impl Frequencies {
    /// By term frequency.
    pub fn new(tokens: &[u64]) -> Self {
        Frequencies::weighted(tokens, |_| 1.0)
    }

    /// By term frequency times a weight of the term.
    pub fn weighted(tokens: &[u64], weight: impl Fn(u64) -> f64) -> Self {
        let mut sorted = tokens.to_vec();
        sorted.sort_unstable();
        let terms: Vec<Term> = sorted
            .chunk_by(|a, b| a == b)
            .map(|run| Term {
                term: run[0],
                count: run.len() as u64,
                weight: run.len() as f64 * weight(run[0]),
            })
            .collect();
        let square = terms.iter().map(|term| term.weight * term.weight).sum();
        Frequencies { terms, square }
    }

    /// The cosine of the angle between two pages; 0 where one of them weighs nothing at all and they are not the same.
    pub fn cosine(&self, other: &Frequencies) -> f64 {
        if self.is_same(other) {
            return 1.0;
        }
        if self.square == 0.0 || other.square == 0.0 {
            return 0.0;
        }
        if self.is_parallel(other) {
            return 1.0;
        }
        let (a, b) = (&self.terms, &other.terms);
        let (mut at_a, mut at_b, mut product) = (0, 0, 0.0);
        while at_a < a.len() && at_b < b.len() {
            let (x, y) = (a[at_a], b[at_b]);
            if x.term == y.term {
                product += x.weight * y.weight;
            }
            at_a += usize::from(x.term <= y.term);
            at_b += usize::from(y.term <= x.term);
        }
        // Each root by itself: the product of two squares could leave the range of numbers.
        (product / (self.square.sqrt() * other.square.sqrt())).min(1.0f64.next_down())
    }

    /// Whether both have the same terms equally often, and any at all.
    fn is_same(&self, other: &Frequencies) -> bool {
        let (a, b) = (&self.terms, &other.terms);
        !a.is_empty()
            && a.len() == b.len()
            && a.iter().zip(b).all(|(x, y)| (x.term, x.count) == (y.term, y.count))
    }

    fn weighing(&self) -> impl Iterator<Item = &Term> {
        self.terms.iter().filter(|term| term.weight != 0.0)
    }

    /// Whether the two vectors have one direction: the same terms that weigh something, and one ratio of their counts.
    /// A term weighs the same in both pages, so that the weights themselves do not matter.
    fn is_parallel(&self, other: &Frequencies) -> bool {
        let (mut own, mut others) = (self.weighing(), other.weighing());
        let mut ratio = None;
        loop {
            match (own.next(), others.next()) {
                (None, None) => return ratio.is_some(),
                (Some(a), Some(b)) if a.term == b.term => {
                    let (first_a, first_b) = *ratio.get_or_insert((a.count, b.count));
                    if u128::from(a.count) * u128::from(first_b) != u128::from(b.count) * u128::from(first_a)
                    {
                        return false;
                    }
                }
                _ => return false,
            }
        }
    }
}

/// How much each term of a collection weighs.
#[derive(Debug)]
pub enum Weights {
    /// All the same.
    Equal,
    /// ln(N / df).
    Inverse(HashMap<u64, f64>),
}

impl Weights {
    /// The weights by how many of these pages have each term.
    pub fn inverse(pages: &Batches<'_>) -> Self {
        let mut terms: Vec<u64> = (0..pages.len())
            .into_par_iter()
            .flat_map_iter(|page| {
                let mut own = pages.get(page).to_vec();
                own.sort_unstable();
                own.dedup();
                own
            })
            .collect();
        terms.par_sort_unstable();
        let count = pages.len() as f64;
        let weights = terms.chunk_by(|a, b| a == b).map(|run| (run[0], (count / run.len() as f64).ln()));
        Weights::Inverse(weights.collect())
    }

    pub fn of(&self, tokens: &[u64]) -> Frequencies {
        match self {
            Weights::Equal => Frequencies::new(tokens),
            Weights::Inverse(weights) => {
                Frequencies::weighted(tokens, |term| weights.get(&term).copied().unwrap_or(0.0))
            }
        }
    }
}

/// The cosine of each pair of pages; pairs with the same first page that follow one another share its vector.
pub fn cosines(pages: &Batches<'_>, pairs: &[(u32, u32)], weights: &Weights) -> Vec<f64> {
    let groups: Vec<&[(u32, u32)]> = pairs.chunk_by(|x, y| x.0 == y.0).collect();
    groups
        .into_par_iter()
        .flat_map_iter(|group| {
            let first = weights.of(pages.get(group[0].0 as usize));
            group.iter().map(move |&(_, other)| weights.of(pages.get(other as usize)).cosine(&first))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::Lists;
    use proptest::prelude::*;

    fn naive(pages: &[Vec<u64>], a: usize, b: usize, inverse: bool) -> f64 {
        let weight = |page: usize, term: u64| {
            let count = pages[page].iter().filter(|&&other| other == term).count() as f64;
            let having = pages.iter().filter(|page| page.contains(&term)).count() as f64;
            if inverse && having > 0.0 { count * (pages.len() as f64 / having).ln() } else { count }
        };
        let dot = |a, b| (0..6).map(|term| weight(a, term) * weight(b, term)).sum::<f64>();
        let norms = (dot(a, a) * dot(b, b)).sqrt();
        let sorted = |page: usize| {
            let mut tokens = pages[page].clone();
            tokens.sort_unstable();
            tokens
        };
        if !pages[a].is_empty() && sorted(a) == sorted(b) {
            1.0
        } else if norms == 0.0 {
            0.0
        } else {
            dot(a, b) / norms
        }
    }

    proptest! {
        #[test]
        fn agrees_with_the_definition(
            pages in proptest::collection::vec(proptest::collection::vec(0u64..6, 0..12), 1..8),
            inverse: bool,
        ) {
            let values = pages.concat();
            let mut offsets = vec![0i64];
            for page in &pages {
                offsets.push(offsets[offsets.len() - 1] + page.len() as i64);
            }
            let batches = Batches::new(vec![Lists { offsets: &offsets, values: &values }]);
            let weights = if inverse { Weights::inverse(&batches) } else { Weights::Equal };
            let count = pages.len() as u32;
            let pairs: Vec<(u32, u32)> = (0..count).flat_map(|a| (0..count).map(move |b| (a, b))).collect();
            let found = cosines(&batches, &pairs, &weights);
            prop_assert_eq!(found.len(), pairs.len());
            for (&(a, b), found) in pairs.iter().zip(found) {
                let expected = naive(&pages, a as usize, b as usize, inverse);
                prop_assert!((found - expected).abs() < 1e-6, "{a} {b}: {found} {expected}");
            }
        }

        #[test]
        fn is_one_for_vectors_of_one_direction_and_for_no_others(
            tokens in proptest::collection::vec(0u64..400, 1..600),
            others in proptest::collection::vec(proptest::collection::vec(0u64..500, 0..40), 1..6),
            copies in 1usize..4,
            turn in 0usize..600,
        ) {
            // A page, its terms in another order and several times, the same with one more token, and some others.
            let mut turned = tokens.repeat(copies);
            let middle = turn % turned.len();
            turned.rotate_left(middle);
            let mut longer = turned.clone();
            longer.push(tokens[0]);
            let pages: Vec<Vec<u64>> = [vec![tokens.clone(), turned, longer], others].concat();
            let mut offsets = vec![0i64];
            for page in &pages {
                offsets.push(offsets[offsets.len() - 1] + page.len() as i64);
            }
            let values = pages.concat();
            let batches = Batches::new(vec![Lists { offsets: &offsets, values: &values }]);
            let one_term_only = tokens.iter().all(|&token| token == tokens[0]);
            for weights in [Weights::Equal, Weights::inverse(&batches)] {
                let found = cosines(&batches, &[(0, 0), (0, 1), (1, 0), (0, 2), (2, 1)], &weights);
                // A term that every page has weighs nothing; where all do, only the very same terms make two pages alike.
                let proportional = if weights.of(&tokens).square == 0.0 && copies > 1 { 0.0 } else { 1.0 };
                prop_assert_eq!(&found[..3], &[1.0, proportional, proportional]);
                if matches!(weights, Weights::Equal) && !one_term_only {
                    prop_assert!(found[3] < 1.0 && found[4] < 1.0, "one more token is another direction: {found:?}");
                }
                let all: Vec<(u32, u32)> = (0..pages.len() as u32).map(|other| (0, other)).collect();
                prop_assert!(cosines(&batches, &all, &weights).iter().all(|&one| (0.0..=1.0).contains(&one)));
            }
        }
    }

    #[test]
    fn a_page_that_weighs_nothing_is_like_nothing() {
        let nothing = Frequencies::weighted(&[1, 2], |_| 0.0);
        assert_eq!(nothing.cosine(&Frequencies::new(&[1, 2, 3])), 0.0);
        assert_eq!(nothing.cosine(&nothing), 1.0, "but like its copy");
        assert_eq!(Frequencies::new(&[]).cosine(&Frequencies::new(&[])), 0.0);
    }
}
