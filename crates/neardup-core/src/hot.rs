//! Hot keys: buckets too full for all their pairs to be verified, resolved without changing the answer.
//!
//! What a run answers is which pages stay and which pages hang together, not every pair. Two passes find both exactly:
//!
//! 1. *The walk* ([`crate::walk`]). Pages are taken in keep order, as in direct removal ([`crate::removal`]). A page is
//!    compared with the pages of its hot buckets that came earlier and *stay*, and with no others; it stays if neither such a comparison
//!    nor a pair found exhaustively ties it to a page that stays. Every accepted pair is recorded, so removal by the
//!    recorded pairs gives what removal by all pairs would: the same pages stay, and each page that goes names the
//!    same page, the most similar that stays.
//! 2. *Bridges* ([`crate::bridge`]): pairs between pages that go are looked for only where a bucket still spans
//!    several components, and only until these are joined or shown to be apart.
//!
//! Cost, for a bucket of s pages of which k stay: s·k comparisons, and for pages that meet in many buckets no more than
//! if it were one. A cluster of near-identical pages has a small k and costs next to nothing; pages that share only a
//! template all stay, and s²/2 comparisons remain: these are screened in blocks of vector registers ([`crate::screen`]),
//! 64 pages in keep order against all that stay, over all threads.
//! Rejected: smaller pieces of the sketch as further keys (they do not separate pages of one template, see
//! [`crate::screen`]), and sampling, which loses pairs.
//!
//! Of a bucket its key is held, not its pages ([`crate::hot_keys`]): the walk asks which buckets a page is in, and only
//! buckets that bridges are looked for in are put together, some at a time.
//!
//! Nothing here depends on threads: comparisons of a tile are independent, decisions are made in order.

use rayon::prelude::*;

use crate::bridge;
use crate::components::Components;
use crate::hot_keys::HotKeys;
use crate::join::{Buckets, Joined, Pair};
use crate::removal;
use crate::screen::Screened;
use crate::walk::Walk;

/// A rule whose ordinary buckets are joined.
#[derive(Clone, Copy)]
pub struct Rule<'a> {
    pub buckets: &'a Buckets<'a>,
    pub verifier: &'a dyn Screened,
    pub joined: &'a Joined,
}

impl std::fmt::Debug for Rule<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Rule").field("joined", self.joined).finish_non_exhaustive()
    }
}

/// What hot buckets gave one rule.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Resolved {
    /// Accepted pairs, sorted by (a, b).
    pub pairs: Vec<Pair>,
    /// Pairs that the walk compared: as many whether buckets are resolved together or, where they share no page, apart.
    pub compared: u64,
    /// Accepted pairs, of which those beyond the limit are not in `pairs` unless they decide something.
    pub accepted: u64,
    /// No more pairs than this were neither scored nor shown to be too different.
    pub unscored: u64,
}

/// Sizes that change the speed and nothing else.
#[derive(Clone, Copy, Debug)]
pub struct Tuning {
    /// Pages in hot buckets that are compared at a time.
    pub tile: usize,
    /// Lists of pages that stay are screened in blocks from this length on.
    pub packed: usize,
    /// Up to so many pages outside the largest component are compared with all others before buckets are.
    pub outside: usize,
    /// Accepted pairs beyond this many, those that joins found among them, are recorded only if they decide something.
    pub pairs: u64,
}

/// Resolves the hot buckets of all rules together. `order` names every page once, the most preferred first; pages of
/// one text, where `texts` are given, hang together and one of them at most stays, whatever the rules.
pub fn resolve(rules: &[Rule<'_>], order: &[u32], texts: Option<&[u32]>, tuning: Tuning) -> Vec<Resolved> {
    let mut resolved = vec![Resolved::default(); rules.len()];
    if rules.iter().all(|rule| rule.joined.hot.is_empty()) {
        return resolved;
    }
    let keys = HotKeys::new(rules, order.len());
    let mut components = Components::new(order.len());
    for pair in rules.iter().flat_map(|rule| &rule.joined.pairs) {
        components.join(pair.a, pair.b);
    }
    for (page, first) in removal::twins(texts) {
        components.join(first, page);
    }
    if let [only] = &mut resolved[..] {
        // About a pair for every hot page; a list that grows is held twice while it is copied.
        let _ = only.pairs.try_reserve_exact(keys.hot_pages().count());
    }
    let walk = Walk::new(rules, &keys, order, texts, &mut components, tuning);
    let instead = walk.run(&mut components, &mut resolved);
    let (by_bucket, mut open) = sort_out(&keys, &instead, &components);
    if let Some(few) = bridge::few_outside(&keys, &open, &components, tuning.outside) {
        open = bridge::of_few(&keys, &few, &instead, &components);
    }
    let portion = (order.len() as u64 / 2).max(1 << 20);
    keys.pages_of(&open, portion, &mut |at, pages| {
        let bucket = &keys.bucket(at);
        let of_rule = &mut resolved[bucket.rule];
        bridge::bridge(rules, bucket, pages, &instead, tuning.tile, &mut components, of_rule);
    });
    for (at, resolved) in resolved.iter_mut().enumerate() {
        resolved.pairs.par_sort_unstable_by_key(Pair::order);
        resolved.unscored = by_bucket[at].min(open_in_all(rules[at].joined, resolved, &instead, &components));
    }
    resolved
}

/// What a bucket is after the walk.
#[derive(Clone, Copy)]
struct Seen {
    /// The component of its first page.
    component: u32,
    several: bool,
    stay: u32,
}

/// For each rule a bound on the pairs of its buckets that were neither scored nor shown to be too different; and the
/// buckets that lie in several components, where a bridge may be found: pairs of pages that stay were compared. What
/// bridges join is counted as well: no more than all.
fn sort_out(keys: &HotKeys<'_>, instead: &[u32], components: &Components) -> (Vec<u64>, Vec<u32>) {
    const UNSEEN: u32 = u32::MAX;
    let mut seen = vec![Seen { component: UNSEEN, several: false, stay: 0 }; keys.count()];
    keys.each_standing(&mut |page, buckets| {
        let component = components.root(page);
        for &bucket in buckets {
            let seen = &mut seen[bucket as usize];
            seen.several |= seen.component != UNSEEN && seen.component != component;
            seen.component = component;
            seen.stay += u32::from(instead[page as usize] == page);
        }
    });
    let mut bounds = vec![0u64; keys.rules.len()];
    let mut open = Vec::new();
    for (at, seen) in seen.iter().enumerate() {
        let bucket = keys.bucket(at as u32);
        let stay = u64::from(seen.stay);
        let bound = &mut bounds[bucket.rule];
        *bound = bound.saturating_add(bridge::open(bucket.pages, stay));
        if seen.several && stay < bucket.pages {
            open.push(at as u32);
        }
    }
    (bounds, open)
}

/// The same bound over all pages of hot buckets together, less what was scored. Pairs in different components are shown
/// to be too different.
fn open_in_all(joined: &Joined, resolved: &Resolved, instead: &[u32], components: &Components) -> u64 {
    let hot = &joined.in_hot;
    if hot.is_empty() {
        return 0;
    }
    let pages = (0..hot.len() as u32).filter(|&page| hot[page as usize]);
    let scored = joined.pairs.iter().chain(&resolved.pairs);
    let scored = scored.filter(|pair| hot[pair.a as usize] && hot[pair.b as usize]).count() as u64;
    bridge::open_pairs(pages, instead, components).saturating_sub(scored)
}

pub(crate) fn pair(a: u32, b: u32, score: f64) -> Pair {
    Pair { a: a.min(b), b: a.max(b), score }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::components::components;
    use crate::format::splitmix;
    use crate::join::{Limits, Predicate, Sites};
    use crate::keys::Keys;
    use crate::sets::testing::Made;
    use crate::verify::{AgreeingBits, EqualColumns, Everything, Jaccard};
    use proptest::prelude::*;

    /// One page of a random collection: keys, sites, whether active, and a small set, which is its sketch as well.
    type Row = ([u64; 3], std::collections::BTreeSet<u32>, bool, std::collections::BTreeSet<u64>);

    fn row() -> impl Strategy<Value = Row> {
        (
            proptest::array::uniform3(0u64..4),
            proptest::collection::btree_set(0u32..3, 1..3),
            proptest::bool::weighted(0.9),
            proptest::collection::btree_set(0u64..14, 0..12),
        )
    }

    struct Collection {
        keys: Vec<u64>,
        offsets: Vec<u64>,
        sites: Vec<u32>,
        active: Vec<bool>,
        sketches: Vec<u64>,
        sets: Made,
    }

    impl Collection {
        fn new(rows: &[Row]) -> Self {
            // Tagged keys: a value means something else in every column.
            let tagged = |row: &Row| (0..3).map(|at| 100 * at as u64 + row.0[at]).collect::<Vec<_>>();
            let mut offsets = vec![0];
            rows.iter().for_each(|row| offsets.push(offsets[offsets.len() - 1] + row.1.len() as u64));
            let list = |row: &Row| row.3.iter().map(|&value| splitmix(7, value)).collect::<Vec<_>>();
            Collection {
                keys: rows.iter().flat_map(tagged).collect(),
                offsets,
                sites: rows.iter().flat_map(|row| row.1.iter().copied()).collect(),
                active: rows.iter().map(|row| row.2).collect(),
                sketches: rows
                    .iter()
                    .map(|row| row.3.iter().fold(0, |bits, value| bits | 1 << value))
                    .collect(),
                sets: Made::new(&rows.iter().map(list).collect::<Vec<_>>()),
            }
        }

        fn buckets<'a>(&'a self, predicate: u8, texts: Option<&'a [u32]>) -> Buckets<'a> {
            let sites = Sites { offsets: &self.offsets, values: &self.sites };
            let predicate = match predicate {
                0 => Predicate::Any,
                1 => Predicate::SameSite(sites),
                _ => Predicate::DifferentSite(sites),
            };
            Buckets::new(Keys::columns(3, &self.keys), &self.active, predicate).between_texts(texts)
        }
    }

    /// Components, and the page that stays instead of each, from pairs of several rules.
    fn answer(order: &[u32], pairs: &[Pair], texts: Option<&[u32]>) -> (Vec<u32>, Vec<u32>) {
        let mut best = std::collections::BTreeMap::new();
        for pair in pairs {
            let score: &mut f64 = best.entry((pair.a, pair.b)).or_insert(pair.score);
            *score = score.max(pair.score);
        }
        let edges: Vec<(u32, u32)> = best.keys().copied().collect();
        let scores: Vec<f64> = best.values().copied().collect();
        let twins = removal::twins(texts);
        let tied = edges.iter().copied().chain(twins);
        (components(order.len(), tied), removal::direct(order, &edges, &scores, texts, 0))
    }

    fn join_rule<V: Screened>(buckets: &Buckets<'_>, verifier: &V, bucket: usize) -> (Joined, Joined) {
        let limits = Limits { bucket, ..Limits::NONE };
        (buckets.join(verifier), buckets.join_within(verifier, limits))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(3000))]
        #[test]
        fn gives_what_all_pairs_give(
            (rows, order) in proptest::collection::vec(row(), 1..45).prop_flat_map(|rows| {
                let order = (0..rows.len() as u32).collect::<Vec<_>>();
                (Just(rows), Just(order).prop_shuffle())
            }),
            predicates in (0u8..3, 0u8..3),
            verifiers in (0u8..4, 0u8..4),
            bucket in 1usize..5,
            tile in 1usize..6,
            packed in prop_oneof![Just(1usize), Just(3), Just(1000)],
            outside in prop_oneof![Just(0usize), Just(3), Just(1000)],
            pairs in prop_oneof![Just(0u64), Just(1000)],
            least in 0u32..7,
            texts in proptest::option::of(1u32..45),
        ) {
            let collection = Collection::new(&rows);
            let bits = AgreeingBits { width: 1, values: &collection.sketches, least: 64 - least };
            let columns = EqualColumns { width: 3, values: &collection.keys, least: 1 + least as usize % 3 };
            let made = collection.sets.sets();
            let sets = Jaccard { sets: &made, least: 1.0 - f64::from(least) / 8.0, of_larger: None };
            let texts: Option<Vec<u32>> =
                texts.map(|kinds| (0..rows.len() as u32).map(|page| page % kinds).collect());
            let texts = texts.as_deref();
            let both = [collection.buckets(predicates.0, texts), collection.buckets(predicates.1, texts)];
            let mut all = Vec::new();
            let mut joined = Vec::new();
            for (buckets, kind) in both.iter().zip([verifiers.0, verifiers.1]) {
                let (exhaustive, ordinary) = match kind {
                    0 => join_rule(buckets, &Everything, bucket),
                    1 => join_rule(buckets, &columns, bucket),
                    2 => join_rule(buckets, &bits, bucket),
                    _ => join_rule(buckets, &sets, bucket),
                };
                all.push(exhaustive);
                joined.push(ordinary);
            }
            let verifier = |kind: u8| -> &dyn Screened {
                match kind {
                    0 => &Everything,
                    1 => &columns,
                    2 => &bits,
                    _ => &sets,
                }
            };
            let rules: Vec<Rule> = [verifiers.0, verifiers.1]
                .into_iter()
                .zip(both.iter().zip(&joined))
                .map(|(kind, (buckets, joined))| Rule { buckets, verifier: verifier(kind), joined })
                .collect();
            let resolved = resolve(&rules, &order, texts, Tuning { tile, packed, outside, pairs });
            let exhaustive: Vec<Pair> = all.iter().flat_map(|joined| joined.pairs.iter().copied()).collect();
            let mut found = Vec::new();
            for at in 0..2 {
                let of_rule: Vec<Pair> = joined[at].pairs.iter().chain(&resolved[at].pairs).copied().collect();
                // Nothing is found twice, or that all pairs do not hold, and what is missing is told.
                let mut distinct: Vec<(u32, u32)> = of_rule.iter().map(|pair| (pair.a, pair.b)).collect();
                distinct.sort_unstable();
                distinct.dedup();
                prop_assert_eq!(distinct.len(), of_rule.len());
                prop_assert!(of_rule.iter().all(|pair| all[at].pairs.contains(pair)));
                let missing = all[at].pairs.len() - of_rule.len();
                prop_assert!(missing as u64 <= resolved[at].unscored, "{} > {}", missing, resolved[at].unscored);
                found.extend(of_rule);
            }
            prop_assert_eq!(answer(&order, &found, texts), answer(&order, &exhaustive, texts));
        }
    }
}
