//! All that a page's own tags say of its text: [`super::blocks`], with what each block is, where it stands in the source,
//! and what the page does not display.
//!
//! Blocks are those of [`structure`](super::blocks::structure), to the letter; this is for those who show pages or
//! compare two of them, and looks at every tag, where the other passes by most. What an element is stands in
//! [`super::elements`]. Style sheets are not read. Open elements are a stack, as there: an end tag closes the nearest of its name with
//! all inside it, if that is near; so any input costs linear time.

use std::ops::Range;

use super::blocks::{self, Blocks, Segment, is_not_displayed, place, styles};
use super::elements::{ELEMENTS, Element, Kind};
use super::names::{Name, key};
use super::scanner::{Sink, Start, Tag, TextKind, scan_with};
use super::visible::Visible;

/// From `at` in the text on, what it stands in beside what its segment says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Surroundings {
    pub at: usize,
    pub kind: Kind,
    /// [`place::FIELD`], [`place::UNDISPLAYED`], or nothing.
    pub place: u16,
}

/// From `at` in the text on, where it was read in the source, references and all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    pub at: usize,
    pub source: Range<usize>,
}

/// What [`outline`] gives; meant to be reused across pages.
#[derive(Clone, Debug, Default)]
pub struct Outline {
    pub page: Visible,
    pub segments: Vec<Segment>,
    /// Begins at 0.
    pub surroundings: Vec<Surroundings>,
    pub pieces: Vec<Piece>,
}

/// Open elements among which the one that an end tag names is looked for.
const NEAR: usize = 64;
/// Elements nested deeper than this are not told apart from the one they stand in.
const DEEPEST: usize = 512;

/// Reads `html` into `out`.
///
/// ```
/// use neardup_core::html::elements::Kind;
/// use neardup_core::html::outline::{Outline, outline};
///
/// let mut page = Outline::default();
/// outline("<h1>A title</h1><p>text <ul><li>one", &mut page);
/// let kinds: Vec<Kind> = page.surroundings.iter().map(|from| from.kind).collect();
/// assert_eq!(kinds, [Kind::Text, Kind::Heading, Kind::Text, Kind::Item]);
/// assert_eq!(page.pieces[0].source, 4..11);
/// ```
pub fn outline(html: &str, out: &mut Outline) {
    outline_with(html, out, |_| {});
}

/// The same, with a look at every start tag of the page that is not in a template.
pub fn outline_with<'h>(html: &'h str, out: &mut Outline, look: impl FnMut(&Tag<'h>)) {
    let Outline { page, segments, surroundings, pieces } = out;
    surroundings.clear();
    surroundings.push(Surroundings::default());
    pieces.clear();
    blocks::read_with(html, page, segments, |html, marks, blocks| {
        let mut reader = Reader { html, blocks, surroundings, pieces, open: Vec::new(), look };
        scan_with(html, Start::default(), marks, &mut reader);
    });
}

/// An open element, and what it makes of what it holds.
#[derive(Clone, Copy)]
struct Open {
    key: u64,
    element: Element,
    kind: Kind,
    place: u16,
}

struct Reader<'v, 'h, L> {
    html: &'h str,
    blocks: Blocks<'v>,
    surroundings: &'v mut Vec<Surroundings>,
    pieces: &'v mut Vec<Piece>,
    open: Vec<Open>,
    look: L,
}

impl<L> Reader<'_, '_, L> {
    fn note(&mut self) {
        let at = self.blocks.text.position();
        let (kind, place) = self.open.last().map_or_else(Default::default, |open| (open.kind, open.place));
        // Nothing was said between the two.
        self.surroundings.pop_if(|last| last.at == at);
        if self.surroundings.last().is_none_or(|last| last.kind != kind || last.place != place) {
            self.surroundings.push(Surroundings { at, kind, place });
        }
    }

    fn enter(&mut self, tag: &Tag<'_>) {
        let element = ELEMENTS.get(tag.name.key);
        while self.open.last().is_some_and(|open| open.element.is_ended_by(element)) {
            self.open.pop();
        }
        if element.void || tag.foreign && tag.self_closing || self.open.len() >= DEEPEST {
            return;
        }
        let outside = self.open.last();
        let kind = match element.kind {
            Kind::Text => outside.map_or(Kind::Text, |open| open.kind),
            kind => kind,
        };
        let mut inside = outside.map_or(0, |open| open.place) | element.place & place::FIELD;
        if is_undisplayed(tag) {
            inside |= place::UNDISPLAYED;
        }
        self.open.push(Open { key: tag.name.key, element, kind, place: inside });
    }

    fn leave(&mut self, name: Name<'_>) {
        let nearest = self.open.iter().rev().take(NEAR).position(|open| open.key == name.key);
        if let Some(depth) = nearest {
            self.open.truncate(self.open.len() - 1 - depth);
        }
    }
}

fn is_undisplayed(tag: &Tag<'_>) -> bool {
    tag.name.key == key(b"dialog") && tag.attributes.get("open").is_none()
        || tag
            .attributes
            .into_iter()
            .any(|attribute| is_not_displayed(&attribute) || styles(&attribute, "visibility:hidden"))
}

impl<'h, L: FnMut(&Tag<'h>)> Sink<'h> for Reader<'_, 'h, L> {
    fn text(&mut self, raw: &'h str, kind: TextKind) {
        let at = self.blocks.text.position();
        self.blocks.text(raw, kind);
        if self.blocks.text.position() > at {
            let start = raw.as_ptr() as usize - self.html.as_ptr() as usize;
            self.pieces.push(Piece { at, source: start..start + raw.len() });
        }
    }

    fn start_tag(&mut self, tag: Tag<'h>) {
        self.blocks.start_tag(tag);
        if self.blocks.text.is_shown() {
            self.enter(&tag);
            self.note();
            (self.look)(&tag);
        }
    }

    fn end_tag(&mut self, name: Name<'h>) {
        self.blocks.end_tag(name);
        if self.blocks.text.is_shown() {
            self.leave(name);
            self.note();
        }
    }

    fn comment(&mut self, raw: &'h str) {
        self.blocks.comment(raw);
    }

    fn doctype(&mut self, raw: &'h str) {
        self.blocks.doctype(raw);
    }
}

impl Outline {
    /// The text without what the page does not display, which becomes a space.
    pub fn displayed(&self) -> String {
        let text = self.page.text.as_str();
        let mut displayed = String::with_capacity(text.len());
        let ends = self.surroundings.iter().skip(1).map(|next| next.at).chain([text.len()]);
        for (from, end) in self.surroundings.iter().zip(ends) {
            displayed.push_str(if from.place & place::UNDISPLAYED == 0 { &text[from.at..end] } else { " " });
        }
        displayed
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::html::blocks::structure;

    fn read(html: &str) -> Outline {
        let mut page = Outline::default();
        outline(html, &mut page);
        page
    }

    #[test]
    fn what_is_not_displayed_is_in_the_text_and_not_in_what_is_displayed() {
        for (html, shown) in [
            ("<div hidden>a <div>b</div> c</div>d", "d"),
            ("<p style='x:y; Display : none'>a</p>b", "b"),
            ("<span style=visibility:hidden>a</span>b", "b"),
            ("<dialog>a</dialog>b<dialog open>c</dialog>", "b c"),
            ("<p hidden>a<p>b<li hidden>c<li>d", "b d"),
            ("<p hidden>a<div>b</div>", "b"),
            ("<table><tr><td hidden>a<th>b<td hidden>a<tr><td>c", "b c"),
            ("<img hidden>a<input hidden>b<br hidden>c", "a b c"),
            ("<div aria-hidden=true>a</div><i hidden>b</i>c", "a c"),
            ("<template><div hidden></template>a", "a"),
            ("<div hidden>a</span></div>b</div>c", "b c"),
        ] {
            let page = read(html);
            assert_eq!(page.displayed().split_whitespace().collect::<Vec<_>>().join(" "), shown, "{html}");
            assert!(page.page.text.contains('a'), "{html}");
        }
    }

    /// (text, kind, place) of what is said, stretch by stretch.
    fn stretches(html: &str) -> Vec<(String, Kind, u16)> {
        let page = read(html);
        let ends = page.surroundings.iter().skip(1).map(|next| next.at).chain([page.page.text.len()]);
        let text = |from: &Surroundings, end| {
            page.page.text[from.at..end].split_whitespace().collect::<Vec<_>>().join(" ")
        };
        let all =
            page.surroundings.iter().zip(ends).map(|(from, end)| (text(from, end), from.kind, from.place));
        all.filter(|(text, ..)| !text.is_empty()).collect()
    }

    #[test]
    fn blocks_are_told_by_the_nearest_element_that_says_what_it_is() {
        let of = |text: &str, kind| (text.to_owned(), kind, 0);
        assert_eq!(
            stretches(
                "a<h2>b <em>c</em></h2>d<ul><li>e<p>f</p><ul><li>g</ul>h<li>i</ul>j<table><tr><td>k<td><h3>l</h3></table>m"
            ),
            [
                of("a", Kind::Text),
                of("b c", Kind::Heading),
                of("d", Kind::Text),
                of("e f g h i", Kind::Item),
                of("j", Kind::Text),
                of("k", Kind::Cell),
                of("l", Kind::Heading),
                of("m", Kind::Text),
            ]
        );
    }

    #[test]
    fn values_of_forms_are_told() {
        let field = |text: &str| (text.to_owned(), Kind::Text, place::FIELD);
        assert_eq!(
            stretches("<textarea>a <b>c</textarea><select><option>d<option>e</select>f"),
            [field("a <b>c d e"), ("f".to_owned(), Kind::Text, 0)]
        );
    }

    proptest! {
        /// Text and blocks are those of the fast readers, and each piece is where it says.
        #[test]
        fn the_structure_is_the_one_of_the_fast_reader(
            pieces in prop::collection::vec(
                "<(/?)(a href=x|b|p|div|nav|title|template|script|span|svg|dialog|xmp|li|td|option|textarea)( hidden)?/?>|word |&lt;|é|<!-- c -->|<!x>",
                0..40,
            ),
        ) {
            let html = pieces.concat();
            let (mut page, mut segments) = (Visible::default(), Vec::new());
            structure(&html, &mut page, &mut segments);
            let found = read(&html);
            prop_assert_eq!(&page.text, &found.page.text);
            prop_assert_eq!(&segments, &found.segments);
            prop_assert!(found.surroundings.windows(2).all(|pair| pair[0].at < pair[1].at));
            for piece in &found.pieces {
                let source = html[piece.source.clone()].trim_start().chars().next();
                let text = found.page.text[piece.at..].trim_start().chars().next();
                prop_assert!(source == text || source == Some('&') && text == Some('<'));
            }
        }
    }
}
