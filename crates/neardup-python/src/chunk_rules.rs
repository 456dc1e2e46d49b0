//! Rules over chunk sets: the sets, and the keys that are made of them before the rule can be applied.

use neardup_core::join::Keys;
use neardup_core::prefix::{self, KeyLists};
use neardup_core::sets::Batches;
use pyo3::prelude::*;
use pyo3_arrow::PyArray;

use crate::arrays::TokenLists;

/// What of a rule is made before it can be checked: its chunk sets, and the keys they give.
#[derive(Default)]
pub struct Made {
    chunks: Vec<TokenLists>,
    keys: KeyLists,
}

impl Made {
    /// Of a rule without chunks, nothing.
    pub fn new(batches: Option<&[PyArray]>) -> PyResult<Self> {
        let chunks: Vec<TokenLists> =
            batches.unwrap_or_default().iter().map(TokenLists::new).collect::<PyResult<_>>()?;
        Ok(Made { chunks, keys: KeyLists::default() })
    }

    pub fn batches(&self) -> Batches<'_> {
        Batches::new(self.chunks.iter().map(TokenLists::lists).collect())
    }

    /// The keys that two chunk sets of a ratio of `least` have in common, for the rows that take part.
    pub fn make_keys(&mut self, rows: &[u32], active: &[bool], least: f64) {
        let batches = self.batches();
        let set = |page: usize| if active[page] { batches.get(rows[page] as usize) } else { &[][..] };
        self.keys = prefix::keys(rows.len(), set, least);
    }

    pub fn keys(&self) -> Keys<'_> {
        Keys::lists(&self.keys.offsets, &self.keys.values)
    }
}
