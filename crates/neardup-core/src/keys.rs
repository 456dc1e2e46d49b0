//! The keys of pages, made from their fingerprints when they are asked for: what is held is the fingerprints alone.

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

/// Fingerprints of n pages, `width` numbers each, and how they give keys.
#[derive(Clone, Copy, Debug)]
pub struct Keys<'a> {
    pub kind: KeyKind,
    pub width: usize,
    pub values: &'a [u64],
}

impl<'a> Keys<'a> {
    /// Each number is a key.
    pub fn plain(width: usize, values: &'a [u64]) -> Self {
        Keys { kind: KeyKind::Columns, width, values }
    }

    pub fn pages(&self) -> usize {
        self.values.len().checked_div(self.width).unwrap_or(0)
    }

    /// Keys a page.
    pub fn columns(&self) -> usize {
        match self.kind {
            KeyKind::Columns => self.width,
            KeyKind::Pairs => self.width * self.width.saturating_sub(1) / 2,
            KeyKind::Pieces(pieces) => pieces,
        }
    }

    #[inline(always)]
    fn fingerprint(&self, page: u32) -> &'a [u64] {
        &self.values[page as usize * self.width..][..self.width]
    }

    /// The keys of one column, for one page after another.
    pub fn column(&self, column: usize) -> impl Fn(u32) -> u64 + Sync + use<'a> {
        let keys = *self;
        let (first, second) = if self.kind == KeyKind::Pairs { pair(self.width, column) } else { (0, 0) };
        move |page| {
            let values = keys.fingerprint(page);
            match keys.kind {
                KeyKind::Columns => values[column],
                KeyKind::Pairs => pair_key(values[first], values[second], column as u64),
                KeyKind::Pieces(pieces) => piece_key(values, column, pieces),
            }
        }
    }

    /// The first column in which two pages have the same key.
    #[inline]
    pub fn first_shared(&self, a: u32, b: u32) -> Option<usize> {
        let (a, b) = (self.fingerprint(a), self.fingerprint(b));
        match self.kind {
            KeyKind::Columns => a.iter().zip(b).position(|(a, b)| a == b),
            KeyKind::Pairs => {
                let mut agreeing = (0..self.width).filter(|&at| a[at] == b[at]);
                let (first, second) = (agreeing.next()?, agreeing.next()?);
                Some(place(self.width, first, second))
            }
            KeyKind::Pieces(pieces) => {
                (0..pieces).find(|&piece| piece_key(a, piece, pieces) == piece_key(b, piece, pieces))
            }
        }
    }
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
                let keys = Keys { kind, width, values: &values };
                let columns = keys.columns();
                let row = |page: u32| &expected[page as usize * columns..][..columns];
                for a in 0..pages {
                    let made: Vec<u64> = (0..columns).map(|column| keys.column(column)(a)).collect();
                    prop_assert_eq!(&made[..], row(a));
                    for b in 0..a {
                        let first = row(a).iter().zip(row(b)).position(|(a, b)| a == b);
                        prop_assert_eq!(keys.first_shared(a, b), first);
                    }
                }
            }
        }
    }
}
