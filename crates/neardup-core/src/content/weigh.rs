//! A stream to the set that says what the page is about.
//!
//! Weights are told by *consistent sampling*: an element of weight w < 1 is in the set if its own hash says so, with
//! probability w, on every page alike; one of weight n is in the set n times over, under n names. So the plain Jaccard
//! similarity of two such sets is, up to chance, Σ min(w, w′) / Σ max(w, w′), the weighted one of the elements, and
//! everything that joins and verifies sets works as it is. The content of most pages has weight 1: no chance there.
//!
//! - content: 1, or 2/d where d > [`COMMON`] different pages of the site have the very same cell; where little is left
//!   of a page, what it shares counts for more, lest two or three elements decide;
//! - links: the same, but nothing where there is content enough ([`Weighing::enough`]), growing as it gets less;
//! - frame: nothing, unless there is nothing else but a title;
//! - title: `title` (2 %) of all the content's weight together, but each of its words at least 1, so that another title
//!   counts on a short page and a long; 2/d of that where d different pages have it. Beside frame, half of all.

use super::{BLOCK, CLASS, CONTENT, FRAME, LINKS, TITLE};
use crate::format::{SEED_CONTENT, splitmix};
use crate::hash::mix;
use crate::ordered::Ordered;

/// A cell that more different pages of a site have than this is common to them.
pub const COMMON: u32 = 2;
/// Weight 1.
const ONE: u64 = 1 << 16;
/// A title's elements are in the set at most so many times over.
const MOST_TIMES: u64 = 256;

const SAMPLE: u64 = splitmix(SEED_CONTENT, 1) | 1;
const TIMES: u64 = splitmix(SEED_CONTENT, 2) | 1;

/// How elements are weighed.
#[derive(Clone, Copy, Debug)]
pub struct Weighing {
    /// Weight of content from which on links count less, until twice as much leaves them none; below it, what the site
    /// shares counts for more.
    pub enough: u32,
    /// The title's share of the content's weight.
    pub title: f64,
}

/// Makes sets of streams; holds the buffers that one page after another uses.
#[derive(Debug, Default)]
pub struct Weigher {
    ordered: Ordered,
    /// The weight of each cell of the page, in order.
    cells: Vec<u64>,
    chosen: Vec<u64>,
}

/// The weight of what stands in a cell that so many different pages of the site have.
fn rarity(pages: u32) -> u64 {
    (ONE * u64::from(COMMON) / u64::from(pages.max(COMMON))).max(1)
}

/// Whether an element of this weight is in the set.
#[inline(always)]
fn sampled(element: u64, weight: u64) -> bool {
    weight >= ONE || mix(element ^ SAMPLE) >> 48 < weight
}

impl Weigher {
    /// Appends the set of a page to `out`, ascending; `pages` says on how many different pages of its site a cell is
    /// found, 1 for those that no statistics list.
    pub fn append(
        &mut self,
        stream: &[u64],
        weighing: Weighing,
        pages: impl Fn(u64) -> u32,
        out: &mut Vec<u64>,
    ) {
        let (mut content, mut elements, mut titles, mut framed) = (0, 0, 0, 0);
        let mut cell = ONE;
        self.cells.clear();
        for &word in stream {
            match word & CLASS {
                BLOCK => {
                    cell = rarity(pages(word & !CLASS));
                    self.cells.push(cell);
                }
                CONTENT => {
                    content += cell;
                    elements += 1;
                }
                TITLE => titles += 1,
                FRAME => framed += 1,
                _ => {}
            }
        }
        let enough = u64::from(weighing.enough.max(1));
        let links = (2 * enough * ONE).saturating_sub(content).min(enough * ONE) / enough;
        let wanted = enough.min(elements) * ONE;
        let lift = if content < wanted { wanted * ONE / content } else { ONE };
        let counted = stream.iter().any(|&word| matches!(word & CLASS, CONTENT | LINKS));
        // The share of the title, of what it stands beside.
        let beside = if counted { weighing.title * content as f64 / ONE as f64 } else { f64::from(framed) };
        let times = (beside / f64::from(titles.max(1))).round() as u64;
        let times = times.clamp(1, MOST_TIMES) * u64::from(weighing.title > 0.0);
        self.chosen.clear();
        let mut cells = self.cells.iter();
        let (mut alone, mut lifted) = (ONE, ONE);
        for &word in stream {
            let element = word & !CLASS;
            match word & CLASS {
                BLOCK => {
                    alone = cells.next().copied().unwrap_or(ONE);
                    lifted = (alone * lift / ONE).min(ONE);
                }
                CONTENT if sampled(element, lifted) => self.chosen.push(element),
                LINKS if links > 0 && sampled(element, lifted * links / ONE) => self.chosen.push(element),
                FRAME if !counted => self.chosen.push(element),
                TITLE => {
                    let names = (0..times).map(|time| mix(element ^ time.wrapping_mul(TIMES)));
                    self.chosen.extend(names.filter(|&name| sampled(name, alone)));
                }
                _ => {}
            }
        }
        self.ordered.append(&self.chosen, out);
    }
}

#[cfg(test)]
mod tests {
    use super::super::PAGE;
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

    /// The same by the definition: a weight for each element, a set of names.
    fn naive(stream: &[u64], pages: &impl Fn(u64) -> u32) -> Vec<u64> {
        let mut weighed: Vec<(u64, u64, u64)> = Vec::new();
        let mut rarity = ONE;
        for &word in stream {
            let (element, class) = (word & !CLASS, word & CLASS);
            if class == BLOCK {
                rarity = 2 * ONE / u64::from(pages(element).max(2));
            } else if class != PAGE {
                weighed.push((element, class, rarity));
            }
        }
        let of_content: Vec<u64> = weighed.iter().filter(|of| of.1 == CONTENT).map(|of| of.2).collect();
        let content: u64 = of_content.iter().sum();
        let titles = weighed.iter().filter(|of| of.1 == TITLE).count().max(1);
        let of_class = |wanted: u64| weighed.iter().filter(|of| of.1 == wanted).count();
        let only_frame = of_class(CONTENT) + of_class(LINKS) == 0;
        let share = if only_frame { of_class(FRAME) as f64 } else { 0.02 * content as f64 / ONE as f64 };
        let times = (share / titles as f64).round().clamp(1.0, 256.0) as u64;
        let links = (60 * ONE - content.min(60 * ONE)).min(30 * ONE) / 30;
        let least = ONE * of_content.len().min(30) as u64;
        let lift = if content < least { least * ONE / content } else { ONE };
        let is_in = |element: u64, weight: u64| mix(element ^ SAMPLE) >> 48 < weight;
        let mut names = BTreeSet::new();
        for &(element, class, rarity) in &weighed {
            let lifted = ONE.min(rarity * lift / ONE);
            match class {
                CONTENT if is_in(element, lifted) => drop(names.insert(element)),
                LINKS if is_in(element, lifted * links / ONE) => drop(names.insert(element)),
                FRAME if only_frame => drop(names.insert(element)),
                TITLE => names.extend(
                    (0..times)
                        .map(|time| mix(element ^ time.wrapping_mul(TIMES)))
                        .filter(|&name| is_in(name, rarity)),
                ),
                _ => {}
            }
        }
        names.into_iter().collect()
    }

    proptest! {
        #[test]
        fn sets_are_what_the_weights_say(stream in streams(), common in 0u64..60, d in 1u32..100) {
            let pages = |cell: u64| if cell < splitmix(5, common) { d } else { 1 };
            let found = set(&stream, pages);
            prop_assert_eq!(&found, &naive(&stream, &pages));
            prop_assert!(found.windows(2).all(|pair| pair[0] < pair[1]));
        }

        #[test]
        fn what_more_pages_have_never_counts_for_more(rest in streams(), own in 30u64..60, d in 1u32..50) {
            // A page with enough of its own, so that nothing is lifted.
            let mut stream = vec![PAGE, mix(1) & !CLASS | BLOCK];
            stream.extend((0..own).map(|at| splitmix(9, at) & !CLASS | CONTENT));
            stream.push(mix(2) & !CLASS | BLOCK);
            stream.extend(rest.into_iter().filter(|word| word & CLASS == CONTENT));
            let with = |d: u32| set(&stream, |cell| if cell == mix(2) & !CLASS { d } else { 1 });
            let (few, many) = (with(d), with(d + 1));
            prop_assert!(many.iter().all(|element| few.contains(element)));
        }
    }

    #[test]
    fn a_page_of_nothing_but_what_all_share_is_still_about_something() {
        let page = two_blocks(200, 0, 2);
        let size = set(&page, |_| 10_000).len() as f64;
        // Thirty elements, within four standard deviations.
        assert!((size - 30.0).abs() < 4.0 * 30.0f64.sqrt(), "{size}");
    }

    #[test]
    fn beside_frame_alone_the_title_is_half() {
        let page = |title: u64, frame: u64| {
            let mut stream = vec![PAGE, mix(4) & !CLASS | BLOCK];
            stream.extend((0..4).map(|at| splitmix(title, at) & !CLASS | TITLE));
            stream.extend((0..100).map(|at| splitmix(frame, at) & !CLASS | FRAME));
            set(&stream, |_| 1).into_iter().collect::<BTreeSet<u64>>()
        };
        let similarity = |a: &BTreeSet<u64>, b: &BTreeSet<u64>| {
            a.intersection(b).count() as f64 / a.union(b).count() as f64
        };
        assert_eq!(page(1, 2).len(), 200);
        // Neither pages of one title nor pages of one menu are alike.
        assert!(similarity(&page(1, 2), &page(1, 3)) < 0.4);
        assert!(similarity(&page(1, 2), &page(3, 2)) < 0.4);
    }

    #[test]
    fn a_title_is_the_share_it_is_said_to_be_or_one_a_word() {
        for (words, own, expected) in [(8, 65, 8), (8, 1000, 24), (4, 10_000, 200), (0, 50, 0)] {
            let mut stream = two_blocks(0, own, 2);
            stream.push(mix(4) & !CLASS | BLOCK);
            stream.extend((0..words).map(|at| splitmix(6, at) & !CLASS | TITLE));
            assert_eq!(set(&stream, |_| 1).len() as u64, own + expected, "{words} beside {own}");
        }
    }

    #[test]
    fn a_title_that_all_pages_have_names_none() {
        let titled: Vec<u64> = two_blocks(0, 1000, 2)
            .into_iter()
            .chain([mix(4) & !CLASS | BLOCK])
            .chain((0..4).map(|at| splitmix(6, at) & !CLASS | TITLE))
            .collect();
        let extra = |d: u32| set(&titled, |cell| if cell == mix(4) & !CLASS { d } else { 1 }).len() - 1000;
        assert_eq!((extra(1), extra(100_000)), (20, 0));
    }
}
