//! What a page says to a reader, as one text for tokenising, with the places of its images (Henzinger 2006,
//! §2).
//!
//! Inline formatting joins (`foo<b>bar</b>` is the word `foobar`), and so does the soft hyphen; all other
//! markup, comments included, is white space. `script`, `style`, `template`, `noscript` and the fallbacks of
//! frames carry no text; `title` and `textarea` do; `alt` does not. Character references are decoded. NUL is
//! dropped from ordinary text, as browsers drop it. One scan, one buffer that is reused from page to page.

use std::ops::Range;

use memchr::{memchr2, memchr3};

use super::elements::{ELEMENTS, Text};
use super::marks::Marks;
use super::names::Name;
use super::references;
use super::scanner::{Sink, Start, Tag, TextKind, scan_with};

/// Buffers that grew beyond this are given back when the next page begins.
const LARGEST_KEPT: usize = 16 << 20;

/// Text of up to so many bytes is copied without asking how long it is.
const SHORT: usize = 32;

const SOFT_HYPHEN: &str = "\u{AD}";
/// U+00AD and the no-break space share this first byte; in text without it no soft hyphen can be.
const SOFT_HYPHEN_LEAD: u8 = 0xC2;

/// An image of the page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// The byte position in [`Visible::text`] where the image stands.
    pub at: usize,
    /// Where its address stands in [`Visible::sources`].
    pub src: Range<usize>,
}

/// The visible text of a page and what goes with it; meant to be reused across pages.
#[derive(Clone, Debug, Default)]
pub struct Visible {
    /// The text, title included. Markup has become a space where no white space stood already.
    pub text: String,
    /// The images that have an address, in document order.
    pub images: Vec<Image>,
    /// The addresses of the images one after another: decoded and trimmed, but not resolved.
    pub sources: String,
    title: String,
    has_title: bool,
    base: String,
    has_base: bool,
    marks: Marks,
}

impl Visible {
    /// Empties everything but keeps the memory, unless a huge page made it huge.
    pub fn clear(&mut self) {
        for buffer in [&mut self.text, &mut self.sources, &mut self.title, &mut self.base] {
            buffer.clear();
            buffer.shrink_to(LARGEST_KEPT);
        }
        self.images.clear();
        self.images.shrink_to(LARGEST_KEPT / size_of::<Image>());
        self.has_title = false;
        self.has_base = false;
    }

    /// The text of the first `title` element, white space collapsed and trimmed; none if there is no such
    /// element.
    pub fn title(&self) -> Option<&str> {
        self.has_title.then_some(&self.title)
    }

    /// The address of the first `base` element that has one.
    pub fn base(&self) -> Option<&str> {
        self.has_base.then_some(&self.base)
    }

    /// The address of an image of this page.
    pub fn source(&self, image: &Image) -> &str {
        &self.sources[image.src.clone()]
    }
}

/// Reads `html` into `out`, which is cleared first.
///
/// ```
/// use neardup_core::html::visible::{Visible, extract};
///
/// let mut page = Visible::default();
/// let html = "<title>Fish &amp; chips</title><p>un<b>believ</b>able<td>x<script>y</script><img src=' a.png '>";
/// extract(html, &mut page);
/// assert_eq!(page.text, " Fish & chips unbelievable x ");
/// assert_eq!(page.title(), Some("Fish & chips"));
/// assert_eq!(page.source(&page.images[0]), "a.png");
/// ```
pub fn extract(html: &str, out: &mut Visible) {
    read_with(html, out, |html, marks, mut reader| scan_with(html, Start::default(), marks, &mut reader));
}

/// Empties `out` and lets `scan` fill it: the reader takes the events, alone or inside a sink that wants more of them.
#[inline(always)]
pub(super) fn read_with<'h>(
    html: &'h str,
    out: &mut Visible,
    scan: impl FnOnce(&'h str, &mut Marks, Reader<'_>),
) {
    out.clear();
    // References can in rare cases decode to more bytes than they are written with; the buffer then grows.
    out.text.reserve(html.len() + SHORT);
    let mut marks = std::mem::take(&mut out.marks);
    scan(html, &mut marks, Reader { out, template_depth: 0, raw_is_hidden: false, in_title: false });
    out.marks = marks;
}

pub(super) struct Reader<'v> {
    out: &'v mut Visible,
    /// How many `template` elements are open; their content is no part of the page.
    template_depth: usize,
    /// Whether the raw text that follows belongs to an element that is not shown.
    raw_is_hidden: bool,
    /// Whether the text that follows is that of the first `title`.
    in_title: bool,
}

impl Reader<'_> {
    /// Whether what comes next is part of the page: it does not stand in a template.
    pub(super) fn is_shown(&self) -> bool {
        self.template_depth == 0
    }

    /// Where in the text what comes next will stand.
    #[inline(always)]
    pub(super) fn position(&self) -> usize {
        self.out.text.len()
    }

    #[inline(always)]
    fn separate(&mut self) {
        if !self.out.text.as_bytes().last().is_some_and(u8::is_ascii_whitespace) {
            self.out.text.push(' ');
        }
    }

    /// Appends the first `length` of `bytes`, all of which are written: to copy few bytes one need not know how few.
    /// False, and nothing is appended, if the buffer would have to grow.
    ///
    /// # Safety
    ///
    /// `length` is at most [`SHORT`], and the first `length` of `bytes` are whole characters of UTF-8.
    #[inline(always)]
    unsafe fn push_short(&mut self, bytes: &[u8; SHORT], length: usize) -> bool {
        let text = &mut self.out.text;
        if text.capacity() - text.len() < SHORT {
            return false;
        }
        // SAFETY: the capacity was just asked for; the length grows over bytes that were just written, and the caller
        // vouches for what they are.
        unsafe {
            let text = text.as_mut_vec();
            let end = text.len();
            text.as_mut_ptr().add(end).cast::<[u8; SHORT]>().write_unaligned(*bytes);
            text.set_len(end + length);
        }
        true
    }

    fn push_decoded(&mut self, raw: &str, kind: TextKind) {
        let text = &mut self.out.text;
        let mut push = |piece: &str, from_reference: bool| {
            if from_reference {
                if piece != SOFT_HYPHEN {
                    text.push_str(piece);
                }
                return;
            }
            push_shown(text, piece);
        };
        if kind.has_references() {
            references::decode_pieces(raw, false, push);
        } else {
            push(raw, false);
        }
    }

    fn keep_title(&mut self, from: usize) {
        self.in_title = false;
        for word in self.out.text[from..].split_whitespace() {
            if !self.out.title.is_empty() {
                self.out.title.push(' ');
            }
            self.out.title.push_str(word);
        }
    }

    fn keep_image(&mut self, tag: Tag<'_>) {
        let Some(src) = tag.attributes.get("src") else { return };
        let value = src.value();
        let address = value.trim_ascii();
        if !address.is_empty() {
            let start = self.out.sources.len();
            self.out.sources.push_str(address);
            self.out.images.push(Image { at: self.out.text.len(), src: start..self.out.sources.len() });
        }
    }

    fn keep_base(&mut self, tag: Tag<'_>) {
        if let Some(href) = tag.attributes.get("href") {
            self.out.base.push_str(href.value().trim_ascii());
            self.out.has_base = true;
        }
    }
}

/// Appends text without its soft hyphens and NULs.
pub(super) fn push_shown(text: &mut String, piece: &str) {
    let bytes = piece.as_bytes();
    let (mut from, mut at) = (0, 0);
    while let Some(found) = memchr2(SOFT_HYPHEN_LEAD, 0, &bytes[at..]) {
        let place = at + found;
        let dropped = match &bytes[place..] {
            [0, ..] => 1,
            [SOFT_HYPHEN_LEAD, 0xAD, ..] => 2,
            _ => {
                at = place + 1;
                continue;
            }
        };
        text.push_str(&piece[from..place]);
        from = place + dropped;
        at = from;
    }
    text.push_str(&piece[from..]);
}

impl<'a> Sink<'a> for Reader<'_> {
    #[inline(always)]
    fn text(&mut self, raw: &'a str, kind: TextKind) {
        if self.template_depth > 0 || (kind == TextKind::Raw && self.raw_is_hidden) {
            return;
        }
        let from = self.out.text.len();
        if memchr3(b'&', SOFT_HYPHEN_LEAD, 0, raw.as_bytes()).is_none() {
            self.out.text.push_str(raw);
        } else {
            self.push_decoded(raw, kind);
        }
        if self.in_title {
            self.keep_title(from);
        }
    }

    #[inline(always)]
    fn data(&mut self, html: &'a str, from: usize, to: usize, special: bool) {
        let near = html.as_bytes().get(from..).and_then(<[u8]>::first_chunk::<SHORT>);
        if let Some(near) = near
            && to - from <= SHORT
            && !special
            && self.template_depth == 0
            && html.is_char_boundary(from)
            && html.is_char_boundary(to)
            // SAFETY: the length was just compared, and a `str` between two of its boundaries is whole characters.
            && unsafe { self.push_short(near, to - from) }
        {
            return;
        }
        if from < to {
            self.text(&html[from..to], TextKind::Data);
        }
    }

    #[inline(always)]
    fn tag_by_key(&mut self, key: u64) -> bool {
        let meaning = ELEMENTS.get(key).text;
        if meaning != Text::Separates || self.template_depth > 0 {
            return meaning == Text::Joins;
        }
        self.separate();
        true
    }

    #[inline(always)]
    fn start_tag(&mut self, tag: Tag<'a>) {
        let meaning = ELEMENTS.get(tag.name.key).text;
        if meaning == Text::Joins {
            return;
        }
        let shown = self.template_depth == 0;
        if shown {
            self.separate();
        }
        match meaning {
            Text::Separates | Text::Joins => {}
            Text::ShownRaw => self.raw_is_hidden = false,
            Text::HiddenRaw => self.raw_is_hidden = true,
            Text::Template => self.template_depth += usize::from(!(tag.foreign && tag.self_closing)),
            Text::Title if shown && !tag.foreign && !self.out.has_title => {
                self.out.has_title = true;
                self.in_title = true;
            }
            // The `image` of SVG is another element.
            Text::Image if shown && !(tag.foreign && tag.name.is("image")) => self.keep_image(tag),
            Text::Base if shown && !tag.foreign && !self.out.has_base => self.keep_base(tag),
            Text::Title | Text::Image | Text::Base => {}
        }
    }

    #[inline(always)]
    fn end_tag(&mut self, name: Name<'a>) {
        let meaning = ELEMENTS.get(name.key).text;
        match meaning {
            Text::Joins => return,
            Text::Template => self.template_depth = self.template_depth.saturating_sub(1),
            Text::Title => self.in_title = false,
            _ => {}
        }
        if self.template_depth == 0 {
            self.separate();
        }
    }

    fn comment(&mut self, _raw: &'a str) {
        if self.template_depth == 0 {
            self.separate();
        }
    }

    fn doctype(&mut self, _raw: &'a str) {
        if self.template_depth == 0 {
            self.separate();
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::html::elements::names_where;

    proptest! {
        #[test]
        fn what_is_not_shown_is_dropped(piece in "[a\u{0}\u{AD}\u{A0}\u{C2}é]{0,12}") {
            let mut text = String::from("x");
            push_shown(&mut text, &piece);
            prop_assert_eq!(text, format!("x{}", piece.replace(['\u{AD}', '\0'], "")));
        }

        /// Text that is copied without being looked at comes out as that which is.
        #[test]
        fn short_text_is_text(text in "[a-c é\u{A0}]{0,80}", more in "[x<]{0,70}") {
            let html = format!("<p>{text}</p>{more}");
            let mut page = Visible::default();
            extract(&html, &mut page);
            let expected = format!(" {text}{}", if text.is_empty() || text.ends_with(' ') { "" } else { " " });
            prop_assert!(page.text.starts_with(&expected));
        }
    }

    fn read(html: &str) -> Visible {
        let mut page = Visible::default();
        extract(html, &mut page);
        page
    }

    fn words(html: &str) -> Vec<String> {
        read(html).text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn formatting_joins_and_all_else_parts() {
        let joins = names_where(|element| element.text == Text::Joins);
        assert_eq!(joins.len(), 17);
        for joining in joins.into_iter().chain(["B", "Font"]) {
            assert_eq!(words(&format!("foo<{joining} x=y>bar</{joining}>baz")), ["foobarbaz"], "{joining}");
        }
        for parting in ["a", "span", "div", "br", "code", "my-own", "blockquote", "bb", "strongly"] {
            assert_eq!(
                words(&format!("foo<{parting}>bar</{parting}>baz")),
                ["foo", "bar", "baz"],
                "{parting}"
            );
        }
        for declaration in ["<!-- x -->", "<!x>", "<?x?>", "<!doctype html>", "</ x>"] {
            assert_eq!(words(&format!("foo{declaration}bar")), ["foo", "bar"], "{declaration}");
        }
    }

    #[test]
    fn soft_hyphens_vanish_however_written() {
        assert_eq!(words("a\u{AD}b&shy;c&shyd&#173;e&#xAD;f\u{A0}g&nbsp;h"), ["abcdef", "g", "h"]);
    }

    #[test]
    fn hidden_elements_carry_no_text() {
        for hidden in ["script", "style", "template", "noscript", "noembed", "noframes", "iframe"] {
            assert_eq!(words(&format!("a<{hidden}>no</{hidden}>b")), ["a", "b"], "{hidden}");
        }
        for shown in ["xmp", "textarea", "title", "pre"] {
            assert_eq!(words(&format!("a<{shown}>yes</{shown}>b")), ["a", "yes", "b"], "{shown}");
        }
        assert_eq!(words("<xmp><b>&amp;</b></xmp>"), ["<b>&amp;</b>"]);
        assert_eq!(words("<textarea><b>&amp;</b></textarea>"), ["<b>&</b>"]);
        assert_eq!(words("<img alt=no src=x>"), [""; 0]);
    }

    #[test]
    fn templates_nest_and_an_unclosed_one_hides_the_rest() {
        let page = read(
            "a</template>b<template>1<template>2</template>3<img src=x><base href=y><title>t</title></template>c",
        );
        assert_eq!(page.text.split_whitespace().collect::<Vec<_>>(), ["a", "b", "c"]);
        assert!(page.images.is_empty() && page.base().is_none() && page.title().is_none());
        assert_eq!(words("a<template>b<p>c</p>"), ["a"]);
        assert_eq!(words("a<template><script></template></script>b</template>c"), ["a", "c"]);
    }

    #[test]
    fn foreign_elements_close_themselves() {
        assert_eq!(
            words("<svg><title/><style/><script/><template/>a<![CDATA[<b>]]></svg>b<![CDATA[c]]>d"),
            ["a<b>", "b", "d"]
        );
        let page = read("<svg><title>icon</title></svg><title>page</title>");
        assert_eq!(page.title(), Some("page"));
    }

    #[test]
    fn the_first_title_counts() {
        assert_eq!(read("<title>\n A &amp;\t<b>B </title><title>C</title>").title(), Some("A & <b>B"));
        assert_eq!(read("<title></title>x<title>C</title>").title(), Some(""));
        assert_eq!(read("x").title(), None);
    }

    #[test]
    fn images_stand_where_they_are() {
        let page = read("ab<IMG SRC=' x&amp;y ' src=no>cd<img><img src=''><img src=\"  \"><image src=z>");
        assert_eq!(page.text, "ab cd ");
        let found: Vec<_> = page.images.iter().map(|image| (image.at, page.source(image))).collect();
        assert_eq!(found, [(3, "x&y"), (6, "z")]);
    }

    #[test]
    fn the_first_base_with_an_address_counts() {
        assert_eq!(read("<base target=x><base href=' /a/ '><base href=/b/>").base(), Some("/a/"));
        assert_eq!(read("<base target=x>").base(), None);
    }

    #[test]
    fn a_used_page_is_emptied_and_a_huge_one_gives_its_memory_back() {
        let mut page = read("<title>t</title><base href=b><img src=i>");
        extract("x", &mut page);
        assert_eq!((page.text.as_str(), page.title(), page.base(), page.images.len()), ("x", None, None, 0));
        extract(&"x".repeat(LARGEST_KEPT + 1), &mut page);
        page.clear();
        assert!(page.text.capacity() <= LARGEST_KEPT);
    }

    #[test]
    fn nul_is_dropped() {
        assert_eq!(words("fo\0o"), ["foo"]);
    }
}
