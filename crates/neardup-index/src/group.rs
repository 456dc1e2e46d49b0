//! Group commit: what several threads add at the same time is added together, a page or a few each.
//!
//! The first thread that finds nobody at work leads: it takes what is waiting, adds it as one batch, and wakes those who
//! wait. What comes meanwhile waits for the next round. So one `fsync`, one view of the tables and one write to the
//! journal serve as many as there are, and the answers are those that the pages would have had one by one.
//!
//! While a round comes to the disk ([`crate::durable`]) the next one can set off, if that serves more ([`crate::pace`]).
//!
//! Those who were served in one round come back a little after the next one could begin. So its leader waits for its
//! share of those who were there lately, though not longer than half of what the last round took. Whoever adds alone, or
//! is the last of many, waits for nobody, or a few times.
//!
//! To wake a thread costs more than to look up a page. So each waits in a seat of its own and is woken once, when its
//! answer is there or when it is its turn to lead; and who waits for company is woken by the last of those expected.
//! For the same reason there are no rounds where a commit does not wait for the disk: each thread adds its own pages. Nor
//! is anything gained where a thread brings as many as a round may have.

use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use neardup_core::batch::Lists;

use crate::error::{Error, Result};
use crate::index::{Answer, Index, Pages, Request};
use crate::locked;
use crate::pace::Pace;
use crate::shape::Shape;

/// Pages that share a commit, at most: those who wait for it should not wait for long.
const TOGETHER: usize = 256;

/// A page on its way in, by itself.
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
    pub request: Option<Request>,
    /// Its columns one after another.
    pub words: Vec<u64>,
    pub sets: Vec<Vec<u64>>,
}

/// What somebody who waits is told.
#[derive(Debug)]
enum Call {
    Lead,
    Answers(Result<Vec<Answer>>),
}

/// Where a thread waits for its call.
#[derive(Debug, Default)]
struct Seat {
    call: Mutex<Option<Call>>,
    called: Condvar,
}

impl Seat {
    fn tell(&self, call: Call) {
        *locked(&self.call) = Some(call);
        self.called.notify_one();
    }

    fn wait(&self) -> Call {
        let mut call = locked(&self.call);
        loop {
            match call.take() {
                Some(call) => return call,
                None => call = self.called.wait(call).unwrap_or_else(|poisoned| poisoned.into_inner()),
            }
        }
    }
}

#[derive(Debug, Default)]
struct Queue {
    /// Who waits, each with its pages.
    waiting: Vec<(Arc<Seat>, Vec<OnePage>)>,
    led: bool,
    /// Rounds that set off and have not come back, and how many are served by them.
    rounds: usize,
    aboard: usize,
    /// How many waited or were under way when rounds set off lately, and how long the last one took.
    crowd: usize,
    took: Duration,
    pace: Pace,
}

impl Queue {
    /// Whether a round may set off with those who wait: all who are not under way, or their share.
    fn ready(&self) -> bool {
        let share = self.crowd.div_ceil(self.pace.rounds()).min(TOGETHER);
        let all = self.waiting.len() + self.aboard >= self.crowd;
        self.has_room() && (all || self.waiting.len() >= share)
    }

    /// Whether another round may be under way.
    fn has_room(&self) -> bool {
        self.rounds < self.pace.rounds()
    }

    /// The next one who waits leads, or the next who comes.
    fn pass_on(&mut self) {
        match self.waiting.first() {
            Some((seat, _)) => seat.tell(Call::Lead),
            None => self.led = false,
        }
    }
}

/// Who waits, and what became of those who waited.
#[derive(Debug, Default)]
pub struct Group {
    queue: Mutex<Queue>,
    /// Told to who leads: all who are expected came, or a round came back.
    ready: Condvar,
}

impl Group {
    /// Takes those who are there, after waiting a little for those who are expected.
    fn set_off(&self) -> (Round<'_>, Vec<Vec<OnePage>>) {
        let mut queue = locked(&self.queue);
        let until = Instant::now() + queue.took / 2;
        while !queue.ready() {
            if !queue.has_room() {
                queue = self.ready.wait(queue).unwrap_or_else(|poisoned| poisoned.into_inner());
                continue;
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            let waited = self.ready.wait_timeout(queue, left);
            queue = waited.unwrap_or_else(|poisoned| poisoned.into_inner()).0;
        }
        let present = queue.waiting.len() + queue.aboard;
        queue.crowd = present.max(queue.crowd.saturating_sub(1));
        let mut pages = 0;
        let fit = queue.waiting.iter().take_while(|(_, own)| {
            pages += own.len();
            pages <= TOGETHER
        });
        // Nobody brings more than a round may have.
        let some = fit.count();
        let (seats, pages): (Vec<_>, Vec<_>) = queue.waiting.drain(..some).unzip();
        queue.rounds += 1;
        queue.aboard += some;
        (Round { group: self, seats, answers: Vec::new(), begun: Instant::now(), led: true }, pages)
    }
}

/// Pages on their way. However it ends, all who are part of it hear of it and the next may lead.
struct Round<'a> {
    group: &'a Group,
    seats: Vec<Arc<Seat>>,
    answers: Vec<Result<Vec<Answer>>>,
    begun: Instant,
    /// Nobody else may lead as yet.
    led: bool,
}

impl Round<'_> {
    fn pass_on(&mut self) {
        if std::mem::take(&mut self.led) {
            locked(&self.group.queue).pass_on();
        }
    }
}

impl Drop for Round<'_> {
    fn drop(&mut self) {
        self.pass_on();
        let mut queue = locked(&self.group.queue);
        let had_room = queue.has_room();
        let (now, crowd) = (Instant::now(), queue.crowd);
        queue.rounds -= 1;
        queue.aboard -= self.seats.len();
        queue.took = now - self.begun;
        queue.pace.served(self.seats.len(), crowd, now);
        // Who leads may be waiting for a round to come back.
        if queue.led && !had_room && queue.has_room() {
            self.group.ready.notify_one();
        }
        drop(queue);
        let mut answers = self.answers.drain(..);
        for seat in &self.seats {
            let broken = || Err(Error::Store("adding was broken off".to_owned()));
            seat.tell(Call::Answers(answers.next().unwrap_or_else(broken)));
        }
    }
}

impl Index {
    /// Adds pages, in order and all or none; each answer tells what was there before that page. Threads that do so at the
    /// same time share a sync.
    pub fn add(&self, pages: &Pages<'_>) -> Result<Vec<Answer>> {
        if !self.shares_syncs(pages.len()) {
            return self.add_alone(pages);
        }
        pages.check(self.shape())?;
        self.add_pages((0..pages.len()).map(|at| pages.one(self.shape(), at)).collect())
    }

    /// The same with pages that stand by themselves.
    pub fn add_pages(&self, pages: Vec<OnePage>) -> Result<Vec<Answer>> {
        pages.iter().try_for_each(|page| self.check_one(page))?;
        if !self.shares_syncs(pages.len()) {
            return with_arrays(self.shape(), &pages, |pages| self.add_alone(pages));
        }
        let seat = Arc::new(Seat::default());
        let mut queue = locked(&self.group.queue);
        queue.waiting.push((Arc::clone(&seat), pages));
        let mut lead = !std::mem::replace(&mut queue.led, true);
        if !lead && queue.ready() {
            // Who leads may be waiting for company.
            self.group.ready.notify_one();
        }
        drop(queue);
        loop {
            if lead {
                self.lead();
            }
            match seat.wait() {
                Call::Lead => lead = true,
                Call::Answers(answers) => return answers,
            }
        }
    }

    /// Whether so many pages are worth a sync that others share.
    fn shares_syncs(&self, pages: usize) -> bool {
        self.syncs_commits() && (1..TOGETHER).contains(&pages)
    }

    /// Adds one page.
    pub fn add_one(&self, page: OnePage) -> Result<Answer> {
        self.add_pages(vec![page]).and_then(only)
    }

    /// Adds what is waiting, the leader's own pages among it. While that comes to the disk, the next may lead.
    fn lead(&self) {
        let (mut round, pages) = self.group.set_off();
        let answers = self.add_together(pages);
        round.pass_on();
        round.answers = match self.settle() {
            Ok(()) => answers,
            Err(error) => answers.into_iter().map(|answer| answer.and(Err(error.clone()))).collect(),
        };
    }

    /// What is there that is like these pages.
    pub fn query_pages(&self, pages: &[OnePage]) -> Result<Vec<Answer>> {
        pages.iter().try_for_each(|page| self.check_one(page))?;
        with_arrays(self.shape(), pages, |pages| self.query(pages))
    }

    /// What is there that is like one page.
    pub fn query_one(&self, page: OnePage) -> Result<Answer> {
        self.query_pages(&[page]).and_then(only)
    }

    fn check_one(&self, page: &OnePage) -> Result<()> {
        let (words, sets) = (page.words.len(), page.sets.len());
        // Of one that is not compared nothing is held.
        let fits = (words, sets) == (self.shape().words(), self.shape().sets())
            || (words, sets) == (0, 0) && !page.active;
        if fits { Ok(()) } else { Err(Error::Usage("the arrays do not fit the index".to_owned())) }
    }

    /// Adds what several bring, all of each or nothing of it.
    fn add_together(&self, several: Vec<Vec<OnePage>>) -> Vec<Result<Vec<Answer>>> {
        let counts: Vec<usize> = several.iter().map(Vec::len).collect();
        let pages: Vec<OnePage> = several.into_iter().flatten().collect();
        let add = |pages: &[OnePage]| with_arrays(self.shape(), pages, |pages| self.add_ahead(pages));
        let together = add(&pages).map(Vec::into_iter);
        match together {
            Ok(mut answers) => {
                counts.into_iter().map(|count| Ok(answers.by_ref().take(count).collect())).collect()
            }
            Err(error) if counts.len() == 1 => vec![Err(error)],
            // One that cannot be carried out must not fail the others.
            Err(_) => {
                let mut rest = &pages[..];
                let apart = counts.into_iter().map(|count| {
                    let (own, others) = rest.split_at(count);
                    rest = others;
                    add(own)
                });
                apart.collect()
            }
        }
    }
}

/// The answer to a batch of one page.
fn only(mut answers: Vec<Answer>) -> Result<Answer> {
    answers.pop().ok_or_else(|| Error::Usage("a page without an answer".to_owned()))
}

/// Pages side by side, as batches come.
pub(crate) fn with_arrays<R>(shape: &Shape, some: &[OnePage], work: impl FnOnce(&Pages<'_>) -> R) -> R {
    let mut start = 0;
    let mut columns = Vec::with_capacity(shape.widths().len());
    for &width in shape.widths() {
        let mut column: Vec<u64> = Vec::with_capacity(width * some.len());
        for page in some {
            match page.words.get(start..start + width) {
                Some(words) => column.extend_from_slice(words),
                None => column.resize(column.len() + width, 0),
            }
        }
        columns.push(column);
        start += width;
    }
    let sets: Vec<(Vec<i64>, Vec<u64>)> = (0..shape.sets()).map(|at| lists(some, at)).collect();
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
        sets: sets.iter().map(|(offsets, values)| Lists { offsets, values }).collect(),
    })
}

/// A set of each page, one after another.
fn lists(some: &[OnePage], at: usize) -> (Vec<i64>, Vec<u64>) {
    let (mut offsets, mut values) = (vec![0], Vec::new());
    for page in some {
        values.extend_from_slice(page.sets.get(at).map_or(&[], Vec::as_slice));
        offsets.push(values.len() as i64);
    }
    (offsets, values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Sync;
    use crate::testing::{open, open_with, page};

    const POLICIES: [Sync; 3] = [Sync::Commit, Sync::Second, Sync::System];

    #[test]
    fn every_thread_gets_the_answer_to_its_own_page() {
        POLICIES.into_iter().for_each(threads_and_answers);
    }

    fn threads_and_answers(sync: Sync) {
        let folder = tempfile::tempdir().unwrap();
        let index = &open_with(folder.path(), sync, 1 << 20);
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
    fn of_pages_that_come_together_just_one_is_the_first() {
        POLICIES.into_iter().for_each(first_of_many);
    }

    fn first_of_many(sync: Sync) {
        let folder = tempfile::tempdir().unwrap();
        let index = &open_with(folder.path(), sync, 1 << 20);
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
    fn what_several_bring_is_carried_out_whole_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let index = open(folder.path());
        let several = |from: u64, count: u64| -> Vec<OnePage> {
            (from..from + count).map(|number| page(number, [number, 1000 + number, 0])).collect()
        };
        index.add_pages(several(0, 3)).unwrap();
        // Who meets this set cannot be answered, whoever shares the round.
        let mut batch = index.tables.batch(1, Sync::Commit);
        batch.insert(&index.tables.sets, 1u32.to_be_bytes(), [0xff; 3]);
        batch.commit().unwrap();
        let meets = |number, word| page(number, [word, 7000 + number, 0]);
        let damaged = vec![meets(10, 500), meets(11, 1), meets(12, 501)];
        let answers = index.add_together(vec![several(20, 2), damaged, vec![meets(30, 2)]]);
        let counts: Vec<Option<usize>> =
            answers.iter().map(|answers| answers.as_ref().ok().map(Vec::len)).collect();
        assert_eq!(counts, [Some(2), None, Some(1)]);
        assert_eq!(answers[2].as_ref().unwrap()[0].matches[0].id, b"2");
        assert_eq!(index.counts().unwrap().pages, 6);
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
