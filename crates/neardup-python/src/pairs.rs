//! Fingerprints to pairs, pairs to clusters and removals.

use neardup_core::batch::Shingling;
use neardup_core::join::{Buckets, Joined, Keys, Predicate, Sites};
use neardup_core::sets::{Batches, ShingleSets};
use neardup_core::verify::{self, AgreeingBits, EqualColumns, Everything, Jaccard};
use neardup_core::{components as core_components, difference, hash, removal};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3_arrow::PyArray;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::arrays::{TokenLists, detached, flat};

type Column<'py, T> = Bound<'py, PyArray1<T>>;
type JoinResult<'py> = (Column<'py, u32>, Column<'py, u32>, Column<'py, f64>, u64, u64);

fn contiguous<'a, T: numpy::Element>(array: &'a PyReadonlyArray1<'_, T>) -> PyResult<&'a [T]> {
    array.as_slice().map_err(|_| PyValueError::new_err("expected a contiguous array"))
}

fn edges(pages: usize, a: &[u32], b: &[u32]) -> PyResult<Vec<(u32, u32)>> {
    if a.len() != b.len() {
        return Err(PyValueError::new_err("pairs need two columns of one length"));
    }
    if a.iter().chain(b).any(|&page| page as usize >= pages) {
        return Err(PyValueError::new_err("a pair names a page that is not there"));
    }
    Ok(a.iter().copied().zip(b.iter().copied()).collect())
}

/// How a candidate pair is verified; exactly one of the three kinds, or none: sharing a key is enough.
enum Verifier<'a> {
    Everything(Everything),
    Columns(EqualColumns<'a>),
    Bits(AgreeingBits<'a>),
    Tokens { batches: &'a Batches<'a>, rows: &'a [u32], shingling: Shingling },
}

/// As many threads as asked for; 0 means one a core.
fn thread_pool(threads: usize) -> PyResult<ThreadPool> {
    let built = ThreadPoolBuilder::new().num_threads(threads).build();
    built.map_err(|error| PyRuntimeError::new_err(format!("cannot start threads: {error}")))
}

/// (a, b, score, candidates, largest bucket) of the accepted pairs, sorted.
#[pyfunction]
#[pyo3(signature = (keys, active, *, predicate="any", site_offsets=None, sites=None,
                    columns=None, bits=None, tokens=None, rows=None, k=1, rabin=false, least=0.0, threads=0))]
#[allow(clippy::too_many_arguments)]
pub fn join<'py>(
    py: Python<'py>,
    keys: PyReadonlyArray2<'py, u64>,
    active: PyReadonlyArray1<'py, bool>,
    predicate: &str,
    site_offsets: Option<PyReadonlyArray1<'py, u64>>,
    sites: Option<PyReadonlyArray1<'py, u32>>,
    columns: Option<PyReadonlyArray2<'py, u64>>,
    bits: Option<PyReadonlyArray2<'py, u64>>,
    tokens: Option<Vec<PyArray>>,
    rows: Option<PyReadonlyArray1<'py, u32>>,
    k: usize,
    rabin: bool,
    least: f64,
    threads: usize,
) -> PyResult<JoinResult<'py>> {
    let (values, width) = flat(&keys)?;
    let keys = Keys { width, values };
    let active = contiguous(&active)?;
    let pages = keys.pages();
    let same_length = |length: usize, what: &str| {
        if length == pages {
            Ok(())
        } else {
            Err(PyValueError::new_err(format!("{what}: not one row a page")))
        }
    };
    same_length(active.len(), "active")?;
    let site_lists = match (&site_offsets, &sites) {
        (Some(offsets), Some(values)) => {
            let (offsets, values) = (contiguous(offsets)?, contiguous(values)?);
            same_length(offsets.len().wrapping_sub(1), "site_offsets")?;
            if offsets.windows(2).any(|pair| pair[0] > pair[1]) || offsets[pages] as usize > values.len() {
                return Err(PyValueError::new_err("site_offsets do not fit sites"));
            }
            Some(Sites { offsets, values })
        }
        _ => None,
    };
    let predicate = match (predicate, site_lists) {
        ("any", _) => Predicate::Any,
        ("same-site", Some(sites)) => Predicate::SameSite(sites),
        ("different-site", Some(sites)) => Predicate::DifferentSite(sites),
        _ => {
            return Err(PyValueError::new_err(
                "predicate is 'any', or 'same-site' or 'different-site' with sites",
            ));
        }
    };
    let lists: Vec<TokenLists> = tokens.iter().flatten().map(TokenLists::new).collect::<PyResult<_>>()?;
    let batches = Batches::new(lists.iter().map(TokenLists::lists).collect());
    let rows = rows.as_ref().map(contiguous).transpose()?;
    let verifier = if let Some(columns) = &columns {
        let (values, width) = flat(columns)?;
        same_length(values.len() / width, "columns")?;
        Verifier::Columns(EqualColumns { width, values, least: least as usize })
    } else if let Some(bits) = &bits {
        let (values, width) = flat(bits)?;
        same_length(values.len() / width, "bits")?;
        Verifier::Bits(AgreeingBits { width, values, least: least as u32 })
    } else if let (Some(_), Some(rows)) = (&tokens, rows) {
        same_length(rows.len(), "rows")?;
        if k == 0 || rows.iter().any(|&row| row as usize >= batches.len()) {
            return Err(PyValueError::new_err("k must be at least 1, and every row one of the token lists"));
        }
        Verifier::Tokens { batches: &batches, rows, shingling: Shingling { k, rabin } }
    } else {
        Verifier::Everything(Everything)
    };
    let pool = thread_pool(threads)?;
    let Joined { pairs, candidates, largest_bucket, .. } = detached(py, || {
        pool.install(|| {
            let buckets = Buckets::new(keys, active, predicate);
            match verifier {
                Verifier::Everything(verifier) => buckets.join(&verifier),
                Verifier::Columns(verifier) => buckets.join(&verifier),
                Verifier::Bits(verifier) => buckets.join(&verifier),
                Verifier::Tokens { batches, rows, shingling } => {
                    let tokens = |page: u32| batches.get(rows[page as usize] as usize);
                    let sets = ShingleSets::new(&tokens, &buckets.members(), shingling);
                    buckets.join(&Jaccard { sets: &sets, least })
                }
            }
        })
    });
    let a: Vec<u32> = pairs.iter().map(|pair| pair.a).collect();
    let b: Vec<u32> = pairs.iter().map(|pair| pair.b).collect();
    let score: Vec<f64> = pairs.iter().map(|pair| pair.score).collect();
    Ok((a.into_pyarray(py), b.into_pyarray(py), score.into_pyarray(py), candidates, largest_bucket))
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
    Ok(detached(py, || pairs.iter().map(|&(a, b)| verifier.count(a, b)).collect::<Vec<_>>()).into_pyarray(py))
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
    Ok(detached(py, || pairs.iter().map(|&(a, b)| verifier.count(a, b) as u32).collect::<Vec<_>>())
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
        detached(py, || pairs.iter().map(|&(a, b)| verify::jaccard(of(a), of(b))).collect::<Vec<_>>());
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
        pairs.iter().map(|&(a, b)| difference::term_difference(of(a), of(b)) as u64).collect::<Vec<_>>()
    });
    Ok(differences.into_pyarray(py))
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
        return Err(PyValueError::new_err("one score a pair"));
    }
    Ok(detached(py, || core_components::spanning_forest(pages, &edges, scores)).into_pyarray(py))
}

/// For each page the page kept instead of it, itself if it stays.
#[pyfunction]
pub fn direct_removal<'py>(
    py: Python<'py>,
    order: PyReadonlyArray1<'py, u32>,
    a: PyReadonlyArray1<'py, u32>,
    b: PyReadonlyArray1<'py, u32>,
    score: PyReadonlyArray1<'py, f64>,
) -> PyResult<Column<'py, u32>> {
    let order = contiguous(&order)?;
    let mut seen = vec![false; order.len()];
    for &page in order {
        match seen.get_mut(page as usize) {
            Some(seen) if !*seen => *seen = true,
            _ => return Err(PyValueError::new_err("order must name every page once")),
        }
    }
    let edges = edges(order.len(), contiguous(&a)?, contiguous(&b)?)?;
    let scores = contiguous(&score)?;
    if scores.len() != edges.len() {
        return Err(PyValueError::new_err("one score a pair"));
    }
    Ok(detached(py, || removal::direct(order, &edges, scores)).into_pyarray(py))
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
        return Err(PyValueError::new_err("columns of different lengths"));
    }
    Ok(detached(py, || hash::identity_sets(high, low, alone)).into_pyarray(py))
}
