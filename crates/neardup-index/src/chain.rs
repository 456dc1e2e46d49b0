//! Commits, each linked to the one before it ([`crate::frames`]), and how many of them are known to be on the disk.
//!
//! The last item of a commit is its link, in the table of the index itself; so the store keeps the newest one, and the
//! journal one a commit. What the journal cannot tell is that its end is missing. So the number of the last commit that
//! was brought to the disk is noted in a file of its own before anybody hears of that commit. The note itself is not
//! synced: after a kill it is true, and after a loss of power it may be an older one, never one that promises too much.
//! The file is also the lock of the tables.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read};
use std::path::Path;
use std::time::Duration;

use fjall::{AbstractTree, Keyspace, OwnedWriteBatch};
use xxhash_rust::xxh3::xxh3_64;

use crate::error::{Error, Result, damaged, damaged_file, refused};
use crate::frames::{CHAIN, Frame, Link, fold};
use crate::locked;
use crate::store::Tables;

/// Changes of several tables that are committed at once.
pub struct Batch<'a> {
    tables: &'a Tables,
    batch: OwnedWriteBatch,
    digest: u64,
}

impl std::fmt::Debug for Batch<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Batch").field("items", &self.batch.len()).finish_non_exhaustive()
    }
}

impl<'a> Batch<'a> {
    pub fn new(tables: &'a Tables, batch: OwnedWriteBatch) -> Self {
        Batch { tables, batch, digest: 0 }
    }

    #[inline]
    pub fn insert(
        &mut self,
        table: &Keyspace,
        key: impl AsRef<[u8]> + Into<fjall::UserKey>,
        value: impl AsRef<[u8]> + Into<fjall::UserValue>,
    ) {
        self.digest = fold(self.digest, key.as_ref(), value.as_ref());
        self.batch.insert(table, key, value);
    }

    #[inline]
    pub fn remove(&mut self, table: &Keyspace, key: impl AsRef<[u8]> + Into<fjall::UserKey>) {
        self.digest = fold(self.digest, key.as_ref(), &[]);
        self.batch.remove(table, key);
    }

    /// Commits, if anything was changed, and returns the number of the last commit.
    pub fn commit(mut self) -> Result<u64> {
        let mut next = locked(&self.tables.next);
        if self.batch.is_empty() {
            return Ok(next.number - 1);
        }
        let link = *next;
        self.insert(&self.tables.about, CHAIN, link.encode());
        self.batch.commit().map_err(refused)?;
        *next = Link { number: link.number + 1, least: least(&self.tables.about), previous: self.digest };
        Ok(link.number)
    }
}

/// The least sequence number that the next commit can have. Every commit writes to the table of the index itself.
fn least(about: &Keyspace) -> u64 {
    about.tree.get_highest_seqno().map_or(0, |last| last + 1)
}

/// The link of the next commit, after the last one in the journal, if that holds any.
pub fn next_link(about: &Keyspace, last: Option<&Frame>) -> Result<Link> {
    let stored = match about.get(CHAIN)? {
        None => None,
        Some(bytes) => Some(Link::decode(&bytes).ok_or_else(|| damaged("a link cannot be read"))?),
    };
    let number = stored.map_or(0, |link| link.number) + 1;
    Ok(Link { number, least: least(about), previous: last.map_or(0, |last| last.digest) })
}

/// The file that notes how many commits are on the disk.
pub const NOTE: &str = "acknowledged";
const NOTE_BYTES: usize = 16;
/// How often a lock is tried, and how long after another.
const TRIALS: usize = 3;
const BETWEEN: Duration = Duration::from_millis(100);

/// The note, open and locked.
#[derive(Debug)]
pub struct Note {
    file: File,
}

fn note_of(number: u64) -> [u8; NOTE_BYTES] {
    let mut bytes = [0; NOTE_BYTES];
    bytes[..8].copy_from_slice(&number.to_le_bytes());
    let checksum = xxh3_64(&bytes[..8]);
    bytes[8..].copy_from_slice(&checksum.to_le_bytes());
    bytes
}

impl Note {
    /// A new one, in the folder of tables that are not there yet.
    pub fn create(tables: &Path) -> Result<Self> {
        let path = tables.join(NOTE);
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        let note = Note { file: lock(file)? };
        note.write(0)?;
        note.sync()?;
        Ok(note)
    }

    /// The one of tables that are there, and its number; to be written, or only to keep others away.
    pub fn open(tables: &Path, writing: bool) -> Result<(Self, u64)> {
        let path = tables.join(NOTE);
        let file = match OpenOptions::new().read(true).write(writing).open(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Err(damaged_file(tables, &path, "is missing"));
            }
            opened => opened?,
        };
        let note = Note { file: lock(file)? };
        let mut bytes = Vec::new();
        (&note.file).take(2 * NOTE_BYTES as u64).read_to_end(&mut bytes)?;
        let number = bytes.first_chunk().map_or(0, |number| u64::from_le_bytes(*number));
        if bytes != note_of(number) {
            return Err(damaged_file(tables, &path, "does not fit its checksum"));
        }
        Ok((note, number))
    }

    /// So many commits are on the disk.
    pub fn write(&self, number: u64) -> Result<()> {
        write_at_start(&self.file, &note_of(number)).map_err(refused)
    }

    /// The note itself is on the disk when this returns.
    pub fn sync(&self) -> Result<()> {
        self.file.sync_all().map_err(refused)
    }
}

impl Drop for Note {
    fn drop(&mut self) {
        // A process that was forked meanwhile holds the file as well.
        let _ = self.file.unlock();
    }
}

fn lock(file: File) -> Result<File> {
    for trial in 0..TRIALS {
        if trial > 0 {
            std::thread::sleep(BETWEEN);
        }
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(error)) => return Err(error.into()),
        }
    }
    Err(Error::Locked)
}

#[cfg(unix)]
fn write_at_start(file: &File, bytes: &[u8]) -> std::io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, 0)
}

#[cfg(windows)]
fn write_at_start(file: &File, bytes: &[u8]) -> std::io::Result<()> {
    // So few bytes are written at once.
    std::os::windows::fs::FileExt::seek_write(file, bytes, 0).map(drop)
}
