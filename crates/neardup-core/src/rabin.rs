//! Rabin's fingerprints: a string as a polynomial over GF(2), reduced modulo an irreducible one.
//!
//! Source: Rabin 1981; Broder, "Some applications of Rabin's fingerprinting method", 1993; the choice of
//! Henzinger 2006 (§2) for terms and shingles. The modulus is x⁶⁴ + x⁴ + x³ + x + 1, irreducible over GF(2).
//! A leading 1 is put before the string so that leading zero bytes count. Cost: one table look-up a byte.
//! Unlike the default hash its collision probability is proven for any two fixed strings and a random modulus:
//! at most (length in bits) / 2⁶⁴.

/// The modulus without its leading term.
pub const MODULUS: u64 = 0b11011;

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

    fn multiply(mut a: u64, mut b: u64) -> u64 {
        let mut product = 0;
        while b != 0 {
            if b & 1 == 1 {
                product ^= a;
            }
            a = (a << 1) ^ (if a >> 63 == 1 { MODULUS } else { 0 });
            b >>= 1;
        }
        product
    }

    #[test]
    fn the_modulus_is_irreducible() {
        // Rabin's own test for degree 64 = 2^6: x^(2^64) = x, and x^(2^32) - x is prime to the modulus, which
        // here means it is not zero and x^(2^32) has no fixed relation to x (64 has the one prime factor 2).
        let mut power = 2u64;
        let mut halfway = 0;
        for step in 1..=64 {
            power = multiply(power, power);
            if step == 32 {
                halfway = power ^ 2;
            }
        }
        assert_eq!(power, 2);
        assert_eq!(common_divisor_degree(halfway), 0);
    }

    /// Degree of gcd(modulus, other).
    fn common_divisor_degree(other: u64) -> u32 {
        let (mut a, mut b) = (1u128 << 64 | u128::from(MODULUS), u128::from(other));
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
