//! Pages to tokens, a batch at a time.

use arrow_array::{Array, BooleanArray, LargeBinaryArray, StringArray};
use neardup_core::address::page_url as url_of;
use neardup_core::decode::decode;
use neardup_core::hash::{TermHash, fold_term};
use neardup_core::html::links::{Wanted, links as html_links, normalised, resolved};
use neardup_core::page::{Page, Reader, Reading};
use neardup_core::repeated::repeated;
use neardup_core::site::{SiteRule, site};
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3_arrow::PyArray;
use rayon::prelude::*;

use crate::arrays::{detached, list_array, pyarrow};
use crate::errors::Mismatch;

pub fn reading(hash: &str, site_rule: &str) -> PyResult<Reading> {
    let hash = match hash {
        "fold" => TermHash::Fold,
        "rabin" => TermHash::Rabin,
        _ => {
            return Err(Mismatch::value(format!("unknown token hash {hash:?}: use 'fold' or 'rabin'")));
        }
    };
    Ok(Reading { hash, site: rule(site_rule)? })
}

pub fn rule(site_rule: &str) -> PyResult<SiteRule> {
    match site_rule {
        "registrable" => Ok(SiteRule::Registrable),
        "henzinger" => Ok(SiteRule::Henzinger),
        _ => {
            Err(Mismatch::value(format!("unknown site rule {site_rule:?}: use 'registrable' or 'henzinger'")))
        }
    }
}

fn value(array: &StringArray, at: usize) -> Option<&str> {
    array.is_valid(at).then(|| array.value(at))
}

fn column<T: Clone + 'static>(array: &PyArray, name: &str) -> PyResult<T> {
    let column = array.array().as_any().downcast_ref::<T>();
    column.cloned().ok_or_else(|| Mismatch::kind(format!("{name} has the wrong Arrow type")))
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
            return Err(Mismatch::value("columns of different lengths"));
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
            let url = page.url.and_then(url_of);
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
        return Err(Mismatch::value("columns of different lengths"));
    }
    let hash = |at: usize| -> u64 {
        let base = base.as_ref().and_then(|base| value(base, at));
        let base = base.and_then(url_of);
        let target = value(&address, at).and_then(|address| match &base {
            Some(base) => resolved(address.trim(), Some(base)),
            None => url_of(address)
                .filter(|url| matches!(url.scheme(), "http" | "https"))
                .as_ref()
                .map(normalised),
        });
        target.map_or(0, |target| fold_term(target.as_bytes()))
    };
    Ok(detached(py, || (0..address.len()).into_par_iter().map(hash).collect::<Vec<_>>()).into_pyarray(py))
}

/// The rows, ascending, whose text stands in an earlier row; there is a text in each.
#[pyfunction]
pub fn repeated_rows(py: Python<'_>, texts: PyArray) -> PyResult<Bound<'_, PyArray1<u32>>> {
    let texts: StringArray = column(&texts, "texts")?;
    if texts.null_count() > 0 {
        return Err(Mismatch::value("texts: a row has none"));
    }
    let rows = detached(py, || repeated(texts.len(), |row| texts.value(row).as_bytes()));
    Ok(rows.into_pyarray(py))
}

/// The site of a URL, or None.
#[pyfunction]
#[pyo3(signature = (url, *, site_rule="registrable"))]
pub fn site_of(url: &str, site_rule: &str) -> PyResult<Option<String>> {
    let rule = rule(site_rule)?;
    Ok(url_of(url).and_then(|url| site(&url, rule)))
}

/// The URL of a page in full, with the scheme that it was written without; None if it is no URL.
#[pyfunction]
pub fn page_url(url: &str) -> Option<String> {
    url_of(url).map(String::from)
}
