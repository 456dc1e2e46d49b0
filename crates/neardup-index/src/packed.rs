//! Short lists, many in an entry: what compacting makes of nearly all keys.
//!
//! An entry of its own costs a key twelve bytes: five name it, three or four are its number, the rest are lengths, order
//! and filter. Packed, it costs five. Keys that share their first [`PLACE_BITS`] bits stand in one entry, in ascending
//! order, as bits: each number of a list with the step from the key before it. Steps between hashes are spread evenly, so
//! they take a Rice code: a few bits as they are, behind them the rest in units, ended by a zero. A step of 0 is a further
//! number of the same list.
//!
//! An entry for a key in the table of keys comes before what is packed: a list that grows is written there whole, and what
//! is packed of it is ignored until the next time that room is made.

use crate::lookup::KEY_BYTES;

/// First bits of a key that say where it is packed. At a million pages with 18 keys an entry packs 69, at ten million
/// 690: few enough to be gone through, enough for what comes before them not to count.
const PLACE_BITS: usize = 18;
const REST_BITS: usize = 8 * KEY_BYTES - PLACE_BITS;
/// Numbers of a list that is packed, at most: each time a key is looked for, those before it are passed.
pub const FEW: usize = 8;

/// Bits of what stands in front: how many bits a number has, a step, and the count of what follows.
const NUMBER_BITS: u32 = 6;
const STEP_BITS: u32 = 5;
const COUNT_BITS: u32 = 5;

/// Where keys are packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place(u32);

impl Place {
    pub const FIRST: Self = Place(0);
    /// Behind the last.
    pub const END: Self = Place(1 << PLACE_BITS);

    /// The least key that has its place here.
    pub fn first_key(self) -> u64 {
        u64::from(self.0) << REST_BITS
    }

    /// The place of a key, and what is left of the key there.
    pub fn of(hash: u64) -> (Self, u32) {
        (Place((hash >> REST_BITS) as u32), hash as u32 & ((1 << REST_BITS) - 1))
    }

    /// None if no place has these bytes.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let &[a, b, c] = bytes else { return None };
        Some(Place(u32::from_be_bytes([0, a, b, c]))).filter(|place| place.0 < 1 << PLACE_BITS)
    }

    pub fn bytes(self) -> [u8; 3] {
        let [_, a, b, c] = self.0.to_be_bytes();
        [a, b, c]
    }
}

/// Packs (rest of a key, number): keys ascending, the numbers of one key in the order of its list. In front stand how many
/// bits a number has, how many bits of a step are told as they are, and how many entries follow.
pub fn pack(entries: &[(u32, u32)]) -> Vec<u8> {
    let number_bits = entries.iter().map(|&(_, number)| 32 - number.leading_zeros()).max().unwrap_or(0);
    // Fewest bits for steps whose lengths fall off evenly: of an average one, its logarithm less a half.
    let average = (1 << REST_BITS) / entries.len().max(1) as u32;
    let step_bits = (average - average / 3).checked_ilog2().unwrap_or(0);
    let mut out = Writer { bytes: Vec::with_capacity(8 + 6 * entries.len()), held: 0, bits: 0 };
    out.put(number_bits, NUMBER_BITS);
    out.put(step_bits, STEP_BITS);
    let count_bits = 32 - (entries.len() as u32).leading_zeros();
    out.put(count_bits, COUNT_BITS);
    out.put(entries.len() as u32, count_bits);
    // The first key may be 0, and a step to it must not be.
    let mut before = u32::MAX;
    for &(rest, number) in entries {
        let step = rest.wrapping_sub(before);
        before = rest;
        out.put(step & ((1 << step_bits) - 1), step_bits);
        (0..step >> step_bits).for_each(|_| out.put(1, 1));
        out.put(0, 1);
        out.put(number, number_bits);
    }
    out.end()
}

/// Bits, the lowest of a byte first.
struct Writer {
    bytes: Vec<u8>,
    held: u64,
    bits: u32,
}

impl Writer {
    fn put(&mut self, value: u32, bits: u32) {
        self.held |= u64::from(value) << self.bits;
        self.bits += bits;
        while self.bits >= 8 {
            self.bytes.push(self.held as u8);
            self.held >>= 8;
            self.bits -= 8;
        }
    }

    fn end(mut self) -> Vec<u8> {
        if self.bits > 0 {
            self.bytes.push(self.held as u8);
        }
        self.bytes
    }
}

/// What is packed, in order; a last `None` if the bytes make no sense from there on.
#[derive(Clone, Debug)]
pub struct Packed<'a> {
    bytes: &'a [u8],
    /// The next bit, counted from the first of `bytes`.
    at: usize,
    number_bits: u32,
    step_bits: u32,
    left: u32,
    rest: u32,
}

impl<'a> Packed<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        let mut packed = Packed { bytes, at: 0, number_bits: 0, step_bits: 0, left: 1, rest: u32::MAX };
        let (number_bits, step_bits) = (packed.next_bits(NUMBER_BITS), packed.next_bits(STEP_BITS));
        let count_bits = packed.next_bits(COUNT_BITS);
        let left = packed.next_bits(count_bits);
        if number_bits > 32 || step_bits as usize > REST_BITS || packed.at > 8 * bytes.len() {
            // An entry is left, and there are no bytes for it: it will be said to make no sense.
            return Packed { bytes: &[], ..packed };
        }
        Packed { number_bits, step_bits, left, ..packed }
    }

    #[inline]
    fn next_bits(&mut self, bits: u32) -> u32 {
        let value = self.window() & ((1 << bits) - 1);
        self.at += bits as usize;
        value as u32
    }

    /// The next 57 bits or more; those behind the end are zeros.
    #[inline]
    fn window(&self) -> u64 {
        let from = self.at / 8;
        let word = match self.bytes.get(from..from + 8) {
            Some(whole) => u64::from_le_bytes(whole.try_into().expect("eight bytes")),
            None => {
                let end = self.bytes.get(from..).unwrap_or_default();
                end.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
            }
        };
        word >> (self.at % 8)
    }

    #[inline]
    fn read(&mut self) -> Option<(u32, u32)> {
        let low = self.next_bits(self.step_bits);
        let mut units = 0;
        loop {
            // Never more than there are in a window; a run that goes on is taken up in the next one.
            let ones = self.window().trailing_ones().min(56);
            units += ones;
            self.at += ones as usize;
            if ones < 56 {
                break;
            }
        }
        self.at += 1;
        let number = self.next_bits(self.number_bits);
        let step = units.checked_shl(self.step_bits).filter(|step| step >> self.step_bits == units)? | low;
        // From before the first key the step leads to it, and to no other place.
        let rest = if self.rest == u32::MAX { step.checked_sub(1)? } else { self.rest.checked_add(step)? };
        if rest >= 1 << REST_BITS || self.at > 8 * self.bytes.len() {
            return None;
        }
        self.rest = rest;
        Some((rest, number))
    }

    /// The list of one key, empty if it is not packed here; `Err` if the bytes make no sense.
    pub fn find(self, rest: u32) -> Result<Vec<u32>, ()> {
        let mut numbers = Vec::new();
        for entry in self {
            match entry {
                None => return Err(()),
                Some((here, number)) if here == rest => numbers.push(number),
                Some((here, _)) if here > rest => break,
                Some(_) => {}
            }
        }
        Ok(numbers)
    }
}

impl Iterator for Packed<'_> {
    type Item = Option<(u32, u32)>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let entry = self.read();
        if entry.is_none() {
            self.left = 0;
        }
        Some(entry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// What is on disk: if this changes and was meant to, the version of the index (`about.py`) is raised.
    #[test]
    fn keys_are_packed_like_this() {
        // In front six, five and five bits, and as many for the count as the last of them say.
        assert_eq!(pack(&[]), [0b0100_0000, 0b0000_0101]);
        let front = |number: u32, step: u32, count: u32| (number | step << 6 | count << 11).to_le_bytes();
        // Twenty-one bits of the step 1, no units and a zero behind them, a number of one bit.
        let [a, b, ..] = front(1, 21, 1);
        assert_eq!(pack(&[(0, 1)]), [a, b, 0b11, 0, 0b1000_0000]);
        let [a, b, ..] = front(3, 20, 2);
        // Of the step 2 * 2²⁰ + 6 twenty bits, two units and a zero, three of the number 5; the same key again, with 7.
        let two = [a, b, 0b0001_1010, 0, 0b1100_0000, 0b0000_1010, 0, 0, 0b0000_1110];
        assert_eq!(pack(&[(5 + (2 << 20), 5), (5 + (2 << 20), 7)]), two);
        let (place, rest) = Place::of(0xff_ffff_ffff);
        assert_eq!((place.bytes(), rest), ([3, 0xff, 0xff], 0x3f_ffff));
        assert_eq!(Place::of(0x01_0203_0405).0.bytes(), [0, 0x04, 0x08]);
    }

    #[test]
    fn places_are_in_the_order_of_keys() {
        let hashes: Vec<u64> = (0..1000).map(|at| at * 0x4000_0001).collect();
        assert!(hashes.is_sorted_by_key(|&hash| Place::of(hash)));
        assert!(hashes.iter().all(|&hash| {
            let (place, _) = Place::of(hash);
            Place::from_bytes(&place.bytes()) == Some(place)
                && Place::of(place.first_key()) == (place, 0)
                && place.first_key() <= hash
        }));
        assert_eq!(Place::from_bytes(&[4, 0, 0]), None);
        assert_eq!(Place::from_bytes(&[0, 0]), None);
    }

    #[test]
    fn a_key_takes_less_than_five_bytes_at_a_million_pages() {
        let entries: Vec<(u32, u32)> =
            (0..69).map(|at| (at * ((1 << REST_BITS) / 69) + at * at, at * 14_500)).collect();
        assert!(pack(&entries).len() < 5 * 69, "{}", pack(&entries).len());
    }

    fn lists(rests: u32, numbers: u32) -> impl Strategy<Value = BTreeMap<u32, Vec<u32>>> {
        let list = proptest::collection::vec(0..=numbers, 1..4);
        proptest::collection::btree_map(0..rests, list, 0..60)
    }

    proptest! {
        #[test]
        fn what_is_packed_is_found(
            far in lists(1 << REST_BITS, u32::MAX), near in lists(90, 1 << 20), asked in 0u32..100,
        ) {
            for lists in [far, near] {
                let entries: Vec<(u32, u32)> =
                    lists.iter().flat_map(|(&rest, list)| list.iter().map(move |&number| (rest, number))).collect();
                let bytes = pack(&entries);
                prop_assert_eq!(Packed::new(&bytes).collect::<Option<Vec<_>>>(), Some(entries));
                for rest in lists.keys().copied().chain([asked]) {
                    let list = lists.get(&rest).cloned().unwrap_or_default();
                    prop_assert_eq!(Packed::new(&bytes).find(rest), Ok(list));
                }
            }
        }

        #[test]
        fn any_bytes_are_packed_keys_or_are_told(bytes: Vec<u8>, bits in 0u16..34, step in 0u16..24, count in 0u16..4) {
            let head = (bits | step << 6 | count << 11).to_le_bytes().into_iter();
            for bytes in [head.chain(bytes.clone()).collect::<Vec<u8>>(), bytes] {
                let entries = Packed::new(&bytes).take(100).collect::<Option<Vec<_>>>();
                if let Some(entries) = entries {
                    prop_assert!(entries.is_sorted_by_key(|entry| entry.0));
                    prop_assert!(entries.iter().all(|entry| entry.0 < 1 << REST_BITS));
                }
            }
        }
    }
}
