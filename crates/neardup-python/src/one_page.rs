//! One page to the index in one call: read, fingerprinted, and added or asked about, the interpreter lock released
//! from beginning to end. Python's part of an addition is then small enough for threads to add side by side.

use neardup_core::batch::{self, Lists, Shingling};
use neardup_core::hash::identity;
use neardup_core::page::{Page, Reader, Reading};
use neardup_core::site::site;
use neardup_index::group::OnePage;
use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};

use crate::fingerprints::shingling;
use crate::index::{Answers, IndexStore, answers, flags};
use crate::pages::reading;
use crate::pairs::contiguous;

/// A fingerprint that tokens alone decide, as a row of numbers.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Supershingles { shingling: Shingling, count: usize, rows: usize },
    Projection { shingling: Shingling, bits: usize },
}

impl Kind {
    /// Supershingles of `count` minima in groups of `rows`, or a projection to `count` bits.
    fn new((name, k, count, rows, rabin): (String, usize, usize, usize, bool)) -> PyResult<Self> {
        let shingling = shingling(k, rabin)?;
        match name.as_str() {
            "supershingles" if rows > 0 && count >= rows => {
                Ok(Kind::Supershingles { shingling, count, rows })
            }
            "projection" if count > 0 && count.is_multiple_of(64) => {
                Ok(Kind::Projection { shingling, bits: count })
            }
            _ => Err(PyValueError::new_err("no such kind of fingerprint")),
        }
    }

    fn of(self, tokens: Lists<'_>) -> Vec<u64> {
        match self {
            Kind::Supershingles { shingling, count, rows } => {
                batch::minima_keys(tokens, shingling, count, rows)
            }
            Kind::Projection { shingling, bits } => batch::projections(tokens, shingling, bits),
        }
    }
}

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
    fn new(
        kinds: Vec<(String, usize, usize, usize, bool)>,
        hash: &str,
        site_rule: &str,
        min_tokens: usize,
    ) -> PyResult<Self> {
        let kinds = kinds.into_iter().map(Kind::new).collect::<PyResult<_>>()?;
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
                let url = url.and_then(|url| url::Url::parse(url.trim()).ok());
                (*tokens, url.and_then(|url| site(&url, self.reading.site)))
            }
        };
        let offsets = [0, tokens.len() as i64];
        let lists = Lists { offsets: &offsets, values: tokens };
        OnePage {
            identity: (!tokens.is_empty()).then(|| identity(tokens)),
            active: tokens.len() >= self.min_tokens,
            site: on.map_or(0, |name| neardup_index::site_hash(name.as_bytes())),
            words: self.kinds.iter().flat_map(|kind| kind.of(lists)).collect(),
            ..OnePage::default()
        }
    }
}

/// A page as Python gives it.
#[derive(FromPyObject)]
pub enum Given<'py> {
    Bytes(PyBackedBytes),
    Tokens(PyReadonlyArray1<'py, u64>),
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
    given: Given<'py>,
    id: PyBackedBytes,
    add: bool,
    html: bool,
    charset: Option<PyBackedStr>,
    url: Option<PyBackedStr>,
    time: i64,
    request: Option<PyBackedBytes>,
) -> PyResult<(u8, Option<Answers<'py>>)> {
    let content = match &given {
        Given::Bytes(bytes) => Content::Bytes(bytes),
        Given::Tokens(tokens) => Content::Tokens(contiguous(tokens)?),
    };
    let request = request.map(|name| neardup_index::request_hash(&name));
    let answer = store.with(py, |index| {
        let page = reader.page(&content, html, charset.as_deref(), url.as_deref());
        let page = OnePage { id: id.to_vec(), time, request, ..page };
        if add { index.add_one(page) } else { index.query_one(page) }
    })?;
    let told = flags(&answer);
    Ok((told, (!answer.matches.is_empty()).then(|| answers(py, vec![answer]))))
}
