//! How pages and identity sets are written down.
//!
//! A page: its time, its id, and if it joined others with the same tokens their identity set and, where sites matter, its
//! site. An identity set: what is compared of it, and who is in it. Nearly all sets have one page, which is the one that
//! gave them their number; such a set says nothing of its members, and its page nothing of the set.

use std::sync::Arc;

use crate::shape::{Row, Shape};

/// A page as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageRecord {
    /// The number of its identity set; its own, if the set is named after it.
    pub set: u32,
    /// Seconds since 1970.
    pub time: i64,
    /// A hash of the site's name; 0 if it has none, if sites do not matter, or if the set is named after the page: as
    /// long as that page is there, the site of the set is its own.
    pub site: u64,
    pub id: Vec<u8>,
}

const TIME_BYTES: usize = 5;

impl PageRecord {
    pub fn encode(&self, shape: &Shape, number: u32) -> Vec<u8> {
        let joined = self.set != number;
        let mut out = Vec::with_capacity(17 + self.id.len());
        out.extend_from_slice(&(clamped(self.time) << 1 | i64::from(joined)).to_le_bytes()[..TIME_BYTES]);
        if joined {
            out.extend_from_slice(&self.set.to_le_bytes());
            if shape.sited() {
                out.extend_from_slice(&self.site.to_le_bytes());
            }
        }
        out.extend_from_slice(&self.id);
        out
    }

    pub fn decode(shape: &Shape, number: u32, bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader(bytes);
        let mut time = [0; 8];
        time[8 - TIME_BYTES..].copy_from_slice(reader.take(TIME_BYTES)?);
        let time = i64::from_le_bytes(time) >> (64 - 8 * TIME_BYTES);
        let (time, joined) = (time >> 1, time & 1 == 1);
        let set = if joined { reader.u32()? } else { number };
        if joined && set == number {
            // Nobody writes that down: a page stands for its own set by saying nothing.
            return None;
        }
        let site = if joined && shape.sited() { reader.u64()? } else { 0 };
        Some(PageRecord { set, time, site, id: reader.0.to_vec() })
    }
}

/// What fits into the bits of a time: some 8,700 years.
fn clamped(time: i64) -> i64 {
    let most = (1 << (8 * TIME_BYTES - 2)) - 1;
    time.clamp(-most, most)
}

/// An identity set as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetRecord {
    /// Whether it has enough tokens to be compared.
    pub active: bool,
    /// Its first page that is still there.
    pub first: u32,
    pub members: u32,
    /// On how many sites it is, and one of them.
    pub sites: u32,
    pub site: u64,
    pub row: Arc<Row>,
}

const ACTIVE: u8 = 1;
const SEVERAL: u8 = 2;

impl SetRecord {
    /// Whether its members and sites were ever written down one by one.
    pub fn several(&self, number: u32) -> bool {
        self.members > 1 || self.first != number
    }

    pub fn encode(&self, shape: &Shape, number: u32) -> Vec<u8> {
        let mut out = Vec::with_capacity(24 + 8 * self.row.words.len());
        let several = self.several(number);
        out.push(if self.active { ACTIVE } else { 0 } | if several { SEVERAL } else { 0 });
        if several {
            [self.first, self.members, self.sites]
                .iter()
                .for_each(|n| out.extend_from_slice(&n.to_le_bytes()));
        }
        if shape.sited() {
            out.extend_from_slice(&self.site.to_le_bytes());
        }
        if self.active {
            self.row.words.iter().for_each(|word| out.extend_from_slice(&word.to_le_bytes()));
            self.row.sets.iter().for_each(|set| encode_set(set, &mut out));
        }
        out
    }

    pub fn decode(shape: &Shape, number: u32, bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader(bytes);
        let flags = reader.take(1)?[0];
        let (first, members, sites) =
            if flags & SEVERAL > 0 { (reader.u32()?, reader.u32()?, reader.u32()?) } else { (number, 1, 1) };
        let site = if shape.sited() { reader.u64()? } else { 0 };
        let active = flags & ACTIVE > 0;
        let mut row = Row::default();
        if active {
            let words = reader.take(8 * shape.words())?;
            row.words = words.chunks_exact(8).map(word).collect();
            row.sets = (0..shape.sets()).map(|_| decode_set(&mut reader)).collect::<Option<_>>()?;
        }
        reader.0.is_empty().then(|| SetRecord { active, first, members, sites, site, row: Arc::new(row) })
    }
}

fn word(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes.try_into().expect("eight bytes"))
}

/// An ascending set: how many numbers, and the steps between them, in as many bytes each as the largest needs.
fn encode_set(set: &[u64], out: &mut Vec<u8>) {
    let steps =
        || set.iter().scan(0, |before, &value| Some(value.wrapping_sub(std::mem::replace(before, value))));
    let bytes = steps().map(|step| 8 - step.leading_zeros() as usize / 8).max().unwrap_or(0);
    out.extend_from_slice(&(set.len() as u32).to_le_bytes());
    out.push(bytes as u8);
    steps().for_each(|step: u64| out.extend_from_slice(&step.to_le_bytes()[..bytes]));
}

fn decode_set(reader: &mut Reader<'_>) -> Option<Vec<u64>> {
    let count = reader.u32()? as usize;
    let bytes = usize::from(reader.take(1)?[0]);
    if bytes > 8 {
        return None;
    }
    let packed = reader.take(count.checked_mul(bytes)?)?;
    let mut values = Vec::with_capacity(if bytes == 0 { 0 } else { count });
    let mut value = 0u64;
    // A set of no bytes a step is empty, or holds only 0.
    if bytes == 0 {
        return (count <= 1).then(|| vec![0; count]);
    }
    for step in packed.chunks_exact(bytes) {
        let mut whole = [0; 8];
        whole[..bytes].copy_from_slice(step);
        value = value.wrapping_add(u64::from_le_bytes(whole));
        values.push(value);
    }
    Some(values)
}

/// Takes bytes off the front; never more than there are.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn u32(&mut self) -> Option<u32> {
        self.take(4).map(|bytes| u32::from_le_bytes(bytes.try_into().expect("four bytes")))
    }

    fn u64(&mut self) -> Option<u64> {
        self.take(8).map(word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use neardup_core::rules::{Columns, Plan};
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn shape(widths: Vec<usize>, sets: usize, sited: bool) -> Shape {
        let between = if sited { "same-site" } else { "any" };
        let rule = format!("columns(0) {between} columns(0,1)").parse().unwrap();
        Shape { plan: Plan::new(Columns { widths, sets }, vec![rule]).unwrap(), most: 10 }
    }

    proptest! {
        #[test]
        fn records_come_back(
            words in proptest::collection::vec(any::<u64>(), 3),
            set: BTreeSet<u64>, few in proptest::collection::btree_set(0u64..3, 0..3),
            sited: bool, active: bool, first: u32, members in 1u32..9, site: u64, number: u32,
            time in -(1i64 << 37)..1 << 37, id: Vec<u8>, joined: bool,
        ) {
            let shape = shape(vec![2, 1], 2, sited);
            let site = if sited { site } else { 0 };
            let row = Row { words, sets: vec![set.into_iter().collect(), few.into_iter().collect()] };
            let row = Arc::new(if active { row } else { Row::default() });
            let made = SetRecord { active, first, members, sites: members, site, row };
            prop_assert_eq!(SetRecord::decode(&shape, number, &made.encode(&shape, number)), Some(made));
            let joined = joined && first != number;
            let (set, site) = if joined { (first, site) } else { (number, 0) };
            let page = PageRecord { set, time, site, id };
            prop_assert_eq!(PageRecord::decode(&shape, number, &page.encode(&shape, number)), Some(page));
        }

        #[test]
        fn any_bytes_are_a_record_or_none(bytes: Vec<u8>, sited: bool) {
            let shape = shape(vec![1], 1, sited);
            let _ = SetRecord::decode(&shape, 7, &bytes);
            let _ = PageRecord::decode(&shape, 7, &bytes);
        }
    }
}
