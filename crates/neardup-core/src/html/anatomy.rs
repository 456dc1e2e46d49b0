//! What a page is made of, beside its terms: its text without images, its layout, its main content, and the address it
//! gives for its own.
//!
//! *Layout* is the sequence of block elements as they open. *Main content* is told from menus, lists of links and
//! footers by the shallow features of Kohlschütter, Fankhauser and Nejdl (Boilerplate Detection using Shallow Text
//! Features, 2010, Algorithm 2): a block is what [`super::blocks`] says, and it counts if it has enough words and few of
//! them in links, looking at the block before and the one after. It needs no tree, no language and no other page; where
//! no block counts, all of the text does. *Canonical* is the first `link rel=canonical`. Cost: one scan.

use url::Url;

use super::blocks::{Segment, place};
use super::elements::ELEMENTS;
use super::links::normalised;
use super::names::key;
use super::outline::{Outline, outline_with};
use super::scanner::Tag;

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
    let mut page = Outline::default();
    let (mut layout, mut canonical) = (Vec::new(), None);
    outline_with(html, &mut page, |tag| {
        if ELEMENTS.get(tag.name.key).layout {
            layout.push(tag.name.key);
        }
        if canonical.is_none() {
            canonical = canonical_address(tag);
        }
    });
    let canonical = canonical.and_then(|href| resolved(&href, page.page.base(), url));
    let main = main_content(&page.page.text, &page.segments);
    let displayed = page.displayed();
    Anatomy { text: page.page.text, displayed, layout, main, canonical }
}

/// The address that a `link rel=canonical` gives.
fn canonical_address(tag: &Tag<'_>) -> Option<String> {
    if tag.name.key != key(b"link") {
        return None;
    }
    let rel = tag.attributes.get("rel")?;
    if !rel.value().split_ascii_whitespace().any(|word| word.eq_ignore_ascii_case("canonical")) {
        return None;
    }
    let href = tag.attributes.get("href")?;
    let href = href.value().trim_ascii().to_owned();
    (!href.is_empty()).then_some(href)
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

/// The blocks of the text with words in them, the title left out.
fn blocks(text: &str, segments: &[Segment]) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut block = Block::default();
    let ends = segments.iter().skip(1).map(|next| next.at).chain([text.len()]);
    for (segment, end) in segments.iter().zip(ends) {
        if segment.begins {
            blocks.push(std::mem::replace(&mut block, Block { start: segment.at, ..Block::default() }));
        }
        block.end = end;
        if segment.place & place::TITLE == 0 {
            let count = words(&text[segment.at..end]);
            block.words += count;
            block.linked += if segment.place & place::LINK == 0 { 0 } else { count };
        }
    }
    blocks.push(block);
    blocks.retain(|block| block.words > 0);
    blocks
}

fn main_content(text: &str, segments: &[Segment]) -> String {
    let blocks = blocks(text, segments);
    let at = |place: Option<usize>| place.and_then(|place| blocks.get(place)).copied().unwrap_or_default();
    let mut main = String::new();
    for (place, &block) in blocks.iter().enumerate() {
        if counts(at(place.checked_sub(1)), block, at(Some(place + 1))) {
            main.push_str(text[block.start..block.end].trim());
            main.push('\n');
        }
    }
    if main.is_empty() { text.to_owned() } else { main }
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
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
    fn the_goal_of_a_link_is_no_link() {
        let html = format!("<p>{}<p><a name=x />{}", sentence("first", 30), sentence("second", 25));
        assert_eq!(anatomy(&html, None).main.matches("second").count(), 25);
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
