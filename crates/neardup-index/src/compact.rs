//! Making room: what points to pages that are gone is dropped, short lists are packed, and the tables' files are merged.

use std::collections::BTreeMap;

use fjall::{Keyspace, Readable};

use crate::chain::Batch;
use crate::changes::Changes;
use crate::error::{Result, damaged};
use crate::finding::{each_number, tail};
use crate::index::Index;
use crate::lookup::{KEY_BYTES, Tail, bytes, chunk_key, keys};
use crate::packed::{FEW, Packed, Place, pack};
use crate::records::SetRecord;
use crate::store::{Sync, View, number, request_of};
use crate::upkeep::{AT_ONCE, Present, big};

/// Entries that are written in one commit; a long one counts for several.
const REWRITTEN: usize = 100_000;
const ENTRY_BYTES: usize = 64;

impl Index {
    /// Drops what points to pages that are gone and requests from before a time, packs keys, merges the tables' files
    /// and empties the journal. Stopped at any moment, it leaves an index that answers as before, and can be begun anew.
    pub fn compact(&self, requests_before: i64) -> Result<()> {
        let lock = self.alone()?;
        let view = self.tables.view();
        let mut counts = view.counts()?;
        let present = self.present(&view, counts)?;
        drop(view);
        counts.full_keys = self.pack(&present)?;
        let view = self.tables.view();
        let mut batch = Batched::new(self);
        for entry in view.snapshot.iter(&self.tables.identities) {
            let (key, value) = entry.into_inner()?;
            if !present.has(number(&value)?) {
                batch.remove(&self.tables.identities, &key);
                batch.settle()?;
            }
        }
        for table in [&self.tables.members, &self.tables.sites] {
            for entry in view.snapshot.iter(table) {
                let key = entry.key()?;
                if !present.has(big(&key)?) {
                    batch.remove(table, &key);
                    batch.settle()?;
                }
            }
        }
        for entry in view.snapshot.iter(&self.tables.requests) {
            let (key, value) = entry.into_inner()?;
            if request_of(&value)?.0 < requests_before {
                batch.remove(&self.tables.requests, &key);
                batch.settle()?;
            }
        }
        self.tables.put_counts(&mut batch.batch, counts);
        batch.flush()?;
        drop((view, lock));
        self.list_again()?;
        for (_, table) in self.tables.all() {
            self.tables.settle(table)?;
        }
        self.tables.empty_journal()
    }

    /// Packs short lists, and drops from all lists the sets that are gone; returns how many lists are full.
    fn pack(&self, present: &Present) -> Result<u64> {
        let mut full = 0;
        let mut next = Some(Place::FIRST);
        while let Some(place) = next {
            // What is written while a view is open stays in memory, even when it has become a file.
            let view = self.tables.view();
            let mut batch = Batched::new(self);
            let mut packing = Packing::new(self, &view, present, place)?;
            next = packing.run(&mut batch)?;
            full += packing.full;
            drop(view);
            batch.flush()?;
        }
        Ok(full)
    }

    /// Lists the sets that full keys had left out, where there is room now.
    fn list_again(&self) -> Result<()> {
        let mut start = 0;
        loop {
            let next = self.writing(|view| {
                let mut changes = Changes::new(view, self.shape())?;
                if start == 0 {
                    if changes.counts.left_out == 0 {
                        return Ok(None);
                    }
                    changes.counts.left_out = 0;
                }
                let mut next = None;
                for (at, entry) in
                    view.snapshot.range(&self.tables.sets, u32::to_be_bytes(start)..).enumerate()
                {
                    let (key, value) = entry.into_inner()?;
                    let set = big(&key)?;
                    if at == AT_ONCE {
                        next = Some(set);
                        break;
                    }
                    let record = SetRecord::decode(self.shape(), set, &value);
                    let record = record.ok_or_else(|| damaged("a record cannot be read"))?;
                    if record.active {
                        self.list_set_again(view, &mut changes, set, &record)?;
                    }
                }
                self.commit(changes)?;
                Ok(next)
            })?;
            match next {
                Some(set) => start = set,
                None => return Ok(()),
            }
        }
    }

    fn list_set_again(
        &self,
        view: &View<'_>,
        changes: &mut Changes<'_>,
        set: u32,
        record: &SetRecord,
    ) -> Result<()> {
        let mut sites = vec![record.site];
        if record.several(set) {
            for entry in view.snapshot.prefix(&self.tables.sites, set.to_be_bytes()) {
                let key = entry.key()?;
                let site = key.get(4..).and_then(|bytes| bytes.try_into().ok()).map(u64::from_be_bytes);
                sites.extend(site.filter(|&site| site != record.site));
            }
        }
        for (at, &site) in sites.iter().enumerate() {
            for key in keys(self.shape(), &record.row, site, at > 0) {
                let tail = tail(view, key.hash)?;
                let mut found = false;
                if let Some(tail) = &tail {
                    each_number(view, key.hash, tail, &mut |listed| found |= listed == set)?;
                }
                if !found {
                    changes.list(key.hash, set, tail.as_ref());
                }
            }
        }
        Ok(())
    }
}

/// Goes through the keys and what is packed of them, place by place.
struct Packing<'a> {
    index: &'a Index,
    view: &'a View<'a>,
    present: &'a Present,
    keys: fjall::Iter,
    /// What is packed and was not come to yet, the next of it apart.
    packed: fjall::Iter,
    next: Option<(Place, fjall::UserValue)>,
    /// Lists that have as many numbers as a list may.
    full: u64,
}

/// What keys of one place say by themselves: the list that is to be packed, empty if none is.
type Said = BTreeMap<u32, Vec<u32>>;

impl<'a> Packing<'a> {
    fn new(index: &'a Index, view: &'a View<'a>, present: &'a Present, from: Place) -> Result<Self> {
        let keys = view.snapshot.range(&index.tables.keys, bytes(from.first_key())..);
        let packed = view.snapshot.range(&index.tables.packed, from.bytes()..);
        let mut packing = Packing { index, view, present, keys, packed, next: None, full: 0 };
        packing.advance()?;
        Ok(packing)
    }

    fn advance(&mut self) -> Result<()> {
        self.next = match self.packed.next() {
            None => None,
            Some(entry) => {
                let (key, value) = entry.into_inner()?;
                let place = Place::from_bytes(&key).ok_or_else(|| damaged("keys are packed nowhere"))?;
                Some((place, value))
            }
        };
        Ok(())
    }

    /// Packs until enough was changed; returns the place to go on from, if not all is done.
    fn run(&mut self, batch: &mut Batched<'_>) -> Result<Option<Place>> {
        let mut here: Option<(Place, Said)> = None;
        while let Some(entry) = self.keys.next() {
            let (key, value) = entry.into_inner()?;
            if key.len() != KEY_BYTES {
                continue;
            }
            let hash = key.iter().fold(0, |hash, &byte| hash << 8 | u64::from(byte));
            let (place, rest) = Place::of(hash);
            if here.as_ref().is_none_or(|(last, _)| *last != place) {
                if let Some((last, said)) = here.take() {
                    self.finish(last, said, batch)?;
                }
                if let Some(later) = self.pass(place, batch)? {
                    return Ok(Some(later));
                }
            }
            let tail = Tail::decode(&value).ok_or_else(|| damaged("the list of a key cannot be read"))?;
            let few = self.shorten(hash, &tail, batch)?;
            here.get_or_insert_with(|| (place, Said::new())).1.insert(rest, few);
        }
        if let Some((last, said)) = here {
            self.finish(last, said, batch)?;
        }
        self.pass(Place::END, batch)
    }

    /// Goes on to a place, through those where only packed keys stand; returns where it stopped, if enough was changed.
    fn pass(&mut self, to: Place, batch: &mut Batched<'_>) -> Result<Option<Place>> {
        loop {
            let next = self.next.as_ref().map_or(Place::END, |(next, _)| *next).min(to);
            if batch.is_large() && next < Place::END {
                return Ok(Some(next));
            }
            if next == to {
                return Ok(None);
            }
            self.finish(next, Said::new(), batch)?;
        }
    }

    /// Writes a list without the sets that are gone; if few are left, they are taken out and returned.
    fn shorten(&mut self, hash: u64, tail: &Tail, batch: &mut Batched<'_>) -> Result<Vec<u32>> {
        let table = &self.index.tables.keys;
        let mut numbers = Vec::new();
        each_number(self.view, hash, tail, &mut |set| numbers.push(set))?;
        numbers.retain(|&set| self.present.has(set));
        let mut made = Tail::default();
        let long = numbers.len() > FEW;
        if long {
            self.full += u64::from(numbers.len() >= self.index.shape().most);
            if numbers.len() == tail.length() {
                return Ok(Vec::new());
            }
            for &set in &numbers {
                if let Some((chunk, full)) = made.push(set) {
                    batch.insert(table, &chunk_key(hash, chunk), full);
                }
            }
            batch.insert(table, &bytes(hash), made.encode());
        } else {
            batch.remove(table, &bytes(hash));
        }
        for chunk in made.chunks..tail.chunks {
            batch.remove(table, &chunk_key(hash, chunk));
        }
        Ok(if long { Vec::new() } else { numbers })
    }

    /// Packs the lists of keys of a place, and what was packed there. A list leaves its table and is packed in the same
    /// commit.
    fn finish(&mut self, place: Place, mut lists: Said, batch: &mut Batched<'_>) -> Result<()> {
        let mut known = None;
        if let Some((_, value)) = self.next.take_if(|(next, _)| *next == place) {
            let entries = Packed::new(&value).collect::<Option<Vec<_>>>();
            let entries = entries.ok_or_else(|| damaged("packed keys cannot be read"))?;
            for same in entries.chunk_by(|a, b| a.0 == b.0) {
                let sets = || same.iter().map(|entry| entry.1).filter(|&set| self.present.has(set)).collect();
                // What a key says by itself is newer.
                lists.entry(same[0].0).or_insert_with(sets);
            }
            known = Some(value);
            self.advance()?;
        }
        let most = self.index.shape().most;
        self.full += lists.values().filter(|list| list.len() >= most).count() as u64;
        let entries: Vec<(u32, u32)> =
            lists.into_iter().flat_map(|(rest, list)| list.into_iter().map(move |set| (rest, set))).collect();
        let table = &self.index.tables.packed;
        if entries.is_empty() {
            if known.is_some() {
                batch.remove(table, &place.bytes());
            }
        } else {
            let made = pack(&entries);
            if known.is_none_or(|known| known[..] != made) {
                batch.insert(table, &place.bytes(), made);
            }
        }
        Ok(())
    }
}

/// Writes in commits of a bounded size.
struct Batched<'a> {
    index: &'a Index,
    batch: Batch<'a>,
    held: usize,
}

impl<'a> Batched<'a> {
    fn new(index: &'a Index) -> Self {
        Batched { index, batch: index.tables.batch(0, Sync::Commit), held: 0 }
    }

    fn insert(&mut self, table: &Keyspace, key: &[u8], value: Vec<u8>) {
        self.held += 1 + value.len() / ENTRY_BYTES;
        self.batch.insert(table, key, value);
    }

    fn remove(&mut self, table: &Keyspace, key: &[u8]) {
        self.batch.remove(table, key);
        self.held += 1;
    }

    /// Commits if enough is held; never between writes that belong together.
    fn settle(&mut self) -> Result<()> {
        if self.is_large() { self.flush() } else { Ok(()) }
    }

    fn is_large(&self) -> bool {
        self.held >= REWRITTEN
    }

    fn flush(&mut self) -> Result<()> {
        let fresh = self.index.tables.batch(0, Sync::Commit);
        std::mem::replace(&mut self.batch, fresh).commit()?;
        self.index.tables.ease_and_wait()?;
        self.held = 0;
        Ok(())
    }
}
