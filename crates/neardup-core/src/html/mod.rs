//! HTML as a stream of events: what is needed to read a page, without building its tree.
//!
//! [`scanner`] cuts a page into text, tags and comments exactly as the tokenizer of the HTML Standard does,
//! over slices of the input; [`marks`] finds where they begin and end, [`names`] tells elements apart, [`elements`] says what
//! each of them is to a page. [`attributes`] and [`references`] decode the parts that a consumer looks at, only when it looks. [`visible`] is the first consumer: what the page says
//! to a reader. Others (links, text blocks, main content) are further implementations of [`scanner::Sink`].

pub mod anatomy;
pub mod attributes;
pub mod blocks;
pub mod elements;
mod lanes;
pub mod links;
pub mod marks;
pub mod names;
pub mod outline;
pub mod references;
pub mod scanner;
pub mod visible;
