//! Records of a page's kind that are not of the plainest form, read with all the patience that old servers need.
//!
//! Lines that end with a line feed alone, folded fields, bodies with codings, answers without a content type or without a
//! status line: what a browser would show is the page. The core takes records of the plainest form itself
//! (`warc/pages.rs`); for these both give the same, which a property test holds them to.

use std::borrow::Cow;

use memchr::{memchr, memmem};
use neardup_core::length::too_long;
use neardup_core::page::Page;
use neardup_core::warc::pages::{Media, OTHER, media_type, named_charset};

use super::header::{Header, is_known_version, latin1, text};
use super::http::{Coding, decode_body};

/// Under what a page without a status line is counted.
pub const WITHOUT_STATUS: &str = "response without an HTTP status line";

/// A record to be read.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// `WARC-Type` in lower case: response, resource or conversion.
    pub kind: &'a str,
    pub header: &'a [u8],
    /// Shorter than `block_length` where only its head was held.
    pub block: &'a [u8],
    pub block_length: u64,
}

/// A page; an empty string is none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordPage {
    pub id: String,
    pub url: String,
    pub date: String,
    pub content: Vec<u8>,
    pub html: bool,
    pub charset: Option<String>,
    /// Whether its answer has no status line.
    pub tolerated: bool,
}

impl RecordPage {
    /// The page as it is read.
    pub fn page(&self) -> Page<'_> {
        let url = Some(self.url.as_str()).filter(|url| !url.is_empty());
        Page { content: &self.content, html: self.html, charset: self.charset.as_deref(), url }
    }
}

/// Why a record gives no page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoPage {
    /// It is none; the kind it is counted under.
    Kind(String),
    /// The answer names another address.
    Redirect { kind: String, url: String, location: String },
    /// It is one, but cannot be read.
    Broken(String),
}

fn broken<T>(reason: impl Into<String>) -> Result<T, NoPage> {
    Err(NoPage::Broken(reason.into()))
}

fn none<T>(kind: impl Into<String>) -> Result<T, NoPage> {
    Err(NoPage::Kind(kind.into()))
}

/// Reads a record whose page has at most `longest` bytes.
///
/// ```
/// use neardup_engine::reader::patient::{Record, read};
///
/// let header = b"WARC/1.0\r\nWARC-Type: conversion\r\nContent-Length: 5\r\n\r\n";
/// let page = read(Record { kind: "conversion", header, block: b"hello", block_length: 5 }, 100).unwrap();
/// assert_eq!((page.content.as_slice(), page.html, page.charset.as_deref()), (b"hello".as_slice(), false, Some("utf-8")));
/// ```
pub fn read(record: Record<'_>, longest: usize) -> Result<RecordPage, NoPage> {
    let stored = with_crlf(record.header);
    let header = record_header(&stored)?;
    let too_long_body = || broken(too_long("a body", record.block_length, longest as u64));
    let is_too_long = record.block_length > longest as u64;
    let mut page = RecordPage {
        id: inside_marks(&field(&header, "WARC-Record-ID")),
        url: inside_marks(&field(&header, "WARC-Target-URI")),
        date: field(&header, "WARC-Date"),
        ..RecordPage::default()
    };
    if record.kind == "response" && !record.block.starts_with(b"HTTP/") {
        let body = behind_fields(record.block);
        if !has_tag(head(body)) {
            return none("response other than HTTP");
        }
        if is_too_long {
            return too_long_body();
        }
        (page.html, page.tolerated, page.content) = (true, true, body.to_vec());
    } else if record.kind == "response" {
        let partial = !field(&header, "WARC-Truncated").is_empty();
        response(record, &mut page, longest, partial)?;
    } else {
        let charset = (record.kind == "conversion").then(|| "utf-8".to_owned());
        (page.html, page.charset) = kind_of(&field(&header, "Content-Type"), record.block, charset)?;
        if is_too_long {
            return too_long_body();
        }
        page.content = record.block.to_vec();
    }
    Ok(page)
}

fn record_header(stored: &[u8]) -> Result<Header<'_>, NoPage> {
    match Header::read_up_to(stored, usize::MAX) {
        Some((header, _)) if is_known_version(header.first_line) => Ok(header),
        _ => broken("a record header that cannot be read: Invalid WARC header"),
    }
}

/// The first value of a field of a record's header.
///
/// ```
/// use neardup_engine::reader::patient::record_field;
///
/// assert_eq!(record_field(b"WARC/1.0\nContent-Type: a/b\n\n", "content-type").as_deref(), Some("a/b"));
/// ```
pub fn record_field(header: &[u8], name: &str) -> Option<String> {
    let stored = with_crlf(header);
    let (header, _) = Header::read_up_to(&stored, usize::MAX)?;
    header.value(name).map(text)
}

fn field(header: &Header<'_>, name: &str) -> String {
    text(header.value(name).unwrap_or_default())
}

fn inside_marks(value: &str) -> String {
    value.trim_matches(['<', '>', ' ', '\t']).to_owned()
}

/// A header with CR LF behind every line: older archives end lines with a line feed alone.
fn with_crlf(header: &[u8]) -> Cow<'_, [u8]> {
    if header.ends_with(b"\r\n\r\n") {
        return Cow::Borrowed(header);
    }
    let mut lines = Vec::with_capacity(header.len() + header.len() / 16);
    let mut before = 0;
    for &byte in header {
        if byte == b'\n' && before != b'\r' {
            lines.push(b'\r');
        }
        lines.push(byte);
        before = byte;
    }
    Cow::Owned(lines)
}

/// The block of an answer, with CR LF in its header if its first line ends with a line feed alone.
fn with_http_crlf(block: &[u8]) -> Cow<'_, [u8]> {
    let Some(end) = bare_header(block) else { return Cow::Borrowed(block) };
    let mut changed = with_crlf(&block[..end]).into_owned();
    changed.extend_from_slice(&block[end..]);
    Cow::Owned(changed)
}

/// Where the header ends of an answer whose first line ends with a line feed alone.
fn bare_header(block: &[u8]) -> Option<usize> {
    let mut end = memchr(b'\n', block)? + 1;
    if block[end - 2] == b'\r' || block[..end].contains(&b'\r') {
        return None;
    }
    for _ in 0..=2000 {
        match &block[end..] {
            [b'\n', ..] => return Some(end + 1),
            [b'\r', b'\n', ..] => return Some(end + 2),
            rest => end += memchr(b'\n', rest)? + 1,
        }
    }
    None
}

/// What stands behind the fields of HTTP's header and their empty line, if a block begins with such.
fn behind_fields(block: &[u8]) -> &[u8] {
    let mut rest = block;
    while let Some(end) = memchr(b'\n', rest) {
        let name = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'-').count();
        if !rest[0].is_ascii_alphabetic() || rest.get(name) != Some(&b':') {
            let after = if rest[0] == b'\r' { &rest[1..] } else { rest };
            let has_fields = rest.len() < block.len();
            return if has_fields && after.starts_with(b"\n") { &after[1..] } else { block };
        }
        rest = &rest[end + 1..];
    }
    block
}

fn response(record: Record<'_>, page: &mut RecordPage, longest: usize, partial: bool) -> Result<(), NoPage> {
    let block = with_http_crlf(record.block);
    let Some((http, body)) = Header::read(&block) else {
        return broken("an HTTP header that cannot be read: Maximum header length exceeded.");
    };
    let Some(status) = http.status() else { return broken("an HTTP header without a status") };
    if !(200..=299).contains(&status) {
        let kind = format!("response with status {}xx", status / 100);
        let location = http.value("Location").filter(|_| status / 100 == 3).map(latin1).unwrap_or_default();
        return if location.is_empty() {
            none(kind)
        } else {
            Err(NoPage::Redirect { kind, url: page.url.clone(), location })
        };
    }
    let content_type = latin1(http.value("Content-Type").unwrap_or_default());
    let named = if content_type.is_empty() { None } else { Some(kind_of(&content_type, b"", None)?) };
    if (record.block.len() as u64) < record.block_length {
        return broken(too_long("a response", record.block_length, longest as u64));
    }
    let (transfer, content) = (joined(&http, "Transfer-Encoding"), joined(&http, "Content-Encoding"));
    let coding = Coding { transfer: &transfer, content: &content, partial };
    let body = decode_body(body, coding, longest).map_err(|error| NoPage::Broken(error.to_string()))?;
    (page.html, page.charset) = match named {
        Some(named) => named,
        None => kind_of("", &body, None)?,
    };
    page.content = body.into_owned();
    Ok(())
}

fn joined(header: &Header<'_>, name: &str) -> String {
    let latin1 = |value: &[u8]| value.iter().map(|byte| char::from(*byte)).collect::<String>();
    header.values(name).map(latin1).collect::<Vec<_>>().join(",")
}

/// Whether it is HTML, and its charset: from a content type or, where there is none, the first bytes.
fn kind_of(
    content_type: &str,
    body: &[u8],
    charset: Option<String>,
) -> Result<(bool, Option<String>), NoPage> {
    let charset = named_charset(content_type).or(charset);
    match media_type(content_type) {
        Media::Named { html } => Ok((html, charset)),
        Media::Other => none(OTHER),
        Media::Unnamed if has_tag(head(body)) => Ok((true, charset)),
        Media::Unnamed if head(body).iter().any(is_binary) => none(OTHER),
        Media::Unnamed => Ok((false, charset)),
    }
}

fn head(body: &[u8]) -> &[u8] {
    &body[..body.len().min(1024)]
}

/// Bytes that stand in no text.
fn is_binary(byte: &u8) -> bool {
    matches!(byte, 0..=8 | 0x0E..=0x1A | 0x1C..=0x1F)
}

/// Elements that a page may begin with.
const TAGS: [&str; 15] = [
    "!doctype", "!--", "html", "head", "body", "title", "meta", "script", "style", "table", "div", "p", "a",
    "br", "h1",
];

fn has_tag(bytes: &[u8]) -> bool {
    memmem::find_iter(bytes, b"<").any(|at| {
        let rest = &bytes[at + 1..];
        TAGS.iter().any(|tag| {
            rest.get(..tag.len()).is_some_and(|name| name.eq_ignore_ascii_case(tag.as_bytes()))
                && matches!(
                    rest.get(tag.len()),
                    Some(b' ' | b'\t' | b'\n' | b'\r' | 0x0B | 0x0C | b'>' | b'/')
                )
        })
    })
}

/// What a server said: status, header fields in lower case, and the body with its codings undone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    pub status: u16,
    pub fields: Vec<(String, String)>,
    pub body: Vec<u8>,
}

/// The answer in the block of a response record; none if it is no HTTP, or its body cannot be decoded.
///
/// ```
/// use neardup_engine::reader::patient::answer;
///
/// let header = b"WARC/1.0\r\nContent-Type: application/http\r\n\r\n";
/// let said = answer(header, b"HTTP/1.1 404 Not Found\r\nA: b\r\n\r\nno", 100).unwrap();
/// assert_eq!((said.status, said.body.as_slice()), (404, b"no".as_slice()));
/// ```
pub fn answer(header: &[u8], block: &[u8], longest: usize) -> Option<Answer> {
    let stored = with_crlf(header);
    let record = record_header(&stored).ok()?;
    let kind = record.value("Content-Type")?;
    if kind != b"application/http" && !kind.starts_with(b"application/http;") {
        return None;
    }
    let (http, body) = Header::read(block)?;
    let latin1 = |value: &[u8]| value.iter().map(|byte| char::from(*byte)).collect::<String>();
    let fields: Vec<(String, String)> =
        http.fields.iter().map(|(name, value)| (latin1(name).to_lowercase(), latin1(value))).collect();
    let last = |wanted: &str| {
        fields.iter().rev().find(|(name, _)| name == wanted).map_or("", |(_, value)| value.as_str())
    };
    let coding =
        Coding { transfer: last("transfer-encoding"), content: last("content-encoding"), partial: true };
    let body = decode_body(body, coding, longest).ok()?.into_owned();
    Some(Answer { status: http.status().unwrap_or(200), fields, body })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn response_of(block: &str) -> Result<RecordPage, NoPage> {
        let header = b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: <http://a/>\r\n\r\n";
        let block_length = block.len() as u64;
        read(Record { kind: "response", header, block: block.as_bytes(), block_length }, 1000)
    }

    #[test]
    fn line_feeds_alone() {
        let page = response_of("HTTP/1.1 200 OK\nContent-Type: text/html\n\n<p>x\n\n").unwrap();
        assert_eq!(
            (page.content.as_slice(), page.html, page.url.as_str()),
            (b"<p>x\n\n".as_slice(), true, "http://a/")
        );
    }

    #[test]
    fn without_a_status_line() {
        let page = response_of("Server: x\r\nA: b\r\n\r\n<html><p>words").unwrap();
        assert_eq!((page.content.as_slice(), page.tolerated), (b"<html><p>words".as_slice(), true));
        for block in ["words without markup", "Server: x\r\n\r\nwords", ""] {
            assert_eq!(response_of(block), none("response other than HTTP"));
        }
    }

    #[test]
    fn redirects_and_other_statuses() {
        let (kind, url, location) = ("response with status 3xx".into(), "http://a/".into(), "/b".into());
        assert_eq!(
            response_of("HTTP/1.1 301 Moved\r\nlocation: /b \r\n\r\n"),
            Err(NoPage::Redirect { kind, url, location })
        );
        assert_eq!(response_of("HTTP/1.1 404 \r\n\r\n"), none("response with status 4xx"));
        assert_eq!(response_of("HTTP/1.1  200\r\n\r\n"), broken("an HTTP header without a status"));
    }

    #[test]
    fn no_content_type() {
        for (body, html) in [("<!DOCTYPE html>", Some(true)), ("words < more", Some(false)), ("\x01", None)] {
            let page = response_of(&format!("HTTP/1.1 200 OK\r\nA: b\r\n\r\n{body}"));
            assert_eq!(page.ok().map(|page| page.html), html, "{body:?}");
        }
    }
}
