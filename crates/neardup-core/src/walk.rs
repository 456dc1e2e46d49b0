//! The walk over the pages of hot buckets in keep order, the first of the two passes of [`crate::hot`]: each page against
//! those that came before it and stay.

use std::ops::Range;

use rayon::prelude::*;

use crate::components::Components;
use crate::grouped::Grouped;
use crate::hot::{Resolved, Rule, Tuning, pair};
use crate::hot_keys::{BATCH, Bucket, HotKeys, Standing};
use crate::removal::Twins;
use crate::screen::BLOCK;
use crate::stays::{Stay, Stays, settle};

#[derive(Clone, Copy, Debug)]
struct Accepted {
    page: u32,
    other: u32,
    rule: u32,
    score: f64,
}

/// Where the pages that stay are looked for: in one bucket, or in all of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Among {
    Bucket(u32),
    Rule(u32),
}

/// Pages of one tile against a stretch of the pages that stay.
struct Task {
    among: Among,
    probes: Range<usize>,
    stretch: Range<usize>,
}

/// Blocks and probes of one task: few enough that threads get even work, whether few pages stay or many.
const STRETCH: usize = 256;
const PROBES: usize = 64;
/// Comparisons below which a tile is not worth sharing out.
const WORTH_THREADS: usize = 50_000;

/// How many times the size that it begins with a tile may have.
const LARGEST: usize = 16;

/// Where a tile ends: up to `size` pages that stand in hot buckets, and all others between them.
fn tile_end(standing: &Standing<'_>, first: usize, end: usize, size: usize) -> usize {
    let mut hot = (first..end).filter(|&at| !standing.of(at).is_empty());
    hot.nth(size).unwrap_or(end)
}

pub(crate) struct Walk<'a> {
    rules: &'a [Rule<'a>],
    keys: &'a HotKeys<'a>,
    order: &'a [u32],
    tuning: Tuning,
    /// For each page the earlier ones (in keep order) of its exhaustively found pairs, where these matter.
    known: Grouped,
    twins: Twins<'a>,
    stay: Stays,
    /// For each rule those that stay, whatever hot bucket of it they are in.
    stay_anywhere: Vec<Stay>,
}

/// The next pages of the walk and the hot buckets they are in.
#[derive(Clone, Copy)]
struct Tile<'a> {
    pages: &'a [u32],
    standing: &'a Standing<'a>,
    /// The place of the first page in `standing`.
    first: usize,
}

impl<'a> Tile<'a> {
    fn standing(&self, at: usize) -> &'a [u32] {
        self.standing.of(self.first + at)
    }
}

impl<'a> Walk<'a> {
    pub(crate) fn new(
        rules: &'a [Rule<'a>],
        keys: &'a HotKeys<'a>,
        order: &'a [u32],
        texts: Option<&'a [u32]>,
        components: &mut Components,
        tuning: Tuning,
    ) -> Self {
        // What is tied to no page of a hot bucket, however far around, decides nothing here.
        let mut tied = vec![false; order.len()];
        for page in keys.hot_pages() {
            tied[components.find(page) as usize] = true;
        }
        let mut place = vec![0u32; order.len()];
        for (at, &page) in order.iter().enumerate() {
            place[page as usize] = at as u32;
        }
        let known = Grouped::new(order.len(), &|put: &mut dyn FnMut(u32, u32)| {
            let all = rules.iter().flat_map(|rule| &rule.joined.pairs);
            for pair in all.filter(|pair| tied[components.root(pair.a) as usize]) {
                let a_first = place[pair.a as usize] < place[pair.b as usize];
                let (earlier, later) = if a_first { (pair.a, pair.b) } else { (pair.b, pair.a) };
                put(later, earlier);
            }
        });
        let stay_anywhere = rules.iter().map(|_| Stay::default()).collect();
        let twins = Twins::new(texts, order.len());
        Walk { rules, keys, order, tuning, known, twins, stay: Stays::new(keys.count()), stay_anywhere }
    }

    /// For each page a page that stays it was accepted against, or the page itself if it stays.
    pub(crate) fn run(mut self, components: &mut Components, resolved: &mut [Resolved]) -> Vec<u32> {
        let mut instead: Vec<u32> = (0..self.order.len() as u32).collect();
        let mut size = self.tuning.tile;
        for pages in self.order.chunks(BATCH) {
            let standing = self.keys.standing(pages);
            let mut first = 0;
            while first < pages.len() {
                let end = tile_end(&standing, first, pages.len(), size);
                let tile = Tile { pages: &pages[first..end], standing: &standing, first };
                let stay = self.walk_tile(tile, &mut instead, components, resolved);
                // Those of a tile that stay are compared with the rest of it one by one: a quarter of a tile is enough.
                let next = size * self.tuning.tile / (4 * stay).max(1);
                size = next.clamp(self.tuning.tile, LARGEST * self.tuning.tile);
                first = end;
            }
        }
        instead
    }

    /// Decides on the pages of a tile; how many in hot buckets stay.
    fn walk_tile(
        &mut self,
        tile: Tile<'_>,
        instead: &mut [u32],
        components: &mut Components,
        resolved: &mut [Resolved],
    ) -> usize {
        let earlier = self.against_earlier(tile, resolved);
        let by_page = Grouped::new(tile.pages.len(), &|put: &mut dyn FnMut(u32, u32)| {
            earlier.iter().zip(0..).for_each(|(found, place)| put(found.page, place));
        });
        let mut accepted: Vec<Accepted> = Vec::new();
        for (at, &page) in tile.pages.iter().enumerate() {
            accepted.clear();
            let mine = by_page.of(at as u32).iter().map(|&place| earlier[place as usize]);
            accepted.extend(mine.map(|found| Accepted { page, ..found }));
            self.against_fresh(page, tile.standing(at), &mut accepted, resolved);
            let known = self.known.of(page).iter().find(|&&other| instead[other as usize] == other);
            let best = self.record(&mut accepted, components, resolved);
            if let Some(other) = best.or(known.copied()).or(self.twins.kept(page)) {
                instead[page as usize] = other;
            } else {
                self.twins.keep(page);
                for (rule, buckets) in self.by_rule(tile.standing(at)) {
                    buckets.iter().for_each(|&at| self.stay.entry(at).fresh.push(page));
                    self.stay_anywhere[rule].fresh.push(page);
                }
            }
        }
        let mut stay = 0;
        for (at, _) in tile.pages.iter().enumerate().filter(|&(_, &page)| instead[page as usize] == page) {
            stay += usize::from(!tile.standing(at).is_empty());
            for (rule, buckets) in self.by_rule(tile.standing(at)) {
                let verifier = self.rules[rule].verifier;
                buckets.iter().for_each(|&at| settle(verifier, self.stay.entry(at), self.tuning.packed));
            }
        }
        // Packed once somebody is compared with them.
        self.stay_anywhere.iter_mut().for_each(|stay| stay.pages.append(&mut stay.fresh));
        stay
    }

    /// The buckets of a page by their rules.
    fn by_rule<'s>(&self, standing: &'s [u32]) -> impl Iterator<Item = (usize, &'s [u32])> + use<'a, 's> {
        let keys = self.keys;
        standing.chunk_by(|&a, &b| keys.rule(a) == keys.rule(b)).map(|some| (keys.rule(some[0]), some))
    }

    /// Compares each page of the tile with the pages that stay from earlier tiles; a page is given as a place in the tile.
    ///
    /// Near-identical pages stand together in many buckets, and whoever stays stands in all of them. A page is then
    /// compared once with all that stay for the rule, not with the same pages bucket by bucket; who shares no bucket
    /// with it is left out when it is verified.
    fn against_earlier(&mut self, tile: Tile<'_>, resolved: &mut [Resolved]) -> Vec<Accepted> {
        let mut probes: Vec<(Among, u32)> = Vec::new();
        for at in 0..tile.pages.len() {
            for (rule, buckets) in self.by_rule(tile.standing(at)) {
                let stay = |bucket: u32| self.stay.of(bucket).map_or(0, |stay| stay.pages.len());
                let pages: usize = buckets.iter().map(|&bucket| stay(bucket)).sum();
                resolved[rule].compared += pages as u64;
                if pages > self.stay_anywhere[rule].pages.len() {
                    probes.push((Among::Rule(rule as u32), at as u32));
                } else {
                    let filled = buckets.iter().filter(|&&bucket| stay(bucket) > 0);
                    probes.extend(filled.map(|&bucket| (Among::Bucket(bucket), at as u32)));
                }
            }
        }
        probes.sort_unstable();
        for group in probes.chunk_by(|a, b| a.0 == b.0) {
            if let Among::Rule(rule) = group[0].0 {
                let verifier = self.rules[rule as usize].verifier;
                settle(verifier, &mut self.stay_anywhere[rule as usize], self.tuning.packed);
            }
        }
        let this = &*self;
        let mut tasks = Vec::new();
        let (mut work, mut start) = (0, 0);
        for group in probes.chunk_by(|a, b| a.0 == b.0) {
            let (among, range) = (group[0].0, start..start + group.len());
            start = range.end;
            let pages = this.stay(among).map_or(0, |stay| stay.pages.len());
            work += pages * group.len();
            for first in (0..pages.div_ceil(BLOCK)).step_by(STRETCH) {
                let stretch = first..(first + STRETCH).min(pages.div_ceil(BLOCK));
                tasks.extend(range.clone().step_by(PROBES).map(|from| Task {
                    among,
                    probes: from..(from + PROBES).min(range.end),
                    stretch: stretch.clone(),
                }));
            }
        }
        let compare = |task: &Task| this.compare(task, tile, &probes[task.probes.clone()]);
        if work < WORTH_THREADS {
            tasks.iter().flat_map(compare).collect()
        } else {
            tasks.par_iter().flat_map_iter(compare).collect()
        }
    }

    fn stay(&self, among: Among) -> Option<&Stay> {
        match among {
            Among::Bucket(bucket) => self.stay.of(bucket),
            Among::Rule(rule) => self.stay_anywhere.get(rule as usize),
        }
    }

    fn compare(&self, task: &Task, tile: Tile<'_>, probes: &[(Among, u32)]) -> Vec<Accepted> {
        let Some(stay) = self.stay(task.among) else { return Vec::new() };
        let rule = match task.among {
            Among::Bucket(bucket) => self.keys.rule(bucket),
            Among::Rule(rule) => rule as usize,
        };
        let verifier = self.rules[rule].verifier;
        let mut found = Vec::new();
        let mut verify = |at: u32, other: u32| {
            let page = tile.pages[at as usize];
            let score = match task.among {
                Among::Bucket(bucket) => self.score(&self.keys.bucket(bucket), page, other),
                Among::Rule(_) => self.score_anywhere(rule, page, other),
            };
            if let Some(score) = score {
                found.push(Accepted { page: at, other, rule: rule as u32, score });
            }
        };
        if let Some((selection, blocks)) = &stay.packed {
            let mut rows = Vec::new();
            for &(_, at) in probes {
                let page = tile.pages[at as usize];
                selection.pack(verifier.words(page), &mut rows);
                rows.push(verifier.share(page));
            }
            blocks.screen(task.stretch.clone(), &rows, &mut |probe, row| {
                verify(probes[probe].1, stay.pages[row])
            });
        } else {
            let stretch = task.stretch.start * BLOCK..(task.stretch.end * BLOCK).min(stay.pages.len());
            for &(_, at) in probes {
                stay.pages[stretch.clone()].iter().for_each(|&other| verify(at, other));
            }
        }
        found
    }

    /// Compares with the pages of the same tile that stay; in one go, where that is less work, as with earlier tiles.
    fn against_fresh(
        &self,
        page: u32,
        standing: &[u32],
        accepted: &mut Vec<Accepted>,
        resolved: &mut [Resolved],
    ) {
        for (rule, buckets) in self.by_rule(standing) {
            let fresh = |bucket: u32| self.stay.of(bucket).map_or(&[][..], |stay| &stay.fresh);
            let pages: usize = buckets.iter().map(|&bucket| fresh(bucket).len()).sum();
            resolved[rule].compared += pages as u64;
            let mut add = |other: u32, score: Option<f64>| {
                accepted.extend(score.map(|score| Accepted { page, other, rule: rule as u32, score }));
            };
            let anywhere = &self.stay_anywhere[rule].fresh;
            if pages > anywhere.len() {
                anywhere.iter().for_each(|&other| add(other, self.score_anywhere(rule, page, other)));
                continue;
            }
            for &at in buckets {
                let bucket = &self.keys.bucket(at);
                fresh(at).iter().for_each(|&other| add(other, self.score(bucket, page, other)));
            }
        }
    }

    fn score(&self, bucket: &Bucket, a: u32, b: u32) -> Option<f64> {
        let rule = &self.rules[bucket.rule];
        let (a, b) = (a.min(b), a.max(b));
        // To find the bucket that handles a pair costs more than a glance.
        let asked = !rule.verifier.hopeless(a, b) && rule.buckets.takes_up(bucket.column, bucket.key, a, b);
        if asked { rule.verifier.score_hopeful(a, b) } else { None }
    }

    /// The same, whichever hot bucket of the rule the two may share.
    fn score_anywhere(&self, rule: usize, a: u32, b: u32) -> Option<f64> {
        let (a, b) = (a.min(b), a.max(b));
        let of_rule = &self.rules[rule];
        if of_rule.verifier.hopeless(a, b) {
            return None;
        }
        let (column, key) = of_rule.buckets.home(a, b)?;
        self.keys.find(rule, column, key)?;
        of_rule.verifier.score_hopeful(a, b)
    }

    /// Records what one page was accepted against, and gives the most similar. Of every rule the best is recorded, and
    /// what joins components; the rest while there is room.
    fn record(
        &self,
        accepted: &mut [Accepted],
        components: &mut Components,
        resolved: &mut [Resolved],
    ) -> Option<u32> {
        // Of equal scores the first page, so that tiles leave no trace.
        accepted.sort_by(|x, y| y.score.total_cmp(&x.score).then((x.other, x.rule).cmp(&(y.other, y.rule))));
        let lists = self.rules.iter().map(|rule| &rule.joined.pairs);
        let held: usize = lists.chain(resolved.iter().map(|resolved| &resolved.pairs)).map(Vec::len).sum();
        for (at, found) in accepted.iter().enumerate() {
            // Every pair of the best score: which of them comes first in keep order is decided later.
            let best = found.score == accepted[0].score;
            let joins = components.join(found.page, found.other);
            let resolved = &mut resolved[found.rule as usize];
            resolved.accepted += 1;
            if best || joins || ((held + at) as u64) < self.tuning.pairs {
                resolved.pairs.push(pair(found.page, found.other, found.score));
            }
        }
        accepted.first().map(|found| found.other)
    }
}
