//! A bucket of many pages: all its pairs, most of them rejected before they are looked at one by one.
//!
//! Pages are taken in the order of their weight (the size of a set), so that those too heavy for a page stand behind a
//! certain place and are never met; the others are screened 64 against 64 in vector registers ([`crate::screen`]).
//! Cost: 8 bytes and a few vector operations for every 64 pairs and word, then one look at every pair that passes.

use std::ops::Range;

use rayon::prelude::*;

use crate::screen::{BLOCK, Blocks, Screened};

/// Buckets of fewer pages are not worth the preparation.
pub(crate) const FEWEST: usize = 2 * BLOCK;

/// The pages of a bucket, ready to be screened.
#[derive(Debug)]
pub(crate) struct Crowd<'v, V> {
    verifier: &'v V,
    pages: Vec<u32>,
    blocks: Blocks,
}

impl<'v, V: Screened> Crowd<'v, V> {
    /// Whether the verifier has anything to screen by.
    pub(crate) fn helps(verifier: &V, pages: usize, any: u32) -> bool {
        pages >= FEWEST && !verifier.words(any).is_empty()
    }

    pub(crate) fn new(verifier: &'v V, mut pages: Vec<u32>) -> Self {
        pages.sort_unstable_by_key(|&page| (verifier.weight(page), page));
        let mut blocks = Blocks::new(pages.first().map_or(0, |&page| verifier.words(page).len()));
        for &page in &pages {
            blocks.push(verifier.words(page), verifier.share(page));
        }
        Crowd { verifier, pages, blocks }
    }

    /// Parts of the work that may be done at the same time: those of some rows, which begin and end with a block.
    pub(crate) fn tiles(&self, rows: Range<usize>) -> impl IndexedParallelIterator<Item = usize> + use<V> {
        let all = self.blocks.blocks();
        (all.min(rows.start / BLOCK)..all.min(rows.end.div_ceil(BLOCK))).into_par_iter()
    }

    /// Calls `found(a, b)`, a < b, for each pair of a tile that may be accepted. All tiles together have every pair once.
    pub(crate) fn pairs(&self, tile: usize, found: &mut impl FnMut(u32, u32)) {
        let rows = &self.pages[tile * BLOCK..self.pages.len().min((tile + 1) * BLOCK)];
        let mut probes = Vec::new();
        for &page in rows {
            probes.extend_from_slice(self.verifier.words(page));
            probes.push(self.verifier.share(page));
        }
        let heaviest = rows[rows.len() - 1];
        for block in tile..self.blocks.blocks() {
            let others = &self.pages[block * BLOCK..self.pages.len().min((block + 1) * BLOCK)];
            let apart = self.verifier.weight(others[0]).saturating_sub(self.verifier.weight(heaviest));
            if 2 * apart > self.verifier.share(heaviest) + self.verifier.share(others[0]) {
                // So it is for lighter rows and heavier others, too.
                break;
            }
            self.blocks.screen(block..block + 1, &probes, &mut |probe, other| {
                let (one, other_page) = (rows[probe], self.pages[other]);
                if other > tile * BLOCK + probe && one != other_page {
                    found(one.min(other_page), one.max(other_page));
                }
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::splitmix;
    use crate::sets::testing::Made;
    use crate::verify::{AgreeingBits, Jaccard};

    /// Nothing that is accepted is missing, and nothing comes twice.
    fn check<V: Screened>(verifier: &V, count: u32) {
        let crowd = Crowd::new(verifier, (0..count).rev().collect());
        let mut found = Vec::new();
        for tile in 0..count.div_ceil(BLOCK as u32) as usize {
            crowd.pairs(tile, &mut |a, b| found.push((a, b)));
        }
        let all = found.len();
        found.sort_unstable();
        found.dedup();
        assert_eq!(found.len(), all);
        let mut accepted = 0;
        for b in 0..count {
            for a in 0..b {
                if verifier.score(a, b).is_some() {
                    accepted += 1;
                    assert!(found.binary_search(&(a, b)).is_ok(), "{a} {b}");
                }
            }
        }
        assert!(accepted > 0 && all < (count * (count - 1) / 2) as usize);
    }

    #[test]
    fn sets_of_many_sizes() {
        // Families of sets that share most elements, from 10 to 1,500 of them, and one giant.
        let list = |page: u64| -> Vec<u64> {
            let size = if page == 7 { 9000 } else { 10 + splitmix(1, page / 4) % 1500 };
            (0..size)
                .filter(|&at| !splitmix(page, at).is_multiple_of(12))
                .map(|at| splitmix(page / 4 + 9, at))
                .collect()
        };
        for pages in [130, 257, 300] {
            let made = Made::new(&(0..pages).map(list).collect::<Vec<_>>());
            let sets = made.sets();
            for least in [0.5, 0.8, 0.95] {
                check(&Jaccard { sets: &sets, least, of_larger: None }, pages as u32);
            }
        }
    }

    #[test]
    fn sketches() {
        let values: Vec<u64> = (0..200u64)
            .flat_map(|page| (0..6).map(move |at| splitmix(page / 3, at) ^ (1 << (page % 64))))
            .collect();
        check(&AgreeingBits { width: 6, values: &values, least: 370 }, 200);
    }
}
