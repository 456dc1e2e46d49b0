//! Min-values: for each of m hash functions the smallest value over a page's shingles (the lecture's H_i; Alg. B).
//!
//! Two pages agree in one min-value with probability equal to the Jaccard similarity of their shingle sets.
//! The family, exactly: h_i(x) = ((x ⊕ c_i) · a_i) mod 2³², a_i odd, where x is the upper half of the shingle and
//! c_i, a_i come from one SplitMix64 stream. Each h_i is a permutation of the 32-bit numbers; nothing wraps before
//! a modulus other than 2³² itself. A page of n shingles has about n²/2³³ pairs of shingles that share an x.
//!
//! Cost: m multiplications, xors and minima a shingle, sixteen (AVX-512) or eight (AVX2) at a time; the minima of
//! a group of functions stay in registers while the shingles pass. Every path gives the same numbers.

use crate::cpu;
use crate::format::{SEED_MINIMA, SEED_SUPERSHINGLE, splitmix};
use crate::hash::{fold, mix};

/// Functions whose minima are held in registers together.
const GROUP: usize = 48;

/// m hash functions, ready for use.
#[derive(Clone, Debug)]
pub struct Functions {
    count: usize,
    groups: Vec<Group>,
}

#[derive(Clone, Debug)]
struct Group {
    flips: [u32; GROUP],
    factors: [u32; GROUP],
}

impl Functions {
    /// The first `count` functions of the family.
    pub fn new(count: usize) -> Self {
        let groups = (0..count.div_ceil(GROUP)).map(|group| {
            let draw = |at: usize| splitmix(SEED_MINIMA, (group * GROUP + at) as u64);
            Group {
                flips: std::array::from_fn(|at| (draw(at) >> 32) as u32),
                factors: std::array::from_fn(|at| draw(at) as u32 | 1),
            }
        });
        Functions { count, groups: groups.collect() }
    }

    pub fn count(&self) -> usize {
        self.count
    }

    /// Writes the `count` minima over `shingles` (at least one) to `out`.
    pub fn minima(&self, shingles: &[u64], out: &mut [u32]) {
        debug_assert!(!shingles.is_empty() && out.len() == self.count);
        for (group, out) in self.groups.iter().zip(out.chunks_mut(GROUP)) {
            let minima = cpu::dispatch!(group_minima(group, shingles));
            out.copy_from_slice(&minima[..out.len()]);
        }
    }
}

#[inline(always)]
fn group_minima(group: &Group, shingles: &[u64]) -> [u32; GROUP] {
    let mut minima = [u32::MAX; GROUP];
    for shingle in shingles {
        let x = (shingle >> 32) as u32;
        for at in 0..GROUP {
            minima[at] = minima[at].min((x ^ group.flips[at]).wrapping_mul(group.factors[at]));
        }
    }
    minima
}

cpu::variants!(fn group_minima(group: &Group, shingles: &[u64]) -> [u32; GROUP]);

/// One 64-bit key for each group of `rows` consecutive min-values, tagged with the group's place: supershingles
/// (rows = 14) and LSH bands alike. Min-values that do not fill a last group are left out.
pub fn group_keys(minima: &[u32], rows: usize, out: &mut [u64]) {
    for (place, (values, out)) in minima.chunks_exact(rows).zip(out).enumerate() {
        let start = splitmix(SEED_SUPERSHINGLE, place as u64);
        *out = mix(values.iter().fold(start, |key, &value| fold(key ^ u64::from(value), FACTOR)));
    }
}

const FACTOR: u64 = splitmix(SEED_SUPERSHINGLE, u64::MAX - 1) | 1;

/// The keys of all pairs of supershingles, tagged with the pair: pages that share one agree in two supershingles.
pub fn pair_keys(supershingles: &[u64], out: &mut Vec<u64>) {
    let mut pair = 0;
    for (at, &first) in supershingles.iter().enumerate() {
        for &second in &supershingles[at + 1..] {
            out.push(pair_key(first, second, pair));
            pair += 1;
        }
    }
}

/// The key of the pair of that number.
#[inline(always)]
pub fn pair_key(first: u64, second: u64, pair: u64) -> u64 {
    let tag = splitmix(SEED_SUPERSHINGLE ^ 1, pair);
    mix(fold(first ^ tag, FACTOR) ^ second.rotate_left(17))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn naive(count: usize, shingles: &[u64]) -> Vec<u32> {
        let function = |i: usize, shingle: u64| {
            let draw = splitmix(SEED_MINIMA, i as u64);
            (((shingle >> 32) as u32) ^ ((draw >> 32) as u32)).wrapping_mul(draw as u32 | 1)
        };
        let smallest = |i| shingles.iter().map(|&shingle| function(i, shingle)).min().expect("a shingle");
        (0..count).map(smallest).collect()
    }

    proptest! {
        #[test]
        fn agrees_with_the_definition(shingles in proptest::collection::vec(any::<u64>(), 1..50), count in 1usize..200) {
            let mut minima = vec![0; count];
            Functions::new(count).minima(&shingles, &mut minima);
            prop_assert_eq!(minima, naive(count, &shingles));
        }
    }

    #[test]
    fn every_path_gives_the_same_minima() {
        let shingles: Vec<u64> = (0..999).map(|at| splitmix(7, at)).collect();
        let functions = Functions::new(84);
        for group in &functions.groups {
            cpu::assert_variants_agree!(group_minima(group, &shingles));
        }
    }

    #[test]
    fn pairs_share_a_key_exactly_when_two_supershingles_agree() {
        for agreeing in 0u32..64 {
            let a: Vec<u64> = (0..6).map(|at| splitmix(1, at)).collect();
            let b: Vec<u64> =
                (0..6).map(|at| splitmix(if agreeing >> at & 1 == 1 { 1 } else { 2 }, at)).collect();
            let (mut keys_a, mut keys_b) = (Vec::new(), Vec::new());
            pair_keys(&a, &mut keys_a);
            pair_keys(&b, &mut keys_b);
            let shared = keys_a.iter().zip(&keys_b).filter(|(a, b)| a == b).count() as u32;
            let n = agreeing.count_ones();
            assert_eq!(shared, n * n.saturating_sub(1) / 2);
        }
    }

    #[test]
    fn a_key_is_tagged_with_its_place() {
        let mut keys = [0; 6];
        group_keys(&[7; 84], 14, &mut keys);
        for at in 1..6 {
            assert_ne!(keys[0], keys[at]);
        }
    }
}
