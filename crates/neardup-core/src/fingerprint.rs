//! What a method takes from pages, as one value that is checked once and computed of a batch: a row of numbers a page, or
//! a set of numbers a page.
//!
//! A fingerprint names its kernel and that kernel's parameters, so a new one is a variant here beside its kernel. Most
//! are of lists of numbers: of the tokens of a page, of the stream of its content, of its paragraphs ([`OfLists`]). Those
//! that look at letters are of its terms ([`OfTerms`]).

use crate::batch::{self, Lists, Shingling};
use crate::chunks::anchors::{self, Anchor};
use crate::chunks::texts::TermLists;
use crate::chunks::winnowing::Winnowing;
use crate::chunks::{Sets, breakpoints, bytes, paragraphs, positions, sets, smallest};
use crate::content::{Weigher, Weighing};
use crate::embeddings::fuzzy::Profile;
use crate::embeddings::stable::{self, Codes, Cut};
use crate::embeddings::weighted::{self, Frequencies, Sampler};
use crate::error::{Error, Result};
use crate::making::{Kind, Made, Maker, Workspace};
use crate::shingle::single;
use crate::statistics::lexicon::Lexicons;
use crate::statistics::members;
use crate::statistics::numbers::{Counted, Numbers};
use crate::{lanes, one_permutation};

/// Of all pages of a batch.
#[derive(Debug)]
pub enum Computed {
    /// Rows of `width` numbers, one behind another.
    Rows { width: usize, values: Vec<u64> },
    /// Ordered sets.
    Sets(Sets),
}

/// A fingerprint of lists of numbers.
#[derive(Clone, Copy, Debug)]
pub enum OfLists<'a> {
    /// One that is made while pages are read, too.
    Read(Kind),
    /// `count` min-values, each tagged with its function in the upper half.
    Minima { windows: Shingling, count: usize },
    /// `bits` bits of each of `count` min-values, packed.
    Packed { windows: Shingling, count: usize, bits: u32 },
    /// `count` bins of one permutation, densified.
    Bins { windows: Shingling, count: usize },
    /// `count` consistent samples of windows, weighted by how often they occur, and by their rarity if it is known.
    Samples { windows: Shingling, count: usize, frequencies: Option<Frequencies<'a>> },
    /// Codes of scalar products with random vectors.
    Codes(Codes),
    /// I-Match's signatures.
    Signatures(Lexicons<'a>),
    /// The smallest window of several.
    Winnowed(Winnowing),
    /// The stretches that end where a token's hash is 0 mod `modulus`.
    Stretches { modulus: usize },
    /// The windows whose last token's hash is 0 mod `modulus`.
    Ending { windows: Shingling, modulus: usize },
    /// The windows that start at every `step`-th token.
    Every { windows: Shingling, step: usize },
    /// `count` windows at random.
    Random { windows: Shingling, count: usize },
    /// The `count` smallest windows.
    Smallest { windows: Shingling, count: usize },
    /// The windows that are (`inside`) or are not among the members.
    Members { windows: Shingling, members: Numbers<'a>, inside: bool },
    /// The weighed elements of a stream of content; `pages`: on how many different pages of its site a cell is found.
    Content { weighing: Weighing, pages: Option<Counted<'a>> },
    /// The numbers of a list with their repetitions told apart.
    Repetitions,
}

/// A fingerprint of lists of terms.
#[derive(Debug)]
pub enum OfTerms<'a> {
    /// The windows whose first term begins with an anchor.
    Anchored { windows: Shingling, anchor: Anchor },
    /// The substrings of `length` bytes of the page's text whose hash is 0 mod `modulus`.
    Bytes { length: usize, modulus: usize },
    /// A code a scheme of how the terms' beginnings deviate from a language.
    Deviations { profile: &'a Profile, schemes: Vec<Vec<f64>>, rarest: f64 },
}

fn check(holds: bool, what: &'static str) -> Result<()> {
    if holds { Ok(()) } else { Err(Error::Parameter(what)) }
}

fn length(windows: Shingling) -> Result<()> {
    check(windows.k > 0, "n, the tokens of a chunk, must be at least 1")
}

fn positive(value: usize, what: &'static str) -> Result<()> {
    check(value > 0, what)
}

impl OfLists<'_> {
    /// Whether the parameters make sense.
    pub fn checked(self) -> Result<Self> {
        match self {
            OfLists::Read(kind) => {
                kind.checked()?;
            }
            OfLists::Minima { windows, count } | OfLists::Samples { windows, count, .. } => {
                length(windows)?;
                positive(count, "k must be at least 1")?;
            }
            OfLists::Packed { windows, count, bits } => {
                length(windows)?;
                positive(count, "m must be at least 1")?;
                check(matches!(bits, 1 | 2 | 4 | 8), "bits must be 1, 2, 4 or 8")?;
            }
            OfLists::Bins { windows, count } => {
                length(windows)?;
                check((1..1 << 31).contains(&count), "k must be at least 1 and below 2^31")?;
            }
            OfLists::Codes(Codes { codes, projections, cut }) => {
                check(codes > 0 && projections > 0, "codes and projections must be at least 1")?;
                let width = if let Cut::Intervals(width) = cut { width } else { 1.0 };
                check(width > 0.0 && width.is_finite(), "the width of intervals must be above 0")?;
            }
            OfLists::Signatures(_) | OfLists::Repetitions => {}
            OfLists::Winnowed(Winnowing { chunks, window }) => {
                length(chunks)?;
                positive(window, "w must be at least 1")?;
            }
            OfLists::Stretches { modulus } => positive(modulus, "n must be at least 1")?,
            OfLists::Ending { windows, modulus: every } | OfLists::Every { windows, step: every } => {
                length(windows)?;
                positive(every, "m must be at least 1")?;
            }
            OfLists::Random { windows, .. }
            | OfLists::Smallest { windows, .. }
            | OfLists::Members { windows, .. } => length(windows)?,
            OfLists::Content { weighing: Weighing { enough, title }, .. } => {
                check((0.0..=1.0).contains(&title) && enough > 0, "title is a share, and enough at least 1")?;
            }
        }
        Ok(self)
    }

    /// Of each list.
    pub fn compute(&self, lists: Lists<'_>) -> Computed {
        let mut buffer = Vec::new();
        let pages = lists.iter();
        let rows = |width, fill: &mut dyn FnMut(&[u64], &mut [u64])| Computed::Rows {
            width,
            values: batch::rows(lists.iter(), lists.len(), width, fill),
        };
        match *self {
            OfLists::Read(kind) => made(lists, kind),
            OfLists::Minima { windows, count } => {
                let minima = batch::minima(lists, windows, count);
                let tagged = |(at, value): (usize, u32)| ((at % count) as u64) << 32 | u64::from(value);
                Computed::Rows { width: count, values: minima.into_iter().enumerate().map(tagged).collect() }
            }
            OfLists::Packed { windows, count, bits } => {
                let (minima, width) = (batch::minima(lists, windows, count), lanes::width(count, bits));
                let pages = minima.chunks_exact(count);
                let values = batch::rows(pages, lists.len(), width, |page, row| lanes::pack(page, bits, row));
                Computed::Rows { width, values }
            }
            OfLists::Bins { windows, count } => rows(count, &mut |tokens, row| {
                windows.fill(tokens, &mut buffer);
                one_permutation::sketch(&buffer, row);
            }),
            OfLists::Samples { windows, count, frequencies } => {
                let (sampler, mut elements) = (Sampler::new(count), Vec::new());
                rows(count, &mut |tokens, row| {
                    windows.fill(tokens, &mut buffer);
                    weighted::elements(&mut buffer, frequencies, &mut elements);
                    sampler.page(tokens, &elements, row);
                })
            }
            OfLists::Codes(kind) => {
                let mut buffers = stable::Buffers::default();
                rows(kind.codes, &mut |tokens, row| kind.codes(tokens, &mut buffers, row))
            }
            OfLists::Signatures(lexicons) => rows(lexicons.randomised + 1, &mut |tokens, row| {
                lexicons.signatures(tokens, &mut buffer, row);
            }),
            OfLists::Winnowed(winnowing) => {
                Computed::Sets(sets(pages, |tokens, out| winnowing.select(tokens, &mut buffer, out)))
            }
            OfLists::Stretches { modulus } => {
                Computed::Sets(sets(pages, |tokens, out| breakpoints::select(tokens, modulus as u64, out)))
            }
            OfLists::Ending { windows, modulus } => Computed::Sets(sets(pages, |tokens, out| {
                breakpoints::ending(tokens, windows, modulus as u64, &mut buffer, out);
            })),
            OfLists::Every { windows, step } => Computed::Sets(sets(pages, |tokens, out| {
                positions::every(tokens, windows, step, &mut buffer, out);
            })),
            OfLists::Random { windows, count } => Computed::Sets(sets(pages, |tokens, out| {
                positions::random(tokens, windows, count, &mut buffer, out);
            })),
            OfLists::Smallest { windows, count } => Computed::Sets(sets(pages, |tokens, out| {
                smallest::select(tokens, windows, count, &mut buffer, out);
            })),
            OfLists::Members { windows, members, inside } => Computed::Sets(sets(pages, |tokens, out| {
                members::select(tokens, windows, members, inside, &mut buffer, out);
            })),
            OfLists::Content { weighing, pages } => content(lists, weighing, pages),
            OfLists::Repetitions => {
                Computed::Sets(sets(pages, |list, out| paragraphs::counted(list, &mut buffer, out)))
            }
        }
    }
}

fn made(lists: Lists<'_>, kind: Kind) -> Computed {
    if let Kind::Set { shingling } = kind {
        let (offsets, values) = batch::shingle_sets(lists, shingling);
        return Computed::Sets(Sets { offsets, values });
    }
    let mut work = Workspace::default();
    let mut maker = Maker::new(&[kind], 0, &mut work);
    lists.iter().for_each(|page| maker.page(page));
    match maker.made().pop() {
        Some(Made::Rows { width, values }) => Computed::Rows { width, values },
        _ => unreachable!("all kinds but sets are rows"),
    }
}

fn content(streams: Lists<'_>, weighing: Weighing, pages: Option<Counted<'_>>) -> Computed {
    let pages = |cell: u64| pages.and_then(|pages| pages.count(single(cell))).unwrap_or(1);
    let (mut made, mut weigher) = (Sets { offsets: vec![0], values: Vec::new() }, Weigher::default());
    for stream in streams.iter() {
        weigher.append(stream, weighing, pages, &mut made.values);
        made.offsets.push(made.values.len() as i64);
    }
    Computed::Sets(made)
}

impl OfTerms<'_> {
    /// Whether the parameters make sense.
    pub fn checked(self) -> Result<Self> {
        match &self {
            OfTerms::Anchored { windows, anchor } => {
                length(*windows)?;
                if let Anchor::Hashed { every, .. } = anchor {
                    check(*every > 0, "every must be at least 1")?;
                }
            }
            OfTerms::Bytes { length, modulus } => {
                positive(*length, "n must be at least 1")?;
                positive(*modulus, "m must be at least 1")?;
            }
            OfTerms::Deviations { schemes, .. } => {
                check(!schemes.is_empty(), "at least one scheme is needed")?;
            }
        }
        Ok(self)
    }

    /// Of each page's terms.
    pub fn compute(&self, terms: TermLists<'_>) -> Computed {
        match self {
            OfTerms::Anchored { windows, anchor } => {
                let mut buffers = anchors::Buffers::default();
                Computed::Sets(sets(terms.iter(), |terms, out| {
                    anchors::select(terms, *windows, anchor, &mut buffers, out);
                }))
            }
            OfTerms::Bytes { length, modulus } => {
                let mut text = Vec::new();
                Computed::Sets(sets(terms.iter(), |terms, out| {
                    terms.joined(&mut text);
                    bytes::select(&text, *length, *modulus as u64, out);
                }))
            }
            OfTerms::Deviations { profile, schemes, rarest } => {
                let (width, mut counts) = (schemes.len(), Vec::new());
                let values = batch::rows(terms.iter(), terms.len(), width, |page, row| {
                    profile.counts(page, &mut counts);
                    profile.codes(&counts, schemes, *rarest, row);
                });
                Computed::Rows { width, values }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::numbers::directory;

    const WINDOWS: Shingling = Shingling { k: 2, rabin: false };

    fn lists<'a>(offsets: &'a [i64], values: &'a [u64]) -> Lists<'a> {
        Lists { offsets, values }
    }

    /// All fingerprints of lists, with parameters that make sense.
    fn all<'a>(numbers: Numbers<'a>, counts: &'a [u32]) -> Vec<OfLists<'a>> {
        let frequencies = Frequencies { all: 3, elements: numbers, pages: counts };
        let pages = Counted { numbers, counts };
        let weighing = Weighing { enough: 30, title: 0.02 };
        let codes = |cut| OfLists::Codes(Codes { codes: 4, projections: 3, cut });
        vec![
            OfLists::Read(Kind::Keys { shingling: WINDOWS, count: 12, rows: 3 }),
            OfLists::Read(Kind::Bits { shingling: WINDOWS, bits: 64 }),
            OfLists::Read(Kind::Terms { bins: 128 }),
            OfLists::Read(Kind::Set { shingling: WINDOWS }),
            OfLists::Minima { windows: WINDOWS, count: 4 },
            OfLists::Packed { windows: WINDOWS, count: 100, bits: 2 },
            OfLists::Bins { windows: WINDOWS, count: 8 },
            OfLists::Samples { windows: WINDOWS, count: 5, frequencies: None },
            OfLists::Samples { windows: WINDOWS, count: 5, frequencies: Some(frequencies) },
            codes(Cut::Sign),
            codes(Cut::Intervals(0.5)),
            OfLists::Signatures(Lexicons {
                terms: numbers,
                unlisted: true,
                randomised: 2,
                left_out: 0.3,
                least: 1,
            }),
            OfLists::Winnowed(Winnowing { chunks: WINDOWS, window: 3 }),
            OfLists::Stretches { modulus: 2 },
            OfLists::Ending { windows: WINDOWS, modulus: 2 },
            OfLists::Every { windows: WINDOWS, step: 3 },
            OfLists::Random { windows: WINDOWS, count: 3 },
            OfLists::Smallest { windows: WINDOWS, count: 3 },
            OfLists::Members { windows: WINDOWS, members: numbers, inside: false },
            OfLists::Content { weighing, pages: None },
            OfLists::Content { weighing, pages: Some(pages) },
            OfLists::Repetitions,
        ]
    }

    /// What each page has of its own.
    fn by_page(computed: &Computed, pages: usize) -> Vec<Vec<u64>> {
        match computed {
            Computed::Rows { width, values } => {
                assert_eq!(values.len(), pages * width);
                values.chunks_exact(*width).map(<[u64]>::to_vec).collect()
            }
            Computed::Sets(Sets { offsets, values }) => {
                assert_eq!(offsets.len(), pages + 1);
                let lists: Vec<Vec<u64>> = Lists { offsets, values }.iter().map(<[u64]>::to_vec).collect();
                assert!(lists.iter().all(|set| set.is_sorted_by(|a, b| a < b)));
                lists
            }
        }
    }

    #[test]
    fn a_page_has_the_same_fingerprint_alone_as_among_others() {
        let numbers = [1 << 40, 1 << 50];
        let directory = directory(&numbers);
        let table = Numbers::new(&numbers, &directory).unwrap();
        let values: Vec<u64> = (0..40u64).map(|at| at * at % 17).collect();
        let offsets = [0, 0, 1, 15, 40];
        for fingerprint in all(table, &[2, 3]) {
            let fingerprint = fingerprint.checked().unwrap();
            let together = by_page(&fingerprint.compute(lists(&offsets, &values)), 4);
            for (page, ends) in offsets.windows(2).enumerate() {
                let alone = by_page(&fingerprint.compute(lists(ends, &values)), 1);
                assert_eq!(alone[0], together[page], "{fingerprint:?}");
            }
        }
    }

    #[test]
    fn tags_and_packed_bits_are_those_of_the_minima() {
        let values: Vec<u64> = (1..30).collect();
        let pages = lists(&[0, 10, 29], &values);
        let minima = batch::minima(pages, WINDOWS, 16);
        let tagged = by_page(&OfLists::Minima { windows: WINDOWS, count: 16 }.compute(pages), 2);
        let packed = by_page(&OfLists::Packed { windows: WINDOWS, count: 16, bits: 4 }.compute(pages), 2);
        for (page, minima) in minima.chunks_exact(16).enumerate() {
            for (at, &minimum) in minima.iter().enumerate() {
                assert_eq!(tagged[page][at], (at as u64) << 32 | u64::from(minimum));
            }
            let mut row = [0];
            lanes::pack(minima, 4, &mut row);
            assert_eq!(packed[page], row);
        }
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let none = Shingling { k: 0, rabin: false };
        let wrong = [
            OfLists::Read(Kind::Keys { shingling: WINDOWS, count: 2, rows: 3 }),
            OfLists::Read(Kind::Keys { shingling: WINDOWS, count: 2, rows: 0 }),
            OfLists::Read(Kind::Bits { shingling: WINDOWS, bits: 65 }),
            OfLists::Read(Kind::Terms { bins: 2048 }),
            OfLists::Read(Kind::Set { shingling: none }),
            OfLists::Minima { windows: none, count: 1 },
            OfLists::Minima { windows: WINDOWS, count: 0 },
            OfLists::Packed { windows: WINDOWS, count: 8, bits: 3 },
            OfLists::Bins { windows: WINDOWS, count: 0 },
            OfLists::Samples { windows: none, count: 1, frequencies: None },
            OfLists::Codes(Codes { codes: 1, projections: 0, cut: Cut::Sign }),
            OfLists::Codes(Codes { codes: 1, projections: 1, cut: Cut::Intervals(f64::NAN) }),
            OfLists::Winnowed(Winnowing { chunks: WINDOWS, window: 0 }),
            OfLists::Stretches { modulus: 0 },
            OfLists::Ending { windows: WINDOWS, modulus: 0 },
            OfLists::Every { windows: WINDOWS, step: 0 },
            OfLists::Random { windows: none, count: 1 },
            OfLists::Content { weighing: Weighing { enough: 0, title: 0.1 }, pages: None },
            OfLists::Content { weighing: Weighing { enough: 1, title: 1.1 }, pages: None },
        ];
        for fingerprint in wrong {
            assert!(fingerprint.checked().is_err(), "{fingerprint:?}");
        }
        assert!(OfTerms::Bytes { length: 0, modulus: 1 }.checked().is_err());
        assert!(
            OfTerms::Anchored { windows: WINDOWS, anchor: Anchor::Hashed { letters: 1, every: 0 } }
                .checked()
                .is_err()
        );
    }
}
