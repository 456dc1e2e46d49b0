//! One pass over the pages of a batch: what is asked of them, and what came of it.

use std::sync::Arc;

use neardup_core::making::Made;
use neardup_engine::pass;
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use pyo3_arrow::PyArray;

use crate::arrays::{detached, list_array, pyarrow, rows};
use crate::compute::ReadKind;
use crate::pages::{Pages, reading};

/// What is to be made of pages; whoever reads pages takes it along, and makes that on the way.
#[pyclass(module = "neardup._native", frozen)]
#[derive(Debug)]
pub struct PageTask(pub pass::PageTask);

#[pymethods]
impl PageTask {
    /// Fingerprints of some kinds; and the tokens, if they are to be `held`.
    #[new]
    #[pyo3(signature = (kinds, held, *, hash="fold", site_rule="registrable"))]
    pub fn new(kinds: Vec<ReadKind>, held: bool, hash: &str, site_rule: &str) -> PyResult<Self> {
        let kinds = kinds.into_iter().map(|ReadKind(kind)| kind).collect();
        Ok(Self(pass::PageTask { kinds, held, reading: reading(hash, site_rule)? }))
    }

    /// Reads the pages of a batch.
    pub fn read(
        &self,
        py: Python<'_>,
        content: PyArray,
        html: PyArray,
        charset: PyArray,
        url: PyArray,
    ) -> PyResult<PagesRead> {
        let pages = Pages::new(&content, &html, &charset, &url)?;
        let run = || self.0.run(pages.bytes(), |pass| pages.iter().for_each(|page| pass.page(page)));
        let ((), read) = detached(py, run);
        PagesRead::new(py, read)
    }
}

/// What was made of pages, one row a page: of each kind of fingerprint rows of numbers, or sets and their parities.
#[pyclass(module = "neardup._native", frozen, get_all)]
#[derive(Debug)]
pub struct PagesRead {
    lengths: Py<PyArray1<i64>>,
    tokens: Option<Py<PyAny>>,
    title: Py<PyAny>,
    site: Py<PyAny>,
    replaced: Py<PyArray1<bool>>,
    identity_high: Py<PyArray1<u64>>,
    identity_low: Py<PyArray1<u64>>,
    made: Vec<Py<PyAny>>,
}

impl PagesRead {
    pub fn new(py: Python<'_>, read: pass::PagesRead) -> PyResult<Self> {
        let lists = |(offsets, values)| pyarrow(py, list_array(offsets, values)?);
        let column = |made| match made {
            Made::Rows { width, values } => Ok(rows(py, values, width)?.into_any().unbind()),
            Made::Sets { sets, parities } => {
                Ok((lists(sets)?, lists(parities)?).into_pyobject(py)?.into_any().unbind())
            }
        };
        let ends = read.lengths.iter().scan(0, |end, length| {
            *end += length;
            Some(*end)
        });
        let tokens = read.tokens.map(|tokens| lists((std::iter::once(0).chain(ends).collect(), tokens)));
        Ok(Self {
            tokens: tokens.transpose()?.map(Bound::unbind),
            lengths: read.lengths.into_pyarray(py).unbind(),
            title: pyarrow(py, Arc::new(read.titles))?.unbind(),
            site: pyarrow(py, Arc::new(read.sites))?.unbind(),
            replaced: read.replaced.into_pyarray(py).unbind(),
            identity_high: read.high.into_pyarray(py).unbind(),
            identity_low: read.low.into_pyarray(py).unbind(),
            made: read.made.into_iter().map(column).collect::<PyResult<_>>()?,
        })
    }
}
