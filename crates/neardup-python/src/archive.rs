//! WARC files: the framer of the core, fed from Python's file objects.

use std::sync::{Arc, Mutex};

use arrow_array::{ArrayRef, BooleanArray, Int64Array, LargeBinaryArray, StringArray};
use arrow_buffer::{NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::ArrowError;
use neardup_core::warc::framing::{Bounds, Framed, Framer, Stored};
use neardup_core::warc::members::{Members, Stop};
use neardup_core::warc::pages::{Aside, Pages, Texts};
use neardup_core::warc::plain::{Pieces, Plain, Supply};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict};

use crate::arrays::{detached, pyarrow};

/// Plain bytes unpacked at a time: few enough to be framed while they are still in the cache.
const UNPACKED_BYTES: usize = 512 << 10;
/// Stored bytes asked for at a time.
const WINDOW_BYTES: usize = 1 << 20;
/// A member that is not whole within so many stored bytes is left to Python's stream.
const LONGEST_MEMBER: usize = 4 << 20;

/// Stored bytes around a place between two members, as `Unpacked.packed` gives them.
#[derive(Debug)]
struct Window {
    bytes: PyBackedBytes,
    /// Where members were unpacked up to, and how far Python knows of it.
    at: usize,
    known: usize,
    /// Where in the file `bytes` begins.
    base: u64,
}

impl Window {
    fn rest(&self) -> &[u8] {
        &self.bytes[self.at..]
    }
}

/// The pieces of an `Unpacked`: whole gzip members are unpacked here, all else comes from its iterator.
#[derive(Debug)]
struct Unpacked {
    python: Py<PyAny>,
    iterator: Py<PyAny>,
    is_gzip: bool,
    members: Members,
    window: Option<Window>,
}

impl Unpacked {
    /// Unpacks members into `plain`; why no more of them.
    fn whole_members(&mut self, plain: &mut Plain) -> (usize, Stop) {
        let Some(window) = &mut self.window else { return (0, Stop::Exhausted) };
        let mut starts = Vec::new();
        let room = plain.room();
        let before = room.len();
        let started = |at, length| starts.push((length, window.base + at as u64));
        let stop = self.members.unpack(&window.bytes, &mut window.at, room, UNPACKED_BYTES, started);
        let added = room.len() - before;
        for (length, offset) in starts {
            plain.starts_member(length, offset);
        }
        (added, stop)
    }

    /// Tells Python what was unpacked of the window.
    fn tell(&mut self, py: Python<'_>) -> PyResult<()> {
        if let Some(window) = &mut self.window
            && window.at > window.known
        {
            self.python.call_method1(py, "consume", (window.at - window.known,))?;
            window.known = window.at;
        }
        Ok(())
    }

    /// Asks for a window of `size` bytes or more from here on; false if Python stands inside a member.
    fn look(&mut self, size: usize) -> PyResult<bool> {
        Python::attach(|py| {
            self.tell(py)?;
            let found: Option<(PyBackedBytes, usize, u64)> =
                self.python.call_method1(py, "packed", (size,))?.extract(py)?;
            self.window = found.map(|(bytes, at, base)| Window { bytes, at, known: at, base });
            Ok(self.window.is_some())
        })
    }

    /// The next piece of Python's iterator.
    fn piece(&mut self, plain: &mut Plain) -> PyResult<Supply> {
        Python::attach(|py| {
            self.tell(py)?;
            self.window = None;
            let Some(piece) = self.iterator.bind(py).try_iter()?.next().transpose()? else {
                return Ok(Supply::End);
            };
            let offset: u64 = piece.getattr("offset")?.extract()?;
            if let Some(reason) = piece.getattr("damage")?.extract()? {
                return Ok(Supply::Damage { offset, reason });
            }
            let data: PyBackedBytes = piece.getattr("data")?.extract()?;
            plain.append(&data, offset, piece.getattr("starts")?.extract()?);
            Ok(Supply::More)
        })
    }
}

impl Pieces for Unpacked {
    type Error = PyErr;

    fn next(&mut self, plain: &mut Plain) -> PyResult<Supply> {
        if self.is_gzip && (self.window.is_some() || self.look(1)?) {
            let mut seen = 0;
            loop {
                let (added, stop) = self.whole_members(plain);
                if added > 0 {
                    return Ok(Supply::More);
                }
                let rest = self.window.as_ref().map_or(0, |window| window.rest().len());
                // Behind the last whole member the window may end too early; at the end of the file it cannot grow.
                let more = match stop {
                    Stop::Enough | Stop::TooLarge => false,
                    Stop::Exhausted => seen == 0 || rest > seen,
                    Stop::NotWhole => rest < LONGEST_MEMBER && rest > seen,
                };
                if !more || !self.look(rest + rest.max(WINDOW_BYTES))? {
                    break;
                }
                seen = rest.max(1);
            }
        }
        self.piece(plain)
    }

    fn taken(&self) -> u64 {
        let here = self.window.as_ref().map_or(0, |window| window.base + window.at as u64);
        // A file object that cannot say is no reason to lose the record: its end is then where we are.
        let told = Python::attach(|py| self.python.getattr(py, "taken").and_then(|taken| taken.extract(py)));
        here.max(told.unwrap_or(here))
    }
}

/// Reads one WARC file, by the record or by the batch of pages.
#[pyclass(module = "neardup._native")]
#[derive(Debug)]
pub struct WarcReader {
    unpacked: Unpacked,
    framer: Framer,
    number: i64,
}

type FramedTuple = (String, Option<u64>, Option<u64>, String, Py<PyBytes>, Py<PyBytes>, u64, Option<String>);

#[pymethods]
impl WarcReader {
    /// `unpacked` is a `neardup.sources.unpack.Unpacked`; blocks longer than `block_bytes` are held up to `head_bytes`.
    #[new]
    fn new(py: Python<'_>, unpacked: Py<PyAny>, block_bytes: u64, head_bytes: usize) -> PyResult<Self> {
        let compression: String = unpacked.getattr(py, "compression")?.extract(py)?;
        let iterator = unpacked.bind(py).try_iter()?.into_any().unbind();
        let bounds = Bounds { block: block_bytes, head: head_bytes };
        Ok(Self {
            framer: Framer::new(compression == "none", bounds),
            unpacked: Unpacked {
                python: unpacked,
                iterator,
                is_gzip: compression == "gzip",
                members: Members::default(),
                window: None,
            },
            number: 0,
        })
    }

    /// (position, offset, length, kind, header, block, block length, damage) of the next record or bad stretch.
    fn next_record(&mut self, py: Python<'_>) -> PyResult<Option<FramedTuple>> {
        let (framer, unpacked) = (&mut self.framer, &mut self.unpacked);
        let framed = detached(py, || framer.next(unpacked))?;
        let none = || PyBytes::new(py, b"").unbind();
        let tuple = framed.map(|framed| match framed {
            Framed::Bad { position, reason } => {
                (position.to_string(), None, None, String::new(), none(), none(), 0, Some(reason))
            }
            Framed::Record(record) => (
                record.position.to_string(),
                record.stored.map(|stored| stored.offset),
                record.stored.map(|stored| stored.length),
                record.kind.to_ascii_lowercase(),
                PyBytes::new(py, record.header).unbind(),
                PyBytes::new(py, record.block).unbind(),
                record.block_length,
                None,
            ),
        });
        Python::attach(|py| self.unpacked.tell(py))?;
        Ok(tuple)
    }

    /// The next records with blocks of `batch_bytes` or more, or `most` of them; None at the end of the file. Stored
    /// bytes taken so far, plain bytes that are held of these, and the pages.
    fn next_pages(
        &mut self,
        py: Python<'_>,
        batch_bytes: usize,
        most: usize,
        body_bytes: usize,
    ) -> PyResult<Option<(u64, usize, WarcPages)>> {
        let (framer, unpacked, number) = (&mut self.framer, &mut self.unpacked, &mut self.number);
        let gathered = detached(py, || {
            let mut pages = Pages::with_capacity(batch_bytes + batch_bytes / 8);
            while pages.size < batch_bytes && pages.held < most {
                let Some(framed) = framer.next(unpacked)? else {
                    return Ok((pages, true));
                };
                let is_record = matches!(framed, Framed::Record(_));
                pages.push(framed, *number, body_bytes);
                *number += i64::from(is_record);
            }
            Ok::<_, PyErr>((pages, false))
        });
        let (pages, ended) = gathered?;
        self.unpacked.tell(py)?;
        let taken = self.unpacked.taken();
        let pages =
            (!ended || !pages.is_empty()).then(|| (taken, pages.size, WarcPages(Mutex::new(Some(pages)))));
        Ok(pages)
    }
}

/// Pages of a WARC file before they are handed over.
#[pyclass(module = "neardup._native", frozen)]
#[derive(Debug)]
pub struct WarcPages(Mutex<Option<Pages>>);

type AsideTuple = (Option<i64>, FramedTuple);
type Taken<'py> = (Bound<'py, PyDict>, Vec<AsideTuple>, Vec<(String, u64)>, Vec<(String, String)>);

#[pymethods]
impl WarcPages {
    /// (columns, asides, ignored, redirects): the columns of the plain pages; number and what
    /// [`WarcReader::next_record`] tells of what is not plain; how many records of which kind are no pages; addresses
    /// that answered with another. To be called once.
    fn take<'py>(&self, py: Python<'py>) -> PyResult<Taken<'py>> {
        let taken = self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).take();
        let mut pages = taken.ok_or_else(|| PyValueError::new_err("these pages were taken already"))?;
        let (asides, ignored) = (std::mem::take(&mut pages.asides), std::mem::take(&mut pages.ignored));
        let redirects = std::mem::take(&mut pages.redirects);
        let arrays =
            detached(py, || columns(pages)).map_err(|error| PyValueError::new_err(error.to_string()))?;
        let columns = PyDict::new(py);
        for (name, array) in arrays {
            columns.set_item(name, pyarrow(py, array)?)?;
        }
        Ok((columns, asides.into_iter().map(|aside| aside_tuple(py, aside)).collect(), ignored, redirects))
    }
}

fn aside_tuple(py: Python<'_>, aside: Aside) -> AsideTuple {
    let bytes = |bytes: &[u8]| PyBytes::new(py, bytes).unbind();
    match aside {
        Aside::Bad { position, reason } => {
            (None, (position, None, None, String::new(), bytes(b""), bytes(b""), 0, Some(reason)))
        }
        Aside::Record { number, position, stored, kind, header, block, block_length } => {
            let (offset, length) = (stored.map(|stored| stored.offset), stored.map(|stored| stored.length));
            (
                Some(number),
                (position, offset, length, kind, bytes(&header), bytes(&block), block_length, None),
            )
        }
    }
}

fn columns(pages: Pages) -> Result<Vec<(&'static str, ArrayRef)>, ArrowError> {
    let stored = |part: fn(&Stored) -> u64| -> ArrayRef {
        Arc::new(
            pages.stored.iter().map(|stored| stored.as_ref().map(|s| part(s) as i64)).collect::<Int64Array>(),
        )
    };
    let (offset, length) = (stored(|stored| stored.offset), stored(|stored| stored.length));
    let offsets = OffsetBuffer::new(ScalarBuffer::from(pages.content.offsets));
    let content = LargeBinaryArray::try_new(offsets, pages.content.bytes.into(), None)?;
    Ok(vec![
        ("id", strings(pages.id)?),
        ("url", strings(pages.url)?),
        ("content", Arc::new(content)),
        ("html", Arc::new(BooleanArray::from(pages.html))),
        ("charset", strings(pages.charset)?),
        ("date", strings(pages.date)?),
        ("record", Arc::new(Int64Array::from(pages.number))),
        ("offset", offset),
        ("length", length),
    ])
}

fn strings(texts: Texts) -> Result<ArrayRef, ArrowError> {
    let offsets: Result<Vec<i32>, _> = texts.offsets.into_iter().map(i32::try_from).collect();
    let offsets = offsets.map_err(|_| ArrowError::OffsetOverflowError(texts.bytes.len()))?;
    let nulls = Some(NullBuffer::from(texts.present)).filter(|nulls| nulls.null_count() > 0);
    let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
    Ok(Arc::new(StringArray::try_new(offsets, texts.bytes.into(), nulls)?))
}
