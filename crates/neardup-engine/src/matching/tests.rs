use std::collections::BTreeSet;

use neardup_core::components::components;
use neardup_core::format::splitmix;
use neardup_core::rules::Columns;
use neardup_core::rules::pair::Row;

use super::*;

const PAGES: usize = 48;

/// Families of pages: a column of keys that are often the same, and a sketch in which some bits are turned over.
struct Web {
    keys: Vec<u64>,
    sketches: Vec<u64>,
    offsets: Vec<u64>,
    sites: Vec<u32>,
    order: Vec<u32>,
}

impl Web {
    fn new(seed: u64) -> Self {
        let random = |of: u64, page: u64, below: u64| splitmix(seed ^ of, page) % below;
        let pages = || 0..PAGES as u64;
        let sketch = |page| {
            let turned = (0..random(3, page, 4)).map(|at| 1u64 << random(4 + at, page, 64));
            turned.fold(splitmix(seed, random(2, page, 5)), |sketch, bit| sketch ^ bit)
        };
        let mut order: Vec<u32> = (0..PAGES as u32).collect();
        order.sort_by_key(|&page| splitmix(seed ^ 20, u64::from(page)));
        Web {
            keys: pages().flat_map(|page| [random(10, page, 6), random(11, page, 9)]).collect(),
            sketches: pages().map(sketch).collect(),
            offsets: (0..=PAGES as u64).collect(),
            sites: pages().map(|page| random(12, page, 3) as u32).collect(),
            order,
        }
    }

    fn plan(&self) -> Plan {
        let rules = ["columns(0) any bits(1,60)", "columns(0) same-site columns(0,2)"];
        let rules = rules.iter().map(|rule| rule.parse().unwrap()).collect();
        Plan::new(Columns { widths: vec![2, 1], sets: 0 }, rules).unwrap()
    }

    fn collection<'a>(&'a self, failed: &'a OnceLock<String>) -> Collection<'a> {
        Collection {
            pages: Pages {
                count: PAGES,
                widths: vec![2, 1],
                columns: vec![&self.keys, &self.sketches],
                sets: Vec::new(),
            },
            keys: Vec::new(),
            active: &[true; PAGES],
            sites: Some(Sites { offsets: &self.offsets, values: &self.sites }),
            texts: None,
            failed,
        }
    }

    /// What each rule accepts, asked of every two pages.
    fn expected(&self, rule: &Rule) -> BTreeSet<(u32, u32)> {
        let row = |page: u32| Page { web: self, page: page as usize };
        let same = |a: u32, b: u32| {
            let site = |page: u32| self.sites[page as usize];
            site(a) == site(b) && site(a) != 0
        };
        let every = (0..PAGES as u32).flat_map(|a| (a + 1..PAGES as u32).map(move |b| (a, b)));
        every.filter(|&(a, b)| rule.pair(&row(a), &row(b), same(a, b)).accepted()).collect()
    }

    /// The entries of all buckets, as if all were hot.
    fn standing(&self, rule: &Rule) -> Vec<Standing> {
        let sited = rule.between == Between::SameSite;
        let entries = self.keys.chunks(2).zip(&self.sites).enumerate().flat_map(|(page, (keys, &site))| {
            keys.iter().enumerate().map(move |(column, &key)| Standing {
                column: column as u32,
                key,
                site: if sited { site } else { 0 },
                page: page as u32,
            })
        });
        entries.filter(|entry| !sited || entry.site != 0).collect()
    }
}

struct Page<'a> {
    web: &'a Web,
    page: usize,
}

impl Row for Page<'_> {
    fn column(&self, at: usize) -> &[u64] {
        match at {
            0 => &self.web.keys[2 * self.page..][..2],
            _ => &self.web.sketches[self.page..][..1],
        }
    }

    fn set(&self, _at: usize) -> &[u64] {
        &[]
    }
}

fn ends(found: &Matched) -> BTreeSet<(u32, u32)> {
    found.pairs.iter().map(|pair| (pair.a, pair.b)).collect()
}

fn labels<'a>(pairs: impl Iterator<Item = &'a (u32, u32)>) -> Vec<u32> {
    components(PAGES, pairs.copied())
}

#[test]
fn all_pairs_of_all_rules_are_found_by_any_number_of_threads() {
    let mut accepted = 0;
    for seed in 0..20 {
        let web = Web::new(seed);
        let (plan, failed) = (web.plan(), OnceLock::new());
        let collection = || web.collection(&failed);
        let work = Work::Match { order: &web.order, limits: Limits::NONE, recorded: u64::MAX };
        let found = matched(&plan, collection(), work, 1).unwrap();
        for (rule, found) in plan.rules.iter().zip(&found) {
            assert_eq!(ends(found), web.expected(rule), "{rule}");
            assert_eq!((found.accepted, found.hot_buckets), (found.pairs.len() as u64, 0));
            accepted += found.accepted;
        }
        assert_eq!(matched(&plan, collection(), work, 3).unwrap(), found);
    }
    assert!(accepted > 200, "{accepted}");
}

#[test]
fn hot_buckets_leave_pages_tied_as_all_pairs_do() {
    let mut hot_buckets = 0;
    for seed in 0..20 {
        let web = Web::new(seed);
        let (plan, failed) = (web.plan(), OnceLock::new());
        let collection = || web.collection(&failed);
        let limits = Limits { bucket: 3, ..Limits::NONE };
        let work = Work::Match { order: &web.order, limits, recorded: u64::MAX };
        let found = matched(&plan, collection(), work, 2).unwrap();
        let all: Vec<BTreeSet<_>> = plan.rules.iter().map(|rule| web.expected(rule)).collect();
        for (found, all) in found.iter().zip(&all) {
            assert!(ends(found).is_subset(all));
            assert!((all.len() - found.pairs.len()) as u64 <= found.unscored);
            hot_buckets += found.hot_buckets;
        }
        let both: BTreeSet<_> = found.iter().flat_map(ends).collect();
        assert_eq!(labels(both.iter()), labels(all.iter().flatten()));
    }
    assert!(hot_buckets > 100, "{hot_buckets}");
}

#[test]
fn buckets_put_together_elsewhere_give_the_same() {
    for seed in 0..20 {
        let web = Web::new(seed);
        let (plan, failed) = (web.plan(), OnceLock::new());
        let collection = || web.collection(&failed);
        let hot: Vec<Vec<Standing>> = plan.rules.iter().map(|rule| web.standing(rule)).collect();
        let all: BTreeSet<_> = plan.rules.iter().flat_map(|rule| web.expected(rule)).collect();
        let work = Work::Hot { order: &web.order, hot: &hot, recorded: u64::MAX };
        let both: BTreeSet<_> =
            matched(&plan, collection(), work, 2).unwrap().iter().flat_map(ends).collect();
        assert!(both.is_subset(&all));
        assert_eq!(labels(both.iter()), labels(all.iter()));
        let work = Work::Links { salt: &[0; PAGES], hot: &hot };
        let tied = matched(&plan, collection(), work, 1).unwrap();
        assert_eq!(labels(ends(&tied[0]).iter()), labels(all.iter()));
        assert!(tied[0].pairs.len() < PAGES && tied[1].pairs.is_empty());
    }
}

#[test]
fn one_bucket_alone_is_asked_of_one_rule() {
    let web = Web::new(1);
    let (plan, failed) = (web.plan(), OnceLock::new());
    let collection = || web.collection(&failed);
    // The fullest bucket of the first column, whose pairs have it as their first shared key.
    let standing: Vec<Standing> =
        web.standing(&plan.rules[0]).into_iter().filter(|at| at.column == 0 && at.key == 2).collect();
    let members: BTreeSet<u32> = standing.iter().map(|at| at.page).collect();
    let found = matched(&plan, collection(), Work::Given { rule: 0, standing: &standing }, 1).unwrap();
    let expected = web.expected(&plan.rules[0]);
    let within = expected.into_iter().filter(|(a, b)| members.contains(a) && members.contains(b)).collect();
    assert_eq!(found.len(), 1);
    assert_eq!(ends(&found[0]), within);
    assert!(!within.is_empty());
}

#[test]
fn pages_of_one_text_and_pages_that_are_too_short_give_no_pairs() {
    let web = Web::new(2);
    let (plan, failed) = (web.plan(), OnceLock::new());
    let work = Work::Match { order: &web.order, limits: Limits::NONE, recorded: u64::MAX };
    let alone = Collection { active: &[false; PAGES], ..web.collection(&failed) };
    let same = Collection { texts: Some(&[0; PAGES]), ..web.collection(&failed) };
    for collection in [alone, same] {
        assert!(matched(&plan, collection, work, 1).unwrap().iter().all(|found| found.pairs.is_empty()));
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let web = Web::new(3);
    let (plan, failed) = (web.plan(), OnceLock::new());
    let collection = || web.collection(&failed);
    let refused = |work, collection: Collection<'_>| matched(&plan, collection, work, 1).unwrap_err();
    let all = Work::Match { order: &web.order, limits: Limits::NONE, recorded: 1 };
    let unknown = Collection { sites: None, ..web.collection(&failed) };
    assert_eq!(refused(all, unknown), Error::Mismatch("a rule about sites needs the sites of pages"));
    let none = Work::Given { rule: 2, standing: &[] };
    assert_eq!(refused(none, collection()), Error::Mismatch("no such rule"));
    let page = Standing { column: 0, key: 1, site: 0, page: PAGES as u32 };
    let entries = [page, Standing { column: 2, page: 0, ..page }];
    for standing in entries.chunks(1) {
        let work = Work::Given { rule: 0, standing };
        let reason = "a bucket names a page or a column that is not there";
        assert_eq!(refused(work, collection()), Error::Mismatch(reason));
    }
    failed.set("no such file".into()).unwrap();
    assert_eq!(refused(all, collection()).to_string(), "sets cannot be read back: no such file");
}
