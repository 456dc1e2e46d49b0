//! SPEX (Bernstein and Zobel, SPIRE 2004): which chunks occur in two pages or more, found with little memory.
//!
//! A chunk can repeat only if all its parts do. So lengths grow, level by level: at each a table of hashed counters
//! (none, one, several pages) counts those chunks whose two parts of the level before repeat, and nothing else.
//! Counters that several chunks share claim too much, never too little: the method is *lossless*. Lengths double here
//! (1, 2, 4 … n) where the paper adds one, as a chunk of length l is covered by two of length ⌈l/2⌉; and a last exact
//! count ([`crate::statistics::frequencies`]) of what is left makes the answer exact, whatever the size of the table.
//!
//! A counter is a bit in each of two planes: `once`, `twice`. A page sets its chunks' bits in `once`, and in `twice`
//! where it finds them set: which bits are set in the end depends on no order, so threads and partitions may share the
//! work ([`Repeats::merge`]). What one page says twice is claimed as well: the last count drops it, and not to sort
//! every page at every level costs less. Cost: one look-up and one update a token and level; two bits a counter.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::batch::Shingling;
use crate::format::{SEED_REPEATS, splitmix};
use crate::hash::fold;
use crate::ordered::{Ordered, to_set};

/// The counters of one level.
#[derive(Debug)]
pub struct Repeats {
    /// Of the chunks that are counted.
    length: usize,
    bits: u32,
    once: Vec<AtomicU64>,
    twice: Vec<AtomicU64>,
}

/// Buffers that calls share.
#[derive(Debug, Default)]
pub struct Buffers {
    chunks: Vec<u64>,
    plain: Vec<u64>,
    parts: Vec<u64>,
    ordered: Ordered,
}

/// The lengths of the levels up to n.
pub fn levels(n: usize) -> Vec<usize> {
    let mut lengths = vec![1];
    while let Some(&last) = lengths.last()
        && last < n
    {
        lengths.push((2 * last).min(n));
    }
    lengths
}

impl Repeats {
    /// 2^bits counters (at least 64) for chunks of `length` tokens.
    pub fn new(length: usize, bits: u32) -> Self {
        let bits = bits.clamp(6, 36);
        let plane = || (0..1usize << (bits - 6)).map(|_| AtomicU64::new(0)).collect();
        Repeats { length: length.max(1), bits, once: plane(), twice: plane() }
    }

    /// The planes of another, if they fit.
    pub fn from_planes(length: usize, bits: u32, once: &[u64], twice: &[u64]) -> Option<Self> {
        if !(6..=36).contains(&bits) || [once.len(), twice.len()] != [1 << (bits - 6); 2] {
            return None;
        }
        let plane = |words: &[u64]| words.iter().map(|&word| AtomicU64::new(word)).collect();
        Some(Repeats { length: length.max(1), bits, once: plane(once), twice: plane(twice) })
    }

    pub fn length(&self) -> usize {
        self.length
    }

    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// Copies of the two planes.
    pub fn planes(&self) -> [Vec<u64>; 2] {
        let copy = |plane: &[AtomicU64]| plane.iter().map(|word| word.load(Ordering::Relaxed)).collect();
        [copy(&self.once), copy(&self.twice)]
    }

    /// Counts a page, given the level before (none at the first). At the `last` level, and there only, chunks are those
    /// that pages are compared by, told apart where they saturate ([`crate::saturation`]): such a one has no parts at
    /// the level before, and is always counted. Safe to call from several threads.
    pub fn count(&self, tokens: &[u64], before: Option<&Repeats>, last: bool, buffers: &mut Buffers) {
        candidates(tokens, self.length, before, last, buffers);
        for &chunk in &buffers.chunks {
            let (word, bit) = self.place(chunk);
            if self.once[word].fetch_or(bit, Ordering::Relaxed) & bit != 0 {
                self.twice[word].fetch_or(bit, Ordering::Relaxed);
            }
        }
    }

    /// Adds what another counted of other pages. False if it counted something else.
    pub fn merge(&self, other: &Repeats) -> bool {
        if (self.length, self.bits) != (other.length, other.bits) {
            return false;
        }
        for word in 0..self.once.len() {
            let (theirs, again) =
                (other.once[word].load(Ordering::Relaxed), other.twice[word].load(Ordering::Relaxed));
            let ours = self.once[word].fetch_or(theirs, Ordering::Relaxed);
            self.twice[word].fetch_or(again | (ours & theirs), Ordering::Relaxed);
        }
        true
    }

    /// Whether the chunk may stand in several pages; if it does, always.
    #[inline]
    pub fn may_repeat(&self, chunk: u64) -> bool {
        let (word, bit) = self.place(chunk);
        self.twice[word].load(Ordering::Relaxed) & bit != 0
    }

    #[inline(always)]
    fn place(&self, chunk: u64) -> (usize, u64) {
        const FACTOR: u64 = splitmix(SEED_REPEATS, 0) | 1;
        let slot = fold(chunk ^ SEED_REPEATS, FACTOR) >> (64 - self.bits);
        ((slot >> 6) as usize, 1 << (slot & 63))
    }
}

/// Leaves in `buffers` the page's chunks of `length` tokens both of whose parts may repeat.
fn candidates(tokens: &[u64], length: usize, before: Option<&Repeats>, last: bool, buffers: &mut Buffers) {
    let Buffers { chunks, plain, parts, .. } = buffers;
    let windows = Shingling { k: length, rabin: false };
    if last {
        windows.fill(tokens, chunks)
    } else {
        windows.fill_plain(tokens, chunks)
    }
    if let Some(before) = before {
        windows.fill_plain(tokens, plain);
        Shingling { k: before.length, rabin: false }.fill_plain(tokens, parts);
        // A page shorter than a chunk is one chunk, all of it.
        let shift = length.min(tokens.len()).saturating_sub(before.length.min(tokens.len()));
        let mut at = 0;
        chunks.retain(|&chunk| {
            at += 1;
            let both = before.may_repeat(parts[at - 1]) && before.may_repeat(parts[at - 1 + shift]);
            both || chunk != plain[at - 1]
        });
    }
}

/// Appends the page's chunks that may repeat by the last level, as a set.
pub fn repeating(tokens: &[u64], last: &Repeats, buffers: &mut Buffers, out: &mut Vec<u64>) {
    Shingling { k: last.length, rabin: false }.fill(tokens, &mut buffers.chunks);
    buffers.chunks.retain(|&chunk| last.may_repeat(chunk));
    to_set(&mut buffers.chunks, &mut buffers.ordered);
    out.extend_from_slice(&buffers.chunks);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    /// All levels over the pages; the last one's counters.
    fn run(pages: &[Vec<u64>], n: usize, bits: u32) -> Repeats {
        let mut before: Option<Repeats> = None;
        for length in levels(n) {
            let level = Repeats::new(length, bits);
            for page in pages {
                level.count(page, before.as_ref(), length == n, &mut Buffers::default());
            }
            before = Some(level);
        }
        before.expect("a level")
    }

    fn naive(pages: &[Vec<u64>], n: usize) -> BTreeSet<u64> {
        let mut frequency: BTreeMap<u64, usize> = BTreeMap::new();
        for page in pages {
            let mut chunks = Vec::new();
            Shingling { k: n, rabin: false }.fill(page, &mut chunks);
            for chunk in chunks.into_iter().collect::<BTreeSet<_>>() {
                *frequency.entry(chunk).or_default() += 1;
            }
        }
        frequency.into_iter().filter(|&(_, pages)| pages > 1).map(|(chunk, _)| chunk).collect()
    }

    fn pages() -> impl Strategy<Value = Vec<Vec<u64>>> {
        proptest::collection::vec(proptest::collection::vec(1u64..10, 0..25), 0..8)
    }

    proptest! {
        #[test]
        fn nothing_that_repeats_is_lost(pages in pages(), n in 1usize..10, bits in 6u32..16) {
            let last = run(&pages, n, bits);
            let mut found = BTreeSet::new();
            for page in &pages {
                let mut out = Vec::new();
                repeating(page, &last, &mut Buffers::default(), &mut out);
                found.extend(out);
            }
            prop_assert!(naive(&pages, n).is_subset(&found));
        }

        #[test]
        fn with_room_enough_only_what_is_said_twice_is_claimed(pages in pages(), n in 1usize..10) {
            let last = run(&pages, n, 24);
            let mut found = BTreeSet::new();
            for page in &pages {
                let mut out = Vec::new();
                repeating(page, &last, &mut Buffers::default(), &mut out);
                found.extend(out);
            }
            let mut said: BTreeMap<u64, usize> = BTreeMap::new();
            for page in &pages {
                let mut chunks = Vec::new();
                Shingling { k: n, rabin: false }.fill(page, &mut chunks);
                chunks.into_iter().for_each(|chunk| *said.entry(chunk).or_default() += 1);
            }
            // At most 200 chunks in 2²⁴ counters: a chance of 0.1 % in a case that two meet; the cases are fixed.
            prop_assert!(found.iter().all(|chunk| said[chunk] > 1));
        }

        #[test]
        fn parts_of_the_collection_merge_to_the_whole(pages in pages(), cut in 0usize..8) {
            let (one, other) = pages.split_at(cut.min(pages.len()));
            let (a, b, all) = (Repeats::new(1, 8), Repeats::new(1, 8), Repeats::new(1, 8));
            let count = |level: &Repeats, pages: &[Vec<u64>]| {
                pages.iter().for_each(|page| level.count(page, None, true, &mut Buffers::default()));
            };
            count(&a, one);
            count(&b, other);
            count(&all, &pages);
            prop_assert!(a.merge(&b));
            prop_assert_eq!(a.planes(), all.planes());
            let [once, twice] = a.planes();
            let copy = Repeats::from_planes(1, 8, &once, &twice).expect("planes of the same size");
            prop_assert_eq!(copy.planes(), all.planes());
            prop_assert!(!a.merge(&Repeats::new(2, 8)));
            prop_assert!(Repeats::from_planes(1, 9, &once, &twice).is_none());
        }
    }

    #[test]
    fn lengths_double() {
        assert_eq!(levels(1), [1]);
        assert_eq!(levels(5), [1, 2, 4, 5]);
        assert_eq!(levels(8), [1, 2, 4, 8]);
    }
}
