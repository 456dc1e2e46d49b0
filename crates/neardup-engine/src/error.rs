//! What can go wrong between bytes and pairs. A file that cannot be read is the system's error, and stays one.

use std::fmt;

/// Why bytes are no page, or pages give no pairs, in words that need nothing before them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// Packed bytes that do not unpack.
    Damaged(String),
    /// The body of an answer whose codings cannot be undone.
    Body(String),
    /// What is held of pages does not fit what is asked.
    Mismatch(&'static str),
    /// Sets in files of the scratch folder.
    Unreadable(String),
    Threads(String),
}

pub type Result<T> = std::result::Result<T, Error>;

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Damaged(reason) | Self::Body(reason) => out.write_str(reason),
            Self::Mismatch(reason) => out.write_str(reason),
            Self::Unreadable(reason) => write!(out, "sets cannot be read back: {reason}"),
            Self::Threads(reason) => write!(out, "cannot start threads: {reason}"),
        }
    }
}

impl std::error::Error for Error {}
