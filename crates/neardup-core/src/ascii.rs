//! Which of 64 bytes are ASCII letters or digits, and which lie beyond ASCII, as two bit masks.
//!
//! On x86-64 four 16-byte compares (SSE2, which every such machine has); elsewhere eight bytes in a register at
//! a time. Both give the same masks, and a property test holds them against the plain definition.

/// Bit i speaks of byte i.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Masks {
    pub word: u64,
    pub beyond: u64,
}

/// The masks of the 64 bytes from `at` on; behind the end there is nothing.
#[inline(always)]
pub fn masks(bytes: &[u8], at: usize) -> Masks {
    match bytes.get(at..at + 64) {
        Some(block) => block_masks(block.try_into().expect("64 bytes")),
        None => {
            let rest = &bytes[at..];
            let mut block = [0u8; 64];
            block[..rest.len()].copy_from_slice(rest);
            block_masks(&block)
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn block_masks(block: &[u8; 64]) -> Masks {
    use std::arch::x86_64::*;
    let mut found = Masks { word: 0, beyond: 0 };
    for quarter in 0..4 {
        // SAFETY: SSE2 is part of x86-64, and 16 bytes from `16 * quarter` lie inside the block.
        let (word, beyond) = unsafe {
            let bytes = _mm_loadu_si128(block.as_ptr().add(16 * quarter).cast());
            let below = |value: __m128i, limit: i8| {
                let limit = _mm_set1_epi8(limit);
                _mm_cmpeq_epi8(_mm_min_epu8(value, limit), value)
            };
            let lower = _mm_or_si128(bytes, _mm_set1_epi8(0x20));
            let letter = below(_mm_sub_epi8(lower, _mm_set1_epi8(b'a' as i8)), 25);
            let digit = below(_mm_sub_epi8(bytes, _mm_set1_epi8(b'0' as i8)), 9);
            (_mm_movemask_epi8(_mm_or_si128(letter, digit)), _mm_movemask_epi8(bytes))
        };
        found.word |= (word as u64) << (16 * quarter);
        found.beyond |= (beyond as u64) << (16 * quarter);
    }
    found
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn block_masks(block: &[u8; 64]) -> Masks {
    portable_masks(block)
}

/// Eight bytes in a register at a time.
#[cfg(any(test, not(target_arch = "x86_64")))]
fn portable_masks(block: &[u8; 64]) -> Masks {
    const EACH: u64 = 0x0101_0101_0101_0101;
    const TOP: u64 = 0x80 * EACH;
    // With the top bit of every byte of `value` clear, adding 0x80 - limit sets it where byte >= limit.
    let at_least = |value: u64, limit: u64| (value + (0x80 - limit) * EACH) & TOP;
    // Gathers the top bits of the eight bytes.
    let gather = |tops: u64| (tops >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56;
    let mut found = Masks { word: 0, beyond: 0 };
    for (index, bytes) in block.chunks_exact(8).enumerate() {
        let value = u64::from_le_bytes(bytes.try_into().expect("eight bytes"));
        let beyond = value & TOP;
        let low = value & !TOP;
        let lower = low | (0x20 * EACH);
        let letter = at_least(lower, u64::from(b'a')) & !at_least(lower, u64::from(b'z') + 1);
        let digit = at_least(low, u64::from(b'0')) & !at_least(low, u64::from(b'9') + 1);
        found.word |= gather((letter | digit) & !beyond) << (8 * index);
        found.beyond |= gather(beyond) << (8 * index);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn naive(block: &[u8; 64]) -> Masks {
        let gather = |test: fn(&u8) -> bool| {
            block.iter().enumerate().fold(0, |mask, (at, byte)| mask | u64::from(test(byte)) << at)
        };
        Masks { word: gather(u8::is_ascii_alphanumeric), beyond: gather(|byte| !byte.is_ascii()) }
    }

    #[test]
    fn every_byte_at_every_place() {
        for byte in 0..=255u8 {
            for at in 0..64 {
                let mut block = [b' '; 64];
                block[at] = byte;
                assert_eq!(block_masks(&block), naive(&block), "{byte} at {at}");
                assert_eq!(portable_masks(&block), naive(&block), "{byte} at {at}");
            }
        }
    }

    proptest! {
        #[test]
        fn all_ways_agree(block: [u8; 64]) {
            prop_assert_eq!(block_masks(&block), naive(&block));
            prop_assert_eq!(portable_masks(&block), naive(&block));
        }
    }

    #[test]
    fn the_end_is_padded() {
        assert_eq!(masks(b"ab c", 1), Masks { word: 0b101, beyond: 0 });
    }
}
