//! Page files: many small files, read at a time.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::LargeBinaryArray;
use arrow_array::builder::LargeBinaryBuilder;
use pyo3::prelude::*;

use crate::arrays::{detached, pyarrow};

/// What the files begin with that are compressed, or may be: gzip, xz, bzip2, zstd, and the latter's
/// frames to be passed over.
fn may_be_packed(content: &[u8]) -> bool {
    content.starts_with(&[0x1f, 0x8b])
        || content.starts_with(b"\xfd7zXZ\0")
        || content.starts_with(b"BZh")
        || content.starts_with(&[0x28, 0xb5, 0x2f, 0xfd])
        || content.len() >= 4 && content[1..4] == [0x2a, 0x4d, 0x18]
}

/// The bytes of each file; null for one that cannot be read, may be compressed, or has more than `longest` bytes.
#[pyfunction]
pub fn read_plain_files<'py>(
    py: Python<'py>,
    paths: Vec<PathBuf>,
    longest: u64,
) -> PyResult<Bound<'py, PyAny>> {
    let array: LargeBinaryArray = detached(py, || {
        let mut contents = LargeBinaryBuilder::new();
        let mut buffer = Vec::new();
        for path in &paths {
            match read(path, longest, &mut buffer) {
                Ok(()) if buffer.len() as u64 <= longest && !may_be_packed(&buffer) => {
                    contents.append_value(&buffer);
                }
                _ => contents.append_null(),
            }
        }
        contents.finish()
    });
    pyarrow(py, Arc::new(array))
}

fn read(path: &Path, longest: u64, buffer: &mut Vec<u8>) -> io::Result<()> {
    buffer.clear();
    File::open(path)?.take(longest + 1).read_to_end(buffer)?;
    Ok(())
}
