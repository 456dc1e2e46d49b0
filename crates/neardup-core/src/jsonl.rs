//! JSON lines to columns: the fields of a page, picked out of each line without building a value for the rest.
//!
//! A line ends at `\n` only (a JSON string may hold U+2028 and the like). A line that is not a JSON object, or
//! whose wanted fields have the wrong type, is named with its reason and left out. The page's text is unescaped
//! straight into the column it ends up in, from one backslash to the next; everything that is not wanted is
//! checked and passed over by a JSON library. Two things are taken that strict JSON forbids, since losing a page
//! over them helps nobody: control characters in strings, and half surrogate pairs, which become U+FFFD.

use std::collections::HashMap;

use memchr::memchr;
use simdutf8::basic::from_utf8;

use crate::error::{Error, Result};
use crate::json_cursor::Cursor;
use crate::length::too_long;
use crate::page::Text;

/// The names of the fields that are taken up; `a.b` is the field `b` of the object `a`, or one that is called so.
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

    /// The last one, if it is not null; there is one.
    fn last(&self) -> Option<&str> {
        let from = self.offsets[self.offsets.len() - 2] as usize;
        debug_assert!(from_utf8(&self.bytes).is_ok());
        // SAFETY: all come of lines that are valid UTF-8. What stands between two escapes is cut out of a line before and
        // behind a byte of ASCII, and what an escape stands for is a whole character.
        self.present.last()?.then(|| unsafe { str::from_utf8_unchecked(&self.bytes[from..]) })
    }

    /// Lets go of all strings; the buffers stay.
    fn clear(&mut self) {
        self.bytes.clear();
        self.offsets.clear();
        self.present.clear();
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
    pub bad: Bad,
}

/// The lines that gave no page. There may be millions of them in a block, and few reasons: each is held once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bad {
    /// Number of the line in the block, from 0, and the place of its reason among `reasons`.
    pub line: Vec<i64>,
    pub reason: Vec<u32>,
    pub reasons: Vec<String>,
}

impl Bad {
    /// The reason of the line that stands at a place of `line`.
    pub fn why(&self, at: usize) -> &str {
        &self.reasons[self.reason[at] as usize]
    }
}

impl Lines {
    /// The page of the last line that gave one; there is one, and its content is held.
    fn last(&self) -> Text<'_> {
        Text {
            text: self.content.last().expect("a page"),
            html: *self.html.last().expect("a page"),
            url: self.url.last(),
        }
    }
}

/// Reads a block of whole lines, of which none may have more than `longest` bytes.
pub fn parse(block: &[u8], fields: &Fields<'_>, longest: usize) -> Lines {
    let mut parser = Parser::new(fields, block.len(), longest);
    parser.block(block);
    parser.finish().0
}

/// Reads blocks of whole lines that follow one another.
#[derive(Debug)]
pub struct Parser<'a> {
    fields: &'a Fields<'a>,
    longest: usize,
    lines: Lines,
    /// The places of the reasons in `lines.bad`.
    reasons: HashMap<String, u32>,
    /// Line ends and bytes so far.
    ends: usize,
    at: usize,
}

/// Of a block with more reasons than this, lines without a page no longer say which fields they have.
const MOST_REASONS: usize = 1000;

impl<'a> Parser<'a> {
    /// For so many bytes of content in all; a line of more than `longest` bytes is named and not read.
    pub fn new(fields: &'a Fields<'a>, bytes: usize, longest: usize) -> Self {
        let mut lines = Lines::default();
        lines.content.bytes.reserve(bytes);
        Parser { fields, longest, lines, reasons: HashMap::new(), ends: 0, at: 0 }
    }

    /// Reads the next block; only the last line of the last one may be without an end.
    pub fn block(&mut self, block: &[u8]) {
        self.each_line(block, |_| {});
    }

    /// The same, but contents are not held: `show` has each page while it is in the nearest cache.
    pub fn block_shown(&mut self, block: &[u8], mut show: impl FnMut(Text<'_>)) {
        self.each_line(block, |lines| {
            show(lines.last());
            lines.content.clear();
        });
    }

    /// `taken` is called after every line that gave a page.
    fn each_line(&mut self, block: &[u8], mut taken: impl FnMut(&mut Lines)) {
        let mut start = 0;
        while start < block.len() {
            let end = memchr(b'\n', &block[start..]).map_or(block.len(), |length| start + length);
            if self.line(&block[start..end], self.at + start) {
                taken(&mut self.lines);
            }
            self.ends += usize::from(end < block.len());
            start = end + 1;
        }
        self.at += block.len();
    }

    /// Whether the line gave a page.
    fn line(&mut self, line: &[u8], start: usize) -> bool {
        if line.iter().all(u8::is_ascii_whitespace) {
            return false;
        }
        let lines = &mut self.lines;
        let content_start = lines.content.bytes.len();
        let row = if line.len() > self.longest {
            Err((too_long("a line", line.len() as u64, self.longest as u64), false))
        } else if from_utf8(line).is_ok() {
            Row::read(line, self.fields, &mut lines.content.bytes)
                .map_err(|error| (error.to_string(), matches!(error, Error::NoContent { .. })))
        } else {
            Err(("not valid UTF-8".to_owned(), false))
        };
        match row {
            Ok(row) => {
                lines.id.push(row.id.as_deref());
                lines.url.push(row.url.as_deref());
                lines.date.push(row.date.as_deref());
                lines.content.finish();
                lines.html.push(row.content == Some(Content::Html));
                lines.line.push(self.ends as i64);
                lines.start.push(start as i64);
                lines.length.push(line.len() as i64);
                true
            }
            Err((reason, lacks_content)) => {
                lines.content.bytes.truncate(content_start);
                self.bad(line, reason, lacks_content);
                false
            }
        }
    }

    #[cold]
    fn bad(&mut self, line: &[u8], mut reason: String, lacks_content: bool) {
        let bad = &mut self.lines.bad;
        if lacks_content && bad.reasons.len() < MOST_REASONS {
            reason += &there_are(line);
        }
        let place = *self.reasons.entry(reason).or_insert_with_key(|reason| {
            bad.reasons.push(reason.clone());
            bad.reasons.len() as u32 - 1
        });
        bad.line.push(self.ends as i64);
        bad.reason.push(place);
    }

    /// The pages, and how many line ends there were.
    pub fn finish(self) -> (Lines, usize) {
        (self.lines, self.ends)
    }
}

/// The names of an object's fields for a reason: the first few, cut short.
fn there_are(line: &[u8]) -> String {
    const FIELDS: usize = 8;
    const LETTERS: usize = 30;
    let mut cursor = Cursor { line, at: 0 };
    let mut names = Vec::new();
    let mut name = Vec::new();
    // The line was read once, so all of this is there.
    while names.len() <= FIELDS && matches!(cursor.next_byte(), Some(b'{' | b',')) {
        cursor.at += 1;
        name.clear();
        if cursor.next_byte() != Some(b'"') || cursor.string(&mut name).is_err() {
            break;
        }
        names.push(String::from_utf8_lossy(&name).chars().take(LETTERS).collect::<String>());
        if cursor.expect(b':').is_err() || cursor.skip().is_err() {
            break;
        }
    }
    if names.is_empty() {
        return String::new();
    }
    if names.len() > FIELDS {
        names[FIELDS] = "…".to_owned();
    }
    format!("; there are: {} (see --text-field)", names.join(", "))
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
    fn read(line: &[u8], fields: &Fields<'_>, out: &mut Vec<u8>) -> Result<Row> {
        let mut row = Row::default();
        let mut cursor = Cursor { line, at: 0 };
        if cursor.next_byte() != Some(b'{') {
            return Err(Error::NotAnObject);
        }
        let content_start = out.len();
        row.object(fields, &mut Vec::new(), &mut cursor, content_start, out)?;
        if cursor.next_byte().is_some() {
            return Err(cursor.invalid("something follows the object"));
        }
        if row.content.is_none() {
            return Err(Error::NoContent { html: fields.html.to_owned(), text: fields.text.to_owned() });
        }
        Ok(row)
    }

    /// Takes up the fields of the object that begins here, whose own name, if it has one, stands in `name` with a dot
    /// behind it.
    fn object(
        &mut self,
        fields: &Fields<'_>,
        name: &mut Vec<u8>,
        cursor: &mut Cursor<'_>,
        start: usize,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        cursor.at += 1;
        let prefix = name.len();
        let mut first = true;
        loop {
            match cursor.next_byte() {
                Some(b'}') if first => break,
                Some(b'"') => {}
                _ => return Err(cursor.invalid("expected a field's name")),
            }
            name.truncate(prefix);
            cursor.string(name)?;
            cursor.expect(b':')?;
            match fields.wanted(name) {
                Wanted::Html => self.take(Content::Html, fields.html, cursor, start, out)?,
                Wanted::Text => self.take(Content::Text, fields.text, cursor, start, out)?,
                Wanted::Id => self.id = cursor.scalar(fields.id)?,
                Wanted::Url => self.url = cursor.scalar(fields.url)?,
                Wanted::Date => self.date = cursor.scalar(fields.date)?,
                Wanted::Inside if cursor.next_byte() == Some(b'{') => {
                    name.push(b'.');
                    self.object(fields, name, cursor, start, out)?;
                }
                Wanted::Inside | Wanted::Nothing => cursor.skip()?,
            }
            first = false;
            match cursor.next_byte() {
                Some(b',') => cursor.at += 1,
                Some(b'}') => break,
                _ => return Err(cursor.invalid("expected `,` or `}`")),
            }
        }
        cursor.at += 1;
        Ok(())
    }

    /// HTML is preferred to text, whichever comes first; of two of one kind the last counts.
    fn take(
        &mut self,
        content: Content,
        name: &str,
        cursor: &mut Cursor<'_>,
        start: usize,
        out: &mut Vec<u8>,
    ) -> Result<()> {
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
                Err(Error::NotText { field: name.to_owned() })
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
    /// Not itself, but something that may stand in it.
    Inside,
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
            _ if self.inside(name) => Wanted::Inside,
            _ => Wanted::Nothing,
        }
    }

    fn inside(&self, name: &[u8]) -> bool {
        [self.id, self.url, self.html, self.text, self.date]
            .iter()
            .any(|field| field.as_bytes().strip_prefix(name).is_some_and(|rest| rest.first() == Some(&b'.')))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const FIELDS: Fields<'static> = Fields { id: "id", url: "url", html: "html", text: "text", date: "date" };
    const LONGEST: usize = 1 << 20;

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
        let lines = parse(block.as_bytes(), &FIELDS, LONGEST);
        assert_eq!(lines.line, [0, 2, 8]);
        assert_eq!(lines.html, [false, true, false]);
        assert_eq!(lines.id.get(0), Some(&b"7"[..]));
        assert_eq!(lines.content.get(0), Some("a\nb é \u{2028}c".as_bytes()));
        assert_eq!(lines.url.get(1), Some(&b"http://a/"[..]));
        assert_eq!(lines.id.get(2), None);
        assert_eq!(lines.content.get(2), Some(&b"last"[..]));
        assert_eq!(lines.bad.line, [3, 4, 5, 6, 7]);
        assert!(lines.bad.why(0).starts_with("invalid JSON"), "{}", lines.bad.why(0));
        assert_eq!(lines.bad.why(1), "not a JSON object");
        assert_eq!(lines.bad.why(2), "no field \"html\" or \"text\"; there are: id (see --text-field)");
        assert_eq!(lines.bad.why(3), "field \"text\" is not a string");
        let start = lines.start[1] as usize;
        assert!(block[start..start + lines.length[1] as usize].ends_with("\"http://a/\"}\r"));
    }

    fn content(line: &str) -> std::result::Result<String, String> {
        let lines = parse(line.as_bytes(), &FIELDS, LONGEST);
        match lines.bad.reasons.first() {
            Some(reason) => Err(reason.clone()),
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
    fn fields_inside_of_others() {
        let fields = Fields { id: "id", url: "meta.page.url", html: "html", text: "text", date: "meta.date" };
        let block = br#"{"meta": {"x": [1, {"y": 2}], "page": {"url": "u1"}, "date": "d1"}, "text": "a", "id": 1}
{"text": "b", "meta": {"page": "no object", "date": null}, "meta.date": "d2"}
{"text": "c", "meta": []}
{"text": "d", "meta": {"page": {"url": {}}}}
{"text": "e", "meta": {"page": {"url": "u"}}
{"text": "f", "meta": {"page": {"url": "u",}}}
{"text": "g", "page": {"url": "u"}, "url": "u", "meta.page": {"url": "u7"}, "met": {}, "meta": {"pag": {"url": 1}}}
{"text": "h", "meta": {"text": "not this", "page": {}}}"#;
        let lines = parse(block, &fields, LONGEST);
        let texts = |column: &Strings| -> Vec<Option<String>> {
            let text = |at| column.get(at).map(|bytes| String::from_utf8(bytes.to_vec()).unwrap());
            (0..column.present.len()).map(text).collect()
        };
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(texts(&lines.content), ["a", "b", "c", "g", "h"].map(some));
        assert_eq!(texts(&lines.url), [some("u1"), None, None, some("u7"), None]);
        assert_eq!(texts(&lines.date), [some("d1"), some("d2"), None, None, None]);
        assert_eq!(lines.bad.line, [3, 4, 5]);
        assert!(lines.bad.why(0).contains("meta.page.url"), "{:?}", lines.bad);
    }

    #[test]
    fn html_is_preferred_wherever_it_stands() {
        assert_eq!(content(r#"{"text": "t", "html": "h"}"#).unwrap(), "h");
        assert_eq!(content(r#"{"html": "h", "text": "t"}"#).unwrap(), "h");
        assert_eq!(content(r#"{"html": null, "text": "t"}"#).unwrap(), "t");
        assert_eq!(content(r#"{"text": "t", "html": null}"#).unwrap(), "t");
        assert_eq!(content(r#"{"text": "t", "text": "u"}"#).unwrap(), "u");
        let lines = parse(b"{\"html\": \"a\", \"x\": [}\n{\"html\": \"b\"}", &FIELDS, LONGEST);
        assert_eq!((lines.content.get(0), lines.bad.line.len()), (Some(&b"b"[..]), 1));
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
        let lines = parse(b"{\"text\": \"\xff\"}\n{\"text\": \"ok\"}", &FIELDS, LONGEST);
        assert_eq!((&lines.bad.line[..], lines.bad.why(0)), (&[0][..], "not valid UTF-8"));
        assert_eq!(lines.content.get(0), Some(&b"ok"[..]));
    }

    #[test]
    fn a_line_that_is_too_long_is_named() {
        let block = b"{\"text\": \"12345678\"}\n{\"text\": \"123456789\"}\n{\"text\": \"\"}";
        let lines = parse(block, &FIELDS, 20);
        assert_eq!(lines.line, [0, 2]);
        assert_eq!(
            (&lines.bad.line[..], lines.bad.why(0)),
            (&[1][..], "a line of 21 bytes, more than --max-page (20)")
        );
    }

    #[test]
    fn a_million_bad_lines_are_a_few_bytes_each() {
        let many = "{\"body\": 1}\n".repeat(1000);
        let lines = parse(many.as_bytes(), &FIELDS, LONGEST);
        assert_eq!((lines.bad.line.len(), lines.bad.reasons.len()), (1000, 1));
        let other: String = (0..3000).map(|at| format!("{{\"f{at}\": 1}}\n")).collect();
        let lines = parse(other.as_bytes(), &FIELDS, LONGEST);
        assert_eq!(lines.bad.reasons.len(), MOST_REASONS + 1);
        let fields: String = (0..20).map(|at| format!("\"{}{at}\": [],", "x".repeat(90))).collect();
        let lines = parse(format!("{{{fields}\"z\": 1}}").as_bytes(), &FIELDS, LONGEST);
        assert!(
            lines.bad.why(0).len() < 400 && lines.bad.why(0).contains(", … (see"),
            "{}",
            lines.bad.why(0)
        );
    }

    #[test]
    fn nesting_is_bounded_not_fatal() {
        let deep = format!("{{\"text\": \"t\", \"x\": {}1{}}}", "[".repeat(100_000), "]".repeat(100_000));
        let lines = parse(deep.as_bytes(), &FIELDS, LONGEST);
        assert_eq!(lines.bad.line.len() + lines.line.len(), 1);
    }

    /// A line with a page, a broken one, or none; escapes and characters beyond ASCII at any place.
    fn line() -> impl Strategy<Value = String> {
        let text = r#"([a-zé€😀 ]|\\\\n|\\\\u00e9|\\\\ud83d|\\\\ude00|\\\\\\\\|\\\\x){0,90}"#;
        prop_oneof![
            4 => text.prop_map(|text| format!("{{\"text\": \"{text}\", \"url\": \"http://é/{}\"}}", text.len())),
            1 => text.prop_map(|text| format!("{{\"html\": \"{text}\"}}")),
            1 => "[a-z ]{0,3}",
        ]
    }

    proptest! {
        #[test]
        fn pages_are_shown_as_they_would_be_held(lines in proptest::collection::vec(line(), 0..12)) {
            let block = lines.join("\n");
            let held = parse(block.as_bytes(), &FIELDS, LONGEST);
            let mut parser = Parser::new(&FIELDS, 0, LONGEST);
            let mut shown = Vec::new();
            parser.block_shown(block.as_bytes(), |page| {
                assert!(str::from_utf8(page.text.as_bytes()).is_ok());
                shown.push((page.text.to_owned(), page.html, page.url.map(str::to_owned)));
            });
            let string = |column: &Strings, at| column.get(at).map(|bytes| String::from_utf8(bytes.to_vec()).unwrap());
            let expected: Vec<_> = (0..held.html.len())
                .map(|at| (string(&held.content, at).unwrap(), held.html[at], string(&held.url, at)))
                .collect();
            prop_assert_eq!(shown, expected);
            prop_assert_eq!(parser.finish().0, Lines { content: Strings::default(), ..held });
        }

        #[test]
        fn agrees_with_serde(text: String, url: Option<String>, number: i64, other: String) {
            let line = serde_json::json!({"text": text, "url": url, "id": number, "other": [other, {"text": 1}]});
            let lines = parse(line.to_string().as_bytes(), &FIELDS, LONGEST);
            prop_assert_eq!(lines.content.get(0), Some(text.as_bytes()));
            prop_assert_eq!(lines.url.get(0), url.as_deref().map(str::as_bytes));
            let id = number.to_string();
            prop_assert_eq!(lines.id.get(0), Some(id.as_bytes()));
        }

        #[test]
        fn blocks_are_as_one(lines in proptest::collection::vec("(\\{\"text\": \"[a-z]{0,3}\"\\}|[a-z ]{0,3})\r?", 0..12), cuts: Vec<bool>) {
            let whole = lines.join("\n");
            let mut parser = Parser::new(&FIELDS, 0, LONGEST);
            let mut block = String::new();
            for (at, line) in lines.iter().enumerate() {
                block.push_str(line);
                if at + 1 < lines.len() {
                    block.push('\n');
                }
                if cuts.get(at).copied().unwrap_or(false) {
                    parser.block(block.as_bytes());
                    block.clear();
                }
            }
            parser.block(block.as_bytes());
            let ends = whole.bytes().filter(|&byte| byte == b'\n').count();
            prop_assert_eq!(parser.finish(), (parse(whole.as_bytes(), &FIELDS, LONGEST), ends));
        }

        #[test]
        fn never_panics(block: Vec<u8>) {
            let lines = parse(&block, &FIELDS, LONGEST);
            prop_assert!(lines.line.len() + lines.bad.line.len() <= block.len() + 1);
        }
    }
}
