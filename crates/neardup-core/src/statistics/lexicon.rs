//! I-Match (Chowdhury et al., TOIS 2002) and its randomised lexicons (Kołcz, Chowdhury and Alspector, KDD 2004).
//!
//! A *lexicon* holds the terms of middling frequency. A page's signature is one hash of the set of its terms that stand
//! in the lexicon: pages that differ in other terms only, or in the order or number of terms, have the same. One term
//! more or less changes the signature; so further lexicons are made by leaving a random share of the terms out, and
//! pages are duplicates if any of the signatures agree: a difference of d lexicon terms is forgiven by one such lexicon
//! with probability share^d, by one of r with 1 − (1 − share^d)^r (and the full lexicon never).
//!
//! A page with fewer than `least` terms in the lexicon has too little to be told by: its signature is that of its whole
//! token sequence, which no other page has. Cost: one look-up a distinct term, one coin a term and lexicon.

use crate::format::{SEED_LEXICON, splitmix};
use crate::hash::{fold, identity, mix};
use crate::ordered::{Ordered, to_set};
use crate::shingle::shingles;
use crate::statistics::numbers::Numbers;

/// Which terms count, and in how many lexicons.
#[derive(Clone, Copy, Debug)]
pub struct Lexicons<'a> {
    /// Terms that are in the lexicon, or if `unlisted` those that are not.
    pub terms: Numbers<'a>,
    pub unlisted: bool,
    /// Randomised lexicons beside the full one.
    pub randomised: usize,
    /// The share of terms a randomised lexicon leaves out.
    pub left_out: f64,
    /// Terms below which a page has no signature.
    pub least: usize,
}

impl Lexicons<'_> {
    /// Numbers a page: the full lexicon's, then those of the randomised ones, each tagged with its place.
    pub fn signatures(&self, tokens: &[u64], terms: &mut Vec<u64>, out: &mut [u64]) {
        // The number of a term is that of the chunk of one token, as the statistics have it.
        terms.clear();
        shingles(tokens, 1, terms);
        to_set(terms, &mut Ordered::default());
        terms.retain(|&term| self.terms.find(term).is_some() != self.unlisted);
        let out_below = below(self.left_out);
        for (lexicon, out) in out.iter_mut().enumerate().take(self.randomised + 1) {
            let tag = splitmix(SEED_LEXICON, lexicon as u64);
            let (mut sum, mut count) = (tag, 0);
            for &term in terms.iter() {
                if lexicon == 0 || mix(term ^ tag) >= out_below {
                    sum = fold(sum ^ term, FACTOR);
                    count += 1;
                }
            }
            *out = if count < self.least.max(1) {
                mix(identity(tokens) as u64 ^ tag.rotate_left(1))
            } else {
                mix(sum)
            };
        }
    }
}

const FACTOR: u64 = splitmix(SEED_LEXICON, u64::MAX - 1) | 1;

/// A random word is below this with the probability `share`.
fn below(share: f64) -> u64 {
    (share.clamp(0.0, 1.0) * 18_446_744_073_709_551_616.0) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::numbers::directory;
    use proptest::prelude::*;

    /// The numbers of these terms, and their directory.
    struct Terms(Vec<u64>, Vec<u64>);

    impl Terms {
        fn new(terms: &[u64]) -> Self {
            let mut numbers = Vec::new();
            shingles(terms, 1, &mut numbers);
            to_set(&mut numbers, &mut Ordered::default());
            let directory = directory(&numbers);
            Terms(numbers, directory)
        }

        fn signatures(&self, tokens: &[u64], randomised: usize, left_out: f64, least: usize) -> Vec<u64> {
            let terms = Numbers::new(&self.0, &self.1).expect("its own directory");
            let lexicons = Lexicons { terms, unlisted: false, randomised, left_out, least };
            let mut out = vec![0; randomised + 1];
            lexicons.signatures(tokens, &mut Vec::new(), &mut out);
            out
        }
    }

    proptest! {
        #[test]
        fn the_full_signature_is_that_of_the_set(
            a in proptest::collection::vec(0u64..40, 1..40), b in proptest::collection::vec(0u64..40, 1..40),
        ) {
            let lexicon = Terms::new(&(10..30).collect::<Vec<u64>>());
            let set = |tokens: &[u64]| -> std::collections::BTreeSet<u64> {
                tokens.iter().copied().filter(|token| (10..30).contains(token)).collect()
            };
            let same = lexicon.signatures(&a, 0, 0.3, 1) == lexicon.signatures(&b, 0, 0.3, 1);
            if !set(&a).is_empty() {
                prop_assert_eq!(same, set(&a) == set(&b));
            } else {
                prop_assert_eq!(same, a == b);
            }
        }
    }

    #[test]
    fn randomised_lexicons_forgive_as_often_as_they_should() {
        // Pages that differ in d terms of the lexicon; 10 lexicons that leave out a third.
        let terms: Vec<u64> = (0..200_000).map(|at| splitmix(2, at)).collect();
        let lexicon = Terms::new(&terms);
        for d in 1..4usize {
            let (mut single, mut any, pairs) = (0u32, 0u32, 3000);
            for pair in 0..pairs {
                let (page, other) = (&terms[pair * 50..][..40], &terms[pair * 50..][..40 + d]);
                let signatures = |page: &[u64]| lexicon.signatures(page, 10, 1.0 / 3.0, 1);
                let (a, b) = (signatures(page), signatures(other));
                assert_ne!(a[0], b[0]);
                single += u32::from(a[1] == b[1]);
                any += u32::from(a.iter().zip(&b).any(|(a, b)| a == b));
            }
            let chance = f64::powi(1.0 / 3.0, d as i32);
            let one_of_ten = 1.0 - (1.0 - chance).powi(10);
            for (count, chance) in [(single, chance), (any, one_of_ten)] {
                // Five standard deviations of a binomial.
                let bound = 5.0 * (pairs as f64 * chance * (1.0 - chance)).sqrt();
                assert!((f64::from(count) - pairs as f64 * chance).abs() < bound, "d = {d}: {count}");
            }
        }
    }

    #[test]
    fn too_few_terms_match_nothing_but_the_same_page() {
        let lexicon = Terms::new(&[1, 2, 3]);
        let of = |tokens: &[u64]| lexicon.signatures(tokens, 2, 0.5, 3);
        assert_ne!(of(&[1, 2, 9])[0], of(&[2, 1, 9])[0]);
        assert_eq!(of(&[1, 2, 9]), of(&[1, 2, 9]));
        assert_eq!(of(&[1, 2, 3, 9])[0], of(&[3, 2, 1])[0]);
    }
}
