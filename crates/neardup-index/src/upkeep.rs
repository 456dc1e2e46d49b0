//! Looking after an index: taking pages out, forgetting old ones, checking it, copying it while it is used.

use std::path::Path;

use fjall::Readable;
use rayon::prelude::*;

use crate::chain::Note;
use crate::changes::{Changes, id_key};
use crate::error::{Damage, Error, Result, damaged, refused};
use crate::files;
use crate::finding::each_number;
use crate::guard::guarded;
use crate::index::Index;
use crate::journal::journals;
use crate::locked;
use crate::looking::tails;
use crate::lookup::{CHUNK, KEY_BYTES, Key, Tail, keys};
use crate::packed::{Packed, Place};
use crate::records::{PageRecord, SetRecord};
use crate::shape::Shape;
use crate::store::{Counts, Memory, Sync, Tables, View, number};

/// Pages, or sets, that are worked on in one commit.
pub(crate) const AT_ONCE: usize = 10_000;

/// What a check found; empty complaints mean that all is well.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    pub pages: u64,
    pub sets: u64,
    pub keys: u64,
    pub complaints: Vec<String>,
}

/// Verifies an index that nobody has open, without changing anything of it: its files as they are, and what is in them
/// through a folder that stands in for it, at a place where there is nothing yet.
pub fn verify_folder(tables: &Path, shape: Shape, memory: Memory, place: &Path) -> Result<Checked> {
    let damage = |damage: Damage| Checked { complaints: vec![damage.to_string()], ..Checked::default() };
    let (_note, acknowledged) = match Note::open(tables, false) {
        Err(Error::Damaged(what)) => return Ok(damage(what)),
        opened => opened?,
    };
    let checked =
        files::check_descriptions(tables).and_then(|()| files::read_journal(tables, acknowledged).map(drop));
    match checked {
        Err(Error::Damaged(what)) => return Ok(damage(what)),
        checked => checked?,
    }
    let complaints = files::check_tables(tables)?;
    if !complaints.is_empty() {
        return Ok(Checked { complaints, ..Checked::default() });
    }
    files::stand_in(tables, place)?;
    match guarded(|| Index::open(place, shape, Sync::System, memory)?.verify_contents()) {
        Err(Error::Damaged(what)) => Ok(damage(what)),
        checked => checked,
    }
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
pub(crate) struct Present(Vec<u64>);

impl Present {
    fn new(next: u32) -> Self {
        Present(vec![0; next as usize / 64 + 1])
    }

    fn add(&mut self, number: u32) -> bool {
        let Some(word) = self.0.get_mut(number as usize / 64) else { return false };
        *word |= 1 << (number % 64);
        true
    }

    pub(crate) fn has(&self, number: u32) -> bool {
        self.0.get(number as usize / 64).is_some_and(|word| word >> (number % 64) & 1 == 1)
    }
}

/// The number that a key begins with.
pub(crate) fn big(bytes: &[u8]) -> Result<u32> {
    let number = bytes.get(..4).and_then(|bytes| bytes.try_into().ok()).map(u32::from_be_bytes);
    number.ok_or_else(|| damaged("a key is too short"))
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
        let (mut expired, mut next) = (0, Some(0));
        while let Some(start) = next {
            next = self.writing(|view| {
                let mut changes = Changes::new(view, self.shape())?;
                let mut removed = 0;
                let mut later = None;
                for entry in view.snapshot.range(&self.tables.pages, u32::to_be_bytes(start)..) {
                    view.count_entry();
                    let (key, value) = entry.into_inner()?;
                    let page = big(&key)?;
                    if removed == AT_ONCE {
                        later = Some(page);
                        break;
                    }
                    let record = PageRecord::decode(self.shape(), page, &value);
                    if record.is_some_and(|record| record.time < before) {
                        changes.remove(page)?;
                        removed += 1;
                    }
                }
                if removed > 0 {
                    self.commit(changes)?;
                }
                expired += removed as u64;
                Ok(later)
            })?;
        }
        Ok(expired)
    }

    /// Every id that is there, in order of addition, until `each` has enough.
    pub fn ids(&self, mut each: impl FnMut(Vec<u8>) -> bool) -> Result<()> {
        let view = self.tables.view();
        for entry in view.snapshot.iter(&self.tables.pages) {
            let (key, value) = entry.into_inner()?;
            let page = PageRecord::decode(self.shape(), big(&key)?, &value);
            let page = page.ok_or_else(|| damaged("the record of a page cannot be read"))?;
            if !each(page.id) {
                break;
            }
        }
        Ok(())
    }

    pub(crate) fn present(&self, view: &View<'_>, counts: Counts) -> Result<Present> {
        let mut present = Present::new(counts.next);
        for entry in view.snapshot.iter(&self.tables.sets) {
            if !present.add(big(&entry.key()?)?) {
                return Err(damaged("an identity set has a number that was never given"));
            }
        }
        Ok(present)
    }

    /// Reads everything, compares checksums and looks whether it fits together; changes nothing.
    pub fn verify(&self) -> Result<Checked> {
        let complaints = self.check_files()?;
        if complaints.is_empty() {
            self.verify_contents()
        } else {
            Ok(Checked { complaints, ..Checked::default() })
        }
    }

    /// What is damaged of the files as they are now.
    fn check_files(&self) -> Result<Vec<String>> {
        let folder = &self.tables.folder;
        // Nobody commits as long as this is held.
        let next = locked(&self.tables.next);
        let journal = loop {
            let before = journals(folder)?;
            match files::read_journal(folder, 0) {
                Ok(journal) => break journal,
                Err(Error::Damaged(damage)) => return Ok(vec![damage.to_string()]),
                // One that was emptied is deleted in the background.
                Err(error) if journals(folder)?.len() == before.len() => return Err(error),
                Err(_) => {}
            }
        };
        let ends_so = journal.last.is_none_or(|last| last.next().number == next.number);
        drop(next);
        if !ends_so || journal.torn.is_some() {
            return Ok(vec!["the journal does not hold what was committed last".to_owned()]);
        }
        files::check_tables(folder)
    }

    fn verify_contents(&self) -> Result<Checked> {
        let view = self.tables.view();
        let counts = view.counts()?;
        let present = self.present(&view, counts)?;
        let mut checked = Checked::default();
        for entry in view.snapshot.iter(&self.tables.pages) {
            let (key, value) = entry.into_inner()?;
            let page = big(&key)?;
            checked.pages += 1;
            match PageRecord::decode(self.shape(), page, &value) {
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
        for entry in view.snapshot.iter(&self.tables.packed) {
            let (key, value) = entry.into_inner()?;
            let entries = Packed::new(&value).collect::<Option<Vec<_>>>().unwrap_or_default();
            let fits = entries.iter().all(|&(_, set)| set < counts.next) && Place::from_bytes(&key).is_some();
            if entries.is_empty() || !fits {
                checked.complain("packed keys cannot be read".to_owned());
            }
            checked.keys += entries.chunk_by(|a, b| a.0 == b.0).count() as u64;
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
            for set in self.not_listed(view, &std::mem::take(waiting))? {
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

    /// Those of some sets that are missing under a key of theirs.
    fn not_listed(&self, view: &View<'_>, sets: &[(u32, SetRecord)]) -> Result<Vec<u32>> {
        let keys_of = |(_, record): &(u32, SetRecord)| match record.active {
            true => keys(self.shape(), &record.row, record.site, false),
            false => Vec::new(),
        };
        let keys: Vec<Vec<Key>> = sets.par_iter().map(keys_of).collect();
        let tails = match tails(view, &keys) {
            Ok(tails) => tails,
            // Lists that cannot be read are complained of where lists are.
            Err(Error::Damaged(_)) => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let missing = sets.par_iter().zip(keys.par_iter().zip(&tails)).map(|((set, _), (keys, tails))| {
            for (key, tail) in keys.iter().zip(tails) {
                let Some(tail) = tail else { return Ok(Some(*set)) };
                let mut found = tail.length() >= self.shape().most;
                each_number(view, key.hash, tail, &mut |listed| found |= listed == *set)?;
                if !found {
                    return Ok(Some(*set));
                }
            }
            Ok(None)
        });
        Ok(missing.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
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
        copy.database.persist(fjall::PersistMode::SyncAll).map_err(refused)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::group::OnePage;
    use crate::testing::{folder, open, open_with, page};

    #[test]
    fn a_set_that_a_key_does_not_list_is_noticed() {
        for compacted in [false, true] {
            let folder = tempfile::tempdir().unwrap();
            let index = open(folder.path());
            for number in 0..20 {
                index.add_one(page(number, [number, 100 + number, 0])).unwrap();
            }
            if compacted {
                index.compact(0).unwrap();
            }
            let sound = index.verify().unwrap();
            assert_eq!((sound.keys, sound.complaints.len()), (40, 0));
            let table = if compacted { &index.tables.packed } else { &index.tables.keys };
            let first = index.tables.view().snapshot.iter(table).next().unwrap().key().unwrap();
            let mut batch = index.tables.batch(1, Sync::Commit);
            batch.remove(table, first);
            batch.commit().unwrap();
            let told = index.verify().unwrap().complaints;
            assert_eq!(told.len(), 1, "{told:?}");
            assert!(told[0].ends_with("is not listed under one of its keys"), "{told:?}");
        }
    }

    /// Entries that are read by what is done with an index to which so many pages were added.
    fn entries_read(pages: Vec<OnePage>, work: impl FnOnce(&Index)) -> u64 {
        let folder = folder();
        let index = open_with(folder.path(), Sync::System, 1 << 20);
        index.add_pages(pages).unwrap();
        let read = || index.tables.entries_read.load(std::sync::atomic::Ordering::Relaxed);
        let before = read();
        work(&index);
        read() - before
    }

    fn copies(count: u64) -> Vec<OnePage> {
        let one = |number| OnePage { identity: Some(7), time: number as i64, ..page(number, [1, 2, 3]) };
        (0..count).map(one).collect()
    }

    #[test]
    fn taking_copies_out_is_linear_in_the_copies() {
        let removed = |count: u64| {
            entries_read(copies(count), |index| {
                let ids: Vec<Vec<u8>> = (0..count).map(|number| number.to_string().into_bytes()).collect();
                let ids: Vec<&[u8]> = ids.iter().map(|id| &id[..]).collect();
                assert!(index.remove(&ids).unwrap().into_iter().all(|there| there));
            })
        };
        // The first half only, so that the first member changes each time and copies are left.
        let expired = |count: u64| {
            entries_read(copies(count), |index| {
                assert_eq!(index.expire(count as i64 / 2).unwrap(), count / 2)
            })
        };
        for (name, some, more) in
            [("removed", removed(300), removed(3000)), ("expired", expired(300), expired(3000))]
        {
            assert!(more <= 11 * some, "{name}: {some} entries of 300 copies, {more} of 3,000");
        }
    }

    #[test]
    fn near_copies_cost_what_lists_and_answers_are_bounded_by() {
        let folder = folder();
        let index = open_with(folder.path(), Sync::System, 1 << 20).with_most_matches(5);
        let near = |from: u64| (from..from + 50).map(|number| page(number, [1, 1000 + number, 0])).collect();
        let read = || index.tables.entries_read.load(std::sync::atomic::Ordering::Relaxed);
        let most = index.shape().most as u64;
        let mut costs = Vec::new();
        for round in 0..20 {
            let before = read();
            let answers = index.add_pages(near(50 * round)).unwrap();
            costs.push(read() - before);
            assert!(answers.iter().all(|answer| answer.matches.len() <= 5));
        }
        // A key lists as many pages as it may after two rounds: from then on every round reads as much as the one before,
        // for each page those that are listed, and of the best the names.
        assert!(costs[2..].iter().all(|&cost| cost == costs[2]), "{costs:?}");
        assert!(costs[2] <= 50 * (most + 5 + 20), "{costs:?}");
    }
}
