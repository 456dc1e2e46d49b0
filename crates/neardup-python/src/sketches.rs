//! Fixed-size fingerprints beside min-values and projections: rows of numbers, a row a page.

use neardup_core::batch::{self, Shingling};
use neardup_core::embeddings::fuzzy::Profile;
use neardup_core::embeddings::stable::{self, Codes, Cut};
use neardup_core::embeddings::weighted::{self, Sampler};
use neardup_core::statistics::lexicon::Lexicons;
use neardup_core::{columns, lanes, one_permutation};
use numpy::{PyArray2, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3_arrow::PyArray;

use crate::arrays::{TokenLists, detached, flat, rows};
use crate::statistics::NumberTable;
use crate::terms::PageTermLists;

type Rows<'py> = PyResult<Bound<'py, PyArray2<u64>>>;

fn check(holds: bool, what: &'static str) -> PyResult<()> {
    if holds { Ok(()) } else { Err(PyValueError::new_err(what)) }
}

fn windows(k: usize) -> PyResult<Shingling> {
    check(k > 0, "k must be at least 1")?;
    Ok(Shingling { k, rabin: false })
}

/// The min-values as keys: each tagged with its function in the upper half.
#[pyfunction]
#[pyo3(signature = (tokens, *, k, count))]
pub fn tagged_minima<'py>(py: Python<'py>, tokens: PyArray, k: usize, count: usize) -> Rows<'py> {
    let (tokens, windows) = (TokenLists::new(&tokens)?, windows(k)?);
    check(count > 0, "count must be at least 1")?;
    let made = detached(py, || {
        let minima = batch::minima(tokens.lists(), windows, count);
        let tagged = |(at, value): (usize, u32)| ((at % count) as u64) << 32 | u64::from(value);
        minima.into_iter().enumerate().map(tagged).collect::<Vec<u64>>()
    });
    rows(py, made, count)
}

/// b bits of each of `count` min-values, packed.
#[pyfunction]
#[pyo3(signature = (tokens, *, k, count, bits))]
pub fn packed_minima<'py>(py: Python<'py>, tokens: PyArray, k: usize, count: usize, bits: u32) -> Rows<'py> {
    let (tokens, windows) = (TokenLists::new(&tokens)?, windows(k)?);
    check(count > 0 && matches!(bits, 1 | 2 | 4 | 8), "count must be at least 1, and bits 1, 2, 4 or 8")?;
    let width = lanes::width(count, bits);
    let made = detached(py, || {
        let minima = batch::minima(tokens.lists(), windows, count);
        batch::rows(minima.chunks_exact(count), tokens.lists().len(), width, |minima, row| {
            lanes::pack(minima, bits, row);
        })
    });
    rows(py, made, width)
}

/// One-permutation hashing with densification: `count` numbers a page.
#[pyfunction]
#[pyo3(signature = (tokens, *, k, count))]
pub fn one_permutation_sketches<'py>(py: Python<'py>, tokens: PyArray, k: usize, count: usize) -> Rows<'py> {
    let (tokens, windows) = (TokenLists::new(&tokens)?, windows(k)?);
    check(count > 0 && count < 1 << 31, "count must be at least 1")?;
    let made = detached(py, || {
        let mut shingles = Vec::new();
        let lists = tokens.lists();
        batch::rows(lists.iter(), lists.len(), count, |tokens, row| {
            windows.fill(tokens, &mut shingles);
            one_permutation::sketch(&shingles, row);
        })
    });
    rows(py, made, count)
}

/// One key for each of `groups` groups of columns.
#[pyfunction]
pub fn group_columns<'py>(py: Python<'py>, values: PyReadonlyArray2<'py, u64>, groups: usize) -> Rows<'py> {
    let (values, width) = flat(&values)?;
    check(groups > 0 && groups <= width, "groups must be between 1 and the number of columns")?;
    rows(py, detached(py, || columns::group_columns(values, width, groups)), groups)
}

/// `count` consistent weighted samples a page, of shingles weighted by how often they occur, and by their rarity if the
/// collection's frequencies are given.
#[pyfunction]
#[pyo3(signature = (tokens, *, k, count, pages=0, frequencies=None))]
pub fn weighted_samples<'py>(
    py: Python<'py>,
    tokens: PyArray,
    k: usize,
    count: usize,
    pages: u64,
    frequencies: Option<Bound<'py, NumberTable>>,
) -> Rows<'py> {
    let (tokens, windows) = (TokenLists::new(&tokens)?, windows(k)?);
    check(count > 0, "count must be at least 1")?;
    let table = frequencies.as_ref().map(Bound::get);
    let made = detached(py, || {
        let frequencies = table.map(|table| weighted::Frequencies {
            all: pages,
            elements: table.numbers(),
            pages: table.counts(),
        });
        let sampler = Sampler::new(count);
        let (mut shingles, mut elements) = (Vec::new(), Vec::new());
        let lists = tokens.lists();
        batch::rows(lists.iter(), lists.len(), count, |tokens, row| {
            windows.fill(tokens, &mut shingles);
            weighted::elements(&mut shingles, frequencies, &mut elements);
            sampler.page(tokens, &elements, row);
        })
    });
    rows(py, made, count)
}

/// `codes` codes of `projections` scalar products each, cut into intervals of `width`, or by sign without it.
#[pyfunction]
#[pyo3(signature = (tokens, *, codes, projections, width=None))]
pub fn projection_codes<'py>(
    py: Python<'py>,
    tokens: PyArray,
    codes: usize,
    projections: usize,
    width: Option<f64>,
) -> Rows<'py> {
    let tokens = TokenLists::new(&tokens)?;
    check(codes > 0 && projections > 0, "codes and projections must be at least 1")?;
    check(width.is_none_or(|width| width > 0.0 && width.is_finite()), "width must be above 0")?;
    let kind = Codes { codes, projections, cut: width.map_or(Cut::Sign, Cut::Intervals) };
    let made = detached(py, || {
        let mut buffers = stable::Buffers::default();
        let lists = tokens.lists();
        batch::rows(lists.iter(), lists.len(), codes, |tokens, row| kind.codes(tokens, &mut buffers, row))
    });
    rows(py, made, codes)
}

/// P(two pages at this distance fall into one interval of this width).
#[pyfunction]
pub fn interval_probability(distance: f64, width: f64) -> f64 {
    stable::interval_probability(distance, width)
}

/// I-Match signatures: of the full lexicon, then of `randomised` others.
#[pyfunction]
#[pyo3(signature = (tokens, lexicon, *, unlisted, randomised, left_out, least))]
pub fn lexicon_signatures<'py>(
    py: Python<'py>,
    tokens: PyArray,
    lexicon: Bound<'py, NumberTable>,
    unlisted: bool,
    randomised: usize,
    left_out: f64,
    least: usize,
) -> Rows<'py> {
    let tokens = TokenLists::new(&tokens)?;
    let lexicon = lexicon.get();
    let made = detached(py, || {
        let lexicons = Lexicons { terms: lexicon.numbers(), unlisted, randomised, left_out, least };
        let mut terms = Vec::new();
        let lists = tokens.lists();
        batch::rows(lists.iter(), lists.len(), randomised + 1, |tokens, row| {
            lexicons.signatures(tokens, &mut terms, row);
        })
    });
    rows(py, made, randomised + 1)
}

/// Classes of first characters and their shares in a language, ready for use.
#[pyclass(frozen, module = "neardup._native")]
#[derive(Debug)]
pub struct PrefixProfile(Profile);

#[pymethods]
impl PrefixProfile {
    #[new]
    fn new(classes: Vec<(String, f64)>) -> PyResult<Self> {
        let wrong = "a profile has classes, each with a share of 0 or more";
        Profile::new(classes).map(PrefixProfile).ok_or_else(|| PyValueError::new_err(wrong))
    }

    /// How many terms of each page are in each class.
    fn counts<'py>(&self, py: Python<'py>, terms: PyArray) -> PyResult<Bound<'py, PyArray2<u32>>> {
        let terms = PageTermLists::new(&terms)?;
        let made = detached(py, || {
            let (mut counts, mut all) = (Vec::new(), Vec::new());
            for page in terms.lists().iter() {
                self.0.counts(page, &mut counts);
                all.extend_from_slice(&counts);
            }
            all
        });
        rows(py, made, self.0.len())
    }

    /// One number a scheme; a scheme is the cuts between its intervals of relative deviation.
    #[pyo3(signature = (terms, *, schemes, rarest))]
    fn codes<'py>(&self, py: Python<'py>, terms: PyArray, schemes: Vec<Vec<f64>>, rarest: f64) -> Rows<'py> {
        let terms = PageTermLists::new(&terms)?;
        check(!schemes.is_empty(), "at least one scheme is needed")?;
        let made = detached(py, || {
            let mut counts = Vec::new();
            let lists = terms.lists();
            batch::rows(lists.iter(), lists.len(), schemes.len(), |page, row| {
                self.0.counts(page, &mut counts);
                self.0.codes(&counts, &schemes, rarest, row);
            })
        });
        rows(py, made, schemes.len())
    }
}
