//! What a page is about, as a set: shingles of its main text, weighted by where they stand and by how many other pages of
//! the site have them.
//!
//! Idea. A page is a list of *blocks* (what stands between two tags that end a line). Each is one of four classes: the
//! title; the *frame* (menus, headers and footers, dialogs, forms: by element, role, or because it is hidden); *links*
//! (more than half of the words are links); and *content*, the rest. Where most of the content stands in the element that
//! is called the main one, and then where most of that stands in articles, what stands beside is frame; where more of it
//! is hidden there than the page shows, it is text that a reader unfolds, and is content; so is all that is hidden on a page
//! that shows nothing else (a dialog stands before it). Shingles never cross blocks, so that a line put into the text changes no other line. What changes by itself ([`crate::noise`]) is one token.
//!
//! What the pages of a site share is counted in *cells*: stretches of a block, about [`CELL`] shingles each, whose ends
//! the words themselves decide. So a sentence that all pages have but for one name is common up to the stretch with the
//! name, and the name decides; whole blocks would all be different, single shingles would cost eight times as much.
//!
//! - [`stream`]: a page to its *stream*, which holds all that is needed before the site's statistics are known: words
//!   with their class in the lowest byte, [`PAGE`] and [`ADDRESS`] first, then each cell and its elements.
//! - [`weigh`]: a stream, with the statistics, to its set.
//!
//! Sources: weights by what siblings share go back to Yi, Liu & Li 2003 and Gibson, Punera & Tomkins 2005; link density
//! to Finn et al. 2001; ends that the content decides to Manber 1994; consistent sampling to Broder 1997 and Manasse
//! et al. 2010. Cost: one pass over the tokens, then one look-up a cell.

pub mod stream;
pub mod weigh;

pub use stream::{Ideas, Placed, Streamer};
pub use weigh::{Weigher, Weighing};

use crate::format::{SEED_CONTENT, splitmix};

/// Classes of words: the title of the page among those of its site (0: it has no site), its address, a cell, and the
/// elements.
pub const PAGE: u64 = 0;
pub const BLOCK: u64 = 1;
pub const CONTENT: u64 = 2;
pub const LINKS: u64 = 3;
pub const FRAME: u64 = 4;
pub const TITLE: u64 = 5;
pub const ADDRESS: u64 = 6;
const CLASS: u64 = 0xFF;

/// What a block of a page is to what the page is about: the one definition of boilerplate by structure, which [`stream`]
/// decides. What pages of a site share is another matter ([`weigh`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    Content,
    Links,
    Frame,
    Title,
}

impl Class {
    fn of(class: u64) -> Self {
        match class {
            CONTENT => Self::Content,
            LINKS => Self::Links,
            TITLE => Self::Title,
            _ => Self::Frame,
        }
    }
}

/// Tokens of a shingle.
pub const LENGTH: usize = 5;
/// A new cell begins with one shingle in so many; a power of two.
pub const CELL: u64 = 8;

const CHAIN: u64 = splitmix(SEED_CONTENT, 3) | 1;

/// The title of the page among those of its site: equal for equal titles; 0 if it has no site.
pub fn label(stream: &[u64]) -> u64 {
    stream.first().map_or(0, |word| word & !CLASS)
}

/// Where the page was found: equal for equal addresses.
pub fn address(stream: &[u64]) -> u64 {
    stream.get(1).filter(|&&word| word & CLASS == ADDRESS).map_or(0, |word| word & !CLASS)
}

/// The cells that are to be counted, as they are written in statistics.
pub fn cells(stream: &[u64]) -> impl Iterator<Item = u64> + '_ {
    stream.iter().filter(|&&word| word & CLASS == BLOCK && word != BLOCK).map(|word| word & !CLASS)
}
