//! A few bits of a set that prove most pairs of sets too different without looking at them (the bitmap filter of
//! Sandes, Teodoro and Melo, 2017).
//!
//! Each element flips the bit that its own lowest bits name. An element that two sets share flips the same bit in both,
//! so the bits in which two parities differ are at most the elements in which the sets differ. A set of n elements has
//! about n bits, so that large sets are told apart as well as small ones.
//!
//! A parity of 2b bits says all that one of b bits says: folded, its halves added, it *is* that one. So it is kept as
//! its folding to 512 bits, then the upper half of the 1,024, then of the 2,048, and so on: two sets of different size
//! are compared as far as both reach, the first 64 bytes decide most pairs, and every step behind them sees more.
//! Cost: a flip an element; about a bit an element.

use crate::cpu::{dispatch, variants};

/// Words of the shortest parity.
pub const WORDS: usize = 8;
/// Words of the longest.
pub const MOST_WORDS: usize = 128;

/// How many words the parity of a set of so many elements has.
pub fn words(elements: usize) -> usize {
    elements.div_ceil(64).next_power_of_two().clamp(WORDS, MOST_WORDS)
}

/// Appends the parity of a set.
pub fn append(set: &[u64], out: &mut Vec<u64>) {
    let from = out.len();
    let count = words(set.len());
    out.resize(from + count, 0);
    let bits = &mut out[from..];
    for &element in set {
        bits[(element >> 6) as usize & (count - 1)] ^= 1 << (element & 63);
    }
    let mut half = count / 2;
    while half >= WORDS {
        let (folded, upper) = bits[..2 * half].split_at_mut(half);
        folded.iter_mut().zip(upper).for_each(|(folded, upper)| *folded ^= *upper);
        half /= 2;
    }
}

/// Whether two parities prove that more than `allowed` elements are in one of the sets only.
pub fn differ(a: &[u64], b: &[u64], allowed: usize) -> bool {
    dispatch!(differing_beyond(a, b, allowed))
}

#[inline(always)]
fn differing_beyond(a: &[u64], b: &[u64], allowed: usize) -> bool {
    let differing: u32 = a[..WORDS].iter().zip(&b[..WORDS]).map(|(a, b)| (a ^ b).count_ones()).sum();
    differing as usize > allowed || (a.len().min(b.len()) > WORDS && differ_behind(a, b, allowed))
}

variants!(fn differing_beyond(a: &[u64], b: &[u64], allowed: usize) -> bool);

/// The same by the words behind the first.
#[inline(always)]
fn differ_behind(a: &[u64], b: &[u64], allowed: usize) -> bool {
    let mut bits = [0u64; MOST_WORDS];
    let reach = a.len().min(b.len());
    for at in 0..WORDS {
        bits[at] = a[at] ^ b[at];
    }
    let mut known = WORDS;
    while known < reach {
        let (lower, upper) = bits[..2 * known].split_at_mut(known);
        let mut differing = 0;
        for at in 0..known {
            upper[at] = a[known + at] ^ b[known + at];
            lower[at] ^= upper[at];
            differing += (lower[at].count_ones() + upper[at].count_ones()) as usize;
        }
        if differing > allowed {
            return true;
        }
        known *= 2;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::splitmix;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn parity(set: &BTreeSet<u64>) -> Vec<u64> {
        let mut words = Vec::new();
        append(&set.iter().copied().collect::<Vec<_>>(), &mut words);
        words
    }

    /// The parity of `count` words by its definition.
    fn plain(set: &BTreeSet<u64>, count: usize) -> Vec<u64> {
        let mut words = vec![0u64; count];
        set.iter().for_each(|element| words[(element / 64) as usize % count] ^= 1 << (element % 64));
        words
    }

    /// Sets of very different sizes that share many elements.
    fn set() -> impl Strategy<Value = BTreeSet<u64>> {
        (prop_oneof![0u64..80, 500u64..3000], 1u64..30, 0u64..3).prop_map(|(size, keep, seed)| {
            (0..size)
                .filter(|&at| !splitmix(seed, at).is_multiple_of(keep))
                .map(|at| splitmix(9, at))
                .collect()
        })
    }

    proptest! {
        #[test]
        fn never_claims_too_much_and_sees_all_it_can(a in set(), b in set()) {
            let (one, other) = (parity(&a), parity(&b));
            let reach = one.len().min(other.len());
            let (plain_a, plain_b) = (plain(&a, reach), plain(&b, reach));
            // The finest level shows no fewer differing bits than any coarser one.
            let seen: u32 = plain_a.iter().zip(&plain_b).map(|(a, b)| (a ^ b).count_ones()).sum();
            let seen = seen as usize;
            prop_assert!(seen <= a.symmetric_difference(&b).count());
            prop_assert!(!differ(&one, &other, seen));
            crate::cpu::assert_variants_agree!(differing_beyond(&one, &other, seen / 2));
            prop_assert!(seen == 0 || differ(&one, &other, seen - 1));
        }
    }

    #[test]
    fn lengths() {
        for (elements, expected) in [(0, 8), (512, 8), (513, 16), (1024, 16), (8192, 128), (1 << 30, 128)] {
            assert_eq!(words(elements), expected, "{elements}");
        }
    }
}
