//! The shingle sets of many pages, for verifying candidates exactly.
//!
//! Beside each set stands its *parity*: 512 bits, where each element flips the bit that its own lowest bits name. An
//! element that two sets share flips the same bit in both, so the bits in which two parities differ are at most the
//! elements in which the sets differ: one comparison of 64 bytes proves most candidates too different without looking
//! at them (the bitmap filter of Sandes, Teodoro and Melo, 2017). Sets are made in parallel, only for pages that need
//! one. Cost: 8 bytes a distinct shingle and 64 a page.

use rayon::prelude::*;

use crate::batch::{Lists, Shingling};
use crate::shingle::to_set;

const WORDS: usize = 8;

/// 512 bits of parity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parity([u64; WORDS]);

impl Parity {
    fn of(set: &[u64]) -> Self {
        let mut bits = [0; WORDS];
        for &value in set {
            bits[(value >> 6) as usize % WORDS] ^= 1 << (value & 63);
        }
        Parity(bits)
    }

    pub fn words(&self) -> &[u64] {
        &self.0
    }

    /// At least so many elements are in one of the two sets only.
    #[inline(always)]
    pub fn differences(&self, other: &Parity) -> usize {
        self.0.iter().zip(&other.0).map(|(a, b)| (a ^ b).count_ones() as usize).sum()
    }
}

/// One set, sorted.
#[derive(Clone, Copy, Debug)]
pub struct Set<'a> {
    pub values: &'a [u64],
    pub parity: &'a Parity,
}

/// The sets of pages 0, 1, 2 …; a page that needs none has an empty one.
#[derive(Clone, Debug, Default)]
pub struct ShingleSets {
    sets: Vec<Vec<u64>>,
    parities: Vec<Parity>,
}

impl ShingleSets {
    /// The sets of those pages of `tokens` that are `needed`.
    pub fn new<'a>(
        tokens: &(dyn Fn(u32) -> &'a [u64] + Sync),
        needed: &[bool],
        shingling: Shingling,
    ) -> Self {
        let (sets, parities) = (0..needed.len() as u32)
            .into_par_iter()
            .map_init(
                || (Vec::new(), Vec::new()),
                |(window, spare), page| {
                    if !needed[page as usize] {
                        return (Vec::new(), Parity::default());
                    }
                    shingling.fill(tokens(page), window);
                    to_set(window, spare);
                    (window.as_slice().to_vec(), Parity::of(window))
                },
            )
            .unzip();
        ShingleSets { sets, parities }
    }

    /// From sets that are there already, each sorted.
    pub fn from_lists(lists: &[Vec<u64>]) -> Self {
        let mut sets = lists.to_vec();
        let mut spare = Vec::new();
        sets.iter_mut().for_each(|set| to_set(set, &mut spare));
        let parities = sets.iter().map(|set| Parity::of(set)).collect();
        ShingleSets { sets, parities }
    }

    #[inline(always)]
    pub fn get(&self, page: u32) -> Set<'_> {
        Set { values: &self.sets[page as usize], parity: &self.parities[page as usize] }
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
        fn parity_never_claims_too_much(a: BTreeSet<u64>, b: BTreeSet<u64>) {
            let list = |set: &BTreeSet<u64>| set.iter().copied().collect::<Vec<_>>();
            let bound = Parity::of(&list(&a)).differences(&Parity::of(&list(&b)));
            prop_assert!(bound <= a.symmetric_difference(&b).count());
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
