//! WARC files: records one by one, or batches of pages.

use std::sync::{Arc, Mutex};

use arrow_array::{ArrayRef, BooleanArray, Int64Array, LargeBinaryArray, StringArray};
use arrow_buffer::{NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::ArrowError;
use neardup_core::warc::framing::{Bounds, Framed, Stored};
use neardup_core::warc::pages::{Pages, Texts};
use neardup_engine::reader::archive::{Archive, Batch, Loaded};
use neardup_engine::reader::patient::{self, Record};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::arrays::{detached, pyarrow};
use crate::errors::{Mismatch, of_io, of_no_page};
use crate::pass::{PageTask, PagesRead};
use crate::unpacked::Unpacked;

/// One record as it stands, or (`damage`) a stretch that is none.
///
/// `offset` and `length` are those of the stored bytes, where reading can begin there (else None); `position` says in
/// words where it is. `block` is shorter than `block_length` where only its head was held.
#[pyclass(module = "neardup._native", name = "Framed", frozen, get_all)]
#[derive(Debug)]
pub struct PyFramed {
    position: String,
    offset: Option<u64>,
    length: Option<u64>,
    kind: String,
    header: Py<PyBytes>,
    block: Py<PyBytes>,
    block_length: u64,
    damage: Option<String>,
}

impl PyFramed {
    fn of(py: Python<'_>, framed: Framed<'_>) -> Self {
        match framed {
            Framed::Bad { position, reason } => Self {
                position: position.to_string(),
                offset: None,
                length: None,
                kind: String::new(),
                header: PyBytes::new(py, b"").unbind(),
                block: PyBytes::new(py, b"").unbind(),
                block_length: 0,
                damage: Some(reason),
            },
            Framed::Record(record) => Self {
                position: record.position.to_string(),
                offset: record.stored.map(|stored| stored.offset),
                length: record.stored.map(|stored| stored.length),
                kind: record.kind.to_ascii_lowercase(),
                header: PyBytes::new(py, record.header).unbind(),
                block: PyBytes::new(py, record.block).unbind(),
                block_length: record.block_length,
                damage: None,
            },
        }
    }
}

#[pymethods]
impl PyFramed {
    #[new]
    #[pyo3(signature = (position, offset=None, length=None, kind="", header=None, block=None, block_length=0, damage=None))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        py: Python<'_>,
        position: String,
        offset: Option<u64>,
        length: Option<u64>,
        kind: &str,
        header: Option<Py<PyBytes>>,
        block: Option<Py<PyBytes>>,
        block_length: u64,
        damage: Option<String>,
    ) -> Self {
        let bytes = |bytes: Option<Py<PyBytes>>| bytes.unwrap_or_else(|| PyBytes::new(py, b"").unbind());
        let (header, block, kind) = (bytes(header), bytes(block), kind.to_owned());
        Self { position, offset, length, kind, header, block, block_length, damage }
    }

    fn __eq__(&self, py: Python<'_>, other: &Self) -> bool {
        (&self.position, self.offset, self.length, &self.kind, self.block_length, &self.damage)
            == (&other.position, other.offset, other.length, &other.kind, other.block_length, &other.damage)
            && self.header.as_bytes(py) == other.header.as_bytes(py)
            && self.block.as_bytes(py) == other.block.as_bytes(py)
    }

    fn __repr__(&self) -> String {
        let Self { position, offset, length, kind, block_length, damage, .. } = self;
        format!("Framed({position:?}, {offset:?}, {length:?}, {kind:?}, {block_length}, {damage:?})")
    }

    /// The first value of a field of its header, or None.
    fn field(&self, py: Python<'_>, name: &str) -> Option<String> {
        patient::record_field(self.header.as_bytes(py), name)
    }

    /// Its page, of at most `longest` bytes: raises `NotAPage` for what is none, `BodyError` for one that cannot be read.
    fn page(&self, py: Python<'_>, longest: usize) -> PyResult<RecordPage> {
        let (header, block) = (self.header.as_bytes(py), self.block.as_bytes(py));
        let record = Record { kind: &self.kind, header, block, block_length: self.block_length };
        let page = detached(py, || patient::read(record, longest)).map_err(of_no_page)?;
        let some = |text: String| Some(text).filter(|text| !text.is_empty());
        Ok(RecordPage {
            id: some(page.id),
            url: some(page.url),
            content: PyBytes::new(py, &page.content).unbind(),
            html: page.html,
            charset: page.charset,
            date: some(page.date),
            tolerated: page.tolerated,
        })
    }

    /// What a server said, or None: status, fields in lower case, and the body of at most `longest` bytes.
    fn answer<'py>(
        &self,
        py: Python<'py>,
        longest: usize,
    ) -> PyResult<Option<(u16, Bound<'py, PyDict>, Bound<'py, PyBytes>)>> {
        let (header, block) = (self.header.as_bytes(py), self.block.as_bytes(py));
        let Some(answer) = detached(py, || patient::answer(header, block, longest)) else { return Ok(None) };
        let fields = PyDict::new(py);
        for (name, value) in answer.fields {
            fields.set_item(name, value)?;
        }
        Ok(Some((answer.status, fields, PyBytes::new(py, &answer.body))))
    }
}

/// The page of a record that was read alone.
#[pyclass(module = "neardup._native", frozen, get_all)]
#[derive(Debug)]
pub struct RecordPage {
    id: Option<String>,
    url: Option<String>,
    content: Py<PyBytes>,
    html: bool,
    charset: Option<String>,
    date: Option<String>,
    /// Whether its answer has no status line.
    tolerated: bool,
}

/// Reads one WARC file, by the record or by the batch of pages.
#[pyclass(module = "neardup._native")]
#[derive(Debug)]
pub struct WarcReader {
    unpacked: Unpacked,
    archive: Archive,
}

#[pymethods]
impl WarcReader {
    /// Blocks longer than `block_bytes` are held up to `head_bytes`.
    #[new]
    fn new(py: Python<'_>, unpacked: &Unpacked, block_bytes: u64, head_bytes: usize) -> Self {
        let compression = detached(py, || unpacked.lock().compression);
        let bounds = Bounds { block: block_bytes, head: head_bytes };
        Self { unpacked: unpacked.clone(), archive: Archive::new(compression, bounds) }
    }

    /// The next record or bad stretch.
    fn next_record(&mut self, py: Python<'_>) -> PyResult<Option<PyFramed>> {
        let (unpacked, archive) = (&self.unpacked, &mut self.archive);
        let framed = detached(py, || archive.next_record(&mut unpacked.lock())).map_err(of_io)?;
        Ok(framed.map(|framed| PyFramed::of(py, framed)))
    }

    /// The next records with blocks of `batch_bytes` or more, or `most` of them; None at the end of the file. Stored
    /// bytes taken so far, plain bytes that are held of these, and the pages, of at most `longest` bytes each.
    fn next_pages(
        &mut self,
        py: Python<'_>,
        batch_bytes: usize,
        most: usize,
        longest: usize,
    ) -> PyResult<Option<(u64, usize, WarcPages)>> {
        let (unpacked, archive) = (&self.unpacked, &mut self.archive);
        let batch = Batch { bytes: batch_bytes, records: most, longest };
        let (pages, taken) = detached(py, || {
            let mut unpacker = unpacked.lock();
            let pages = archive.next_pages(&mut unpacker, batch)?;
            std::io::Result::Ok((pages, unpacker.taken()))
        })
        .map_err(of_io)?;
        Ok(pages.map(|pages| (taken, pages.size, WarcPages { pages: Mutex::new(Some(pages)), longest })))
    }
}

/// Records of a WARC file of which pages are to be made.
#[pyclass(module = "neardup._native", frozen)]
#[derive(Debug)]
pub struct WarcPages {
    pages: Mutex<Option<Pages>>,
    longest: usize,
}

impl WarcPages {
    fn loaded(&self) -> PyResult<Loaded> {
        let pages = self.pages.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).take();
        let pages = pages.ok_or_else(|| Mismatch::value("these pages were taken already"))?;
        Ok(Loaded::new(pages, self.longest))
    }
}

#[pymethods]
impl WarcPages {
    /// The pages among them. They are given away: to be called once.
    fn load(&self, py: Python<'_>) -> PyResult<WarcLoaded> {
        let loaded = detached(py, || self.loaded())?;
        WarcLoaded::new(py, loaded, true)
    }

    /// The same without their contents, and what a task makes of the pages.
    fn read(&self, py: Python<'_>, task: &PageTask) -> PyResult<(WarcLoaded, PagesRead)> {
        let (loaded, read) = detached(py, || {
            let loaded = self.loaded()?;
            let ((), read) = task.0.run(loaded.content_bytes(), |pass| loaded.show(pass));
            PyResult::Ok((loaded, read))
        })?;
        Ok((WarcLoaded::new(py, loaded, false)?, PagesRead::new(py, read)?))
    }
}

/// What came of records: the columns of their pages, where those stand that cannot be read and why, how many of each kind
/// are no pages, how many pages were read though their form is wrong, and addresses that answered with another.
#[pyclass(module = "neardup._native", frozen, get_all)]
#[derive(Debug)]
pub struct WarcLoaded {
    columns: Py<PyDict>,
    skipped: Vec<(String, String)>,
    ignored: Vec<(String, u64)>,
    tolerated: u64,
    redirects: Vec<(String, String)>,
}

impl WarcLoaded {
    fn new(py: Python<'_>, mut loaded: Loaded, held: bool) -> PyResult<Self> {
        let (skipped, ignored) = (std::mem::take(&mut loaded.skipped), std::mem::take(&mut loaded.ignored));
        let (redirects, tolerated) = (std::mem::take(&mut loaded.redirects), loaded.tolerated);
        let arrays = detached(py, || columns(loaded.into_pages(held), held))
            .map_err(|error| Mismatch::value(error.to_string()))?;
        let columns = PyDict::new(py);
        for (name, array) in arrays {
            columns.set_item(name, pyarrow(py, array)?)?;
        }
        Ok(Self { columns: columns.unbind(), skipped, ignored, tolerated, redirects })
    }
}

fn columns(pages: Pages, held: bool) -> Result<Vec<(&'static str, ArrayRef)>, ArrowError> {
    let stored = |part: fn(&Stored) -> u64| -> ArrayRef {
        Arc::new(
            pages.stored.iter().map(|stored| stored.as_ref().map(|s| part(s) as i64)).collect::<Int64Array>(),
        )
    };
    let (offset, length) = (stored(|stored| stored.offset), stored(|stored| stored.length));
    let mut columns: Vec<(&'static str, ArrayRef)> = vec![
        ("id", strings(pages.id)?),
        ("url", strings(pages.url)?),
        ("html", Arc::new(BooleanArray::from(pages.html))),
        ("charset", strings(pages.charset)?),
        ("date", strings(pages.date)?),
        ("record", Arc::new(Int64Array::from(pages.number))),
        ("offset", offset),
        ("length", length),
    ];
    if held {
        let offsets = OffsetBuffer::new(ScalarBuffer::from(pages.content.offsets));
        let content = LargeBinaryArray::try_new(offsets, pages.content.bytes.into(), None)?;
        columns.push(("content", Arc::new(content)));
    }
    Ok(columns)
}

fn strings(texts: Texts) -> Result<ArrayRef, ArrowError> {
    let offsets: Result<Vec<i32>, _> = texts.offsets.into_iter().map(i32::try_from).collect();
    let offsets = offsets.map_err(|_| ArrowError::OffsetOverflowError(texts.bytes.len()))?;
    let nulls = Some(NullBuffer::from(texts.present)).filter(|nulls| nulls.null_count() > 0);
    let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
    Ok(Arc::new(StringArray::try_new(offsets, texts.bytes.into(), nulls)?))
}
