//! All true partners of a sample of pages: the sample's shingles are indexed, and the collection streams past once.
//!
//! A page that streams past is cut into shingles, each is looked up, and the hits are counted for every page of the
//! sample: these are exact intersections, no sketch. Shingles that exactly the same sample pages have form a class;
//! hits are counted by class first, so that a template of five hundred shingles on a hundred sample pages costs a
//! hundred additions and not fifty thousand. A table of bits that stays in cache answers for the shingles that no
//! sample page has, nearly all of them. How many distinct shingles the passing page has is counted only if some sample
//! page could still be a partner.
//!
//! Cost: building, a sort of the sample's shingles; passing, one probe of a bit a token, and the hits. Memory: 12 bytes
//! for each slot of a table at most half full, and what is told beside the Jaccard similarity (sets of another length,
//! term counts), for the sample only.

use std::collections::HashMap;

use crate::batch::{Lists, Shingling};
use crate::cosine::Frequencies;
use crate::shingle::to_set;
use crate::verify::jaccard;

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

/// The sample, indexed.
#[derive(Debug)]
pub struct Sample {
    shingling: Shingling,
    beside: Beside,
    sizes: Vec<u32>,
    other_sets: Vec<Vec<u64>>,
    frequencies: Vec<Frequencies>,
    table: Table,
    /// The sample pages of each class, end to end.
    class_starts: Vec<u32>,
    class_members: Vec<u32>,
}

impl Sample {
    pub fn new<'a>(pages: impl IntoIterator<Item = &'a [u64]>, shingling: Shingling, beside: Beside) -> Self {
        let (mut sizes, mut other_sets, mut frequencies) = (Vec::new(), Vec::new(), Vec::new());
        let mut entries: Vec<(u64, u32)> = Vec::new();
        let (mut window, mut spare) = (Vec::new(), Vec::new());
        for (sample, tokens) in pages.into_iter().enumerate() {
            set(tokens, shingling, &mut window, &mut spare);
            sizes.push(window.len() as u32);
            entries.extend(window.iter().map(|&shingle| (shingle, sample as u32)));
            if let Some(other) = beside.other {
                set(tokens, other, &mut window, &mut spare);
                other_sets.push(window.clone());
            }
            if beside.cosine {
                frequencies.push(Frequencies::new(tokens));
            }
        }
        entries.sort_unstable();
        let mut classes: HashMap<Vec<u32>, u32> = HashMap::new();
        let mut shingles: Vec<(u64, u32)> = Vec::new();
        for run in entries.chunk_by(|a, b| a.0 == b.0) {
            let members: Vec<u32> = run.iter().map(|entry| entry.1).collect();
            let next = classes.len() as u32;
            shingles.push((run[0].0, *classes.entry(members).or_insert(next)));
        }
        let mut by_number: Vec<(u32, Vec<u32>)> =
            classes.into_iter().map(|(members, class)| (class, members)).collect();
        by_number.sort_unstable();
        let (mut class_starts, mut class_members) = (vec![0], Vec::new());
        for (_, members) in by_number {
            class_members.extend(members);
            class_starts.push(class_members.len() as u32);
        }
        let table = Table::new(&shingles);
        Sample { shingling, beside, sizes, other_sets, frequencies, table, class_starts, class_members }
    }

    /// The partners of all sample pages among those pages of a batch that are `taken`, sorted by page and sample: every
    /// pair whose Jaccard similarity is at least `threshold` (above 0). A sample page that passes is its own partner.
    pub fn partners(&self, batch: Lists<'_>, taken: &[bool], threshold: f64) -> Vec<Partner> {
        let mut found = Vec::new();
        let mut passing = Passing { shared: vec![0; self.sizes.len()], ..Passing::default() };
        for (page, tokens) in batch.iter().enumerate() {
            if taken[page] && !tokens.is_empty() {
                self.pass(page as u32, tokens, threshold, &mut passing, &mut found);
            }
        }
        found
    }

    fn pass(
        &self,
        page: u32,
        tokens: &[u64],
        threshold: f64,
        passing: &mut Passing,
        found: &mut Vec<Partner>,
    ) {
        let Passing { shingles, spare, hits, shared, touched } = passing;
        self.shingling.fill(tokens, shingles);
        hits.clear();
        hits.extend(shingles.iter().filter_map(|&shingle| self.table.slot(shingle)));
        if hits.is_empty() {
            return;
        }
        hits.sort_unstable();
        hits.dedup();
        for hit in hits.iter_mut() {
            *hit = self.table.classes[*hit as usize];
        }
        hits.sort_unstable();
        for run in hits.chunk_by(|a, b| a == b) {
            let class = run[0] as usize;
            let members = self.class_starts[class] as usize..self.class_starts[class + 1] as usize;
            for &sample in &self.class_members[members] {
                if shared[sample as usize] == 0 {
                    touched.push(sample);
                }
                shared[sample as usize] += run.len() as u32;
            }
        }
        touched.sort_unstable();
        let mut size = None;
        let mut own_other: Option<Vec<u64>> = None;
        let mut own_frequencies = None;
        for sample in touched.drain(..) {
            let shared = std::mem::take(&mut shared[sample as usize]) as usize;
            let sample_size = self.sizes[sample as usize] as usize;
            // The union is no smaller than the sample page's own set; half an element less, for rounding.
            if (shared as f64) < threshold * sample_size as f64 - 0.5 {
                continue;
            }
            let size = *size.get_or_insert_with(|| {
                to_set(shingles, spare);
                shingles.len()
            });
            let similarity = shared as f64 / (sample_size + size - shared) as f64;
            if similarity < threshold {
                continue;
            }
            let other_jaccard = self.beside.other.map_or(0.0, |other| {
                let own = own_other.get_or_insert_with(|| {
                    let mut own = Vec::new();
                    set(tokens, other, &mut own, spare);
                    own
                });
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
    spare: Vec<u64>,
    hits: Vec<u32>,
    shared: Vec<u32>,
    touched: Vec<u32>,
}

fn set(tokens: &[u64], shingling: Shingling, out: &mut Vec<u64>, spare: &mut Vec<u64>) {
    shingling.fill(tokens, out);
    to_set(out, spare);
}

/// A hash table from shingles to classes behind a table of bits.
#[derive(Debug)]
struct Table {
    bits: Vec<u64>,
    bit_shift: u32,
    /// Slots; 0 is free, and the shingle 0 has the last slot, behind the others.
    keys: Vec<u64>,
    classes: Vec<u32>,
    zero: bool,
}

/// Spreads what may not be spread: shingles are hashes, but whoever calls with other numbers gets an answer too.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

impl Table {
    fn new(shingles: &[(u64, u32)]) -> Self {
        let slots = (2 * shingles.len()).next_power_of_two().max(16);
        let bits = (8 * slots).clamp(1 << 12, 1 << 23);
        let mut table = Table {
            bits: vec![0; bits / 64],
            bit_shift: 64 - bits.ilog2(),
            keys: vec![0; slots + 1],
            classes: vec![0; slots + 1],
            zero: false,
        };
        for &(shingle, class) in shingles {
            let bit = table.bit(shingle);
            table.bits[bit >> 6] |= 1 << (bit & 63);
            if shingle == 0 {
                table.zero = true;
                table.classes[slots] = class;
                continue;
            }
            let mut slot = table.first(shingle);
            while table.keys[slot] != 0 {
                slot = (slot + 1) & (slots - 1);
            }
            table.keys[slot] = shingle;
            table.classes[slot] = class;
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
    fn slot(&self, shingle: u64) -> Option<u32> {
        let bit = self.bit(shingle);
        if self.bits[bit >> 6] >> (bit & 63) & 1 == 0 {
            return None;
        }
        let slots = self.keys.len() - 1;
        if shingle == 0 {
            return self.zero.then_some(slots as u32);
        }
        let mut slot = self.first(shingle);
        loop {
            match self.keys[slot] {
                0 => return None,
                found if found == shingle => return Some(slot as u32),
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
        let of = |tokens: &[u64], shingling| {
            let mut out = Vec::new();
            set(tokens, shingling, &mut out, &mut Vec::new());
            out
        };
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
            let index = Sample::new(sample.iter().map(Vec::as_slice), PAIRS_OF_TOKENS, beside);
            let values = pages.concat();
            let mut offsets = vec![0i64];
            for page in &pages {
                offsets.push(offsets[offsets.len() - 1] + page.len() as i64);
            }
            let lists = Lists { offsets: &offsets, values: &values };
            let found = index.partners(lists, &vec![true; pages.len()], threshold);
            let expected = naive(&sample, &pages, threshold);
            prop_assert_eq!(found.len(), expected.len());
            for (found, expected) in found.iter().zip(&expected) {
                prop_assert!((found.cosine - expected.cosine).abs() < 1e-9);
                prop_assert_eq!(Partner { cosine: 0.0, ..*found }, Partner { cosine: 0.0, ..*expected });
            }
            prop_assert!(index.partners(lists, &vec![false; pages.len()], threshold).is_empty());
        }

        #[test]
        fn a_table_knows_its_own_and_no_others(values in proptest::collection::btree_set(0u64..200, 0..80)) {
            let shingles: Vec<(u64, u32)> = values.iter().map(|&value| (value, value as u32)).collect();
            let table = Table::new(&shingles);
            for value in 0..200 {
                let found = table.slot(value).map(|slot| table.classes[slot as usize]);
                prop_assert_eq!(found, values.contains(&value).then_some(value as u32));
            }
        }
    }
}
