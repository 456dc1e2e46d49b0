//! What Python calls to have pairs found: all of a collection, its hot buckets alone, or buckets put together elsewhere.

use neardup_core::hot::Resolved;
use neardup_core::join::{Limits, Pair, Standing};
use neardup_core::rules::{self, Between, Columns, Evidence, KeySource, Rule};
use neardup_core::united::merge;
use numpy::{IntoPyArray, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::apply::{FEW, PART, Work, checked_and_applied};
use crate::arrays::flat;
use crate::errors::of_core;
use crate::pairs::{contiguous, permutation};
use crate::plan::Plan;
use crate::rules::{PageArrays, UnitArrays, one_row_a_page};

/// A pair as a row of a NumPy array with the fields a, b and score: pairs are handed over without a copy.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct PairRow(Pair);

// SAFETY: PairRow is `Pair`, which is laid out as in C: two u32, then an f64, without padding, as the dtype says.
unsafe impl numpy::Element for PairRow {
    const IS_COPY: bool = true;

    fn get_dtype(py: Python<'_>) -> Bound<'_, numpy::PyArrayDescr> {
        let fields = [("a", "u4"), ("b", "u4"), ("score", "f8")];
        numpy::PyArrayDescr::new(py, fields).expect("NumPy knows these fields")
    }

    fn clone_ref(&self, _py: Python<'_>) -> Self {
        *self
    }
}

/// The columns of pairs, each a view of the one array that holds them.
fn columns<'py>(py: Python<'py>, pairs: Vec<Pair>) -> PyResult<(Field<'py>, Field<'py>, Field<'py>)> {
    // In place: the vector keeps its memory, as the standard library does where sizes are the same.
    let rows = pairs.into_iter().map(PairRow).collect::<Vec<_>>().into_pyarray(py);
    Ok((rows.get_item("a")?, rows.get_item("b")?, rows.get_item("score")?))
}

type Field<'py> = Bound<'py, PyAny>;
type JoinResult<'py> = (Field<'py>, Field<'py>, Field<'py>, u64, u64);

/// (a, b, score, candidates, largest bucket) of the accepted pairs, sorted: every pair of every bucket.
#[pyfunction]
#[pyo3(signature = (keys, active, *, predicate="any", units=None,
                    columns=None, bits=None, least=0.0, threads=0))]
#[allow(clippy::too_many_arguments)]
pub fn join<'py>(
    py: Python<'py>,
    keys: PyReadonlyArray2<'py, u64>,
    active: PyReadonlyArray1<'py, bool>,
    predicate: &str,
    units: Option<UnitArrays<'py>>,
    columns: Option<PyReadonlyArray2<'py, u64>>,
    bits: Option<PyReadonlyArray2<'py, u64>>,
    least: f64,
    threads: usize,
) -> PyResult<JoinResult<'py>> {
    let width = |array: &PyReadonlyArray2<'_, u64>| Ok::<_, PyErr>(flat(array)?.1);
    let verified = columns.as_ref().or(bits.as_ref());
    let mut widths = vec![width(&keys)?];
    widths.extend(verified.map(width).transpose()?);
    let evidence = match (&columns, &bits) {
        (Some(_), _) => Evidence::Columns(1, least as usize),
        (None, Some(_)) => Evidence::Bits(1, least as u32),
        (None, None) => Evidence::Key,
    };
    let between = [Between::Any, Between::SameSite, Between::DifferentSite];
    let between = between.into_iter().find(|known| known.to_string() == predicate);
    let wrong = || PyValueError::new_err("predicate is 'any', 'same-site' or 'different-site'");
    let rule = Rule { keys: KeySource::Columns(0), between: between.ok_or_else(wrong)?, evidence };
    let plan = rules::Plan::new(Columns { widths, sets: 0 }, vec![rule]).map_err(of_core)?;
    let order: Vec<u32> = (0..active.len()? as u32).collect();
    let held: Vec<_> = [Some(keys), columns.or(bits)].into_iter().flatten().map(Some).collect();
    let pages = PageArrays {
        columns: held,
        sets: Vec::new(),
        key_lists: Vec::new(),
        active: Some(active),
        units,
        rows: None,
    };
    let work = Work::Match { order: &order, limits: Limits::NONE, recorded: u64::MAX };
    let mut applied = checked_and_applied(py, &plan, None, &pages, work, threads)?;
    let (joined, _) = applied.remove(0);
    let (a, b, score) = self::columns(py, joined.pairs)?;
    Ok((a, b, score, joined.candidates, joined.largest_bucket))
}

/// An order that names every page once.
fn in_order<'a>(order: &'a PyReadonlyArray1<'_, u32>, pages: &PageArrays<'_>) -> PyResult<&'a [u32]> {
    let order = permutation(order)?;
    let count = pages.active.as_ref().map_or(Ok(order.len()), |active| active.len())?;
    one_row_a_page(order.len(), count, "order")?;
    Ok(order)
}

type RuleResult<'py> = (Field<'py>, Field<'py>, Field<'py>, u64, u64, u64, u64, u64, Field<'py>);

/// For each rule (a, b, score, candidates, accepted, largest bucket, hot buckets, unscored, pages in hot buckets).
#[pyfunction]
#[pyo3(signature = (plan, pages, order, *, hot, most_accepted, most_possible, threads=0))]
#[allow(clippy::too_many_arguments)]
pub fn match_rules<'py>(
    py: Python<'py>,
    plan: &Plan,
    pages: PageArrays<'py>,
    order: PyReadonlyArray1<'py, u32>,
    hot: usize,
    most_accepted: u64,
    most_possible: u64,
    threads: usize,
) -> PyResult<Vec<RuleResult<'py>>> {
    let order = in_order(&order, &pages)?;
    let limits =
        Limits { bucket: hot, few: FEW, accepted: most_accepted, possible: most_possible, part: PART };
    let work = Work::Match { order, limits, recorded: most_accepted };
    let applied = checked_and_applied(py, &plan.plan, None, &pages, work, threads)?;
    let told = applied.into_iter().map(|(joined, resolved)| {
        let candidates = joined.candidates + resolved.compared;
        let accepted = joined.pairs.len() as u64 + resolved.accepted;
        let hot_buckets = joined.hot.len() as u64;
        drop(joined.hot);
        let mut pairs = joined.pairs;
        merge(&mut pairs, &resolved.pairs);
        let (a, b, score) = columns(py, pairs)?;
        let in_hot: Vec<u32> =
            (0..).zip(joined.in_hot).filter_map(|(page, hot)| hot.then_some(page)).collect();
        let in_hot = in_hot.into_pyarray(py).into_any();
        Ok((a, b, score, candidates, accepted, joined.largest_bucket, hot_buckets, resolved.unscored, in_hot))
    });
    told.collect()
}

/// Entries of hot buckets: of each its rule, the bucket's column, key and site, and its page.
type Entries<'py> = (
    PyReadonlyArray1<'py, u32>,
    PyReadonlyArray1<'py, u32>,
    PyReadonlyArray1<'py, u64>,
    PyReadonlyArray1<'py, u32>,
    PyReadonlyArray1<'py, u32>,
);

/// The entries of each rule.
fn hot_of(entries: &Entries<'_>, rules: usize) -> PyResult<Vec<Vec<Standing>>> {
    let (rule, column, key) = (contiguous(&entries.0)?, contiguous(&entries.1)?, contiguous(&entries.2)?);
    let (site, page) = (contiguous(&entries.3)?, contiguous(&entries.4)?);
    for (length, name) in
        [(column.len(), "columns"), (key.len(), "keys"), (site.len(), "sites"), (page.len(), "pages")]
    {
        one_row_a_page(length, rule.len(), name)?;
    }
    let mut hot = vec![Vec::new(); rules];
    for (at, &rule) in rule.iter().enumerate() {
        let of_rule = hot.get_mut(rule as usize);
        let of_rule =
            of_rule.ok_or_else(|| PyValueError::new_err("an entry names a rule that is not there"))?;
        of_rule.push(Standing { column: column[at], key: key[at], site: site[at], page: page[at] });
    }
    Ok(hot)
}

/// The same for hot buckets alone, put together elsewhere, as they are resolved among all: for each rule
/// (a, b, score, compared, accepted, unscored). Pairs of other buckets are known already.
#[pyfunction]
#[pyo3(signature = (plan, pages, order, hot, *, recorded, threads=0))]
#[allow(clippy::type_complexity)]
pub fn resolve_hot<'py>(
    py: Python<'py>,
    plan: &Plan,
    pages: PageArrays<'py>,
    order: PyReadonlyArray1<'py, u32>,
    hot: Entries<'py>,
    recorded: u64,
    threads: usize,
) -> PyResult<Vec<(Field<'py>, Field<'py>, Field<'py>, u64, u64, u64)>> {
    let order = in_order(&order, &pages)?;
    let hot = hot_of(&hot, plan.plan.rules.len())?;
    let work = Work::Hot { order, hot: &hot, recorded };
    let applied = checked_and_applied(py, &plan.plan, None, &pages, work, threads)?;
    let told = applied.into_iter().map(|(_, resolved)| {
        let Resolved { pairs, compared, accepted, unscored } = resolved;
        let (a, b, score) = columns(py, pairs)?;
        Ok((a, b, score, compared, accepted, unscored))
    });
    told.collect()
}

/// (a, b) of links that tie the pages of hot buckets as their accepted pairs do: pages of different salts, or all where
/// there is one salt only.
#[pyfunction]
#[pyo3(signature = (plan, pages, hot, salt, *, threads=1))]
pub fn hot_links<'py>(
    py: Python<'py>,
    plan: &Plan,
    pages: PageArrays<'py>,
    hot: Entries<'py>,
    salt: PyReadonlyArray1<'py, u32>,
    threads: usize,
) -> PyResult<(Field<'py>, Field<'py>)> {
    let salt = contiguous(&salt)?;
    let hot = hot_of(&hot, plan.plan.rules.len())?;
    let work = Work::Links { salt, hot: &hot };
    let mut applied = checked_and_applied(py, &plan.plan, None, &pages, work, threads)?;
    let found = if applied.is_empty() { Vec::new() } else { applied.remove(0).1.pairs };
    let (a, b, _) = columns(py, found)?;
    Ok((a, b))
}

/// (a, b, score, candidates) of the accepted pairs of buckets that were put together elsewhere: whole and one after
/// another, each page a row of its own.
#[pyfunction]
#[pyo3(signature = (plan, rule, pages, columns, keys, key_sites, *, threads=1))]
#[allow(clippy::too_many_arguments)]
pub fn match_buckets<'py>(
    py: Python<'py>,
    plan: &Plan,
    rule: usize,
    pages: PageArrays<'py>,
    columns: PyReadonlyArray1<'py, u32>,
    keys: PyReadonlyArray1<'py, u64>,
    key_sites: PyReadonlyArray1<'py, u32>,
    threads: usize,
) -> PyResult<(Field<'py>, Field<'py>, Field<'py>, u64)> {
    let (columns, keys, key_sites) = (contiguous(&columns)?, contiguous(&keys)?, contiguous(&key_sites)?);
    one_row_a_page(keys.len(), columns.len(), "keys")?;
    one_row_a_page(key_sites.len(), columns.len(), "key_sites")?;
    let standing: Vec<Standing> = columns
        .iter()
        .zip(keys.iter().zip(key_sites))
        .enumerate()
        .map(|(page, (&column, (&key, &site)))| Standing { column, key, site, page: page as u32 })
        .collect();
    let work = Work::Given(&standing);
    let mut applied = checked_and_applied(py, &plan.plan, Some(rule), &pages, work, threads)?;
    let (joined, _) = applied.remove(0);
    let (a, b, score) = self::columns(py, joined.pairs)?;
    Ok((a, b, score, joined.candidates))
}
