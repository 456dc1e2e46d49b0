//! What a plan is asked over many pages: all pairs of a collection, its hot buckets alone, or buckets put together elsewhere.

use neardup_core::join::{Limits, Pair, Standing};
use neardup_core::rules;
use neardup_engine::matching::{FEW, Matched, PART, Work, matched};
use numpy::{IntoPyArray, PyReadonlyArray1};
use pyo3::prelude::*;

use crate::arrays::detached;
use crate::errors::{Mismatch, of_engine};
use crate::pairs::{contiguous, permutation};
use crate::rules::{Held, PageArrays, one_row_a_page};

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

type Field<'py> = Bound<'py, PyAny>;

/// The columns of pairs, each a view of the one array that holds them.
fn columns<'py>(py: Python<'py>, pairs: Vec<Pair>) -> PyResult<[Field<'py>; 3]> {
    // In place: the vector keeps its memory, as the standard library does where sizes are the same.
    let rows = pairs.into_iter().map(PairRow).collect::<Vec<_>>().into_pyarray(py);
    Ok([rows.get_item("a")?, rows.get_item("b")?, rows.get_item("score")?])
}

/// What one rule found: its accepted pairs, sorted, and what was counted on the way.
#[pyclass(frozen, get_all, module = "neardup._native")]
#[derive(Debug)]
pub struct RulePairs {
    a: Py<PyAny>,
    b: Py<PyAny>,
    score: Py<PyAny>,
    candidates: u64,
    /// More than there are pairs, where not all of hot buckets were recorded.
    accepted: u64,
    largest_bucket: u64,
    hot_buckets: u64,
    unscored: u64,
    /// Pages in hot buckets.
    in_hot: Py<PyAny>,
}

impl RulePairs {
    fn new(py: Python<'_>, found: Matched) -> PyResult<Self> {
        let Matched { pairs, candidates, accepted, largest_bucket, hot_buckets, unscored, in_hot } = found;
        let [a, b, score] = columns(py, pairs)?.map(Bound::unbind);
        let in_hot = in_hot.into_pyarray(py).into_any().unbind();
        Ok(RulePairs { a, b, score, candidates, accepted, largest_bucket, hot_buckets, unscored, in_hot })
    }
}

/// How far buckets are joined, as Python says it: an object with these attributes.
#[derive(FromPyObject)]
pub struct LimitArguments {
    /// Entries of a bucket that is not hot.
    hot: usize,
    accepted: u64,
    possible: u64,
}

/// Entries of hot buckets, as Python says it: of each its rule, the bucket's column, key and site, and its page.
#[derive(FromPyObject)]
pub struct EntryArrays<'py> {
    rule: PyReadonlyArray1<'py, u32>,
    column: PyReadonlyArray1<'py, u32>,
    key: PyReadonlyArray1<'py, u64>,
    site: PyReadonlyArray1<'py, u32>,
    page: PyReadonlyArray1<'py, u32>,
}

impl EntryArrays<'_> {
    /// The entries of each rule.
    fn by_rule(&self, rules: usize) -> PyResult<Vec<Vec<Standing>>> {
        let (rule, column, key) =
            (contiguous(&self.rule)?, contiguous(&self.column)?, contiguous(&self.key)?);
        let (site, page) = (contiguous(&self.site)?, contiguous(&self.page)?);
        for (length, name) in
            [(column.len(), "columns"), (key.len(), "keys"), (site.len(), "sites"), (page.len(), "pages")]
        {
            one_row_a_page(length, rule.len(), name)?;
        }
        let mut hot = vec![Vec::new(); rules];
        for (at, &rule) in rule.iter().enumerate() {
            let of_rule = hot.get_mut(rule as usize);
            let of_rule =
                of_rule.ok_or_else(|| Mismatch::value("an entry names a rule that is not there"))?;
            of_rule.push(Standing { column: column[at], key: key[at], site: site[at], page: page[at] });
        }
        Ok(hot)
    }
}

/// Checks what is held of so many pages, and asks the plan.
fn ask(
    py: Python<'_>,
    plan: &rules::Plan,
    arrays: &PageArrays<'_>,
    pages: usize,
    work: Work<'_>,
    threads: usize,
) -> PyResult<Vec<Matched>> {
    let (_, rules) = work.asked(plan).map_err(of_engine)?;
    let held = Held::new(arrays, plan, rules, pages)?;
    detached(py, || matched(plan, held.collection(plan)?, work, threads).map_err(of_engine))
}

pub fn all(
    py: Python<'_>,
    plan: &rules::Plan,
    pages: &PageArrays<'_>,
    order: &PyReadonlyArray1<'_, u32>,
    limits: &LimitArguments,
    threads: usize,
) -> PyResult<Vec<RulePairs>> {
    let order = permutation(order)?;
    let LimitArguments { hot: bucket, accepted, possible } = *limits;
    let limits = Limits { bucket, few: FEW, accepted, possible, part: PART };
    let work = Work::Match { order, limits, recorded: accepted };
    let found = ask(py, plan, pages, order.len(), work, threads)?;
    found.into_iter().map(|found| RulePairs::new(py, found)).collect()
}

pub fn hot(
    py: Python<'_>,
    plan: &rules::Plan,
    pages: &PageArrays<'_>,
    order: &PyReadonlyArray1<'_, u32>,
    hot: &EntryArrays<'_>,
    recorded: u64,
    threads: usize,
) -> PyResult<Vec<RulePairs>> {
    let order = permutation(order)?;
    let hot = hot.by_rule(plan.rules.len())?;
    let found = ask(py, plan, pages, order.len(), Work::Hot { order, hot: &hot, recorded }, threads)?;
    found.into_iter().map(|found| RulePairs::new(py, found)).collect()
}

pub fn links<'py>(
    py: Python<'py>,
    plan: &rules::Plan,
    pages: &PageArrays<'_>,
    hot: &EntryArrays<'_>,
    salt: &PyReadonlyArray1<'_, u32>,
    threads: usize,
) -> PyResult<(Field<'py>, Field<'py>)> {
    let salt = contiguous(salt)?;
    let hot = hot.by_rule(plan.rules.len())?;
    let found = ask(py, plan, pages, salt.len(), Work::Links { salt, hot: &hot }, threads)?;
    let [a, b, _] = columns(py, found.into_iter().next().unwrap_or_default().pairs)?;
    Ok((a, b))
}

/// Of one rule alone: the buckets are whole and one after another, each page a row of its own.
pub fn buckets(
    py: Python<'_>,
    plan: &rules::Plan,
    rule: usize,
    pages: &PageArrays<'_>,
    (columns, keys, sites): (&[u32], &[u64], &[u32]),
    threads: usize,
) -> PyResult<RulePairs> {
    one_row_a_page(keys.len(), columns.len(), "keys")?;
    one_row_a_page(sites.len(), columns.len(), "key_sites")?;
    let standing: Vec<Standing> = columns
        .iter()
        .zip(keys.iter().zip(sites))
        .enumerate()
        .map(|(page, (&column, (&key, &site)))| Standing { column, key, site, page: page as u32 })
        .collect();
    let found = ask(py, plan, pages, standing.len(), Work::Given { rule, standing: &standing }, threads)?;
    RulePairs::new(py, found.into_iter().next().unwrap_or_default())
}
