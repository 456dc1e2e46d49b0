//! Pages read one after another, wherever they come from: what is told of each, and the fingerprints that are made of its
//! tokens while these are in the nearest cache.

use std::cell::RefCell;
use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use neardup_core::hash::identities;
use neardup_core::making::{Kind, Made, Maker, Workspace};
use neardup_core::page::{Facts, Page, Reader, Reading, Text};
use numpy::{IntoPyArray, PyArray1, PyArray2};
use pyo3::prelude::*;

use crate::arrays::{list_array, pyarrow, rows};
use crate::compute::ReadKind;
use crate::pages::reading;

/// Bytes of running text that a term takes.
const TERM_BYTES: usize = 6;

/// Pages that get their identities together, several at a time: enough that the last ones, which have nothing beside
/// them, are few; and few enough that their tokens stay in a near cache.
const NAMED: usize = 64;

/// Bytes of text that so many ordinary pages have.
const NAMED_BYTES: usize = NAMED << 13;

/// A thread's buffers are let go of if a batch made them larger than this.
const HELD: usize = 16 << 20;

/// Buffers that a thread reads one batch after another with.
#[derive(Default)]
pub struct Workbench {
    making: Workspace,
    /// Of the tokens only the last ones, where they are not held.
    tokens: Vec<u64>,
}

thread_local! {
    static WORKBENCH: RefCell<Workbench> = RefCell::default();
}

/// Has this thread's buffers used.
pub fn with_workbench<R>(work: impl FnOnce(&mut Workbench) -> R) -> R {
    WORKBENCH.with_borrow_mut(|bench| {
        let result = work(bench);
        if bench.making.nbytes() + bench.tokens.capacity() * size_of::<u64>() > HELD {
            *bench = Workbench::default();
        }
        result
    })
}

/// What is asked of pages.
pub struct Asked {
    kinds: Vec<Kind>,
    /// Whether the tokens are asked for as well.
    held: bool,
    reading: Reading,
}

impl Asked {
    pub fn new(kinds: Vec<ReadKind>, held: bool, hash: &str, site_rule: &str) -> PyResult<Self> {
        let kinds = kinds.into_iter().map(|ReadKind(kind)| kind).collect();
        Ok(Asked { kinds, held, reading: reading(hash, site_rule)? })
    }
}

/// What reading has given so far, one row a page; of the tokens only the last ones, unless they are held.
pub struct PagesRead<'a> {
    asked: &'a Asked,
    reader: Reader,
    maker: Maker<'a>,
    lengths: Vec<i64>,
    tokens: &'a mut Vec<u64>,
    titles: StringBuilder,
    sites: StringBuilder,
    replaced: Vec<bool>,
    high: Vec<u64>,
    low: Vec<u64>,
    /// Where the tokens begin of the pages that wait for their identities, and where those of each of them end.
    from: usize,
    waiting: Vec<usize>,
}

impl<'a> PagesRead<'a> {
    /// For about so many bytes of text.
    pub fn new(asked: &'a Asked, bytes: usize, bench: &'a mut Workbench) -> Self {
        let Workbench { making, tokens } = bench;
        tokens.clear();
        // Growing the buffer would copy it.
        tokens.reserve(if asked.held { bytes } else { bytes.min(NAMED_BYTES) } / TERM_BYTES);
        PagesRead {
            asked,
            reader: Reader::default(),
            maker: Maker::new(&asked.kinds, bytes / TERM_BYTES, making),
            lengths: Vec::new(),
            tokens,
            titles: StringBuilder::new(),
            sites: StringBuilder::new(),
            replaced: Vec::new(),
            high: Vec::new(),
            low: Vec::new(),
            from: 0,
            waiting: Vec::with_capacity(NAMED),
        }
    }

    /// Reads the next page.
    pub fn page(&mut self, page: Page<'_>) {
        let start = self.tokens.len();
        let facts = self.reader.tokens(page, self.asked.reading, self.tokens);
        self.take(start, facts);
    }

    /// Reads the next page, which is text already.
    pub fn text(&mut self, page: Text<'_>) {
        let start = self.tokens.len();
        let facts = self.reader.text_tokens(page, self.asked.reading, self.tokens);
        self.take(start, facts);
    }

    fn take(&mut self, start: usize, facts: Facts) {
        let tokens = &self.tokens[start..];
        self.lengths.push(tokens.len() as i64);
        self.titles.append_option(facts.title);
        self.sites.append_option(facts.site);
        self.replaced.push(facts.replaced);
        self.maker.page(tokens);
        self.waiting.push(self.tokens.len());
        // Some pages get their identities together, while their tokens are still in a near cache.
        if self.waiting.len() == NAMED {
            self.name();
        }
    }

    fn name(&mut self) {
        let starts = std::iter::once(self.from).chain(self.waiting.iter().copied());
        let pages: Vec<&[u64]> =
            starts.zip(&self.waiting).map(|(start, &end)| &self.tokens[start..end]).collect();
        for identity in identities(&pages) {
            self.high.push((identity >> 64) as u64);
            self.low.push(identity as u64);
        }
        self.waiting.clear();
        if !self.asked.held {
            self.tokens.clear();
        }
        self.from = self.tokens.len();
    }

    /// All of it.
    pub fn end(mut self) -> AllRead {
        self.name();
        AllRead {
            tokens: self.asked.held.then(|| std::mem::take(self.tokens)),
            lengths: self.lengths,
            titles: self.titles,
            sites: self.sites,
            replaced: self.replaced,
            high: self.high,
            low: self.low,
            made: self.maker.made(),
        }
    }
}

/// What was made of all pages.
pub struct AllRead {
    lengths: Vec<i64>,
    tokens: Option<Vec<u64>>,
    titles: StringBuilder,
    sites: StringBuilder,
    replaced: Vec<bool>,
    high: Vec<u64>,
    low: Vec<u64>,
    made: Vec<Made>,
}

/// Rows of numbers, or sets and their parities.
#[derive(IntoPyObject)]
pub enum MadeColumn<'py> {
    Rows(Bound<'py, PyArray2<u64>>),
    Sets((Bound<'py, PyAny>, Bound<'py, PyAny>)),
}

/// How many tokens; tokens, if they are held; title; site; whether anything was replaced; both halves of the identity;
/// fingerprints.
pub type Fingerprinted<'py> = (
    Bound<'py, PyArray1<i64>>,
    Option<Bound<'py, PyAny>>,
    Bound<'py, PyAny>,
    Bound<'py, PyAny>,
    Bound<'py, PyArray1<bool>>,
    Bound<'py, PyArray1<u64>>,
    Bound<'py, PyArray1<u64>>,
    Vec<MadeColumn<'py>>,
);

impl AllRead {
    pub fn into_python(mut self, py: Python<'_>) -> PyResult<Fingerprinted<'_>> {
        let lists = |(offsets, values)| pyarrow(py, list_array(offsets, values)?);
        let columns = self.made.into_iter().map(|made| match made {
            Made::Rows { width, values } => Ok(MadeColumn::Rows(rows(py, values, width)?)),
            Made::Sets { sets, parities } => Ok(MadeColumn::Sets((lists(sets)?, lists(parities)?))),
        });
        let columns = columns.collect::<PyResult<Vec<_>>>()?;
        let ends = self.lengths.iter().scan(0, |end, length| {
            *end += length;
            Some(*end)
        });
        let offsets = || std::iter::once(0).chain(ends).collect();
        Ok((
            self.lengths.clone().into_pyarray(py),
            self.tokens.map(|tokens| lists((offsets(), tokens))).transpose()?,
            pyarrow(py, Arc::new(self.titles.finish()))?,
            pyarrow(py, Arc::new(self.sites.finish()))?,
            self.replaced.into_pyarray(py),
            self.high.into_pyarray(py),
            self.low.into_pyarray(py),
            columns,
        ))
    }
}
