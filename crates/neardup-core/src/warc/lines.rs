//! The lines of WARC and HTTP headers, read twice over: patiently for framing, strictly for pages.
//!
//! Framing must find a length in headers that others broke, so it asks only for one line of the right form. A page is
//! read off its header only if the whole header is of the plainest form; then no two readers can see two things in it.

use memchr::memchr;

/// The length of `WARC/1.x` and its line end, if the bytes begin with that.
pub fn version_line(bytes: &[u8]) -> Option<usize> {
    let rest = bytes.strip_prefix(b"WARC/")?;
    if !matches!(rest, [b'0' | b'1', b'.', ..]) {
        return None;
    }
    let digits = rest[2..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let end = match rest.get(2 + digits..)? {
        [b'\n', ..] => 1,
        [b'\r', b'\n', ..] => 2,
        _ => return None,
    };
    (1..=3).contains(&digits).then_some(5 + 2 + digits + end)
}

/// More bytes than a record's first line and the beginning of its second can have.
pub const START_BYTES: usize = 64;

/// Whether a record seems to start with these bytes: its first line, and a second that names a field of WARC's.
pub fn starts_record(bytes: &[u8]) -> bool {
    let Some(line) = version_line(bytes) else { return false };
    let second = &bytes[line..bytes.len().min(START_BYTES - 1)];
    let Some(name) = second.strip_prefix(b"WARC-").or_else(|| second.strip_prefix(b"Content-")) else {
        return false;
    };
    let length = name.iter().take_while(|byte| byte.is_ascii_alphabetic() || **byte == b'-').count();
    length > 0 && name.get(length) == Some(&b':')
}

/// The value of the first line `name: value` whose value is at most `longest` bytes that `part` accepts, and no others.
pub fn run_value<'a>(
    header: &'a [u8],
    name: &str,
    longest: usize,
    part: fn(&u8) -> bool,
) -> Option<&'a [u8]> {
    lines(header).find_map(|line| {
        let (found, rest) = line.split_at_checked(name.len())?;
        let rest = rest.strip_prefix(b":").filter(|_| found.eq_ignore_ascii_case(name.as_bytes()))?;
        let value = trim_blanks(rest.strip_suffix(b"\r").unwrap_or(rest));
        ((1..=longest).contains(&value.len()) && value.iter().all(part)).then_some(value)
    })
}

/// The lines without their line feeds; what stands behind the last one is a line too.
fn lines(header: &[u8]) -> impl Iterator<Item = &[u8]> {
    header.split(|byte| *byte == b'\n')
}

fn trim_blanks(mut value: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] | [rest @ .., b' ' | b'\t'] = value {
        value = rest;
    }
    value
}

/// A header of the plainest form, without its first line: `Name: value` and CR LF in every line, then an empty line.
///
/// Gives each field to `field`, the value without blanks around it. False as soon as a line has another form.
pub fn plain_fields<'a>(mut header: &'a [u8], mut field: impl FnMut(&'a [u8], &'a [u8]) -> bool) -> bool {
    loop {
        let Some(end) = memchr(b'\n', header) else { return false };
        let Some(line) = header[..end].strip_suffix(b"\r") else { return false };
        header = &header[end + 1..];
        if line.is_empty() {
            return header.is_empty();
        }
        let Some(colon) = memchr(b':', line) else { return false };
        let (name, value) = (&line[..colon], &line[colon + 1..]);
        let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        if name.is_empty() || !name.iter().all(is_plain) || memchr(b'\r', value).is_some() {
            return false;
        }
        if !field(name, trim_blanks(value)) {
            return false;
        }
    }
}

/// The value as text, if it is printable ASCII.
pub fn printable(value: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(value).ok()?;
    text.bytes().all(|byte| (b' '..=b'~').contains(&byte)).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_lines() {
        for (line, length) in [
            ("WARC/1.0\r\nx", Some(10)),
            ("WARC/1.1\n", Some(9)),
            ("WARC/0.17\r\n", Some(11)),
            ("WARC/1.1234\r\n", None),
            ("WARC/1.\r\n", None),
            ("WARC/2.0\r\n", None),
            ("WARC/1.0", None),
            ("WARC/1.0\r", None),
            ("WARC/1", None),
            ("warc/1.0\r\n", None),
        ] {
            assert_eq!(version_line(line.as_bytes()), length, "{line:?}");
        }
    }

    #[test]
    fn starts_of_records() {
        assert!(starts_record(b"WARC/1.0\r\nWARC-Type: x"));
        assert!(starts_record(b"WARC/1.0\nContent-Length:"));
        assert!(!starts_record(b"WARC/1.0\r\nWARC-:"));
        assert!(!starts_record(b"WARC/1.0\r\nWARC-Type"));
        assert!(!starts_record(b"WARC/1.0\r\nwarc-type: x"));
        assert!(!starts_record(b"WARC/1.0\r\nHost: x"));
        let endless = format!("WARC/1.0\r\nWARC-{}:", "a".repeat(60));
        assert!(!starts_record(endless.as_bytes()));
    }

    #[test]
    fn values_of_one_form() {
        let length = |header: &str| {
            run_value(header.as_bytes(), "Content-Length", 3, u8::is_ascii_digit)
                .map(|value| String::from_utf8(value.to_vec()).unwrap())
        };
        assert_eq!(length("WARC/1.0\r\ncontent-length: \t12 \r\n\r\n").as_deref(), Some("12"));
        assert_eq!(length("Content-Length: x\nContent-Length:7").as_deref(), Some("7"));
        assert_eq!(length("Content-Length: 1234\r\n"), None);
        assert_eq!(length("Content-Length: 1 2\r\n"), None);
        assert_eq!(length("Content-Length:\r\n"), None);
        assert_eq!(length("X-Content-Length: 5\r\n"), None);
        assert_eq!(length("Content-Length : 5\r\n"), None);
    }

    #[test]
    fn plain_headers_and_others() {
        let fields = |header: &str| {
            let mut found = String::new();
            let plain = plain_fields(header.as_bytes(), |name, value| {
                found += &format!("{}={};", String::from_utf8_lossy(name), String::from_utf8_lossy(value));
                true
            });
            plain.then_some(found)
        };
        assert_eq!(fields("A: b \r\nC-d:\r\n\r\n").as_deref(), Some("A=b;C-d=;"));
        assert_eq!(fields("\r\n").as_deref(), Some(""));
        for other in [
            "A: b\n\r\n",
            "A: b\r\n c\r\n\r\n",
            "A b\r\n\r\n",
            ": b\r\n\r\n",
            "A : b\r\n\r\n",
            "A: b\r\n",
            "",
            "A: b\rc\r\n\r\n",
            "\r\nA: b\r\n\r\n",
        ] {
            assert_eq!(fields(other), None, "{other:?}");
        }
    }
}
