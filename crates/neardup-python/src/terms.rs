//! Pages to the text of their terms, for the few methods that look at letters.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, LargeListArray, LargeStringArray, cast::AsArray};
use arrow_buffer::{Buffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field};
use neardup_core::chunks::texts::TermLists;
use neardup_core::page::{Reader, Reading};
use neardup_core::terms::Terms;
use pyo3::prelude::*;
use pyo3_arrow::PyArray;

use crate::arrays::{detached, pyarrow};
use crate::errors::Mismatch;
use crate::pages::Pages;

/// A list of terms a page: Arrow's `large_list<large_string>`.
pub struct PageTermLists {
    array: LargeListArray,
    values: LargeStringArray,
}

impl PageTermLists {
    pub fn new(array: &PyArray) -> PyResult<Self> {
        let wrong = || Mismatch::kind("expected an Arrow array of type large_list<large_string>");
        let array = array.array().as_list_opt::<i64>().ok_or_else(wrong)?.clone();
        let values = array.values().as_string_opt::<i64>().ok_or_else(wrong)?.clone();
        if array.null_count() + values.null_count() > 0 {
            return Err(Mismatch::value("lists of terms must not hold nulls"));
        }
        Ok(PageTermLists { array, values })
    }

    pub fn lists(&self) -> TermLists<'_> {
        TermLists {
            pages: self.array.value_offsets(),
            ends: self.values.value_offsets(),
            bytes: self.values.value_data(),
        }
    }
}

/// Terms one after another, and where each ends.
struct Text {
    bytes: Vec<u8>,
    ends: Vec<i64>,
}

impl Terms for Text {
    fn term(&mut self, term: &str) {
        self.bytes.extend_from_slice(term.as_bytes());
        self.ends.push(self.bytes.len() as i64);
    }
}

/// The terms of each page, in order.
#[pyfunction]
pub fn page_terms<'py>(
    py: Python<'py>,
    content: PyArray,
    html: PyArray,
    charset: PyArray,
    url: PyArray,
) -> PyResult<Bound<'py, PyAny>> {
    let pages = Pages::new(&content, &html, &charset, &url)?;
    let (offsets, text) = detached(py, || {
        let mut reader = Reader::default();
        let (mut offsets, mut text) = (vec![0i64], Text { bytes: Vec::new(), ends: vec![0] });
        for page in pages.iter() {
            reader.read(page, Reading::default(), &mut text);
            offsets.push(text.ends.len() as i64 - 1);
        }
        (offsets, text)
    });
    let wrong = |error: arrow_schema::ArrowError| Mismatch::value(error.to_string());
    let ends = OffsetBuffer::new(ScalarBuffer::from(text.ends));
    let terms = LargeStringArray::try_new(ends, Buffer::from_vec(text.bytes), None).map_err(wrong)?;
    let field = Arc::new(Field::new("item", DataType::LargeUtf8, false));
    let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
    let lists: ArrayRef =
        Arc::new(LargeListArray::try_new(field, offsets, Arc::new(terms), None).map_err(wrong)?);
    pyarrow(py, lists)
}
