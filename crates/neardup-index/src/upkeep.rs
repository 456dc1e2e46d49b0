//! Looking after an index: taking pages out, forgetting old ones, making room, checking it, copying it while it is used.

use std::path::Path;

use fjall::{Keyspace, Readable};
use rayon::prelude::*;

use crate::changes::{Changes, id_key};
use crate::finding::each_number;
use crate::index::Index;
use crate::lookup::{CHUNK, KEY_BYTES, Tail, bytes, chunk_key, keys};
use crate::records::{PageRecord, SetRecord};
use crate::store::{Counts, Error, Memory, Result, Tables, View, number};

/// Pages that are taken out in one commit.
const AT_ONCE: usize = 10_000;
/// Entries that are written in one commit while room is made.
const REWRITTEN: usize = 100_000;

/// What a check found; empty complaints mean that all is well.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    pub pages: u64,
    pub sets: u64,
    pub keys: u64,
    pub complaints: Vec<String>,
}

/// Complaints that are told; more say nothing new.
const COMPLAINTS: usize = 20;

impl Checked {
    fn complain(&mut self, what: String) {
        if self.complaints.len() < COMPLAINTS {
            self.complaints.push(what);
        }
    }
}

/// Which numbers are there.
struct Present(Vec<u64>);

impl Present {
    fn new(next: u32) -> Self {
        Present(vec![0; next as usize / 64 + 1])
    }

    fn add(&mut self, number: u32) -> bool {
        let Some(word) = self.0.get_mut(number as usize / 64) else { return false };
        *word |= 1 << (number % 64);
        true
    }

    fn has(&self, number: u32) -> bool {
        self.0.get(number as usize / 64).is_some_and(|word| word >> (number % 64) & 1 == 1)
    }
}

fn big(bytes: &[u8]) -> Result<u32> {
    let number = bytes.get(..4).and_then(|bytes| bytes.try_into().ok()).map(u32::from_be_bytes);
    number.ok_or_else(|| Error::Damaged("a key is too short".to_owned()))
}

impl Index {
    /// Takes pages out by their ids; says of each whether it was there.
    pub fn remove(&self, ids: &[&[u8]]) -> Result<Vec<bool>> {
        let mut there = Vec::with_capacity(ids.len());
        for some in ids.chunks(AT_ONCE) {
            self.writing(|view| {
                let mut changes = Changes::new(view, self.shape())?;
                for id in some {
                    let page = changes.page_of(id, false)?;
                    there.push(page.is_some());
                    if let Some(page) = page {
                        changes.remove(page)?;
                    }
                }
                if !changes.is_empty() {
                    self.commit(changes)?;
                }
                Ok(())
            })?;
        }
        Ok(there)
    }

    /// Takes out all pages of a time before this one; says how many.
    pub fn expire(&self, before: i64) -> Result<u64> {
        let mut expired = 0;
        loop {
            let taken = self.writing(|view| {
                let mut changes = Changes::new(view, self.shape())?;
                let mut taken = 0;
                for entry in view.snapshot.iter(&self.tables.pages) {
                    let (key, value) = entry.into_inner()?;
                    let page = PageRecord::decode(self.shape(), &value);
                    if page.is_some_and(|page| page.time < before) {
                        changes.remove(big(&key)?)?;
                        taken += 1;
                    }
                    if taken == AT_ONCE {
                        break;
                    }
                }
                if taken > 0 {
                    self.commit(changes)?;
                }
                Ok(taken)
            })?;
            expired += taken as u64;
            if taken < AT_ONCE {
                return Ok(expired);
            }
        }
    }

    /// Every id that is there, in order of addition, until `each` has enough.
    pub fn ids(&self, mut each: impl FnMut(Vec<u8>) -> bool) -> Result<()> {
        let view = self.tables.view();
        for entry in view.snapshot.iter(&self.tables.pages) {
            let (_, value) = entry.into_inner()?;
            let page = PageRecord::decode(self.shape(), &value);
            let page =
                page.ok_or_else(|| Error::Damaged("the record of a page cannot be read".to_owned()))?;
            if !each(page.id) {
                break;
            }
        }
        Ok(())
    }

    /// Drops what points to pages that are gone and requests from before a time, and merges the tables' files.
    pub fn compact(&self, requests_before: i64) -> Result<()> {
        self.writing(|view| {
            let mut counts = view.counts()?;
            let present = self.present(view, counts)?;
            counts.full_keys = 0;
            let mut batch =
                Batched { index: self, batch: self.tables.batch(0, crate::store::Sync::Commit), held: 0 };
            for entry in view.snapshot.iter(&self.tables.keys) {
                let (key, value) = entry.into_inner()?;
                if key.len() != KEY_BYTES {
                    continue;
                }
                let hash = key.iter().fold(0, |hash, &byte| hash << 8 | u64::from(byte));
                let tail = Tail::decode(&value);
                let tail =
                    tail.ok_or_else(|| Error::Damaged("the list of a key cannot be read".to_owned()))?;
                counts.full_keys += self.shorten(view, hash, &tail, &present, &mut batch)?;
                batch.settle()?;
            }
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
                let time = value[..].try_into().map_or(i64::MIN, i64::from_le_bytes);
                if time < requests_before {
                    batch.remove(&self.tables.requests, &key);
                    batch.settle()?;
                }
            }
            self.tables.put_counts(&mut batch.batch, counts);
            batch.flush()
        })?;
        self.list_again()?;
        for (_, table) in self.tables.all() {
            table.rotate_memtable_and_wait()?;
            table.major_compact()?;
        }
        Ok(())
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
                    let record =
                        record.ok_or_else(|| Error::Damaged("a record cannot be read".to_owned()))?;
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
                let tail = match view.get(&self.tables.keys, &key.bytes())? {
                    None => None,
                    Some(value) => Tail::decode(&value),
                };
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

    /// A list without the sets that are gone; 1 if it is still full.
    fn shorten(
        &self,
        view: &View<'_>,
        hash: u64,
        tail: &Tail,
        present: &Present,
        batch: &mut Batched<'_>,
    ) -> Result<u64> {
        let mut numbers = Vec::new();
        each_number(view, hash, tail, &mut |set| numbers.push(set))?;
        numbers.retain(|&set| present.has(set));
        if numbers.len() < tail.length() {
            let mut made = Tail::default();
            for &set in &numbers {
                if let Some((chunk, full)) = made.push(set) {
                    batch.insert(&self.tables.keys, &chunk_key(hash, chunk), full);
                }
            }
            for chunk in made.chunks..tail.chunks {
                batch.remove(&self.tables.keys, &chunk_key(hash, chunk));
            }
            if numbers.is_empty() {
                batch.remove(&self.tables.keys, &bytes(hash));
            } else {
                batch.insert(&self.tables.keys, &bytes(hash), made.encode());
            }
        }
        Ok(u64::from(numbers.len() >= self.shape().most))
    }

    fn present(&self, view: &View<'_>, counts: Counts) -> Result<Present> {
        let mut present = Present::new(counts.next);
        for entry in view.snapshot.iter(&self.tables.sets) {
            if !present.add(big(&entry.key()?)?) {
                return Err(Error::Damaged("an identity set has a number that was never given".to_owned()));
            }
        }
        Ok(present)
    }

    /// Reads everything (which compares checksums) and looks whether it fits together.
    pub fn verify(&self) -> Result<Checked> {
        let view = self.tables.view();
        let counts = view.counts()?;
        let present = self.present(&view, counts)?;
        let mut checked = Checked::default();
        for entry in view.snapshot.iter(&self.tables.pages) {
            let (key, value) = entry.into_inner()?;
            let page = big(&key)?;
            checked.pages += 1;
            match PageRecord::decode(self.shape(), &value) {
                None => checked.complain(format!("the record of page {page} cannot be read")),
                Some(record) => {
                    if !present.has(record.set) {
                        checked.complain(format!("page {page} has no identity set"));
                    }
                    let first = view.get(&self.tables.ids, &id_key(&record.id, 0))?;
                    if first.is_none() {
                        checked.complain(format!("page {page} is not found by its id"));
                    }
                }
            }
        }
        for entry in view.snapshot.iter(&self.tables.keys) {
            let (key, value) = entry.into_inner()?;
            checked.keys += u64::from(key.len() == KEY_BYTES);
            let fits = match key.len() {
                KEY_BYTES => Tail::decode(&value).is_some_and(|tail| tail.numbers.len() < CHUNK),
                length => length == KEY_BYTES + 4 && value.len() == 4 * CHUNK,
            };
            if !fits {
                checked.complain("the list of a key cannot be read".to_owned());
            }
        }
        checked.sets = self.verify_sets(&view, counts, &mut checked)?;
        for (table, name) in [(&self.tables.identities, "an identity"), (&self.tables.ids, "an id")] {
            for entry in view.snapshot.iter(table) {
                let (_, value) = entry.into_inner()?;
                if number(&value)? >= counts.next {
                    checked.complain(format!("{name} points to a page that was never added"));
                }
            }
        }
        if (checked.pages, checked.sets) != (counts.pages, counts.sets) {
            checked.complain(format!(
                "{} pages in {} identity sets are there, {} and {} were counted",
                checked.pages, checked.sets, counts.pages, counts.sets
            ));
        }
        Ok(checked)
    }

    /// Every set is listed under all its keys, unless those are full.
    fn verify_sets(&self, view: &View<'_>, counts: Counts, checked: &mut Checked) -> Result<u64> {
        let mut waiting: Vec<(u32, SetRecord)> = Vec::new();
        let mut sets = 0;
        let look = |waiting: &mut Vec<(u32, SetRecord)>, checked: &mut Checked| -> Result<()> {
            let missing: Vec<u32> = std::mem::take(waiting)
                .into_par_iter()
                .map(|(set, record)| Ok((set, self.is_listed(view, set, &record)?)))
                .filter_map(|listed: Result<(u32, bool)>| match listed {
                    Ok((_, true)) => None,
                    Ok((set, false)) => Some(Ok(set)),
                    Err(error) => Some(Err(error)),
                })
                .collect::<Result<_>>()?;
            for set in missing {
                checked.complain(format!("identity set {set} is not listed under one of its keys"));
            }
            Ok(())
        };
        for entry in view.snapshot.iter(&self.tables.sets) {
            let (key, value) = entry.into_inner()?;
            let set = big(&key)?;
            sets += 1;
            match SetRecord::decode(self.shape(), set, &value) {
                Some(record) if record.first < counts.next && record.members > 0 => {
                    waiting.push((set, record))
                }
                _ => checked.complain(format!("the record of identity set {set} cannot be read")),
            }
            if waiting.len() == AT_ONCE {
                look(&mut waiting, checked)?;
            }
        }
        look(&mut waiting, checked)?;
        Ok(sets)
    }

    fn is_listed(&self, view: &View<'_>, set: u32, record: &SetRecord) -> Result<bool> {
        if !record.active {
            return Ok(true);
        }
        for key in keys(self.shape(), &record.row, record.site, false) {
            let Some(value) = view.get(&self.tables.keys, &key.bytes())? else { return Ok(false) };
            let Some(tail) = Tail::decode(&value) else { return Ok(false) };
            let mut found = tail.length() >= self.shape().most;
            each_number(view, key.hash, &tail, &mut |listed| found |= listed == set)?;
            if !found {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Copies the state of this moment into an empty folder, while others read and write.
    pub fn backup(&self, folder: &Path) -> Result<()> {
        let view = self.tables.view();
        let copy = Tables::open(folder, Memory { cache: 16 << 20, buffers: 16 << 20 })?;
        for ((_, from), (_, to)) in self.tables.all().into_iter().zip(copy.all()) {
            let mut ingestion = to.start_ingestion()?;
            for entry in view.snapshot.iter(from) {
                let (key, value) = entry.into_inner()?;
                ingestion.write(key, value)?;
            }
            ingestion.finish()?;
        }
        Ok(copy.database.persist(fjall::PersistMode::SyncAll)?)
    }
}

/// Writes in commits of a bounded size.
struct Batched<'a> {
    index: &'a Index,
    batch: fjall::OwnedWriteBatch,
    held: usize,
}

impl Batched<'_> {
    fn insert(&mut self, table: &Keyspace, key: &[u8], value: Vec<u8>) {
        self.batch.insert(table, key, value);
        self.held += 1;
    }

    fn remove(&mut self, table: &Keyspace, key: &[u8]) {
        self.batch.remove(table, key);
        self.held += 1;
    }

    /// Commits if enough is held; never between two writes of one list.
    fn settle(&mut self) -> Result<()> {
        if self.held >= REWRITTEN { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        let fresh = self.index.tables.batch(0, crate::store::Sync::Commit);
        std::mem::replace(&mut self.batch, fresh).commit()?;
        self.index.tables.ease()?;
        self.held = 0;
        Ok(())
    }
}
