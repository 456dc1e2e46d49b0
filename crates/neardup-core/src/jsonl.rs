//! JSON lines to columns: the fields of a page, picked out of each line without building a value for the rest.
//!
//! A line ends at `\n` only (a JSON string may hold U+2028 and the like). A line that is not a JSON object, or
//! whose wanted fields have the wrong type, is named with its reason and left out. The page's text is unescaped
//! straight into the column it ends up in, from one backslash to the next; everything that is not wanted is
//! checked and passed over by a JSON library. Two things are taken that strict JSON forbids, since losing a page
//! over them helps nobody: control characters in strings, and half surrogate pairs, which become U+FFFD.

use jiter::{Jiter, Peek};
use memchr::{memchr, memchr2};
use simdutf8::basic::from_utf8;

#[cfg(target_arch = "x86_64")]
use crate::ascii::{Avx2, Avx512};
use crate::ascii::{Classes, Portable};
#[cfg(target_arch = "x86_64")]
use crate::cpu::{self, Level};

/// The names of the fields that are taken up.
#[derive(Clone, Debug)]
pub struct Fields<'a> {
    pub id: &'a str,
    pub url: &'a str,
    pub html: &'a str,
    pub text: &'a str,
    pub date: &'a str,
}

/// Strings end to end in one buffer; a missing one is null.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Strings {
    pub bytes: Vec<u8>,
    /// One more than there are strings.
    pub offsets: Vec<i64>,
    pub present: Vec<bool>,
}

impl Strings {
    fn push(&mut self, value: Option<&str>) {
        self.bytes.extend_from_slice(value.unwrap_or_default().as_bytes());
        self.finish();
        if let (None, Some(present)) = (value, self.present.last_mut()) {
            *present = false;
        }
    }

    /// What was appended to `bytes` since the last string is the next one.
    fn finish(&mut self) {
        if self.offsets.is_empty() {
            self.offsets.push(0);
        }
        self.offsets.push(self.bytes.len() as i64);
        self.present.push(true);
    }

    pub fn get(&self, at: usize) -> Option<&[u8]> {
        self.present[at].then(|| &self.bytes[self.offsets[at] as usize..self.offsets[at + 1] as usize])
    }
}

/// The pages of a block of lines, and the lines that gave none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lines {
    pub id: Strings,
    pub url: Strings,
    pub content: Strings,
    pub date: Strings,
    pub html: Vec<bool>,
    /// Number of the line in the block, from 0; where it starts; its length without the newline.
    pub line: Vec<i64>,
    pub start: Vec<i64>,
    pub length: Vec<i64>,
    /// Line and reason.
    pub bad: Vec<(usize, String)>,
}

/// Reads a block of whole lines.
pub fn parse(block: &[u8], fields: &Fields<'_>) -> Lines {
    let mut lines = Lines::default();
    lines.content.bytes.reserve(block.len());
    let mut start = 0;
    for number in 0.. {
        if start >= block.len() {
            break;
        }
        let end = memchr(b'\n', &block[start..]).map_or(block.len(), |length| start + length);
        let line = &block[start..end];
        if !line.iter().all(u8::is_ascii_whitespace) {
            let content_start = lines.content.bytes.len();
            let row = if from_utf8(line).is_ok() {
                Row::read(line, fields, &mut lines.content.bytes)
            } else {
                Err("not valid UTF-8".to_owned())
            };
            match row {
                Ok(row) => {
                    lines.id.push(row.id.as_deref());
                    lines.url.push(row.url.as_deref());
                    lines.date.push(row.date.as_deref());
                    lines.content.finish();
                    lines.html.push(row.content == Some(Content::Html));
                    lines.line.push(number as i64);
                    lines.start.push(start as i64);
                    lines.length.push(line.len() as i64);
                }
                Err(reason) => {
                    lines.content.bytes.truncate(content_start);
                    lines.bad.push((number, reason));
                }
            }
        }
        start = end + 1;
    }
    lines
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Content {
    Html,
    Text,
}

/// One line; its content goes to the column at once.
#[derive(Default)]
struct Row {
    id: Option<String>,
    url: Option<String>,
    date: Option<String>,
    content: Option<Content>,
}

impl Row {
    /// `line` is valid UTF-8; what is appended to `out` is, too.
    fn read(line: &[u8], fields: &Fields<'_>, out: &mut Vec<u8>) -> Result<Row, String> {
        let mut row = Row::default();
        let mut cursor = Cursor { line, at: 0 };
        let content_start = out.len();
        if cursor.next_byte() != Some(b'{') {
            return Err("not a JSON object".to_owned());
        }
        cursor.at += 1;
        let mut name = Vec::new();
        let mut first = true;
        loop {
            match cursor.next_byte() {
                Some(b'}') if first => break,
                Some(b'"') => {}
                _ => return Err(cursor.invalid("expected a field's name")),
            }
            name.clear();
            cursor.string(&mut name)?;
            cursor.expect(b':')?;
            match fields.wanted(&name) {
                Wanted::Html => row.take(Content::Html, fields.html, &mut cursor, content_start, out)?,
                Wanted::Text => row.take(Content::Text, fields.text, &mut cursor, content_start, out)?,
                Wanted::Id => row.id = cursor.scalar(fields.id)?,
                Wanted::Url => row.url = cursor.scalar(fields.url)?,
                Wanted::Date => row.date = cursor.scalar(fields.date)?,
                Wanted::Nothing => cursor.skip()?,
            }
            first = false;
            match cursor.next_byte() {
                Some(b',') => cursor.at += 1,
                Some(b'}') => break,
                _ => return Err(cursor.invalid("expected `,` or `}`")),
            }
        }
        cursor.at += 1;
        if cursor.next_byte().is_some() {
            return Err(cursor.invalid("something follows the object"));
        }
        if row.content.is_none() {
            return Err(format!("no field {:?} or {:?}", fields.html, fields.text));
        }
        Ok(row)
    }

    /// HTML is preferred to text, whichever comes first; of two of one kind the last counts.
    fn take(
        &mut self,
        content: Content,
        name: &str,
        cursor: &mut Cursor<'_>,
        start: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), String> {
        match cursor.next_byte() {
            Some(b'"') if content == Content::Text && self.content == Some(Content::Html) => cursor.skip(),
            Some(b'"') => {
                out.truncate(start);
                self.content = Some(content);
                cursor.string(out)
            }
            Some(b'n') => cursor.skip(),
            _ => {
                cursor.skip()?;
                Err(format!("field {name:?} is not a string"))
            }
        }
    }
}

#[derive(Clone, Copy)]
enum Wanted {
    Html,
    Text,
    Id,
    Url,
    Date,
    Nothing,
}

impl Fields<'_> {
    fn wanted(&self, name: &[u8]) -> Wanted {
        match name {
            _ if name == self.html.as_bytes() => Wanted::Html,
            _ if name == self.text.as_bytes() => Wanted::Text,
            _ if name == self.id.as_bytes() => Wanted::Id,
            _ if name == self.url.as_bytes() => Wanted::Url,
            _ if name == self.date.as_bytes() => Wanted::Date,
            _ => Wanted::Nothing,
        }
    }
}

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
struct Cursor<'a> {
    line: &'a [u8],
    at: usize,
}

impl Cursor<'_> {
    /// The next byte that is not white space; the cursor stands on it.
    fn next_byte(&mut self) -> Option<u8> {
        while matches!(self.line.get(self.at), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
        self.line.get(self.at).copied()
    }

    fn expect(&mut self, byte: u8) -> Result<(), String> {
        if self.next_byte() != Some(byte) {
            return Err(self.invalid(&format!("expected `{}`", byte as char)));
        }
        self.at += 1;
        Ok(())
    }

    fn invalid(&self, what: &str) -> String {
        let what = if self.at >= self.line.len() { "the line ends early" } else { what };
        format!("invalid JSON: {what} at column {}", self.at + 1)
    }

    /// Appends the string that starts here, unescaped, to `out`.
    fn string(&mut self, out: &mut Vec<u8>) -> Result<(), String> {
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

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw,avx2,bmi1,bmi2")]
    fn string_avx512(&mut self, out: &mut Vec<u8>) -> Result<(), String> {
        // SAFETY: the machine has what this function is compiled for.
        unsafe { self.string_by::<Avx512>(out) }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2")]
    fn string_avx2(&mut self, out: &mut Vec<u8>) -> Result<(), String> {
        // SAFETY: the machine has what this function is compiled for.
        unsafe { self.string_by::<Avx2>(out) }
    }

    /// # Safety
    /// The machine has the instructions of `C`.
    #[inline(always)]
    unsafe fn string_by<C: Classes>(&mut self, out: &mut Vec<u8>) -> Result<(), String> {
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
    unsafe fn copy_plain<C: Classes>(&mut self, out: &mut Vec<u8>) -> Result<u8, String> {
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
    fn escape(&mut self, out: &mut Vec<u8>) -> Result<(), String> {
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
    fn long_escape(&mut self, byte: u8, out: &mut Vec<u8>) -> Result<(), String> {
        if byte != b'u' {
            return Err(self.invalid("an escape that JSON does not know"));
        }
        self.at += 1;
        let char = self.unicode_escape()?;
        out.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
        Ok(())
    }

    /// Four hexadecimal digits, and four more where they are the first half of a pair.
    fn unicode_escape(&mut self) -> Result<char, String> {
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

    fn four_digits(&mut self) -> Result<u32, String> {
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
    fn skip(&mut self) -> Result<(), String> {
        self.next_byte();
        let mut json = Jiter::new(&self.line[self.at..]);
        match json.next_skip() {
            Ok(()) => {
                self.at += json.current_index();
                Ok(())
            }
            Err(error) => {
                let what = error.error_type;
                Err(format!("invalid JSON: {what} in the value at column {}", self.at + 1))
            }
        }
    }

    /// A string, or a number or truth value as it is written; null is none.
    fn scalar(&mut self, name: &str) -> Result<Option<String>, String> {
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
                Err(format!("field {name:?} is neither text nor a number"))
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

    const FIELDS: Fields<'static> = Fields { id: "id", url: "url", html: "html", text: "text", date: "date" };

    /// A string as JSON has it, and what stands behind it.
    fn quoted(text: &str) -> String {
        let escaped =
            text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n").replace('/', "\\/");
        format!("\"{}\" : 1", escaped.replace('é', "\\u00e9"))
    }

    fn read_by(
        line: &str,
        way: impl Fn(&mut Cursor<'_>, &mut Vec<u8>) -> Result<(), String>,
    ) -> (Vec<u8>, usize) {
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
    }

    #[test]
    fn picks_fields_and_names_bad_lines() {
        let block = concat!(
            "{\"id\": 7, \"x\": [1, {\"id\": 2}], \"text\": \"a\\nb \\u00e9 \u{2028}c\"}\n",
            "\n",
            "{\"id\": \"p\", \"html\": \"<p>\", \"text\": \"t\", \"url\": \"http://a/\"}\r\n",
            "{\"id\": \"broken\n",
            "[1]\n",
            "{\"id\": \"none\"}\n",
            "{\"text\": 5}\n",
            "{\"text\": null, \"html\": \"\"} x\n",
            "{\"text\": \"last\"}",
        );
        let lines = parse(block.as_bytes(), &FIELDS);
        assert_eq!(lines.line, [0, 2, 8]);
        assert_eq!(lines.html, [false, true, false]);
        assert_eq!(lines.id.get(0), Some(&b"7"[..]));
        assert_eq!(lines.content.get(0), Some("a\nb é \u{2028}c".as_bytes()));
        assert_eq!(lines.url.get(1), Some(&b"http://a/"[..]));
        assert_eq!(lines.id.get(2), None);
        assert_eq!(lines.content.get(2), Some(&b"last"[..]));
        let bad: Vec<usize> = lines.bad.iter().map(|bad| bad.0).collect();
        assert_eq!(bad, [3, 4, 5, 6, 7]);
        assert!(lines.bad[0].1.starts_with("invalid JSON"), "{}", lines.bad[0].1);
        assert_eq!(lines.bad[1].1, "not a JSON object");
        assert_eq!(lines.bad[3].1, "field \"text\" is not a string");
        let start = lines.start[1] as usize;
        assert!(block[start..start + lines.length[1] as usize].ends_with("\"http://a/\"}\r"));
    }

    fn content(line: &str) -> Result<String, String> {
        let lines = parse(line.as_bytes(), &FIELDS);
        match lines.bad.first() {
            Some((_, reason)) => Err(reason.clone()),
            None => Ok(String::from_utf8(lines.content.get(0).unwrap().to_vec()).unwrap()),
        }
    }

    #[test]
    fn escapes() {
        let all = r#"{"text": "\"\\\/\b\f\n\r\t\u0041\ud83d\ude00é"}"#;
        assert_eq!(content(all).unwrap(), "\"\\/\u{8}\u{c}\n\r\tA😀é");
        assert_eq!(
            content(r#"{"text": "a\ud83db\ude00\ud83d\u0041"}"#).unwrap(),
            "a\u{fffd}b\u{fffd}\u{fffd}A"
        );
        assert_eq!(content("{\"text\": \"tab\there\"}").unwrap(), "tab\there");
        for bad in [r#"{"text": "\x"}"#, r#"{"text": "\u12g4"}"#, r#"{"text": "\u12"#, r#"{"text": "\"#] {
            assert!(content(bad).unwrap_err().starts_with("invalid JSON"), "{bad}");
        }
    }

    #[test]
    fn html_is_preferred_wherever_it_stands() {
        assert_eq!(content(r#"{"text": "t", "html": "h"}"#).unwrap(), "h");
        assert_eq!(content(r#"{"html": "h", "text": "t"}"#).unwrap(), "h");
        assert_eq!(content(r#"{"html": null, "text": "t"}"#).unwrap(), "t");
        assert_eq!(content(r#"{"text": "t", "html": null}"#).unwrap(), "t");
        assert_eq!(content(r#"{"text": "t", "text": "u"}"#).unwrap(), "u");
        let lines = parse(b"{\"html\": \"a\", \"x\": [}\n{\"html\": \"b\"}", &FIELDS);
        assert_eq!((lines.content.get(0), lines.bad.len()), (Some(&b"b"[..]), 1));
    }

    #[test]
    fn what_is_no_object_is_told() {
        for bad in [
            "{",
            "{\"text\"",
            "{\"text\": \"a\",}",
            "{\"text\": \"a\"} {}",
            "{text: \"a\"}",
            "{,}",
            "{\"a\" 1}",
        ] {
            assert!(content(bad).unwrap_err().starts_with("invalid JSON"), "{bad}: {:?}", content(bad));
        }
        assert!(content("{}").unwrap_err().starts_with("no field"));
        let lines = parse(b"{\"text\": \"\xff\"}\n{\"text\": \"ok\"}", &FIELDS);
        assert_eq!(lines.bad, [(0, "not valid UTF-8".to_owned())]);
        assert_eq!(lines.content.get(0), Some(&b"ok"[..]));
    }

    #[test]
    fn nesting_is_bounded_not_fatal() {
        let deep = format!("{{\"text\": \"t\", \"x\": {}1{}}}", "[".repeat(100_000), "]".repeat(100_000));
        let lines = parse(deep.as_bytes(), &FIELDS);
        assert_eq!(lines.bad.len() + lines.line.len(), 1);
    }

    proptest! {
        #[test]
        fn agrees_with_serde(text: String, url: Option<String>, number: i64, other: String) {
            let line = serde_json::json!({"text": text, "url": url, "id": number, "other": [other, {"text": 1}]});
            let lines = parse(line.to_string().as_bytes(), &FIELDS);
            prop_assert_eq!(lines.content.get(0), Some(text.as_bytes()));
            prop_assert_eq!(lines.url.get(0), url.as_deref().map(str::as_bytes));
            let id = number.to_string();
            prop_assert_eq!(lines.id.get(0), Some(id.as_bytes()));
        }

        #[test]
        fn never_panics(block: Vec<u8>) {
            let lines = parse(&block, &FIELDS);
            prop_assert!(lines.line.len() + lines.bad.len() <= block.len() + 1);
        }
    }
}
