//! Pages to streams of their blocks, and what is counted of streams.

use neardup_core::content::{Ideas, address, cells, label};
use neardup_core::ordered::Ordered;
use neardup_core::page::Reader;
use numpy::IntoPyArray;
use pyo3::prelude::*;
use pyo3_arrow::PyArray;

use crate::arrays::{TokenLists, detached, list_array, pyarrow};
use crate::pages::{Pages, rule};
use crate::pairs::Column;

/// The stream of each page.
#[pyfunction]
#[pyo3(signature = (content, html, charset, url, *, site_rule, structure, noise, title, main))]
#[allow(clippy::too_many_arguments)]
pub fn content_streams<'py>(
    py: Python<'py>,
    content: PyArray,
    html: PyArray,
    charset: PyArray,
    url: PyArray,
    site_rule: &str,
    structure: bool,
    noise: bool,
    title: bool,
    main: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let (pages, site) = (Pages::new(&content, &html, &charset, &url)?, rule(site_rule)?);
    let ideas = Ideas { structure, noise, title, main };
    let (offsets, words) = detached(py, || {
        let mut reader = Reader::default();
        let (mut offsets, mut words) = (vec![0i64], Vec::with_capacity(pages.bytes() / 6));
        for page in pages.iter() {
            reader.stream(page, site, ideas, &mut words);
            offsets.push(words.len() as i64);
        }
        (offsets, words)
    });
    pyarrow(py, list_array(offsets, words)?)
}

/// (labels, addresses): the title of each page among those of its site (0: it has no site), and where it was found.
#[pyfunction]
pub fn stream_labels<'py>(
    py: Python<'py>,
    streams: PyArray,
) -> PyResult<(Column<'py, u64>, Column<'py, u64>)> {
    let streams = TokenLists::new(&streams)?;
    let (labels, addresses): (Vec<u64>, Vec<u64>) =
        detached(py, || streams.lists().iter().map(|stream| (label(stream), address(stream))).unzip());
    Ok((labels.into_pyarray(py), addresses.into_pyarray(py)))
}

/// The cells of each page that are to be counted, each once.
#[pyfunction]
pub fn stream_cells(py: Python<'_>, streams: PyArray) -> PyResult<Bound<'_, PyAny>> {
    let streams = TokenLists::new(&streams)?;
    let (offsets, values) = detached(py, || {
        let (mut offsets, mut values) = (vec![0i64], Vec::new());
        let (mut ordered, mut found) = (Ordered::default(), Vec::new());
        for stream in streams.lists().iter() {
            found.clear();
            found.extend(cells(stream));
            ordered.append(&found, &mut values);
            offsets.push(values.len() as i64);
        }
        (offsets, values)
    });
    pyarrow(py, list_array(offsets, values)?)
}
