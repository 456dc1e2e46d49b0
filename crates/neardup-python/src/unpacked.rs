//! The plain bytes of files: of local files and standard input without Python, of all else from its file objects.

use std::fs::File;
use std::io::{self, Read};
use std::sync::{Arc, Mutex, MutexGuard};

use neardup_engine::reader::codec::Compression;
use neardup_engine::reader::unpack::{Event, Unpacker};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use crate::arrays::detached;
use crate::errors::of_io;

/// A file object of Python's: of a remote store, of memory.
struct Object(Py<PyAny>);

impl Read for Object {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        Python::attach(|py| {
            let data = self.0.call_method1(py, "read", (buffer.len(),))?;
            let data: PyBackedBytes = data.extract(py).map_err(PyErr::from)?;
            if data.len() > buffer.len() {
                return Err(io::Error::other("a file object gave more than it was asked for"));
            }
            buffer[..data.len()].copy_from_slice(&data);
            Ok(data.len())
        })
    }
}

/// A file of the system: a signal that arrives while it is read reaches Python.
struct Local(File);

impl Read for Local {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.0.read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                    Python::attach(|py| py.check_signals())?;
                }
                result => return result,
            }
        }
    }
}

/// What bytes are read from: a file of the system, if the object is one or says (`native`) what it is beyond what was read.
fn raw(object: &Bound<'_, PyAny>) -> PyResult<Box<dyn Read + Send>> {
    if let Some(file) = local(object)? {
        return Ok(Box::new(file));
    }
    if object.hasattr("native")? {
        let found: Option<(PyBackedBytes, Bound<'_, PyAny>)> = object.call_method0("native")?.extract()?;
        if let Some((head, rest)) = found
            && let Some(file) = local(&rest)?
        {
            return Ok(Box::new(io::Cursor::new(head.to_vec()).chain(file)));
        }
    }
    Ok(Box::new(Object(object.clone().unbind())))
}

#[cfg(unix)]
fn local(object: &Bound<'_, PyAny>) -> PyResult<Option<Local>> {
    use std::os::fd::{BorrowedFd, RawFd};
    if !object.get_type().is(&object.py().import("io")?.getattr("FileIO")?) {
        return Ok(None);
    }
    let number: RawFd = object.call_method0("fileno")?.extract()?;
    // SAFETY: the object holds the descriptor open while it is borrowed here.
    let file = unsafe { BorrowedFd::borrow_raw(number) }.try_clone_to_owned()?;
    Ok(Some(Local(File::from(file))))
}

#[cfg(not(unix))]
fn local(_: &Bound<'_, PyAny>) -> PyResult<Option<Local>> {
    Ok(None)
}

/// Some plain bytes and the place of their member, or (`damage`) a hole: what was wrong at `offset`.
#[pyclass(module = "neardup._native", frozen, get_all)]
#[derive(Debug)]
pub struct Piece {
    data: Py<PyBytes>,
    offset: u64,
    /// Whether `data` is the beginning of a member, so that reading can begin at `offset`.
    starts: bool,
    damage: Option<String>,
}

/// The plain bytes of a file, piece by piece.
#[pyclass(module = "neardup._native", frozen)]
#[derive(Clone, Debug)]
pub struct Unpacked {
    unpacker: Arc<Mutex<Unpacker>>,
    #[pyo3(get)]
    compression: &'static str,
}

impl Unpacked {
    pub fn lock(&self) -> MutexGuard<'_, Unpacker> {
        self.unpacker.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

#[pymethods]
impl Unpacked {
    /// Reads a binary file object from where it is, `read_bytes` at a time.
    #[new]
    #[pyo3(signature = (raw, read_bytes=1_048_576))]
    fn new(
        py: Python<'_>,
        #[pyo3(from_py_with = raw)] raw: Box<dyn Read + Send>,
        read_bytes: usize,
    ) -> PyResult<Self> {
        let unpacker = detached(py, || Unpacker::new(raw, read_bytes)).map_err(of_io)?;
        let compression = unpacker.compression.name();
        Ok(Self { unpacker: Arc::new(Mutex::new(unpacker)), compression })
    }

    /// Stored bytes consumed so far; never less than before.
    #[getter]
    fn taken(&self, py: Python<'_>) -> u64 {
        detached(py, || self.lock().taken())
    }

    /// Whether a dictionary stands before its frames, so that none of them can be read alone.
    #[getter]
    fn has_dictionary(&self, py: Python<'_>) -> bool {
        detached(py, || self.lock().has_dictionary())
    }

    fn __iter__(this: Py<Self>) -> Py<Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Piece>> {
        let mut data = Vec::new();
        let event = detached(py, || self.lock().next(&mut data)).map_err(of_io)?;
        let (offset, starts, damage) = match event {
            Event::Data { offset, starts } => (offset, starts, None),
            Event::Damage { offset, reason } => (offset, false, Some(reason)),
            Event::End => return Ok(None),
        };
        Ok(Some(Piece { data: PyBytes::new(py, &data).unbind(), offset, starts, damage }))
    }
}

/// The compression that a file's first bytes stand for: "gzip", "zstd", "xz", "bzip2" or "none".
#[pyfunction]
pub fn compression_of(head: &[u8]) -> &'static str {
    Compression::of(head).name()
}

/// Why something was passed over that is longer than a page may be.
#[pyfunction]
pub fn too_long(what: &str, length: u64, longest: u64) -> String {
    neardup_core::length::too_long(what, length, longest)
}
