//! What rules and engines make of fingerprints: keys of columns and bits, parities of sets.

use neardup_core::batch;
use numpy::{PyArray2, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3_arrow::PyArray;

use crate::arrays::{TokenLists, detached, flat, list_array, pyarrow, rows};
use crate::errors::Mismatch;

fn check(holds: bool, what: &'static str) -> PyResult<()> {
    if holds { Ok(()) } else { Err(Mismatch::value(what)) }
}

#[pyfunction]
pub fn pairs_of_keys<'py>(
    py: Python<'py>,
    supershingles: PyReadonlyArray2<'py, u64>,
) -> PyResult<Bound<'py, PyArray2<u64>>> {
    let (values, width) = flat(&supershingles)?;
    check(width > 1, "a pair needs at least two columns")?;
    rows(py, detached(py, || batch::pairs_of_keys(values, width)), width * (width - 1) / 2)
}

#[pyfunction]
pub fn pieces<'py>(
    py: Python<'py>,
    sketches: PyReadonlyArray2<'py, u64>,
    pieces: usize,
) -> PyResult<Bound<'py, PyArray2<u64>>> {
    let (values, width) = flat(&sketches)?;
    check(pieces >= 2 * width && pieces <= 64 * width, "a piece must have between 1 and 32 bits")?;
    rows(py, detached(py, || batch::pieces(values, width, pieces)), pieces)
}

/// The parity of each ordered set.
#[pyfunction]
pub fn parities<'py>(py: Python<'py>, sets: PyArray) -> PyResult<Bound<'py, PyAny>> {
    let sets = TokenLists::new(&sets)?;
    let (offsets, values) = detached(py, || batch::parities(sets.lists()));
    pyarrow(py, list_array(offsets, values)?)
}
