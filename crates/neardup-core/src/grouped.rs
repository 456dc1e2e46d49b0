//! Numbers by groups, by counting instead of sorting: how many each group has, then each to its place.
//!
//! Cost: two passes over the numbers, 4 bytes for each and for each group; there may be 2³² − 1 of them.

/// Lists of numbers, one a group.
#[derive(Debug)]
pub(crate) struct Grouped {
    starts: Vec<u32>,
    values: Vec<u32>,
}

impl Grouped {
    /// `items` shows every number with its group, the same ones each time it is called. Those of one group come to stand in
    /// the opposite order.
    pub(crate) fn new(groups: usize, items: &(impl Fn(&mut dyn FnMut(u32, u32)) + ?Sized)) -> Self {
        let mut starts = vec![0u32; groups + 1];
        items(&mut |group, _| starts[group as usize] += 1);
        let mut total = 0u32;
        for start in &mut starts {
            total = total.checked_add(*start).expect("fewer than 2³² numbers");
            *start = total;
        }
        // Filled from the end, so that what was the end of a group comes to be its start.
        let mut values = vec![0; total as usize];
        items(&mut |group, value| {
            starts[group as usize] -= 1;
            values[starts[group as usize] as usize] = value;
        });
        Grouped { starts, values }
    }

    pub(crate) fn of(&self, group: u32) -> &[u32] {
        &self.values[self.starts[group as usize] as usize..self.starts[group as usize + 1] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_number_stands_in_its_group(items in proptest::collection::vec((0u32..7, 0u32..99), 0..40)) {
            let grouped = Grouped::new(7, &|put: &mut dyn FnMut(u32, u32)| {
                items.iter().for_each(|&(group, number)| put(group, number));
            });
            for group in 0..7 {
                let of_group = items.iter().rev().filter(|item| item.0 == group).map(|item| item.1);
                prop_assert_eq!(grouped.of(group), of_group.collect::<Vec<_>>());
            }
        }
    }
}
