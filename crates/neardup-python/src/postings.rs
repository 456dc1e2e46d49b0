//! The chunk index: built from fingerprints, asked in batches; its arrays may lie in a file.

use neardup_core::batch::Lists;
use neardup_core::postings::{self, Wanted};
use neardup_core::statistics::numbers::directory_bits;
use numpy::{IntoPyArray, PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use pyo3_arrow::PyArray;

use crate::arrays::{TokenLists, detached};
use crate::errors::{Mismatch, of_engine};
use crate::pairs::{Column, contiguous};

type Arrays<'py> = (Column<'py, u64>, Column<'py, u64>, Column<'py, u32>, Column<'py, u32>, Column<'py, u32>);

/// (numbers, directory, starts, pages, sizes) of the index over all batches of number lists.
#[pyfunction]
pub fn build_postings<'py>(py: Python<'py>, fingerprints: Vec<PyArray>) -> PyResult<Arrays<'py>> {
    let lists: Vec<TokenLists> = fingerprints.iter().map(TokenLists::new).collect::<PyResult<_>>()?;
    let lists: Vec<Lists> = lists.iter().map(TokenLists::lists).collect();
    if lists.iter().map(Lists::len).sum::<usize>() > u32::MAX as usize {
        return Err(Mismatch::value("more pages than an index can number"));
    }
    let built = detached(py, || postings::build(&lists))
        .ok_or_else(|| Mismatch::value("more entries than an index can hold"))?;
    Ok((
        built.numbers.into_pyarray(py),
        built.directory.into_pyarray(py),
        built.starts.into_pyarray(py),
        built.pages.into_pyarray(py),
        built.sizes.into_pyarray(py),
    ))
}

/// The arrays of an index, ready to be asked; they stay where they are.
#[pyclass(frozen, module = "neardup._native")]
#[derive(Debug)]
pub struct Postings {
    numbers: Py<PyArray1<u64>>,
    directory: Py<PyArray1<u64>>,
    starts: Py<PyArray1<u32>>,
    pages: Py<PyArray1<u32>>,
    sizes: Py<PyArray1<u32>>,
}

#[pymethods]
impl Postings {
    /// With `check` every entry is looked at once; arrays that do not make an index are an error.
    #[new]
    #[pyo3(signature = (numbers, directory, starts, pages, sizes, *, check=true))]
    fn new(
        numbers: Bound<'_, PyArray1<u64>>,
        directory: Bound<'_, PyArray1<u64>>,
        starts: Bound<'_, PyArray1<u32>>,
        pages: Bound<'_, PyArray1<u32>>,
        sizes: Bound<'_, PyArray1<u32>>,
        check: bool,
    ) -> PyResult<Self> {
        let made = Postings {
            numbers: numbers.unbind(),
            directory: directory.unbind(),
            starts: starts.unbind(),
            pages: pages.unbind(),
            sizes: sizes.unbind(),
        };
        let fits = numbers_fit(&made, check)?;
        if fits { Ok(made) } else { Err(Mismatch::value("the arrays do not make an index")) }
    }

    /// (offsets, pages, shared): for each query the pages that share at least `least` numbers with it, and of the union
    /// at least `ratio`.
    #[pyo3(signature = (queries, *, least, ratio=0.0, threads=0))]
    fn query<'py>(
        &self,
        py: Python<'py>,
        queries: PyArray,
        least: u32,
        ratio: f64,
        threads: usize,
    ) -> PyResult<(Column<'py, i64>, Column<'py, u32>, Column<'py, u32>)> {
        let queries = TokenLists::new(&queries)?;
        let pool = neardup_engine::matching::thread_pool(threads).map_err(of_engine)?;
        let wanted = Wanted { least: least.max(1), ratio };
        let answers = self
            .with(py, |postings| detached(py, || pool.install(|| postings.query(queries.lists(), wanted))))?;
        Ok((
            answers.offsets.into_pyarray(py),
            answers.pages.into_pyarray(py),
            answers.shared.into_pyarray(py),
        ))
    }

    /// The pages that have a number, ascending.
    fn postlist<'py>(&self, py: Python<'py>, number: u64) -> PyResult<Column<'py, u32>> {
        Ok(self.with(py, |postings| postings.postlist(number).to_vec())?.into_pyarray(py))
    }
}

impl Postings {
    fn with<R>(&self, py: Python<'_>, look: impl FnOnce(postings::Postings<'_>) -> R) -> PyResult<R> {
        let (numbers, directory) = (self.numbers.bind(py).readonly(), self.directory.bind(py).readonly());
        let (starts, pages) = (self.starts.bind(py).readonly(), self.pages.bind(py).readonly());
        let sizes = self.sizes.bind(py).readonly();
        Ok(look(postings::Postings::trusted(
            contiguous(&numbers)?,
            contiguous(&directory)?,
            contiguous(&starts)?,
            contiguous(&pages)?,
            contiguous(&sizes)?,
        )))
    }
}

/// Whether the arrays make an index: their lengths always, all of them with `check`.
fn numbers_fit(made: &Postings, check: bool) -> PyResult<bool> {
    Python::attach(|py| {
        let (numbers, directory) = (made.numbers.bind(py).readonly(), made.directory.bind(py).readonly());
        let (starts, pages) = (made.starts.bind(py).readonly(), made.pages.bind(py).readonly());
        let sizes = made.sizes.bind(py).readonly();
        let (numbers, directory) = (contiguous(&numbers)?, contiguous(&directory)?);
        let (starts, pages, sizes) = (contiguous(&starts)?, contiguous(&pages)?, contiguous(&sizes)?);
        if check {
            return Ok(detached(py, || {
                postings::Postings::new(numbers, directory, starts, pages, sizes).is_some()
            }));
        }
        let directory_fits = directory.len() == (1 << directory_bits(numbers.len())) + 1;
        Ok(directory_fits && starts.len() == numbers.len() + 1)
    })
}
