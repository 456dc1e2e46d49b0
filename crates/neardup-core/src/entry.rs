//! A page under a key, as a join sorts them: by key, then by page.

use std::cmp::Ordering;

use rayon::prelude::*;

/// A page under a key. The key is held in halves: an entry then takes 12 bytes, not 16.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) halves: [u32; 2],
    pub(crate) page: u32,
}

impl Entry {
    #[inline(always)]
    pub(crate) fn new(key: u64, page: u32) -> Self {
        Entry { halves: [(key >> 32) as u32, key as u32], page }
    }

    #[inline(always)]
    pub(crate) fn key(&self) -> u64 {
        u64::from(self.halves[0]) << 32 | u64::from(self.halves[1])
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Entry {
    #[inline(always)]
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key()).then(self.page.cmp(&other.page))
    }
}

/// Entries that are sorted as they are; more are dealt out first.
const FEW: usize = 1 << 10;
/// Beyond so many, the room to deal them out would count.
const MANY: usize = 1 << 22;
/// Entries of a bucket, about.
const BUCKET: u32 = 8;
/// Entries whose buckets one thread sorts.
const RUN: usize = 1 << 13;

/// Sorts by key and page. Keys are hashes, so that their first bits deal them evenly into buckets of a few entries: one
/// pass over memory where comparing takes seventeen.
pub(crate) fn sort(entries: &mut Vec<Entry>, spare: &mut Vec<Entry>) {
    if !(FEW..=MANY).contains(&entries.len()) {
        return entries.par_sort_unstable();
    }
    let shift = 32 - (entries.len().ilog2() - BUCKET.ilog2());
    let bucket = |entry: &Entry| (entry.halves[0] >> shift) as usize;
    let mut ends = vec![0u32; (1 << (32 - shift)) + 1];
    entries.iter().for_each(|entry| ends[bucket(entry) + 1] += 1);
    for at in 1..ends.len() {
        ends[at] += ends[at - 1];
    }
    spare.clear();
    spare.resize(entries.len(), Entry { halves: [0; 2], page: 0 });
    for entry in &*entries {
        let end = &mut ends[bucket(entry)];
        spare[*end as usize] = *entry;
        *end += 1;
    }
    std::mem::swap(entries, spare);
    sort_buckets(entries, shift);
}

/// Sorts each run of entries whose first bits agree.
fn sort_buckets(entries: &mut [Entry], shift: u32) {
    let same = |a: &Entry, b: &Entry| a.halves[0] >> shift == b.halves[0] >> shift;
    if entries.len() <= RUN {
        return entries.chunk_by_mut(same).for_each(<[Entry]>::sort_unstable);
    }
    let half = entries.len() / 2;
    let middle = half + entries[half..].iter().take_while(|entry| same(entry, &entries[half - 1])).count();
    if middle == entries.len() {
        // Nearly all have one key: few keys, or no hashes.
        return entries.par_sort_unstable();
    }
    let (low, high) = entries.split_at_mut(middle);
    rayon::join(|| sort_buckets(low, shift), || sort_buckets(high, shift));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::splitmix;

    #[test]
    fn entries_are_sorted_however_their_keys_lie() {
        for count in [0, 1, FEW - 1, FEW, FEW + 1, 3 * RUN + 5, 100_000] {
            // Hashes; few of them; one; numbers, whose first bits are all the same.
            let keys: [fn(u64) -> u64; 4] =
                [|at| splitmix(1, at), |at| splitmix(2, at % 7), |_| 5, |at| at / 3];
            for key in keys {
                let made = |at: u64| Entry::new(key(at), splitmix(3, at) as u32);
                let mut entries: Vec<Entry> = (0..count as u64).map(made).collect();
                let mut plain = entries.clone();
                plain.sort_unstable();
                sort(&mut entries, &mut Vec::new());
                assert!(entries == plain, "{count} entries");
            }
        }
    }
}
