//! Candidate pairs: pages that share a key, each pair once, handed to a verifier (Potthast & Stein's chunk index μ,
//! read as a self-join).
//!
//! All (key, page) entries are sorted by key; a run of equal keys is a bucket, and every pair in a bucket is a
//! candidate. A pair that shares several keys stands in several buckets: it is taken up only in the bucket of its
//! *first* shared key (column, and smallest shared site, where the rule is for pairs on one site), which costs a few
//! comparisons and no memory. Buckets are worked on in parallel; the result is sorted, so threads leave no trace.
//!
//! Cost: sorting n·w entries, then one verification a candidate pair; pairs that are rejected are never stored. A
//! bucket of s pages makes s²/2 candidates, so those beyond a [`Limits`] are left, named, to [`crate::hot`]. Buckets
//! are taken up from the smallest on, in slices, and only between slices is it asked whether a limit is passed: which
//! buckets are left does not depend on threads.

use std::ops::Range;

use rayon::prelude::*;

use crate::hash::mix;
use crate::verify::Verify;

/// Keys of n pages: the same number of columns each, where equal keys count only in the same column; or an ascending
/// list each, of any length.
#[derive(Clone, Copy, Debug)]
pub struct Keys<'a> {
    values: &'a [u64],
    layout: Layout<'a>,
}

#[derive(Clone, Copy, Debug)]
enum Layout<'a> {
    Columns(usize),
    /// Where each list begins, and behind the last where it ends.
    Lists(&'a [u64]),
}

impl<'a> Keys<'a> {
    pub fn columns(width: usize, values: &'a [u64]) -> Self {
        Keys { values, layout: Layout::Columns(width) }
    }

    /// `offsets` has one more than there are pages.
    pub fn lists(offsets: &'a [u64], values: &'a [u64]) -> Self {
        Keys { values, layout: Layout::Lists(offsets) }
    }

    pub fn pages(&self) -> usize {
        match self.layout {
            Layout::Columns(width) => self.values.len().checked_div(width).unwrap_or(0),
            Layout::Lists(offsets) => offsets.len().saturating_sub(1),
        }
    }

    #[inline(always)]
    pub fn of(&self, page: u32) -> &'a [u64] {
        match self.layout {
            Layout::Columns(width) => &self.values[page as usize * width..][..width],
            Layout::Lists(offsets) => {
                &self.values[offsets[page as usize] as usize..offsets[page as usize + 1] as usize]
            }
        }
    }

    /// The first key that both pages have.
    #[inline(always)]
    fn first_shared(&self, a: u32, b: u32) -> Option<u64> {
        let (a, b) = (self.of(a), self.of(b));
        match self.layout {
            Layout::Columns(_) => a.iter().zip(b).find(|(a, b)| a == b).map(|(&key, _)| key),
            Layout::Lists(_) => first_common(a, b),
        }
    }
}

/// The smallest number of both ascending lists.
fn first_common(a: &[u64], b: &[u64]) -> Option<u64> {
    let (mut at_a, mut at_b) = (0, 0);
    while at_a < a.len() && at_b < b.len() {
        let (x, y) = (a[at_a], b[at_b]);
        if x == y {
            return Some(x);
        }
        at_a += usize::from(x < y);
        at_b += usize::from(y < x);
    }
    None
}

/// The sites of each page, ascending; a page may stand for several copies on several sites. Site 0 is "unknown":
/// different from every site, itself included.
#[derive(Clone, Copy, Debug)]
pub struct Sites<'a> {
    pub offsets: &'a [u64],
    pub values: &'a [u32],
}

impl<'a> Sites<'a> {
    #[inline(always)]
    pub fn of(&self, page: u32) -> &'a [u32] {
        &self.values[self.offsets[page as usize] as usize..self.offsets[page as usize + 1] as usize]
    }

    /// The smallest site both pages are on.
    #[inline(always)]
    pub fn shared(&self, a: u32, b: u32) -> Option<u32> {
        let (mut a, mut b) = (self.of(a), self.of(b));
        while let (Some(&first), Some(&second)) = (a.first(), b.first()) {
            if first == second && first != 0 {
                return Some(first);
            }
            if first <= second {
                a = &a[1..];
            }
            if second <= first {
                b = &b[1..];
            }
        }
        None
    }

    /// Whether some copy of `a` and some copy of `b` are on different sites.
    #[inline(always)]
    pub fn differ(&self, a: u32, b: u32) -> bool {
        let (a, b) = (self.of(a), self.of(b));
        !(a.len() == 1 && a == b && a[0] != 0)
    }
}

/// Which pairs a rule speaks of.
#[derive(Clone, Copy, Debug)]
pub enum Predicate<'a> {
    Any,
    SameSite(Sites<'a>),
    DifferentSite(Sites<'a>),
}

/// An accepted pair, `a < b`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    pub a: u32,
    pub b: u32,
    pub score: f64,
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
    /// The buckets that were left, as places in the sorted entries.
    pub hot: Vec<Range<usize>>,
}

/// How far buckets are joined exhaustively.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Entries of a bucket.
    pub bucket: usize,
    /// Accepted pairs in all.
    pub accepted: u64,
    /// Pairs of all buckets together, whether or not they turn out to be taken up in another.
    pub possible: u64,
}

impl Limits {
    /// Every pair of every bucket.
    pub const NONE: Limits = Limits { bucket: usize::MAX, accepted: u64::MAX, possible: u64::MAX };

    /// Possible pairs of one slice: small enough to stay near the limits, large enough to keep threads busy.
    fn slice(&self) -> u64 {
        (self.accepted.min(self.possible) / 4).max(SMALLEST_SLICE)
    }
}

const SMALLEST_SLICE: u64 = 1 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Entry {
    pub(crate) key: u64,
    pub(crate) page: u32,
}

/// The entries of all pages that share a key with another, sorted by key.
#[derive(Debug)]
pub struct Buckets<'a> {
    keys: Keys<'a>,
    predicate: Predicate<'a>,
    entries: Vec<Entry>,
}

impl<'a> Buckets<'a> {
    /// Pages whose `active` flag is false take no part.
    pub fn new(keys: Keys<'a>, active: &[bool], predicate: Predicate<'a>) -> Self {
        let mut entries = entries(keys, active, predicate);
        entries.par_sort_unstable();
        let shared = |at: usize| {
            let same = |other: Option<&Entry>| other.is_some_and(|other| other.key == entries[at].key);
            same(at.checked_sub(1).and_then(|before| entries.get(before))) || same(entries.get(at + 1))
        };
        let entries = (0..entries.len()).filter(|&at| shared(at)).map(|at| entries[at]).collect();
        Buckets { keys, predicate, entries }
    }

    /// Which pages stand in a bucket with another.
    pub fn members(&self) -> Vec<bool> {
        let mut members = vec![false; self.keys.pages()];
        for entry in &self.entries {
            members[entry.page as usize] = true;
        }
        members
    }

    /// Verifies every candidate pair.
    pub fn join(&self, verifier: &impl Verify) -> Joined {
        self.join_within(verifier, Limits::NONE)
    }

    /// Verifies every candidate pair of the buckets within the limits, and names the others.
    pub fn join_within(&self, verifier: &impl Verify, limits: Limits) -> Joined {
        let mut joined = Joined::default();
        let mut ordinary: Vec<Range<usize>> = Vec::new();
        let mut start = 0;
        for bucket in self.entries.chunk_by(|a, b| a.key == b.key) {
            let range = start..start + bucket.len();
            start = range.end;
            joined.largest_bucket = joined.largest_bucket.max(bucket.len() as u64);
            if bucket.len() > limits.bucket { &mut joined.hot } else { &mut ordinary }.push(range);
        }
        let total: u64 = ordinary.iter().map(possible).sum();
        if total > limits.slice() {
            ordinary.sort_by_key(|bucket| bucket.len());
        }
        let (mut next, mut begun) = (0, 0);
        while next < ordinary.len() {
            if joined.pairs.len() as u64 > limits.accepted || begun > limits.possible {
                joined.hot.extend_from_slice(&ordinary[next..]);
                break;
            }
            let (first, mut slice) = (next, 0);
            while next < ordinary.len() && slice < limits.slice() {
                slice += possible(&ordinary[next]);
                next += 1;
            }
            begun += slice;
            self.join_exhaustively(&ordinary[first..next], verifier, &mut joined);
        }
        joined.pairs.par_sort_unstable_by_key(|pair| (pair.a, pair.b));
        joined.hot.sort_unstable_by_key(|bucket| bucket.start);
        joined
    }

    fn join_exhaustively(&self, buckets: &[Range<usize>], verifier: &impl Verify, joined: &mut Joined) {
        // A row of a bucket is one page against all behind it: the unit of work, so that one huge bucket is shared out.
        let rows = buckets.par_iter().flat_map(|bucket| {
            let bucket = &self.entries[bucket.clone()];
            (0..bucket.len() - 1).into_par_iter().map(move |at| (bucket, at))
        });
        let (mut pairs, candidates) = rows
            .fold(
                || (Vec::new(), 0u64),
                |(mut pairs, mut candidates), (bucket, at)| {
                    let Entry { key, page: a } = bucket[at];
                    for &Entry { page: b, .. } in &bucket[at + 1..] {
                        if a != b && !verifier.hopeless(a, b) && self.takes_up(key, a, b) {
                            candidates += 1;
                            if let Some(score) = verifier.score(a, b) {
                                pairs.push(Pair { a, b, score });
                            }
                        }
                    }
                    (pairs, candidates)
                },
            )
            .reduce(
                || (Vec::new(), 0),
                |(mut a, m), (mut b, n)| {
                    if a.len() < b.len() {
                        std::mem::swap(&mut a, &mut b);
                    }
                    a.append(&mut b);
                    (a, m + n)
                },
            );
        joined.pairs.append(&mut pairs);
        joined.candidates += candidates;
    }

    /// The key of a bucket and its pages, ascending, each once.
    pub(crate) fn bucket(&self, range: &Range<usize>) -> (u64, Vec<u32>) {
        let entries = &self.entries[range.clone()];
        let mut pages: Vec<u32> = entries.iter().map(|entry| entry.page).collect();
        pages.dedup();
        (entries[0].key, pages)
    }

    pub fn pages(&self) -> usize {
        self.keys.pages()
    }

    /// Whether the bucket of this key is the one that handles the pair, and the predicate holds.
    #[inline(always)]
    pub(crate) fn takes_up(&self, key: u64, a: u32, b: u32) -> bool {
        takes_up(self.keys, self.predicate, key, a, b)
    }
}

fn possible(bucket: &Range<usize>) -> u64 {
    let pages = bucket.len() as u64;
    pages * (pages - 1) / 2
}

/// Finds and verifies the pairs; pages whose `active` flag is false take no part.
pub fn join(keys: Keys<'_>, active: &[bool], predicate: Predicate<'_>, verifier: &impl Verify) -> Joined {
    Buckets::new(keys, active, predicate).join(verifier)
}

/// Mixed into a key so that only pages of one site meet.
#[inline(always)]
fn on_site(key: u64, site: u32) -> u64 {
    mix(key ^ u64::from(site).wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

fn entries(keys: Keys<'_>, active: &[bool], predicate: Predicate<'_>) -> Vec<Entry> {
    let mut entries = Vec::with_capacity(keys.values.len());
    for page in (0..keys.pages() as u32).filter(|&page| active[page as usize]) {
        match predicate {
            Predicate::SameSite(sites) => {
                for &site in sites.of(page).iter().filter(|&&site| site != 0) {
                    entries.extend(keys.of(page).iter().map(|&key| Entry { key: on_site(key, site), page }));
                }
            }
            Predicate::Any | Predicate::DifferentSite(_) => {
                entries.extend(keys.of(page).iter().map(|&key| Entry { key, page }));
            }
        }
    }
    entries
}

#[inline(always)]
fn takes_up(keys: Keys<'_>, predicate: Predicate<'_>, key: u64, a: u32, b: u32) -> bool {
    match (predicate, keys.first_shared(a, b)) {
        (_, None) => false,
        (Predicate::Any, Some(first)) => first == key,
        (Predicate::DifferentSite(sites), Some(first)) => first == key && sites.differ(a, b),
        (Predicate::SameSite(sites), Some(first)) => {
            sites.shared(a, b).is_some_and(|site| on_site(first, site) == key)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verify::Everything;
    use proptest::prelude::*;

    /// Every pair looked at.
    fn naive(keys: Keys<'_>, active: &[bool], predicate: Predicate<'_>) -> Vec<(u32, u32)> {
        let mut pairs = Vec::new();
        for a in 0..keys.pages() as u32 {
            for b in a + 1..keys.pages() as u32 {
                let shares = match keys.layout {
                    Layout::Columns(_) => keys.of(a).iter().zip(keys.of(b)).any(|(a, b)| a == b),
                    Layout::Lists(_) => keys.of(a).iter().any(|key| keys.of(b).contains(key)),
                };
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
                let expected = naive(keys, &active, predicate);
                prop_assert_eq!(joined.candidates as usize, expected.len());
                prop_assert_eq!(found, expected);
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
            let keys = Keys::lists(&offsets, &values);
            let active: Vec<bool> = rows.iter().map(|row| row.2).collect();
            let one_each: Vec<u64> = (0..=rows.len() as u64).collect();
            let flat: Vec<u32> = rows.iter().map(|row| row.1).collect();
            let sites = Sites { offsets: &one_each, values: &flat };
            for predicate in [Predicate::Any, Predicate::SameSite(sites), Predicate::DifferentSite(sites)] {
                let joined = join(keys, &active, predicate, &Everything);
                let found: Vec<(u32, u32)> = joined.pairs.iter().map(|pair| (pair.a, pair.b)).collect();
                prop_assert_eq!(found, naive(keys, &active, predicate));
            }
        }
    }
}
