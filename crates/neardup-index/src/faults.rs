//! Every file of an index, damaged: a bit flipped, the end cut off, a part zeroed. Whatever it is, nothing panics, no
//! answer changes, and no page is lost without a word; and who only looks changes nothing.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::error::{Error, Result};
use crate::guard::guarded;
use crate::index::Index;
use crate::store::{Memory, Sync};
use crate::testing::{folder, open_with, page, shape};
use crate::upkeep::verify_folder;

const MEMORY: Memory = Memory { cache: 1 << 20, buffers: 1 << 20 };
const PAGES: u64 = 300;

/// Faults of each kind in each file; more with `NEARDUP_FAULTS`.
fn rounds() -> u64 {
    std::env::var("NEARDUP_FAULTS").ok().and_then(|count| count.parse().ok()).unwrap_or(1)
}

/// All files below a folder, by their paths from it; of a journal what was written.
fn files_of(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let mut bytes = fs::read(&path).unwrap();
            if path.extension().is_some_and(|extension| extension == "jnl") {
                bytes.truncate(bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1));
            }
            found.insert(path.strip_prefix(folder).unwrap().to_owned(), bytes);
        }
    }
    found
}

fn write(files: &BTreeMap<PathBuf, Vec<u8>>, folder: &Path) {
    for (name, bytes) in files {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
}

/// All that is asked of an index: its ids, and whom some pages meet.
type Answers = (Vec<Vec<u8>>, Vec<Vec<Vec<u8>>>);

fn answers(index: &Index) -> Result<Answers> {
    let mut ids = Vec::new();
    index.ids(|id| {
        ids.push(id);
        true
    })?;
    let mut matches = Vec::new();
    for number in 0..PAGES {
        let answer = index.query_one(page(1_000_000 + number, [number, 10_000 + number, 0]))?;
        matches.push(answer.matches.into_iter().map(|found| found.id).collect());
    }
    Ok((ids, matches))
}

/// An index, and what it answers.
struct Case {
    name: &'static str,
    /// Whether all that was added is known to be on the disk.
    synced: bool,
    files: BTreeMap<PathBuf, Vec<u8>>,
    answers: Answers,
}

const FLIP: &str = "a flipped bit";
const NOT_SYNCED: &str = "killed, not synced";

/// Indexes as they lie on the disk: of a process that was killed, closed, closed again after a few additions, compacted.
fn cases() -> &'static [Case] {
    static CASES: OnceLock<Vec<Case>> = OnceLock::new();
    CASES.get_or_init(made)
}

fn made() -> Vec<Case> {
    let own = folder();
    let tables = own.path().join("tables");
    let mut cases = Vec::new();
    let mut keep = |name, index: &Index| {
        let synced = name != NOT_SYNCED;
        cases.push(Case { name, synced, files: files_of(&tables), answers: answers(index).unwrap() });
    };
    let add = |index: &Index, numbers: std::ops::Range<u64>| {
        for number in numbers {
            index.add_one(page(number, [number % 250, 10_000 + number, 0])).unwrap();
        }
    };
    let index = open_with(&tables, Sync::Commit, 1 << 20);
    add(&index, 0..200);
    index.remove(&[b"7", b"9"]).unwrap();
    keep("killed", &index);
    index.close().unwrap();
    drop(index);
    let index = open_with(&tables, Sync::System, 1 << 20);
    add(&index, 200..250);
    keep(NOT_SYNCED, &index);
    index.compact(0).unwrap();
    keep("compacted", &index);
    add(&index, 250..PAGES);
    index.close().unwrap();
    keep("added to", &index);
    cases
}

/// The fate of an index with a fault: it answers as before, or tells of damage.
fn look(case: &Case, folder: &Path, what: &str) -> bool {
    let tables = folder.join("tables");
    let before = files_of(&tables);
    let scratch = crate::testing::folder();
    let checked = verify_folder(&tables, shape(), MEMORY, &scratch.path().join("tables"))
        .unwrap_or_else(|error| panic!("{what}: {error}"));
    assert!(files_of(&tables) == before, "{what}: verifying changed a file");
    let opened = guarded(|| answers(&Index::open(&tables, shape(), Sync::Commit, MEMORY)?));
    let sound = match opened {
        Ok(found) => {
            // What no sync was asked for may be lost from the end on, as after a loss of power.
            let lost = !case.synced && !what.contains(FLIP) && case.answers.0.starts_with(&found.0);
            let same = found == case.answers;
            assert!(same || lost, "{what}: other answers, and verifying says {:?}", checked.complaints);
            same
        }
        Err(Error::Damaged(_)) => {
            assert!(!checked.complaints.is_empty(), "{what}: opening tells of damage, verifying does not");
            false
        }
        Err(error) => panic!("{what}: {error:?}"),
    };
    sound && checked.complaints.is_empty()
}

/// Puts faults into each file of each case; `fault` makes one, or says that this file cannot have it.
fn each_fault(kind: &str, fault: impl Fn(&mut Vec<u8>, u64) -> Option<usize>) -> (u64, u64) {
    let (mut seed, mut told, mut all) = (0, 0, 0);
    for case in cases() {
        for (name, bytes) in &case.files {
            let journal = name.extension().is_some_and(|extension| extension == "jnl");
            for _ in 0..rounds() * if journal { 6 } else { 1 } {
                seed += 1;
                let mut changed = bytes.clone();
                let Some(at) = fault(&mut changed, neardup_core::format::splitmix(seed, 1)) else { continue };
                if changed == *bytes {
                    continue;
                }
                let place = folder();
                let files = case.files.clone().into_iter().chain([(name.clone(), changed)]).collect();
                write(&files, &place.path().join("tables"));
                let what = format!("{}, {kind} at {at} of {} in {}", case.name, bytes.len(), name.display());
                all += 1;
                told += u64::from(!look(case, place.path(), &what));
            }
        }
    }
    (told, all)
}

#[test]
fn a_flipped_bit_is_told_or_changes_nothing() {
    let (told, all) = each_fault(FLIP, |bytes, random| {
        let bit = (random % (8 * bytes.len() as u64).max(1)) as usize;
        *bytes.get_mut(bit / 8)? ^= 1 << (bit % 8);
        Some(bit / 8)
    });
    // The others are files that the tables no longer use.
    assert!(10 * told > 8 * all, "{told} of {all}");
}

#[test]
fn a_file_that_is_cut_off_is_told_or_changes_nothing() {
    let (told, all) = each_fault("a cut", |bytes, random| {
        let at = (random % (bytes.len() as u64).max(1)) as usize;
        bytes.truncate(at);
        Some(at)
    });
    assert!(2 * told > all, "{told} of {all}");
}

#[test]
fn a_sector_of_zeros_is_told_or_changes_nothing() {
    let (told, all) = each_fault("zeros", |bytes, random| {
        let sectors = bytes.len().div_ceil(512);
        let from = 512 * (random % (sectors as u64).max(1)) as usize;
        let end = (from + 512).min(bytes.len());
        bytes.get_mut(from..end)?.fill(0);
        Some(from)
    });
    assert!(2 * told > all, "{told} of {all}");
}

#[test]
fn a_file_that_is_missing_is_told_or_changes_nothing() {
    for case in cases() {
        for name in case.files.keys() {
            let place = folder();
            let files = case.files.iter().filter(|(other, _)| *other != name);
            write(
                &files.map(|(name, bytes)| (name.clone(), bytes.clone())).collect(),
                &place.path().join("tables"),
            );
            look(case, place.path(), &format!("{}, without {}", case.name, name.display()));
        }
    }
}

#[test]
fn an_index_without_a_fault_is_sound() {
    for case in cases() {
        let place = folder();
        write(&case.files, &place.path().join("tables"));
        assert!(look(case, place.path(), case.name));
    }
}
