//! Ordered sets that are in files of the scratch folder, read page by page when a candidate asks for them.
//!
//! The sets looked at last are held, so that a page that is compared with many is read once. A read that fails cannot
//! be told where it happens, in the midst of a join: it is remembered, and the join's result is thrown away.

use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};

use neardup_core::sets::{Set, SetSource};

/// Sets that may be held, each in a place of its own; larger ones than this are read again every time.
const HELD: usize = 4096;
const LARGEST_HELD: usize = 1 << 12;

/// Where a page's set lies.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    pub file: u32,
    /// In numbers, from the start of the file.
    pub start: u64,
    pub size: u32,
}

type Held = Mutex<Option<(u32, Arc<[u64]>)>>;

/// The files, and where in them the set of each page is.
#[derive(Debug)]
pub struct SetFiles {
    files: Vec<File>,
    places: Vec<Place>,
    held: Vec<Held>,
    failed: Arc<OnceLock<String>>,
}

impl SetFiles {
    /// `failed` is told of the first read that did not succeed.
    ///
    /// ```
    /// use neardup_core::sets::SetSource;
    /// use neardup_engine::set_files::{Place, SetFiles};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("sets");
    /// std::fs::write(&path, [7u64, 8, 9].map(u64::to_ne_bytes).concat())?;
    /// let places = vec![Place { file: 0, start: 1, size: 2 }];
    /// let sets = SetFiles::open(&[path], places, Default::default())?;
    /// assert_eq!(&*sets.values(0), &[8, 9]);
    /// # std::io::Result::Ok(())
    /// ```
    pub fn open(paths: &[PathBuf], places: Vec<Place>, failed: Arc<OnceLock<String>>) -> io::Result<Self> {
        let files = paths.iter().map(File::open).collect::<io::Result<_>>()?;
        Ok(SetFiles { files, places, held: (0..HELD).map(|_| Mutex::new(None)).collect(), failed })
    }

    fn read(&self, place: Place) -> Arc<[u64]> {
        let mut bytes = vec![0; 8 * place.size as usize];
        if let Err(error) = read_at(&self.files[place.file as usize], &mut bytes, 8 * place.start) {
            self.failed.get_or_init(|| error.to_string());
        }
        bytes
            .chunks_exact(8)
            .map(|bytes| u64::from_ne_bytes(bytes.try_into().expect("eight bytes")))
            .collect()
    }
}

impl SetSource for SetFiles {
    fn values(&self, page: u32) -> Set<'_> {
        let place = self.places[page as usize];
        if place.size as usize > LARGEST_HELD {
            return Set::Shared(self.read(place));
        }
        let slot = &self.held[page as usize % HELD];
        if let Ok(held) = slot.lock()
            && let Some((of, set)) = &*held
            && *of == page
        {
            return Set::Shared(Arc::clone(set));
        }
        let set = self.read(place);
        if let Ok(mut held) = slot.lock() {
            *held = Some((page, Arc::clone(&set)));
        }
        Set::Shared(set)
    }
}

#[cfg(unix)]
fn read_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, at)
}

#[cfg(windows)]
fn read_at(file: &File, mut bytes: &mut [u8], mut at: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match std::os::windows::fs::FileExt::seek_read(file, bytes, at)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            count => {
                bytes = &mut bytes[count..];
                at += count as u64;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(sizes: &[u32]) -> Vec<Place> {
        let mut start = 0;
        let place = |&size: &u32| {
            let place = Place { file: 0, start, size };
            start += u64::from(size);
            place
        };
        sizes.iter().map(place).collect()
    }

    #[test]
    fn sets_of_all_sizes_again_and_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sets");
        // Pages that share a place among those held, and one that is too large to be held.
        let mut sizes: Vec<u32> = (0..HELD as u32 + 3).map(|page| page % 5).collect();
        sizes[1] = LARGEST_HELD as u32 + 1;
        let count: u32 = sizes.iter().sum();
        let numbers: Vec<u8> = (0..u64::from(count)).flat_map(u64::to_ne_bytes).collect();
        std::fs::write(&path, numbers).unwrap();
        let failed = Arc::default();
        let sets = SetFiles::open(&[path], places(&sizes), Arc::clone(&failed)).unwrap();
        for page in (0..sizes.len() as u32).chain([1, HELD as u32, 0, HELD as u32, 1]) {
            let Place { start, size, .. } = sets.places[page as usize];
            assert!(sets.values(page).iter().copied().eq(start..start + u64::from(size)));
        }
        assert!(failed.get().is_none());
    }

    #[test]
    fn a_read_that_fails_is_remembered() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sets");
        std::fs::write(&path, [1; 12]).unwrap();
        let failed = Arc::default();
        let sets = SetFiles::open(&[path], places(&[1, 1]), Arc::clone(&failed)).unwrap();
        assert_eq!(sets.values(0).len(), 1);
        assert!(failed.get().is_none());
        let _ = sets.values(1);
        assert!(failed.get().is_some());
        assert!(SetFiles::open(&[folder.path().join("none")], vec![], failed).is_err());
    }
}
