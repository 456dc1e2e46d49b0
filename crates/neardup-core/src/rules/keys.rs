//! Where the keys of a rule come from: all that is to be known of each source stands here.

use std::borrow::Cow;
use std::fmt;

use super::many::{HeldSets, PageKeys, Pages};
use super::pair::Row;
use super::text::term;
use super::{Columns, wrong};
use crate::batch;
use crate::columns::group_columns;
use crate::error::Result;
use crate::keys::KeyKind;
use crate::merging;
use crate::prefix::{self, KeyLists};
use crate::projection::piece_key;
use crate::verify::equal;

/// How a page gives keys; two pages meet where they share one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum KeySource {
    /// Each number of this column.
    Columns(usize),
    /// Each pair of numbers of this column: pages that share one agree in two of its numbers.
    Pairs(usize),
    /// So many pieces of the bits of this column: pages that differ in fewer bits share one.
    Pieces(usize, usize),
    /// So many groups of the numbers of this column: pages that differ in fewer numbers share one.
    Groups(usize, usize),
    /// The rarest numbers of this set, so many that sets with the rule's ratio share one.
    Sets(usize),
}

impl fmt::Display for KeySource {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KeySource::Columns(at) => write!(out, "columns({at})"),
            KeySource::Pairs(at) => write!(out, "pairs({at})"),
            KeySource::Pieces(at, pieces) => write!(out, "pieces({at},{pieces})"),
            KeySource::Groups(at, groups) => write!(out, "groups({at},{groups})"),
            KeySource::Sets(at) => write!(out, "sets({at})"),
        }
    }
}

impl KeySource {
    /// From the text form.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (name, numbers) = term(text)?;
        let number = |at: usize| numbers.get(at)?.parse().ok();
        let (source, count) = match name {
            "columns" => (KeySource::Columns(number(0)?), 1),
            "pairs" => (KeySource::Pairs(number(0)?), 1),
            "pieces" => (KeySource::Pieces(number(0)?, number(1)?), 2),
            "groups" => (KeySource::Groups(number(0)?, number(1)?), 2),
            "sets" => (KeySource::Sets(number(0)?), 1),
            _ => return None,
        };
        (numbers.len() == count).then_some(source)
    }

    /// Whether it is there, with numbers that make sense.
    pub(super) fn check(self, columns: &Columns) -> Result<()> {
        match self {
            KeySource::Columns(at) | KeySource::Pairs(at) => columns.width(at).map(|_| ()),
            KeySource::Pieces(at, pieces) => {
                let width = columns.width(at)?;
                let fits = (2 * width..=64 * width).contains(&pieces);
                if fits { Ok(()) } else { wrong("a piece must have between 1 and 32 bits") }
            }
            KeySource::Groups(at, groups) => {
                let fits = groups > 0 && groups <= columns.width(at)?;
                if fits { Ok(()) } else { wrong("groups must be between 1 and the number of columns") }
            }
            KeySource::Sets(at) => columns.has_set(at),
        }
    }

    /// The column that gives keys; none where a set does.
    pub fn column(self) -> Option<usize> {
        match self {
            KeySource::Columns(at)
            | KeySource::Pairs(at)
            | KeySource::Pieces(at, _)
            | KeySource::Groups(at, _) => Some(at),
            KeySource::Sets(_) => None,
        }
    }

    /// The set that gives keys; none where a column does.
    pub fn set(self) -> Option<usize> {
        match self {
            KeySource::Sets(at) => Some(at),
            _ => None,
        }
    }

    /// How many columns of keys there are; equal keys count only in one column.
    pub fn count(self, columns: &Columns) -> usize {
        let width = |at: usize| columns.widths[at];
        match self {
            KeySource::Columns(at) => width(at),
            KeySource::Pairs(at) => width(at) * width(at).saturating_sub(1) / 2,
            KeySource::Pieces(_, pieces) => pieces,
            KeySource::Groups(_, groups) => groups,
            KeySource::Sets(_) => 1,
        }
    }

    /// The keys of rows of a column.
    fn of_rows(self, rows: &[u64], width: usize) -> Vec<u64> {
        match self {
            KeySource::Pairs(_) => batch::pairs_of_keys(rows, width),
            KeySource::Pieces(_, pieces) => batch::pieces(rows, width, pieces),
            KeySource::Groups(_, groups) => group_columns(rows, width, groups),
            KeySource::Columns(_) | KeySource::Sets(_) => rows.to_vec(),
        }
    }

    /// How many keys two pages share, and how many there are: of a page, or where pages have lists of them, of both
    /// together.
    pub(super) fn shared(self, a: &impl Row, b: &impl Row) -> (usize, usize) {
        if let KeySource::Sets(at) = self {
            // Sets that are alike enough share one of their rarest numbers: to share a number is what two pages show.
            let shared = merging::shared(a.set(at), b.set(at));
            return (shared, a.set(at).len() + b.set(at).len() - shared);
        }
        let at = self.column().expect("a column where it is no set");
        let keys = |row: &[u64]| self.of_rows(row, row.len());
        let (a, b) = (keys(a.column(at)), keys(b.column(at)));
        (equal(&a, &b), a.len())
    }

    /// Whether two pages share a key.
    pub(super) fn meet(self, a: &impl Row, b: &impl Row) -> bool {
        match self {
            KeySource::Columns(at) => a.column(at).iter().zip(b.column(at)).any(|(a, b)| a == b),
            KeySource::Pairs(at) => equal(a.column(at), b.column(at)) >= 2,
            KeySource::Pieces(at, pieces) => {
                let (a, b) = (a.column(at), b.column(at));
                (0..pieces).any(|piece| piece_key(a, piece, pieces) == piece_key(b, piece, pieces))
            }
            KeySource::Groups(..) => self.shared(a, b).0 > 0,
            // Sets that are similar enough always share one.
            KeySource::Sets(_) => true,
        }
    }

    /// Shows each key under which a page alone is looked up, with its column, to `each`. Of pairs of numbers the single
    /// numbers are keys, of which [`KeySource::lookups_needed`] are to be shared; of sets, of which pairs share the ratio
    /// `least`, numbers that come first in an order that does not depend on other pages.
    pub fn each(self, row: &impl Row, least: f64, mut each: impl FnMut(u64, u64)) {
        match self {
            KeySource::Columns(at) | KeySource::Pairs(at) => {
                row.column(at).iter().enumerate().for_each(|(column, &key)| each(column as u64, key));
            }
            KeySource::Pieces(at, _) | KeySource::Groups(at, _) => {
                let keys = self.of_rows(row.column(at), row.column(at).len());
                keys.into_iter().enumerate().for_each(|(column, key)| each(column as u64, key));
            }
            KeySource::Sets(at) => {
                prefix::keys_of_one(row.set(at), least).into_iter().for_each(|key| each(0, key));
            }
        }
    }

    /// How many of the keys of [`KeySource::each`] two pages must share to meet.
    pub fn lookups_needed(self) -> usize {
        if matches!(self, KeySource::Pairs(_)) { 2 } else { 1 }
    }

    /// The keys of many pages, of which those that are not `active` need none. Numbers of sets are keys by how rare they
    /// are among these pages; `least` is the Jaccard similarity that no accepted pair falls below.
    pub(super) fn over<'a>(self, pages: &'a Pages<'a>, active: &[bool], least: f64) -> PageKeys<'a> {
        let rows = |kind, at: usize| PageKeys::Rows(kind, pages.widths[at], Cow::Borrowed(pages.columns[at]));
        match self {
            KeySource::Columns(at) => rows(KeyKind::Columns, at),
            KeySource::Pairs(at) => rows(KeyKind::Pairs, at),
            KeySource::Pieces(at, pieces) => rows(KeyKind::Pieces(pieces), at),
            KeySource::Groups(at, groups) => {
                let keys = self.of_rows(pages.columns[at], pages.widths[at]);
                PageKeys::Rows(KeyKind::Columns, groups, Cow::Owned(keys))
            }
            KeySource::Sets(at) => {
                let (HeldSets::Whole(sets) | HeldSets::Glances(sets)) = pages.set(at);
                let set = |page: usize| match active[page] {
                    true => sets.at_hand(page as u32).unwrap_or_default(),
                    false => &[],
                };
                let KeyLists { offsets, values } = prefix::keys(pages.count, set, least);
                PageKeys::Lists(Cow::Owned(offsets), Cow::Owned(values))
            }
        }
    }
}
