//! The kernels over a batch of pages: lists of tokens in, one row of numbers a page out.

use crate::making::{Kind, Made, Maker, Workspace};
use crate::minhash::{Functions, pair_keys};
use crate::ordered::Ordered;
use crate::parity;
use crate::projection::piece_keys;
use crate::saturation;
use crate::shingle::{rabin_shingles, shingles};

/// Lists end to end, as Arrow lays them out: list i is `values[offsets[i]..offsets[i + 1]]`.
#[derive(Clone, Copy, Debug)]
pub struct Lists<'a> {
    pub offsets: &'a [i64],
    pub values: &'a [u64],
}

impl<'a> Lists<'a> {
    pub fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn get(&self, at: usize) -> &'a [u64] {
        &self.values[self.offsets[at] as usize..self.offsets[at + 1] as usize]
    }

    /// All values of the lists; there may be others around them.
    pub fn values_within(&self) -> &'a [u64] {
        match (self.offsets.first(), self.offsets.last()) {
            (Some(&from), Some(&to)) => &self.values[from as usize..to as usize],
            _ => &[],
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = &'a [u64]> {
        let lists = *self;
        (0..lists.len()).map(move |at| lists.get(at))
    }
}

/// Which windows of tokens are hashed, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shingling {
    pub k: usize,
    pub rabin: bool,
}

impl Shingling {
    /// Replaces what is in `out` by the shingles of `tokens`, told apart where they saturate: what pages are compared by.
    pub fn fill(self, tokens: &[u64], out: &mut Vec<u64>) {
        self.fill_plain(tokens, out);
        if self.k >= saturation::LEAST_LENGTH {
            saturation::tell_apart(out);
        }
    }

    /// Appends their ordered set to `set`; `shingles` is left as by [`Self::fill`]. How many are different is known of
    /// the set.
    pub fn append_set(
        self,
        tokens: &[u64],
        shingles: &mut Vec<u64>,
        ordered: &mut Ordered,
        set: &mut Vec<u64>,
    ) {
        self.fill_plain(tokens, shingles);
        let from = set.len();
        ordered.append(shingles, set);
        let different = set.len() - from;
        if self.k >= saturation::LEAST_LENGTH && saturation::tell_apart_of(shingles, different) {
            set.truncate(from);
            ordered.append(shingles, set);
        }
    }

    /// The shingles as they are.
    pub fn fill_plain(self, tokens: &[u64], out: &mut Vec<u64>) {
        out.clear();
        if self.rabin {
            rabin_shingles(tokens, self.k, out);
        } else {
            shingles(tokens, self.k, out);
        }
    }
}

/// The `count` min-values of each page, row after row; a page without tokens has all of them at the maximum.
pub fn minima(tokens: Lists<'_>, shingling: Shingling, count: usize) -> Vec<u32> {
    let functions = Functions::new(count);
    let mut values = vec![u32::MAX; tokens.len() * count];
    let mut window = Vec::new();
    for (tokens, row) in tokens.iter().zip(values.chunks_mut(count.max(1))) {
        shingling.fill(tokens, &mut window);
        if !window.is_empty() {
            functions.minima(&window, row);
        }
    }
    values
}

/// One key for each group of `rows` of a page's `count` min-values (supershingles, band keys), row after row.
pub fn minima_keys(tokens: Lists<'_>, shingling: Shingling, count: usize, rows: usize) -> Vec<u64> {
    rows_of(tokens, Kind::Keys { shingling, count, rows })
}

fn rows_of(tokens: Lists<'_>, kind: Kind) -> Vec<u64> {
    let mut work = Workspace::default();
    let mut maker = Maker::new(&[kind], 0, &mut work);
    tokens.iter().for_each(|page| maker.page(page));
    match maker.made().pop() {
        Some(Made::Rows { values, .. }) => values,
        _ => Vec::new(),
    }
}

/// The keys of all pairs of each page's supershingles.
pub fn pairs_of_keys(supershingles: &[u64], width: usize) -> Vec<u64> {
    let mut keys = Vec::new();
    for row in supershingles.chunks_exact(width) {
        pair_keys(row, &mut keys);
    }
    keys
}

/// The sketch of `bits` bits of each page, over its tokens (`k` = 1) or its shingles.
pub fn projections(tokens: Lists<'_>, shingling: Shingling, bits: usize) -> Vec<u64> {
    rows_of(tokens, Kind::Bits { shingling, bits })
}

/// The sketch of the distinct tokens of each page, of `bins` bins.
pub fn term_sketches(tokens: Lists<'_>, bins: usize) -> Vec<u64> {
    rows_of(tokens, Kind::Terms { bins })
}

/// The piece keys of each sketch.
pub fn pieces(sketches: &[u64], width: usize, pieces: usize) -> Vec<u64> {
    let mut keys = Vec::with_capacity(sketches.len() / width * pieces);
    for sketch in sketches.chunks_exact(width) {
        piece_keys(sketch, pieces, &mut keys);
    }
    keys
}

/// Rows of `width` numbers, one a page, each filled by `fill`.
pub fn rows<P>(
    pages: impl Iterator<Item = P>,
    count: usize,
    width: usize,
    mut fill: impl FnMut(P, &mut [u64]),
) -> Vec<u64> {
    let mut rows = vec![0; count * width];
    for (page, row) in pages.zip(rows.chunks_mut(width.max(1))) {
        fill(page, row);
    }
    rows
}

/// The set of shingles of each page, ordered, as lists.
pub fn shingle_sets(tokens: Lists<'_>, shingling: Shingling) -> (Vec<i64>, Vec<u64>) {
    let (mut offsets, mut values) = (vec![0], Vec::with_capacity(tokens.values.len()));
    let (mut window, mut ordered) = (Vec::new(), Ordered::default());
    for tokens in tokens.iter() {
        shingling.append_set(tokens, &mut window, &mut ordered, &mut values);
        offsets.push(values.len() as i64);
    }
    (offsets, values)
}

/// The parity of each set ([`crate::parity`]), as lists.
pub fn parities(sets: Lists<'_>) -> (Vec<i64>, Vec<u64>) {
    let (mut offsets, mut values) = (vec![0], Vec::new());
    for set in sets.iter() {
        parity::append(set, &mut values);
        offsets.push(values.len() as i64);
    }
    (offsets, values)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Shingling = Shingling { k: 3, rabin: false };

    #[test]
    fn rows_do_not_depend_on_their_neighbours() {
        let pages: [&[u64]; 4] = [&[1, 2, 3, 4, 5], &[], &[9, 8, 7], &[1, 2, 3, 4, 5]];
        let values: Vec<u64> = pages.concat();
        let lists = Lists { offsets: &[0, 5, 5, 8, 13], values: &values };
        let keys = minima_keys(lists, PLAIN, 84, 14);
        let sketches = projections(lists, Shingling { k: 1, ..PLAIN }, 384);
        let all = minima(lists, PLAIN, 84);
        for (at, page) in pages.iter().enumerate() {
            let alone = Lists { offsets: &[0, page.len() as i64], values: page };
            assert_eq!(keys[6 * at..6 * at + 6], minima_keys(alone, PLAIN, 84, 14));
            assert_eq!(sketches[6 * at..6 * at + 6], projections(alone, Shingling { k: 1, ..PLAIN }, 384));
            assert_eq!(all[84 * at..84 * at + 84], minima(alone, PLAIN, 84));
        }
        assert_eq!(keys[..6], keys[18..]);
    }

    #[test]
    fn sets_are_sorted_and_without_repetition() {
        let (offsets, values) = shingle_sets(
            Lists { offsets: &[0, 6], values: &[1, 2, 1, 2, 1, 2] },
            Shingling { k: 2, rabin: false },
        );
        assert_eq!(offsets, [0, 2]);
        assert!(values[0] < values[1]);
    }
}
