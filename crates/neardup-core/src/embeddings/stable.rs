//! Locality-sensitive hashing by random projections: p-stable (Datar et al., SCG 2004) and random hyperplanes
//! (Charikar, STOC 2002).
//!
//! A page is its vector of term frequencies, scaled to length 1. Every term has a normal draw for each projection, so
//! the scalar product of the page with a random vector is normal (2-stable), and the difference of two pages' products
//! is a normal draw times their distance. *p-stable*: the product, shifted by a random offset, is cut into intervals of
//! width w; *hyperplanes*: its sign is taken. Of r such results one code is made, and k codes are the fingerprint. Two
//! pages at distance d fall into one interval with probability 1 − 2Φ(−w/d) − 2d/(√(2π)·w)·(1 − e^(−w²/2d²)); their
//! signs agree with probability 1 − θ/π.
//!
//! Draws come from a table of 2¹⁶, as whole multiples of 2⁻¹⁶, and are added as whole numbers: sums are exact, the same
//! in any order and on any machine. Cost: k·r additions a distinct token; 8 bytes a code.

use std::sync::OnceLock;

use crate::embeddings::reals::{normal, unit};
use crate::format::{SEED_STABLE, splitmix};
use crate::hash::{fold, mix};

const SCALE: f64 = 65_536.0;

fn table() -> &'static [i32] {
    static TABLE: OnceLock<Vec<i32>> = OnceLock::new();
    TABLE.get_or_init(|| {
        normal(SEED_STABLE, 1 << 16).into_iter().map(|draw| (draw * SCALE).round() as i32).collect()
    })
}

/// What is made of a product.
#[derive(Clone, Copy, Debug)]
pub enum Cut {
    /// Intervals of this width.
    Intervals(f64),
    Sign,
}

/// k codes of r projections each.
#[derive(Clone, Copy, Debug)]
pub struct Codes {
    pub codes: usize,
    pub projections: usize,
    pub cut: Cut,
}

/// Buffers that calls share.
#[derive(Debug, Default)]
pub struct Buffers {
    sums: Vec<i64>,
    sorted: Vec<u64>,
}

impl Codes {
    /// Writes the codes of the token sequence to `out`, each tagged with its place.
    pub fn codes(&self, tokens: &[u64], buffers: &mut Buffers, out: &mut [u64]) {
        const FACTOR: u64 = splitmix(SEED_STABLE, u64::MAX - 1) | 1;
        let length = sums(tokens, self.codes * self.projections, buffers);
        for (place, (sums, out)) in buffers.sums.chunks_exact(self.projections).zip(out).enumerate() {
            let mut code = splitmix(SEED_STABLE ^ 1, place as u64);
            for (at, &sum) in sums.iter().enumerate() {
                let part = match self.cut {
                    Cut::Sign => u64::from(sum > 0),
                    Cut::Intervals(width) => {
                        let offset = unit(splitmix(SEED_STABLE ^ 2, (place * self.projections + at) as u64));
                        // At most 2⁴⁸ intervals either way: far within what a cast keeps.
                        ((sum as f64 / SCALE / length / width + offset).floor() as i64) as u64
                    }
                };
                code = fold(code ^ part, FACTOR);
            }
            *out = mix(code);
        }
    }
}

/// Leaves in `buffers` the scalar product of the term frequencies with each random vector, in units of 2⁻¹⁶; gives the
/// length of the vector (1 for a page without tokens).
fn sums(tokens: &[u64], count: usize, buffers: &mut Buffers) -> f64 {
    let table = table();
    let Buffers { sums, sorted } = buffers;
    sums.clear();
    sums.resize(count, 0);
    sorted.clear();
    sorted.extend_from_slice(tokens);
    sorted.sort_unstable();
    let mut squares = 0u64;
    for same in sorted.chunk_by(|a, b| a == b) {
        let times = same.len() as i64;
        squares += (times * times) as u64;
        // Four places in the table out of each random word.
        for (word, sums) in sums.chunks_mut(4).enumerate() {
            let mut bits = draw(same[0], word as u64);
            for sum in sums {
                *sum += times * i64::from(table[(bits & 0xffff) as usize]);
                bits >>= 16;
            }
        }
    }
    (squares.max(1) as f64).sqrt()
}

#[inline(always)]
fn draw(token: u64, word: u64) -> u64 {
    mix(token.wrapping_add((word + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)) ^ SEED_STABLE)
}

/// P(two results agree), for one projection of pages at this distance: the closed form of Datar et al.
pub fn interval_probability(distance: f64, width: f64) -> f64 {
    if distance <= 0.0 {
        return 1.0;
    }
    // ∫₀ʷ (1/d)·f(t/d)·(1 − t/w) dt, f the density of |N(0, 1)|; by Simpson's rule, which needs no error function.
    let steps = 2000;
    let density = |t: f64| {
        2.0 / (distance * (2.0 * std::f64::consts::PI).sqrt())
            * (-t * t / (2.0 * distance * distance)).exp()
            * (1.0 - t / width)
    };
    let h = width / steps as f64;
    let weight = |at: usize| if at == 0 || at == steps { 1.0 } else { 2.0 + 2.0 * (at % 2) as f64 };
    (0..=steps).map(|at| weight(at) * density(at as f64 * h)).sum::<f64>() * h / 3.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(codes: &Codes, tokens: &[u64]) -> Vec<u64> {
        let mut out = vec![0; codes.codes];
        codes.codes(tokens, &mut Buffers::default(), &mut out);
        out
    }

    /// Two pages of 400 words with `shared` in common: at distance √(2 − 2·shared/400).
    fn pages(seed: u64, shared: u64) -> (Vec<u64>, Vec<u64>) {
        let page = |from: u64| (from..from + 400).map(|at| splitmix(seed, at)).collect();
        (page(0), page(400 - shared))
    }

    proptest! {
        #[test]
        fn sums_are_those_of_the_sequence(tokens in proptest::collection::vec(0u64..20, 0..60), count in 1usize..20) {
            let mut buffers = Buffers::default();
            let length = sums(&tokens, count, &mut buffers);
            // The naive twin: token by token, projection by projection.
            for (at, &sum) in buffers.sums.iter().enumerate() {
                let place = |token: u64| (draw(token, at as u64 / 4) >> (16 * (at % 4))) as usize & 0xffff;
                prop_assert_eq!(sum, tokens.iter().map(|&token| i64::from(table()[place(token)])).sum::<i64>());
            }
            let times = |token: &u64| tokens.iter().filter(|&other| other == token).count();
            let squares: usize = tokens.iter().map(times).sum();
            prop_assert_eq!(length, (squares.max(1) as f64).sqrt());
        }

        #[test]
        fn order_does_not_matter(mut tokens in proptest::collection::vec(0u64..50, 0..60), sign: bool) {
            let cut = if sign { Cut::Sign } else { Cut::Intervals(0.7) };
            let codes = Codes { codes: 5, projections: 3, cut };
            let before = of(&codes, &tokens);
            tokens.reverse();
            prop_assert_eq!(of(&codes, &tokens), before);
            // Nor does it matter that everything is said twice: the vector is scaled to length 1.
            let twice = [tokens.clone(), tokens.clone()].concat();
            if !tokens.is_empty() && !matches!(cut, Cut::Intervals(_)) {
                prop_assert_eq!(of(&codes, &twice), of(&codes, &tokens));
            }
        }
    }

    #[test]
    fn results_agree_as_often_as_the_papers_say() {
        let (pairs, codes) = (300u64, 64);
        for shared in [200u64, 320, 392] {
            let cosine = shared as f64 / 400.0;
            let distance = (2.0 - 2.0 * cosine).sqrt();
            let cases = [
                (Cut::Sign, 1.0 - cosine.acos() / std::f64::consts::PI),
                (Cut::Intervals(1.0), interval_probability(distance, 1.0)),
                (Cut::Intervals(0.3), interval_probability(distance, 0.3)),
            ];
            for (cut, expected) in cases {
                let codes = Codes { codes, projections: 1, cut };
                let (mut sum, mut squares) = (0.0, 0.0);
                for pair in 0..pairs {
                    let (a, b) = pages(pair, shared);
                    let same = of(&codes, &a).iter().zip(of(&codes, &b)).filter(|(a, b)| **a == *b).count();
                    let share = same as f64 / codes.codes as f64;
                    sum += share;
                    squares += share * share;
                }
                let mean = sum / pairs as f64;
                let bound = 5.0 * ((squares / pairs as f64 - mean * mean) / pairs as f64).sqrt();
                assert!(
                    (mean - expected).abs() < bound,
                    "{cut:?} at {cosine}: {mean} against {expected} ± {bound}"
                );
            }
        }
    }

    #[test]
    fn the_closed_form_is_the_integral() {
        // 1 − 2Φ(−w/d) − 2d/(√(2π) w)(1 − e^(−w²/2d²)) at w = d: 2Φ(1) − 1 = .682689…
        let closed = 0.682_689_492_137 - 2.0 / (2.0 * std::f64::consts::PI).sqrt() * (1.0 - (-0.5f64).exp());
        assert!((interval_probability(1.0, 1.0) - closed).abs() < 1e-9);
        assert_eq!(interval_probability(0.0, 1.0), 1.0);
    }
}
