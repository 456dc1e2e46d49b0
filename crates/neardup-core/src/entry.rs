//! A page under a key, as a join sorts them: by key, then by page.

use std::cmp::Ordering;

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
