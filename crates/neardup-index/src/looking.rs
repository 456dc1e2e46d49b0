//! What is looked up of pages before anything of their batch is added.
//!
//! Keys of many pages are looked up in the order of the keys, not of the pages: one look-up then leaves in the
//! processor's caches most of the way that the next one goes, down the memory table and to the same block of a filter.

use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use crate::changes::{IdKey, id_key, identity_key};
use crate::finding::{each_number, gather, tail};
use crate::index::{Index, Pages};
use crate::lookup::{Key, Tail, keys};
use crate::records::SetRecord;
use crate::shape::Row;
use crate::store::{Result, View, number};

/// Pages that one thread works on alone.
const FEW: usize = 16;
/// Keys that a thread takes at a time; no more than these are not shared out.
const RUN: usize = 512;

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
        gather(self.shape(), met)
            .into_iter()
            .map(|(set, rules)| Ok((set, rules, view.set(self.shape(), set)?)))
            .collect()
    }
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
    use crate::store::Error;
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
    fn what_goes_wrong_with_one_key_is_told() {
        let keys: Vec<u64> = (0..100).collect();
        let found =
            look_up_sorted(
                &keys,
                |&key| {
                    if key == 77 { Err(Error::Damaged("here".to_owned())) } else { Ok(key) }
                },
            );
        assert!(matches!(found, Err(Error::Damaged(_))));
    }
}
