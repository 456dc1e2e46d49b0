//! Which rows of a column of texts repeat one that stood before.
//!
//! Texts are hashed and the hashes sorted; only texts of one hash are compared, and those by hashing with a secret
//! seed, so that texts made to collide cost no more than others. Cost: one pass over the texts, a parallel sort.

use std::collections::HashSet;

use rayon::prelude::*;

use crate::hash::fold_term;

/// The rows, ascending, whose text stands in an earlier row.
pub fn repeated<'a>(rows: usize, text: impl Fn(usize) -> &'a [u8] + Sync) -> Vec<u32> {
    let hashed = (0..rows).into_par_iter().map(|row| (fold_term(text(row)), row as u32));
    let mut order: Vec<(u64, u32)> = hashed.collect();
    order.par_sort_unstable();
    let mut found = Vec::new();
    for alike in order.chunk_by(|a, b| a.0 == b.0).filter(|alike| alike.len() > 1) {
        let mut seen = HashSet::new();
        found.extend(alike.iter().map(|&(_, row)| row).filter(|&row| !seen.insert(text(row as usize))));
    }
    found.sort_unstable();
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn agrees_with_looking_back(texts in proptest::collection::vec("[ab]{0,3}", 0..60)) {
            let back = (0..texts.len()).filter(|&row| texts[..row].contains(&texts[row]));
            let expected: Vec<u32> = back.map(|row| row as u32).collect();
            prop_assert_eq!(repeated(texts.len(), |row| texts[row].as_bytes()), expected);
        }
    }
}
