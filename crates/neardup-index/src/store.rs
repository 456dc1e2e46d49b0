//! The tables of an index, in a folder: one `fjall` database (an LSM tree a table, one journal for all), opened by one
//! process at a time.
//!
//! A commit is atomic over all tables, and readers work on snapshots: they wait for nobody and see whole commits. How
//! durable a commit is when it returns is the [`Sync`] policy. Blocks and journal entries carry checksums.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use fjall::compaction::Leveled;
use fjall::config::{
    BlockSizePolicy, BloomConstructionPolicy, CompressionPolicy, FilterPolicy, FilterPolicyEntry,
};
use fjall::{
    AbstractTree, CompressionType, Database, Keyspace, KeyspaceCreateOptions, OwnedWriteBatch, PersistMode,
    Readable, Snapshot,
};

use crate::chain::{Batch, Note, next_link};
use crate::error::{Error, Result, damaged, damaged_file, refused};
use crate::files::{self, Journal};
use crate::frames::Link;
use crate::guard::guarded;
use crate::locked;
use crate::records::{PageRecord, SetRecord};
use crate::shape::Shape;

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
    /// The link of the next commit; who commits holds it.
    pub(crate) next: Arc<Mutex<Link>>,
    pub(crate) note: Arc<Note>,
    /// How many entries were read since it was opened: tests count work, not time.
    #[cfg(test)]
    pub(crate) entries_read: Arc<std::sync::atomic::AtomicU64>,
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
    /// Opens the tables in a folder, or makes them. What is damaged there is told before the store sees it: fjall takes
    /// some of that for what a kill left behind, and deletes it.
    pub fn open(path: &Path, memory: Memory) -> Result<Self> {
        if files::is_new(path) {
            std::fs::create_dir_all(path)?;
            let note = Note::create(path)?;
            return guarded(|| Self::open_store(path, memory, note, &Journal::default()));
        }
        let (note, acknowledged) = Note::open(path, true)?;
        files::check_descriptions(path)?;
        let journal = files::read_journal(path, acknowledged)?;
        journal.cut()?;
        let opened = guarded(|| Self::open_store(path, memory, note, &journal));
        let tables = opened.map_err(|error| located(path, error))?;
        tables.check_link(&journal, acknowledged)?;
        Ok(tables)
    }

    /// Looks whether the store has found what the journal holds, and all that was acknowledged.
    fn check_link(&self, journal: &Journal, acknowledged: u64) -> Result<()> {
        let number = locked(&self.next).number - 1;
        let newest = self.folder.join("*.jnl");
        if journal.last.is_some_and(|last| last.link.number != number) {
            return Err(damaged("the tables end with another batch than the journal"));
        }
        if acknowledged > number {
            let what = format!("batches {} to {acknowledged} were acknowledged and are missing", number + 1);
            return Err(damaged_file(&self.folder, &newest, what));
        }
        // A journal is deleted when all that is in it is in files.
        let filed = self.about.tree.get_highest_persisted_seqno().map_or(0, |last| last + 1);
        if journal.first.is_some_and(|first| first.link.number > 1 && filed < first.link.least) {
            return Err(damaged_file(&self.folder, &newest, "an older journal is missing"));
        }
        Ok(())
    }

    fn open_store(path: &Path, memory: Memory, note: Note, journal: &Journal) -> Result<Self> {
        let database = Database::builder(path)
            .cache_size(memory.cache)
            .max_journaling_size((4 * memory.buffers).max(64 << 20))
            // Hashes and numbers; and what is read before the store reads it need not be unpacked.
            .journal_compression(CompressionType::None)
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
        let about = table("about")?;
        let next = next_link(&about, journal.last.as_ref())?;
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
            about,
            folder: path.to_owned(),
            buffers: memory.buffers,
            next: Arc::new(Mutex::new(next)),
            note: Arc::new(note),
            #[cfg(test)]
            entries_read: Arc::default(),
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
            self.database.persist(PersistMode::Buffer).map_err(refused)?;
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

    /// The number of the last commit.
    pub fn last(&self) -> u64 {
        locked(&self.next).number - 1
    }

    pub fn batch(&self, capacity: usize, sync: Sync) -> Batch<'_> {
        let mode = match sync {
            Sync::Commit => PersistMode::SyncData,
            Sync::Second | Sync::System => PersistMode::Buffer,
        };
        let batch = OwnedWriteBatch::with_capacity(self.database.clone(), capacity + 1);
        Batch::new(self, batch.durability(Some(mode)))
    }

    pub fn put_counts(&self, batch: &mut Batch<'_>, counts: Counts) {
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

/// Damage that the store has met while it was opened, with the file that is damaged if reading all of them shows one.
fn located(path: &Path, error: Error) -> Error {
    match error {
        Error::Damaged(damage) => match files::check_tables(path).unwrap_or_default().into_iter().next() {
            Some(what) => damaged(what),
            None => Error::Damaged(damage),
        },
        other => other,
    }
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

/// The record of an identity set.
pub fn decoded(shape: &Shape, set: u32, bytes: &[u8]) -> Result<SetRecord> {
    SetRecord::decode(shape, set, bytes)
        .ok_or_else(|| damaged("the record of an identity set cannot be read"))
}

impl View<'_> {
    /// An entry is read.
    pub(crate) fn count_entry(&self) {
        #[cfg(test)]
        self.tables.entries_read.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    }

    pub fn get(&self, table: &Keyspace, key: &[u8]) -> Result<Option<fjall::UserValue>> {
        self.count_entry();
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
            Some(bytes) => decoded(shape, number, &bytes).map(Some),
        }
    }
}
