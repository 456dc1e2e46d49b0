//! The visible text of a page with its structure beside it: where blocks end, and in what each stretch of text stands.
//!
//! Idea: what a page is about stands in running text; what surrounds it (menus, banners, consent dialogs, footers) gives
//! itself away by links, by the element it stands in, or by its role. (Not by its name: of pages that were tried, one in
//! ten has its main text in an element whose class speaks of a header, a menu or a banner.) [`structure`] reads
//! the text exactly as [`super::visible`] does and notes, at each place where something of this changes, a
//! [`Segment`]. Which of it matters, and how much, is decided by who reads them ([`crate::content`]).
//!
//! There is no tree: open elements are a stack of names and what their content stands in. An end tag closes the nearest
//! open element of its name, with all inside it, if that is among the innermost [`NEAR`]; so unclosed and
//! misnested elements do little harm, and any input costs linear time and bounded memory.

use super::attributes::Attribute;
pub use super::elements::place;
use super::elements::{ELEMENTS, Flow, role_place};
use super::marks::Marks;
use super::names::Name;
use super::scanner::{Sink, Start, Tag, TextKind, scan_with};
use super::visible::{self, Visible};

/// From `at` in the text on, what it stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    pub at: usize,
    pub place: u16,
    /// A block begins here: what comes before is no part of the same sentence.
    pub begins: bool,
}

/// Open elements among which the one that an end tag names is looked for.
const NEAR: usize = 64;
/// Elements nested deeper than this are not told apart from the one they stand in.
const DEEPEST: usize = 512;

/// Reads `html` into `page`, as [`visible::extract`] does, and its structure into `segments`.
///
/// ```
/// use neardup_core::html::blocks::{place, structure};
/// use neardup_core::html::visible::Visible;
///
/// let (mut page, mut segments) = (Visible::default(), Vec::new());
/// structure("<nav><a href=x>Home</a></nav><p>Text</p>", &mut page, &mut segments);
/// let home = segments.iter().rfind(|segment| segment.at <= 1).unwrap();
/// assert_eq!(home.place, place::NAVIGATION | place::LINK);
/// ```
pub fn structure(html: &str, page: &mut Visible, segments: &mut Vec<Segment>) {
    read_with(html, page, segments, |html, marks, mut reader| {
        scan_with(html, Start::default(), marks, &mut reader)
    });
}

/// Empties `page` and `segments` and lets `scan` fill them: the reader takes the events, alone or inside a sink that wants more of them.
#[inline(always)]
pub(super) fn read_with<'h>(
    html: &'h str,
    page: &mut Visible,
    segments: &mut Vec<Segment>,
    scan: impl FnOnce(&'h str, &mut Marks, Blocks<'_>),
) {
    segments.clear();
    visible::read_with(html, page, |html, marks, text| {
        segments.push(Segment { at: 0, place: 0, begins: true });
        scan(html, marks, Blocks { text, segments, open: Vec::new(), place: 0 });
    });
}

/// Where the attributes of a container say that its content stands.
fn said_place(tag: &Tag<'_>) -> u16 {
    let mut found = 0;
    for attribute in tag.attributes {
        let name = attribute.name;
        if name.eq_ignore_ascii_case("role") {
            found |= role_place(&attribute.value().to_ascii_lowercase());
        } else if is_not_displayed(&attribute)
            || name.eq_ignore_ascii_case("aria-hidden") && attribute.raw_value.eq_ignore_ascii_case("true")
        {
            found |= place::HIDDEN;
        }
    }
    found
}

/// Whether an attribute says that its element is not displayed.
pub(super) fn is_not_displayed(attribute: &Attribute<'_>) -> bool {
    attribute.name.eq_ignore_ascii_case("hidden") || styles(attribute, "display:none")
}

/// Whether an attribute is a style that holds a declaration, which is written without white space.
pub(super) fn styles(attribute: &Attribute<'_>, declaration: &str) -> bool {
    attribute.name.eq_ignore_ascii_case("style") && {
        let plain: String = attribute.raw_value.chars().filter(|char| !char.is_ascii_whitespace()).collect();
        plain.to_ascii_lowercase().contains(declaration)
    }
}

pub(super) struct Blocks<'v> {
    pub(super) text: visible::Reader<'v>,
    segments: &'v mut Vec<Segment>,
    /// Open elements that change something: their names, and the place outside of them.
    open: Vec<(u64, u16)>,
    place: u16,
}

impl Blocks<'_> {
    fn note(&mut self, begins: bool) {
        let (at, place) = (self.text.position(), self.place);
        match self.segments.last_mut() {
            // Nothing was said between the two.
            Some(last) if last.at == at => {
                last.place = place;
                last.begins |= begins;
            }
            Some(last) if last.place == place && !begins => {}
            _ => self.segments.push(Segment { at, place, begins }),
        }
    }

    fn close(&mut self, key: u64) {
        let nearest = self.open.iter().rev().take(NEAR).position(|&(open, _)| open == key);
        if let Some(depth) = nearest {
            let at = self.open.len() - 1 - depth;
            self.place = self.open[at].1;
            self.open.truncate(at);
        }
    }

    fn enter(&mut self, key: u64, place: u16) {
        if self.open.len() < DEEPEST {
            self.open.push((key, self.place));
            self.place |= place;
        }
    }
}

impl<'a> Sink<'a> for Blocks<'_> {
    #[inline(always)]
    fn text(&mut self, raw: &'a str, kind: TextKind) {
        self.text.text(raw, kind);
    }

    #[inline(always)]
    fn data(&mut self, html: &'a str, from: usize, to: usize, special: bool) {
        self.text.data(html, from, to, special);
    }

    #[inline(always)]
    fn tag_by_key(&mut self, key: u64) -> bool {
        match ELEMENTS.get(key).flow {
            Flow::Inline => self.text.tag_by_key(key),
            Flow::Block => {
                let done = self.text.tag_by_key(key);
                if done {
                    self.note(true);
                }
                done
            }
            _ => false,
        }
    }

    fn start_tag(&mut self, tag: Tag<'a>) {
        self.text.start_tag(tag);
        let key = tag.name.key;
        let element = ELEMENTS.get(key);
        let closed = tag.foreign && tag.self_closing;
        match element.flow {
            Flow::Inline => return,
            Flow::Block => {}
            _ if closed => {}
            Flow::Link => {
                if self.place & element.place != 0 {
                    self.close(key);
                }
                // An `a` without an address is the goal of a link, and often left open.
                if tag.attributes.get("href").is_some() {
                    self.enter(key, element.place);
                }
            }
            Flow::Place => self.enter(key, element.place | said_place(&tag)),
        }
        self.note(element.flow != Flow::Link);
    }

    fn end_tag(&mut self, name: Name<'a>) {
        self.text.end_tag(name);
        let flow = ELEMENTS.get(name.key).flow;
        match flow {
            Flow::Inline => return,
            Flow::Block => {}
            _ => self.close(name.key),
        }
        self.note(flow != Flow::Link);
    }

    fn comment(&mut self, raw: &'a str) {
        self.text.comment(raw);
    }

    fn doctype(&mut self, raw: &'a str) {
        self.text.doctype(raw);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::html::elements::names_where;
    use proptest::prelude::*;

    /// (text, place, begins) of what is said, stretch by stretch.
    fn read(html: &str) -> Vec<(String, u16, bool)> {
        let (mut page, mut segments) = (Visible::default(), Vec::new());
        structure(html, &mut page, &mut segments);
        let mut begins = true;
        let mut found = Vec::new();
        for (number, segment) in segments.iter().enumerate() {
            let end = segments.get(number + 1).map_or(page.text.len(), |next| next.at);
            begins |= segment.begins;
            let text = page.text[segment.at..end].split_whitespace().collect::<Vec<_>>().join(" ");
            if !text.is_empty() {
                found.push((text, segment.place, std::mem::take(&mut begins)));
            }
        }
        found
    }

    fn places(html: &str) -> Vec<(String, u16)> {
        read(html).into_iter().map(|(text, place, _)| (text, place)).collect()
    }

    fn said(text: &str, place: u16) -> (String, u16) {
        (text.to_owned(), place)
    }

    #[test]
    fn elements_say_where_text_stands() {
        assert_eq!(
            places("<title>t</title>x<nav>a <a href=y>b</a> c</nav><main><header>h</header><p>d</main>e"),
            [
                said("t", place::TITLE),
                said("x", 0),
                said("a", place::NAVIGATION),
                said("b", place::NAVIGATION | place::LINK),
                said("c", place::NAVIGATION),
                said("h", place::MAIN | place::HEADER),
                said("d", place::MAIN),
                said("e", 0),
            ]
        );
    }

    #[test]
    fn roles_and_what_is_hidden() {
        assert_eq!(places("<div ROLE=Navigation>a</div>b"), [said("a", place::NAVIGATION), said("b", 0)]);
        for hidden in ["hidden", "aria-hidden=true", "style='Display : none'"] {
            assert_eq!(places(&format!("<div {hidden}>a</div>b"))[0], said("a", place::HIDDEN), "{hidden}");
        }
        assert_eq!(places("<div aria-hidden=false class=menu>a</div>"), [said("a", 0)]);
    }

    #[test]
    fn a_link_has_an_address_and_a_label_is_text() {
        assert_eq!(places("<a name=x />a<p>b"), [said("a", 0), said("b", 0)]);
        assert_eq!(places("<a HREF=x>a<a id=y>b"), [said("a", place::LINK), said("b", 0)]);
        assert_eq!(places("<label>a<p>b</label>"), [said("a", 0), said("b", 0)]);
    }

    #[test]
    fn misnested_elements_do_little_harm() {
        // Another link closes the first; the end of what holds it does too.
        assert_eq!(places("<a href=x>a<a href=y>b</a>c"), [said("a b", place::LINK), said("c", 0)]);
        assert_eq!(
            places("<nav><a href=x>a</nav>b"),
            [said("a", place::NAVIGATION | place::LINK), said("b", 0)]
        );
        assert_eq!(places("</nav>a<nav>b<nav>c</nav>d</nav>e").last().unwrap(), &said("e", 0));
        let deep = format!("{}a{}b", "<nav>".repeat(2000), "</nav>".repeat(2000));
        assert_eq!(places(&deep), [said("a", place::NAVIGATION), said("b", 0)]);
    }

    #[test]
    fn formatting_and_links_part_no_block() {
        let begins = |html: &str| read(html).into_iter().filter(|part| part.2).count();
        assert_eq!(begins("a <b>b</b> <span>c</span> <a href=x>d</a> e"), 1);
        assert_eq!(begins("a<br>b<p>c<td>d<div>e</div>f"), 6);
    }

    /// Every element of the table, and some that it does not name, part blocks or do not as the table says.
    #[test]
    fn elements_part_blocks_as_the_table_says() {
        let inline = names_where(|element| matches!(element.flow, Flow::Inline | Flow::Link));
        let parting = names_where(|element| matches!(element.flow, Flow::Block | Flow::Place));
        let unnamed = [
            "address",
            "audio",
            "blockquote",
            "canvas",
            "caption",
            "center",
            "details",
            "dir",
            "fieldset",
            "figcaption",
            "frame",
            "legend",
            "map",
            "meter",
            "object",
            "optgroup",
            "output",
            "picture",
            "progress",
            "small-print",
            "summary",
            "tbody",
            "tfoot",
            "thead",
            "video",
        ];
        for (names, parts) in [(inline.as_slice(), false), (&parting, true), (&unnamed, true)] {
            for name in names {
                let html = format!("<p>before<{name}></{name}>after");
                let (mut page, mut segments) = (Visible::default(), Vec::new());
                structure(&html, &mut page, &mut segments);
                let end = page.text.find("before").unwrap() + 6;
                let parted = segments.iter().any(|segment| segment.begins && segment.at >= end);
                assert_eq!(parted, parts, "{name}");
            }
        }
        assert!(
            inline.contains(&"cite")
                && inline.contains(&"kbd")
                && inline.contains(&"del")
                && inline.contains(&"b")
                && inline.contains(&"ruby")
        );
    }

    proptest! {
        #[test]
        fn the_text_is_the_visible_text(
            pieces in prop::collection::vec(
                "<(/?)(a|b|p|div|nav|title|template|script|span|svg|dialog|xmp)( hidden)?/?>|word |&lt;|<!-- c -->|<!x>",
                0..40,
            ),
        ) {
            let html = pieces.concat();
            let (mut plain, mut page, mut segments) = (Visible::default(), Visible::default(), Vec::new());
            visible::extract(&html, &mut plain);
            structure(&html, &mut page, &mut segments);
            prop_assert_eq!(&plain.text, &page.text);
            prop_assert_eq!(plain.title(), page.title());
            prop_assert!(segments.windows(2).all(|pair| pair[0].at < pair[1].at));
            prop_assert!(segments.iter().all(|segment| page.text.is_char_boundary(segment.at)));
        }
    }
}
