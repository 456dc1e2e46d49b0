//! Rules of a detector to accepted pairs: what Python says of each rule, checked, and the join of all of them together.

use neardup_core::batch::Shingling;
use neardup_core::hot::{self, Resolved, Tuning};
use neardup_core::join::{Buckets, Joined, Keys, Limits, Pair, Predicate, Sites};
use neardup_core::screen::Screened;
use neardup_core::sets::{Batches, PageTokens, ShingleSets};
use neardup_core::verify::{AgreeingBits, EqualColumns, Everything, Jaccard};
use numpy::{IntoPyArray, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3_arrow::PyArray;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::arrays::{TokenLists, detached, flat};
use crate::pairs::{Column, contiguous, permutation};

/// A rule as Python says it: an object with these attributes. At most one of `columns`, `bits` and `shingles` is there
/// to verify with; without any, sharing a key is enough.
#[derive(FromPyObject)]
pub struct RuleArrays<'py> {
    keys: PyReadonlyArray2<'py, u64>,
    predicate: String,
    columns: Option<PyReadonlyArray2<'py, u64>>,
    bits: Option<PyReadonlyArray2<'py, u64>>,
    /// k, and whether shingles are Rabin fingerprints.
    shingles: Option<(usize, bool)>,
    least: f64,
}

/// The same, checked.
struct Spec<'a> {
    keys: Keys<'a>,
    predicate: Predicate<'a>,
    evidence: Evidence<'a>,
}

enum Evidence<'a> {
    Key,
    Columns(EqualColumns<'a>),
    Bits(AgreeingBits<'a>),
    Shingles(Shingling, f64),
}

impl RuleArrays<'_> {
    fn checked<'a>(&'a self, sites: Option<Sites<'a>>, pages: usize, tokens: bool) -> PyResult<Spec<'a>> {
        let rows = |array: &'a PyReadonlyArray2<'_, u64>, what: &str| {
            let (values, width) = flat(array)?;
            one_row_a_page(values.len() / width, pages, what)?;
            Ok::<_, PyErr>((values, width))
        };
        let (values, width) = rows(&self.keys, "keys")?;
        let predicate = match (self.predicate.as_str(), sites) {
            ("any", _) => Predicate::Any,
            ("same-site", Some(sites)) => Predicate::SameSite(sites),
            ("different-site", Some(sites)) => Predicate::DifferentSite(sites),
            _ => {
                return Err(PyValueError::new_err(
                    "predicate is 'any', or 'same-site' or 'different-site' with sites",
                ));
            }
        };
        let evidence = if let Some(columns) = &self.columns {
            let (values, width) = rows(columns, "columns")?;
            Evidence::Columns(EqualColumns { width, values, least: self.least as usize })
        } else if let Some(bits) = &self.bits {
            let (values, width) = rows(bits, "bits")?;
            Evidence::Bits(AgreeingBits { width, values, least: self.least as u32 })
        } else if let Some((k, rabin)) = self.shingles {
            if k == 0 || !tokens {
                return Err(PyValueError::new_err("shingles need k of at least 1, and tokens with rows"));
            }
            Evidence::Shingles(Shingling { k, rabin }, self.least)
        } else {
            Evidence::Key
        };
        Ok(Spec { keys: Keys { width, values }, predicate, evidence })
    }
}

fn one_row_a_page(rows: usize, pages: usize, what: &str) -> PyResult<()> {
    if rows == pages { Ok(()) } else { Err(PyValueError::new_err(format!("{what}: not one row a page"))) }
}

/// The token lists of all batches, and which of them is each page's.
#[derive(Clone, Copy)]
struct Tokens<'a> {
    batches: &'a Batches<'a>,
    rows: &'a [u32],
}

impl PageTokens for Tokens<'_> {
    fn with(&self, page: u32, look: &mut dyn FnMut(&[u64])) {
        look(self.batches.get(self.rows[page as usize] as usize));
    }
}

/// What pairs of one rule are verified with, its shingle sets made.
enum Verifier<'a> {
    Key(Everything),
    Columns(EqualColumns<'a>),
    Bits(AgreeingBits<'a>),
    Sets(Jaccard<'a>),
}

impl<'a> Verifier<'a> {
    fn new(evidence: &Evidence<'a>, sets: &'a ShingleSets<'a>) -> Self {
        match *evidence {
            Evidence::Key => Verifier::Key(Everything),
            Evidence::Columns(columns) => Verifier::Columns(columns),
            Evidence::Bits(bits) => Verifier::Bits(bits),
            Evidence::Shingles(_, least) => Verifier::Sets(Jaccard { sets, least }),
        }
    }

    fn join(&self, buckets: &Buckets<'_>, limits: Limits) -> Joined {
        match self {
            Verifier::Key(verifier) => buckets.join_within(verifier, limits),
            Verifier::Columns(verifier) => buckets.join_within(verifier, limits),
            Verifier::Bits(verifier) => buckets.join_within(verifier, limits),
            Verifier::Sets(verifier) => buckets.join_within(verifier, limits),
        }
    }

    fn screened(&self) -> &dyn Screened {
        match self {
            Verifier::Key(verifier) => verifier,
            Verifier::Columns(verifier) => verifier,
            Verifier::Bits(verifier) => verifier,
            Verifier::Sets(verifier) => verifier,
        }
    }
}

/// Pages in hot buckets that are compared at a time: many, as each tile streams all pages that stay through the cache.
const TILE: usize = 256;
/// From how many pages that stay on they are packed.
const PACKED: usize = 64;

fn apply(
    specs: &[Spec<'_>],
    active: &[bool],
    tokens: Option<Tokens<'_>>,
    order: &[u32],
    limits: Limits,
) -> Vec<(Joined, Resolved)> {
    let buckets: Vec<Buckets> =
        specs.iter().map(|spec| Buckets::new(spec.keys, active, spec.predicate)).collect();
    let sets: Vec<ShingleSets> = specs
        .iter()
        .zip(&buckets)
        .map(|(spec, buckets)| match (&spec.evidence, &tokens) {
            (Evidence::Shingles(shingling, _), Some(tokens)) => {
                ShingleSets::new(Box::new(*tokens), &buckets.members(), *shingling, true)
            }
            _ => ShingleSets::default(),
        })
        .collect();
    let verifiers: Vec<Verifier> =
        specs.iter().zip(&sets).map(|(spec, sets)| Verifier::new(&spec.evidence, sets)).collect();
    let joined: Vec<Joined> =
        verifiers.iter().zip(&buckets).map(|(verifier, buckets)| verifier.join(buckets, limits)).collect();
    let rules: Vec<hot::Rule> = buckets
        .iter()
        .zip(verifiers.iter().zip(&joined))
        .map(|(buckets, (verifier, joined))| hot::Rule { buckets, verifier: verifier.screened(), joined })
        .collect();
    let resolved = hot::resolve(&rules, order, Tuning { tile: TILE, packed: PACKED, pairs: limits.accepted });
    joined.into_iter().zip(resolved).collect()
}

/// As many threads as asked for; 0 means one a core.
pub fn thread_pool(threads: usize) -> PyResult<ThreadPool> {
    let built = ThreadPoolBuilder::new().num_threads(threads).build();
    built.map_err(|error| PyRuntimeError::new_err(format!("cannot start threads: {error}")))
}

/// Checks all that the rules share, and applies them; `order` is any order where no limit makes a bucket hot.
#[allow(clippy::too_many_arguments)]
fn checked_and_applied(
    py: Python<'_>,
    rules: &[RuleArrays<'_>],
    active: &PyReadonlyArray1<'_, bool>,
    order: &[u32],
    site_offsets: Option<PyReadonlyArray1<'_, u64>>,
    sites: Option<PyReadonlyArray1<'_, u32>>,
    tokens: Option<Vec<PyArray>>,
    rows: Option<PyReadonlyArray1<'_, u32>>,
    limits: Limits,
    threads: usize,
) -> PyResult<Vec<(Joined, Resolved)>> {
    let active = contiguous(active)?;
    let pages = active.len();
    let sites = match (&site_offsets, &sites) {
        (Some(offsets), Some(values)) => {
            let (offsets, values) = (contiguous(offsets)?, contiguous(values)?);
            one_row_a_page(offsets.len().wrapping_sub(1), pages, "site_offsets")?;
            if offsets.windows(2).any(|pair| pair[0] > pair[1]) || offsets[pages] as usize > values.len() {
                return Err(PyValueError::new_err("site_offsets do not fit sites"));
            }
            Some(Sites { offsets, values })
        }
        _ => None,
    };
    let lists: Vec<TokenLists> = tokens.iter().flatten().map(TokenLists::new).collect::<PyResult<_>>()?;
    let batches = Batches::new(lists.iter().map(TokenLists::lists).collect());
    let tokens = match (&tokens, &rows) {
        (Some(_), Some(rows)) => {
            let rows = contiguous(rows)?;
            one_row_a_page(rows.len(), pages, "rows")?;
            if rows.iter().any(|&row| row as usize >= batches.len()) {
                return Err(PyValueError::new_err("every row must be one of the token lists"));
            }
            Some(Tokens { batches: &batches, rows })
        }
        _ => None,
    };
    let specs: Vec<Spec> =
        rules.iter().map(|rule| rule.checked(sites, pages, tokens.is_some())).collect::<PyResult<_>>()?;
    let pool = thread_pool(threads)?;
    Ok(detached(py, || pool.install(|| apply(&specs, active, tokens, order, limits))))
}

fn columns<'py>(py: Python<'py>, pairs: &[Pair]) -> (Column<'py, u32>, Column<'py, u32>, Column<'py, f64>) {
    let a: Vec<u32> = pairs.iter().map(|pair| pair.a).collect();
    let b: Vec<u32> = pairs.iter().map(|pair| pair.b).collect();
    let score: Vec<f64> = pairs.iter().map(|pair| pair.score).collect();
    (a.into_pyarray(py), b.into_pyarray(py), score.into_pyarray(py))
}

type JoinResult<'py> = (Column<'py, u32>, Column<'py, u32>, Column<'py, f64>, u64, u64);

/// (a, b, score, candidates, largest bucket) of the accepted pairs, sorted: every pair of every bucket.
#[pyfunction]
#[pyo3(signature = (keys, active, *, predicate="any", site_offsets=None, sites=None,
                    columns=None, bits=None, tokens=None, rows=None, k=1, rabin=false, least=0.0, threads=0))]
#[allow(clippy::too_many_arguments)]
pub fn join<'py>(
    py: Python<'py>,
    keys: PyReadonlyArray2<'py, u64>,
    active: PyReadonlyArray1<'py, bool>,
    predicate: &str,
    site_offsets: Option<PyReadonlyArray1<'py, u64>>,
    sites: Option<PyReadonlyArray1<'py, u32>>,
    columns: Option<PyReadonlyArray2<'py, u64>>,
    bits: Option<PyReadonlyArray2<'py, u64>>,
    tokens: Option<Vec<PyArray>>,
    rows: Option<PyReadonlyArray1<'py, u32>>,
    k: usize,
    rabin: bool,
    least: f64,
    threads: usize,
) -> PyResult<JoinResult<'py>> {
    let shingles = tokens.as_ref().and(rows.as_ref()).map(|_| (k, rabin));
    let rule = RuleArrays { keys, predicate: predicate.to_owned(), columns, bits, shingles, least };
    let order: Vec<u32> = (0..active.len()? as u32).collect();
    let applied = checked_and_applied(
        py,
        &[rule],
        &active,
        &order,
        site_offsets,
        sites,
        tokens,
        rows,
        Limits::NONE,
        threads,
    )?;
    let (joined, _) = &applied[0];
    let (a, b, score) = self::columns(py, &joined.pairs);
    Ok((a, b, score, joined.candidates, joined.largest_bucket))
}

type RuleResult<'py> = (Column<'py, u32>, Column<'py, u32>, Column<'py, f64>, u64, u64, u64, u64, u64);

/// For each rule (a, b, score, candidates, accepted, largest bucket, hot buckets, unscored).
#[pyfunction]
#[pyo3(signature = (rules, active, order, *, hot, most_accepted, most_possible, site_offsets=None, sites=None,
                    tokens=None, rows=None, threads=0))]
#[allow(clippy::too_many_arguments)]
pub fn match_rules<'py>(
    py: Python<'py>,
    rules: Vec<RuleArrays<'py>>,
    active: PyReadonlyArray1<'py, bool>,
    order: PyReadonlyArray1<'py, u32>,
    hot: usize,
    most_accepted: u64,
    most_possible: u64,
    site_offsets: Option<PyReadonlyArray1<'py, u64>>,
    sites: Option<PyReadonlyArray1<'py, u32>>,
    tokens: Option<Vec<PyArray>>,
    rows: Option<PyReadonlyArray1<'py, u32>>,
    threads: usize,
) -> PyResult<Vec<RuleResult<'py>>> {
    let order = permutation(&order)?;
    one_row_a_page(order.len(), active.len()?, "order")?;
    let limits = Limits { bucket: hot, accepted: most_accepted, possible: most_possible };
    let applied =
        checked_and_applied(py, &rules, &active, order, site_offsets, sites, tokens, rows, limits, threads)?;
    let told = applied.into_iter().map(|(joined, resolved)| {
        let candidates = joined.candidates + resolved.compared;
        let accepted = joined.pairs.len() as u64 + resolved.accepted;
        let (mut pairs, hot_pairs) = (joined.pairs, resolved.pairs);
        if !hot_pairs.is_empty() {
            pairs.extend(hot_pairs);
            pairs.sort_unstable_by_key(|pair| (pair.a, pair.b));
        }
        let (a, b, score) = columns(py, &pairs);
        let hot_buckets = joined.hot.len() as u64;
        (a, b, score, candidates, accepted, joined.largest_bucket, hot_buckets, resolved.unscored)
    });
    Ok(told.collect())
}
