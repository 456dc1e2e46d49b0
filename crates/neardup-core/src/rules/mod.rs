//! What a detector says of two pages, as data: a union of rules over the columns that are held of every page.
//!
//! This is Potthast and Stein's chunk index read as a declaration (*New Issues in Near-duplicate Detection*, 2008). A
//! [`Rule`] says where a page's keys come from ([`KeySource`]), for which pairs it holds ([`Between`]), and what a pair
//! that shares a key must show ([`Evidence`]). A [`Plan`] is the rules of one detector and the columns they speak of.
//! All that is to be known of a rule is asked here: what it says of two pages ([`pair`]), the keys and the verifier of
//! many pages that are joined ([`many`]), the keys under which one page is looked up ([`Rule::each_key`]), and its text
//! form ([`text`]), by which a plan crosses a boundary, is stored and is compared. A source of keys is one arm in each
//! function of `keys.rs`, a kind of evidence one arm in each of `evidence.rs`; nothing else knows them apart.

mod evidence;
mod keys;
pub mod many;
pub mod pair;
#[cfg(test)]
mod testing;
pub mod text;

use crate::error::{Error, Result};
use crate::hash;

pub use evidence::{Evidence, Lanes};
pub use keys::KeySource;

/// What is held of a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Columns {
    /// 64-bit numbers of each column of fixed width.
    pub widths: Vec<usize>,
    /// How many sets a page has.
    pub sets: usize,
}

/// For which pairs a rule holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Between {
    Any,
    SameSite,
    DifferentSite,
}

/// One way for two pages to be near-duplicates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rule {
    pub keys: KeySource,
    pub between: Between,
    pub evidence: Evidence,
}

/// The rules of a detector, and what they speak of.
///
/// ```
/// use neardup_core::rules::{Columns, Plan};
/// // The combined algorithm: pairs of six supershingles find, 355 of 384 bits decide.
/// let columns = Columns { widths: vec![6, 6], sets: 0 };
/// let plan = Plan::new(columns, vec!["pairs(0) any bits(1,355)".parse()?])?;
/// assert_eq!(plan.rules[0].to_string(), "pairs(0) any bits(1,355)");
/// assert!(!plan.sited());
/// # Ok::<_, neardup_core::error::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    pub columns: Columns,
    pub rules: Vec<Rule>,
}

impl Columns {
    /// Numbers of a row: all columns one after another.
    pub fn words(&self) -> usize {
        self.widths.iter().sum()
    }

    fn width(&self, column: usize) -> Result<usize> {
        let width = self.widths.get(column).copied().filter(|&width| width > 0);
        width.map_or_else(|| wrong("no such column"), Ok)
    }

    fn has_set(&self, set: usize) -> Result<()> {
        if set < self.sets { Ok(()) } else { wrong("no such set") }
    }
}

fn wrong<T>(what: &'static str) -> Result<T> {
    Err(Error::Rule { what })
}

impl Rule {
    /// Whether the rule speaks of what is held of a page, with numbers that make sense.
    pub fn check(&self, columns: &Columns) -> Result<()> {
        self.keys.check(columns)?;
        if self.keys.set().is_some() && self.keys.set() != self.evidence.set() {
            return wrong("keys of sets belong to a rule about these sets");
        }
        self.evidence.check(columns)
    }

    /// Whether a shared key says something of its own, as supershingles beside a projection do; else it only finds what
    /// the evidence decides.
    pub fn key_is_evidence(&self) -> bool {
        self.evidence.set().is_none() && self.keys.column() != self.evidence.columns().first().copied()
    }

    /// Shows each key under which a page alone is looked up, with its column, to `each` (see [`KeySource::each`]).
    pub fn each_key(&self, row: &impl pair::Row, each: impl FnMut(u64, u64)) {
        let least = match self.evidence {
            // Both ratios are at most what a set shares of itself.
            Evidence::Sets { least, .. } => least,
            _ => 1.0,
        };
        self.keys.each(row, least, each);
    }
}

impl Plan {
    /// Rules that are checked against the columns they speak of.
    pub fn new(columns: Columns, rules: Vec<Rule>) -> Result<Self> {
        if rules.len() > usize::from(u8::MAX) {
            return wrong("too many rules");
        }
        rules.iter().try_for_each(|rule| rule.check(&columns))?;
        Ok(Plan { columns, rules })
    }

    /// Whether sites matter at all.
    pub fn sited(&self) -> bool {
        self.rules.iter().any(|rule| rule.between != Between::Any)
    }

    /// The same for every plan that decides alike over the same columns, in every process and on every machine.
    pub fn digest(&self) -> u128 {
        let text = self.to_string();
        let bytes: Vec<u64> = text.bytes().map(u64::from).collect();
        hash::identity(&bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns() -> Columns {
        Columns { widths: vec![6, 4, 0], sets: 1 }
    }

    #[test]
    fn wrong_rules_are_refused() {
        for (text, what) in [
            ("columns(3) any key", "no such column"),
            ("columns(2) any key", "no such column"),
            ("pieces(0,11) any key", "a piece must have between 1 and 32 bits"),
            ("pieces(0,385) any key", "a piece must have between 1 and 32 bits"),
            ("groups(0,0) any key", "groups must be between 1 and the number of columns"),
            ("groups(0,7) any key", "groups must be between 1 and the number of columns"),
            ("sets(1) any sets(1,0.5)", "no such set"),
            ("sets(0) any bits(0,3)", "keys of sets belong to a rule about these sets"),
            ("sets(0) any sets(0,0)", "sets are compared by a ratio above 0 and at most 1"),
            ("sets(0) any sets(0,1.5)", "sets are compared by a ratio above 0 and at most 1"),
            ("columns(0) any sets(1,0.5)", "no such set"),
            ("columns(0) any lanes(1,3,85,9)", "lanes of 1, 2, 4 or 8 bits do not fill the column"),
            ("columns(0) any lanes(1,1,256,257)", "lanes of 1, 2, 4 or 8 bits do not fill the column"),
            ("columns(0) any bits(0,5)+lanes(1,1,64,5)", "lanes of 1, 2, 4 or 8 bits do not fill the column"),
        ] {
            let rule: Rule = text.parse().unwrap();
            assert_eq!(rule.check(&columns()), Err(Error::Rule { what }), "{text}");
        }
    }

    #[test]
    fn digests_tell_plans_apart() {
        let plan = |widths: &[usize], rule: &str| {
            Plan::new(Columns { widths: widths.to_vec(), sets: 1 }, vec![rule.parse().unwrap()])
                .unwrap()
                .digest()
        };
        let first = plan(&[6, 6], "pairs(0) any bits(1,355)");
        // Another number here is another name for every plan there is.
        assert_eq!(first, 0x9737_7e48_1bcf_4f06_3fab_f647_b56a_a320);
        for other in [
            plan(&[6, 7], "pairs(0) any bits(1,355)"),
            plan(&[6, 6], "pairs(0) any bits(1,356)"),
            plan(&[6, 6], "pairs(0) same-site bits(1,355)"),
            plan(&[6, 6], "columns(0) any bits(1,355)"),
        ] {
            assert_ne!(first, other);
        }
    }

    #[test]
    fn a_key_beside_what_decides_is_evidence() {
        for (text, expected) in [
            ("pairs(0) any bits(1,355)", true),
            ("columns(0) any key", true),
            ("columns(0) any lanes(1,1,256,9)", true),
            ("pairs(0) any columns(0,2)", false),
            ("columns(0) any sets(0,0.8)", false),
            ("sets(0) any sets(0,0.8)", false),
        ] {
            assert_eq!(text.parse::<Rule>().unwrap().key_is_evidence(), expected, "{text}");
        }
    }
}
