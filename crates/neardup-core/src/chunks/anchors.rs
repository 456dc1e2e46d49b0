//! Prefix anchors (Manber, USENIX 1994; Heintze, USENIX-EC 1996): a chunk is selected by how its first word begins.
//!
//! *Manber*: chunks that start with a particular prefix. The prefixes are given, or, so that no language must be known,
//! one in `every` of all prefixes of so many letters is taken, by a hash: the same ones on every page. *Heintze*:
//! chunks that start with a prefix which is infrequent on the page: one that at most `most` of its words begin with.
//! Either looks at a chunk's first letters alone, so a chunk that two pages share is selected on both or on neither
//! (Manber), or nearly so (Heintze: the other words of the page decide as well). Cost: O(words).

use std::collections::HashMap;

use crate::batch::Shingling;
use crate::chunks::texts::{PageTerms, prefix};
use crate::format::{SEED_ANCHOR, splitmix};
use crate::hash::{fold, fold_term};

/// Which beginnings make an anchor.
#[derive(Clone, Debug)]
pub enum Anchor {
    /// These, of any length.
    Given(Vec<Vec<u8>>),
    /// One in `every` of the prefixes of `letters` characters.
    Hashed { letters: usize, every: u64 },
    /// Those of `letters` characters that at most `most` words of the page have.
    Infrequent { letters: usize, most: u32 },
}

/// Buffers that calls share.
#[derive(Debug, Default)]
pub struct Buffers {
    tokens: Vec<u64>,
    chunks: Vec<u64>,
    counts: HashMap<u64, u32>,
}

/// Appends the windows of terms whose first term begins with an anchor.
pub fn select(
    terms: PageTerms<'_>,
    windows: Shingling,
    anchor: &Anchor,
    buffers: &mut Buffers,
    out: &mut Vec<u64>,
) {
    let Buffers { tokens, chunks, counts } = buffers;
    tokens.clear();
    tokens.extend(terms.iter().map(fold_term));
    windows.fill(tokens, chunks);
    counts.clear();
    if let Anchor::Infrequent { letters, .. } = *anchor {
        for term in terms.iter() {
            *counts.entry(name(term, letters)).or_default() += 1;
        }
    }
    let chosen = |term: &[u8]| match *anchor {
        Anchor::Given(ref prefixes) => prefixes.iter().any(|prefix| term.starts_with(prefix)),
        Anchor::Hashed { letters, every } => name(term, letters).is_multiple_of(every.max(1)),
        Anchor::Infrequent { letters, most } => counts[&name(term, letters)] <= most,
    };
    out.extend(chunks.iter().zip(terms.iter()).filter(|&(_, term)| chosen(term)).map(|(&chunk, _)| chunk));
}

/// A number for the prefix.
fn name(term: &[u8], letters: usize) -> u64 {
    const FACTOR: u64 = splitmix(SEED_ANCHOR, 0) | 1;
    fold(fold_term(prefix(term, letters)) ^ SEED_ANCHOR, FACTOR)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunks::texts::tests::Owned;
    use proptest::prelude::*;

    const PAIRS: Shingling = Shingling { k: 2, rabin: false };

    fn selected(terms: &[&str], anchor: &Anchor) -> Vec<u64> {
        let owned = Owned::new(&[terms]);
        let mut out = Vec::new();
        select(
            owned.lists().iter().next().expect("a page"),
            PAIRS,
            anchor,
            &mut Buffers::default(),
            &mut out,
        );
        out
    }

    /// The windows of the terms at these places.
    fn windows(terms: &[&str], places: &[usize]) -> Vec<u64> {
        let tokens: Vec<u64> = terms.iter().map(|term| fold_term(term.as_bytes())).collect();
        let mut all = Vec::new();
        PAIRS.fill(&tokens, &mut all);
        places.iter().map(|&at| all[at]).collect()
    }

    const TERMS: [&str; 8] = ["the", "quick", "thistle", "über", "quiet", "übel", "the", "end"];

    #[test]
    fn given_prefixes_select_what_starts_with_them() {
        let anchor = Anchor::Given(vec![b"th".to_vec(), "ü".as_bytes().to_vec()]);
        assert_eq!(selected(&TERMS, &anchor), windows(&TERMS, &[0, 2, 3, 5, 6]));
    }

    #[test]
    fn infrequent_prefixes_are_counted_on_the_page() {
        let anchor = Anchor::Infrequent { letters: 2, most: 1 };
        // "th" three times, "qu" and "üb" twice, "en" once; the last term starts no window of two.
        assert_eq!(selected(&TERMS, &anchor), Vec::<u64>::new());
        let anchor = Anchor::Infrequent { letters: 2, most: 2 };
        assert_eq!(selected(&TERMS, &anchor), windows(&TERMS, &[1, 3, 4, 5]));
    }

    proptest! {
        #[test]
        fn a_hashed_anchor_does_not_depend_on_the_page(
            terms in proptest::collection::vec("[a-dé]{1,4}", 2..30), every in 1u64..4,
        ) {
            let terms: Vec<&str> = terms.iter().map(String::as_str).collect();
            let anchor = Anchor::Hashed { letters: 2, every };
            let all = selected(&terms, &anchor);
            // Each window on a page of its own.
            let alone: Vec<u64> = terms.windows(2).flat_map(|window| selected(window, &anchor)).collect();
            prop_assert_eq!(all, alone);
        }
    }

    #[test]
    fn one_prefix_in_every_so_many_is_an_anchor() {
        let terms: Vec<String> = (0..40_000u32).map(|number| format!("w{number:05}")).collect();
        let terms: Vec<&str> = terms.iter().map(String::as_str).collect();
        let count = selected(&terms, &Anchor::Hashed { letters: 6, every: 16 }).len() as f64;
        // Five standard deviations of 40,000 draws of 1/16.
        assert!((count - 2500.0).abs() < 5.0 * (40_000.0f64 / 16.0 * 15.0 / 16.0).sqrt(), "{count}");
    }
}
