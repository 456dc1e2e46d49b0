//! Chunk sets: of each page the numbers that one of the selection heuristics takes.

use neardup_core::batch::Shingling;
use neardup_core::chunks::anchors::{self, Anchor};
use neardup_core::chunks::winnowing::Winnowing;
use neardup_core::chunks::{Sets, breakpoints, bytes, positions, sets, smallest};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3_arrow::PyArray;

use crate::arrays::{TokenLists, detached, list_array, pyarrow};
use crate::terms::PageTermLists;

type Chunks<'py> = PyResult<Bound<'py, PyAny>>;

fn windows(n: usize) -> PyResult<Shingling> {
    positive(n, "n")?;
    Ok(Shingling { k: n, rabin: false })
}

fn positive(value: usize, name: &str) -> PyResult<()> {
    if value == 0 { Err(PyValueError::new_err(format!("{name} must be at least 1"))) } else { Ok(()) }
}

fn lists(py: Python<'_>, made: Sets) -> Chunks<'_> {
    pyarrow(py, list_array(made.offsets, made.values)?)
}

/// Of every `window` consecutive windows of n tokens the smallest.
#[pyfunction]
#[pyo3(signature = (tokens, *, n, window))]
pub fn winnowed(py: Python<'_>, tokens: PyArray, n: usize, window: usize) -> Chunks<'_> {
    let tokens = TokenLists::new(&tokens)?;
    positive(window, "window")?;
    let winnowing = Winnowing { chunks: windows(n)?, window };
    let made = detached(py, || {
        let mut buffer = Vec::new();
        sets(tokens.lists().iter(), |tokens, out| winnowing.select(tokens, &mut buffer, out))
    });
    lists(py, made)
}

/// The stretches of tokens that end where a token's hash is 0 mod `modulus`.
#[pyfunction]
#[pyo3(signature = (tokens, *, modulus))]
pub fn stretches(py: Python<'_>, tokens: PyArray, modulus: usize) -> Chunks<'_> {
    let tokens = TokenLists::new(&tokens)?;
    positive(modulus, "modulus")?;
    let modulus = modulus as u64;
    let made =
        detached(py, || sets(tokens.lists().iter(), |tokens, out| breakpoints::select(tokens, modulus, out)));
    lists(py, made)
}

/// The windows of n tokens whose last token's hash is 0 mod `modulus`.
#[pyfunction]
#[pyo3(signature = (tokens, *, n, modulus))]
pub fn ending_windows(py: Python<'_>, tokens: PyArray, n: usize, modulus: usize) -> Chunks<'_> {
    let (tokens, windows) = (TokenLists::new(&tokens)?, windows(n)?);
    positive(modulus, "modulus")?;
    let modulus = modulus as u64;
    let made = detached(py, || {
        let mut buffer = Vec::new();
        sets(tokens.lists().iter(), |tokens, out| {
            breakpoints::ending(tokens, windows, modulus, &mut buffer, out);
        })
    });
    lists(py, made)
}

/// The windows of n tokens that start at every `step`-th token.
#[pyfunction]
#[pyo3(signature = (tokens, *, n, step))]
pub fn stepping_windows(py: Python<'_>, tokens: PyArray, n: usize, step: usize) -> Chunks<'_> {
    let (tokens, windows) = (TokenLists::new(&tokens)?, windows(n)?);
    positive(step, "step")?;
    let made = detached(py, || {
        let mut buffer = Vec::new();
        sets(tokens.lists().iter(), |tokens, out| positions::every(tokens, windows, step, &mut buffer, out))
    });
    lists(py, made)
}

/// `count` of each page's windows of n tokens, at random.
#[pyfunction]
#[pyo3(signature = (tokens, *, n, count))]
pub fn random_windows(py: Python<'_>, tokens: PyArray, n: usize, count: usize) -> Chunks<'_> {
    let (tokens, windows) = (TokenLists::new(&tokens)?, windows(n)?);
    let made = detached(py, || {
        let mut buffer = Vec::new();
        sets(tokens.lists().iter(), |tokens, out| positions::random(tokens, windows, count, &mut buffer, out))
    });
    lists(py, made)
}

/// The `count` smallest of each page's windows of n tokens.
#[pyfunction]
#[pyo3(signature = (tokens, *, n, count))]
pub fn smallest_windows(py: Python<'_>, tokens: PyArray, n: usize, count: usize) -> Chunks<'_> {
    let (tokens, windows) = (TokenLists::new(&tokens)?, windows(n)?);
    let made = detached(py, || {
        let mut buffer = Vec::new();
        sets(tokens.lists().iter(), |tokens, out| smallest::select(tokens, windows, count, &mut buffer, out))
    });
    lists(py, made)
}

/// The windows of n terms whose first begins with an anchor: one of `prefixes`; or, with `letters`, a prefix that is
/// one in `every`, or one that at most `most` terms of the page have.
#[pyfunction]
#[pyo3(signature = (terms, *, n, prefixes=None, letters=0, every=None, most=None))]
pub fn anchored_windows(
    py: Python<'_>,
    terms: PyArray,
    n: usize,
    prefixes: Option<Vec<String>>,
    letters: usize,
    every: Option<u64>,
    most: Option<u32>,
) -> Chunks<'_> {
    let (terms, windows) = (PageTermLists::new(&terms)?, windows(n)?);
    let anchor = match (prefixes, every, most) {
        (Some(prefixes), None, None) => Anchor::Given(prefixes.into_iter().map(String::into_bytes).collect()),
        (None, Some(every), None) => Anchor::Hashed { letters, every },
        (None, None, Some(most)) => Anchor::Infrequent { letters, most },
        _ => return Err(PyValueError::new_err("give one of prefixes, every and most")),
    };
    let made = detached(py, || {
        let mut buffers = anchors::Buffers::default();
        sets(terms.lists().iter(), |terms, out| anchors::select(terms, windows, &anchor, &mut buffers, out))
    });
    lists(py, made)
}

/// The substrings of n bytes of each page's text whose hash is 0 mod `modulus`.
#[pyfunction]
#[pyo3(signature = (terms, *, n, modulus))]
pub fn byte_windows(py: Python<'_>, terms: PyArray, n: usize, modulus: usize) -> Chunks<'_> {
    let terms = PageTermLists::new(&terms)?;
    positive(n, "n")?;
    positive(modulus, "modulus")?;
    let made = detached(py, || {
        let mut text = Vec::new();
        sets(terms.lists().iter(), |terms, out| {
            terms.joined(&mut text);
            bytes::select(&text, n, modulus as u64, out);
        })
    });
    lists(py, made)
}
