//! Short runs of letters and digits that wait to be made terms of, hundreds together.
//!
//! A loop over the runs of one block, of which there are now six and now eleven, has the processor guess wrong about its end
//! in every other block. So only where they begin and how long they are is written down block by block, and tokens are made
//! of all that wait by one long loop. Cost: three bytes a run, written and read in the nearest cache.

use crate::ascii::{Classes, RUNS_OF_BLOCK};
use crate::terms::{SHORT, Terms};

/// The runs that wait.
#[derive(Debug)]
pub(crate) struct Runs {
    /// The place that theirs are counted from.
    from: usize,
    count: usize,
    starts: [u16; RUNS],
    lengths: [u8; RUNS],
}

/// Runs that may wait, those of a last block included.
const RUNS: usize = 512;

impl Default for Runs {
    fn default() -> Self {
        Runs { from: 0, count: 0, starts: [0; RUNS], lengths: [0; RUNS] }
    }
}

impl Runs {
    /// Nothing waits.
    pub(crate) fn clear(&mut self) {
        self.count = 0;
    }

    /// Whether those of a block at this place can wait too.
    #[inline(always)]
    pub(crate) fn have_room(&self, at: usize) -> bool {
        self.count + RUNS_OF_BLOCK <= RUNS && (self.count == 0 || at - self.from < usize::from(u16::MAX) - 64)
    }

    /// Takes the runs of a block at this place that begin and end where bits are set; the start of one more, which ends
    /// behind the block, may be among them.
    ///
    /// # Safety
    /// The machine has the instructions of `C`; there is room.
    #[inline(always)]
    pub(crate) unsafe fn add<C: Classes>(&mut self, at: usize, starts: u64, ends: u64) {
        debug_assert!(self.have_room(at));
        if self.count == 0 {
            self.from = at;
        }
        let places = self.starts[self.count..].first_chunk_mut().expect("there is room");
        let lengths = self.lengths[self.count..].first_chunk_mut().expect("there is room");
        // SAFETY: as the caller says.
        unsafe { C::runs(starts, ends, (at - self.from) as u16, places, lengths) };
        self.count += ends.count_ones() as usize;
    }

    /// Sends all that wait.
    ///
    /// # Safety
    /// They are runs of these bytes, each with `SHORT` bytes from its start on.
    #[inline(always)]
    pub(crate) unsafe fn send(&mut self, bytes: &[u8], sink: &mut impl Terms) {
        let count = std::mem::take(&mut self.count);
        debug_assert!(
            self.starts[..count].iter().all(|&start| self.from + usize::from(start) + SHORT <= bytes.len())
        );
        // SAFETY: as the caller says.
        unsafe {
            sink.short_terms(
                bytes.as_ptr().add(self.from.min(bytes.len())),
                &self.starts[..count],
                &self.lengths[..count],
            );
        }
    }
}
