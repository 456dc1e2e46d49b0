//! The durable index for Python: arrays in, answers out, the interpreter lock released.

use std::path::PathBuf;
use std::sync::{Arc, RwLock};

use arrow_array::cast::AsArray;
use neardup_index::error::Error;
use neardup_index::guard::guarded;
use neardup_index::index::{Answer, Index, Pages, Request};
use neardup_index::shape::Shape;
use neardup_index::store::{Memory, Sync};
use neardup_index::upkeep::{Checked, verify_folder};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use pyo3_arrow::PyArray;

use crate::arrays::{TokenLists, detached, flat};
use crate::errors::{Mismatch, closed, of_index};
use crate::pairs::{Column, contiguous};
use crate::plan::Plan;

/// Memory for an index that is only read through once.
const VERIFYING: Memory = Memory { cache: 64 << 20, buffers: 64 << 20 };

/// The hash that stands for each site, 0 for none.
#[pyfunction]
pub fn site_hashes<'py>(py: Python<'py>, sites: PyArray) -> PyResult<Column<'py, u64>> {
    let array = sites.array();
    let wrong = || Mismatch::kind("expected an Arrow array of type string");
    let strings = array.as_string_opt::<i32>().ok_or_else(wrong)?;
    let hash = |site: Option<&str>| site.map_or(0, |site| neardup_index::site_hash(site.as_bytes()));
    Ok(strings.iter().map(hash).collect::<Vec<u64>>().into_pyarray(py))
}

/// The two halves of the hash of each token sequence, for pages that come as tokens.
#[pyfunction]
pub fn token_identities<'py>(
    py: Python<'py>,
    tokens: PyArray,
) -> PyResult<(Column<'py, u64>, Column<'py, u64>)> {
    let lists = TokenLists::new(&tokens)?;
    let (high, low): (Vec<u64>, Vec<u64>) = detached(py, || {
        let identities = lists.lists();
        identities
            .iter()
            .map(neardup_core::hash::identity)
            .map(|hash| ((hash >> 64) as u64, hash as u64))
            .unzip()
    });
    Ok((high.into_pyarray(py), low.into_pyarray(py)))
}

/// The name of a request, what was sent with it, and how many pages it brings.
pub type RequestParts = (PyBackedBytes, PyBackedBytes, u32);

pub fn request((name, content, pages): &RequestParts) -> Request {
    Request::new(name, content, *pages)
}

/// Pages as Python gives them: an object with these attributes.
#[derive(FromPyObject)]
pub struct PageArrays<'py> {
    ids: Vec<PyBackedBytes>,
    identity_high: PyReadonlyArray1<'py, u64>,
    identity_low: PyReadonlyArray1<'py, u64>,
    /// Pages without tokens, which are like no other.
    empty: PyReadonlyArray1<'py, bool>,
    active: PyReadonlyArray1<'py, bool>,
    sites: PyReadonlyArray1<'py, u64>,
    times: PyReadonlyArray1<'py, i64>,
    requests: Option<Vec<Option<RequestParts>>>,
    columns: Vec<PyReadonlyArray2<'py, u64>>,
    sets: Vec<PyArray>,
}

/// What an index says of some pages.
#[pyclass(frozen, get_all, module = "neardup._native")]
#[derive(Debug)]
pub struct IndexAnswers {
    /// Of each page: replaced 1, repeated 2, full key 4, conflict 8.
    flags: Py<PyArray1<u8>>,
    /// The matches, if any page has some.
    matches: Option<Py<IndexMatches>>,
}

/// Matches of pages: those of page i from offset i to offset i + 1.
#[pyclass(frozen, get_all, module = "neardup._native")]
#[derive(Debug)]
pub struct IndexMatches {
    offsets: Py<PyArray1<i64>>,
    ids: Vec<Py<PyBytes>>,
    scores: Py<PyArray1<f64>>,
    /// The rule that accepted each; −1 is "the same tokens".
    rules: Py<PyArray1<i16>>,
    copies: Py<PyArray1<u32>>,
    /// How many more of each page are not named.
    more: Py<PyArray1<u32>>,
}

fn flags(answer: &Answer) -> u8 {
    u8::from(answer.replaced)
        | u8::from(answer.repeated) << 1
        | u8::from(answer.full_key) << 2
        | u8::from(answer.conflict) << 3
}

pub fn answers(py: Python<'_>, answers: Vec<Answer>) -> PyResult<IndexAnswers> {
    let flags: Vec<u8> = answers.iter().map(flags).collect();
    let some = answers.iter().any(|answer| !answer.matches.is_empty());
    let matches = if some { Some(Py::new(py, matches(py, answers))?) } else { None };
    Ok(IndexAnswers { flags: flags.into_pyarray(py).unbind(), matches })
}

fn matches(py: Python<'_>, answers: Vec<Answer>) -> IndexMatches {
    let (mut offsets, mut ids, mut more) = (vec![0i64], Vec::new(), Vec::new());
    let (mut scores, mut rules, mut copies) = (Vec::new(), Vec::new(), Vec::new());
    for answer in answers {
        for found in &answer.matches {
            ids.push(PyBytes::new(py, &found.id).unbind());
            scores.push(found.score);
            rules.push(found.rule.map_or(-1, i16::from));
            copies.push(found.copies);
        }
        offsets.push(ids.len() as i64);
        more.push(answer.more);
    }
    IndexMatches {
        offsets: offsets.into_pyarray(py).unbind(),
        ids,
        scores: scores.into_pyarray(py).unbind(),
        rules: rules.into_pyarray(py).unbind(),
        copies: copies.into_pyarray(py).unbind(),
        more: more.into_pyarray(py).unbind(),
    }
}

/// (pages, identity sets, keys, complaints)
type CheckedParts = (u64, u64, u64, Vec<String>);

fn parts(checked: Checked) -> CheckedParts {
    (checked.pages, checked.sets, checked.keys, checked.complaints)
}

/// An open index; closed when it is told to, or dropped.
#[pyclass(frozen, module = "neardup._native")]
#[derive(Debug)]
pub struct IndexStore {
    index: RwLock<Option<Arc<Index>>>,
}

impl IndexStore {
    fn open(&self) -> PyResult<Arc<Index>> {
        let held = self.index.read().unwrap_or_else(|poisoned| poisoned.into_inner());
        held.clone().ok_or_else(closed)
    }

    pub fn with<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&Index) -> Result<R, Error> + Send,
    ) -> PyResult<R> {
        let index = self.open()?;
        // Dropped without the lock as well: the last one that lets go waits for the store's own threads.
        detached(py, move || guarded(|| work(&index))).map_err(of_index)
    }

    fn pages<'py>(
        &self,
        py: Python<'py>,
        arrays: PageArrays<'py>,
        work: impl FnOnce(&Index, &Pages<'_>) -> Result<Vec<Answer>, Error> + Send,
    ) -> PyResult<IndexAnswers> {
        let high = contiguous(&arrays.identity_high)?;
        let low = contiguous(&arrays.identity_low)?;
        let empty = contiguous(&arrays.empty)?;
        let identity = |at: usize| u128::from(high[at]) << 64 | u128::from(low[at]);
        if high.len() != low.len() || low.len() != empty.len() {
            return Err(Mismatch::value("the arrays do not fit the index"));
        }
        let sets: Vec<TokenLists> = arrays.sets.iter().map(TokenLists::new).collect::<PyResult<_>>()?;
        let columns: Vec<&[u64]> =
            arrays.columns.iter().map(|column| Ok(flat(column)?.0)).collect::<PyResult<_>>()?;
        let requests = match &arrays.requests {
            None => vec![None; arrays.ids.len()],
            Some(named) => named.iter().map(|parts| parts.as_ref().map(request)).collect(),
        };
        let pages = Pages {
            ids: arrays.ids.iter().map(|id| &id[..]).collect(),
            identities: (0..high.len()).map(|at| (!empty[at]).then(|| identity(at))).collect(),
            active: contiguous(&arrays.active)?,
            sites: contiguous(&arrays.sites)?,
            times: contiguous(&arrays.times)?,
            requests,
            columns,
            sets: sets.iter().map(TokenLists::lists).collect(),
        };
        let given = self.with(py, |index| work(index, &pages))?;
        answers(py, given)
    }
}

#[pymethods]
impl IndexStore {
    /// Opens the tables in a folder, which is made if it is not there.
    #[new]
    #[pyo3(signature = (path, plan, *, most, most_matches, sync, cache, buffers))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        py: Python<'_>,
        path: PathBuf,
        plan: &Plan,
        most: usize,
        most_matches: usize,
        sync: &str,
        cache: u64,
        buffers: u64,
    ) -> PyResult<Self> {
        let shape = Shape { plan: plan.plan.clone(), most };
        let sync = match sync {
            "commit" => Sync::Commit,
            "second" => Sync::Second,
            "system" => Sync::System,
            _ => return Err(Mismatch::value("sync is 'commit', 'second' or 'system'")),
        };
        let opened = detached(py, || Index::open(&path, shape, sync, Memory { cache, buffers }));
        let index = opened.map_err(of_index)?.with_most_matches(most_matches);
        Ok(IndexStore { index: RwLock::new(Some(Arc::new(index))) })
    }

    /// Adds pages; each answer tells what was there before that page.
    fn add<'py>(&self, py: Python<'py>, pages: PageArrays<'py>) -> PyResult<IndexAnswers> {
        self.pages(py, pages, |index, pages| index.add(pages))
    }

    /// What is there that is like these pages.
    fn query<'py>(&self, py: Python<'py>, pages: PageArrays<'py>) -> PyResult<IndexAnswers> {
        self.pages(py, pages, |index, pages| index.query(pages))
    }

    /// How many commits added pages since it was opened, and how many pages.
    fn commits(&self) -> PyResult<(u64, u64)> {
        Ok(self.open()?.commits())
    }

    /// Takes pages out; says of each whether it was there.
    fn remove(&self, py: Python<'_>, ids: Vec<PyBackedBytes>) -> PyResult<Vec<bool>> {
        let ids: Vec<&[u8]> = ids.iter().map(|id| &id[..]).collect();
        self.with(py, |index| index.remove(&ids))
    }

    /// Takes out all pages of a time before this one; says how many.
    fn expire(&self, py: Python<'_>, before: i64) -> PyResult<u64> {
        self.with(py, |index| index.expire(before))
    }

    /// The ids that are there, in order of addition, at most so many.
    fn ids<'py>(&self, py: Python<'py>, most: usize) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let found = self.with(py, |index| {
            let mut found = Vec::new();
            index.ids(|id| {
                if found.len() < most {
                    found.push(id);
                }
                found.len() < most
            })?;
            Ok(found)
        })?;
        Ok(found.iter().map(|id| PyBytes::new(py, id)).collect())
    }

    fn compact(&self, py: Python<'_>, requests_before: i64) -> PyResult<()> {
        self.with(py, |index| index.compact(requests_before))
    }

    fn verify(&self, py: Python<'_>) -> PyResult<CheckedParts> {
        Ok(parts(self.with(py, |index| index.verify())?))
    }

    /// Verifies the tables in a folder without changing them; `place` is one for a folder that stands in for it.
    #[staticmethod]
    #[pyo3(signature = (path, plan, *, most, place))]
    fn verify_folder(
        py: Python<'_>,
        path: PathBuf,
        plan: &Plan,
        most: usize,
        place: PathBuf,
    ) -> PyResult<CheckedParts> {
        let shape = Shape { plan: plan.plan.clone(), most };
        let checked = detached(py, || verify_folder(&path, shape, VERIFYING, &place));
        Ok(parts(checked.map_err(of_index)?))
    }

    fn backup(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        self.with(py, |index| index.backup(&path))
    }

    fn flush(&self, py: Python<'_>) -> PyResult<()> {
        self.with(py, |index| index.flush())
    }

    /// (pages, identity sets, entries left out, full keys, bytes of tables, bytes of the journal)
    fn stats(&self, py: Python<'_>) -> PyResult<(u64, u64, u64, u64, u64, u64)> {
        let (counts, (tables, journal)) =
            self.with(py, |index| Ok((index.counts()?, index.disk_space()?)))?;
        Ok((counts.pages, counts.sets, counts.left_out, counts.full_keys, tables, journal))
    }

    /// Everything is on disk, and another may open it, when this returns; unless a call is still under way elsewhere.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let taken = self.index.write().unwrap_or_else(|poisoned| poisoned.into_inner()).take();
        match taken {
            None => Ok(()),
            Some(index) => detached(py, move || {
                guarded(|| {
                    let done = index.close();
                    drop(index);
                    done
                })
            })
            .map_err(of_index),
        }
    }
}
