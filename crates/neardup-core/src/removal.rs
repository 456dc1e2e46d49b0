//! Which pages go: direct removal.
//!
//! Pages are taken in the order of the keep policy; one is removed only if it was accepted against a page that
//! stays, or has the text of one, so a chain a ~ b ~ c never removes c for a. The page kept instead is the one of the
//! same text, else the most similar one that stays, of equals the one that comes first in the keep order.
//! Cost: O(pages + pairs).

use crate::grouped::Grouped;

/// Pages of one text, of which one stays at most, where texts are told apart from pages; and which stay so far.
pub(crate) struct Twins<'a> {
    texts: Option<&'a [u32]>,
    kept: Vec<u32>,
}

impl<'a> Twins<'a> {
    const NONE: u32 = u32::MAX;

    /// Texts have numbers below that of pages.
    pub(crate) fn new(texts: Option<&'a [u32]>, pages: usize) -> Self {
        Twins { texts, kept: texts.map_or(Vec::new(), |_| vec![Self::NONE; pages]) }
    }

    /// The page of the same text that stays.
    pub(crate) fn kept(&self, page: u32) -> Option<u32> {
        let kept = self.kept[self.texts?[page as usize] as usize];
        (kept != Self::NONE).then_some(kept)
    }

    /// The page stays; the first of a text stands for it.
    pub(crate) fn keep(&mut self, page: u32) {
        if let Some(texts) = self.texts {
            let kept = &mut self.kept[texts[page as usize] as usize];
            *kept = if *kept == Self::NONE { page } else { *kept };
        }
    }
}

/// Each page that has the text of one before it, with the first of that text.
pub(crate) fn twins(texts: Option<&[u32]>) -> Vec<(u32, u32)> {
    let Some(texts) = texts else { return Vec::new() };
    let mut first = Twins::new(Some(texts), texts.len());
    let mut pairs = Vec::new();
    for page in 0..texts.len() as u32 {
        pairs.extend(first.kept(page).map(|first| (page, first)));
        first.keep(page);
    }
    pairs
}

/// For each page the page kept instead of it, or the page itself if it stays. `order` names every page once; the first
/// `settled` of it stay whatever they are like. `texts`, where pages are less than texts, are numbers below that of
/// pages.
pub fn direct(
    order: &[u32],
    pairs: &[(u32, u32)],
    scores: &[f64],
    texts: Option<&[u32]>,
    settled: usize,
) -> Vec<u32> {
    let pages = order.len();
    let mut place = vec![0u32; pages];
    for (at, &page) in order.iter().enumerate() {
        place[page as usize] = at as u32;
    }
    // Pairs by their later page (in keep order): that is the one they may remove.
    let earlier_and_later = |&(a, b): &(u32, u32)| {
        if place[a as usize] < place[b as usize] { (a, b) } else { (b, a) }
    };
    let by_later = Grouped::new(pages, &|put: &mut dyn FnMut(u32, u32)| {
        for (number, pair) in pairs.iter().enumerate() {
            put(earlier_and_later(pair).1, number as u32);
        }
    });
    let mut instead: Vec<u32> = (0..pages as u32).collect();
    let mut twins = Twins::new(texts, pages);
    for (at, &page) in order.iter().enumerate() {
        let with_earlier = by_later.of(page).iter().map(|&number| {
            let earlier = earlier_and_later(&pairs[number as usize]).0;
            (scores[number as usize], earlier)
        });
        let stays = with_earlier.filter(|&(_, earlier)| instead[earlier as usize] == earlier);
        let first = |page: u32| place[page as usize];
        let best = stays.min_by(|x, y| y.0.total_cmp(&x.0).then(first(x.1).cmp(&first(y.1))));
        match twins.kept(page).or(best.map(|(_, earlier)| earlier)) {
            Some(other) if at >= settled => instead[page as usize] = other,
            _ => twins.keep(page),
        }
    }
    instead
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_chain_keeps_both_ends() {
        assert_eq!(direct(&[0, 1, 2], &[(0, 1), (1, 2)], &[0.9, 0.9], None, 0), [0, 0, 2]);
        assert_eq!(direct(&[1, 0, 2], &[(0, 1), (1, 2)], &[0.9, 0.9], None, 0), [1, 1, 1]);
    }

    #[test]
    fn the_most_similar_kept_page_is_named() {
        assert_eq!(direct(&[0, 1, 2], &[(0, 2), (1, 2)], &[0.8, 0.9], None, 0), [0, 1, 1]);
        assert_eq!(direct(&[0, 1, 2], &[(0, 2), (1, 2)], &[0.9, 0.9], None, 0), [0, 1, 0]);
    }

    proptest! {
        #[test]
        fn removed_exactly_when_accepted_against_a_kept_page(
            edges in proptest::collection::vec((0u32..20, 0u32..20), 0..60),
            order in Just((0u32..20).collect::<Vec<_>>()).prop_shuffle(),
            texts in proptest::option::of(proptest::collection::vec(0u32..20, 20)),
            settled in 0usize..4,
        ) {
            let alike = |a: u32, b: u32| {
                texts.as_ref().is_some_and(|texts| texts[a as usize] == texts[b as usize])
            };
            let edges: Vec<(u32, u32)> = edges.into_iter().filter(|&(a, b)| a != b && !alike(a, b)).collect();
            let instead = direct(&order, &edges, &vec![1.0; edges.len()], texts.as_deref(), settled);
            let joined = |a: u32, b: u32| edges.contains(&(a, b)) || edges.contains(&(b, a)) || alike(a, b);
            let place = |page: u32| order.iter().position(|&other| other == page).unwrap();
            for page in 0..20u32 {
                let kept = instead[page as usize];
                prop_assert_eq!(instead[kept as usize], kept);
                if place(page) < settled {
                    prop_assert_eq!(kept, page);
                } else if kept == page {
                    for other in 0..20u32 {
                        let earlier_kept = instead[other as usize] == other && place(other) < place(page);
                        prop_assert!(!(earlier_kept && joined(page, other)));
                    }
                } else {
                    prop_assert!(joined(page, kept) && place(kept) < place(page));
                    let twin = |other: u32| {
                        alike(page, other) && instead[other as usize] == other && place(other) < place(page)
                    };
                    prop_assert_eq!(alike(page, kept), (0..20).any(twin));
                }
            }
        }
    }
}
