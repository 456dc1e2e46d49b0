//! Rabin's fingerprints: a string as a polynomial over GF(2), reduced modulo an irreducible one.
//!
//! Source: Rabin 1981; Broder, "Some applications of Rabin's fingerprinting method", 1993; the choice of
//! Henzinger 2006 (§2) for terms and shingles. The modulus is drawn at random, as the proof wants it: the first
//! irreducible polynomial of degree 64 in a stream of random numbers. (Of the few with five terms, such as
//! x⁶⁴ + x⁴ + x³ + x + 1, the high half of a remainder hardly depends on what came last.)
//! A leading 1 is put before the string so that leading zero bytes count. Cost: one table look-up a byte.
//! Unlike the default hash its collision probability is proven for any two fixed strings and a random modulus:
//! at most (length in bits) / 2⁶⁴. That is all that is proven: a string shorter than the modulus is its own fingerprint,
//! and the last eight bytes are only added to what came before, so half of a fingerprint says little. Who takes a part of
//! one mixes it first ([`crate::shingle::rabin_shingles`]).

use crate::format::{SEED_RABIN, splitmix};

/// The modulus without its leading term: [`DRAW`] is the first of the stream that is irreducible.
pub const MODULUS: u64 = splitmix(SEED_RABIN, DRAW) | 1;
const DRAW: u64 = 60;

const TABLE: [u64; 256] = table();

const fn table() -> [u64; 256] {
    let mut table = [0u64; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut value = (byte as u64) << 56;
        let mut bit = 0;
        while bit < 8 {
            value = (value << 1) ^ (if value >> 63 == 1 { MODULUS } else { 0 });
            bit += 1;
        }
        table[byte] = value;
        byte += 1;
    }
    table
}

#[inline(always)]
const fn append(state: u64, byte: u8) -> u64 {
    (state << 8 | byte as u64) ^ TABLE[(state >> 56) as usize]
}

/// The fingerprint of a string of bytes.
pub fn fingerprint(bytes: &[u8]) -> u64 {
    bytes.iter().fold(1, |state, &byte| append(state, byte))
}

/// The fingerprint of a sequence of 64-bit numbers, each as eight bytes, the highest first.
pub fn fingerprint_words(words: &[u64]) -> u64 {
    words.iter().fold(1, |state, word| word.to_be_bytes().into_iter().fold(state, append))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The definition, bit by bit.
    fn naive(bytes: &[u8]) -> u64 {
        let mut state = 1u64;
        for byte in bytes {
            for bit in (0..8).rev() {
                let overflow = state >> 63 == 1;
                state = state << 1 | u64::from(byte >> bit & 1);
                if overflow {
                    state ^= MODULUS;
                }
            }
        }
        state
    }

    fn multiply(mut a: u64, mut b: u64, modulus: u64) -> u64 {
        let mut product = 0;
        while b != 0 {
            if b & 1 == 1 {
                product ^= a;
            }
            a = (a << 1) ^ (if a >> 63 == 1 { modulus } else { 0 });
            b >>= 1;
        }
        product
    }

    /// Rabin's own test for degree 64 = 2⁶: x^(2⁶⁴) = x, and x^(2³²) − x is prime to the modulus.
    fn is_irreducible(modulus: u64) -> bool {
        let mut power = 2u64;
        let mut halfway = 0;
        for step in 1..=64 {
            power = multiply(power, power, modulus);
            if step == 32 {
                halfway = power ^ 2;
            }
        }
        power == 2 && common_divisor_degree(modulus, halfway) == 0
    }

    #[test]
    fn the_modulus_is_the_first_irreducible_one_of_its_stream() {
        assert_eq!(MODULUS, 0xdfdd_2379_ee3b_1121);
        assert_eq!((0..).find(|&draw| is_irreducible(splitmix(SEED_RABIN, draw) | 1)), Some(DRAW));
        assert!(is_irreducible(0b11011) && !is_irreducible(0b11001));
    }

    /// Degree of gcd(modulus, other).
    fn common_divisor_degree(modulus: u64, other: u64) -> u32 {
        let (mut a, mut b) = (1u128 << 64 | u128::from(modulus), u128::from(other));
        while b != 0 {
            while a != 0 && a.ilog2() >= b.ilog2() {
                a ^= b << (a.ilog2() - b.ilog2());
            }
            std::mem::swap(&mut a, &mut b);
        }
        a.ilog2()
    }

    proptest! {
        #[test]
        fn table_agrees_with_the_definition(bytes: Vec<u8>) {
            prop_assert_eq!(fingerprint(&bytes), naive(&bytes));
        }

        #[test]
        fn words_are_their_bytes(words: Vec<u64>) {
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
            prop_assert_eq!(fingerprint_words(&words), naive(&bytes));
        }
    }
}
