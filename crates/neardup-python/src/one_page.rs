//! One page to the index in one call: read, fingerprinted, and added or asked about, the interpreter lock released
//! from beginning to end. Python's part of an addition is then small enough for threads to add side by side.

use neardup_core::address::page_url;
use neardup_core::hash::identity;
use neardup_core::making::{Kind, Made, Maker, Workspace};
use neardup_core::page::{Page, Reader, Reading};
use neardup_core::site::site;
use neardup_index::group::OnePage;
use neardup_index::index::Request;
use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};
use pyo3::types::PyBytes;

use crate::compute::ReadKind;
use crate::index::{Answers, IndexStore, RequestParts, answers, flags};
use crate::pages::reading;
use crate::pairs::contiguous;

/// What is computed of every page, in the order of the index's columns.
#[pyclass(frozen, module = "neardup._native")]
#[derive(Debug)]
pub struct PageReader {
    kinds: Vec<Kind>,
    reading: Reading,
    min_tokens: usize,
}

#[pymethods]
impl PageReader {
    #[new]
    #[pyo3(signature = (kinds, *, hash, site_rule, min_tokens))]
    fn new(kinds: Vec<ReadKind>, hash: &str, site_rule: &str, min_tokens: usize) -> PyResult<Self> {
        let kinds: Vec<Kind> = kinds.into_iter().map(|ReadKind(kind)| kind).collect();
        if kinds.iter().any(|kind| matches!(kind, Kind::Set { .. })) {
            return Err(PyValueError::new_err("sets are no rows of numbers"));
        }
        Ok(PageReader { kinds, reading: reading(hash, site_rule)?, min_tokens })
    }
}

impl PageReader {
    fn page(&self, content: &Content<'_>, html: bool, charset: Option<&str>, url: Option<&str>) -> OnePage {
        let mut read = Vec::new();
        let (tokens, on) = match content {
            Content::Bytes(bytes) => {
                let page = Page { content: bytes, html, charset, url };
                let facts = Reader::default().tokens(page, self.reading, &mut read);
                (&read[..], facts.site)
            }
            Content::Tokens(tokens) => {
                let url = url.and_then(page_url);
                (*tokens, url.and_then(|url| site(&url, self.reading.site)))
            }
        };
        let mut work = Workspace::default();
        let mut maker = Maker::new(&self.kinds, 0, &mut work);
        maker.page(tokens);
        let rows = maker.made().into_iter().map(|made| match made {
            Made::Rows { values, .. } => values,
            Made::Sets { .. } => Vec::new(),
        });
        OnePage {
            identity: (!tokens.is_empty()).then(|| identity(tokens)),
            active: tokens.len() >= self.min_tokens,
            site: on.map_or(0, |name| neardup_index::site_hash(name.as_bytes())),
            words: rows.flatten().collect(),
            ..OnePage::default()
        }
    }
}

/// A page as Python gives it.
enum Given<'py> {
    Bytes(PyBackedBytes),
    Tokens(PyReadonlyArray1<'py, u64>),
}

impl<'py> Given<'py> {
    /// The type is asked for, not tried: an error that nobody sees takes and gives back the interpreter lock, for
    /// which other threads wait.
    fn of(given: &Bound<'py, PyAny>) -> PyResult<Self> {
        match given.cast::<PyBytes>() {
            Ok(bytes) => Ok(Given::Bytes(PyBackedBytes::from(bytes.clone()))),
            Err(_) => Ok(Given::Tokens(given.extract()?)),
        }
    }
}

enum Content<'a> {
    Bytes(&'a [u8]),
    Tokens(&'a [u64]),
}

/// Adds one page, or asks about it: its answer's flags, and its matches if it has any.
#[pyfunction]
#[pyo3(signature = (store, reader, given, id, *, add, html, charset, url, time, request))]
#[allow(clippy::too_many_arguments)]
pub fn index_page<'py>(
    py: Python<'py>,
    store: &IndexStore,
    reader: &PageReader,
    given: &Bound<'py, PyAny>,
    id: PyBackedBytes,
    add: bool,
    html: bool,
    charset: Option<PyBackedStr>,
    url: Option<PyBackedStr>,
    time: i64,
    request: Option<RequestParts>,
) -> PyResult<(u8, Option<Answers<'py>>)> {
    let given = Given::of(given)?;
    let content = match &given {
        Given::Bytes(bytes) => Content::Bytes(bytes),
        Given::Tokens(tokens) => Content::Tokens(contiguous(tokens)?),
    };
    let request = request.map(|(name, content)| Request::new(&name, &content));
    let answer = store.with(py, |index| {
        let page = reader.page(&content, html, charset.as_deref(), url.as_deref());
        let page = OnePage { id: id.to_vec(), time, request, ..page };
        if add { index.add_one(page) } else { index.query_one(page) }
    })?;
    let told = flags(&answer);
    Ok((told, (!answer.matches.is_empty()).then(|| answers(py, vec![answer]))))
}
