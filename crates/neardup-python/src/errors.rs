//! The one place where errors of the crates become Python's exceptions.

use neardup_core::error::Error as CoreError;
use neardup_index::error::Error as IndexError;
use pyo3::exceptions::{PyBlockingIOError, PyException, PyOSError, PyValueError};
use pyo3::{PyErr, create_exception};

create_exception!(neardup._native, DamagedError, PyException, "What is stored in an index makes no sense.");

/// An error of an index.
pub fn of_index(error: IndexError) -> PyErr {
    let what = error.to_string();
    match error {
        IndexError::Locked => PyBlockingIOError::new_err(what),
        IndexError::Damaged(_) => DamagedError::new_err(what),
        IndexError::Store(_) => PyOSError::new_err(what),
        IndexError::Usage(_) => PyValueError::new_err(what),
    }
}

/// An error of the core: what was handed over makes no sense.
pub fn of_core(error: CoreError) -> PyErr {
    PyValueError::new_err(error.to_string())
}
