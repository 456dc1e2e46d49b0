//! Which hot buckets a page stands in, found by the page's own keys: what is held is an entry a bucket, not one a page
//! in a bucket, of which large collections have a dozen a page.
//!
//! Cost: one look-up a column that has hot buckets, 24 bytes a bucket.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hash, Hasher};

use rayon::prelude::*;

use crate::hash::mix;
use crate::hot::Rule;

/// Pages whose buckets are looked up at a time.
pub(crate) const BATCH: usize = 1 << 16;

/// A hot bucket: of which rule, its column and key, and how many pages are in it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bucket {
    pub(crate) rule: usize,
    pub(crate) column: usize,
    pub(crate) key: u64,
    pub(crate) pages: u64,
}

/// A key in a column; columns of all rules are counted through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Name {
    column: u32,
    key: u64,
}

impl Hash for Name {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(mix(self.key ^ u64::from(self.column).wrapping_mul(0x9e37_79b9_7f4a_7c15)));
    }
}

/// Names are hashes already.
#[derive(Default)]
struct Passing(u64);

impl Hasher for Passing {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("a name is one word");
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = word;
    }
}

/// All hot buckets, by rule, column and key.
pub(crate) struct HotKeys<'a> {
    pub(crate) rules: &'a [Rule<'a>],
    pub(crate) buckets: Vec<Bucket>,
    places: HashMap<Name, u32, BuildHasherDefault<Passing>>,
    /// Columns with hot buckets: the rule, its column, and the column's number among all.
    columns: Vec<(usize, usize, u32)>,
}

impl<'a> HotKeys<'a> {
    pub(crate) fn new(rules: &'a [Rule<'a>]) -> Self {
        let count = rules.iter().map(|rule| rule.joined.hot.len()).sum();
        let mut keys = HotKeys {
            rules,
            buckets: Vec::with_capacity(count),
            places: HashMap::with_capacity_and_hasher(count, BuildHasherDefault::default()),
            columns: Vec::new(),
        };
        let mut before = 0;
        for (at, rule) in rules.iter().enumerate() {
            for bucket in &rule.joined.hot {
                let number = (before + bucket.column) as u32;
                keys.places.insert(Name { column: number, key: bucket.key }, keys.buckets.len() as u32);
                let (column, key, pages) = (bucket.column, bucket.key, bucket.pages);
                keys.buckets.push(Bucket { rule: at, column, key, pages });
                if keys.columns.last() != Some(&(at, column, number)) {
                    keys.columns.push((at, column, number));
                }
            }
            before += rule.buckets.columns();
        }
        keys.columns.sort_unstable();
        keys.columns.dedup();
        keys
    }

    /// Shows the buckets that a page stands in, by their numbers, each once.
    fn each(&self, page: u32, only: Option<usize>, found: &mut Vec<u32>) {
        found.clear();
        for &(rule, column, number) in &self.columns {
            if only.is_some_and(|only| only != rule) {
                continue;
            }
            self.rules[rule].buckets.keys_of(column)(page, &mut |key| {
                if let Some(&place) = self.places.get(&Name { column: number, key })
                    && !found.contains(&place)
                {
                    found.push(place);
                }
            });
        }
    }

    /// For every page whether it stands in a hot bucket, of one rule or of any.
    pub(crate) fn hot(&self, pages: usize, rule: Option<usize>) -> Vec<bool> {
        let hot = |found: &mut Vec<u32>, page| {
            self.each(page, rule, found);
            !found.is_empty()
        };
        (0..pages as u32).into_par_iter().map_init(Vec::new, hot).collect()
    }

    /// The buckets of each of these pages; those that are not `hot` have none.
    pub(crate) fn standing(&self, pages: &[u32], hot: &[bool]) -> Standing {
        let portions: Vec<(Vec<u32>, Vec<u32>)> = pages
            .par_chunks(1 << 10)
            .map(|pages| {
                let (mut lengths, mut values, mut found) =
                    (Vec::with_capacity(pages.len()), Vec::new(), Vec::new());
                for &page in pages {
                    if hot[page as usize] {
                        self.each(page, None, &mut found);
                        values.extend_from_slice(&found);
                        lengths.push(found.len() as u32);
                    } else {
                        lengths.push(0);
                    }
                }
                (lengths, values)
            })
            .collect();
        let mut standing = Standing { starts: vec![0], values: Vec::new() };
        let mut end = 0;
        for (lengths, values) in portions {
            standing.starts.extend(lengths.iter().map(|length| {
                end += length;
                end
            }));
            standing.values.extend(values);
        }
        standing
    }

    /// Shows every hot page and the buckets it is in.
    pub(crate) fn each_standing(&self, hot: &[bool], each: &mut dyn FnMut(u32, &[u32])) {
        for start in (0..hot.len()).step_by(BATCH) {
            let pages: Vec<u32> = (start as u32..hot.len().min(start + BATCH) as u32).collect();
            let standing = self.standing(&pages, hot);
            for (at, &page) in pages.iter().enumerate().filter(|&(_, &page)| hot[page as usize]) {
                each(page, standing.of(at));
            }
        }
    }

    /// The pages of some buckets, ascending; `wanted` names buckets in ascending order. They are put together in
    /// portions of not much more than `portion` pages, each from a pass over all pages.
    pub(crate) fn pages_of(
        &self,
        wanted: &[u32],
        hot: &[bool],
        portion: u64,
        each: &mut dyn FnMut(u32, Vec<u32>),
    ) {
        let mut rest = wanted;
        while !rest.is_empty() {
            let mut held = 0;
            let end = rest.iter().position(|&bucket| {
                held += self.buckets[bucket as usize].pages;
                held > portion
            });
            let (now, later) = rest.split_at(end.map_or(rest.len(), |end| end.max(1)));
            rest = later;
            let mut lists: Vec<Vec<u32>> = vec![Vec::new(); now.len()];
            self.each_standing(hot, &mut |page, buckets| {
                for bucket in buckets {
                    if let Ok(place) = now.binary_search(bucket) {
                        lists[place].push(page);
                    }
                }
            });
            now.iter().zip(lists).for_each(|(&bucket, pages)| each(bucket, pages));
        }
    }
}

/// The hot buckets of some pages, which are given by their places.
#[derive(Debug)]
pub(crate) struct Standing {
    starts: Vec<u32>,
    values: Vec<u32>,
}

impl Standing {
    pub(crate) fn of(&self, place: usize) -> &[u32] {
        &self.values[self.starts[place] as usize..self.starts[place + 1] as usize]
    }
}
