//! What the fast paths are measured against: all pairs, all partners of a sample, cosines; exactly.

use neardup_core::allpairs::{self, Measure};
use neardup_core::batch::Shingling;
use neardup_core::cosine::{self, Weights};
use neardup_core::partners::{Beside, Sample};
use neardup_core::sets::Batches;
use neardup_engine::matching::thread_pool;
use numpy::{IntoPyArray, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3_arrow::PyArray;

use crate::arrays::{TokenLists, detached};
use crate::errors::{Mismatch, of_engine};
use crate::pairs::{Column, contiguous};

type Scored<'py> = (Column<'py, u32>, Column<'py, u32>, Column<'py, f64>);

fn lists_of(arrays: &[PyArray]) -> PyResult<Vec<TokenLists>> {
    arrays.iter().map(TokenLists::new).collect()
}

fn share(threshold: f64) -> PyResult<f64> {
    if threshold > 0.0 && threshold <= 1.0 {
        Ok(threshold)
    } else {
        Err(Mismatch::value("threshold must be above 0 and at most 1"))
    }
}

/// (a, b, similarity) of all pairs of sets that reach the threshold, sorted; OverflowError if there are more than `most`.
#[pyfunction]
#[pyo3(signature = (sets, *, measure="jaccard", threshold, most, threads=0))]
pub fn all_pairs<'py>(
    py: Python<'py>,
    sets: Vec<PyArray>,
    measure: &str,
    threshold: f64,
    most: usize,
    threads: usize,
) -> PyResult<Scored<'py>> {
    let measure = match measure {
        "jaccard" => Measure::Jaccard,
        "cosine" => Measure::Cosine,
        "containment" => Measure::Containment,
        _ => return Err(Mismatch::value("measure is 'jaccard', 'cosine' or 'containment'")),
    };
    let threshold = share(threshold)?;
    let lists = lists_of(&sets)?;
    let batches = Batches::new(lists.iter().map(TokenLists::lists).collect());
    let elements: usize = (0..batches.len()).map(|at| batches.get(at).len()).sum();
    if elements >= u32::MAX as usize || batches.len() >= u32::MAX as usize {
        return Err(Mismatch::size("more than four billion elements"));
    }
    for at in 0..batches.len() {
        if batches.get(at).windows(2).any(|pair| pair[0] >= pair[1]) {
            return Err(Mismatch::value("sets must be ascending and without repetition"));
        }
    }
    let pool = thread_pool(threads).map_err(of_engine)?;
    let pairs = detached(py, || pool.install(|| allpairs::all_pairs(&batches, measure, threshold, most)))
        .map_err(|_| Mismatch::size(format!("more than {most} pairs reach the threshold")))?;
    let a: Vec<u32> = pairs.iter().map(|pair| pair.a).collect();
    let b: Vec<u32> = pairs.iter().map(|pair| pair.b).collect();
    let score: Vec<f64> = pairs.iter().map(|pair| pair.score).collect();
    Ok((a.into_pyarray(py), b.into_pyarray(py), score.into_pyarray(py)))
}

/// The cosine of each pair of pages in the vector space model, by tf or by tf-idf over all these pages.
#[pyfunction]
#[pyo3(signature = (tokens, a, b, *, inverse=false, threads=0))]
pub fn cosines<'py>(
    py: Python<'py>,
    tokens: Vec<PyArray>,
    a: PyReadonlyArray1<'py, u32>,
    b: PyReadonlyArray1<'py, u32>,
    inverse: bool,
    threads: usize,
) -> PyResult<Column<'py, f64>> {
    let lists = lists_of(&tokens)?;
    let batches = Batches::new(lists.iter().map(TokenLists::lists).collect());
    let pairs = crate::pairs::edges(batches.len(), contiguous(&a)?, contiguous(&b)?)?;
    let pool = thread_pool(threads).map_err(of_engine)?;
    let found = detached(py, || {
        pool.install(|| {
            let weights = if inverse { Weights::inverse(&batches) } else { Weights::Equal };
            cosine::cosines(&batches, &pairs, &weights)
        })
    });
    Ok(found.into_pyarray(py))
}

/// The shingles of a sample of pages, past which a collection is streamed; batches may pass in several threads.
#[pyclass(frozen)]
#[derive(Debug)]
pub struct SampleIndex {
    sample: Sample,
}

type Partners<'py> =
    (Column<'py, u32>, Column<'py, u32>, Column<'py, f64>, Column<'py, f64>, Column<'py, f64>);

#[pymethods]
impl SampleIndex {
    #[new]
    #[pyo3(signature = (tokens, *, k, threshold, rabin=false, other=None, cosine=false))]
    fn new(
        py: Python<'_>,
        tokens: Vec<PyArray>,
        k: usize,
        threshold: f64,
        rabin: bool,
        other: Option<(usize, bool)>,
        cosine: bool,
    ) -> PyResult<Self> {
        if k == 0 || other.is_some_and(|(k, _)| k == 0) {
            return Err(Mismatch::value("k must be at least 1"));
        }
        let lists = lists_of(&tokens)?;
        let batches = Batches::new(lists.iter().map(TokenLists::lists).collect());
        let beside = Beside { other: other.map(|(k, rabin)| Shingling { k, rabin }), cosine };
        let (pages, shingling) = ((0..batches.len()).map(|at| batches.get(at)), Shingling { k, rabin });
        let threshold = share(threshold)?;
        Ok(SampleIndex { sample: detached(py, || Sample::new(pages, shingling, threshold, beside)) })
    }

    /// (sample, page, Jaccard, Jaccard at the other length, cosine) of the partners among the pages that are taken.
    fn partners<'py>(
        &self,
        py: Python<'py>,
        tokens: PyArray,
        taken: PyReadonlyArray1<'py, bool>,
    ) -> PyResult<Partners<'py>> {
        let lists = TokenLists::new(&tokens)?;
        let (batch, taken) = (lists.lists(), contiguous(&taken)?);
        if taken.len() != batch.len() {
            return Err(Mismatch::value("taken: not one flag a page"));
        }
        let found = detached(py, || self.sample.partners(batch, taken));
        let numbers = |of: fn(&neardup_core::partners::Partner) -> u32| {
            found.iter().map(of).collect::<Vec<_>>().into_pyarray(py)
        };
        let shares = |of: fn(&neardup_core::partners::Partner) -> f64| {
            found.iter().map(of).collect::<Vec<_>>().into_pyarray(py)
        };
        Ok((
            numbers(|one| one.sample),
            numbers(|one| one.page),
            shares(|one| one.jaccard),
            shares(|one| one.other_jaccard),
            shares(|one| one.cosine),
        ))
    }
}
