//! HTTP bodies as archives hold them: transfer and content codings undone, within a bound.
//!
//! Archives are what servers sent, and servers lie: a label `gzip` on a body that is not (or no longer) packed, raw
//! deflate under the name of zlib's, "utf-8" as a coding. What a browser would show is what comes out; what cannot be
//! undone is an error with its reason, and a body that unpacks to more than the bound is one too.

use std::borrow::Cow;
use std::io::Read;

use neardup_core::length::{grouped, too_long};

use super::codec::{Codec, Compression};
use crate::error::{Error, Result};

/// Labels that change nothing, some of which are none.
const NOTHING: [&str; 7] = ["identity", "none", "binary", "utf-8", "utf8", "iso-8859-1", "chunked"];

/// How a body was sent.
#[derive(Clone, Copy, Debug, Default)]
pub struct Coding<'a> {
    /// `Transfer-Encoding` and `Content-Encoding`; several values are joined by commas.
    pub transfer: &'a str,
    pub content: &'a str,
    /// Whether what there is of a body that ends early is enough (a record that says it was truncated).
    pub partial: bool,
}

/// The body with its transfer and content codings undone; or why it cannot be decoded.
///
/// ```
/// use neardup_engine::reader::http::{Coding, decode_body};
///
/// let coding = Coding { transfer: "chunked", ..Coding::default() };
/// assert_eq!(decode_body(b"5\r\nhello\r\n0\r\n\r\n", coding, 100).unwrap(), b"hello".as_slice());
/// ```
pub fn decode_body<'a>(body: &'a [u8], coding: Coding<'_>, limit: usize) -> Result<Cow<'a, [u8]>> {
    let (transfers, contents) = (labels(coding.transfer), labels(coding.content));
    let mut body = Cow::Borrowed(body);
    if transfers.iter().any(|label| label == "chunked") {
        body = unchunked(body, coding.partial)?;
    }
    for label in transfers.iter().rev().chain(contents.iter().rev()) {
        body = unpacked(body, label, limit, coding.partial)?;
    }
    if body.len() > limit {
        return Err(Error::Body(too_long("a body", body.len() as u64, limit as u64)));
    }
    Ok(body)
}

fn labels(header: &str) -> Vec<String> {
    header.split(',').map(|label| label.trim().to_lowercase()).filter(|label| !label.is_empty()).collect()
}

/// The size that a chunk's first line gives, and the length of that line.
fn chunk_size(bytes: &[u8]) -> Option<(usize, usize)> {
    let blanks = |bytes: &[u8]| bytes.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let start = blanks(bytes);
    let digits = bytes[start..].iter().take(15).take_while(|byte| byte.is_ascii_hexdigit()).count();
    let size = std::str::from_utf8(&bytes[start..start + digits]).ok()?;
    let size = usize::from_str_radix(size, 16).ok()?;
    let mut end = start + digits;
    end += blanks(&bytes[end..]);
    let rest = &bytes[end..];
    let line_end = match rest {
        [b';', ..] => memchr::memchr(b'\n', rest)? + 1,
        [b'\n', ..] => 1,
        [b'\r', b'\n', ..] => 2,
        _ => return None,
    };
    Some((size, end + line_end))
}

fn unchunked(body: Cow<'_, [u8]>, partial: bool) -> Result<Cow<'_, [u8]>> {
    if chunk_size(&body).is_none() {
        return Ok(body); // the label stayed when the archive undid the coding
    }
    let (mut plain, mut at) = (Vec::with_capacity(body.len()), 0);
    loop {
        let Some((size, line)) = chunk_size(&body[at..]) else {
            // A body of whole chunks without the last, empty one is what a closed connection leaves.
            if at >= body.len() || partial {
                return Ok(plain.into());
            }
            return Err(Error::Body(format!(
                "chunked transfer encoding: no chunk size at byte {at} of the body"
            )));
        };
        at += line;
        if size == 0 {
            return Ok(plain.into());
        }
        let rest = &body[at..];
        plain.extend_from_slice(&rest[..rest.len().min(size)]);
        if size > rest.len() {
            if partial {
                return Ok(plain.into());
            }
            return Err(Error::Body("chunked transfer encoding: the body ends inside a chunk".into()));
        }
        at += size;
        at += match &body[at..] {
            [b'\r', b'\n', ..] => 2,
            [b'\n', ..] => 1,
            _ => 0,
        };
    }
}

fn unpacked<'a>(body: Cow<'a, [u8]>, label: &str, limit: usize, partial: bool) -> Result<Cow<'a, [u8]>> {
    if body.is_empty() || NOTHING.contains(&label) {
        return Ok(body);
    }
    let plain = match label {
        "gzip" | "x-gzip" if !body.starts_with(b"\x1f\x8b") => return Ok(body),
        "zstd" if !body.starts_with(Compression::Zstd.magic()) => return Ok(body),
        "gzip" | "x-gzip" => inflated(&body, (true, 31), limit, partial),
        "deflate" => match inflated(&body, (true, 15), limit, partial) {
            Err(Fault::Damaged(_)) => inflated(&body, (false, 15), limit, partial),
            plain => plain,
        },
        "zstd" => Codec::new(Compression::Zstd, None)
            .map_err(Fault::Damaged)
            .and_then(|codec| stepped(codec, &body, limit, true)),
        "br" => brotli(&body, limit),
        _ => return Err(Error::Body(format!("unknown content encoding '{label}'"))),
    };
    plain.map(Cow::Owned).map_err(|fault| {
        Error::Body(match fault {
            Fault::Damaged(reason) => format!("content encoding {label}: {reason}"),
            Fault::EndsEarly => format!("content encoding {label}: the body ends early"),
            Fault::TooLong => {
                format!(
                    "content encoding {label}: unpacks to more than --max-page ({} bytes)",
                    grouped(limit as u64)
                )
            }
        })
    })
}

enum Fault {
    Damaged(Error),
    EndsEarly,
    TooLong,
}

fn inflated(
    body: &[u8],
    form: (bool, u8),
    limit: usize,
    partial: bool,
) -> std::result::Result<Vec<u8>, Fault> {
    stepped(Codec::inflate(form.0, form.1), body, limit, partial)
}

fn stepped(
    mut codec: Codec,
    body: &[u8],
    limit: usize,
    partial: bool,
) -> std::result::Result<Vec<u8>, Fault> {
    let (mut plain, mut at) = (Vec::new(), 0);
    loop {
        let before = plain.len();
        let step = codec.step(&body[at..], &mut plain).map_err(Fault::Damaged)?;
        at += step.used;
        if plain.len() > limit {
            return Err(Fault::TooLong);
        }
        if step.done {
            return Ok(plain);
        }
        if step.used == 0 && plain.len() == before {
            return if partial { Ok(plain) } else { Err(Fault::EndsEarly) };
        }
    }
}

fn brotli(body: &[u8], limit: usize) -> std::result::Result<Vec<u8>, Fault> {
    let mut plain = Vec::new();
    let decoder = brotli_decompressor::Decompressor::new(body, 1 << 16);
    decoder
        .take(limit as u64 + 1)
        .read_to_end(&mut plain)
        .map_err(|error| Fault::Damaged(Error::Damaged(error.to_string())))?;
    if plain.len() > limit { Err(Fault::TooLong) } else { Ok(plain) }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression as Level;
    use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};

    use super::*;

    fn decode(body: &[u8], transfer: &str, content: &str) -> std::result::Result<Vec<u8>, String> {
        let coding = Coding { transfer, content, partial: false };
        decode_body(body, coding, 1000).map(Cow::into_owned).map_err(|error| error.to_string())
    }

    fn gzip(data: &[u8]) -> Vec<u8> {
        let mut packer = GzEncoder::new(Vec::new(), Level::fast());
        packer.write_all(data).unwrap();
        packer.finish().unwrap()
    }

    #[test]
    fn codings_are_undone() {
        let page = b"<html>hello".as_slice();
        let mut zlib = ZlibEncoder::new(Vec::new(), Level::fast());
        zlib.write_all(page).unwrap();
        let mut raw = DeflateEncoder::new(Vec::new(), Level::fast());
        raw.write_all(page).unwrap();
        for (body, transfer, content) in [
            (page.to_vec(), "", "identity, UTF-8"),
            (gzip(page), "", "GZIP"),
            (gzip(&gzip(page)), "", "gzip, x-gzip"),
            (gzip(page), "gzip", ""),
            (page.to_vec(), "chunked", "gzip"),
            (b"6 ;x=y\r\n<html>\r\n5\nhello\n0\r\n\r\n".to_vec(), "chunked", ""),
            (b"6\r\n<html>5\r\nhello".to_vec(), "Chunked", ""),
            (zlib.finish().unwrap(), "", "deflate"),
            (raw.finish().unwrap(), "", "deflate"),
        ] {
            assert_eq!(decode(&body, transfer, content).as_deref(), Ok(page), "{transfer} {content}");
        }
    }

    #[test]
    fn what_cannot_be_undone_says_why() {
        let packed = gzip(b"<html>hello");
        for (body, transfer, content, reason) in [
            (&packed[..packed.len() - 9], "", "gzip", "content encoding gzip: the body ends early"),
            (b"5\r\nhel", "chunked", "", "chunked transfer encoding: the body ends inside a chunk"),
            (
                b"3\r\nhel\r\nx",
                "chunked",
                "",
                "chunked transfer encoding: no chunk size at byte 8 of the body",
            ),
            (b"x", "", "lzma2", "unknown content encoding 'lzma2'"),
        ] {
            assert_eq!(decode(body, transfer, content), Err(reason.into()));
        }
        let bomb = gzip(&[b'x'; 5000]);
        let reason = "content encoding gzip: unpacks to more than --max-page (1,000 bytes)";
        assert_eq!(decode(&bomb, "", "gzip"), Err(reason.into()));
        assert!(decode(&[b'x'; 1001], "", "").unwrap_err().starts_with("a body of 1,001 bytes"));
    }

    #[test]
    fn a_body_that_was_truncated_gives_what_there_is() {
        let packed = gzip(b"<html>hello");
        let coding = Coding { transfer: "", content: "gzip", partial: true };
        let plain = decode_body(&packed[..packed.len() - 9], coding, 1000).unwrap();
        assert!(b"<html>hello".starts_with(&plain));
        let coding = Coding { transfer: "chunked", content: "", partial: true };
        assert_eq!(decode_body(b"5\r\nhel", coding, 1000).unwrap(), b"hel".as_slice());
    }
}
