//! The chunk index: built from fingerprints, asked in batches; its arrays may lie in a file.

use neardup_core::batch::Lists;
use neardup_core::postings::{self, Postings, Wanted};
use numpy::{IntoPyArray, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3_arrow::PyArray;

use crate::arrays::{TokenLists, detached};
use crate::pairs::{Column, contiguous};

type Arrays<'py> = (Column<'py, u64>, Column<'py, u64>, Column<'py, u32>, Column<'py, u32>, Column<'py, u32>);

/// (numbers, directory, starts, pages, sizes) of the index over all batches of number lists.
#[pyfunction]
pub fn build_postings<'py>(py: Python<'py>, fingerprints: Vec<PyArray>) -> PyResult<Arrays<'py>> {
    let lists: Vec<TokenLists> = fingerprints.iter().map(TokenLists::new).collect::<PyResult<_>>()?;
    let lists: Vec<Lists> = lists.iter().map(TokenLists::lists).collect();
    if lists.iter().map(Lists::len).sum::<usize>() > u32::MAX as usize {
        return Err(PyValueError::new_err("more pages than an index can number"));
    }
    let built = detached(py, || postings::build(&lists))
        .ok_or_else(|| PyValueError::new_err("more entries than an index can hold"))?;
    Ok((
        built.numbers.into_pyarray(py),
        built.directory.into_pyarray(py),
        built.starts.into_pyarray(py),
        built.pages.into_pyarray(py),
        built.sizes.into_pyarray(py),
    ))
}

type Given<'py> = (
    PyReadonlyArray1<'py, u64>,
    PyReadonlyArray1<'py, u64>,
    PyReadonlyArray1<'py, u32>,
    PyReadonlyArray1<'py, u32>,
    PyReadonlyArray1<'py, u32>,
);

fn checked<'a>(arrays: &'a Given<'_>) -> PyResult<Postings<'a>> {
    let (numbers, directory, starts) =
        (contiguous(&arrays.0)?, contiguous(&arrays.1)?, contiguous(&arrays.2)?);
    let (pages, sizes) = (contiguous(&arrays.3)?, contiguous(&arrays.4)?);
    Postings::new(numbers, directory, starts, pages, sizes)
        .ok_or_else(|| PyValueError::new_err("the arrays do not make an index"))
}

/// (offsets, pages, shared): for each query the pages that share at least `least` numbers with it, and of the union at
/// least `ratio`.
#[pyfunction]
#[pyo3(signature = (arrays, queries, *, least, ratio=0.0, threads=0))]
pub fn query_postings<'py>(
    py: Python<'py>,
    arrays: Given<'py>,
    queries: PyArray,
    least: u32,
    ratio: f64,
    threads: usize,
) -> PyResult<(Column<'py, i64>, Column<'py, u32>, Column<'py, u32>)> {
    let queries = TokenLists::new(&queries)?;
    let pool = crate::rules::thread_pool(threads)?;
    let postings = checked(&arrays)?;
    let wanted = Wanted { least: least.max(1), ratio };
    let answers = detached(py, || pool.install(|| postings.query(queries.lists(), wanted)));
    Ok((answers.offsets.into_pyarray(py), answers.pages.into_pyarray(py), answers.shared.into_pyarray(py)))
}

/// The pages that have a number, ascending.
#[pyfunction]
pub fn postlist<'py>(py: Python<'py>, arrays: Given<'py>, number: u64) -> PyResult<Column<'py, u32>> {
    Ok(checked(&arrays)?.postlist(number).to_vec().into_pyarray(py))
}
