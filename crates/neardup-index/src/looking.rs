//! What is looked up of pages before anything of their batch is added.
//!
//! Keys of many pages are looked up in the order of the keys, not of the pages: one look-up then leaves in the
//! processor's caches most of the way that the next one goes, down the memory table and to the same block of a filter.

use std::ops::Range;
use std::sync::Arc;

use fjall::Readable;
use rayon::prelude::*;

use crate::changes::{IdKey, id_key, identity_key};
use crate::error::Result;
use crate::finding::{each_number, gather, tail};
use crate::index::{Index, Pages};
use crate::lookup::{Key, Tail, keys};
use crate::records::SetRecord;
use crate::shape::{Row, Shape};
use crate::store::{View, decoded, number};
use crate::upkeep::big;

/// Pages that one thread works on alone.
const FEW: usize = 16;
/// Keys that a thread takes at a time; no more than these are not shared out.
const RUN: usize = 512;

/// Numbers of sets that are no further apart are read in passing, if they are so many.
const NEAR: u32 = 4;
const SEVERAL: usize = 16;

/// What was looked up of a page.
#[derive(Debug)]
pub struct Prepared {
    pub row: Arc<Row>,
    pub keys: Vec<Key>,
    /// The lists of its keys: ends as they are stored (none: nobody has the key).
    pub tails: Vec<Option<Tail>>,
    /// Nobody stands where its id would.
    pub absent: bool,
    /// The set of pages with the same tokens.
    pub identity: Option<u32>,
}

/// A set that shares enough keys, with its rules and its record.
pub type Met = (u32, Vec<u8>, Option<SetRecord>);

impl Index {
    /// Rows, keys and what stands under them of some pages; whom they meet is not looked up yet.
    pub(crate) fn look_up(
        &self,
        view: &View<'_>,
        pages: &Pages<'_>,
        range: Range<usize>,
    ) -> Result<Vec<Prepared>> {
        let (rows, keys): (Vec<Row>, Vec<Vec<Key>>) = each(range.clone(), |at| {
            let row = pages.row(self.shape(), at);
            let keys =
                if pages.active[at] { keys(self.shape(), &row, pages.sites[at], false) } else { Vec::new() };
            Ok((row, keys))
        })?
        .into_iter()
        .unzip();
        let tails = tails(view, &keys)?;
        let ids: Vec<IdKey> = pages.ids[range.clone()].iter().map(|id| id_key(id, 0)).collect();
        let ids = look_up_sorted(&ids, |key| Ok(view.get(&view.tables.ids, key)?.is_none()))?;
        let named = pages.identities[range].iter().map(|identity| identity.map(identity_key));
        let identities = look_up_sorted(&named.collect::<Vec<_>>(), |key| match key {
            None => Ok(None),
            Some(key) => view.get(&view.tables.identities, key)?.map(|bytes| number(&bytes)).transpose(),
        })?;
        let found = rows.into_iter().zip(keys).zip(tails).zip(ids.into_iter().zip(identities));
        Ok(found
            .map(|(((row, keys), tails), (absent, identity))| Prepared {
                row: Arc::new(row),
                keys,
                tails,
                absent,
                identity,
            })
            .collect())
    }

    /// Whom a page meets.
    pub(crate) fn meet(&self, view: &View<'_>, ready: &Prepared) -> Result<Vec<Met>> {
        let mut met = Vec::new();
        for (key, tail) in ready.keys.iter().zip(&ready.tails) {
            if let Some(tail) = tail {
                each_number(view, key.hash, tail, &mut |set| met.push((set, key.rule)))?;
            }
        }
        let met = gather(self.shape(), met);
        let mut found = Vec::with_capacity(met.len());
        for run in met.chunk_by(|a, b| b.0 - a.0 <= NEAR) {
            let records = records(view, self.shape(), run)?;
            found.extend(run.iter().zip(records).map(|((set, rules), record)| (*set, rules.clone(), record)));
        }
        Ok(found)
    }
}

/// The records of sets of ascending numbers that are near each other: several are read in passing, which takes a fraction
/// of looking for each. A page with thousands of near copies spends most of its time here.
fn records(view: &View<'_>, shape: &Shape, run: &[(u32, Vec<u8>)]) -> Result<Vec<Option<SetRecord>>> {
    let (Some((first, _)), Some((last, _))) = (run.first(), run.last()) else { return Ok(Vec::new()) };
    if run.len() < SEVERAL {
        return run.iter().map(|(set, _)| view.set(shape, *set)).collect();
    }
    let mut records = vec![None; run.len()];
    let mut at = 0;
    for entry in view.snapshot.range(&view.tables.sets, first.to_be_bytes()..=last.to_be_bytes()) {
        view.count_entry();
        let (key, value) = entry.into_inner()?;
        let set = big(&key)?;
        while run.get(at).is_some_and(|(wanted, _)| *wanted < set) {
            at += 1;
        }
        if run.get(at).is_some_and(|(wanted, _)| *wanted == set) {
            records[at] = Some(decoded(shape, set, &value)?);
        }
    }
    Ok(records)
}

/// The lists of the keys of pages, in one sweep over the keys.
pub(crate) fn tails(view: &View<'_>, keys: &[Vec<Key>]) -> Result<Vec<Vec<Option<Tail>>>> {
    let all: Vec<u64> = keys.iter().flatten().map(|key| key.hash).collect();
    let found = look_up_sorted(&all, |&hash| tail(view, hash))?;
    let mut found = found.into_iter();
    Ok(keys.iter().map(|keys| found.by_ref().take(keys.len()).collect()).collect())
}

/// What stands under each key, looked up in ascending order, several runs of keys at a time.
fn look_up_sorted<K, R>(keys: &[K], look: impl Fn(&K) -> Result<R> + Send + Sync) -> Result<Vec<R>>
where
    K: Ord + Sync,
    R: Send,
{
    let mut order: Vec<u32> = (0..keys.len() as u32).collect();
    let look_up = |run: &[u32]| run.iter().map(|&at| look(&keys[at as usize])).collect::<Result<Vec<R>>>();
    let runs: Vec<Vec<R>> = if keys.len() <= RUN {
        order.sort_unstable_by_key(|&at| &keys[at as usize]);
        vec![look_up(&order)?]
    } else {
        order.par_sort_unstable_by_key(|&at| &keys[at as usize]);
        order.par_chunks(RUN).map(look_up).collect::<Result<_>>()?
    };
    let mut found: Vec<Option<R>> = keys.iter().map(|_| None).collect();
    for (&at, one) in order.iter().zip(runs.into_iter().flatten()) {
        found[at as usize] = Some(one);
    }
    Ok(found.into_iter().flatten().collect())
}

/// Does this for each of some pages: several at a time, unless they are so few that handing them to other threads would
/// take longer, on a busy machine by a multiple.
pub fn each<R: Send>(range: Range<usize>, work: impl Fn(usize) -> Result<R> + Send + Sync) -> Result<Vec<R>> {
    if range.len() <= FEW { range.map(work).collect() } else { range.into_par_iter().map(work).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{Error, damaged};
    use crate::testing::{open, page};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_order_of_looking_up_does_not_show(keys in proptest::collection::vec(any::<u64>(), 0..2000)) {
            let found = look_up_sorted(&keys, |&key| Ok(key.wrapping_mul(3))).unwrap();
            let plain: Vec<u64> = keys.iter().map(|key| key.wrapping_mul(3)).collect();
            prop_assert_eq!(found, plain);
            prop_assert_eq!(each(0..keys.len(), |at| Ok(keys[at])).unwrap(), keys);
        }
    }

    #[test]
    fn records_read_in_passing_are_those_looked_for() {
        let folder = tempfile::tempdir().unwrap();
        let index = open(folder.path());
        for number in 0..60 {
            index.add_one(page(number, [7, 100 + number, 0])).unwrap();
        }
        index.remove(&[b"5", b"31", b"59"]).unwrap();
        let view = index.tables.view();
        let run: Vec<(u32, Vec<u8>)> = (0..60).filter(|set| set % 3 > 0).map(|set| (set, vec![0])).collect();
        let plain: Vec<Option<SetRecord>> =
            run.iter().map(|(set, _)| view.set(index.shape(), *set).unwrap()).collect();
        assert_eq!(plain.iter().filter(|record| record.is_none()).count(), 3);
        assert_eq!(records(&view, index.shape(), &run).unwrap(), plain);
    }

    #[test]
    fn what_goes_wrong_with_one_key_is_told() {
        let keys: Vec<u64> = (0..100).collect();
        let found = look_up_sorted(&keys, |&key| if key == 77 { Err(damaged("here")) } else { Ok(key) });
        assert!(matches!(found, Err(Error::Damaged(_))));
    }
}
