//! Looking up a number among many sorted ones.
//!
//! The numbers are hashes, so they lie evenly: a *directory* says where each stretch of equal highest bits begins,
//! about eight numbers to a stretch, and a short search finishes. Numbers that do not lie evenly cost a longer search,
//! no more. Cost: two look-ups into memory a number, half a byte of directory for each.

/// How many of the highest bits the directory for so many numbers tells apart.
pub fn directory_bits(count: usize) -> u32 {
    (count / 8).max(1).ilog2().min(30)
}

/// Where each stretch begins, and behind the last where it ends.
pub fn directory(numbers: &[u64]) -> Vec<u64> {
    let bits = directory_bits(numbers.len());
    let mut starts = Vec::with_capacity((1 << bits) + 1);
    let mut at = 0;
    for stretch in 0..1u64 << bits {
        while at < numbers.len() && stretch_of(numbers[at], bits) < stretch {
            at += 1;
        }
        starts.push(at as u64);
    }
    starts.push(numbers.len() as u64);
    starts
}

#[inline(always)]
fn stretch_of(number: u64, bits: u32) -> u64 {
    // Zero bits are one stretch: a shift by 64 is none at all.
    if bits == 0 { 0 } else { number >> (64 - bits) }
}

/// Sorted numbers with their directory.
#[derive(Clone, Copy, Debug)]
pub struct Numbers<'a> {
    numbers: &'a [u64],
    directory: &'a [u64],
    bits: u32,
}

impl<'a> Numbers<'a> {
    /// None if the directory cannot be that of the numbers: then it is damaged, or another's.
    pub fn new(numbers: &'a [u64], directory: &'a [u64]) -> Option<Self> {
        let bits = directory_bits(numbers.len());
        let fits = directory.len() == (1 << bits) + 1
            && directory[0] == 0
            && directory.last() == Some(&(numbers.len() as u64))
            && directory.windows(2).all(|pair| pair[0] <= pair[1]);
        fits.then_some(Numbers { numbers, directory, bits })
    }

    /// The same without looking: for a directory that was checked before. If it does not fit after all, `find` may
    /// panic, or not find what is there.
    pub fn trusted(numbers: &'a [u64], directory: &'a [u64]) -> Self {
        Numbers { numbers, directory, bits: directory_bits(numbers.len()) }
    }

    /// The place of a number.
    #[inline]
    pub fn find(&self, number: u64) -> Option<usize> {
        let stretch = stretch_of(number, self.bits) as usize;
        let (start, end) = (self.directory[stretch] as usize, self.directory[stretch + 1] as usize);
        self.numbers[start..end].binary_search(&number).ok().map(|at| start + at)
    }
}

/// Numbers with a count each.
#[derive(Clone, Copy, Debug)]
pub struct Counted<'a> {
    pub numbers: Numbers<'a>,
    pub counts: &'a [u32],
}

impl Counted<'_> {
    /// The count of a number that is listed.
    #[inline]
    pub fn count(&self, number: u64) -> Option<u32> {
        Some(self.counts[self.numbers.find(number)?])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::splitmix;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn finds_what_is_there(
            even in proptest::collection::btree_set(any::<u64>(), 0..300),
            crowded in proptest::collection::btree_set(0u64..200, 0..100),
            probes: Vec<u64>,
        ) {
            for set in [even, crowded] {
                let numbers: Vec<u64> = set.iter().copied().collect();
                let directory = directory(&numbers);
                let found = Numbers::new(&numbers, &directory).expect("its own directory");
                for probe in probes.iter().chain(&numbers).copied().chain(0..200) {
                    prop_assert_eq!(found.find(probe), numbers.iter().position(|&number| number == probe));
                }
            }
        }
    }

    #[test]
    fn a_directory_of_other_numbers_is_refused_or_harmless() {
        let numbers: Vec<u64> =
            (0..100).map(|at| splitmix(1, at)).collect::<BTreeSet<_>>().into_iter().collect();
        let made = directory(&numbers);
        assert!(Numbers::new(&numbers[..50], &made).is_none());
        assert!(Numbers::new(&numbers, &made[1..]).is_none());
        let mut torn = made.clone();
        torn[3] = 1 << 60;
        assert!(Numbers::new(&numbers, &torn).is_none());
        assert!(Numbers::new(&[], &directory(&[])).expect("nothing").find(7).is_none());
    }
}
