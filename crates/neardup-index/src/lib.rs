//! The durable index of neardup: "have I seen this page?", asked page by page, for months.
//!
//! A page comes with what the detector computes of it (its [`shape::Row`]) and is looked up by its keys
//! ([`lookup`], [`looking`], [`finding`]); who shares one is judged by the core's verifiers ([`judge`]). Records
//! ([`records`]) live in an LSM tree ([`store`]); what a batch changes is held back ([`changes`]) and committed at once
//! ([`index`]); single pages of several threads share a commit ([`group`], [`pace`]), which comes to the disk beside the
//! next ([`durable`]). Looking after an index is [`upkeep`]; making room in it, [`compact`], puts most keys together
//! ([`packed`]) and empties the [`journal`].

use std::sync::{Mutex, MutexGuard};

pub mod chain;
mod changes;
pub mod compact;
mod durable;
pub mod error;
#[cfg(test)]
mod faults;
pub mod files;
mod finding;
mod frames;
pub mod group;
pub mod guard;
pub mod index;
mod journal;
mod judge;
mod looking;
mod lookup;
mod pace;
mod packed;
#[cfg(fuzzing)]
pub mod records;
#[cfg(not(fuzzing))]
mod records;
pub mod shape;
pub mod store;
#[cfg(test)]
mod testing;
pub mod upkeep;

/// What stands for a site in an index: a hash of its name; never 0, which is "no site".
pub fn site_hash(name: &[u8]) -> u64 {
    xxhash_rust::xxh3::xxh3_64(name).max(1)
}

/// What a mutex guards; a thread that panicked while it held it has left it whole.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}
