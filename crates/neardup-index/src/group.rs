//! Group commit: pages that several threads add one by one at the same time are added together.
//!
//! The first thread that finds nobody at work leads: it takes what is waiting, adds it as one batch, and wakes those who
//! wait. What comes meanwhile waits for the next round. So one `fsync`, one view of the tables and one write to the
//! journal serve as many as there are, and the answers are those that the pages would have had one by one.
//!
//! Those who were served in the last round come back a little after the next one could begin. So its leader waits for
//! as many as were served and as came meanwhile, though not longer than a quarter of what the last round took: without
//! that, half of the threads would be served while the other half comes back, in turns for ever. Whoever adds alone, or
//! is the last of many, waits for nobody, or once.

use std::collections::HashMap;
use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use crate::index::{Answer, Index, Pages};
use crate::shape::Shape;
use crate::store::{Error, Result};

/// Pages that share a commit, at most: those who wait for it should not wait for long.
const TOGETHER: usize = 256;

/// A page on its way in, of an index that holds no sets.
#[derive(Clone, Debug, Default)]
pub struct OnePage {
    pub id: Vec<u8>,
    /// None for a page without tokens, which is like no other.
    pub identity: Option<u128>,
    /// Whether it has enough tokens to be compared.
    pub active: bool,
    /// The hash of its site, 0 if there is none.
    pub site: u64,
    pub time: i64,
    pub request: Option<[u8; 16]>,
    /// Its columns one after another.
    pub words: Vec<u64>,
}

#[derive(Debug, Default)]
struct Queue {
    next: u64,
    waiting: Vec<(u64, OnePage)>,
    served: HashMap<u64, Result<Answer>>,
    led: bool,
    /// How many the last round served and how many came while it went on, and how long it took.
    expected: usize,
    took: Duration,
}

/// Who waits, and what became of those who waited.
#[derive(Debug, Default)]
pub struct Group {
    queue: Mutex<Queue>,
    changed: Condvar,
    arrived: Condvar,
}

impl Group {
    fn locked(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Waits a little for those who are expected.
    fn gathered<'a>(&self, mut queue: MutexGuard<'a, Queue>) -> MutexGuard<'a, Queue> {
        let until = Instant::now() + queue.took / 4;
        while queue.waiting.len() < queue.expected.min(TOGETHER) {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            queue = match self.arrived.wait_timeout(queue, left) {
                Ok((queue, _)) => queue,
                Err(poisoned) => poisoned.into_inner().0,
            };
        }
        queue
    }
}

/// A round that somebody leads. However it ends, all who are part of it hear of it and the next may lead.
struct Round<'a> {
    group: &'a Group,
    tickets: Vec<u64>,
    answers: Vec<Result<Answer>>,
    begun: Instant,
}

impl Drop for Round<'_> {
    fn drop(&mut self) {
        let mut queue = self.group.locked();
        queue.led = false;
        queue.expected = self.tickets.len() + queue.waiting.len();
        queue.took = self.begun.elapsed();
        let mut answers = self.answers.drain(..);
        for &ticket in &self.tickets {
            let answer =
                answers.next().unwrap_or_else(|| Err(Error::Store("adding was broken off".to_owned())));
            queue.served.insert(ticket, answer);
        }
        self.group.changed.notify_all();
    }
}

impl Index {
    /// Adds one page and says what was there before it; threads that do so at the same time share a commit.
    pub fn add_one(&self, page: OnePage) -> Result<Answer> {
        self.check_one(&page)?;
        let group = &self.group;
        let mut queue = group.locked();
        let ticket = queue.next;
        queue.next += 1;
        queue.waiting.push((ticket, page));
        if queue.led {
            // Who leads may be waiting for company.
            group.arrived.notify_one();
        }
        loop {
            if let Some(answer) = queue.served.remove(&ticket) {
                return answer;
            }
            if queue.led {
                queue = group.changed.wait(queue).unwrap_or_else(|poisoned| poisoned.into_inner());
                continue;
            }
            queue.led = true;
            queue = group.gathered(queue);
            let some = queue.waiting.len().min(TOGETHER);
            let (tickets, pages): (Vec<u64>, Vec<OnePage>) = queue.waiting.drain(..some).unzip();
            drop(queue);
            let mut round = Round { group, tickets, answers: Vec::new(), begun: Instant::now() };
            round.answers = self.add_together(&pages);
            drop(round);
            queue = group.locked();
        }
    }

    /// What is there that is like one page.
    pub fn query_one(&self, page: OnePage) -> Result<Answer> {
        self.check_one(&page)?;
        let mut answers = with_arrays(self.shape(), &[page], |pages| self.query(pages))?;
        answers.pop().ok_or_else(|| Error::Usage("a page without an answer".to_owned()))
    }

    fn check_one(&self, page: &OnePage) -> Result<()> {
        let fits = self.shape().sets == 0 && page.words.len() == self.shape().words();
        if fits { Ok(()) } else { Err(Error::Usage("the arrays do not fit the index".to_owned())) }
    }

    fn add_together(&self, some: &[OnePage]) -> Vec<Result<Answer>> {
        match with_arrays(self.shape(), some, |pages| self.add(pages)) {
            Ok(answers) => answers.into_iter().map(Ok).collect(),
            Err(error) if some.len() == 1 => vec![Err(error)],
            // One that cannot be carried out must not fail the others.
            Err(_) => some.iter().flat_map(|page| self.add_together(std::slice::from_ref(page))).collect(),
        }
    }
}

/// Pages side by side, as batches come.
fn with_arrays<R>(shape: &Shape, some: &[OnePage], work: impl FnOnce(&Pages<'_>) -> R) -> R {
    let mut start = 0;
    let mut columns = Vec::with_capacity(shape.widths.len());
    for width in &shape.widths {
        let rows = some.iter().flat_map(|page| &page.words[start..start + width]).copied();
        columns.push(rows.collect::<Vec<u64>>());
        start += width;
    }
    let active: Vec<bool> = some.iter().map(|page| page.active).collect();
    let sites: Vec<u64> = some.iter().map(|page| page.site).collect();
    let times: Vec<i64> = some.iter().map(|page| page.time).collect();
    work(&Pages {
        ids: some.iter().map(|page| &page.id[..]).collect(),
        identities: some.iter().map(|page| page.identity).collect(),
        active: &active,
        sites: &sites,
        times: &times,
        requests: some.iter().map(|page| page.request).collect(),
        columns: columns.iter().map(|column| &column[..]).collect(),
        sets: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::{Evidence, KeySource, Pairs, Rule};
    use crate::store::{Memory, Sync};

    fn open(folder: &std::path::Path) -> Index {
        let rule = Rule { keys: KeySource::Columns(0), evidence: Evidence::Columns(0, 1), pairs: Pairs::Any };
        let shape = Shape { widths: vec![2, 1], sets: 0, rules: vec![rule], most: 100 };
        Index::open(folder, shape, Sync::Commit, Memory { cache: 1 << 20, buffers: 1 << 20 }).unwrap()
    }

    fn page(number: u64, words: [u64; 3]) -> OnePage {
        let id = number.to_string().into_bytes();
        OnePage {
            id,
            identity: Some(u128::from(number + 1) << 64),
            active: true,
            words: words.to_vec(),
            ..Default::default()
        }
    }

    #[test]
    fn every_thread_gets_the_answer_to_its_own_page() {
        let folder = tempfile::tempdir().unwrap();
        let index = &open(folder.path());
        for number in 0..40 {
            index.add_one(page(number, [number, 1000 + number, 0])).unwrap();
        }
        std::thread::scope(|scope| {
            for thread in 0..8u64 {
                scope.spawn(move || {
                    for number in (thread..40).step_by(8) {
                        let answer = index.add_one(page(100 + number, [number, 2000 + number, 0])).unwrap();
                        let seen: Vec<&[u8]> = answer.matches.iter().map(|found| &found.id[..]).collect();
                        assert_eq!(seen, [number.to_string().as_bytes()]);
                    }
                });
            }
        });
        assert_eq!(index.counts().unwrap().pages, 80);
        let asked = index.query_one(page(7777, [3, 2003, 0])).unwrap();
        assert_eq!(asked.matches.len(), 2);
        assert_eq!(index.counts().unwrap().pages, 80);
    }

    #[test]
    fn of_pages_that_meet_in_one_round_just_one_is_the_first() {
        let folder = tempfile::tempdir().unwrap();
        let index = &open(folder.path());
        let first = std::sync::atomic::AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for number in 0..16 {
                let first = &first;
                scope.spawn(move || {
                    let answer = index.add_one(page(number, [5, number, 9])).unwrap();
                    if answer.matches.is_empty() {
                        first.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    }
                });
            }
        });
        assert_eq!(first.into_inner(), 1);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let index = open(folder.path());
        let short = OnePage { words: vec![1], ..OnePage::default() };
        assert!(matches!(index.add_one(short.clone()), Err(Error::Usage(_))));
        assert!(matches!(index.query_one(short), Err(Error::Usage(_))));
    }
}
