//! Rules and pages for the tests: any rule there can be, and pages that are often nearly alike.

use proptest::prelude::*;

use super::pair::Row;
use super::{Between, Columns, Evidence, KeySource, Lanes, Rule};
use crate::format::splitmix;

/// What the pages of the tests have: two columns of several numbers, lanes of two bits, and two sets.
pub(crate) fn columns() -> Columns {
    Columns { widths: vec![6, 3, 2], sets: 2 }
}

const LANES: (u32, usize) = (2, 64);

#[derive(Clone, Debug)]
pub(crate) struct Held {
    columns: Vec<Vec<u64>>,
    sets: Vec<Vec<u64>>,
}

impl Row for Held {
    fn column(&self, at: usize) -> &[u64] {
        &self.columns[at]
    }

    fn set(&self, at: usize) -> &[u64] {
        &self.sets[at]
    }
}

/// Two pages of which the second is the first but for some changes.
pub(crate) fn any_held() -> impl Strategy<Value = (Held, Held)> {
    let words = columns().words();
    let flips = proptest::collection::vec((0..words, 0u32..64), 0..40);
    let numbers = || proptest::collection::btree_set(0u64..40, 0..30);
    let changes = || proptest::collection::btree_set(0u64..40, 0..12);
    (0u64..4, flips, [numbers(), numbers()], [changes(), changes()]).prop_map(
        move |(seed, flips, sets, changes)| {
            let row: Vec<u64> = (0..words as u64).map(|at| splitmix(seed, at)).collect();
            let mut other = row.clone();
            flips.into_iter().for_each(|(word, bit)| other[word] ^= 1 << bit);
            let cut = |row: &[u64]| {
                let mut start = 0;
                let widths = columns().widths.into_iter();
                widths.map(|width| (row[start..start + width].to_vec(), start += width).0).collect()
            };
            let hashes = |set: &std::collections::BTreeSet<u64>| {
                let mut hashes: Vec<u64> = set.iter().map(|&number| splitmix(9, number)).collect();
                hashes.sort_unstable();
                hashes
            };
            let changed = |at: usize| hashes(&(&sets[at] ^ &changes[at]));
            let first = Held { columns: cut(&row), sets: sets.iter().map(hashes).collect() };
            (first, Held { columns: cut(&other), sets: (0..2).map(changed).collect() })
        },
    )
}

fn any_lanes() -> impl Strategy<Value = Lanes> {
    (0usize..9, 0u32..9, 0usize..200, 0usize..200).prop_map(|(column, bits, lanes, least)| Lanes {
        column,
        bits,
        lanes,
        least,
    })
}

/// Any rule, whether or not it speaks of what is there.
pub(crate) fn any_rule() -> impl Strategy<Value = Rule> {
    let at = || 0usize..9;
    let keys = prop_oneof![
        at().prop_map(KeySource::Columns),
        at().prop_map(KeySource::Pairs),
        (at(), 0usize..500).prop_map(|(at, pieces)| KeySource::Pieces(at, pieces)),
        (at(), 0usize..9).prop_map(|(at, groups)| KeySource::Groups(at, groups)),
        at().prop_map(KeySource::Sets),
    ];
    let between = prop_oneof![Just(Between::Any), Just(Between::SameSite), Just(Between::DifferentSite)];
    let evidence = prop_oneof![
        Just(Evidence::Key),
        (at(), 0usize..9).prop_map(|(at, least)| Evidence::Columns(at, least)),
        (at(), 0u32..400).prop_map(|(at, least)| Evidence::Bits(at, least)),
        (at(), 0u32..400, any_lanes())
            .prop_map(|(at, least, lanes)| Evidence::ConfirmedBits(at, least, lanes)),
        any_lanes().prop_map(Evidence::Lanes),
        (at(), 1u32..=1000, any::<bool>()).prop_map(|(at, least, of_larger)| {
            Evidence::Sets { at, least: f64::from(least) / 1000.0, of_larger }
        }),
    ];
    (keys, between, evidence).prop_map(|(keys, between, evidence)| Rule { keys, between, evidence })
}

/// The same rule, made to speak of what the pages of the tests have.
pub(crate) fn fitting(rule: Rule) -> Rule {
    let (bits, lanes) = LANES;
    let width = |at: usize| columns().widths[at];
    let lanes = |of: Lanes| Lanes { column: 2, bits, lanes, least: 20 + of.least % (lanes - 20) };
    let mut evidence = match rule.evidence {
        Evidence::Key => Evidence::Key,
        Evidence::Columns(at, least) => Evidence::Columns(at % 3, least % 4),
        Evidence::Bits(at, least) => Evidence::Bits(at % 3, (64 * width(at % 3)) as u32 - least % 40),
        Evidence::ConfirmedBits(at, least, of) => {
            Evidence::ConfirmedBits(at % 2, (64 * width(at % 2)) as u32 - least % 40, lanes(of))
        }
        Evidence::Lanes(of) => Evidence::Lanes(lanes(of)),
        Evidence::Sets { at, least, of_larger } => Evidence::Sets { at: at % 2, least, of_larger },
    };
    let keys = match rule.keys {
        KeySource::Columns(at) => KeySource::Columns(at % 3),
        KeySource::Pairs(at) => KeySource::Pairs(at % 3),
        KeySource::Pieces(at, pieces) => KeySource::Pieces(at % 3, 2 * width(at % 3) + pieces % 20),
        KeySource::Groups(at, groups) => KeySource::Groups(at % 3, 1 + groups % width(at % 3)),
        KeySource::Sets(at) => KeySource::Sets(at % 2),
    };
    if let KeySource::Sets(at) = keys {
        let (least, of_larger) = match evidence {
            Evidence::Sets { least, of_larger, .. } => (least, of_larger),
            _ => (0.5, false),
        };
        evidence = Evidence::Sets { at, least, of_larger };
    }
    let rule = Rule { keys, between: rule.between, evidence };
    rule.check(&columns()).expect("it speaks of what is there");
    rule
}
