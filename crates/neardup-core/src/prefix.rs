//! Prefix filtering: few keys a page, so that every two pages whose sets share enough have a key in common (Chaudhuri,
//! Ganti and Kaushik, ICDE 2006; Bayardo, Ma and Srikant, WWW 2007).
//!
//! All numbers are put in one order. Two sets with |A ∩ B| / |A ∪ B| ≥ t share at least ⌈t·|A|⌉ and ⌈t·|B|⌉ numbers, so
//! among the first |A| − ⌈t·|A|⌉ + 1 of A and the first |B| − ⌈t·|B|⌉ + 1 of B at least one is the same: these are the
//! keys, and no pair is missed. The order is by how many pages have a number, the rarest first, so that keys are
//! shared by few; numbers of one page only come first of all and make no candidate. Cost: a sort of all numbers once,
//! and of each page's; a share of about 1 − t of the numbers become keys.

use rayon::prelude::*;

use crate::hash::mix;
use crate::statistics::numbers::{Numbers, directory};

/// Lists of keys, one a page, ascending: those of page i are `values[offsets[i]..offsets[i + 1]]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyLists {
    pub offsets: Vec<u64>,
    pub values: Vec<u64>,
}

/// The keys of `count` pages whose sets `set` gives; a page that takes no part has an empty one. `least` is t, above 0.
pub fn keys<'a>(count: usize, set: impl Fn(usize) -> &'a [u64] + Sync, least: f64) -> KeyLists {
    let (numbers, pages) = frequencies((0..count).flat_map(|page| set(page).iter().copied()).collect());
    let directory = directory(&numbers);
    let places = Numbers::new(&numbers, &directory).expect("its own directory");
    let lists: Vec<Vec<u64>> = (0..count)
        .into_par_iter()
        .map(|page| {
            let set = set(page);
            // A number that is not among those of several pages has one page.
            let rarity = |number: u64| places.find(number).map_or(1, |at| pages[at]);
            let mut ordered: Vec<(u32, u64)> = set.iter().map(|&number| (rarity(number), number)).collect();
            ordered.sort_unstable();
            ordered.truncate(length(set.len(), least));
            let mut keys: Vec<u64> =
                ordered.into_iter().filter(|&(pages, _)| pages > 1).map(|(_, number)| number).collect();
            keys.sort_unstable();
            keys
        })
        .collect();
    let mut made =
        KeyLists { offsets: vec![0], values: Vec::with_capacity(lists.iter().map(Vec::len).sum()) };
    for list in lists {
        made.values.extend_from_slice(&list);
        made.offsets.push(made.values.len() as u64);
    }
    made
}

/// The same for one page at a time, of which the others are not known: numbers are ordered by a hash, so that no pair is
/// missed either, but keys are as common as the numbers are. Ascending by that order.
pub fn keys_of_one(set: &[u64], least: f64) -> Vec<u64> {
    let mut ordered: Vec<(u64, u64)> = set.iter().map(|&number| (mix(number ^ ORDER), number)).collect();
    ordered.sort_unstable();
    ordered.truncate(length(set.len(), least));
    ordered.into_iter().map(|(_, number)| number).collect()
}

/// The order of [`keys_of_one`] is part of what an index is made of.
const ORDER: u64 = 0x5bd1_e995_9e37_79b9;

/// How many of the first numbers of a set of this size are keys.
fn length(size: usize, least: f64) -> usize {
    // Rounding must not make the prefix too short: a little less is asked to be shared.
    let shared = (least * size as f64 - 1e-9).ceil().max(1.0) as usize;
    (size + 1).saturating_sub(shared)
}

/// The numbers that stand there more than once, ascending, and how often.
fn frequencies(mut all: Vec<u64>) -> (Vec<u64>, Vec<u32>) {
    all.par_sort_unstable();
    all.chunk_by(|a, b| a == b)
        .filter(|same| same.len() > 1)
        .map(|same| (same[0], u32::try_from(same.len()).unwrap_or(u32::MAX)))
        .unzip()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(600))]
        #[test]
        fn no_pair_that_shares_enough_is_missed(
            sets in proptest::collection::vec(proptest::collection::btree_set(0u64..30, 0..25), 0..12),
            tenths in 1u32..=10,
        ) {
            let least = f64::from(tenths) / 10.0;
            let lists: Vec<Vec<u64>> = sets.iter().map(|set| set.iter().copied().collect()).collect();
            let made = keys(lists.len(), |page| &lists[page], least);
            let alone: Vec<BTreeSet<u64>> =
                lists.iter().map(|list| keys_of_one(list, least).into_iter().collect()).collect();
            let of = |page: usize| -> BTreeSet<u64> {
                made.values[made.offsets[page] as usize..made.offsets[page + 1] as usize].iter().copied().collect()
            };
            for a in 0..sets.len() {
                prop_assert!(of(a).is_subset(&sets[a]));
                for b in 0..a {
                    let (shared, union) = (sets[a].intersection(&sets[b]).count(), sets[a].union(&sets[b]).count());
                    if shared > 0 && shared as f64 / union as f64 >= least {
                        prop_assert!(!of(a).is_disjoint(&of(b)), "{a} and {b}");
                        prop_assert!(!alone[a].is_disjoint(&alone[b]), "{a} and {b}, each alone");
                    }
                }
            }
        }
    }

    #[test]
    fn the_rarest_numbers_are_the_keys() {
        // 1 stands on four pages, 2 on three, 3 on two, 9 on one.
        let lists: [&[u64]; 4] = [&[1, 2, 3, 9], &[1, 2, 3], &[1, 2], &[1]];
        let made = keys(4, |page| lists[page], 0.5);
        // Of four numbers two must be shared: the three rarest are looked at, and 9 is on one page only.
        assert_eq!(made.values[..made.offsets[1] as usize], [2, 3]);
        assert_eq!(made.values[made.offsets[3] as usize..], [1]);
    }
}
