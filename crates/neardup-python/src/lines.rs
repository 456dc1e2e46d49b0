//! JSON lines to pages, or straight to what reading makes of pages: of a block in memory, or of a stretch of a file that
//! the worker reads itself.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Int64Array, LargeBinaryArray, StringArray, UInt32Array};
use arrow_buffer::{NullBuffer, OffsetBuffer, ScalarBuffer};
use memchr::{memchr_iter, memrchr};
use neardup_core::jsonl;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};

use crate::arrays::{detached, pyarrow};
use crate::compute::ReadKind;
use crate::reading::{Asked, Fingerprinted, PagesRead, with_workbench};

/// Bytes that are set aside for the text of a page that is not held; a longer one makes it grow.
const PAGE: usize = 1 << 20;

/// A thread's buffer is let go of if a block made it larger than this.
const HELD: usize = 16 << 20;

/// Bytes that are looked at at a time where only line ends count.
const PIECE: usize = 1 << 16;

/// Bytes that are read and parsed at a time: so many stay in a near cache in between.
const READ: usize = 1 << 17;

thread_local! {
    /// Blocks of a file, one after another: new memory for each would have to be cleared by the system.
    static BLOCK: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// How many line ends a block has.
#[pyfunction]
pub fn count_lines(py: Python<'_>, block: PyBackedBytes) -> usize {
    detached(py, || memchr_iter(b'\n', &block).count())
}

/// The same of a stretch of a file.
#[pyfunction]
pub fn count_lines_in_file(py: Python<'_>, path: PathBuf, start: u64, length: u64) -> PyResult<usize> {
    Ok(detached(py, || -> io::Result<_> {
        let mut file = opened(&path, start)?.take(length);
        let mut lines = 0;
        with_buffer(|buffer| {
            loop {
                buffer.clear();
                if file.by_ref().take(PIECE as u64).read_to_end(buffer)? == 0 {
                    return Ok(lines);
                }
                lines += memchr_iter(b'\n', buffer).count();
            }
        })
    })?)
}

/// (bytes there are, bytes up to the last line end) of the `size` bytes of a file from `start` on; only the last of them
/// are looked at.
#[pyfunction]
pub fn cut_lines(py: Python<'_>, path: PathBuf, start: u64, size: usize) -> PyResult<(usize, usize)> {
    Ok(detached(py, || -> io::Result<_> {
        let mut file = opened(&path, start)?;
        let there = file.metadata()?.len().saturating_sub(start).min(size as u64) as usize;
        let mut end = there;
        with_buffer(|buffer| {
            while end > 0 {
                let from = end.saturating_sub(PIECE);
                buffer.resize(end - from, 0);
                file.seek(SeekFrom::Start(start + from as u64))?;
                file.read_exact(buffer)?;
                if let Some(last) = memrchr(b'\n', buffer) {
                    return Ok((there, from + last + 1));
                }
                end = from;
            }
            Ok((there, 0))
        })
    })?)
}

/// The names of the fields for id, URL, HTML, text and date.
type Names = [PyBackedStr; 5];

fn fields([id, url, html, text, date]: &Names) -> jsonl::Fields<'_> {
    jsonl::Fields { id, url, html, text, date }
}

/// (page columns, bad lines) of a block of whole lines; a line of more than `longest` bytes is a bad one. Bad lines are
/// their numbers, the places of their reasons, and the reasons.
#[pyfunction]
pub fn parse_jsonl<'py>(
    py: Python<'py>,
    block: PyBackedBytes,
    names: Names,
    longest: usize,
) -> PyResult<Parsed<'py>> {
    let lines = detached(py, || jsonl::parse(&block, &fields(&names), longest));
    batch(py, lines, Contents::Held)
}

/// The same of whole lines that stand in a file, and how many line ends there are.
#[pyfunction]
pub fn parse_jsonl_file<'py>(
    py: Python<'py>,
    path: PathBuf,
    start: u64,
    length: usize,
    names: Names,
    longest: usize,
) -> PyResult<(Bound<'py, PyAny>, BadLines<'py>, usize)> {
    let (lines, ends) = detached(py, || {
        let fields = fields(&names);
        let mut parser = jsonl::Parser::new(&fields, length, longest);
        blocks(&path, start, length, |block| parser.block(block))?;
        io::Result::Ok(parser.finish())
    })?;
    let (batch, bad) = batch(py, lines, Contents::Held)?;
    Ok((batch, bad, ends))
}

/// What reading makes of the pages of a block of whole lines, each while it is in the nearest cache: (page columns without
/// contents, bad lines, what `fingerprint_pages` gives).
#[pyfunction]
#[allow(clippy::too_many_arguments)]
#[pyo3(signature = (block, names, longest, kinds, *, held, hash="fold", site_rule="registrable"))]
pub fn fingerprint_jsonl<'py>(
    py: Python<'py>,
    block: PyBackedBytes,
    names: Names,
    longest: usize,
    kinds: Vec<ReadKind>,
    held: bool,
    hash: &str,
    site_rule: &str,
) -> PyResult<(Bound<'py, PyAny>, BadLines<'py>, Fingerprinted<'py>)> {
    let asked = Asked::new(kinds, held, hash, site_rule)?;
    let (lines, read) = detached(py, || {
        with_workbench(|bench| {
            let fields = fields(&names);
            let mut parser = jsonl::Parser::new(&fields, PAGE.min(block.len()), longest);
            let mut read = PagesRead::new(&asked, block.len(), bench);
            parser.block_shown(&block, |page| read.text(page));
            (parser.finish().0, read.end())
        })
    });
    let (batch, bad) = batch(py, lines, Contents::Gone)?;
    Ok((batch, bad, read.into_python(py)?))
}

/// The same of whole lines that stand in a file, and behind the bad lines how many line ends there are.
#[pyfunction]
#[pyo3(signature = (path, start, length, names, longest, kinds, *, held, hash="fold", site_rule="registrable"))]
#[allow(clippy::too_many_arguments)]
pub fn fingerprint_jsonl_file<'py>(
    py: Python<'py>,
    path: PathBuf,
    start: u64,
    length: usize,
    names: Names,
    longest: usize,
    kinds: Vec<ReadKind>,
    held: bool,
    hash: &str,
    site_rule: &str,
) -> PyResult<(Bound<'py, PyAny>, BadLines<'py>, usize, Fingerprinted<'py>)> {
    let asked = Asked::new(kinds, held, hash, site_rule)?;
    let ((lines, ends), read) = detached(py, || {
        with_workbench(|bench| {
            let fields = fields(&names);
            let mut parser = jsonl::Parser::new(&fields, PAGE.min(length), longest);
            let mut read = PagesRead::new(&asked, length, bench);
            blocks(&path, start, length, |block| parser.block_shown(block, |page| read.text(page)))?;
            io::Result::Ok((parser.finish(), read.end()))
        })
    })?;
    let (batch, bad) = batch(py, lines, Contents::Gone)?;
    Ok((batch, bad, ends, read.into_python(py)?))
}

/// Hands out the whole lines of a stretch of a file, some at a time.
fn blocks(path: &Path, start: u64, length: usize, mut each: impl FnMut(&[u8])) -> io::Result<()> {
    let mut file = opened(path, start)?;
    with_buffer(|buffer| {
        // Bytes that were not read yet, and those of a line at the buffer's start whose end was not.
        let (mut left, mut begun) = (length, 0);
        while left > 0 {
            // Of a long line ever more is read at a time.
            let there = begun + left.min(begun.max(READ));
            if buffer.len() < there {
                buffer.resize(there, 0);
            }
            file.read_exact(&mut buffer[begun..there]).map_err(cut_short)?;
            left -= there - begun;
            let last = if left > 0 { memrchr(b'\n', &buffer[begun..there]) } else { Some(there - begun - 1) };
            let whole = last.map_or(0, |last| begun + last + 1);
            each(&buffer[..whole]);
            buffer.copy_within(whole..there, 0);
            begun = there - whole;
        }
        Ok(())
    })
}

fn cut_short(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => io::Error::new(error.kind(), "it became shorter while it was read"),
        _ => error,
    }
}

fn opened(path: &Path, start: u64) -> io::Result<File> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(start))?;
    Ok(file)
}

fn with_buffer<R>(work: impl FnOnce(&mut Vec<u8>) -> R) -> R {
    BLOCK.with_borrow_mut(|buffer| {
        let result = work(buffer);
        if buffer.capacity() > HELD {
            *buffer = Vec::new();
        }
        result
    })
}

/// Numbers of lines, the places of their reasons, and the reasons.
type BadLines<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>, Vec<String>);
type Parsed<'py> = (Bound<'py, PyAny>, BadLines<'py>);

/// Whether the contents of pages are among what was parsed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Contents {
    Held,
    Gone,
}

fn batch(py: Python<'_>, mut lines: jsonl::Lines, contents: Contents) -> PyResult<Parsed<'_>> {
    let bad = std::mem::take(&mut lines.bad);
    let columns = detached(py, || columns(lines, contents))
        .map_err(|error| PyValueError::new_err(error.to_string()))?;
    // Column by column: a batch handed over whole would live, contents and all, as long as its ids are held.
    let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
    let arrays = columns.into_iter().map(|(_, array)| pyarrow(py, array)).collect::<PyResult<Vec<_>>>()?;
    let batch = py.import("pyarrow")?.getattr("RecordBatch")?.call_method1("from_arrays", (arrays, names))?;
    let line = pyarrow(py, Arc::new(Int64Array::from(bad.line)))?;
    let reason = pyarrow(py, Arc::new(UInt32Array::from(bad.reason)))?;
    Ok((batch, (line, reason, bad.reasons)))
}

type Columns = Vec<(&'static str, ArrayRef)>;

fn columns(lines: jsonl::Lines, contents: Contents) -> Result<Columns, arrow_schema::ArrowError> {
    let strings = |column: jsonl::Strings| -> Result<ArrayRef, arrow_schema::ArrowError> {
        let text =
            (0..column.present.len()).map(|at| column.get(at).map(|bytes| String::from_utf8_lossy(bytes)));
        Ok(Arc::new(text.collect::<StringArray>()))
    };
    let (id, url, date) = (strings(lines.id)?, strings(lines.url)?, strings(lines.date)?);
    let mut columns: Columns = vec![
        ("id", id),
        ("url", url),
        ("html", Arc::new(BooleanArray::from(lines.html))),
        ("date", date),
        ("line", Arc::new(Int64Array::from(lines.line))),
        ("start", Arc::new(Int64Array::from(lines.start))),
        ("length", Arc::new(Int64Array::from(lines.length))),
    ];
    if contents == Contents::Held {
        let mut content = lines.content;
        if content.offsets.is_empty() {
            content.offsets.push(0);
        }
        let content = LargeBinaryArray::try_new(
            OffsetBuffer::new(ScalarBuffer::from(content.offsets)),
            content.bytes.into(),
            Some(NullBuffer::from(content.present)).filter(|nulls| nulls.null_count() > 0),
        )?;
        columns.push(("content", Arc::new(content)));
    }
    Ok(columns)
}
