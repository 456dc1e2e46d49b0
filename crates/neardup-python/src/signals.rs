//! What two given pages are compared by beside their fingerprints: compressed sizes, snippets, what pages are made of.

use std::sync::Arc;

use arrow_array::builder::{LargeStringBuilder, StringBuilder};
use arrow_array::{Array, LargeBinaryArray, LargeStringArray, StringArray, cast::AsArray};
use neardup_core::address::page_url;
use neardup_core::compressed::{Method, Sizer};
use neardup_core::decode::decode;
use neardup_core::hash::TermHash;
use neardup_core::html::anatomy::{Anatomy, anatomy as html_anatomy};
use neardup_core::snippet::Snippets;
use neardup_core::terms::{Splitter, Terms};
use numpy::{IntoPyArray, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3_arrow::PyArray;

use crate::arrays::{detached, list_array, pyarrow};
use crate::errors::Mismatch;
use crate::pages::Pages;
use crate::pairs::{Column, contiguous, edges};

fn method(name: &str) -> PyResult<Method> {
    match name {
        "gzip" => Ok(Method::Gzip),
        "wide" => Ok(Method::Wide),
        _ => Err(Mismatch::value(format!("unknown method {name:?}: use 'gzip' or 'wide'"))),
    }
}

/// Compressed sizes of text `a` followed by text `b`, pair by pair; 0 where one of them is too long for the method.
#[pyfunction]
#[pyo3(signature = (content, a, b, *, method))]
pub fn compressed_sizes<'py>(
    py: Python<'py>,
    content: PyArray,
    a: PyReadonlyArray1<'py, u32>,
    b: PyReadonlyArray1<'py, u32>,
    method: &str,
) -> PyResult<Column<'py, u64>> {
    let method = self::method(method)?;
    let content: LargeBinaryArray = content
        .array()
        .as_binary_opt::<i64>()
        .cloned()
        .ok_or_else(|| Mismatch::kind("expected an Arrow array of type large_binary"))?;
    let pairs = edges(content.len(), contiguous(&a)?, contiguous(&b)?)?;
    let sizes = detached(py, || {
        let mut sizer = Sizer::new(method);
        let text =
            |page: u32| if content.is_valid(page as usize) { content.value(page as usize) } else { b"" };
        pairs.iter().map(|&(a, b)| sizer.size(text(a), text(b)).unwrap_or(0) as u64).collect::<Vec<_>>()
    });
    Ok(sizes.into_pyarray(py))
}

/// The text of each page around the words of a query: `texts[page[i]]` for `queries[i]`.
#[pyfunction]
#[pyo3(signature = (texts, page, queries, *, window, most))]
pub fn snippets<'py>(
    py: Python<'py>,
    texts: PyArray,
    page: PyReadonlyArray1<'py, u32>,
    queries: PyArray,
    window: usize,
    most: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let texts: LargeStringArray = texts
        .array()
        .as_string_opt::<i64>()
        .cloned()
        .ok_or_else(|| Mismatch::kind("expected texts as large_string"))?;
    let queries: StringArray = queries
        .array()
        .as_string_opt::<i32>()
        .cloned()
        .ok_or_else(|| Mismatch::kind("expected queries as string"))?;
    let page = contiguous(&page)?;
    if page.len() != queries.len() || page.iter().any(|&page| page as usize >= texts.len()) {
        return Err(Mismatch::value("every query needs the place of a text"));
    }
    let cut = detached(py, || {
        let mut cutter = Snippets::default();
        let mut out = LargeStringBuilder::new();
        for (at, &page) in page.iter().enumerate() {
            let query = if queries.is_valid(at) { queries.value(at) } else { "" };
            let text = if texts.is_valid(page as usize) { texts.value(page as usize) } else { "" };
            out.append_value(cutter.around(text, query, window, most));
        }
        out.finish()
    });
    pyarrow(py, Arc::new(cut))
}

struct Tokens<'a>(&'a mut Vec<u64>);

impl Terms for Tokens<'_> {
    fn term(&mut self, term: &str) {
        self.0.push(TermHash::Fold.token(term.as_bytes()));
    }
}

/// (text that is displayed, layout, tokens of the main content, canonical address) of each page.
#[pyfunction]
pub fn anatomy<'py>(
    py: Python<'py>,
    content: PyArray,
    html: PyArray,
    charset: PyArray,
    url: PyArray,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    let pages = Pages::new(&content, &html, &charset, &url)?;
    let (texts, layout, main, canonical) = detached(py, || {
        let (mut texts, mut canonical) = (LargeStringBuilder::new(), StringBuilder::new());
        let (mut layout_ends, mut layout) = (vec![0i64], Vec::new());
        let (mut main_ends, mut main) = (vec![0i64], Vec::new());
        let mut splitter = Splitter::default();
        for page in pages.iter() {
            let decoded = decode(page.content, page.charset, page.html);
            let found = if page.html {
                let url = page.url.and_then(page_url);
                html_anatomy(&decoded.text, url.as_ref())
            } else {
                let text = decoded.text.into_owned();
                Anatomy { main: text.clone(), displayed: text, ..Anatomy::default() }
            };
            texts.append_value(&found.displayed);
            canonical.append_option(found.canonical);
            layout.extend(found.layout);
            layout_ends.push(layout.len() as i64);
            splitter.split(&found.main, &mut Tokens(&mut main));
            main_ends.push(main.len() as i64);
        }
        (texts.finish(), (layout_ends, layout), (main_ends, main), canonical.finish())
    });
    Ok((
        pyarrow(py, Arc::new(texts))?,
        pyarrow(py, list_array(layout.0, layout.1)?)?,
        pyarrow(py, list_array(main.0, main.1)?)?,
        pyarrow(py, Arc::new(canonical))?,
    ))
}
