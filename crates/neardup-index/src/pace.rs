//! How many rounds of a group commit are under way at a time: as many as serve most, which is found by trying.
//!
//! Two at a time use the processor while the disk is at work, where one leaves each idle in turn. But each then carries
//! half of those who add, and a disk that syncs for one after another takes twice as long for the two. Which of both
//! counts for more depends on the disk, the machine and what is added; so now and then the other way is tried for a
//! little while, and kept if more pages came through than in as long a while before it.

use std::time::Instant;

/// Rounds at a time, at most.
const MOST: usize = 2;
/// How often each of those who add is served before rates are compared.
const TURNS: usize = 32;
/// Between two trials, at least and at most so many times as long as one: the more of them change nothing, the rarer.
const BETWEEN: [usize; 2] = [2, 32];
/// What is tried must be this much better; what is this much worse is not tried for long.
const BETTER: f64 = 1.05;
const HOPELESS: f64 = 0.8;

#[derive(Debug)]
pub struct Pace {
    /// Rounds at a time.
    rounds: usize,
    /// While the other way is tried: the rate before.
    before: Option<f64>,
    /// What was served since when, and how often that was enough to be compared since the last trial.
    pages: usize,
    since: Option<Instant>,
    known: usize,
    between: usize,
}

impl Default for Pace {
    fn default() -> Self {
        Pace { rounds: 1, before: None, pages: 0, since: None, known: 0, between: BETWEEN[0] }
    }
}

impl Pace {
    /// Rounds that may be under way at a time.
    pub fn rounds(&self) -> usize {
        self.rounds
    }

    /// So many pages were served, of so many who add at the same time.
    pub fn served(&mut self, pages: usize, crowd: usize, now: Instant) {
        let since = match self.since {
            // One alone has nobody to share with.
            Some(since) if crowd > 1 => since,
            _ => {
                (self.pages, self.since) = (0, Some(now));
                return;
            }
        };
        self.pages += pages;
        let seconds = now.saturating_duration_since(since).as_secs_f64();
        let rate = self.pages as f64 / seconds.max(1e-9);
        let hopeless = self.before.is_some_and(|before| rate < before * HOPELESS);
        let enough = if hopeless { TURNS / 4 } else { TURNS };
        if self.pages < enough * crowd {
            return;
        }
        (self.pages, self.since) = (0, Some(now));
        self.known += 1;
        match self.before.take() {
            Some(before) if rate > before * BETTER => {
                self.between = BETWEEN[0];
                self.known = 0;
            }
            Some(_) => {
                self.turn();
                self.between = (2 * self.between).min(BETWEEN[1]);
                self.known = 0;
            }
            None if self.known >= self.between => {
                self.before = Some(rate);
                self.turn();
            }
            None => {}
        }
    }

    fn turn(&mut self) {
        self.rounds = MOST + 1 - self.rounds;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// Which share of the pages is served by two rounds at a time, if one and two serve so many pages a second.
    fn share_of_two(rates: [f64; 2]) -> f64 {
        let mut pace = Pace::default();
        let mut now = Instant::now();
        let (mut by_two, mut all) = (0, 0);
        for _ in 0..20_000 {
            let rounds = pace.rounds();
            now += Duration::from_secs_f64(4.0 / rates[rounds - 1]);
            by_two += if rounds == 2 { 4 } else { 0 };
            all += 4;
            pace.served(4, 8, now);
        }
        f64::from(by_two) / f64::from(all)
    }

    #[test]
    fn what_serves_more_is_kept() {
        assert!(share_of_two([4_000.0, 5_000.0]) > 0.94);
        assert!(share_of_two([1_000.0, 600.0]) < 0.02);
    }

    #[test]
    fn a_disk_that_changes_is_noticed() {
        let mut pace = Pace::default();
        let mut now = Instant::now();
        for (rates, best) in [([4_000.0, 5_000.0], 2), ([1_000.0, 600.0], 1), ([4_000.0, 5_000.0], 2)] {
            let mut rounds = [0; 2];
            for _ in 0..4_000 {
                now += Duration::from_secs_f64(4.0 / rates[pace.rounds() - 1]);
                pace.served(4, 8, now);
                rounds[pace.rounds() - 1] += 1;
            }
            assert!(rounds[best - 1] > 3_000, "{rounds:?}");
        }
    }

    #[test]
    fn one_alone_is_never_a_trial() {
        let mut pace = Pace::default();
        let mut now = Instant::now();
        for _ in 0..1_000 {
            now += Duration::from_millis(1);
            pace.served(1, 1, now);
            assert_eq!(pace.rounds(), 1);
        }
    }
}
