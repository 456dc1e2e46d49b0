//! What a collection says of its chunks: how many pages have each. [`repeats`] finds those that repeat at all with
//! little memory (SPEX), [`frequencies`] counts them exactly, [`numbers`] looks them up; [`lexicon`] and [`members`]
//! are the fingerprints that ask for it.

pub mod frequencies;
pub mod lexicon;
pub mod members;
pub mod numbers;
pub mod repeats;
