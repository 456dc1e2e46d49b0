//! JSON arrays to lines.

use neardup_core::json_array::Cutter;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use crate::arrays::detached;

/// Cuts the file of one JSON array, piece by piece, into lines of JSON Lines.
#[pyclass(module = "neardup._native")]
#[derive(Debug)]
pub struct ArrayCutter(Cutter);

#[pymethods]
impl ArrayCutter {
    #[new]
    fn new(longest: u64) -> Self {
        Self(Cutter::new(longest))
    }

    /// Goes on with the next bytes; how many bytes of whole elements wait.
    fn feed(&mut self, py: Python<'_>, data: PyBackedBytes) -> usize {
        detached(py, || {
            self.0.feed(&data);
            self.0.waiting()
        })
    }

    /// (the elements that wait as lines, [(number of one that is too long, its length), …]).
    fn take<'py>(&mut self, py: Python<'py>) -> (Bound<'py, PyBytes>, Vec<(u64, u64)>) {
        let (lines, long) = self.0.take();
        (PyBytes::new(py, &lines), long)
    }

    /// How many elements came to an end.
    #[getter]
    fn count(&self) -> u64 {
        self.0.count()
    }

    /// What is wrong with the end of the file, or None.
    fn fault(&self) -> Option<String> {
        self.0.fault()
    }
}

/// Why something was passed over that is longer than a page may be.
#[pyfunction]
pub fn too_long(what: &str, length: u64, longest: u64) -> String {
    neardup_core::length::too_long(what, length, longest)
}
