//! The kernels of neardup: slices in, slices or plain values out; no files, environment, clock or Python.
//!
//! The path of a page: bytes are decoded ([`decode`]), markup is read ([`html`]), text is split into terms
//! ([`terms`], [`urls`], [`unicode`], [`image`]) and hashed to tokens ([`hash`], [`rabin`]), all of it composed in [`page`].
//! Tokens become shingles ([`shingle`], [`saturation`]), min-values, supershingles and band keys ([`minhash`]) and projections
//! ([`projection`]). The other methods of the taxonomy select chunks ([`chunks`]), count them over the collection
//! ([`statistics`]), embed the page ([`embeddings`]) or vary min-values ([`one_permutation`], [`lanes`], [`term_sketch`]).
//! [`fingerprint`] names each of them and computes it of a batch. Pages that
//! share a key ([`prefix`] chooses few) are paired ([`join`]) and the pairs scored ([`verify`], [`sets`]); keys that
//! very many pages share are resolved apart ([`hot`], [`screen`]). What a detector says of two pages is data ([`rules`]). [`postings`] is the chunk index, to be asked page by
//! page. Accepted pairs make clusters ([`components`], [`diameter`]) and decide what goes ([`removal`]). What measures all
//! this is exact: [`allpairs`], [`partners`], [`cosine`]. What shows two pages to a person: [`align`]. The study of a
//! collection compares pages in steps ([`steps`], [`growing`]) and looks at the graph of their links ([`web_graph`]).
//! Two given pages are compared by what a compressor says of them ([`compressed`]) and by the text around a query
//! ([`snippet`]). [`format`] holds every constant that two runs must share to be comparable.

pub mod address;
pub mod align;
pub mod allpairs;
pub mod ascii;
pub mod batch;
mod bridge;
pub mod chunks;
pub mod columns;
pub mod components;
pub mod compressed;
pub mod content;
pub mod cosine;
pub mod cpu;
mod crowd;
pub mod decode;
pub mod delimited;
pub mod diameter;
pub mod difference;
pub mod embeddings;
mod entry;
pub mod error;
pub mod fingerprint;
pub mod format;
mod grouped;
pub mod growing;
pub mod hash;
pub mod hot;
mod hot_keys;
pub mod html;
pub mod image;
pub mod join;
mod joining;
pub mod json_array;
mod json_cursor;
pub mod jsonl;
pub mod keys;
pub mod lanes;
pub mod length;
pub mod links;
pub mod making;
pub mod merging;
pub mod minhash;
pub mod noise;
pub mod one_permutation;
pub mod ordered;
pub mod page;
pub mod parity;
pub mod partners;
pub mod postings;
pub mod predicate;
pub mod prefix;
pub mod projection;
pub mod rabin;
pub mod removal;
pub mod repeated;
pub mod rules;
mod runs;
pub mod saturation;
pub mod screen;
pub mod sets;
pub mod shingle;
pub mod site;
pub mod snippet;
pub mod statistics;
mod stays;
pub mod steps;
pub mod term_sketch;
pub mod terms;
pub mod unicode;
mod unicode_tables;
pub mod united;
pub mod urls;
pub mod verify;
mod walk;
pub mod warc;
pub mod web_graph;
