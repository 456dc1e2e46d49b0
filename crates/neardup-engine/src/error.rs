//! What can go wrong between bytes and pages. A file that cannot be read is the system's error, and stays one.

use std::fmt;

/// Why bytes are no page, in words that need nothing before them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// Packed bytes that do not unpack.
    Damaged(String),
    /// The body of an answer whose codings cannot be undone.
    Body(String),
}

pub type Result<T> = std::result::Result<T, Error>;

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Damaged(reason) | Self::Body(reason)) = self;
        out.write_str(reason)
    }
}

impl std::error::Error for Error {}
