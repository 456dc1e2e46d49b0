//! Rules of a detector as Python says them, checked: keys, what pairs are verified with, and which pairs are meant.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use neardup_core::join::{Predicate, Sites};
use neardup_core::keys::{KeyKind, Keys};
use neardup_core::lanes::{self, AgreeingLanes};
use neardup_core::parity;
use neardup_core::prefix::{self, KeyLists};
use neardup_core::sets::{Batches, SetSource, Sets};
use neardup_core::verify::{AgreeingBits, ConfirmedBits, EqualColumns, of_either};
use neardup_engine::set_files::{Place, SetFiles};
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3_arrow::PyArray;

use crate::arrays::{TokenLists, flat};
use crate::pairs::contiguous;

/// A rule as Python says it: an object with these attributes. At most one of `columns`, `bits`, `lanes` and `sets` is
/// there to verify with, or `lanes` beside `bits`; without any, sharing a key is enough.
#[derive(FromPyObject)]
pub struct RuleArrays<'py> {
    /// A fingerprint a row, and how it gives keys: "columns", "pairs" of columns, or "pieces", so many of them. Without
    /// it the sets give keys of their own, their rarest elements.
    pub keys: Option<PyReadonlyArray2<'py, u64>>,
    /// Keys that were made elsewhere, a list a page.
    pub key_lists: Option<PyArray>,
    pub key_kind: String,
    pub pieces: usize,
    pub predicate: String,
    pub columns: Option<PyReadonlyArray2<'py, u64>>,
    pub bits: Option<PyReadonlyArray2<'py, u64>>,
    /// Sketches of lanes, bits of a lane, how many lanes, and how many of them must agree.
    pub lanes: Option<(PyReadonlyArray2<'py, u64>, u32, usize, usize)>,
    pub sets: Option<SetArrays<'py>>,
    /// Sets are scored by what they share of the larger one, not of their union.
    pub of_larger: bool,
    /// In place of sets: how large each is, and their parities. Then a pair is accepted unless these rule it out.
    pub glances: Option<(PyReadonlyArray1<'py, u32>, PyArray)>,
    pub least: f64,
}

/// What pages stand for, as Python says it: an object with these attributes.
#[derive(FromPyObject)]
pub struct UnitArrays<'py> {
    /// The sites of each page, one list behind another.
    offsets: PyReadonlyArray1<'py, u64>,
    values: PyReadonlyArray1<'py, u32>,
    /// Numbers below that of pages, the same for pages of one text; without them each page has a text of its own.
    texts: Option<PyReadonlyArray1<'py, u32>>,
}

impl UnitArrays<'_> {
    pub fn checked(&self, pages: usize) -> PyResult<(Sites<'_>, Option<&[u32]>)> {
        let (offsets, values) = (contiguous(&self.offsets)?, contiguous(&self.values)?);
        one_row_a_page(offsets.len().wrapping_sub(1), pages, "sites")?;
        if offsets.windows(2).any(|pair| pair[0] > pair[1]) || offsets[pages] as usize > values.len() {
            return Err(PyValueError::new_err("offsets of sites do not fit their values"));
        }
        let texts = self.texts.as_ref().map(contiguous).transpose()?;
        checked_texts(texts, pages)?;
        Ok((Sites { offsets, values }, texts))
    }
}

/// Numbers of texts are below that of pages.
pub fn checked_texts(texts: Option<&[u32]>, pages: usize) -> PyResult<()> {
    let Some(texts) = texts else { return Ok(()) };
    one_row_a_page(texts.len(), pages, "texts")?;
    if texts.iter().any(|&text| text as usize >= pages) {
        return Err(PyValueError::new_err("a text has no number below that of pages"));
    }
    Ok(())
}

/// Ordered sets and their parities, in batches over all rows; a page has those of its row.
#[derive(FromPyObject)]
pub struct SetArrays<'py> {
    sets: Vec<SetBatch<'py>>,
    parities: Vec<PyArray>,
}

/// Sets in memory, or in a file one after another, and how large each is.
#[derive(FromPyObject)]
enum SetBatch<'py> {
    File(PathBuf, PyReadonlyArray1<'py, i64>),
    Lists(PyArray),
}

/// The same, checked.
pub struct SetLists {
    pub sets: Vec<TokenLists>,
    /// Paths, and where in them the set of each row lies; none while all are in memory.
    pub files: Option<(Vec<PathBuf>, Vec<Place>)>,
    pub parities: Vec<TokenLists>,
    /// Where a rule has no other keys.
    pub keys: KeyLists,
    pub failed: Arc<OnceLock<String>>,
}

impl SetLists {
    pub fn new(arrays: &SetArrays<'_>) -> PyResult<Self> {
        let (mut lists, mut paths, mut places) = (Vec::new(), Vec::new(), Vec::new());
        for batch in &arrays.sets {
            match batch {
                SetBatch::Lists(array) => lists.push(TokenLists::new(array)?),
                SetBatch::File(path, sizes) => {
                    let mut start = 0;
                    for &size in contiguous(sizes)? {
                        let size =
                            u32::try_from(size).map_err(|_| PyValueError::new_err("a set of wrong size"))?;
                        places.push(Place { file: paths.len() as u32, start, size });
                        start += u64::from(size);
                    }
                    paths.push(path.clone());
                }
            }
        }
        if !paths.is_empty() && !lists.is_empty() {
            return Err(PyValueError::new_err("sets are all in memory or all in files"));
        }
        let parities = arrays.parities.iter().map(TokenLists::new).collect::<PyResult<_>>()?;
        let files = (!paths.is_empty()).then_some((paths, places));
        Ok(SetLists { sets: lists, files, parities, keys: KeyLists::default(), failed: Arc::default() })
    }

    /// The keys that two sets of a ratio of `least` have in common, for the pages that take part.
    pub fn make_keys(&mut self, rows: &[u32], active: &[bool], least: f64) -> PyResult<()> {
        if !(least > 0.0 && least <= 1.0) {
            return Err(PyValueError::new_err("sets are compared by a ratio above 0 and at most 1"));
        }
        let batches = numbered(&self.sets);
        if self.files.is_some() || rows.iter().any(|&row| row as usize >= batches.len()) {
            return Err(PyValueError::new_err("every row must have a set, in memory, to give keys"));
        }
        let set = |page: usize| if active[page] { batches.get(rows[page] as usize) } else { &[][..] };
        self.keys = prefix::keys(rows.len(), set, least);
        Ok(())
    }

    fn of_pages(&self, rows: &[u32]) -> PyResult<Sets<'_>> {
        let (sets, parities) = (numbered(&self.sets), numbered(&self.parities));
        let known = self.files.as_ref().map_or(sets.len(), |(_, places)| places.len());
        if known != parities.len() || rows.iter().any(|&row| row as usize >= known) {
            return Err(PyValueError::new_err("every row must have a set and its parity"));
        }
        let parities: Vec<&[u64]> = rows.iter().map(|&row| parities.get(row as usize)).collect();
        let (source, sizes): (Box<dyn SetSource>, Vec<u32>) = match &self.files {
            None => {
                let sets: Vec<&[u64]> = rows.iter().map(|&row| sets.get(row as usize)).collect();
                let sizes = sets.iter().map(|set| set.len() as u32).collect();
                (Box::new(sets), sizes)
            }
            Some((paths, places)) => {
                let places: Vec<Place> = rows.iter().map(|&row| places[row as usize]).collect();
                let sizes = places.iter().map(|place| place.size).collect();
                (Box::new(SetFiles::open(paths, places, Arc::clone(&self.failed))?), sizes)
            }
        };
        check_parities(&sizes, &parities)?;
        Ok(Sets::new(source, sizes, parities))
    }
}

fn check_parities(sizes: &[u32], parities: &[&[u64]]) -> PyResult<()> {
    if sizes.iter().zip(parities).any(|(&size, parity)| parity.len() != parity::words(size as usize)) {
        return Err(PyValueError::new_err("a parity does not fit its set"));
    }
    Ok(())
}

fn numbered(lists: &[TokenLists]) -> Batches<'_> {
    Batches::new(lists.iter().map(TokenLists::lists).collect())
}

/// Lists of a rule that are neither fingerprints nor sets: keys made elsewhere, and parities without sets.
pub struct Given {
    pub keys: Option<(Vec<u64>, TokenLists)>,
    pub parities: Option<TokenLists>,
}

impl Given {
    pub fn new(rule: &RuleArrays<'_>) -> PyResult<Self> {
        let keys = rule.key_lists.as_ref().map(TokenLists::new).transpose()?;
        let keys = keys.map(|lists| (lists.lists().offsets.iter().map(|&at| at as u64).collect(), lists));
        let parities = rule.glances.as_ref().map(|(_, parities)| TokenLists::new(parities)).transpose()?;
        Ok(Given { keys, parities })
    }
}

/// A rule, checked.
pub struct Spec<'a> {
    pub keys: Keys<'a>,
    pub predicate: Predicate<'a>,
    pub evidence: Evidence<'a>,
}

pub enum Evidence<'a> {
    Key,
    Columns(EqualColumns<'a>),
    Bits(AgreeingBits<'a>),
    ConfirmedBits(ConfirmedBits<'a>),
    Lanes(AgreeingLanes<'a>),
    Sets(Sets<'a>, f64, Option<f64>),
    Glances(Sets<'a>, f64, Option<f64>),
}

impl RuleArrays<'_> {
    /// The least ratio of the union that two sets of an accepted pair share.
    pub fn least_ratio(&self) -> f64 {
        if self.of_larger { of_either(self.least) } else { self.least }
    }

    fn kind(&self, width: usize) -> PyResult<KeyKind> {
        match self.key_kind.as_str() {
            "columns" => Ok(KeyKind::Columns),
            "pairs" => Ok(KeyKind::Pairs),
            "pieces" if (2 * width..=64 * width).contains(&self.pieces) => Ok(KeyKind::Pieces(self.pieces)),
            "pieces" => Err(PyValueError::new_err("a piece must have between 1 and 32 bits")),
            _ => Err(PyValueError::new_err("keys are 'columns', 'pairs' or 'pieces'")),
        }
    }

    pub fn checked<'a>(
        &'a self,
        sites: Option<Sites<'a>>,
        pages: usize,
        sets: Option<&'a SetLists>,
        given: &'a Given,
        rows: Option<&[u32]>,
    ) -> PyResult<Spec<'a>> {
        let checked = |array: &'a PyReadonlyArray2<'_, u64>, what: &str| {
            let (values, width) = flat(array)?;
            one_row_a_page(values.len() / width, pages, what)?;
            Ok::<_, PyErr>((values, width))
        };
        let keys = match (&self.keys, sets) {
            _ if given.keys.is_some() => {
                let (offsets, lists) = given.keys.as_ref().expect("there");
                one_row_a_page(offsets.len().wrapping_sub(1), pages, "key_lists")?;
                Keys::lists(offsets, lists.lists().values)
            }
            (Some(keys), _) => {
                let (values, width) = checked(keys, "keys")?;
                Keys::of(self.kind(width)?, width, values)
            }
            (None, Some(sets)) => Keys::lists(&sets.keys.offsets, &sets.keys.values),
            (None, None) => return Err(PyValueError::new_err("a rule needs keys, or sets with rows")),
        };
        let predicate = match (self.predicate.as_str(), sites) {
            ("any", _) => Predicate::Any,
            ("same-site", Some(sites)) => Predicate::SameSite(sites),
            ("different-site", Some(sites)) => Predicate::DifferentSite(sites),
            _ => {
                return Err(PyValueError::new_err(
                    "predicate is 'any', or 'same-site' or 'different-site' with sites",
                ));
            }
        };
        let of_larger = self.of_larger.then_some(self.least);
        let lanes = match &self.lanes {
            None => None,
            Some((lanes, bits, count, least)) => {
                let (values, width) = checked(lanes, "lanes")?;
                if !matches!(bits, 1 | 2 | 4 | 8) || lanes::width(*count, *bits) != width || least > count {
                    return Err(PyValueError::new_err("lanes of 1, 2, 4 or 8 bits do not fill the columns"));
                }
                Some(AgreeingLanes { width, values, bits: *bits, lanes: *count, least: *least })
            }
        };
        let evidence = if let Some(columns) = &self.columns {
            let (values, width) = checked(columns, "columns")?;
            Evidence::Columns(EqualColumns { width, values, least: self.least as usize })
        } else if let Some(bits) = &self.bits {
            let (values, width) = checked(bits, "bits")?;
            let bits = AgreeingBits { width, values, least: self.least as u32 };
            lanes.map_or(Evidence::Bits(bits), |lanes| Evidence::ConfirmedBits(ConfirmedBits { bits, lanes }))
        } else if let Some(lanes) = lanes {
            Evidence::Lanes(lanes)
        } else if let (Some((sizes, _)), Some(parities)) = (&self.glances, &given.parities) {
            let sizes = contiguous(sizes)?.to_vec();
            let parities = parities.lists();
            one_row_a_page(sizes.len(), pages, "glances")?;
            one_row_a_page(parities.len(), pages, "parities")?;
            let parities: Vec<&[u64]> = (0..pages).map(|page| parities.get(page)).collect();
            check_parities(&sizes, &parities)?;
            let unseen: Vec<&[u64]> = vec![&[]; pages];
            Evidence::Glances(Sets::new(Box::new(unseen), sizes, parities), self.least_ratio(), of_larger)
        } else if let Some(sets) = sets {
            let Some(rows) = rows else { return Err(PyValueError::new_err("sets need rows")) };
            one_row_a_page(rows.len(), pages, "rows")?;
            Evidence::Sets(sets.of_pages(rows)?, self.least_ratio(), of_larger)
        } else {
            Evidence::Key
        };
        Ok(Spec { keys, predicate, evidence })
    }
}

pub fn one_row_a_page(rows: usize, pages: usize, what: &str) -> PyResult<()> {
    if rows == pages { Ok(()) } else { Err(PyValueError::new_err(format!("{what}: not one row a page"))) }
}
