//! Candidate pairs: pages that share a key, each pair once, handed to a verifier (Potthast & Stein's chunk index μ,
//! read as a self-join).
//!
//! Column by column, (key, page) entries are sorted by key; a run of equal keys is a bucket, and every pair in a bucket
//! is a candidate. A pair that shares several keys stands in several buckets: it is taken up only in the bucket of its
//! *first* shared key column (and smallest shared site, where the rule is for pairs on one site), which costs a few
//! comparisons and no memory. Buckets are worked on in parallel, large ones screened ([`crate::crowd`]); the result is
//! sorted, so threads leave no trace.
//!
//! Cost: sorting n entries of 12 bytes for each column, one column at a time and of a long one a part of the keys at a
//! time, then one verification a candidate pair; pairs that are rejected are never stored. A bucket of s pages makes
//! s²/2 candidates, so those beyond a [`Limits`] are left to [`crate::hot`]; how a column is worked on until then is told
//! in [`crate::joining`].

use std::ops::Range;

use rayon::prelude::*;

use crate::entry::{self, Entry};
use crate::hash::mix;
use crate::joining::{Column, Joining};
use crate::keys::Keys;
pub use crate::predicate::{Predicate, Sites};
use crate::screen::Screened;

/// An accepted pair, `a < b`; laid out so that a list of pairs can be handed on as it is.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct Pair {
    pub a: u32,
    pub b: u32,
    pub score: f64,
}

impl Pair {
    /// What pairs are sorted by: (a, b), in one number.
    #[inline(always)]
    pub fn order(&self) -> u64 {
        u64::from(self.a) << 32 | u64::from(self.b)
    }
}

/// What a join did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Joined {
    /// Sorted by (a, b).
    pub pairs: Vec<Pair>,
    /// Pairs that a glance did not reject, and that were verified.
    pub candidates: u64,
    /// Pages in the fullest bucket.
    pub largest_bucket: u64,
    /// The buckets that were left, column after column.
    pub hot: Vec<HotBucket>,
    /// Whether a page stands in one of them; empty where there are none.
    pub in_hot: Vec<bool>,
}

/// A bucket that was left; the pages in it are those that have the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HotBucket {
    /// With the site, where the rule is for pairs on one site.
    pub key: u64,
    pub column: u32,
    /// How many there are.
    pub pages: u32,
}

/// A bucket and its pages, ascending, each once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    pub column: usize,
    pub key: u64,
    pub pages: Vec<u32>,
}

/// How far buckets are joined exhaustively.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Entries of a bucket.
    pub bucket: usize,
    /// Buckets of no more entries are always joined: they make few pairs, and there are too many of them to be left.
    pub few: usize,
    /// Accepted pairs in all.
    pub accepted: u64,
    /// Pairs of all buckets together, whether or not they turn out to be taken up in another.
    pub possible: u64,
    /// Pages whose keys are held at once; of more pages a column is taken in parts, so that memory is bounded.
    pub part: usize,
}

impl Limits {
    /// Every pair of every bucket.
    pub const NONE: Limits =
        Limits { bucket: usize::MAX, few: 0, accepted: u64::MAX, possible: u64::MAX, part: usize::MAX };
}

/// A page in a bucket that was put together elsewhere: the bucket's column, its key, and its site where the rule is for
/// pairs on one site (else 0).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    pub column: u32,
    pub key: u64,
    pub site: u32,
    pub page: u32,
}

/// Pages of which two columns of entries may be held.
const AHEAD: usize = 1 << 22;

/// A part of all keys: those whose hash begins with the bits `number`.
#[derive(Clone, Copy)]
struct Part {
    bits: u32,
    number: u64,
}

impl Part {
    /// Parts that together are all keys; how many there are depends on nothing but the number of pages.
    fn all(pages: usize, limits: Limits) -> impl Iterator<Item = Part> {
        let bits = pages.div_ceil(limits.part).next_power_of_two().trailing_zeros();
        (0..1u64 << bits).map(move |number| Part { bits, number })
    }

    #[inline(always)]
    fn has(self, key: u64) -> bool {
        self.bits == 0 || mix(key) >> (64 - self.bits) == self.number
    }
}

/// The keys of all pages that take part, and which of their pairs are spoken of.
#[derive(Debug)]
pub struct Buckets<'a> {
    keys: Keys<'a>,
    active: &'a [bool],
    predicate: Predicate<'a>,
    texts: Option<&'a [u32]>,
}

impl<'a> Buckets<'a> {
    /// Pages whose `active` flag is false take no part.
    pub fn new(keys: Keys<'a>, active: &'a [bool], predicate: Predicate<'a>) -> Self {
        Buckets { keys, active, predicate, texts: None }
    }

    /// The same, but for pairs of pages with one text: these are known to be identical, and no rule is asked of them.
    pub fn between_texts(self, texts: Option<&'a [u32]>) -> Self {
        Buckets { texts, ..self }
    }

    /// Verifies every candidate pair.
    pub fn join(&self, verifier: &impl Screened) -> Joined {
        self.join_within(verifier, Limits::NONE)
    }

    /// Verifies every candidate pair of the buckets within the limits, and names the others.
    pub fn join_within(&self, verifier: &impl Screened, limits: Limits) -> Joined {
        let mut joining = Joining::new(self.keys.pages());
        self.join_columns(verifier, limits, &mut joining);
        let mut joined = joining.joined;
        joined.pairs.par_sort_unstable_by_key(Pair::order);
        joined
    }

    /// Column after column, and of a long one part after part, all in the same memory: what is given back and taken
    /// anew is held twice for a while. The entries of a column are made while the one before it is joined, unless they
    /// are so many that a second list of them would count.
    fn join_columns(&self, verifier: &impl Screened, limits: Limits, joining: &mut Joining) {
        let parts = || Part::all(self.keys.pages(), limits);
        let mut steps = (0..self.keys.count()).flat_map(|number| parts().map(move |part| (number, part)));
        let (mut entries, mut next, mut spare) = (Vec::new(), Vec::new(), Vec::new());
        let mut fill = |step: Option<(usize, Part)>, entries: &mut Vec<Entry>| {
            let (number, part) = step?;
            self.fill(number, part, entries, &mut spare);
            Some(number)
        };
        let mut filled = fill(steps.next(), &mut entries);
        while let Some(number) = filled {
            let column = Column { buckets: self, number, entries };
            let following = steps.next();
            if self.keys.pages() > AHEAD {
                column.join_within(verifier, limits, joining);
                entries = column.entries;
                filled = fill(following, &mut entries);
            } else {
                let join = || column.join_within(verifier, limits, joining);
                filled = rayon::join(join, || fill(following, &mut next)).1;
                entries = std::mem::replace(&mut next, column.entries);
            }
        }
    }

    /// Verifies every candidate pair of all buckets but the given ones, which are named as hot.
    pub fn join_beside(&self, hot: &[Standing], verifier: &impl Screened) -> Joined {
        let listed = self.listed(hot);
        let mut joining = Joining::new(self.keys.pages());
        joining.left = listed.iter().map(|bucket| (bucket.column, bucket.key)).collect();
        self.join_columns(verifier, Limits::NONE, &mut joining);
        let mut joined = joining.joined;
        joined.pairs.par_sort_unstable_by_key(Pair::order);
        joined.in_hot = vec![false; self.keys.pages()];
        for bucket in listed {
            bucket.pages.iter().for_each(|&page| joined.in_hot[page as usize] = true);
            let (column, key, pages) = (bucket.column as u32, bucket.key, bucket.pages.len() as u32);
            joined.hot.push(HotBucket { column, key, pages });
        }
        joined
    }

    /// Buckets that were put together elsewhere, by column and key; their entries come in any order.
    pub fn listed(&self, standing: &[Standing]) -> Vec<Listed> {
        let mut entries: Vec<((usize, u64), u32)> =
            standing.iter().map(|at| (self.bucket_of(at), at.page)).collect();
        entries.par_sort_unstable();
        entries.dedup();
        let buckets = entries.chunk_by(|a, b| a.0 == b.0).map(|bucket| Listed {
            column: bucket[0].0.0,
            key: bucket[0].0.1,
            pages: bucket.iter().map(|entry| entry.1).collect(),
        });
        buckets.collect()
    }

    /// The column of an entry's bucket, and its key as buckets have it.
    pub(crate) fn bucket_of(&self, at: &Standing) -> (usize, u64) {
        let key = match self.predicate {
            Predicate::SameSite(_) => on_site(at.key, at.site),
            Predicate::Any | Predicate::DifferentSite(_) => at.key,
        };
        (at.column as usize, key)
    }

    /// Verifies every candidate pair of given buckets, whole and one after another, each with its pages ascending. All
    /// buckets of a collection, given in any portions, have the pairs that [`Self::join`] finds.
    pub fn join_given(&self, standing: &[Standing], verifier: &impl Screened) -> Joined {
        let mut joined = Joined::default();
        for of_column in standing.chunk_by(|a, b| a.column == b.column) {
            let entries: Vec<Entry> =
                of_column.iter().map(|at| Entry::new(self.bucket_of(at).1, at.page)).collect();
            let column = Column { buckets: self, number: of_column[0].column as usize, entries };
            let mut start = 0;
            let ranges = column.entries.chunk_by(|a, b| a.halves == b.halves).map(|bucket| {
                start += bucket.len();
                start - bucket.len()..start
            });
            let full: Vec<Range<usize>> = ranges.filter(|range| range.len() > 1).collect();
            let largest = full.iter().map(|range| range.len() as u64).max().unwrap_or(0);
            joined.largest_bucket = joined.largest_bucket.max(largest);
            let mut found = column.join_exhaustively(&full, verifier);
            joined.pairs.append(&mut found.pairs);
            joined.candidates += found.candidates;
        }
        joined.pairs.par_sort_unstable_by_key(Pair::order);
        joined
    }

    pub fn pages(&self) -> usize {
        self.keys.pages()
    }

    /// Columns of keys that pages have.
    pub fn columns(&self) -> usize {
        self.keys.count()
    }

    /// The bucket that handles a pair, by column and key, if one does and the predicate holds.
    #[inline(always)]
    pub(crate) fn home(&self, a: u32, b: u32) -> Option<(usize, u64)> {
        if self.texts.is_some_and(|texts| texts[a as usize] == texts[b as usize]) {
            return None;
        }
        let (column, shared) = self.keys.first_shared(a, b)?;
        let key = match self.predicate {
            Predicate::Any => shared,
            Predicate::DifferentSite(sites) => sites.differ(a, b).then_some(shared)?,
            Predicate::SameSite(sites) => on_site(shared, sites.shared(a, b)?),
        };
        Some((column, key))
    }

    /// Whether the bucket of this key is the one that handles the pair, and the predicate holds.
    #[inline(always)]
    pub(crate) fn takes_up(&self, column: usize, key: u64, a: u32, b: u32) -> bool {
        self.home(a, b) == Some((column, key))
    }

    /// A page whose bucket will be asked for soon.
    #[inline(always)]
    pub(crate) fn fetch(&self, page: u32) {
        self.keys.fetch(page);
    }

    /// Shows the keys of the buckets of one column that a page stands in.
    pub(crate) fn keys_of(&self, column: usize) -> impl Fn(u32, &mut dyn FnMut(u64)) + Sync + '_ {
        let key = self.keys.column(column);
        move |page, each| match self.predicate {
            _ if !self.active[page as usize] => {}
            Predicate::SameSite(sites) => {
                for &site in sites.of(page).iter().filter(|&&site| site != 0) {
                    key(page, &mut |key| each(on_site(key, site)));
                }
            }
            Predicate::Any | Predicate::DifferentSite(_) => key(page, each),
        }
    }

    /// Replaces entries by those of a part of a column that share their key with another, sorted by key and page.
    fn fill(&self, column: usize, part: Part, entries: &mut Vec<Entry>, spare: &mut Vec<Entry>) {
        entries.clear();
        entries.reserve(self.keys.pages() >> part.bits);
        let keys = self.keys_of(column);
        for page in 0..self.keys.pages() as u32 {
            keys(page, &mut |key| {
                if part.has(key) {
                    entries.push(Entry::new(key, page));
                }
            });
        }
        entry::sort(entries, spare);
        let mut kept = 0;
        let mut start = 0;
        while start < entries.len() {
            let key = entries[start].halves;
            let length = entries[start..].iter().take_while(|entry| entry.halves == key).count();
            if length > 1 {
                entries.copy_within(start..start + length, kept);
                kept += length;
            }
            start += length;
        }
        entries.truncate(kept);
    }
}

/// Finds and verifies the pairs; pages whose `active` flag is false take no part.
pub fn join(keys: Keys<'_>, active: &[bool], predicate: Predicate<'_>, verifier: &impl Screened) -> Joined {
    Buckets::new(keys, active, predicate).join(verifier)
}

/// Mixed into a key so that only pages of one site meet.
#[inline(always)]
fn on_site(key: u64, site: u32) -> u64 {
    mix(key ^ u64::from(site).wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verify::Everything;
    use proptest::prelude::*;

    /// Every pair looked at.
    fn naive(rows: &[u64], active: &[bool], predicate: Predicate<'_>) -> Vec<(u32, u32)> {
        let of = |page: u32| &rows[3 * page as usize..][..3];
        let mut pairs = Vec::new();
        for a in 0..active.len() as u32 {
            for b in a + 1..active.len() as u32 {
                let shares = of(a).iter().zip(of(b)).any(|(a, b)| a == b);
                let holds = match predicate {
                    Predicate::Any => true,
                    Predicate::SameSite(sites) => {
                        sites.of(a).iter().any(|site| *site != 0 && sites.of(b).contains(site))
                    }
                    Predicate::DifferentSite(sites) => {
                        sites.of(a).iter().any(|x| sites.of(b).iter().any(|y| x != y || *x == 0))
                    }
                };
                if shares && holds && active[a as usize] && active[b as usize] {
                    pairs.push((a, b));
                }
            }
        }
        pairs
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]
        #[test]
        fn finds_each_pair_once(
            rows in proptest::collection::vec(
                (proptest::array::uniform3(0u64..5), proptest::collection::btree_set(0u32..4, 1..3), any::<bool>()),
                0..30,
            )
        ) {
            // Tagged keys: a value means something else in every column.
            let values: Vec<u64> = rows.iter().flat_map(|(row, _, _)| {
                row.iter().enumerate().map(|(column, value)| 100 * column as u64 + value)
            }).collect();
            let keys = Keys::columns(3, &values);
            let active: Vec<bool> = rows.iter().map(|row| row.2).collect();
            let mut offsets = vec![0u64];
            let mut flat = Vec::new();
            for (_, sites, _) in &rows {
                flat.extend(sites.iter().copied());
                offsets.push(flat.len() as u64);
            }
            let sites = Sites { offsets: &offsets, values: &flat };
            for predicate in [Predicate::Any, Predicate::SameSite(sites), Predicate::DifferentSite(sites)] {
                let joined = join(keys, &active, predicate, &Everything);
                let found: Vec<(u32, u32)> = joined.pairs.iter().map(|pair| (pair.a, pair.b)).collect();
                let expected = naive(&values, &active, predicate);
                prop_assert_eq!(joined.candidates as usize, expected.len());
                prop_assert_eq!(&found, &expected);
                // Buckets put together by hand, one at a time.
                let mut standing = std::collections::BTreeMap::<(u32, u64, u32), Vec<Standing>>::new();
                for page in (0..rows.len() as u32).filter(|&page| active[page as usize]) {
                    for column in 0..3u32 {
                        let key = values[3 * page as usize + column as usize];
                        let sites = match predicate {
                            Predicate::SameSite(sites) => sites.of(page),
                            _ => &[9],
                        };
                        for &site in sites.iter().filter(|&&site| site != 0) {
                            let bucket = standing.entry((column, key, site)).or_default();
                            bucket.push(Standing { column, key, site, page });
                        }
                    }
                }
                let buckets = Buckets::new(keys, &active, predicate);
                let given = standing.values().map(|bucket| buckets.join_given(bucket, &Everything));
                let mut found: Vec<(u32, u32)> =
                    given.flat_map(|joined| joined.pairs).map(|pair| (pair.a, pair.b)).collect();
                found.sort_unstable();
                prop_assert_eq!(&found, &expected);
                let all: Vec<Standing> = standing.into_values().flatten().collect();
                let joined = buckets.join_given(&all, &Everything);
                prop_assert_eq!(joined.pairs.len(), expected.len());
                let in_parts = Limits { part: 4, ..Limits::NONE };
                let whole = buckets.join(&Everything);
                prop_assert_eq!(buckets.join_within(&Everything, in_parts), whole);
            }
        }

        #[test]
        fn finds_each_pair_of_lists_once(
            rows in proptest::collection::vec(
                (proptest::collection::btree_set(0u64..12, 0..6), 0u32..3, any::<bool>()), 0..30,
            )
        ) {
            let (mut offsets, mut values) = (vec![0u64], Vec::new());
            for (keys, _, _) in &rows {
                values.extend(keys.iter().copied());
                offsets.push(values.len() as u64);
            }
            let active: Vec<bool> = rows.iter().map(|row| row.2).collect();
            let one_each: Vec<u64> = (0..=rows.len() as u64).collect();
            let flat: Vec<u32> = rows.iter().map(|row| row.1).collect();
            let sites = Sites { offsets: &one_each, values: &flat };
            for predicate in [Predicate::Any, Predicate::SameSite(sites), Predicate::DifferentSite(sites)] {
                let joined = join(Keys::lists(&offsets, &values), &active, predicate, &Everything);
                let found: Vec<(u32, u32)> = joined.pairs.iter().map(|pair| (pair.a, pair.b)).collect();
                let mut expected = Vec::new();
                for b in 0..rows.len() {
                    for a in 0..b {
                        let (one, other) = (&rows[a], &rows[b]);
                        let holds = match predicate {
                            Predicate::Any => true,
                            Predicate::SameSite(_) => one.1 == other.1 && one.1 != 0,
                            Predicate::DifferentSite(_) => one.1 != other.1 || one.1 == 0,
                        };
                        if holds && one.2 && other.2 && !one.0.is_disjoint(&other.0) {
                            expected.push((a as u32, b as u32));
                        }
                    }
                }
                expected.sort_unstable();
                prop_assert_eq!(found, expected);
            }
        }
    }
}
