//! Statistics of a collection: the levels of SPEX, exact frequencies, and what is selected by them.

use neardup_core::statistics::numbers::{Numbers, directory};
use neardup_core::statistics::{frequencies, repeats};
use numpy::{IntoPyArray, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3_arrow::PyArray;

use crate::arrays::{TokenLists, detached};
use crate::errors::Mismatch;
use crate::pairs::{Column, contiguous};

/// Counters of one level of SPEX; threads may count into it at the same time.
#[pyclass(frozen, module = "neardup._native")]
#[derive(Debug)]
pub struct Repeats(repeats::Repeats);

#[pymethods]
impl Repeats {
    #[new]
    fn new(length: usize, bits: u32) -> PyResult<Self> {
        if length == 0 || !(6..=36).contains(&bits) {
            return Err(Mismatch::value("length must be at least 1, and bits between 6 and 36"));
        }
        Ok(Repeats(repeats::Repeats::new(length, bits)))
    }

    #[staticmethod]
    fn from_planes(
        length: usize,
        bits: u32,
        once: PyReadonlyArray1<'_, u64>,
        twice: PyReadonlyArray1<'_, u64>,
    ) -> PyResult<Self> {
        repeats::Repeats::from_planes(length, bits, contiguous(&once)?, contiguous(&twice)?)
            .map(Repeats)
            .ok_or_else(|| Mismatch::value("the planes do not have 2^bits bits each"))
    }

    #[getter]
    fn length(&self) -> usize {
        self.0.length()
    }

    #[getter]
    fn bits(&self) -> u32 {
        self.0.bits()
    }

    fn planes<'py>(&self, py: Python<'py>) -> (Column<'py, u64>, Column<'py, u64>) {
        let [once, twice] = self.0.planes();
        (once.into_pyarray(py), twice.into_pyarray(py))
    }

    /// Counts each page of a batch, given the level before, and whether none comes behind it.
    #[pyo3(signature = (tokens, before=None, *, last))]
    fn count(
        &self,
        py: Python<'_>,
        tokens: PyArray,
        before: Option<Bound<'_, Repeats>>,
        last: bool,
    ) -> PyResult<()> {
        let tokens = TokenLists::new(&tokens)?;
        let before = before.as_ref().map(|before| &before.get().0);
        detached(py, || {
            let mut buffers = repeats::Buffers::default();
            tokens.lists().iter().for_each(|tokens| self.0.count(tokens, before, last, &mut buffers));
        });
        Ok(())
    }

    /// Adds what another counted of other pages.
    fn merge(&self, py: Python<'_>, other: &Bound<'_, Repeats>) -> PyResult<()> {
        let other = &other.get().0;
        if !detached(py, || self.0.merge(other)) {
            return Err(Mismatch::value("the two count chunks of different lengths, or differ in size"));
        }
        Ok(())
    }

    /// (chunks, pages) of a batch: the chunks that may repeat, and how many of these pages have each.
    fn frequencies<'py>(
        &self,
        py: Python<'py>,
        tokens: PyArray,
    ) -> PyResult<(Column<'py, u64>, Column<'py, u32>)> {
        let tokens = TokenLists::new(&tokens)?;
        let made = detached(py, || frequencies::count(tokens.lists(), &self.0));
        Ok((made.chunks.into_pyarray(py), made.pages.into_pyarray(py)))
    }

    /// The lengths of chunks that are counted one after another, up to n.
    #[staticmethod]
    fn levels(n: usize) -> Vec<usize> {
        repeats::levels(n)
    }

    /// Two lists of chunks with their frequencies as one.
    #[staticmethod]
    fn merge_frequencies<'py>(
        py: Python<'py>,
        a: Counted<'py>,
        b: Counted<'py>,
    ) -> PyResult<(Column<'py, u64>, Column<'py, u32>)> {
        let (a, b) = ((contiguous(&a.0)?, contiguous(&a.1)?), (contiguous(&b.0)?, contiguous(&b.1)?));
        if a.0.len() != a.1.len() || b.0.len() != b.1.len() {
            return Err(Mismatch::value("every chunk needs a count"));
        }
        let made = detached(py, || frequencies::merge(a, b));
        Ok((made.chunks.into_pyarray(py), made.pages.into_pyarray(py)))
    }
}

fn ascending(numbers: &[u64]) -> PyResult<()> {
    if numbers.windows(2).any(|pair| pair[0] >= pair[1]) {
        return Err(Mismatch::value("numbers must be ascending, each once"));
    }
    Ok(())
}

type Counted<'py> = (PyReadonlyArray1<'py, u64>, PyReadonlyArray1<'py, u32>);

/// Ascending numbers, with a count each where there are any, ready to be looked up.
#[pyclass(frozen, module = "neardup._native")]
#[derive(Debug)]
pub struct NumberTable {
    numbers: Vec<u64>,
    counts: Vec<u32>,
    directory: Vec<u64>,
}

impl NumberTable {
    pub fn numbers(&self) -> Numbers<'_> {
        Numbers::trusted(&self.numbers, &self.directory)
    }

    /// One for each number.
    pub fn counts(&self) -> &[u32] {
        &self.counts
    }
}

#[pymethods]
impl NumberTable {
    #[new]
    #[pyo3(signature = (numbers, counts=None))]
    fn new(
        py: Python<'_>,
        numbers: PyReadonlyArray1<'_, u64>,
        counts: Option<PyReadonlyArray1<'_, u32>>,
    ) -> PyResult<Self> {
        let numbers = contiguous(&numbers)?;
        ascending(numbers)?;
        let counts = match &counts {
            Some(counts) => contiguous(counts)?.to_vec(),
            None => vec![1; numbers.len()],
        };
        if counts.len() != numbers.len() {
            return Err(Mismatch::value("every number needs a count"));
        }
        let directory = detached(py, || directory(numbers));
        Ok(NumberTable { numbers: numbers.to_vec(), counts, directory })
    }

    fn __len__(&self) -> usize {
        self.numbers.len()
    }

    /// The count of each of these numbers, `default` where a number is not there.
    fn look_up<'py>(
        &self,
        py: Python<'py>,
        numbers: PyReadonlyArray1<'_, u64>,
        default: u32,
    ) -> PyResult<Column<'py, u32>> {
        let wanted = contiguous(&numbers)?;
        let found = detached(py, || {
            let table = self.numbers();
            let count = |&number: &u64| table.find(number).map_or(default, |at| self.counts[at]);
            wanted.iter().map(count).collect::<Vec<u32>>()
        });
        Ok(found.into_pyarray(py))
    }
}
