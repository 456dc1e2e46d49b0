//! The exact oracle: every pair of sets whose similarity reaches a threshold, and no sketch on the way.
//!
//! Elements are ordered from rare to common. Two sets that share `o` elements share one of the first |A| − o + 1 of A
//! and one of the first |B| − o + 1 of B (the prefix filter: Chaudhuri et al. 2006; Bayardo, Ma and Srikant 2007). The
//! shorter set of a pair stands in an index with its prefix, the longer one is looked up with its own; sizes bound the
//! similarity (the length filter), and so does the place at which an element is met (the positional filter of PPJoin:
//! Xiao et al. 2008). What gets past is merged, and given up as soon as too few elements are left.
//!
//! An element of one set only cannot be shared, and such elements come first: they take up the prefix and are never
//! stored. A set with more of them than its prefix is long costs nothing further, which is nearly every page of a
//! collection. The order of elements is by (how many sets have it, its value), so the answer and the work are the same
//! with any number of threads.
//!
//! Cost: sorting all elements, 4 bytes an element that is in two sets or more, 8 bytes an element of an indexed prefix;
//! then what the prefixes have in common. Wins over looking at all pairs wherever most pages are unlike; where most
//! are alike the answer itself is quadratic, and `most` bounds it.

use rayon::prelude::*;

use crate::join::Pair;
use crate::sets::Batches;

/// What two sets have in common, as a number from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// |A ∩ B| / |A ∪ B|.
    Jaccard,
    /// |A ∩ B| / √(|A|·|B|).
    Cosine,
    /// |A ∩ B| / min(|A|, |B|).
    Containment,
}

/// Rounding must not cut off a pair at the threshold: bounds are taken this much lower, and the score decides.
const SLACK: f64 = 1e-9;

impl Measure {
    pub fn of(self, shared: usize, a: usize, b: usize) -> f64 {
        if shared == 0 {
            return 0.0;
        }
        let shared = shared as f64;
        match self {
            Measure::Jaccard => shared / (a as f64 + b as f64 - shared),
            Measure::Cosine => shared / (a as f64 * b as f64).sqrt(),
            Measure::Containment => shared / a.min(b) as f64,
        }
    }

    /// The fewest elements that sets of these sizes must share.
    fn needed(self, threshold: f64, a: usize, b: usize) -> usize {
        let bound = match self {
            Measure::Jaccard => threshold / (1.0 + threshold) * (a + b) as f64,
            Measure::Cosine => threshold * (a as f64 * b as f64).sqrt(),
            Measure::Containment => threshold * a.min(b) as f64,
        };
        at_least(bound)
    }

    /// The size of the smallest set that can be a partner of one of `size` that is no smaller.
    fn smallest(self, threshold: f64, size: usize) -> usize {
        match self {
            Measure::Jaccard => at_least(threshold * size as f64),
            Measure::Cosine => at_least(threshold * threshold * size as f64),
            Measure::Containment => 1,
        }
    }

    /// How many of its first elements a set is looked up with, for partners no larger than itself.
    fn probed(self, threshold: f64, size: usize) -> usize {
        size - self.needed(threshold, size, self.smallest(threshold, size)).min(size) + 1
    }

    /// How many of its first elements a set is indexed with, for partners no smaller than itself.
    fn indexed(self, threshold: f64, size: usize) -> usize {
        size - self.needed(threshold, size, size).min(size) + 1
    }
}

/// The smallest whole number that is not below, and at least 1.
fn at_least(bound: f64) -> usize {
    ((bound - SLACK).ceil() as usize).max(1)
}

/// More pairs reach the threshold than were asked for at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooMany;

/// All pairs of sets whose similarity is at least `threshold` (above 0), sorted; each set is ascending and without
/// repetition. Empty sets are in no pair.
pub fn all_pairs(
    sets: &Batches<'_>,
    measure: Measure,
    threshold: f64,
    most: usize,
) -> Result<Vec<Pair>, TooMany> {
    let ranks = Ranks::new(sets);
    let ordered = Ordered::new(sets, &ranks);
    drop(ranks);
    let index = Index::new(&ordered, measure, threshold);
    let count = ordered.pages.len();
    let found = std::sync::atomic::AtomicUsize::new(0);
    let join = Join { ordered: &ordered, index: &index, measure, threshold, most, found: &found };
    let pieces: Result<Vec<Vec<Pair>>, TooMany> = (0..count)
        .into_par_iter()
        .map_init(|| Meeting::new(count), |meeting, at| join.partners(at, meeting))
        .collect();
    let mut pairs = pieces?.concat();
    if pairs.len() > most {
        return Err(TooMany);
    }
    pairs.par_sort_unstable_by_key(Pair::order);
    Ok(pairs)
}

/// The elements that are in two sets or more, numbered from rare to common.
struct Ranks {
    /// Ascending, with the rank of each.
    values: Vec<u64>,
    ranks: Vec<u32>,
    /// Where values with these highest bits begin.
    starts: Vec<u32>,
    shift: u32,
}

/// Elements are counted in so many parts, each a range of values, so that only one part's are copied at a time.
const PARTS: u64 = 16;

impl Ranks {
    fn new(sets: &Batches<'_>) -> Self {
        let counted: Vec<Vec<(u64, u32)>> =
            (0..PARTS).into_par_iter().map(|part| counted(sets, part)).collect();
        let mut by_count: Vec<(u32, u64)> =
            counted.iter().flatten().map(|&(value, count)| (count, value)).collect();
        by_count.par_sort_unstable();
        let mut ranked: Vec<(u64, u32)> =
            by_count.into_iter().enumerate().map(|(rank, (_, value))| (value, rank as u32)).collect();
        ranked.par_sort_unstable();
        let (values, ranks): (Vec<u64>, Vec<u32>) = ranked.into_iter().unzip();
        let bits = usize::BITS - values.len().leading_zeros();
        let shift = 64 - bits.clamp(1, 28);
        let mut starts = vec![0u32; (1 << (64 - shift)) + 1];
        for &value in &values {
            starts[(value >> shift) as usize + 1] += 1;
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        Ranks { values, ranks, starts, shift }
    }

    fn get(&self, value: u64) -> Option<u32> {
        let bucket = (value >> self.shift) as usize;
        let range = self.starts[bucket] as usize..self.starts[bucket + 1] as usize;
        let found = self.values[range.clone()].binary_search(&value).ok()?;
        Some(self.ranks[range.start + found])
    }
}

/// The values of one part that are in two sets or more, and in how many.
fn counted(sets: &Batches<'_>, part: u64) -> Vec<(u64, u32)> {
    let width = u64::MAX / PARTS + 1;
    let first = part * width;
    let mut values = Vec::new();
    for at in 0..sets.len() {
        let set = sets.get(at);
        let start = set.partition_point(|&value| value < first);
        let end = start + set[start..].partition_point(|&value| value - first < width);
        values.extend_from_slice(&set[start..end]);
    }
    values.sort_unstable();
    let runs = values.chunk_by(|a, b| a == b).filter(|run| run.len() > 1);
    runs.map(|run| (run[0], run.len() as u32)).collect()
}

/// So many sets are looked up together, one range of values after another: the table's part for a range stays in cache,
/// while one set after another would touch all of the table for each.
const BLOCK: usize = 2048;
const RANGES: u64 = 256;

/// Of each of these sets its size, its number and the ranks of its elements that others have too, from rare to common.
fn ranked(sets: &Batches<'_>, numbers: std::ops::Range<usize>, ranks: &Ranks) -> Vec<(u32, u32, Vec<u32>)> {
    let mut left: Vec<&[u64]> = numbers.clone().map(|number| sets.get(number)).collect();
    let mut found: Vec<Vec<u32>> = vec![Vec::new(); left.len()];
    for range in 1..=RANGES {
        let last = if range == RANGES { u64::MAX } else { range * (u64::MAX / RANGES) };
        for (set, found) in left.iter_mut().zip(&mut found) {
            while let Some((&value, rest)) = set.split_first() {
                if value > last {
                    break;
                }
                found.extend(ranks.get(value));
                *set = rest;
            }
        }
    }
    let sizes = numbers.map(|number| (sets.get(number).len() as u32, number as u32));
    sizes
        .zip(found)
        .map(|((size, number), mut ranks)| {
            ranks.sort_unstable();
            (size, number, ranks)
        })
        .collect()
}

/// A set by its size and those of its elements that others have too, from rare to common.
struct Page {
    page: u32,
    size: u32,
    start: usize,
    end: usize,
}

/// All sets that are not empty, from small to large.
struct Ordered {
    pages: Vec<Page>,
    ranks: Vec<u32>,
}

impl Ordered {
    fn new(sets: &Batches<'_>, ranks: &Ranks) -> Self {
        let blocks = (0..sets.len()).into_par_iter().step_by(BLOCK);
        let mut lists: Vec<(u32, u32, Vec<u32>)> = blocks
            .flat_map_iter(|first| ranked(sets, first..sets.len().min(first + BLOCK), ranks))
            .filter(|&(size, _, _)| size > 0)
            .collect();
        lists.par_sort_unstable_by_key(|&(size, page, _)| (size, page));
        let mut all = Vec::with_capacity(lists.iter().map(|(_, _, shared)| shared.len()).sum());
        let pages = lists
            .into_iter()
            .map(|(size, page, shared)| {
                let start = all.len();
                all.extend_from_slice(&shared);
                Page { page, size, start, end: all.len() }
            })
            .collect();
        Ordered { pages, ranks: all }
    }

    fn shared(&self, page: &Page) -> &[u32] {
        &self.ranks[page.start..page.end]
    }

    /// The shared elements among the first `prefix` of a page: those of the page alone come first.
    fn prefix(&self, page: &Page, prefix: usize) -> &[u32] {
        let shared = self.shared(page);
        let alone = page.size as usize - shared.len();
        &shared[..prefix.saturating_sub(alone).min(shared.len())]
    }
}

/// For each element the pages (by place in the order) that have it in their prefix, and where in their shared elements.
struct Index {
    starts: Vec<u32>,
    entries: Vec<(u32, u32)>,
}

impl Index {
    fn new(ordered: &Ordered, measure: Measure, threshold: f64) -> Self {
        let prefix = |page: &Page| ordered.prefix(page, measure.indexed(threshold, page.size as usize));
        let ranks = ordered.ranks.iter().max().map_or(0, |&most| most as usize + 1);
        let mut starts = vec![0u32; ranks + 1];
        for page in &ordered.pages {
            for &rank in prefix(page) {
                starts[rank as usize + 1] += 1;
            }
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let mut next = starts.clone();
        let mut entries = vec![(0, 0); *starts.last().unwrap_or(&0) as usize];
        for (place, page) in ordered.pages.iter().enumerate() {
            for (position, &rank) in prefix(page).iter().enumerate() {
                let entry = &mut next[rank as usize];
                entries[*entry as usize] = (place as u32, position as u32);
                *entry += 1;
            }
        }
        Index { starts, entries }
    }

    fn of(&self, rank: u32) -> &[(u32, u32)] {
        &self.entries[self.starts[rank as usize] as usize..self.starts[rank as usize + 1] as usize]
    }
}

/// Whom one page met so far, and how often.
struct Meeting {
    shared: Vec<u32>,
    met: Vec<u32>,
}

/// Stands in for a count where a bound has shown the pair to be too different.
const HOPELESS: u32 = u32::MAX;

impl Meeting {
    fn new(pages: usize) -> Self {
        Meeting { shared: vec![0; pages], met: Vec::new() }
    }
}

struct Join<'a> {
    ordered: &'a Ordered,
    index: &'a Index,
    measure: Measure,
    threshold: f64,
    most: usize,
    found: &'a std::sync::atomic::AtomicUsize,
}

impl Join<'_> {
    /// The partners of the page at this place that stand before it.
    fn partners(&self, at: usize, meeting: &mut Meeting) -> Result<Vec<Pair>, TooMany> {
        use std::sync::atomic::Ordering::Relaxed;
        let page = &self.ordered.pages[at];
        let (own, size) = (self.ordered.shared(page), page.size as usize);
        let smallest = self.measure.smallest(self.threshold, size);
        let first = self.ordered.pages.partition_point(|other| (other.size as usize) < smallest);
        let prefix = self.ordered.prefix(page, self.measure.probed(self.threshold, size));
        for (position, &rank) in prefix.iter().enumerate() {
            let entries = self.index.of(rank);
            let from = entries.partition_point(|&(place, _)| (place as usize) < first);
            for &(place, other_position) in entries[from..].iter().take_while(|entry| (entry.0 as usize) < at)
            {
                let shared = &mut meeting.shared[place as usize];
                if *shared == 0 {
                    meeting.met.push(place);
                }
                if *shared != HOPELESS {
                    let other = &self.ordered.pages[place as usize];
                    let left = (own.len() - position).min(other.end - other.start - other_position as usize);
                    let needed = self.measure.needed(self.threshold, size, other.size as usize);
                    *shared = if *shared as usize + left < needed { HOPELESS } else { *shared + 1 };
                }
            }
        }
        let mut pairs = Vec::new();
        for place in meeting.met.drain(..) {
            let shared = std::mem::take(&mut meeting.shared[place as usize]);
            let other = &self.ordered.pages[place as usize];
            let other_size = other.size as usize;
            let needed = self.measure.needed(self.threshold, size, other_size);
            if shared == HOPELESS {
                continue;
            }
            if let Some(shared) = merged(own, self.ordered.shared(other), needed) {
                let score = self.measure.of(shared, size, other_size);
                if score >= self.threshold {
                    pairs.push(Pair { a: page.page.min(other.page), b: page.page.max(other.page), score });
                }
            }
        }
        if self.found.fetch_add(pairs.len(), Relaxed) + pairs.len() > self.most {
            return Err(TooMany);
        }
        Ok(pairs)
    }
}

/// How many elements two ascending lists share, or none as soon as it must be fewer than `needed`.
fn merged(a: &[u32], b: &[u32], needed: usize) -> Option<usize> {
    let (mut at_a, mut at_b, mut shared) = (0, 0, 0);
    while at_a < a.len() && at_b < b.len() {
        if shared + (a.len() - at_a).min(b.len() - at_b) < needed {
            return None;
        }
        let (x, y) = (a[at_a], b[at_b]);
        shared += usize::from(x == y);
        at_a += usize::from(x <= y);
        at_b += usize::from(y <= x);
    }
    (shared >= needed).then_some(shared)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::Lists;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn naive(sets: &[Vec<u64>], measure: Measure, threshold: f64) -> Vec<Pair> {
        let mut pairs = Vec::new();
        for a in 0..sets.len() {
            for b in a + 1..sets.len() {
                let shared = sets[a].iter().filter(|value| sets[b].contains(value)).count();
                let score = measure.of(shared, sets[a].len(), sets[b].len());
                if shared > 0 && score >= threshold {
                    pairs.push(Pair { a: a as u32, b: b as u32, score });
                }
            }
        }
        pairs
    }

    fn joined(
        sets: &[Vec<u64>],
        measure: Measure,
        threshold: f64,
        most: usize,
    ) -> Result<Vec<Pair>, TooMany> {
        let values = sets.concat();
        let mut offsets = vec![0i64];
        offsets.extend(sets.iter().scan(0, |end, set| {
            *end += set.len() as i64;
            Some(*end)
        }));
        all_pairs(&Batches::new(vec![Lists { offsets: &offsets, values: &values }]), measure, threshold, most)
    }

    fn measures() -> impl Strategy<Value = Measure> {
        prop_oneof![Just(Measure::Jaccard), Just(Measure::Cosine), Just(Measure::Containment)]
    }

    /// Sets that overlap much: a few elements out of few, spread over the whole range of values or at its beginning.
    fn sets() -> impl Strategy<Value = Vec<Vec<u64>>> {
        let set = proptest::collection::btree_set(0u64..30, 0..24);
        (proptest::collection::vec(set, 0..14), any::<bool>()).prop_map(|(sets, spread)| {
            let value = |value: u64| if spread { value.wrapping_mul(0x9e37_79b9_7f4a_7c15) } else { value };
            sets.into_iter()
                .map(|set| set.into_iter().map(value).collect::<BTreeSet<_>>().into_iter().collect())
                .collect()
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn finds_what_looking_at_all_pairs_finds(sets in sets(), measure in measures(), tenths in 1u32..=10) {
            let threshold = f64::from(tenths) / 10.0;
            prop_assert_eq!(joined(&sets, measure, threshold, 1000), Ok(naive(&sets, measure, threshold)));
        }

        #[test]
        fn thresholds_that_a_pair_meets_exactly_let_it_in(sets in sets(), measure in measures()) {
            for pair in naive(&sets, measure, f64::MIN_POSITIVE) {
                let found = joined(&sets, measure, pair.score, 1000).expect("few sets");
                prop_assert!(found.contains(&pair), "{pair:?}");
            }
        }
    }

    #[test]
    fn too_many_pairs_are_an_error() {
        let sets = vec![vec![1, 2, 3]; 10];
        assert_eq!(joined(&sets, Measure::Jaccard, 0.5, 44), Err(TooMany));
        assert_eq!(joined(&sets, Measure::Jaccard, 0.5, 45).map(|pairs| pairs.len()), Ok(45));
    }

    #[test]
    fn nothing_comes_of_nothing() {
        assert_eq!(joined(&[], Measure::Jaccard, 0.8, 9), Ok(vec![]));
        assert_eq!(joined(&[vec![], vec![]], Measure::Cosine, 0.8, 9), Ok(vec![]));
    }
}
