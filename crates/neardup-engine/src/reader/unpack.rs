//! Stored bytes to plain bytes: gzip, zstd, xz, bzip2 or nothing, known by the first bytes, not by the name.
//!
//! A compressed file is a row of *members* (gzip members, zstd frames, streams of xz and bzip2), and reading can begin at
//! any of them. The unpacker says where members start, which is what gives a WARC record its offset, and treats damage as
//! an event and not as the end: it looks for the next member that unpacks, so that one bad sector costs one member.
//! Memory is bounded whatever the input claims: a small piece of input is taken at a time and the output of a step is
//! capped, so a bomb comes out slowly and its reader can stop.
//!
//! An archive holds a gzip member for each record; those are unpacked whole by libdeflate (`members.rs` of the core) as
//! long as nothing is wrong with them.

use std::io::{self, Read};

use memchr::memmem;
use neardup_core::warc::members::{Members, Stop};
use neardup_core::warc::plain::{Pieces, Plain, Supply};

use super::codec::{Codec, Compression, is_skippable};
use crate::error::{Error, Result};

/// Bytes asked of a file at a time.
pub const READ_BYTES: usize = 1 << 20;
/// Compressed bytes given to a decoder at a time: of gzip more, for it copies its window after each step; of zstd fewer, for
/// a step gives all that it unpacks to.
const STEP: usize = 16 << 10;
const GZIP_STEP: usize = 64 << 10;
const ZSTD_STEP: usize = 4 << 10;
/// Bytes kept behind the reading position, to look for a member in after damage.
const LOOK_BACK: usize = 1 << 20;
/// The first byte of the frame that holds a .warc.zst file's dictionary, and the largest one that is read.
const DICTIONARY: u8 = 0x5D;
const DICTIONARY_BYTES: usize = 64 << 20;
/// Plain bytes of whole members unpacked at a time: few enough to be framed while they are still in the cache.
const UNPACKED_BYTES: usize = 512 << 10;
/// A member that is not whole within so many stored bytes is unpacked step by step.
const LONGEST_MEMBER: usize = 4 << 20;

/// The part of a file around the reading position.
struct Window {
    raw: Box<dyn Read + Send>,
    read_bytes: usize,
    data: Vec<u8>,
    /// Where in the file `data` begins, and where in it the position is.
    base: u64,
    at: usize,
    ended: bool,
    /// The position, unless a search for the next member went back.
    furthest: u64,
    /// Bytes that are kept behind the position.
    kept: usize,
}

impl Window {
    fn position(&self) -> u64 {
        self.base + self.at as u64
    }

    fn rest(&self) -> &[u8] {
        &self.data[self.at..]
    }

    /// Reads on until `size` bytes stand behind the position; fewer only at the end of the file.
    fn need(&mut self, size: usize) -> io::Result<()> {
        while self.data.len() - self.at < size && !self.ended {
            let drop = self.at.saturating_sub(self.kept);
            self.data.drain(..drop);
            self.base += drop as u64;
            self.at -= drop;
            let there = self.data.len();
            self.data.resize(there + self.read_bytes, 0);
            let read = self.raw.read(&mut self.data[there..]);
            self.data.truncate(there + read.as_ref().map_or(0, |size| *size));
            match read {
                Ok(size) => self.ended = size == 0,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Up to `size` bytes from the position on; fewer only at the end of the file.
    fn available(&mut self, size: usize) -> io::Result<&[u8]> {
        self.need(size)?;
        let rest = self.rest();
        Ok(&rest[..rest.len().min(size)])
    }

    /// Between 1 and `size` bytes, without reading on if any are there; none at the end of the file.
    fn some(&mut self, size: usize) -> io::Result<&[u8]> {
        self.need(1)?;
        let rest = self.rest();
        Ok(&rest[..rest.len().min(size)])
    }

    fn advance(&mut self, size: usize) {
        self.at += size;
        self.furthest = self.furthest.max(self.position());
    }

    /// Goes to a position behind, or as near to it as is still held.
    fn seek_back(&mut self, position: u64) {
        self.at = position.saturating_sub(self.base) as usize;
    }

    /// Goes to the next occurrence of `magic` at or behind the position; false if there is none.
    fn find(&mut self, magic: &[u8]) -> io::Result<bool> {
        loop {
            if let Some(place) = memmem::find(self.rest(), magic) {
                self.at += place;
                return Ok(true);
            }
            self.at = self.at.max((self.data.len() + 1).saturating_sub(magic.len()));
            if self.available(magic.len())?.len() < magic.len() {
                return Ok(false);
            }
        }
    }
}

/// Where the unpacker is.
#[derive(Debug)]
enum State {
    /// In front of a member, or whatever else follows one.
    Between,
    Inside {
        codec: Codec,
        start: u64,
        /// Whether nothing of the member has been given yet.
        first: bool,
    },
    /// What could be saved of a member was given; its damage comes next.
    Failing {
        start: u64,
        reason: String,
    },
    /// The next member behind `start` is to be looked for.
    Lost {
        start: u64,
    },
    Ended,
}

/// What came next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// Bytes were appended that belong to the member at `offset`; `starts` says that they are its beginning, so that
    /// reading can begin there. Of a file that is not compressed, every piece "starts", at its own offset.
    Data {
        offset: u64,
        starts: bool,
    },
    /// A hole: what was wrong at `offset`.
    Damage {
        offset: u64,
        reason: String,
    },
    End,
}

/// The plain bytes of a file, piece by piece.
///
/// ```
/// use std::io::{Cursor, Write};
///
/// use flate2::{Compression, write::GzEncoder};
/// use neardup_engine::reader::unpack::{Event, READ_BYTES, Unpacker};
///
/// let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
/// packer.write_all(b"hello")?;
/// let mut cut = packer.finish()?;
/// cut.truncate(cut.len() - 6);
/// let mut unpacker = Unpacker::new(Box::new(Cursor::new(cut)), READ_BYTES)?;
/// let mut plain = Vec::new();
/// assert_eq!(unpacker.next(&mut plain)?, Event::Data { offset: 0, starts: true });
/// assert_eq!(plain, b"hello");
/// let reason = "the file ends inside a gzip member".to_owned();
/// assert_eq!(unpacker.next(&mut plain)?, Event::Damage { offset: 0, reason });
/// assert_eq!(unpacker.next(&mut plain)?, Event::End);
/// # std::io::Result::Ok(())
/// ```
pub struct Unpacker {
    window: Window,
    pub compression: Compression,
    /// That of a .warc.zst file.
    dictionary: Option<Vec<u8>>,
    /// Whether the next piece begins behind the beginning of a member, or behind damage.
    inside: bool,
    state: State,
    members: Members,
    /// A decoder of zstd frames that waits for the next.
    spare: Option<Codec>,
}

impl std::fmt::Debug for Unpacker {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Unpacker({} at {})", self.compression.name(), self.window.position())
    }
}

impl Unpacker {
    /// Begins a file, of which `read_bytes` are asked for at a time.
    pub fn new(raw: Box<dyn Read + Send>, read_bytes: usize) -> io::Result<Self> {
        let mut window = Window {
            raw,
            read_bytes: read_bytes.max(1),
            data: Vec::new(),
            base: 0,
            at: 0,
            ended: false,
            furthest: 0,
            kept: LOOK_BACK,
        };
        let compression = Compression::of(window.available(Compression::HEAD_BYTES)?);
        if compression == Compression::None {
            window.kept = 0;
        }
        Ok(Self {
            window,
            compression,
            dictionary: None,
            inside: false,
            state: State::Between,
            members: Members::default(),
            spare: None,
        })
    }

    /// Stored bytes consumed so far; never less than before.
    pub fn taken(&self) -> u64 {
        self.window.furthest
    }

    pub fn has_dictionary(&self) -> bool {
        self.dictionary.is_some()
    }

    /// Appends the next plain bytes to `out`, or says why there are none.
    pub fn next(&mut self, out: &mut Vec<u8>) -> io::Result<Event> {
        if self.compression == Compression::None {
            let (offset, size) = (self.window.position(), READ_BYTES);
            let bytes = self.window.some(size)?;
            let size = bytes.len();
            out.extend_from_slice(bytes);
            self.window.advance(size);
            return Ok(if size > 0 { Event::Data { offset, starts: true } } else { Event::End });
        }
        loop {
            match std::mem::replace(&mut self.state, State::Between) {
                State::Between => {
                    let start = self.window.position();
                    let head = self.window.available(Compression::HEAD_BYTES)?;
                    if head.is_empty() {
                        self.state = State::Ended;
                    } else if head[0] == 0 {
                        self.skip_padding()?;
                    } else if self.compression == Compression::Zstd && is_skippable(head) {
                        if let Err(error) = self.skippable(start)? {
                            return Ok(self.damaged(start, &error));
                        }
                    } else if !head.starts_with(self.compression.magic()) {
                        let name = self.compression.name();
                        return Ok(self.damage(start, format!("bytes that are no {name} member")));
                    } else {
                        match self.codec() {
                            Ok(codec) => self.state = State::Inside { codec, start, first: true },
                            Err(error) => return Ok(self.damaged(start, &error)),
                        }
                    }
                }
                State::Inside { codec, start, first } => {
                    if let Some(event) = self.inside(codec, start, first, out)? {
                        return Ok(event);
                    }
                }
                State::Failing { start, reason } => return Ok(self.damage(start, reason)),
                State::Lost { start } => {
                    if !self.resume(start)? {
                        self.state = State::Ended;
                    }
                }
                State::Ended => {
                    self.state = State::Ended;
                    return Ok(Event::End);
                }
            }
        }
    }

    /// One step inside a member; none where it gave nothing.
    fn inside(
        &mut self,
        mut codec: Codec,
        start: u64,
        first: bool,
        out: &mut Vec<u8>,
    ) -> io::Result<Option<Event>> {
        self.inside = true;
        let before = out.len();
        let given = self.window.some(match self.compression {
            Compression::Gzip => GZIP_STEP,
            Compression::Zstd => ZSTD_STEP,
            _ => STEP,
        })?;
        let (at_end, step) = (given.is_empty(), codec.step(given, out));
        let data = Event::Data { offset: start, starts: first };
        let gave = out.len() > before;
        match step {
            Err(error) => {
                let reason = self.reason(&error);
                if !gave {
                    return Ok(Some(self.damage(start, reason)));
                }
                self.state = State::Failing { start, reason };
            }
            Ok(step) if at_end && !gave && !step.done => {
                let reason = format!("the file ends inside {}", self.compression.member());
                return Ok(Some(self.damage(start, reason)));
            }
            Ok(step) => {
                self.window.advance(step.used);
                self.inside = !step.done;
                if step.done {
                    self.spare = matches!(codec, Codec::Zstd(_)).then_some(codec);
                } else {
                    self.state = State::Inside { codec, start, first: first && !gave };
                }
            }
        }
        Ok(gave.then_some(data))
    }

    fn codec(&mut self) -> Result<Codec> {
        match self.spare.take() {
            Some(codec) => Ok(codec),
            None => Codec::new(self.compression, self.dictionary.as_deref()),
        }
    }

    fn reason(&self, error: &Error) -> String {
        format!("damaged {} data: {error}", self.compression.name())
    }

    fn damaged(&mut self, start: u64, error: &Error) -> Event {
        let reason = self.reason(error);
        self.damage(start, reason)
    }

    fn damage(&mut self, start: u64, reason: String) -> Event {
        self.inside = true;
        self.state = State::Lost { start };
        Event::Damage { offset: start, reason }
    }

    /// Passes zero bytes, with which tapes and disks fill up the space behind a member.
    fn skip_padding(&mut self) -> io::Result<()> {
        loop {
            let given = self.window.some(STEP)?;
            let (size, zeros) = (given.len(), given.iter().take_while(|byte| **byte == 0).count());
            self.window.advance(zeros);
            if size == 0 || zeros < size {
                return Ok(());
            }
        }
    }

    /// Passes a frame that is not data; the dictionary of a .warc.zst file is in one.
    fn skippable(&mut self, start: u64) -> io::Result<Result<()>> {
        let head = self.window.available(8)?;
        let (first, length) = (head[0], head.len());
        let mut size = head
            .get(4..8)
            .map_or(0, |size| u32::from_le_bytes(size.try_into().expect("four bytes")) as usize);
        self.window.advance(length);
        if start == 0 && first == DICTIONARY && size <= DICTIONARY_BYTES {
            let stored = self.window.available(size)?;
            let dictionary = if stored.starts_with(Compression::Zstd.magic()) {
                unpacked_dictionary(stored)
            } else {
                Ok(stored.to_vec())
            };
            match dictionary {
                Ok(dictionary) => self.dictionary = Some(dictionary),
                Err(error) => return Ok(Err(error)),
            }
        }
        while size > 0 {
            let passed = self.window.some(size.min(READ_BYTES))?.len();
            if passed == 0 {
                break;
            }
            self.window.advance(passed);
            size -= passed;
        }
        Ok(Ok(()))
    }

    /// Goes to the next member behind `start` that unpacks; false if there is none.
    fn resume(&mut self, start: u64) -> io::Result<bool> {
        self.spare = None;
        let magic = self.compression.magic();
        self.window.seek_back(start + 1);
        let mut scratch = Vec::new();
        while self.window.find(magic)? {
            let sample = self.window.available(STEP)?;
            let end = if self.compression == Compression::Zstd { ZSTD_STEP } else { STEP };
            let sample = &sample[..sample.len().min(end)];
            scratch.clear();
            let unpacks = Codec::new(self.compression, self.dictionary.as_deref())
                .and_then(|mut codec| codec.step(sample, &mut scratch));
            if unpacks.is_ok() {
                return Ok(true);
            }
            self.window.advance(1);
        }
        let left = self.window.available(magic.len())?.len();
        self.window.advance(left);
        Ok(false)
    }

    /// Unpacks whole gzip members into `plain`; how many bytes these gave, and why no more of them.
    fn whole_members(&mut self, plain: &mut Plain) -> (usize, Stop) {
        let mut starts = Vec::new();
        let window = &mut self.window;
        let room = plain.room();
        let before = room.len();
        let started = |at, length| starts.push((length, window.base + at as u64));
        let stop = self.members.unpack(&window.data, &mut window.at, room, UNPACKED_BYTES, started);
        window.furthest = window.furthest.max(window.base + window.at as u64);
        let added = room.len() - before;
        for (length, offset) in starts {
            plain.starts_member(length, offset);
        }
        (added, stop)
    }
}

fn unpacked_dictionary(stored: &[u8]) -> Result<Vec<u8>> {
    let mut codec = Codec::new(Compression::Zstd, None)?;
    let (mut dictionary, mut at) = (Vec::new(), 0);
    loop {
        let before = dictionary.len();
        let step = codec.step(&stored[at..], &mut dictionary)?;
        at += step.used;
        if step.done
            || dictionary.len() > DICTIONARY_BYTES
            || (at == stored.len() && dictionary.len() == before)
        {
            return Ok(dictionary);
        }
    }
}

/// Into what is framed: whole gzip members as long as nothing is wrong, everything else step by step.
impl Pieces for Unpacker {
    type Error = io::Error;

    fn next(&mut self, plain: &mut Plain) -> io::Result<Supply> {
        if self.compression == Compression::Gzip && !self.inside && matches!(self.state, State::Between) {
            let (mut size, mut seen) = (1, 0);
            loop {
                self.window.need(size)?;
                let (added, stop) = self.whole_members(plain);
                if added > 0 {
                    return Ok(Supply::More);
                }
                let rest = self.window.rest().len();
                // Behind the last whole member the window may end too early; at the end of the file it cannot grow.
                let more = match stop {
                    Stop::Enough | Stop::TooLarge => false,
                    Stop::Exhausted => seen == 0 || rest > seen,
                    Stop::NotWhole => rest < LONGEST_MEMBER && rest > seen,
                };
                if !more {
                    break;
                }
                size = rest + rest.max(READ_BYTES);
                seen = rest.max(1);
            }
        }
        let room = plain.room();
        let from = room.len();
        Ok(match self.next(room)? {
            Event::Data { offset, starts } => {
                plain.appended(from, offset, starts);
                Supply::More
            }
            Event::Damage { offset, reason } => Supply::Damage { offset, reason },
            Event::End => Supply::End,
        })
    }

    fn taken(&self) -> u64 {
        self.window.furthest
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Write};

    use flate2::Compression as Level;
    use flate2::write::GzEncoder;
    use proptest::prelude::*;

    use super::*;

    /// A file that gives few bytes at a time.
    struct Trickle(Cursor<Vec<u8>>, usize);

    impl Read for Trickle {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let most = buffer.len().min(self.1);
            self.0.read(&mut buffer[..most])
        }
    }

    fn gzip(data: &[u8]) -> Vec<u8> {
        let mut packer = GzEncoder::new(Vec::new(), Level::fast());
        packer.write_all(data).unwrap();
        packer.finish().unwrap()
    }

    fn zstd(data: &[u8]) -> Vec<u8> {
        let mut packed = Vec::with_capacity(zstd_safe::compress_bound(data.len()));
        let mut context = zstd_safe::CCtx::create();
        context.set_parameter(zstd_safe::CParameter::ChecksumFlag(true)).unwrap();
        context.compress2(&mut packed, data).unwrap();
        packed
    }

    fn xz(data: &[u8]) -> Vec<u8> {
        let mut packer = liblzma::write::XzEncoder::new(Vec::new(), 1);
        packer.write_all(data).unwrap();
        packer.finish().unwrap()
    }

    fn bzip2(data: &[u8]) -> Vec<u8> {
        let mut packer = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
        packer.write_all(data).unwrap();
        packer.finish().unwrap()
    }

    const PACKERS: [fn(&[u8]) -> Vec<u8>; 4] = [gzip, zstd, xz, bzip2];

    /// All plain bytes, where members start in the stored and the plain bytes, and what was damaged.
    fn unpack(stored: &[u8], most: usize) -> (Vec<u8>, Vec<(u64, usize)>, Vec<(u64, String)>) {
        let file = Trickle(Cursor::new(stored.to_vec()), most);
        let mut unpacker = Unpacker::new(Box::new(file), READ_BYTES).unwrap();
        let (mut plain, mut members, mut holes) = (Vec::new(), Vec::new(), Vec::new());
        loop {
            let length = plain.len();
            match unpacker.next(&mut plain).unwrap() {
                Event::Data { offset, starts: true } => members.push((offset, length)),
                Event::Data { .. } => {}
                Event::Damage { offset, reason } => holes.push((offset, reason)),
                Event::End => break,
            }
        }
        assert_eq!(unpacker.taken(), stored.len() as u64);
        (plain, members, holes)
    }

    #[test]
    fn members_say_where_they_start() {
        for pack in PACKERS {
            let (one, two) = (pack(b"one "), pack(b"two"));
            for most in [1, 7, 1 << 20] {
                let (plain, members, holes) = unpack(&[one.as_slice(), &[0; 99], &two].concat(), most);
                assert_eq!((plain.as_slice(), holes), (b"one two".as_slice(), vec![]));
                assert_eq!(members, [(0, 0), (one.len() as u64 + 99, 4)]);
            }
        }
    }

    #[test]
    fn damage_costs_a_member_and_no_more() {
        let text: Vec<u8> =
            (0..40_000u32).flat_map(|at| at.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
        for pack in PACKERS {
            let (good, mut bad) = (pack(b"good"), pack(&text));
            let middle = bad.len() / 2;
            bad[middle..middle + 40].fill(0xFF);
            let (plain, members, holes) = unpack(&[&bad, good.as_slice()].concat(), 1 << 20);
            assert!(plain.ends_with(b"good"));
            assert_eq!(members.last().unwrap().0, bad.len() as u64);
            assert_eq!((holes.len(), holes[0].0), (1, 0));
        }
    }

    #[test]
    fn a_wrong_checksum_and_rubbish_are_named() {
        let mut packed = gzip(b"text");
        let end = packed.len() - 8;
        packed[end] ^= 1;
        let (plain, _, holes) = unpack(&[packed.as_slice(), b"rubbish"].concat(), 1 << 20);
        assert_eq!(plain, b"text");
        assert_eq!(holes[0].1, "damaged gzip data: incorrect data check");
        assert_eq!(
            unpack(&[gzip(b"x").as_slice(), b"rubbish"].concat(), 9).2[0].1,
            "bytes that are no gzip member"
        );
    }

    #[test]
    fn a_bomb_comes_out_slowly() {
        for pack in PACKERS {
            let file = Cursor::new(pack(&vec![b'x'; 50 << 20]));
            let mut unpacker = Unpacker::new(Box::new(file), READ_BYTES).unwrap();
            let mut plain = Vec::new();
            unpacker.next(&mut plain).unwrap();
            assert!(plain.len() <= 2 << 20, "{}", plain.len());
        }
    }

    proptest! {
        #[test]
        fn any_cut_is_survived(texts in prop::collection::vec("[a-z]{0,300}", 1..5), cut: prop::sample::Index, flip: u8) {
            for pack in PACKERS {
                let members: Vec<Vec<u8>> = texts.iter().map(|text| pack(text.as_bytes())).collect();
                let mut stored = members.concat();
                let whole = texts.concat();
                let (plain, ..) = unpack(&stored, 1 << 20);
                prop_assert_eq!(plain.as_slice(), whole.as_bytes());
                let at = cut.index(stored.len());
                stored[at] ^= flip;
                unpack(&stored, 1 << 20);
                if Compression::of(&stored[..at]) == Compression::None {
                    continue;
                }
                let (plain, _, holes) = unpack(&stored[..at], 1 << 20);
                prop_assert!(whole.as_bytes().starts_with(&plain));
                let mut ends = members.iter().scan(0, |end, member| { *end += member.len(); Some(*end) });
                prop_assert_eq!(holes.is_empty(), ends.any(|end| end == at));
            }
        }
    }
}
