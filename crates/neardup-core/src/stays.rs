//! Pages of hot buckets that stay, as the walk over them ([`crate::hot`]) compares others with them.

use crate::screen::{Blocks, Screened, Selection};

/// Pages of a bucket that stay.
#[derive(Default)]
pub(crate) struct Stay {
    pub(crate) pages: Vec<u32>,
    /// The same pages, packed, once there are enough of them.
    pub(crate) packed: Option<(Selection, Blocks)>,
    /// Those found in the tile under way, not yet in `pages`.
    pub(crate) fresh: Vec<u32>,
}

/// The pages that stay, by bucket; most buckets have none.
pub(crate) struct Stays {
    places: Vec<u32>,
    lists: Vec<Stay>,
}

impl Stays {
    const NONE: u32 = u32::MAX;

    pub(crate) fn new(buckets: usize) -> Self {
        Stays { places: vec![Self::NONE; buckets], lists: Vec::new() }
    }

    pub(crate) fn of(&self, bucket: u32) -> Option<&Stay> {
        let place = self.places[bucket as usize];
        (place != Self::NONE).then(|| &self.lists[place as usize])
    }

    pub(crate) fn entry(&mut self, bucket: u32) -> &mut Stay {
        let place = &mut self.places[bucket as usize];
        if *place == Self::NONE {
            *place = self.lists.len() as u32;
            self.lists.push(Stay::default());
        }
        &mut self.lists[*place as usize]
    }
}

/// A tile is done: its pages that stay join the others of the bucket.
pub(crate) fn settle(verifier: &dyn Screened, stay: &mut Stay, packed: usize) {
    stay.pages.append(&mut stay.fresh);
    if stay.pages.len() < packed {
        return;
    }
    let (selection, blocks) = stay.packed.get_or_insert_with(|| {
        let selection = Selection::of(verifier, &stay.pages);
        let width = selection.width(verifier.words(stay.pages[0]).len());
        (selection, Blocks::new(width))
    });
    let mut row = Vec::new();
    for &page in &stay.pages[blocks.len()..] {
        row.clear();
        selection.pack(verifier.words(page), &mut row);
        blocks.push(&row, verifier.share(page));
    }
}
