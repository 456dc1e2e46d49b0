//! The journal, which holds what is not in the tables' files yet: how much of the disk it takes, and how it is emptied,
//! when an index is compacted, or closed after much was added.
//!
//! fjall seals a journal of more than [`SEALED`] bytes when a table becomes a file, and deletes it when every table has a
//! file with something newer. Neither happens by itself when an index has been compacted: the last journal may be shorter,
//! and a table that lost its newest entries looks as if they still had to come. So a journal that is worth it is filled up,
//! and every table gets a newest entry, which is a removal of nothing.

use std::fs::{Metadata, read_dir};
use std::path::Path;

use fjall::Keyspace;
use rayon::prelude::*;

use crate::error::Result;
use crate::store::{Sync, Tables};

/// A journal that is longer is sealed.
const SEALED: u64 = 64_000_000;
/// What fills a journal up is written in pieces of so many bytes.
const PIECE: usize = 4 << 20;
/// A journal below this is left as it is when an index is compacted, and one below that when it is closed.
const WORTH: u64 = 4 << 20;
const LONG: u64 = 16 << 20;
/// In the table of the index itself: what fills the journal up. No other table has a key like it.
const FILLING: &[u8] = b"filling";

impl Tables {
    /// Bytes that the journal takes on disk. Its last file is made longer than it is yet, without taking room.
    pub fn journal_space(&self) -> Result<u64> {
        Ok(journals(&self.folder)?.iter().map(|(_, bytes)| bytes).sum())
    }

    /// Empties a long journal: when the index is opened it would be read entry by entry, which takes longer than to
    /// write files.
    pub fn shorten_journal(&self) -> Result<()> {
        if self.journal_space()? < LONG {
            return Ok(());
        }
        self.all().into_par_iter().try_for_each(|(_, table)| self.file(table))?;
        self.empty_journal()
    }

    /// Leaves in the journal next to nothing, where all tables have become files; and what others write meanwhile.
    pub fn empty_journal(&self) -> Result<()> {
        let last = journals(&self.folder)?.last().copied();
        if let Some((number, bytes)) = last
            && bytes > WORTH
        {
            self.fill_journal(number)?;
        }
        for (_, table) in self.all() {
            let mut batch = self.batch(1, Sync::Commit);
            batch.remove(table, FILLING);
            batch.commit()?;
            self.file(table)?;
        }
        Ok(())
    }

    /// Writes what does not matter until there is a journal behind this one.
    fn fill_journal(&self, number: u64) -> Result<()> {
        let mut state = 0;
        let mut written = 0;
        while written <= SEALED && journals(&self.folder)?.last().is_some_and(|&(last, _)| last == number) {
            // Noise, because what can be compressed is.
            let piece: Vec<u8> = (0..PIECE / 8).flat_map(|_| noise(&mut state)).collect();
            let mut batch = self.batch(1, Sync::System);
            batch.insert(&self.about, FILLING, piece);
            batch.commit()?;
            self.file(&self.about)?;
            written += PIECE as u64;
        }
        let mut batch = self.batch(1, Sync::Commit);
        batch.remove(&self.about, FILLING);
        batch.commit()?;
        self.settle(&self.about)
    }

    /// Makes files of what a table holds in memory, and one row of files of all it has.
    pub(crate) fn settle(&self, table: &Keyspace) -> Result<()> {
        self.file(table)?;
        Ok(table.major_compact()?)
    }
}

/// The numbers of the journal's files in a folder, the oldest first, and the bytes they take.
pub(crate) fn journals(folder: &Path) -> Result<Vec<(u64, u64)>> {
    let mut found = Vec::new();
    for entry in read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let number = name.to_str().and_then(|name| name.strip_suffix(".jnl")?.parse().ok());
        // One that is deleted meanwhile takes nothing.
        if let (Some(number), Ok(about)) = (number, entry.metadata()) {
            found.push((number, allocated(&about)));
        }
    }
    found.sort_unstable();
    Ok(found)
}

fn noise(state: &mut u64) -> [u8; 8] {
    *state += 1;
    neardup_core::format::splitmix(0, *state).to_le_bytes()
}

#[cfg(unix)]
fn allocated(about: &Metadata) -> u64 {
    use std::os::unix::fs::MetadataExt;
    about.blocks() * 512
}

#[cfg(not(unix))]
fn allocated(about: &Metadata) -> u64 {
    about.len()
}

#[cfg(test)]
mod tests {
    use std::ops::Range;
    use std::time::{Duration, Instant};

    use super::*;
    use crate::error::Error;
    use crate::group::OnePage;
    use crate::index::Index;
    use crate::store::Memory;
    use crate::testing::{open, open_with, page};

    const SMALL: Memory = Memory { cache: 1 << 20, buffers: 1 << 20 };

    /// Mebibytes of noise under keys 0, 1 …, one commit each.
    fn write(tables: &Tables, table: &Keyspace, count: u8) {
        let mut state = 0;
        for key in 0..count {
            let value: Vec<u8> = (0..1 << 17).flat_map(|_| noise(&mut state)).collect();
            let mut batch = tables.batch(1, Sync::System);
            batch.insert(table, [key], value);
            batch.commit().unwrap();
        }
    }

    /// Adds pages of these numbers, with ids of 64 KiB that cannot be compressed.
    fn add(index: &Index, numbers: Range<u64>) {
        for number in numbers {
            let mut state = number << 13;
            let id: Vec<u8> = (0..1 << 13).flat_map(|_| noise(&mut state)).collect();
            index.add_one(OnePage { id, ..page(number, [number, 10_000 + number, 0]) }).unwrap();
        }
    }

    /// Whether the journal comes to take less than this; files are deleted in the background.
    fn falls_below(tables: &Tables, bytes: u64) -> bool {
        let begun = Instant::now();
        while tables.journal_space().unwrap() >= bytes {
            if begun.elapsed() > Duration::from_secs(20) {
                return false;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        true
    }

    #[test]
    fn nothing_is_left_when_an_index_was_compacted() {
        let folder = tempfile::tempdir().unwrap();
        let index = open_with(folder.path(), Sync::Commit, 64 << 20);
        // Enough to seal a journal, while keys, which are short, are still in memory.
        add(&index, 0..1_400);
        let sealed = journals(folder.path()).unwrap();
        assert!(sealed.len() > 1, "{sealed:?}");
        index.compact(0).unwrap();
        assert!(falls_below(&index.tables, 1 << 20), "{:?}", journals(folder.path()));
        assert_eq!(index.tables.about.disk_space() >> 20, 0);
        drop(index);
        let checked = open(folder.path()).verify().unwrap();
        assert_eq!((checked.pages, checked.keys, checked.complaints.len()), (1_400, 2_800, 0));
    }

    #[test]
    fn an_index_that_is_closed_has_little_to_read_when_it_is_opened() {
        let folder = tempfile::tempdir().unwrap();
        let index = open_with(folder.path(), Sync::Commit, 64 << 20);
        add(&index, 0..100);
        index.close().unwrap();
        let short = index.tables.journal_space().unwrap();
        assert!(short > 100 << 16, "{short}");
        add(&index, 100..400);
        index.close().unwrap();
        assert!(falls_below(&index.tables, 1 << 20), "{:?}", journals(folder.path()));
        add(&index, 400..401);
        drop(index);
        let checked = open(folder.path()).verify().unwrap();
        assert_eq!((checked.pages, checked.keys, checked.complaints.len()), (401, 802, 0));
    }

    #[test]
    fn a_file_that_cannot_be_written_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let tables = Tables::open(folder.path(), SMALL).unwrap();
        write(&tables, &tables.members, 2);
        for keyspace in read_dir(folder.path().join("keyspaces")).unwrap() {
            std::fs::remove_dir_all(keyspace.unwrap().path().join("tables")).unwrap();
        }
        let (tell, told) = std::sync::mpsc::channel();
        std::thread::spawn(move || tell.send(tables.file(&tables.members)));
        let found = told.recv_timeout(Duration::from_secs(20)).expect("it returns");
        assert!(matches!(found, Err(Error::Store(_))), "{found:?}");
    }

    #[test]
    fn a_short_journal_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let tables = Tables::open(folder.path(), SMALL).unwrap();
        write(&tables, &tables.members, 2);
        tables.settle(&tables.members).unwrap();
        tables.empty_journal().unwrap();
        let journals = journals(folder.path()).unwrap();
        assert!(journals.len() == 1 && journals[0].1 < WORTH, "{journals:?}");
    }
}
