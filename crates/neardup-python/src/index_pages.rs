//! Pages to the index in one call: read, fingerprinted, and added or asked about, the interpreter lock released from
//! beginning to end. Python's part of an addition is then small enough for threads to add side by side.

use neardup_core::address::page_url;
use neardup_core::hash::identity;
use neardup_core::making::{Kind, Made, Maker, Workspace};
use neardup_core::page::{Page, Reader, Reading};
use neardup_core::site::site;
use neardup_index::group::OnePage;
use numpy::PyReadonlyArray1;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};
use pyo3::types::PyBytes;
use rayon::prelude::*;

use crate::compute::ReadKind;
use crate::index::{IndexAnswers, IndexStore, RequestParts, answers, request};
use crate::pages::reading;
use crate::pairs::contiguous;

/// Pages that one thread reads: handing fewer to others takes longer.
const RUN: usize = 16;

/// What is computed of every page, in the order in which the index holds it: rows of numbers, then sets.
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
        let kinds = kinds.into_iter().map(|ReadKind(kind)| kind).collect();
        Ok(PageReader { kinds, reading: reading(hash, site_rule)?, min_tokens })
    }

    /// Adds pages to an index, or asks it about them.
    #[pyo3(signature = (store, pages, *, add))]
    fn carry_out(
        &self,
        py: Python<'_>,
        store: &IndexStore,
        pages: Vec<Bound<'_, PyAny>>,
        add: bool,
    ) -> PyResult<IndexAnswers> {
        let contents: Vec<Given<'_>> = pages.iter().map(Given::of).collect::<PyResult<_>>()?;
        let parts: Vec<PageParts> = pages.iter().map(|page| page.extract()).collect::<PyResult<_>>()?;
        let unread: Vec<Unread<'_>> = contents
            .iter()
            .zip(&parts)
            .map(|(content, parts)| Ok(Unread { content: content.content()?, parts }))
            .collect::<PyResult<_>>()?;
        let given = store.with(py, |index| {
            let read = self.pages(&unread);
            if add { index.add_pages(read) } else { index.query_pages(&read) }
        })?;
        answers(py, given)
    }
}

/// What a page is read from.
enum Content<'a> {
    Bytes(&'a [u8]),
    Tokens(&'a [u64]),
}

/// A page to be read.
struct Unread<'a> {
    content: Content<'a>,
    parts: &'a PageParts,
}

impl PageReader {
    fn pages(&self, pages: &[Unread<'_>]) -> Vec<OnePage> {
        if pages.len() <= RUN {
            return self.run(pages);
        }
        pages.par_chunks(RUN).flat_map_iter(|run| self.run(run)).collect()
    }

    fn run(&self, pages: &[Unread<'_>]) -> Vec<OnePage> {
        let mut work = Workspace::default();
        let mut maker = Maker::new(&self.kinds, 0, &mut work);
        let mut reader = Reader::default();
        let mut tokens = Vec::new();
        let mut read: Vec<OnePage> =
            pages.iter().map(|page| self.page(page, &mut reader, &mut tokens, &mut maker)).collect();
        for made in maker.made() {
            match made {
                Made::Rows { width, values } => {
                    let rows = values.chunks_exact(width.max(1));
                    read.iter_mut().zip(rows).for_each(|(page, row)| page.words.extend_from_slice(row));
                }
                Made::Sets { sets: (offsets, values), .. } => {
                    for (page, ends) in read.iter_mut().zip(offsets.windows(2)) {
                        page.sets.push(values[ends[0] as usize..ends[1] as usize].to_vec());
                    }
                }
            }
        }
        read
    }

    fn page(
        &self,
        page: &Unread<'_>,
        reader: &mut Reader,
        tokens: &mut Vec<u64>,
        maker: &mut Maker<'_>,
    ) -> OnePage {
        let PageParts { html, charset, url, id, time, request: named, .. } = page.parts;
        let url = url.as_deref();
        let (tokens, on) = match page.content {
            Content::Bytes(content) => {
                tokens.clear();
                let bytes = Page { content, html: *html, charset: charset.as_deref(), url };
                let facts = reader.tokens(bytes, self.reading, tokens);
                (&tokens[..], facts.site)
            }
            Content::Tokens(tokens) => {
                let url = url.and_then(page_url);
                (tokens, url.and_then(|url| site(&url, self.reading.site)))
            }
        };
        maker.page(tokens);
        OnePage {
            id: id.to_vec(),
            identity: (!tokens.is_empty()).then(|| identity(tokens)),
            active: tokens.len() >= self.min_tokens,
            site: on.map_or(0, |name| neardup_index::site_hash(name.as_bytes())),
            time: *time,
            request: named.as_ref().map(request),
            ..OnePage::default()
        }
    }
}

/// A page as Python gives it, but for its content: an object with these attributes.
#[derive(FromPyObject)]
struct PageParts {
    id: PyBackedBytes,
    html: bool,
    charset: Option<PyBackedStr>,
    url: Option<PyBackedStr>,
    time: i64,
    request: Option<RequestParts>,
}

/// What a page is read from, as Python gives it: the attribute `content`, its bytes or its tokens.
enum Given<'py> {
    Bytes(PyBackedBytes),
    Tokens(PyReadonlyArray1<'py, u64>),
}

impl<'py> Given<'py> {
    /// The type is asked for, not tried: an error that nobody sees takes and gives back the interpreter lock, for
    /// which other threads wait.
    fn of(page: &Bound<'py, PyAny>) -> PyResult<Self> {
        let content = page.getattr(intern!(page.py(), "content"))?;
        match content.cast::<PyBytes>() {
            Ok(bytes) => Ok(Given::Bytes(PyBackedBytes::from(bytes.clone()))),
            Err(_) => Ok(Given::Tokens(content.extract()?)),
        }
    }

    fn content(&self) -> PyResult<Content<'_>> {
        Ok(match self {
            Given::Bytes(bytes) => Content::Bytes(bytes),
            Given::Tokens(tokens) => Content::Tokens(contiguous(tokens)?),
        })
    }
}
