//! The chunk index μ (Potthast & Stein §1): from a number to the pages whose fingerprints have it.
//!
//! Distinct numbers stand sorted, with a directory ([`crate::statistics::numbers`]); beside each where its *postlist*
//! begins; the postlists one after another, pages ascending. Built by dealing the (number, page) entries out by the
//! highest bits of the number and sorting each part, in parallel. A query merges the postlists of a page's numbers by
//! counting, page by page, how often it is named, and keeps those named κ times, or with a share of the union: exact in
//! both. Cost: 8 bytes a distinct number, 4 for where its postlist begins, 4 an entry, 4 a page (and half a byte a
//! number for the directory); a query costs its postlists' length. An index has at most 2³² − 1 entries.

use rayon::prelude::*;

use crate::batch::Lists;
use crate::ordered::{Ordered, to_set};
use crate::statistics::numbers::{Numbers, directory};

/// The arrays of an index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Built {
    /// Distinct numbers, ascending.
    pub numbers: Vec<u64>,
    pub directory: Vec<u64>,
    /// Where each number's postlist begins, and behind the last where it ends.
    pub starts: Vec<u32>,
    /// All postlists.
    pub pages: Vec<u32>,
    /// How many distinct numbers each page has.
    pub sizes: Vec<u32>,
}

const PARTS: usize = 256;

/// Builds the index of all pages' numbers; a number that a page has twice counts once. None if there are too many.
pub fn build(fingerprints: &[Lists<'_>]) -> Option<Built> {
    let pages: Vec<&[u64]> = fingerprints.iter().flat_map(|lists| lists.iter()).collect();
    u32::try_from(fingerprints.iter().map(|lists| lists.values.len()).sum::<usize>()).ok()?;
    let part = |number: u64| (number >> 56) as usize;
    let mut room = [0usize; PARTS];
    pages.iter().flat_map(|numbers| numbers.iter()).for_each(|&number| room[part(number)] += 1);
    let mut parts: Vec<Vec<(u64, u32)>> = room.iter().map(|&room| Vec::with_capacity(room)).collect();
    for (page, numbers) in pages.iter().enumerate() {
        numbers.iter().for_each(|&number| parts[part(number)].push((number, page as u32)));
    }
    parts.par_iter_mut().for_each(|entries| {
        entries.sort_unstable();
        entries.dedup();
    });
    let mut built = Built { starts: vec![0], sizes: vec![0; pages.len()], ..Built::default() };
    built.pages.reserve_exact(parts.iter().map(Vec::len).sum());
    for part in parts {
        for postlist in part.chunk_by(|a, b| a.0 == b.0) {
            built.numbers.push(postlist[0].0);
            built.pages.extend(postlist.iter().map(|entry| entry.1));
            built.starts.push(built.pages.len() as u32);
            postlist.iter().for_each(|entry| built.sizes[entry.1 as usize] += 1);
        }
    }
    built.directory = directory(&built.numbers);
    Some(built)
}

/// An index to be asked.
#[derive(Clone, Copy, Debug)]
pub struct Postings<'a> {
    numbers: Numbers<'a>,
    starts: &'a [u32],
    pages: &'a [u32],
    sizes: &'a [u32],
}

/// What a page that is found must show.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// Numbers shared with the query.
    pub least: u32,
    /// Of the union of both.
    pub ratio: f64,
}

/// Answers to a batch of queries, one after another: those of query i are `offsets[i]..offsets[i + 1]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answers {
    pub offsets: Vec<i64>,
    pub pages: Vec<u32>,
    pub shared: Vec<u32>,
}

impl<'a> Postings<'a> {
    /// None if the arrays do not fit each other.
    pub fn new(
        numbers: &'a [u64],
        directory: &'a [u64],
        starts: &'a [u32],
        pages: &'a [u32],
        sizes: &'a [u32],
    ) -> Option<Self> {
        let fits = starts.len() == numbers.len() + 1
            && starts[0] == 0
            && starts.last().is_some_and(|&end| end as usize == pages.len())
            && starts.windows(2).all(|pair| pair[0] <= pair[1])
            && pages.iter().all(|&page| (page as usize) < sizes.len());
        let numbers = Numbers::new(numbers, directory)?;
        fits.then_some(Postings { numbers, starts, pages, sizes })
    }

    /// The same without looking at every number: for arrays that were checked before. If they do not fit after all, a
    /// query may panic, no worse.
    pub fn trusted(
        numbers: &'a [u64],
        directory: &'a [u64],
        starts: &'a [u32],
        pages: &'a [u32],
        sizes: &'a [u32],
    ) -> Self {
        Postings { numbers: Numbers::trusted(numbers, directory), starts, pages, sizes }
    }

    /// The pages that have a number, ascending.
    pub fn postlist(&self, number: u64) -> &'a [u32] {
        self.numbers
            .find(number)
            .map_or(&[], |at| &self.pages[self.starts[at] as usize..self.starts[at + 1] as usize])
    }

    /// The pages that share enough with each query, ascending; a number that a query has twice is asked for once.
    pub fn query(&self, queries: Lists<'_>, wanted: Wanted) -> Answers {
        let each: Vec<Vec<(u32, u32)>> = (0..queries.len())
            .into_par_iter()
            .with_min_len(16)
            .map_init(
                || vec![0u32; self.sizes.len()],
                |counts, at| self.answer(queries.get(at), wanted, counts),
            )
            .collect();
        let mut answers = Answers { offsets: vec![0], ..Answers::default() };
        for found in each {
            answers.pages.extend(found.iter().map(|found| found.0));
            answers.shared.extend(found.iter().map(|found| found.1));
            answers.offsets.push(answers.pages.len() as i64);
        }
        answers
    }

    /// `counts` has a zero for every page, and has it again afterwards.
    fn answer(&self, query: &[u64], wanted: Wanted, counts: &mut [u32]) -> Vec<(u32, u32)> {
        let mut query = query.to_vec();
        to_set(&mut query, &mut Ordered::default());
        let mut named = Vec::new();
        for &number in &query {
            for &page in self.postlist(number) {
                if counts[page as usize] == 0 {
                    named.push(page);
                }
                counts[page as usize] += 1;
            }
        }
        let mut found = Vec::new();
        for page in named {
            let shared = std::mem::take(&mut counts[page as usize]);
            let union = query.len() as f64 + f64::from(self.sizes[page as usize]) - f64::from(shared);
            if shared >= wanted.least && f64::from(shared) / union >= wanted.ratio {
                found.push((page, shared));
            }
        }
        found.sort_unstable();
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn lists(sets: &[BTreeSet<u64>]) -> (Vec<i64>, Vec<u64>) {
        let (mut offsets, mut values) = (vec![0], Vec::new());
        for set in sets {
            values.extend(set.iter().copied());
            offsets.push(values.len() as i64);
        }
        (offsets, values)
    }

    fn spread(sets: Vec<BTreeSet<u8>>) -> Vec<BTreeSet<u64>> {
        let number = |value: u8| crate::format::splitmix(6, value.into());
        sets.into_iter().map(|set| set.into_iter().map(number).collect()).collect()
    }

    proptest! {
        #[test]
        fn a_query_finds_what_comparing_with_every_page_finds(
            pages in proptest::collection::vec(proptest::collection::btree_set(0u8..40, 0..20), 0..12),
            queries in proptest::collection::vec(proptest::collection::btree_set(0u8..50, 0..20), 0..6),
            cut in 0usize..12,
            least in 1u32..6,
            ratio in 0.0f64..1.0,
        ) {
            let (pages, queries) = (spread(pages), spread(queries));
            // In two batches.
            let (one, other) = pages.split_at(cut.min(pages.len()));
            let (one, other) = (lists(one), lists(other));
            let built = build(&[
                Lists { offsets: &one.0, values: &one.1 }, Lists { offsets: &other.0, values: &other.1 },
            ]).expect("few entries");
            let postings =
                Postings::new(&built.numbers, &built.directory, &built.starts, &built.pages, &built.sizes)
                .expect("arrays that were built together");
            let (mut offsets, mut values) = lists(&queries);
            // The first query says everything twice.
            if let Some(first) = queries.first() {
                values.splice(0..0, first.iter().copied());
                offsets[1..].iter_mut().for_each(|end| *end += first.len() as i64);
            }
            let answers = postings.query(Lists { offsets: &offsets, values: &values }, Wanted { least, ratio });
            for (at, query) in queries.iter().enumerate() {
                let found: Vec<(u32, u32)> = (answers.offsets[at] as usize..answers.offsets[at + 1] as usize)
                    .map(|place| (answers.pages[place], answers.shared[place])).collect();
                let expected: Vec<(u32, u32)> = pages.iter().enumerate().filter_map(|(page, numbers)| {
                    let shared = query.intersection(numbers).count() as u32;
                    let union = query.union(numbers).count();
                    (shared >= least && f64::from(shared) / union as f64 >= ratio).then_some((page as u32, shared))
                }).collect();
                prop_assert_eq!(found, expected);
            }
            for number in pages.iter().flatten() {
                let expected: Vec<u32> =
                    (0..pages.len() as u32).filter(|&page| pages[page as usize].contains(number)).collect();
                prop_assert_eq!(postings.postlist(*number), expected);
            }
        }
    }

    #[test]
    fn arrays_that_do_not_fit_are_refused() {
        let built = build(&[Lists { offsets: &[0, 2, 3], values: &[5, 9, 5] }]).expect("few entries");
        let new = |starts: &[u32], pages: &[u32], sizes: &[u32]| {
            Postings::new(&built.numbers, &built.directory, starts, pages, sizes).is_some()
        };
        assert!(new(&built.starts, &built.pages, &built.sizes));
        assert!(!new(&built.starts[1..], &built.pages, &built.sizes));
        assert!(!new(&built.starts, &built.pages[1..], &built.sizes));
        assert!(!new(&built.starts, &[0, 1, 7], &built.sizes));
        assert!(!new(&[0, 3, 2], &built.pages, &built.sizes));
    }
}
