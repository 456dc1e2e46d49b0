//! The second pass over hot buckets: components that only a pair of removed pages joins.
//!
//! After the walk ([`crate::hot`]) pages that stay are compared with each other. Left are pairs with a page that went,
//! and of these only those that lie in different components can change anything. Pages that went for the same page
//! form a *star* around it; no star needs to be compared with one of its own component. Two stars are far apart when
//! their centres are: by the triangle inequality a pair of members is accepted only if
//! 2·d(centres) ≤ reach + reach, where a member's *reach* is its share plus twice its distance from its centre, and a
//! star's the largest of these. So the blocks of [`crate::screen`] compare stars as they compare pages, and members are
//! looked at, farthest first, only where that leaves room.
//!
//! Cost: stars × stars outside the component that has most of them, screened, against the (pages)²/2 of all pairs;
//! nothing for a bucket that is one component, or of which all pages stay. So the one page that is unlike a hundred
//! thousand others does not have these compared with each other.
//!
//! Where only a few pages are outside the component that has most of them, each of the few is compared with all pages
//! first ([`of_few`]): mostly they are tied to none, and no bucket needs to be put together.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};

use rayon::prelude::*;

use crate::components::Components;
use crate::hot::{Resolved, Rule, pair};
use crate::hot_keys::{Bucket, HotKeys};
use crate::join::Pair;
use crate::screen::{Blocks, Screened, Selection};

/// A page of a star, the star's centre, and how far the page reaches.
#[derive(Clone, Copy, Debug)]
struct Member {
    centre: u32,
    page: u32,
    reach: u64,
}

#[derive(Debug)]
struct Star<'m> {
    centre: u32,
    /// The farthest reaching first.
    members: &'m [Member],
    /// Whether all members stay: then so does the centre, which is the only one.
    stays: bool,
}

/// Joins what can be joined in one bucket, of which all pages are given; `instead` is each page's page that stays.
pub(crate) fn bridge(
    rules: &[Rule<'_>],
    bucket: &Bucket,
    pages: &[u32],
    instead: &[u32],
    tile: usize,
    components: &mut Components,
    resolved: &mut Resolved,
) {
    let first = components.find(pages[0]);
    if pages.iter().all(|&page| components.find(page) == first) {
        return;
    }
    let rule = &rules[bucket.rule];
    let members = members(pages, instead, rule.verifier);
    let stars = stars(&members, instead);
    let loaded = stars.partition_point(|star| !star.stays);
    if loaded == 0 {
        return;
    }
    let selection = Selection::of(rule.verifier, pages);
    let width = selection.width(rule.verifier.words(stars[0].centre).len());
    let mut rows = Vec::new();
    for star in &stars {
        selection.pack(rule.verifier.words(star.centre), &mut rows);
        rows.push(star.members[0].reach);
    }
    let row = |star: usize| &rows[star * (width + 1)..][..width + 1];
    let blocks_of = |some: &[usize]| {
        let mut blocks = Blocks::new(width);
        some.iter().for_each(|&star| blocks.push(&row(star)[..width], row(star)[width]));
        blocks
    };
    let all: Vec<usize> = (0..stars.len()).collect();
    let main = most_stars(&stars, components);
    let outside: Vec<usize> =
        all.iter().copied().filter(|&star| components.root(stars[star].centre) != main).collect();
    let (all_blocks, outside_blocks) = (blocks_of(&all), blocks_of(&outside));
    for start in (0..loaded).step_by(tile) {
        let end = (start + tile).min(loaded);
        let known = &*components;
        let against = |some: Vec<usize>, others: &[usize], blocks: &Blocks| {
            let probes: Vec<u64> = some.iter().flat_map(|&star| row(star)).copied().collect();
            let found = (0..blocks.blocks()).into_par_iter().with_min_len(16).flat_map_iter(|block| {
                let mut found: Vec<(usize, usize, Pair)> = Vec::new();
                blocks.screen(block..block + 1, &probes, &mut |probe, other| {
                    let (star, other) = (some[probe], others[other]);
                    if other > star && known.root(stars[star].centre) != known.root(stars[other].centre) {
                        let joined = between(rule, bucket, instead, &stars[star], &stars[other]);
                        found.extend(joined.map(|joined| (star, other, joined)));
                    }
                });
                found
            });
            found.collect::<Vec<_>>()
        };
        let (out, inside): (Vec<usize>, Vec<usize>) =
            (start..end).partition(|star| outside.binary_search(star).is_ok());
        let mut found = against(out, &all, &all_blocks);
        found.append(&mut against(inside, &outside, &outside_blocks));
        // Pairs are recorded in one order, whatever else is in the bucket.
        found.sort_unstable_by_key(|&(star, other, ..)| (star, other));
        for (_, _, joined) in found {
            resolved.accepted += 1;
            if components.join(joined.a, joined.b) {
                resolved.pairs.push(joined);
            }
        }
    }
}

/// The pages of hot buckets outside the component that has most of them, where buckets span several components and these
/// pages are at most so many.
pub(crate) fn few_outside(
    keys: &HotKeys<'_>,
    open: &[u32],
    components: &Components,
    most: usize,
) -> Option<Vec<u32>> {
    if open.is_empty() {
        return None;
    }
    // A component that has more than half of them is the last candidate of a vote in which others cancel each other.
    let (mut main, mut votes) = (u32::MAX, 0usize);
    for page in keys.hot_pages() {
        let root = components.root(page);
        if votes == 0 {
            main = root;
        }
        votes = if root == main { votes + 1 } else { votes - 1 };
    }
    let outside: Vec<u32> =
        keys.hot_pages().filter(|&page| components.root(page) != main).take(most + 1).collect();
    (outside.len() <= most).then_some(outside)
}

/// Pages that one page is compared with before it is asked what is still open.
const STRETCH: usize = 1 << 14;

/// Of the open buckets those that hold a bridge, where all pages but a few are one component: the buckets of all accepted
/// pairs between one of the few and a page of another component.
pub(crate) fn of_few(keys: &HotKeys<'_>, few: &[u32], instead: &[u32], components: &Components) -> Vec<u32> {
    let all: Vec<u32> = keys.hot_pages().collect();
    let stays = |page: u32| instead[page as usize] == page;
    let standing = keys.standing(few);
    let mut bridged = BTreeSet::new();
    for (at, &page) in few.iter().enumerate() {
        for number in 0..keys.rules.len() {
            let rule = &keys.rules[number];
            let mine = standing.of(at).iter().filter(|&&bucket| keys.rule(bucket) == number);
            let mut left: BTreeSet<u32> = mine.copied().filter(|bucket| !bridged.contains(bucket)).collect();
            for others in all.chunks(STRETCH) {
                if left.is_empty() {
                    break;
                }
                let bucket = |&other: &u32| {
                    let apart = components.root(page) != components.root(other);
                    let (a, b) = (page.min(other), page.max(other));
                    if !apart || (stays(page) && stays(other)) || rule.verifier.hopeless(a, b) {
                        return None;
                    }
                    let (column, key) = rule.buckets.home(a, b)?;
                    let bucket = keys.find(number, column, key).filter(|bucket| left.contains(bucket))?;
                    rule.verifier.score_hopeful(a, b).map(|_| bucket)
                };
                let found: Vec<u32> = others.par_iter().with_min_len(1024).filter_map(bucket).collect();
                for bucket in found {
                    left.remove(&bucket);
                    bridged.insert(bucket);
                }
            }
        }
    }
    bridged.into_iter().collect()
}

/// The component that has the most stars: those need not be compared with each other.
fn most_stars(stars: &[Star<'_>], components: &Components) -> u32 {
    let mut sizes: HashMap<u32, usize> = HashMap::new();
    stars.iter().for_each(|star| *sizes.entry(components.root(star.centre)).or_default() += 1);
    let most = sizes.into_iter().max_by_key(|&(root, size)| (size, Reverse(root)));
    most.map_or(u32::MAX, |(root, _)| root)
}

/// All pages, those of one star together, the farthest reaching first.
fn members(pages: &[u32], instead: &[u32], verifier: &dyn Screened) -> Vec<Member> {
    let member = |&page: &u32| {
        let kept = instead[page as usize];
        // A page that went for one outside this bucket is a star of its own.
        let centre = if pages.binary_search(&kept).is_ok() { kept } else { page };
        Member { centre, page, reach: verifier.share(page) + 2 * verifier.distance(page, centre) }
    };
    let mut members: Vec<Member> = pages.par_iter().with_min_len(1024).map(member).collect();
    members.par_sort_unstable_by_key(|member| (member.centre, Reverse(member.reach), member.page));
    members
}

/// Those with members that went first, each kind in the order of the centres.
fn stars<'m>(members: &'m [Member], instead: &[u32]) -> Vec<Star<'m>> {
    let star = |members: &'m [Member]| {
        let centre = members[0].centre;
        Star { centre, members, stays: members.len() == 1 && instead[centre as usize] == centre }
    };
    let mut stars: Vec<Star> = members.chunk_by(|a, b| a.centre == b.centre).map(star).collect();
    stars.sort_by_key(|star| star.stays);
    stars
}

/// The first accepted pair between two stars.
fn between(
    rule: &Rule<'_>,
    bucket: &Bucket,
    instead: &[u32],
    one: &Star<'_>,
    other: &Star<'_>,
) -> Option<Pair> {
    // Most centres are too far apart, and few of these need to be measured.
    let reach = one.members[0].reach + other.members[0].reach;
    if rule.verifier.farther(one.centre, other.centre, reach / 2) {
        return None;
    }
    let needed = 2 * rule.verifier.distance(one.centre, other.centre);
    for a in one.members {
        if a.reach + other.members[0].reach < needed {
            break;
        }
        for b in other.members {
            if a.reach + b.reach < needed {
                break;
            }
            let stays = |page: u32| instead[page as usize] == page;
            let (first, second) = (a.page.min(b.page), a.page.max(b.page));
            if (stays(first) && stays(second))
                || !rule.buckets.takes_up(bucket.column, bucket.key, first, second)
            {
                continue;
            }
            if let Some(score) = rule.verifier.score(first, second) {
                return Some(pair(first, second, score));
            }
        }
    }
    None
}

/// Pairs of one component of which at least one page went.
pub(crate) fn open_pairs(pages: impl Iterator<Item = u32>, instead: &[u32], components: &Components) -> u64 {
    let mut sizes: HashMap<u32, (u64, u64)> = HashMap::new();
    for page in pages {
        let (all, stay) = sizes.entry(components.root(page)).or_default();
        *all += 1;
        *stay += u64::from(instead[page as usize] == page);
    }
    sizes.values().map(|&(all, stay)| open(all, stay)).sum()
}

/// Pairs of so many pages of one component that are not pairs of pages that stay.
pub(crate) fn open(all: u64, stay: u64) -> u64 {
    all * all.saturating_sub(1) / 2 - stay * stay.saturating_sub(1) / 2
}
