//! The kernels of neardup: slices in, slices or plain values out; no files, environment, clock or Python.
//!
//! The path of a page: bytes are decoded ([`decode`]), markup is read ([`html`]), text is split into terms
//! ([`terms`], [`unicode`], [`image`]) and hashed to tokens ([`hash`], [`rabin`]), all of it composed in [`page`].
//! Tokens become shingles ([`shingle`]), min-values, supershingles and band keys ([`minhash`]) and projections
//! ([`projection`]). Pages that share a key are paired ([`join`]) and the pairs scored ([`verify`], [`sets`]); keys that
//! very many pages share are resolved apart ([`hot`], [`screen`]). Accepted pairs make clusters ([`components`],
//! [`diameter`]) and decide what goes ([`removal`]). What measures all this is exact: [`allpairs`], [`partners`],
//! [`cosine`]. [`format`] holds every constant that two runs must share to be
//! comparable.

pub mod allpairs;
pub mod ascii;
pub mod batch;
mod bridge;
pub mod components;
pub mod cosine;
pub mod cpu;
pub mod decode;
pub mod diameter;
pub mod difference;
pub mod format;
pub mod hash;
pub mod hot;
pub mod html;
pub mod image;
pub mod join;
pub mod jsonl;
pub mod minhash;
pub mod page;
pub mod partners;
pub mod projection;
pub mod rabin;
pub mod removal;
pub mod screen;
pub mod sets;
pub mod shingle;
pub mod site;
pub mod terms;
pub mod unicode;
mod unicode_tables;
pub mod verify;
