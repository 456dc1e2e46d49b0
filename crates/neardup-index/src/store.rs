//! The tables of an index, in a folder: one `fjall` database (an LSM tree a table, one journal for all), opened by one
//! process at a time.
//!
//! A commit is atomic over all tables, and readers work on snapshots: they wait for nobody and see whole commits. How
//! durable a commit is when it returns is the [`Sync`] policy. Blocks and journal entries carry checksums.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use fjall::compaction::Leveled;
use fjall::config::{
    BlockSizePolicy, BloomConstructionPolicy, CompressionPolicy, FilterPolicy, FilterPolicyEntry,
};
use fjall::{
    AbstractTree, CompressionType, Database, Keyspace, KeyspaceCreateOptions, OwnedWriteBatch, PersistMode,
    Readable, Snapshot,
};

use crate::journal::journals;
use crate::records::{PageRecord, SetRecord};
use crate::shape::Shape;

/// What can go wrong, in words that need nothing before them.
#[derive(Clone, Debug)]
pub enum Error {
    /// Another process, or another object of this one, has it open.
    Locked,
    /// What is stored makes no sense, or a checksum does not fit.
    Damaged(String),
    /// The operating system, or the store, refused.
    Store(String),
    /// The caller asked for what cannot be done.
    Usage(String),
}

impl From<fjall::Error> for Error {
    fn from(error: fjall::Error) -> Self {
        match error {
            fjall::Error::Locked => Error::Locked,
            fjall::Error::Io(error) => error.into(),
            fjall::Error::Storage(fjall::LsmError::Io(error)) => error.into(),
            fjall::Error::Poisoned => {
                Error::Store("an earlier write failed; the index must be opened anew".to_owned())
            }
            fjall::Error::Storage(fjall::LsmError::ChecksumMismatch { .. }) => {
                damaged("a block of a table file does not fit its checksum")
            }
            fjall::Error::JournalRecovery(error) => {
                Error::Damaged(format!("the journal cannot be read: {error:?}"))
            }
            fjall::Error::Unrecoverable | fjall::Error::Storage(fjall::LsmError::Unrecoverable) => {
                damaged("a file that the store needs is missing or cut off")
            }
            other => Error::Damaged(format!("the store says {other:?}")),
        }
    }
}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Self {
        Error::Store(error.to_string())
    }
}

pub type Result<T> = std::result::Result<T, Error>;

/// When a commit reaches the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sync {
    /// Before it returns: it survives power loss.
    Commit,
    /// Within a second: power loss may take what came in the last one.
    Second,
    /// When the operating system finds time: it survives the end of this process, not that of the machine.
    System,
}

/// Memory for blocks that were read, and for what is not yet in a table file.
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    pub cache: u64,
    pub buffers: u64,
}

/// Numbers that are kept with every commit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// The number of the next page.
    pub next: u32,
    pub pages: u64,
    pub sets: u64,
    /// Entries of keys that were left out because their key listed enough.
    pub left_out: u64,
    /// Keys that list as many pages as a key may.
    pub full_keys: u64,
}

impl Counts {
    const BYTES: usize = 40;

    fn encode(self) -> Vec<u8> {
        let numbers = [u64::from(self.next), self.pages, self.sets, self.left_out, self.full_keys];
        numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; Self::BYTES] = bytes.try_into().ok()?;
        let at = |at: usize| u64::from_le_bytes(bytes[8 * at..8 * at + 8].try_into().expect("eight bytes"));
        let next = u32::try_from(at(0)).ok()?;
        Some(Counts { next, pages: at(1), sets: at(2), left_out: at(3), full_keys: at(4) })
    }
}

const COUNTS: &[u8] = b"counts";

/// All tables, open.
#[derive(Clone)]
pub struct Tables {
    pub database: Database,
    /// Page number → [`PageRecord`].
    pub pages: Keyspace,
    /// Hash of an id → page number.
    pub ids: Keyspace,
    /// Identity of a token sequence → number of its set.
    pub identities: Keyspace,
    /// Number of a set → [`SetRecord`].
    pub sets: Keyspace,
    /// (set, page) of the members of sets that have, or had, several.
    pub members: Keyspace,
    /// (set, site) → how many members; of the same sets.
    pub sites: Keyspace,
    /// Key → numbers of sets: [`crate::lookup`].
    pub keys: Keyspace,
    /// First bits of keys → the short lists of those: [`crate::packed`]. What `keys` says comes before it.
    pub packed: Keyspace,
    /// Request key → time: what was added already.
    pub requests: Keyspace,
    pub about: Keyspace,
    pub(crate) folder: PathBuf,
    /// Bytes that all tables together may gather in memory.
    buffers: u64,
}

impl std::fmt::Debug for Tables {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Tables").finish_non_exhaustive()
    }
}

/// Bits of filters for each key: an absent one is looked for in vain once in a hundred times.
const FILTER_BITS: f32 = 10.0;
/// The same for files that come from memory, of which there are many to look into and each is small.
const NEW_FILTER_BITS: f32 = 16.0;
/// Files that come from memory and are merged at a time.
const MERGED: u8 = 8;
/// Bytes of a file that is merged.
const FILE_BYTES: u64 = 32 << 20;
/// Bytes that a table gathers in memory, at most, before they become a file: the keys, of which there are most, and the
/// others. The larger the files that come from memory, the less often what is there already is merged with them. A table
/// keeps what it was made with, so this cannot depend on the memory it is opened with: see [`Tables::ease`].
const KEYS_GATHERED: u64 = 128 << 20;
const GATHERED: u64 = 32 << 20;
/// Threads that write and merge files. One of them only writes; while all the others merge, it asks the queue again and
/// again without a pause. So there are enough for three tables to be merged at a time.
const WORKERS: usize = 4;
/// Entries are a few bytes that compress in company.
const BLOCK_BYTES: u32 = 8 << 10;

impl Tables {
    pub fn open(path: &Path, memory: Memory) -> Result<Self> {
        // fjall would begin a new one, and see nothing of what is there.
        if path.join("keyspaces").exists() && journals(path)?.is_empty() {
            return Err(damaged("its journal is missing"));
        }
        let database = Database::builder(path)
            .cache_size(memory.cache)
            .max_journaling_size((4 * memory.buffers).max(64 << 20))
            .worker_threads(WORKERS)
            .open()?;
        let bits = |bits| FilterPolicyEntry::Bloom(BloomConstructionPolicy::BitsPerKey(bits));
        let filters = FilterPolicy::new([bits(NEW_FILTER_BITS), bits(FILTER_BITS)]);
        let merging = Leveled::default().with_l0_threshold(MERGED).with_table_target_size(FILE_BYTES);
        let gathering = |bytes: u64| {
            KeyspaceCreateOptions::default()
                .manual_journal_persist(true)
                .max_memtable_size(bytes)
                .compaction_strategy(Arc::new(merging.clone()))
                .data_block_size_policy(BlockSizePolicy::all(BLOCK_BYTES))
                .data_block_compression_policy(CompressionPolicy::all(CompressionType::Lz4))
                .filter_policy(filters.clone())
        };
        let table = |name: &str| database.keyspace(name, || gathering(GATHERED));
        // Numbers are given in turn, and what is looked up by its number, or packed, is there.
        let unfiltered = || gathering(GATHERED).filter_policy(FilterPolicy::disabled());
        let dense = |name: &str| database.keyspace(name, unfiltered);
        // Hashes and numbers: nothing to compress.
        let plain = CompressionPolicy::all(CompressionType::None);
        let packed = || unfiltered().data_block_compression_policy(plain.clone());
        Ok(Tables {
            pages: dense("pages")?,
            ids: table("ids")?,
            identities: table("identities")?,
            sets: dense("sets")?,
            members: table("members")?,
            sites: table("sites")?,
            keys: database.keyspace("keys", || gathering(KEYS_GATHERED))?,
            packed: database.keyspace("packed", packed)?,
            requests: table("requests")?,
            about: table("about")?,
            folder: path.to_owned(),
            buffers: memory.buffers,
            database,
        })
    }

    /// The table that has gathered most, if all together hold more than they may.
    fn fullest(&self) -> Option<&Keyspace> {
        let tables = self.all().map(|(_, table)| (table.tree.active_memtable().size(), table));
        let much = tables.iter().map(|(bytes, _)| bytes).sum::<u64>() > self.buffers;
        tables.into_iter().max_by_key(|(bytes, _)| *bytes).filter(|_| much).map(|(_, table)| table)
    }

    /// Makes a file of what the fullest table has gathered, if that is needed; others go on meanwhile.
    pub fn ease(&self) -> Result<()> {
        if let Some(table) = self.fullest() {
            table.rotate_memtable()?;
        }
        Ok(())
    }

    /// The same for one who writes faster than files are made: what waits to become a file takes memory too.
    pub fn ease_and_wait(&self) -> Result<()> {
        if let Some(table) = self.fullest() {
            self.file(table)?;
        }
        Ok(())
    }

    /// Makes a file of what a table has gathered, and waits for it. (fjall's own way to wait has no end if the file cannot
    /// be written.)
    pub(crate) fn file(&self, table: &Keyspace) -> Result<()> {
        table.rotate_memtable()?;
        while table.tree.sealed_memtable_count() > 0 {
            // Refused if something could not be written in the background.
            self.database.persist(PersistMode::Buffer)?;
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }

    pub fn all(&self) -> [(&'static str, &Keyspace); 10] {
        [
            ("pages", &self.pages),
            ("ids", &self.ids),
            ("identities", &self.identities),
            ("sets", &self.sets),
            ("members", &self.members),
            ("sites", &self.sites),
            ("keys", &self.keys),
            ("packed", &self.packed),
            ("requests", &self.requests),
            ("about", &self.about),
        ]
    }

    pub fn view(&self) -> View<'_> {
        View { tables: self, snapshot: self.database.snapshot() }
    }

    pub fn batch(&self, capacity: usize, sync: Sync) -> OwnedWriteBatch {
        let mode = match sync {
            Sync::Commit => PersistMode::SyncData,
            Sync::Second | Sync::System => PersistMode::Buffer,
        };
        OwnedWriteBatch::with_capacity(self.database.clone(), capacity).durability(Some(mode))
    }

    pub fn put_counts(&self, batch: &mut OwnedWriteBatch, counts: Counts) {
        batch.insert(&self.about, COUNTS, counts.encode());
    }
}

/// What a reader sees: the state after some commit, whatever is written meanwhile.
pub struct View<'a> {
    pub tables: &'a Tables,
    pub snapshot: Snapshot,
}

impl std::fmt::Debug for View<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("View").finish_non_exhaustive()
    }
}

pub fn damaged(what: &str) -> Error {
    Error::Damaged(what.to_owned())
}

/// When a request was carried out, and what stands for its content.
pub fn request_of(bytes: &[u8]) -> Result<(i64, [u8; 16])> {
    let parts = bytes.split_first_chunk::<8>().and_then(|(time, rest)| Some((time, rest.try_into().ok()?)));
    let (time, content) = parts.ok_or_else(|| damaged("the record of a request cannot be read"))?;
    Ok((i64::from_le_bytes(*time), content))
}

/// A number that is stored as three bytes or four.
pub fn number(bytes: &[u8]) -> Result<u32> {
    match *bytes {
        [a, b, c] => Ok(u32::from_le_bytes([a, b, c, 0])),
        [a, b, c, d] => Ok(u32::from_le_bytes([a, b, c, d])),
        _ => Err(damaged("a number has neither three bytes nor four")),
    }
}

/// The key of an entry of one set in a table of many.
pub fn pair_key(set: u32, rest: &[u8]) -> Vec<u8> {
    [&set.to_be_bytes(), rest].concat()
}

impl View<'_> {
    pub fn get(&self, table: &Keyspace, key: &[u8]) -> Result<Option<fjall::UserValue>> {
        Ok(self.snapshot.get(table, key)?)
    }

    pub fn counts(&self) -> Result<Counts> {
        match self.get(&self.tables.about, COUNTS)? {
            None => Ok(Counts::default()),
            Some(bytes) => Counts::decode(&bytes).ok_or_else(|| damaged("the counts cannot be read")),
        }
    }

    pub fn page(&self, shape: &Shape, number: u32) -> Result<Option<PageRecord>> {
        match self.get(&self.tables.pages, &number.to_be_bytes())? {
            None => Ok(None),
            Some(bytes) => {
                let record = PageRecord::decode(shape, number, &bytes);
                Ok(Some(record.ok_or_else(|| damaged("the record of a page cannot be read"))?))
            }
        }
    }

    /// When a request was carried out, and what stands for its content.
    pub fn request(&self, key: &[u8; 16]) -> Result<Option<(i64, [u8; 16])>> {
        self.get(&self.tables.requests, key)?.map(|bytes| request_of(&bytes)).transpose()
    }

    pub fn set(&self, shape: &Shape, number: u32) -> Result<Option<SetRecord>> {
        match self.get(&self.tables.sets, &number.to_be_bytes())? {
            None => Ok(None),
            Some(bytes) => {
                let record = SetRecord::decode(shape, number, &bytes);
                Ok(Some(record.ok_or_else(|| damaged("the record of an identity set cannot be read"))?))
            }
        }
    }
}
