//! The one place where errors of the crates become Python's exceptions.

use neardup_core::error::Error as CoreError;
use neardup_index::error::Error as IndexError;
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::{PyErr, create_exception};

create_exception!(neardup._native, StoreError, PyException, "The disk, or the store on it, refused.");
create_exception!(neardup._native, LockedError, StoreError, "Another has the index open.");
create_exception!(neardup._native, DamagedError, StoreError, "What is stored in an index makes no sense.");
create_exception!(neardup._native, CallError, PyException, "An index cannot do what it is asked for.");

/// An error of an index.
pub fn of_index(error: IndexError) -> PyErr {
    let what = error.to_string();
    match error {
        IndexError::Locked => LockedError::new_err(what),
        IndexError::Damaged(_) => DamagedError::new_err(what),
        IndexError::Store(_) => StoreError::new_err(what),
        IndexError::Usage(_) => CallError::new_err(what),
    }
}

/// An error of the core: what was handed over makes no sense.
pub fn of_core(error: CoreError) -> PyErr {
    PyValueError::new_err(error.to_string())
}
