//! What a pair that shares a key must show: all that is to be known of each kind of evidence stands here.

use std::fmt;

use super::many::{HeldSets, Pages, Verifier};
use super::pair::{Measured, Row};
use super::text::term;
use super::{Columns, wrong};
use crate::error::Result;
use crate::lanes::{self, AgreeingLanes, differing};
use crate::merging;
use crate::projection::agreement;
use crate::verify::{
    AgreeingBits, ConfirmedBits, EqualColumns, Everything, Glance, Jaccard, equal, of_either, of_sets, share,
};

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
    /// A shared key, and nothing else.
    Key,
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

impl fmt::Display for Lanes {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "lanes({},{},{},{})", self.column, self.bits, self.lanes, self.least)
    }
}

impl fmt::Display for Evidence {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Evidence::Key => out.write_str("key"),
            Evidence::Columns(at, least) => write!(out, "columns({at},{least})"),
            Evidence::Bits(at, least) => write!(out, "bits({at},{least})"),
            Evidence::ConfirmedBits(at, least, lanes) => write!(out, "bits({at},{least})+{lanes}"),
            Evidence::Lanes(lanes) => lanes.fmt(out),
            Evidence::Sets { at, least, of_larger: false } => write!(out, "sets({at},{least})"),
            Evidence::Sets { at, least, of_larger: true } => write!(out, "larger-sets({at},{least})"),
        }
    }
}

impl Lanes {
    fn parse(text: &str) -> Option<Self> {
        let ("lanes", numbers) = term(text)? else { return None };
        let &[column, bits, lanes, least] = &numbers[..] else { return None };
        Some(Lanes {
            column: column.parse().ok()?,
            bits: bits.parse().ok()?,
            lanes: lanes.parse().ok()?,
            least: least.parse().ok()?,
        })
    }

    fn check(self, columns: &Columns) -> Result<()> {
        let width = columns.width(self.column)?;
        let fits = matches!(self.bits, 1 | 2 | 4 | 8)
            && lanes::width(self.lanes, self.bits) == width
            && self.least <= self.lanes;
        if fits { Ok(()) } else { wrong("lanes of 1, 2, 4 or 8 bits do not fill the column") }
    }

    fn measured(self, a: &impl Row, b: &impl Row) -> Measured {
        let agreeing = self.lanes - differing(a.column(self.column), b.column(self.column), self.bits);
        Measured { value: agreeing as f64, threshold: self.least as f64, greatest: self.lanes as f64 }
    }

    fn over<'a>(self, pages: &'a Pages<'a>) -> AgreeingLanes<'a> {
        AgreeingLanes {
            width: pages.widths[self.column],
            values: pages.columns[self.column],
            bits: self.bits,
            lanes: self.lanes,
            least: self.least,
        }
    }
}

impl Evidence {
    /// From the text form.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (first, confirming) = match text.split_once('+') {
            Some((first, second)) => (first, Some(Lanes::parse(second)?)),
            None => (text, None),
        };
        let (name, numbers) = term(first)?;
        let ratio = |of_larger| match &numbers[..] {
            [at, least] => {
                Some(Evidence::Sets { at: at.parse().ok()?, least: least.parse().ok()?, of_larger })
            }
            _ => None,
        };
        match (name, &numbers[..], confirming) {
            ("key", [], None) => Some(Evidence::Key),
            ("columns", [at, least], None) => Some(Evidence::Columns(at.parse().ok()?, least.parse().ok()?)),
            ("bits", [at, least], None) => Some(Evidence::Bits(at.parse().ok()?, least.parse().ok()?)),
            ("bits", [at, least], Some(lanes)) => {
                Some(Evidence::ConfirmedBits(at.parse().ok()?, least.parse().ok()?, lanes))
            }
            ("lanes", _, None) => Lanes::parse(first).map(Evidence::Lanes),
            ("sets", _, None) => ratio(false),
            ("larger-sets", _, None) => ratio(true),
            _ => None,
        }
    }

    /// Whether it is there, with numbers that make sense.
    pub(super) fn check(self, columns: &Columns) -> Result<()> {
        match self {
            Evidence::Key => Ok(()),
            Evidence::Columns(at, _) | Evidence::Bits(at, _) => columns.width(at).map(|_| ()),
            Evidence::ConfirmedBits(at, _, lanes) => columns.width(at).and_then(|_| lanes.check(columns)),
            Evidence::Lanes(lanes) => lanes.check(columns),
            Evidence::Sets { least, .. } if !(least > 0.0 && least <= 1.0) => {
                wrong("sets are compared by a ratio above 0 and at most 1")
            }
            Evidence::Sets { at, .. } => columns.has_set(at),
        }
    }

    /// The columns that are compared: the one that is measured first.
    pub fn columns(self) -> Vec<usize> {
        match self {
            Evidence::Key | Evidence::Sets { .. } => Vec::new(),
            Evidence::Columns(at, _) | Evidence::Bits(at, _) => vec![at],
            Evidence::ConfirmedBits(at, _, lanes) => vec![at, lanes.column],
            Evidence::Lanes(lanes) => vec![lanes.column],
        }
    }

    /// The set that is compared.
    pub fn set(self) -> Option<usize> {
        match self {
            Evidence::Sets { at, .. } => Some(at),
            _ => None,
        }
    }

    /// The least Jaccard similarity of the sets of an accepted pair, where sets decide.
    pub fn least_jaccard(self) -> Option<f64> {
        match self {
            Evidence::Sets { least, of_larger, .. } => Some(if of_larger { of_either(least) } else { least }),
            _ => None,
        }
    }

    /// What is measured of two pages, and what is measured beside it.
    pub(super) fn measured(self, a: &impl Row, b: &impl Row) -> (Measured, Option<Measured>) {
        let bits = |at: usize, least: u32| Measured {
            value: f64::from(agreement(a.column(at), b.column(at))),
            threshold: f64::from(least),
            greatest: (64 * a.column(at).len()) as f64,
        };
        let alone = |measured| (measured, None);
        match self {
            Evidence::Key => alone(Measured { value: 1.0, threshold: 1.0, greatest: 1.0 }),
            Evidence::Columns(at, least) => alone(Measured {
                value: equal(a.column(at), b.column(at)) as f64,
                threshold: least as f64,
                greatest: a.column(at).len() as f64,
            }),
            Evidence::Bits(at, least) => alone(bits(at, least)),
            Evidence::ConfirmedBits(at, least, lanes) => (bits(at, least), Some(lanes.measured(a, b))),
            Evidence::Lanes(lanes) => alone(lanes.measured(a, b)),
            Evidence::Sets { at, least, of_larger } => {
                let (a, b) = (a.set(at), b.set(at));
                let value = share(merging::shared(a, b), a.len(), b.len(), of_larger);
                alone(Measured { value, threshold: least, greatest: 1.0 })
            }
        }
    }

    /// The score of two pages that share a key, if they show enough.
    pub(super) fn score(self, a: &impl Row, b: &impl Row) -> Option<f64> {
        if let Evidence::Sets { at, least, of_larger } = self {
            return of_sets(a.set(at), b.set(at), least, of_larger);
        }
        let (measured, beside) = self.measured(a, b);
        let enough = measured.enough() && beside.is_none_or(|beside| beside.enough());
        enough.then(|| measured.value / measured.greatest)
    }

    /// What pairs of many pages are verified with.
    pub(super) fn over<'a>(self, pages: &'a Pages<'a>) -> Verifier<'a> {
        let bits =
            |at: usize, least| AgreeingBits { width: pages.widths[at], values: pages.columns[at], least };
        match self {
            Evidence::Key => Verifier::Key(Everything),
            Evidence::Columns(at, least) => {
                Verifier::Columns(EqualColumns { width: pages.widths[at], values: pages.columns[at], least })
            }
            Evidence::Bits(at, least) => Verifier::Bits(bits(at, least)),
            Evidence::ConfirmedBits(at, least, lanes) => {
                Verifier::ConfirmedBits(ConfirmedBits { bits: bits(at, least), lanes: lanes.over(pages) })
            }
            Evidence::Lanes(lanes) => Verifier::Lanes(lanes.over(pages)),
            Evidence::Sets { at, least, of_larger } => {
                let jaccard = |sets| Jaccard {
                    sets,
                    least: if of_larger { of_either(least) } else { least },
                    of_larger: of_larger.then_some(least),
                };
                match pages.set(at) {
                    HeldSets::Whole(sets) => Verifier::Sets(jaccard(sets)),
                    HeldSets::Glances(sets) => Verifier::Glances(Glance(jaccard(sets))),
                }
            }
        }
    }
}
