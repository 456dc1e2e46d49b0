//! Clusters: connected components of the accepted pairs, and the spanning forest that ties each together.
//!
//! Union-find with the smaller page as root, so that a component is named by its first page whatever the order of
//! the pairs. The maximum-similarity spanning forest (Kruskal) has at most n − 1 pairs, and cutting it at any
//! threshold gives the same components as cutting all pairs there.

/// Sets of pages that can be joined and looked up.
#[derive(Clone, Debug)]
pub struct Components {
    parent: Vec<u32>,
}

impl Components {
    pub fn new(pages: usize) -> Self {
        Components { parent: (0..pages as u32).collect() }
    }

    /// The first page of the component, with the path to it halved.
    pub fn find(&mut self, mut page: u32) -> u32 {
        while self.parent[page as usize] != page {
            let above = self.parent[self.parent[page as usize] as usize];
            self.parent[page as usize] = above;
            page = above;
        }
        page
    }

    /// The same, leaving everything as it is: for several threads at a time.
    pub fn root(&self, mut page: u32) -> u32 {
        while self.parent[page as usize] != page {
            page = self.parent[page as usize];
        }
        page
    }

    /// Joins two components; false if they were one already.
    pub fn join(&mut self, a: u32, b: u32) -> bool {
        let (a, b) = (self.find(a), self.find(b));
        self.parent[a.max(b) as usize] = a.min(b);
        a != b
    }

    /// For each page the first page of its component.
    pub fn labels(mut self) -> Vec<u32> {
        // Parents come before their children, so one pass in order reaches every root.
        for page in 0..self.parent.len() {
            self.parent[page] = self.parent[self.parent[page] as usize];
        }
        self.parent
    }
}

/// Component labels of a graph of `pages` nodes.
pub fn components(pages: usize, edges: impl IntoIterator<Item = (u32, u32)>) -> Vec<u32> {
    let mut components = Components::new(pages);
    for (a, b) in edges {
        components.join(a, b);
    }
    components.labels()
}

/// Which edges make up the maximum spanning forest; of equal scores the earlier edge is taken.
pub fn spanning_forest(pages: usize, edges: &[(u32, u32)], scores: &[f64]) -> Vec<bool> {
    let mut order: Vec<usize> = (0..edges.len()).collect();
    order.sort_by(|&x, &y| scores[y].total_cmp(&scores[x]));
    let mut components = Components::new(pages);
    let mut tree = vec![false; edges.len()];
    for edge in order {
        tree[edge] = components.join(edges[edge].0, edges[edge].1);
    }
    tree
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn naive(pages: usize, edges: &[(u32, u32)]) -> Vec<u32> {
        let mut labels: Vec<u32> = (0..pages as u32).collect();
        loop {
            let before = labels.clone();
            for &(a, b) in edges {
                let smallest = labels[a as usize].min(labels[b as usize]);
                (labels[a as usize], labels[b as usize]) = (smallest, smallest);
            }
            if labels == before {
                return labels;
            }
        }
    }

    proptest! {
        #[test]
        fn labels_agree_with_propagation(mut edges in proptest::collection::vec((0u32..40, 0u32..40), 0..60)) {
            let expected = naive(40, &edges);
            prop_assert_eq!(components(40, edges.iter().copied()), expected.clone());
            edges.reverse();
            prop_assert_eq!(components(40, edges.iter().copied()), expected);
        }

        #[test]
        fn the_forest_gives_the_components_at_every_threshold(
            weighted in proptest::collection::vec((0u32..25, 0u32..25, 0u8..6), 0..60)
        ) {
            let edges: Vec<(u32, u32)> = weighted.iter().map(|&(a, b, _)| (a, b)).collect();
            let scores: Vec<f64> = weighted.iter().map(|&(_, _, score)| f64::from(score)).collect();
            let tree = spanning_forest(25, &edges, &scores);
            for threshold in 0..6 {
                let above = |at: &usize| scores[*at] >= f64::from(threshold);
                let all = components(25, (0..edges.len()).filter(above).map(|at| edges[at]));
                let cut = components(25, (0..edges.len()).filter(above).filter(|&at| tree[at]).map(|at| edges[at]));
                prop_assert_eq!(all, cut);
            }
        }
    }
}
