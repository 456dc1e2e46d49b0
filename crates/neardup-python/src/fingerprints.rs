//! Tokens to fingerprints, a batch at a time.

use neardup_core::batch::{self, Shingling};
use neardup_core::making::Kind;
use neardup_core::term_sketch::MOST_BINS;
use numpy::{PyArray2, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3_arrow::PyArray;

use crate::arrays::{TokenLists, detached, flat, list_array, pyarrow, rows};

pub fn shingling(k: usize, rabin: bool) -> PyResult<Shingling> {
    if k == 0 {
        return Err(PyValueError::new_err("k must be at least 1"));
    }
    Ok(Shingling { k, rabin })
}

/// A fingerprint that tokens alone decide: "keys", "bits", "terms" or "set"; k; min-values, bits or bins; rows; whether by Rabin's hash.
pub type KindParts = (String, usize, usize, usize, bool);

pub fn kind((name, k, count, rows, rabin): KindParts) -> PyResult<Kind> {
    let shingling = shingling(k, rabin)?;
    match name.as_str() {
        "keys" if rows > 0 && count >= rows => Ok(Kind::Keys { shingling, count, rows }),
        "bits" if count > 0 && count.is_multiple_of(64) => Ok(Kind::Bits { shingling, bits: count }),
        "terms" if bins(count) => Ok(Kind::Terms { bins: count }),
        "set" => Ok(Kind::Set { shingling }),
        _ => Err(PyValueError::new_err("no such kind of fingerprint")),
    }
}

/// Whether a sketch of terms may have so many bins.
fn bins(count: usize) -> bool {
    count > 0 && count.is_multiple_of(64) && count <= MOST_BINS
}

fn check(holds: bool, what: &'static str) -> PyResult<()> {
    if holds { Ok(()) } else { Err(PyValueError::new_err(what)) }
}

#[pyfunction]
#[pyo3(signature = (tokens, *, k, count, rabin=false))]
pub fn minima<'py>(
    py: Python<'py>,
    tokens: PyArray,
    k: usize,
    count: usize,
    rabin: bool,
) -> PyResult<Bound<'py, PyArray2<u32>>> {
    let (tokens, shingling) = (TokenLists::new(&tokens)?, shingling(k, rabin)?);
    check(count > 0, "count must be at least 1")?;
    rows(py, detached(py, || batch::minima(tokens.lists(), shingling, count)), count)
}

#[pyfunction]
#[pyo3(signature = (tokens, *, k, count, rows, rabin=false))]
pub fn minima_keys<'py>(
    py: Python<'py>,
    tokens: PyArray,
    k: usize,
    count: usize,
    rows: usize,
    rabin: bool,
) -> PyResult<Bound<'py, PyArray2<u64>>> {
    let (tokens, shingling) = (TokenLists::new(&tokens)?, shingling(k, rabin)?);
    check(rows > 0 && count >= rows, "rows must be between 1 and count")?;
    let keys = detached(py, || batch::minima_keys(tokens.lists(), shingling, count, rows));
    crate::arrays::rows(py, keys, count / rows)
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
#[pyo3(signature = (tokens, *, bits, k=1, rabin=false))]
pub fn projections<'py>(
    py: Python<'py>,
    tokens: PyArray,
    bits: usize,
    k: usize,
    rabin: bool,
) -> PyResult<Bound<'py, PyArray2<u64>>> {
    let (tokens, shingling) = (TokenLists::new(&tokens)?, shingling(k, rabin)?);
    check(bits > 0 && bits.is_multiple_of(64), "bits must be a multiple of 64")?;
    rows(py, detached(py, || batch::projections(tokens.lists(), shingling, bits)), bits / 64)
}

/// Of each page a bit for each of `count` bins of its distinct tokens.
#[pyfunction]
#[pyo3(signature = (tokens, *, count))]
pub fn term_sketches<'py>(
    py: Python<'py>,
    tokens: PyArray,
    count: usize,
) -> PyResult<Bound<'py, PyArray2<u64>>> {
    let tokens = TokenLists::new(&tokens)?;
    check(bins(count), "bins must be a multiple of 64 and at most 1024")?;
    rows(py, detached(py, || batch::term_sketches(tokens.lists(), count)), count / 64)
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

#[pyfunction]
#[pyo3(signature = (tokens, *, k, rabin=false))]
pub fn shingle_sets<'py>(
    py: Python<'py>,
    tokens: PyArray,
    k: usize,
    rabin: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let (tokens, shingling) = (TokenLists::new(&tokens)?, shingling(k, rabin)?);
    let (offsets, values) = detached(py, || batch::shingle_sets(tokens.lists(), shingling));
    pyarrow(py, list_array(offsets, values)?)
}

/// The parity of each ordered set.
#[pyfunction]
pub fn parities<'py>(py: Python<'py>, sets: PyArray) -> PyResult<Bound<'py, PyAny>> {
    let sets = TokenLists::new(&sets)?;
    let (offsets, values) = detached(py, || batch::parities(sets.lists()));
    pyarrow(py, list_array(offsets, values)?)
}
