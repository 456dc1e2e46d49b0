//! Parts of fingerprints that Python asks for by themselves: keys of columns, probabilities, profiles of languages.

use neardup_core::columns;
use neardup_core::embeddings::fuzzy::Profile;
use neardup_core::embeddings::stable;
use numpy::{PyArray2, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3_arrow::PyArray;

use crate::arrays::{detached, flat, rows};
use crate::errors::Mismatch;
use crate::terms::PageTermLists;

/// One key for each of `groups` groups of columns.
#[pyfunction]
pub fn group_columns<'py>(
    py: Python<'py>,
    values: PyReadonlyArray2<'py, u64>,
    groups: usize,
) -> PyResult<Bound<'py, PyArray2<u64>>> {
    let (values, width) = flat(&values)?;
    if groups == 0 || groups > width {
        return Err(Mismatch::value("groups must be between 1 and the number of columns"));
    }
    rows(py, detached(py, || columns::group_columns(values, width, groups)), groups)
}

/// P(two pages at this distance fall into one interval of this width).
#[pyfunction]
pub fn interval_probability(distance: f64, width: f64) -> f64 {
    stable::interval_probability(distance, width)
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
        Profile::new(classes).map(PrefixProfile).ok_or_else(|| Mismatch::value(wrong))
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
}

impl PrefixProfile {
    pub fn profile(&self) -> &Profile {
        &self.0
    }
}
