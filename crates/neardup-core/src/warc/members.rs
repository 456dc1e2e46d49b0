//! Gzip members by libdeflate: whole members in, whole members out, over twice as fast as a streaming inflater.
//!
//! A WARC file holds a gzip member for each record, so nearly all of one is members of some kilobytes that fit memory
//! whole. libdeflate reads such a member in one go and checks its sum; it cannot stop in between. So a member that is
//! cut off by the end of the slice, damaged, or larger than [`LARGEST`] is not unpacked here at all: [`Stop`] says why,
//! and the caller reads on, or unpacks it by a stream, which also saves what stands before the damage.
//!
//! Cost: each good member is read once; a member that does not fit the room is begun anew, at most twice.

use libdeflate_sys::{
    libdeflate_alloc_decompressor, libdeflate_decompressor, libdeflate_free_decompressor,
    libdeflate_gzip_decompress_ex, libdeflate_result_LIBDEFLATE_INSUFFICIENT_SPACE as INSUFFICIENT_SPACE,
    libdeflate_result_LIBDEFLATE_SUCCESS as SUCCESS,
};

/// Members that unpack to more are left to a stream.
pub const LARGEST: usize = 8 << 20;

/// What a member is given room for at first.
const USUAL: usize = 1 << 20;

const MAGIC: [u8; 3] = [0x1F, 0x8B, 0x08];

/// Why no more members were unpacked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// As much as was wanted is there.
    Enough,
    /// The slice is used up to its last byte.
    Exhausted,
    /// What follows is no member, or a damaged one, or one that the slice does not hold whole.
    NotWhole,
    /// What follows is a member that unpacks to more than [`LARGEST`].
    TooLarge,
}

/// An inflater for members, reused from one to the next.
#[derive(Debug)]
pub struct Members {
    inflater: *mut libdeflate_decompressor,
}

// SAFETY: the decompressor is plain memory without ties to a thread, and only `&mut self` reaches it.
unsafe impl Send for Members {}
// SAFETY: no method takes `&self`.
unsafe impl Sync for Members {}

impl Default for Members {
    fn default() -> Self {
        // SAFETY: no precondition; the result is checked.
        let inflater = unsafe { libdeflate_alloc_decompressor() };
        assert!(!inflater.is_null(), "out of memory for an inflater");
        Self { inflater }
    }
}

impl Drop for Members {
    fn drop(&mut self) {
        // SAFETY: allocated by `default`, freed once.
        unsafe { libdeflate_free_decompressor(self.inflater) }
    }
}

impl Members {
    /// Unpacks members of `packed` from `at` on behind what `out` holds, until `wanted` bytes or more were added.
    ///
    /// `at` moves behind each member; `start(at, length)` is told where each member began, in `packed` and in `out`,
    /// but not of members that hold nothing.
    pub fn unpack(
        &mut self,
        packed: &[u8],
        at: &mut usize,
        out: &mut Vec<u8>,
        wanted: usize,
        mut start: impl FnMut(usize, usize),
    ) -> Stop {
        let before = out.len();
        while *at < packed.len() {
            if out.len() - before >= wanted {
                return Stop::Enough;
            }
            let length = out.len();
            match self.member(&packed[*at..], out) {
                Ok(taken) => {
                    if out.len() > length {
                        start(*at, length);
                    }
                    *at += taken;
                }
                Err(stop) => return stop,
            }
        }
        Stop::Exhausted
    }

    /// Appends one member to `out`; how many packed bytes it took.
    fn member(&mut self, packed: &[u8], out: &mut Vec<u8>) -> Result<usize, Stop> {
        if !packed.starts_with(&MAGIC) {
            return Err(Stop::NotWhole);
        }
        let mut room = USUAL;
        loop {
            out.reserve(room);
            let length = out.len();
            let spare = out.spare_capacity_mut();
            let space = spare.len().min(LARGEST);
            let (mut taken, mut given) = (0, 0);
            // SAFETY: both slices are valid for the lengths given, `spare` for writing; the inflater is ours alone.
            let result = unsafe {
                libdeflate_gzip_decompress_ex(
                    self.inflater,
                    packed.as_ptr().cast(),
                    packed.len(),
                    spare.as_mut_ptr().cast(),
                    space,
                    &mut taken,
                    &mut given,
                )
            };
            if result == SUCCESS {
                debug_assert!(given <= space && taken <= packed.len());
                // SAFETY: libdeflate has written the first `given` bytes of the spare capacity.
                unsafe { out.set_len(length + given) };
                return Ok(taken);
            }
            if result != INSUFFICIENT_SPACE {
                return Err(Stop::NotWhole);
            }
            if space == LARGEST {
                return Err(Stop::TooLarge);
            }
            room = LARGEST;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::{Compression, write::GzEncoder};
    use proptest::prelude::*;

    use super::*;

    fn pack(data: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(data).unwrap();
        encoder.finish().unwrap()
    }

    fn unpack(packed: &[u8], wanted: usize) -> (Vec<u8>, usize, Vec<(usize, usize)>, Stop) {
        let (mut out, mut at, mut starts) = (Vec::new(), 0, Vec::new());
        let stop = Members::default()
            .unpack(packed, &mut at, &mut out, wanted, |at, length| starts.push((at, length)));
        (out, at, starts, stop)
    }

    #[test]
    fn members_one_after_another() {
        let (one, none, two) = (pack(b"one "), pack(b""), pack(b"two"));
        let all = [one.as_slice(), &none, &two].concat();
        let starts = vec![(0, 0), (one.len() + none.len(), 4)];
        assert_eq!(unpack(&all, 100), (b"one two".to_vec(), all.len(), starts, Stop::Exhausted));
        assert_eq!(unpack(&all, 1), (b"one ".to_vec(), one.len(), vec![(0, 0)], Stop::Enough));
    }

    #[test]
    fn sizes_around_the_room() {
        for (size, stop) in [
            (USUAL - 1, Stop::Exhausted),
            (USUAL + 1, Stop::Exhausted),
            (LARGEST, Stop::Exhausted),
            (LARGEST + 1, Stop::TooLarge),
        ] {
            let (out, _, _, found) = unpack(&pack(&vec![b'x'; size]), usize::MAX);
            assert_eq!((found, out.len()), (stop, if stop == Stop::Exhausted { size } else { 0 }));
        }
    }

    proptest! {
        #[test]
        fn a_cut_or_damaged_member_gives_nothing(data: Vec<u8>, cut: prop::sample::Index, flip in 1_u8..) {
            let whole = pack(&data);
            let (good, cut) = (pack(b"good"), cut.index(whole.len()));
            let (out, at, ..) = unpack(&[good.as_slice(), &whole[..cut]].concat(), usize::MAX);
            prop_assert_eq!((out.as_slice(), at), (b"good".as_slice(), good.len()));
            // A header holds times and names that may be anything, and a few bits behind the data mean nothing.
            let mut damaged = whole;
            damaged[cut] ^= flip;
            let (out, ..) = unpack(&damaged, usize::MAX);
            prop_assert!(out.is_empty() || out == data);
        }

        #[test]
        fn any_bytes_are_survived(bytes: Vec<u8>) {
            unpack(&[MAGIC.as_slice(), &bytes].concat(), usize::MAX);
            unpack(&bytes, usize::MAX);
        }
    }
}
