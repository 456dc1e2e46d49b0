//! Chunks of a page and which of them are its fingerprint: the selection heuristics of Potthast & Stein's Table 1, one
//! file an idea. A chunk is a window of n tokens ([`crate::shingle`]) or a stretch between breakpoints; what is
//! selected is a set of 64-bit numbers, sorted, that two pages are compared by.

pub mod anchors;
pub mod breakpoints;
pub mod bytes;
pub mod paragraphs;
pub mod positions;
pub mod smallest;
pub mod texts;
pub mod winnowing;

use crate::ordered::{Ordered, to_set};

/// Sets one after another, as Arrow lays them out.
#[derive(Debug, Default)]
pub struct Sets {
    pub offsets: Vec<i64>,
    pub values: Vec<u64>,
}

/// The set of what `select` puts out for each page.
pub fn sets<P>(pages: impl Iterator<Item = P>, mut select: impl FnMut(P, &mut Vec<u64>)) -> Sets {
    let mut sets = Sets { offsets: vec![0], values: Vec::new() };
    let (mut chosen, mut ordered) = (Vec::new(), Ordered::default());
    for page in pages {
        chosen.clear();
        select(page, &mut chosen);
        to_set(&mut chosen, &mut ordered);
        sets.values.extend_from_slice(&chosen);
        sets.offsets.push(sets.values.len() as i64);
    }
    sets
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_is_sorted_and_of_its_own_page_only() {
        let pages: [&[u64]; 3] = [&[3, 1, 3], &[], &[9]];
        let made = sets(pages.into_iter(), |page, out| out.extend_from_slice(page));
        assert_eq!(made.offsets, [0, 2, 2, 3]);
        assert_eq!(made.values, [1, 3, 9]);
    }
}
