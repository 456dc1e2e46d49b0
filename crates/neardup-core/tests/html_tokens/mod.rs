//! Tokens as the HTML Standard defines them, made from the scanner's events, so that it can be compared with
//! others.
//!
//! What the scanner leaves to its sinks is done here as a parser would: names to lower case, references
//! decoded, NUL replaced where the standard replaces it, repeated attributes dropped, neighbouring text
//! joined.

pub mod twin;

use neardup_core::html::names::Name;
use neardup_core::html::references::decode_into;
use neardup_core::html::scanner::{Sink, Start, Tag, TextKind, scan_from};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Token {
    Text(String),
    StartTag {
        name: String,
        attributes: Vec<(String, String)>,
        self_closing: bool,
    },
    EndTag(String),
    Comment(String),
    /// Its name, if it has one.
    Doctype(Option<String>),
}

/// Appends text, joining it to text before it.
pub fn push_text(tokens: &mut Vec<Token>, text: &str) {
    match tokens.last_mut() {
        Some(Token::Text(before)) => before.push_str(text),
        _ => tokens.push(Token::Text(text.to_owned())),
    }
}

/// The step before the tokenizer: line ends become line feeds.
pub fn normalize_newlines(html: &str) -> String {
    html.replace("\r\n", "\n").replace('\r', "\n")
}

fn without_nul(raw: &str) -> String {
    raw.replace('\0', "\u{FFFD}")
}

#[derive(Default)]
struct Collector(Vec<Token>);

impl<'a> Sink<'a> for Collector {
    fn text(&mut self, raw: &'a str, kind: TextKind) {
        assert!(!raw.is_empty());
        let raw =
            if matches!(kind, TextKind::Data | TextKind::Cdata) { raw.to_owned() } else { without_nul(raw) };
        let mut text = String::new();
        if kind.has_references() {
            decode_into(&raw, false, &mut text);
        } else {
            text = raw;
        }
        push_text(&mut self.0, &text);
    }

    fn start_tag(&mut self, tag: Tag<'a>) {
        let mut attributes: Vec<(String, String)> = Vec::new();
        for attribute in tag.attributes {
            let name = without_nul(&attribute.name.to_ascii_lowercase());
            if attributes.iter().all(|(known, _)| *known != name) {
                attributes.push((name, attribute.value().into_owned()));
            }
        }
        let name = without_nul(&tag.name.raw.to_ascii_lowercase());
        self.0.push(Token::StartTag { name, attributes, self_closing: tag.self_closing });
    }

    fn end_tag(&mut self, name: Name<'a>) {
        self.0.push(Token::EndTag(without_nul(&name.raw.to_ascii_lowercase())));
    }

    fn comment(&mut self, raw: &'a str) {
        self.0.push(Token::Comment(without_nul(raw)));
    }

    fn doctype(&mut self, raw: &'a str) {
        let name = raw.split_ascii_whitespace().next();
        self.0.push(Token::Doctype(name.map(|name| without_nul(&name.to_ascii_lowercase()))));
    }
}

/// The tokens of `html` by the scanner.
pub fn scanned(html: &str, start: Start<'_>) -> Vec<Token> {
    let mut collector = Collector::default();
    scan_from(html, start, &mut collector);
    collector.0
}
