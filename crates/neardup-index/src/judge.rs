//! Which of the pages that share a key are near-duplicates: decided by the core's rules, so that an index accepts exactly
//! what a run over all pages accepts.

use std::sync::Arc;

use neardup_core::join::Sites;
use neardup_core::rules::Between;

use crate::shape::{Row, Shape};

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
    let row = row.of(shape);
    let mut accepted: Vec<Accepted> = Vec::new();
    for (candidate, other) in candidates.iter().enumerate() {
        let (offsets, sites) = local_sites(site, &other.sites);
        let sites = Sites { offsets: &offsets, values: &sites };
        let of_candidate = other.rules.iter().filter_map(|&number| {
            let rule = &shape.plan.rules[usize::from(number)];
            if !rule.predicate(sites).holds(0, 1) {
                return None;
            }
            let score = rule.score(&row, &other.row.of(shape))?;
            Some(Accepted {
                candidate,
                rule: number,
                score,
                here: rule.between != Between::DifferentSite,
                elsewhere: rule.between != Between::SameSite,
            })
        });
        // The highest score first, of several the first rule's.
        let best = of_candidate.reduce(|best, other| {
            let (here, elsewhere) = (best.here || other.here, best.elsewhere || other.elsewhere);
            Accepted {
                here,
                elsewhere,
                ..if other.score.total_cmp(&best.score).is_gt() { other } else { best }
            }
        });
        accepted.extend(best);
    }
    accepted
}

/// The sites of a page and of another, numbered as the core wants them: 0 is "unknown", each list ascending.
fn local_sites(site: u64, others: &[u64]) -> ([u64; 3], Vec<u32>) {
    // Which numbers they have does not matter: the page's own site is 1, any other 2, 3 …
    let own = u32::from(site != 0);
    let number = |(at, &other): (usize, &u64)| match other {
        0 => 0,
        other if other == site => 1,
        _ => at as u32 + 2,
    };
    let mut numbers: Vec<u32> = others.iter().enumerate().map(number).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let end = 1 + numbers.len() as u64;
    ([0, 1, end], std::iter::once(own).chain(numbers).collect())
}
