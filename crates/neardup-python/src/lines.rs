//! JSON lines to pages, or straight to what a task makes of pages: of blocks of a stream, or of stretches of a file that the
//! worker reads itself.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use arrow_array::{ArrayRef, BooleanArray, Int64Array, LargeBinaryArray, StringArray, UInt32Array};
use arrow_buffer::{NullBuffer, OffsetBuffer, ScalarBuffer};
use memchr::memchr_iter;
use neardup_core::jsonl;
use neardup_engine::reader::lines::{self, Block, Sizes, Unit};
use neardup_engine::reader::stretch::{Stretch, cut};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::PyBytes;

use crate::arrays::{detached, pyarrow};
use crate::errors::{Mismatch, of_io};
use crate::pass::{PageTask, PagesRead};
use crate::unpacked::Unpacked;

/// Bytes that are set aside for the text of a page that is not held; a longer one makes it grow.
const PAGE: usize = 1 << 20;

/// The names of the fields for id, URL, HTML, text and date.
type Names = [PyBackedStr; 5];

fn fields([id, url, html, text, date]: &Names) -> jsonl::Fields<'_> {
    jsonl::Fields { id, url, html, text, date }
}

/// Whether a file that begins like this holds one JSON array, and not lines of which the first happens to be one.
#[pyfunction]
pub fn array_begins(head: &[u8]) -> bool {
    lines::array_begins(head)
}

/// (bytes there are, bytes up to the last line end) of the `size` bytes of a file from `start` on.
#[pyfunction]
pub fn cut_lines(py: Python<'_>, path: PathBuf, start: u64, size: usize) -> PyResult<(usize, usize)> {
    detached(py, || cut(&path, start, size)).map_err(of_io)
}

/// The blocks of a stream of lines, or of the elements of an array.
#[pyclass(module = "neardup._native", frozen)]
#[derive(Debug)]
pub struct LineBlocks {
    unpacked: Unpacked,
    blocks: Mutex<lines::LineBlocks>,
}

#[pymethods]
impl LineBlocks {
    /// Blocks of `block_bytes` or more, with lines of at most `longest` bytes; `seekable` says that reading can begin at any
    /// line.
    #[new]
    fn new(unpacked: &Unpacked, block_bytes: usize, longest: usize, seekable: bool) -> Self {
        let blocks = lines::LineBlocks::new(Sizes { block: block_bytes, longest }, seekable);
        Self { unpacked: unpacked.clone(), blocks: Mutex::new(blocks) }
    }

    fn __iter__(this: Py<Self>) -> Py<Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<LineBlock>> {
        let next = || {
            let mut blocks = self.blocks.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            blocks.next(&mut self.unpacked.lock())
        };
        Ok(detached(py, next).map_err(of_io)?.map(LineBlock))
    }
}

/// Whole lines of a file, or (`skipped` says why) a place where they could not be had.
#[pyclass(module = "neardup._native", frozen)]
#[derive(Debug)]
pub struct LineBlock(Block);

#[pymethods]
impl LineBlock {
    /// Lines that stand in memory: the number of the first from 0, and where it begins in the file, if reading can begin
    /// there.
    #[new]
    #[pyo3(signature = (data, first_line=0, first_byte=None))]
    fn new(data: &[u8], first_line: u64, first_byte: Option<u64>) -> Self {
        let taken = data.len() as u64;
        Self(Block {
            taken,
            data: data.to_vec(),
            first: first_line,
            first_byte,
            skipped: None,
            unit: Unit::Line,
        })
    }

    /// What it took off the stored file.
    #[getter]
    fn nbytes(&self) -> u64 {
        self.0.taken
    }

    #[getter]
    fn data<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.data)
    }

    fn __len__(&self) -> usize {
        self.0.data.len()
    }

    #[getter]
    fn first_line(&self) -> u64 {
        self.0.first
    }

    #[getter]
    fn first_byte(&self) -> Option<u64> {
        self.0.first_byte
    }

    #[getter]
    fn skipped(&self) -> Option<&str> {
        self.0.skipped.as_deref()
    }

    /// What a line was in the file: a "line" or an "element".
    #[getter]
    fn unit(&self) -> &'static str {
        self.0.unit.name()
    }

    /// How many line ends there are.
    fn count(&self, py: Python<'_>) -> usize {
        detached(py, || memchr_iter(b'\n', &self.0.data).count())
    }

    /// The pages; a line of more than `longest` bytes is a bad one.
    fn parse(&self, py: Python<'_>, names: Names, longest: usize) -> PyResult<ParsedLines> {
        let parsed = detached(py, || {
            let fields = fields(&names);
            let mut parser = jsonl::Parser::new(&fields, self.0.data.len(), longest);
            parser.block(&self.0.data);
            parser.finish()
        });
        ParsedLines::new(py, parsed, Contents::Held)
    }

    /// The pages without their contents, and what a task makes of each while it is in the nearest cache.
    fn read(
        &self,
        py: Python<'_>,
        names: Names,
        longest: usize,
        task: &PageTask,
    ) -> PyResult<(ParsedLines, PagesRead)> {
        let data = &self.0.data;
        let (parsed, read) = detached(py, || {
            task.0.run(data.len(), |pass| {
                let fields = fields(&names);
                let mut parser = jsonl::Parser::new(&fields, PAGE.min(data.len()), longest);
                parser.block_shown(data, |page| pass.text(page));
                parser.finish()
            })
        });
        Ok((ParsedLines::new(py, parsed, Contents::Gone)?, PagesRead::new(py, read)?))
    }
}

/// Whole lines that stand in a plain file of this machine.
#[pyclass(module = "neardup._native", frozen)]
#[derive(Debug)]
pub struct LineStretch(Stretch);

#[pymethods]
impl LineStretch {
    #[new]
    fn new(path: PathBuf, start: u64, length: usize) -> Self {
        Self(Stretch { path, start, length })
    }

    /// How many line ends there are.
    fn count(&self, py: Python<'_>) -> PyResult<usize> {
        detached(py, || self.0.count()).map_err(of_io)
    }

    /// The pages; a line of more than `longest` bytes is a bad one.
    fn parse(&self, py: Python<'_>, names: Names, longest: usize) -> PyResult<ParsedLines> {
        let parsed = detached(py, || {
            let fields = fields(&names);
            let mut parser = jsonl::Parser::new(&fields, self.0.length, longest);
            self.0.blocks(|block| parser.block(block))?;
            Ok(parser.finish())
        });
        ParsedLines::new(py, parsed.map_err(of_io)?, Contents::Held)
    }

    /// The pages without their contents, and what a task makes of each while it is in the nearest cache.
    fn read(
        &self,
        py: Python<'_>,
        names: Names,
        longest: usize,
        task: &PageTask,
    ) -> PyResult<(ParsedLines, PagesRead)> {
        let (parsed, read) = detached(py, || {
            task.0.run(self.0.length, |pass| {
                let fields = fields(&names);
                let mut parser = jsonl::Parser::new(&fields, PAGE.min(self.0.length), longest);
                self.0.blocks(|block| parser.block_shown(block, |page| pass.text(page)))?;
                Ok(parser.finish())
            })
        });
        Ok((ParsedLines::new(py, parsed.map_err(of_io)?, Contents::Gone)?, PagesRead::new(py, read)?))
    }
}

/// What came of lines: columns of pages; numbers of bad lines, the places of their reasons, and the reasons; and how many
/// line ends there are.
#[pyclass(module = "neardup._native", frozen, get_all)]
#[derive(Debug)]
pub struct ParsedLines {
    pages: Py<PyAny>,
    bad: (Py<PyAny>, Py<PyAny>, Vec<String>),
    count: usize,
}

/// Whether the contents of pages are among what was parsed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Contents {
    Held,
    Gone,
}

impl ParsedLines {
    fn new(py: Python<'_>, (mut lines, count): (jsonl::Lines, usize), contents: Contents) -> PyResult<Self> {
        let bad = std::mem::take(&mut lines.bad);
        let columns =
            detached(py, || columns(lines, contents)).map_err(|error| Mismatch::value(error.to_string()))?;
        // Column by column: a batch handed over whole would live, contents and all, as long as its ids are held.
        let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
        let arrays =
            columns.into_iter().map(|(_, array)| pyarrow(py, array)).collect::<PyResult<Vec<_>>>()?;
        let batch =
            py.import("pyarrow")?.getattr("RecordBatch")?.call_method1("from_arrays", (arrays, names))?;
        let line = pyarrow(py, Arc::new(Int64Array::from(bad.line)))?.unbind();
        let reason = pyarrow(py, Arc::new(UInt32Array::from(bad.reason)))?.unbind();
        Ok(Self { pages: batch.unbind(), bad: (line, reason, bad.reasons), count })
    }
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
