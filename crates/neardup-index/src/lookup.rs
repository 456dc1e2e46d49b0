//! The keys under which a page is looked up, and what is stored under each.
//!
//! A key of the detector (a supershingle, a piece of a projection, a band …) is hashed with its rule and column, and for
//! pairs on one site with the site, to [`KEY_BYTES`] bytes: among 180 million keys two that differ share those bytes
//! once in 6,000 look-ups, and the pair is rejected as soon as its rows are compared. Under a key stand the numbers of
//! the pages that have it, in 4 bytes each or, where it is just one of the first 16 million, in 3. Lists grow at their end; so that a page that joins a long one does not write
//! all of it again, every [`CHUNK`] numbers are put away under a longer key.

use neardup_core::hash::mix;
use neardup_core::rules::Between;

use crate::shape::{Row, Shape};

pub const KEY_BYTES: usize = 5;
/// Numbers of a list that are written again when one is added, at most.
pub const CHUNK: usize = 64;

/// A key as it is stored, and the rule that asks for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    pub rule: u8,
    pub hash: u64,
}

pub fn bytes(hash: u64) -> [u8; KEY_BYTES] {
    hash.to_be_bytes()[8 - KEY_BYTES..].try_into().expect("so many bytes")
}

/// Where the full chunk of a number is put away.
pub fn chunk_key(hash: u64, chunk: u32) -> [u8; KEY_BYTES + 4] {
    let mut key = [0; KEY_BYTES + 4];
    key[..KEY_BYTES].copy_from_slice(&bytes(hash));
    key[KEY_BYTES..].copy_from_slice(&chunk.to_be_bytes());
    key
}

/// All keys of a page on a site; with `joined`, only those that a further site of the same page adds.
pub fn keys(shape: &Shape, row: &Row, site: u64, joined: bool) -> Vec<Key> {
    let mut found = Vec::new();
    for (at, rule) in shape.plan.rules.iter().enumerate() {
        let start = match rule.between {
            // A page of which the site is not known is on no site with any other.
            Between::SameSite if site == 0 => continue,
            Between::SameSite => mix(site ^ (at as u64) << 32),
            _ if joined => continue,
            _ => mix(at as u64),
        };
        let first = found.len();
        rule.each_key(&row.of(shape), |column, key| {
            let hash = mix(key ^ mix(start ^ column)) >> (64 - 8 * KEY_BYTES);
            found.push(Key { rule: at as u8, hash });
        });
        if rule.keys.set().is_some() {
            found[first..].sort_unstable_by_key(|key| key.hash);
        }
    }
    found
}

/// A list of one number, as it is stored.
#[derive(Clone, Copy, Debug)]
pub struct OneNumber {
    bytes: [u8; 4],
    length: usize,
}

impl OneNumber {
    pub fn of(number: u32) -> Self {
        OneNumber { bytes: number.to_le_bytes(), length: if number < 1 << 24 { 3 } else { 4 } }
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

/// The end of a list, as it stands under its key: how many chunks were put away, and the numbers since.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tail {
    pub chunks: u32,
    pub numbers: Vec<u32>,
}

impl Tail {
    /// A list without chunks is its numbers and nothing else, in four bytes each; the one number of most lists takes
    /// three, if it fits. Chunks are counted in the last three bytes, which, if nothing came since, are said twice.
    pub fn encode(&self) -> Vec<u8> {
        if let (0, &[number]) = (self.chunks, &self.numbers[..]) {
            return OneNumber::of(number).bytes().to_vec();
        }
        let mut out = Vec::with_capacity(4 * self.numbers.len() + 6);
        out.extend(self.numbers.iter().flat_map(|number| number.to_le_bytes()));
        if self.chunks > 0 {
            let count = &self.chunks.to_le_bytes()[..3];
            out.extend_from_slice(count);
            if self.numbers.is_empty() {
                out.extend_from_slice(count);
            }
        }
        out
    }

    /// None if the bytes are no list.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let small = |a: u8, b: u8, c: u8| u32::from_le_bytes([a, b, c, 0]);
        match *bytes {
            [a, b, c] => return Some(Tail { chunks: 0, numbers: vec![small(a, b, c)] }),
            [a, b, c, d, e, f] => {
                return ([a, b, c] == [d, e, f])
                    .then(|| Tail { chunks: small(a, b, c), numbers: Vec::new() });
            }
            _ => {}
        }
        let (numbers, rest) = bytes.split_at(bytes.len() / 4 * 4);
        let chunks = match *rest {
            [] => 0,
            [a, b, c] => small(a, b, c),
            _ => return None,
        };
        Some(Tail { chunks, numbers: numbers_of(numbers) })
    }

    /// How many numbers the whole list has.
    pub fn length(&self) -> usize {
        self.chunks as usize * CHUNK + self.numbers.len()
    }

    /// Adds a number; a chunk that is full is returned, with its place.
    pub fn push(&mut self, number: u32) -> Option<(u32, Vec<u8>)> {
        self.numbers.push(number);
        (self.numbers.len() == CHUNK).then(|| {
            let full = std::mem::take(&mut self.numbers);
            self.chunks += 1;
            (self.chunks - 1, full.into_iter().flat_map(u32::to_le_bytes).collect())
        })
    }
}

/// Numbers as they are stored; bytes behind the last whole one are ignored.
pub fn numbers_of(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|number| u32::from_le_bytes(number.try_into().expect("four bytes"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    /// What is on disk: if this changes and was meant to, the version of the index (`about.py`) is raised.
    #[test]
    fn lists_are_stored_like_this() {
        let stored = |chunks, numbers: &[u32]| Tail { chunks, numbers: numbers.to_vec() }.encode();
        assert_eq!(stored(0, &[0x0003_0201]), [1, 2, 3]);
        assert_eq!(stored(0, &[0x0403_0201]), [1, 2, 3, 4]);
        assert_eq!(stored(0, &[1, 2]), [1, 0, 0, 0, 2, 0, 0, 0]);
        assert_eq!(stored(5, &[]), [5, 0, 0, 5, 0, 0]);
        assert_eq!(stored(5, &[1]), [1, 0, 0, 0, 5, 0, 0]);
        assert_eq!(bytes(0x01_0203_0405), [1, 2, 3, 4, 5]);
        assert_eq!(chunk_key(0x01_0203_0405, 6), [1, 2, 3, 4, 5, 0, 0, 0, 6]);
    }

    proptest! {
        #[test]
        fn a_list_comes_back_however_long(numbers in proptest::collection::vec(any::<u32>(), 0..300)) {
            let mut tail = Tail::default();
            let mut away = HashMap::new();
            for &number in &numbers {
                if let Some((chunk, bytes)) = tail.push(number) {
                    away.insert(chunk, bytes);
                }
                tail = Tail::decode(&tail.encode()).unwrap();
            }
            let mut back: Vec<u32> = (0..tail.chunks).flat_map(|chunk| numbers_of(&away[&chunk])).collect();
            back.extend(&tail.numbers);
            prop_assert_eq!(tail.length(), numbers.len());
            prop_assert_eq!(back, numbers);
        }

        #[test]
        fn any_bytes_are_a_list_or_none(bytes: Vec<u8>) {
            if let Some(tail) = Tail::decode(&bytes) {
                prop_assert!(tail.numbers.len() <= bytes.len());
            }
        }
    }
}
