//! Hashed breakpoints over words (Brin, Davis and Garcia-Molina, SIGMOD 1995).
//!
//! A word is a *breakpoint* if its hash is 0 mod m: one word in m, the same words on every page. As *chunking*
//! ([`stretches`]) a chunk ends at each breakpoint, so chunks have m words on average, do not overlap, and a changed,
//! inserted or removed word changes only the chunk it stands in (two if it is a breakpoint): after the next breakpoint
//! pages are in step again. As *selection* ([`ending`]) those windows of n words are taken whose last word is a
//! breakpoint. Cost: O(words); one number in m words. A stretch without breakpoints, however long, is one chunk.

use crate::batch::Shingling;
use crate::format::{SEED_BREAKPOINT, SEED_CHUNK, splitmix};
use crate::hash::{fold, mix};
use crate::saturation;

const FACTOR: u64 = splitmix(SEED_CHUNK, 0) | 1;
const START: u64 = splitmix(SEED_CHUNK, 1);

/// Whether a token is a breakpoint.
#[inline(always)]
pub fn breaks(token: u64, modulus: u64) -> bool {
    mix(token ^ SEED_BREAKPOINT).is_multiple_of(modulus.max(1))
}

/// Appends what a page is compared by: its stretches, told apart where they saturate ([`crate::saturation`]).
pub fn select(tokens: &[u64], modulus: u64, out: &mut Vec<u64>) {
    let from = out.len();
    stretches(tokens, modulus, out);
    saturation::tell_apart(&mut out[from..]);
}

/// Appends a number for each stretch up to and with a breakpoint, and for what is left behind the last.
pub fn stretches(tokens: &[u64], modulus: u64, out: &mut Vec<u64>) {
    for stretch in tokens.split_inclusive(|&token| breaks(token, modulus)) {
        out.push(mix(stretch.iter().fold(START, |sum, &token| fold(sum ^ token, FACTOR))));
    }
}

/// Appends the windows of n tokens whose last token is a breakpoint. `chunks` is a buffer.
pub fn ending(tokens: &[u64], windows: Shingling, modulus: u64, chunks: &mut Vec<u64>, out: &mut Vec<u64>) {
    windows.fill(tokens, chunks);
    let last = windows.k.min(tokens.len()).saturating_sub(1);
    let ends = tokens.iter().skip(last);
    out.extend(chunks.iter().zip(ends).filter(|&(_, &end)| breaks(end, modulus)).map(|(&chunk, _)| chunk));
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn chunks(tokens: &[u64], modulus: u64) -> Vec<u64> {
        let mut out = Vec::new();
        stretches(tokens, modulus, &mut out);
        out
    }

    proptest! {
        #[test]
        fn an_edit_changes_only_the_chunks_it_touches(
            before in proptest::collection::vec(0u64..50, 0..40),
            gone in proptest::collection::vec(0u64..50, 0..5),
            new in proptest::collection::vec(0u64..50, 0..5),
            after in proptest::collection::vec(0u64..50, 0..40),
            modulus in 1u64..8,
        ) {
            let a = chunks(&[before.clone(), gone.clone(), after.clone()].concat(), modulus);
            let b = chunks(&[before.clone(), new.clone(), after.clone()].concat(), modulus);
            let breakpoints = |tokens: &[u64]| tokens.iter().filter(|&&token| breaks(token, modulus)).count();
            // Whole chunks before the edit, and whole chunks after the first breakpoint behind it.
            let head = breakpoints(&before);
            let tail = chunks(&after, modulus).len().saturating_sub(1);
            prop_assert_eq!(&a[..head], &b[..head]);
            prop_assert_eq!(&a[a.len() - tail..], &b[b.len() - tail..]);
        }

        #[test]
        fn chunks_are_equal_exactly_where_their_words_are(
            a in proptest::collection::vec(0u64..6, 0..40),
            b in proptest::collection::vec(0u64..6, 0..40),
            modulus in 1u64..5,
        ) {
            // The naive twin: the words themselves.
            let words = |tokens: &[u64]| -> Vec<Vec<u64>> {
                let mut all = vec![vec![]];
                for &token in tokens {
                    all.last_mut().expect("a chunk").push(token);
                    if breaks(token, modulus) {
                        all.push(vec![]);
                    }
                }
                all.retain(|chunk| !chunk.is_empty());
                all
            };
            let (words_a, words_b) = (words(&a), words(&b));
            let (chunks_a, chunks_b) = (chunks(&a, modulus), chunks(&b, modulus));
            prop_assert_eq!(words_a.len(), chunks_a.len());
            for (x, words_x) in chunks_a.iter().zip(&words_a) {
                for (y, words_y) in chunks_b.iter().zip(&words_b) {
                    prop_assert_eq!(x == y, words_x == words_y);
                }
            }
        }

        #[test]
        fn selected_windows_end_in_a_breakpoint(
            tokens in proptest::collection::vec(0u64..30, 0..50), n in 1usize..6, modulus in 1u64..6,
        ) {
            let windows = Shingling { k: n, rabin: false };
            let (mut all, mut found) = (Vec::new(), Vec::new());
            windows.fill(&tokens, &mut all);
            ending(&tokens, windows, modulus, &mut Vec::new(), &mut found);
            let n = n.min(tokens.len());
            let expected: Vec<u64> = tokens.windows(n.max(1)).zip(&all)
                .filter(|(window, _)| breaks(*window.last().expect("a token"), modulus))
                .map(|(_, &chunk)| chunk)
                .collect();
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn chunks_have_m_words_on_average() {
        let tokens: Vec<u64> = (0..500_000).map(|at| splitmix(5, at)).collect();
        for modulus in [2u64, 5, 64] {
            let count = chunks(&tokens, modulus).len() as f64;
            let (share, trials) = (1.0 / modulus as f64, tokens.len() as f64);
            // Five standard deviations of a binomial.
            let bound = 5.0 * (trials * share * (1.0 - share)).sqrt() + 1.0;
            assert!((count - trials * share).abs() < bound, "m = {modulus}: {count}");
        }
        assert_eq!(chunks(&tokens, 1).len(), tokens.len());
        assert_eq!(chunks(&tokens, 1).into_iter().collect::<BTreeSet<_>>().len(), tokens.len());
    }
}
