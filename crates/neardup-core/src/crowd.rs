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

/// Blocks that a block of rows is screened against as one piece of work.
const TILE: usize = 16;

/// A block of rows, and the blocks that these are screened against.
#[derive(Clone, Debug)]
pub(crate) struct Tile {
    rows: usize,
    others: Range<usize>,
}

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
        let width = pages.first().map_or(0, |&page| verifier.words(page).len());
        let blocks = Blocks::of(width, &pages, |page| (verifier.words(page), verifier.share(page)));
        Crowd { verifier, pages, blocks }
    }

    /// Parts of the work that may be done at the same time: those of some rows, which begin and end with a block.
    pub(crate) fn tiles(&self, rows: Range<usize>) -> impl ParallelIterator<Item = Tile> + use<V> {
        let all = self.blocks.blocks();
        let rows = all.min(rows.start / BLOCK)..all.min(rows.end.div_ceil(BLOCK));
        rows.into_par_iter().flat_map(move |rows| {
            let starts = (rows..all).into_par_iter().step_by(TILE);
            starts.map(move |start| Tile { rows, others: start..all.min(start + TILE) })
        })
    }

    /// Calls `found(a, b)`, a < b, for each pair of a tile that may be accepted. All tiles together have every pair once.
    pub(crate) fn pairs(&self, tile: &Tile, found: &mut impl FnMut(u32, u32)) {
        let rows = self.block(tile.rows);
        let heaviest = rows[rows.len() - 1];
        let too_heavy = |other: u32| {
            let apart = self.verifier.weight(other).saturating_sub(self.verifier.weight(heaviest));
            2 * apart > self.verifier.share(heaviest) + self.verifier.share(other)
        };
        // So are heavier others, and others for lighter rows.
        let others = tile.others.clone().take_while(|&block| !too_heavy(self.block(block)[0])).count();
        if others == 0 {
            return;
        }
        let mut probes = Vec::new();
        for &page in rows {
            probes.extend_from_slice(self.verifier.words(page));
            probes.push(self.verifier.share(page));
        }
        let others = tile.others.start..tile.others.start + others;
        self.blocks.screen(others, &probes, &mut |probe, other| {
            let (one, other_page) = (rows[probe], self.pages[other]);
            if other > tile.rows * BLOCK + probe && one != other_page {
                found(one.min(other_page), one.max(other_page));
            }
        });
    }

    fn block(&self, number: usize) -> &[u32] {
        &self.pages[number * BLOCK..self.pages.len().min((number + 1) * BLOCK)]
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
        for tile in crowd.tiles(0..count as usize).collect::<Vec<_>>() {
            crowd.pairs(&tile, &mut |a, b| found.push((a, b)));
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
        // More blocks than one tile has.
        const PAGES: u64 = (TILE * BLOCK + 200) as u64;
        let values: Vec<u64> = (0..PAGES)
            .flat_map(|page| (0..6).map(move |at| splitmix(page / 3, at) ^ (1 << (page % 64))))
            .collect();
        check(&AgreeingBits { width: 6, values: &values, least: 370 }, PAGES as u32);
    }
}
