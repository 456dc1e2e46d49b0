//! The one place where errors of the crates become Python's exceptions.

use std::io;

use neardup_core::error::Error as CoreError;
use neardup_engine::error::Error as EngineError;
use neardup_index::error::Error as IndexError;
use pyo3::exceptions::{PyException, PyOSError, PyRuntimeError, PyValueError};
use pyo3::{PyErr, create_exception};

create_exception!(
    neardup._native,
    NotAPage,
    PyException,
    "The record is no page; the kind it is counted under."
);
create_exception!(
    neardup._native,
    BodyError,
    PyException,
    "The record is a page that cannot be read; the reason."
);
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

/// An error of the operating system, with its number; what Python's file objects raised is raised again.
pub fn of_io(error: io::Error) -> PyErr {
    let Some(code) = error.raw_os_error() else { return PyErr::from(error) };
    let what = error.to_string();
    let what = what.strip_suffix(&format!(" (os error {code})")).unwrap_or(&what).to_owned();
    PyOSError::new_err((code, what))
}

/// An error of the core: what was handed over makes no sense.
pub fn of_core(error: CoreError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// An error of the engine.
pub fn of_engine(error: EngineError) -> PyErr {
    let what = error.to_string();
    match error {
        EngineError::Damaged(_) | EngineError::Mismatch(_) => PyValueError::new_err(what),
        EngineError::Body(_) => BodyError::new_err(what),
        EngineError::Unreadable(_) => PyOSError::new_err(what),
        EngineError::Threads(_) => PyRuntimeError::new_err(what),
    }
}
