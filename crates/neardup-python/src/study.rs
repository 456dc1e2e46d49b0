//! What the study of a collection asks for: paragraphs of pages, their comparison in steps, and the graph of links.

use std::sync::{Mutex, MutexGuard};

use neardup_core::chunks::paragraphs::{Cut, bag_name, paragraphs};
use neardup_core::growing::{self, Growing};
use neardup_core::page::Reader;
use neardup_core::steps::{Bags, Rarity, Steps, Table};
use neardup_core::web_graph::{self, Links};
use neardup_engine::matching::thread_pool;
use numpy::{IntoPyArray, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3_arrow::PyArray;

use crate::arrays::{TokenLists, detached, list_array, pyarrow};
use crate::errors::{Mismatch, of_engine};
use crate::pages::Pages;
use crate::pairs::{Column, contiguous, edges};

/// (lists, characters): the shingle paragraphs of each page in order, and how long its collapsed text is.
#[pyfunction]
#[pyo3(signature = (content, html, charset, url, *, sentence, sentences, longer_than))]
#[allow(clippy::too_many_arguments)]
pub fn page_paragraphs<'py>(
    py: Python<'py>,
    content: PyArray,
    html: PyArray,
    charset: PyArray,
    url: PyArray,
    sentence: usize,
    sentences: usize,
    longer_than: usize,
) -> PyResult<(Bound<'py, PyAny>, Column<'py, u32>)> {
    if sentence == 0 || sentences == 0 {
        return Err(Mismatch::value("sentence and sentences must be at least 1"));
    }
    let cut = Cut { sentence, sentences, longer_than };
    let pages = Pages::new(&content, &html, &charset, &url)?;
    let (offsets, values, characters) = detached(py, || {
        let (mut reader, mut buffer) = (Reader::default(), String::new());
        let (mut offsets, mut values, mut characters) = (vec![0i64], Vec::new(), Vec::new());
        for page in pages.iter() {
            let length = reader.with_text(page, |text| paragraphs(text, cut, &mut buffer, &mut values));
            characters.push(u32::try_from(length).unwrap_or(u32::MAX));
            offsets.push(values.len() as i64);
        }
        (offsets, values, characters)
    });
    Ok((pyarrow(py, list_array(offsets, values)?)?, characters.into_pyarray(py)))
}

/// The two halves of a name for each list, the same for lists that differ in order only.
#[pyfunction]
pub fn bag_names<'py>(py: Python<'py>, lists: PyArray) -> PyResult<(Column<'py, u64>, Column<'py, u64>)> {
    let lists = TokenLists::new(&lists)?;
    let names: Vec<u128> = detached(py, || lists.lists().iter().map(bag_name).collect());
    let high: Vec<u64> = names.iter().map(|name| (name >> 64) as u64).collect();
    let low: Vec<u64> = names.iter().map(|&name| name as u64).collect();
    Ok((high.into_pyarray(py), low.into_pyarray(py)))
}

/// (part, strong): where each page is in the bow tie (0 core, 1 in, 2 out, 3 tube, 4 tendril, 5 island), and the least
/// page of its strongly connected component.
#[pyfunction]
pub fn bow_tie<'py>(
    py: Python<'py>,
    pages: usize,
    from_: PyReadonlyArray1<'py, u32>,
    to: PyReadonlyArray1<'py, u32>,
) -> PyResult<(Column<'py, u8>, Column<'py, u32>)> {
    let (from, to) = link_ends(pages, &from_, &to)?;
    let (parts, strong) = detached(py, || web_graph::bow_tie(pages, from, to));
    let parts: Vec<u8> = parts.into_iter().map(|part| part as u8).collect();
    Ok((parts.into_pyarray(py), strong.into_pyarray(py)))
}

/// In how many links each page is reached from the seeds; 2^32 − 1 where it is not.
#[pyfunction]
pub fn crawl<'py>(
    py: Python<'py>,
    pages: usize,
    from_: PyReadonlyArray1<'py, u32>,
    to: PyReadonlyArray1<'py, u32>,
    seeds: PyReadonlyArray1<'py, u32>,
) -> PyResult<Column<'py, u32>> {
    let (from, to) = link_ends(pages, &from_, &to)?;
    let seeds = contiguous(&seeds)?;
    if seeds.iter().any(|&seed| seed as usize >= pages) {
        return Err(Mismatch::value("a seed is a page that is not there"));
    }
    Ok(detached(py, || Links::new(pages, from, to).crawl(seeds.iter().copied())).into_pyarray(py))
}

fn link_ends<'a>(
    pages: usize,
    from: &'a PyReadonlyArray1<'_, u32>,
    to: &'a PyReadonlyArray1<'_, u32>,
) -> PyResult<(&'a [u32], &'a [u32])> {
    let (from, to) = (contiguous(from)?, contiguous(to)?);
    if from.len() != to.len() || from.iter().chain(to).any(|&page| page as usize >= pages) {
        return Err(Mismatch::value("a link needs two pages that are there"));
    }
    Ok((from, to))
}

/// (clusters, duplicates) after each step, of pairs that are found in the step beside them.
#[pyfunction]
pub fn growth<'py>(
    py: Python<'py>,
    pages: usize,
    a: PyReadonlyArray1<'py, u32>,
    b: PyReadonlyArray1<'py, u32>,
    found_in: PyReadonlyArray1<'py, u32>,
    steps: usize,
) -> PyResult<(Column<'py, u32>, Column<'py, u32>)> {
    let pairs = edges(pages, contiguous(&a)?, contiguous(&b)?)?;
    let found_in = contiguous(&found_in)?;
    if found_in.len() != pairs.len() {
        return Err(Mismatch::value("every pair is found in one step"));
    }
    let told = detached(py, || growing::growth(pages, &pairs, found_in, steps));
    let (clusters, duplicates): (Vec<u32>, Vec<u32>) = told.into_iter().unzip();
    Ok((clusters.into_pyarray(py), duplicates.into_pyarray(py)))
}

/// Pages compared by their paragraphs in steps: count, then for each step a table and probes of all pages from this
/// step on.
#[pyclass(frozen, module = "neardup._native")]
#[derive(Debug)]
pub struct ParagraphSteps {
    state: Mutex<State>,
    threads: usize,
}

#[derive(Debug)]
struct State {
    steps: Steps,
    table: Option<Table>,
}

/// Clusters and duplicates so far, at each level.
type Counts = Vec<(u32, u32)>;

#[pymethods]
impl ParagraphSteps {
    /// `last` is, for each page that is the first with its paragraphs, the last page with them; `counted` are lists of
    /// paragraphs of all of these, to tell rare ones by 2^`bits` counters.
    #[new]
    #[pyo3(signature = (shares, last, *, bits, threads=0))]
    fn new(shares: Vec<f64>, last: PyReadonlyArray1<'_, u32>, bits: u32, threads: usize) -> PyResult<Self> {
        if shares.len() > 30 || shares.iter().any(|share| !(*share > 0.0 && *share <= 1.0)) {
            return Err(Mismatch::value("shares are above 0 and at most 1, and not more than 30"));
        }
        let steps = Steps::new(&shares, contiguous(&last)?.to_vec(), Rarity::new(bits));
        Ok(ParagraphSteps { state: Mutex::new(State { steps, table: None }), threads })
    }

    /// Counts the paragraphs of pages.
    fn count(&self, py: Python<'_>, lists: PyArray) -> PyResult<()> {
        let lists = TokenLists::new(&lists)?;
        detached(py, || self.lock().steps.rarity.count(lists.lists()));
        Ok(())
    }

    /// Joins pages with the same paragraphs.
    fn join_equal(
        &self,
        py: Python<'_>,
        a: PyReadonlyArray1<'_, u32>,
        b: PyReadonlyArray1<'_, u32>,
    ) -> PyResult<()> {
        let pages = self.lock().steps.pages();
        let pairs = edges(pages, contiguous(&a)?, contiguous(&b)?)?;
        detached(py, || self.lock().steps.join_equal(pairs.iter().copied()));
        Ok(())
    }

    /// Begins a step: the table of its pages, given in batches of lists and page numbers.
    fn begin(&self, py: Python<'_>, batches: Vec<(PyArray, PyReadonlyArray1<'_, u32>)>) -> PyResult<()> {
        let mut bags = Bags::default();
        for (lists, pages) in &batches {
            self.extend(&mut bags, lists, pages)?;
        }
        let pool = thread_pool(self.threads).map_err(of_engine)?;
        detached(py, || {
            let mut state = self.lock();
            state.table = None;
            state.table = Some(pool.install(|| state.steps.table(bags)));
        });
        Ok(())
    }

    /// Compares pages with those of the table; `same_step` says that they are the table's own.
    fn probe(
        &self,
        py: Python<'_>,
        lists: PyArray,
        pages: PyReadonlyArray1<'_, u32>,
        same_step: bool,
    ) -> PyResult<()> {
        let mut bags = Bags::default();
        self.extend(&mut bags, &lists, &pages)?;
        let pool = thread_pool(self.threads).map_err(of_engine)?;
        detached(py, || {
            let mut state = self.lock();
            let State { steps, table } = &mut *state;
            let Some(table) = table else { return Err(Mismatch::value("no step was begun")) };
            pool.install(|| steps.probe(table, &bags, same_step));
            Ok(())
        })
    }

    /// (clusters, duplicates) so far: duplicates and each share, by the paper's rule; the same by the bags' own.
    fn counts(&self) -> (Counts, Counts) {
        let state = self.lock();
        let told = |graphs: &[Growing]| graphs.iter().map(Growing::counts).collect();
        (told(&state.steps.paper), told(&state.steps.bags))
    }

    /// For each page the first of its cluster, by rule ("paper" or "bags") and level (0: duplicates).
    fn labels<'py>(&self, py: Python<'py>, rule: &str, level: usize) -> PyResult<Column<'py, u32>> {
        let state = self.lock();
        let graphs = match rule {
            "paper" => &state.steps.paper,
            "bags" => &state.steps.bags,
            _ => return Err(Mismatch::value("rule is 'paper' or 'bags'")),
        };
        let graph = graphs.get(level).ok_or_else(|| Mismatch::value("there is no such level"))?;
        Ok(graph.labels().into_pyarray(py))
    }
}

impl ParagraphSteps {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn extend(&self, bags: &mut Bags, lists: &PyArray, pages: &PyReadonlyArray1<'_, u32>) -> PyResult<()> {
        let (lists, pages) = (TokenLists::new(lists)?, contiguous(pages)?);
        let known = self.lock().steps.pages();
        if lists.lists().len() != pages.len() || pages.iter().any(|&page| page as usize >= known) {
            return Err(Mismatch::value("every list is of a page that is there"));
        }
        bags.extend(lists.lists(), pages);
        Ok(())
    }
}
