//! Bytes to pages: unpacked, framed, their codings undone. One road for local files, standard input and remote stores.

pub mod archive;
pub mod codec;
pub mod header;
pub mod http;
pub mod lines;
pub mod patient;
pub mod stretch;
pub mod unpack;
