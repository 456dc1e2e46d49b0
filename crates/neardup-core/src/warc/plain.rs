//! Plain bytes on their way from unpacking to framing, and where in the file they are stored.
//!
//! A window over the unpacked file: bytes come in behind, in pieces of any size, and go out in front. With it go the
//! places where gzip members or zstd frames begin: reading can begin there, so they give records their offsets. Bytes
//! that are done with are moved out of the way only when more come in; what is *held* stays where it can be seen.

use std::collections::VecDeque;
use std::fmt;

/// A buffer that a huge record made larger than this is given back.
const LARGEST_KEPT: usize = 24 << 20;

/// Where more plain bytes come from.
pub trait Pieces {
    type Error;

    /// Puts the next bytes behind those of `plain`, or says why there are none.
    fn next(&mut self, plain: &mut Plain) -> Result<Supply, Self::Error>;

    /// Stored bytes consumed so far.
    fn taken(&self) -> u64;
}

/// What asking for more bytes came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Supply {
    More,
    /// Nothing can be had from what is stored at `offset` on, for this reason; asking again goes on behind it.
    Damage {
        offset: u64,
        reason: String,
    },
    End,
}

/// A hole in the file: where and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    pub offset: u64,
    pub reason: String,
}

impl fmt::Display for Damage {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} (at byte {} of the file)", self.reason, self.offset)
    }
}

/// A place in the file, for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Position {
    /// Reading can begin at this byte of the file.
    Stored(u64),
    /// This many plain bytes come before.
    Unpacked(u64),
}

impl fmt::Display for Position {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Position::Stored(offset) => write!(out, "offset {offset}"),
            Position::Unpacked(passed) => write!(out, "unpacked offset {passed}"),
        }
    }
}

/// The bytes not yet framed.
#[derive(Debug, Default)]
pub struct Plain {
    data: Vec<u8>,
    /// Where in `data` the bytes begin that are not done with, and those that are held (never later).
    at: usize,
    held: Option<usize>,
    /// Whether the file is not compressed, so that every byte is stored where it stands.
    uncompressed: bool,
    /// Plain bytes before `data[at]`.
    passed: u64,
    /// Where members start: plain position and stored offset, those that are passed left out.
    starts: VecDeque<(u64, u64)>,
    /// Stored offset of the member that the last bytes belong to.
    member: u64,
    pub damage: Option<Damage>,
    ended: bool,
}

impl Plain {
    pub fn new(uncompressed: bool) -> Self {
        Self { uncompressed, ..Self::default() }
    }

    /// The bytes not done with.
    #[inline(always)]
    pub fn bytes(&self) -> &[u8] {
        &self.data[self.at..]
    }

    pub fn is_empty(&self) -> bool {
        self.at == self.data.len()
    }

    pub fn passed(&self) -> u64 {
        self.passed
    }

    /// Stored offset of the member that the last bytes belong to.
    pub fn member(&self) -> u64 {
        self.member
    }

    /// Appends a piece; `starts` says that it is the beginning of the member stored at `offset`.
    pub fn append(&mut self, piece: &[u8], offset: u64, starts: bool) {
        let from = self.room().len();
        self.data.extend_from_slice(piece);
        self.appended(from, offset, starts);
    }

    /// What stands in [`Plain::room`] from `from` on was appended: as [`Plain::append`] says it.
    pub fn appended(&mut self, from: usize, offset: u64, starts: bool) {
        if starts {
            self.starts_member(from, offset);
        }
        self.member = offset;
    }

    /// The buffer, for who appends to it; what is done with is moved out of the way first.
    pub fn room(&mut self) -> &mut Vec<u8> {
        let keep = self.held.unwrap_or(self.at);
        if keep > 0 {
            self.data.drain(..keep);
            self.at -= keep;
            self.held = self.held.map(|held| held - keep);
        }
        if self.data.capacity() > LARGEST_KEPT && self.data.len() < LARGEST_KEPT / 4 {
            self.data.shrink_to(LARGEST_KEPT);
        }
        &mut self.data
    }

    /// A member stored at `offset` starts at `length` of [`Plain::room`].
    pub fn starts_member(&mut self, length: usize, offset: u64) {
        if !self.uncompressed {
            self.starts.push_back((self.passed + (length - self.at) as u64, offset));
        }
        self.member = offset;
    }

    /// Takes the next piece; false at the end of the file or at damage, which must be cleared first.
    pub fn fill<P: Pieces>(&mut self, pieces: &mut P) -> Result<bool, P::Error> {
        if self.damage.is_some() || self.ended {
            return Ok(false);
        }
        match pieces.next(self)? {
            Supply::More => return Ok(true),
            Supply::Damage { offset, reason } => self.damage = Some(Damage { offset, reason }),
            Supply::End => self.ended = true,
        }
        Ok(false)
    }

    /// Takes pieces until there are `size` bytes; false if there are not so many.
    #[inline]
    pub fn need<P: Pieces>(&mut self, size: usize, pieces: &mut P) -> Result<bool, P::Error> {
        while self.data.len() - self.at < size {
            if !self.fill(pieces)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Is done with the next `size` bytes.
    pub fn pass(&mut self, size: usize) {
        self.at += size;
        self.passed += size as u64;
        while self.starts.front().is_some_and(|(position, _)| *position < self.passed) {
            self.starts.pop_front();
        }
    }

    /// Holds all bytes from here on, also when they are done with.
    pub fn hold(&mut self) {
        self.held = Some(self.at);
    }

    pub fn let_go(&mut self) {
        self.held = None;
    }

    /// What is held.
    pub fn held(&self) -> &[u8] {
        &self.data[self.held.unwrap_or(self.at)..]
    }

    /// Where the next byte is stored, if reading can begin there; `taken` is asked for at the end of the file.
    pub fn stored_offset(&self, taken: impl FnOnce() -> u64) -> Option<u64> {
        if self.uncompressed {
            return Some(self.passed);
        }
        match self.starts.front() {
            Some((position, offset)) if *position == self.passed => Some(*offset),
            _ => (self.is_empty() && self.ended).then(taken),
        }
    }

    /// Where members start among the bytes not done with, in order.
    pub fn member_starts(&self) -> impl Iterator<Item = usize> {
        self.starts.iter().map(|(position, _)| (position - self.passed) as usize)
    }

    /// Whether nothing follows: the supply has ended, or is damaged from here on.
    pub fn at_end(&self) -> bool {
        self.ended || self.damage.is_some()
    }
}
