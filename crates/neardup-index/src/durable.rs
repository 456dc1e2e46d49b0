//! How commits reach the disk: beside those that come next, not before them.
//!
//! fjall can sync its journal as part of a commit, and then holds up whoever commits meanwhile. Here a commit is handed to
//! the operating system, and the journal's file is synced afterwards through a descriptor of our own, by several threads
//! at a time if they ask for it. That is enough, for the journal is one file that grows, and fjall syncs it before it
//! begins the next (and deletes the oldest first): a sync of the newest file that begins after a commit has that commit,
//! and all before it, on the disk when it is done.
//!
//! What was committed is seen before it is on the disk. So whoever is to be told of it waits until it is: one that adds
//! for the sync of its own commit, which is a later one, and one that asks ([`Durable::has`]).

use std::fs::{File, OpenOptions};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::chain::Note;
use crate::error::{Error, Result, refused};
use crate::journal::journals;
use crate::locked;

/// How far something has come: the number of a commit, after which the next page gets this number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reached {
    pub commit: u64,
    pub next: u32,
}

#[derive(Debug, Default)]
struct State {
    written: Reached,
    synced: Reached,
    /// The commit that the note tells of.
    noted: u64,
    failed: bool,
}

/// Syncs at a time. Each has the file open for itself: what went wrong with it is told to every descriptor once, so two
/// syncs that share one could both be at work, and only one of them hear that what both wrote is lost.
const AT_ONCE: usize = 4;

/// The newest journal, and its descriptors that nobody uses at the moment.
#[derive(Debug)]
struct Newest {
    number: u64,
    idle: Vec<File>,
}

/// What is known to be on the disk, and the way to bring the rest there.
#[derive(Debug)]
pub struct Durable {
    folder: PathBuf,
    /// Tells who opens the index next what was brought to the disk.
    note: Arc<Note>,
    newest: Mutex<Newest>,
    given_back: Condvar,
    state: Mutex<State>,
}

fn path(folder: &Path, number: u64) -> PathBuf {
    folder.join(format!("{number}.jnl"))
}

impl Newest {
    fn open(folder: &Path) -> Result<Self> {
        loop {
            let last = journals(folder)?.last().map(|&(number, _)| number);
            let number = last.ok_or_else(|| Error::Store("the index has no journal".to_owned()))?;
            // Some systems sync only what may be written.
            let open = || OpenOptions::new().write(true).open(path(folder, number));
            match (0..AT_ONCE).map(|_| open()).collect() {
                Ok(idle) => return Ok(Newest { number, idle }),
                // It has become old and was deleted: there is a newer one.
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

impl Durable {
    /// Of the tables in a folder, which are open and have come so far.
    pub fn new(folder: &Path, note: Arc<Note>, reached: Reached) -> Result<Self> {
        let state = State { written: reached, synced: reached, noted: 0, failed: false };
        let durable = Durable {
            folder: folder.to_owned(),
            note,
            newest: Mutex::new(Newest::open(folder)?),
            given_back: Condvar::new(),
            state: Mutex::new(state),
        };
        // What a process that was killed had written, and not synced, is there and may not be on the disk.
        durable.sync_newest()?;
        durable.note(reached.commit)?;
        Ok(durable)
    }

    /// A commit was handed to the operating system.
    pub fn wrote(&self, reached: Reached) {
        locked(&self.state).written = reached;
    }

    /// Commits up to this one are on the disk, and so is the note of it when this returns.
    pub fn note(&self, commit: u64) -> Result<()> {
        self.put(&mut locked(&self.state), commit)?;
        self.note.sync()
    }

    fn put(&self, state: &mut State, commit: u64) -> Result<()> {
        if commit > state.noted {
            self.note.write(commit)?;
            state.noted = commit;
        }
        Ok(())
    }

    /// Whether the first so many pages are on the disk for good.
    pub fn has(&self, pages: u32) -> bool {
        pages <= locked(&self.state).synced.next
    }

    /// What went wrong on the way to the disk: nothing can be added after it.
    pub fn check(&self) -> Result<()> {
        if locked(&self.state).failed { Err(fjall::Error::Poisoned.into()) } else { Ok(()) }
    }

    /// All that was committed before is on the disk when this returns.
    pub fn sync(&self) -> Result<()> {
        self.check()?;
        let written = {
            let state = locked(&self.state);
            if state.synced == state.written {
                return Ok(());
            }
            state.written
        };
        let done = self.sync_newest();
        let mut state = locked(&self.state);
        // Another that began later may have ended before.
        let further = written.commit > state.synced.commit;
        let done = done.and_then(|()| self.put(&mut state, written.commit));
        state.failed |= done.is_err();
        if done.is_ok() && further {
            state.synced = written;
        }
        done
    }

    fn sync_newest(&self) -> Result<()> {
        let mut newest = locked(&self.newest);
        let file = loop {
            if path(&self.folder, newest.number + 1).exists() || !path(&self.folder, newest.number).exists() {
                *newest = Newest::open(&self.folder)?;
            }
            match newest.idle.pop() {
                Some(file) => break file,
                None => {
                    newest = self.given_back.wait(newest).unwrap_or_else(|poisoned| poisoned.into_inner())
                }
            }
        };
        let number = newest.number;
        drop(newest);
        let done = file.sync_data();
        let mut newest = locked(&self.newest);
        if newest.number == number {
            newest.idle.push(file);
        }
        drop(newest);
        self.given_back.notify_one();
        done.map_err(refused)
    }
}

/// Brings commits to the disk once a second, until it is dropped. What goes wrong is told with the next commit.
#[derive(Debug)]
pub struct EverySecond {
    stop: Option<mpsc::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl EverySecond {
    pub fn start(durable: Arc<Durable>) -> Self {
        let (stop, stopped) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            while let Err(mpsc::RecvTimeoutError::Timeout) = stopped.recv_timeout(Duration::from_secs(1)) {
                if durable.sync().is_err() {
                    return;
                }
            }
        });
        EverySecond { stop: Some(stop), thread: Some(thread) }
    }
}

impl Drop for EverySecond {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::group::{OnePage, with_arrays};
    use crate::index::Index;
    use crate::store::{Memory, Sync};
    use crate::testing::{open, page};

    fn journal(folder: &Path, number: u64) {
        File::create(path(folder, number)).unwrap();
    }

    #[test]
    fn the_newest_journal_is_synced() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let note = Arc::new(Note::create(folder).unwrap());
        let open = || Durable::new(folder, Arc::clone(&note), Reached::default());
        assert!(matches!(open(), Err(Error::Store(_))));
        journal(folder, 1);
        let durable = open().unwrap();
        let synced = || {
            let commit = locked(&durable.state).written.commit + 1;
            durable.wrote(Reached { commit, next: 1 });
            durable.sync().map(|()| locked(&durable.newest).number)
        };
        assert_eq!(synced().unwrap(), 1);
        journal(folder, 2);
        assert_eq!(synced().unwrap(), 2);
        // Two were deleted since.
        journal(folder, 4);
        (1..3).for_each(|number| std::fs::remove_file(path(folder, number)).unwrap());
        assert_eq!(synced().unwrap(), 4);
        std::fs::remove_file(path(folder, 4)).unwrap();
        assert!(matches!(synced(), Err(Error::Store(_))));
    }

    #[test]
    fn an_index_without_its_journal_is_damaged() {
        let folder = tempfile::tempdir().unwrap();
        let index = open(folder.path());
        index.add_one(page(1, [1, 1, 1])).unwrap();
        let number = locked(&index.durable.newest).number;
        let (shape, memory) = (index.shape().clone(), Memory { cache: 1 << 20, buffers: 1 << 20 });
        drop(index);
        std::fs::remove_file(path(folder.path(), number)).unwrap();
        let opened = Index::open(folder.path(), shape, Sync::Commit, memory);
        assert!(matches!(opened, Err(Error::Damaged(_))));
    }

    #[test]
    fn more_may_sync_than_have_descriptors() {
        let folder = tempfile::tempdir().unwrap();
        journal(folder.path(), 1);
        let note = Arc::new(Note::create(folder.path()).unwrap());
        let durable = Durable::new(folder.path(), note, Reached::default()).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..3 * AT_ONCE {
                scope.spawn(|| {
                    for next in 0..20 {
                        durable.wrote(Reached { commit: u64::from(next), next });
                        durable.sync().unwrap();
                    }
                });
            }
        });
        assert_eq!(locked(&durable.newest).idle.len(), AT_ONCE);
    }

    #[cfg(unix)]
    #[test]
    fn after_a_sync_that_failed_nothing_is_added() {
        let folder = tempfile::tempdir().unwrap();
        let index = open(folder.path());
        index.add_one(page(1, [1, 1, 1])).unwrap();
        // What cannot be synced.
        let pipe = std::os::fd::OwnedFd::from(std::io::pipe().unwrap().1);
        locked(&index.durable.newest).idle = vec![File::from(pipe)];
        assert!(matches!(index.add_one(page(2, [2, 2, 2])), Err(Error::Store(_))));
        for told in [index.add_one(page(3, [3, 3, 3])).map(drop), index.remove(&[b"1"]).map(drop)] {
            assert!(matches!(told, Err(Error::Store(why)) if why.contains("opened anew")));
        }
        drop(index);
        let counts = open(folder.path()).counts().unwrap();
        assert_eq!(counts.pages, 2);
    }

    #[test]
    fn who_asks_is_told_of_what_is_on_the_disk() {
        let folder = tempfile::tempdir().unwrap();
        let index = open(folder.path());
        let ahead =
            |page: OnePage| with_arrays(index.shape(), &[page], |pages| index.add_ahead(pages)).unwrap();
        let ask = |words: [u64; 3]| index.query_one(page(99, words)).unwrap().matches.len();
        index.add_one(page(1, [1, 11, 0])).unwrap();
        ahead(page(2, [2, 12, 0]));
        assert!(index.durable.has(1) && !index.durable.has(2));
        // Another page is no reason to wait.
        assert_eq!(ask([1, 0, 0]), 1);
        assert_eq!(ask([7, 0, 0]), 0);
        assert!(!index.durable.has(2));
        assert_eq!(ask([2, 0, 0]), 1);
        assert!(index.durable.has(2));
    }
}
