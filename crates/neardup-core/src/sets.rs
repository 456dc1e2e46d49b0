//! The sets of many pages, for verifying candidates exactly: sizes and parities at hand, the sets where they are.

use std::ops::Deref;
use std::sync::Arc;

use crate::batch::Lists;
use crate::cpu;

/// An ordered set that is in memory anyway, or was brought there.
#[derive(Clone, Debug)]
pub enum Set<'a> {
    Borrowed(&'a [u64]),
    Shared(Arc<[u64]>),
}

impl Deref for Set<'_> {
    type Target = [u64];

    fn deref(&self) -> &[u64] {
        match self {
            Set::Borrowed(values) => values,
            Set::Shared(values) => values,
        }
    }
}

/// Where the ordered set of a page is had from.
pub trait SetSource: Sync {
    fn values(&self, page: u32) -> Set<'_>;

    /// The set, if it is in memory.
    fn at_hand(&self, _page: u32) -> Option<&[u64]> {
        None
    }
}

/// In memory, as they are.
impl SetSource for Vec<&[u64]> {
    fn values(&self, page: u32) -> Set<'_> {
        Set::Borrowed(self[page as usize])
    }

    fn at_hand(&self, page: u32) -> Option<&[u64]> {
        Some(self[page as usize])
    }
}

/// The sets of pages 0, 1, 2 …
pub struct Sets<'a> {
    source: Box<dyn SetSource + 'a>,
    sizes: Vec<u32>,
    parities: Vec<&'a [u64]>,
}

impl std::fmt::Debug for Sets<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Sets").field("pages", &self.sizes.len()).finish_non_exhaustive()
    }
}

impl<'a> Sets<'a> {
    /// Of each page how many elements its set has, and its parity ([`crate::parity`]).
    pub fn new(source: Box<dyn SetSource + 'a>, sizes: Vec<u32>, parities: Vec<&'a [u64]>) -> Self {
        assert!(sizes.len() == parities.len());
        Sets { source, sizes, parities }
    }

    #[inline(always)]
    pub fn size(&self, page: u32) -> usize {
        self.sizes[page as usize] as usize
    }

    #[inline(always)]
    pub fn parity(&self, page: u32) -> &'a [u64] {
        self.parities[page as usize]
    }

    /// Fetches where the parity of a page stands, and its size.
    #[inline(always)]
    pub fn fetch_place(&self, page: u32) {
        cpu::fetch(&self.sizes, page as usize);
        cpu::fetch(&self.parities, page as usize);
    }

    /// Fetches the first words of the parity of a page.
    #[inline(always)]
    pub fn fetch_parity(&self, page: u32) {
        cpu::fetch(self.parity(page), 0);
    }

    /// The set itself, ordered.
    #[inline]
    pub fn values(&self, page: u32) -> Set<'_> {
        self.source.values(page)
    }

    /// The same if it is in memory.
    #[inline]
    pub fn at_hand(&self, page: u32) -> Option<&[u64]> {
        self.source.at_hand(page)
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

/// Sets made of lists of any values, with their parities, for the tests of what uses them.
#[cfg(test)]
pub(crate) mod testing {
    use super::*;

    #[derive(Debug)]
    pub(crate) struct Made {
        sets: Vec<Vec<u64>>,
        parities: Vec<Vec<u64>>,
    }

    impl Made {
        pub(crate) fn new(lists: &[Vec<u64>]) -> Self {
            let (mut sets, mut parities) = (Vec::new(), Vec::new());
            for list in lists {
                let (mut set, mut parity) = (Vec::new(), Vec::new());
                crate::ordered::Ordered::default().append(list, &mut set);
                crate::parity::append(&set, &mut parity);
                sets.push(set);
                parities.push(parity);
            }
            Made { sets, parities }
        }

        pub(crate) fn sets(&self) -> Sets<'_> {
            let slices: Vec<&[u64]> = self.sets.iter().map(Vec::as_slice).collect();
            let sizes = slices.iter().map(|set| set.len() as u32).collect();
            Sets::new(Box::new(slices), sizes, self.parities.iter().map(Vec::as_slice).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
