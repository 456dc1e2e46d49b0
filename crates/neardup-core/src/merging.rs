//! How many elements two ordered sets share.
//!
//! They are merged eight elements against eight: every element of one block is compared with every element of the other
//! in vector registers, and the block that ends first is moved on. Sets lie all over the memory, so elements are fetched
//! before they are compared, and the first ones of a set before its turn comes.
//!
//! Cost: about one comparison in registers an element.

use crate::cpu::{self, dispatch, variants};

/// Elements of a block.
const LANES: usize = 8;
/// How far behind what is compared the next elements are fetched.
const AHEAD: usize = 6 * LANES;

/// A set whose elements will be asked for soon: its first ones are fetched.
pub fn expect(set: &[u64]) {
    (0..AHEAD.min(set.len())).step_by(LANES).for_each(|at| cpu::fetch(set, at));
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

/// `merge` by the best instructions there are.
#[inline(always)]
fn merged(a: &[u64], b: &[u64], allowed: usize) -> usize {
    #[cfg(target_arch = "x86_64")]
    if cpu::level() == cpu::Level::Avx2 {
        // SAFETY: `level` has just tested for the instructions.
        return unsafe { merge_avx2(a, b, allowed) };
    }
    dispatch!(merge(a, b, allowed))
}

variants!(fn merge(a: &[u64], b: &[u64], allowed: usize) -> usize);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ordered::tests::{ordered, values};
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
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
            let merged = crate::cpu::assert_variants_agree!(merge(&a, &b, allowed));
            #[cfg(target_arch = "x86_64")]
            if cpu::level() != cpu::Level::Portable {
                // SAFETY: machines with AVX-512 have AVX2.
                prop_assert_eq!(unsafe { merge_avx2(&a, &b, allowed) }, merged);
            }
        }
    }
}
