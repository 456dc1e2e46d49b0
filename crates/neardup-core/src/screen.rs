//! One page against very many: which of them could be accepted at all, by a few words of bits each.
//!
//! Every verifier here measures a distance that obeys the triangle inequality: differing bits, differing columns,
//! elements that only one of two sets has. A pair is accepted only if twice that distance is at most the sum of the two
//! pages' *shares* (halves of what is allowed: for Jaccard similarity the allowance grows with both sets). A page's
//! *words* are bits of which no more differ between two pages than their distance. Words of 64 pages stand in a block,
//! word by word, so that one probe is compared with a block in vector registers.
//!
//! Pages that stand in one bucket are often alike in most bits (a template decides them) and differ in some. So a
//! bucket packs only its 128 or 256 most varying bits, when these alone can be expected to reject a typical pair: a
//! third of the work for projections, a quarter for sets. Any choice of bits is exact: fewer bits reject less, never
//! wrongly. Cutting the sketch into h + 1 pieces, of which pages with at most h differing bits must share one, does
//! not pay here: of 384 bits at h = 29 a piece has 13, and pages that agree in 300 bits share one more often than not.

use rayon::prelude::*;

use crate::cpu::{dispatch, variants};
use crate::merging::shared;
use crate::parity;
use crate::verify::{AgreeingBits, ConfirmedBits, EqualColumns, Everything, Glance, Jaccard, Verify};

/// Pages of a block.
pub const BLOCK: usize = 64;

/// A verifier whose rejections can be foreseen.
pub trait Screened: Verify {
    /// Bits of which at most as many differ as the pages' distance; of the same length for all pages.
    fn words(&self, page: u32) -> &[u64];
    /// Twice the distance of an accepted pair is at most the sum of both shares.
    fn share(&self, page: u32) -> u64;
    /// The distance.
    fn distance(&self, a: u32, b: u32) -> u64;
    /// Whether a glance proves that the distance is larger than this.
    fn farther(&self, _a: u32, _b: u32, _than: u64) -> bool {
        false
    }
    /// The distance of two pages is at least the difference of their weights. A page that is heavier by w has a share
    /// that is no smaller, and larger by 2w at most.
    fn weight(&self, _: u32) -> u64 {
        0
    }
}

impl Screened for Everything {
    fn words(&self, _: u32) -> &[u64] {
        &[]
    }

    fn share(&self, _: u32) -> u64 {
        0
    }

    fn distance(&self, _: u32, _: u32) -> u64 {
        0
    }
}

impl Screened for EqualColumns<'_> {
    fn words(&self, _: u32) -> &[u64] {
        &[]
    }

    fn share(&self, _: u32) -> u64 {
        self.width.saturating_sub(self.least) as u64
    }

    fn distance(&self, a: u32, b: u32) -> u64 {
        (self.width - self.count(a, b)) as u64
    }
}

impl Screened for AgreeingBits<'_> {
    fn words(&self, page: u32) -> &[u64] {
        &self.values[page as usize * self.width..][..self.width]
    }

    fn share(&self, _: u32) -> u64 {
        (64 * self.width as u64).saturating_sub(u64::from(self.least))
    }

    fn distance(&self, a: u32, b: u32) -> u64 {
        64 * self.width as u64 - u64::from(self.count(a, b))
    }
}

impl Screened for ConfirmedBits<'_> {
    fn words(&self, page: u32) -> &[u64] {
        self.bits.words(page)
    }

    fn share(&self, page: u32) -> u64 {
        self.bits.share(page)
    }

    fn distance(&self, a: u32, b: u32) -> u64 {
        self.bits.distance(a, b)
    }
}

impl Screened for Jaccard<'_> {
    fn words(&self, page: u32) -> &[u64] {
        &self.sets.parity(page)[..parity::WORDS]
    }

    fn share(&self, page: u32) -> u64 {
        // Half of an element more than the verifier allows a pair, so that rounding rejects nothing.
        let size = self.sets.size(page) as f64;
        (2.0 * size * (1.0 - self.least) / (1.0 + self.least) + 1.0).ceil() as u64
    }

    fn distance(&self, a: u32, b: u32) -> u64 {
        let (a, b) = (self.sets.values(a), self.sets.values(b));
        (a.len() + b.len() - 2 * shared(&a, &b)) as u64
    }

    fn farther(&self, a: u32, b: u32, than: u64) -> bool {
        parity::differ(self.sets.parity(a), self.sets.parity(b), than as usize)
    }

    fn weight(&self, page: u32) -> u64 {
        self.sets.size(page) as u64
    }
}

impl Screened for Glance<'_> {
    fn words(&self, page: u32) -> &[u64] {
        self.0.words(page)
    }

    fn share(&self, page: u32) -> u64 {
        self.0.share(page)
    }

    /// Of what is at hand: a lower bound.
    fn distance(&self, a: u32, b: u32) -> u64 {
        self.0.sets.size(a).abs_diff(self.0.sets.size(b)) as u64
    }

    fn farther(&self, a: u32, b: u32, than: u64) -> bool {
        self.0.farther(a, b, than)
    }

    fn weight(&self, page: u32) -> u64 {
        self.0.weight(page)
    }
}

/// Which bits of the words a bucket packs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selection {
    All,
    /// Places of bits, a multiple of 64 of them.
    Bits(Vec<u16>),
}

impl Selection {
    /// Looks at a sample of the bucket's pages.
    pub fn of(verifier: &dyn Screened, pages: &[u32]) -> Self {
        const SAMPLE: usize = 512;
        let sample: Vec<u32> = pages.iter().copied().step_by(pages.len().div_ceil(SAMPLE).max(1)).collect();
        let width = sample.first().map_or(0, |&page| verifier.words(page).len());
        let mut ones = vec![0u32; 64 * width];
        for &page in &sample {
            for (word, ones) in verifier.words(page).iter().zip(ones.chunks_exact_mut(64)) {
                for (bit, ones) in ones.iter_mut().enumerate() {
                    *ones += (word >> bit & 1) as u32;
                }
            }
        }
        // How often two pages differ in a bit that a share p of them has set: 2p(1 − p).
        let differs = |&bit: &u16| {
            let set = f64::from(ones[bit as usize]) / sample.len() as f64;
            2.0 * set * (1.0 - set)
        };
        let varying = |bit: &u16| ones[*bit as usize].min(sample.len() as u32 - ones[*bit as usize]);
        let mut bits: Vec<u16> = (0..64 * width as u16).collect();
        bits.sort_by_key(|bit| std::cmp::Reverse(varying(bit)));
        let allowed =
            sample.iter().map(|&page| verifier.share(page) as f64).sum::<f64>() / sample.len().max(1) as f64;
        for words in [2, 4] {
            if words >= width {
                break;
            }
            let chosen = &bits[..64 * words];
            let expected: f64 = chosen.iter().map(differs).sum();
            let variance: f64 = chosen.iter().map(differs).map(|share| share * (1.0 - share)).sum();
            if expected - 3.0 * variance.sqrt() > allowed {
                return Selection::Bits(chosen.to_vec());
            }
        }
        Selection::All
    }

    /// The chosen bits of a page are put behind `packed`.
    pub fn pack(&self, words: &[u64], packed: &mut Vec<u64>) {
        match self {
            Selection::All => packed.extend_from_slice(words),
            Selection::Bits(bits) => packed.extend(bits.chunks_exact(64).map(|bits| {
                let bit = |place: u16| words[place as usize / 64] >> (place % 64) & 1;
                bits.iter().enumerate().fold(0, |word, (at, &place)| word | bit(place) << at)
            })),
        }
    }

    pub fn width(&self, words: usize) -> usize {
        match self {
            Selection::All => words,
            Selection::Bits(bits) => bits.len() / 64,
        }
    }
}

/// Rows of words with a share each, in blocks; also used for the probes, which are read row by row.
#[derive(Clone, Debug)]
pub struct Blocks {
    /// Words of a row.
    width: usize,
    rows: usize,
    /// `width` lanes of words a block, then one lane of shares.
    lanes: Vec<[u64; BLOCK]>,
}

impl Blocks {
    pub fn new(width: usize) -> Self {
        Blocks { width, rows: 0, lanes: Vec::new() }
    }

    /// Those of some pages, each with its words and its share.
    pub fn of<'w>(width: usize, pages: &[u32], row: impl Fn(u32) -> (&'w [u64], u64) + Sync) -> Self {
        let mut lanes = vec![[0; BLOCK]; pages.len().div_ceil(BLOCK) * (width + 1)];
        lanes.par_chunks_mut(width + 1).zip(pages.par_chunks(BLOCK)).for_each(|(lanes, pages)| {
            for (at, &page) in pages.iter().enumerate() {
                let (words, share) = row(page);
                lanes.iter_mut().zip(words.iter().chain([&share])).for_each(|(lane, &word)| lane[at] = word);
            }
        });
        Blocks { width, rows: pages.len(), lanes }
    }

    pub fn len(&self) -> usize {
        self.rows
    }

    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    pub fn push(&mut self, words: &[u64], share: u64) {
        if self.rows.is_multiple_of(BLOCK) {
            self.lanes.resize(self.lanes.len() + self.width + 1, [0; BLOCK]);
        }
        let block = self.lanes.len() - self.width - 1;
        for (lane, &word) in words.iter().chain([&share]).enumerate() {
            self.lanes[block + lane][self.rows % BLOCK] = word;
        }
        self.rows += 1;
    }

    /// Calls `found(probe, row)` for every probe and every row of these blocks whose chosen bits do not rule the pair
    /// out. A probe is its words and its share, one after another.
    pub fn screen(
        &self,
        blocks: std::ops::Range<usize>,
        probes: &[u64],
        found: &mut impl FnMut(usize, usize),
    ) {
        let step = self.width + 1;
        let mut passed = Vec::new();
        for block in blocks {
            let lanes = &self.lanes[block * step..(block + 1) * step];
            passed.clear();
            dispatch!(pass(lanes, probes, &mut passed));
            let filled = (self.rows - block * BLOCK).min(BLOCK);
            let rows = u64::MAX >> (BLOCK - filled);
            for &(probe, hits) in &passed {
                let mut hits: u64 = hits & rows;
                while hits != 0 {
                    found(probe as usize, block * BLOCK + hits.trailing_zeros() as usize);
                    hits &= hits - 1;
                }
            }
        }
    }

    pub fn blocks(&self) -> usize {
        self.rows.div_ceil(BLOCK)
    }
}

/// The probes that pass against any row of the block, with the rows as bits.
#[inline(always)]
fn pass(lanes: &[[u64; BLOCK]], probes: &[u64], passed: &mut Vec<(u32, u64)>) {
    let (shares, words) = lanes.split_last().expect("a lane of shares");
    for (at, probe) in probes.chunks_exact(lanes.len()).enumerate() {
        // What is allowed of each row less twice what differs: the highest bit is set unless the row passes.
        let mut room = [0u64; BLOCK];
        for row in 0..BLOCK {
            room[row] = shares[row] + probe[words.len()];
        }
        // Two words at a time: with one, loads and stores of `room` take longer than the counting; with all, the
        // compiler turns to vectors of words instead of rows, ten times slower.
        let mut pairs = words.chunks_exact(2).zip(probe.chunks_exact(2));
        for (lanes, words) in &mut pairs {
            let (first, second) = (&lanes[0], &lanes[1]);
            for row in 0..BLOCK {
                let differing = (first[row] ^ words[0]).count_ones() + (second[row] ^ words[1]).count_ones();
                room[row] = room[row].wrapping_sub(2 * u64::from(differing));
            }
        }
        if let [odd] = words.chunks_exact(2).remainder() {
            for row in 0..BLOCK {
                let differing = (odd[row] ^ probe[words.len() - 1]).count_ones();
                room[row] = room[row].wrapping_sub(2 * u64::from(differing));
            }
        }
        let mut all = u64::MAX;
        for row in 0..BLOCK {
            all &= room[row];
        }
        // Some row may pass: told apart one by one, as this is rare.
        if all >> 63 == 0 {
            let hits = (0..BLOCK).fold(0, |hits, row| hits | (!room[row] >> 63) << row);
            passed.push((at as u32, hits));
        }
    }
}

variants!(fn pass(lanes: &[[u64; BLOCK]], probes: &[u64], passed: &mut Vec<(u32, u64)>) -> ());

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::assert_variants_agree;
    use crate::format::splitmix;
    use crate::sets::testing::Made;
    use proptest::prelude::*;

    #[inline(always)]
    fn passing(lanes: &[[u64; BLOCK]], probes: &[u64]) -> Vec<(u32, u64)> {
        let mut passed = Vec::new();
        pass(lanes, probes, &mut passed);
        passed
    }

    variants!(fn passing(lanes: &[[u64; BLOCK]], probes: &[u64]) -> Vec<(u32, u64)>);

    #[test]
    fn finds_what_a_plain_loop_finds() {
        for width in 0..9usize {
            let row = |page: u64| -> Vec<u64> {
                // Few bits differ, so that some pairs pass.
                (0..width as u64).map(|word| 1 << (splitmix(word, page) % 64)).collect()
            };
            let share = |page: u64| splitmix(99, page) % 12;
            let mut blocks = Blocks::new(width);
            (0..150).for_each(|page| blocks.push(&row(page), share(page)));
            let (pages, rows) = ((0..150).collect::<Vec<u32>>(), (0..150).map(row).collect::<Vec<_>>());
            let together = Blocks::of(width, &pages, |page| (&rows[page as usize], share(page.into())));
            assert_eq!((together.rows, &together.lanes), (blocks.rows, &blocks.lanes));
            let probes: Vec<u64> =
                (500..520).flat_map(|page| [row(page), vec![share(page)]].concat()).collect();
            let mut found = Vec::new();
            blocks.screen(0..blocks.blocks(), &probes, &mut |probe, page| found.push((probe, page)));
            found.sort_unstable();
            let mut expected = Vec::new();
            for probe in 0..20usize {
                for page in 0..150usize {
                    let differing: u32 = row(probe as u64 + 500)
                        .iter()
                        .zip(row(page as u64))
                        .map(|(a, b)| (a ^ b).count_ones())
                        .sum();
                    if 2 * u64::from(differing) <= share(probe as u64 + 500) + share(page as u64) {
                        expected.push((probe, page));
                    }
                }
            }
            assert_eq!(found, expected);
            assert_variants_agree!(passing(&blocks.lanes[..width + 1], &probes));
        }
    }

    #[test]
    fn the_varying_bits_are_packed() {
        // Bits 64..224 vary, the others are the template's.
        let values: Vec<u64> = (0..600u64)
            .flat_map(|page| {
                [7, splitmix(1, page), splitmix(2, page), splitmix(3, page) & 0xffff_ffff, 9, 11]
            })
            .collect();
        let verifier = AgreeingBits { width: 6, values: &values, least: 355 };
        let pages: Vec<u32> = (0..600).collect();
        let Selection::Bits(bits) = Selection::of(&verifier, &pages) else { panic!("no selection") };
        assert_eq!(bits.len(), 128);
        assert!(bits.iter().all(|bit| (64..224).contains(bit)));
        let alike = AgreeingBits { width: 6, values: &vec![5; 3600], least: 355 };
        assert_eq!(Selection::of(&alike, &pages), Selection::All);
    }

    proptest! {
        #[test]
        fn an_accepted_pair_always_passes(
            lists in proptest::collection::vec(proptest::collection::btree_set(0u64..40, 0..40), 2..12),
            least in 0.05f64..1.0,
        ) {
            let lists: Vec<Vec<u64>> =
                lists.iter().map(|set| set.iter().map(|&value| splitmix(4, value)).collect()).collect();
            let made = Made::new(&lists);
            let sets = made.sets();
            let verifier = Jaccard { sets: &sets, least, of_larger: None };
            for a in 0..lists.len() as u32 {
                for b in 0..a {
                    let distance = verifier.distance(a, b);
                    prop_assert!(!verifier.farther(a, b, distance));
                    let bits: u32 =
                        verifier.words(a).iter().zip(verifier.words(b)).map(|(a, b)| (a ^ b).count_ones()).sum();
                    prop_assert!(u64::from(bits) <= distance);
                    if verifier.score(a, b).is_some() {
                        prop_assert!(2 * distance <= verifier.share(a) + verifier.share(b));
                    }
                }
            }
        }
    }
}
