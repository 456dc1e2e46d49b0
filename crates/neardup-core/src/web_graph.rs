//! The graph of links: its strongly connected components, its bow tie (Broder et al., WWW 2000), and the crawl of it from
//! some pages.
//!
//! Links are kept twice, by source and by target, each as one array and where every page's part of it begins. Strongly
//! connected components are Tarjan's (1972), with a stack of its own, so that a chain of ten million pages is no danger.
//! The largest of them is the core; what reaches it is *in*, what it reaches *out*; of the rest, what is joined to these
//! by links in any direction is *tube* if it lies on a way from in to out, else *tendril*; what is not is an *island*.
//! Cost: O(pages + links) time, 8 bytes a link and some 40 a page.

use crate::components::components;

/// Where a page is in the bow tie; the numbers are those that Python sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Part {
    Core = 0,
    In = 1,
    Out = 2,
    Tube = 3,
    Tendril = 4,
    Island = 5,
}

/// No page.
const NONE: u32 = u32::MAX;

/// Links by their source.
#[derive(Clone, Debug)]
pub struct Links {
    starts: Vec<usize>,
    targets: Vec<u32>,
}

impl Links {
    /// The links of `pages` pages, given by their ends, both below `pages`.
    pub fn new(pages: usize, from: &[u32], to: &[u32]) -> Self {
        let mut starts = vec![0usize; pages + 1];
        for &page in from {
            starts[page as usize + 1] += 1;
        }
        for page in 0..pages {
            starts[page + 1] += starts[page];
        }
        let mut next = starts.clone();
        let mut targets = vec![0; from.len()];
        for (&source, &target) in from.iter().zip(to) {
            targets[next[source as usize]] = target;
            next[source as usize] += 1;
        }
        Links { starts, targets }
    }

    pub fn pages(&self) -> usize {
        self.starts.len() - 1
    }

    pub fn of(&self, page: u32) -> &[u32] {
        &self.targets[self.starts[page as usize]..self.starts[page as usize + 1]]
    }

    /// For each page the least page of its strongly connected component.
    pub fn strong_components(&self) -> Vec<u32> {
        let pages = self.pages();
        // When each page was met, the earliest page still open that it reaches, and how many of its links were followed.
        let (mut met, mut low, mut done) = (vec![NONE; pages], vec![0u32; pages], vec![0u32; pages]);
        let mut component = vec![NONE; pages];
        let (mut open, mut path) = (Vec::new(), Vec::new());
        let mut time = 0;
        for root in 0..pages as u32 {
            if met[root as usize] != NONE {
                continue;
            }
            path.push(root);
            while let Some(&page) = path.last() {
                let at = page as usize;
                if met[at] == NONE {
                    (met[at], low[at]) = (time, time);
                    time += 1;
                    open.push(page);
                }
                let next = self.of(page)[done[at] as usize..].iter().position(|&target| {
                    let target = target as usize;
                    if met[target] != NONE && component[target] == NONE {
                        low[at] = low[at].min(met[target]);
                    }
                    met[target] == NONE
                });
                if let Some(further) = next {
                    path.push(self.of(page)[done[at] as usize + further]);
                    done[at] += further as u32 + 1;
                    continue;
                }
                path.pop();
                if let Some(&above) = path.last() {
                    low[above as usize] = low[above as usize].min(low[at]);
                }
                if low[at] == met[at] {
                    let start = open.iter().rposition(|&other| other == page).expect("it is open");
                    let least = open[start..].iter().copied().min().expect("itself at least");
                    for member in open.drain(start..) {
                        component[member as usize] = least;
                    }
                }
            }
        }
        component
    }

    /// In how many links each page is reached from `seeds`; the largest number where it is not.
    pub fn crawl(&self, seeds: impl IntoIterator<Item = u32>) -> Vec<u32> {
        let mut depth = vec![NONE; self.pages()];
        let mut level: Vec<u32> = Vec::new();
        for seed in seeds {
            if depth[seed as usize] == NONE {
                depth[seed as usize] = 0;
                level.push(seed);
            }
        }
        let mut steps = 0;
        while !level.is_empty() {
            steps += 1;
            let mut next = Vec::new();
            for page in level {
                for &target in self.of(page) {
                    if depth[target as usize] == NONE {
                        depth[target as usize] = steps;
                        next.push(target);
                    }
                }
            }
            level = next;
        }
        depth
    }
}

/// The bow tie of a graph of `pages` pages: the part of each, and the least page of each one's strong component.
pub fn bow_tie(pages: usize, from: &[u32], to: &[u32]) -> (Vec<Part>, Vec<u32>) {
    let forward = Links::new(pages, from, to);
    let strong = forward.strong_components();
    let mut sizes = vec![0u32; pages];
    for &first in &strong {
        sizes[first as usize] += 1;
    }
    // Of equal ones the first page's.
    let Some(core) = (0..pages).max_by_key(|&page| (sizes[page], std::cmp::Reverse(page))) else {
        return (Vec::new(), strong);
    };
    let core = core as u32;
    let reached = forward.crawl([core]);
    let backward = Links::new(pages, to, from);
    let reaches = backward.crawl([core]);
    let chosen = |depths: &[u32], other: &[u32]| -> Vec<u32> {
        (0..pages as u32)
            .filter(|&page| depths[page as usize] != NONE && other[page as usize] == NONE)
            .collect()
    };
    let (ins, outs) = (chosen(&reaches, &reached), chosen(&reached, &reaches));
    let (from_in, to_out) = (forward.crawl(ins), backward.crawl(outs));
    let weak = components(pages, from.iter().copied().zip(to.iter().copied()));
    let parts = (0..pages).map(|page| match (reaches[page] != NONE, reached[page] != NONE) {
        (true, true) => Part::Core,
        (true, false) => Part::In,
        (false, true) => Part::Out,
        _ if weak[page] != weak[core as usize] => Part::Island,
        _ if from_in[page] != NONE && to_out[page] != NONE => Part::Tube,
        _ => Part::Tendril,
    });
    (parts.collect(), strong)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Who reaches whom, by squaring.
    fn reachable(pages: usize, links: &[(u32, u32)]) -> Vec<Vec<bool>> {
        let mut reach = vec![vec![false; pages]; pages];
        for page in 0..pages {
            reach[page][page] = true;
        }
        for &(a, b) in links {
            reach[a as usize][b as usize] = true;
        }
        for middle in 0..pages {
            for a in 0..pages {
                for b in 0..pages {
                    reach[a][b] |= reach[a][middle] && reach[middle][b];
                }
            }
        }
        reach
    }

    fn ends(links: &[(u32, u32)]) -> (Vec<u32>, Vec<u32>) {
        links.iter().copied().unzip()
    }

    proptest! {
        #[test]
        fn parts_follow_from_who_reaches_whom(links in proptest::collection::vec((0u32..18, 0u32..18), 0..40)) {
            let reach = reachable(18, &links);
            let (from, to) = ends(&links);
            let (parts, strong) = bow_tie(18, &from, &to);
            for a in 0..18 {
                let least = (0..18).find(|&b| reach[a][b] && reach[b][a]).unwrap();
                prop_assert_eq!(strong[a] as usize, least);
            }
            let size = |page: usize| (0..18).filter(|&b| reach[page][b] && reach[b][page]).count();
            let most = (0..18).map(size).max().unwrap();
            let core = (0..18).find(|&page| size(page) == most).unwrap();
            let either: Vec<(u32, u32)> = links.iter().flat_map(|&(a, b)| [(a, b), (b, a)]).collect();
            let joined = reachable(18, &either);
            let is_in = |page: usize| reach[page][core] && !reach[core][page];
            let is_out = |page: usize| reach[core][page] && !reach[page][core];
            for page in 0..18 {
                let tube = (0..18).any(|a| is_in(a) && reach[a][page]) && (0..18).any(|b| is_out(b) && reach[page][b]);
                let expected = match (reach[page][core], reach[core][page]) {
                    (true, true) => Part::Core,
                    (true, false) => Part::In,
                    (false, true) => Part::Out,
                    _ if !joined[page][core] => Part::Island,
                    _ if tube => Part::Tube,
                    _ => Part::Tendril,
                };
                prop_assert_eq!(parts[page], expected, "page {}", page);
            }
            let depth = Links::new(18, &from, &to).crawl([3, 5]);
            for page in 0..18 {
                prop_assert_eq!(depth[page] != NONE, reach[3][page] || reach[5][page]);
            }
        }
    }

    #[test]
    fn a_chain_of_a_million_pages_needs_no_deep_stack() {
        let pages = 1_000_000u32;
        let from: Vec<u32> = (0..pages - 1).collect();
        let to: Vec<u32> = (1..pages).collect();
        let links = Links::new(pages as usize, &from, &to);
        assert_eq!(links.strong_components(), (0..pages).collect::<Vec<_>>());
        assert_eq!(links.crawl([0])[pages as usize - 1], pages - 1);
        let (parts, _) = bow_tie(0, &[], &[]);
        assert!(parts.is_empty());
    }
}
