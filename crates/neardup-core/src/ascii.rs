//! Which of 64 bytes are ASCII letters or digits, which are full stops, which have to be looked at as characters, and which
//! are one of two given bytes, as bit masks.
//!
//! 64 bytes at once where the machine has AVX-512, twice 32 with AVX2, else four times 16 (SSE2, which every x86-64 has); on
//! other machines eight bytes in a register at a time. AVX-512 and AVX2 look bytes up in small tables, the others compare.
//! All give the same masks, and a property test holds them against the plain definition.

/// Bit i speaks of byte i.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Masks {
    pub word: u64,
    pub stop: u64,
    /// What the masks cannot tell: bytes beyond ASCII, and control characters that are not white space, which part no word.
    pub beyond: u64,
}

/// A block has no more runs than this.
pub(crate) const RUNS_OF_BLOCK: usize = 32;

/// Runs that are written down without asking after each whether there is another one.
const TOGETHER: usize = 4;

/// A way to tell the masks.
pub(crate) trait Classes {
    /// The masks of 64 bytes.
    ///
    /// # Safety
    /// The machine has the instructions of this way.
    unsafe fn of(block: &[u8; 64]) -> Masks;

    /// Which of 64 bytes are one of two.
    ///
    /// # Safety
    /// The machine has the instructions of this way.
    unsafe fn either(block: &[u8; 64], one: u8, other: u8) -> u64;

    /// Which of 64 bytes lie between two, these included.
    ///
    /// # Safety
    /// The machine has the instructions of this way.
    unsafe fn within(block: &[u8; 64], first: u8, last: u8) -> u64;

    /// Where the runs of a block begin, each moved on by `from`, and how long they are; they begin and end where bits are
    /// set. A start without an end may stand behind the others; what is written behind them means nothing.
    ///
    /// # Safety
    /// The machine has the instructions of this way.
    #[inline(always)]
    unsafe fn runs(
        mut starts: u64,
        mut ends: u64,
        from: u16,
        places: &mut [u16; RUNS_OF_BLOCK],
        lengths: &mut [u8; RUNS_OF_BLOCK],
    ) {
        let groups = ends.count_ones().div_ceil(TOGETHER as u32) as usize;
        let (places, lengths) = (places.as_chunks_mut::<TOGETHER>().0, lengths.as_chunks_mut::<TOGETHER>().0);
        for (places, lengths) in places.iter_mut().zip(lengths).take(groups) {
            for at in 0..TOGETHER {
                let start = starts.trailing_zeros();
                places[at] = from.wrapping_add(start as u16);
                lengths[at] = ends.trailing_zeros().wrapping_sub(start) as u8;
                starts &= starts.wrapping_sub(1);
                ends &= ends.wrapping_sub(1);
            }
        }
    }

    /// The masks of the 64 bytes from `at` on; behind the end there are spaces.
    ///
    /// # Safety
    /// The machine has the instructions of this way.
    #[inline(always)]
    unsafe fn at(bytes: &[u8], at: usize) -> Masks {
        let block = match bytes.get(at..at + 64) {
            Some(block) => block.try_into().expect("64 bytes"),
            None => {
                let rest = &bytes[at..];
                let mut block = [b' '; 64];
                block[..rest.len()].copy_from_slice(rest);
                // SAFETY: as the caller says.
                return unsafe { Self::of(&block) };
            }
        };
        // SAFETY: as the caller says.
        unsafe { Self::of(block) }
    }
}

/// What every machine has.
pub(crate) struct Portable;

impl Classes for Portable {
    #[inline(always)]
    unsafe fn of(block: &[u8; 64]) -> Masks {
        #[cfg(target_arch = "x86_64")]
        return x86::sse2(block);
        #[cfg(not(target_arch = "x86_64"))]
        return portable_masks(block);
    }

    #[inline(always)]
    unsafe fn either(block: &[u8; 64], one: u8, other: u8) -> u64 {
        #[cfg(target_arch = "x86_64")]
        return x86::either_sse2(block, one, other);
        #[cfg(not(target_arch = "x86_64"))]
        return portable_either(block, one, other);
    }

    #[inline(always)]
    unsafe fn within(block: &[u8; 64], first: u8, last: u8) -> u64 {
        let mark = |marks, (at, byte): (usize, &u8)| marks | u64::from((first..=last).contains(byte)) << at;
        block.iter().enumerate().fold(0, mark)
    }
}

/// The first `length` (up to 16) of the 16 bytes in two little-endian words, zeros behind them.
#[inline(always)]
pub(crate) fn first(low: u64, high: u64, length: usize) -> (u64, u64) {
    let (keep_low, keep_high) = KEEP[length];
    (low & keep_low, high & keep_high)
}

/// For each length up to 16, which bytes of two words belong to it.
pub(crate) const KEEP: [(u64, u64); 17] = {
    let mut keep = [(0u64, 0u64); 17];
    let mut length = 1;
    while length <= 16 {
        keep[length] = if length <= 8 {
            (u64::MAX >> (64 - 8 * length), 0)
        } else {
            (u64::MAX, u64::MAX >> (128 - 8 * length))
        };
        length += 1;
    }
    keep
};

#[cfg(target_arch = "x86_64")]
pub(crate) use x86::{Avx2, Avx512};

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::{Classes, Masks, RUNS_OF_BLOCK};

    pub(crate) struct Avx2;
    pub(crate) struct Avx512;

    /// The sets a byte is looked up in, as bits. With tables of 16 entries a set is what one set of lower halves and one of
    /// upper halves make together, so letters and digits take three, control characters that are not white space three;
    /// no byte is in two. The order counts: as a signed number a full stop is below zero, and letters and digits lie
    /// between zero and the control characters.
    const LETTERS_TO_O: u8 = 0x01;
    const LETTERS_FROM_P: u8 = 0x02;
    const DIGITS: u8 = 0x04;
    const FIRST_CONTROLS: u8 = 0x08;
    const LATER_CONTROLS: u8 = 0x10;
    const DELETE: u8 = 0x20;
    const STOP: u8 = 0x80;
    const LAST_OF_WORDS: u8 = LETTERS_TO_O | LETTERS_FROM_P | DIGITS;

    /// For each upper half of a byte the sets that it may be of. Those beyond ASCII need none: no lower half is looked up
    /// for them.
    const OF_UPPER: [u8; 16] = {
        let mut sets = [0; 16];
        sets[0x0] = FIRST_CONTROLS;
        sets[0x1] = LATER_CONTROLS;
        sets[0x2] = STOP;
        sets[0x3] = DIGITS;
        sets[0x4] = LETTERS_TO_O;
        sets[0x5] = LETTERS_FROM_P;
        sets[0x6] = LETTERS_TO_O;
        sets[0x7] = LETTERS_FROM_P | DELETE;
        sets
    };

    /// For each lower half of a byte the sets that it may be of.
    const OF_LOWER: [u8; 16] = {
        let mut sets = [LATER_CONTROLS; 16];
        let mut half = 0;
        while half < 16 {
            sets[half] |= if half >= 1 { LETTERS_TO_O } else { 0 };
            sets[half] |= if half <= 0xA { LETTERS_FROM_P } else { 0 };
            sets[half] |= if half <= 9 { DIGITS } else { 0 };
            sets[half] |= if half <= 8 || half >= 0xE { FIRST_CONTROLS } else { 0 };
            half += 1;
        }
        sets[0xE] |= STOP;
        sets[0xF] |= DELETE;
        sets
    };

    /// For each byte of ASCII its mask, one bit each: AVX-512 looks up all of them at once.
    const WORD_BIT: u8 = 0x01;
    const STOP_BIT: u8 = 0x02;
    const BEYOND_BIT: u8 = 0x80;
    const OF_ASCII: [u8; 128] = {
        let mut bits = [0; 128];
        let mut byte = 0;
        while byte < 128 {
            let set = OF_UPPER[byte >> 4] & OF_LOWER[byte & 0xF];
            bits[byte] = match set {
                0 => 0,
                STOP => STOP_BIT,
                LETTERS_TO_O | LETTERS_FROM_P | DIGITS => WORD_BIT,
                _ => BEYOND_BIT,
            };
            byte += 1;
        }
        bits
    };

    impl Classes for Avx2 {
        #[inline(always)]
        unsafe fn of(block: &[u8; 64]) -> Masks {
            // SAFETY: as the caller says.
            unsafe { avx2(block) }
        }

        #[inline(always)]
        unsafe fn either(block: &[u8; 64], one: u8, other: u8) -> u64 {
            // SAFETY: as the caller says.
            unsafe { either_avx2(block, one, other) }
        }

        #[inline(always)]
        unsafe fn within(block: &[u8; 64], first: u8, last: u8) -> u64 {
            // SAFETY: as the caller says.
            unsafe { within_avx2(block, first, last) }
        }
    }

    impl Classes for Avx512 {
        #[inline(always)]
        unsafe fn of(block: &[u8; 64]) -> Masks {
            // SAFETY: as the caller says.
            unsafe { avx512(block) }
        }

        #[inline(always)]
        unsafe fn either(block: &[u8; 64], one: u8, other: u8) -> u64 {
            // SAFETY: as the caller says.
            unsafe { either_avx512(block, one, other) }
        }

        #[inline(always)]
        unsafe fn within(block: &[u8; 64], first: u8, last: u8) -> u64 {
            // SAFETY: as the caller says.
            unsafe { within_avx512(block, first, last) }
        }

        #[inline(always)]
        unsafe fn runs(
            starts: u64,
            ends: u64,
            from: u16,
            places: &mut [u16; RUNS_OF_BLOCK],
            lengths: &mut [u8; RUNS_OF_BLOCK],
        ) {
            // SAFETY: as the caller says.
            unsafe { runs_avx512(starts, ends, from, places, lengths) }
        }
    }

    /// The numbers of the bytes of a block.
    const NUMBERS: [u8; 64] = {
        let mut numbers = [0; 64];
        let mut at = 0;
        while at < 64 {
            numbers[at] = at as u8;
            at += 1;
        }
        numbers
    };

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi2")]
    fn runs_avx512(
        starts: u64,
        ends: u64,
        from: u16,
        places: &mut [u16; RUNS_OF_BLOCK],
        lengths: &mut [u8; RUNS_OF_BLOCK],
    ) {
        // SAFETY: the numbers are 64 bytes long, the places too, the lengths 32.
        unsafe {
            let numbers = _mm512_loadu_si512(NUMBERS.as_ptr().cast());
            let begin = _mm512_castsi512_si256(_mm512_maskz_compress_epi8(starts, numbers));
            let end = _mm512_castsi512_si256(_mm512_maskz_compress_epi8(ends, numbers));
            _mm256_storeu_si256(lengths.as_mut_ptr().cast(), _mm256_sub_epi8(end, begin));
            let moved = _mm512_add_epi16(_mm512_cvtepu8_epi16(begin), _mm512_set1_epi16(from as i16));
            _mm512_storeu_si512(places.as_mut_ptr().cast(), moved);
        }
    }

    /// As signed numbers, moved on by [`ONE`], U+007F, what lies beyond ASCII and the control characters before the tab come
    /// first, up to [`BEFORE_TAB`].
    const ONE: i8 = 1;
    const BEFORE_TAB: i8 = 9;
    /// Moved on by so much, those from U+000E to U+001F do, up to [`BEFORE_SPACE`].
    const SMALLEST: i8 = (0x80 - 0x0E_u8) as i8;
    const BEFORE_SPACE: i8 = -0x80 + (0x1F - 0x0E);

    #[inline(always)]
    pub(super) fn sse2(block: &[u8; 64]) -> Masks {
        let mut found = Masks { word: 0, stop: 0, beyond: 0 };
        for quarter in 0..4 {
            // SAFETY: SSE2 is part of x86-64, and 16 bytes from `16 * quarter` lie inside the block.
            let (word, stop, beyond) = unsafe {
                let bytes = _mm_loadu_si128(block.as_ptr().add(16 * quarter).cast());
                let below = |value: __m128i, limit: i8| {
                    let limit = _mm_set1_epi8(limit);
                    _mm_cmpeq_epi8(_mm_min_epu8(value, limit), value)
                };
                let lower = _mm_or_si128(bytes, _mm_set1_epi8(0x20));
                let letter = below(_mm_sub_epi8(lower, _mm_set1_epi8(b'a' as i8)), 25);
                let digit = below(_mm_sub_epi8(bytes, _mm_set1_epi8(b'0' as i8)), 9);
                let stop = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(b'.' as i8));
                let moved_below = |by, limit| {
                    _mm_cmplt_epi8(_mm_add_epi8(bytes, _mm_set1_epi8(by)), _mm_set1_epi8(limit + 1))
                };
                let beyond = _mm_or_si128(moved_below(ONE, BEFORE_TAB), moved_below(SMALLEST, BEFORE_SPACE));
                (
                    _mm_movemask_epi8(_mm_or_si128(letter, digit)),
                    _mm_movemask_epi8(stop),
                    _mm_movemask_epi8(beyond),
                )
            };
            found.word |= (word as u64) << (16 * quarter);
            found.stop |= (stop as u64) << (16 * quarter);
            found.beyond |= (beyond as u64) << (16 * quarter);
        }
        found
    }

    #[inline(always)]
    pub(super) fn either_sse2(block: &[u8; 64], one: u8, other: u8) -> u64 {
        let mut found = 0;
        for quarter in 0..4 {
            // SAFETY: SSE2 is part of x86-64, and 16 bytes from `16 * quarter` lie inside the block.
            let marks = unsafe {
                let bytes = _mm_loadu_si128(block.as_ptr().add(16 * quarter).cast());
                let equal = |byte: u8| _mm_cmpeq_epi8(bytes, _mm_set1_epi8(byte as i8));
                _mm_movemask_epi8(_mm_or_si128(equal(one), equal(other)))
            };
            found |= (marks as u64) << (16 * quarter);
        }
        found
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn either_avx2(block: &[u8; 64], one: u8, other: u8) -> u64 {
        let mut found = 0;
        for half in 0..2 {
            // SAFETY: 32 bytes from `32 * half` lie inside the block.
            let bytes = unsafe { _mm256_loadu_si256(block.as_ptr().add(32 * half).cast()) };
            let equal = |byte: u8| _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(byte as i8));
            let marks = _mm256_movemask_epi8(_mm256_or_si256(equal(one), equal(other))) as u32;
            found |= u64::from(marks) << (32 * half);
        }
        found
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn within_avx2(block: &[u8; 64], first: u8, last: u8) -> u64 {
        let mut found = 0;
        for half in 0..2 {
            // SAFETY: 32 bytes from `32 * half` lie inside the block.
            let bytes = unsafe { _mm256_loadu_si256(block.as_ptr().add(32 * half).cast()) };
            let above = _mm256_sub_epi8(bytes, _mm256_set1_epi8(first as i8));
            let inside =
                _mm256_cmpeq_epi8(_mm256_min_epu8(above, _mm256_set1_epi8((last - first) as i8)), above);
            found |= u64::from(_mm256_movemask_epi8(inside) as u32) << (32 * half);
        }
        found
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    fn within_avx512(block: &[u8; 64], first: u8, last: u8) -> u64 {
        // SAFETY: the block has 64 bytes.
        let bytes = unsafe { _mm512_loadu_si512(block.as_ptr().cast()) };
        let above = _mm512_sub_epi8(bytes, _mm512_set1_epi8(first as i8));
        _mm512_cmple_epu8_mask(above, _mm512_set1_epi8((last - first) as i8))
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    fn either_avx512(block: &[u8; 64], one: u8, other: u8) -> u64 {
        // SAFETY: the block has 64 bytes.
        let bytes = unsafe { _mm512_loadu_si512(block.as_ptr().cast()) };
        let equal = |byte: u8| _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(byte as i8));
        equal(one) | equal(other)
    }

    /// The mask as it is, and nothing that the compiler knows of it: where it sees the comparison that a mask comes from,
    /// it joins masks as lanes of one bit each, which AVX2 does not have, and takes them apart bit by bit.
    #[inline(always)]
    fn opaque(mut mask: u32) -> u32 {
        // SAFETY: no instruction, only a register that is said to change.
        unsafe {
            std::arch::asm!("/* {0:e} */", inout(reg) mask, options(pure, nomem, nostack, preserves_flags))
        };
        mask
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn avx2(block: &[u8; 64]) -> Masks {
        // SAFETY: the tables have 16 bytes.
        let [of_upper, of_lower] = [&OF_UPPER, &OF_LOWER]
            .map(|table| unsafe { _mm256_broadcastsi128_si256(_mm_loadu_si128(table.as_ptr().cast())) });
        let mut found = Masks { word: 0, stop: 0, beyond: 0 };
        for half in 0..2 {
            // SAFETY: 32 bytes from `32 * half` lie inside the block.
            let bytes = unsafe { _mm256_loadu_si256(block.as_ptr().add(32 * half).cast()) };
            let upper = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), _mm256_set1_epi8(0xF));
            // A byte beyond ASCII finds no lower half.
            let set =
                _mm256_and_si256(_mm256_shuffle_epi8(of_upper, upper), _mm256_shuffle_epi8(of_lower, bytes));
            let above = |limit: u8| _mm256_cmpgt_epi8(set, _mm256_set1_epi8(limit as i8));
            let mask = |lanes| u64::from(opaque(_mm256_movemask_epi8(lanes) as u32)) << (32 * half);
            found.word |= mask(above(0));
            found.stop |= mask(set);
            found.beyond |= mask(_mm256_or_si256(above(LAST_OF_WORDS), bytes));
        }
        found.word &= !found.beyond;
        found
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    fn avx512(block: &[u8; 64]) -> Masks {
        // SAFETY: the block has 64 bytes, the table 128.
        let (bytes, first, second) = unsafe {
            let table = OF_ASCII.as_ptr();
            (
                _mm512_loadu_si512(block.as_ptr().cast()),
                _mm512_loadu_si512(table.cast()),
                _mm512_loadu_si512(table.add(64).cast()),
            )
        };
        // The table is asked for the lower seven bits of a byte; what it says of one beyond ASCII is taken back.
        let bits = _mm512_permutex2var_epi8(first, bytes, second);
        let beyond = _mm512_movepi8_mask(_mm512_or_si512(bits, bytes));
        let marked = |bit: u8| _mm512_test_epi8_mask(bits, _mm512_set1_epi8(bit as i8)) & !beyond;
        Masks { word: marked(WORD_BIT), stop: marked(STOP_BIT), beyond }
    }
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
    let mut found = Masks { word: 0, stop: 0, beyond: 0 };
    for (index, bytes) in block.chunks_exact(8).enumerate() {
        let value = u64::from_le_bytes(bytes.try_into().expect("eight bytes"));
        let beyond = value & TOP;
        let low = value & !TOP;
        let lower = low | (0x20 * EACH);
        let letter = at_least(lower, u64::from(b'a')) & !at_least(lower, u64::from(b'z') + 1);
        let digit = at_least(low, u64::from(b'0')) & !at_least(low, u64::from(b'9') + 1);
        let stop = at_least(low, u64::from(b'.')) & !at_least(low, u64::from(b'.') + 1);
        let white = at_least(low, u64::from(b'\t')) & !at_least(low, u64::from(b'\r') + 1);
        let control = (!at_least(low, u64::from(b' ')) & !white | at_least(low, 0x7F)) & TOP;
        found.word |= gather((letter | digit) & !beyond) << (8 * index);
        found.stop |= gather(stop & !beyond) << (8 * index);
        found.beyond |= gather(beyond | control) << (8 * index);
    }
    found
}

#[cfg(any(test, not(target_arch = "x86_64")))]
fn portable_either(block: &[u8; 64], one: u8, other: u8) -> u64 {
    let mark = |marks, (at, &byte): (usize, &u8)| marks | u64::from(byte == one || byte == other) << at;
    block.iter().enumerate().fold(0, mark)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn naive(block: &[u8; 64]) -> Masks {
        let gather = |test: fn(&u8) -> bool| {
            block.iter().enumerate().fold(0, |mask, (at, byte)| mask | u64::from(test(byte)) << at)
        };
        Masks {
            word: gather(u8::is_ascii_alphanumeric),
            stop: gather(|&byte| byte == b'.'),
            beyond: gather(|&byte| {
                !byte.is_ascii() || byte.is_ascii_control() && !char::from(byte).is_whitespace()
            }),
        }
    }

    fn all_ways_agree(block: &[u8; 64]) {
        agrees::<Portable>(block);
        assert_eq!(portable_masks(block), naive(block), "{block:?}");
        #[cfg(target_arch = "x86_64")]
        {
            let level = crate::cpu::level();
            if level != crate::cpu::Level::Portable {
                // AVX-512 machines have AVX2.
                agrees::<Avx2>(block);
            }
            if level == crate::cpu::Level::Avx512 {
                agrees::<Avx512>(block);
            }
        }
    }

    /// To be asked only for what this machine can do.
    fn agrees<C: Classes>(block: &[u8; 64]) {
        let marks = portable_either(block, block[7], b'"');
        // SAFETY: the caller asks only for what this machine can do.
        unsafe {
            assert_eq!(C::of(block), naive(block), "{block:?}");
            assert_eq!(C::either(block, block[7], b'"'), marks, "{block:?}");
            let (first, last) = (block[7].min(block[8]), block[7].max(block[8]));
            let inside =
                |marks, (at, byte): (usize, &u8)| marks | u64::from((first..=last).contains(byte)) << at;
            assert_eq!(C::within(block, first, last), block.iter().enumerate().fold(0, inside), "{block:?}");
        }
        let word = naive(block).word;
        let (starts, ends) = (word & !(word << 1), word << 1 & !word);
        let (mut places, mut lengths) = ([0; RUNS_OF_BLOCK], [0; RUNS_OF_BLOCK]);
        // SAFETY: as above.
        unsafe { C::runs(starts, ends, 700, &mut places, &mut lengths) };
        let marked = |marks: u64| (0..64u16).filter(move |&at| marks >> at & 1 == 1);
        let expected =
            marked(starts).zip(marked(ends)).map(|(start, end)| (700 + start, (end - start) as u8));
        let count = ends.count_ones() as usize;
        assert!(places.into_iter().zip(lengths).take(count).eq(expected), "{block:?}");
    }

    #[test]
    fn every_byte_at_every_place() {
        for byte in 0..=255u8 {
            for at in 0..64 {
                let mut block = [b' '; 64];
                block[at] = byte;
                all_ways_agree(&block);
            }
        }
    }

    proptest! {
        #[test]
        fn any_bytes(block: [u8; 64]) {
            all_ways_agree(&block);
        }
    }

    proptest! {
        #[test]
        fn words_are_cut_behind_their_length(words: [u64; 2], length in 1usize..=16) {
            let mut cut = [0u8; 16];
            cut[..length].copy_from_slice(&words.map(u64::to_le_bytes).concat()[..length]);
            let (low, high) = first(words[0], words[1], length);
            prop_assert_eq!([low.to_le_bytes(), high.to_le_bytes()].concat(), cut);
        }
    }

    #[test]
    fn the_end_is_padded() {
        // SAFETY: every machine has what this asks for.
        assert_eq!(unsafe { Portable::at(b"ab c", 1) }, Masks { word: 0b101, stop: 0, beyond: 0 });
    }
}
