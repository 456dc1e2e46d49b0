//! Keys for pages that must agree in at least κ of k columns: groups of columns, so that no pair is missed.
//!
//! Pages that agree in κ of k columns differ in at most k − κ. Cut into k − κ + 1 groups, at least one group has no
//! column that differs: its hash is the same, and pages that share none need not be looked at. Groups are as even as
//! can be, and the fewer columns may differ, the longer and the more telling they are. Cost: one multiplication a
//! column.

use crate::format::{SEED_SUPERSHINGLE, splitmix};
use crate::hash::{fold, mix};

/// One key for each of `groups` groups of the columns of each row, tagged with the group's place.
pub fn group_columns(values: &[u64], width: usize, groups: usize) -> Vec<u64> {
    const FACTOR: u64 = splitmix(SEED_SUPERSHINGLE ^ 2, u64::MAX - 1) | 1;
    let groups = groups.clamp(1, width.max(1));
    let mut keys = Vec::with_capacity(values.len() / width.max(1) * groups);
    for row in values.chunks_exact(width.max(1)) {
        for group in 0..groups {
            let columns = &row[group * width / groups..(group + 1) * width / groups];
            let start = splitmix(SEED_SUPERSHINGLE ^ 2, group as u64);
            keys.push(mix(columns.iter().fold(start, |key, &value| fold(key ^ value, FACTOR))));
        }
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_pair_that_agrees_enough_is_missed(
            a in proptest::collection::vec(0u64..3, 1..20), changes: Vec<(usize, u64)>, needed in 1usize..20,
        ) {
            let width = a.len();
            let least = needed.min(width);
            let mut b = a.clone();
            for (at, value) in changes.iter().take(width) {
                b[at % width] = 100 + value % 5;
            }
            let agreeing = a.iter().zip(&b).filter(|(a, b)| a == b).count();
            let keys = group_columns(&[a, b].concat(), width, width - least + 1);
            let (first, second) = keys.split_at(keys.len() / 2);
            let shares = first.iter().zip(second).any(|(a, b)| a == b);
            prop_assert!(shares || agreeing < least);
            // And a shared key is a group that agrees.
            prop_assert!(!shares || agreeing > 0);
        }
    }
}
