//! Lists of hashes to ordered sets.
//!
//! Hashes lie evenly, so the highest bits of one say nearly where it belongs in the order: a value is put into a table
//! at the place that these bits name, or, where that is taken, before the first greater value behind it. Read from the
//! front the table is sorted and without repetition (linear probing sort: Gonnet & Munro 1984). A page's table fits the
//! nearest cache. Values that do not lie evenly, by chance or by intent, are sorted by comparison instead.
//!
//! Cost: one or two places of the table a value.

use std::mem::MaybeUninit;

use crate::cpu;

/// Places that are looked at together; so many make a line of the cache.
const LANES: usize = 8;
/// A free place of the table; the one value of that kind is counted apart.
const FREE: u64 = u64::MAX;
/// How far from where its bits say a value may end up before they are taken not to lie evenly.
const REACH: usize = 64;
/// The table of a longer list would not fit the cache.
const LONGEST: usize = 1 << 17;

/// Makes ordered sets; holds the table that one list after another uses.
#[derive(Debug, Default)]
pub struct Ordered {
    /// All places are free between two lists.
    table: Vec<u64>,
}

impl Ordered {
    /// The bytes of the table.
    pub fn nbytes(&self) -> usize {
        self.table.capacity() * size_of::<u64>()
    }

    /// Appends the distinct values of a list to `out`, ascending.
    pub fn append(&mut self, values: &[u64], out: &mut Vec<u64>) {
        if values.len() > LONGEST || !self.append_evenly(values, out) {
            let mut sorted = values.to_vec();
            sorted.sort_unstable();
            sorted.dedup();
            out.append(&mut sorted);
        }
    }

    /// The same for values that lie evenly; says whether they did, and appends nothing if not.
    fn append_evenly(&mut self, values: &[u64], out: &mut Vec<u64>) -> bool {
        let slots = (2 * values.len()).next_power_of_two().max(16);
        let shift = 64 - slots.ilog2();
        if self.table.len() < slots + REACH + LANES {
            self.table.resize(slots + REACH + LANES, FREE);
        }
        // It begins with a line of the cache.
        let start = self.table.as_ptr().align_offset(LANES * size_of::<u64>());
        let table = &mut self.table[start..start + slots + REACH];
        if !fill(table, shift, values) {
            table.fill(FREE);
            return false;
        }
        // Whole blocks are written.
        out.reserve(values.len() + LANES);
        let taken = compact(table, out.spare_capacity_mut());
        // SAFETY: so many were written behind what is there.
        unsafe { out.set_len(out.len() + taken) };
        if values.contains(&FREE) {
            out.push(FREE);
        }
        true
    }
}

/// Puts each value into the table once; says whether they lay evenly enough for it. The greatest value leaves no trace.
fn fill(table: &mut [u64], shift: u32, values: &[u64]) -> bool {
    #[cfg(target_arch = "x86_64")]
    match cpu::level() {
        // SAFETY: `level` has just tested for the instructions.
        cpu::Level::Avx512 => return unsafe { fill_avx512(table, shift, values) },
        // SAFETY: likewise.
        cpu::Level::Avx2 => return unsafe { fill_avx2(table, shift, values) },
        cpu::Level::Portable => {}
    }
    values.iter().all(|&value| put(table, (value >> shift) as usize, value))
}

/// Puts a value where it belongs, from its home on; what is greater moves on, and so on to the first free place.
#[inline(always)]
fn put(table: &mut [u64], home: usize, value: u64) -> bool {
    let mut value = value;
    for place in &mut table[home..home + REACH] {
        let found = *place;
        if found >= value {
            if found == value {
                return true;
            }
            *place = value;
            if found == FREE {
                return true;
            }
            value = found;
        }
    }
    value == FREE
}

/// The place that a value is looked for from on, where places go by lines of the cache: the first of a line.
#[cfg(any(test, target_arch = "x86_64"))]
#[inline(always)]
fn line(value: u64, shift: u32) -> usize {
    (value >> shift) as usize & !(LANES - 1)
}

/// The same by lines: every value begins at the first place of one, so that what a line holds stands at its front, in
/// order, and a free place is the greatest. A value comes between those less and those greater by one instruction, and a
/// line is loaded and stored whole, without a branch that depends on where that is.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,bmi1,bmi2")]
fn fill_avx512(table: &mut [u64], shift: u32, values: &[u64]) -> bool {
    use std::arch::x86_64::*;
    for &value in values {
        let home = line(value, shift);
        let places = &mut table[home..home + LANES];
        if places[LANES - 1] != FREE {
            if !put(table, home, value) {
                return false;
            }
            continue;
        }
        let new = _mm512_set1_epi64(value as i64);
        // SAFETY: both are eight numbers long.
        let found = unsafe { _mm512_loadu_si512(places.as_ptr().cast()) };
        let not_less = _mm512_cmpge_epu64_mask(found, new);
        // Where it belongs; nowhere, if it is there already.
        let first = not_less & not_less.wrapping_neg() & !_mm512_cmpeq_epi64_mask(found, new);
        let moved = _mm512_mask_expand_epi64(new, !first, found);
        // SAFETY: as above.
        unsafe { _mm512_storeu_si512(places.as_mut_ptr().cast(), moved) };
    }
    true
}

/// The lanes of a register of four numbers, each as the two halves that a permutation names.
#[cfg(target_arch = "x86_64")]
type Lanes = [[u32; 2]; HALF];

/// Numbers that AVX2 holds in a register.
#[cfg(target_arch = "x86_64")]
const HALF: usize = LANES / 2;

#[cfg(target_arch = "x86_64")]
const fn lane(number: usize) -> [u32; 2] {
    [2 * number as u32, 2 * number as u32 + 1]
}

/// At 4·first + free: lanes behind `first` up to `free` come from the lane before them.
#[cfg(target_arch = "x86_64")]
const MOVED: [Lanes; HALF * HALF] = {
    let mut moved = [[[0; 2]; HALF]; HALF * HALF];
    let mut at = 0;
    while at < HALF * HALF * HALF {
        let (first, free, number) = (at / HALF / HALF, at / HALF % HALF, at % HALF);
        let behind = first < number && number <= free;
        moved[at / HALF][number] = lane(if behind { number - 1 } else { number });
        at += 1;
    }
    moved
};

/// All ones in one lane.
#[cfg(target_arch = "x86_64")]
const ONE_LANE: [[u64; HALF]; HALF] = {
    let mut one = [[0; HALF]; HALF];
    let mut at = 0;
    while at < HALF {
        one[at][at] = u64::MAX;
        at += 1;
    }
    one
};

/// At a mask of lanes: those lanes, one after another.
#[cfg(target_arch = "x86_64")]
const TAKEN: [Lanes; 1 << HALF] = {
    let mut taken = [[[0; 2]; HALF]; 1 << HALF];
    let mut mask = 0;
    while mask < 1 << HALF {
        let (mut number, mut kept) = (0, 0);
        while number < HALF {
            if mask >> number & 1 == 1 {
                taken[mask][kept] = lane(number);
                kept += 1;
            }
            number += 1;
        }
        mask += 1;
    }
    taken
};

/// The same with four places, whose new order is looked up.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
fn fill_avx2(table: &mut [u64], shift: u32, values: &[u64]) -> bool {
    use std::arch::x86_64::*;
    let nothing = _mm256_set1_epi64x(FREE as i64);
    // There is no comparison of numbers without a sign.
    let sign = _mm256_set1_epi64x(i64::MIN);
    for &value in values {
        let home = (value >> shift) as usize;
        let places = &mut table[home..home + HALF];
        let new = _mm256_set1_epi64x(value as i64);
        // SAFETY: both are four numbers long.
        let found = unsafe { _mm256_loadu_si256(places.as_ptr().cast()) };
        let less = _mm256_cmpgt_epi64(_mm256_xor_si256(new, sign), _mm256_xor_si256(found, sign));
        let ends = _mm256_or_si256(_mm256_cmpeq_epi64(found, nothing), _mm256_cmpeq_epi64(found, new));
        let ends = _mm256_movemask_pd(_mm256_castsi256_pd(ends)) as u32;
        if ends == 0 {
            if !put(table, home, value) {
                return false;
            }
            continue;
        }
        // Values stand in their order up to the first free place, and what stands behind it is greater. A value that is
        // there already stands where it belongs.
        let first = _mm256_movemask_pd(_mm256_castsi256_pd(less)).count_ones() as usize;
        let free = ends.trailing_zeros() as usize;
        // SAFETY: both are four numbers long; what is less stands before the first free place, and there is one.
        unsafe {
            let order = _mm256_loadu_si256(MOVED.get_unchecked(first * HALF + free).as_ptr().cast());
            let lane = _mm256_loadu_si256(ONE_LANE.get_unchecked(first).as_ptr().cast());
            let moved = _mm256_blendv_epi8(_mm256_permutevar8x32_epi32(found, order), new, lane);
            _mm256_storeu_si256(places.as_mut_ptr().cast(), moved);
        }
    }
    true
}

/// A list becomes the ordered set of its values.
pub fn to_set(values: &mut Vec<u64>, ordered: &mut Ordered) {
    let mut set = Vec::with_capacity(values.len());
    ordered.append(values, &mut set);
    *values = set;
}

/// Moves what stands in the table to the front of `out`, which has room for it and a block more; how many that were.
fn compact(table: &mut [u64], out: &mut [MaybeUninit<u64>]) -> usize {
    #[cfg(target_arch = "x86_64")]
    match cpu::level() {
        // SAFETY: `level` has just tested for the instructions.
        cpu::Level::Avx512 => return unsafe { compact_avx512(table, out) },
        // SAFETY: likewise.
        cpu::Level::Avx2 => return unsafe { compact_avx2(table, out) },
        cpu::Level::Portable => {}
    }
    let mut kept = 0;
    for place in table {
        let value = std::mem::replace(place, FREE);
        // What is free is written over by what follows.
        out[kept].write(value);
        kept += usize::from(value != FREE);
    }
    kept
}

/// Eight places at a time; how many were taken.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,popcnt")]
fn compact_avx512(table: &mut [u64], out: &mut [MaybeUninit<u64>]) -> usize {
    use std::arch::x86_64::*;
    let nothing = _mm512_set1_epi64(FREE as i64);
    let mut kept = 0;
    for block in table.chunks_exact_mut(LANES) {
        let room = &mut out[kept..kept + LANES];
        // SAFETY: both are eight numbers long.
        unsafe {
            let values = _mm512_loadu_si512(block.as_ptr().cast());
            _mm512_storeu_si512(block.as_mut_ptr().cast(), nothing);
            let taken = _mm512_cmpneq_epi64_mask(values, nothing);
            _mm512_storeu_si512(room.as_mut_ptr().cast(), _mm512_maskz_compress_epi64(taken, values));
            kept += taken.count_ones() as usize;
        }
    }
    kept
}

/// Four places at a time.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,popcnt")]
fn compact_avx2(table: &mut [u64], out: &mut [MaybeUninit<u64>]) -> usize {
    use std::arch::x86_64::*;
    let nothing = _mm256_set1_epi64x(FREE as i64);
    let mut kept = 0;
    for block in table.chunks_exact_mut(HALF) {
        let room = &mut out[kept..kept + HALF];
        // SAFETY: both are four numbers long, and a mask of four lanes has an order.
        unsafe {
            let values = _mm256_loadu_si256(block.as_ptr().cast());
            _mm256_storeu_si256(block.as_mut_ptr().cast(), nothing);
            let free = _mm256_castsi256_pd(_mm256_cmpeq_epi64(values, nothing));
            let taken = _mm256_movemask_pd(free) as usize ^ ((1 << HALF) - 1);
            let order = _mm256_loadu_si256(TAKEN.get_unchecked(taken).as_ptr().cast());
            _mm256_storeu_si256(room.as_mut_ptr().cast(), _mm256_permutevar8x32_epi32(values, order));
            kept += taken.count_ones() as usize;
        }
    }
    kept
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::format::splitmix;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    pub(crate) fn ordered(values: &[u64]) -> Vec<u64> {
        let mut out = vec![7];
        Ordered::default().append(values, &mut out);
        assert_eq!(out.remove(0), 7);
        out
    }

    /// Few and many values, even and crowded, the greatest among them.
    pub(crate) fn values() -> impl Strategy<Value = Vec<u64>> {
        let value = prop_oneof![
            8 => (0u64..300).prop_map(|value| splitmix(3, value)),
            1 => Just(u64::MAX),
            1 => 0u64..4,
            1 => (0u64..4).prop_map(|value| u64::MAX - value),
        ];
        prop_oneof![
            proptest::collection::vec(any::<u64>(), 0..600),
            proptest::collection::vec(0u64..300, 0..600),
            proptest::collection::vec(value, 0..600),
        ]
    }

    proptest! {
        #[test]
        fn sets_are_sorted_and_without_repetition(values in values()) {
            let expected: Vec<u64> = BTreeSet::from_iter(values.iter().copied()).into_iter().collect();
            prop_assert_eq!(ordered(&values), expected);
        }
    }

    /// The table that a way of filling makes, and what a way of compacting makes of it.
    fn by(
        fill: impl Fn(&mut [u64], u32, &[u64]) -> bool,
        compact: impl Fn(&mut [u64], &mut [MaybeUninit<u64>]) -> usize,
        values: &[u64],
        bits: u32,
    ) -> Option<(Vec<u64>, Vec<u64>)> {
        let mut table = vec![FREE; (1 << bits) + REACH];
        fill(&mut table, 64 - bits, values).then(|| {
            let filled = table.clone();
            let mut set = Vec::with_capacity(values.len() + LANES);
            let taken = compact(&mut table, set.spare_capacity_mut());
            // SAFETY: so many were written.
            unsafe { set.set_len(taken) };
            assert!(table.iter().all(|&place| place == FREE));
            (filled, set)
        })
    }

    proptest! {
        #[test]
        fn places_are_filled_alike(values in values(), bits in 4u32..12) {
            let from = |home: fn(u64, u32) -> usize| {
                move |table: &mut [u64], shift: u32, values: &[u64]| {
                    values.iter().all(|&value| put(table, home(value, shift), value))
                }
            };
            let taken = |table: &mut [u64], out: &mut [MaybeUninit<u64>]| {
                let there = table.iter_mut().map(|place| std::mem::replace(place, FREE)).filter(|&value| value != FREE);
                out.iter_mut().zip(there).map(|(place, value)| place.write(value)).count()
            };
            let expected = by(from(|value, shift| (value >> shift) as usize), taken, &values, bits);
            if cpu::level() == cpu::Level::Avx512 {
                let by_lines = by(from(line), taken, &values, bits);
                prop_assert_eq!(by(fill, compact, &values, bits), by_lines.clone());
                if let (Some((_, set)), Some((_, by_lines))) = (&expected, by_lines) {
                    prop_assert_eq!(set, &by_lines);
                }
            } else {
                prop_assert_eq!(by(fill, compact, &values, bits), expected.clone());
            }
            #[cfg(target_arch = "x86_64")]
            if cpu::level() != cpu::Level::Portable {
                // SAFETY: machines with AVX-512 have AVX2.
                let fill = |table: &mut [u64], shift, values: &[u64]| unsafe { fill_avx2(table, shift, values) };
                // SAFETY: likewise.
                let compact = |table: &mut [u64], out: &mut [MaybeUninit<u64>]| unsafe { compact_avx2(table, out) };
                prop_assert_eq!(by(fill, compact, &values, bits), expected);
            }
        }

        #[test]
        fn one_list_leaves_nothing_for_the_next(lists in proptest::collection::vec(values(), 1..5)) {
            let mut maker = Ordered::default();
            for list in lists {
                let mut set = Vec::new();
                maker.append(&list, &mut set);
                prop_assert_eq!(set, BTreeSet::from_iter(list).into_iter().collect::<Vec<u64>>());
            }
        }
    }

    #[test]
    fn values_that_crowd_are_sorted_too() {
        let crowd: Vec<u64> = (0..5000).rev().collect();
        assert_eq!(ordered(&crowd), (0..5000).collect::<Vec<_>>());
        let end: Vec<u64> = (0..5000).map(|value| u64::MAX - value).collect();
        assert_eq!(ordered(&end), (0..5000).rev().map(|value| u64::MAX - value).collect::<Vec<_>>());
    }

    #[test]
    fn long_lists() {
        // One beyond the length that a table is used for, one within.
        for length in [LONGEST as u64 + 9, LONGEST as u64] {
            let values: Vec<u64> = (0..length).map(|at| splitmix(1, at / 2)).collect();
            let expected: Vec<u64> = BTreeSet::from_iter(values.iter().copied()).into_iter().collect();
            assert_eq!(ordered(&values), expected);
        }
    }
}
