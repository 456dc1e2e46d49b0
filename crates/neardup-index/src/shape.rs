//! What an index holds of a page and how it decides: the detector's rules, as the index sees them.

use crate::error::{Error, Result};

/// How a page gives keys; two pages meet where they share one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum KeySource {
    /// Each number of this column.
    Columns(usize),
    /// Each pair of numbers of this column: looked up one by one, met where two agree.
    Pairs(usize),
    /// So many pieces of the bits of this column.
    Pieces(usize, usize),
    /// So many groups of the numbers of this column.
    Groups(usize, usize),
    /// The first numbers of this set, so many that sets with the rule's ratio share one.
    Sets(usize),
}

/// Of `lanes` lanes of `bits` bits of a column at least `least` agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lanes {
    pub column: usize,
    pub bits: u32,
    pub lanes: usize,
    pub least: usize,
}

/// What a pair must show.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Evidence {
    /// Numbers of a column agree, at least so many.
    Columns(usize, usize),
    /// Bits of a column agree, at least so many.
    Bits(usize, u32),
    /// The same, and lanes as well.
    ConfirmedBits(usize, u32, Lanes),
    /// Lanes of a column agree.
    Lanes(Lanes),
    /// Sets have this Jaccard similarity.
    Sets {
        at: usize,
        least: f64,
        /// The share of the larger set, not of the union.
        of_larger: bool,
    },
}

impl Lanes {
    /// Whether a column of so many words has them.
    fn check(self, width: usize) -> Result<()> {
        let fits = matches!(self.bits, 1 | 2 | 4 | 8)
            && neardup_core::lanes::width(self.lanes, self.bits) == width
            && self.least <= self.lanes;
        let wrong = || Error::Usage("lanes of 1, 2, 4 or 8 bits do not fill the column".to_owned());
        if fits { Ok(()) } else { Err(wrong()) }
    }
}

/// Which pairs a rule speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pairs {
    Any,
    SameSite,
    DifferentSite,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rule {
    pub keys: KeySource,
    pub evidence: Evidence,
    pub pairs: Pairs,
}

/// Everything an index must know of its detector. It is the same for the life of an index.
#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    /// 64-bit numbers of each column of fixed width.
    pub widths: Vec<usize>,
    /// How many sets a page has.
    pub sets: usize,
    pub rules: Vec<Rule>,
    /// A key lists at most so many pages.
    pub most: usize,
}

impl Shape {
    /// Whether rules refer to columns and sets that are there, with numbers that make sense.
    pub fn check(&self) -> Result<()> {
        let wrong = |what: &str| Error::Usage(what.to_owned());
        let column = |at: usize| {
            self.widths.get(at).copied().filter(|&width| width > 0).ok_or_else(|| wrong("no such column"))
        };
        let set = |at: usize| if at < self.sets { Ok(()) } else { Err(wrong("no such set")) };
        if self.rules.len() > usize::from(u8::MAX) || self.most == 0 {
            return Err(wrong("too many rules, or a key that lists no page"));
        }
        for rule in &self.rules {
            match rule.keys {
                KeySource::Columns(at) | KeySource::Pairs(at) => column(at).map(|_| ())?,
                KeySource::Pieces(at, pieces) => {
                    let width = column(at)?;
                    if !(2 * width..=64 * width).contains(&pieces) {
                        return Err(wrong("a piece must have between 1 and 32 bits"));
                    }
                }
                KeySource::Groups(at, groups) => {
                    if groups == 0 || groups > column(at)? {
                        return Err(wrong("groups must be between 1 and the number of columns"));
                    }
                }
                KeySource::Sets(at) => {
                    set(at)?;
                    let Evidence::Sets { least, .. } = rule.evidence else {
                        return Err(wrong("keys of sets belong to a rule about sets"));
                    };
                    if !(least > 0.0 && least <= 1.0) {
                        return Err(wrong("sets are compared by a ratio above 0 and at most 1"));
                    }
                }
            }
            match rule.evidence {
                Evidence::Columns(at, _) | Evidence::Bits(at, _) => column(at).map(|_| ())?,
                Evidence::ConfirmedBits(at, _, lanes) => {
                    column(at)?;
                    lanes.check(column(lanes.column)?)?;
                }
                Evidence::Lanes(lanes) => lanes.check(column(lanes.column)?)?,
                Evidence::Sets { at, .. } => set(at)?,
            }
        }
        Ok(())
    }

    /// Whether sites matter at all.
    pub fn sited(&self) -> bool {
        self.rules.iter().any(|rule| rule.pairs != Pairs::Any)
    }

    pub fn words(&self) -> usize {
        self.widths.iter().sum()
    }
}

/// What is compared of a page: its columns one after another, and its sets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    pub words: Vec<u64>,
    pub sets: Vec<Vec<u64>>,
}

impl Row {
    pub fn column(&self, shape: &Shape, at: usize) -> &[u64] {
        let start: usize = shape.widths[..at].iter().sum();
        &self.words[start..start + shape.widths[at]]
    }
}
