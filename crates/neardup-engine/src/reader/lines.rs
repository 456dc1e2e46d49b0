//! JSON lines of a stream, cut into blocks of whole lines; a file that holds one JSON array, into blocks of its elements.
//!
//! A line ends at `\n` only. What is cut is not looked into: a worker parses it later. Damage in the stored bytes costs the
//! line that it stands in; a line or an element that is longer than a page may be is passed over and named, and never
//! held whole. Cost: every byte is copied once out of the decoder, and looked at once for line ends.

use std::collections::VecDeque;
use std::io;

use jiter::Jiter;
use memchr::{memchr, memchr_iter, memrchr};
use neardup_core::json_array::Cutter;
use neardup_core::length::too_long;

use super::codec::PIECE;
use super::unpack::{Event, Unpacker};

/// First plain bytes that show whether a file is an array.
pub const HEAD_BYTES: usize = 4096;

const BOM: &[u8] = b"\xef\xbb\xbf";

/// Whether a file that begins like this holds one array, and not lines of which the first happens to be one.
///
/// ```
/// use neardup_engine::reader::lines::array_begins;
///
/// assert!(array_begins(b"[\n  {\"id\": 1},") && array_begins(b"[{\"id\": 1}, {\"id\": 2}]"));
/// assert!(!array_begins(b"[1]\n[2]\n"));
/// ```
pub fn array_begins(head: &[u8]) -> bool {
    let text = head.strip_prefix(BOM).unwrap_or(head).trim_ascii_start();
    if !text.starts_with(b"[") {
        return false;
    }
    let Some(end) = memchr(b'\n', text) else { return true };
    let (line, rest) = text.split_at(end);
    rest.trim_ascii().is_empty() || !is_json(line)
}

fn is_json(line: &[u8]) -> bool {
    let mut values = Jiter::new(line).with_allow_inf_nan();
    std::str::from_utf8(line).is_ok() && values.next_skip().is_ok() && values.finish().is_ok()
}

/// What a block is cut from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    Line,
    Element,
}

impl Unit {
    pub fn name(self) -> &'static str {
        match self {
            Self::Line => "line",
            Self::Element => "element",
        }
    }
}

/// Whole lines of a file, or a place where they could not be had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Stored bytes that it took.
    pub taken: u64,
    pub data: Vec<u8>,
    /// The number of its first line, from 0.
    pub first: u64,
    /// Where it begins in the file, if reading can begin there.
    pub first_byte: Option<u64>,
    /// Why the line `first` could not be had.
    pub skipped: Option<String>,
    pub unit: Unit,
}

/// How much is cut at a time.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// Bytes of a block.
    pub block: usize,
    /// The most bytes of a line.
    pub longest: usize,
}

/// What the file turned out to be.
#[derive(Debug)]
enum Form {
    Unknown,
    Lines(Lines),
    Array { cutter: Cutter, first: u64 },
}

/// Cuts one file, which an [`Unpacker`] unpacks.
#[derive(Debug)]
pub struct LineBlocks {
    sizes: Sizes,
    form: Form,
    /// Blocks that are cut and not given yet.
    ready: VecDeque<Block>,
    counted: u64,
    ended: bool,
    /// Whether reading can begin at any line.
    seekable: bool,
}

impl LineBlocks {
    /// `seekable` says that plain bytes are found again at their places.
    pub fn new(sizes: Sizes, seekable: bool) -> Self {
        Self { sizes, form: Form::Unknown, ready: VecDeque::new(), counted: 0, ended: false, seekable }
    }

    /// The next block; none at the end of the file.
    ///
    /// ```
    /// use neardup_engine::reader::lines::{LineBlocks, Sizes};
    /// use neardup_engine::reader::unpack::{READ_BYTES, Unpacker};
    ///
    /// let file = Box::new(std::io::Cursor::new(b"{\"id\": 1}\n{\"id\": 2}"));
    /// let mut unpacker = Unpacker::new(file, READ_BYTES)?;
    /// let mut blocks = LineBlocks::new(Sizes { block: 1 << 20, longest: 1 << 20 }, true);
    /// let block = blocks.next(&mut unpacker)?.unwrap();
    /// assert_eq!((block.first, block.first_byte, block.data.len()), (0, Some(0), 19));
    /// assert!(blocks.next(&mut unpacker)?.is_none());
    /// # std::io::Result::Ok(())
    /// ```
    pub fn next(&mut self, unpacker: &mut Unpacker) -> io::Result<Option<Block>> {
        if matches!(self.form, Form::Unknown) {
            self.begin(unpacker)?;
        }
        while self.ready.is_empty() && !self.ended {
            self.read_on(unpacker)?;
        }
        Ok(self.ready.pop_front())
    }

    /// Reads as much as shows whether it is an array; what was read is cut afterwards.
    fn begin(&mut self, unpacker: &mut Unpacker) -> io::Result<()> {
        let (mut head, mut events) = (Vec::new(), Vec::new());
        while head.len() < HEAD_BYTES {
            let from = head.len();
            let event = unpacker.next(&mut head)?;
            let ended = event == Event::End;
            events.push((event, from, unpacker.taken()));
            if ended {
                break;
            }
        }
        self.form = if array_begins(&head) {
            Form::Array { cutter: Cutter::new(self.sizes.longest as u64), first: 0 }
        } else {
            Form::Lines(Lines { sizes: self.sizes, ..Lines::default() })
        };
        let ends: Vec<usize> = events.iter().skip(1).map(|(_, from, _)| *from).chain([head.len()]).collect();
        for ((event, from, taken), end) in events.into_iter().zip(ends) {
            self.take(event, &head[from..end], taken);
        }
        Ok(())
    }

    fn read_on(&mut self, unpacker: &mut Unpacker) -> io::Result<()> {
        if let Form::Lines(lines) = &mut self.form {
            // The decoder appends to what is held: no copy in between.
            let from = lines.held.len();
            let event = unpacker.next(&mut lines.held)?;
            self.cut(event, from, unpacker.taken());
            return Ok(());
        }
        let mut data = Vec::new();
        let event = unpacker.next(&mut data)?;
        self.take(event, &data, unpacker.taken());
        Ok(())
    }

    fn take(&mut self, event: Event, data: &[u8], taken: u64) {
        match &mut self.form {
            Form::Lines(lines) => {
                let from = lines.held.len();
                lines.held.extend_from_slice(data);
                self.cut(event, from, taken);
            }
            Form::Array { .. } => self.elements(event, data, taken),
            Form::Unknown => {}
        }
    }

    fn cut(&mut self, event: Event, from: usize, taken: u64) {
        let Form::Lines(lines) = &mut self.form else { return };
        let mut cuts = Vec::new();
        match event {
            Event::Data { .. } => lines.take(from, &mut cuts),
            Event::Damage { offset, reason } => {
                lines.flush(&mut cuts);
                cuts.push(lines.skip(format!("{reason} (at byte {offset} of the file)")));
            }
            Event::End => {
                lines.end(&mut cuts);
                self.ended = true;
            }
        }
        let next = lines.first;
        for Cut { data, first, start, skipped } in cuts {
            let first_byte = Some(start).filter(|_| self.seekable && skipped.is_none());
            self.give(data, first, first_byte, skipped, Unit::Line, taken);
        }
        if self.ended {
            self.count_rest(next, Unit::Line, taken);
        }
    }

    fn elements(&mut self, event: Event, data: &[u8], taken: u64) {
        let longest = self.sizes.longest as u64;
        let Form::Array { cutter, first } = &mut self.form else { return };
        let mut found = Vec::new();
        let mut waiting = |cutter: &mut Cutter| {
            let (lines, long) = cutter.take();
            if !lines.is_empty() {
                found.push((lines, *first, None));
            }
            for (number, length) in long {
                found.push((Vec::new(), number, Some(too_long("an element", length, longest))));
            }
            *first = cutter.count();
        };
        match event {
            Event::Data { .. } => {
                cutter.feed(data);
                if cutter.waiting() >= self.sizes.block {
                    waiting(cutter);
                }
            }
            Event::Damage { offset, reason } => {
                waiting(cutter);
                let reason = format!("{reason} (at byte {offset} of the file)");
                found.push((Vec::new(), cutter.count(), Some(reason)));
            }
            Event::End => {
                waiting(cutter);
                if let Some(fault) = cutter.fault() {
                    found.push((Vec::new(), cutter.count(), Some(fault)));
                }
                self.ended = true;
            }
        }
        let next = *first;
        for (data, first, skipped) in found {
            self.give(data, first, None, skipped, Unit::Element, taken);
        }
        if self.ended {
            self.count_rest(next, Unit::Element, taken);
        }
    }

    fn give(
        &mut self,
        data: Vec<u8>,
        first: u64,
        first_byte: Option<u64>,
        skipped: Option<String>,
        unit: Unit,
        taken: u64,
    ) {
        let block = Block { taken: taken - self.counted, data, first, first_byte, skipped, unit };
        self.counted = taken;
        self.ready.push_back(block);
    }

    /// Stored bytes behind the last line, which hold nothing, are counted as well.
    fn count_rest(&mut self, first: u64, unit: Unit, taken: u64) {
        if taken > self.counted {
            self.give(Vec::new(), first, None, None, unit, taken);
        }
    }
}

/// Some whole lines, or (`skipped`) one that could not be had.
struct Cut {
    data: Vec<u8>,
    first: u64,
    /// Plain bytes before it.
    start: u64,
    skipped: Option<String>,
}

/// Lines so far.
#[derive(Debug)]
struct Lines {
    sizes: Sizes,
    /// Lines and plain bytes before what is held.
    first: u64,
    start: u64,
    held: Vec<u8>,
    /// How many bytes of these are whole lines.
    whole: usize,
    /// Bytes so far of a line that is too long to be held.
    long: u64,
}

impl Default for Lines {
    fn default() -> Self {
        let sizes = Sizes { block: 0, longest: 0 };
        Self { sizes, first: 0, start: 0, held: Vec::new(), whole: 0, long: 0 }
    }
}

impl Lines {
    /// Takes what stands in `held` from `from` on.
    fn take(&mut self, mut from: usize, cuts: &mut Vec<Cut>) {
        if self.long > 0 {
            let end = memchr(b'\n', &self.held);
            let passed = end.unwrap_or(self.held.len());
            self.long += passed as u64;
            self.start += (passed + usize::from(end.is_some())) as u64;
            self.held.drain(..passed + usize::from(end.is_some()));
            if end.is_none() {
                return;
            }
            cuts.push(self.skip_long_line());
            from = 0;
        }
        if let Some(end) = memrchr(b'\n', &self.held[from..]) {
            self.whole = from + end + 1;
        }
        if self.held.len() >= self.sizes.block {
            self.flush(cuts);
        }
        let length = self.held.len() - self.whole;
        if length > self.sizes.longest {
            self.flush(cuts);
            self.long = self.held.len() as u64;
            self.let_go();
        } else if length > self.sizes.longest / 2 {
            // As much as a line may still take: a vector that grows by itself doubles.
            self.held.reserve_exact(self.sizes.longest - length + 2 * PIECE);
        }
    }

    fn flush(&mut self, cuts: &mut Vec<Cut>) {
        if self.whole == 0 {
            return;
        }
        let rest = self.held.split_off(self.whole);
        let mut data = std::mem::replace(&mut self.held, rest);
        self.whole = 0;
        if self.start == 0 && data.starts_with(BOM) {
            data.drain(..BOM.len());
            self.start = BOM.len() as u64;
        }
        let (first, start) = (self.first, self.start);
        self.first += memchr_iter(b'\n', &data).count() as u64;
        self.start += data.len() as u64;
        cuts.push(Cut { data, first, start, skipped: None });
    }

    /// Lets go of the line that is not finished; all whole ones are flushed.
    fn let_go(&mut self) {
        self.start += self.held.len() as u64;
        // The memory of a long line, too.
        self.held = Vec::new();
    }

    fn skip(&mut self, reason: String) -> Cut {
        self.let_go();
        self.long = 0;
        Cut { data: Vec::new(), first: self.first, start: self.start, skipped: Some(reason) }
    }

    fn skip_long_line(&mut self) -> Cut {
        let reason = too_long("a line", self.long, self.sizes.longest as u64);
        self.long = 0;
        let cut = Cut { data: Vec::new(), first: self.first, start: self.start, skipped: Some(reason) };
        self.first += 1;
        cut
    }

    fn end(&mut self, cuts: &mut Vec<Cut>) {
        if self.long > 0 {
            cuts.push(self.skip_long_line());
        }
        self.whole = self.held.len(); // a last line needs no line end
        self.flush(cuts);
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Read, Write};

    use flate2::{Compression, write::GzEncoder};
    use proptest::prelude::*;

    use super::*;
    use crate::reader::unpack::READ_BYTES;

    fn blocks(file: impl Read + Send + 'static, sizes: Sizes, read_bytes: usize) -> Vec<Block> {
        let mut unpacker = Unpacker::new(Box::new(file), read_bytes).unwrap();
        let mut blocks = LineBlocks::new(sizes, true);
        std::iter::from_fn(|| blocks.next(&mut unpacker).unwrap()).collect()
    }

    fn packed(data: &[u8]) -> Vec<u8> {
        let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
        packer.write_all(data).unwrap();
        packer.finish().unwrap()
    }

    #[test]
    fn a_long_line_is_passed_and_the_others_keep_their_numbers() {
        let text = format!("one\n{}\nthree\n{}", "x".repeat(5000), "y".repeat(100));
        let sizes = Sizes { block: 1000, longest: 99 };
        let cut = blocks(Cursor::new(text), sizes, 64);
        let reason = |length: &str| Some(format!("a line of {length} bytes, more than --max-page (99)"));
        let found: Vec<_> =
            cut.iter().map(|block| (block.first, block.data.as_slice(), block.skipped.clone())).collect();
        assert_eq!(
            found,
            [
                (0, b"one\n".as_slice(), None),
                (1, b"", reason("5,000")),
                (2, b"three\n", None),
                (3, b"", reason("100")),
            ]
        );
    }

    #[test]
    fn damage_costs_the_line_it_stands_in() {
        let (one, two) = (packed(b"1\n2\n3"), packed(b"4\n5\n"));
        let all = [&one[..one.len() - 8], b"????????", &two].concat();
        let cut = blocks(Cursor::new(all), Sizes { block: 1000, longest: 99 }, READ_BYTES);
        assert_eq!(cut[0].data, b"1\n2\n");
        assert_eq!((cut[1].first, cut[1].skipped.is_some()), (2, true));
        assert_eq!((cut[2].first, cut[2].data.as_slice()), (2, b"4\n5\n".as_slice()));
    }

    proptest! {
        /// However a file is read and cut, all its bytes are there, in lines that keep their numbers and places.
        #[test]
        fn any_cut_keeps_all_lines(
            lines in prop::collection::vec("[a-z]{0,40}", 1..60),
            block in 1_usize..300,
            read_bytes in 1_usize..200,
            mark: bool,
        ) {
            let text = lines.join("\n");
            let start = if mark { 3 } else { 0 };
            let file = [if mark { BOM } else { b"" }, text.as_bytes()].concat();
            let size = file.len() as u64;
            let cut = blocks(Cursor::new(file.clone()), Sizes { block, longest: 1000 }, read_bytes);
            let (mut at, mut line) = (start as u64, 0);
            for block in &cut {
                prop_assert_eq!((block.first, block.first_byte, &block.skipped), (line, Some(at), &None));
                prop_assert_eq!(&file[at as usize..at as usize + block.data.len()], block.data.as_slice());
                at += block.data.len() as u64;
                line += memchr_iter(b'\n', &block.data).count() as u64;
            }
            prop_assert_eq!(at.max(size.min(3 * u64::from(mark))), size);
            prop_assert!(text.is_empty() || cut.iter().map(|block| block.taken).sum::<u64>() == size);
            let again = blocks(Cursor::new(packed(&file)), Sizes { block, longest: 1000 }, read_bytes);
            let all = |blocks: &[Block]| blocks.iter().flat_map(|block| block.data.clone()).collect::<Vec<_>>();
            prop_assert_eq!(all(&again), all(&cut));
        }
    }
}
