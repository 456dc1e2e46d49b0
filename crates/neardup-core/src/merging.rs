//! How many elements two ordered sets share.
//!
//! They are merged eight elements against eight: every element of one block is compared with every element of the other
//! in vector registers, and the block that ends first is moved on; with AVX-512 both are, as far as the other reaches, and
//! both halves of the sets in turns. Sets lie all over the memory, so elements are fetched before they are compared, and
//! the first ones of a set, or of its halves, before its turn comes.
//!
//! Cost: about one comparison in registers an element; half of one with AVX-512.

use crate::cpu;

/// Elements of a block.
const LANES: usize = 8;
/// How far behind what is compared the next elements are fetched.
const AHEAD: usize = 6 * LANES;

/// A set whose elements will be asked for soon: its first ones are fetched.
pub fn expect(set: &[u64]) {
    let half = set.len() / 2;
    for from in [0, half] {
        (from..(from + AHEAD).min(set.len())).step_by(LANES).for_each(|at| cpu::fetch(set, at));
    }
}

/// |A ∩ B| of two ordered sets.
pub fn shared(a: &[u64], b: &[u64]) -> usize {
    merged(a, b, usize::MAX / 2)
}

/// |A ∩ B| / |A ∪ B| of two ordered sets; of two empty ones, 0: there is nothing they share.
pub fn jaccard(a: &[u64], b: &[u64]) -> f64 {
    let shared = shared(a, b);
    let union = a.len() + b.len() - shared;
    if union == 0 { 0.0 } else { shared as f64 / union as f64 }
}

/// |A ∩ B| of two ordered sets, or none as soon as more than `allowed` elements are known to be in one of them only.
pub fn shared_within(a: &[u64], b: &[u64], allowed: usize) -> Option<usize> {
    let count = merged(a, b, allowed);
    (count != usize::MAX).then_some(count)
}

#[inline(always)]
fn merge(a: &[u64], b: &[u64], allowed: usize) -> usize {
    merge_by(a, b, allowed, 0, |count, a, b| count + common(a, b), |count| count)
}

/// What blocks have in common is counted by `count`, from `none` on; `sum` tells how much that is.
#[inline(always)]
fn merge_by<C: Copy>(
    a: &[u64],
    b: &[u64],
    allowed: usize,
    none: C,
    count: impl Fn(C, &[u64; LANES], &[u64; LANES]) -> C,
    sum: impl Fn(C) -> usize,
) -> usize {
    const STRETCH: usize = 16;
    let (mut at_a, mut at_b, mut shared) = (0, 0, 0);
    while at_a + LANES <= a.len() && at_b + LANES <= b.len() {
        let mut counted = none;
        for _ in 0..STRETCH {
            if at_a + LANES > a.len() || at_b + LANES > b.len() {
                break;
            }
            let block_a: &[u64; LANES] = a[at_a..at_a + LANES].try_into().expect("eight");
            let block_b: &[u64; LANES] = b[at_b..at_b + LANES].try_into().expect("eight");
            cpu::fetch(a, at_a + AHEAD);
            cpu::fetch(b, at_b + AHEAD);
            counted = count(counted, block_a, block_b);
            let (last_a, last_b) = (block_a[LANES - 1], block_b[LANES - 1]);
            at_a += LANES * usize::from(last_a <= last_b);
            at_b += LANES * usize::from(last_b <= last_a);
        }
        shared += sum(counted);
        // So many elements were passed and not found in both sets, at least.
        if at_a + at_b > 2 * shared + allowed {
            return usize::MAX;
        }
    }
    shared + merge_rest(&a[at_a..], &b[at_b..])
}

/// What is left when one of the sets has no whole block any more.
#[inline(always)]
fn merge_rest(a: &[u64], b: &[u64]) -> usize {
    let (mut at_a, mut at_b, mut shared) = (0, 0, 0);
    while at_a < a.len() && at_b < b.len() {
        let (x, y) = (a[at_a], b[at_b]);
        shared += usize::from(x == y);
        at_a += usize::from(x <= y);
        at_b += usize::from(y <= x);
    }
    shared
}

#[inline(always)]
fn common(a: &[u64; LANES], b: &[u64; LANES]) -> usize {
    let mut hits = [0u64; LANES];
    for turn in 0..LANES {
        for lane in 0..LANES {
            hits[lane] |= u64::from(a[lane] == b[(lane + turn) % LANES]);
        }
    }
    hits.iter().sum::<u64>() as usize
}

/// Numbers that AVX2 holds in a register.
#[cfg(target_arch = "x86_64")]
const HALF: usize = LANES / 2;

/// `merge`, counted lane by lane: the compiler packs every comparison of `common` into bytes.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
fn merge_avx2(a: &[u64], b: &[u64], allowed: usize) -> usize {
    use std::arch::x86_64::*;
    // SAFETY: each half is four numbers long.
    let half = |of: &[u64; LANES], from: usize| unsafe { _mm256_loadu_si256(of[from..].as_ptr().cast()) };
    let count = |mut counts: [__m256i; 4], a: &[u64; LANES], b: &[u64; LANES]| {
        let (lower, upper) = (half(a, 0), half(a, HALF));
        for from in [0, HALF] {
            // Four orders in which every lane stands in every place once. Nothing is twice in a set, so no element has
            // more than one hit; a hit is all ones, −1.
            let plain = half(b, from);
            let swapped = _mm256_permute2x128_si256::<1>(plain, plain);
            for (order, at) in [(plain, 0), (swapped, 2)] {
                let neighbours = _mm256_shuffle_epi32::<0b01_00_11_10>(order);
                for order in [order, neighbours] {
                    counts[at] = _mm256_sub_epi64(counts[at], _mm256_cmpeq_epi64(lower, order));
                    counts[at + 1] = _mm256_sub_epi64(counts[at + 1], _mm256_cmpeq_epi64(upper, order));
                }
            }
        }
        counts
    };
    let sum = |[a, b, c, d]: [__m256i; 4]| {
        let all = _mm256_add_epi64(_mm256_add_epi64(a, b), _mm256_add_epi64(c, d));
        let halves = _mm_add_epi64(_mm256_castsi256_si128(all), _mm256_extracti128_si256::<1>(all));
        (_mm_extract_epi64::<0>(halves) + _mm_extract_epi64::<1>(halves)) as usize
    };
    merge_by(a, b, allowed, [_mm256_setzero_si256(); 4], count, sum)
}

/// Two sets, how far they were compared, and what they share so far.
#[cfg(target_arch = "x86_64")]
struct Pass<'a> {
    a: &'a [u64],
    b: &'a [u64],
    at_a: usize,
    at_b: usize,
    shared: usize,
}

#[cfg(target_arch = "x86_64")]
impl<'a> Pass<'a> {
    fn new(a: &'a [u64], b: &'a [u64]) -> Self {
        Pass { a, b, at_a: 0, at_b: 0, shared: 0 }
    }

    /// Whether both have a whole block left.
    #[inline(always)]
    fn has_blocks(&self) -> bool {
        self.at_a + LANES <= self.a.len() && self.at_b + LANES <= self.b.len()
    }

    /// Elements that were passed and not found in both sets.
    #[inline(always)]
    fn differing(&self) -> usize {
        self.at_a + self.at_b - 2 * self.shared
    }

    /// Compares a block with a block. Both are moved on as far as the other one reaches, for so far all is decided: half
    /// as many steps as if only the one that ends first were, but each waits for the one before it.
    #[inline]
    #[target_feature(enable = "avx512f,bmi1,bmi2,popcnt")]
    fn step(&mut self) {
        use std::arch::x86_64::*;
        let (a, b) = (&self.a[self.at_a..self.at_a + LANES], &self.b[self.at_b..self.at_b + LANES]);
        cpu::fetch(self.a, self.at_a + AHEAD);
        cpu::fetch(self.b, self.at_b + AHEAD);
        // SAFETY: both are eight numbers long.
        let (one, other) =
            unsafe { (_mm512_loadu_si512(a.as_ptr().cast()), _mm512_loadu_si512(b.as_ptr().cast())) };
        self.compare([one, other], [u8::MAX; 2], [a[LANES - 1], b[LANES - 1]]);
    }

    /// The same of what is left, which may be less than a block.
    #[inline]
    #[target_feature(enable = "avx512f,bmi1,bmi2,popcnt")]
    fn last_step(&mut self) {
        use std::arch::x86_64::*;
        let some = |list: &'a [u64]| &list[..list.len().min(LANES)];
        let (a, b) = (some(&self.a[self.at_a..]), some(&self.b[self.at_b..]));
        let there = [a, b].map(|block| (u8::MAX as u16 >> (LANES - block.len())) as u8);
        // SAFETY: lanes beyond a block are not read. The other block's are filled with its first element, so that they
        // hit nothing but what that hits.
        let (one, other) = unsafe {
            let first = _mm512_set1_epi64(b[0] as i64);
            (
                _mm512_maskz_loadu_epi64(there[0], a.as_ptr().cast()),
                _mm512_mask_loadu_epi64(first, there[1], b.as_ptr().cast()),
            )
        };
        self.compare([one, other], there, [a[a.len() - 1], b[b.len() - 1]]);
    }

    /// Two blocks, which of their lanes are there, and the last element of each.
    #[inline]
    #[target_feature(enable = "avx512f,bmi1,bmi2,popcnt")]
    fn compare(&mut self, [a, b]: [std::arch::x86_64::__m512i; 2], there: [u8; 2], last: [u64; 2]) {
        use std::arch::x86_64::*;
        let last = last.map(|value| _mm512_set1_epi64(value as i64));
        self.at_a += (_mm512_cmple_epu64_mask(a, last[1]) & there[0]).count_ones() as usize;
        self.at_b += (_mm512_cmple_epu64_mask(b, last[0]) & there[1]).count_ones() as usize;
        let hits = _mm512_cmpeq_epi64_mask(a, b)
            | _mm512_cmpeq_epi64_mask(a, _mm512_alignr_epi64::<1>(b, b))
            | _mm512_cmpeq_epi64_mask(a, _mm512_alignr_epi64::<2>(b, b))
            | _mm512_cmpeq_epi64_mask(a, _mm512_alignr_epi64::<3>(b, b))
            | _mm512_cmpeq_epi64_mask(a, _mm512_alignr_epi64::<4>(b, b))
            | _mm512_cmpeq_epi64_mask(a, _mm512_alignr_epi64::<5>(b, b))
            | _mm512_cmpeq_epi64_mask(a, _mm512_alignr_epi64::<6>(b, b))
            | _mm512_cmpeq_epi64_mask(a, _mm512_alignr_epi64::<7>(b, b));
        self.shared += (hits & there[0]).count_ones() as usize;
    }
}

/// Where two sets are cut: what stands before the one place is less than all that stands behind the other.
#[cfg(target_arch = "x86_64")]
fn middle(a: &[u64], b: &[u64]) -> (usize, usize) {
    let at_a = a.len() / 2;
    let Some(&least) = a.get(at_a) else { return (0, 0) };
    // Hashes lie evenly: the place in the one is near the place in the other.
    let mut at_b = b.len() / 2;
    while at_b > 0 && b[at_b - 1] >= least {
        at_b = at_b.saturating_sub(LANES);
    }
    while at_b + LANES <= b.len() && b[at_b + LANES - 1] < least {
        at_b += LANES;
    }
    let block = &b[at_b..b.len().min(at_b + LANES)];
    (at_a, at_b + block.iter().filter(|&&value| value < least).count())
}

/// `merge` with eight numbers in a register, of both halves of the sets in turns: while a step of the one waits for the
/// step before it, the other goes on.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,bmi1,bmi2,popcnt")]
fn merge_avx512(a: &[u64], b: &[u64], allowed: usize) -> usize {
    const STRETCH: usize = 8;
    let (at_a, at_b) = middle(a, b);
    let (mut lower, mut upper) = (Pass::new(&a[..at_a], &b[..at_b]), Pass::new(&a[at_a..], &b[at_b..]));
    while lower.has_blocks() && upper.has_blocks() {
        for _ in 0..STRETCH {
            if !(lower.has_blocks() && upper.has_blocks()) {
                break;
            }
            lower.step();
            upper.step();
        }
        if lower.differing() + upper.differing() > allowed {
            return usize::MAX;
        }
    }
    for pass in [&mut lower, &mut upper] {
        while pass.has_blocks() {
            pass.step();
        }
        while pass.at_a < pass.a.len() && pass.at_b < pass.b.len() {
            pass.last_step();
        }
    }
    lower.shared + upper.shared
}

/// `merge` by the best instructions there are.
#[inline(always)]
fn merged(a: &[u64], b: &[u64], allowed: usize) -> usize {
    #[cfg(target_arch = "x86_64")]
    match cpu::level() {
        // SAFETY: `level` has just tested for the instructions.
        cpu::Level::Avx512 => return unsafe { merge_avx512(a, b, allowed) },
        // SAFETY: likewise.
        cpu::Level::Avx2 => return unsafe { merge_avx2(a, b, allowed) },
        cpu::Level::Portable => {}
    }
    merge(a, b, allowed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ordered::tests::{ordered, values};
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[cfg(target_arch = "x86_64")]
        #[test]
        fn halves_are_apart(a in values(), b in values()) {
            let (a, b) = (ordered(&a), ordered(&b));
            let (at_a, at_b) = middle(&a, &b);
            let (lower, upper) = (a[..at_a].iter().chain(&b[..at_b]).max(), a[at_a..].iter().chain(&b[at_b..]).min());
            prop_assert!(lower.zip(upper).is_none_or(|(lower, upper)| lower < upper));
        }

        #[test]
        fn blocks_count_the_intersection(a in values(), b in values(), from in 0usize..600, allowed in 0usize..700) {
            // The second shares a part of the first.
            let b: Vec<u64> = a.iter().skip(from).chain(&b).copied().collect();
            let (one, other) = (BTreeSet::from_iter(a.iter().copied()), BTreeSet::from_iter(b.iter().copied()));
            let (a, b) = (ordered(&a), ordered(&b));
            let expected = one.intersection(&other).count();
            prop_assert_eq!(shared(&a, &b), expected);
            let differing = a.len() + b.len() - 2 * expected;
            match shared_within(&a, &b, allowed) {
                Some(count) => prop_assert_eq!(count, expected),
                None => prop_assert!(differing > allowed),
            }
            let mut ways = vec![merge(&a, &b, allowed)];
            #[cfg(target_arch = "x86_64")]
            {
                if cpu::level() != cpu::Level::Portable {
                    // SAFETY: machines with AVX-512 have AVX2.
                    ways.push(unsafe { merge_avx2(&a, &b, allowed) });
                }
                if cpu::level() == cpu::Level::Avx512 {
                    // SAFETY: `level` has just tested for the instructions.
                    ways.push(unsafe { merge_avx512(&a, &b, allowed) });
                }
            }
            for count in ways {
                // Where too much differs, a way may notice or not.
                prop_assert!(count == expected || (count == usize::MAX && differing > allowed), "{}", count);
            }
        }
    }
}
