//! Checked rules to accepted pairs: the join of all of them together, and then their hot buckets.

use neardup_core::hot::{self, Resolved, Tuning};
use neardup_core::join::{Buckets, Joined, Limits, Pair, Standing};
use neardup_core::lanes::AgreeingLanes;
use neardup_core::links;
use neardup_core::screen::Screened;
use neardup_core::verify::{AgreeingBits, ConfirmedBits, EqualColumns, Everything, Glance, Jaccard};
use numpy::PyReadonlyArray1;
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::arrays::detached;
use crate::pairs::contiguous;
use crate::rules::{Evidence, Given, RuleArrays, SetLists, Spec, UnitArrays, one_row_a_page};

/// What pairs of one rule are verified with.
enum Verifier<'a> {
    Key(Everything),
    Columns(EqualColumns<'a>),
    Bits(AgreeingBits<'a>),
    ConfirmedBits(ConfirmedBits<'a>),
    Lanes(AgreeingLanes<'a>),
    Sets(Jaccard<'a>),
    Glances(Glance<'a>),
}

impl<'a> Verifier<'a> {
    fn new(evidence: &'a Evidence<'a>) -> Self {
        match evidence {
            Evidence::Key => Verifier::Key(Everything),
            Evidence::Columns(columns) => Verifier::Columns(*columns),
            Evidence::Bits(bits) => Verifier::Bits(*bits),
            Evidence::ConfirmedBits(both) => Verifier::ConfirmedBits(*both),
            Evidence::Lanes(lanes) => Verifier::Lanes(*lanes),
            Evidence::Sets(sets, least, of_larger) => {
                Verifier::Sets(Jaccard { sets, least: *least, of_larger: *of_larger })
            }
            Evidence::Glances(sets, least, of_larger) => {
                Verifier::Glances(Glance(Jaccard { sets, least: *least, of_larger: *of_larger }))
            }
        }
    }

    fn join(&self, buckets: &Buckets<'_>, limits: Limits) -> Joined {
        match self {
            Verifier::Key(verifier) => buckets.join_within(verifier, limits),
            Verifier::Columns(verifier) => buckets.join_within(verifier, limits),
            Verifier::Bits(verifier) => buckets.join_within(verifier, limits),
            Verifier::ConfirmedBits(verifier) => buckets.join_within(verifier, limits),
            Verifier::Lanes(verifier) => buckets.join_within(verifier, limits),
            Verifier::Sets(verifier) => buckets.join_within(verifier, limits),
            Verifier::Glances(verifier) => buckets.join_within(verifier, limits),
        }
    }

    fn join_given(&self, buckets: &Buckets<'_>, standing: &[Standing]) -> Joined {
        match self {
            Verifier::Key(verifier) => buckets.join_given(standing, verifier),
            Verifier::Columns(verifier) => buckets.join_given(standing, verifier),
            Verifier::Bits(verifier) => buckets.join_given(standing, verifier),
            Verifier::ConfirmedBits(verifier) => buckets.join_given(standing, verifier),
            Verifier::Lanes(verifier) => buckets.join_given(standing, verifier),
            Verifier::Sets(verifier) => buckets.join_given(standing, verifier),
            Verifier::Glances(verifier) => buckets.join_given(standing, verifier),
        }
    }

    fn join_beside(&self, buckets: &Buckets<'_>, hot: &[Standing]) -> Joined {
        match self {
            Verifier::Key(verifier) => buckets.join_beside(hot, verifier),
            Verifier::Columns(verifier) => buckets.join_beside(hot, verifier),
            Verifier::Bits(verifier) => buckets.join_beside(hot, verifier),
            Verifier::ConfirmedBits(verifier) => buckets.join_beside(hot, verifier),
            Verifier::Lanes(verifier) => buckets.join_beside(hot, verifier),
            Verifier::Sets(verifier) => buckets.join_beside(hot, verifier),
            Verifier::Glances(verifier) => buckets.join_beside(hot, verifier),
        }
    }

    fn screened(&self) -> &dyn Screened {
        match self {
            Verifier::Key(verifier) => verifier,
            Verifier::Columns(verifier) => verifier,
            Verifier::Bits(verifier) => verifier,
            Verifier::ConfirmedBits(verifier) => verifier,
            Verifier::Lanes(verifier) => verifier,
            Verifier::Sets(verifier) => verifier,
            Verifier::Glances(verifier) => verifier,
        }
    }
}

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

fn apply(
    specs: &[Spec<'_>],
    active: &[bool],
    texts: Option<&[u32]>,
    work: Work<'_>,
) -> Vec<(Joined, Resolved)> {
    let buckets: Vec<Buckets> = specs
        .iter()
        .map(|spec| Buckets::new(spec.keys, active, spec.predicate).between_texts(texts))
        .collect();
    let verifiers: Vec<Verifier> = specs.iter().map(|spec| Verifier::new(&spec.evidence)).collect();
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
        Work::Links { .. } => vec![Joined::default(); specs.len()],
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

/// Checks all that the rules share, and applies them.
#[allow(clippy::too_many_arguments)]
pub fn checked_and_applied(
    py: Python<'_>,
    rules: &[RuleArrays<'_>],
    active: &PyReadonlyArray1<'_, bool>,
    work: Work<'_>,
    units: Option<UnitArrays<'_>>,
    rows: Option<PyReadonlyArray1<'_, u32>>,
    threads: usize,
) -> PyResult<Vec<(Joined, Resolved)>> {
    let active = contiguous(active)?;
    let pages = active.len();
    let units = units.as_ref().map(|units| units.checked(pages)).transpose()?;
    let (sites, texts) = units.map_or((None, None), |(sites, texts)| (Some(sites), texts));
    let rows = rows.as_ref().map(contiguous).transpose()?;
    let pool = thread_pool(threads)?;
    let mut sets: Vec<Option<SetLists>> = rules
        .iter()
        .map(|rule| rule.sets.as_ref().map(SetLists::new).transpose())
        .collect::<PyResult<_>>()?;
    for (rule, sets) in rules.iter().zip(&mut sets) {
        if let (None, None, Some(sets), Some(rows)) = (&rule.keys, &rule.key_lists, sets, rows) {
            one_row_a_page(rows.len(), pages, "rows")?;
            let least = rule.least_ratio();
            detached(py, || pool.install(|| sets.make_keys(rows, active, least)))?;
        }
    }
    let given: Vec<Given> = rules.iter().map(Given::new).collect::<PyResult<_>>()?;
    let specs: Vec<Spec> = rules
        .iter()
        .zip(sets.iter().zip(&given))
        .map(|(rule, (sets, given))| rule.checked(sites, pages, sets.as_ref(), given, rows))
        .collect::<PyResult<_>>()?;
    for (rule, standing) in work.standing() {
        check_standing(&specs[rule], pages, standing)?;
    }
    let applied = detached(py, || pool.install(|| apply(&specs, active, texts, work)));
    match sets.iter().flatten().find_map(|sets| sets.failed.get()) {
        Some(reason) => Err(PyOSError::new_err(format!("sets cannot be read back: {reason}"))),
        None => Ok(applied),
    }
}

fn check_standing(spec: &Spec<'_>, pages: usize, standing: &[Standing]) -> PyResult<()> {
    let columns = spec.keys.count();
    if standing.iter().any(|at| at.page as usize >= pages || at.column as usize >= columns) {
        return Err(PyValueError::new_err("a bucket names a page or a column that is not there"));
    }
    Ok(())
}
