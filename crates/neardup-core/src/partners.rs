//! All true partners of a sample of pages: the sample's shingles are indexed, and the collection streams past once.
//!
//! A partner of A has at least ⌈t·|A|⌉ of A's shingles, so it has one of *any* |A| − ⌈t·|A|⌉ + 1 of them (the prefix
//! filter; see [`crate::allpairs`]). The index holds those of each sample page that fewest other sample pages have: a
//! template that the whole sample shares is in nobody's prefix, and a page that streams past and has only that is let
//! through after one probe a token of a table of bits that stays in cache. A page that has a shingle of the index is
//! compared with the pages it belongs to, whole set against whole set: exact intersections, no sketch.
//!
//! Cost: building, a sort of the sample's shingles; passing, one probe of a bit a token, then a sort of the page's
//! shingles and a merge for each sample page that was met. Memory: 8 bytes a shingle of the sample and 12 bytes for each
//! slot of a table at most half full; what is told beside the Jaccard similarity is held for the sample only.

use rayon::prelude::*;

use crate::batch::{Lists, Shingling};
use crate::cosine::Frequencies;
use crate::merging::{jaccard, shared};
use crate::ordered::{Ordered, to_set};

/// A page that streamed past, and a sample page that it is like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Partner {
    pub sample: u32,
    /// Its place in the batch.
    pub page: u32,
    pub jaccard: f64,
    /// The Jaccard similarity over shingles of the other length; 0 where none was asked for.
    pub other_jaccard: f64,
    /// The cosine of the term frequencies; 0 where it was not asked for.
    pub cosine: f64,
}

/// What is told of a pair beside its Jaccard similarity.
#[derive(Clone, Copy, Debug, Default)]
pub struct Beside {
    /// Shingles of this length as well.
    pub other: Option<Shingling>,
    pub cosine: bool,
}

/// The sample, indexed for one threshold.
#[derive(Debug)]
pub struct Sample {
    shingling: Shingling,
    threshold: f64,
    beside: Beside,
    sets: Vec<Vec<u64>>,
    other_sets: Vec<Vec<u64>>,
    frequencies: Vec<Frequencies>,
    table: Table,
    /// The sample pages that have each shingle of the index in their prefix, end to end.
    starts: Vec<u32>,
    pages: Vec<u32>,
}

impl Sample {
    /// `threshold` is above 0 and at most 1.
    pub fn new<'a>(
        pages: impl IntoIterator<Item = &'a [u64]>,
        shingling: Shingling,
        threshold: f64,
        beside: Beside,
    ) -> Self {
        let (mut sets, mut other_sets, mut frequencies) = (Vec::new(), Vec::new(), Vec::new());
        for tokens in pages {
            sets.push(set_of(tokens, shingling));
            if let Some(other) = beside.other {
                other_sets.push(set_of(tokens, other));
            }
            if beside.cosine {
                frequencies.push(Frequencies::new(tokens));
            }
        }
        let mut entries = prefixes(&sets, threshold);
        entries.par_sort_unstable();
        let (mut shingles, mut starts) = (Vec::new(), Vec::new());
        for (at, entry) in entries.iter().enumerate() {
            if at == 0 || entries[at - 1].0 != entry.0 {
                shingles.push(entry.0);
                starts.push(at as u32);
            }
        }
        starts.push(entries.len() as u32);
        let pages = entries.iter().map(|entry| entry.1).collect();
        let table = Table::new(&shingles);
        Sample { shingling, threshold, beside, sets, other_sets, frequencies, table, starts, pages }
    }

    /// The partners of all sample pages among those pages of a batch that are `taken`, sorted by page and sample. A
    /// sample page that passes is its own partner.
    pub fn partners(&self, batch: Lists<'_>, taken: &[bool]) -> Vec<Partner> {
        let mut found = Vec::new();
        let mut passing = Passing::default();
        for (page, tokens) in batch.iter().enumerate() {
            if taken[page] && !tokens.is_empty() {
                self.pass(page as u32, tokens, &mut passing, &mut found);
            }
        }
        found
    }

    fn pass(&self, page: u32, tokens: &[u64], passing: &mut Passing, found: &mut Vec<Partner>) {
        let Passing { shingles, ordered, met } = passing;
        self.shingling.fill(tokens, shingles);
        met.clear();
        for &shingle in shingles.iter() {
            if let Some(place) = self.table.get(shingle) {
                let range = self.starts[place as usize] as usize..self.starts[place as usize + 1] as usize;
                met.extend_from_slice(&self.pages[range]);
            }
        }
        if met.is_empty() {
            return;
        }
        met.sort_unstable();
        met.dedup();
        to_set(shingles, ordered);
        let mut own_other = None;
        let mut own_frequencies = None;
        for &sample in met.iter() {
            let set = &self.sets[sample as usize];
            // The sizes alone may show that too much differs; half an element less, for rounding.
            let (fewer, more) = (set.len().min(shingles.len()) as f64, set.len().max(shingles.len()) as f64);
            if fewer < self.threshold * more - 0.5 {
                continue;
            }
            let shared = shared(set, shingles);
            let similarity = shared as f64 / (set.len() + shingles.len() - shared) as f64;
            if similarity < self.threshold {
                continue;
            }
            let other_jaccard = self.beside.other.map_or(0.0, |other| {
                let own = own_other.get_or_insert_with(|| set_of(tokens, other));
                jaccard(own, &self.other_sets[sample as usize])
            });
            let cosine = if self.beside.cosine {
                let own = own_frequencies.get_or_insert_with(|| Frequencies::new(tokens));
                own.cosine(&self.frequencies[sample as usize])
            } else {
                0.0
            };
            found.push(Partner { sample, page, jaccard: similarity, other_jaccard, cosine });
        }
    }
}

/// Buffers that the pages of a batch share.
#[derive(Debug, Default)]
struct Passing {
    shingles: Vec<u64>,
    ordered: Ordered,
    met: Vec<u32>,
}

fn set_of(tokens: &[u64], shingling: Shingling) -> Vec<u64> {
    let mut set = Vec::new();
    shingling.fill(tokens, &mut set);
    to_set(&mut set, &mut Ordered::default());
    set
}

/// Of each set the elements that fewest sets have, as many as a partner cannot all be without, with the set's number.
fn prefixes(sets: &[Vec<u64>], threshold: f64) -> Vec<(u64, u32)> {
    let numbered = |(number, set): (usize, &Vec<u64>)| {
        set.iter().map(move |&value| (value, number as u32)).collect::<Vec<_>>()
    };
    let mut all: Vec<(u64, u32)> = sets.par_iter().enumerate().flat_map_iter(numbered).collect();
    all.par_sort_unstable();
    let mut by_count: Vec<Vec<(u32, u64)>> = sets.iter().map(|set| Vec::with_capacity(set.len())).collect();
    for run in all.chunk_by(|a, b| a.0 == b.0) {
        for &(value, number) in run {
            by_count[number as usize].push((run.len() as u32, value));
        }
    }
    drop(all);
    let prefix = |(number, mut counted): (usize, Vec<(u32, u64)>)| {
        let size = counted.len();
        let needed = ((threshold * size as f64 - 1e-9).ceil() as usize).clamp(1, size.max(1));
        let length = size + 1 - needed;
        if length < size {
            counted.select_nth_unstable(length);
        }
        counted.truncate(length);
        counted.into_iter().map(move |(_, value)| (value, number as u32)).collect::<Vec<_>>()
    };
    by_count.into_par_iter().enumerate().flat_map_iter(prefix).collect()
}

/// A hash table from shingles to their places in a list, behind a table of bits.
#[derive(Debug)]
struct Table {
    bits: Vec<u64>,
    bit_shift: u32,
    /// Slots; 0 is free, and the shingle 0 has a slot of its own behind the others.
    keys: Vec<u64>,
    places: Vec<u32>,
    zero: bool,
}

/// Spreads what may not be spread: shingles are hashes, but whoever calls with other numbers gets an answer too.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

impl Table {
    fn new(shingles: &[u64]) -> Self {
        let slots = (2 * shingles.len()).next_power_of_two().max(16);
        let bits = (8 * slots).clamp(1 << 12, 1 << 23);
        let mut table = Table {
            bits: vec![0; bits / 64],
            bit_shift: 64 - bits.ilog2(),
            keys: vec![0; slots + 1],
            places: vec![0; slots + 1],
            zero: false,
        };
        for (place, &shingle) in shingles.iter().enumerate() {
            let bit = table.bit(shingle);
            table.bits[bit >> 6] |= 1 << (bit & 63);
            let mut slot = slots;
            if shingle == 0 {
                table.zero = true;
            } else {
                slot = table.first(shingle);
                while table.keys[slot] != 0 {
                    slot = (slot + 1) & (slots - 1);
                }
            }
            table.keys[slot] = shingle;
            table.places[slot] = place as u32;
        }
        table
    }

    #[inline(always)]
    fn bit(&self, shingle: u64) -> usize {
        (shingle.wrapping_mul(SPREAD) >> self.bit_shift) as usize
    }

    #[inline(always)]
    fn first(&self, shingle: u64) -> usize {
        (shingle.wrapping_mul(SPREAD) >> 16) as usize & (self.keys.len() - 2)
    }

    #[inline(always)]
    fn get(&self, shingle: u64) -> Option<u32> {
        let bit = self.bit(shingle);
        if self.bits[bit >> 6] >> (bit & 63) & 1 == 0 {
            return None;
        }
        let slots = self.keys.len() - 1;
        if shingle == 0 {
            return self.zero.then_some(self.places[slots]);
        }
        let mut slot = self.first(shingle);
        loop {
            match self.keys[slot] {
                0 => return None,
                found if found == shingle => return Some(self.places[slot]),
                _ => slot = (slot + 1) & (slots - 1),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PAIRS_OF_TOKENS: Shingling = Shingling { k: 2, rabin: false };
    const SINGLE: Shingling = Shingling { k: 1, rabin: false };

    fn naive(sample: &[Vec<u64>], pages: &[Vec<u64>], threshold: f64) -> Vec<Partner> {
        let of = set_of;
        let count = |tokens: &[u64], token| tokens.iter().filter(|&&other| other == token).count() as f64;
        let dot = |a: &[u64], b: &[u64]| (0..5).map(|token| count(a, token) * count(b, token)).sum::<f64>();
        let mut found = Vec::new();
        for (page, tokens) in pages.iter().enumerate() {
            for (number, other) in sample.iter().enumerate() {
                let similarity = jaccard(&of(tokens, PAIRS_OF_TOKENS), &of(other, PAIRS_OF_TOKENS));
                if !tokens.is_empty() && !other.is_empty() && similarity >= threshold {
                    found.push(Partner {
                        sample: number as u32,
                        page: page as u32,
                        jaccard: similarity,
                        other_jaccard: jaccard(&of(tokens, SINGLE), &of(other, SINGLE)),
                        cosine: dot(tokens, other) / (dot(tokens, tokens) * dot(other, other)).sqrt(),
                    });
                }
            }
        }
        found
    }

    fn pages() -> impl Strategy<Value = Vec<Vec<u64>>> {
        proptest::collection::vec(proptest::collection::vec(0u64..5, 0..12), 0..10)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]
        #[test]
        fn finds_what_comparing_all_finds(sample in pages(), pages in pages(), tenths in 1u32..=10) {
            let threshold = f64::from(tenths) / 10.0;
            let beside = Beside { other: Some(SINGLE), cosine: true };
            let index = Sample::new(sample.iter().map(Vec::as_slice), PAIRS_OF_TOKENS, threshold, beside);
            let values = pages.concat();
            let mut offsets = vec![0i64];
            for page in &pages {
                offsets.push(offsets[offsets.len() - 1] + page.len() as i64);
            }
            let lists = Lists { offsets: &offsets, values: &values };
            let found = index.partners(lists, &vec![true; pages.len()]);
            let expected = naive(&sample, &pages, threshold);
            prop_assert_eq!(found.len(), expected.len());
            for (found, expected) in found.iter().zip(&expected) {
                prop_assert!((found.cosine - expected.cosine).abs() < 1e-9);
                prop_assert_eq!(Partner { cosine: 0.0, ..*found }, Partner { cosine: 0.0, ..*expected });
            }
            prop_assert!(index.partners(lists, &vec![false; pages.len()]).is_empty());
        }

        #[test]
        fn a_table_knows_its_own_and_no_others(values in proptest::collection::btree_set(0u64..200, 0..80)) {
            let shingles: Vec<u64> = values.iter().copied().collect();
            let table = Table::new(&shingles);
            for value in 0..200 {
                let expected = shingles.iter().position(|&one| one == value).map(|place| place as u32);
                prop_assert_eq!(table.get(value), expected);
            }
        }
    }
}
