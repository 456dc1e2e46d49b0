//! The structure of a page, made to be looked at: its blocks, what each is, where it stands in the source; and what
//! every term stands in.
//!
//! It says what the detectors see: the blocks are those of [`crate::html::blocks`], their classes those that
//! [`crate::content`] decides by, the terms those of [`crate::page::Reader::read`], one by one. Beside that it says what kind of block it
//! is, and what the page does not display ([`crate::html::outline`]). A page of plain text has its paragraphs.
//!
//! Cost: some four readings of the page. It is for pages that are shown or compared two by two.

use std::ops::Range;

use crate::address::page_url;
use crate::content::{Class, Ideas};
use crate::decode::decode;
use crate::html::blocks::place;
use crate::html::elements::Kind;
use crate::html::outline::{Outline, Piece, Surroundings, outline};
use crate::image::{ImageBase, lasting_name};
use crate::page::{Page, Reader, paragraphs};
use crate::site::SiteRule;
use crate::terms::{Splitter, Terms};

/// A block of a page; only what has terms is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// What it says, in one line.
    pub text: String,
    pub class: Class,
    pub kind: Kind,
    /// What all of it stands in ([`place`]).
    pub place: u16,
    /// How many of the page's terms are in it.
    pub terms: usize,
    /// The characters of the decoded page from the first to the last that it says.
    pub source: Range<usize>,
}

/// A page's blocks in order, and what each of its terms stands in ([`place`]).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Structure {
    pub blocks: Vec<Block>,
    pub places: Vec<u16>,
}

/// Reads the structure of one page after another.
#[derive(Debug, Default)]
pub struct StructureReader {
    reader: Reader,
    outline: Outline,
    splitter: Splitter,
    stream: Vec<u64>,
}

struct Count<'a>(&'a mut usize);

impl Terms for Count<'_> {
    fn term(&mut self, _: &str) {
        *self.0 += 1;
    }
}

/// A block while it is read.
#[derive(Clone, Debug)]
struct Open {
    text: Range<usize>,
    terms: Range<usize>,
    kind: Kind,
    /// Terms that detectors see: an image of which no name lasts is none.
    seen: usize,
}

impl StructureReader {
    /// The structure of a page.
    ///
    /// ```
    /// use neardup_core::content::Class;
    /// use neardup_core::page::Page;
    /// use neardup_core::structure::StructureReader;
    ///
    /// let html = "<nav>Home</nav><p>A <b>page</b> of some words";
    /// let page = Page { content: html.as_bytes(), html: true, charset: None, url: None };
    /// let found = StructureReader::default().read(page);
    /// assert_eq!(found.blocks.iter().map(|block| block.class).collect::<Vec<_>>(), [Class::Frame, Class::Content]);
    /// assert_eq!(&html[found.blocks[1].source.clone()], "A <b>page</b> of some words");
    /// assert_eq!(found.places.len(), 6);
    /// ```
    pub fn read(&mut self, page: Page<'_>) -> Structure {
        self.stream.clear();
        self.reader.stream(page, SiteRule::default(), Ideas::default(), &mut self.stream);
        let decoded = decode(page.content, page.charset, page.html);
        let source: &str = &decoded.text;
        if page.html {
            outline(source, &mut self.outline);
        } else {
            let Outline { page, segments, surroundings, pieces } = &mut self.outline;
            page.clear();
            page.text.push_str(source);
            segments.clear();
            segments.extend(paragraphs(source));
            *surroundings = vec![Surroundings::default()];
            *pieces = vec![];
        }
        let url = page.url.and_then(page_url);
        let (open, places) = self.terms(&ImageBase::new(url.as_ref(), self.outline.page.base()));
        let classes: Vec<Class> = self.reader.classes().map(|(_, class)| class).collect();
        let mut pieces = self.outline.pieces.iter().peekable();
        let mut characters = Characters { source, at: 0, count: 0 };
        let mut blocks = Vec::with_capacity(open.len());
        for (number, block) in open.into_iter().enumerate() {
            let bytes = if page.html {
                source_of(&block.text, &mut pieces, source)
            } else {
                trimmed(block.text.clone(), source)
            };
            let text = &self.outline.page.text[block.text];
            blocks.push(Block {
                text: text.split_whitespace().collect::<Vec<_>>().join(" "),
                // What comes behind the last block that detectors see belongs to it.
                class: classes.get(number).or(classes.last()).copied().unwrap_or(Class::Content),
                kind: block.kind,
                place: places[block.terms.clone()].iter().fold(u16::MAX, |all, place| all & place),
                terms: block.terms.len(),
                source: characters.until(bytes.start)..characters.until(bytes.end),
            });
        }
        Structure { blocks, places }
    }

    /// The blocks that have terms, and what every term stands in.
    fn terms(&mut self, base: &ImageBase<'_>) -> (Vec<Open>, Vec<u16>) {
        let Outline { page, segments, surroundings, .. } = &self.outline;
        let text = page.text.as_str();
        let (mut blocks, mut places): (Vec<Open>, Vec<u16>) = (Vec::new(), Vec::new());
        let mut block = Open { text: 0..0, terms: 0..0, kind: Kind::Text, seen: 0 };
        let mut images = page.images.iter().peekable();
        let mut around = surroundings.iter().peekable();
        let mut surrounding = Surroundings::default();
        for (number, segment) in segments.iter().enumerate() {
            let last = number + 1 == segments.len();
            let end = segments.get(number + 1).map_or(text.len(), |next| next.at);
            if segment.begins && block.seen > 0 {
                block.terms.end = places.len();
                let next = Open {
                    text: segment.at..segment.at,
                    terms: places.len()..places.len(),
                    kind: Kind::Text,
                    seen: 0,
                };
                blocks.push(std::mem::replace(&mut block, next));
            }
            let mut at = segment.at;
            loop {
                while let Some(next) = around.next_if(|next| next.at <= at) {
                    surrounding = *next;
                }
                // A word that has begun is in what it began in.
                let turn = around.peek().filter(|next| next.at < end).map(|next| next.at);
                let image =
                    images.peek().filter(|image| image.at < end || last).map(|image| image.at.max(at));
                let until = [turn, image, Some(end)].into_iter().flatten().min().unwrap_or(end);
                let until = if image == Some(until) { until } else { word_end(text, at, until, end) };
                let mut count = 0;
                self.splitter.split(&text[at..until], &mut Count(&mut count));
                let of_form = surrounding.place;
                if count > 0 && block.terms.start == places.len() {
                    block.kind = surrounding.kind;
                }
                places.resize(places.len() + count, segment.place | of_form);
                block.seen += count;
                at = until;
                if image == Some(until)
                    && let Some(image) = images.next()
                {
                    if let Some(term) = base.term(page.source(image)) {
                        if block.terms.start == places.len() {
                            block.kind = surrounding.kind;
                        }
                        places.push(segment.place | of_form | place::IMAGE);
                        block.seen += usize::from(lasting_name(&term).is_some());
                    }
                    continue;
                }
                if at >= end {
                    break;
                }
            }
            block.text.end = end;
        }
        block.terms.end = places.len();
        if block.terms.is_empty() {
            return (blocks, places);
        }
        blocks.push(block);
        (blocks, places)
    }
}

/// `at`, or the end of the word in which it stands; the word begins behind `from`, and ends by `end`.
fn word_end(text: &str, from: usize, at: usize, end: usize) -> usize {
    let bytes = text.as_bytes();
    if at == from || at == end || bytes[at - 1].is_ascii_whitespace() {
        return at;
    }
    bytes[at..end].iter().position(u8::is_ascii_whitespace).map_or(end, |more| at + more)
}

/// The bytes of the source in which this part of the text was read.
fn source_of<'p>(
    text: &Range<usize>,
    pieces: &mut std::iter::Peekable<impl Iterator<Item = &'p Piece>>,
    source: &str,
) -> Range<usize> {
    let mut found: Option<Range<usize>> = None;
    while let Some(piece) = pieces.next_if(|piece| piece.at < text.end) {
        let bytes = trimmed(piece.source.clone(), source);
        if piece.at < text.start || bytes.is_empty() {
            continue;
        }
        found = Some(found.map_or(bytes.clone(), |found| found.start..bytes.end));
    }
    found.unwrap_or_else(|| {
        pieces.peek().map_or(source.len()..source.len(), |next| next.source.start..next.source.start)
    })
}

fn trimmed(range: Range<usize>, source: &str) -> Range<usize> {
    let text = &source[range.clone()];
    let start = range.start + text.len() - text.trim_start().len();
    start..start.max(range.start + text.trim_end().len())
}

/// Counts characters up to places that are asked for in order.
struct Characters<'a> {
    source: &'a str,
    at: usize,
    count: usize,
}

impl Characters<'_> {
    fn until(&mut self, at: usize) -> usize {
        let at = at.max(self.at);
        self.count += self.source[self.at..at].chars().count();
        self.at = at;
        self.count
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::page::Reading;

    fn read(content: &str, html: bool) -> Structure {
        let page = Page {
            content: content.as_bytes(),
            html,
            charset: Some("utf-8"),
            url: Some("http://a.example/"),
        };
        StructureReader::default().read(page)
    }

    #[test]
    fn blocks_have_text_class_kind_and_source() {
        let html = "<title>T &amp; c</title><nav><a href=/>Home</a> <a href=/n>News</a></nav><h1>Ä héading</h1>\
            <ul><li>one <b>t</b>wo</ul><p>x<div hidden>not shown</div><footer>Im<wbr>print</footer>";
        let found = read(html, true);
        let rows: Vec<_> =
            found.blocks.iter().map(|block| (block.text.as_str(), block.class, block.kind)).collect();
        assert_eq!(
            rows,
            [
                ("T & c", Class::Title, Kind::Text),
                ("Home News", Class::Frame, Kind::Text),
                ("Ä héading", Class::Content, Kind::Heading),
                ("one two", Class::Content, Kind::Item),
                ("x", Class::Content, Kind::Text),
                ("not shown", Class::Frame, Kind::Text),
                ("Imprint", Class::Frame, Kind::Text),
            ]
        );
        let characters: Vec<char> = html.chars().collect();
        let sources: Vec<String> =
            found.blocks.iter().map(|block| characters[block.source.clone()].iter().collect()).collect();
        assert_eq!(sources[0], "T &amp; c");
        assert_eq!(sources[1], "Home</a> <a href=/n>News");
        assert_eq!(sources[2..4], ["Ä héading", "one <b>t</b>wo"]);
        assert_eq!(sources[6], "Im<wbr>print");
        assert_eq!(found.blocks[5].place, place::HIDDEN | place::UNDISPLAYED);
        assert_eq!(found.blocks[1].place, place::NAVIGATION | place::LINK);
    }

    #[test]
    fn paragraphs_of_plain_text_are_blocks() {
        let found = read("one\ntwo\n\n  thrée \n\n\nfour", false);
        let rows: Vec<_> =
            found.blocks.iter().map(|block| (block.text.as_str(), block.source.clone())).collect();
        assert_eq!(rows, [("one two", 0..7), ("thrée", 11..16), ("four", 20..24)]);
    }

    proptest! {
        /// Terms are those of the page, and every one is in a block.
        #[test]
        fn every_term_has_a_place(
            pieces in prop::collection::vec(
                "<(/?)(a href=x|b|i hidden|p|div|nav|main|article|h1|title|template|script|span|li|td|option|textarea|select)( hidden)?>|word|é |two words |日本|&amp;|<!-- c -->|<img src=/i\\.png>|<img src=/0123456789abcdef hidden>",
                0..40,
            ),
            html: bool,
        ) {
            let content = pieces.concat();
            let page = Page { content: content.as_bytes(), html, charset: Some("utf-8"), url: None };
            let mut terms: Vec<String> = Vec::new();
            Reader::default().read(page, Reading::default(), &mut terms);
            let found = StructureReader::default().read(page);
            prop_assert_eq!(found.places.len(), terms.len());
            prop_assert_eq!(found.blocks.iter().map(|block| block.terms).sum::<usize>(), terms.len());
            let characters = content.chars().count();
            prop_assert!(found.blocks.iter().all(|block| block.source.start <= block.source.end));
            prop_assert!(found.blocks.iter().all(|block| block.source.end <= characters));
            for (place, term) in found.places.iter().zip(&terms) {
                let named = term.contains("png") || term.contains("0123");
                prop_assert!(place & place::IMAGE == 0 || html && named, "{}", term);
            }
        }

        /// As many blocks as the detectors see, each in its class.
        #[test]
        fn the_blocks_are_those_of_the_detectors(
            pieces in prop::collection::vec("<(/?)(a href=x|b|p|div|nav|main|article|title|li)>|word |<img src=/i\\.png>", 0..40),
        ) {
            let content = pieces.concat();
            let page = Page { content: content.as_bytes(), html: true, charset: None, url: None };
            let mut reader = StructureReader::default();
            let found = reader.read(page);
            let classes: Vec<Class> = reader.reader.classes().map(|(_, class)| class).collect();
            prop_assert_eq!(found.blocks.iter().map(|block| block.class).collect::<Vec<_>>(), classes);
        }
    }
}
