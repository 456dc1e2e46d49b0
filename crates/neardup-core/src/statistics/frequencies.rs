//! Document frequencies: of each chunk, how many pages have it, exactly.
//!
//! A batch of pages becomes sorted numbers with counts; two such lists merge into one. Both do the same whatever the
//! cut into batches or partitions and whatever the order. Chunks that the last level of SPEX
//! ([`crate::statistics::repeats`]) shows to stand in one page only never get here, so memory is that of chunks that
//! repeat. Cost: a sort a batch.

use crate::batch::Lists;
use crate::statistics::repeats::{Buffers, Repeats, repeating};

/// Chunks, ascending, and how many pages have each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frequencies {
    pub chunks: Vec<u64>,
    pub pages: Vec<u32>,
}

/// Of a batch of pages the chunks that may repeat, counted.
pub fn count(tokens: Lists<'_>, last: &Repeats) -> Frequencies {
    let (mut all, mut buffers) = (Vec::new(), Buffers::default());
    for tokens in tokens.iter() {
        repeating(tokens, last, &mut buffers, &mut all);
    }
    all.sort_unstable();
    let mut counted = Frequencies::default();
    for same in all.chunk_by(|a, b| a == b) {
        counted.chunks.push(same[0]);
        counted.pages.push(u32::try_from(same.len()).unwrap_or(u32::MAX));
    }
    counted
}

/// Both together; both have ascending chunks, and a count for each.
pub fn merge(a: (&[u64], &[u32]), b: (&[u64], &[u32])) -> Frequencies {
    let size = a.0.len().max(b.0.len());
    let mut merged = Frequencies { chunks: Vec::with_capacity(size), pages: Vec::with_capacity(size) };
    let (mut at_a, mut at_b) = (0, 0);
    while at_a < a.0.len() || at_b < b.0.len() {
        let (x, y) = (a.0.get(at_a), b.0.get(at_b));
        let from_a = x.is_some_and(|x| y.is_none_or(|y| x <= y));
        let from_b = y.is_some_and(|y| x.is_none_or(|x| y <= x));
        let mut pages = 0u32;
        merged.chunks.push(if from_a { a.0[at_a] } else { b.0[at_b] });
        if from_a {
            pages = a.1[at_a];
            at_a += 1;
        }
        if from_b {
            pages = pages.saturating_add(b.1[at_b]);
            at_b += 1;
        }
        merged.pages.push(pages);
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    fn naive(pages: &[BTreeSet<u8>]) -> BTreeMap<u64, u32> {
        let mut frequency = BTreeMap::new();
        for page in pages {
            for &token in page {
                *frequency.entry(u64::from(token)).or_default() += 1;
            }
        }
        frequency
    }

    fn counted(pages: &[BTreeSet<u8>]) -> Frequencies {
        let mut frequencies = Frequencies::default();
        for (chunk, count) in naive(pages) {
            frequencies.chunks.push(chunk);
            frequencies.pages.push(count);
        }
        frequencies
    }

    proptest! {
        #[test]
        fn parts_merge_to_the_whole(a: Vec<BTreeSet<u8>>, b: Vec<BTreeSet<u8>>) {
            let (one, other) = (counted(&a), counted(&b));
            let merged = merge((&one.chunks, &one.pages), (&other.chunks, &other.pages));
            prop_assert_eq!(merged, counted(&[a, b].concat()));
        }

        #[test]
        fn counts_pages_not_occurrences(
            pages in proptest::collection::vec(proptest::collection::vec(1u64..10, 0..20), 0..9), n in 1usize..5,
        ) {
            let mut offsets = vec![0i64];
            offsets.extend(pages.iter().scan(0, |end, page| { *end += page.len() as i64; Some(*end) }));
            let values = pages.concat();
            let mut before = None;
            for length in crate::statistics::repeats::levels(n) {
                let level = Repeats::new(length, 22);
                pages.iter().for_each(|page| level.count(page, before.as_ref(), length == n, &mut Buffers::default()));
                before = Some(level);
            }
            let found = count(Lists { offsets: &offsets, values: &values }, &before.expect("a level"));
            let mut expected: BTreeMap<u64, u32> = BTreeMap::new();
            for page in &pages {
                let mut chunks = Vec::new();
                crate::batch::Shingling { k: n, rabin: false }.fill(page, &mut chunks);
                for chunk in chunks.into_iter().collect::<BTreeSet<_>>() {
                    *expected.entry(chunk).or_default() += 1;
                }
            }
            let mut found: BTreeMap<u64, u32> = found.chunks.into_iter().zip(found.pages).collect();
            // What stands on one page may have been claimed, and is told by its count.
            prop_assert!(found.iter().all(|(chunk, pages)| expected[chunk] == *pages));
            found.retain(|_, pages| *pages > 1);
            expected.retain(|_, pages| *pages > 1);
            prop_assert_eq!(found, expected);
        }
    }
}
