//! The shingle sets of many pages, for verifying candidates exactly.
//!
//! Of each set its size and its *parity* are made first: 512 bits, where each element flips the bit that its own lowest
//! bits name. An element that two sets share flips the same bit in both, so the bits in which two parities differ are
//! at most the elements in which the sets differ: one comparison of 64 bytes proves most candidates too different
//! without looking at them (the bitmap filter of Sandes, Teodoro and Melo, 2017). Both come out of a hash table that
//! fits the nearest cache; the set itself, sorted, is made when a candidate gets past them, and held or made again.
//! Cost: one probe a token and 72 bytes a page, then 8 bytes a distinct shingle of the pages that were looked at.

use std::ops::Deref;
use std::sync::OnceLock;

use rayon::prelude::*;

use crate::batch::{Lists, Shingling};
use crate::shingle::to_set;

const WORDS: usize = 8;

/// 512 bits of parity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parity([u64; WORDS]);

impl Parity {
    pub fn words(&self) -> &[u64] {
        &self.0
    }

    /// At least so many elements are in one of the two sets only.
    #[inline(always)]
    pub fn differences(&self, other: &Parity) -> usize {
        self.0.iter().zip(&other.0).map(|(a, b)| (a ^ b).count_ones() as usize).sum()
    }
}

/// Where the tokens of pages are had from.
pub trait PageTokens: Sync {
    /// Shows the tokens of a page to `look`, once.
    fn with(&self, page: u32, look: &mut dyn FnMut(&[u64]));
}

impl PageTokens for Vec<Vec<u64>> {
    fn with(&self, page: u32, look: &mut dyn FnMut(&[u64])) {
        look(&self[page as usize]);
    }
}

/// The sets of pages 0, 1, 2 …; a page that needs none has an empty one.
pub struct ShingleSets<'t> {
    tokens: Box<dyn PageTokens + 't>,
    shingling: Shingling,
    sizes: Vec<u32>,
    parities: Vec<Parity>,
    /// Sets that were looked at, or nothing where none are held.
    held: Vec<OnceLock<Box<[u64]>>>,
}

impl std::fmt::Debug for ShingleSets<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("ShingleSets").field("pages", &self.sizes.len()).finish_non_exhaustive()
    }
}

impl Default for ShingleSets<'_> {
    fn default() -> Self {
        ShingleSets::new(Box::new(Vec::<Vec<u64>>::new()), &[], Shingling { k: 1, rabin: false }, true)
    }
}

impl<'t> ShingleSets<'t> {
    /// Sizes and parities of those pages that are `needed`; with `hold` a set that was looked at stays in memory.
    pub fn new(tokens: Box<dyn PageTokens + 't>, needed: &[bool], shingling: Shingling, hold: bool) -> Self {
        let (sizes, parities) = (0..needed.len() as u32)
            .into_par_iter()
            .map_init(
                || (Vec::new(), Distinct::default()),
                |(window, distinct), page| {
                    if !needed[page as usize] {
                        return (0, Parity::default());
                    }
                    tokens.with(page, &mut |tokens| shingling.fill(tokens, window));
                    distinct.summary(window)
                },
            )
            .unzip();
        let held = if hold { needed.iter().map(|_| OnceLock::new()).collect() } else { Vec::new() };
        ShingleSets { tokens, shingling, sizes, parities, held }
    }

    /// Each list as a set of its own values, one for one.
    pub fn from_lists(lists: &[Vec<u64>]) -> Self {
        let single = Shingling { k: 1, rabin: false };
        ShingleSets::new(Box::new(lists.to_vec()), &vec![true; lists.len()], single, true)
    }

    #[inline(always)]
    pub fn size(&self, page: u32) -> usize {
        self.sizes[page as usize] as usize
    }

    #[inline(always)]
    pub fn parity(&self, page: u32) -> &Parity {
        &self.parities[page as usize]
    }

    /// The set itself, sorted.
    pub fn values(&self, page: u32) -> Values<'_> {
        match self.held.get(page as usize) {
            Some(held) => Values::Held(held.get_or_init(|| self.make(page).into_boxed_slice())),
            None => Values::Made(self.make(page)),
        }
    }

    fn make(&self, page: u32) -> Vec<u64> {
        let mut values = Vec::new();
        self.tokens.with(page, &mut |tokens| self.shingling.fill(tokens, &mut values));
        to_set(&mut values, &mut Vec::new());
        values
    }
}

/// A set that is held, or was made for the occasion.
#[derive(Debug)]
pub enum Values<'a> {
    Held(&'a [u64]),
    Made(Vec<u64>),
}

impl Deref for Values<'_> {
    type Target = [u64];

    fn deref(&self) -> &[u64] {
        match self {
            Values::Held(values) => values,
            Values::Made(values) => values,
        }
    }
}

/// A hash table of the values of one page, emptied for the next.
#[derive(Debug, Default)]
struct Distinct {
    table: Vec<u64>,
}

impl Distinct {
    /// How many distinct values there are, and their parity.
    fn summary(&mut self, values: &[u64]) -> (u32, Parity) {
        let slots = (2 * values.len()).next_power_of_two().max(16);
        self.table.clear();
        self.table.resize(slots, 0);
        let (mut size, mut bits, mut zero) = (0, [0u64; WORDS], false);
        for &value in values {
            // 0 marks a free slot, so it has a place of its own.
            let fresh = if value == 0 { !std::mem::replace(&mut zero, true) } else { self.insert(value) };
            size += u32::from(fresh);
            bits[(value >> 6) as usize % WORDS] ^= u64::from(fresh) << (value & 63);
        }
        (size, Parity(bits))
    }

    #[inline(always)]
    fn insert(&mut self, value: u64) -> bool {
        let mask = self.table.len() - 1;
        // The lowest bits are the parity's; these are others.
        let mut slot = (value >> 16) as usize & mask;
        loop {
            match self.table[slot] {
                0 => {
                    self.table[slot] = value;
                    return true;
                }
                found if found == value => return false,
                _ => slot = (slot + 1) & mask,
            }
        }
    }
}

/// Lists that come in several batches, one numbering over all.
#[derive(Debug)]
pub struct Batches<'a> {
    batches: Vec<Lists<'a>>,
    /// Where each batch starts in the numbering.
    starts: Vec<usize>,
}

impl<'a> Batches<'a> {
    pub fn new(batches: Vec<Lists<'a>>) -> Self {
        let starts = batches.iter().scan(0, |next, batch| {
            let start = *next;
            *next += batch.len();
            Some(start)
        });
        Batches { starts: starts.collect(), batches }
    }

    pub fn len(&self) -> usize {
        self.batches.iter().map(Lists::len).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn get(&self, at: usize) -> &'a [u64] {
        let batch = self.starts.partition_point(|&start| start <= at) - 1;
        self.batches[batch].get(at - self.starts[batch])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn parity_never_claims_too_much(a: Vec<u64>, b: Vec<u64>) {
            let of = |values: &[u64]| Distinct::default().summary(values);
            let set = |values: &[u64]| values.iter().copied().collect::<BTreeSet<_>>();
            let bound = of(&a).1.differences(&of(&b).1);
            prop_assert!(bound <= set(&a).symmetric_difference(&set(&b)).count());
        }

        #[test]
        fn repeated_values_count_once(values in proptest::collection::vec(0u64..20, 0..80)) {
            let set: Vec<u64> = values.iter().copied().collect::<BTreeSet<_>>().into_iter().collect();
            let mut distinct = Distinct::default();
            let summary = distinct.summary(&values);
            prop_assert_eq!(summary.0 as usize, set.len());
            prop_assert_eq!(summary, distinct.summary(&set));
        }
    }

    #[test]
    fn sets_are_the_same_held_or_made_again() {
        let lists = vec![vec![3, 1, 2, 3, 1, 2], vec![], vec![9, 9, 9]];
        let shingling = Shingling { k: 2, rabin: false };
        let sets = |hold| ShingleSets::new(Box::new(lists.clone()), &[true; 3], shingling, hold);
        let (held, made) = (sets(true), sets(false));
        for page in 0..3 {
            assert_eq!(*held.values(page), *made.values(page));
            assert_eq!(held.size(page), held.values(page).len());
        }
    }

    #[test]
    fn batches_are_numbered_through() {
        let (first, second) = ([1, 2, 3], [4, 5]);
        let batches = Batches::new(vec![
            Lists { offsets: &[0, 1, 3], values: &first },
            Lists { offsets: &[0], values: &[] },
            Lists { offsets: &[0, 2], values: &second },
        ]);
        assert_eq!(batches.len(), 3);
        let all: Vec<&[u64]> = (0..3).map(|at| batches.get(at)).collect();
        assert_eq!(all, [&[1][..], &[2, 3], &[4, 5]]);
    }
}
