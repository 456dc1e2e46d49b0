//! Clusters that grow pair by pair, with their number and that of the duplicates in them known at any time.
//!
//! Union-find ([`Components`]) and the size of every component. A duplicate is every clustered page but one of its
//! cluster, so each pair that joins two components makes one more. Cost: 8 bytes a page.

use crate::components::Components;

#[derive(Clone, Debug)]
pub struct Growing {
    components: Components,
    size: Vec<u32>,
    clusters: u32,
    duplicates: u32,
}

impl Growing {
    pub fn new(pages: usize) -> Self {
        Growing { components: Components::new(pages), size: vec![1; pages], clusters: 0, duplicates: 0 }
    }

    /// Joins the clusters of two pages; false if they are one already.
    pub fn join(&mut self, a: u32, b: u32) -> bool {
        let (a, b) = (self.components.find(a), self.components.find(b));
        if !self.components.join(a, b) {
            return false;
        }
        let (one, other) = (self.size[a as usize], self.size[b as usize]);
        self.size[a.min(b) as usize] = one + other;
        match (one > 1, other > 1) {
            (false, false) => self.clusters += 1,
            (true, true) => self.clusters -= 1,
            _ => {}
        }
        self.duplicates += 1;
        true
    }

    /// The first page of a page's cluster, for several threads at a time.
    pub fn root(&self, page: u32) -> u32 {
        self.components.root(page)
    }

    /// Clusters of two pages or more, and the pages in them but one each.
    pub fn counts(&self) -> (u32, u32) {
        (self.clusters, self.duplicates)
    }

    /// For each page the first page of its cluster.
    pub fn labels(&self) -> Vec<u32> {
        self.components.clone().labels()
    }
}

/// Clusters and duplicates after each of `steps` steps, of pairs that are found in the step that stands beside them.
pub fn growth(pages: usize, pairs: &[(u32, u32)], found_in: &[u32], steps: usize) -> Vec<(u32, u32)> {
    let mut order: Vec<u32> = (0..pairs.len() as u32).collect();
    order.sort_by_key(|&at| found_in[at as usize]);
    let (mut growing, mut next) = (Growing::new(pages), order.into_iter().peekable());
    let after = (0..steps as u32).map(|step| {
        while let Some(at) = next.next_if(|&at| found_in[at as usize] <= step) {
            let (a, b) = pairs[at as usize];
            growing.join(a, b);
        }
        growing.counts()
    });
    after.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::components::components;
    use proptest::prelude::*;

    fn naive(pages: usize, pairs: impl Iterator<Item = (u32, u32)>) -> (u32, u32) {
        let labels = components(pages, pairs);
        let mut sizes = vec![0u32; pages];
        labels.iter().for_each(|&label| sizes[label as usize] += 1);
        let clusters = sizes.iter().filter(|&&size| size > 1).count() as u32;
        (clusters, sizes.iter().filter(|&&size| size > 1).sum::<u32>() - clusters)
    }

    proptest! {
        #[test]
        fn counts_are_those_of_the_components_at_every_step(
            found in proptest::collection::vec((0u32..30, 0u32..30, 0u32..5), 0..50)
        ) {
            let pairs: Vec<(u32, u32)> = found.iter().map(|&(a, b, _)| (a, b)).collect();
            let steps: Vec<u32> = found.iter().map(|&(_, _, step)| step).collect();
            let told = growth(30, &pairs, &steps, 5);
            for step in 0..5 {
                let until = found.iter().filter(|&&(_, _, at)| at <= step).map(|&(a, b, _)| (a, b));
                prop_assert_eq!(told[step as usize], naive(30, until));
            }
            let mut growing = Growing::new(30);
            for &(a, b) in &pairs {
                growing.join(a, b);
            }
            prop_assert_eq!(growing.labels(), components(30, pairs.iter().copied()));
        }
    }
}
