//! The tokenizer of the HTML Standard (§13.2.5) over slices: text, tags, comments and doctypes as events.
//!
//! Idea: a page is mostly runs that nothing can interrupt (text up to `<`, a quoted value up to its quote, a
//! comment up to `>`), so the states of the standard collapse into a few loops around `memchr` and the bit maps of
//! [`super::marks`]. Nothing is copied, decoded or allocated: a [`Sink`] receives slices of the input and decodes what it wants. The
//! scanner only moves forward and never looks back more than three bytes, so any input costs time linear in
//! its length.
//!
//! There is no tree builder. After a start tag the scanner itself switches to the state a browser with
//! scripting would (`title` and `textarea`; `style`, `xmp`, `iframe`, `noembed`, `noframes`, `noscript`;
//! `script`; `plaintext`). Of foreign content it keeps the depth of open `svg` and `math` elements: inside
//! them CDATA sections are text and a self-closing `<title/>` or `<style/>` is closed, where in HTML it would
//! swallow what follows. Two steps of the standard are left to sinks, since slices cannot carry them: the
//! replacement of NUL, and of CR.

use memchr::{memchr, memchr2, memmem};

use super::attributes::{self, Attributes, TagEnd, is_space};
use super::marks::{Map, Marks};
use super::names::{Name, NameTable, key_at};

/// What kind of text a slice is, which says whether character references in it mean anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextKind {
    /// Ordinary text: references apply.
    Data,
    /// The content of `title` and `textarea`: references apply, markup does not.
    Rcdata,
    /// The content of `script`, `style` and their like: as written.
    Raw,
    /// A CDATA section of foreign content: as written.
    Cdata,
    /// All that follows `<plaintext>`: as written.
    Plaintext,
}

impl TextKind {
    /// Whether character references are decoded in this text.
    pub fn has_references(self) -> bool {
        matches!(self, Self::Data | Self::Rcdata)
    }
}

/// A start tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tag<'a> {
    pub name: Name<'a>,
    pub attributes: Attributes<'a>,
    /// Written with `/>`. HTML elements ignore it; it means something only where `foreign` is true.
    pub self_closing: bool,
    /// The tag stands inside an open `svg` or `math` element.
    pub foreign: bool,
}

/// What receives the events of a scan; an event that is not wanted needs no method.
///
/// All slices are parts of the scanned text, in order, and never empty for `text`.
pub trait Sink<'a> {
    fn text(&mut self, _raw: &'a str, _kind: TextKind) {}
    fn start_tag(&mut self, _tag: Tag<'a>) {}
    fn end_tag(&mut self, _name: Name<'a>) {}
    fn comment(&mut self, _raw: &'a str) {}
    /// `raw` is what stands between `<!doctype` and `>`.
    fn doctype(&mut self, _raw: &'a str) {}

    /// Ordinary text by its place in the page, which may be empty: for a sink that can use what stands around it.
    /// `special` is false if neither `&` nor NUL nor the byte 0xC2 is in it.
    #[inline(always)]
    fn data(&mut self, html: &'a str, from: usize, to: usize, _special: bool) {
        if from < to {
            self.text(&html[from..to], TextKind::Data);
        }
    }

    /// A start or end tag by the [`key`](super::names::key) of its name, which does nothing to the scanner. A sink for
    /// which that says it all returns true, and is not told of the tag once more.
    #[inline(always)]
    fn tag_by_key(&mut self, _key: u64) -> bool {
        false
    }
}

/// The states a scan can begin in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum State {
    #[default]
    Data,
    Rcdata,
    Rawtext,
    ScriptData,
    Plaintext,
    CdataSection,
}

/// How a scan begins, and whether it follows the tree builder; [`scan`] uses the default.
#[derive(Clone, Copy, Debug)]
pub struct Start<'a> {
    pub state: State,
    /// The start tag whose end tag closes a state other than [`State::Data`]; empty for none.
    pub last_start_tag: &'a str,
    /// Switch states after start tags as a tree builder would; false gives the bare tokenizer.
    pub switch_states: bool,
}

impl Default for Start<'_> {
    fn default() -> Self {
        Self { state: State::Data, last_start_tag: "", switch_states: true }
    }
}

/// What a start tag does to the scanner.
#[derive(Clone, Copy)]
enum Effect {
    None,
    /// Its content is read in another state.
    Switch(State),
    /// It begins foreign content.
    Foreign,
}

static EFFECTS: NameTable<Effect> = NameTable::new(
    &[
        (&["title", "textarea"], Effect::Switch(State::Rcdata)),
        (&["style", "xmp", "iframe", "noembed", "noframes", "noscript"], Effect::Switch(State::Rawtext)),
        (&["script"], Effect::Switch(State::ScriptData)),
        (&["svg", "math"], Effect::Foreign),
    ],
    Effect::None,
);

/// Scans `html` from its beginning, as a browser would read it.
///
/// ```
/// use neardup_core::html::scanner::{Sink, Tag, TextKind, scan};
///
/// #[derive(Default)]
/// struct Links<'a>(Vec<&'a str>);
///
/// impl<'a> Sink<'a> for Links<'a> {
///     fn start_tag(&mut self, tag: Tag<'a>) {
///         if tag.name.is("a") {
///             self.0.extend(tag.attributes.get("href").map(|href| href.raw_value));
///         }
///     }
/// }
///
/// let mut links = Links::default();
/// let page = "<A HREF=one>1</a><!-- <a href=no> --><script>'<a href=no>'</script><a class='>' href='two'>";
/// scan(page, &mut links);
/// assert_eq!(links.0, ["one", "two"]);
/// ```
pub fn scan<'a>(html: &'a str, sink: &mut impl Sink<'a>) {
    scan_from(html, Start::default(), sink);
}

/// Scans `html` from a given state; what [`scan`] does, for fragments and for conformance tests.
pub fn scan_from<'a>(html: &'a str, start: Start<'a>, sink: &mut impl Sink<'a>) {
    scan_with(html, start, &mut Marks::default(), sink);
}

/// What [`scan_from`] does, with a buffer for one page after another.
#[inline(always)]
pub fn scan_with<'a>(html: &'a str, start: Start<'a>, marks: &mut Marks, sink: &mut impl Sink<'a>) {
    marks.fill(html.as_bytes());
    let mut scanner = Scanner {
        html,
        bytes: html.as_bytes(),
        marks,
        sink,
        at: 0,
        last_start_tag: start.last_start_tag,
        switch_states: start.switch_states,
        foreign_depth: 0,
    };
    let mut next = Some(start.state);
    while let Some(state) = next {
        next = match state {
            State::Data => scanner.data(),
            State::Rcdata => scanner.until_end_tag(TextKind::Rcdata),
            State::Rawtext => scanner.until_end_tag(TextKind::Raw),
            State::ScriptData => scanner.script_data(),
            State::Plaintext => scanner.rest_is_text(TextKind::Plaintext),
            State::CdataSection => scanner.cdata_section(),
        };
    }
}

/// How to go on behind what was no tag.
enum Next {
    /// It was text after all.
    Text,
    /// Behind it, in the same state.
    Data,
    /// In another state, or not at all.
    State(Option<State>),
}

struct Scanner<'a, 's, S> {
    html: &'a str,
    bytes: &'a [u8],
    marks: &'s Marks,
    sink: &'s mut S,
    /// Everything before this place has been reported.
    at: usize,
    last_start_tag: &'a str,
    switch_states: bool,
    foreign_depth: usize,
}

/// Each method that reads a state begins at `self.at` and returns the state to go on with, or none at the end
/// of the input.
impl<'a, S: Sink<'a>> Scanner<'a, '_, S> {
    /// Reports the text from `self.at` up to `end`.
    #[inline(always)]
    fn text_until(&mut self, end: usize, kind: TextKind) {
        if self.at < end {
            self.sink.text(&self.html[self.at..end], kind);
        }
    }

    fn rest_is_text(&mut self, kind: TextKind) -> Option<State> {
        self.text_until(self.bytes.len(), kind);
        None
    }

    /// Most of a page is text, a tag, text, a tag: start and end tags go one way as far as they can, since which of
    /// them comes next is what a processor cannot foresee.
    #[inline(always)]
    fn data(&mut self) -> Option<State> {
        let mut search = self.at;
        loop {
            let open = self.marks.next(Map::Open, search);
            if open >= self.bytes.len() {
                return self.rest_is_text(TextKind::Data);
            }
            let is_end = self.bytes.get(open + 1) == Some(&b'/');
            let name_start = open + 1 + usize::from(is_end);
            if !self.bytes.get(name_start).is_some_and(u8::is_ascii_alphabetic) {
                // A lone `<` is text, and so is all before it.
                match self.no_tag(open) {
                    Next::Text => search = open + 1,
                    Next::Data => search = self.at,
                    Next::State(state) => return state,
                }
                continue;
            }
            let mark = self.marks.next(Map::Close, open);
            let length = open - self.at;
            let special = length >= 64
                || self.marks.window(Map::Special, self.at) & !(u64::MAX << (length as u32 & 63)) != 0;
            self.sink.data(self.html, self.at, open, special);
            let name_end = attributes::name_end(self.bytes, name_start);
            let key = key_at(self.bytes, name_start, name_end);
            let end = attributes::tag_end(self.bytes, self.marks, name_end, mark)?;
            self.at = end.close + 1;
            search = self.at;
            let effect = EFFECTS.get(key);
            if key != 0 && matches!(effect, Effect::None) && self.sink.tag_by_key(key) {
                continue;
            }
            let name = Name { raw: &self.html[name_start..name_end], key };
            if is_end {
                self.end_tag(name);
            } else if let Some(state) = self.start_tag(name, name_end, end, effect) {
                return Some(state);
            }
        }
    }

    /// Reads what begins with the `<` at `open` but is no tag.
    #[inline(never)]
    fn no_tag(&mut self, open: usize) -> Next {
        let text = |scanner: &mut Self| scanner.text_until(open, TextKind::Data);
        match &self.bytes[open + 1..] {
            [b'/', b'>', ..] => {
                text(self);
                self.at = open + 3;
            }
            [b'/', _, ..] => {
                text(self);
                self.bogus_comment(open + 2);
            }
            [b'/'] => return Next::State(self.rest_is_text(TextKind::Data)),
            [b'!', ..] => {
                text(self);
                if let Some(state) = self.declaration(open + 2) {
                    return Next::State(Some(state));
                }
            }
            [b'?', ..] => {
                text(self);
                self.bogus_comment(open + 1);
            }
            _ => return Next::Text,
        }
        Next::Data
    }

    fn is_foreign(&self) -> bool {
        self.foreign_depth > 0
    }

    #[inline(always)]
    fn end_tag(&mut self, name: Name<'a>) {
        if self.is_foreign() && matches!(EFFECTS.get(name.key), Effect::Foreign) {
            self.foreign_depth -= 1;
        }
        self.sink.end_tag(name);
    }

    /// Reports a start tag; the state that its content is read in, if that is another.
    #[inline(always)]
    fn start_tag(&mut self, name: Name<'a>, name_end: usize, end: TagEnd, effect: Effect) -> Option<State> {
        let (self_closing, foreign) = (end.self_closing, self.is_foreign());
        let attributes = Attributes::new(&self.html[name_end..end.close]);
        self.last_start_tag = name.raw;
        self.sink.start_tag(Tag { name, attributes, self_closing, foreign });
        if !self.switch_states {
            return None;
        }
        let state = match effect {
            Effect::Switch(state) => state,
            Effect::Foreign => {
                self.foreign_depth += usize::from(!self_closing);
                return None;
            }
            Effect::None if name.key == 0 && name.is("plaintext") => State::Plaintext,
            Effect::None => return None,
        };
        if foreign && self_closing { None } else { Some(state) }
    }

    /// Reads what follows `<!`. Only a CDATA section changes the state.
    fn declaration(&mut self, start: usize) -> Option<State> {
        let rest = &self.bytes[start..];
        if rest.starts_with(b"--") {
            self.comment(start + 2);
        } else if rest.len() >= 7 && rest[..7].eq_ignore_ascii_case(b"doctype") {
            let (end, after) = self.until_close(start + 7);
            self.sink.doctype(&self.html[start + 7..end]);
            self.at = after;
        } else if self.is_foreign() && rest.starts_with(b"[CDATA[") {
            self.at = start + 7;
            return Some(State::CdataSection);
        } else {
            self.bogus_comment(start);
        }
        None
    }

    /// The place of the next `>` and the place after it; both are the end of the input if there is none.
    fn until_close(&self, start: usize) -> (usize, usize) {
        match memchr(b'>', &self.bytes[start..]) {
            Some(length) => (start + length, start + length + 1),
            None => (self.bytes.len(), self.bytes.len()),
        }
    }

    fn bogus_comment(&mut self, start: usize) {
        let (end, after) = self.until_close(start);
        self.sink.comment(&self.html[start..end]);
        self.at = after;
    }

    /// Reads a comment whose `<!--` ends at `start`: up to `-->` or `--!>`, or nothing at all in `<!-->`,
    /// `<!--->`.
    fn comment(&mut self, start: usize) {
        let (end, after) = self.comment_end(start);
        self.sink.comment(&self.html[start..end]);
        self.at = after;
    }

    fn comment_end(&self, start: usize) -> (usize, usize) {
        let content = &self.bytes[start..];
        if content.starts_with(b">") {
            return (start, start + 1);
        }
        if content.starts_with(b"->") {
            return (start, start + 2);
        }
        let mut at = 0;
        while let Some(offset) = memchr(b'>', &content[at..]) {
            let close = at + offset;
            let before = &content[..close];
            for ending in [b"--".as_slice(), b"--!"] {
                if before.ends_with(ending) {
                    return (start + close - ending.len(), start + close + 1);
                }
            }
            at = close + 1;
        }
        // At the end of the input, an ending that was begun is no part of the comment.
        let begun = [b"--!".as_slice(), b"--", b"-"].into_iter().find(|ending| content.ends_with(ending));
        (self.bytes.len() - begun.map_or(0, <[u8]>::len), self.bytes.len())
    }

    fn cdata_section(&mut self) -> Option<State> {
        let Some(length) = memmem::find(&self.bytes[self.at..], b"]]>") else {
            return self.rest_is_text(TextKind::Cdata);
        };
        let end = self.at + length;
        self.text_until(end, TextKind::Cdata);
        self.at = end + 3;
        Some(State::Data)
    }

    /// Whether the name after `</` at `start` is the end tag that closes the current element. On yes, its
    /// end.
    #[inline]
    fn appropriate_end(&self, start: usize) -> Option<usize> {
        let name = self.last_start_tag.as_bytes();
        let end = start + name.len();
        let found = !name.is_empty()
            && end < self.bytes.len()
            && matches!(self.bytes[end], b'/' | b'>' | b'\t' | b'\n' | b'\x0C' | b'\r' | b' ')
            && self.bytes[start..end].eq_ignore_ascii_case(name);
        found.then_some(end)
    }

    /// Reports the text before `open`, where the closing `</name` stands, and then the end tag itself.
    #[inline(never)]
    fn close(&mut self, open: usize, kind: TextKind) -> Option<State> {
        self.text_until(open, kind);
        let name_end = attributes::name_end(self.bytes, open + 2);
        let mark = self.marks.next(Map::Close, open);
        self.at = attributes::tag_end(self.bytes, self.marks, name_end, mark)?.close + 1;
        self.sink.end_tag(Name::at(self.html, open + 2, name_end));
        Some(State::Data)
    }

    fn until_end_tag(&mut self, kind: TextKind) -> Option<State> {
        let mut search = self.at;
        while let Some(offset) = memchr(b'<', &self.bytes[search..]) {
            let open = search + offset;
            if self.bytes.get(open + 1) == Some(&b'/') && self.appropriate_end(open + 2).is_some() {
                return self.close(open, kind);
            }
            search = open + 1;
        }
        self.rest_is_text(kind)
    }

    /// A script, which `<!--` can "escape": inside, a nested `<script` hides the next `</script>`, until
    /// `-->`.
    fn script_data(&mut self) -> Option<State> {
        #[derive(PartialEq)]
        enum Escape {
            None,
            Single,
            Double,
        }
        let mut escape = Escape::None;
        let mut search = self.at;
        while let Some(offset) = memchr2(b'<', b'>', &self.bytes[search..]) {
            let found = search + offset;
            search = found + 1;
            if self.bytes[found] == b'>' {
                // The dashes of `<!--` count: `<!-->` escapes nothing.
                if escape != Escape::None && self.bytes[self.at..found].ends_with(b"--") {
                    escape = Escape::None;
                }
                continue;
            }
            let rest = &self.bytes[found + 1..];
            match escape {
                Escape::None if rest.starts_with(b"!--") => {
                    escape = Escape::Single;
                    search = found + 4;
                }
                Escape::None | Escape::Single
                    if rest.first() == Some(&b'/') && self.appropriate_end(found + 2).is_some() =>
                {
                    return self.close(found, TextKind::Raw);
                }
                Escape::Single if begins_with_script(rest) => escape = Escape::Double,
                Escape::Double if rest.first() == Some(&b'/') && begins_with_script(&rest[1..]) => {
                    escape = Escape::Single;
                }
                _ => {}
            }
        }
        self.rest_is_text(TextKind::Raw)
    }
}

/// Whether `rest` is the word `script` and what may follow a tag's name.
fn begins_with_script(rest: &[u8]) -> bool {
    rest.len() > 6
        && rest[..6].eq_ignore_ascii_case(b"script")
        && (is_space(rest[6]) || matches!(rest[6], b'/' | b'>'))
}
