//! The pages among the records of an archive, gathered in columns.
//!
//! A page is a `response` record of a successful (2xx) HTTP answer with HTML or plain text, a `resource` record of such
//! a type, or a `conversion` record with text (WET). Where header and body are of the plainest form (every line
//! `Name: value`, each wanted field once and in printable ASCII, the type named, no transfer or content encoding), the
//! page is taken here, and its body copied once. Everything else of a page's kind is put aside as it stands
//! ([`Aside::Record`]) for a reader that knows all the ways of old servers. Records that are surely no pages are counted.

use super::framing::{Framed, Record, Stored};
use super::lines::{plain_fields, printable};

/// Strings end to end, as Arrow lays them out; a missing one is empty and not `present`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Texts {
    pub bytes: Vec<u8>,
    /// One more than there are strings.
    pub offsets: Vec<i64>,
    pub present: Vec<bool>,
}

impl Default for Texts {
    fn default() -> Self {
        Self { bytes: Vec::new(), offsets: vec![0], present: Vec::new() }
    }
}

impl Texts {
    pub fn value(&self, row: usize) -> &[u8] {
        &self.bytes[self.offsets[row] as usize..self.offsets[row + 1] as usize]
    }

    /// The value of a row as text, if it has one.
    pub fn text(&self, row: usize) -> Option<&str> {
        self.present[row].then(|| std::str::from_utf8(self.value(row)).unwrap_or_default())
    }

    fn push(&mut self, value: Option<&[u8]>) {
        self.bytes.extend_from_slice(value.unwrap_or_default());
        self.offsets.push(self.bytes.len() as i64);
        self.present.push(value.is_some());
    }
}

/// What is not in the columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Aside {
    /// A record of a page's kind that is not of the plainest form.
    Record {
        number: i64,
        position: String,
        stored: Option<Stored>,
        kind: String,
        header: Vec<u8>,
        block: Vec<u8>,
        block_length: u64,
    },
    /// A stretch that is no record.
    Bad { position: String, reason: String },
}

/// The pages of some records, in order, one entry of each column a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pages {
    pub id: Texts,
    pub url: Texts,
    pub content: Texts,
    pub charset: Texts,
    pub date: Texts,
    pub html: Vec<bool>,
    /// The record's number in the file, from 0.
    pub number: Vec<i64>,
    pub stored: Vec<Option<Stored>>,
    pub asides: Vec<Aside>,
    /// How many records of each kind are no pages.
    pub ignored: Vec<(String, u64)>,
    /// Addresses that answered with another, and that other as it is written.
    pub redirects: Vec<(String, String)>,
    /// Bytes of blocks of a page's kind, and how many of these there were, bad stretches included.
    pub size: usize,
    pub held: usize,
}

/// What a record is.
enum Verdict<'a> {
    Page(Page<'a>),
    /// No page, counted under this.
    Ignored(&'static str),
    /// No page either, but where one is to be found.
    Redirect {
        url: &'a str,
        location: &'a str,
    },
    Aside,
}

/// A page; an empty string is none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page<'a> {
    pub id: &'a str,
    pub url: &'a str,
    pub date: &'a str,
    pub content: &'a [u8],
    pub html: bool,
    pub charset: Option<String>,
}

impl Pages {
    /// Empty columns, with room for contents of `bytes` bytes.
    pub fn with_capacity(bytes: usize) -> Self {
        let mut pages = Self::default();
        pages.content.bytes.reserve(bytes);
        pages
    }

    pub fn is_empty(&self) -> bool {
        self.held == 0 && self.ignored.is_empty()
    }

    /// Takes what was framed; `number` is that of the record, `longest` the most bytes a body may have.
    pub fn push(&mut self, framed: Framed<'_>, number: i64, longest: usize) {
        let record = match framed {
            Framed::Record(record) => record,
            Framed::Bad { position, reason } => {
                self.held += 1;
                self.asides.push(Aside::Bad { position: position.to_string(), reason });
                return;
            }
        };
        let is = |kind: &str| record.kind.eq_ignore_ascii_case(kind);
        let verdict = if is("response") {
            response(&record, longest)
        } else if is("resource") {
            document(&record, longest, None)
        } else if is("conversion") {
            document(&record, longest, Some("utf-8"))
        } else {
            let kind = record.kind.to_ascii_lowercase();
            self.ignore(if kind.is_empty() { "record without a type" } else { &kind });
            return;
        };
        self.held += 1;
        self.size += record.block.len();
        match verdict {
            Verdict::Page(page) => self.push_page(page, number, record.stored),
            Verdict::Ignored(kind) => self.ignore(kind),
            Verdict::Redirect { url, location } => {
                self.ignore(REDIRECT);
                self.redirects.push((url.to_owned(), location.to_owned()));
            }
            Verdict::Aside => {
                let aside = Aside::Record {
                    number,
                    position: record.position.to_string(),
                    stored: record.stored,
                    kind: record.kind.to_ascii_lowercase(),
                    header: record.header.to_vec(),
                    block: record.block.to_vec(),
                    block_length: record.block_length,
                };
                self.asides.push(aside);
            }
        }
    }

    /// Appends a page.
    pub fn push_page(&mut self, page: Page<'_>, number: i64, stored: Option<Stored>) {
        for (column, text) in
            [(&mut self.id, page.id), (&mut self.url, page.url), (&mut self.date, page.date)]
        {
            column.push(Some(text.as_bytes()).filter(|text| !text.is_empty()));
        }
        self.content.push(Some(page.content));
        self.charset.push(page.charset.as_deref().map(str::as_bytes));
        self.html.push(page.html);
        self.number.push(number);
        self.stored.push(stored);
    }

    /// The page in a row.
    pub fn page(&self, row: usize) -> Page<'_> {
        Page { content: self.content.value(row), ..self.without_content(row) }
    }

    /// The same without its content, which need not be there any more.
    pub fn without_content(&self, row: usize) -> Page<'_> {
        Page {
            id: self.id.text(row).unwrap_or_default(),
            url: self.url.text(row).unwrap_or_default(),
            date: self.date.text(row).unwrap_or_default(),
            content: b"",
            html: self.html[row],
            charset: self.charset.text(row).map(str::to_owned),
        }
    }

    /// Counts a record that is no page.
    pub fn ignore(&mut self, kind: &str) {
        match self.ignored.iter_mut().find(|(found, _)| found == kind) {
            Some((_, count)) => *count += 1,
            None => self.ignored.push((kind.to_owned(), 1)),
        }
    }
}

/// The fields of a record header that a page needs; none if it is not of the plainest form.
struct RecordFields<'a> {
    content_type: &'a str,
    id: &'a str,
    url: &'a str,
    date: &'a str,
}

impl<'a> RecordFields<'a> {
    fn read(header: &'a [u8]) -> Option<Self> {
        let fields = header.strip_prefix(b"WARC/1.0\r\n").or_else(|| header.strip_prefix(b"WARC/1.1\r\n"))?;
        let wanted =
            ["Content-Type", "WARC-Record-ID", "WARC-Target-URI", "WARC-Date", "WARC-Type", "Content-Length"];
        let [content_type, id, url, date, ..] = wanted_fields(fields, wanted)?;
        let marks = ['<', '>', ' ', '\t'];
        let (id, url) =
            (id.unwrap_or_default().trim_matches(marks), url.unwrap_or_default().trim_matches(marks));
        Some(Self { content_type: content_type?, id, url, date: date.unwrap_or_default() })
    }

    fn page(&self, content: &'a [u8], html: bool, charset: Option<String>) -> Page<'a> {
        Page { id: self.id, url: self.url, date: self.date, content, html, charset }
    }
}

/// The values of the wanted fields; none if the header is not plain, or one is there twice or not in printable ASCII.
fn wanted_fields<'a, const N: usize>(header: &'a [u8], wanted: [&str; N]) -> Option<[Option<&'a str>; N]> {
    let mut found = [None; N];
    let plain = plain_fields(header, |name, value| {
        for (wanted, slot) in wanted.iter().zip(&mut found) {
            if name.eq_ignore_ascii_case(wanted.as_bytes()) {
                let text = printable(value);
                let first = slot.is_none() && text.is_some();
                *slot = text;
                return first;
            }
        }
        true
    });
    plain.then_some(found)
}

/// A record whose block is the page itself.
fn document<'a>(record: &Record<'a>, longest: usize, charset: Option<&str>) -> Verdict<'a> {
    let Some(fields) = RecordFields::read(record.header) else { return Verdict::Aside };
    if record.block_length > longest as u64 {
        return Verdict::Aside;
    }
    match media_type(fields.content_type) {
        Media::Unnamed => Verdict::Aside,
        Media::Other => Verdict::Ignored(OTHER),
        Media::Named { html } => {
            let charset = named_charset(fields.content_type).or_else(|| charset.map(str::to_owned));
            Verdict::Page(fields.page(record.block, html, charset))
        }
    }
}

/// A record whose block is an HTTP answer.
fn response<'a>(record: &Record<'a>, longest: usize) -> Verdict<'a> {
    let Some(fields) = RecordFields::read(record.header) else { return Verdict::Aside };
    let is_http = fields.content_type.strip_prefix("application/http");
    if !is_http.is_some_and(|rest| rest.is_empty() || rest.starts_with(';')) {
        return Verdict::Aside;
    }
    let Some((status, http, body)) = http_parts(record.block) else { return Verdict::Aside };
    let Some([content_type, transfer, encoding]) =
        wanted_fields(http, ["Content-Type", "Transfer-Encoding", "Content-Encoding"])
    else {
        return Verdict::Aside;
    };
    let kind = match status {
        b'1' => Some("response with status 1xx"),
        b'3' => Some(REDIRECT),
        b'4' => Some("response with status 4xx"),
        b'5' => Some("response with status 5xx"),
        b'2' => None,
        _ => return Verdict::Aside,
    };
    if let Some(kind) = kind {
        let moved = if status == b'3' { wanted_fields(http, ["Location"]) } else { Some([None]) };
        return match moved {
            Some([Some(location)]) if !fields.url.is_empty() => {
                Verdict::Redirect { url: fields.url, location }
            }
            Some(_) => Verdict::Ignored(kind),
            None => Verdict::Aside,
        };
    }
    let content_type = content_type.unwrap_or_default();
    let html = match media_type(content_type) {
        Media::Unnamed => return Verdict::Aside,
        Media::Other => return Verdict::Ignored(OTHER),
        Media::Named { html } => html,
    };
    let whole = record.block.len() as u64 == record.block_length;
    if !whole || body.len() > longest || transfer.is_some() || encoding.is_some() {
        return Verdict::Aside;
    }
    Verdict::Page(fields.page(body, html, named_charset(content_type)))
}

/// The longest HTTP header that is read here.
const HTTP_HEADER_BYTES: usize = 32 << 10;

/// The first digit of the status, the header's fields and the body of an answer with a plain status line.
fn http_parts(block: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let head = &block[..block.len().min(HTTP_HEADER_BYTES)];
    let status = match head {
        [b'H', b'T', b'T', b'P', b'/', b'1', b'.', b'0' | b'1', b' ', status @ ..] => status,
        _ => return None,
    };
    let digits = status.first_chunk::<3>().filter(|digits| digits.iter().all(u8::is_ascii_digit))?;
    if !matches!(status[3..], [b' ' | b'\r', ..]) {
        return None;
    }
    let line = memchr::memchr(b'\n', status)?;
    if line < 4 || status[line - 1] != b'\r' || memchr::memchr(b'\r', &status[..line - 1]).is_some() {
        return None;
    }
    let fields = 9 + line + 1;
    // The status line may be the whole header: its line end counts.
    let end = memchr::memmem::find(&head[fields - 2..], b"\r\n\r\n")? + fields - 2 + 4;
    Some((digits[0], &head[fields..end], &block[end..]))
}

/// What pages are that hold neither HTML nor plain text.
pub const OTHER: &str = "neither HTML nor plain text";
const REDIRECT: &str = "response with status 3xx";

/// What a content type says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Media {
    Unnamed,
    Other,
    Named { html: bool },
}

/// Whether a content type names HTML, plain text, anything else or nothing.
pub fn media_type(content_type: &str) -> Media {
    let named = content_type.split(';').next().unwrap_or_default().trim();
    if named.is_empty() {
        Media::Unnamed
    } else if ["text/html", "application/xhtml+xml"].iter().any(|html| named.eq_ignore_ascii_case(html)) {
        Media::Named { html: true }
    } else if named.eq_ignore_ascii_case("text/plain") {
        Media::Named { html: false }
    } else {
        Media::Other
    }
}

/// The charset that a content type names, in lower case.
pub fn named_charset(content_type: &str) -> Option<String> {
    let blanks = [' ', '\t'];
    content_type.match_indices(';').find_map(|(at, _)| {
        let parameter = content_type[at + 1..].trim_start_matches(blanks);
        let (name, rest) = parameter.split_at_checked("charset".len())?;
        let value = rest
            .trim_start_matches(blanks)
            .strip_prefix('=')
            .filter(|_| name.eq_ignore_ascii_case("charset"))?;
        let value = value.trim_start_matches(blanks);
        let value = value.strip_prefix(['"', '\'']).unwrap_or(value);
        let end = value
            .find(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ';' | ','))
            .unwrap_or(value.len());
        (end > 0).then(|| value[..end].to_ascii_lowercase())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::warc::plain::Position;

    fn gather(kind: &str, header: &str, block: &str) -> Pages {
        let mut pages = Pages::default();
        let header = format!("WARC/1.0\r\n{header}Content-Length: {}\r\n\r\n", block.len());
        let record = Record {
            position: Position::Stored(7),
            stored: Some(Stored { offset: 7, length: 9 }),
            kind,
            header: header.as_bytes(),
            block: block.as_bytes(),
            block_length: block.len() as u64,
        };
        pages.push(Framed::Record(record), 3, 1000);
        pages
    }

    fn answer(http: &str) -> Pages {
        gather(
            "Response",
            "Content-Type: application/http; msgtype=response\r\nWARC-Target-URI: <http://a/>\r\n",
            http,
        )
    }

    #[test]
    fn a_plain_page() {
        let pages =
            answer("HTTP/1.1 200 OK\r\nContent-Type: TEXT/html;Charset = 'Latin1'\r\nX: y\r\n\r\n<p>body");
        assert_eq!(pages.content.bytes, b"<p>body");
        assert_eq!((pages.url.bytes.as_slice(), pages.id.present[0]), (b"http://a/".as_slice(), false));
        assert_eq!(
            (pages.charset.bytes.as_slice(), pages.html[0], pages.number[0]),
            (b"latin1".as_slice(), true, 3)
        );
        assert_eq!((pages.held, pages.asides.len(), pages.ignored.len()), (1, 0, 0));
        let text = gather("conversion", "Content-Type: text/plain\r\n", "words");
        assert_eq!(
            (text.content.bytes.as_slice(), text.charset.bytes.as_slice()),
            (b"words".as_slice(), b"utf-8".as_slice())
        );
        assert!(!text.html[0]);
    }

    #[test]
    fn what_is_no_page_is_counted() {
        let ignored = |pages: Pages| pages.ignored[0].0.clone();
        assert_eq!(ignored(answer("HTTP/1.0 301 Moved\r\nLocation: /\r\n\r\n")), "response with status 3xx");
        let moved = answer("HTTP/1.0 302 Found\r\nLocation: /b\r\n\r\n");
        assert_eq!(moved.redirects, [("http://a/".to_owned(), "/b".to_owned())]);
        assert!(answer("HTTP/1.1 304 Not Modified\r\n\r\n").redirects.is_empty());
        assert_eq!(answer("HTTP/1.1 301 Moved\r\nLocation: /\r\nLocation: /b\r\n\r\n").asides.len(), 1);
        assert_eq!(ignored(answer("HTTP/1.1 404\r\n\r\n")), "response with status 4xx");
        assert_eq!(ignored(answer("HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n")), OTHER);
        assert_eq!(ignored(gather("request", "", "GET /")), "request");
        assert_eq!(ignored(gather("", "", "")), "record without a type");
    }

    #[test]
    fn what_is_not_plain_is_put_aside() {
        for http in [
            "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\ncontent-encoding: gzip\r\n\r\nx",
            "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Type: text/plain\r\n\r\nx",
            "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n folded\r\n\r\nx",
            "HTTP/1.1 200 OK\nContent-Type: text/html\n\nx",
            "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n",
            "HTTP/1.1 200 OK\r\nContent-Type: text/h\u{e4}\r\n\r\nx",
            "HTTP/1.1 200 OK\r\n\r\n<p>no type",
            "HTTP/1.1  200 OK\r\n\r\nx",
            "HTTP/1.1 2000 OK\r\n\r\nx",
            "HTTP/1.1 600 OK\r\n\r\nx",
            "HTTP/2 200 OK\r\n\r\nx",
            "",
        ] {
            let pages = answer(http);
            assert_eq!((pages.asides.len(), pages.html.len(), pages.held), (1, 0, 1), "{http:?}");
        }
        assert_eq!(gather("response", "Content-Type: text/dns\r\n", "x").asides.len(), 1);
        assert_eq!(gather("resource", "", "x").asides.len(), 1);
        let long = answer(&format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n{}", "x".repeat(1001)));
        assert_eq!(long.asides.len(), 1);
    }

    #[test]
    fn charsets() {
        for (content_type, charset) in [
            ("text/html", None),
            ("text/html; charset=UTF-8", Some("utf-8")),
            ("text/html;charset=\"x y\"", Some("x")),
            ("text/html; charset=; charset=b", Some("b")),
            ("text/html; Charset\t=\t'b'", Some("b")),
            ("text/html charset=b", None),
            ("a; xcharset=b", None),
            ("a;;charset=b,c", Some("b")),
        ] {
            assert_eq!(named_charset(content_type).as_deref(), charset, "{content_type:?}");
        }
    }
}
