//! A place in a line of JSON: strings are unescaped from one backslash to the next, block by block; what is not wanted is
//! checked and passed over by a JSON library.

use jiter::{Jiter, Peek};
use memchr::memchr2;

#[cfg(target_arch = "x86_64")]
use crate::ascii::{Avx2, Avx512};
use crate::ascii::{Classes, Portable};
#[cfg(target_arch = "x86_64")]
use crate::cpu::{self, Level};
use crate::error::{Error, Result};

/// What a byte behind a backslash stands for, or 0.
const ESCAPED: [u8; 256] = {
    let mut escaped = [0; 256];
    let known = [
        (b'"', b'"'),
        (b'\\', b'\\'),
        (b'/', b'/'),
        (b'n', b'\n'),
        (b't', b'\t'),
        (b'r', b'\r'),
        (b'b', 8),
        (b'f', 12),
    ];
    let mut at = 0;
    while at < known.len() {
        escaped[known[at].0 as usize] = known[at].1;
        at += 1;
    }
    escaped
};

/// A place in a line of valid UTF-8.
pub struct Cursor<'a> {
    pub line: &'a [u8],
    pub at: usize,
}

impl Cursor<'_> {
    /// The next byte that is not white space; the cursor stands on it.
    pub fn next_byte(&mut self) -> Option<u8> {
        while matches!(self.line.get(self.at), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
        self.line.get(self.at).copied()
    }

    pub fn expect(&mut self, byte: u8) -> Result<()> {
        if self.next_byte() != Some(byte) {
            return Err(match self.ends_early() {
                Some(early) => early,
                None => Error::Expected { byte, column: self.at + 1 },
            });
        }
        self.at += 1;
        Ok(())
    }

    pub fn invalid(&self, what: &'static str) -> Error {
        self.ends_early().unwrap_or(Error::Json { what, column: self.at + 1 })
    }

    fn ends_early(&self) -> Option<Error> {
        (self.at >= self.line.len()).then_some(Error::EndsEarly { column: self.at + 1 })
    }

    /// Appends the string that starts here, unescaped, to `out`.
    pub fn string(&mut self, out: &mut Vec<u8>) -> Result<()> {
        #[cfg(target_arch = "x86_64")]
        match cpu::level() {
            // SAFETY: `level` has just tested for the instructions.
            Level::Avx512 => return unsafe { self.string_avx512(out) },
            // SAFETY: as above.
            Level::Avx2 => return unsafe { self.string_avx2(out) },
            Level::Portable => {}
        }
        // SAFETY: every machine has what this asks for.
        unsafe { self.string_by::<Portable>(out) }
    }

    /// Sixty-four bytes at a time, however many escapes are among them: what stands behind a backslash is told by masks
    /// (as in Langdale & Lemire, Parsing Gigabytes of JSON per Second, 2019), looked up, and moved up by one instruction.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,avx2,bmi1,bmi2,popcnt")]
    fn string_avx512(&mut self, out: &mut Vec<u8>) -> Result<()> {
        use std::arch::x86_64::*;
        const EVEN: u64 = 0x5555_5555_5555_5555;
        const BLOCK: usize = 64;
        let (backslash, quote) = (_mm512_set1_epi8(b'\\' as i8), _mm512_set1_epi8(b'"' as i8));
        // SAFETY: both halves of the first 128 entries are 64 bytes long.
        let (low, high) = unsafe {
            let table = ESCAPED.as_ptr();
            (_mm512_loadu_si512(table.cast()), _mm512_loadu_si512(table.add(BLOCK).cast()))
        };
        self.at += 1;
        while let Some(bytes) = self.line[self.at..].first_chunk::<BLOCK>() {
            // SAFETY: it is 64 bytes long.
            let block = unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) };
            let backslashes = _mm512_cmpeq_epi8_mask(block, backslash);
            // Behind a run of backslashes that begins at an even place, even places are escaped; and odd ones likewise.
            let behind = backslashes << 1;
            let odd_runs = backslashes & !EVEN & !behind;
            let escaped = (EVEN ^ odd_runs.wrapping_add(backslashes) << 1) & behind;
            let starts = backslashes & !escaped;
            let plain = _mm512_permutex2var_epi8(low, block, high);
            // What is no short escape, and a backslash whose character stands in the next block, wait for a closer look.
            let known = _mm512_test_epi8_mask(plain, plain) & !_mm512_movepi8_mask(block);
            let waiting = (escaped & !known) >> 1 | starts & 1 << (BLOCK - 1);
            let stop = _mm512_cmpeq_epi8_mask(block, quote) & !escaped | waiting;
            // The places before the first stop.
            let upto = stop.wrapping_sub(1) & !stop;
            let kept = upto & !starts;
            let unescaped = _mm512_mask_mov_epi8(block, escaped, plain);
            out.reserve(BLOCK);
            // SAFETY: there is room for a block, of which as many bytes are kept as are told.
            unsafe {
                let room = out.as_mut_ptr().add(out.len());
                _mm512_storeu_si512(room.cast(), _mm512_maskz_compress_epi8(kept, unescaped));
                out.set_len(out.len() + kept.count_ones() as usize);
            }
            self.at += upto.count_ones() as usize;
            if stop != 0 {
                let stopped = self.line[self.at];
                self.at += 1;
                if stopped == b'"' {
                    return Ok(());
                }
                self.escape(out)?;
            }
        }
        self.at -= 1;
        // SAFETY: the machine has what this function is compiled for.
        unsafe { self.string_by::<Avx512>(out) }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2")]
    fn string_avx2(&mut self, out: &mut Vec<u8>) -> Result<()> {
        // SAFETY: the machine has what this function is compiled for.
        unsafe { self.string_by::<Avx2>(out) }
    }

    /// # Safety
    /// The machine has the instructions of `C`.
    #[inline(always)]
    unsafe fn string_by<C: Classes>(&mut self, out: &mut Vec<u8>) -> Result<()> {
        self.at += 1;
        // SAFETY: as the caller says.
        while unsafe { self.copy_plain::<C>(out)? } == b'\\' {
            self.escape(out)?;
        }
        Ok(())
    }

    /// Copies what needs no unescaping; the quote or backslash behind it, which is passed.
    ///
    /// # Safety
    /// The machine has the instructions of `C`.
    #[inline(always)]
    unsafe fn copy_plain<C: Classes>(&mut self, out: &mut Vec<u8>) -> Result<u8> {
        // Whole blocks are copied, and what was too much is taken back: a line of text is about as long as a block.
        while let Some(bytes) = self.line[self.at..].first_chunk::<64>() {
            // SAFETY: as the caller says.
            let marks = unsafe { C::either(bytes, b'"', b'\\') };
            let start = out.len();
            out.extend_from_slice(bytes);
            if marks != 0 {
                let length = marks.trailing_zeros() as usize;
                out.truncate(start + length);
                self.at += length + 1;
                return Ok(bytes[length]);
            }
            self.at += 64;
        }
        let rest = &self.line[self.at..];
        let Some(length) = memchr2(b'"', b'\\', rest) else {
            self.at = self.line.len();
            return Err(self.invalid("a string has no end"));
        };
        out.extend_from_slice(&rest[..length]);
        self.at += length + 1;
        Ok(rest[length])
    }

    /// What stands behind a backslash.
    #[inline(always)]
    fn escape(&mut self, out: &mut Vec<u8>) -> Result<()> {
        let Some(&byte) = self.line.get(self.at) else { return Err(self.invalid("")) };
        let plain = ESCAPED[byte as usize];
        if plain == 0 {
            return self.long_escape(byte, out);
        }
        self.at += 1;
        out.push(plain);
        Ok(())
    }

    /// A `u` and four digits; anything else is no escape.
    #[inline(never)]
    fn long_escape(&mut self, byte: u8, out: &mut Vec<u8>) -> Result<()> {
        if byte != b'u' {
            return Err(self.invalid("an escape that JSON does not know"));
        }
        self.at += 1;
        let char = self.unicode_escape()?;
        out.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
        Ok(())
    }

    /// Four hexadecimal digits, and four more where they are the first half of a pair.
    fn unicode_escape(&mut self) -> Result<char> {
        let high = self.four_digits()?;
        if (0xd800..0xdc00).contains(&high) && self.line[self.at..].starts_with(b"\\u") {
            let back = self.at;
            self.at += 2;
            let low = self.four_digits()?;
            if (0xdc00..0xe000).contains(&low) {
                let point = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
                return Ok(char::from_u32(point).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            self.at = back;
        }
        Ok(char::from_u32(high).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn four_digits(&mut self) -> Result<u32> {
        let digits = self.line.get(self.at..self.at + 4).unwrap_or_default();
        let value =
            digits.iter().try_fold(0, |value, &digit| Some(value << 4 | (digit as char).to_digit(16)?));
        match value {
            Some(value) if digits.len() == 4 => {
                self.at += 4;
                Ok(value)
            }
            _ => Err(self.invalid("`\\u` without four hexadecimal digits")),
        }
    }

    /// Passes over any value, checking it.
    pub fn skip(&mut self) -> Result<()> {
        self.next_byte();
        let mut json = Jiter::new(&self.line[self.at..]);
        match json.next_skip() {
            Ok(()) => {
                self.at += json.current_index();
                Ok(())
            }
            Err(error) => Err(Error::Value { what: error.error_type.to_string(), column: self.at + 1 }),
        }
    }

    /// A string, or a number or truth value as it is written; null is none.
    pub fn scalar(&mut self, name: &str) -> Result<Option<String>> {
        let Some(byte) = self.next_byte() else { return Err(self.invalid("a value is missing")) };
        match Peek::new(byte) {
            Peek::String => {
                let mut value = Vec::new();
                self.string(&mut value)?;
                Ok(Some(String::from_utf8_lossy(&value).into_owned()))
            }
            Peek::Null => self.skip().map(|()| None),
            Peek::Array | Peek::Object => {
                self.skip()?;
                Err(Error::NotPlain { field: name.to_owned() })
            }
            _ => {
                let start = self.at;
                self.skip()?;
                Ok(Some(String::from_utf8_lossy(&self.line[start..self.at]).trim().to_owned()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A string as JSON has it, and what stands behind it.
    fn quoted(text: &str) -> String {
        let escaped =
            text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n").replace('/', "\\/");
        format!("\"{}\" : 1", escaped.replace('é', "\\u00e9"))
    }

    fn read_by(line: &str, way: impl Fn(&mut Cursor<'_>, &mut Vec<u8>) -> Result<()>) -> (Vec<u8>, usize) {
        let mut cursor = Cursor { line: line.as_bytes(), at: 0 };
        let mut out = Vec::new();
        way(&mut cursor, &mut out).expect("a string");
        (out, cursor.at)
    }

    proptest! {
        #[test]
        fn every_way_reads_a_string(pieces in proptest::collection::vec("[a-z ]{0,70}|[\"\\\\\n/éß]{1,3}", 0..8)) {
            let text = pieces.concat();
            let line = quoted(&text);
            let expected = (text.into_bytes(), line.len() - 4);
            prop_assert_eq!(&read_by(&line, |cursor, out| cursor.string(out)), &expected);
            // SAFETY: every machine has what this asks for.
            let portable = read_by(&line, |cursor, out| unsafe { cursor.string_by::<Portable>(out) });
            prop_assert_eq!(&portable, &expected);
            #[cfg(target_arch = "x86_64")]
            if cpu::level() != Level::Portable {
                // SAFETY: `level` has just tested for the instructions; AVX-512 machines have AVX2.
                let by_avx2 = read_by(&line, |cursor, out| unsafe { cursor.string_avx2(out) });
                prop_assert_eq!(&by_avx2, &expected);
            }
        }

        #[test]
        fn broken_strings_are_told_alike(pieces in proptest::collection::vec("[a-z]{0,70}|[\"\\\\ntbu0é\u{7f}]{1,5}", 0..12)) {
            let line = format!("\"{}", pieces.concat());
            let by = |way: &dyn Fn(&mut Cursor<'_>, &mut Vec<u8>) -> Result<()>| {
                let mut cursor = Cursor { line: line.as_bytes(), at: 0 };
                let mut out = Vec::new();
                (way(&mut cursor, &mut out), out, cursor.at)
            };
            // SAFETY: every machine has what this asks for.
            let (told, out, at) = by(&|cursor, out| unsafe { cursor.string_by::<Portable>(out) });
            let found = by(&|cursor, out| cursor.string(out));
            prop_assert_eq!((&found.0, found.2), (&told, at));
            prop_assert!(told.is_err() || found.1 == out);
        }
    }
}
