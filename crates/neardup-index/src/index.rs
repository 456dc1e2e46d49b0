//! The index itself: pages are added, asked about and taken out, in batches.
//!
//! Adding a batch: keys of all pages are looked up in parallel ([`crate::looking`]); then, page by page, each meets what is there and what
//! came before it in the batch, and joins; then the candidates are verified in parallel, and everything is written in
//! one commit. So a page's answer and its insertion are one step, and a batch gives the answers that its pages would
//! have had one by one. Cost: a look-up in the filters of an LSM tree for each key, a few writes to its journal and
//! memory, and what rewriting the tree costs in the background; one `fsync` a batch.

use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use neardup_core::batch::Lists;
use xxhash_rust::xxh3::xxh3_128;

use crate::changes::{Changes, lost};
use crate::durable::{Durable, EverySecond, Reached};
use crate::error::{Error, Result, damaged, refused};
use crate::finding::{candidate, gather};
use crate::group::{Group, OnePage};
use crate::judge::{Candidate, judge};
use crate::locked;
use crate::looking::{Met, Prepared, each};
use crate::lookup::keys;
use crate::records::{PageRecord, SetRecord};
use crate::shape::{Row, Shape};
use crate::store::{Counts, Memory, Sync, Tables, View};

/// Pages of a batch that are verified together: what they meet is held in memory meanwhile.
const SLICE: usize = 512;
/// Pages that are looked up together.
const LOOKED_UP: usize = 4096;

/// What names a request, so that it is carried out once, and what was sent with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    pub key: [u8; 16],
    pub content: [u8; 16],
    /// How many pages it brings: the one that it is told of, and those behind it. They share their fate.
    pub pages: u32,
}

impl Request {
    pub fn new(name: &[u8], content: &[u8], pages: u32) -> Self {
        let hash = |bytes| xxh3_128(bytes).to_be_bytes();
        Request { key: hash(name), content: hash(content), pages }
    }
}

/// What became of a request before, if anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carried {
    Never,
    /// With the same content.
    Out,
    /// Its name came with something else.
    Otherwise,
}

/// Pages on their way in: arrays with an element, or a row, a page.
#[derive(Clone, Debug)]
pub struct Pages<'a> {
    pub ids: Vec<&'a [u8]>,
    /// None for a page without tokens, which is like no other.
    pub identities: Vec<Option<u128>>,
    /// Whether a page has enough tokens to be compared.
    pub active: &'a [bool],
    /// Hashes of sites, 0 where there is none.
    pub sites: &'a [u64],
    pub times: &'a [i64],
    /// What names the request that brings a page, and those behind it as far as it goes.
    pub requests: Vec<Option<Request>>,
    /// Rows of each column.
    pub columns: Vec<&'a [u64]>,
    pub sets: Vec<Lists<'a>>,
}

impl Pages<'_> {
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// One of them by itself.
    pub(crate) fn one(&self, shape: &Shape, at: usize) -> OnePage {
        let Row { words, sets } = self.row(shape, at);
        OnePage {
            id: self.ids[at].to_vec(),
            identity: self.identities[at],
            active: self.active[at],
            site: self.sites[at],
            time: self.times[at],
            request: self.requests[at],
            words,
            sets,
        }
    }

    pub(crate) fn check(&self, shape: &Shape) -> Result<()> {
        let count = self.len();
        let wrong = self.identities.len() != count
            || self.active.len() != count
            || self.sites.len() != count
            || self.times.len() != count
            || self.requests.len() != count
            || self.columns.len() != shape.widths().len()
            || self.sets.len() != shape.sets()
            || self.columns.iter().zip(shape.widths()).any(|(column, width)| column.len() != width * count)
            || self.sets.iter().any(|sets| sets.len() != count);
        if wrong { Err(Error::Usage("the arrays do not fit the index".to_owned())) } else { Ok(()) }
    }

    pub(crate) fn row(&self, shape: &Shape, at: usize) -> Row {
        if !self.active[at] {
            return Row::default();
        }
        let columns = self.columns.iter().zip(shape.widths());
        let words = columns.flat_map(|(column, width)| &column[at * width..][..*width]).copied().collect();
        Row { words, sets: self.sets.iter().map(|sets| sets.get(at).to_vec()).collect() }
    }
}

/// A near-duplicate: the first page of an identity set, and how it is like the page asked about.
#[derive(Clone, Debug, PartialEq)]
pub struct Match {
    pub id: Vec<u8>,
    pub score: f64,
    /// The rule that accepted it; none: it has the same tokens.
    pub rule: Option<u8>,
    /// How many pages with the same tokens it stands for.
    pub copies: u32,
}

/// What there is to say of a page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// The most similar first, then the oldest.
    pub matches: Vec<Match>,
    /// A page with this id was there and was replaced.
    pub replaced: bool,
    /// The request had been carried out before: nothing was added.
    pub repeated: bool,
    /// The request's name was used before with something else: nothing was added.
    pub conflict: bool,
    /// Some key of the page lists as many pages as a key may: others may be missing.
    pub full_key: bool,
    /// How many further near-duplicates there are that `matches` leaves out.
    pub more: u32,
}

/// An index, open. All methods may be called from several threads; those that change it wait for each other.
#[derive(Debug)]
pub struct Index {
    shape: Shape,
    pub(crate) tables: Tables,
    sync: Sync,
    /// An answer names at most so many near-duplicates.
    most_matches: usize,
    writer: Mutex<()>,
    pub(crate) durable: Arc<Durable>,
    /// At work as long as the index is open, if that is the policy.
    _second: Option<EverySecond>,
    pub(crate) group: Group,
    /// Commits that added pages since it was opened, and those pages.
    commits: AtomicU64,
    added: AtomicU64,
}

/// What must be verified of a page.
struct Case {
    /// The set it belongs to, if that was there: first member, members.
    same: Option<(u32, u32)>,
    candidates: Vec<Candidate>,
    /// First member and members of each candidate.
    told: Vec<(u32, u32)>,
}

impl Index {
    pub fn open(path: &Path, shape: Shape, sync: Sync, memory: Memory) -> Result<Self> {
        shape.check()?;
        let tables = Tables::open(path, memory)?;
        let reached = Reached { commit: tables.last(), next: tables.view().counts()?.next };
        let durable = Arc::new(Durable::new(path, Arc::clone(&tables.note), reached)?);
        let _second = (sync == Sync::Second).then(|| EverySecond::start(Arc::clone(&durable)));
        let (writer, group) = (Mutex::new(()), Group::default());
        let (commits, added) = (AtomicU64::new(0), AtomicU64::new(0));
        let most_matches = usize::MAX;
        Ok(Index { shape, tables, sync, most_matches, writer, durable, _second, group, commits, added })
    }

    /// Answers name at most so many near-duplicates, the best ones, and count the others.
    pub fn with_most_matches(self, most_matches: usize) -> Self {
        Index { most_matches, ..self }
    }

    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Whether a commit waits for the disk.
    pub(crate) fn syncs_commits(&self) -> bool {
        self.sync == Sync::Commit
    }

    pub fn counts(&self) -> Result<Counts> {
        self.tables.view().counts()
    }

    /// Bytes that the tables take on disk, and the journal.
    pub fn disk_space(&self) -> Result<(u64, u64)> {
        let tables = self.tables.all().iter().map(|(_, table)| table.disk_space()).sum();
        Ok((tables, self.tables.journal_space()?))
    }

    /// Everything that was committed is on disk when this returns.
    pub fn flush(&self) -> Result<()> {
        let commit = self.tables.last();
        self.tables.database.persist(fjall::PersistMode::SyncAll).map_err(refused)?;
        self.durable.note(commit)
    }

    /// The same, and so that it is soon open again. What cannot become a file now is in the journal.
    pub fn close(&self) -> Result<()> {
        self.flush()?;
        let _ = self.tables.shorten_journal();
        Ok(())
    }

    /// Does what commits, and waits for the disk if that is the policy.
    pub(crate) fn writing<R>(&self, work: impl FnOnce(&View<'_>) -> Result<R>) -> Result<R> {
        let done = self.writing_ahead(work)?;
        self.settle()?;
        Ok(done)
    }

    /// Does what commits; [`Self::settle`] comes later.
    fn writing_ahead<R>(&self, work: impl FnOnce(&View<'_>) -> Result<R>) -> Result<R> {
        let _lock = self.alone()?;
        work(&self.tables.view())
    }

    /// What was committed is as durable as the policy says when this returns.
    pub(crate) fn settle(&self) -> Result<()> {
        if self.syncs_commits() { self.durable.sync() } else { Ok(()) }
    }

    /// Nobody else writes as long as this is held.
    pub(crate) fn alone(&self) -> Result<MutexGuard<'_, ()>> {
        let lock = locked(&self.writer);
        self.durable.check()?;
        Ok(lock)
    }

    /// Commits; to be called by what [`Self::writing`] does.
    pub(crate) fn commit(&self, changes: Changes<'_>) -> Result<()> {
        self.durable.wrote(changes.commit(&self.tables)?);
        Ok(())
    }

    /// Adds pages in a commit of their own, and waits for the disk if that is the policy.
    pub(crate) fn add_alone(&self, pages: &Pages<'_>) -> Result<Vec<Answer>> {
        let answers = self.add_ahead(pages)?;
        self.settle()?;
        Ok(answers)
    }

    /// The same, to be settled: until then nobody may hear the answers.
    pub(crate) fn add_ahead(&self, pages: &Pages<'_>) -> Result<Vec<Answer>> {
        pages.check(&self.shape)?;
        self.writing_ahead(|view| {
            let mut changes = Changes::new(view, &self.shape)?;
            let (first, numbers) = (changes.counts.next, Vec::new());
            let mut adding = Adding { index: self, view, pages, first, numbers, request: None };
            let mut answers = Vec::with_capacity(pages.len());
            for start in (0..pages.len()).step_by(LOOKED_UP) {
                let range = start..(start + LOOKED_UP).min(pages.len());
                let prepared = self.look_up(view, pages, range.clone())?;
                for (some, ready) in range.step_by(SLICE).zip(prepared.chunks(SLICE)) {
                    answers.extend(adding.slice(&mut changes, some..some + ready.len(), ready)?);
                }
            }
            if !changes.is_empty() {
                self.commit(changes)?;
                self.commits.fetch_add(1, Ordering::Relaxed);
                self.added.fetch_add(adding.numbers.len() as u64, Ordering::Relaxed);
            }
            Ok(answers)
        })
    }

    /// How many commits added pages since it was opened, and how many pages.
    pub fn commits(&self) -> (u64, u64) {
        (self.commits.load(Ordering::Relaxed), self.added.load(Ordering::Relaxed))
    }

    /// What is there that is like these pages; a page of the same id is not among the answers of its own.
    pub fn query(&self, pages: &Pages<'_>) -> Result<Vec<Answer>> {
        pages.check(&self.shape)?;
        let view = self.tables.view();
        let changes = Changes::new(&view, &self.shape)?;
        // The first so many pages must be on the disk before anybody hears of them.
        let first = AtomicU32::new(0);
        let id = |page: u32| {
            first.fetch_max(page + 1, Ordering::Relaxed);
            Ok(view.page(&self.shape, page)?.map(|record| record.id))
        };
        let mut found = Vec::with_capacity(pages.len());
        for start in (0..pages.len()).step_by(LOOKED_UP) {
            found.extend(self.look_up(&view, pages, start..(start + LOOKED_UP).min(pages.len()))?);
        }
        let answers = each(0..pages.len(), |at| {
            let ready = &found[at];
            let own = changes.page_of(pages.ids[at], ready.absent)?;
            let case = self.case(&changes, pages, at, ready, &self.meet(&view, ready)?, own)?;
            let (matches, more) = self.matches(&ready.row, pages.sites[at], &case, id)?;
            Ok(Answer { matches, more, full_key: self.full(ready), ..Answer::default() })
        })?;
        if !self.durable.has(first.into_inner()) {
            self.settle()?;
        }
        Ok(answers)
    }

    fn full(&self, ready: &Prepared) -> bool {
        ready.tails.iter().flatten().any(|tail| tail.length() >= self.shape.most)
    }

    /// Who is to be compared with a page, as things stand now; `own` is a page that does not count.
    fn case(
        &self,
        changes: &Changes<'_>,
        pages: &Pages<'_>,
        at: usize,
        ready: &Prepared,
        met: &[Met],
        own: Option<u32>,
    ) -> Result<Case> {
        let site = pages.sites[at];
        let same = match self.home(changes, pages, at, ready)? {
            None => None,
            Some((set, record)) => Some((set, others(changes, &record, set, own)?)),
        };
        let mut fresh = Vec::new();
        for key in &ready.keys {
            fresh.extend(changes.fresh(key.hash).map(|set| (set, key.rule)));
        }
        // A set that met the page by keys stored before and by keys of this batch stands in both lists; that can only
        // be a set that came to a further site, and its rules of one list are enough in all but that rare case.
        let stored = met.len();
        let mut met: Vec<(u32, Vec<u8>, Option<&SetRecord>)> =
            met.iter().map(|(set, rules, record)| (*set, rules.clone(), record.as_ref())).collect();
        for (set, rules) in gather(&self.shape, fresh) {
            match met[..stored].binary_search_by_key(&set, |known| known.0) {
                Ok(place) => {
                    met[place].1.extend(rules);
                    met[place].1.sort_unstable();
                    met[place].1.dedup();
                }
                Err(_) => met.push((set, rules, None)),
            }
        }
        let (mut candidates, mut told) = (Vec::new(), Vec::new());
        for (set, rules, known) in met {
            // A set that was not there when keys were looked up, and is not of this batch, is gone.
            if Some(set) == same.map(|(home, _)| home) {
                continue;
            }
            let Some(record) = changes.set(set, known)? else { continue };
            if !record.active {
                continue;
            }
            let on_site = || Ok(changes.on_site(set, site)? > 0);
            let candidate = candidate(&self.shape, &record, rules, site, on_site)?;
            let part = if record.sites > 1 {
                self.accepted_part(changes, (&ready.row, site), (set, &record), &candidate, own)?
            } else {
                others(changes, &record, set, own)?
            };
            if let Some(part) = part {
                candidates.push(candidate);
                told.push(part);
            }
        }
        Ok(Case { same: same.and_then(|(_, told)| told), candidates, told })
    }

    /// First member and members of that part of a set on several sites that a page, on a site, is accepted with: its
    /// members on that site, those elsewhere, or all. One page is left out.
    fn accepted_part(
        &self,
        changes: &Changes<'_>,
        (row, site): (&Row, u64),
        (set, record): (u32, &SetRecord),
        candidate: &Candidate,
        own: Option<u32>,
    ) -> Result<Option<(u32, u32)>> {
        let judged = judge(&self.shape, row, site, std::slice::from_ref(candidate));
        let Some(accepted) = judged.first() else { return Ok(None) };
        if accepted.here && accepted.elsewhere {
            return others(changes, record, set, own);
        }
        // No site is on no site with any other.
        let here = |page: u32| Ok::<_, Error>(site != 0 && changes.site_of(page, set, record)? == site);
        let on_site = if site == 0 { 0 } else { changes.on_site(set, site)? };
        let mut members = if accepted.here { on_site } else { record.members - on_site };
        if let Some(own) = own
            && changes.belongs(own, set)?
            && here(own)? == accepted.here
        {
            members -= 1;
        }
        let wanted = |page: u32| Ok(Some(page) != own && here(page)? == accepted.here);
        let first = if Some(record.first) != own && here(record.first)? == accepted.here {
            Some(record.first)
        } else {
            changes.first_member(set, record.first, wanted)?
        };
        Ok(first.map(|first| (first, members)))
    }

    /// The set of pages with the same tokens, if it is there.
    fn home(
        &self,
        changes: &Changes<'_>,
        pages: &Pages<'_>,
        at: usize,
        ready: &Prepared,
    ) -> Result<Option<(u32, SetRecord)>> {
        let Some(identity) = pages.identities[at] else { return Ok(None) };
        let Some(set) = changes.identity(identity, ready.identity) else { return Ok(None) };
        Ok(changes.set(set, None)?.map(|record| (set, record)))
    }

    fn join(&self, changes: &mut Changes<'_>, pages: &Pages<'_>, at: usize, ready: &Prepared) -> Result<()> {
        let site = if self.shape.sited() { pages.sites[at] } else { 0 };
        let home = self.home(changes, pages, at, ready)?;
        let page = |set| PageRecord { set, time: pages.times[at], site, id: pages.ids[at].to_vec() };
        match home {
            None => {
                let set = SetRecord {
                    active: pages.active[at],
                    first: 0,
                    members: 1,
                    sites: 1,
                    site,
                    row: Arc::clone(&ready.row),
                };
                let (set, _) = changes.add_page(page(0), ready.absent, pages.identities[at], set, false)?;
                for (key, tail) in ready.keys.iter().zip(&ready.tails) {
                    changes.list(key.hash, set, tail.as_ref());
                }
            }
            Some((set, record)) => {
                let (_, new_site) = changes.add_page(page(set), ready.absent, None, record, true)?;
                if new_site && pages.active[at] {
                    // The other keys do not depend on the site and list the set already.
                    let joined = keys(&self.shape, &ready.row, site, true);
                    for key in joined {
                        let place = ready.keys.iter().position(|known| *known == key);
                        let tail = place.and_then(|place| ready.tails[place].as_ref());
                        changes.list(key.hash, set, tail);
                    }
                }
            }
        }
        Ok(())
    }

    fn matches(
        &self,
        row: &Row,
        site: u64,
        case: &Case,
        id: impl Fn(u32) -> Result<Option<Vec<u8>>>,
    ) -> Result<(Vec<Match>, u32)> {
        let mut found: Vec<(u32, f64, Option<u8>, u32)> =
            case.same.iter().map(|&(first, copies)| (first, 1.0, None, copies)).collect();
        for accepted in judge(&self.shape, row, site, &case.candidates) {
            let (first, copies) = case.told[accepted.candidate];
            found.push((first, accepted.score, Some(accepted.rule), copies));
        }
        found.sort_by(|a, b| a.2.is_some().cmp(&b.2.is_some()).then(b.1.total_cmp(&a.1)).then(a.0.cmp(&b.0)));
        let more = found.len().saturating_sub(self.most_matches);
        found.truncate(self.most_matches);
        let named = found.into_iter().map(|(page, score, rule, copies)| {
            let id = id(page)?.ok_or_else(|| damaged("a page has no record"))?;
            Ok(Match { id, score, rule, copies })
        });
        Ok((named.collect::<Result<_>>()?, more as u32))
    }
}

/// A batch on its way in.
struct Adding<'a> {
    index: &'a Index,
    view: &'a View<'a>,
    pages: &'a Pages<'a>,
    /// The number of the first page that is added, and where in the batch it and the others came from.
    first: u32,
    numbers: Vec<usize>,
    /// What became of the request of the last page, and how many further pages it brings.
    request: Option<(Carried, u32)>,
}

impl Adding<'_> {
    /// What became before of the request that brings the next page: its own, or one that goes on.
    fn carried(&mut self, changes: &Changes<'_>, request: Option<Request>) -> Result<Carried> {
        self.request = match (request, self.request) {
            (Some(request), _) => Some((changes.carried(&request)?, request.pages.saturating_sub(1))),
            (None, Some((carried, further))) => further.checked_sub(1).map(|further| (carried, further)),
            (None, None) => None,
        };
        Ok(self.request.map_or(Carried::Never, |(carried, _)| carried))
    }

    /// The next pages of the batch, which were looked up: met, joined and verified.
    fn slice(
        &mut self,
        changes: &mut Changes<'_>,
        range: Range<usize>,
        prepared: &[Prepared],
    ) -> Result<Vec<Answer>> {
        let (index, view, pages) = (self.index, self.view, self.pages);
        let start = range.start;
        let met = each(range.clone(), |at| index.meet(view, &prepared[at - start]))?;
        let mut answers = Vec::with_capacity(range.len());
        let mut cases = Vec::with_capacity(range.len());
        for (at, (ready, met)) in range.clone().zip(prepared.iter().zip(&met)) {
            let mut answer = Answer { full_key: index.full(ready), ..Answer::default() };
            let request = pages.requests[at];
            let carried = self.carried(changes, request)?;
            answer.repeated = carried == Carried::Out;
            answer.conflict = carried == Carried::Otherwise;
            let before = changes.page_of(pages.ids[at], ready.absent)?;
            if carried != Carried::Never {
                cases.push(index.case(changes, pages, at, ready, met, before)?);
            } else {
                if let Some(page) = before {
                    changes.remove(page)?;
                    answer.replaced = true;
                }
                cases.push(index.case(changes, pages, at, ready, met, None)?);
                index.join(changes, pages, at, ready)?;
                self.numbers.push(at);
                if let Some(request) = request {
                    changes.carry_out(request, pages.times[at]);
                }
            }
            answers.push(answer);
        }
        let id = |page: u32| match page.checked_sub(self.first).and_then(|new| self.numbers.get(new as usize))
        {
            Some(&at) => Ok(Some(pages.ids[at].to_vec())),
            None => Ok(view.page(&index.shape, page)?.map(|record| record.id)),
        };
        let found: Vec<(Vec<Match>, u32)> = each(range, |at| {
            let (case, ready) = (&cases[at - start], &prepared[at - start]);
            index.matches(&ready.row, pages.sites[at], case, id)
        })?;
        answers
            .iter_mut()
            .zip(found)
            .for_each(|(answer, (matches, more))| (answer.matches, answer.more) = (matches, more));
        Ok(answers)
    }
}

/// First member and members of a set, one page left out; none if there is no other.
fn others(
    changes: &Changes<'_>,
    record: &SetRecord,
    set: u32,
    own: Option<u32>,
) -> Result<Option<(u32, u32)>> {
    let Some(own) = own else { return Ok(Some((record.first, record.members))) };
    if !changes.belongs(own, set)? {
        return Ok(Some((record.first, record.members)));
    }
    if record.members == 1 {
        return Ok(None);
    }
    let first = if record.first == own {
        changes.first_member(set, own.saturating_add(1), |_| Ok(true))?.ok_or_else(lost)?
    } else {
        record.first
    };
    Ok(Some((first, record.members - 1)))
}
