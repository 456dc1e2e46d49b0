//! WARC framing: records out of a stream of bytes, with damage between, inside and around them.
//!
//! A record is a header, a block of the length that the header gives, and an empty line. Libraries stop at the first
//! thing that breaks this, or take a block that runs into the next record for good; here each record is checked against
//! what follows it, and after a broken one the search goes on for the next line `WARC/1.x`, from inside the broken
//! record if its length cannot be trusted. Every byte is either part of a record, or of something named as bad.
//!
//! A block is held whole up to [`Bounds::block`]; of a longer one only the head is, enough to say what it was. What comes
//! out does not depend on how the bytes were cut into pieces. Cost: every byte is looked at once, and copied once more
//! where a record goes over the end of a piece.

use memchr::{memchr, memmem};

use super::lines::{START_BYTES, run_value, starts_record, version_line};
use super::plain::{Pieces, Plain, Position};

/// Headers end within so many bytes.
const HEADER_BYTES: usize = 64 << 10;

/// How much of a long block is passed at a time.
const STEP_BYTES: u64 = 1 << 20;

/// How much of a record is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Blocks up to this length are held whole.
    pub block: u64,
    /// What is held of longer ones.
    pub head: usize,
}

/// One record as it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    pub position: Position,
    /// Of the stored bytes, where reading can begin there.
    pub stored: Option<Stored>,
    /// The value of `WARC-Type`, in the case it is written in; empty where there is none.
    pub kind: &'a str,
    pub header: &'a [u8],
    /// Shorter than `block_length` where only its head was held.
    pub block: &'a [u8],
    pub block_length: u64,
}

/// A stretch of the stored file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stored {
    pub offset: u64,
    pub length: u64,
}

/// A record, or a stretch that is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Framed<'a> {
    Record(Record<'a>),
    Bad { position: Position, reason: String },
}

/// What a step found; the bytes of a record are those that [`Plain`] holds, or the framer's `head`.
enum Found {
    Record { position: Position, stored: Option<Stored>, header: usize, block_length: u64 },
    Bad { position: Position, reason: String },
}

/// Frames one file.
#[derive(Debug)]
pub struct Framer {
    plain: Plain,
    bounds: Bounds,
    /// Header and head of a block that was too long to hold; empty for records that are held.
    head: Vec<u8>,
}

impl Framer {
    /// A framer for a new file, compressed or not.
    pub fn new(uncompressed: bool, bounds: Bounds) -> Self {
        Self { plain: Plain::new(uncompressed), bounds, head: Vec::new() }
    }

    /// The next record or bad stretch; none at the end of the file.
    pub fn next<P: Pieces>(&mut self, pieces: &mut P) -> Result<Option<Framed<'_>>, P::Error> {
        self.plain.let_go();
        self.head.clear();
        Ok(self.step(pieces)?.map(|found| self.framed(found)))
    }

    fn framed(&self, found: Found) -> Framed<'_> {
        match found {
            Found::Bad { position, reason } => Framed::Bad { position, reason },
            Found::Record { position, stored, header, block_length } => {
                let held = if self.head.is_empty() {
                    &self.plain.held()[..header + block_length as usize]
                } else {
                    &self.head
                };
                let (header, block) = held.split_at(header);
                Framed::Record(Record { position, stored, kind: kind(header), header, block, block_length })
            }
        }
    }

    fn step<P: Pieces>(&mut self, pieces: &mut P) -> Result<Option<Found>, P::Error> {
        self.skip_empty_lines(pieces)?;
        if self.plain.is_empty() {
            return Ok(self.plain.damage.take().map(|damage| Found::Bad {
                position: Position::Stored(damage.offset),
                reason: damage.reason,
            }));
        }
        self.plain.need(START_BYTES, pieces)?;
        if version_line(self.plain.bytes()).is_none() {
            let from = self.plain.passed();
            let position = self.position(pieces);
            self.search(0, pieces)?;
            let passed = self.plain.passed() - from;
            return Ok(Some(self.bad(position, format!("{passed} bytes that belong to no record"))));
        }
        self.record(pieces).map(Some)
    }

    /// Reads a record whose first line stands here.
    fn record<P: Pieces>(&mut self, pieces: &mut P) -> Result<Found, P::Error> {
        let (position, offset) = (self.position(pieces), self.plain.stored_offset(|| pieces.taken()));
        self.plain.hold();
        let Some(header) = self.header_end(pieces)? else {
            return self.broken(position, "a record header that does not end".into(), pieces);
        };
        let Some(size) = content_length(&self.plain.bytes()[..header]) else {
            return self.broken(position, "a record without a valid Content-Length".into(), pieces);
        };
        if size > self.bounds.block {
            return self.long_record(position, offset, header, size, pieces);
        }
        let end = header + size as usize;
        // One byte more than the record and its empty line: what follows shows whether the length was right.
        self.plain.need(end + 5, pieces)?;
        let cut = self.member_inside(end);
        let there = self.plain.bytes().len();
        if cut.is_none() && there >= end && self.ends_well(end) {
            self.plain.pass(end);
            self.skip_empty_lines(pieces)?;
            let member = self.plain.member();
            if self.plain.is_empty()
                && let Some(damage) = self.plain.damage.take_if(|damage| damage.offset == member)
            {
                // The checksum of a member comes behind its bytes: this record's bytes are the ones it speaks of.
                return Ok(Found::Bad { position, reason: damage.to_string() });
            }
            let stored = self.stored_from(offset, pieces);
            return Ok(Found::Record { position, stored, header, block_length: size });
        }
        if cut.is_some() || there < end {
            let have = cut.unwrap_or(there).min(end) as i64 - header as i64;
            return self.broken(position, format!("a record cut short: {have} of {size} bytes"), pieces);
        }
        let reason = format!("a record that does not end where its Content-Length of {size} says");
        self.broken(position, reason, pieces)
    }

    /// A block that is too long to hold: its head is kept, the rest passed, unless records begin there.
    fn long_record<P: Pieces>(
        &mut self,
        position: Position,
        offset: Option<u64>,
        header: usize,
        size: u64,
        pieces: &mut P,
    ) -> Result<Found, P::Error> {
        self.plain.let_go();
        self.plain.need(header + self.bounds.head, pieces)?;
        let there = self.plain.bytes();
        self.head.extend_from_slice(&there[..there.len().min(header + self.bounds.head)]);
        self.plain.pass(header);
        let mut left = size;
        while left > 0 {
            self.plain.need(left.min(STEP_BYTES) as usize + START_BYTES, pieces)?;
            if self.plain.is_empty() {
                break;
            }
            if let Some(found) = self.next_start(0).filter(|found| (*found as u64) < left) {
                self.plain.pass(found);
                let there = size - left + found as u64;
                let passed = header as u64 + there;
                let reason =
                    format!("a record cut short: {there} of {size} bytes; {passed} bytes passed over");
                return Ok(Found::Bad { position, reason });
            }
            let there = self.plain.bytes().len();
            let known = if self.plain.at_end() { there } else { there.saturating_sub(START_BYTES).max(1) };
            let step = left.min(known as u64);
            self.plain.pass(step as usize);
            left -= step;
        }
        if left > 0 {
            let (there, passed) = (size - left, header as u64 + size - left);
            let mut reason =
                format!("a record cut short: {there} of {size} bytes; {passed} bytes passed over");
            if let Some(damage) = self.plain.damage.take() {
                reason = format!("{reason}: {damage}");
            }
            return Ok(Found::Bad { position, reason });
        }
        self.skip_empty_lines(pieces)?;
        let stored = self.stored_from(offset, pieces);
        Ok(Found::Record { position, stored, header, block_length: size })
    }

    /// A record that is none: what follows its first letters is searched for the next.
    fn broken<P: Pieces>(
        &mut self,
        position: Position,
        reason: String,
        pieces: &mut P,
    ) -> Result<Found, P::Error> {
        self.plain.let_go();
        let from = self.plain.passed();
        self.search(5, pieces)?;
        let passed = self.plain.passed() - from;
        Ok(self.bad(position, format!("{reason}; {passed} bytes passed over")))
    }

    /// A bad stretch that ends here; damage that stands at its end is part of it.
    fn bad(&mut self, position: Position, mut reason: String) -> Found {
        if self.plain.is_empty()
            && let Some(damage) = self.plain.damage.take()
        {
            reason = format!("{reason}: {damage}");
        }
        Found::Bad { position, reason }
    }

    /// Passes bytes up to the next record, looking from `begin` on.
    fn search<P: Pieces>(&mut self, mut begin: usize, pieces: &mut P) -> Result<(), P::Error> {
        loop {
            if let Some(found) = self.next_start(begin) {
                self.plain.pass(found);
                return Ok(());
            }
            // A record may begin in the last few bytes; all before them are done with.
            let searched = self.plain.bytes().len().saturating_sub(START_BYTES);
            self.plain.pass(searched);
            begin = begin.saturating_sub(searched);
            if !self.plain.fill(pieces)? {
                self.plain.pass(self.plain.bytes().len());
                return Ok(());
            }
        }
    }

    /// Where, from `begin` on, a record seems to start: a member's beginning, or a line.
    fn next_start(&self, begin: usize) -> Option<usize> {
        let bytes = self.plain.bytes();
        let line = memmem::find_iter(bytes.get(begin..)?, b"WARC/")
            .map(|found| begin + found)
            .find(|found| starts_record(&bytes[*found..]));
        let before = line.unwrap_or(bytes.len());
        let member = self
            .plain
            .member_starts()
            .take_while(|start| *start < before)
            .find(|start| *start >= begin && version_line(&bytes[*start..]).is_some());
        member.or(line)
    }

    /// Where the header ends that begins here: behind its empty line.
    fn header_end<P: Pieces>(&mut self, pieces: &mut P) -> Result<Option<usize>, P::Error> {
        let mut searched = 0;
        loop {
            let bytes = self.plain.bytes();
            let header = &bytes[..bytes.len().min(HEADER_BYTES)];
            while let Some(found) = memchr(b'\n', &header[searched..]) {
                let feed = searched + found;
                match &header[feed + 1..] {
                    [b'\n', ..] => return Ok(Some(feed + 2)),
                    [b'\r', b'\n', ..] if header[..feed].ends_with(b"\r") => return Ok(Some(feed + 3)),
                    // The line that follows is not there yet.
                    [] | [b'\r'] => break,
                    _ => searched = feed + 1,
                }
            }
            if bytes.len() >= HEADER_BYTES || !self.plain.fill(pieces)? {
                return Ok(None);
            }
        }
    }

    /// Where, before `end` but not at once, a member begins that begins a record.
    fn member_inside(&self, end: usize) -> Option<usize> {
        let bytes = self.plain.bytes();
        let mut inside = self.plain.member_starts().take_while(|start| *start < end);
        inside.find(|start| *start > 0 && bytes[*start..].starts_with(b"WARC/"))
    }

    /// Whether a record may end there: an empty line, the next record, a member's start or nothing follows.
    fn ends_well(&self, end: usize) -> bool {
        let bytes = self.plain.bytes();
        let after = &bytes[end..bytes.len().min(end + 5)];
        if after.is_empty()
            || [b"\r\n\r\n".as_slice(), b"\n\n", b"WARC/"].iter().any(|ok| after.starts_with(ok))
        {
            return true;
        }
        if self.plain.at_end() && after.iter().all(|byte| is_line_end(*byte)) {
            return true;
        }
        self.plain.member_starts().take_while(|start| *start <= end).any(|start| start == end)
    }

    fn skip_empty_lines<P: Pieces>(&mut self, pieces: &mut P) -> Result<(), P::Error> {
        while self.plain.need(1, pieces)? {
            let empty = self.plain.bytes().iter().take(64).take_while(|byte| is_line_end(**byte)).count();
            if empty == 0 {
                break;
            }
            self.plain.pass(empty);
        }
        Ok(())
    }

    fn position<P: Pieces>(&self, pieces: &P) -> Position {
        let offset = self.plain.stored_offset(|| pieces.taken());
        offset.map_or(Position::Unpacked(self.plain.passed()), Position::Stored)
    }

    /// The stored stretch from `offset` up to here, if reading can begin at both.
    fn stored_from<P: Pieces>(&self, offset: Option<u64>, pieces: &P) -> Option<Stored> {
        let after = self.plain.stored_offset(|| pieces.taken())?;
        offset.map(|offset| Stored { offset, length: after.saturating_sub(offset) })
    }
}

fn is_line_end(byte: u8) -> bool {
    matches!(byte, b'\r' | b'\n')
}

fn content_length(header: &[u8]) -> Option<u64> {
    let digits = run_value(header, "Content-Length", 18, u8::is_ascii_digit)?;
    std::str::from_utf8(digits).ok()?.parse().ok()
}

fn kind(header: &[u8]) -> &str {
    let letters = run_value(header, "WARC-Type", usize::MAX, u8::is_ascii_alphabetic);
    letters.and_then(|letters| std::str::from_utf8(letters).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use proptest::prelude::*;

    use super::*;
    use crate::warc::plain::Supply;

    /// A file in memory, cut into pieces: each is a member of its own, or all are parts of a file without members.
    struct Cut {
        pieces: std::vec::IntoIter<Vec<u8>>,
        members: bool,
        taken: u64,
    }

    impl Cut {
        fn new(pieces: Vec<Vec<u8>>, members: bool) -> Self {
            Self { pieces: pieces.into_iter(), members, taken: 0 }
        }
    }

    impl Pieces for Cut {
        type Error = Infallible;

        fn next(&mut self, plain: &mut Plain) -> Result<Supply, Infallible> {
            let Some(piece) = self.pieces.next() else { return Ok(Supply::End) };
            if piece == b"damage" {
                return Ok(Supply::Damage { offset: self.taken, reason: "a hole".into() });
            }
            plain.append(&piece, self.taken, self.members && !piece.is_empty());
            self.taken += piece.len() as u64;
            Ok(Supply::More)
        }

        fn taken(&self) -> u64 {
            self.taken
        }
    }

    const BOUNDS: Bounds = Bounds { block: 40, head: 10 };

    /// Each as a line: where, which stretch, what.
    fn frames(mut pieces: Cut) -> Vec<String> {
        let mut framer = Framer::new(!pieces.members, BOUNDS);
        let mut found = Vec::new();
        while let Some(framed) = framer.next(&mut pieces).unwrap_or_default() {
            found.push(match framed {
                Framed::Bad { position, reason } => format!("{position}: {reason}"),
                Framed::Record(record) => {
                    let stored = record.stored.map(|stored| (stored.offset, stored.length));
                    let block = String::from_utf8_lossy(record.block);
                    format!(
                        "{}: {stored:?} {} {block} of {}",
                        record.position, record.kind, record.block_length
                    )
                }
            });
        }
        found
    }

    fn record(block: &str) -> String {
        format!("WARC/1.0\r\nWARC-Type: resource\r\nContent-Length: {}\r\n\r\n{block}\r\n\r\n", block.len())
    }

    #[test]
    fn records_holes_and_rubbish() {
        let (one, two) = (record("one"), record(&"x".repeat(50)));
        let pieces = [one.as_str(), "rubbish", "damage", &two, &one[..50]];
        let pieces = pieces.map(|piece| piece.as_bytes().to_vec()).to_vec();
        assert_eq!(
            frames(Cut::new(pieces, true)),
            [
                "offset 0: Some((0, 59)) resource one of 3",
                "offset 59: 7 bytes that belong to no record: a hole (at byte 66 of the file)",
                "offset 66: Some((66, 107)) resource xxxxxxxxxx of 50",
                "offset 173: a record header that does not end; 50 bytes passed over",
            ]
        );
    }

    #[test]
    fn a_hole_behind_a_member_speaks_of_its_record() {
        let one = record("one").into_bytes();
        let mut pieces = Cut::new(vec![one, b"damage".to_vec()], true);
        // The checksum of the first member is wrong: the hole has the offset of that member.
        let mut framer = Framer::new(false, BOUNDS);
        pieces.taken = 0;
        let found = framer.next(&mut Late(pieces)).map(|framed| format!("{framed:?}"));
        assert!(found.unwrap_or_default().contains("a hole (at byte 0 of the file)"));
    }

    /// Tells of holes at the first byte of the file.
    struct Late(Cut);

    impl Pieces for Late {
        type Error = Infallible;

        fn next(&mut self, plain: &mut Plain) -> Result<Supply, Infallible> {
            self.0.taken = 0;
            self.0.next(plain)
        }

        fn taken(&self) -> u64 {
            0
        }
    }

    proptest! {
        #[test]
        fn how_the_bytes_are_cut_changes_nothing(
            parts in prop::collection::vec(
                prop_oneof![
                    "[a-z\r\n]{0,60}".prop_map(|block| record(&block)),
                    "[a-z]{0,9}".prop_map(|block| record(&block).replace("\r\n", "\n")),
                    ("[a-z]{0,9}", 0_usize..56).prop_map(|(block, cut)| record(&block)[..cut].to_owned()),
                    "WARC/1.0\r\n|Content-Length: [0-9]{1,2}\r\n\r\n|rubbish|\r\n|WARC/",
                ],
                0..6,
            ),
            size in 1_usize..200,
        ) {
            let whole = parts.concat().into_bytes();
            let cut = whole.chunks(size).map(<[u8]>::to_vec).collect();
            prop_assert_eq!(frames(Cut::new(cut, false)), frames(Cut::new(vec![whole], false)));
        }
    }
}
