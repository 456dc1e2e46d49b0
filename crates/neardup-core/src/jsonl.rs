//! JSON lines to columns: the fields of a page, picked out of each line without building a value for the rest.
//!
//! A line ends at `\n` only (a JSON string may hold U+2028 and the like). A line that is not a JSON object, or
//! whose wanted fields have the wrong type, is named with its reason and left out. Strings are unescaped straight
//! into one buffer a column.

use jiter::{Jiter, Peek};
use memchr::memchr;

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
        if self.offsets.is_empty() {
            self.offsets.push(0);
        }
        self.bytes.extend_from_slice(value.unwrap_or_default().as_bytes());
        self.offsets.push(self.bytes.len() as i64);
        self.present.push(value.is_some());
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
    let mut row = Row::default();
    let mut start = 0;
    for number in 0.. {
        if start >= block.len() {
            break;
        }
        let end = memchr(b'\n', &block[start..]).map_or(block.len(), |length| start + length);
        let line = &block[start..end];
        if !line.iter().all(u8::is_ascii_whitespace) {
            row.clear();
            match row.read(line, fields) {
                Ok(()) => {
                    lines.id.push(row.id.as_deref());
                    lines.url.push(row.url.as_deref());
                    lines.date.push(row.date.as_deref());
                    let html = row.html_set;
                    lines.content.push(Some(if html { &row.html } else { &row.text }));
                    lines.html.push(html);
                    lines.line.push(number as i64);
                    lines.start.push(start as i64);
                    lines.length.push(line.len() as i64);
                }
                Err(reason) => lines.bad.push((number, reason)),
            }
        }
        start = end + 1;
    }
    lines
}

#[derive(Default)]
struct Row {
    id: Option<String>,
    url: Option<String>,
    date: Option<String>,
    html: String,
    html_set: bool,
    text: String,
    text_set: bool,
}

impl Row {
    fn clear(&mut self) {
        (self.id, self.url, self.date) = (None, None, None);
        (self.html_set, self.text_set) = (false, false);
        self.html.clear();
        self.text.clear();
    }

    fn read(&mut self, line: &[u8], fields: &Fields<'_>) -> Result<(), String> {
        let mut json = Jiter::new(line);
        if json.peek().map_err(|error| invalid(&error, &json))? != Peek::Object {
            return Err("not a JSON object".to_owned());
        }
        let first = json.next_object().map(|key| key.map(|name| fields.wanted(name)));
        let mut next = first.map_err(|error| invalid(&error, &json))?;
        while let Some(wanted) = next {
            self.field(wanted, &mut json, fields)?;
            let key = json.next_key().map(|key| key.map(|name| fields.wanted(name)));
            next = key.map_err(|error| invalid(&error, &json))?;
        }
        json.finish().map_err(|error| invalid(&error, &json))?;
        if !self.html_set && !self.text_set {
            return Err(format!("no field {:?} or {:?}", fields.html, fields.text));
        }
        Ok(())
    }

    fn field(&mut self, wanted: Wanted, json: &mut Jiter<'_>, fields: &Fields<'_>) -> Result<(), String> {
        match wanted {
            Wanted::Html => self.html_set = text_into(json, fields.html, &mut self.html)?,
            Wanted::Text => self.text_set = text_into(json, fields.text, &mut self.text)?,
            Wanted::Id => self.id = scalar(json, fields.id)?,
            Wanted::Url => self.url = scalar(json, fields.url)?,
            Wanted::Date => self.date = scalar(json, fields.date)?,
            Wanted::Nothing => skip(json)?,
        }
        Ok(())
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
    fn wanted(&self, name: &str) -> Wanted {
        match name {
            _ if name == self.html => Wanted::Html,
            _ if name == self.text => Wanted::Text,
            _ if name == self.id => Wanted::Id,
            _ if name == self.url => Wanted::Url,
            _ if name == self.date => Wanted::Date,
            _ => Wanted::Nothing,
        }
    }
}

fn invalid(error: &jiter::JiterError, json: &Jiter<'_>) -> String {
    format!("invalid JSON: {}", error.description(json))
}

fn skip(json: &mut Jiter<'_>) -> Result<(), String> {
    json.next_skip().map_err(|error| invalid(&error, json))
}

/// Reads a string into `out`; false for null.
fn text_into(json: &mut Jiter<'_>, name: &str, out: &mut String) -> Result<bool, String> {
    out.clear();
    let peek = json.peek().map_err(|error| invalid(&error, json))?;
    match peek {
        Peek::String => match json.known_str() {
            Ok(value) => {
                out.push_str(value);
                Ok(true)
            }
            Err(error) => Err(invalid(&error, json)),
        },
        Peek::Null => skip(json).map(|()| false),
        _ => {
            skip(json)?;
            Err(format!("field {name:?} is not a string"))
        }
    }
}

/// A string, or a number or truth value as it is written; null is none.
fn scalar(json: &mut Jiter<'_>, name: &str) -> Result<Option<String>, String> {
    let peek = json.peek().map_err(|error| invalid(&error, json))?;
    match peek {
        Peek::String => match json.known_str() {
            Ok(value) => Ok(Some(value.to_owned())),
            Err(error) => Err(invalid(&error, json)),
        },
        Peek::Null => skip(json).map(|()| None),
        Peek::Array | Peek::Object => {
            skip(json)?;
            Err(format!("field {name:?} is neither text nor a number"))
        }
        _ => {
            let start = json.current_index();
            skip(json)?;
            let written = json.slice_to_current(start);
            Ok(Some(String::from_utf8_lossy(written).trim().to_owned()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const FIELDS: Fields<'static> = Fields { id: "id", url: "url", html: "html", text: "text", date: "date" };

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
