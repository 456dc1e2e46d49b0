//! What a page is about, as a set: shingles of its main text, weighted by where they stand and by how many other pages of
//! the site have them.
//!
//! Idea. A page is a list of *blocks* (what stands between two tags that end a line). Each is one of four classes: the
//! title; the *frame* (menus, headers and footers, dialogs, forms: by element, role, or because it is hidden); *links*
//! (more than half of the words are links); and *content*, the rest. Shingles never cross blocks, so that a line put
//! into the text changes no other line. What changes by itself ([`crate::noise`]) is one token.
//!
//! Weights are told by *consistent sampling*: an element of weight w < 1 is in the set if its own hash says so, with
//! probability w, on every page alike; one of weight n is in the set n times over, under n names. So the plain Jaccard
//! similarity of two such sets is, up to chance, Σ min(w, w′) / Σ max(w, w′), the weighted one of the elements, and
//! everything that joins and verifies sets works as it is. The content of most pages has weight 1: no chance there.
//!
//! - content: 1, or 2/d where d > [`COMMON`] differently titled pages of the site have the very same block;
//! - links: nothing where there is content enough ([`Weighing::enough`] elements), growing as it gets less;
//! - frame: nothing, unless there is nothing else;
//! - title: `title` (2 %) of all the content's weight together, so that another title counts on a short page and a long.
//!
//! A page's *stream* holds all that is needed for this before the site's statistics are known: words with their class
//! in the lowest byte, [`PAGE`] first, then each block and its elements. Sources: weights by what siblings share go back
//! to Yi, Liu & Li 2003 and Gibson, Punera & Tomkins 2005; link density to Finn et al. 2001; consistent sampling to
//! Broder 1997 and Manasse et al. 2010. Cost: one pass over the tokens, then one look-up a block.

use crate::format::{SEED_CONTENT, splitmix};
use crate::hash::{fold, fold_term, mix};
use crate::html::blocks::place;
use crate::noise::{Kind, NOISE, quieted};
use crate::ordered::Ordered;
use crate::page::BEGINS;
use crate::shingle::shingles;

/// Classes of words: what names the page (0: nothing does), a block, and the elements.
pub const PAGE: u64 = 0;
pub const BLOCK: u64 = 1;
pub const CONTENT: u64 = 2;
pub const LINKS: u64 = 3;
pub const FRAME: u64 = 4;
pub const TITLE: u64 = 5;
const CLASS: u64 = 0xFF;

/// Tokens of a shingle.
pub const LENGTH: usize = 5;
/// A block that more differently titled pages of a site have than this is common to them.
pub const COMMON: u32 = 2;
/// Weight 1.
const ONE: u64 = 1 << 16;
/// A title's elements are in the set at most so many times over.
const MOST_TIMES: u64 = 256;

const SAMPLE: u64 = splitmix(SEED_CONTENT, 1) | 1;
const TIMES: u64 = splitmix(SEED_CONTENT, 2) | 1;
const CHAIN: u64 = splitmix(SEED_CONTENT, 3) | 1;
const PICTURE: u64 = splitmix(SEED_CONTENT, 4);

/// Which ideas are used; all of them unless one is to be measured by leaving it out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ideas {
    pub structure: bool,
    pub noise: bool,
    pub title: bool,
}

impl Default for Ideas {
    fn default() -> Self {
        Ideas { structure: true, noise: true, title: true }
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
}

const FRAME_PLACES: u32 =
    (place::NAVIGATION | place::FOOTER | place::ASIDE | place::DIALOG | place::HIDDEN | place::CONTROL)
        as u32;

/// The class of a block by what its first token stands in and how many of its tokens are in links.
fn class(place: u32, linked: usize, tokens: usize, ideas: Ideas) -> u64 {
    let is = |places: u16| place & u32::from(places) != 0;
    if is(place::TITLE) {
        return if ideas.title { TITLE } else { FRAME };
    }
    if !ideas.structure {
        return CONTENT;
    }
    // The header of an article holds its headline; that of a page, its menu.
    let header = is(place::HEADER) && !is(place::MAIN | place::ARTICLE);
    if place & FRAME_PLACES != 0 || header {
        FRAME
    } else if 2 * linked > tokens {
        LINKS
    } else {
        CONTENT
    }
}

impl Streamer {
    /// Appends the stream of a page of the site to `out`.
    pub fn append(&mut self, page: Placed<'_>, site: Option<&str>, ideas: Ideas, out: &mut Vec<u64>) {
        let site = site.map(|site| fold_term(site.as_bytes()));
        let first = out.len();
        out.push(PAGE);
        let mut label = 0;
        let mut start = 0;
        while start < page.tokens.len() {
            let more = page.places[start + 1..].iter().position(|&place| u64::from(place) & BEGINS != 0);
            let end = more.map_or(page.tokens.len(), |more| start + 1 + more);
            let named = self.block(page, start..end, site, ideas, out);
            if label == 0 && named != 0 {
                label = named;
            }
            start = end;
        }
        // Without a site there is nothing to be learned from siblings.
        if let Some(site) = site
            && label != 0
        {
            out[first] = fold(label ^ site, CHAIN) & !CLASS | PAGE;
        }
    }

    /// One block; the hash of what it says if it is the title, else 0.
    fn block(
        &mut self,
        page: Placed<'_>,
        range: std::ops::Range<usize>,
        site: Option<u64>,
        ideas: Ideas,
        out: &mut Vec<u64>,
    ) -> u64 {
        let (tokens, places, kinds) =
            (&page.tokens[range.clone()], &page.places[range.clone()], &page.kinds[range]);
        let count = |place: u16| places.iter().filter(|&&of| of & u32::from(place) != 0).count();
        let pictures = count(place::IMAGE);
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
        let class = class(places[0], count(place::LINK), tokens.len(), ideas);
        let said = self.words.iter().fold(self.words.len() as u64 + 1, |sum, &word| fold(sum ^ word, CHAIN));
        // Blocks of pages without a site are common to none: 0 is never listed.
        out.push(site.map_or(0, |site| mix(said ^ site)) & !CLASS | BLOCK);
        let named = if places[0] & u32::from(place::TITLE) != 0 && !self.words.is_empty() { said } else { 0 };
        if class == TITLE {
            out.extend(
                self.words.iter().filter(|&&word| word != NOISE).map(|word| mix(*word) & !CLASS | TITLE),
            );
            return named;
        }
        self.shingles.clear();
        shingles(&self.words, LENGTH, &mut self.shingles);
        out.extend(self.shingles.iter().map(|shingle| shingle & !CLASS | class));
        if pictures > 0 {
            let picture = |(token, place): (&u64, &u32)| {
                (place & u32::from(place::IMAGE) != 0).then(|| mix(token ^ PICTURE) & !CLASS | class)
            };
            out.extend(tokens.iter().zip(places).filter_map(picture));
        }
        named
    }
}

/// What names the page among those of its site: equal for equal titles; 0 if it has no site or no title.
pub fn label(stream: &[u64]) -> u64 {
    stream.first().map_or(0, |word| word & !CLASS)
}

/// The blocks that are to be counted, as they are written in statistics.
pub fn blocks(stream: &[u64]) -> impl Iterator<Item = u64> + '_ {
    stream.iter().filter(|&&word| word & CLASS == BLOCK && word != BLOCK).map(|word| word & !CLASS)
}

/// How elements are weighed.
#[derive(Clone, Copy, Debug)]
pub struct Weighing {
    /// Weight of content from which on links count less, until twice as much leaves them none.
    pub enough: u32,
    /// The title's share of the content's weight.
    pub title: f64,
}

/// Makes sets of streams; holds the buffers that one page after another uses.
#[derive(Debug, Default)]
pub struct Weigher {
    ordered: Ordered,
    chosen: Vec<u64>,
}

/// The weight of what stands in a block that so many differently titled pages of the site have.
fn rarity(pages: u32) -> u64 {
    ONE * u64::from(COMMON) / u64::from(pages.max(COMMON))
}

/// Whether an element of this weight is in the set.
#[inline(always)]
fn sampled(element: u64, weight: u64) -> bool {
    weight >= ONE || mix(element ^ SAMPLE) >> 48 < weight
}

impl Weigher {
    /// Appends the set of a page to `out`, ascending; `pages` says on how many differently titled pages of its site a
    /// block is found, 1 for those that no statistics list.
    pub fn append(
        &mut self,
        stream: &[u64],
        weighing: Weighing,
        pages: impl Fn(u64) -> u32,
        out: &mut Vec<u64>,
    ) {
        let (mut content, mut titles) = (0, 0);
        let mut block = ONE;
        for &word in stream {
            match word & CLASS {
                BLOCK => block = rarity(pages(word & !CLASS)),
                CONTENT => content += block,
                TITLE => titles += 1,
                _ => {}
            }
        }
        let enough = u64::from(weighing.enough.max(1)) * ONE;
        let links = (2 * enough).saturating_sub(content).min(enough) * ONE / enough;
        let times =
            (weighing.title * (content as f64 / ONE as f64) / f64::from(titles.max(1))).round() as u64;
        let times = times.clamp(u64::from(weighing.title > 0.0), MOST_TIMES);
        self.chosen.clear();
        let mut block = ONE;
        for &word in stream {
            let element = word & !CLASS;
            match word & CLASS {
                BLOCK => block = rarity(pages(element)),
                CONTENT if sampled(element, block) => self.chosen.push(element),
                LINKS if links > 0 && sampled(element, block * links / ONE) => self.chosen.push(element),
                TITLE => self.chosen.extend((0..times).map(|time| mix(element ^ time.wrapping_mul(TIMES)))),
                _ => {}
            }
        }
        if self.chosen.is_empty() {
            self.chosen
                .extend(stream.iter().filter(|&&word| word & CLASS == FRAME).map(|word| word & !CLASS));
        }
        self.ordered.append(&self.chosen, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    const WEIGHING: Weighing = Weighing { enough: 30, title: 0.02 };

    fn set(stream: &[u64], pages: impl Fn(u64) -> u32) -> Vec<u64> {
        let mut out = Vec::new();
        Weigher::default().append(stream, WEIGHING, pages, &mut out);
        out
    }

    /// Two blocks of so many elements of content, the first of which so many pages have.
    fn two_blocks(common: u64, own: u64, seed: u64) -> Vec<u64> {
        let mut stream = vec![PAGE, mix(7) & !CLASS | BLOCK];
        stream.extend((0..common).map(|at| splitmix(1, at) & !CLASS | CONTENT));
        stream.push(mix(seed) & !CLASS | BLOCK);
        stream.extend((0..own).map(|at| splitmix(seed, at) & !CLASS | CONTENT));
        stream
    }

    #[test]
    fn what_siblings_share_counts_little() {
        let (a, b) = (two_blocks(1000, 20, 2), two_blocks(1000, 20, 3));
        let similarity = |d: u32| {
            let pages = |block: u64| if block == mix(7) & !CLASS { d } else { 1 };
            let (a, b): (BTreeSet<u64>, BTreeSet<u64>) =
                (set(&a, pages).into_iter().collect(), set(&b, pages).into_iter().collect());
            a.intersection(&b).count() as f64 / a.union(&b).count() as f64
        };
        assert!(similarity(1) > 0.95 && similarity(2) > 0.95);
        assert!(similarity(100) < 0.5 && similarity(1000) < 0.15);
        // The share of what is left is the weight: 2/d of 1000, within four standard deviations.
        let left = set(&a, |block| if block == mix(7) & !CLASS { 10 } else { 1 }).len() as f64 - 20.0;
        assert!((left - 200.0).abs() < 4.0 * (1000.0f64 * 0.2 * 0.8).sqrt(), "{left}");
    }

    fn streams() -> impl Strategy<Value = Vec<u64>> {
        let word = (0u64..60, prop::sample::select(vec![BLOCK, CONTENT, CONTENT, LINKS, FRAME, TITLE]));
        prop::collection::vec(word, 0..120).prop_map(|words| {
            let mut stream = vec![PAGE];
            stream.extend(words.into_iter().map(|(hash, class)| splitmix(5, hash) & !CLASS | class));
            stream
        })
    }

    /// The same by the definition: weights as fractions, a set of names.
    fn naive(stream: &[u64], pages: &impl Fn(u64) -> u32) -> Vec<u64> {
        let mut weighed: Vec<(u64, u64, f64)> = Vec::new();
        let mut rarity = 1.0;
        for &word in stream {
            let (element, class) = (word & !CLASS, word & CLASS);
            if class == BLOCK {
                rarity = 2.0 / f64::from(pages(element).max(2));
            } else if class != PAGE {
                weighed.push((element, class, rarity));
            }
        }
        let content: f64 = weighed.iter().filter(|of| of.1 == CONTENT).map(|of| of.2).sum();
        let titles = weighed.iter().filter(|of| of.1 == TITLE).count().max(1);
        let times = (0.02 * content / titles as f64).round().clamp(1.0, 256.0) as u64;
        let links = ((60.0 - content) / 30.0).clamp(0.0, 1.0);
        let chance = |element: u64| (mix(element ^ SAMPLE) >> 48) as f64 / ONE as f64;
        let mut names = BTreeSet::new();
        for &(element, class, rarity) in &weighed {
            match class {
                CONTENT if chance(element) < rarity => drop(names.insert(element)),
                LINKS if chance(element) < rarity * links => drop(names.insert(element)),
                TITLE => names.extend((0..times).map(|time| mix(element ^ time.wrapping_mul(TIMES)))),
                _ => {}
            }
        }
        if names.is_empty() {
            names.extend(weighed.iter().filter(|of| of.1 == FRAME).map(|of| of.0));
        }
        names.into_iter().collect()
    }

    proptest! {
        #[test]
        fn sets_are_what_the_weights_say(stream in streams(), common in 0u64..60, d in prop::sample::select(vec![1u32, 2, 4, 8, 64])) {
            let pages = |block: u64| if block < splitmix(5, common) { d } else { 1 };
            // Powers of two, so that fractions of weights are exact in both.
            let found = set(&stream, pages);
            let expected = naive(&stream, &pages);
            let differing = found.iter().filter(|of| !expected.contains(of)).count()
                + expected.iter().filter(|of| !found.contains(of)).count();
            // Links of a third, say, may round to either side of one step in 65,536.
            prop_assert!(differing <= usize::from(stream.iter().any(|word| word & CLASS == LINKS)));
            prop_assert!(found.windows(2).all(|pair| pair[0] < pair[1]));
        }

        #[test]
        fn what_more_pages_have_never_counts_for_more(stream in streams(), d in 1u32..50) {
            let content: Vec<u64> = stream.into_iter().filter(|word| matches!(word & CLASS, PAGE | BLOCK | CONTENT)).collect();
            let (few, many) = (set(&content, |_| d), set(&content, |_| d + 1));
            prop_assert!(many.iter().all(|element| few.contains(element)));
        }
    }

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
        Streamer::default().append(page, site, ideas, &mut out);
        out
    }

    #[test]
    fn blocks_are_told_apart_by_where_they_stand() {
        let words: &[u64] = &[1, 2, 3, 4, 5, 6];
        let of = |place: u16| {
            let made = stream(&[(words, u32::from(place))], Some("a.example"), Ideas::default());
            (made.len(), made.last().unwrap() & CLASS)
        };
        assert_eq!(of(0), (4, CONTENT));
        assert_eq!(of(place::MAIN | place::HEADER), (4, CONTENT));
        assert_eq!(of(place::HEADER), (4, FRAME));
        assert_eq!(of(place::NAVIGATION | place::LINK), (4, FRAME));
        assert_eq!(of(place::LINK), (4, LINKS));
        assert_eq!(of(place::TITLE), (8, TITLE));
        assert_eq!(of(place::IMAGE), (8, CONTENT));
        let plain = Ideas { structure: false, ..Ideas::default() };
        assert_eq!(stream(&[(words, u32::from(place::LINK))], None, plain)[2] & CLASS, CONTENT);
    }

    #[test]
    fn a_line_put_in_changes_no_other_line() {
        let (one, two): (&[u64], &[u64]) = (&[1, 2, 3, 4, 5, 6, 7], &[11, 12, 13, 14, 15, 16]);
        let set_of = |blocks: &[(&[u64], u32)]| set(&stream(blocks, None, Ideas::default()), |_| 1);
        let without = set_of(&[(one, 0), (two, 0)]);
        let with = set_of(&[(one, 0), (&[99], 0), (two, 0)]);
        assert_eq!(with.len(), without.len() + 1);
        assert!(without.iter().all(|element| with.contains(element)));
    }

    #[test]
    fn labels_are_of_titles_and_sites() {
        let page = |title: &[u64], site| {
            label(&stream(&[(title, u32::from(place::TITLE)), (&[5, 6], 0)], site, Ideas::default()))
        };
        assert_eq!(page(&[1, 2], Some("a")), page(&[1, 2], Some("a")));
        assert_ne!(page(&[1, 2], Some("a")), page(&[1, 3], Some("a")));
        assert_ne!(page(&[1, 2], Some("a")), page(&[1, 2], Some("b")));
        assert_eq!(page(&[1, 2], None), 0);
        assert_eq!(page(&[], Some("a")), 0);
        let alone = stream(&[(&[5, 6], 0)], None, Ideas::default());
        assert_eq!(blocks(&alone).count(), 0);
        assert_eq!(blocks(&stream(&[(&[5, 6], 0)], Some("a"), Ideas::default())).count(), 1);
    }
}
