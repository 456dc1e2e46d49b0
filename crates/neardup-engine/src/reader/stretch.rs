//! Whole lines that stand in a plain file of this machine: looked for, counted and read where they are needed, so that the
//! file is read once, by whoever parses it.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use memchr::{memchr_iter, memrchr};

/// A thread's buffer is freed if a block made it larger than this.
const LARGEST_KEPT: usize = 16 << 20;

/// Bytes that are looked at at a time where only line ends count.
const PIECE: usize = 1 << 16;

/// Bytes that are read and parsed at a time: so many stay in a near cache in between.
const READ: usize = 1 << 17;

thread_local! {
    /// Blocks of a file, one after another: new memory for each would have to be cleared by the system.
    static BLOCK: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// A stretch of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stretch {
    pub path: PathBuf,
    pub start: u64,
    pub length: usize,
}

impl Stretch {
    /// How many line ends it has.
    ///
    /// ```
    /// use neardup_engine::reader::stretch::Stretch;
    ///
    /// let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("a.jsonl");
    /// std::fs::write(&path, "one\ntwo\nthree")?;
    /// assert_eq!(Stretch { path, start: 4, length: 9 }.count()?, 1);
    /// # std::io::Result::Ok(())
    /// ```
    pub fn count(&self) -> io::Result<usize> {
        let mut file = opened(&self.path, self.start)?.take(self.length as u64);
        let mut lines = 0;
        with_buffer(|buffer| {
            loop {
                buffer.clear();
                if file.by_ref().take(PIECE as u64).read_to_end(buffer)? == 0 {
                    return Ok(lines);
                }
                lines += memchr_iter(b'\n', buffer).count();
            }
        })
    }

    /// Hands out its whole lines, some at a time.
    pub fn blocks(&self, mut each: impl FnMut(&[u8])) -> io::Result<()> {
        let mut file = opened(&self.path, self.start)?;
        with_buffer(|buffer| {
            // Bytes that were not read yet, and those of a line at the buffer's start whose end was not.
            let (mut left, mut begun) = (self.length, 0);
            while left > 0 {
                // Of a long line ever more is read at a time.
                let there = begun + left.min(begun.max(READ));
                if buffer.len() < there {
                    buffer.resize(there, 0);
                }
                file.read_exact(&mut buffer[begun..there]).map_err(cut_short)?;
                left -= there - begun;
                let last =
                    if left > 0 { memrchr(b'\n', &buffer[begun..there]) } else { Some(there - begun - 1) };
                let whole = last.map_or(0, |last| begun + last + 1);
                each(&buffer[..whole]);
                buffer.copy_within(whole..there, 0);
                begun = there - whole;
            }
            Ok(())
        })
    }
}

/// How many of the `size` bytes of a file from `start` on there are, and how many up to the last line end; only the last of
/// them are looked at.
///
/// ```
/// use neardup_engine::reader::stretch::cut;
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("a.jsonl");
/// std::fs::write(&path, "one\ntwo\nthree")?;
/// assert_eq!((cut(&path, 0, 10)?, cut(&path, 8, 99)?), ((10, 8), (5, 0)));
/// # std::io::Result::Ok(())
/// ```
pub fn cut(path: &Path, start: u64, size: usize) -> io::Result<(usize, usize)> {
    let mut file = opened(path, start)?;
    let there = file.metadata()?.len().saturating_sub(start).min(size as u64) as usize;
    let mut end = there;
    with_buffer(|buffer| {
        while end > 0 {
            let from = end.saturating_sub(PIECE);
            buffer.resize(end - from, 0);
            file.seek(SeekFrom::Start(start + from as u64))?;
            file.read_exact(buffer)?;
            if let Some(last) = memrchr(b'\n', buffer) {
                return Ok((there, from + last + 1));
            }
            end = from;
        }
        Ok((there, 0))
    })
}

fn cut_short(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => io::Error::new(error.kind(), "it became shorter while it was read"),
        _ => error,
    }
}

fn opened(path: &Path, start: u64) -> io::Result<File> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(start))?;
    Ok(file)
}

fn with_buffer<R>(work: impl FnOnce(&mut Vec<u8>) -> R) -> R {
    BLOCK.with_borrow_mut(|buffer| {
        let result = work(buffer);
        if buffer.capacity() > LARGEST_KEPT {
            *buffer = Vec::new();
        }
        result
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Lines around the length that is read at a time, and far longer ones.
        #[test]
        fn blocks_are_whole_lines_and_all_of_them(
            lengths in prop::collection::vec(
                prop::sample::select(vec![0, 1, 60, 5_000, READ - 1, READ, 300_000]), 1..5),
            before in 0_u64..40,
        ) {
            let text = lengths.iter().map(|length| "x".repeat(*length)).collect::<Vec<_>>().join("\n");
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("a");
            std::fs::write(&path, format!("{}{text}\nnot of it\n", "?".repeat(before as usize))).unwrap();
            let stretch = Stretch { path: path.clone(), start: before, length: text.len() };
            let mut read = Vec::new();
            stretch.blocks(|block| {
                read.extend_from_slice(block);
                assert!(read.len() == text.len() || block.is_empty() || block.ends_with(b"\n"));
            }).unwrap();
            prop_assert_eq!(read, text.as_bytes());
            prop_assert_eq!(stretch.count().unwrap(), text.matches('\n').count());
            let whole = text.rfind('\n').map_or(0, |end| end + 1);
            prop_assert_eq!(cut(&path, before, text.len()).unwrap(), (text.len(), whole));
        }
    }

    #[test]
    fn a_file_that_became_shorter() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        std::fs::write(&path, "one\n").unwrap();
        let error = Stretch { path, start: 0, length: 100 }.blocks(|_| ()).unwrap_err();
        assert!(error.to_string().contains("became shorter"));
    }
}
