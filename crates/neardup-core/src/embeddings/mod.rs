//! Fingerprints by embedding: the page's term vector as a whole becomes a few numbers (Potthast & Stein §2.2), and
//! weighted sampling of it.

pub mod fuzzy;
pub mod reals;
pub mod stable;
pub mod weighted;
