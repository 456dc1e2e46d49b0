//! Where two token sequences differ: the hunks of an alignment, for a person to look at.
//!
//! Idea: after the common ends are cut off, what is left is aligned by imara-diff: by Myers' algorithm with the fewest
//! edits while a table of both sequences would have at most `TABLE` cells, else by its histogram algorithm, which
//! anchors at rare tokens and bounds its search on repetitive ones as GNU diff does. Cost: O((|A| + |B|)·D) for the
//! first, bounded by `TABLE`; near-linear for the second on pages as they are, and at worst quadratic with a small
//! constant (two random sequences of 32,000 tokens: about half a second), so whoever shows pages cuts them. Memory is
//! linear. The same sequences give the same hunks.

use imara_diff::{Algorithm, Diff, Token};

/// Cells up to which the fewest edits are looked for.
const TABLE: usize = 1 << 26;

/// A stretch of A that stands against a stretch of B; what lies between hunks is equal in both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hunk {
    pub a: (u32, u32),
    pub b: (u32, u32),
}

/// The hunks, in order. Sequences are at most 2^31 − 1 tokens long.
pub fn align(a: &[u64], b: &[u64]) -> Vec<Hunk> {
    let ends = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let (a, b) = (&a[ends..], &b[ends..]);
    let tail = a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count();
    let (a, b) = (&a[..a.len() - tail], &b[..b.len() - tail]);
    let (before, after, different) = numbered(a, b);
    let minimal = a.len().saturating_mul(b.len()) <= TABLE;
    let algorithm = if minimal { Algorithm::MyersMinimal } else { Algorithm::Histogram };
    let mut diff = Diff::default();
    diff.compute_with(algorithm, &before, &after, different);
    let start = ends as u32;
    diff.hunks()
        .map(|hunk| Hunk {
            a: (hunk.before.start + start, hunk.before.end + start),
            b: (hunk.after.start + start, hunk.after.end + start),
        })
        .collect()
}

/// Both sequences with their tokens numbered from 0, and how many numbers there are.
fn numbered(a: &[u64], b: &[u64]) -> (Vec<Token>, Vec<Token>, u32) {
    let mut known: Vec<u64> = a.iter().chain(b).copied().collect();
    known.sort_unstable();
    known.dedup();
    let number = |token: &u64| Token(known.partition_point(|other| other < token) as u32);
    (a.iter().map(number).collect(), b.iter().map(number).collect(), known.len() as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::difference::term_difference;
    use proptest::prelude::*;

    /// Tokens without a counterpart; the fewest there can be are `term_difference`.
    fn unmatched(hunks: &[Hunk]) -> usize {
        hunks.iter().map(|hunk| (hunk.a.1 - hunk.a.0 + hunk.b.1 - hunk.b.0) as usize).sum()
    }

    /// What lies between hunks is equal, and nothing is left out.
    fn check(a: &[u64], b: &[u64], hunks: &[Hunk]) {
        let (mut at_a, mut at_b) = (0, 0);
        for hunk in hunks {
            let (start_a, start_b) = (hunk.a.0 as usize, hunk.b.0 as usize);
            assert_eq!(a[at_a..start_a], b[at_b..start_b]);
            assert!(hunk.a.0 < hunk.a.1 || hunk.b.0 < hunk.b.1);
            (at_a, at_b) = (hunk.a.1 as usize, hunk.b.1 as usize);
        }
        assert_eq!(a[at_a..], b[at_b..]);
    }

    proptest! {
        #[test]
        fn hunks_turn_one_into_the_other(
            a in proptest::collection::vec(0u64..12, 0..200),
            b in proptest::collection::vec(0u64..12, 0..200),
        ) {
            let hunks = align(&a, &b);
            check(&a, &b, &hunks);
            prop_assert!(unmatched(&hunks) >= term_difference(&a, &b));
        }

        #[test]
        fn a_few_edits_are_found_as_they_are(
            a in proptest::collection::vec(0u64..1_000_000, 60..300),
            places in proptest::collection::btree_set(0usize..60, 1..5),
        ) {
            let mut b = a.clone();
            for &place in &places {
                b[place] = u64::MAX - place as u64;
            }
            let hunks = align(&a, &b);
            check(&a, &b, &hunks);
            prop_assert_eq!(unmatched(&hunks), term_difference(&a, &b));
        }
    }

    #[test]
    fn long_and_hostile_sequences_end_soon() {
        // Nothing but two tokens in an order that never repeats: the worst for an aligner.
        let made = |start: u64| {
            let mut state = start;
            (0..30_000)
                .map(|_| {
                    state =
                        state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    state >> 63
                })
                .collect::<Vec<u64>>()
        };
        let (a, b) = (made(1), made(2));
        check(&a, &b, &align(&a, &b));
        let (a, b): (Vec<u64>, Vec<u64>) = ((0..30_000).collect(), (0..30_000).rev().collect());
        check(&a, &b, &align(&a, &b));
    }

    #[test]
    fn equal_and_empty_sequences() {
        assert_eq!(align(&[1, 2, 3], &[1, 2, 3]), []);
        assert_eq!(align(&[], &[7]), [Hunk { a: (0, 0), b: (0, 1) }]);
        assert_eq!(align(&[1, 2, 3], &[1, 9, 3]), [Hunk { a: (1, 2), b: (1, 2) }]);
    }
}
