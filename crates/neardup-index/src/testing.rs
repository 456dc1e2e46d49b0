//! A small index, for tests.

use crate::group::OnePage;
use crate::index::Index;
use neardup_core::rules::{Columns, Plan};

use crate::shape::Shape;
use crate::store::{Memory, Sync};

/// A folder in memory where there is one: what tests kill and damage is the content of files, not the disk.
pub fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

/// An index of two keys and a word a page.
pub fn open(folder: &std::path::Path) -> Index {
    open_with(folder, Sync::Commit, 1 << 20)
}

/// The same with another policy, or with room for so many bytes that are not in files yet.
pub fn open_with(folder: &std::path::Path, sync: Sync, buffers: u64) -> Index {
    Index::open(folder, shape(), sync, Memory { cache: 1 << 20, buffers }).unwrap()
}

pub fn shape() -> Shape {
    let rule = "columns(0) any columns(0,1)".parse().unwrap();
    let plan = Plan::new(Columns { widths: vec![2, 1], sets: 0 }, vec![rule]).unwrap();
    Shape { plan, most: 100 }
}

/// A page that is named by its number, like those that share one of its first two words.
pub fn page(number: u64, words: [u64; 3]) -> OnePage {
    let id = number.to_string().into_bytes();
    OnePage {
        id,
        identity: Some(u128::from(number + 1) << 64),
        active: true,
        words: words.to_vec(),
        ..Default::default()
    }
}
