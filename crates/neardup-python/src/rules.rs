//! What is held of pages as Python hands it over, checked: columns, sets, keys that were chosen before, and units.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use neardup_core::join::Sites;
use neardup_core::parity;
use neardup_core::rules::many::{HeldSets, PageKeys, Pages};
use neardup_core::rules::{self, Rule};
use neardup_core::sets::{Batches, SetSource, Sets};
use neardup_engine::matching::Collection;
use neardup_engine::set_files::{Place, SetFiles};
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3_arrow::PyArray;

use crate::arrays::{TokenLists, flat};
use crate::errors::Mismatch;
use crate::pairs::contiguous;

/// What is held of pages, as Python says it: an object with these attributes. Columns and sets are those of a plan, in its
/// order; what no rule speaks of that is asked may be missing.
#[derive(FromPyObject)]
pub struct PageArrays<'py> {
    /// A row a page.
    pub columns: Vec<Option<PyReadonlyArray2<'py, u64>>>,
    pub sets: Vec<Option<AnySets<'py>>>,
    /// For each rule keys that were chosen before, a list a page; none where they are made here.
    pub key_lists: Vec<Option<PyArray>>,
    /// Pages that are long enough to be compared; without it all are.
    pub active: Option<PyReadonlyArray1<'py, bool>>,
    pub units: Option<UnitArrays<'py>>,
    /// The row of each page among those of the sets; without it they are the same.
    pub rows: Option<PyReadonlyArray1<'py, u32>>,
}

/// Sets, or in their place how large they are and their parities: then a pair is accepted unless these rule it out.
#[derive(FromPyObject)]
pub enum AnySets<'py> {
    Whole(SetArrays<'py>),
    Glances(GlanceArrays<'py>),
}

#[derive(FromPyObject)]
pub struct GlanceArrays<'py> {
    sizes: PyReadonlyArray1<'py, u32>,
    parities: PyArray,
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
            return Err(Mismatch::value("offsets of sites do not fit their values"));
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
        return Err(Mismatch::value("a text has no number below that of pages"));
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

/// The same, with its batches at hand.
enum SetLists {
    Whole(WholeSets),
    Glances(Vec<u32>, TokenLists),
}

struct WholeSets {
    sets: Vec<TokenLists>,
    /// Paths, and where in them the set of each row lies; none while all are in memory.
    files: Option<(Vec<PathBuf>, Vec<Place>)>,
    parities: Vec<TokenLists>,
}

impl WholeSets {
    fn new(arrays: &SetArrays<'_>) -> PyResult<Self> {
        let (mut lists, mut paths, mut places) = (Vec::new(), Vec::new(), Vec::new());
        for batch in &arrays.sets {
            match batch {
                SetBatch::Lists(array) => lists.push(TokenLists::new(array)?),
                SetBatch::File(path, sizes) => {
                    let mut start = 0;
                    for &size in contiguous(sizes)? {
                        let size = u32::try_from(size).map_err(|_| Mismatch::value("a set of wrong size"))?;
                        places.push(Place { file: paths.len() as u32, start, size });
                        start += u64::from(size);
                    }
                    paths.push(path.clone());
                }
            }
        }
        if !paths.is_empty() && !lists.is_empty() {
            return Err(Mismatch::value("sets are all in memory or all in files"));
        }
        let parities = arrays.parities.iter().map(TokenLists::new).collect::<PyResult<_>>()?;
        let files = (!paths.is_empty()).then_some((paths, places));
        Ok(WholeSets { sets: lists, files, parities })
    }

    fn of_pages(&self, rows: &[u32], failed: &Arc<OnceLock<String>>) -> PyResult<Sets<'_>> {
        let (sets, parities) = (numbered(&self.sets), numbered(&self.parities));
        let known = self.files.as_ref().map_or(sets.len(), |(_, places)| places.len());
        if known != parities.len() || rows.iter().any(|&row| row as usize >= known) {
            return Err(Mismatch::value("every row must have a set and its parity"));
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
                (Box::new(SetFiles::open(paths, places, Arc::clone(failed))?), sizes)
            }
        };
        check_parities(&sizes, &parities)?;
        Ok(Sets::new(source, sizes, parities))
    }
}

fn check_parities(sizes: &[u32], parities: &[&[u64]]) -> PyResult<()> {
    if sizes.iter().zip(parities).any(|(&size, parity)| parity.len() != parity::words(size as usize)) {
        return Err(Mismatch::value("a parity does not fit its set"));
    }
    Ok(())
}

fn numbered(lists: &[TokenLists]) -> Batches<'_> {
    Batches::new(lists.iter().map(TokenLists::lists).collect())
}

/// What Python handed over, with the lists of Arrow arrays at hand: what [`Held::collection`] looks into.
pub struct Held<'a> {
    columns: Vec<(&'a [u64], usize)>,
    sets: Vec<Option<SetLists>>,
    /// Of each rule whose keys were chosen before: where the keys of each page begin, and the keys.
    key_lists: Vec<Option<(Vec<u64>, TokenLists)>>,
    /// Of each page the row of its sets.
    rows: Vec<u32>,
    active: Cow<'a, [bool]>,
    sites: Option<Sites<'a>>,
    texts: Option<&'a [u32]>,
    pages: usize,
    failed: Arc<OnceLock<String>>,
}

impl<'a> Held<'a> {
    /// Checks what is held of so many pages against a plan, of which `asked` are the rules that are asked.
    pub fn new(
        arrays: &'a PageArrays<'_>,
        plan: &rules::Plan,
        asked: &[Rule],
        pages: usize,
    ) -> PyResult<Self> {
        let widths = &plan.columns.widths;
        if arrays.columns.len() != widths.len() || arrays.sets.len() != plan.columns.sets {
            return Err(Mismatch::value("columns and sets are not those of the plan"));
        }
        let mut columns = Vec::new();
        for (array, &width) in arrays.columns.iter().zip(widths) {
            let Some(array) = array else {
                columns.push((&[][..], width));
                continue;
            };
            let (values, found) = flat(array)?;
            one_row_a_page(values.len() / found, pages, "columns")?;
            if found != width {
                return Err(Mismatch::value("a column has not the width that the plan says"));
            }
            columns.push((values, width));
        }
        for rule in asked {
            let (of_columns, of_set) = rule.speaks_of();
            if of_columns.iter().any(|&at| arrays.columns[at].is_none())
                || of_set.is_some_and(|at| arrays.sets[at].is_none())
            {
                return Err(Mismatch::value("a rule speaks of what is not there"));
            }
        }
        let sets = arrays.sets.iter().map(|sets| match sets {
            None => Ok(None),
            Some(AnySets::Whole(sets)) => WholeSets::new(sets).map(|sets| Some(SetLists::Whole(sets))),
            Some(AnySets::Glances(glances)) => {
                let sizes = contiguous(&glances.sizes)?.to_vec();
                one_row_a_page(sizes.len(), pages, "glances")?;
                Ok(Some(SetLists::Glances(sizes, TokenLists::new(&glances.parities)?)))
            }
        });
        let key_lists = arrays.key_lists.iter().map(|lists| {
            let Some(lists) = lists else { return Ok(None) };
            let lists = TokenLists::new(lists)?;
            one_row_a_page(lists.lists().len(), pages, "key_lists")?;
            let offsets = lists.lists().offsets.iter().map(|&at| at as u64).collect();
            Ok(Some((offsets, lists)))
        });
        let rows = match &arrays.rows {
            Some(rows) => contiguous(rows)?.to_vec(),
            None => (0..pages as u32).collect(),
        };
        one_row_a_page(rows.len(), pages, "rows")?;
        let active = match &arrays.active {
            Some(active) => Cow::Borrowed(contiguous(active)?),
            None => Cow::Owned(vec![true; pages]),
        };
        one_row_a_page(active.len(), pages, "active")?;
        let units = arrays.units.as_ref().map(|units| units.checked(pages)).transpose()?;
        let (sites, texts) = units.map_or((None, None), |(sites, texts)| (Some(sites), texts));
        Ok(Held {
            columns,
            sets: sets.collect::<PyResult<_>>()?,
            key_lists: key_lists.collect::<PyResult<_>>()?,
            rows,
            active,
            sites,
            texts,
            pages,
            failed: Arc::default(),
        })
    }

    /// The same as the rules of a plan look at it.
    pub fn collection(&self, plan: &rules::Plan) -> PyResult<Collection<'_>> {
        Ok(Collection {
            pages: self.pages()?,
            keys: (0..plan.rules.len()).map(|at| self.known_keys(at)).collect(),
            active: &self.active,
            sites: self.sites,
            texts: self.texts,
            failed: &self.failed,
        })
    }

    fn pages(&self) -> PyResult<Pages<'_>> {
        let sets = self.sets.iter().map(|sets| match sets {
            None => Ok(None),
            Some(SetLists::Whole(sets)) => {
                sets.of_pages(&self.rows, &self.failed).map(|sets| Some(HeldSets::Whole(sets)))
            }
            Some(SetLists::Glances(sizes, parities)) => {
                let parities = parities.lists();
                one_row_a_page(parities.len(), self.pages, "parities")?;
                let parities: Vec<&[u64]> = (0..self.pages).map(|page| parities.get(page)).collect();
                check_parities(sizes, &parities)?;
                let unseen: Vec<&[u64]> = vec![&[]; self.pages];
                Ok(Some(HeldSets::Glances(Sets::new(Box::new(unseen), sizes.clone(), parities))))
            }
        });
        Ok(Pages {
            count: self.pages,
            widths: self.columns.iter().map(|(_, width)| *width).collect(),
            columns: self.columns.iter().map(|(values, _)| *values).collect(),
            sets: sets.collect::<PyResult<_>>()?,
        })
    }

    /// The keys of rule number `at`, if they were chosen before.
    fn known_keys(&self, at: usize) -> Option<PageKeys<'_>> {
        let (offsets, lists) = self.key_lists.get(at)?.as_ref()?;
        Some(PageKeys::Lists(offsets.into(), lists.lists().values.into()))
    }
}

pub fn one_row_a_page(rows: usize, pages: usize, what: &str) -> PyResult<()> {
    if rows == pages { Ok(()) } else { Err(Mismatch::value(format!("{what}: not one row a page"))) }
}
