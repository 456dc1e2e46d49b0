//! Winnowing (Schleimer, Wilkerson and Aiken, SIGMOD 2003): of every w consecutive chunks the smallest is selected.
//!
//! Chunks are windows of n tokens; in each window of w chunks the smallest number is selected, the rightmost of equal
//! ones. *Guarantee* (their Theorem 1): a run of w + n − 1 tokens that two pages have in common contains a whole
//! window, and what is selected in it depends on it alone, so the pages share a number. *Density* (their Lemma 1): of
//! random chunks a share of 2 / (w + 1) is selected. A page of fewer than w chunks is one window. Cost: O(tokens), each
//! chunk enters and leaves a queue once.

use std::collections::VecDeque;

use crate::batch::Shingling;

/// n tokens a chunk, w chunks a window.
#[derive(Clone, Copy, Debug)]
pub struct Winnowing {
    pub chunks: Shingling,
    pub window: usize,
}

impl Winnowing {
    /// Appends the selected chunks, in order; one that several windows select only once. `chunks` is a buffer.
    pub fn select(&self, tokens: &[u64], chunks: &mut Vec<u64>, out: &mut Vec<u64>) {
        self.chunks.fill(tokens, chunks);
        let window = self.window.clamp(1, chunks.len().max(1));
        // Places of chunks, ascending in place and in value: the first is the smallest of the window.
        let mut queue: VecDeque<usize> = VecDeque::new();
        let mut last = None;
        for (at, &chunk) in chunks.iter().enumerate() {
            while queue.back().is_some_and(|&other| chunks[other] >= chunk) {
                queue.pop_back();
            }
            queue.push_back(at);
            if queue[0] + window <= at {
                queue.pop_front();
            }
            if at + 1 >= window && last != Some(queue[0]) {
                last = Some(queue[0]);
                out.push(chunks[queue[0]]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::splitmix;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn winnowing(n: usize, window: usize) -> Winnowing {
        Winnowing { chunks: Shingling { k: n, rabin: false }, window }
    }

    fn select(n: usize, window: usize, tokens: &[u64]) -> Vec<u64> {
        let mut out = Vec::new();
        winnowing(n, window).select(tokens, &mut Vec::new(), &mut out);
        out
    }

    /// Every window looked at.
    fn naive(n: usize, window: usize, tokens: &[u64]) -> BTreeSet<u64> {
        let mut chunks = Vec::new();
        Shingling { k: n, rabin: false }.fill(tokens, &mut chunks);
        chunks
            .windows(window.min(chunks.len()).max(1))
            .map(|seen| *seen.iter().min().expect("a chunk"))
            .collect()
    }

    proptest! {
        #[test]
        fn selects_the_smallest_of_every_window(
            tokens in proptest::collection::vec(0u64..6, 0..60), n in 1usize..6, window in 1usize..9,
        ) {
            let found: BTreeSet<u64> = select(n, window, &tokens).into_iter().collect();
            prop_assert_eq!(found, naive(n, window, &tokens));
        }

        #[test]
        fn a_common_run_of_w_and_n_less_one_tokens_shares_a_number(
            before in proptest::collection::vec(any::<u64>(), 0..30),
            other in proptest::collection::vec(any::<u64>(), 0..30),
            after in proptest::collection::vec(any::<u64>(), 0..30),
            n in 1usize..6,
            window in 1usize..9,
            seed: u64,
        ) {
            let run: Vec<u64> = (0..(window + n - 1) as u64).map(|at| splitmix(seed, at)).collect();
            let (a, b) = ([before.clone(), run.clone(), after].concat(), [other, run, before].concat());
            let a: BTreeSet<u64> = select(n, window, &a).into_iter().collect();
            prop_assert!(select(n, window, &b).iter().any(|chunk| a.contains(chunk)));
        }
    }

    #[test]
    fn the_density_is_two_by_w_and_one() {
        let tokens: Vec<u64> = (0..400_000).map(|at| splitmix(3, at)).collect();
        for window in [1, 4, 10, 50] {
            let share = select(3, window, &tokens).len() as f64 / tokens.len() as f64;
            let expected = 2.0 / (window as f64 + 1.0);
            // Whether a chunk is selected is settled by its 2w − 1 neighbours: at least n/(2w − 1) independent draws,
            // and five standard deviations of these.
            let draws = tokens.len() as f64 / (2 * window - 1) as f64;
            let bound = 5.0 * (expected * (1.0 - expected).max(0.0) / draws).sqrt() + 1e-5;
            assert!((share - expected).abs() < bound, "w = {window}: {share} against {expected}");
        }
    }
}
