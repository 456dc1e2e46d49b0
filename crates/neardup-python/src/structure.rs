//! The structure of pages, and what their terms look like, for those who show pages or compare two of them.

use std::sync::Arc;

use arrow_array::builder::LargeStringBuilder;
use arrow_array::{ArrayRef, Int64Array, LargeListArray, StringArray, StructArray, UInt16Array};
use arrow_buffer::{OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field, Fields};
use neardup_core::content::Class;
use neardup_core::html::elements::{Kind, place};
use neardup_core::noise::words::List;
use neardup_core::noise::{DATE_PART, Noise, kind, look, runs};
use neardup_core::structure::{Block, Structure, StructureReader};
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use pyo3_arrow::PyArray;

use crate::arrays::{detached, pyarrow};
use crate::pages::Pages;
use crate::terms::PageTermLists;

fn role(class: Class) -> &'static str {
    match class {
        Class::Content => "content",
        Class::Links => "links",
        Class::Frame => "frame",
        Class::Title => "title",
    }
}

fn element(kind: Kind) -> &'static str {
    match kind {
        Kind::Text => "text",
        Kind::Heading => "heading",
        Kind::Item => "item",
        Kind::Cell => "cell",
    }
}

/// Lists of so many values each.
fn lists(lengths: impl Iterator<Item = usize>, values: ArrayRef) -> ArrayRef {
    let field = Arc::new(Field::new("item", values.data_type().clone(), false));
    let offsets = OffsetBuffer::<i64>::from_lengths(lengths);
    Arc::new(LargeListArray::new(field, offsets, values, None))
}

fn block_columns(blocks: &[&Block]) -> ArrayRef {
    let mut text = LargeStringBuilder::new();
    blocks.iter().for_each(|block| text.append_value(&block.text));
    let numbers = |of: &dyn Fn(&Block) -> usize| -> ArrayRef {
        Arc::new(Int64Array::from_iter_values(blocks.iter().map(|block| of(block) as i64)))
    };
    let columns: [(&str, DataType, ArrayRef); 7] = [
        ("text", DataType::LargeUtf8, Arc::new(text.finish())),
        (
            "role",
            DataType::Utf8,
            Arc::new(StringArray::from_iter_values(blocks.iter().map(|block| role(block.class)))),
        ),
        (
            "element",
            DataType::Utf8,
            Arc::new(StringArray::from_iter_values(blocks.iter().map(|block| element(block.kind)))),
        ),
        (
            "place",
            DataType::UInt16,
            Arc::new(UInt16Array::from_iter_values(blocks.iter().map(|block| block.place))),
        ),
        ("terms", DataType::Int64, numbers(&|block| block.terms)),
        ("start", DataType::Int64, numbers(&|block| block.source.start)),
        ("end", DataType::Int64, numbers(&|block| block.source.end)),
    ];
    let fields: Fields =
        columns.iter().map(|(name, kind, _)| Field::new(*name, kind.clone(), false)).collect();
    Arc::new(StructArray::new(fields, columns.into_iter().map(|column| column.2).collect(), None))
}

/// (blocks, what each term stands in) of each page.
#[pyfunction]
pub fn page_structure<'py>(
    py: Python<'py>,
    content: PyArray,
    html: PyArray,
    charset: PyArray,
    url: PyArray,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    let pages = Pages::new(&content, &html, &charset, &url)?;
    let (blocks, places) = detached(py, || {
        let mut reader = StructureReader::default();
        let read: Vec<Structure> = pages.iter().map(|page| reader.read(page)).collect();
        let blocks: Vec<&Block> = read.iter().flat_map(|page| &page.blocks).collect();
        let places: ScalarBuffer<u16> = read.iter().flat_map(|page| page.places.iter().copied()).collect();
        (
            lists(read.iter().map(|page| page.blocks.len()), block_columns(&blocks)),
            lists(read.iter().map(|page| page.places.len()), Arc::new(UInt16Array::new(places, None))),
        )
    });
    Ok((pyarrow(py, blocks)?, pyarrow(py, places)?))
}

/// What a term may stand in, by name, as bits.
#[pyfunction]
pub fn place_names(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let names = PyDict::new(py);
    for (name, bit) in place::NAMES {
        names.set_item(name, bit)?;
    }
    Ok(names)
}

/// (what each term looks like as bits, what the run it is in is) of lists of terms, one list after another.
#[pyfunction]
pub fn term_noise<'py>(
    py: Python<'py>,
    terms: PyArray,
) -> PyResult<(Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<u8>>)> {
    let terms = PageTermLists::new(&terms)?;
    let (looks, noise) = detached(py, || {
        let (mut looks, mut noise) = (Vec::new(), Vec::new());
        for page in terms.lists().iter() {
            let page = || page.iter().map(|term| std::str::from_utf8(term).unwrap_or_default());
            let kinds: Vec<_> = page().map(kind).collect();
            looks.extend(page().map(look));
            noise.extend(runs(&kinds).into_iter().map(|run| run.map_or(0, |run| run as u8)));
        }
        (looks, noise)
    });
    Ok((looks.into_pyarray(py), noise.into_pyarray(py)))
}

/// What [`term_noise`] says by name: bits of looks, among them those of words that speak for a kind of difference, and what
/// runs are.
#[pyfunction]
pub fn noise_names(py: Python<'_>) -> PyResult<(Bound<'_, PyDict>, Bound<'_, PyDict>)> {
    let (looks, noise) = (PyDict::new(py), PyDict::new(py));
    looks.set_item("date part", DATE_PART)?;
    for (name, lists) in List::MARKERS {
        looks.set_item(name, lists.iter().fold(0u32, |bits, list| bits | 1 << *list as u32))?;
    }
    for (name, run) in [
        ("date", Noise::Date),
        ("counter", Noise::Counter),
        ("duration", Noise::Duration),
        ("identifier", Noise::Identifier),
    ] {
        noise.set_item(name, run as u8)?;
    }
    Ok((looks, noise))
}
