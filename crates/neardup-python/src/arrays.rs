//! Between Python's arrays and slices: checked once here, without copies.

use std::sync::Arc;

use arrow_array::types::UInt64Type;
use arrow_array::{Array, ArrayRef, LargeListArray, UInt64Array, cast::AsArray};
use arrow_buffer::{OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field};
use neardup_core::batch::Lists;
use numpy::{Element, IntoPyArray, PyArray2, PyArrayMethods, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3_arrow::PyArray;

use crate::errors::Mismatch;

/// Runs a kernel without the GIL; the one place that lets go of it.
pub fn detached<R: Send>(py: Python<'_>, kernel: impl FnOnce() -> R + Send) -> R {
    py.detach(kernel)
}

/// A list of tokens a page: Arrow's `large_list<uint64>`.
pub struct TokenLists {
    array: LargeListArray,
    values: UInt64Array,
}

impl TokenLists {
    pub fn new(array: &PyArray) -> PyResult<Self> {
        let array = array.array().as_list_opt::<i64>().ok_or_else(wrong_type)?.clone();
        let values = array.values().as_primitive_opt::<UInt64Type>().ok_or_else(wrong_type)?.clone();
        if array.null_count() + values.null_count() > 0 {
            return Err(Mismatch::value("lists of tokens must not hold nulls"));
        }
        Ok(TokenLists { array, values })
    }

    pub fn lists(&self) -> Lists<'_> {
        Lists { offsets: self.array.value_offsets(), values: self.values.values() }
    }
}

fn wrong_type() -> PyErr {
    Mismatch::kind("expected an Arrow array of type large_list<uint64>")
}

/// Lists back to Arrow.
pub fn list_array(offsets: Vec<i64>, mut values: Vec<u64>) -> PyResult<ArrayRef> {
    // Room was made by what a page might have; of a page that says one thing over and over most of it is left.
    if values.len() < values.capacity() / 4 {
        values.shrink_to_fit();
    }
    let field = Arc::new(Field::new("item", DataType::UInt64, false));
    let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
    let array = LargeListArray::try_new(field, offsets, Arc::new(UInt64Array::from(values)), None);
    Ok(Arc::new(array.map_err(|error| Mismatch::value(error.to_string()))?))
}

/// Rows of `width` numbers as a two-dimensional NumPy array.
pub fn rows<T: Element>(py: Python<'_>, values: Vec<T>, width: usize) -> PyResult<Bound<'_, PyArray2<T>>> {
    let count = values.len().checked_div(width).unwrap_or(0);
    values.into_pyarray(py).reshape([count, width])
}

/// A two-dimensional NumPy array as one slice and its width.
pub fn flat<'a, T: Element>(array: &'a PyReadonlyArray2<'_, T>) -> PyResult<(&'a [T], usize)> {
    let width = array.as_array().ncols();
    if width == 0 {
        return Err(Mismatch::value("expected at least one column"));
    }
    Ok((array.as_slice().map_err(|_| Mismatch::value("expected rows one after another (C order)"))?, width))
}

/// An Arrow array as pyarrow's own.
pub fn pyarrow<'py>(py: Python<'py>, array: ArrayRef) -> PyResult<Bound<'py, PyAny>> {
    py.import("pyarrow")?.getattr("array")?.call1((PyArray::from_array_ref(array),))
}
