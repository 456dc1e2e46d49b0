//! The files of the tables, checked without the store and without changing anything.
//!
//! Each table's folder has a file `current`, which names the version of the table and holds a checksum of the file that
//! describes it (`v` and a number). That one lists the table's files, each with a checksum of all its bytes. fjall itself
//! compares neither of the two: it compares the blocks that it reads. So what describes a table is checked here each time
//! an index is opened, together with the journal ([`crate::frames`]), and the rest when it is verified.

use std::fs::{File, OpenOptions, read, read_dir};
use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use xxhash_rust::xxh3::{Xxh3Default, xxh3_128};

use crate::chain::NOTE;
use crate::error::{Error, Result, damaged_file, refused};
use crate::frames::{self, Frame, Rest};
use crate::journal::journals;

/// Folders of tables, and what is in each of them.
const KEYSPACES: &str = "keyspaces";
const CURRENT: &str = "current";
const TABLES: &str = "tables";
/// Files that the store looks for first.
const VERSION: &str = "version";
const LOCK: &str = "lock";
/// Bytes that are read at a time.
const PIECE: usize = 1 << 20;

/// What the journal holds.
#[derive(Debug, Default)]
pub struct Journal {
    pub first: Option<Frame>,
    pub last: Option<Frame>,
    /// Where its last file ends in a commit that was never written to its end.
    pub torn: Option<(PathBuf, u64)>,
}

/// Whether a folder has no tables yet.
pub fn is_new(tables: &Path) -> bool {
    !tables.join(KEYSPACES).exists()
}

/// Reads the journal. Of so many commits it is known that they are on the disk.
pub fn read_journal(tables: &Path, acknowledged: u64) -> Result<Journal> {
    let mut journal = Journal::default();
    let numbers: Vec<u64> = journals(tables)?.into_iter().map(|(number, _)| number).collect();
    let path = |number: u64| tables.join(format!("{number}.jnl"));
    let Some((&newest, &oldest)) = numbers.last().zip(numbers.first()) else {
        return Err(damaged_file(tables, &path(0), "there is no journal"));
    };
    for (at, &number) in numbers.iter().enumerate() {
        if number != oldest + at as u64 {
            return Err(damaged_file(tables, &path(oldest + at as u64), "is missing"));
        }
        let path = path(number);
        let bytes = read(&path)?;
        let found = frames::read(&bytes, journal.last);
        let broken = |what: &str| {
            let batch = found.last.map_or_else(
                || "the first batch".to_owned(),
                |last| format!("batch {}", last.link.number + 1),
            );
            damaged_file(tables, &path, format!("{batch}, at byte {}, {what}", found.end))
        };
        let awaited = found.last.is_some_and(|last| acknowledged > last.link.number);
        match found.rest {
            Rest::Damaged(what) => return Err(broken(what)),
            Rest::Torn if awaited || number != newest => {
                return Err(broken("is torn, though it was on the disk"));
            }
            Rest::Torn => journal.torn = Some((path.clone(), found.end as u64)),
            // The store begins another journal when one is long, so all but the last hold something.
            Rest::Nothing if number != newest && found.first.is_none() => return Err(broken("is missing")),
            Rest::Nothing if number == newest && awaited => {
                return Err(broken("is missing, though it was on the disk"));
            }
            Rest::Nothing => {}
        }
        journal.first = journal.first.or(found.first);
        journal.last = found.last;
    }
    Ok(journal)
}

impl Journal {
    /// Cuts off a torn end, so that what comes next stands behind the last whole commit.
    pub fn cut(&self) -> Result<()> {
        let Some((path, end)) = &self.torn else { return Ok(()) };
        let file = OpenOptions::new().write(true).open(path)?;
        file.set_len(*end).and_then(|()| file.sync_all()).map_err(refused)
    }
}

/// A table's file, and the checksum of its bytes.
type Listed = (PathBuf, u128);

/// The folders of the tables.
fn keyspaces(tables: &Path) -> Result<Vec<PathBuf>> {
    let mut folders = Vec::new();
    for entry in read_dir(tables.join(KEYSPACES))? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            folders.push(entry.path());
        }
    }
    folders.sort_unstable();
    Ok(folders)
}

/// Reads a file that must be there.
fn needed(tables: &Path, path: &Path) -> Result<Vec<u8>> {
    match read(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Err(damaged_file(tables, path, "is missing")),
        read => Ok(read?),
    }
}

/// The name of the file that describes a table, and its bytes, as its folder says.
fn described(tables: &Path, folder: &Path) -> Result<(PathBuf, Vec<u8>)> {
    let current = folder.join(CURRENT);
    let bytes = needed(tables, &current)?;
    let odd = || damaged_file(tables, &current, "does not fit the file it names");
    let parts = bytes.split_at_checked(8).zip(bytes.split_last());
    let ((number, rest), (&kind, _)) = parts.filter(|_| bytes.len() == 25).ok_or_else(odd)?;
    let number = u64::from_le_bytes(number.try_into().expect("eight bytes"));
    let checksum = u128::from_le_bytes(rest[..16].try_into().expect("sixteen bytes"));
    let path = folder.join(format!("v{number}"));
    let bytes = match read(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Err(damaged_file(tables, &current, format!("names v{number}, which is not there")));
        }
        read => read?,
    };
    if xxh3_128(&bytes) != checksum || kind != 0 {
        return Err(damaged_file(tables, &path, format!("does not fit its checksum in {CURRENT}")));
    }
    Ok((path, bytes))
}

/// The files of a table; what says so is checked.
fn listed(tables: &Path, folder: &Path) -> Result<Vec<Listed>> {
    let (path, bytes) = described(tables, folder)?;
    let odd = || damaged_file(tables, &path, "cannot be read");
    let contents = sfa::Reader::from_reader(&mut std::io::Cursor::new(&bytes)).map_err(|_| odd())?;
    let section = contents.toc().section(b"tables").ok_or_else(odd)?;
    let from = section.pos() as usize;
    let mut bytes = bytes.get(from..from + section.len() as usize).ok_or_else(odd)?;
    let mut number = |count: usize| -> Result<u128> {
        let (taken, rest) = bytes.split_at_checked(count).ok_or_else(odd)?;
        bytes = rest;
        Ok(taken.iter().rev().fold(0, |number, &byte| number << 8 | u128::from(byte)))
    };
    let mut files = Vec::new();
    for _ in 0..number(1)? {
        for _ in 0..number(1)? {
            for _ in 0..number(4)? {
                let (id, _, checksum, _) = (number(8)?, number(1)?, number(16)?, number(8)?);
                files.push((folder.join(TABLES).join(id.to_string()), checksum));
            }
        }
    }
    Ok(files)
}

/// Looks at what describes each table, and whether all that it names is there.
pub fn check_descriptions(tables: &Path) -> Result<()> {
    for name in [VERSION, LOCK, NOTE] {
        needed(tables, &tables.join(name))?;
    }
    for folder in keyspaces(tables)? {
        for (file, _) in listed(tables, &folder)? {
            if !file.exists() {
                return Err(damaged_file(tables, &file, "is missing"));
            }
        }
    }
    Ok(())
}

/// Reads all files of all tables and compares their checksums; what does not fit is told. The tables may be in use.
pub fn check_tables(tables: &Path) -> Result<Vec<String>> {
    let folders = keyspaces(tables)?;
    let complaints: Vec<Vec<String>> =
        folders.par_iter().map(|folder| check_table(tables, folder)).collect::<Result<_>>()?;
    Ok(complaints.into_iter().flatten().collect())
}

fn check_table(tables: &Path, folder: &Path) -> Result<Vec<String>> {
    loop {
        let before = read(folder.join(CURRENT)).ok();
        let complaints: Vec<String> = match listed(tables, folder) {
            Ok(files) => {
                files.iter().filter_map(|file| check_file(tables, file).transpose()).collect::<Result<_>>()?
            }
            Err(Error::Damaged(damage)) => vec![damage.to_string()],
            Err(error) => return Err(error),
        };
        // Who uses the tables may have merged their files meanwhile, and deleted the old ones.
        if complaints.is_empty() || read(folder.join(CURRENT)).ok() == before {
            return Ok(complaints);
        }
    }
}

fn check_file(tables: &Path, (path, checksum): &Listed) -> Result<Option<String>> {
    let mut file = match File::open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Ok(Some(damaged_file(tables, path, "is missing").to_string()));
        }
        opened => opened?,
    };
    let (mut digest, mut piece) = (Xxh3Default::new(), vec![0; PIECE]);
    loop {
        match file.read(&mut piece)? {
            0 => break,
            count => digest.update(&piece[..count]),
        }
    }
    let fits = digest.digest128() == *checksum;
    Ok((!fits).then(|| damaged_file(tables, path, "does not fit its checksum").to_string()))
}

/// Makes a folder that can be opened in place of another, which stays as it is: links to files of tables, which nobody
/// changes, and copies of all others.
pub fn stand_in(tables: &Path, out: &Path) -> Result<()> {
    let tables = tables.canonicalize()?;
    std::fs::create_dir_all(out)?;
    for entry in read_dir(&tables)? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            copy_written(&entry.path(), &out.join(entry.file_name()))?;
        }
    }
    for folder in keyspaces(&tables)? {
        let to = out.join(KEYSPACES).join(folder.file_name().unwrap_or_default());
        std::fs::create_dir_all(to.join(TABLES))?;
        let (described, bytes) = described(&tables, &folder)?;
        std::fs::write(to.join(described.file_name().unwrap_or_default()), bytes).map_err(refused)?;
        std::fs::copy(folder.join(CURRENT), to.join(CURRENT))?;
        for (file, _) in listed(&tables, &folder)? {
            link(&file, &to.join(TABLES).join(file.file_name().unwrap_or_default()))?;
        }
    }
    Ok(())
}

/// Copies a file without the zeros at its end: a journal is made longer than what is in it.
fn copy_written(from: &Path, to: &Path) -> Result<()> {
    let mut bytes = read(from)?;
    let written = bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    if from.extension().is_some_and(|extension| extension == "jnl") {
        bytes.truncate(written);
    }
    std::fs::write(to, bytes).map_err(refused)
}

#[cfg(unix)]
fn link(from: &Path, to: &Path) -> Result<()> {
    Ok(std::os::unix::fs::symlink(from, to)?)
}

#[cfg(not(unix))]
fn link(from: &Path, to: &Path) -> Result<()> {
    Ok(std::fs::hard_link(from, to).or_else(|_| std::fs::copy(from, to).map(drop))?)
}
