//! Manber's hashed breakpoints over bytes (USENIX 1994): of all substrings of n bytes those whose hash ends in a zero
//! byte.
//!
//! The text is the page's terms with one space between two. Every substring of n = 50 bytes is hashed by a polynomial
//! that rolls on by one multiplication a byte, and taken if the last byte of the (mixed) hash is 0: one in 256, spread
//! evenly, the same on every page that has the substring. Any modulus may be asked for. A text of fewer than n bytes is
//! one substring, taken whatever its hash. Cost: O(bytes), about six times as many steps as words.

use crate::format::{SEED_BYTES, splitmix};
use crate::hash::mix;
use crate::saturation;

const BASE: u64 = splitmix(SEED_BYTES, 0) | 1;

/// Appends what a page is compared by: the selected substrings, told apart where they saturate ([`crate::saturation`]).
pub fn select(text: &[u8], length: usize, modulus: u64, out: &mut Vec<u64>) {
    let from = out.len();
    substrings(text, length, modulus, out);
    saturation::tell_apart(&mut out[from..]);
}

/// Appends the hashes of the selected substrings, in order.
fn substrings(text: &[u8], length: usize, modulus: u64, out: &mut Vec<u64>) {
    if text.is_empty() || length == 0 {
        return;
    }
    let length = length.min(text.len());
    let leaving = (0..length).fold(1u64, |power, _| power.wrapping_mul(BASE));
    let first = text[..length].iter().fold(0u64, |sum, &byte| step(sum, byte));
    if length == text.len() {
        return out.push(mix(first));
    }
    let modulus = modulus.max(1);
    let mut take = |sum: u64| {
        let hash = mix(sum);
        if hash.is_multiple_of(modulus) {
            out.push(hash);
        }
    };
    take(first);
    let mut sum = first;
    for (&enters, &leaves) in text[length..].iter().zip(text) {
        sum = step(sum, enters).wrapping_sub(value(leaves).wrapping_mul(leaving));
        take(sum);
    }
}

/// Bytes are small numbers, on which a polynomial is weak: each stands for a random one.
#[inline(always)]
fn value(byte: u8) -> u64 {
    VALUES[byte as usize]
}

#[inline(always)]
fn step(sum: u64, byte: u8) -> u64 {
    sum.wrapping_mul(BASE).wrapping_add(value(byte))
}

static VALUES: [u64; 256] = {
    let mut values = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        values[byte] = splitmix(SEED_BYTES, 1 + byte as u64);
        byte += 1;
    }
    values
};

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn naive(text: &[u8], length: usize, modulus: u64) -> Vec<u64> {
        if text.is_empty() {
            return Vec::new();
        }
        let hash = |window: &[u8]| mix(window.iter().fold(0, |sum, &byte| step(sum, byte)));
        if text.len() <= length {
            return vec![hash(text)];
        }
        text.windows(length).map(hash).filter(|hash| hash % modulus == 0).collect()
    }

    proptest! {
        #[test]
        fn rolling_agrees_with_hashing_every_window(
            text in proptest::collection::vec(any::<u8>(), 0..200), length in 1usize..60, modulus in 1u64..8,
        ) {
            let mut found = Vec::new();
            substrings(&text, length, modulus, &mut found);
            prop_assert_eq!(found, naive(&text, length, modulus));
        }
    }

    #[test]
    fn one_substring_in_256_is_taken() {
        let text: Vec<u8> = (0..1_000_000u64).map(|at| b'a' + (splitmix(8, at) % 26) as u8).collect();
        let mut found = Vec::new();
        substrings(&text, 50, 256, &mut found);
        assert!(found.iter().all(|hash| hash & 0xff == 0));
        let expected = 999_951.0 / 256.0;
        // Five standard deviations of a Poisson number.
        assert!((found.len() as f64 - expected).abs() < 5.0 * f64::sqrt(expected), "{}", found.len());
    }
}
