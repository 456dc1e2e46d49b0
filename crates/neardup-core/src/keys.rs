//! The keys of pages, made from their fingerprints when they are asked for: what is held is the fingerprints alone.

use crate::cpu;
use crate::minhash::pair_key;
use crate::projection::piece_key;

/// How a fingerprint gives keys. Equal keys count only in the same column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyKind {
    /// Each of its columns is one.
    Columns,
    /// Each pair of its columns (supershingles): pages that share one agree in two columns.
    Pairs,
    /// So many pieces of its bits: pages that differ in fewer bits share one.
    Pieces(usize),
}

/// The keys of n pages: made from fingerprints of `width` numbers each, or given as lists.
#[derive(Clone, Copy, Debug)]
pub struct Keys<'a> {
    values: &'a [u64],
    layout: Layout<'a>,
}

#[derive(Clone, Copy, Debug)]
enum Layout<'a> {
    Rows(KeyKind, usize),
    /// Where the ascending list of each page begins, and behind the last where it ends.
    Lists(&'a [u64]),
}

impl<'a> Keys<'a> {
    /// Each number is a key.
    pub fn columns(width: usize, values: &'a [u64]) -> Self {
        Self::of(KeyKind::Columns, width, values)
    }

    /// Keys of fingerprints.
    pub fn of(kind: KeyKind, width: usize, values: &'a [u64]) -> Self {
        Keys { values, layout: Layout::Rows(kind, width) }
    }

    /// An ascending list of keys a page, of any length; `offsets` has one more than there are pages.
    pub fn lists(offsets: &'a [u64], values: &'a [u64]) -> Self {
        Keys { values, layout: Layout::Lists(offsets) }
    }

    pub fn pages(&self) -> usize {
        match self.layout {
            Layout::Rows(_, width) => self.values.len().checked_div(width).unwrap_or(0),
            Layout::Lists(offsets) => offsets.len().saturating_sub(1),
        }
    }

    /// Columns of keys; lists are one, in which a page has several.
    pub fn count(&self) -> usize {
        match self.layout {
            Layout::Rows(KeyKind::Columns, width) => width,
            Layout::Rows(KeyKind::Pairs, width) => width * width.saturating_sub(1) / 2,
            Layout::Rows(KeyKind::Pieces(pieces), _) => pieces,
            Layout::Lists(_) => 1,
        }
    }

    #[inline(always)]
    fn row(&self, width: usize, page: u32) -> &'a [u64] {
        &self.values[page as usize * width..][..width]
    }

    #[inline(always)]
    fn list(&self, offsets: &[u64], page: u32) -> &'a [u64] {
        &self.values[offsets[page as usize] as usize..offsets[page as usize + 1] as usize]
    }

    /// Shows the keys of a page in one column to `each`.
    pub fn column(&self, column: usize) -> impl Fn(u32, &mut dyn FnMut(u64)) + Sync + use<'a> {
        let keys = *self;
        let pair = match self.layout {
            Layout::Rows(KeyKind::Pairs, width) => pair(width, column),
            _ => (0, 0),
        };
        move |page, each| match keys.layout {
            Layout::Rows(kind, width) => {
                let values = keys.row(width, page);
                each(match kind {
                    KeyKind::Columns => values[column],
                    KeyKind::Pairs => pair_key(values[pair.0], values[pair.1], column as u64),
                    KeyKind::Pieces(pieces) => piece_key(values, column, pieces),
                });
            }
            Layout::Lists(offsets) => keys.list(offsets, page).iter().for_each(|&key| each(key)),
        }
    }

    /// Fetches what the keys of a page are made of.
    #[inline(always)]
    pub fn fetch(&self, page: u32) {
        if let Layout::Rows(_, width) = self.layout {
            cpu::fetch(self.values, page as usize * width);
        }
    }

    /// The first column in which two pages have the same key, and the key.
    #[inline]
    pub fn first_shared(&self, a: u32, b: u32) -> Option<(usize, u64)> {
        let (kind, width) = match self.layout {
            Layout::Rows(kind, width) => (kind, width),
            Layout::Lists(offsets) => {
                return first_common(self.list(offsets, a), self.list(offsets, b)).map(|key| (0, key));
            }
        };
        let (a, b) = (self.row(width, a), self.row(width, b));
        match kind {
            KeyKind::Columns => (0..width).find(|&at| a[at] == b[at]).map(|at| (at, a[at])),
            KeyKind::Pairs => {
                let mut agreeing = (0..width).filter(|&at| a[at] == b[at]);
                let (first, second) = (agreeing.next()?, agreeing.next()?);
                let column = place(width, first, second);
                Some((column, pair_key(a[first], a[second], column as u64)))
            }
            KeyKind::Pieces(pieces) => {
                let key = |sketch, piece| piece_key(sketch, piece, pieces);
                (0..pieces).find(|&piece| key(a, piece) == key(b, piece)).map(|piece| (piece, key(a, piece)))
            }
        }
    }
}

/// The smallest number of both ascending lists.
fn first_common(a: &[u64], b: &[u64]) -> Option<u64> {
    let (mut at_a, mut at_b) = (0, 0);
    while at_a < a.len() && at_b < b.len() {
        let (x, y) = (a[at_a], b[at_b]);
        if x == y {
            return Some(x);
        }
        at_a += usize::from(x < y);
        at_b += usize::from(y < x);
    }
    None
}

/// Where the pair of columns stands among all pairs: (0, 1), (0, 2), …, (1, 2), …
fn place(width: usize, first: usize, second: usize) -> usize {
    first * (2 * width - first - 1) / 2 + second - first - 1
}

fn pair(width: usize, wanted: usize) -> (usize, usize) {
    let pairs = (0..width).flat_map(|first| (first + 1..width).map(move |second| (first, second)));
    pairs.into_iter().nth(wanted).expect("a pair of that number")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::{pairs_of_keys, pieces};
    use crate::format::splitmix;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn as_if_all_were_written_down(rows in proptest::collection::vec(0u64..2, 12..60), count in 6usize..40) {
            let width = 3;
            let rows = &rows[..rows.len() / width * width];
            // Values that agree often, and in pieces of their bits.
            let values: Vec<u64> = rows.iter().map(|&value| splitmix(2, 0) ^ (value << 7)).collect();
            let pages = (values.len() / width) as u32;
            for (kind, expected) in [
                (KeyKind::Columns, values.clone()),
                (KeyKind::Pairs, pairs_of_keys(&values, width)),
                (KeyKind::Pieces(count), pieces(&values, width, count)),
            ] {
                let keys = Keys::of(kind, width, &values);
                let columns = keys.count();
                let row = |page: u32| &expected[page as usize * columns..][..columns];
                for a in 0..pages {
                    let mut made = Vec::new();
                    (0..columns).for_each(|column| keys.column(column)(a, &mut |key| made.push(key)));
                    prop_assert_eq!(&made[..], row(a));
                    for b in 0..a {
                        let first = (0..columns).find(|&at| row(a)[at] == row(b)[at]).map(|at| (at, row(a)[at]));
                        prop_assert_eq!(keys.first_shared(a, b), first);
                    }
                }
            }
        }
    }
}
