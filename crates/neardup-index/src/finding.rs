//! Which identity sets share keys with a page, as a view of the tables tells it.

use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

use neardup_core::rules::Between;

use crate::error::{Result, damaged};
use crate::judge::Candidate;
use crate::lookup::{CHUNK, Tail, bytes, chunk_key, numbers_of};
use crate::packed::{Packed, Place};
use crate::records::SetRecord;
use crate::shape::Shape;
use crate::store::{View, pair_key};

/// A hasher for numbers that are hashes already.
#[derive(Clone, Copy, Debug, Default)]
pub struct Hashed(u64);

impl Hasher for Hashed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.write_u64(u64::from_le_bytes(word));
        }
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0.rotate_left(5) ^ number).wrapping_mul(0x517c_c1b7_2722_0a95);
    }

    fn write_u32(&mut self, number: u32) {
        self.write_u64(u64::from(number));
    }
}

pub type Map<K, V> = std::collections::HashMap<K, V, BuildHasherDefault<Hashed>>;

/// The list of a key, as far as it stands under the key itself; none if nobody has it.
pub fn tail(view: &View<'_>, hash: u64) -> Result<Option<Tail>> {
    if let Some(bytes) = view.get(&view.tables.keys, &bytes(hash))? {
        let tail = Tail::decode(&bytes);
        return Ok(Some(tail.ok_or_else(|| damaged("the list of a key cannot be read"))?));
    }
    let (place, rest) = Place::of(hash);
    let Some(bytes) = view.get(&view.tables.packed, &place.bytes())? else { return Ok(None) };
    let found = Packed::new(&bytes).find(rest).map_err(|()| damaged("packed keys cannot be read"))?;
    Ok(if found.is_empty() { None } else { Some(Tail { chunks: 0, numbers: found }) })
}

/// Shows every number of a list to `each`.
pub fn each_number(view: &View<'_>, hash: u64, tail: &Tail, each: &mut impl FnMut(u32)) -> Result<()> {
    for chunk in 0..tail.chunks {
        let bytes = view.get(&view.tables.keys, &chunk_key(hash, chunk))?;
        let bytes = bytes.filter(|bytes| bytes.len() == 4 * CHUNK);
        let bytes = bytes.ok_or_else(|| damaged("a part of the list of a key is missing"))?;
        numbers_of(&bytes).into_iter().for_each(&mut *each);
    }
    tail.numbers.iter().copied().for_each(each);
    Ok(())
}

/// Sets that share enough keys by some rule, ascending, each with those rules. `met` lists (set, rule), one entry a
/// shared key.
pub fn gather(shape: &Shape, mut met: Vec<(u32, u8)>) -> Vec<(u32, Vec<u8>)> {
    met.sort_unstable();
    let mut found: Vec<(u32, Vec<u8>)> = Vec::new();
    for same in met.chunk_by(|a, b| a == b) {
        let (set, rule) = same[0];
        if same.len() >= shape.plan.rules[usize::from(rule)].keys.lookups_needed() {
            match found.last_mut() {
                Some((last, rules)) if *last == set => rules.push(rule),
                _ => found.push((set, vec![rule])),
            }
        }
    }
    found
}

/// A set that shares keys, as the verifiers want it; `on_site` says whether the set has a member on a site.
pub fn candidate(
    shape: &Shape,
    record: &SetRecord,
    rules: Vec<u8>,
    site: u64,
    on_site: impl FnOnce() -> Result<bool>,
) -> Result<Candidate> {
    let mut sites = vec![record.site];
    if record.sites > 1 {
        // Two sites are enough to differ from any one; which the second is does not matter, unless it is the page's own.
        sites.push(if record.site == u64::MAX { 1 } else { u64::MAX });
        let asked =
            rules.iter().any(|&rule| shape.plan.rules[usize::from(rule)].between == Between::SameSite);
        if asked && site != record.site && on_site()? {
            sites.push(site);
        }
    }
    Ok(Candidate { row: Arc::clone(&record.row), rules, sites })
}

/// Whether a set has a member on a site, as it is stored.
pub fn stored_on_site(view: &View<'_>, set: u32, site: u64) -> Result<u32> {
    match view.get(&view.tables.sites, &pair_key(set, &site.to_be_bytes()))? {
        None => Ok(0),
        Some(bytes) => crate::store::number(&bytes),
    }
}
