//! The buckets of one column, joined from the smallest on until a limit is passed; those that are left are hot
//! ([`crate::hot`]).
//!
//! Only between slices of the work is it asked whether a limit is passed, and slices depend on the sizes of buckets alone:
//! what is left depends neither on threads nor on memory. A bucket of more pairs than a slice is taken in rows, and given
//! up as soon as the rate at which its pairs are accepted says that it will pass the limit: of twenty thousand pages
//! that are all alike a few rows are looked at, not two hundred million pairs.

use std::collections::HashSet;
use std::ops::Range;

use rayon::prelude::*;

use crate::crowd::Crowd;
use crate::entry::Entry;
use crate::join::{Buckets, HotBucket, Joined, Limits, Pair};
use crate::screen::{BLOCK, Screened};
use crate::verify::Verify;

/// Pairs of the smallest slice.
const SMALLEST_SLICE: u64 = 1 << 20;

/// Possible pairs of one slice: small enough to stay near the limits, large enough to keep threads busy.
fn most_a_slice(limits: Limits) -> u64 {
    (limits.accepted.min(limits.possible) / 4).max(SMALLEST_SLICE)
}

/// So many rows ahead pages are fetched.
const LATER: usize = 16;

/// Pairs a page that there is room for from the start, where there are more pages than this.
const ROOM: usize = 4;
const MANY: usize = 1 << 20;

/// The buckets of one column, or of a part of it, that have two entries or more, one after another.
pub(crate) struct Column<'a> {
    pub(crate) buckets: &'a Buckets<'a>,
    pub(crate) number: usize,
    pub(crate) entries: Vec<Entry>,
}

impl Column<'_> {
    pub(crate) fn join_within(&self, verifier: &impl Screened, limits: Limits, joining: &mut Joining) {
        let mut ordinary: Vec<Range<usize>> = Vec::new();
        let mut start = 0;
        for bucket in self.entries.chunk_by(|a, b| a.halves == b.halves) {
            let range = start..start + bucket.len();
            start = range.end;
            joining.joined.largest_bucket = joining.joined.largest_bucket.max(bucket.len() as u64);
            if joining.left.contains(&(self.number, bucket[0].key())) {
                continue;
            }
            if bucket.len() > limits.bucket {
                self.leave(&range, joining);
            } else {
                ordinary.push(range);
            }
        }
        let total: u64 = ordinary.iter().map(possible).sum();
        if total > most_a_slice(limits) || joining.beyond(limits) {
            ordinary.sort_unstable_by_key(|bucket| (bucket.len(), bucket.start));
        }
        let mut next = 0;
        while next < ordinary.len() {
            if ordinary[next].len() > limits.few && joining.beyond(limits) {
                ordinary[next..].iter().for_each(|range| self.leave(range, joining));
                break;
            }
            if possible(&ordinary[next]) > most_a_slice(limits) {
                self.join_large(&ordinary[next], verifier, limits, joining);
                next += 1;
                continue;
            }
            let (first, mut slice) = (next, 0);
            while next < ordinary.len() && slice + possible(&ordinary[next]) <= most_a_slice(limits) {
                slice += possible(&ordinary[next]);
                next += 1;
            }
            joining.begun += slice;
            joining.add(self.join_exhaustively(&ordinary[first..next], verifier));
        }
    }

    /// A bucket of more pairs than a slice, in rows: if it passes a limit, or would at the rate at which its pairs are
    /// accepted, it is left, what it gave is taken back, and nothing is joined after it.
    fn join_large(
        &self,
        range: &Range<usize>,
        verifier: &impl Screened,
        limits: Limits,
        joining: &mut Joining,
    ) {
        let (before, candidates) = (joining.joined.pairs.len(), joining.joined.candidates);
        let crowd = self.is_crowd(verifier, range).then(|| Crowd::new(verifier, self.pages_of(range)));
        let (mut row, mut looked_at) = (0, 0);
        while row < range.len() {
            let (first, mut slice) = (row, 0);
            // The first slice is for the rate.
            let most = if first == 0 { SMALLEST_SLICE } else { most_a_slice(limits) };
            while row < range.len() && slice < most {
                let end = range.len().min(row + BLOCK);
                slice += (row..end).map(|at| (range.len() - 1 - at) as u64).sum::<u64>();
                row = end;
            }
            joining.begun += slice;
            looked_at += slice;
            joining.add(match &crowd {
                Some(crowd) => self.join_crowd(range, crowd, first..row, verifier),
                None => self.join_rows(range, first..row, verifier),
            });
            let accepted = joining.joined.pairs.len() - before;
            let in_all = u128::from(possible(range)) * accepted as u128 / u128::from(looked_at);
            if joining.beyond(limits) || before as u128 + in_all > u128::from(limits.accepted) {
                joining.joined.pairs.truncate(before);
                joining.joined.candidates = candidates;
                joining.passed = true;
                self.leave(range, joining);
                return;
            }
        }
    }

    fn leave(&self, range: &Range<usize>, joining: &mut Joining) {
        let entries = &self.entries[range.clone()];
        let pages = entries.chunk_by(|a, b| a.page == b.page).count();
        let key = entries[0].key();
        joining.joined.hot.push(HotBucket { column: self.number as u32, key, pages: pages as u32 });
        joining.joined.in_hot.resize(self.buckets.pages(), false);
        entries.iter().for_each(|entry| joining.joined.in_hot[entry.page as usize] = true);
    }

    pub(crate) fn join_exhaustively<V: Screened>(&self, buckets: &[Range<usize>], verifier: &V) -> Found {
        let (crowds, few): (Vec<_>, Vec<_>) =
            buckets.iter().partition(|bucket| self.is_crowd(verifier, bucket));
        // A row of a bucket is one page against all behind it: the unit of work, so that large buckets are shared out.
        let rows = few.par_iter().flat_map(|bucket| {
            (0..bucket.len() - 1).into_par_iter().map(|at| (bucket.start + at, bucket.end))
        });
        let of_rows = rows.fold(Found::default, |mut found, (row, end)| {
            self.join_row(row, end, verifier, &mut found);
            found
        });
        let of_crowds = crowds.par_iter().map(|bucket| {
            let crowd = Crowd::new(verifier, self.pages_of(bucket));
            self.join_crowd(bucket, &crowd, 0..bucket.len(), verifier)
        });
        let (of_rows, of_crowds) = rayon::join(
            || of_rows.reduce(Found::default, Found::and),
            || of_crowds.reduce(Found::default, Found::and),
        );
        of_crowds.and(of_rows)
    }

    /// Some rows of a large bucket.
    fn join_rows(&self, bucket: &Range<usize>, rows: Range<usize>, verifier: &impl Screened) -> Found {
        let found = rows.into_par_iter().fold(Found::default, |mut found, at| {
            self.join_row(bucket.start + at, bucket.end, verifier, &mut found);
            found
        });
        found.reduce(Found::default, Found::and)
    }

    fn is_crowd<V: Screened>(&self, verifier: &V, bucket: &Range<usize>) -> bool {
        Crowd::helps(verifier, bucket.len(), self.entries[bucket.start].page)
    }

    /// An entry against those behind it in its bucket, which ends at `end`.
    fn join_row(&self, row: usize, end: usize, verifier: &impl Verify, found: &mut Found) {
        let (key, a) = (self.entries[row].key(), self.entries[row].page);
        // Rows are taken one after another: a page is met first by the row that its bucket begins with.
        if let Some(later) = self.entries.get(row + LATER) {
            verifier.glance_later(later.page);
        }
        if let Some(soon) = self.entries.get(row + LATER / 2) {
            verifier.glance_soon(soon.page);
            self.buckets.fetch(soon.page);
        }
        for &Entry { page: b, .. } in &self.entries[row + 1..end] {
            if a != b {
                self.look(verifier, key, a, b, found);
            }
        }
        found.score(verifier);
    }

    /// Some rows of a bucket whose pages are a crowd.
    fn join_crowd<V: Screened>(
        &self,
        bucket: &Range<usize>,
        crowd: &Crowd<'_, V>,
        rows: Range<usize>,
        verifier: &V,
    ) -> Found {
        let key = self.entries[bucket.start].key();
        let tiles = crowd.tiles(rows).fold(Found::default, |mut found, tile| {
            crowd.pairs(&tile, &mut |a, b| self.look(verifier, key, a, b, &mut found));
            found.score(verifier);
            found
        });
        tiles.reduce(Found::default, Found::and)
    }

    /// Has a pair of the bucket of this key scored, unless a glance rejects it or another bucket has it.
    #[inline(always)]
    fn look(&self, verifier: &impl Verify, key: u64, a: u32, b: u32, found: &mut Found) {
        if !verifier.hopeless(a, b) && self.buckets.takes_up(self.number, key, a, b) {
            found.hopeful.push((a, b));
            if found.hopeful.len() == Found::TOGETHER {
                found.score(verifier);
            }
        }
    }

    /// The pages of a bucket, ascending, each once.
    fn pages_of(&self, bucket: &Range<usize>) -> Vec<u32> {
        let mut pages: Vec<u32> = self.entries[bucket.clone()].iter().map(|entry| entry.page).collect();
        pages.dedup();
        pages
    }
}

/// A join under way.
#[derive(Debug)]
pub(crate) struct Joining {
    pub(crate) joined: Joined,
    /// Pairs of the buckets taken up so far.
    begun: u64,
    /// A limit was passed by a bucket that was given up.
    passed: bool,
    /// Buckets that are not joined, by column and key.
    pub(crate) left: HashSet<(usize, u64)>,
}

impl Joining {
    /// Has room for many pairs from the start where there are many pages: a list that grows is copied, and so held
    /// twice, again and again, while memory that is not written to is not taken.
    pub(crate) fn new(pages: usize) -> Self {
        let mut pairs = Vec::new();
        if pages > MANY {
            // Where so much cannot be set aside the list grows as lists do.
            let _ = pairs.try_reserve_exact(ROOM * pages);
        }
        Joining {
            joined: Joined { pairs, ..Joined::default() },
            begun: 0,
            passed: false,
            left: HashSet::new(),
        }
    }

    pub(crate) fn add(&mut self, mut found: Found) {
        self.joined.pairs.append(&mut found.pairs);
        self.joined.candidates += found.candidates;
    }

    fn beyond(&self, limits: Limits) -> bool {
        self.passed || self.joined.pairs.len() as u64 > limits.accepted || self.begun > limits.possible
    }
}

/// What a part of the work gave.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) pairs: Vec<Pair>,
    pub(crate) candidates: u64,
    /// Pairs that are not scored yet.
    hopeful: Vec<(u32, u32)>,
}

impl Found {
    /// Pairs that are scored together, at most.
    const TOGETHER: usize = 256;

    /// Scores what waits for it; what the next pair needs is fetched meanwhile.
    fn score(&mut self, verifier: &impl Verify) {
        self.candidates += self.hopeful.len() as u64;
        for (at, &(a, b)) in self.hopeful.iter().enumerate() {
            if let Some(&(next_a, next_b)) = self.hopeful.get(at + 1) {
                if next_a != a {
                    verifier.score_next(next_a);
                }
                verifier.score_next(next_b);
            }
            if let Some(score) = verifier.score_hopeful(a, b) {
                self.pairs.push(Pair { a, b, score });
            }
        }
        self.hopeful.clear();
    }

    fn and(mut self, mut other: Found) -> Found {
        if self.pairs.len() < other.pairs.len() {
            std::mem::swap(&mut self.pairs, &mut other.pairs);
        }
        self.pairs.append(&mut other.pairs);
        self.candidates += other.candidates;
        self
    }
}

fn possible(bucket: &Range<usize>) -> u64 {
    let pages = bucket.len() as u64;
    pages * (pages - 1) / 2
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::splitmix;
    use crate::join::Predicate;
    use crate::keys::Keys;
    use crate::verify::{AgreeingBits, Everything};

    /// One key that all pages share but the last three, which share another.
    const PAGES: usize = 3000;

    fn keys() -> Vec<u64> {
        (0..PAGES).map(|page| if page + 3 < PAGES { 1 } else { 2 }).collect()
    }

    fn limits(accepted: u64) -> Limits {
        Limits { few: 16, accepted, ..Limits::NONE }
    }

    #[test]
    fn a_bucket_of_pages_that_are_all_alike_is_given_up() {
        let (keys, active) = (keys(), [true; PAGES]);
        let buckets = Buckets::new(Keys::columns(1, &keys), &active, Predicate::Any);
        let joined = buckets.join_within(&Everything, limits(1000));
        let found: Vec<(u32, u32)> = joined.pairs.iter().map(|pair| (pair.a, pair.b)).collect();
        assert_eq!(found, [(2997, 2998), (2997, 2999), (2998, 2999)]);
        assert_eq!(joined.candidates, 3);
        assert_eq!(joined.hot, [HotBucket { column: 0, key: 1, pages: 2997 }]);
        assert_eq!(joined.in_hot.iter().filter(|&&hot| hot).count(), 2997);
    }

    #[test]
    fn a_bucket_of_which_few_pairs_are_accepted_is_joined_to_the_end() {
        let (keys, active) = (keys(), [true; PAGES]);
        let buckets = Buckets::new(Keys::columns(1, &keys), &active, Predicate::Any);
        // Every hundredth page is nearly the one before it.
        let of = |page: u64| if page % 100 == 99 { page - 1 } else { page };
        let sketches: Vec<u64> = (0..PAGES as u64)
            .flat_map(|page| (0..6).map(move |at| splitmix(of(page), at) ^ u64::from(page % 100 == 99)))
            .collect();
        let verifier = AgreeingBits { width: 6, values: &sketches, least: 372 };
        let joined = buckets.join_within(&verifier, limits(1000));
        assert_eq!(joined.pairs.len(), 30);
        assert_eq!(joined, buckets.join(&verifier));
    }
}
