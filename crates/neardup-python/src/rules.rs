//! Rules of a detector to accepted pairs: what Python says of each rule, checked, and the join of all of them together.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use neardup_core::hot::{self, Resolved, Tuning};
use neardup_core::join::{Buckets, Joined, Limits, Pair, Predicate, Sites, Standing};
use neardup_core::keys::{KeyKind, Keys};
use neardup_core::lanes::{self, AgreeingLanes};
use neardup_core::parity;
use neardup_core::prefix::{self, KeyLists};
use neardup_core::screen::Screened;
use neardup_core::sets::{Batches, SetSource, Sets};
use neardup_core::verify::{AgreeingBits, EqualColumns, Everything, Glance, Jaccard, of_either};
use numpy::{IntoPyArray, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3_arrow::PyArray;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::arrays::{TokenLists, detached, flat};
use crate::pairs::{contiguous, permutation};
use crate::set_files::{Place, SetFiles};

/// A rule as Python says it: an object with these attributes. At most one of `columns`, `bits`, `lanes` and `sets` is
/// there to verify with; without any, sharing a key is enough.
#[derive(FromPyObject)]
pub struct RuleArrays<'py> {
    /// A fingerprint a row, and how it gives keys: "columns", "pairs" of columns, or "pieces", so many of them. Without
    /// it the sets give keys of their own, their rarest elements.
    keys: Option<PyReadonlyArray2<'py, u64>>,
    /// Keys that were made elsewhere, a list a page.
    key_lists: Option<PyArray>,
    key_kind: String,
    pieces: usize,
    predicate: String,
    columns: Option<PyReadonlyArray2<'py, u64>>,
    bits: Option<PyReadonlyArray2<'py, u64>>,
    /// Sketches of lanes, bits of a lane, and how many lanes.
    lanes: Option<(PyReadonlyArray2<'py, u64>, u32, usize)>,
    sets: Option<SetArrays<'py>>,
    /// Sets are scored by what they share of the larger one, not of their union.
    of_larger: bool,
    /// In place of sets: how large each is, and their parities. Then a pair is accepted unless these rule it out.
    glances: Option<(PyReadonlyArray1<'py, u32>, PyArray)>,
    least: f64,
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
struct SetLists {
    sets: Vec<TokenLists>,
    /// Paths, and where in them the set of each row lies; none while all are in memory.
    files: Option<(Vec<PathBuf>, Vec<Place>)>,
    parities: Vec<TokenLists>,
    /// Where a rule has no other keys.
    keys: KeyLists,
    failed: Arc<OnceLock<String>>,
}

impl SetLists {
    fn new(arrays: &SetArrays<'_>) -> PyResult<Self> {
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
    fn make_keys(&mut self, rows: &[u32], active: &[bool], least: f64) -> PyResult<()> {
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
struct Given {
    keys: Option<(Vec<u64>, TokenLists)>,
    parities: Option<TokenLists>,
}

impl Given {
    fn new(rule: &RuleArrays<'_>) -> PyResult<Self> {
        let keys = rule.key_lists.as_ref().map(TokenLists::new).transpose()?;
        let keys = keys.map(|lists| (lists.lists().offsets.iter().map(|&at| at as u64).collect(), lists));
        let parities = rule.glances.as_ref().map(|(_, parities)| TokenLists::new(parities)).transpose()?;
        Ok(Given { keys, parities })
    }
}

/// A rule, checked.
struct Spec<'a> {
    keys: Keys<'a>,
    predicate: Predicate<'a>,
    evidence: Evidence<'a>,
}

enum Evidence<'a> {
    Key,
    Columns(EqualColumns<'a>),
    Bits(AgreeingBits<'a>),
    Lanes(AgreeingLanes<'a>),
    Sets(Sets<'a>, f64, Option<f64>),
    Glances(Sets<'a>, f64, Option<f64>),
}

impl RuleArrays<'_> {
    /// The least ratio of the union that two sets of an accepted pair share.
    fn least_ratio(&self) -> f64 {
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

    fn checked<'a>(
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
        let evidence = if let Some(columns) = &self.columns {
            let (values, width) = checked(columns, "columns")?;
            Evidence::Columns(EqualColumns { width, values, least: self.least as usize })
        } else if let Some(bits) = &self.bits {
            let (values, width) = checked(bits, "bits")?;
            Evidence::Bits(AgreeingBits { width, values, least: self.least as u32 })
        } else if let Some((lanes, bits, count)) = &self.lanes {
            let (values, width) = checked(lanes, "lanes")?;
            let least = self.least as usize;
            if !matches!(bits, 1 | 2 | 4 | 8) || lanes::width(*count, *bits) != width || least > *count {
                return Err(PyValueError::new_err("lanes of 1, 2, 4 or 8 bits do not fill the columns"));
            }
            Evidence::Lanes(AgreeingLanes { width, values, bits: *bits, lanes: *count, least })
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

fn one_row_a_page(rows: usize, pages: usize, what: &str) -> PyResult<()> {
    if rows == pages { Ok(()) } else { Err(PyValueError::new_err(format!("{what}: not one row a page"))) }
}

/// What pairs of one rule are verified with.
enum Verifier<'a> {
    Key(Everything),
    Columns(EqualColumns<'a>),
    Bits(AgreeingBits<'a>),
    Lanes(AgreeingLanes<'a>),
    Sets(Jaccard<'a>),
    Glances(Glance<'a>),
}

impl<'a> Verifier<'a> {
    fn new(evidence: &'a Evidence<'a>) -> Self {
        match evidence {
            Evidence::Key => Verifier::Key(Everything),
            Evidence::Columns(columns) => Verifier::Columns(*columns),
            Evidence::Bits(bits) => Verifier::Bits(*bits),
            Evidence::Lanes(lanes) => Verifier::Lanes(*lanes),
            Evidence::Sets(sets, least, of_larger) => {
                Verifier::Sets(Jaccard { sets, least: *least, of_larger: *of_larger })
            }
            Evidence::Glances(sets, least, of_larger) => {
                Verifier::Glances(Glance(Jaccard { sets, least: *least, of_larger: *of_larger }))
            }
        }
    }

    fn join(&self, buckets: &Buckets<'_>, limits: Limits) -> Joined {
        match self {
            Verifier::Key(verifier) => buckets.join_within(verifier, limits),
            Verifier::Columns(verifier) => buckets.join_within(verifier, limits),
            Verifier::Bits(verifier) => buckets.join_within(verifier, limits),
            Verifier::Lanes(verifier) => buckets.join_within(verifier, limits),
            Verifier::Sets(verifier) => buckets.join_within(verifier, limits),
            Verifier::Glances(verifier) => buckets.join_within(verifier, limits),
        }
    }

    fn join_given(&self, buckets: &Buckets<'_>, standing: &[Standing]) -> Joined {
        match self {
            Verifier::Key(verifier) => buckets.join_given(standing, verifier),
            Verifier::Columns(verifier) => buckets.join_given(standing, verifier),
            Verifier::Bits(verifier) => buckets.join_given(standing, verifier),
            Verifier::Lanes(verifier) => buckets.join_given(standing, verifier),
            Verifier::Sets(verifier) => buckets.join_given(standing, verifier),
            Verifier::Glances(verifier) => buckets.join_given(standing, verifier),
        }
    }

    fn screened(&self) -> &dyn Screened {
        match self {
            Verifier::Key(verifier) => verifier,
            Verifier::Columns(verifier) => verifier,
            Verifier::Bits(verifier) => verifier,
            Verifier::Lanes(verifier) => verifier,
            Verifier::Sets(verifier) => verifier,
            Verifier::Glances(verifier) => verifier,
        }
    }
}

/// Buckets that are joined whatever the limits say.
const FEW: usize = 16;
/// Pages whose keys are held at once.
const PART: usize = 1 << 21;
/// Pages in hot buckets that are compared at a time: many, as each tile streams all pages that stay through the cache.
const TILE: usize = 256;
/// From how many pages that stay on they are packed: beside so many, 72 bytes a page and bucket are little.
const PACKED: usize = 1024;

/// What is done with the rules once they are checked.
#[derive(Clone, Copy)]
enum Work<'a> {
    /// All pairs within limits; hot buckets are resolved in the given order of pages, no more pairs of them recorded
    /// than so many unless they decide something.
    Match { order: &'a [u32], limits: Limits, recorded: u64 },
    /// Only the pairs of given buckets.
    Given(&'a [Standing]),
}

fn apply(specs: &[Spec<'_>], active: &[bool], work: Work<'_>) -> Vec<(Joined, Resolved)> {
    let buckets: Vec<Buckets> =
        specs.iter().map(|spec| Buckets::new(spec.keys, active, spec.predicate)).collect();
    let verifiers: Vec<Verifier> = specs.iter().map(|spec| Verifier::new(&spec.evidence)).collect();
    let (order, limits, recorded) = match work {
        Work::Match { order, limits, recorded } => (order, limits, recorded),
        Work::Given(standing) => {
            let given = verifiers.iter().zip(&buckets);
            let joined = given.map(|(verifier, buckets)| verifier.join_given(buckets, standing));
            return joined.map(|joined| (joined, Resolved::default())).collect();
        }
    };
    let joined: Vec<Joined> =
        verifiers.iter().zip(&buckets).map(|(verifier, buckets)| verifier.join(buckets, limits)).collect();
    let rules: Vec<hot::Rule> = buckets
        .iter()
        .zip(verifiers.iter().zip(&joined))
        .map(|(buckets, (verifier, joined))| hot::Rule { buckets, verifier: verifier.screened(), joined })
        .collect();
    let resolved = hot::resolve(&rules, order, Tuning { tile: TILE, packed: PACKED, pairs: recorded });
    joined.into_iter().zip(resolved).collect()
}

/// As many threads as asked for; 0 means one a core.
pub fn thread_pool(threads: usize) -> PyResult<ThreadPool> {
    let built = ThreadPoolBuilder::new().num_threads(threads).build();
    built.map_err(|error| PyRuntimeError::new_err(format!("cannot start threads: {error}")))
}

/// Checks all that the rules share, and applies them.
#[allow(clippy::too_many_arguments)]
fn checked_and_applied(
    py: Python<'_>,
    rules: &[RuleArrays<'_>],
    active: &PyReadonlyArray1<'_, bool>,
    work: Work<'_>,
    site_offsets: Option<PyReadonlyArray1<'_, u64>>,
    sites: Option<PyReadonlyArray1<'_, u32>>,
    rows: Option<PyReadonlyArray1<'_, u32>>,
    threads: usize,
) -> PyResult<Vec<(Joined, Resolved)>> {
    let active = contiguous(active)?;
    let pages = active.len();
    let sites = match (&site_offsets, &sites) {
        (Some(offsets), Some(values)) => {
            let (offsets, values) = (contiguous(offsets)?, contiguous(values)?);
            one_row_a_page(offsets.len().wrapping_sub(1), pages, "site_offsets")?;
            if offsets.windows(2).any(|pair| pair[0] > pair[1]) || offsets[pages] as usize > values.len() {
                return Err(PyValueError::new_err("site_offsets do not fit sites"));
            }
            Some(Sites { offsets, values })
        }
        _ => None,
    };
    let rows = rows.as_ref().map(contiguous).transpose()?;
    let pool = thread_pool(threads)?;
    let mut sets: Vec<Option<SetLists>> = rules
        .iter()
        .map(|rule| rule.sets.as_ref().map(SetLists::new).transpose())
        .collect::<PyResult<_>>()?;
    for (rule, sets) in rules.iter().zip(&mut sets) {
        if let (None, None, Some(sets), Some(rows)) = (&rule.keys, &rule.key_lists, sets, rows) {
            one_row_a_page(rows.len(), pages, "rows")?;
            let least = rule.least_ratio();
            detached(py, || pool.install(|| sets.make_keys(rows, active, least)))?;
        }
    }
    let given: Vec<Given> = rules.iter().map(Given::new).collect::<PyResult<_>>()?;
    let specs: Vec<Spec> = rules
        .iter()
        .zip(sets.iter().zip(&given))
        .map(|(rule, (sets, given))| rule.checked(sites, pages, sets.as_ref(), given, rows))
        .collect::<PyResult<_>>()?;
    if let Work::Given(standing) = work {
        check_standing(&specs, pages, standing)?;
    }
    let applied = detached(py, || pool.install(|| apply(&specs, active, work)));
    match sets.iter().flatten().find_map(|sets| sets.failed.get()) {
        Some(reason) => Err(PyOSError::new_err(format!("sets cannot be read back: {reason}"))),
        None => Ok(applied),
    }
}

fn check_standing(specs: &[Spec<'_>], pages: usize, standing: &[Standing]) -> PyResult<()> {
    let columns = specs.iter().map(|spec| spec.keys.count()).min().unwrap_or(0);
    if standing.iter().any(|at| at.page as usize >= pages || at.column as usize >= columns) {
        return Err(PyValueError::new_err("a bucket names a page or a column that is not there"));
    }
    Ok(())
}

/// A pair as a row of a NumPy array with the fields a, b and score: pairs are handed over without a copy.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct PairRow(Pair);

// SAFETY: PairRow is `Pair`, which is laid out as in C: two u32, then an f64, without padding, as the dtype says.
unsafe impl numpy::Element for PairRow {
    const IS_COPY: bool = true;

    fn get_dtype(py: Python<'_>) -> Bound<'_, numpy::PyArrayDescr> {
        let fields = [("a", "u4"), ("b", "u4"), ("score", "f8")];
        numpy::PyArrayDescr::new(py, fields).expect("NumPy knows these fields")
    }

    fn clone_ref(&self, _py: Python<'_>) -> Self {
        *self
    }
}

/// The columns of pairs, each a view of the one array that holds them.
fn columns<'py>(py: Python<'py>, pairs: Vec<Pair>) -> PyResult<(Field<'py>, Field<'py>, Field<'py>)> {
    // In place: the vector keeps its memory, as the standard library does where sizes are the same.
    let rows = pairs.into_iter().map(PairRow).collect::<Vec<_>>().into_pyarray(py);
    Ok((rows.get_item("a")?, rows.get_item("b")?, rows.get_item("score")?))
}

type Field<'py> = Bound<'py, PyAny>;
type JoinResult<'py> = (Field<'py>, Field<'py>, Field<'py>, u64, u64);

/// (a, b, score, candidates, largest bucket) of the accepted pairs, sorted: every pair of every bucket.
#[pyfunction]
#[pyo3(signature = (keys, active, *, predicate="any", site_offsets=None, sites=None,
                    columns=None, bits=None, least=0.0, threads=0))]
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
    least: f64,
    threads: usize,
) -> PyResult<JoinResult<'py>> {
    let rule = RuleArrays {
        keys: Some(keys),
        key_lists: None,
        key_kind: "columns".to_owned(),
        pieces: 0,
        predicate: predicate.to_owned(),
        columns,
        bits,
        lanes: None,
        sets: None,
        of_larger: false,
        glances: None,
        least,
    };
    let order: Vec<u32> = (0..active.len()? as u32).collect();
    let work = Work::Match { order: &order, limits: Limits::NONE, recorded: u64::MAX };
    let mut applied = checked_and_applied(py, &[rule], &active, work, site_offsets, sites, None, threads)?;
    let (joined, _) = applied.remove(0);
    let (a, b, score) = self::columns(py, joined.pairs)?;
    Ok((a, b, score, joined.candidates, joined.largest_bucket))
}

type RuleResult<'py> = (Field<'py>, Field<'py>, Field<'py>, u64, u64, u64, u64, u64);

/// For each rule (a, b, score, candidates, accepted, largest bucket, hot buckets, unscored).
#[pyfunction]
#[pyo3(signature = (rules, active, order, *, hot, most_accepted, most_possible, site_offsets=None, sites=None,
                    rows=None, threads=0))]
#[allow(clippy::too_many_arguments)]
pub fn match_rules<'py>(
    py: Python<'py>,
    rules: Vec<RuleArrays<'py>>,
    active: PyReadonlyArray1<'py, bool>,
    order: PyReadonlyArray1<'py, u32>,
    hot: usize,
    most_accepted: u64,
    most_possible: u64,
    site_offsets: Option<PyReadonlyArray1<'py, u64>>,
    sites: Option<PyReadonlyArray1<'py, u32>>,
    rows: Option<PyReadonlyArray1<'py, u32>>,
    threads: usize,
) -> PyResult<Vec<RuleResult<'py>>> {
    let order = permutation(&order)?;
    one_row_a_page(order.len(), active.len()?, "order")?;
    let limits =
        Limits { bucket: hot, few: FEW, accepted: most_accepted, possible: most_possible, part: PART };
    let work = Work::Match { order, limits, recorded: most_accepted };
    let applied = checked_and_applied(py, &rules, &active, work, site_offsets, sites, rows, threads)?;
    let told = applied.into_iter().map(|(joined, resolved)| {
        let candidates = joined.candidates + resolved.compared;
        let accepted = joined.pairs.len() as u64 + resolved.accepted;
        let hot_buckets = joined.hot.len() as u64;
        drop(joined.hot);
        let (mut pairs, hot_pairs) = (joined.pairs, resolved.pairs);
        if !hot_pairs.is_empty() {
            pairs.extend(hot_pairs);
            pairs.sort_unstable_by_key(|pair| (pair.a, pair.b));
        }
        let (a, b, score) = columns(py, pairs)?;
        Ok((a, b, score, candidates, accepted, joined.largest_bucket, hot_buckets, resolved.unscored))
    });
    told.collect()
}

/// The same for hot buckets alone, those of more than `hot` entries, as they are resolved among all: for each rule
/// (a, b, score, compared, accepted, fullest bucket, hot buckets, unscored). Pairs of other buckets are known already.
#[pyfunction]
#[pyo3(signature = (rules, active, order, *, hot, recorded, site_offsets=None, sites=None, rows=None, threads=0))]
#[allow(clippy::too_many_arguments)]
pub fn resolve_hot<'py>(
    py: Python<'py>,
    rules: Vec<RuleArrays<'py>>,
    active: PyReadonlyArray1<'py, bool>,
    order: PyReadonlyArray1<'py, u32>,
    hot: usize,
    recorded: u64,
    site_offsets: Option<PyReadonlyArray1<'py, u64>>,
    sites: Option<PyReadonlyArray1<'py, u32>>,
    rows: Option<PyReadonlyArray1<'py, u32>>,
    threads: usize,
) -> PyResult<Vec<RuleResult<'py>>> {
    let order = permutation(&order)?;
    one_row_a_page(order.len(), active.len()?, "order")?;
    let work = Work::Match { order, limits: Limits { bucket: hot, ..Limits::NONE }, recorded };
    let applied = checked_and_applied(py, &rules, &active, work, site_offsets, sites, rows, threads)?;
    let told = applied.into_iter().map(|(joined, resolved)| {
        let Resolved { pairs, compared, accepted, unscored } = resolved;
        let (a, b, score) = columns(py, pairs)?;
        Ok((a, b, score, compared, accepted, joined.largest_bucket, joined.hot.len() as u64, unscored))
    });
    told.collect()
}

/// (a, b, score, candidates) of the accepted pairs of buckets that were put together elsewhere: whole and one after
/// another, each page a row of its own.
#[pyfunction]
#[pyo3(signature = (rule, columns, keys, key_sites, *, site_offsets=None, sites=None, threads=1))]
#[allow(clippy::too_many_arguments)]
pub fn match_buckets<'py>(
    py: Python<'py>,
    rule: RuleArrays<'py>,
    columns: PyReadonlyArray1<'py, u32>,
    keys: PyReadonlyArray1<'py, u64>,
    key_sites: PyReadonlyArray1<'py, u32>,
    site_offsets: Option<PyReadonlyArray1<'py, u64>>,
    sites: Option<PyReadonlyArray1<'py, u32>>,
    threads: usize,
) -> PyResult<(Field<'py>, Field<'py>, Field<'py>, u64)> {
    let (columns, keys, key_sites) = (contiguous(&columns)?, contiguous(&keys)?, contiguous(&key_sites)?);
    one_row_a_page(keys.len(), columns.len(), "keys")?;
    one_row_a_page(key_sites.len(), columns.len(), "key_sites")?;
    let standing: Vec<Standing> = columns
        .iter()
        .zip(keys.iter().zip(key_sites))
        .enumerate()
        .map(|(page, (&column, (&key, &site)))| Standing { column, key, site, page: page as u32 })
        .collect();
    let active = vec![true; columns.len()].into_pyarray(py).readonly();
    let work = Work::Given(&standing);
    let mut applied = checked_and_applied(py, &[rule], &active, work, site_offsets, sites, None, threads)?;
    let (joined, _) = applied.remove(0);
    let (a, b, score) = self::columns(py, joined.pairs)?;
    Ok((a, b, score, joined.candidates))
}
