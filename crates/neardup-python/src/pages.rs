//! Pages to tokens, a batch at a time.

use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::{Array, BooleanArray, LargeBinaryArray, StringArray};
use neardup_core::decode::decode;
use neardup_core::hash::{TermHash, fold_term, identities};
use neardup_core::html::links::{Wanted, links as html_links, normalised, resolved};
use neardup_core::making::{Made, Maker};
use neardup_core::page::{Page, Reader, Reading};
use neardup_core::repeated::repeated;
use neardup_core::site::{SiteRule, site};
use numpy::{IntoPyArray, PyArray1, PyArray2};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3_arrow::PyArray;
use rayon::prelude::*;

use crate::arrays::{detached, list_array, pyarrow, rows};
use crate::fingerprints::{KindParts, kind};

/// Bytes of running text that a term takes.
const TERM_BYTES: usize = 6;

pub fn reading(hash: &str, site_rule: &str) -> PyResult<Reading> {
    let hash = match hash {
        "fold" => TermHash::Fold,
        "rabin" => TermHash::Rabin,
        _ => {
            return Err(PyValueError::new_err(format!("unknown token hash {hash:?}: use 'fold' or 'rabin'")));
        }
    };
    Ok(Reading { hash, site: rule(site_rule)? })
}

pub fn rule(site_rule: &str) -> PyResult<SiteRule> {
    match site_rule {
        "registrable" => Ok(SiteRule::Registrable),
        "henzinger" => Ok(SiteRule::Henzinger),
        _ => Err(PyValueError::new_err(format!(
            "unknown site rule {site_rule:?}: use 'registrable' or 'henzinger'"
        ))),
    }
}

fn value(array: &StringArray, at: usize) -> Option<&str> {
    array.is_valid(at).then(|| array.value(at))
}

fn column<T: Clone + 'static>(array: &PyArray, name: &str) -> PyResult<T> {
    let column = array.array().as_any().downcast_ref::<T>();
    column.cloned().ok_or_else(|| PyTypeError::new_err(format!("{name} has the wrong Arrow type")))
}

/// The columns of a batch that reading needs.
pub struct Pages {
    content: LargeBinaryArray,
    html: BooleanArray,
    charset: StringArray,
    url: StringArray,
}

impl Pages {
    pub fn new(content: &PyArray, html: &PyArray, charset: &PyArray, url: &PyArray) -> PyResult<Self> {
        let content: LargeBinaryArray = column(content, "content")?;
        let html: BooleanArray = column(html, "html")?;
        let charset: StringArray = column(charset, "charset")?;
        let url: StringArray = column(url, "url")?;
        if [html.len(), charset.len(), url.len()] != [content.len(); 3] {
            return Err(PyValueError::new_err("columns of different lengths"));
        }
        Ok(Pages { content, html, charset, url })
    }

    pub fn bytes(&self) -> usize {
        self.content.value_data().len()
    }

    pub fn iter(&self) -> impl Iterator<Item = Page<'_>> {
        (0..self.content.len()).map(|at| Page {
            content: self.content.value(at),
            html: self.html.value(at),
            charset: value(&self.charset, at),
            url: value(&self.url, at),
        })
    }
}

/// Pages that get their identities together.
const NAMED: usize = 16;

/// Bytes of text that so many ordinary pages have.
const NAMED_BYTES: usize = NAMED << 14;

/// What reading gives for a batch, one row a page; tokens only if they are held.
#[derive(Default)]
struct Facts {
    offsets: Vec<i64>,
    tokens: Vec<u64>,
    titles: StringBuilder,
    sites: StringBuilder,
    replaced: Vec<bool>,
    high: Vec<u64>,
    low: Vec<u64>,
}

impl Facts {
    /// Takes the identities of the next pages, which end here in the tokens and begin where the one before ends.
    fn name(&mut self, first: usize, ends: &[usize]) {
        let starts = std::iter::once(first).chain(ends.iter().copied());
        let pages: Vec<&[u64]> = starts.zip(ends).map(|(start, &end)| &self.tokens[start..end]).collect();
        for identity in identities(&pages) {
            self.high.push((identity >> 64) as u64);
            self.low.push(identity as u64);
        }
    }
}

/// Reads all pages; `each` is shown the tokens of one after another.
fn read_all(pages: &Pages, reading: Reading, held: bool, mut each: impl FnMut(&[u64])) -> Facts {
    let mut reader = Reader::default();
    // A term of running text takes about six bytes; growing the buffer would copy it.
    let room = if held { pages.bytes() } else { pages.bytes().min(NAMED_BYTES) } / TERM_BYTES;
    let mut read = Facts { offsets: vec![0], tokens: Vec::with_capacity(room), ..Facts::default() };
    let mut count = 0;
    // Some pages get their identities together, while their tokens are still in a near cache.
    let (mut named, mut waiting) = (0, Vec::with_capacity(NAMED));
    for page in pages.iter() {
        let start = read.tokens.len();
        let facts = reader.tokens(page, reading, &mut read.tokens);
        let tokens = &read.tokens[start..];
        count += tokens.len() as i64;
        read.offsets.push(count);
        read.titles.append_option(facts.title);
        read.sites.append_option(facts.site);
        read.replaced.push(facts.replaced);
        each(tokens);
        waiting.push(read.tokens.len());
        if waiting.len() == NAMED {
            read.name(named, &waiting);
            waiting.clear();
            if !held {
                read.tokens.clear();
            }
            named = read.tokens.len();
        }
    }
    read.name(named, &waiting);
    read
}

type Read<'py> = (
    Bound<'py, PyAny>,
    Bound<'py, PyAny>,
    Bound<'py, PyAny>,
    Bound<'py, PyArray1<bool>>,
    Bound<'py, PyArray1<u64>>,
    Bound<'py, PyArray1<u64>>,
);

/// (tokens, title, site, replaced, identity high, identity low) of each page.
#[pyfunction]
#[pyo3(signature = (content, html, charset, url, *, hash="fold", site_rule="registrable"))]
pub fn read_pages<'py>(
    py: Python<'py>,
    content: PyArray,
    html: PyArray,
    charset: PyArray,
    url: PyArray,
    hash: &str,
    site_rule: &str,
) -> PyResult<Read<'py>> {
    let reading = reading(hash, site_rule)?;
    let pages = Pages::new(&content, &html, &charset, &url)?;
    let mut read = detached(py, || read_all(&pages, reading, true, |_| {}));
    Ok((
        pyarrow(py, list_array(read.offsets, read.tokens)?)?,
        pyarrow(py, Arc::new(read.titles.finish()))?,
        pyarrow(py, Arc::new(read.sites.finish()))?,
        read.replaced.into_pyarray(py),
        read.high.into_pyarray(py),
        read.low.into_pyarray(py),
    ))
}

/// Rows of numbers, or sets and their parities.
#[derive(IntoPyObject)]
pub enum MadeColumn<'py> {
    Rows(Bound<'py, PyArray2<u64>>),
    Sets((Bound<'py, PyAny>, Bound<'py, PyAny>)),
}

type Fingerprinted<'py> = (
    Bound<'py, PyArray1<i64>>,
    Option<Bound<'py, PyAny>>,
    Bound<'py, PyAny>,
    Bound<'py, PyAny>,
    Bound<'py, PyArray1<bool>>,
    Bound<'py, PyArray1<u64>>,
    Bound<'py, PyArray1<u64>>,
    Vec<MadeColumn<'py>>,
);

/// (how many tokens, tokens if they are to be held, title, site, replaced, identity high, identity low, a column for each
/// kind of fingerprint) of each page, made in one pass.
#[pyfunction]
#[pyo3(signature = (content, html, charset, url, kinds, *, held, hash="fold", site_rule="registrable"))]
#[allow(clippy::too_many_arguments)]
pub fn fingerprint_pages<'py>(
    py: Python<'py>,
    content: PyArray,
    html: PyArray,
    charset: PyArray,
    url: PyArray,
    kinds: Vec<KindParts>,
    held: bool,
    hash: &str,
    site_rule: &str,
) -> PyResult<Fingerprinted<'py>> {
    let reading = reading(hash, site_rule)?;
    let kinds = kinds.into_iter().map(kind).collect::<PyResult<Vec<_>>>()?;
    let pages = Pages::new(&content, &html, &charset, &url)?;
    let (mut read, made) = detached(py, || {
        let mut maker = Maker::new(&kinds, pages.bytes() / TERM_BYTES);
        let read = read_all(&pages, reading, held, |tokens| maker.page(tokens));
        (read, maker.made())
    });
    let lengths: Vec<i64> = read.offsets.windows(2).map(|ends| ends[1] - ends[0]).collect();
    let lists = |(offsets, values)| pyarrow(py, list_array(offsets, values)?);
    let columns = made.into_iter().map(|made| match made {
        Made::Rows { width, values } => Ok(MadeColumn::Rows(rows(py, values, width)?)),
        Made::Sets { sets, parities } => Ok(MadeColumn::Sets((lists(sets)?, lists(parities)?))),
    });
    let columns = columns.collect::<PyResult<Vec<_>>>()?;
    Ok((
        lengths.into_pyarray(py),
        if held { Some(lists((read.offsets, read.tokens))?) } else { None },
        pyarrow(py, Arc::new(read.titles.finish()))?,
        pyarrow(py, Arc::new(read.sites.finish()))?,
        read.replaced.into_pyarray(py),
        read.high.into_pyarray(py),
        read.low.into_pyarray(py),
        columns,
    ))
}

/// (terms, title, site, encoding) of one page, the terms as strings.
#[pyfunction]
#[pyo3(signature = (content, *, html, charset=None, url=None, site_rule="registrable"))]
pub fn terms(
    py: Python<'_>,
    content: PyBackedBytes,
    html: bool,
    charset: Option<&str>,
    url: Option<&str>,
    site_rule: &str,
) -> PyResult<(Vec<String>, Option<String>, Option<String>, &'static str)> {
    let reading = reading("fold", site_rule)?;
    Ok(detached(py, || {
        let mut terms = Vec::new();
        let page = Page { content: &content, html, charset, url };
        let facts = Reader::default().read(page, reading, &mut terms);
        (terms, facts.title, facts.site, facts.encoding)
    }))
}

/// (own, targets): hashes of each page's URL (0: none), and lists of what each page links to, each target once: what a
/// reader clicks on, or `all` that a crawler follows.
#[pyfunction]
#[pyo3(signature = (content, html, charset, url, *, all=false))]
pub fn links<'py>(
    py: Python<'py>,
    content: PyArray,
    html: PyArray,
    charset: PyArray,
    url: PyArray,
    all: bool,
) -> PyResult<(Bound<'py, PyArray1<u64>>, Bound<'py, PyAny>)> {
    let wanted = if all { Wanted::All } else { Wanted::Anchors };
    let pages = Pages::new(&content, &html, &charset, &url)?;
    let (own, offsets, targets) = detached(py, || {
        let (mut own, mut offsets, mut targets) = (Vec::new(), vec![0i64], Vec::new());
        for page in pages.iter() {
            let url = page.url.and_then(|url| url::Url::parse(url.trim()).ok());
            own.push(url.as_ref().map_or(0, |url| fold_term(normalised(url).as_bytes())));
            if page.html {
                let decoded = decode(page.content, page.charset, true);
                let found = html_links(&decoded.text, url.as_ref(), wanted);
                targets.extend(found.iter().map(|target| fold_term(target.as_bytes())));
            }
            offsets.push(targets.len() as i64);
        }
        (own, offsets, targets)
    });
    Ok((own.into_pyarray(py), pyarrow(py, list_array(offsets, targets)?)?))
}

/// Hashes of addresses as link targets have them, each resolved against the URL beside it, if there is one; 0 where that
/// gives no http(s) URL.
#[pyfunction]
#[pyo3(signature = (address, base=None))]
pub fn url_hashes<'py>(
    py: Python<'py>,
    address: PyArray,
    base: Option<PyArray>,
) -> PyResult<Bound<'py, PyArray1<u64>>> {
    let address: StringArray = column(&address, "address")?;
    let base: Option<StringArray> = base.map(|base| column(&base, "base")).transpose()?;
    if base.as_ref().is_some_and(|base| base.len() != address.len()) {
        return Err(PyValueError::new_err("columns of different lengths"));
    }
    let hash = |at: usize| -> u64 {
        let base = base.as_ref().and_then(|base| value(base, at));
        let base = base.and_then(|base| url::Url::parse(base.trim()).ok());
        let target = value(&address, at).and_then(|address| resolved(address.trim(), base.as_ref()));
        target.map_or(0, |target| fold_term(target.as_bytes()))
    };
    Ok(detached(py, || (0..address.len()).into_par_iter().map(hash).collect::<Vec<_>>()).into_pyarray(py))
}

/// The rows, ascending, whose text stands in an earlier row; there is a text in each.
#[pyfunction]
pub fn repeated_rows(py: Python<'_>, texts: PyArray) -> PyResult<Bound<'_, PyArray1<u32>>> {
    let texts: StringArray = column(&texts, "texts")?;
    if texts.null_count() > 0 {
        return Err(PyValueError::new_err("texts: a row has none"));
    }
    let rows = detached(py, || repeated(texts.len(), |row| texts.value(row).as_bytes()));
    Ok(rows.into_pyarray(py))
}

/// The site of a URL, or None.
#[pyfunction]
#[pyo3(signature = (url, *, site_rule="registrable"))]
pub fn site_of(url: &str, site_rule: &str) -> PyResult<Option<String>> {
    let rule = rule(site_rule)?;
    Ok(url::Url::parse(url.trim()).ok().and_then(|url| site(&url, rule)))
}
