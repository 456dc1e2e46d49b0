//! What is more than a kernel and needs no Python: files, bytes on their way to pages, pages to columns, and columns to pairs.
//!
//! The boundary (`neardup-python`) turns arguments into these types and results into Arrow and NumPy, and holds nothing
//! else that could be wrong. Kernels stay in `neardup-core`, which opens no file.

pub mod error;
pub mod matching;
pub mod pass;
pub mod reader;
pub mod set_files;
