//! Headers of records and answers, read patiently: every line for itself, whatever stands before and behind it.
//!
//! A line ends at CR LF, and what begins with a blank goes on with the line before. A line without a colon is no field.
//! The rules are those of FastWARC, against which they were compared on mutated headers.

use std::borrow::Cow;

/// The longest header of an answer.
const LONGEST: usize = 32 << 10;

/// The first line of a header, and its fields in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header<'a> {
    pub first_line: &'a [u8],
    pub fields: Vec<(Cow<'a, [u8]>, Cow<'a, [u8]>)>,
}

impl<'a> Header<'a> {
    /// The header that `bytes` begin with, and what stands behind its empty line; none if it is too long.
    ///
    /// ```
    /// use neardup_engine::reader::header::Header;
    ///
    /// let (header, body) = Header::read(b"HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\nbody").unwrap();
    /// assert_eq!(header.status(), Some(200));
    /// assert_eq!(header.value("a"), Some(b"b c".as_slice()));
    /// assert_eq!(body, b"body");
    /// ```
    pub fn read(bytes: &'a [u8]) -> Option<(Self, &'a [u8])> {
        Self::read_up_to(bytes, LONGEST)
    }

    /// The same of a header that may have `longest` bytes.
    pub fn read_up_to(bytes: &'a [u8], longest: usize) -> Option<(Self, &'a [u8])> {
        let mut header = Self::default();
        let (mut at, mut first) = (0, true);
        while at < bytes.len() {
            let rest = &bytes[at..];
            let end = memchr::memmem::find(rest, b"\r\n").map(|end| end + 2);
            let line = &rest[..end.unwrap_or(rest.len())];
            at += line.len();
            if at > longest {
                return None;
            }
            if line == b"\r\n" {
                break;
            }
            if first {
                header.first_line = line.trim_ascii();
                first = false;
            } else {
                header.line(line);
            }
        }
        Some((header, &bytes[at..]))
    }

    fn line(&mut self, line: &'a [u8]) {
        if matches!(line, [b' ' | b'\t', ..]) {
            let more = line.trim_ascii();
            match self.fields.last_mut() {
                Some((_, value)) => {
                    let value = value.to_mut();
                    value.push(b' ');
                    value.extend_from_slice(more);
                }
                None => self.fields.push((Cow::Borrowed(b""), Cow::Borrowed(more))),
            }
        } else if let Some(colon) = memchr::memchr(b':', line) {
            let (name, value) = (line[..colon].trim_ascii(), line[colon + 1..].trim_ascii());
            self.fields.push((Cow::Borrowed(name), Cow::Borrowed(value)));
        }
    }

    /// The values of a field, in order; upper and lower case are the same.
    pub fn values(&self, name: &str) -> impl Iterator<Item = &[u8]> {
        let is = move |found: &[u8]| found.eq_ignore_ascii_case(name.as_bytes());
        self.fields.iter().filter(move |(found, _)| is(found)).map(|(_, value)| value.as_ref())
    }

    /// The first of them.
    pub fn value(&self, name: &str) -> Option<&[u8]> {
        self.values(name).next()
    }

    /// The status of an answer.
    pub fn status(&self) -> Option<u16> {
        let mut parts = self.first_line.splitn(3, |byte| *byte == b' ');
        parts.next().filter(|first| first.starts_with(b"HTTP/"))?;
        std::str::from_utf8(parts.next()?).ok()?.parse().ok()
    }
}

/// Whether a record's first line is of a version that is read.
pub fn is_known_version(line: &[u8]) -> bool {
    matches!(line, b"WARC/1.0" | b"WARC/1.1") || line.starts_with(b"WARC/0.") && line.len() <= 9
}

/// Bytes as text, without what counts as blank around it.
pub fn text(bytes: &[u8]) -> String {
    trimmed(&String::from_utf8_lossy(bytes))
}

/// The same of a header whose bytes are Latin-1.
pub fn latin1(bytes: &[u8]) -> String {
    trimmed(&bytes.iter().map(|byte| char::from(*byte)).collect::<String>())
}

fn trimmed(text: &str) -> String {
    text.trim_matches(|c: char| c.is_whitespace() || ('\x1c'..='\x1f').contains(&c)).to_owned()
}
