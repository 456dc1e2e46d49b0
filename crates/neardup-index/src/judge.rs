//! Which of the pages that share a key are near-duplicates: decided by the core's own verifiers, over a few rows brought
//! together for it, so that an index accepts exactly what a run over all pages accepts.

use std::sync::Arc;

use neardup_core::columns::group_columns;
use neardup_core::join::{Predicate, Sites};
use neardup_core::keys::{KeyKind, Keys};
use neardup_core::lanes::AgreeingLanes;
use neardup_core::parity;
use neardup_core::sets::Sets;
use neardup_core::verify::{AgreeingBits, ConfirmedBits, EqualColumns, Jaccard, Verify, of_either};

use crate::shape::{Evidence, KeySource, Lanes, Pairs, Row, Rule, Shape};

/// A page that shares a key with another.
#[derive(Clone, Debug)]
pub struct Candidate {
    pub row: Arc<Row>,
    /// The rules whose keys are shared, ascending.
    pub rules: Vec<u8>,
    /// Some of its sites: all that a rule can ask for in view of the other page's site.
    pub sites: Vec<u64>,
}

/// An accepted candidate: which, by what rule, with what score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Accepted {
    pub candidate: usize,
    pub rule: u8,
    pub score: f64,
    /// Whether it is accepted as far as it is on the page's own site, and as far as it is not.
    pub here: bool,
    pub elsewhere: bool,
}

/// Those that are accepted, each once: with its highest score, then by the first rule. A page on several sites is accepted
/// only as far as some rule speaks of the two sites.
pub fn judge(shape: &Shape, row: &Row, site: u64, candidates: &[Candidate]) -> Vec<Accepted> {
    let mut accepted: Vec<Accepted> = Vec::new();
    for (number, rule) in shape.rules.iter().enumerate() {
        let number = number as u8;
        let asked: Vec<usize> =
            (0..candidates.len()).filter(|&at| candidates[at].rules.contains(&number)).collect();
        if asked.is_empty() {
            continue;
        }
        let rows: Vec<&Row> =
            std::iter::once(row).chain(asked.iter().map(|&at| &*candidates[at].row)).collect();
        let (offsets, sites) = local_sites(site, asked.iter().map(|&at| &candidates[at].sites[..]));
        let sites = Sites { offsets: &offsets, values: &sites };
        let predicate = match rule.pairs {
            Pairs::Any => Predicate::Any,
            Pairs::SameSite => Predicate::SameSite(sites),
            Pairs::DifferentSite => Predicate::DifferentSite(sites),
        };
        let met = meet(shape, rule, &rows);
        let scores = scores(shape, rule, &rows, |other| met[other as usize] && predicate.holds(0, other));
        accepted.extend(scores.into_iter().map(|(other, score)| Accepted {
            candidate: asked[other as usize - 1],
            rule: number,
            score,
            here: rule.pairs != Pairs::DifferentSite,
            elsewhere: rule.pairs != Pairs::SameSite,
        }));
    }
    accepted.sort_by(|a, b| {
        let by_score = b.score.total_cmp(&a.score);
        a.candidate.cmp(&b.candidate).then(by_score).then(a.rule.cmp(&b.rule))
    });
    accepted.dedup_by(|other, best| {
        let same = other.candidate == best.candidate;
        best.here |= same && other.here;
        best.elsewhere |= same && other.elsewhere;
        same
    });
    accepted
}

/// Sites numbered as the core wants them: 0 is "unknown", each list ascending.
fn local_sites<'a>(site: u64, others: impl Iterator<Item = &'a [u64]>) -> (Vec<u64>, Vec<u32>) {
    let lists: Vec<Vec<u64>> =
        std::iter::once(vec![site]).chain(others.map(<[u64]>::to_vec)).collect::<Vec<_>>();
    let mut all: Vec<u64> = lists.iter().flatten().copied().filter(|&site| site != 0).collect();
    all.sort_unstable();
    all.dedup();
    let (mut offsets, mut values) = (vec![0], Vec::new());
    for list in lists {
        let mut numbers: Vec<u32> = list
            .into_iter()
            .map(|site| if site == 0 { 0 } else { 1 + all.partition_point(|&other| other < site) as u32 })
            .collect();
        numbers.sort_unstable();
        numbers.dedup();
        values.extend(numbers);
        offsets.push(values.len() as u64);
    }
    (offsets, values)
}

/// Which rows share a key with the first, looked at in full.
fn meet(shape: &Shape, rule: &Rule, rows: &[&Row]) -> Vec<bool> {
    let gather = |at: usize| rows.iter().flat_map(|row| row.column(shape, at)).copied().collect::<Vec<u64>>();
    let (kind, width, values) = match rule.keys {
        KeySource::Columns(at) => (KeyKind::Columns, shape.widths[at], gather(at)),
        KeySource::Pairs(at) => (KeyKind::Pairs, shape.widths[at], gather(at)),
        KeySource::Pieces(at, pieces) => (KeyKind::Pieces(pieces), shape.widths[at], gather(at)),
        KeySource::Groups(at, groups) => {
            (KeyKind::Columns, groups, group_columns(&gather(at), shape.widths[at], groups))
        }
        // Sets that are similar enough always share a key.
        KeySource::Sets(_) => return vec![true; rows.len()],
    };
    let keys = Keys::of(kind, width, &values);
    (0..rows.len() as u32).map(|other| keys.first_shared(0, other).is_some()).collect()
}

fn agreeing<'a>(shape: &Shape, of: Lanes, values: &'a [u64]) -> AgreeingLanes<'a> {
    AgreeingLanes { width: shape.widths[of.column], values, bits: of.bits, lanes: of.lanes, least: of.least }
}

fn scores(shape: &Shape, rule: &Rule, rows: &[&Row], speaks_of: impl Fn(u32) -> bool) -> Vec<(u32, f64)> {
    let gather = |at: usize| rows.iter().flat_map(|row| row.column(shape, at)).copied().collect::<Vec<u64>>();
    let others = (1..rows.len() as u32).filter(|&other| speaks_of(other));
    fn score(verifier: &impl Verify, others: impl Iterator<Item = u32>) -> Vec<(u32, f64)> {
        others.filter_map(|other| verifier.score(0, other).map(|score| (other, score))).collect()
    }
    match rule.evidence {
        Evidence::Columns(at, least) => {
            let values = gather(at);
            score(&EqualColumns { width: shape.widths[at], values: &values, least }, others)
        }
        Evidence::Bits(at, least) => {
            let values = gather(at);
            score(&AgreeingBits { width: shape.widths[at], values: &values, least }, others)
        }
        Evidence::ConfirmedBits(at, least, lanes) => {
            let (values, beside) = (gather(at), gather(lanes.column));
            let bits = AgreeingBits { width: shape.widths[at], values: &values, least };
            score(&ConfirmedBits { bits, lanes: agreeing(shape, lanes, &beside) }, others)
        }
        Evidence::Lanes(lanes) => score(&agreeing(shape, lanes, &gather(lanes.column)), others),
        Evidence::Sets { at, least, of_larger } => {
            let sets: Vec<&[u64]> = rows.iter().map(|row| &row.sets[at][..]).collect();
            let parities: Vec<Vec<u64>> = sets
                .iter()
                .map(|set| {
                    let mut words = Vec::new();
                    parity::append(set, &mut words);
                    words
                })
                .collect();
            let sizes = sets.iter().map(|set| set.len() as u32).collect();
            let sets = Sets::new(Box::new(sets), sizes, parities.iter().map(Vec::as_slice).collect());
            let (least, of_larger) = if of_larger { (of_either(least), Some(least)) } else { (least, None) };
            score(&Jaccard { sets: &sets, least, of_larger }, others)
        }
    }
}
