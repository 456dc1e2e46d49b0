//! How far apart the pages of a cluster are: the longest shortest path, in pairs.
//!
//! A breadth-first search from every page gives it exactly, at a cost of pages × pairs; beyond `exact` pages two
//! searches give a lower bound: from the first page, and from the farthest page (of equals the first) that this finds.
//! On trees two searches are exact. A complete cluster, as most are, needs none. Clusters are worked on in parallel.

use rayon::prelude::*;

/// The diameter of each of `clusters` clusters; 0 without pairs. Each pair is given once, beside the cluster it is in.
pub fn diameters(clusters: usize, cluster: &[u32], pairs: &[(u32, u32)], exact: usize) -> Vec<u32> {
    let mut starts = vec![0usize; clusters + 1];
    cluster.iter().for_each(|&cluster| starts[cluster as usize + 1] += 1);
    for at in 0..clusters {
        starts[at + 1] += starts[at];
    }
    let mut next = starts.clone();
    let mut grouped = vec![(0, 0); pairs.len()];
    for (&cluster, &pair) in cluster.iter().zip(pairs) {
        grouped[next[cluster as usize]] = pair;
        next[cluster as usize] += 1;
    }
    starts.par_windows(2).map(|bounds| diameter(&grouped[bounds[0]..bounds[1]], exact)).collect()
}

fn diameter(pairs: &[(u32, u32)], exact: usize) -> u32 {
    let (pages, pairs) = numbered(pairs);
    if pairs.len() == pages * pages.saturating_sub(1) / 2 {
        return u32::from(!pairs.is_empty());
    }
    let graph = Graph::new(pages, &pairs);
    let mut search = Search { distance: vec![UNSEEN; pages], queue: Vec::with_capacity(pages) };
    if pages <= exact {
        return (0..pages as u32).map(|page| search.farthest(&graph, page).1).max().unwrap_or(0);
    }
    let (end, _) = search.farthest(&graph, 0);
    search.farthest(&graph, end).1
}

/// How many pages there are, and the pairs with pages numbered from 0 in their order.
fn numbered(pairs: &[(u32, u32)]) -> (usize, Vec<(u32, u32)>) {
    let ends = || pairs.iter().flat_map(|&(a, b)| [a, b]);
    let (first, last) = ends().fold((u32::MAX, 0), |(first, last), page| (first.min(page), last.max(page)));
    // Of a large cluster most pages between the first and the last are its own: a table is at hand for each.
    if !pairs.is_empty() && ((last - first) as usize) < 8 * pairs.len() {
        let mut number = vec![0u32; (last - first) as usize + 1];
        ends().for_each(|page| number[(page - first) as usize] = 1);
        let mut pages = 0;
        for number in &mut number {
            pages += std::mem::replace(number, pages);
        }
        let of = |page: u32| number[(page - first) as usize];
        return (pages as usize, pairs.iter().map(|&(a, b)| (of(a), of(b))).collect());
    }
    let mut pages: Vec<u32> = ends().collect();
    pages.sort_unstable();
    pages.dedup();
    let of = |page: u32| pages.partition_point(|&other| other < page) as u32;
    (pages.len(), pairs.iter().map(|&(a, b)| (of(a), of(b))).collect())
}

/// The pairs of one cluster.
struct Graph {
    starts: Vec<usize>,
    neighbours: Vec<u32>,
}

impl Graph {
    fn new(pages: usize, pairs: &[(u32, u32)]) -> Self {
        let mut starts = vec![0usize; pages + 1];
        pairs.iter().flat_map(|&(a, b)| [a, b]).for_each(|page| starts[page as usize + 1] += 1);
        for at in 0..pages {
            starts[at + 1] += starts[at];
        }
        let mut next = starts.clone();
        let mut neighbours = vec![0; 2 * pairs.len()];
        for (from, to) in pairs.iter().flat_map(|&(a, b)| [(a, b), (b, a)]) {
            neighbours[next[from as usize]] = to;
            next[from as usize] += 1;
        }
        Graph { starts, neighbours }
    }

    fn neighbours(&self, page: u32) -> &[u32] {
        &self.neighbours[self.starts[page as usize]..self.starts[page as usize + 1]]
    }
}

const UNSEEN: u32 = u32::MAX;

/// Working memory of a search, used again for the next.
struct Search {
    distance: Vec<u32>,
    queue: Vec<u32>,
}

impl Search {
    /// The page farthest from `start`, of equals the first, and its distance.
    fn farthest(&mut self, graph: &Graph, start: u32) -> (u32, u32) {
        self.distance.fill(UNSEEN);
        self.queue.clear();
        self.distance[start as usize] = 0;
        self.queue.push(start);
        let mut at = 0;
        while let Some(&page) = self.queue.get(at) {
            at += 1;
            for &other in graph.neighbours(page) {
                if self.distance[other as usize] == UNSEEN {
                    self.distance[other as usize] = self.distance[page as usize] + 1;
                    self.queue.push(other);
                }
            }
        }
        let longest = self.queue.last().map_or(0, |&last| self.distance[last as usize]);
        let farthest = self.queue.iter().rev().take_while(|&&page| self.distance[page as usize] == longest);
        (farthest.copied().min().unwrap_or(start), longest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::components::components;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// All shortest paths by Floyd and Warshall; the farthest pairs from one page for the two searches.
    fn naive(pairs: &[(u32, u32)], exact: usize) -> u32 {
        const FAR: u32 = 1000;
        let mut steps = vec![vec![FAR; 30]; 30];
        let pages: BTreeSet<u32> = pairs.iter().flat_map(|&(a, b)| [a, b]).collect();
        pages.iter().for_each(|&page| steps[page as usize][page as usize] = 0);
        for &(a, b) in pairs {
            (steps[a as usize][b as usize], steps[b as usize][a as usize]) = (1, 1);
        }
        for middle in 0..30 {
            for a in 0..30 {
                for b in 0..30 {
                    steps[a][b] = steps[a][b].min(steps[a][middle] + steps[middle][b]);
                }
            }
        }
        let reached = |a: u32| pages.iter().map(move |&b| (a, b)).collect::<Vec<_>>();
        let longest =
            |a: u32| reached(a).iter().map(|&(a, b)| steps[a as usize][b as usize]).max().unwrap_or(0);
        if pages.len() <= exact {
            return pages.iter().map(|&page| longest(page)).max().unwrap_or(0);
        }
        let Some(&first) = pages.first() else { return 0 };
        let end = pages.iter().find(|&&page| steps[first as usize][page as usize] == longest(first));
        longest(*end.expect("the farthest page is one of them"))
    }

    proptest! {
        #[test]
        fn agrees_with_all_shortest_paths(
            edges in proptest::collection::btree_set((0u32..30, 0u32..30), 0..60),
            exact in prop_oneof![Just(0usize), Just(6), Just(200)],
        ) {
            let edges: BTreeSet<(u32, u32)> =
                edges.into_iter().filter(|(a, b)| a != b).map(|(a, b)| (a.min(b), a.max(b))).collect();
            let edges: Vec<(u32, u32)> = edges.into_iter().collect();
            let labels = components(30, edges.iter().copied());
            let cluster: Vec<u32> = edges.iter().map(|&(a, _)| labels[a as usize]).collect();
            let found = diameters(30, &cluster, &edges, exact);
            for label in 0..30u32 {
                let own: Vec<(u32, u32)> =
                    edges.iter().copied().filter(|&(a, _)| labels[a as usize] == label).collect();
                prop_assert_eq!(found[label as usize], naive(&own, exact));
            }
        }
    }

    #[test]
    fn a_chain_and_a_triangle() {
        let pairs = [(0, 1), (5, 6), (1, 2), (5, 7), (2, 3), (6, 7)];
        assert_eq!(diameters(3, &[0, 1, 0, 1, 0, 1], &pairs, 200), [3, 1, 0]);
    }
}
