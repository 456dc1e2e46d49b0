//! Weighted MinHash by improved consistent weighted sampling (Ioffe, ICDM 2010).
//!
//! A page is a set of elements with weights w ≥ 0 (term frequencies, or tf·idf). Each of m functions samples one
//! element and a level of its weight, so that two pages agree in one sample with probability Σ min(w, w') / Σ max(w,
//! w'): the weighted Jaccard similarity, exactly, for any real weights. For function i and element x let r and c be
//! draws of Gamma(2, 1) and β of Uniform(0, 1), functions of (i, x) alone; t = ⌊ln w / r + β⌋, ln y = r·(t − β), and ln
//! a = ln c − ln y − r; the element with the smallest a is the sample, (x, t) its name.
//!
//! Rejected: repeating elements by whole weights (tf·idf is no whole number), and leaving out t (Li 2015), which is no
//! longer exact. Cost: three logarithms ([`crate::embeddings::reals`]) an element and function, in vector registers.

use crate::cpu;
use crate::embeddings::reals::{ln, unit};
use crate::format::{SEED_WEIGHTED, splitmix};
use crate::hash::{fold, identity, mix};
use crate::statistics::numbers::Numbers;

/// Functions worked on together.
const LANES: usize = 8;

/// m functions, ready for use.
#[derive(Clone, Debug)]
pub struct Sampler {
    count: usize,
    seeds: Vec<[u64; LANES]>,
}

/// How many pages there are, and how many of them have an element; one that is not listed is on one page.
#[derive(Clone, Copy, Debug)]
pub struct Frequencies<'a> {
    pub all: u64,
    pub elements: Numbers<'a>,
    pub pages: &'a [u32],
}

/// Replaces what is in `out` by the distinct values and the logarithms of their weights: how often each occurs, times
/// ln(N / df) where frequencies are given. What has no weight is left out. `values` is sorted on the way.
pub fn elements(values: &mut [u64], frequencies: Option<Frequencies<'_>>, out: &mut Vec<(u64, f64)>) {
    out.clear();
    values.sort_unstable();
    for same in values.chunk_by(|a, b| a == b) {
        let mut weight = same.len() as f64;
        if let Some(Frequencies { all, elements, pages }) = frequencies {
            let having = elements.find(same[0]).map_or(1, |at| pages[at]).max(1);
            weight *= ln((all as f64 / f64::from(having)).max(1.0));
        }
        if weight > 0.0 {
            out.push((same[0], ln(weight)));
        }
    }
}

/// The best of eight functions so far: a's logarithm, and the name of the sample.
type Best = ([f64; LANES], [u64; LANES]);

impl Sampler {
    pub fn new(count: usize) -> Self {
        let seeds = (0..count.div_ceil(LANES))
            .map(|group| std::array::from_fn(|lane| splitmix(SEED_WEIGHTED, (group * LANES + lane) as u64)));
        Sampler { count, seeds: seeds.collect() }
    }

    /// Writes the samples of a page of `tokens` whose elements are given. A page without elements (of terms that every
    /// page has) has nothing to be told by: its numbers are those of its token sequence, which no other page has.
    pub fn page(&self, tokens: &[u64], elements: &[(u64, f64)], out: &mut [u64]) {
        if elements.is_empty() {
            let own = identity(tokens) as u64;
            out.iter_mut()
                .enumerate()
                .for_each(|(at, out)| *out = mix(own ^ splitmix(SEED_WEIGHTED ^ 2, at as u64)));
        } else {
            self.samples(elements, out);
        }
    }

    /// Writes the samples of the elements, given with the logarithms of their weights; without elements, zeros.
    pub fn samples(&self, elements: &[(u64, f64)], out: &mut [u64]) {
        debug_assert_eq!(out.len(), self.count);
        for (group, (seeds, out)) in self.seeds.iter().zip(out.chunks_mut(LANES)).enumerate() {
            let (_, names) = cpu::dispatch!(best(seeds, elements));
            for (lane, (out, name)) in out.iter_mut().zip(names).enumerate() {
                let tag = splitmix(SEED_WEIGHTED ^ 1, (group * LANES + lane) as u64);
                *out = if elements.is_empty() { 0 } else { mix(name ^ tag) };
            }
        }
    }
}

#[inline(always)]
fn best(seeds: &[u64; LANES], elements: &[(u64, f64)]) -> Best {
    let mut least = [f64::INFINITY; LANES];
    let mut names = [0; LANES];
    for &(element, ln_weight) in elements {
        for lane in 0..LANES {
            let (a, level) = draw(seeds[lane], element, ln_weight);
            let name = element ^ (level as i64 as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            // Elements that tie, which only equal elements do, are told apart by their names.
            let better = a < least[lane] || (a == least[lane] && name < names[lane]);
            least[lane] = if better { a } else { least[lane] };
            names[lane] = if better { name } else { names[lane] };
        }
    }
    (least, names)
}

cpu::variants!(fn best(seeds: &[u64; LANES], elements: &[(u64, f64)]) -> Best);

/// ln a, and t.
#[inline(always)]
fn draw(seed: u64, element: u64, ln_weight: f64) -> (f64, f64) {
    const FACTOR: u64 = splitmix(SEED_WEIGHTED, u64::MAX - 1) | 1;
    let start = fold(element ^ seed, FACTOR);
    let bits = |at: u64| mix(start.wrapping_add(at.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
    // The sum of two exponential draws is one of Gamma(2, 1).
    let r = -ln(unit(bits(1)) * unit(bits(2)));
    let c = -ln(unit(bits(3)) * unit(bits(4)));
    let beta = unit(bits(5));
    // Draws of exactly 1 would make r 0: with 52 bits each, once in 2¹⁰⁴.
    let (r, c) = (r.max(f64::MIN_POSITIVE), c.max(f64::MIN_POSITIVE));
    let t = (ln_weight / r + beta).floor();
    (ln(c) - r * (t - beta) - r, t)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(weights: &[(u64, f64)], count: usize) -> Vec<u64> {
        let elements: Vec<(u64, f64)> =
            weights.iter().map(|&(element, weight)| (element, ln(weight))).collect();
        let mut out = vec![0; count];
        Sampler::new(count).samples(&elements, &mut out);
        out
    }

    #[test]
    fn every_path_gives_the_same_samples() {
        let elements: Vec<(u64, f64)> =
            (0..300).map(|at| (splitmix(1, at), ln(unit(splitmix(2, at)) * 20.0))).collect();
        for seeds in &Sampler::new(40).seeds {
            cpu::assert_variants_agree!(best(seeds, &elements));
        }
    }

    #[test]
    fn order_does_not_matter_and_samples_are_of_the_page() {
        let mut weights: Vec<(u64, f64)> = (0..50).map(|at| (splitmix(3, at), (at % 7 + 1) as f64)).collect();
        let before = samples(&weights, 30);
        weights.reverse();
        assert_eq!(samples(&weights, 30), before);
        assert_eq!(samples(&[], 3), [0, 0, 0]);
    }

    #[test]
    fn agreement_is_the_weighted_jaccard_similarity() {
        // Weights from 1/8 to 60, some elements on one page only.
        let functions = 40_000;
        for case in 0..6u64 {
            let weight = |page: u64, at: u64| unit(splitmix(case * 2 + page, at)) * 60.0 + 0.125;
            let of = |page: u64| -> Vec<(u64, f64)> {
                (0..20)
                    .filter(|at| !(at + page).is_multiple_of(5))
                    .map(|at| (splitmix(9, at), weight(page * (case % 3), at)))
                    .collect()
            };
            let (a, b) = (of(0), of(1));
            let find =
                |page: &[(u64, f64)], element: u64| page.iter().find(|x| x.0 == element).map_or(0.0, |x| x.1);
            let (mut low, mut high) = (0.0, 0.0);
            for at in 0..20 {
                let element = splitmix(9, at);
                low += find(&a, element).min(find(&b, element));
                high += find(&a, element).max(find(&b, element));
            }
            let expected = low / high;
            let (a, b) = (samples(&a, functions), samples(&b, functions));
            let share = a.iter().zip(&b).filter(|(a, b)| a == b).count() as f64 / functions as f64;
            // Five standard deviations of independent functions.
            let bound = 5.0 * (expected * (1.0 - expected) / functions as f64).sqrt();
            assert!((share - expected).abs() < bound, "{case}: {share} against {expected} ± {bound}");
        }
    }

    #[test]
    fn weights_are_frequencies_times_rarity() {
        let numbers = [7u64, 9];
        let directory = crate::statistics::numbers::directory(&numbers);
        let listed = Numbers::new(&numbers, &directory).expect("its own directory");
        let mut out = Vec::new();
        elements(&mut [9, 7, 7, 5], None, &mut out);
        assert_eq!(out, [(5, 0.0), (7, ln(2.0)), (9, 0.0)]);
        // 7 is on every page and weighs nothing; 9 on two of eight; 5 on one.
        let frequencies = Frequencies { all: 8, elements: listed, pages: &[8, 2] };
        elements(&mut [9, 7, 7, 5, 5], Some(frequencies), &mut out);
        assert_eq!(out, [(5, ln(2.0 * ln(8.0))), (9, ln(ln(4.0)))]);
        elements(&mut [7, 7], Some(frequencies), &mut out);
        assert!(out.is_empty());
        let (mut a, mut b) = ([0; 3], [0; 3]);
        Sampler::new(3).page(&[7, 7], &out, &mut a);
        Sampler::new(3).page(&[7], &out, &mut b);
        assert!(a.iter().zip(&b).all(|(a, b)| a != b));
    }

    #[test]
    fn whole_weights_are_multisets() {
        // The twin: plain MinHash over (element, copy) has the same expectation.
        let a: Vec<(u64, f64)> = vec![(11, 3.0), (22, 1.0), (33, 2.0)];
        let b: Vec<(u64, f64)> = vec![(11, 1.0), (22, 1.0), (44, 4.0)];
        // min: 1 + 1; max: 3 + 1 + 2 + 4.
        let (x, y) = (samples(&a, 50_000), samples(&b, 50_000));
        let share = x.iter().zip(&y).filter(|(a, b)| a == b).count() as f64 / 50_000.0;
        assert!((share - 0.2).abs() < 5.0 * (0.16f64 / 50_000.0).sqrt(), "{share}");
    }
}
