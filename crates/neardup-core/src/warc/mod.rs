//! WARC archives: stored bytes to plain bytes, plain bytes to records, records to pages.
//!
//! [`members`] unpacks gzip members that are whole and good; [`plain`] holds what is unpacked and not yet framed, and
//! [`framing`] finds the records in it, with damage between, inside and around them. [`pages`] gathers the pages among
//! them in columns. Each stage takes only what is plain to see (a whole member, a record whose page stands there as it
//! is) and says of everything else that it is not: the callers have slower and more patient ways for that.

pub mod framing;
pub mod lines;
pub mod members;
pub mod pages;
pub mod plain;
