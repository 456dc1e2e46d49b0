//! The vector space model: pages as vectors of weighted terms, and the cosine of the angle between two of them.
//!
//! A term weighs as often as a page has it (tf), or that times ln(N / df), where df of N pages have it (tf-idf; Salton
//! and others): a term that every page has weighs nothing. This is the reference similarity of Potthast and Stein's
//! evaluation. Cost: a sort of each page's tokens and a merge a pair; for tf-idf one more sort over all pages' terms.

use std::collections::HashMap;

use rayon::prelude::*;

use crate::sets::Batches;

/// Terms, ascending, and how much each weighs in a page.
#[derive(Debug)]
pub struct Frequencies {
    weights: Vec<(u64, f64)>,
    norm: f64,
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
        let runs = sorted.chunk_by(|a, b| a == b);
        let weights: Vec<(u64, f64)> = runs.map(|run| (run[0], run.len() as f64 * weight(run[0]))).collect();
        let norm = weights.iter().map(|(_, weight)| weight * weight).sum::<f64>().sqrt();
        Frequencies { weights, norm }
    }

    /// The cosine of the angle between two pages; 0 where one of them weighs nothing at all.
    pub fn cosine(&self, other: &Frequencies) -> f64 {
        if self.norm == 0.0 || other.norm == 0.0 {
            return 0.0;
        }
        let (a, b) = (&self.weights, &other.weights);
        let (mut at_a, mut at_b, mut product) = (0, 0, 0.0);
        while at_a < a.len() && at_b < b.len() {
            let (x, y) = (a[at_a], b[at_b]);
            if x.0 == y.0 {
                product += x.1 * y.1;
            }
            at_a += usize::from(x.0 <= y.0);
            at_b += usize::from(y.0 <= x.0);
        }
        (product / (self.norm * other.norm)).min(1.0)
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
        if norms == 0.0 { 0.0 } else { dot(a, b) / norms }
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
    }

    #[test]
    fn a_page_that_weighs_nothing_is_like_nothing() {
        let nothing = Frequencies::weighted(&[1, 2], |_| 0.0);
        assert_eq!(nothing.cosine(&Frequencies::new(&[1, 2])), 0.0);
        assert_eq!(Frequencies::new(&[]).cosine(&Frequencies::new(&[])), 0.0);
    }
}
