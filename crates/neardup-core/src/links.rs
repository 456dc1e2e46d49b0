//! Hot buckets cut into pieces: which of their pages hang together by accepted pairs, looked for two pieces at a time.
//!
//! What [`crate::hot`] decides for a page depends only on pages that it hangs together with by *accepted* pairs, of hot
//! buckets or of others. So a hot bucket that is too much for one machine need not be resolved as a whole. Its pages are
//! dealt out over n salts; every two salts (and every salt with itself) are compared somewhere, and what is told there is
//! a forest: of pages already tied no pair is looked at again, so that a cluster of s pages gives s − 1 links and not
//! s²/2 pairs. The components of all forests together are exactly those of all accepted pairs, and each can be resolved
//! by itself, wherever.
//!
//! Cost: for s pages on n salts n(n + 1)/2 pieces of work of (s/n)² screened comparisons ([`crate::screen`]), each page
//! sent n times, and at most 2s/n − 1 links a piece. It wins where pages share a template and little else: nearly all
//! of them are tied to none, and what remains to be resolved is small.

use crate::components::Components;
use crate::hot::Rule;
use crate::join::Listed;
use crate::screen::{BLOCK, Blocks, Selection};

/// Probes that are screened at a time.
const TILE: usize = 256;

/// A forest that ties the pages of the hot buckets of each rule as all their accepted pairs would: those of pages with different salts, or
/// all pairs where there is one salt only. The smaller page of a link comes first.
pub fn links(rules: &[Rule<'_>], hot: &[Vec<Listed>], salt: &[u32]) -> Vec<(u32, u32)> {
    let mut tied = Components::new(salt.len());
    let mut found = Vec::new();
    let first = salt.first().copied();
    let (one, other): (Vec<u32>, Vec<u32>) =
        (0..salt.len() as u32).partition(|&page| Some(salt[page as usize]) == first);
    let whole = one.is_empty() || other.is_empty();
    for (rule, hot) in rules.iter().zip(hot) {
        for bucket in hot {
            let (probes, rows): (Vec<u32>, Vec<u32>) = if whole {
                (bucket.pages.clone(), bucket.pages.clone())
            } else {
                bucket.pages.iter().partition(|&&page| Some(salt[page as usize]) == first)
            };
            link(rule, bucket, &probes, &rows, whole, &mut tied, &mut found);
        }
    }
    found
}

/// Links `probes` with `rows` of one bucket; where both are the `whole` bucket, each pair is looked at once.
fn link(
    rule: &Rule<'_>,
    bucket: &Listed,
    probes: &[u32],
    rows: &[u32],
    whole: bool,
    tied: &mut Components,
    found: &mut Vec<(u32, u32)>,
) {
    let verifier = rule.verifier;
    let selection = Selection::of(verifier, &bucket.pages);
    let Some(&page) = rows.first() else { return };
    let mut blocks = Blocks::new(selection.width(verifier.words(page).len()));
    let mut row = Vec::new();
    for &page in rows {
        row.clear();
        selection.pack(verifier.words(page), &mut row);
        blocks.push(&row, verifier.share(page));
    }
    for (number, tile) in probes.chunks(TILE).enumerate() {
        row.clear();
        for &page in tile {
            selection.pack(verifier.words(page), &mut row);
            row.push(verifier.share(page));
        }
        let start = number * TILE;
        let from = if whole { start / BLOCK } else { 0 };
        blocks.screen(from..blocks.blocks(), &row, &mut |probe, at| {
            if whole && at <= start + probe {
                return;
            }
            let (a, b) = (tile[probe].min(rows[at]), tile[probe].max(rows[at]));
            let apart = tied.find(a) != tied.find(b);
            if apart
                && rule.buckets.takes_up(bucket.column, bucket.key, a, b)
                && verifier.score(a, b).is_some()
            {
                tied.join(a, b);
                found.push((a, b));
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::components::components;
    use crate::hot::{Tuning, resolve};
    use crate::join::{Buckets, HotBucket, Joined, Limits, Pair, Predicate, Sites, Standing};
    use crate::keys::Keys;
    use crate::screen::Screened;
    use crate::verify::{AgreeingBits, EqualColumns, Everything};
    use proptest::prelude::*;

    /// Keys, sites and a sketch.
    type Row = ([u64; 2], std::collections::BTreeSet<u32>, u64);

    #[derive(Default)]
    struct Collection {
        keys: Vec<u64>,
        offsets: Vec<u64>,
        sites: Vec<u32>,
        sketches: Vec<u64>,
        active: Vec<bool>,
    }

    impl Collection {
        fn new<'a>(rows: impl Iterator<Item = &'a Row>) -> Self {
            let mut made = Collection { offsets: vec![0], ..Collection::default() };
            for (keys, sites, sketch) in rows {
                made.keys.extend([keys[0], 100 + keys[1]]);
                made.sites.extend(sites);
                made.offsets.push(made.sites.len() as u64);
                made.sketches.push(*sketch);
                made.active.push(true);
            }
            made
        }

        fn buckets(&self, predicate: u8) -> Buckets<'_> {
            let sites = Sites { offsets: &self.offsets, values: &self.sites };
            let predicate = match predicate {
                0 => Predicate::Any,
                1 => Predicate::SameSite(sites),
                _ => Predicate::DifferentSite(sites),
            };
            Buckets::new(Keys::columns(2, &self.keys), &self.active, predicate)
        }

        /// Does something with the verifier of a kind.
        fn verified<T>(&self, kind: u8, with: impl Fn(&dyn Screened, &dyn Joins) -> T) -> T {
            match kind {
                0 => with(&Everything, &Everything),
                1 => {
                    let columns = EqualColumns { width: 2, values: &self.keys, least: 2 };
                    with(&columns, &columns)
                }
                _ => {
                    let bits = AgreeingBits { width: 1, values: &self.sketches, least: 62 };
                    with(&bits, &bits)
                }
            }
        }
    }

    /// Joins that are generic over their verifier, behind a pointer.
    trait Joins {
        fn within(&self, buckets: &Buckets<'_>, limits: Limits) -> Joined;
        fn beside(&self, buckets: &Buckets<'_>, hot: &[Standing]) -> Joined;
    }

    impl<V: Screened> Joins for V {
        fn within(&self, buckets: &Buckets<'_>, limits: Limits) -> Joined {
            buckets.join_within(self, limits)
        }

        fn beside(&self, buckets: &Buckets<'_>, hot: &[Standing]) -> Joined {
            buckets.join_beside(hot, self)
        }
    }

    /// The entries of hot buckets among some pages, which are numbered anew; the site of one is found by trying.
    fn standing(rows: &[&Row], predicate: u8, hot: &[HotBucket], all: &Buckets<'_>) -> Vec<Standing> {
        let mut found = Vec::new();
        for (page, row) in rows.iter().enumerate() {
            for (column, key) in [row.0[0], 100 + row.0[1]].into_iter().enumerate() {
                let sites = if predicate == 1 { row.1.iter().copied().collect() } else { vec![0] };
                for site in sites {
                    let at = Standing { column: column as u32, key, site, page: page as u32 };
                    let known =
                        |bucket: &HotBucket| (bucket.column as usize, bucket.key) == all.bucket_of(&at);
                    if hot.iter().any(known) {
                        found.push(at);
                    }
                }
            }
        }
        found
    }

    const TUNING: Tuning = Tuning { tile: 4, packed: 3, outside: 2, pairs: u64::MAX };

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1500))]
        #[test]
        fn pieces_give_what_the_whole_gives(
            rows in proptest::collection::vec(
                (
                    proptest::array::uniform2(0u64..3),
                    proptest::collection::btree_set(1u32..3, 1..3),
                    prop_oneof![0u64..16, (0u64..16).prop_map(|low| low | 0xff00)],
                ),
                2..40,
            ),
            predicate in 0u8..3,
            kind in 0u8..3,
            limit in 1usize..6,
            salts in 1u32..5,
        ) {
            let collection = Collection::new(rows.iter());
            let buckets = collection.buckets(predicate);
            let order: Vec<u32> = (0..rows.len() as u32).rev().collect();
            let limits = Limits { bucket: limit, ..Limits::NONE };
            let (joined, mut expected) = collection.verified(kind, |verifier, joins| {
                let joined = joins.within(&buckets, limits);
                let rule = Rule { buckets: &buckets, verifier, joined: &joined };
                let resolved = resolve(&[rule], &order, None, TUNING);
                (joined, resolved[0].pairs.clone())
            });
            // Every two salts, and every salt with itself.
            let mut edges: Vec<(u32, u32)> = joined.pairs.iter().map(|pair| (pair.a, pair.b)).collect();
            for one in 0..salts {
                for other in one..salts {
                    let pages: Vec<u32> =
                        (0..rows.len() as u32).filter(|page| [one, other].contains(&(page % salts))).collect();
                    let some: Vec<&Row> = pages.iter().map(|&page| &rows[page as usize]).collect();
                    let piece = Collection::new(some.iter().copied());
                    let of_piece = piece.buckets(predicate);
                    let hot = standing(&some, predicate, &joined.hot, &buckets);
                    let salt: Vec<u32> = pages.iter().map(|page| page % salts).collect();
                    let found = piece.verified(kind, |verifier, _| {
                        let rule = Rule { buckets: &of_piece, verifier, joined: &Joined::default() };
                        links(&[rule], &[of_piece.listed(&hot)], &salt)
                    });
                    prop_assert!(found.len() < pages.len().max(1));
                    edges.extend(found.iter().map(|&(a, b)| (pages[a as usize], pages[b as usize])));
                }
            }
            let label = components(rows.len(), edges.iter().copied());
            let of_all = joined.pairs.iter().chain(&expected).map(|pair| (pair.a, pair.b));
            prop_assert_eq!(&label, &components(rows.len(), of_all));
            // Each component by itself.
            let mut resolved = Vec::new();
            for component in 0..rows.len() as u32 {
                let pages: Vec<u32> =
                    (0..rows.len() as u32).filter(|&page| label[page as usize] == component).collect();
                let some: Vec<&Row> = pages.iter().map(|&page| &rows[page as usize]).collect();
                let piece = Collection::new(some.iter().copied());
                let of_piece = piece.buckets(predicate);
                let hot = standing(&some, predicate, &joined.hot, &buckets);
                let order: Vec<u32> = (0..pages.len() as u32).rev().collect();
                let pairs = piece.verified(kind, |verifier, joins| {
                    let joined = joins.beside(&of_piece, &hot);
                    let rule = Rule { buckets: &of_piece, verifier, joined: &joined };
                    resolve(&[rule], &order, None, TUNING)[0].pairs.clone()
                });
                let named = |pair: &Pair| Pair { a: pages[pair.a as usize], b: pages[pair.b as usize], ..*pair };
                resolved.extend(pairs.iter().map(named));
            }
            resolved.sort_unstable_by_key(Pair::order);
            expected.sort_unstable_by_key(Pair::order);
            prop_assert_eq!(resolved, expected);
        }
    }
}
