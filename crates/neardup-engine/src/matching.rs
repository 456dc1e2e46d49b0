//! A plan over the pages of a collection: all its rules joined together, and then their hot buckets.
//!
//! A rule's buckets within [`Limits`] are joined exhaustively ([`neardup_core::join`]); those beyond are resolved for all
//! rules at once ([`neardup_core::hot`]), or tied piece by piece where they are spread over machines
//! ([`neardup_core::links`]). Which of these is done is a [`Work`]; what is held of the pages is a [`Collection`].

use std::sync::OnceLock;

use neardup_core::hot::{self, Resolved, Tuning};
use neardup_core::join::{Buckets, Joined, Limits, Pair, Standing};
use neardup_core::links;
use neardup_core::predicate::Sites;
use neardup_core::rules::many::{HeldSets, PageKeys, Pages, Verifier};
use neardup_core::rules::{Between, KeySource, Plan, Rule};
use neardup_core::united::merge;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::error::{Error, Result};

/// Buckets that are joined whatever the limits say: few pairs more, where a bucket that is left costs memory as well.
pub const FEW: usize = 4;
/// Pages whose keys are held at once: many, since limits are kept best where all buckets of a column are known.
pub const PART: usize = 1 << 26;
/// Pages in hot buckets that are compared at a time: many, as each tile streams all pages that stay through the cache.
const TILE: usize = 256;
/// From how many pages that stay on they are packed: beside so many, 72 bytes a page and bucket are little.
const PACKED: usize = 512;
/// To put buckets together costs as much as to compare so many pages with all.
const OUTSIDE: usize = 64;

/// What is held of pages.
#[derive(Debug)]
pub struct Collection<'a> {
    pub pages: Pages<'a>,
    /// By the number of a rule the keys that were chosen before; those that are not there are made here.
    pub keys: Vec<Option<PageKeys<'a>>>,
    /// Pages that are long enough to be compared.
    pub active: &'a [bool],
    /// Needed where a rule speaks of sites.
    pub sites: Option<Sites<'a>>,
    /// The same number for pages of one text.
    pub texts: Option<&'a [u32]>,
    /// Why a set could not be read back, where sets are in files.
    pub failed: &'a OnceLock<String>,
}

/// What is done with the rules.
#[derive(Clone, Copy, Debug)]
pub enum Work<'a> {
    /// All pairs within limits; hot buckets are resolved in the given order of pages, no more pairs of them recorded
    /// than so many unless they decide something.
    Match { order: &'a [u32], limits: Limits, recorded: u64 },
    /// Only the pairs of given buckets, by one rule.
    Given { rule: usize, standing: &'a [Standing] },
    /// Hot buckets of each rule, put together elsewhere, resolved among all other pairs as in `Match`; pairs of the
    /// other buckets are known already.
    Hot { order: &'a [u32], hot: &'a [Vec<Standing>], recorded: u64 },
    /// The same buckets: what ties pages of different salts, by all rules together, in the place of the first rule.
    Links { salt: &'a [u32], hot: &'a [Vec<Standing>] },
}

/// What one rule found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Matched {
    /// Accepted pairs, sorted by (a, b).
    pub pairs: Vec<Pair>,
    /// Pairs that a glance did not reject, and that were verified.
    pub candidates: u64,
    /// More than there are pairs, where not all of hot buckets were recorded.
    pub accepted: u64,
    /// Pages in the fullest bucket.
    pub largest_bucket: u64,
    pub hot_buckets: u64,
    /// No more pairs than this were neither scored nor shown to be too different.
    pub unscored: u64,
    /// The pages that stand in hot buckets, ascending.
    pub in_hot: Vec<u32>,
}

impl<'a> Work<'a> {
    /// The number of the first rule that is asked, and these rules.
    pub fn asked<'p>(&self, plan: &'p Plan) -> Result<(usize, &'p [Rule])> {
        match *self {
            Work::Given { rule, .. } => match plan.rules.get(rule) {
                Some(asked) => Ok((rule, std::slice::from_ref(asked))),
                None => Err(Error::Mismatch("no such rule")),
            },
            _ => Ok((0, &plan.rules)),
        }
    }

    /// The buckets that were put together elsewhere, a list for each rule that is asked.
    fn standing(&self) -> Vec<&'a [Standing]> {
        match *self {
            Work::Match { .. } => Vec::new(),
            Work::Given { standing, .. } => vec![standing],
            Work::Hot { hot, .. } | Work::Links { hot, .. } => hot.iter().map(Vec::as_slice).collect(),
        }
    }
}

/// Which pages may be partners.
#[derive(Clone, Copy)]
struct Partners<'a> {
    active: &'a [bool],
    sites: Option<Sites<'a>>,
    texts: Option<&'a [u32]>,
}

/// As many threads as asked for; 0 means one a core.
pub fn thread_pool(threads: usize) -> Result<ThreadPool> {
    let built = ThreadPoolBuilder::new().num_threads(threads).build();
    built.map_err(|error| Error::Threads(error.to_string()))
}

/// What each rule that is asked finds; the answer is the same for any number of threads.
///
/// ```
/// use neardup_core::join::Limits;
/// use neardup_core::rules::{Columns, Plan, many::Pages};
/// use neardup_engine::matching::{Collection, Work, matched};
///
/// let plan = Plan::new(Columns { widths: vec![1], sets: 0 }, vec!["columns(0) any key".parse()?])?;
/// let pages = Pages { count: 3, widths: vec![1], columns: vec![&[7, 8, 7]], sets: Vec::new() };
/// let failed = Default::default();
/// let (keys, active) = (Vec::new(), &[true; 3][..]);
/// let collection = Collection { pages, keys, active, sites: None, texts: None, failed: &failed };
/// let work = Work::Match { order: &[0, 1, 2], limits: Limits::NONE, recorded: 10 };
/// let found = matched(&plan, collection, work, 1)?;
/// assert_eq!((found[0].pairs[0].a, found[0].pairs[0].b, found[0].accepted), (0, 2, 1));
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
pub fn matched(
    plan: &Plan,
    collection: Collection<'_>,
    work: Work<'_>,
    threads: usize,
) -> Result<Vec<Matched>> {
    let Collection { pages, mut keys, active, sites, texts, failed } = collection;
    let (first, rules) = work.asked(plan)?;
    if sites.is_none() && rules.iter().any(|rule| rule.between != Between::Any) {
        return Err(Error::Mismatch("a rule about sites needs the sites of pages"));
    }
    let pool = thread_pool(threads)?;
    let mut asked = Vec::new();
    for (at, rule) in (first..).zip(rules) {
        let keys = match (keys.get_mut(at).and_then(Option::take), rule.keys) {
            (Some(keys), _) => keys,
            (None, KeySource::Sets(set)) if !in_memory(&pages, set) => {
                return Err(Error::Mismatch("every row must have a set, in memory, to give keys"));
            }
            _ => pool.install(|| rule.page_keys(&pages, active)),
        };
        asked.push((rule, keys));
    }
    for (standing, (_, keys)) in work.standing().into_iter().zip(&asked) {
        check_standing(keys.keys().count(), pages.count, standing)?;
    }
    let partners = Partners { active, sites, texts };
    let found = pool.install(|| apply(&asked, &pages, partners, work));
    if let Some(reason) = failed.get() {
        return Err(Error::Unreadable(reason.clone()));
    }
    // Pairs are merged beside nothing that is not needed any more.
    drop(asked);
    drop(pages);
    Ok(found.into_iter().map(|(joined, resolved)| Matched::of(joined, resolved)).collect())
}

/// Whether the sets of all pages are in memory.
fn in_memory(pages: &Pages<'_>, set: usize) -> bool {
    match &pages.sets[set] {
        Some(HeldSets::Whole(sets)) => (0..pages.count as u32).all(|page| sets.at_hand(page).is_some()),
        _ => false,
    }
}

fn check_standing(columns: usize, pages: usize, standing: &[Standing]) -> Result<()> {
    let there = |at: &Standing| (at.page as usize) < pages && (at.column as usize) < columns;
    if standing.iter().all(there) {
        return Ok(());
    }
    Err(Error::Mismatch("a bucket names a page or a column that is not there"))
}

fn apply(
    asked: &[(&Rule, PageKeys<'_>)],
    pages: &Pages<'_>,
    partners: Partners<'_>,
    work: Work<'_>,
) -> Vec<(Joined, Resolved)> {
    let Partners { active, sites, texts } = partners;
    let sites = sites.unwrap_or(Sites { offsets: &[], values: &[] });
    let buckets: Vec<Buckets> = asked
        .iter()
        .map(|(rule, keys)| Buckets::new(keys.keys(), active, rule.predicate(sites)).between_texts(texts))
        .collect();
    let verifiers: Vec<Verifier> = asked.iter().map(|(rule, _)| rule.verifier(pages)).collect();
    let both = verifiers.iter().zip(&buckets);
    let joined: Vec<Joined> = match work {
        Work::Match { limits, .. } => {
            both.map(|(verifier, buckets)| verifier.join(buckets, limits)).collect()
        }
        Work::Given { standing, .. } => {
            both.map(|(verifier, buckets)| verifier.join_given(buckets, standing)).collect()
        }
        Work::Hot { hot, .. } => {
            both.zip(hot).map(|((verifier, buckets), hot)| verifier.join_beside(buckets, hot)).collect()
        }
        Work::Links { .. } => vec![Joined::default(); buckets.len()],
    };
    let rules: Vec<hot::Rule> = buckets
        .iter()
        .zip(verifiers.iter().zip(&joined))
        .map(|(buckets, (verifier, joined))| hot::Rule { buckets, verifier: verifier.screened(), joined })
        .collect();
    let resolve = |order, recorded| {
        let tuning = Tuning { tile: TILE, packed: PACKED, outside: OUTSIDE, pairs: recorded };
        hot::resolve(&rules, order, texts, tuning)
    };
    match work {
        Work::Given { .. } => joined.into_iter().map(|joined| (joined, Resolved::default())).collect(),
        Work::Match { order, recorded, .. } => {
            let resolved = resolve(order, recorded);
            joined.into_iter().zip(resolved).collect()
        }
        Work::Hot { order, recorded, .. } => {
            resolve(order, recorded).into_iter().map(|resolved| (Joined::default(), resolved)).collect()
        }
        Work::Links { salt, hot } => {
            let listed: Vec<_> = buckets.iter().zip(hot).map(|(buckets, hot)| buckets.listed(hot)).collect();
            let mut found = vec![(Joined::default(), Resolved::default()); rules.len()];
            let tied = links::links(&rules, &listed, salt);
            if let Some((_, first)) = found.first_mut() {
                first.pairs = tied.into_iter().map(|(a, b)| Pair { a, b, score: 0.0 }).collect();
            }
            found
        }
    }
}

impl Matched {
    /// What a join found, and the hot buckets that it left.
    fn of(joined: Joined, resolved: Resolved) -> Self {
        let accepted = joined.pairs.len() as u64 + resolved.accepted;
        let hot_buckets = joined.hot.len() as u64;
        drop(joined.hot);
        let in_hot = (0..).zip(joined.in_hot).filter_map(|(page, hot)| hot.then_some(page)).collect();
        let mut pairs = joined.pairs;
        merge(&mut pairs, &resolved.pairs);
        Matched {
            pairs,
            candidates: joined.candidates + resolved.compared,
            accepted,
            largest_bucket: joined.largest_bucket,
            hot_buckets,
            unscored: resolved.unscored,
            in_hot,
        }
    }
}

#[cfg(test)]
mod tests;
