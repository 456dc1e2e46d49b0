//! Fingerprints of one page after another, each page's while its tokens are in the nearest cache.
//!
//! The tokens of a batch take more room than its text. Written out, and read again for every fingerprint, they would
//! pass through memory each time; those of a page are some kilobytes, and shingles that several fingerprints are made of
//! are made once.

use crate::batch::Shingling;
use crate::error::{Error, Result};
use crate::minhash::{Functions, group_keys};
use crate::ordered::Ordered;
use crate::parity;
use crate::projection::Projection;
use crate::term_sketch::{MOST_BINS, TermSketch};

/// A fingerprint that tokens alone decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// One key for each group of `rows` of a page's `count` min-values: supershingles, keys of bands.
    Keys { shingling: Shingling, count: usize, rows: usize },
    /// A sketch of `bits` bits, over tokens (`k` = 1) or shingles.
    Bits { shingling: Shingling, bits: usize },
    /// A sketch of the distinct tokens, a bit for each of so many bins.
    Terms { bins: usize },
    /// The ordered set of shingles, and its parity.
    Set { shingling: Shingling },
}

impl Kind {
    /// Whether the parameters make sense.
    pub fn checked(self) -> Result<Self> {
        let (length, what) = match self {
            Kind::Keys { shingling, count, rows } => (
                shingling.k,
                (rows == 0 || count < rows).then_some("rows must be between 1 and the number of min-values"),
            ),
            Kind::Bits { shingling, bits } => (
                shingling.k,
                (bits == 0 || !bits.is_multiple_of(64)).then_some("bits must be a multiple of 64"),
            ),
            Kind::Terms { bins } => {
                let wrong = bins == 0 || !bins.is_multiple_of(64) || bins > MOST_BINS;
                (1, wrong.then_some("bins must be a multiple of 64 and at most 1024"))
            }
            Kind::Set { shingling } => (shingling.k, None),
        };
        match what {
            Some(what) => Err(Error::Parameter(what)),
            None if length == 0 => Err(Error::Parameter("n, the tokens of a chunk, must be at least 1")),
            None => Ok(self),
        }
    }
}

/// What was made of all pages: rows of `width` numbers, or lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Made {
    Rows { width: usize, values: Vec<u64> },
    Sets { sets: (Vec<i64>, Vec<u64>), parities: (Vec<i64>, Vec<u64>) },
}

#[derive(Debug)]
enum Step {
    Keys { shingling: Shingling, rows: usize, functions: Functions, minima: Vec<u32>, keys: Vec<u64> },
    Bits { shingling: Shingling, projection: Projection, sketches: Vec<u64> },
    Terms { sketch: TermSketch, sketches: Vec<u64> },
}

/// The sets of the pages so far, and their parities.
#[derive(Debug)]
struct Sets {
    shingling: Shingling,
    sets: (Vec<i64>, Vec<u64>),
    parities: (Vec<i64>, Vec<u64>),
}

impl Sets {
    /// The set of the page that came last.
    fn last(&self) -> &[u64] {
        let (offsets, values) = &self.sets;
        &values[offsets[offsets.len() - 2] as usize..]
    }
}

/// Tokens of ordinary pages to a word of their parities.
const TOKENS_A_WORD: usize = 32;

/// Takes pages and makes all their fingerprints.
#[derive(Debug)]
pub struct Maker<'a> {
    kinds: Vec<Kind>,
    sets: Vec<Sets>,
    others: Vec<Step>,
    work: &'a mut Workspace,
}

/// Buffers that one maker after another uses.
#[derive(Debug, Default)]
pub struct Workspace {
    shingles: Shingles,
    ordered: Ordered,
}

impl Workspace {
    /// The bytes of its buffers.
    pub fn nbytes(&self) -> usize {
        self.shingles.values.capacity() * size_of::<u64>() + self.ordered.nbytes()
    }
}

/// The shingles of a page, made once for steps that want the same.
#[derive(Debug, Default)]
struct Shingles {
    made: Option<Shingling>,
    values: Vec<u64>,
}

impl Shingles {
    fn of(&mut self, shingling: Shingling, tokens: &[u64]) -> &[u64] {
        if self.made != Some(shingling) {
            shingling.fill(tokens, &mut self.values);
            self.made = Some(shingling);
        }
        &self.values
    }
}

impl<'a> Maker<'a> {
    /// For about so many tokens in all.
    pub fn new(kinds: &[Kind], tokens: usize, work: &'a mut Workspace) -> Self {
        let (mut sets, mut others) = (Vec::new(), Vec::new());
        for &kind in kinds {
            match kind {
                Kind::Keys { shingling, count, rows } => others.push(Step::Keys {
                    shingling,
                    rows,
                    functions: Functions::new(count),
                    minima: vec![u32::MAX; count],
                    keys: Vec::new(),
                }),
                Kind::Bits { shingling, bits } => others.push(Step::Bits {
                    shingling,
                    projection: Projection::new(bits),
                    sketches: Vec::new(),
                }),
                Kind::Terms { bins } => {
                    others.push(Step::Terms { sketch: TermSketch::new(bins), sketches: Vec::new() });
                }
                Kind::Set { shingling } => sets.push(Sets {
                    shingling,
                    sets: (vec![0], Vec::with_capacity(tokens)),
                    parities: (vec![0], Vec::with_capacity(tokens / TOKENS_A_WORD)),
                }),
            }
        }
        Maker { kinds: kinds.to_vec(), sets, others, work }
    }

    /// Makes the fingerprints of the next page.
    pub fn page(&mut self, tokens: &[u64]) {
        let Workspace { shingles: made, ordered } = &mut *self.work;
        made.made = None;
        for Sets { shingling, sets: (offsets, values), parities } in &mut self.sets {
            let from = values.len();
            shingling.append_set(tokens, &mut made.values, ordered, values);
            made.made = Some(*shingling);
            offsets.push(values.len() as i64);
            parity::append(&values[from..], &mut parities.1);
            parities.0.push(parities.1.len() as i64);
        }
        for step in &mut self.others {
            match step {
                Step::Keys { shingling, rows, functions, minima, keys } => {
                    // What repeats changes no minimum: where there is a set, it is the shorter list.
                    let shingles = match self.sets.iter().find(|sets| sets.shingling == *shingling) {
                        Some(sets) => sets.last(),
                        None => made.of(*shingling, tokens),
                    };
                    if shingles.is_empty() {
                        minima.fill(u32::MAX);
                    } else {
                        functions.minima(shingles, minima);
                    }
                    let from = keys.len();
                    keys.resize(from + minima.len() / *rows, 0);
                    group_keys(minima, *rows, &mut keys[from..]);
                }
                Step::Bits { shingling, projection, sketches } => {
                    let from = sketches.len();
                    sketches.resize(from + projection.width(), 0);
                    let of = if shingling.k == 1 { tokens } else { made.of(*shingling, tokens) };
                    projection.bits(of, &mut sketches[from..]);
                }
                Step::Terms { sketch, sketches } => {
                    let from = sketches.len();
                    sketches.resize(from + sketch.width(), 0);
                    sketch.fill(tokens, &mut sketches[from..]);
                }
            }
        }
    }

    /// What was made, a column for each kind.
    pub fn made(self) -> Vec<Made> {
        let mut sets =
            self.sets.into_iter().map(|made| Made::Sets { sets: made.sets, parities: made.parities });
        let mut others = self.others.into_iter().map(|step| match step {
            Step::Keys { rows, minima, keys, .. } => Made::Rows { width: minima.len() / rows, values: keys },
            Step::Bits { projection, sketches, .. } => {
                Made::Rows { width: projection.width(), values: sketches }
            }
            Step::Terms { sketch, sketches } => Made::Rows { width: sketch.width(), values: sketches },
        });
        let next = |kind: &Kind| match kind {
            Kind::Set { .. } => sets.next(),
            _ => others.next(),
        };
        self.kinds.iter().filter_map(next).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::{Lists, parities, shingle_sets};
    use proptest::prelude::*;

    fn naive(kind: Kind, pages: &[Vec<u64>]) -> Made {
        let shingles = |shingling: Shingling, page: &[u64]| {
            let mut shingles = Vec::new();
            shingling.fill(page, &mut shingles);
            shingles
        };
        match kind {
            Kind::Keys { shingling, count, rows } => {
                let mut values = Vec::new();
                for page in pages {
                    let (mut minima, mut keys) = (vec![u32::MAX; count], vec![0; count / rows]);
                    let shingles = shingles(shingling, page);
                    if !shingles.is_empty() {
                        Functions::new(count).minima(&shingles, &mut minima);
                    }
                    group_keys(&minima, rows, &mut keys);
                    values.append(&mut keys);
                }
                Made::Rows { width: count / rows, values }
            }
            Kind::Bits { shingling, bits } => {
                let mut values = Vec::new();
                for page in pages {
                    let mut sketch = vec![0; bits / 64];
                    let of = if shingling.k == 1 { page.clone() } else { shingles(shingling, page) };
                    Projection::new(bits).bits(&of, &mut sketch);
                    values.append(&mut sketch);
                }
                Made::Rows { width: bits / 64, values }
            }
            Kind::Terms { bins } => {
                let mut values = Vec::new();
                for page in pages {
                    let mut row = vec![0; bins / 64];
                    TermSketch::new(bins).fill(page, &mut row);
                    values.append(&mut row);
                }
                Made::Rows { width: bins / 64, values }
            }
            Kind::Set { shingling } => {
                let lengths = pages.iter().map(|page| page.len() as i64);
                let offsets: Vec<i64> = std::iter::once(0)
                    .chain(lengths.scan(0, |sum, length| {
                        *sum += length;
                        Some(*sum)
                    }))
                    .collect();
                let sets = shingle_sets(Lists { offsets: &offsets, values: &pages.concat() }, shingling);
                let parities = parities(Lists { offsets: &sets.0, values: &sets.1 });
                Made::Sets { sets, parities }
            }
        }
    }

    proptest! {
        #[test]
        fn made_together_they_are_as_made_alone(
            pages in proptest::collection::vec(proptest::collection::vec(0u64..50, 0..40), 0..12),
            k in 1usize..6, other in 1usize..6, rabin: bool,
        ) {
            let (one, two) = (Shingling { k, rabin }, Shingling { k: other, rabin: false });
            let kinds = [
                Kind::Keys { shingling: one, count: 12, rows: 4 },
                Kind::Bits { shingling: two, bits: 128 },
                Kind::Set { shingling: one },
                Kind::Terms { bins: 128 },
                Kind::Keys { shingling: two, count: 7, rows: 2 },
                Kind::Set { shingling: two },
            ];
            let mut work = Workspace::default();
            let mut maker = Maker::new(&kinds, 10, &mut work);
            pages.iter().for_each(|page| maker.page(page));
            let alone: Vec<Made> = kinds.iter().map(|&kind| naive(kind, &pages)).collect();
            prop_assert_eq!(maker.made(), alone);
        }
    }
}
