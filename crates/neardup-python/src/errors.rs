//! The one place where errors of the crates become Python's exceptions.

use std::borrow::Cow;
use std::io;

use neardup_core::error::Error as CoreError;
use neardup_engine::error::Error as EngineError;
use neardup_engine::reader::patient::NoPage;
use neardup_index::error::Error as IndexError;
use pyo3::exceptions::{PyException, PyOSError, PyOverflowError, PyRuntimeError, PyTypeError, PyValueError};
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

/// Arguments that do not fit each other, or what is asked with them.
#[derive(Debug)]
pub enum Mismatch {
    /// Of the right type, and yet wrong.
    Value(Cow<'static, str>),
    /// An array of another type.
    Kind(Cow<'static, str>),
    /// More than can be numbered, or than was asked for.
    Size(Cow<'static, str>),
}

impl Mismatch {
    pub fn value(what: impl Into<Cow<'static, str>>) -> PyErr {
        Mismatch::Value(what.into()).into()
    }

    pub fn kind(what: impl Into<Cow<'static, str>>) -> PyErr {
        Mismatch::Kind(what.into()).into()
    }

    pub fn size(what: impl Into<Cow<'static, str>>) -> PyErr {
        Mismatch::Size(what.into()).into()
    }
}

impl From<Mismatch> for PyErr {
    fn from(mismatch: Mismatch) -> PyErr {
        match mismatch {
            Mismatch::Value(what) => PyValueError::new_err(what),
            Mismatch::Kind(what) => PyTypeError::new_err(what),
            Mismatch::Size(what) => PyOverflowError::new_err(what),
        }
    }
}

/// A record that is no page, or whose page cannot be read.
pub fn of_no_page(why: NoPage) -> PyErr {
    match why {
        NoPage::Kind(kind) | NoPage::Redirect { kind, .. } => NotAPage::new_err(kind),
        NoPage::Broken(reason) => BodyError::new_err(reason),
    }
}

/// An index that was closed before.
pub fn closed() -> PyErr {
    CallError::new_err("the index is closed")
}

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
