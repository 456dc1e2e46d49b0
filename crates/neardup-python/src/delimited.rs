//! Records of CSV and TSV to columns.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, LargeStringArray};
use arrow_buffer::{NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::ArrowError;
use neardup_core::delimited::{self, Column, Form, Most, Records, Stop};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;

use crate::arrays::{detached, pyarrow};
use crate::errors::Mismatch;

/// Records that leave no doubt: [wanted column, …, starts, ends, lines], where the next record begins, the number of its
/// line, and why it was not read: "enough", "unfinished", "open" (a quote has no end) or "odd".
#[pyclass(module = "neardup._native", frozen, get_all)]
#[derive(Debug)]
pub struct DelimitedRows {
    columns: Vec<Py<PyAny>>,
    at: usize,
    line: u64,
    stop: &'static str,
}

/// The records of `data` from `at` on that leave no doubt. An empty value is null.
#[pyfunction]
#[pyo3(signature = (data, at, line, *, delimiter, width, wanted, most_records, most_bytes))]
#[allow(clippy::too_many_arguments)]
pub fn read_delimited(
    py: Python<'_>,
    data: PyBackedBytes,
    at: usize,
    line: u64,
    delimiter: char,
    width: usize,
    wanted: Vec<usize>,
    most_records: usize,
    most_bytes: usize,
) -> PyResult<DelimitedRows> {
    let form = Form { delimiter: one_byte(delimiter)?, width, wanted: &wanted };
    let most = Most { records: most_records, bytes: most_bytes };
    let (arrays, at, line, stop) = detached(py, || {
        let (records, at, line, stop) = delimited::read(&data, at.min(data.len()), line, form, most);
        (columns(records), at, line, stop)
    });
    let arrays = arrays.map_err(|error| Mismatch::value(error.to_string()))?;
    let column = |array| pyarrow(py, array).map(Bound::unbind);
    let columns = arrays.into_iter().map(column).collect::<PyResult<Vec<_>>>()?;
    let stop = match stop {
        Stop::Enough => "enough",
        Stop::Unfinished => "unfinished",
        Stop::Open => "open",
        Stop::Odd => "odd",
    };
    Ok(DelimitedRows { columns, at, line, stop })
}

/// Rows that have another number of fields: the numbers of their lines, how many fields each has, where the next record
/// begins, and the number of its line.
#[pyclass(module = "neardup._native", frozen, get_all)]
#[derive(Debug)]
pub struct WrongRows {
    lines: Vec<u64>,
    fields: Vec<u64>,
    at: usize,
    line: u64,
}

/// The rows of `data` from `at` on that have not `width` fields, as far as they leave no doubt.
#[pyfunction]
#[pyo3(signature = (data, at, line, *, delimiter, width, most_records, most_bytes))]
#[allow(clippy::too_many_arguments)]
pub fn wrong_rows(
    py: Python<'_>,
    data: PyBackedBytes,
    at: usize,
    line: u64,
    delimiter: char,
    width: usize,
    most_records: usize,
    most_bytes: usize,
) -> PyResult<WrongRows> {
    let form = Form { delimiter: one_byte(delimiter)?, width, wanted: &[] };
    let most = Most { records: most_records, bytes: most_bytes };
    let (wrong, at, line) =
        detached(py, || delimited::wrong_rows(&data, at.min(data.len()), line, form, most));
    Ok(WrongRows { lines: wrong.lines, fields: wrong.fields, at, line })
}

fn one_byte(delimiter: char) -> PyResult<u8> {
    u8::try_from(delimiter).map_err(|_| Mismatch::value("a delimiter is one byte"))
}

fn columns(records: Records) -> Result<Vec<ArrayRef>, ArrowError> {
    let places = |places: Vec<usize>| -> ArrayRef {
        Arc::new(Int64Array::from_iter_values(places.into_iter().map(|place| place as i64)))
    };
    let mut arrays = records.columns.into_iter().map(texts).collect::<Result<Vec<_>, _>>()?;
    arrays.push(places(records.starts));
    arrays.push(places(records.ends));
    arrays.push(Arc::new(Int64Array::from_iter_values(records.lines.into_iter().map(|line| line as i64))));
    Ok(arrays)
}

fn texts(column: Column) -> Result<ArrayRef, ArrowError> {
    let mut offsets = Vec::with_capacity(column.ends.len() + 1);
    offsets.push(0);
    offsets.extend(column.ends.iter().map(|&end| end as i64));
    let nulls = NullBuffer::from_iter(offsets.windows(2).map(|ends| ends[0] < ends[1]));
    let nulls = Some(nulls).filter(|nulls| nulls.null_count() > 0);
    let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
    Ok(Arc::new(LargeStringArray::try_new(offsets, column.bytes.into(), nulls)?))
}
