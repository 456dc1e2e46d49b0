//! What a page is made of, beside its terms: its text without images, its layout, its main content, and the address it
//! gives for its own.
//!
//! *Layout* is the sequence of block elements as they open. *Main content* is told from menus, lists of links and
//! footers by the shallow features of Kohlschütter, Fankhauser and Nejdl (Boilerplate Detection using Shallow Text
//! Features, 2010, Algorithm 2): text between two block tags is a block, and it counts if it has enough words and few of
//! them in links, looking at the block before and the one after. It needs no tree, no language and no other page; where
//! no block counts, all of the text does. *Canonical* is the first `link rel=canonical`. Cost: one scan.

use std::ops::Range;

use url::Url;

use super::blocks::{is_not_displayed, styles};
use super::elements::{JOINING, PHRASES, UNSHOWN};
use super::links::normalised;
use super::names::{Name, NameTable};
use super::references;
use super::scanner::{Sink, Tag, TextKind, scan};
use super::visible::push_shown;

/// What [`anatomy`] gives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Anatomy {
    /// The visible text, title included, markup as white space.
    pub text: String,
    /// The same without what the page does not display (`hidden`, `display:none`, `visibility:hidden`, a `dialog` that is
    /// not open), as far as its own tags say so.
    pub displayed: String,
    /// The block elements in the order in which they open, each as a number.
    pub layout: Vec<u64>,
    /// The main content; a line a block.
    pub main: String,
    /// The canonical address, resolved and without fragment.
    pub canonical: Option<String>,
}

/// Reads a page.
///
/// ```
/// use neardup_core::html::anatomy::anatomy;
///
/// let html = "<link rel=canonical href='http://a.example/x#y'><ul><li><a href=/>Home</a></ul><p>".to_owned()
///     + &"word ".repeat(50);
/// let page = anatomy(&html, None);
/// assert_eq!(page.canonical.as_deref(), Some("http://a.example/x"));
/// assert_eq!((page.layout.len(), page.main.trim().len()), (3, 249));
/// ```
pub fn anatomy(html: &str, url: Option<&Url>) -> Anatomy {
    let mut reader = Reader::default();
    scan(html, &mut reader);
    reader.close_block();
    let main = reader.main();
    let canonical = reader.canonical.as_deref().and_then(|href| resolved(href, reader.base.as_deref(), url));
    let displayed = reader.displayed();
    Anatomy { text: reader.text, displayed, layout: reader.layout, main, canonical }
}

fn resolved(href: &str, base: Option<&str>, url: Option<&Url>) -> Option<String> {
    let base = match (base, url) {
        (Some(base), Some(url)) => url.join(base).ok().or_else(|| Some(url.clone())),
        (Some(base), None) => Url::parse(base).ok(),
        (None, url) => url.cloned(),
    };
    let target = base.map_or_else(|| Url::parse(href), |base| base.join(href)).ok()?;
    matches!(target.scheme(), "http" | "https").then(|| normalised(&target))
}

/// Text between two block tags: where it stands, its words, and how many of them are in links.
#[derive(Clone, Copy, Debug, Default)]
struct Block {
    start: usize,
    end: usize,
    words: usize,
    linked: usize,
}

impl Block {
    fn link_density(self) -> f64 {
        if self.words == 0 { 0.0 } else { self.linked as f64 / self.words as f64 }
    }
}

/// Algorithm 2 of the paper.
fn counts(before: Block, block: Block, after: Block) -> bool {
    if block.link_density() > 1.0 / 3.0 {
        return false;
    }
    if before.link_density() > 5.0 / 9.0 {
        return block.words > 40 || after.words > 17;
    }
    block.words > 16 || after.words > 15 || before.words > 4
}

#[derive(Default)]
struct Reader {
    text: String,
    layout: Vec<u64>,
    blocks: Vec<Block>,
    block: Block,
    canonical: Option<String>,
    base: Option<String>,
    template_depth: usize,
    raw_is_hidden: bool,
    in_link: bool,
    in_title: bool,
    /// The element that is not displayed, and how many of its name are open in it.
    undisplayed: Option<(u64, usize)>,
    /// Stretches of the text that are not displayed.
    hidden: Vec<Range<usize>>,
}

impl Reader {
    fn displayed(&self) -> String {
        let mut displayed = String::with_capacity(self.text.len());
        let mut from = 0;
        for stretch in &self.hidden {
            displayed.push_str(&self.text[from..stretch.start]);
            displayed.push(' ');
            from = stretch.end;
        }
        displayed.push_str(&self.text[from..]);
        displayed
    }

    /// Follows which element is not displayed. One whose end tag may be left out ends where the next begins that ends it.
    fn open_displayed(&mut self, tag: &Tag<'_>, meaning: Meaning) {
        let (key, block) = (tag.name.key, BLOCKS.get(tag.name.key));
        if let Some((hidden, depth)) = &mut self.undisplayed {
            let ends =
                ENDED_BY_NEXT.get(*hidden) && (key == *hidden || block && *hidden == super::names::key(b"p"));
            if !ends {
                *depth += usize::from(key == *hidden);
                return;
            }
            self.undisplayed = None;
        }
        let void = matches!(meaning, Meaning::Base | Meaning::LinkElement) || VOID.get(key);
        if !(void || tag.foreign && tag.self_closing) && is_undisplayed(tag) {
            self.undisplayed = Some((key, 1));
        }
    }

    fn close_displayed(&mut self, key: u64) {
        if let Some((hidden, depth)) = &mut self.undisplayed
            && *hidden == key
        {
            *depth -= 1;
            if *depth == 0 {
                self.undisplayed = None;
            }
        }
    }

    fn separate(&mut self) {
        if !self.text.as_bytes().last().is_some_and(u8::is_ascii_whitespace) {
            self.text.push(' ');
        }
    }

    fn close_block(&mut self) {
        self.block.end = self.text.len();
        if self.block.words > 0 && !self.in_title {
            self.blocks.push(self.block);
        }
        self.block = Block { start: self.text.len(), ..Block::default() };
    }

    fn main(&self) -> String {
        let at = |place: Option<usize>| {
            place.and_then(|place| self.blocks.get(place)).copied().unwrap_or_default()
        };
        let mut main = String::new();
        for place in 0..self.blocks.len() {
            let block = self.blocks[place];
            if counts(at(place.checked_sub(1)), block, at(Some(place + 1))) {
                main.push_str(self.text[block.start..block.end].trim());
                main.push('\n');
            }
        }
        if main.is_empty() { self.text.clone() } else { main }
    }
}

/// Words as a reader counts them: runs of letters and digits, and of scripts without spaces every two characters.
fn words(text: &str) -> usize {
    let (mut count, mut wide, mut inside) = (0, 0, false);
    for character in text.chars() {
        let is_wide = character >= '\u{2E80}' && character.is_alphanumeric();
        wide += usize::from(is_wide);
        let letter = character.is_alphanumeric() && !is_wide;
        count += usize::from(letter && !inside);
        inside = letter;
    }
    count + wide.div_ceil(2)
}

fn is_undisplayed(tag: &Tag<'_>) -> bool {
    tag.name.key == super::names::key(b"dialog") && tag.attributes.get("open").is_none()
        || tag
            .attributes
            .into_iter()
            .any(|attribute| is_not_displayed(&attribute) || styles(&attribute, "visibility:hidden"))
}

/// Elements without content.
static VOID: NameTable<bool> = NameTable::new(
    &[(
        &["area", "br", "col", "embed", "hr", "img", "input", "meta", "param", "source", "track", "wbr"],
        true,
    )],
    false,
);

/// Elements that end where the next of their name begins.
static ENDED_BY_NEXT: NameTable<bool> =
    NameTable::new(&[(&["dd", "dt", "li", "option", "p", "td", "th", "tr"], true)], false);

/// What an element means here.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Meaning {
    /// Its tags vanish.
    Joins,
    /// Its tags are white space inside a block.
    Inline,
    /// Any other element parts text.
    Other,
    Link,
    Hidden,
    Template,
    Title,
    Base,
    LinkElement,
}

static MEANINGS: NameTable<Meaning, 256> = NameTable::new(
    &[
        (&JOINING, Meaning::Joins),
        (&PHRASES, Meaning::Inline),
        (&["a"], Meaning::Link),
        (&UNSHOWN, Meaning::Hidden),
        (&["template"], Meaning::Template),
        (&["title"], Meaning::Title),
        (&["base"], Meaning::Base),
        (&["link"], Meaning::LinkElement),
    ],
    Meaning::Other,
);

/// The blocks that make up the layout.
static BLOCKS: NameTable<bool> = NameTable::new(
    &[(
        &[
            "article", "aside", "dd", "div", "dl", "dt", "figure", "footer", "form", "h1", "h2", "h3", "h4",
            "h5", "h6", "header", "hr", "li", "main", "nav", "ol", "p", "pre", "section", "table", "td",
            "th", "tr", "ul",
        ],
        true,
    )],
    false,
);

impl<'a> Sink<'a> for Reader {
    fn text(&mut self, raw: &'a str, kind: TextKind) {
        if self.template_depth > 0 || (kind == TextKind::Raw && self.raw_is_hidden) {
            return;
        }
        let from = self.text.len();
        if kind.has_references() && raw.contains('&') {
            let mut decoded = String::with_capacity(raw.len());
            references::decode_into(raw, false, &mut decoded);
            push_shown(&mut self.text, &decoded);
        } else {
            push_shown(&mut self.text, raw);
        }
        if self.undisplayed.is_some() {
            let end = self.text.len();
            match self.hidden.last_mut() {
                Some(last) if last.end == from => last.end = end,
                _ => self.hidden.push(from..end),
            }
        }
        if !self.in_title {
            let found = words(&self.text[from..]);
            self.block.words += found;
            self.block.linked += if self.in_link { found } else { 0 };
        }
    }

    fn start_tag(&mut self, tag: Tag<'a>) {
        let meaning = MEANINGS.get(tag.name.key);
        self.raw_is_hidden = meaning == Meaning::Hidden;
        if meaning == Meaning::Template {
            self.template_depth += usize::from(!(tag.foreign && tag.self_closing));
        }
        if self.template_depth == 0 {
            self.open_displayed(&tag, meaning);
        }
        if meaning == Meaning::Joins || self.template_depth > 0 {
            return;
        }
        self.separate();
        match meaning {
            Meaning::Inline | Meaning::Joins | Meaning::Hidden | Meaning::Template => {}
            // An `a` without an address is the goal of a link, and often left open.
            Meaning::Link => self.in_link = tag.attributes.get("href").is_some(),
            Meaning::Title if !tag.foreign => {
                self.close_block();
                self.in_title = true;
            }
            Meaning::Base if self.base.is_none() => {
                self.base = tag.attributes.get("href").map(|href| href.value().trim_ascii().to_owned());
            }
            Meaning::LinkElement if self.canonical.is_none() => {
                let is_canonical = tag.attributes.get("rel").is_some_and(|rel| {
                    rel.value().split_ascii_whitespace().any(|word| word.eq_ignore_ascii_case("canonical"))
                });
                if is_canonical {
                    let href = tag.attributes.get("href").map(|href| href.value().trim_ascii().to_owned());
                    self.canonical = href.filter(|href| !href.is_empty());
                }
            }
            _ => {
                self.close_block();
                if BLOCKS.get(tag.name.key) {
                    self.layout.push(tag.name.key);
                }
            }
        }
    }

    fn end_tag(&mut self, name: Name<'a>) {
        self.close_displayed(name.key);
        match MEANINGS.get(name.key) {
            Meaning::Joins => return,
            Meaning::Template => self.template_depth = self.template_depth.saturating_sub(1),
            Meaning::Title => {
                self.close_block();
                self.in_title = false;
                self.block = Block { start: self.text.len(), ..Block::default() };
            }
            Meaning::Link => self.in_link = false,
            Meaning::Inline | Meaning::Hidden => {}
            _ if self.template_depth == 0 => {
                self.separate();
                self.close_block();
            }
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
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::html::blocks::structure;
    use crate::html::names::key;
    use crate::html::visible::{Visible, extract};

    fn sentence(word: &str, count: usize) -> String {
        vec![word; count].join(" ")
    }

    #[test]
    fn menus_and_footers_are_not_main_content() {
        let html = format!(
            "<title>{t}</title><nav><ul><li><a href=/>Home</a><li><a href=/n>News of the day</a></ul></nav>\
             <h1>A heading</h1><p>{a}</p><p>{b} <a href=x>more</a></p>\
             <div class=footer><a href=/imprint>Imprint</a> <a href=/terms>Terms and conditions</a></div>",
            t = sentence("title", 20),
            a = sentence("first", 30),
            b = sentence("second", 25)
        );
        let page = anatomy(&html, None);
        for (word, expected) in
            [("title", 0), ("Home", 0), ("heading", 1), ("first", 30), ("second", 25), ("Imprint", 0)]
        {
            assert_eq!(page.main.matches(word).count(), expected, "{word}: {}", page.main);
        }
        assert!(page.text.contains("title") && page.text.contains("Imprint"));
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
            ("<img hidden>a<input hidden>b<br hidden>c", "a b c"),
            ("<div aria-hidden=true>a</div><i hidden>b</i>c", "a c"),
            ("<template><div hidden></template>a", "a"),
            ("<div hidden>a</span></div>b</div>c", "b c"),
        ] {
            let page = anatomy(html, None);
            assert_eq!(page.displayed.split_whitespace().collect::<Vec<_>>().join(" "), shown, "{html}");
            assert!(page.text.contains('a'), "{html}");
        }
    }

    #[test]
    fn the_goal_of_a_link_is_no_link() {
        let html = format!("<p>{}<p><a name=x />{}", sentence("first", 30), sentence("second", 25));
        assert_eq!(anatomy(&html, None).main.matches("second").count(), 25);
    }

    /// What ends a line is said twice, for main content and for the structure beside the text: alike for every element.
    #[test]
    fn the_same_elements_part_blocks_as_in_the_structure() {
        let names = "a abbr acronym address area article aside audio b basefont bdi bdo big blink blockquote br button \
            canvas caption center cite code col data dd del details dfn dialog dir div dl dt em embed fieldset figcaption \
            figure font footer form frame h1 h6 header hr i iframe img input ins kbd label legend li link main map mark \
            menu meta meter nav nobr noembed noframes noscript object ol optgroup option output p param picture pre \
            progress q rp rt ruby s samp script section select small source span strike strong style sub summary sup \
            table tbody td template textarea tfoot th thead time tr track tt u ul var video wbr";
        let mut inline = Vec::new();
        for name in names.split_whitespace() {
            let html = format!("<p>before<{name}></{name}>after");
            let mut reader = Reader::default();
            scan(&html, &mut reader);
            reader.close_block();
            let (mut page, mut segments) = (Visible::default(), Vec::new());
            structure(&html, &mut page, &mut segments);
            let begins = segments.iter().filter(|segment| segment.begins && segment.at > 0);
            let within = |at: usize| at >= page.text.find("before").unwrap() + 6;
            let parted = begins.filter(|segment| within(segment.at)).count() > 0;
            // A document's own parts: they stand where no text does.
            if !["base", "link"].contains(&name) {
                assert_eq!(reader.blocks.len() > 1, parted, "{name}");
            }
            inline.extend((!parted).then_some(name));
        }
        for name in JOINING.iter().chain(&PHRASES).chain(&UNSHOWN) {
            assert!(inline.contains(name), "{name}");
        }
    }

    #[test]
    fn where_nothing_counts_all_does() {
        let page = anatomy("<p>a short page</p>", None);
        assert_eq!(page.main.split_whitespace().collect::<Vec<_>>(), ["a", "short", "page"]);
    }

    #[test]
    fn the_layout_is_the_blocks_that_open() {
        let page = anatomy(
            "<div><p>a <b>b</b><span>c</span></p><script>d</script><template><p></template><UL><li>e",
            None,
        );
        assert_eq!(page.layout, [b"div".as_slice(), b"p", b"ul", b"li"].map(key));
    }

    #[test]
    fn the_first_canonical_address_counts() {
        let of = |html: &str, url: &str| anatomy(html, Url::parse(url).ok().as_ref()).canonical;
        let link = "<LINK REL='x Canonical' href=' b.html#c '><link rel=canonical href=/d>";
        assert_eq!(of(link, "http://a.example/d/e").as_deref(), Some("http://a.example/d/b.html"));
        assert_eq!(
            of(&format!("<base href=/f/>{link}"), "http://a.example/d/e").as_deref(),
            Some("http://a.example/f/b.html")
        );
        assert_eq!(of(link, "no address"), None);
        assert_eq!(of("<link rel=canonical href='javascript:x'>", "http://a.example/"), None);
        assert_eq!(of("<link rel=stylesheet href=y>", "http://a.example/"), None);
    }

    #[test]
    fn words_of_scripts_without_spaces() {
        assert_eq!((words("one two3, four"), words("東京都に"), words(" .-")), (3, 2, 0));
    }

    proptest! {
        /// The text is that of `visible`, whatever stands around it.
        #[test]
        fn the_text_is_the_visible_text(html in "(<(/?(p|b|a|li|title|template|script|textarea)|img src=x)>|[a-c& ;]|&amp;|é){0,40}") {
            let mut visible = Visible::default();
            extract(&html, &mut visible);
            let found = anatomy(&html, None).text;
            prop_assert_eq!(
                found.split_whitespace().collect::<Vec<_>>(),
                visible.text.split_whitespace().collect::<Vec<_>>()
            );
        }

        #[test]
        fn main_content_is_part_of_the_text(html in "(<(/?(p|b|a href=x|li|h1))>|[a-c]{1,5} ){0,60}") {
            let page = anatomy(&html, None);
            let all: Vec<&str> = page.text.split_whitespace().collect();
            let mut rest = all.iter();
            for word in page.main.split_whitespace() {
                prop_assert!(rest.any(|other| *other == word), "{word} in {all:?}");
            }
        }
    }
}
