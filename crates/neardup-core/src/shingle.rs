//! Shingles: fingerprints of every k consecutive tokens of a page (Broder et al. 1997; Henzinger 2006 §2).
//!
//! A window of k tokens is a polynomial hash of them (mod 2⁶⁴, odd base), then mixed: short ones are put together of
//! shorter ones, many places at a time in vector registers, a long one is moved on by two multiplications a token. Tokens
//! are 64-bit hashes already, so two different windows collide with probability about 2⁻⁶⁴.
//! The window does not wrap around; a page of fewer than k tokens is one shingle, all of it. Cost: O(tokens).
//! Rabin's fingerprint of the window, the paper's choice, mixed likewise, is [`rabin_shingles`]: the same sets up to
//! collisions.

use crate::cpu::{dispatch, variants};
use crate::format::{SEED_SHINGLE, splitmix};
use crate::hash::mix;
use crate::rabin;

const BASE: u64 = splitmix(SEED_SHINGLE, 0) | 1;
const SPREAD: u64 = splitmix(SEED_SHINGLE, 1) | 1;

/// Appends the shingles of `tokens` to `out`, in order, repetitions included.
pub fn shingles(tokens: &[u64], k: usize, out: &mut Vec<u64>) {
    if tokens.is_empty() || k == 0 {
        return;
    }
    let k = k.min(tokens.len());
    if k <= SHORT {
        let from = out.len();
        out.extend_from_slice(tokens);
        dispatch!(sums(tokens, k, &mut out[from..]));
        return out.truncate(from + tokens.len() - k + 1);
    }
    let leaving = (0..k).fold(1u64, |power, _| power.wrapping_mul(BASE));
    let first = tokens[..k].iter().fold(0u64, |sum, &token| sum.wrapping_mul(BASE).wrapping_add(token));
    out.reserve(tokens.len() - k + 1);
    out.push(spread(first));
    let mut sum = first;
    out.extend(tokens[k..].iter().zip(tokens).map(|(&enters, &leaves)| {
        sum = sum.wrapping_mul(BASE).wrapping_add(enters).wrapping_sub(leaves.wrapping_mul(leaving));
        spread(sum)
    }));
}

/// Windows up to this length are put together of shorter ones.
const SHORT: usize = 10;

/// The windows of every length come of shorter ones: those of 2m tokens are sums of m, moved on and added to the sums m
/// places behind; one token more is moved on and added likewise. So the digits of k say what is done, to all places in
/// turn, while the page is in the nearest cache: for k = 8 three multiplications a place instead of seven.
///
/// `out` begins as the tokens, windows of one; the last k − 1 places of it mean nothing behind this.
#[inline(always)]
fn sums(tokens: &[u64], k: usize, out: &mut [u64]) {
    let (mut length, mut power) = (1, BASE);
    for digit in (0..k.ilog2()).rev() {
        double(out, length, power);
        (length, power) = (2 * length, power.wrapping_mul(power));
        if k >> digit & 1 == 1 {
            out.iter_mut().zip(&tokens[length..]).for_each(|(sum, &next)| {
                *sum = sum.wrapping_mul(BASE).wrapping_add(next);
            });
            (length, power) = (length + 1, power.wrapping_mul(BASE));
        }
    }
    out.iter_mut().for_each(|sum| *sum = spread(*sum));
}

variants!(fn sums(tokens: &[u64], k: usize, out: &mut [u64]) -> ());

/// Sums of windows of `length` tokens become those of twice as many; `power` is what a sum is multiplied by to be moved on
/// by so many.
#[inline(always)]
fn double(sums: &mut [u64], length: usize, power: u64) {
    const LANES: usize = 32;
    let places = sums.len() - length;
    let whole = places / LANES * LANES;
    for at in (0..whole).step_by(LANES) {
        let behind: [u64; LANES] = sums[at + length..][..LANES].try_into().expect("a sum for each lane");
        let here = &mut sums[at..at + LANES];
        for lane in 0..LANES {
            here[lane] = here[lane].wrapping_mul(power).wrapping_add(behind[lane]);
        }
    }
    for at in whole..places {
        sums[at] = sums[at].wrapping_mul(power).wrapping_add(sums[at + length]);
    }
}

/// The shingle of one token.
#[inline(always)]
pub fn single(token: u64) -> u64 {
    spread(token)
}

/// A bijection after which the high half depends on every bit.
#[inline(always)]
fn spread(sum: u64) -> u64 {
    (sum ^ (sum >> 32)).wrapping_mul(SPREAD)
}

/// The shingles as Rabin fingerprints, each mixed: a bijection, after which every part of it depends on all of the window.
/// (Windows that differ in their last token alone, a short one, have the same high half without.)
pub fn rabin_shingles(tokens: &[u64], k: usize, out: &mut Vec<u64>) {
    if !tokens.is_empty() && k > 0 {
        out.extend(tokens.windows(k.min(tokens.len())).map(|window| mix(rabin::fingerprint_words(window))));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn naive(tokens: &[u64], k: usize) -> Vec<u64> {
        let windows = tokens.windows(k.min(tokens.len()).max(1));
        let sums = windows.map(|window| {
            let power = |exponent: usize| (0..exponent).fold(1u64, |power, _| power.wrapping_mul(BASE));
            let terms = window.iter().rev().enumerate().map(|(at, token)| token.wrapping_mul(power(at)));
            terms.fold(0u64, u64::wrapping_add)
        });
        sums.map(spread).collect()
    }

    proptest! {
        #[test]
        fn both_ways_agree_with_the_sum(tokens in proptest::collection::vec(any::<u64>(), 0..150), k in 1usize..14) {
            let mut rolled = Vec::new();
            shingles(&tokens, k, &mut rolled);
            prop_assert_eq!(rolled, naive(&tokens, k));
            #[cfg(target_arch = "x86_64")]
            if (1..=SHORT.min(tokens.len())).contains(&k) {
                let plain = |sums: unsafe fn(&[u64], usize, &mut [u64])| {
                    let mut out = tokens.clone();
                    // SAFETY: only what this machine can do is passed in.
                    unsafe { sums(&tokens, k, &mut out) };
                    out.truncate(tokens.len() - k + 1);
                    out
                };
                let level = crate::cpu::level();
                prop_assert_eq!(plain(sums), naive(&tokens, k));
                if level != crate::cpu::Level::Portable {
                    prop_assert_eq!(plain(sums::avx2), naive(&tokens, k));
                }
                if level == crate::cpu::Level::Avx512 {
                    prop_assert_eq!(plain(sums::avx512), naive(&tokens, k));
                }
            }
        }

        #[test]
        fn rabin_makes_the_same_distinctions(tokens in proptest::collection::vec(0u64..4, 1..40), k in 1usize..5) {
            let (mut fast, mut rabin) = (Vec::new(), Vec::new());
            shingles(&tokens, k, &mut fast);
            rabin_shingles(&tokens, k, &mut rabin);
            for a in 0..fast.len() {
                for b in 0..fast.len() {
                    prop_assert_eq!(fast[a] == fast[b], rabin[a] == rabin[b]);
                }
            }
        }
    }

    #[test]
    fn a_short_page_is_one_shingle() {
        let mut short = Vec::new();
        shingles(&[5, 6, 7], 8, &mut short);
        assert_eq!(short.len(), 1);
        shingles(&[], 8, &mut short);
        assert_eq!(short.len(), 1);
    }
}
