//! Sets of shingles that saturate: a text of few words runs out of shingles.
//!
//! Of two words there are 32 shingles of five, so any two long texts of them have the same set. As a page is compared by
//! its set, its shingles are told apart further where they repeat: *a shingle that goes on in more than one way stands
//! for itself and what follows*. The stretch from it doubles (1, 2, 4 … shingles) until all its occurrences on the page
//! go on alike; the last stretch takes its place. Unrelated random texts over v words, whatever v and whatever their
//! length, come out with a Jaccard similarity of about .3 at most; as sets of plain shingles they come up to 1.
//!
//! *Only pages whose sets hide much* are touched. Where a shingle comes again, the page says something new only if it goes
//! on otherwise than the last time: such *turns* are what the set does not tell. They are few where a text stands on a
//! page twice, or where a menu does, and such pages keep the plain set. Of the different shingles and the turns together,
//! turns may be [`HIDDEN`]; from there to [`MOSTLY`] a share of the shingles that grows from none to all may be told apart,
//! each by its own hash. So no border cuts a page off from its copy with one word changed: the same shingles are in
//! question on both, and how far their ways are followed grows with the page in the same manner. One change costs the
//! shingles it stands in and those whose ways it parts, at most [`FARTHEST`] before it.
//!
//! Cost: a bit set a shingle shows that a page has few repetitions, about a nanosecond, and nothing where its set is made
//! anyway; some 5 nanoseconds a shingle where it has many, and 200 where they hide much. Rejected: longer shingles for
//! the whole page (a border that loses copies, and a text said twice has no length at which its shingles are different);
//! counting occurrences (two texts of equal length have nearly equal counts); looking at how many shingles are different
//! alone (every page that says things twice would be touched).

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use crate::format::{SEED_SATURATION, splitmix};
use crate::hash::mix;

/// Shingles of fewer tokens are taken as they are: natural text repeats them.
pub const LEAST_LENGTH: usize = 3;
/// Different shingles a place, in hundredths, from which on there cannot be turns enough.
const FULL: u64 = 100 - HIDDEN;
/// Turns among turns and different shingles, in hundredths: below, nothing is told apart; above the second, all that is
/// in question.
const HIDDEN: u64 = 15;
const MOSTLY: u64 = 30;
/// Turns are weighed against at least this part of the places.
const FEWEST: u64 = 16;
/// How many shingles a way is followed: one for sixteen of the page, within these.
const NEAREST: u64 = 8;
const FARTHEST: u64 = 64;

const SPREAD: u64 = splitmix(SEED_SATURATION, 0) | 1;
const JOIN: u64 = splitmix(SEED_SATURATION, 1) | 1;

/// The shingles of a page, in order, become what they stand for; those of a page whose set hides little stay.
pub fn tell_apart(shingles: &mut [u64]) {
    if !surely_full(shingles) {
        tell_apart_repeated(shingles);
    }
}

/// The same where it is known how many of them are different; says whether anything changed.
pub fn tell_apart_of(shingles: &mut [u64], different: usize) -> bool {
    100 * (different as u64) < FULL * shingles.len() as u64 && tell_apart_repeated(shingles)
}

fn tell_apart_repeated(shingles: &mut [u64]) -> bool {
    let Some(extent) = Extent::of(shingles.len() as u64, Repetition::of(shingles)) else { return false };
    let told = told_apart(shingles, extent);
    shingles.copy_from_slice(&told);
    true
}

/// Whether so many bits of a table are set that there must be enough different shingles.
fn surely_full(shingles: &[u64]) -> bool {
    // Eight to sixteen bits a shingle: of all different ones at most one in 16 meets another.
    const AT_HAND: usize = 1024;
    let words = (shingles.len() / 8).next_power_of_two();
    let (mut near, mut far) = ([0u64; AT_HAND], Vec::new());
    let table = if words <= AT_HAND {
        &mut near[..words]
    } else {
        far.resize(words, 0u64);
        &mut far[..]
    };
    for shingle in shingles {
        let bit = shingle.wrapping_mul(SPREAD) >> 32;
        table[(bit >> 6) as usize & (words - 1)] |= 1 << (bit & 63);
    }
    let set: u64 = table.iter().map(|word| u64::from(word.count_ones())).sum();
    100 * set >= FULL * shingles.len() as u64
}

/// How shingles come again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Repetition {
    different: u64,
    /// How often one that comes again goes on otherwise than the last time.
    turns: u64,
}

impl Repetition {
    fn of(shingles: &[u64]) -> Self {
        let mut last = LastPlaces::default();
        let mut found = Repetition { different: 0, turns: 0 };
        for at in 0..shingles.len() {
            match last.replace(shingles, at) {
                None => found.different += 1,
                // The last shingle goes on as it did before, for all one knows.
                Some(before) => {
                    found.turns +=
                        u64::from(at + 1 < shingles.len() && shingles[at + 1] != shingles[before + 1]);
                }
            }
        }
        found
    }
}

/// Where each shingle of a page stood last; a table that grows with how many are different, not with the page.
#[derive(Debug)]
struct LastPlaces {
    /// Places, from 1; 0 is free.
    slots: Vec<u32>,
    taken: usize,
}

impl Default for LastPlaces {
    fn default() -> Self {
        LastPlaces { slots: vec![0; 1024], taken: 0 }
    }
}

impl LastPlaces {
    /// Notes that the shingle at a place stands there; returns where it stood before.
    fn replace(&mut self, shingles: &[u64], at: usize) -> Option<usize> {
        if 2 * self.taken >= self.slots.len() {
            let grown = vec![0; 2 * self.slots.len()];
            let places = std::mem::replace(&mut self.slots, grown);
            for place in places.into_iter().filter(|&place| place > 0) {
                let slot = self.slot(shingles, shingles[place as usize - 1]);
                self.slots[slot] = place;
            }
        }
        let slot = self.slot(shingles, shingles[at]);
        let before = std::mem::replace(&mut self.slots[slot], at as u32 + 1);
        self.taken += usize::from(before == 0);
        (before > 0).then(|| before as usize - 1)
    }

    /// Where a shingle is noted, or would be.
    fn slot(&self, shingles: &[u64], shingle: u64) -> usize {
        let mask = self.slots.len() - 1;
        let mut slot = (shingle.wrapping_mul(SPREAD) >> (64 - self.slots.len().ilog2())) as usize;
        while self.slots[slot] > 0 && shingles[self.slots[slot] as usize - 1] != shingle {
            slot = (slot + 1) & mask;
        }
        slot
    }
}

/// Which shingles of a page are in question, and how far their ways are followed.
#[derive(Clone, Copy, Debug)]
struct Extent {
    places: u64,
    /// Of 2³².
    share: u64,
}

impl Extent {
    /// None if nothing is in question.
    fn of(places: u64, Repetition { different, turns }: Repetition) -> Option<Self> {
        // A text that says one thing over and over hides nothing by its few turns.
        let all = (different + turns).max(places / FEWEST);
        let beyond = u128::from((100 * turns).saturating_sub(HIDDEN * all)) << 32;
        let share = (beyond / u128::from(((MOSTLY - HIDDEN) * all).max(1))).min(1 << 32) as u64;
        (share > 0).then_some(Extent { places, share })
    }

    /// How many shingles the way of this one is followed, a power of two; none if it is not in question.
    fn depth(self, shingle: u64) -> Option<usize> {
        let draw = mix(shingle ^ SEED_SATURATION);
        let reach = (u128::from(self.places) * u128::from((1 << 32) + (draw & 0xffff_ffff))) >> 36;
        let depth = (reach as u64).clamp(NEAREST, FARTHEST).ilog2();
        (draw >> 32 < self.share).then_some(1 << depth)
    }
}

/// How the occurrences of a stretch go on.
#[derive(Clone, Copy)]
enum Ways {
    /// Too near to the end of the page to say.
    Unknown,
    One(u64),
    Several,
}

/// A place whose stretch may have to be longer: which, and how far its way is followed.
#[derive(Clone, Copy)]
struct Open {
    place: usize,
    depth: usize,
}

fn told_apart(shingles: &[u64], extent: Extent) -> Vec<u64> {
    let mut told = shingles.to_vec();
    let depth = |(place, &shingle): (usize, &u64)| Some(Open { place, depth: extent.depth(shingle)? });
    let mut open: Vec<Open> = shingles.iter().enumerate().filter_map(depth).collect();
    // The hash of the stretch of so many shingles from each place on, where there are so many: of 1, 2, 4 …
    let mut stretches = vec![shingles.to_vec()];
    let deepest = open.iter().map(|open| open.depth).max().unwrap_or(1);
    for level in 0..deepest.ilog2() as usize {
        let (before, length) = (&stretches[level], 1 << level);
        let joined = before.iter().zip(before.get(length..).unwrap_or_default()).map(|(&a, &b)| join(a, b));
        stretches.push(joined.collect());
    }
    let mut ways: HashMap<u64, Ways> = HashMap::new();
    for (level, stretch) in stretches.iter().enumerate() {
        ways.clear();
        for open in &open {
            let way = stretches[open.depth.ilog2() as usize].get(open.place);
            let seen = way.map_or(Ways::Unknown, |&way| Ways::One(way));
            match ways.entry(stretch[open.place]) {
                Entry::Vacant(entry) => drop(entry.insert(seen)),
                Entry::Occupied(mut entry) => {
                    let both = match (*entry.get(), seen) {
                        (known, Ways::Unknown) => known,
                        (Ways::Unknown, seen) => seen,
                        (Ways::One(a), Ways::One(b)) if a == b => seen,
                        _ => Ways::Several,
                    };
                    entry.insert(both);
                }
            }
        }
        let longer = stretches.get(level + 1);
        open.retain(|open| {
            let value = stretch[open.place];
            told[open.place] = value;
            let several = matches!(ways[&value], Ways::Several);
            several && 2 << level <= open.depth && longer.is_some_and(|longer| open.place < longer.len())
        });
    }
    told
}

/// The hash of two stretches, one behind the other.
fn join(a: u64, b: u64) -> u64 {
    mix(a.wrapping_mul(JOIN) ^ b.rotate_left(29))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shingle::shingles;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    /// What each place stands for by the definition, as a stretch of shingles.
    fn naive(all: &[u64]) -> Vec<Vec<u64>> {
        let different = all.iter().collect::<BTreeSet<_>>().len();
        let turned = |at: &usize| {
            let before = (0..*at).rev().find(|&before| all[before] == all[*at]);
            before.is_some_and(|before| all[before + 1] != all[*at + 1])
        };
        let turns = (0..all.len().saturating_sub(1)).filter(turned).count();
        let repetition = Repetition { different: different as u64, turns: turns as u64 };
        assert_eq!(Repetition::of(all), repetition);
        let Some(extent) = Extent::of(all.len() as u64, repetition) else {
            return all.iter().map(|&shingle| vec![shingle]).collect();
        };
        let stretch = |place: usize| {
            let mut length = 1;
            let depth = extent.depth(all[place]).unwrap_or(1);
            loop {
                let own = &all[place..place + length];
                let from = (0..all.len()).filter(|&other| all[other..].starts_with(own));
                let ways: BTreeSet<&[u64]> = from.filter_map(|other| all.get(other..other + depth)).collect();
                if ways.len() < 2 || 2 * length > depth || place + 2 * length > all.len() {
                    return own.to_vec();
                }
                length *= 2;
            }
        };
        (0..all.len()).map(stretch).collect()
    }

    /// A text over so many words.
    fn random(words: u64, length: usize, seed: u64) -> Vec<u64> {
        (0..length as u64).map(|at| splitmix(99, splitmix(seed, at) % words)).collect()
    }

    fn set(tokens: &[u64], k: usize) -> BTreeSet<u64> {
        let mut all = Vec::new();
        shingles(tokens, k, &mut all);
        tell_apart(&mut all);
        all.into_iter().collect()
    }

    fn jaccard(a: &BTreeSet<u64>, b: &BTreeSet<u64>) -> f64 {
        let shared = a.intersection(b).count();
        shared as f64 / (a.len() + b.len() - shared) as f64
    }

    proptest! {
        #[test]
        fn places_stand_for_what_the_definition_says(
            words in 1u64..6, length in 1usize..300, seed: u64, twice: bool, k in 1usize..4,
        ) {
            let mut text = random(words, length, seed);
            if twice {
                text.extend_from_within(..);
            }
            let mut all = Vec::new();
            shingles(&text, k, &mut all);
            let (plain, expected) = (all.clone(), naive(&all));
            tell_apart(&mut all);
            let mut stretches: BTreeMap<u64, &[u64]> = BTreeMap::new();
            let mut values: BTreeMap<&[u64], u64> = BTreeMap::new();
            for ((&found, expected), &shingle) in all.iter().zip(&expected).zip(&plain) {
                prop_assert_eq!(*stretches.entry(found).or_insert(expected), &expected[..]);
                prop_assert_eq!(*values.entry(expected).or_insert(found), found);
                prop_assert!(expected.len() > 1 || found == shingle);
            }
        }

        #[test]
        fn different_shingles_stay(mut all in proptest::collection::vec(any::<u64>(), 0..3000), repeats in 0usize..100) {
            let repeated = all.len() * repeats / 600;
            all.extend_from_within(..repeated);
            let before = all.clone();
            tell_apart(&mut all);
            prop_assert_eq!(all, before);
        }
    }

    #[test]
    fn unrelated_texts_of_few_words_have_little_in_common() {
        for words in [2, 3, 4, 8, 20] {
            for k in [3, 5, 8] {
                for (length, other) in
                    [(50, 50), (200, 150), (600, 600), (1500, 1000), (4000, 2000), (20_000, 20_000)]
                {
                    let similarities = (0..10).map(|seed| {
                        jaccard(
                            &set(&random(words, length, seed), k),
                            &set(&random(words, other, 100 + seed), k),
                        )
                    });
                    let mean = similarities.sum::<f64>() / 10.0;
                    assert!(mean < 0.35, "{words} words, k = {k}, lengths {length}, {other}: {mean}");
                }
            }
        }
    }

    #[test]
    fn a_copy_with_one_word_changed_is_as_near_as_in_natural_text_or_nearly() {
        for words in [2, 4, 20] {
            for length in [300, 400, 700, 1000, 1100, 2000, 4000, 20_000] {
                for seed in 0..20 {
                    let text = random(words, length, seed);
                    let mut copy = text.clone();
                    copy[splitmix(seed, 1) as usize % length] = 77;
                    let found = jaccard(&set(&text, 5), &set(&copy, 5));
                    assert!(found > 0.8, "{words} words, length {length}, seed {seed}: {found}");
                }
            }
        }
    }

    #[test]
    fn a_text_said_twice_is_still_the_text() {
        for (words, length) in [(100_000, 300), (4, 3000)] {
            let text = random(words, length, 5);
            let found = jaccard(&set(&text, 5), &set(&[text.clone(), text.clone()].concat(), 5));
            assert!(found > 0.9, "{words}: {found}");
        }
        // Nor if a word in forty is another one the second time.
        let text = random(100_000, 1000, 5);
        let mut again = text.clone();
        (0..1000).step_by(40).for_each(|at| again[at] = 7);
        let both = [text.clone(), again.clone()].concat();
        let mut shingles = Vec::new();
        crate::shingle::shingles(&both, 5, &mut shingles);
        let plain: BTreeSet<u64> = shingles.into_iter().collect();
        assert_eq!(set(&both, 5), plain);
    }

    #[test]
    fn lists_of_two_phrases_are_told_apart() {
        let (yes, no): (&[u64], &[u64]) = (&[1, 2, 3], &[4, 2, 5, 6, 3]);
        let list = |seed: u64| -> Vec<u64> {
            (0..600).flat_map(|at| if splitmix(seed, at) & 1 == 0 { yes } else { no }).copied().collect()
        };
        let found = jaccard(&set(&list(1), 5), &set(&list(2), 5));
        assert!(found < 0.3, "{found}");
    }
}
