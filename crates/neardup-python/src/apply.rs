//! Checked rules to accepted pairs: the join of all of them together, and then their hot buckets.

use neardup_core::hot::{self, Resolved, Tuning};
use neardup_core::join::{Buckets, Joined, Limits, Pair, Standing};
use neardup_core::links;
use neardup_core::predicate::Sites;
use neardup_core::rules::many::{PageKeys, Pages, Verifier};
use neardup_core::rules::{self, Between, KeySource, Rule};
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::arrays::detached;
use crate::pairs::contiguous;
use crate::rules::{Held, PageArrays};

/// Buckets that are joined whatever the limits say: few pairs more, where a bucket that is left costs memory as well.
pub const FEW: usize = 4;
/// Pages whose keys are held at once: many, since limits are kept best where all buckets of a column are known.
pub const PART: usize = 1 << 26;
/// Pages in hot buckets that are compared at a time: many, as each tile streams all pages that stay through the cache.
const TILE: usize = 256;
/// From how many pages that stay on they are packed: beside so many, 72 bytes a page and bucket are little.
const PACKED: usize = 512;
/// To put buckets together costs as much as to compare so many pages with all.
const OUTSIDE: usize = 64;

/// What is done with the rules once they are checked.
#[derive(Clone, Copy)]
pub enum Work<'a> {
    /// All pairs within limits; hot buckets are resolved in the given order of pages, no more pairs of them recorded
    /// than so many unless they decide something.
    Match { order: &'a [u32], limits: Limits, recorded: u64 },
    /// Only the pairs of given buckets.
    Given(&'a [Standing]),
    /// Hot buckets of each rule, put together elsewhere, resolved among all other pairs as in `Match`.
    Hot { order: &'a [u32], hot: &'a [Vec<Standing>], recorded: u64 },
    /// The same buckets: what ties pages of different salts.
    Links { salt: &'a [u32], hot: &'a [Vec<Standing>] },
}

impl Work<'_> {
    /// How many pages there are.
    fn pages(&self) -> usize {
        match self {
            Work::Match { order, .. } | Work::Hot { order, .. } => order.len(),
            Work::Given(standing) => standing.len(),
            Work::Links { salt, .. } => salt.len(),
        }
    }

    /// The buckets that were put together elsewhere, each list with the rule it is for.
    fn standing(&self) -> Vec<(usize, &[Standing])> {
        match self {
            Work::Match { .. } => Vec::new(),
            Work::Given(standing) => vec![(0, standing)],
            Work::Hot { hot, .. } | Work::Links { hot, .. } => {
                hot.iter().map(Vec::as_slice).enumerate().collect()
            }
        }
    }
}

/// The rules over pages: each with its keys.
struct Asked<'a> {
    rules: Vec<(&'a Rule, PageKeys<'a>)>,
    active: &'a [bool],
    sites: Option<Sites<'a>>,
    texts: Option<&'a [u32]>,
}

fn apply(asked: &Asked<'_>, pages: &Pages<'_>, work: Work<'_>) -> Vec<(Joined, Resolved)> {
    let Asked { active, texts, .. } = *asked;
    // Rules about sites are asked only where sites are known.
    let sites = asked.sites.unwrap_or(Sites { offsets: &[], values: &[] });
    let buckets: Vec<Buckets> = asked
        .rules
        .iter()
        .map(|(rule, keys)| Buckets::new(keys.keys(), active, rule.predicate(sites)).between_texts(texts))
        .collect();
    let verifiers: Vec<Verifier> = asked.rules.iter().map(|(rule, _)| rule.verifier(pages)).collect();
    let both = verifiers.iter().zip(&buckets);
    let joined: Vec<Joined> = match work {
        Work::Match { limits, .. } => {
            both.map(|(verifier, buckets)| verifier.join(buckets, limits)).collect()
        }
        Work::Given(standing) => {
            both.map(|(verifier, buckets)| verifier.join_given(buckets, standing)).collect()
        }
        Work::Hot { hot, .. } => {
            both.zip(hot).map(|((verifier, buckets), hot)| verifier.join_beside(buckets, hot)).collect()
        }
        Work::Links { .. } => vec![Joined::default(); buckets.len()],
    };
    let rules: Vec<hot::Rule> = buckets
        .iter()
        .zip(verifiers.iter().zip(&joined))
        .map(|(buckets, (verifier, joined))| hot::Rule { buckets, verifier: verifier.screened(), joined })
        .collect();
    let mut resolved = vec![Resolved::default(); rules.len()];
    match work {
        Work::Match { order, recorded, .. } | Work::Hot { order, recorded, .. } => {
            let tuning = Tuning { tile: TILE, packed: PACKED, outside: OUTSIDE, pairs: recorded };
            resolved = hot::resolve(&rules, order, texts, tuning);
        }
        Work::Links { salt, hot } => {
            if let Some(resolved) = resolved.first_mut() {
                let listed: Vec<_> =
                    buckets.iter().zip(hot).map(|(buckets, hot)| buckets.listed(hot)).collect();
                let found = links::links(&rules, &listed, salt);
                resolved.pairs = found.into_iter().map(|(a, b)| Pair { a, b, score: 0.0 }).collect();
            }
        }
        Work::Given(_) => {}
    }
    joined.into_iter().zip(resolved).collect()
}

/// As many threads as asked for; 0 means one a core.
pub fn thread_pool(threads: usize) -> PyResult<ThreadPool> {
    let built = ThreadPoolBuilder::new().num_threads(threads).build();
    built.map_err(|error| PyRuntimeError::new_err(format!("cannot start threads: {error}")))
}

/// Checks what is held of pages, and asks all rules of a plan, or one of them alone.
pub fn checked_and_applied(
    py: Python<'_>,
    plan: &rules::Plan,
    alone: Option<usize>,
    arrays: &PageArrays<'_>,
    work: Work<'_>,
    threads: usize,
) -> PyResult<Vec<(Joined, Resolved)>> {
    let numbers = alone.map_or(0..plan.rules.len(), |at| at..at + 1);
    let wrong = |what| PyValueError::new_err(what);
    let rules = plan.rules.get(numbers.clone()).ok_or_else(|| wrong("no such rule"))?;
    let active = arrays.active.as_ref().map(contiguous).transpose()?;
    let pages = active.map_or(work.pages(), <[bool]>::len);
    let all = active.is_none().then(|| vec![true; pages]);
    let active = active.or(all.as_deref()).expect("one of both is there");
    let units = arrays.units.as_ref().map(|units| units.checked(pages)).transpose()?;
    let (sites, texts) = units.map_or((None, None), |(sites, texts)| (Some(sites), texts));
    if sites.is_none() && rules.iter().any(|rule| rule.between != Between::Any) {
        return Err(wrong("a rule about sites needs the sites of pages"));
    }
    let pool = thread_pool(threads)?;
    let held = Held::new(arrays, plan, rules, pages)?;
    let of_pages = held.pages()?;
    let mut asked = Vec::new();
    for (at, rule) in numbers.zip(rules) {
        let keys = match (held.known_keys(at), rule.keys) {
            (Some(keys), _) => keys,
            (None, KeySource::Sets(set)) if !held.may_choose_keys(set) => {
                return Err(wrong("every row must have a set, in memory, to give keys"));
            }
            _ => detached(py, || pool.install(|| rule.page_keys(&of_pages, active))),
        };
        asked.push((rule, keys));
    }
    let asked = Asked { rules: asked, active, sites, texts };
    for (rule, standing) in work.standing() {
        check_standing(&asked.rules[rule].1, pages, standing)?;
    }
    let applied = detached(py, || pool.install(|| apply(&asked, &of_pages, work)));
    match held.failed() {
        Some(reason) => Err(PyOSError::new_err(format!("sets cannot be read back: {reason}"))),
        None => Ok(applied),
    }
}

fn check_standing(keys: &PageKeys<'_>, pages: usize, standing: &[Standing]) -> PyResult<()> {
    let columns = keys.keys().count();
    if standing.iter().any(|at| at.page as usize >= pages || at.column as usize >= columns) {
        return Err(PyValueError::new_err("a bucket names a page or a column that is not there"));
    }
    Ok(())
}
