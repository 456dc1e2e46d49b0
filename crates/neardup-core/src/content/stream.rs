//! A page's tokens with their places to its stream: classes of blocks, cells, shingles.

use super::{ADDRESS, BLOCK, CELL, CHAIN, CLASS, CONTENT, Class, FRAME, LENGTH, LINKS, PAGE, TITLE};
use crate::format::{MIN_TOKENS, SEED_CONTENT, splitmix};
use crate::hash::{fold, fold_term, mix};
use crate::html::blocks::place;
use crate::noise::{Kind, NOISE, quieted};
use crate::page::BEGINS;
use crate::saturation;
use crate::shingle::shingles;

const PICTURE: u64 = splitmix(SEED_CONTENT, 4);
const BREAK: u64 = splitmix(SEED_CONTENT, 5) | 1;

/// Where a page was found.
#[derive(Clone, Copy, Debug, Default)]
pub struct Found<'a> {
    pub site: Option<&'a str>,
    /// [`crate::address::address`].
    pub address: u64,
}

/// Which ideas are used; all of them unless one is to be measured by leaving it out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ideas {
    pub structure: bool,
    pub noise: bool,
    pub title: bool,
    /// What stands beside the element that is called the main one, or beside the article, is frame.
    pub main: bool,
}

impl Default for Ideas {
    fn default() -> Self {
        Ideas { structure: true, noise: true, title: true, main: true }
    }
}

/// A page's tokens, what each stands in ([`place`], [`BEGINS`]), and what kind it is.
#[derive(Clone, Copy, Debug)]
pub struct Placed<'a> {
    pub tokens: &'a [u64],
    pub places: &'a [u32],
    pub kinds: &'a [Kind],
}

/// Makes streams; holds the buffers that one page after another uses.
#[derive(Debug, Default)]
pub struct Streamer {
    words: Vec<u64>,
    shingles: Vec<u64>,
    blocks: Vec<Block>,
}

/// A block in the stream: where, its tokens on the page, what it stands in, its class, and how many elements of running
/// text it has.
#[derive(Debug)]
struct Block {
    range: std::ops::Range<usize>,
    tokens: std::ops::Range<usize>,
    place: u32,
    class: u64,
    elements: usize,
}

/// What the main text never stands in.
const FRAME_PLACES: u16 = place::NAVIGATION | place::FOOTER | place::ASIDE | place::DIALOG | place::CONTROL;

/// What makes a block part of the frame, or a title.
#[derive(Clone, Copy, Debug)]
struct Rules {
    ideas: Ideas,
    hidden: Hidden,
}

/// Which of the text that is hidden counts as if it were shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hidden {
    Nothing,
    /// The page hides most of its main text until somebody opens it.
    Main,
    /// The page shows nothing else: all of it stands hidden behind a dialog, as in a page rendered for a crawl.
    All,
}

impl Rules {
    fn of(page: Placed<'_>, ideas: Ideas) -> Self {
        let hidden = |place: &u32| place & u32::from(place::HIDDEN) != 0;
        let shown = Rules { ideas, hidden: Hidden::Nothing };
        if !ideas.structure || !page.places.iter().any(hidden) {
            return shown;
        }
        let within = |place: &u32| in_main(*place) && hidden(place);
        if page.places.iter().any(within) && unfolds(page, ideas) {
            return Rules { ideas, hidden: Hidden::Main };
        }
        if shown.shows_nothing(page) { Rules { ideas, hidden: Hidden::All } } else { shown }
    }

    /// Whether nothing of the page counts, or only a link that skips what is not there.
    fn shows_nothing(self, page: Placed<'_>) -> bool {
        let mut linked = 0;
        for range in blocks(page.places) {
            let places = &page.places[range];
            match self.class(places[0], count(places, place::LINK), places.len()) {
                CONTENT => return false,
                LINKS => linked += places.len(),
                _ => {}
            }
        }
        linked < MIN_TOKENS
    }

    /// The class of a block by what its first token stands in and how many of its tokens are in links.
    fn class(self, place: u32, linked: usize, tokens: usize) -> u64 {
        let is = |places: u16| place & u32::from(places) != 0;
        if is(place::TITLE) {
            return if self.ideas.title { TITLE } else { FRAME };
        }
        if !self.ideas.structure {
            return CONTENT;
        }
        // The header of an article holds its headline; that of a page, its menu.
        let header = is(place::HEADER) && !in_main(place);
        let counts = match self.hidden {
            Hidden::Nothing => false,
            Hidden::Main => in_main(place),
            Hidden::All => true,
        };
        let hidden = is(place::HIDDEN) && !counts;
        if is(FRAME_PLACES) || header || hidden {
            FRAME
        } else if 2 * linked > tokens {
            LINKS
        } else {
            CONTENT
        }
    }
}

fn in_main(place: u32) -> bool {
    place & u32::from(place::MAIN | place::ARTICLE) != 0
}

/// Whether more running text is hidden in the main element, or in articles, than the page shows: sections that a reader
/// unfolds one by one.
fn unfolds(page: Placed<'_>, ideas: Ideas) -> bool {
    let rules = Rules { ideas, hidden: Hidden::Main };
    let (mut hidden, mut shown) = (0, 0);
    for range in blocks(page.places) {
        let places = &page.places[range];
        if rules.class(places[0], count(places, place::LINK), places.len()) == CONTENT {
            let of = if places[0] & u32::from(place::HIDDEN) != 0 { &mut hidden } else { &mut shown };
            *of += places.len();
        }
    }
    hidden > shown
}

/// Where each block of a page stands among its tokens.
fn blocks(places: &[u32]) -> impl Iterator<Item = std::ops::Range<usize>> + '_ {
    let mut start = 0;
    std::iter::from_fn(move || {
        let rest = places.get(start + 1..)?;
        let more = rest.iter().position(|&place| u64::from(place) & BEGINS != 0);
        let end = more.map_or(places.len(), |more| start + 1 + more);
        Some(std::mem::replace(&mut start, end)..end)
    })
}

/// How many tokens stand in this place.
fn count(places: &[u32], place: u16) -> usize {
    places.iter().filter(|&&of| of & u32::from(place) != 0).count()
}

impl Streamer {
    /// Appends the stream of a page to `out`.
    pub fn append(&mut self, page: Placed<'_>, found: Found<'_>, ideas: Ideas, out: &mut Vec<u64>) {
        let site = found.site.map(|site| fold_term(site.as_bytes()));
        let first = out.len();
        out.extend([PAGE, mix(found.address) & !CLASS | ADDRESS]);
        self.blocks.clear();
        let rules = Rules::of(page, ideas);
        let mut label = 0;
        for range in blocks(page.places) {
            let (from, places) = (out.len(), &page.places[range.clone()]);
            let (tokens, place) = (range.clone(), places[0]);
            let class = rules.class(place, count(places, place::LINK), places.len());
            let named = self.block(page, range, site, class, ideas, out);
            if label == 0 && named != 0 {
                label = named;
            }
            let elements = out[from..].iter().filter(|&&word| word & CLASS == CONTENT).count();
            self.blocks.push(Block { range: from..out.len(), tokens, place, class, elements });
        }
        if ideas.structure && ideas.main {
            // Teasers of other articles stand in the main element, beside the article.
            self.narrow(place::MAIN, out);
            self.narrow(place::ARTICLE, out);
        }
        for class in [CONTENT, LINKS, FRAME] {
            self.tell_apart(class, &mut out[first..]);
        }
        // Without a site there is nothing to be learned from siblings.
        if let Some(site) = site {
            out[first] = fold(label ^ site, CHAIN) & !CLASS | PAGE;
        }
    }

    /// The blocks of the page that came last: its tokens, and their class.
    pub fn classes(&self) -> impl Iterator<Item = (std::ops::Range<usize>, Class)> + '_ {
        self.blocks.iter().map(|block| (block.tokens.clone(), Class::of(block.class)))
    }

    /// Makes frame of what stands beside this place. A page may call a part of itself the main one that is not: it must
    /// hold most of the running text.
    fn narrow(&mut self, place: u16, out: &mut [u64]) {
        let is_within = |block: &Block| block.place & u32::from(place) != 0;
        let all: usize = self.blocks.iter().map(|block| block.elements).sum();
        let within: usize =
            self.blocks.iter().filter(|block| is_within(block)).map(|block| block.elements).sum();
        if 2 * within <= all {
            return;
        }
        for block in self.blocks.iter_mut().filter(|block| !is_within(block)) {
            block.elements = 0;
            if matches!(block.class, CONTENT | LINKS) {
                block.class = FRAME;
            }
            for word in &mut out[block.range.clone()] {
                if matches!(*word & CLASS, CONTENT | LINKS) {
                    *word = *word & !CLASS | FRAME;
                }
            }
        }
    }

    /// The elements of a class, told apart where they saturate: in a table of few words, by what comes behind.
    fn tell_apart(&mut self, class: u64, out: &mut [u64]) {
        let of_class = |word: &u64| *word & CLASS == class;
        self.shingles.clear();
        self.shingles.extend(out.iter().copied().filter(of_class));
        saturation::tell_apart(&mut self.shingles);
        for (word, told) in out.iter_mut().filter(|word| of_class(word)).zip(&self.shingles) {
            *word = told & !CLASS | class;
        }
    }

    /// One block; the hash of what it says if it is the title, else 0.
    fn block(
        &mut self,
        page: Placed<'_>,
        range: std::ops::Range<usize>,
        site: Option<u64>,
        class: u64,
        ideas: Ideas,
        out: &mut Vec<u64>,
    ) -> u64 {
        let (tokens, places, kinds) =
            (&page.tokens[range.clone()], &page.places[range.clone()], &page.kinds[range]);
        let pictures = count(places, place::IMAGE);
        self.words.clear();
        if pictures == 0 && ideas.noise {
            quieted(tokens, kinds, &mut self.words);
        } else {
            let text = |at: &usize| places[*at] & u32::from(place::IMAGE) == 0;
            let at: Vec<usize> = (0..tokens.len()).filter(text).collect();
            let words: Vec<u64> = at.iter().map(|&at| tokens[at]).collect();
            if ideas.noise {
                let kinds: Vec<Kind> = at.iter().map(|&at| kinds[at]).collect();
                quieted(&words, &kinds, &mut self.words);
            } else {
                self.words.extend(words);
            }
        }
        let titled = places[0] & u32::from(place::TITLE) != 0 && !self.words.is_empty();
        let said = if titled { chain(&self.words) } else { 0 };
        if class == TITLE {
            out.push(cell(said, site));
            out.extend(
                self.words.iter().filter(|&&word| word != NOISE).map(|word| mix(*word) & !CLASS | TITLE),
            );
            return said;
        }
        self.shingles.clear();
        shingles(&self.words, LENGTH, &mut self.shingles);
        if class == FRAME {
            // Never weighed: nothing to be counted.
            out.extend(self.shingles.iter().map(|shingle| shingle & !CLASS | FRAME));
        } else {
            self.cells(class, site, out);
        }
        if pictures > 0 {
            for (token, _) in tokens.iter().zip(places).filter(|of| of.1 & u32::from(place::IMAGE) != 0) {
                let picture = mix(token ^ PICTURE);
                if class != FRAME {
                    out.push(cell(picture, site));
                }
                out.push(picture & !CLASS | class);
            }
        }
        said
    }

    /// The shingles of a block, each stretch of them behind the cell that it is.
    fn cells(&self, class: u64, site: Option<u64>, out: &mut Vec<u64>) {
        let mut rest = self.shingles.as_slice();
        while !rest.is_empty() {
            // The shingles say it, not the words: those of a stretch are settled by where it begins and ends.
            let more = rest[1..].iter().position(|&shingle| ends(shingle));
            let (these, others) = rest.split_at(more.map_or(rest.len(), |more| more + 1));
            out.push(cell(chain(these), site));
            out.extend(these.iter().map(|shingle| shingle & !CLASS | class));
            rest = others;
        }
    }
}

/// Whether a cell ends before this shingle.
#[inline(always)]
fn ends(shingle: u64) -> bool {
    shingle.wrapping_mul(BREAK) >> 32 & (CELL - 1) == 0
}

/// The hash of a row of words, or of shingles.
fn chain(words: &[u64]) -> u64 {
    words.iter().fold(words.len() as u64 + 1, |sum, &word| fold(sum ^ word, CHAIN))
}

/// The word of a cell. Those of pages without a site are common to none: 0 is never listed.
fn cell(said: u64, site: Option<u64>) -> u64 {
    site.map_or(0, |site| mix(said ^ site)) & !CLASS | BLOCK
}

#[cfg(test)]
mod tests {
    use super::super::{address, cells, label};
    use super::*;
    use proptest::prelude::*;

    fn stream(blocks: &[(&[u64], u32)], site: Option<&str>, ideas: Ideas) -> Vec<u64> {
        let (mut tokens, mut places) = (Vec::new(), Vec::new());
        for (words, place) in blocks {
            for (at, word) in words.iter().enumerate() {
                tokens.push(*word);
                places.push(place | if at == 0 { BEGINS as u32 } else { 0 });
            }
        }
        let kinds = vec![Kind::Word; tokens.len()];
        let mut out = Vec::new();
        let page = Placed { tokens: &tokens, places: &places, kinds: &kinds };
        Streamer::default().append(page, Found { site, address: 7 }, ideas, &mut out);
        out
    }

    #[test]
    fn blocks_are_told_apart_by_where_they_stand() {
        let words: &[u64] = &[1, 2, 3, 4, 5, 6];
        let of = |place: u16| {
            let made = stream(&[(words, u32::from(place))], Some("a.example"), Ideas::default());
            (made.len(), made.last().unwrap() & CLASS)
        };
        assert_eq!(of(0).1, CONTENT);
        assert_eq!(of(place::MAIN | place::HEADER).1, CONTENT);
        assert_eq!(of(place::HEADER), (4, FRAME));
        assert_eq!(of(place::NAVIGATION | place::LINK), (4, FRAME));
        assert_eq!(of(place::LINK).1, LINKS);
        assert_eq!(of(place::TITLE), (9, TITLE));
        // Every picture is a cell of its own.
        assert_eq!(of(place::IMAGE), (14, CONTENT));
        let plain = Ideas { structure: false, ..Ideas::default() };
        assert_eq!(stream(&[(words, u32::from(place::LINK))], None, plain)[3] & CLASS, CONTENT);
    }

    #[test]
    fn what_stands_beside_the_main_element_is_frame() {
        let (long, short): (&[u64], &[u64]) = (&[1, 2, 3, 4, 5, 6, 7, 8], &[11, 12, 13, 14, 15, 16]);
        let main = u32::from(place::MAIN);
        let classes = |blocks: &[(&[u64], u32)], ideas| -> Vec<u64> {
            let words = stream(blocks, None, ideas);
            words
                .iter()
                .map(|word| word & CLASS)
                .filter(|class| ![PAGE, ADDRESS, BLOCK].contains(class))
                .collect()
        };
        let all = Ideas::default();
        assert_eq!(classes(&[(long, main), (short, 0)], all), [vec![CONTENT; 4], vec![FRAME; 2]].concat());
        // Where the main element has little of the text, it is not what it says.
        assert_eq!(classes(&[(short, main), (long, 0)], all), [CONTENT; 6]);
        let without = Ideas { main: false, ..all };
        assert_eq!(classes(&[(long, main), (short, 0)], without), [CONTENT; 6]);
        // The same of an article, among what the main element has: not among all that the page has.
        let article = main | u32::from(place::ARTICLE);
        let both = [(&[1u64, 2, 3, 4, 5, 6, 7][..], article), (short, main), (short, 0)];
        assert_eq!(classes(&both, all), [vec![CONTENT; 3], vec![FRAME; 4]].concat());
        assert_eq!(classes(&[(short, article), (long, main)], all), [CONTENT; 6]);
        let alone = u32::from(place::ARTICLE);
        assert_eq!(classes(&[(short, 0), (long, alone)], all), [vec![FRAME; 2], vec![CONTENT; 4]].concat());
    }

    #[test]
    fn main_text_that_unfolds_is_content() {
        let (long, short): (&[u64], &[u64]) = (&[1, 2, 3, 4, 5, 6, 7, 8], &[11, 12, 13, 14, 15, 16]);
        let hidden = place::HIDDEN | place::MAIN;
        let last = |blocks: &[(&[u64], u16)]| {
            let placed: Vec<_> = blocks.iter().map(|(words, place)| (*words, u32::from(*place))).collect();
            stream(&placed, None, Ideas::default()).last().unwrap() & CLASS
        };
        assert_eq!(last(&[(short, place::MAIN), (long, hidden)]), CONTENT);
        // Where more is shown, what is hidden is something else; so it is outside of the main element.
        assert_eq!(last(&[(long, place::MAIN), (short, hidden)]), FRAME);
        assert_eq!(last(&[(short, 0), (long, place::HIDDEN)]), FRAME);
        // A menu that is hidden in it counts for nothing.
        assert_eq!(last(&[(short, place::MAIN), (long, hidden | place::NAVIGATION)]), FRAME);
    }

    #[test]
    fn where_nothing_is_shown_what_is_hidden_is_content() {
        let (long, short): (&[u64], &[u64]) = (&[1, 2, 3, 4, 5, 6, 7, 8], &[11, 12, 13]);
        let last = |blocks: &[(&[u64], u16)]| {
            let placed: Vec<_> = blocks.iter().map(|(words, place)| (*words, u32::from(*place))).collect();
            stream(&placed, None, Ideas::default()).last().unwrap() & CLASS
        };
        let hidden = (long, place::HIDDEN);
        assert_eq!(last(&[(short, place::TITLE), (long, place::DIALOG), hidden]), CONTENT);
        // A link to the main text is nothing, a list of links is something; so is a word, or a picture.
        assert_eq!(last(&[(short, place::LINK), hidden]), CONTENT);
        assert_eq!(last(&[(long, place::LINK), hidden]), FRAME);
        assert_eq!(last(&[(&[5], 0), hidden]), FRAME);
        assert_eq!(last(&[(&[5], place::IMAGE), hidden]), FRAME);
        // What is hidden and a menu stays a menu.
        assert_eq!(last(&[hidden, (long, place::HIDDEN | place::NAVIGATION)]), FRAME);
    }

    #[test]
    fn a_line_put_in_changes_no_other_line() {
        let (one, two): (&[u64], &[u64]) = (&[1, 2, 3, 4, 5, 6, 7], &[11, 12, 13, 14, 15, 16]);
        let elements = |blocks: &[(&[u64], u32)]| -> Vec<u64> {
            let made = stream(blocks, None, Ideas::default());
            made.into_iter().filter(|word| word & CLASS == CONTENT).collect()
        };
        let without = elements(&[(one, 0), (two, 0)]);
        let with = elements(&[(one, 0), (&[99], 0), (two, 0)]);
        assert_eq!(with.len(), without.len() + 1);
        assert!(without.iter().all(|element| with.contains(element)));
    }

    #[test]
    fn labels_are_of_titles_and_sites() {
        let page = |title: &[u64], site| {
            stream(&[(title, u32::from(place::TITLE)), (&[5, 6], 0)], site, Ideas::default())
        };
        let of = |title: &[u64], site| label(&page(title, site));
        assert_eq!(of(&[1, 2], Some("a")), of(&[1, 2], Some("a")));
        assert_ne!(of(&[1, 2], Some("a")), of(&[1, 3], Some("a")));
        assert_ne!(of(&[1, 2], Some("a")), of(&[1, 2], Some("b")));
        assert_eq!(of(&[1, 2], None), 0);
        // A page without a title has a label too: that of all such pages.
        assert_eq!(of(&[], Some("a")), label(&stream(&[(&[7], 0)], Some("a"), Ideas::default())));
        assert_ne!(address(&page(&[1], Some("a"))), 0);
        let alone = stream(&[(&[5, 6], 0)], None, Ideas::default());
        assert_eq!(cells(&alone).count(), 0);
        assert_eq!(cells(&stream(&[(&[5, 6], 0)], Some("a"), Ideas::default())).count(), 1);
    }

    #[test]
    fn a_name_in_a_long_sentence_leaves_most_cells_as_they_are() {
        let words: Vec<u64> = (0..400).map(|at| splitmix(8, at)).collect();
        let mut named = words.clone();
        named[200] = 5;
        let of = |words: &[u64]| -> Vec<u64> {
            cells(&stream(&[(words, 0)], Some("a"), Ideas::default())).collect()
        };
        let (plain, other) = (of(&words), of(&named));
        // About one shingle in eight begins a cell: 49.5 of 396, within four standard deviations.
        assert!((plain.len() as f64 - 49.5).abs() < 4.0 * (396.0f64 * 7.0 / 64.0).sqrt(), "{}", plain.len());
        let lost = plain.iter().filter(|cell| !other.contains(cell)).count();
        assert!((1..=4).contains(&lost), "{lost}");
    }

    proptest! {
        /// The cells by the definition: a stretch ends where a shingle says so, and is all its shingles in a row.
        #[test]
        fn cells_are_stretches_of_shingles(words in prop::collection::vec(0u64..40, 1..120)) {
            let made = stream(&[(words.as_slice(), 0)], Some("a"), Ideas::default());
            let mut all = Vec::new();
            shingles(&words, LENGTH, &mut all);
            let site = fold_term(b"a");
            let mut stretches: Vec<Vec<u64>> = Vec::new();
            for shingle in all {
                match stretches.last_mut() {
                    Some(last) if shingle.wrapping_mul(BREAK) >> 32 & 7 != 0 => last.push(shingle),
                    _ => stretches.push(vec![shingle]),
                }
            }
            let mut expected = Vec::new();
            for stretch in stretches {
                let said = stretch.iter().fold(stretch.len() as u64 + 1, |sum, word| fold(sum ^ word, CHAIN));
                expected.push(mix(said ^ site) & !CLASS | BLOCK);
                expected.extend(stretch.iter().map(|shingle| shingle & !CLASS | CONTENT));
            }
            prop_assert_eq!(&made[2..], &expected[..]);
        }
    }
}
