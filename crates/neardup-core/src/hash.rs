//! From a term's bytes to a 64-bit token, and from a token sequence to its identity.
//!
//! The default is a folded multiplication: the 128-bit product of two words, its halves xor-ed. A term is taken
//! as blocks of 16 bytes, the last one padded with zeros, and its length starts the chain, so padding cannot
//! make two terms equal. Two multiplications for a term of up to 16 bytes, which is nearly every word, against
//! a table look-up a byte for [Rabin's fingerprints](crate::rabin), the choice of Henzinger 2006 (§2) and the
//! alternative here. No seed is secret: a hostile author may construct collisions with either.

use rayon::prelude::*;

use crate::ascii::{KEEP, first};
use crate::cpu::{dispatch, variants};
use crate::format::{SEED_IDENTITY, SEED_TERM, splitmix};
use crate::rabin;

const START: u64 = splitmix(SEED_TERM, 0);
const LENGTH: u64 = splitmix(SEED_TERM, 1) | 1;
const LOW: u64 = splitmix(SEED_TERM, 2);
const HIGH: u64 = splitmix(SEED_TERM, 3) | 1;
const END: u64 = splitmix(SEED_TERM, 4) | 1;

/// Which function turns a term into a token.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TermHash {
    #[default]
    Fold,
    Rabin,
}

impl TermHash {
    #[inline(always)]
    pub fn token(self, term: &[u8]) -> u64 {
        match self {
            TermHash::Fold => fold_term(term),
            TermHash::Rabin => rabin::fingerprint(term),
        }
    }
}

/// The two halves of the product of `a` and `b`, xor-ed.
#[inline(always)]
pub const fn fold(a: u64, b: u64) -> u64 {
    let product = (a as u128) * (b as u128);
    (product as u64) ^ ((product >> 64) as u64)
}

/// A bijection of the 64-bit words that spreads every input bit over the output (MurmurHash3's finaliser).
#[inline(always)]
pub const fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    x = (x ^ (x >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    x ^ (x >> 33)
}

/// The default token of a term.
pub fn fold_term(term: &[u8]) -> u64 {
    fold_with(term, 0)
}

/// The default token of a term with some bits set in every eight bytes of it.
#[inline(always)]
pub(crate) fn fold_with(term: &[u8], bits: u64) -> u64 {
    let mut state = start(term.len());
    let mut rest = term;
    while rest.len() > 16 {
        state = block(state, word(rest) | bits, word(&rest[8..]) | bits);
        rest = &rest[16..];
    }
    let mut last = [0u8; 16];
    last[..rest.len()].copy_from_slice(rest);
    let (low, high) = (word(&last), word(&last[8..]));
    // Behind the end all stays zero.
    let (low, high) = if bits == 0 { (low, high) } else { first(low | bits, high | bits, rest.len()) };
    finish(block(state, low, high))
}

/// The token of a term of at most 16 bytes that already stands in two words, zeros behind its end.
#[inline(always)]
pub(crate) fn fold_short(low: u64, high: u64, length: usize) -> u64 {
    SHORT[length].token(low, high)
}

/// What a term of a certain length, which stands at the front of two words, is made a token with.
#[derive(Clone, Copy)]
struct Short {
    /// Which bytes belong to it.
    keep: (u64, u64),
    /// What its words are added to: looked up sooner than reckoned.
    begun: (u64, u64),
}

impl Short {
    /// The token of its two words, zeros behind its end.
    #[inline(always)]
    fn token(self, low: u64, high: u64) -> u64 {
        finish(fold(low ^ self.begun.0, high.wrapping_add(HIGH) ^ self.begun.1))
    }
}

/// By length; there are no terms of the lengths behind 16.
const SHORT: [Short; 32] = {
    let mut short = [Short { keep: (0, 0), begun: (0, 0) }; 32];
    let mut length = 0;
    while length < KEEP.len() {
        let state = start(length);
        short[length] = Short { keep: KEEP[length], begun: (state ^ LOW, state.rotate_left(32)) };
        length += 1;
    }
    short
};

/// Appends the tokens of terms that begin at some places and are so long, 1 to 16 bytes each, lower-cased by `case`.
///
/// # Safety
/// From each place on 16 bytes can be read.
#[inline(always)]
pub(crate) unsafe fn fold_runs(
    bytes: *const u8,
    starts: &[u16],
    lengths: &[u8],
    case: u64,
    out: &mut Vec<u64>,
) {
    out.extend(starts.iter().zip(lengths).map(|(&start, &length)| {
        let short = SHORT[usize::from(length) % SHORT.len()];
        // SAFETY: as the caller says.
        let (low, high) = unsafe {
            let words = bytes.add(usize::from(start)).cast::<u64>();
            (u64::from_le(words.read_unaligned()), u64::from_le(words.add(1).read_unaligned()))
        };
        short.token((low | case) & short.keep.0, (high | case) & short.keep.1)
    }));
}

#[inline(always)]
const fn start(length: usize) -> u64 {
    START ^ (length as u64).wrapping_mul(LENGTH)
}

#[inline(always)]
fn block(state: u64, low: u64, high: u64) -> u64 {
    fold(low ^ state ^ LOW, high.wrapping_add(HIGH) ^ state.rotate_left(32))
}

#[inline(always)]
fn finish(state: u64) -> u64 {
    fold(state ^ START, END)
}

fn word(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes[..8].try_into().expect("eight bytes"))
}

/// For each sequence, given by the two halves of its identity, the first one equal to it; `alone` ones equal none.
pub fn identity_sets(high: &[u64], low: &[u64], alone: &[bool]) -> Vec<u32> {
    let mut order: Vec<(u64, u64, u32)> =
        (0..high.len()).filter(|&at| !alone[at]).map(|at| (high[at], low[at], at as u32)).collect();
    order.par_sort_unstable();
    let mut first: Vec<u32> = (0..high.len() as u32).collect();
    for set in order.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
        for member in set {
            first[member.2 as usize] = set[0].2;
        }
    }
    first
}

/// 128 bits that name a token sequence: equal for equal sequences, different for others but with probability
/// of about n²/2¹²⁹ among n pages. Two chains with different multipliers over tokens that are themselves hashes.
pub fn identity(tokens: &[u64]) -> u128 {
    let mut chains = Chains::new(tokens.len());
    tokens.iter().for_each(|&token| chains.add(token));
    chains.end()
}

/// Sequences whose identities are worked on at a time. A chain waits for each multiplication; those of others pass
/// meanwhile.
const ABREAST: usize = 4;

/// The identities of sequences, in order, several at a time: where one ends, the next takes its place.
pub fn identities(sequences: &[&[u64]]) -> Vec<u128> {
    let mut found = vec![0; sequences.len()];
    let mut lanes: [(usize, &[u64], Chains); ABREAST] =
        [const { (usize::MAX, &[], Chains { first: 0, second: 0 }) }; _];
    let mut waiting = sequences.iter().enumerate();
    loop {
        for (number, rest, chains) in &mut lanes {
            while rest.is_empty() {
                if let Some(found) = found.get_mut(*number) {
                    *found = chains.end();
                }
                let Some((next, sequence)) = waiting.next() else {
                    *number = usize::MAX;
                    break;
                };
                (*number, *rest, *chains) = (next, sequence, Chains::new(sequence.len()));
            }
        }
        let lengths = lanes.each_ref().map(|(_, rest, _)| rest.len());
        let steps = lengths.into_iter().min().unwrap_or(0);
        if steps == 0 {
            break;
        }
        let tokens = lanes.each_ref().map(|(_, rest, _)| &rest[..steps]);
        let mut chains = lanes.each_ref().map(|(_, _, chains)| *chains);
        dispatch!(add_abreast(&mut chains, &tokens));
        for ((_, rest, lane), chains) in lanes.iter_mut().zip(chains) {
            (*rest, *lane) = (&rest[steps..], chains);
        }
    }
    // Fewer are left than there is room for.
    for (number, rest, mut chains) in lanes {
        if let Some(found) = found.get_mut(number) {
            rest.iter().for_each(|&token| chains.add(token));
            *found = chains.end();
        }
    }
    found
}

/// Adds tokens, of each sequence equally many.
#[inline(always)]
fn add_abreast(chains: &mut [Chains; ABREAST], tokens: &[&[u64]; ABREAST]) {
    let mut held = *chains;
    let steps = tokens[0].len();
    let tokens = tokens.map(|tokens| &tokens[..steps]);
    for at in 0..steps {
        for lane in 0..ABREAST {
            held[lane].add(tokens[lane][at]);
        }
    }
    *chains = held;
}

variants!(fn add_abreast(chains: &mut [Chains; ABREAST], tokens: &[&[u64]; ABREAST]) -> ());

#[derive(Clone, Copy)]
struct Chains {
    first: u64,
    second: u64,
}

impl Chains {
    #[inline(always)]
    fn new(length: usize) -> Self {
        Chains {
            first: splitmix(SEED_IDENTITY, 2) ^ length as u64,
            second: splitmix(SEED_IDENTITY, 3) ^ length as u64,
        }
    }

    #[inline(always)]
    fn add(&mut self, token: u64) {
        const A: u64 = splitmix(SEED_IDENTITY, 0) | 1;
        const B: u64 = splitmix(SEED_IDENTITY, 1) | 1;
        self.first = fold(self.first ^ token, A);
        self.second = self.second.wrapping_mul(B).wrapping_add(token).rotate_left(29);
    }

    fn end(self) -> u128 {
        (u128::from(mix(self.first)) << 64) | u128::from(mix(self.second))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn tokens_are_what_they_were() {
        for (term, token) in [
            ("", 0x202f_15be_fe38_1fe8),
            ("a", 0x6ae3_da13_2732_07de),
            ("shingle", 0x7a35_b4bb_e272_492f),
            ("straße", 0xaaeb_68e9_69c2_32c8),
            ("a-term-of-more-than-sixteen-bytes", 0xae48_f5ad_3402_d293),
        ] {
            assert_eq!(fold_term(term.as_bytes()), token, "{term}");
        }
        assert_eq!(identity(&[1, 2, 3]), 0x8d2e_4435_76de_cc41_c08e_40b8_77f6_4b36);
    }

    #[test]
    fn short_form_agrees() {
        let term = b"supershingles";
        let mut padded = [0u8; 16];
        padded[..term.len()].copy_from_slice(term);
        assert_eq!(fold_short(word(&padded), word(&padded[8..]), term.len()), fold_term(term));
    }

    #[test]
    fn three_million_terms_do_not_collide_and_every_bit_is_fair() {
        let mut seen = HashSet::new();
        let mut ones = [0u32; 64];
        let count = 3_000_000u32;
        for number in 0..count {
            let token = fold_term(format!("t{number}").as_bytes());
            assert!(seen.insert(token), "t{number} collides");
            for (bit, ones) in ones.iter_mut().enumerate() {
                *ones += (token >> bit & 1) as u32;
            }
        }
        // 64 bits, 5 standard deviations of a fair coin: one chance in 27,000 that a good hash fails.
        let bound = 5.0 * (f64::from(count) / 4.0).sqrt();
        for (bit, &ones) in ones.iter().enumerate() {
            assert!((f64::from(ones) - f64::from(count) / 2.0).abs() < bound, "bit {bit}: {ones}");
        }
    }

    #[test]
    fn one_changed_bit_changes_half_of_the_token() {
        let mut changed = 0u64;
        let mut trials = 0u64;
        for number in 0..2_000u32 {
            let term = format!("{number:08}");
            let token = fold_term(term.as_bytes());
            for bit in 0..64 {
                let mut other = term.clone().into_bytes();
                other[bit / 8] ^= 1 << (bit % 8);
                changed += u64::from((fold_term(&other) ^ token).count_ones());
                trials += 64;
            }
        }
        let share = changed as f64 / trials as f64;
        assert!((share - 0.5).abs() < 0.005, "{share}");
    }

    #[test]
    fn sets_are_named_by_their_first_member() {
        let first = identity_sets(
            &[5, 3, 5, 5, 3, 5],
            &[1, 1, 1, 2, 1, 1],
            &[false, false, false, false, false, true],
        );
        assert_eq!(first, [0, 1, 0, 3, 1, 5]);
    }

    proptest::proptest! {
        #[test]
        fn several_at_a_time_are_as_one(lengths in proptest::collection::vec(0usize..12, 0..20)) {
            let tokens: Vec<u64> = (0..12).map(|at| splitmix(5, at)).collect();
            let sequences: Vec<&[u64]> = lengths.iter().map(|&length| &tokens[12 - length..]).collect();
            let alone: Vec<u128> = sequences.iter().map(|sequence| identity(sequence)).collect();
            proptest::prop_assert_eq!(identities(&sequences), alone);
        }
    }

    #[test]
    fn identity_depends_on_order_and_length() {
        assert_ne!(identity(&[1, 2]), identity(&[2, 1]));
        assert_ne!(identity(&[0]), identity(&[0, 0]));
        assert_ne!(identity(&[]), identity(&[0]));
    }
}
