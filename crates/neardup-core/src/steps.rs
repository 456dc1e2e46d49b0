//! Pages compared by their shingle paragraphs in m steps, a part's table at a time (Pereira et al., LA-WEB 2006, §3).
//!
//! The paper's rule: the paragraphs of the later page (in input order) that are found in the earlier one, each as often
//! as it stands there, are its hits. Two pages of the same number of paragraphs that are all hits are *duplicates*; hits
//! that are a share of the larger number make *near-duplicates*. Where a paragraph repeats this matches too much, so the
//! bags' own rule is kept beside it: what both have in common, repetitions counted. Pages with the same bag are one page
//! here ([`Bags`] holds the first of each), so bags' duplicates need no comparison at all.
//!
//! A step has a table: which of its pages have a paragraph. Every page of this step or a later one is looked up by few
//! of its paragraphs, the rarest that must hold a hit if the pair is to be accepted; and, as the earlier page, by all of
//! them among the few of table pages that repeat themselves. Rarity is told by hashed counters of bounded size; a wrong
//! one costs time, never a pair. Pairs that are in one cluster already are not looked at. A pair is seen in the step of
//! whichever page comes first, so the clusters after all steps do not depend on how many steps there are, nor on threads.
//!
//! Memory: the table (some 30 bytes a paragraph of the step's pages), the counters, 8 bytes a page and cluster graph.
//! Cost: each step reads all pages of later steps; a look-up for each rare paragraph, a merge for each candidate.

use rayon::prelude::*;

use crate::batch::Lists;
use crate::growing::Growing;

/// Distinct paragraphs of pages, ascending, and how often each stands on its page.
#[derive(Clone, Debug, Default)]
pub struct Bags {
    /// The pages, by their number in the collection.
    pub pages: Vec<u32>,
    offsets: Vec<usize>,
    values: Vec<u64>,
    counts: Vec<u32>,
    totals: Vec<u32>,
}

impl Bags {
    /// Adds pages given by their paragraphs; those without any are left out.
    pub fn extend(&mut self, lists: Lists<'_>, pages: &[u32]) {
        if self.offsets.is_empty() {
            self.offsets.push(0);
        }
        let mut sorted = Vec::new();
        for (list, &page) in lists.iter().zip(pages) {
            if list.is_empty() {
                continue;
            }
            sorted.clear();
            sorted.extend_from_slice(list);
            sorted.sort_unstable();
            for same in sorted.chunk_by(|a, b| a == b) {
                self.values.push(same[0]);
                self.counts.push(same.len() as u32);
            }
            self.offsets.push(self.values.len());
            self.totals.push(list.len() as u32);
            self.pages.push(page);
        }
    }

    pub fn len(&self) -> usize {
        self.pages.len()
    }

    pub fn is_empty(&self) -> bool {
        self.pages.is_empty()
    }

    fn bag(&self, at: usize) -> Bag<'_> {
        let place = self.offsets[at]..self.offsets[at + 1];
        Bag { values: &self.values[place.clone()], counts: &self.counts[place], total: self.totals[at] }
    }
}

#[derive(Clone, Copy, Debug)]
struct Bag<'a> {
    values: &'a [u64],
    counts: &'a [u32],
    total: u32,
}

impl Bag<'_> {
    fn repeats(&self) -> bool {
        self.values.len() < self.total as usize
    }
}

/// What two bags have in common.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Common {
    /// Paragraphs of the one that the other has, and the other way round.
    hits: [u32; 2],
    /// Both, repetitions counted.
    both: u32,
}

fn common(a: Bag<'_>, b: Bag<'_>) -> Common {
    let (mut found, mut i, mut j) = (Common::default(), 0, 0);
    while i < a.values.len() && j < b.values.len() {
        match a.values[i].cmp(&b.values[j]) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => {
                found.hits[0] += a.counts[i];
                found.hits[1] += b.counts[j];
                found.both += a.counts[i].min(b.counts[j]);
                (i, j) = (i + 1, j + 1);
            }
        }
    }
    found
}

/// How many pages may have a paragraph, in counters that several paragraphs share.
#[derive(Clone, Debug)]
pub struct Rarity {
    counters: Vec<u32>,
    shift: u32,
}

impl Rarity {
    /// With 2^`bits` counters; at least 1 bit.
    pub fn new(bits: u32) -> Self {
        let bits = bits.clamp(1, 30);
        Rarity { counters: vec![0; 1 << bits], shift: 64 - bits }
    }

    pub fn count(&mut self, lists: Lists<'_>) {
        for &value in lists.values_within() {
            let at = (value >> self.shift) as usize;
            self.counters[at] = self.counters[at].saturating_add(1);
        }
    }

    fn of(&self, value: u64) -> u32 {
        self.counters[(value >> self.shift) as usize]
    }

    /// The rarest paragraphs of a bag of which one is a hit if at least `needed` are.
    fn prefix(&self, bag: Bag<'_>, needed: u32, out: &mut Vec<(u32, u64, u32)>) {
        out.clear();
        out.extend(bag.values.iter().zip(bag.counts).map(|(&value, &count)| (self.of(value), value, count)));
        out.sort_unstable();
        // So many may be missed.
        let mut left = i64::from(bag.total) - i64::from(needed);
        let end = out.iter().position(|&(_, _, count)| {
            left -= i64::from(count);
            left < 0
        });
        out.truncate(end.map_or(out.len(), |end| end + 1));
    }
}

/// The share of the larger page that must be hits, as a number of paragraphs.
fn needed(share: f64, larger: u32) -> u32 {
    // Rounding must not ask for more than the share: a little less is asked for.
    ((share * f64::from(larger) - 1e-9).ceil().max(1.0) as u32).min(larger)
}

/// Which pages of a step have a paragraph.
#[derive(Debug)]
pub struct Table {
    bags: Bags,
    /// All paragraphs, by number, and by the page they are of.
    all: Postings,
    /// For each share, the rarest of pages that repeat themselves.
    repeating: Vec<Postings>,
}

#[derive(Debug, Default)]
struct Postings {
    values: Vec<u64>,
    starts: Vec<u32>,
    members: Vec<u32>,
    /// Where the numbers with the same highest bits begin.
    directory: Vec<u32>,
    shift: u32,
}

impl Postings {
    fn new(mut entries: Vec<(u64, u32)>) -> Self {
        entries.par_sort_unstable();
        let mut made = Postings::default();
        for same in entries.chunk_by(|a, b| a.0 == b.0) {
            made.values.push(same[0].0);
            made.starts.push(made.members.len() as u32);
            made.members.extend(same.iter().map(|&(_, member)| member));
        }
        made.starts.push(made.members.len() as u32);
        let bits = (made.values.len().max(2)).ilog2().clamp(1, 24);
        made.shift = 64 - bits;
        made.directory = (0..=1u64 << bits)
            .map(|high| made.values.partition_point(|&value| (value >> made.shift) < high) as u32)
            .collect();
        made
    }

    fn get(&self, value: u64) -> &[u32] {
        let high = (value >> self.shift) as usize;
        let (from, to) = (self.directory[high] as usize, self.directory[high + 1] as usize);
        match self.values[from..to].binary_search(&value) {
            Ok(at) => &self.members[self.starts[from + at] as usize..self.starts[from + at + 1] as usize],
            Err(_) => &[],
        }
    }
}

/// Clusters by the paper's rule and by the bags' own, at each level, as the steps go on.
#[derive(Clone, Debug)]
pub struct Steps {
    /// Shares at which pages are near-duplicates, the highest first.
    shares: Vec<f64>,
    /// The last page in input order that has the bag of each page.
    last: Vec<u32>,
    pub rarity: Rarity,
    /// Duplicates, then each share; by the paper's rule, then by the bags' own.
    pub paper: Vec<Growing>,
    pub bags: Vec<Growing>,
}

/// Pages that are looked up before what was found of them joins clusters.
const TOGETHER: usize = 2048;

/// Two pages, and at which levels (bits) they are accepted by each rule.
struct Found {
    a: u32,
    b: u32,
    paper: u32,
    bags: u32,
}

impl Steps {
    /// `last[page]` is the last page in input order with the bag of `page`, where that is the first with its bag.
    pub fn new(shares: &[f64], last: Vec<u32>, rarity: Rarity) -> Self {
        let mut shares = shares.to_vec();
        shares.sort_by(|a, b| b.total_cmp(a));
        let graphs = vec![Growing::new(last.len()); shares.len() + 1];
        Steps { shares, last, rarity, paper: graphs.clone(), bags: graphs }
    }

    /// How many pages there are, whether they have paragraphs or not.
    pub fn pages(&self) -> usize {
        self.last.len()
    }

    /// Joins pages that have the same bag at all levels of both rules.
    pub fn join_equal(&mut self, pairs: impl Iterator<Item = (u32, u32)> + Clone) {
        for graph in self.paper.iter_mut().chain(&mut self.bags) {
            for (a, b) in pairs.clone() {
                graph.join(a, b);
            }
        }
    }

    /// What a page must show at a level: 0 is duplicates.
    fn share(&self, level: usize) -> f64 {
        if level == 0 { 1.0 } else { self.shares[level - 1] }
    }

    fn levels(&self) -> usize {
        self.shares.len() + 1
    }

    /// The table of a step's pages.
    pub fn table(&self, bags: Bags) -> Table {
        let entries =
            (0..bags.len()).flat_map(|at| bags.bag(at).values.iter().map(move |&value| (value, at as u32)));
        let all = Postings::new(entries.collect());
        let mut prefix = Vec::new();
        let repeating = (0..self.levels()).map(|level| {
            let mut entries = Vec::new();
            for at in (0..bags.len()).filter(|&at| bags.bag(at).repeats()) {
                let bag = bags.bag(at);
                self.rarity.prefix(bag, needed(self.share(level), bag.total), &mut prefix);
                entries.extend(prefix.iter().map(|&(_, value, _)| (value, at as u32)));
            }
            Postings::new(entries)
        });
        let repeating = repeating.collect();
        Table { bags, all, repeating }
    }

    /// Compares pages with those of the table, and joins what is accepted. Pages of the table's own step are compared
    /// with those before them in it only.
    pub fn probe(&mut self, table: &Table, others: &Bags, same_step: bool) {
        for level in 0..self.levels() {
            let mut from = 0;
            // Clusters are joined between the batches: the first are small, for much is joined early.
            let mut size = 64;
            while from < others.len() {
                let to = others.len().min(from + size);
                let found: Vec<Found> = (from..to)
                    .into_par_iter()
                    .map_init(
                        || (vec![u32::MAX; table.bags.len()], Vec::new(), Vec::new()),
                        |(seen, prefix, roots), at| {
                            self.look_up(table, others, at, level, same_step, seen, prefix, roots)
                        },
                    )
                    .flatten_iter()
                    .collect();
                for pair in found {
                    for (graphs, levels) in [(&mut self.paper, pair.paper), (&mut self.bags, pair.bags)] {
                        for (number, graph) in graphs.iter_mut().enumerate() {
                            if levels >> number & 1 == 1 {
                                graph.join(pair.a, pair.b);
                            }
                        }
                    }
                }
                (from, size) = (to, (2 * size).min(TOGETHER));
            }
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn look_up(
        &self,
        table: &Table,
        others: &Bags,
        at: usize,
        level: usize,
        same_step: bool,
        seen: &mut [u32],
        prefix: &mut Vec<(u32, u64, u32)>,
        roots: &mut Vec<u32>,
    ) -> Vec<Found> {
        let (bag, page) = (others.bag(at), others.pages[at]);
        let (share, mark) = (self.share(level), at as u32);
        // Duplicates by bags are joined already, and by the paper's rule only pages that repeat themselves have more.
        let graph = if level == 0 { &self.paper[0] } else { &self.bags[level] };
        let mut found = Vec::new();
        roots.clear();
        roots.push(graph.root(page));
        let mut consider = |member: u32| {
            if std::mem::replace(&mut seen[member as usize], mark) == mark {
                return;
            }
            let (other, number) = (table.bags.bag(member as usize), table.bags.pages[member as usize]);
            if number == page || (same_step && number > page) {
                return;
            }
            let (larger, smaller) = (bag.total.max(other.total), bag.total.min(other.total));
            let possible = if bag.repeats() || other.repeats() { larger } else { smaller };
            if possible < needed(share, larger) || (level == 0 && larger != smaller) {
                return;
            }
            let root = graph.root(number);
            if roots.contains(&root) {
                return;
            }
            let accepted = self.accepted(number, other, page, bag);
            let (accepted_paper, accepted_bags) = accepted;
            if (if level == 0 { accepted_paper } else { accepted_bags }) >> level & 1 == 1 {
                roots.push(root);
            }
            if accepted_paper | accepted_bags != 0 {
                found.push(Found { a: number, b: page, paper: accepted_paper, bags: accepted_bags });
            }
        };
        if level > 0 || bag.repeats() {
            self.rarity.prefix(bag, needed(share, bag.total), prefix);
            for &(_, value, _) in prefix.iter() {
                table.all.get(value).iter().copied().for_each(&mut consider);
            }
        }
        if !table.repeating[level].values.is_empty() {
            for &value in bag.values {
                table.repeating[level].get(value).iter().copied().for_each(&mut consider);
            }
        }
        found
    }

    /// The levels at which a pair is accepted, by the paper's rule and by the bags' own. A page stands for all with its
    /// bag, so either may be the later one if the last of its bag is.
    fn accepted(&self, page: u32, bag: Bag<'_>, other_page: u32, other: Bag<'_>) -> (u32, u32) {
        let found = common(bag, other);
        let larger = bag.total.max(other.total);
        let mut hits = 0;
        let mut duplicates = false;
        for (later, earlier_page, later_page, of) in
            [(bag, other_page, page, found.hits[0]), (other, page, other_page, found.hits[1])]
        {
            if earlier_page < self.last[later_page as usize] {
                hits = hits.max(of);
                duplicates |= bag.total == other.total && of == later.total;
            }
        }
        let (mut paper, mut bags) = (u32::from(duplicates), 0);
        for (number, &share) in self.shares.iter().enumerate() {
            let least = needed(share, larger);
            paper |= u32::from(hits >= least) << (number + 1);
            bags |= u32::from(found.both >= least) << (number + 1);
        }
        (paper, bags)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::components::components;
    use crate::format::splitmix;
    use proptest::prelude::*;

    const SHARES: [f64; 3] = [0.9, 0.7, 0.5];

    struct Owned {
        offsets: Vec<i64>,
        values: Vec<u64>,
    }

    fn lists(pages: &[Vec<u8>]) -> Owned {
        let mut owned = Owned { offsets: vec![0], values: Vec::new() };
        for page in pages {
            owned.values.extend(page.iter().map(|&value| splitmix(5, u64::from(value))));
            owned.offsets.push(owned.values.len() as i64);
        }
        owned
    }

    impl Owned {
        fn lists(&self) -> Lists<'_> {
            Lists { offsets: &self.offsets, values: &self.values }
        }
    }

    /// The definitions, over all pairs: clusters by (rule, level).
    fn naive(pages: &[Vec<u8>]) -> Vec<Vec<u32>> {
        let count = |page: &[u8], value: u8| page.iter().filter(|&&other| other == value).count();
        let mut graphs = Vec::new();
        for paper in [true, false] {
            for share in [None, Some(0.9), Some(0.7), Some(0.5)] {
                let accepted = |earlier: &[u8], later: &[u8]| {
                    if earlier.is_empty() || later.is_empty() {
                        return false;
                    }
                    let larger = earlier.len().max(later.len()) as f64;
                    let found = if paper {
                        later.iter().filter(|value| earlier.contains(value)).count()
                    } else {
                        (0..=u8::MAX).map(|value| count(earlier, value).min(count(later, value))).sum()
                    };
                    match share {
                        None => earlier.len() == later.len() && found == later.len(),
                        Some(share) => found as f64 >= share * larger - 1e-9,
                    }
                };
                let n = pages.len();
                let pairs = (0..n).flat_map(|a| (a + 1..n).map(move |b| (a, b)));
                let edges = pairs.filter(|&(a, b)| accepted(&pages[a], &pages[b]));
                graphs.push(components(n, edges.map(|(a, b)| (a as u32, b as u32))));
            }
        }
        graphs
    }

    fn in_steps(pages: &[Vec<u8>], step_of: &[u32], steps: u32, bits: u32) -> Vec<Vec<u32>> {
        // Pages with one bag are one: the first stands for all, in the earliest of their steps.
        let sorted: Vec<Vec<u8>> = pages
            .iter()
            .map(|page| {
                let mut page = page.clone();
                page.sort();
                page
            })
            .collect();
        let first: Vec<usize> =
            sorted.iter().map(|bag| sorted.iter().position(|other| other == bag).unwrap()).collect();
        let mut last: Vec<u32> = (0..pages.len() as u32).collect();
        let mut step: Vec<u32> = step_of.to_vec();
        for (page, &leader) in first.iter().enumerate() {
            last[leader] = page as u32;
            step[leader] = step[leader].min(step_of[page]);
        }
        let owned = lists(pages);
        let mut rarity = Rarity::new(bits);
        rarity.count(owned.lists());
        let mut study = Steps::new(&SHARES, last, rarity);
        let equal =
            first.iter().enumerate().filter(|&(page, &leader)| leader != page && !pages[page].is_empty());
        study.join_equal(equal.map(|(page, &leader)| (leader as u32, page as u32)));
        let chosen = |wanted: u32| {
            let mut bags = Bags::default();
            for (page, &leader) in first.iter().enumerate() {
                if leader == page && step[page] == wanted {
                    let one = lists(&pages[page..page + 1]);
                    bags.extend(one.lists(), &[page as u32]);
                }
            }
            bags
        };
        for now in 0..steps {
            let table = study.table(chosen(now));
            for later in now..steps {
                study.probe(&table, &chosen(later), later == now);
            }
        }
        study.paper.iter().chain(&study.bags).map(Growing::labels).collect()
    }

    proptest! {
        #[test]
        fn any_number_of_steps_gives_the_clusters_of_all_pairs(
            pages in proptest::collection::vec(proptest::collection::vec(0u8..7, 0..7), 1..14),
            steps in 1u32..5,
            dice in proptest::collection::vec(0u32..1000, 14),
            bits in 1u32..8,
        ) {
            let step_of: Vec<u32> = dice.iter().take(pages.len()).map(|&roll| roll % steps).collect();
            prop_assert_eq!(in_steps(&pages, &step_of, steps, bits), naive(&pages));
        }
    }

    #[test]
    fn the_papers_own_false_match() {
        // Document 2 has e, f, g, d; document 3 has e, d, e, d: all of the later one is found in the earlier one.
        let (two, three) = (vec![1, 2, 3, 4], vec![1, 4, 1, 4]);
        let found = in_steps(&[two.clone(), three.clone()], &[0, 0], 1, 8);
        assert_eq!(found[0], [0, 0]);
        assert_eq!(found[4], [0, 1]);
        // The other way round only half of the later one is found.
        let found = in_steps(&[three, two], &[0, 0], 1, 8);
        assert_eq!(found[0], [0, 1]);
        assert_eq!(found[3], [0, 0]);
    }
}
