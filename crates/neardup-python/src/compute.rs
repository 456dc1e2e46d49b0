//! Fingerprints of a batch of pages, whatever the method: one function.
//!
//! A fingerprint is an object of Python that names what is computed (`native`) and has the parameters as attributes; what
//! was counted over the collection is its `table`. Parameters are checked by the core.

use neardup_core::batch::Shingling;
use neardup_core::chunks::anchors::Anchor;
use neardup_core::chunks::winnowing::Winnowing;
use neardup_core::content::Weighing;
use neardup_core::embeddings::stable::{Codes, Cut};
use neardup_core::embeddings::weighted::Frequencies;
use neardup_core::fingerprint::{Computed, OfLists, OfTerms};
use neardup_core::making::Kind;
use neardup_core::statistics::lexicon::Lexicons;
use neardup_core::statistics::numbers::Counted;
use pyo3::conversion::FromPyObjectOwned;
use pyo3::prelude::*;
use pyo3_arrow::PyArray;

use crate::arrays::{TokenLists, detached, list_array, pyarrow, rows};
use crate::errors::{Mismatch, of_core};
use crate::sketches::PrefixProfile;
use crate::statistics::NumberTable;
use crate::terms::PageTermLists;

/// A fingerprint as Python has it.
struct Parameters<'a, 'py>(&'a Bound<'py, PyAny>);

impl<'py> Parameters<'_, 'py> {
    fn get<T: FromPyObjectOwned<'py>>(&self, name: &str) -> PyResult<T> {
        self.0.getattr(name)?.extract().map_err(Into::into)
    }

    fn name(&self) -> PyResult<String> {
        self.get("native")
    }

    /// What was counted, where the fingerprint asks for it.
    fn table(&self) -> PyResult<Option<Bound<'py, NumberTable>>> {
        match self.0.getattr_opt("table")? {
            Some(table) if !table.is_none() => Ok(Some(table.cast_into::<NumberTable>()?)),
            _ => Ok(None),
        }
    }

    fn windows(&self) -> PyResult<Shingling> {
        Ok(Shingling { k: self.get("n")?, rabin: false })
    }

    fn shingling(&self) -> PyResult<Shingling> {
        Ok(Shingling { k: self.get("k")?, rabin: self.get("rabin")? })
    }

    /// One that is made while pages are read.
    fn kind(&self, name: &str) -> PyResult<Option<Kind>> {
        Ok(Some(match name {
            "keys" => {
                let (width, rows): (usize, usize) = (self.get("width")?, self.get("rows")?);
                Kind::Keys { shingling: self.shingling()?, count: width.saturating_mul(rows), rows }
            }
            "bits" => Kind::Bits { shingling: self.shingling()?, bits: self.get("bits")? },
            "terms" => Kind::Terms { bins: self.get("bins")? },
            "set" => Kind::Set { shingling: self.shingling()? },
            _ => return Ok(None),
        }))
    }

    /// One that is computed of lists of numbers.
    fn of_lists<'t>(&self, name: &str, table: Option<&'t NumberTable>) -> PyResult<OfLists<'t>> {
        if let Some(kind) = self.kind(name)? {
            return Ok(OfLists::Read(kind));
        }
        let counted = || table.ok_or_else(|| Mismatch::value(format!("{name:?} needs a table")));
        Ok(match name {
            "minima" => OfLists::Minima { windows: self.windows()?, count: self.get("k")? },
            "packed minima" => {
                OfLists::Packed { windows: self.windows()?, count: self.get("m")?, bits: self.get("bits")? }
            }
            "one permutation" => OfLists::Bins { windows: self.windows()?, count: self.get("k")? },
            "weighted samples" => {
                let frequencies = match table {
                    Some(table) => Some(Frequencies {
                        all: self.get("pages")?,
                        elements: table.numbers(),
                        pages: table.counts(),
                    }),
                    None => None,
                };
                OfLists::Samples { windows: self.windows()?, count: self.get("k")?, frequencies }
            }
            "projection codes" => {
                let interval: f64 = self.get("interval")?;
                OfLists::Codes(Codes {
                    codes: self.get("k")?,
                    projections: self.get("projections")?,
                    cut: if interval == 0.0 { Cut::Sign } else { Cut::Intervals(interval) },
                })
            }
            "signatures" => OfLists::Signatures(Lexicons {
                terms: counted()?.numbers(),
                unlisted: self.get("unlisted")?,
                randomised: self.get("randomised")?,
                left_out: self.get("left_out")?,
                least: self.get("least")?,
            }),
            "winnowed" => OfLists::Winnowed(Winnowing { chunks: self.windows()?, window: self.get("w")? }),
            "stretches" => OfLists::Stretches { modulus: self.get("n")? },
            "ending windows" => OfLists::Ending { windows: self.windows()?, modulus: self.get("m")? },
            "stepping windows" => OfLists::Every { windows: self.windows()?, step: self.get("m")? },
            "random windows" => OfLists::Random { windows: self.windows()?, count: self.get("k")? },
            "smallest windows" => OfLists::Smallest { windows: self.windows()?, count: self.get("k")? },
            "member windows" => OfLists::Members {
                windows: self.windows()?,
                members: counted()?.numbers(),
                inside: self.get("inside")?,
            },
            "content" => OfLists::Content {
                weighing: Weighing { enough: self.get("enough")?, title: self.get("title")? },
                pages: table.map(|table| Counted { numbers: table.numbers(), counts: table.counts() }),
            },
            "repetitions" => OfLists::Repetitions,
            _ => return Err(Mismatch::value(format!("no such fingerprint: {name:?}"))),
        })
    }

    /// The anchors of one that is computed of lists of terms.
    fn anchor(&self, name: &str) -> PyResult<Option<Anchor>> {
        Ok(Some(match name {
            "prefixes" => {
                let prefixes: String = self.get("prefixes")?;
                if prefixes.is_empty() {
                    Anchor::Hashed { letters: self.get("letters")?, every: self.get("every")? }
                } else {
                    Anchor::Given(prefixes.split('+').map(|prefix| prefix.as_bytes().to_vec()).collect())
                }
            }
            "rare prefixes" => Anchor::Infrequent { letters: self.get("letters")?, most: self.get("most")? },
            _ => return Ok(None),
        }))
    }
}

/// A fingerprint that is made while pages are read.
#[derive(Clone, Copy, Debug)]
pub struct ReadKind(pub Kind);

impl<'py> FromPyObject<'_, 'py> for ReadKind {
    type Error = PyErr;

    fn extract(fingerprint: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let parameters = Parameters(&fingerprint);
        let name = parameters.name()?;
        let kind = parameters.kind(&name)?.ok_or_else(|| {
            Mismatch::value(format!("no such kind of fingerprint is made while pages are read: {name:?}"))
        })?;
        kind.checked().map(ReadKind).map_err(of_core)
    }
}

/// The fingerprints of a batch: rows of numbers, or ordered sets. `input`: what the fingerprint is of, tokens or terms
/// (or streams of content, paragraphs), a list a page.
#[pyfunction]
pub fn compute<'py>(
    py: Python<'py>,
    fingerprint: &Bound<'py, PyAny>,
    input: PyArray,
) -> PyResult<Bound<'py, PyAny>> {
    let parameters = Parameters(fingerprint);
    let name = parameters.name()?;
    let (table, profile): (_, Bound<'py, PrefixProfile>);
    let of_terms = match name.as_str() {
        "byte windows" => OfTerms::Bytes { length: parameters.get("n")?, modulus: parameters.get("m")? },
        "deviations" => {
            profile = fingerprint.getattr("classes")?.cast_into()?;
            OfTerms::Deviations {
                profile: profile.get().profile(),
                schemes: fingerprint.call_method0("schemes")?.extract()?,
                rarest: parameters.get("rarest")?,
            }
        }
        _ => match parameters.anchor(&name)? {
            Some(anchor) => OfTerms::Anchored { windows: parameters.windows()?, anchor },
            None => {
                table = parameters.table()?;
                let of_lists = parameters.of_lists(&name, table.as_ref().map(Bound::get))?;
                let of_lists = of_lists.checked().map_err(of_core)?;
                let lists = TokenLists::new(&input)?;
                return computed(py, detached(py, || of_lists.compute(lists.lists())));
            }
        },
    };
    let (of_terms, terms) = (of_terms.checked().map_err(of_core)?, PageTermLists::new(&input)?);
    computed(py, detached(py, || of_terms.compute(terms.lists())))
}

fn computed(py: Python<'_>, computed: Computed) -> PyResult<Bound<'_, PyAny>> {
    match computed {
        Computed::Rows { width, values } => Ok(rows(py, values, width)?.into_any()),
        Computed::Sets(sets) => pyarrow(py, list_array(sets.offsets, sets.values)?),
    }
}
