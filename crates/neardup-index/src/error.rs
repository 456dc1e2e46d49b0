//! What can go wrong with an index. Only what is stored and makes no sense is damage: a disk that is full, or a store
//! that another process has open, is not.

use std::fmt;
use std::path::{Path, PathBuf};

/// What can go wrong, in words that need nothing before them.
#[derive(Clone, Debug)]
pub enum Error {
    /// Another process, or another object of this one, has it open.
    Locked,
    /// What is stored makes no sense, or a checksum does not fit.
    Damaged(Damage),
    /// The operating system, or the store, refused.
    Store(String),
    /// The caller asked for what cannot be done.
    Usage(String),
}

/// What is damaged, and in which file if that is known: its path from the folder of the index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    pub file: Option<PathBuf>,
    pub what: String,
}

pub type Result<T> = std::result::Result<T, Error>;

/// Damage in an unknown file.
pub fn damaged(what: impl Into<String>) -> Error {
    Error::Damaged(Damage { file: None, what: what.into() })
}

/// Damage in a file of the tables in a folder.
pub fn damaged_file(tables: &Path, file: &Path, what: impl Into<String>) -> Error {
    let index = tables.parent().unwrap_or(tables);
    let file = file.strip_prefix(index).unwrap_or(file).to_owned();
    Error::Damaged(Damage { file: Some(file), what: what.into() })
}

impl fmt::Display for Damage {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.file {
            Some(file) => write!(formatter, "{}: {}", file.display(), self.what),
            None => formatter.write_str(&self.what),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Locked => formatter.write_str("the index is open elsewhere"),
            Error::Damaged(damage) => damage.fmt(formatter),
            Error::Store(what) | Error::Usage(what) => formatter.write_str(what),
        }
    }
}

impl std::error::Error for Error {}

impl From<fjall::Error> for Error {
    fn from(error: fjall::Error) -> Self {
        match error {
            fjall::Error::Locked => Error::Locked,
            fjall::Error::Io(error) | fjall::Error::Storage(fjall::LsmError::Io(error)) => error.into(),
            fjall::Error::Poisoned => {
                Error::Store("an earlier write failed; the index must be opened anew".to_owned())
            }
            fjall::Error::Storage(fjall::LsmError::ChecksumMismatch { .. }) => {
                damaged("a block of a table file does not fit its checksum")
            }
            fjall::Error::JournalRecovery(error) => damaged(format!("the journal cannot be read: {error:?}")),
            fjall::Error::Unrecoverable | fjall::Error::Storage(fjall::LsmError::Unrecoverable) => {
                damaged("a file that the store needs is missing or cut off")
            }
            other => damaged(format!("the store says {other:?}")),
        }
    }
}

/// What the operating system, or the store, said to a write or a sync. What is stored may be sound: nothing was read.
pub fn refused(error: impl Into<fjall::Error>) -> Error {
    match error.into() {
        fjall::Error::Io(error) | fjall::Error::Storage(fjall::LsmError::Io(error)) => {
            Error::Store(error.to_string())
        }
        other => other.into(),
    }
}

/// Of reading; of writing, [`refused`].
impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            // Files are read at places that were written, also counted from the end: one that is shorter was cut off.
            std::io::ErrorKind::UnexpectedEof | std::io::ErrorKind::InvalidInput => {
                damaged("a file is cut off")
            }
            _ => Error::Store(error.to_string()),
        }
    }
}
