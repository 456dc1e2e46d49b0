//! What an index holds of a page: the columns and sets that the plan of its detector speaks of.

use neardup_core::rules::Plan;
use neardup_core::rules::pair;

use crate::error::{Error, Result};

/// Everything an index must know of its detector. It is the same for the life of an index.
#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    pub plan: Plan,
    /// A key lists at most so many pages.
    pub most: usize,
}

impl Shape {
    pub fn check(&self) -> Result<()> {
        match self.most {
            0 => Err(Error::Usage("a key that lists no page".to_owned())),
            _ => Ok(()),
        }
    }

    /// Whether sites matter at all.
    pub fn sited(&self) -> bool {
        self.plan.sited()
    }

    /// 64-bit numbers of each column of fixed width.
    pub fn widths(&self) -> &[usize] {
        &self.plan.columns.widths
    }

    /// How many sets a page has.
    pub fn sets(&self) -> usize {
        self.plan.columns.sets
    }

    pub fn words(&self) -> usize {
        self.plan.columns.words()
    }
}

/// What is compared of a page: its columns one after another, and its sets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    pub words: Vec<u64>,
    pub sets: Vec<Vec<u64>>,
}

impl Row {
    /// The row as the rules of a shape look at it.
    pub fn of<'a>(&'a self, shape: &'a Shape) -> Shaped<'a> {
        Shaped { shape, row: self }
    }
}

/// A row, and where its columns are.
#[derive(Clone, Copy, Debug)]
pub struct Shaped<'a> {
    shape: &'a Shape,
    row: &'a Row,
}

impl pair::Row for Shaped<'_> {
    fn column(&self, at: usize) -> &[u64] {
        let widths = self.shape.widths();
        let start: usize = widths[..at].iter().sum();
        &self.row.words[start..start + widths[at]]
    }

    fn set(&self, at: usize) -> &[u64] {
        &self.row.sets[at]
    }
}
