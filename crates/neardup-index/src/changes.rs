//! What a commit will change, held until it is written all at once: pages see those that came before them in the same
//! batch, and nobody else sees any of it yet.

use std::collections::BTreeMap;
use std::collections::hash_map::Entry;

use fjall::Readable;
use xxhash_rust::xxh3::xxh3_128;

use crate::durable::Reached;
use crate::error::{Error, Result, damaged};
use crate::finding::{Map, stored_on_site};
use crate::index::{Carried, Request};
use crate::lookup::{OneNumber, Tail, bytes, chunk_key};
use crate::records::{PageRecord, SetRecord};
use crate::shape::Shape;
use crate::store::{Counts, Sync, Tables, View, number, pair_key};

/// Bytes under which an id is looked up: among ten million, one id in 100,000 finds another in its place.
pub const ID_BYTES: usize = 5;
/// Bytes of an identity that name it: among a hundred million, two that differ share them with a probability of 4 in a
/// billion.
pub const IDENTITY_BYTES: usize = 10;
/// Ids that share their hash are put one behind another, up to so many.
const PROBES: u8 = 16;

pub type IdKey = [u8; ID_BYTES];
pub type IdentityKey = [u8; IDENTITY_BYTES];

/// Where an id is looked up, and where next if another id stands there.
pub fn id_key(id: &[u8], probe: u8) -> IdKey {
    let hash = xxh3_128(id) ^ u128::from(probe).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
    hash.to_be_bytes()[..ID_BYTES].try_into().expect("so many bytes")
}

pub fn identity_key(identity: u128) -> IdentityKey {
    identity.to_be_bytes()[..IDENTITY_BYTES].try_into().expect("so many bytes")
}

/// A list and what is added to it by this commit. Nearly all lists are new and get one number.
#[derive(Debug)]
struct Grown {
    stored: Option<Tail>,
    first: u32,
    more: Vec<u32>,
}

impl Grown {
    fn length(&self) -> usize {
        self.stored.as_ref().map_or(0, Tail::length) + 1 + self.more.len()
    }

    /// What was added, for pages of the same batch.
    fn fresh(&self) -> impl Iterator<Item = u32> {
        std::iter::once(self.first).chain(self.more.iter().copied())
    }
}

/// Tables as they will be. Reading falls back on the view of what is there.
#[derive(Debug)]
pub struct Changes<'a> {
    pub view: &'a View<'a>,
    shape: &'a Shape,
    pub counts: Counts,
    pages: BTreeMap<u32, Option<PageRecord>>,
    ids: Map<IdKey, Option<u32>>,
    identities: Map<IdentityKey, u32>,
    sets: Map<u32, Option<SetRecord>>,
    members: BTreeMap<(u32, u32), bool>,
    sites: BTreeMap<(u32, u64), u32>,
    keys: Map<u64, Grown>,
    requests: Map<[u8; 16], (i64, [u8; 16])>,
}

impl<'a> Changes<'a> {
    pub fn new(view: &'a View<'a>, shape: &'a Shape) -> Result<Self> {
        Ok(Changes {
            view,
            shape,
            counts: view.counts()?,
            pages: BTreeMap::new(),
            ids: Map::default(),
            identities: Map::default(),
            sets: Map::default(),
            members: BTreeMap::new(),
            sites: BTreeMap::new(),
            keys: Map::default(),
            requests: Map::default(),
        })
    }

    fn page(&self, page: u32) -> Result<Option<PageRecord>> {
        match self.pages.get(&page) {
            Some(changed) => Ok(changed.clone()),
            None => self.view.page(self.shape, page),
        }
    }

    /// The record of a set, or `None` if it is gone; `known` saves reading what was read already.
    pub fn set(&self, set: u32, known: Option<&SetRecord>) -> Result<Option<SetRecord>> {
        match (self.sets.get(&set), known) {
            (Some(changed), _) => Ok(changed.clone()),
            (None, Some(known)) => Ok(Some(known.clone())),
            (None, None) => self.view.set(self.shape, set),
        }
    }

    /// Whether a page is a member of a set.
    pub fn belongs(&self, page: u32, set: u32) -> Result<bool> {
        Ok(self.page(page)?.is_some_and(|record| record.set == set))
    }

    /// The page of an id; `absent` says that it is known not to be stored.
    pub fn page_of(&self, id: &[u8], absent: bool) -> Result<Option<u32>> {
        for probe in 0..PROBES {
            let key = id_key(id, probe);
            let found = match self.ids.get(&key) {
                Some(changed) => *changed,
                None if absent => None,
                None => match self.view.get(&self.view.tables.ids, &key)? {
                    None => None,
                    Some(bytes) => Some(number(&bytes)?),
                },
            };
            match found {
                None => return Ok(None),
                Some(page) if self.page(page)?.is_some_and(|record| record.id == id) => {
                    return Ok(Some(page));
                }
                Some(_) => {}
            }
        }
        Ok(None)
    }

    pub fn identity(&self, identity: u128, stored: Option<u32>) -> Option<u32> {
        self.identities.get(&identity_key(identity)).copied().or(stored)
    }

    /// Pages of this batch that have a key.
    pub fn fresh(&self, hash: u64) -> impl Iterator<Item = u32> {
        self.keys.get(&hash).into_iter().flat_map(Grown::fresh)
    }

    pub fn on_site(&self, set: u32, site: u64) -> Result<u32> {
        match self.sites.get(&(set, site)) {
            Some(&count) => Ok(count),
            None => stored_on_site(self.view, set, site),
        }
    }

    /// Lists a set under a key, unless the key lists enough; `stored` is its list before this batch.
    pub fn list(&mut self, hash: u64, set: u32, stored: Option<&Tail>) {
        let length = match self.keys.get(&hash) {
            Some(grown) => grown.length(),
            None => stored.map_or(0, Tail::length),
        };
        if length >= self.shape.most {
            self.counts.left_out += 1;
            return;
        }
        match self.keys.entry(hash) {
            Entry::Occupied(mut grown) => grown.get_mut().more.push(set),
            Entry::Vacant(place) => {
                place.insert(Grown { stored: stored.cloned(), first: set, more: Vec::new() });
            }
        }
        self.counts.full_keys += u64::from(length + 1 == self.shape.most);
    }

    /// Adds a page to a set that is there, or makes one of it; says whether the set is on this site since now.
    pub fn add_page(
        &mut self,
        page: PageRecord,
        absent: bool,
        identity: Option<u128>,
        mut set: SetRecord,
        joins: bool,
    ) -> Result<(u32, bool)> {
        let number = self.counts.next;
        self.counts.next =
            number.checked_add(1).ok_or_else(|| Error::Usage("the index is full".to_owned()))?;
        self.counts.pages += 1;
        self.ids.insert(self.free_key(&page.id, absent)?, Some(number));
        let mut new_site = true;
        if joins {
            let (home, site) = (page.set, page.site);
            if !set.several(home) {
                // From now on members and sites are told one by one.
                self.members.insert((home, set.first), true);
                self.sites.insert((home, set.site), 1);
            }
            let before = self.on_site(home, site)?;
            new_site = before == 0;
            set.members += 1;
            set.sites += u32::from(new_site);
            self.sites.insert((home, site), before + 1);
            self.members.insert((home, number), true);
            self.sets.insert(home, Some(set));
            self.pages.insert(number, Some(page));
        } else {
            set.first = number;
            self.sets.insert(number, Some(set));
            self.counts.sets += 1;
            if let Some(identity) = identity {
                self.identities.insert(identity_key(identity), number);
            }
            self.pages.insert(number, Some(PageRecord { set: number, site: 0, ..page }));
        }
        Ok((number, new_site))
    }

    fn under(&self, key: &IdKey) -> Result<Option<u32>> {
        match self.ids.get(key) {
            Some(changed) => Ok(*changed),
            None => self.view.get(&self.view.tables.ids, key)?.map(|bytes| number(&bytes)).transpose(),
        }
    }

    /// Frees the place of an id, unless another that shares its hash may stand behind it.
    fn free(&mut self, id: &[u8], page: u32) -> Result<()> {
        for probe in 0..PROBES {
            let key = id_key(id, probe);
            match self.under(&key)? {
                None => return Ok(()),
                Some(found) if found == page => {
                    if self.under(&id_key(id, probe + 1))?.is_none() {
                        self.ids.insert(key, None);
                    }
                    return Ok(());
                }
                Some(_) => {}
            }
        }
        Ok(())
    }

    fn free_key(&self, id: &[u8], absent: bool) -> Result<IdKey> {
        for probe in 0..PROBES {
            let key = id_key(id, probe);
            if absent && probe == 0 && !self.ids.contains_key(&key) {
                return Ok(key);
            }
            // What points to a page that is gone may be taken over.
            match self.under(&key)? {
                None => return Ok(key),
                Some(page) if self.page(page)?.is_none() => return Ok(key),
                Some(_) => {}
            }
        }
        Err(Error::Usage("too many ids share a hash".to_owned()))
    }

    /// Takes a page out; its set goes with its last page.
    pub fn remove(&mut self, page: u32) -> Result<()> {
        let Some(record) = self.page(page)? else { return Ok(()) };
        self.free(&record.id, page)?;
        self.pages.insert(page, None);
        self.counts.pages = self.counts.pages.saturating_sub(1);
        let home = record.set;
        let Some(mut set) = self.set(home, None)? else {
            return Err(damaged("a page has no identity set"));
        };
        let site = if page == home { set.site } else { record.site };
        if set.members <= 1 {
            if set.several(home) {
                self.members.insert((home, page), false);
                self.sites.insert((home, site), 0);
            }
            self.sets.insert(home, None);
            self.counts.sets = self.counts.sets.saturating_sub(1);
            return Ok(());
        }
        self.members.insert((home, page), false);
        set.members -= 1;
        let left = self.on_site(home, site)?.saturating_sub(1);
        self.sites.insert((home, site), left);
        if left == 0 {
            set.sites -= 1;
        }
        if set.first == page {
            set.first = self.first_member(home, page.saturating_add(1), |_| Ok(true))?.ok_or_else(lost)?;
        }
        if left == 0 && set.site == site {
            set.site = self.page(set.first)?.map_or(0, |first| first.site);
        }
        self.sets.insert(home, Some(set));
        Ok(())
    }

    /// The oldest wanted page of a set whose members are told one by one, `from` a number on: members before the first
    /// one are gone, and to pass them again each time would take the square of their number.
    pub fn first_member(
        &self,
        set: u32,
        from: u32,
        wanted: impl Fn(u32) -> Result<bool>,
    ) -> Result<Option<u32>> {
        let mut found: Option<u32> = None;
        let places = pair_key(set, &from.to_be_bytes())..=pair_key(set, &[0xff; 4]);
        for entry in self.view.snapshot.range(&self.view.tables.members, places) {
            self.view.count_entry();
            let key = entry.key()?;
            let page = key.get(4..8).map(|bytes| u32::from_be_bytes(bytes.try_into().expect("four bytes")));
            let page = page.ok_or_else(|| damaged("a member has no number"))?;
            if self.members.get(&(set, page)) != Some(&false) && wanted(page)? {
                found = Some(page);
                break;
            }
        }
        let changed = self.members.range((set, from)..=(set, u32::MAX)).filter(|(_, there)| **there);
        for (&(_, page), _) in changed.take_while(|(key, _)| found.is_none_or(|found| key.1 < found)) {
            if wanted(page)? {
                return Ok(Some(page));
            }
        }
        Ok(found)
    }

    /// The site of a member of a set.
    pub fn site_of(&self, page: u32, set: u32, record: &SetRecord) -> Result<u64> {
        Ok(if page == set { record.site } else { self.page(page)?.map_or(0, |page| page.site) })
    }

    /// Remembers that a request was carried out.
    pub fn carry_out(&mut self, request: Request, time: i64) {
        self.requests.insert(request.key, (time, request.content));
    }

    /// What became of a request in this batch or an earlier commit.
    pub fn carried(&self, request: &Request) -> Result<Carried> {
        let content = match self.requests.get(&request.key) {
            Some((_, content)) => Some(*content),
            None => self.view.request(&request.key)?.map(|(_, content)| content),
        };
        Ok(match content {
            None => Carried::Never,
            Some(content) if content == request.content => Carried::Out,
            Some(_) => Carried::Otherwise,
        })
    }

    pub fn is_empty(&self) -> bool {
        self.pages.is_empty() && self.requests.is_empty()
    }

    /// Hands everything to the operating system, at once; returns the number of the commit, and the next page's.
    pub fn commit(self, tables: &Tables) -> Result<Reached> {
        let mut keys: Vec<(u64, Grown)> = self.keys.into_iter().collect();
        keys.sort_unstable_by_key(|(hash, _)| *hash);
        let mut batch = tables.batch(keys.len() + 4 * self.pages.len() + 1, Sync::System);
        let mut put = |table, key: &[u8], value: Option<Vec<u8>>| match value {
            Some(value) => batch.insert(table, key, value),
            None => batch.remove(table, key),
        };
        for (page, record) in &self.pages {
            let record = record.as_ref().map(|record| record.encode(self.shape, *page));
            put(&tables.pages, &page.to_be_bytes(), record);
        }
        for (key, page) in sorted(&self.ids) {
            put(&tables.ids, key, page.map(|page| OneNumber::of(page).bytes().to_vec()));
        }
        for (key, set) in sorted(&self.identities) {
            put(&tables.identities, key, Some(OneNumber::of(*set).bytes().to_vec()));
        }
        for (set, record) in sorted(&self.sets) {
            put(
                &tables.sets,
                &set.to_be_bytes(),
                record.as_ref().map(|record| record.encode(self.shape, *set)),
            );
        }
        for ((set, page), there) in &self.members {
            put(&tables.members, &pair_key(*set, &page.to_be_bytes()), there.then(Vec::new));
        }
        for ((set, site), count) in &self.sites {
            let value = (*count > 0).then(|| count.to_le_bytes().to_vec());
            put(&tables.sites, &pair_key(*set, &site.to_be_bytes()), value);
        }
        for (hash, grown) in keys {
            if grown.stored.is_none() && grown.more.is_empty() {
                batch.insert(&tables.keys, bytes(hash), OneNumber::of(grown.first).bytes());
                continue;
            }
            let fresh = std::iter::once(grown.first).chain(grown.more);
            let mut tail = grown.stored.unwrap_or_default();
            for (chunk, full) in fresh.filter_map(|set| tail.push(set)).collect::<Vec<_>>() {
                batch.insert(&tables.keys, chunk_key(hash, chunk), full);
            }
            batch.insert(&tables.keys, bytes(hash), tail.encode());
        }
        for (key, (time, content)) in &self.requests {
            batch.insert(&tables.requests, *key, [&time.to_le_bytes()[..], content].concat());
        }
        tables.put_counts(&mut batch, self.counts);
        let commit = batch.commit()?;
        tables.ease()?;
        Ok(Reached { commit, next: self.counts.next })
    }
}

/// A set that counts members and has none.
pub fn lost() -> Error {
    damaged("an identity set has lost its members")
}

/// Entries in the order in which their table holds them: neighbours are written faster one after another.
fn sorted<K: Ord, V>(changed: &Map<K, V>) -> Vec<(&K, &V)> {
    let mut entries: Vec<(&K, &V)> = changed.iter().collect();
    entries.sort_unstable_by_key(|(key, _)| *key);
    entries
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{open, page};
    use std::collections::HashMap;

    /// Two numbers whose ids are looked up in the same place.
    fn numbers_that_collide() -> (u64, u64) {
        let mut seen: HashMap<IdKey, u64> = HashMap::new();
        let same = (0..).find_map(|number: u64| {
            let other = seen.insert(id_key(number.to_string().as_bytes(), 0), number)?;
            Some((other, number))
        });
        same.expect("there are more numbers than places")
    }

    #[test]
    fn ids_that_share_their_place_are_told_apart() {
        let (a, b) = numbers_that_collide();
        let id = |number: u64| number.to_string().into_bytes();
        for (first, second) in [(a, b), (b, a)] {
            let folder = tempfile::tempdir().unwrap();
            let index = open(folder.path());
            let add = |number: u64| index.add_one(page(number, [number, number, 0])).unwrap().replaced;
            let remove = |number: u64| index.remove(&[&id(number)]).unwrap();
            assert_eq!([add(first), add(second)], [false, false]);
            assert_eq!([add(first), add(second)], [true, true]);
            assert_eq!(remove(first), [true]);
            // The other is found behind the place that was left.
            assert_eq!([add(second), add(first)], [true, false]);
            assert_eq!((remove(second), remove(second)), (vec![true], vec![false]));
            index.compact(0).unwrap();
            assert_eq!(index.verify().unwrap().complaints, Vec::<String>::new());
            assert_eq!([add(first), add(second)], [true, false]);
            assert_eq!(index.counts().unwrap().pages, 2);
            assert_eq!(index.verify().unwrap().complaints, Vec::<String>::new());
        }
    }
}
