//! Short searches without a call: a block of bytes at a time in one register.
//!
//! Names, values and the text between two tags are mostly shorter than 16 bytes. There a call of `memchr`
//! costs more than the search, and a loop over bytes ends in a mispredicted branch. So a block (16 bytes on
//! x86-64, whose SSE2 is always there; 8 bytes in a `u64` elsewhere) is compared at once and the lowest match
//! taken. Beyond the first blocks `memchr` takes over, so long runs go at its speed. On manuals the page is
//! read about a sixth faster for it.

use memchr::memchr;

#[cfg(target_arch = "x86_64")]
mod block {
    use std::arch::x86_64::{
        __m128i, _mm_cmpeq_epi8, _mm_loadu_si128, _mm_min_epu8, _mm_movemask_epi8, _mm_set1_epi8,
    };

    pub const WIDTH: usize = 16;

    #[derive(Clone, Copy)]
    pub struct Block(__m128i);

    impl Block {
        #[inline(always)]
        pub fn new(bytes: &[u8; WIDTH]) -> Self {
            // SAFETY: the load needs no alignment and reads the sixteen bytes that the reference vouches for.
            Self(unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) })
        }

        /// One bit for each byte that is `byte`, the first in the lowest bit.
        #[inline(always)]
        pub fn equal(self, byte: u8) -> u64 {
            // SAFETY: SSE2 is part of x86-64.
            unsafe { _mm_movemask_epi8(_mm_cmpeq_epi8(self.0, _mm_set1_epi8(byte as i8))) as u64 }
        }

        /// The same for each byte that is at most `limit`.
        #[inline(always)]
        pub fn at_most(self, limit: u8) -> u64 {
            // SAFETY: SSE2 is part of x86-64.
            unsafe {
                let lower = _mm_min_epu8(self.0, _mm_set1_epi8(limit as i8));
                _mm_movemask_epi8(_mm_cmpeq_epi8(lower, self.0)) as u64
            }
        }

        #[inline(always)]
        pub fn first(marks: u64) -> usize {
            marks.trailing_zeros() as usize
        }

        /// The marks without that of the block's first byte.
        #[inline(always)]
        pub fn without_first(marks: u64) -> u64 {
            marks & !1
        }
    }
}

#[cfg(any(test, not(target_arch = "x86_64")))]
#[cfg_attr(target_arch = "x86_64", allow(dead_code))]
mod portable {
    pub const WIDTH: usize = 8;
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;

    #[derive(Clone, Copy)]
    pub struct Block(u64);

    /// Marks are the high bits of bytes. A borrow can mark falsely, but only above a true mark: the lowest is
    /// true.
    impl Block {
        #[inline(always)]
        pub fn new(bytes: &[u8; WIDTH]) -> Self {
            Self(u64::from_le_bytes(*bytes))
        }

        #[inline(always)]
        pub fn equal(self, byte: u8) -> u64 {
            let difference = self.0 ^ (ONES * u64::from(byte));
            difference.wrapping_sub(ONES) & !difference & HIGH
        }

        /// `limit` must be below 0x80.
        #[inline(always)]
        pub fn at_most(self, limit: u8) -> u64 {
            self.0.wrapping_sub(ONES * (u64::from(limit) + 1)) & !self.0 & HIGH
        }

        #[inline(always)]
        pub fn first(marks: u64) -> usize {
            marks.trailing_zeros() as usize / 8
        }

        /// The marks without that of the block's first byte.
        #[inline(always)]
        pub fn without_first(marks: u64) -> u64 {
            marks & !0xFF
        }
    }
}

#[cfg(not(target_arch = "x86_64"))]
use portable as block;

pub(super) use block::{Block, WIDTH};

/// The block from `at` on; none if the input ends before its end.
#[inline(always)]
pub(super) fn load(bytes: &[u8], at: usize) -> Option<Block> {
    bytes.get(at..)?.first_chunk::<WIDTH>().map(Block::new)
}

/// The place of the next `byte` at or after `from`.
#[inline(always)]
pub(super) fn find(byte: u8, bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    for _ in 0..16 / WIDTH {
        let Some(block) = load(bytes, at) else { break };
        let marks = block.equal(byte);
        if marks != 0 {
            return Some(at + Block::first(marks));
        }
        at += WIDTH;
    }
    memchr(byte, &bytes[at..]).map(|offset| at + offset)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn find_is_a_plain_search(
            bytes in prop::collection::vec(prop_oneof![9 => 9_u8..20, 1 => 0_u8..4], 0..200),
            byte in 0_u8..5,
            from in 0_usize..200,
        ) {
            let from = from.min(bytes.len());
            let plain = bytes[from..].iter().position(|found| *found == byte).map(|offset| from + offset);
            prop_assert_eq!(find(byte, &bytes, from), plain);
        }

        #[test]
        fn the_lowest_mark_is_true_in_either_width(bytes: [u8; 16], byte: u8, limit in 0_u8..0x80) {
            macro_rules! check {
                ($block:ident) => {
                    let part = bytes.first_chunk::<{ $block::WIDTH }>().unwrap();
                    let block = $block::Block::new(part);
                    for (marks, plain) in [
                        (block.equal(byte), part.iter().position(|found| *found == byte)),
                        (block.at_most(limit), part.iter().position(|found| *found <= limit)),
                    ] {
                        prop_assert_eq!((marks != 0).then(|| $block::Block::first(marks)), plain);
                    }
                };
            }
            check!(portable);
            check!(block);
        }
    }
}
