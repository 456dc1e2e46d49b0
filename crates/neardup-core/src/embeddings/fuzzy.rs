//! Fuzzy fingerprinting (Stein, I-KNOW 2005; Stein and Meyer zu Eissen 2006): how far a page's words deviate from the
//! language in what they begin with.
//!
//! Words fall into *prefix classes*, by their first character: the classes a profile names (for an alphabet, one a
//! letter), and for any other character one of them by a hash (for scripts of thousands of characters that is all there
//! is). The share of each class on the page is compared with its share in the language, a reference *profile* counted
//! from text. The relative deviation is made fuzzy: it counts only as one of a few intervals, cut differently by each
//! of several *schemes*. A scheme's number is the code of all its intervals; pages that agree in one scheme are
//! duplicates. So small deviations in wording leave the numbers as they are unless a class crosses a cut in every
//! scheme. Cost: one look-up a word; as many numbers a page as schemes.

use crate::chunks::texts::{PageTerms, prefix};
use crate::format::{SEED_FUZZY, splitmix};
use crate::hash::{fold, fold_term, mix};

/// What is expected of a language.
#[derive(Clone, Debug)]
pub struct Profile {
    /// The characters of each class, and its share among the words of the language.
    classes: Vec<(Vec<char>, f64)>,
    /// The class of each character below 0x250 (Latin), by its number.
    latin: Vec<u16>,
}

const UNKNOWN: u16 = u16::MAX;

impl Profile {
    /// None unless there are classes, fewer than 2¹⁵, with shares that are numbers of 0 or more.
    pub fn new(classes: Vec<(String, f64)>) -> Option<Self> {
        let good = |share: f64| share.is_finite() && share >= 0.0;
        if classes.is_empty() || classes.len() > 1 << 15 || !classes.iter().all(|class| good(class.1)) {
            return None;
        }
        let classes: Vec<(Vec<char>, f64)> =
            classes.into_iter().map(|(letters, share)| (letters.chars().collect(), share)).collect();
        let mut profile = Profile { classes, latin: Vec::new() };
        profile.latin = (0..0x250u32)
            .map(|code| {
                char::from_u32(code).and_then(|letter| profile.named(letter)).map_or(UNKNOWN, |at| at as u16)
            })
            .collect();
        Some(profile)
    }

    pub fn len(&self) -> usize {
        self.classes.len()
    }

    pub fn is_empty(&self) -> bool {
        self.classes.is_empty()
    }

    fn named(&self, letter: char) -> Option<usize> {
        self.classes.iter().position(|(letters, _)| letters.contains(&letter))
    }

    /// The class of a word.
    pub fn class(&self, term: &[u8]) -> usize {
        let first = prefix(term, 1);
        let letter = std::str::from_utf8(first).ok().and_then(|text| text.chars().next());
        let named = match letter {
            Some(letter) if (letter as usize) < self.latin.len() => {
                Some(self.latin[letter as usize] as usize).filter(|&at| at != UNKNOWN as usize)
            }
            Some(letter) => self.named(letter),
            None => None,
        };
        named.unwrap_or_else(|| (mix(fold_term(first) ^ SEED_FUZZY) % self.classes.len() as u64) as usize)
    }

    /// How many words of the page are in each class.
    pub fn counts(&self, terms: PageTerms<'_>, counts: &mut Vec<u32>) {
        counts.clear();
        counts.resize(self.classes.len(), 0);
        for term in terms.iter() {
            counts[self.class(term)] += 1;
        }
    }

    /// Writes one number for each scheme, tagged with its place. A scheme is the cuts between its intervals, ascending,
    /// as relative deviations: −1 means that a class does not occur, 0 that it is as frequent as expected. Classes
    /// whose expected share is below `rarest` are left out: their few words are chance.
    pub fn codes(&self, counts: &[u32], schemes: &[Vec<f64>], rarest: f64, out: &mut [u64]) {
        const FACTOR: u64 = splitmix(SEED_FUZZY, u64::MAX - 1) | 1;
        let total = counts.iter().map(|&count| u64::from(count)).sum::<u64>().max(1) as f64;
        for (place, (cuts, out)) in schemes.iter().zip(out).enumerate() {
            let mut code = splitmix(SEED_FUZZY, place as u64);
            for (&count, &(_, expected)) in counts.iter().zip(&self.classes) {
                if expected >= rarest && expected > 0.0 {
                    let deviation = f64::from(count) / total / expected - 1.0;
                    let interval = cuts.iter().filter(|&&cut| deviation >= cut).count();
                    code = fold(code ^ interval as u64, FACTOR);
                }
            }
            *out = mix(code);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunks::texts::tests::Owned;
    use proptest::prelude::*;

    fn profile() -> Profile {
        Profile::new(vec![("a".into(), 0.5), ("bc".into(), 0.3), ("é".into(), 0.2)]).expect("a profile")
    }

    fn counts(terms: &[&str]) -> Vec<u32> {
        let owned = Owned::new(&[terms]);
        let mut counts = Vec::new();
        profile().counts(owned.lists().iter().next().expect("a page"), &mut counts);
        counts
    }

    fn codes(counts: &[u32], schemes: &[Vec<f64>]) -> Vec<u64> {
        let mut out = vec![0; schemes.len()];
        profile().codes(counts, schemes, 0.0, &mut out);
        out
    }

    #[test]
    fn words_are_counted_by_their_first_letter() {
        assert_eq!(counts(&["apple", "banana", "cherry", "éclair", "avocado"]), [2, 2, 1]);
        // Others are hashed, always to the same class.
        let (one, two) = (counts(&["日本"]), counts(&["日光"]));
        assert_eq!(one, two);
        assert_eq!(one.iter().sum::<u32>(), 1);
    }

    #[test]
    fn a_number_changes_only_when_a_cut_is_crossed() {
        let schemes = [vec![-0.25, 0.25], vec![0.1]];
        // Expected of 100 words: 50, 30, 20.
        let expected = codes(&[50, 30, 20], &schemes);
        assert_eq!(codes(&[52, 29, 19], &schemes), expected);
        assert_eq!(codes(&[100, 60, 40], &schemes), expected);
        let other = codes(&[50, 34, 16], &schemes);
        assert_eq!(other[0], expected[0]);
        assert_ne!(other[1], expected[1]);
    }

    #[test]
    fn a_profile_without_sense_is_none() {
        assert!(Profile::new(vec![]).is_none());
        assert!(Profile::new(vec![("a".into(), f64::NAN)]).is_none());
        assert!(Profile::new(vec![("a".into(), -0.1)]).is_none());
    }

    proptest! {
        #[test]
        fn agrees_with_the_definition(counts in proptest::collection::vec(0u32..90, 3), cut in -0.9f64..0.9) {
            let schemes = [vec![cut, cut + 0.3]];
            let interval = |at: usize| {
                let total = counts.iter().sum::<u32>().max(1) as f64;
                let deviation = f64::from(counts[at]) / total / [0.5, 0.3, 0.2][at] - 1.0;
                usize::from(deviation >= cut) + usize::from(deviation >= cut + 0.3)
            };
            let other = [30u32, 30, 30];
            let theirs = |at: usize| {
                let deviation = 30.0 / 90.0 / [0.5, 0.3, 0.2][at] - 1.0;
                usize::from(deviation >= cut) + usize::from(deviation >= cut + 0.3)
            };
            let same = (0..3).all(|at| interval(at) == theirs(at));
            prop_assert_eq!(codes(&counts, &schemes) == codes(&other, &schemes), same);
        }
    }
}
