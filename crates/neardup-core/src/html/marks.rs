//! Where in a page the bytes stand at which something may begin or end, as bit maps made in one pass.
//!
//! Idea (Langdale & Lemire, "Parsing gigabytes of JSON per second", 2019, §3.1): 64 bytes at a time are compared with the
//! few bytes that matter, and each comparison leaves one bit a byte. To find the next such byte is then a shift and a
//! count of zeros, wherever one stands, where a search would load and compare anew; a page of manuals has a tag every 28
//! bytes, and half of them attributes.
//!
//! Parameters: three maps. `open` has `<`; `close` has `>` and both quotes, which is where tags and values end; `special`
//! has what text may not be copied with (`&`, NUL, and 0xC2, the first byte of the soft hyphen). Cost: about one
//! instruction a byte with SSE2, half of that with AVX2; three eighths of the page in memory.

/// The bit maps of a page; meant to be reused.
#[derive(Clone, Debug, Default)]
pub struct Marks {
    maps: [Vec<u64>; 3],
}

/// Which map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Map {
    Open,
    Close,
    Special,
}

/// One word of each map.
type Words = [u64; 3];

/// Maps that grew beyond this many words are given back when the next page begins.
const LARGEST_KEPT: usize = 1 << 18;

/// One word more than `window` reads behind the last.
const PADDING: usize = 2;

impl Marks {
    /// Makes the maps of `bytes`.
    pub(super) fn fill(&mut self, bytes: &[u8]) {
        let (blocks, rest) = bytes.as_chunks::<64>();
        for map in &mut self.maps {
            map.clear();
            map.shrink_to(LARGEST_KEPT);
            map.resize(blocks.len() + 1 + PADDING, 0);
        }
        let [open, close, special] = &mut self.maps;
        let mut maps = [open.as_mut_slice(), close, special];
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx2") {
                // SAFETY: the processor has just said that it has AVX2.
                unsafe { fill_avx2(blocks, &mut maps) };
            } else {
                fill_blocks(blocks, &mut maps, sse2);
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        fill_blocks(blocks, &mut maps, plain);
        let mut last = [b' '; 64];
        last[..rest.len()].copy_from_slice(rest);
        for (map, word) in maps.iter_mut().zip(plain(&last)) {
            map[blocks.len()] = word;
        }
    }

    /// The marks of the 64 bytes from `at` on, the first in the lowest bit.
    #[inline(always)]
    pub(super) fn window(&self, map: Map, at: usize) -> u64 {
        let (word, bit) = (at / 64, at % 64);
        match self.maps[map as usize].get(word..word + 2) {
            Some(&[low, high]) => low >> bit | high << 1 << (63 - bit),
            _ => 0,
        }
    }

    /// The place of the next mark at or behind `at`; `usize::MAX` if there is none.
    #[inline(always)]
    pub(super) fn next(&self, map: Map, at: usize) -> usize {
        match self.window(map, at) {
            0 => self.far(map, at),
            near => at + near.trailing_zeros() as usize,
        }
    }

    #[inline(never)]
    fn far(&self, map: Map, at: usize) -> usize {
        let from = at / 64 + 1;
        let words = self.maps[map as usize].get(from..).unwrap_or_default();
        match words.iter().position(|word| *word != 0) {
            Some(found) => 64 * (from + found) + words[found].trailing_zeros() as usize,
            None => usize::MAX,
        }
    }
}

#[inline(always)]
fn fill_blocks(blocks: &[[u8; 64]], maps: &mut [&mut [u64]; 3], words: impl Fn(&[u8; 64]) -> Words) {
    let [open, close, special] = maps;
    let rows = open.iter_mut().zip(close.iter_mut()).zip(special.iter_mut());
    for (block, ((open, close), special)) in blocks.iter().zip(rows) {
        [*open, *close, *special] = words(block);
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn fill_avx2(blocks: &[[u8; 64]], maps: &mut [&mut [u64]; 3]) {
    // SAFETY: this function has the instructions that `avx2` wants.
    fill_blocks(blocks, maps, |block| unsafe { avx2(block) });
}

/// The definition; also for the last bytes of a page.
fn plain(block: &[u8; 64]) -> Words {
    let mut words = [0; 3];
    for (at, byte) in block.iter().enumerate() {
        let map = match byte {
            b'<' => Map::Open,
            b'>' | b'"' | b'\'' => Map::Close,
            b'&' | 0 | 0xC2 => Map::Special,
            _ => continue,
        };
        words[map as usize] |= 1 << at;
    }
    words
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn sse2(block: &[u8; 64]) -> Words {
    use std::arch::x86_64::*;
    let mut words = [0; 3];
    for (quarter, bytes) in block.as_chunks::<16>().0.iter().enumerate() {
        // SAFETY: SSE2 is part of x86-64, and the load reads the sixteen bytes that the reference vouches for.
        let [open, close, special] = unsafe {
            let bytes = _mm_loadu_si128(bytes.as_ptr().cast());
            let open = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(b'<' as i8));
            let angle = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(b'>' as i8));
            let double = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(b'"' as i8));
            let single = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(b'\'' as i8));
            let ampersand = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(b'&' as i8));
            let nul = _mm_cmpeq_epi8(bytes, _mm_setzero_si128());
            let lead = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(0xC2_u8 as i8));
            [
                _mm_movemask_epi8(open),
                _mm_movemask_epi8(_mm_or_si128(_mm_or_si128(angle, double), single)),
                _mm_movemask_epi8(_mm_or_si128(_mm_or_si128(ampersand, nul), lead)),
            ]
        };
        words[0] |= u64::from(open as u16) << (16 * quarter);
        words[1] |= u64::from(close as u16) << (16 * quarter);
        words[2] |= u64::from(special as u16) << (16 * quarter);
    }
    words
}

/// # Safety
///
/// The processor has AVX2.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn avx2(block: &[u8; 64]) -> Words {
    use std::arch::x86_64::*;
    let mut words = [0; 3];
    for (half, bytes) in block.as_chunks::<32>().0.iter().enumerate() {
        // SAFETY: the caller vouches for AVX2, the reference for the 32 bytes that are read.
        let [open, close, special] = unsafe {
            let bytes = _mm256_loadu_si256(bytes.as_ptr().cast());
            let open = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(b'<' as i8));
            let angle = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(b'>' as i8));
            let double = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(b'"' as i8));
            let single = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(b'\'' as i8));
            let ampersand = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(b'&' as i8));
            let nul = _mm256_cmpeq_epi8(bytes, _mm256_setzero_si256());
            let lead = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(0xC2_u8 as i8));
            [
                _mm256_movemask_epi8(open),
                _mm256_movemask_epi8(_mm256_or_si256(_mm256_or_si256(angle, double), single)),
                _mm256_movemask_epi8(_mm256_or_si256(_mm256_or_si256(ampersand, nul), lead)),
            ]
        };
        words[0] |= u64::from(open as u32) << (32 * half);
        words[1] |= u64::from(close as u32) << (32 * half);
        words[2] |= u64::from(special as u32) << (32 * half);
    }
    words
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MAPS: [(Map, &[u8]); 3] = [(Map::Open, b"<"), (Map::Close, b">\"'"), (Map::Special, b"&\0\xC2")];

    #[test]
    fn every_byte_in_every_way() {
        for byte in 0..=255u8 {
            let block = std::array::from_fn(|at| if at % 7 == 3 { byte } else { b' ' });
            #[cfg(target_arch = "x86_64")]
            {
                assert_eq!(sse2(&block), plain(&block), "{byte}");
                if is_x86_feature_detected!("avx2") {
                    // SAFETY: the processor has just said that it has AVX2.
                    assert_eq!(unsafe { avx2(&block) }, plain(&block), "{byte}");
                }
            }
            for (map, bytes) in MAPS {
                assert_eq!(plain(&block)[map as usize] != 0, bytes.contains(&byte), "{byte}");
            }
        }
    }

    proptest! {
        #[test]
        fn next_is_a_plain_search(
            bytes in prop::collection::vec(prop_oneof![20 => Just(b' '), 1 => any::<u8>(), 1 => Just(b'<')], 0..400),
            at in 0_usize..410,
        ) {
            let mut marks = Marks::default();
            marks.fill(b"<>&of a page before");
            marks.fill(&bytes);
            for (map, wanted) in MAPS {
                let found = bytes.iter().skip(at).position(|byte| wanted.contains(byte));
                prop_assert_eq!(marks.next(map, at), found.map_or(usize::MAX, |found| at + found));
                for bit in 0..64 {
                    let marked = bytes.get(at + bit).is_some_and(|byte| wanted.contains(byte));
                    prop_assert_eq!(marks.window(map, at) >> bit & 1 == 1, marked);
                }
            }
        }
    }
}
