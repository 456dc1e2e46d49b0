//! A detector's rules for Python: checked once, asked by everybody, and the same after a pickle.

use neardup_core::batch::Lists;
use neardup_core::rules::pair::{Finding, Row};
use neardup_core::rules::{self, Columns, Rule};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3_arrow::PyArray;
use rayon::prelude::*;

use crate::arrays::{TokenLists, detached, flat};
use crate::errors::{Mismatch, of_core};
use crate::matching::{self, EntryArrays, LimitArguments, RulePairs};
use crate::pairs::{contiguous, edges};
use crate::rules::{PageArrays, one_row_a_page};

/// What is held of pages and the rules over it, each in its text form (`neardup_core::rules::text`).
#[pyclass(frozen, eq, module = "neardup._native")]
#[derive(Debug, PartialEq)]
pub struct Plan {
    pub plan: rules::Plan,
}

/// What a rule says of pairs, an array each.
#[pyclass(frozen, get_all, module = "neardup._native")]
#[derive(Debug)]
pub struct RuleFindings {
    /// Whether the rule holds for such a pair at all.
    applies: Py<PyArray1<bool>>,
    keys_shared: Py<PyArray1<u32>>,
    keys_needed: u32,
    keys: Py<PyArray1<u32>>,
    /// What is measured, from where on it is enough, and the greatest there can be.
    value: Py<PyArray1<f64>>,
    threshold: f64,
    greatest: f64,
    /// The same of what must be shown as well, where a rule asks for it.
    confirming: Option<Py<PyArray1<f64>>>,
    confirming_threshold: f64,
    confirmed: Py<PyArray1<bool>>,
    accepted: Py<PyArray1<bool>>,
    score: Py<PyArray1<f64>>,
}

impl RuleFindings {
    fn new(py: Python<'_>, findings: &[Finding]) -> Self {
        let flags = |of: &dyn Fn(&Finding) -> bool| {
            findings.iter().map(of).collect::<Vec<_>>().into_pyarray(py).unbind()
        };
        let counts = |of: &dyn Fn(&Finding) -> usize| {
            findings.iter().map(|finding| of(finding) as u32).collect::<Vec<_>>().into_pyarray(py).unbind()
        };
        let values = |of: &dyn Fn(&Finding) -> f64| {
            findings.iter().map(of).collect::<Vec<_>>().into_pyarray(py).unbind()
        };
        let first = findings.first();
        let beside = first.and_then(|finding| finding.confirming);
        let value = |finding: &Finding| finding.confirming.map_or(0.0, |beside| beside.value);
        RuleFindings {
            applies: flags(&|finding| finding.applies),
            keys_shared: counts(&|finding| finding.keys_shared),
            keys_needed: first.map_or(0, |finding| finding.keys_needed as u32),
            keys: counts(&|finding| finding.keys),
            value: values(&|finding| finding.measured.value),
            threshold: first.map_or(0.0, |finding| finding.measured.threshold),
            greatest: first.map_or(0.0, |finding| finding.measured.greatest),
            confirming: beside.map(|_| values(&value)),
            confirming_threshold: beside.map_or(0.0, |beside| beside.threshold),
            confirmed: flags(&Finding::confirmed),
            accepted: flags(&Finding::accepted),
            score: values(&|finding| finding.score),
        }
    }
}

/// A page among others whose columns and sets lie one behind another.
struct At<'a> {
    columns: &'a [(&'a [u64], usize)],
    sets: &'a [Lists<'a>],
    page: usize,
}

impl Row for At<'_> {
    fn column(&self, at: usize) -> &[u64] {
        let (values, width) = self.columns[at];
        &values[self.page * width..][..width]
    }

    fn set(&self, at: usize) -> &[u64] {
        self.sets[at].get(self.page)
    }
}

#[pymethods]
impl Plan {
    #[new]
    fn new(widths: Vec<usize>, sets: usize, rules: Vec<String>) -> PyResult<Self> {
        let rules = rules.iter().map(|rule| rule.parse::<Rule>()).collect::<Result<_, _>>();
        let plan = rules.and_then(|rules| rules::Plan::new(Columns { widths, sets }, rules));
        Ok(Plan { plan: plan.map_err(of_core)? })
    }

    fn __getnewargs__(&self) -> (Vec<usize>, usize, Vec<String>) {
        (self.widths(), self.sets(), self.rules())
    }

    fn __repr__(&self) -> String {
        format!("Plan({})", self.plan)
    }

    /// Numbers of each column of fixed width.
    #[getter]
    fn widths(&self) -> Vec<usize> {
        self.plan.columns.widths.clone()
    }

    /// How many sets a page has.
    #[getter]
    fn sets(&self) -> usize {
        self.plan.columns.sets
    }

    #[getter]
    fn rules(&self) -> Vec<String> {
        self.plan.rules.iter().map(Rule::to_string).collect()
    }

    /// 32 digits, the same in every process and on every machine.
    #[getter]
    fn digest(&self) -> String {
        format!("{:032x}", self.plan.digest())
    }

    /// How many columns of keys each rule has.
    #[getter]
    fn key_columns(&self) -> Vec<usize> {
        self.plan.rules.iter().map(|rule| rule.keys.count(&self.plan.columns)).collect()
    }

    /// What each rule says of pairs of pages, of which `columns` and `sets` hold what the plan speaks of, a row a page;
    /// `same_site` says of each pair whether both are on one known site.
    fn pair(
        &self,
        py: Python<'_>,
        columns: Vec<PyReadonlyArray2<'_, u64>>,
        sets: Vec<PyArray>,
        a: PyReadonlyArray1<'_, u32>,
        b: PyReadonlyArray1<'_, u32>,
        same_site: PyReadonlyArray1<'_, bool>,
    ) -> PyResult<Vec<RuleFindings>> {
        let columns = columns.iter().map(flat).collect::<PyResult<Vec<_>>>()?;
        let sets = sets.iter().map(TokenLists::new).collect::<PyResult<Vec<_>>>()?;
        let sets: Vec<Lists<'_>> = sets.iter().map(TokenLists::lists).collect();
        if !columns.iter().map(|(_, width)| *width).eq(self.widths()) || sets.len() != self.sets() {
            return Err(Mismatch::value("columns and sets are not those of the plan"));
        }
        let sizes = columns.iter().map(|(values, width)| values.len() / width);
        let pages = sizes.chain(sets.iter().map(Lists::len)).min().unwrap_or(0);
        let (a, b) = (contiguous(&a)?, contiguous(&b)?);
        let pairs = if self.plan.rules.is_empty() { Vec::new() } else { edges(pages, a, b)? };
        let same_site = contiguous(&same_site)?;
        one_row_a_page(same_site.len(), a.len(), "same_site")?;
        let findings: Vec<Vec<Finding>> = detached(py, || {
            let of = |page: u32| At { columns: &columns, sets: &sets, page: page as usize };
            let by_rule = |rule: &Rule| {
                let both = pairs.par_iter().zip(same_site);
                both.map(|(&(a, b), &same)| rule.pair(&of(a), &of(b), same)).collect()
            };
            self.plan.rules.iter().map(by_rule).collect()
        });
        Ok(findings.iter().map(|findings| RuleFindings::new(py, findings)).collect())
    }

    /// What each rule accepts among all pages. `order` names every page once, the most preferred first; buckets beyond
    /// the limits are resolved in that order.
    #[pyo3(name = "match", signature = (pages, order, limits, *, threads=0))]
    fn all_pairs(
        &self,
        py: Python<'_>,
        pages: PageArrays<'_>,
        order: PyReadonlyArray1<'_, u32>,
        limits: LimitArguments,
        threads: usize,
    ) -> PyResult<Vec<RulePairs>> {
        matching::all(py, &self.plan, &pages, &order, &limits, threads)
    }

    /// The same for hot buckets alone, put together elsewhere, as they are resolved among all. Pairs of other buckets
    /// are known already.
    #[pyo3(signature = (pages, order, hot, *, recorded, threads=0))]
    fn resolve_hot(
        &self,
        py: Python<'_>,
        pages: PageArrays<'_>,
        order: PyReadonlyArray1<'_, u32>,
        hot: EntryArrays<'_>,
        recorded: u64,
        threads: usize,
    ) -> PyResult<Vec<RulePairs>> {
        matching::hot(py, &self.plan, &pages, &order, &hot, recorded, threads)
    }

    /// (a, b) of links that tie the pages of hot buckets as their accepted pairs do: pages of different salts, or all
    /// where there is one salt only.
    #[pyo3(signature = (pages, hot, salt, *, threads=1))]
    fn hot_links<'py>(
        &self,
        py: Python<'py>,
        pages: PageArrays<'_>,
        hot: EntryArrays<'_>,
        salt: PyReadonlyArray1<'_, u32>,
        threads: usize,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        matching::links(py, &self.plan, &pages, &hot, &salt, threads)
    }

    /// What one rule accepts in buckets that were put together elsewhere: whole and one after another, each page a row
    /// of its own.
    #[pyo3(signature = (rule, pages, columns, keys, key_sites, *, threads=1))]
    #[allow(clippy::too_many_arguments)]
    fn match_buckets(
        &self,
        py: Python<'_>,
        rule: usize,
        pages: PageArrays<'_>,
        columns: PyReadonlyArray1<'_, u32>,
        keys: PyReadonlyArray1<'_, u64>,
        key_sites: PyReadonlyArray1<'_, u32>,
        threads: usize,
    ) -> PyResult<RulePairs> {
        let entries = (contiguous(&columns)?, contiguous(&keys)?, contiguous(&key_sites)?);
        matching::buckets(py, &self.plan, rule, &pages, entries, threads)
    }
}
