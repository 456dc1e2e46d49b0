//! Pairs to similarities, clusters and removals.

use neardup_core::verify::{AgreeingBits, EqualColumns};
use neardup_core::{
    align as core_align, components as core_components, diameter, difference, hash, merging, removal,
    united as core_united,
};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3_arrow::PyArray;
use rayon::prelude::*;

use crate::arrays::{TokenLists, detached, flat};
use crate::errors::Mismatch;
use crate::rules::checked_texts;

pub type Column<'py, T> = Bound<'py, PyArray1<T>>;

pub fn contiguous<'a, T: numpy::Element>(array: &'a PyReadonlyArray1<'_, T>) -> PyResult<&'a [T]> {
    array.as_slice().map_err(|_| Mismatch::value("expected a contiguous array"))
}

/// An order that names every page once.
pub fn permutation<'a>(order: &'a PyReadonlyArray1<'_, u32>) -> PyResult<&'a [u32]> {
    let order = contiguous(order)?;
    let mut seen = vec![false; order.len()];
    for &page in order {
        match seen.get_mut(page as usize) {
            Some(seen) if !*seen => *seen = true,
            _ => return Err(Mismatch::value("order must name every page once")),
        }
    }
    Ok(order)
}

pub fn edges(pages: usize, a: &[u32], b: &[u32]) -> PyResult<Vec<(u32, u32)>> {
    if a.len() != b.len() {
        return Err(Mismatch::value("pairs need two columns of one length"));
    }
    if a.iter().chain(b).any(|&page| page as usize >= pages) {
        return Err(Mismatch::value("a pair names a page that is not there"));
    }
    Ok(a.iter().copied().zip(b.iter().copied()).collect())
}

/// The pairs of one rule: a, b, score.
type RulePairs<'py> = (PyReadonlyArray1<'py, u32>, PyReadonlyArray1<'py, u32>, PyReadonlyArray1<'py, f64>);

/// (a, b, score, rule) of all pairs that rules accepted, each list sorted by (a, b): each pair once, in order, by its
/// highest score, then the first rule.
#[pyfunction]
pub fn united<'py>(
    py: Python<'py>,
    rules: Vec<RulePairs<'py>>,
) -> PyResult<(Column<'py, u32>, Column<'py, u32>, Column<'py, f64>, Column<'py, i8>)> {
    let wrong = |(a, b, score): &RulePairs<'py>| {
        let (a, b, score) = (a.len().ok(), b.len().ok(), score.len().ok());
        a != b || b != score
    };
    if rules.len() > i8::MAX as usize || rules.iter().any(wrong) {
        return Err(Mismatch::value("few rules, and pairs of three columns of one length"));
    }
    let lists = rules.iter().map(|(a, b, score)| {
        Ok(core_united::OfRule { a: contiguous(a)?, b: contiguous(b)?, score: contiguous(score)? })
    });
    let lists = lists.collect::<PyResult<Vec<_>>>()?;
    let all = detached(py, || core_united::united(&lists));
    Ok((
        all.a.into_pyarray(py),
        all.b.into_pyarray(py),
        all.score.into_pyarray(py),
        all.rule.into_pyarray(py),
    ))
}

/// C-similarity of each pair of rows.
#[pyfunction]
pub fn agreeing_bits<'py>(
    py: Python<'py>,
    sketches: PyReadonlyArray2<'py, u64>,
    a: PyReadonlyArray1<'py, u32>,
    b: PyReadonlyArray1<'py, u32>,
) -> PyResult<Column<'py, u32>> {
    let (values, width) = flat(&sketches)?;
    let pairs = edges(values.len() / width, contiguous(&a)?, contiguous(&b)?)?;
    let verifier = AgreeingBits { width, values, least: 0 };
    Ok(detached(py, || pairs.par_iter().map(|&(a, b)| verifier.count(a, b)).collect::<Vec<_>>())
        .into_pyarray(py))
}

/// B-similarity of each pair of rows.
#[pyfunction]
pub fn equal_columns<'py>(
    py: Python<'py>,
    rows: PyReadonlyArray2<'py, u64>,
    a: PyReadonlyArray1<'py, u32>,
    b: PyReadonlyArray1<'py, u32>,
) -> PyResult<Column<'py, u32>> {
    let (values, width) = flat(&rows)?;
    let pairs = edges(values.len() / width, contiguous(&a)?, contiguous(&b)?)?;
    let verifier = EqualColumns { width, values, least: 0 };
    Ok(detached(py, || pairs.par_iter().map(|&(a, b)| verifier.count(a, b) as u32).collect::<Vec<_>>())
        .into_pyarray(py))
}

/// Jaccard similarity of each pair of sets.
#[pyfunction]
pub fn jaccard<'py>(
    py: Python<'py>,
    sets: PyArray,
    a: PyReadonlyArray1<'py, u32>,
    b: PyReadonlyArray1<'py, u32>,
) -> PyResult<Column<'py, f64>> {
    let sets = TokenLists::new(&sets)?;
    let lists = sets.lists();
    let pairs = edges(lists.len(), contiguous(&a)?, contiguous(&b)?)?;
    let of = |page: u32| lists.get(page as usize);
    let scores =
        detached(py, || pairs.iter().map(|&(a, b)| merging::jaccard(of(a), of(b))).collect::<Vec<_>>());
    Ok(scores.into_pyarray(py))
}

/// Term difference of each pair of token lists.
#[pyfunction]
pub fn term_difference<'py>(
    py: Python<'py>,
    tokens: PyArray,
    a: PyReadonlyArray1<'py, u32>,
    b: PyReadonlyArray1<'py, u32>,
) -> PyResult<Column<'py, u64>> {
    let tokens = TokenLists::new(&tokens)?;
    let lists = tokens.lists();
    let pairs = edges(lists.len(), contiguous(&a)?, contiguous(&b)?)?;
    let of = |page: u32| lists.get(page as usize);
    let differences = detached(py, || {
        pairs.par_iter().map(|&(a, b)| difference::term_difference(of(a), of(b)) as u64).collect::<Vec<_>>()
    });
    Ok(differences.into_pyarray(py))
}

/// Where two token lists differ: a row for each hunk, with its start and end in A and in B.
#[pyfunction]
pub fn align<'py>(py: Python<'py>, tokens: PyArray, a: u32, b: u32) -> PyResult<Bound<'py, PyArray2<u32>>> {
    let tokens = TokenLists::new(&tokens)?;
    let lists = tokens.lists();
    edges(lists.len(), &[a], &[b])?;
    let (a, b) = (lists.get(a as usize), lists.get(b as usize));
    if a.len().max(b.len()) > i32::MAX as usize {
        return Err(Mismatch::value("token lists too long to be aligned"));
    }
    let hunks = detached(py, || core_align::align(a, b));
    let flat: Vec<u32> = hunks.iter().flat_map(|hunk| [hunk.a.0, hunk.a.1, hunk.b.0, hunk.b.1]).collect();
    flat.into_pyarray(py).reshape([hunks.len(), 4])
}

/// For each page the first page of its component.
#[pyfunction]
pub fn components<'py>(
    py: Python<'py>,
    pages: usize,
    a: PyReadonlyArray1<'py, u32>,
    b: PyReadonlyArray1<'py, u32>,
) -> PyResult<Column<'py, u32>> {
    let edges = edges(pages, contiguous(&a)?, contiguous(&b)?)?;
    Ok(detached(py, || core_components::components(pages, edges)).into_pyarray(py))
}

/// Which pairs make up the maximum spanning forest.
#[pyfunction]
pub fn spanning_forest<'py>(
    py: Python<'py>,
    pages: usize,
    a: PyReadonlyArray1<'py, u32>,
    b: PyReadonlyArray1<'py, u32>,
    score: PyReadonlyArray1<'py, f64>,
) -> PyResult<Column<'py, bool>> {
    let edges = edges(pages, contiguous(&a)?, contiguous(&b)?)?;
    let scores = contiguous(&score)?;
    if scores.len() != edges.len() {
        return Err(Mismatch::value("one score a pair"));
    }
    Ok(detached(py, || core_components::spanning_forest(pages, &edges, scores)).into_pyarray(py))
}

/// The longest shortest path of each cluster, given each pair's cluster; beyond `exact` pages a lower bound.
#[pyfunction]
pub fn diameters<'py>(
    py: Python<'py>,
    clusters: usize,
    cluster: PyReadonlyArray1<'py, u32>,
    a: PyReadonlyArray1<'py, u32>,
    b: PyReadonlyArray1<'py, u32>,
    exact: usize,
) -> PyResult<Column<'py, u32>> {
    let cluster = contiguous(&cluster)?;
    let edges = edges(usize::MAX, contiguous(&a)?, contiguous(&b)?)?;
    if cluster.len() != edges.len() || cluster.iter().any(|&cluster| cluster as usize >= clusters) {
        return Err(Mismatch::value("every pair must be in one of the clusters"));
    }
    Ok(detached(py, || diameter::diameters(clusters, cluster, &edges, exact)).into_pyarray(py))
}

/// For each page the page kept instead of it, itself if it stays: of pages of one text, where `texts` tell, one does at
/// most, and the first `settled` of the order do whatever they are like.
#[pyfunction]
#[pyo3(signature = (order, a, b, score, *, texts=None, settled=0))]
pub fn direct_removal<'py>(
    py: Python<'py>,
    order: PyReadonlyArray1<'py, u32>,
    a: PyReadonlyArray1<'py, u32>,
    b: PyReadonlyArray1<'py, u32>,
    score: PyReadonlyArray1<'py, f64>,
    texts: Option<PyReadonlyArray1<'py, u32>>,
    settled: usize,
) -> PyResult<Column<'py, u32>> {
    let order = permutation(&order)?;
    let texts = texts.as_ref().map(contiguous).transpose()?;
    checked_texts(texts, order.len())?;
    let edges = edges(order.len(), contiguous(&a)?, contiguous(&b)?)?;
    let scores = contiguous(&score)?;
    if scores.len() != edges.len() {
        return Err(Mismatch::value("one score a pair"));
    }
    Ok(detached(py, || removal::direct(order, &edges, scores, texts, settled)).into_pyarray(py))
}

/// For each page the first page with the same identity; pages that are `alone` have none.
#[pyfunction]
pub fn identity_sets<'py>(
    py: Python<'py>,
    high: PyReadonlyArray1<'py, u64>,
    low: PyReadonlyArray1<'py, u64>,
    alone: PyReadonlyArray1<'py, bool>,
) -> PyResult<Column<'py, u32>> {
    let (high, low, alone) = (contiguous(&high)?, contiguous(&low)?, contiguous(&alone)?);
    if high.len() != low.len() || high.len() != alone.len() {
        return Err(Mismatch::value("columns of different lengths"));
    }
    Ok(detached(py, || hash::identity_sets(high, low, alone)).into_pyarray(py))
}
