//! Which hot buckets a page stands in, found by the page's own keys. Of large collections an entry a bucket is held, not
//! one a page in a bucket, of which there are a dozen a page; of smaller ones ([`BATCH`] pages) these too, as they are asked
//! for again and again.
//!
//! Cost: one look-up a column that has hot buckets; about 10 bytes a bucket beside the list of them, and 4 for each page in
//! one where these are held.

use hashbrown::HashTable;
use rayon::prelude::*;

use crate::hash::mix;
use crate::hot::Rule;
use crate::join::HotBucket;

/// Pages whose buckets are looked up at a time.
pub(crate) const BATCH: usize = 1 << 19;

/// A hot bucket: of which rule, its column and key, and how many pages are in it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bucket {
    pub(crate) rule: usize,
    pub(crate) column: usize,
    pub(crate) key: u64,
    pub(crate) pages: u64,
}

/// A column that has hot buckets: their numbers by their keys, which stand in the list of buckets.
struct HotColumn {
    rule: usize,
    column: usize,
    numbers: HashTable<u32>,
}

/// All hot buckets, by rule, column and key; they are numbered through.
pub(crate) struct HotKeys<'a> {
    pub(crate) rules: &'a [Rule<'a>],
    /// The number of the first bucket of each rule, and how many there are.
    firsts: Vec<u32>,
    columns: Vec<HotColumn>,
    /// Pages that stand in a hot bucket.
    hot: Vec<bool>,
    /// The buckets of all pages, by page, where these are few enough to be looked up once.
    whole: Option<Looked>,
}

impl<'a> HotKeys<'a> {
    pub(crate) fn new(rules: &'a [Rule<'a>], pages: usize) -> Self {
        let hot = vec![false; pages];
        let mut keys = HotKeys { rules, firsts: vec![0], columns: Vec::new(), hot, whole: None };
        for (at, rule) in rules.iter().enumerate() {
            keys.hot.iter_mut().zip(&rule.joined.in_hot).for_each(|(hot, &here)| *hot |= here);
            let (list, first) = (&rule.joined.hot, keys.firsts[at]);
            let mut number = first;
            // Those of one column stand together.
            for hot in list.chunk_by(|a, b| a.column == b.column) {
                let key_of = |number: u32| list[(number - first) as usize].key;
                let mut numbers = HashTable::with_capacity(hot.len());
                for bucket in hot {
                    numbers.insert_unique(mix(bucket.key), number, |&number| mix(key_of(number)));
                    number += 1;
                }
                keys.columns.push(HotColumn { rule: at, column: hot[0].column as usize, numbers });
            }
            keys.firsts.push(number);
        }
        if pages <= BATCH {
            keys.whole = Some(keys.looked_up(&(0..pages as u32).collect::<Vec<_>>()));
        }
        keys
    }

    pub(crate) fn count(&self) -> usize {
        self.firsts[self.rules.len()] as usize
    }

    pub(crate) fn bucket(&self, number: u32) -> Bucket {
        let rule = self.rule(number);
        let HotBucket { key, column, pages } =
            self.rules[rule].joined.hot[(number - self.firsts[rule]) as usize];
        Bucket { rule, column: column as usize, key, pages: u64::from(pages) }
    }

    /// The rule of a bucket.
    pub(crate) fn rule(&self, number: u32) -> usize {
        self.firsts[1..].partition_point(|&end| end <= number)
    }

    /// Whether a page stands in a hot bucket.
    pub(crate) fn is_hot(&self, page: u32) -> bool {
        self.hot[page as usize]
    }

    pub(crate) fn hot_pages(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.hot.len() as u32).filter(|&page| self.is_hot(page))
    }

    /// The bucket of a key of a column of a rule, if it is hot.
    pub(crate) fn find(&self, rule: usize, column: usize, key: u64) -> Option<u32> {
        let key_of = |number: u32| self.rules[rule].joined.hot[(number - self.firsts[rule]) as usize].key;
        let here = self.columns.iter().find(|hot| (hot.rule, hot.column) == (rule, column))?;
        here.numbers.find(mix(key), |&number| key_of(number) == key).copied()
    }

    /// The buckets of each of these pages.
    pub(crate) fn standing<'s>(&'s self, pages: &'s [u32]) -> Standing<'s> {
        match &self.whole {
            Some(all) => Standing::ByPage(all, pages),
            None => Standing::ByPlace(self.looked_up(pages)),
        }
    }

    /// Column by column, as the keys of one column are looked up in less memory than those of all.
    fn looked_up(&self, pages: &[u32]) -> Looked {
        let of_column = |column: &HotColumn| {
            let rule = &self.rules[column.rule];
            let keys = rule.buckets.keys_of(column.column);
            let key_of = |number: u32| rule.joined.hot[(number - self.firsts[column.rule]) as usize].key;
            let mut found: Vec<(u32, u32)> = Vec::new();
            for (place, &page) in pages.iter().enumerate().filter(|&(_, &page)| self.is_hot(page)) {
                keys(page, &mut |key| {
                    if let Some(&number) = column.numbers.find(mix(key), |&number| key_of(number) == key)
                        && found.last() != Some(&(place as u32, number))
                    {
                        found.push((place as u32, number));
                    }
                });
            }
            found
        };
        let found: Vec<Vec<(u32, u32)>> = self.columns.par_iter().map(of_column).collect();
        let mut starts = vec![0u32; pages.len() + 1];
        for &(place, _) in found.iter().flatten() {
            starts[place as usize + 1] += 1;
        }
        for at in 0..pages.len() {
            starts[at + 1] += starts[at];
        }
        let mut values = vec![0; starts[pages.len()] as usize];
        let mut next = starts.clone();
        for (place, number) in found.into_iter().flatten() {
            values[next[place as usize] as usize] = number;
            next[place as usize] += 1;
        }
        Looked { starts, values }
    }

    /// Shows every hot page and the buckets it is in.
    pub(crate) fn each_standing(&self, each: &mut dyn FnMut(u32, &[u32])) {
        for start in (0..self.hot.len()).step_by(BATCH) {
            let pages: Vec<u32> = (start as u32..self.hot.len().min(start + BATCH) as u32).collect();
            let standing = self.standing(&pages);
            for (at, &page) in pages.iter().enumerate().filter(|&(_, &page)| self.is_hot(page)) {
                each(page, standing.of(at));
            }
        }
    }

    /// The pages of some buckets, ascending; `wanted` names buckets in ascending order. They are put together in
    /// portions of not much more than `portion` pages, each from a pass over all pages.
    pub(crate) fn pages_of(&self, wanted: &[u32], portion: u64, each: &mut dyn FnMut(u32, &[u32])) {
        const ELSEWHERE: u32 = u32::MAX;
        let mut places = vec![ELSEWHERE; self.count()];
        let mut rest = wanted;
        while !rest.is_empty() {
            let mut held = 0;
            let end = rest.iter().position(|&bucket| {
                held += self.bucket(bucket).pages;
                held > portion
            });
            let (now, later) = rest.split_at(end.map_or(rest.len(), |end| end.max(1)));
            rest = later;
            now.iter().zip(0..).for_each(|(&bucket, place)| places[bucket as usize] = place);
            let mut lists: Vec<Vec<u32>> = vec![Vec::new(); now.len()];
            self.each_standing(&mut |page, buckets| {
                for &bucket in buckets {
                    if let Some(list) = lists.get_mut(places[bucket as usize] as usize) {
                        list.push(page);
                    }
                }
            });
            now.iter().for_each(|&bucket| places[bucket as usize] = ELSEWHERE);
            now.iter().zip(lists).for_each(|(&bucket, pages)| each(bucket, &pages));
        }
    }
}

/// Lists of buckets.
#[derive(Debug)]
pub(crate) struct Looked {
    starts: Vec<u32>,
    values: Vec<u32>,
}

impl Looked {
    fn of(&self, place: usize) -> &[u32] {
        &self.values[self.starts[place] as usize..self.starts[place + 1] as usize]
    }
}

/// The hot buckets of some pages, which are given by their places among these.
#[derive(Debug)]
pub(crate) enum Standing<'s> {
    ByPlace(Looked),
    /// Those of all pages, and the pages.
    ByPage(&'s Looked, &'s [u32]),
}

impl Standing<'_> {
    pub(crate) fn of(&self, place: usize) -> &[u32] {
        match self {
            Standing::ByPlace(looked) => looked.of(place),
            Standing::ByPage(all, pages) => all.of(pages[place] as usize),
        }
    }
}
