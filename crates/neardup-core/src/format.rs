//! The constants of the fingerprint format, in one place.
//!
//! Two runs may be compared, and an index may be extended, only if all of these agree. Changing any of them, or
//! the Unicode tables, the public suffix list or the normal form (pinned in `Cargo.toml`), is a new
//! [`FORMAT_VERSION`]; golden vectors in the tests notice a change that was not meant.

/// Written into every output and index; a mismatch is an error, never a silent difference.
pub const FORMAT_VERSION: u32 = 3;

/// Pages with fewer tokens take part in identity sets only.
pub const MIN_TOKENS: usize = 8;

/// A URL scheme in running text is at most this long, so that looking for one costs a bounded look ahead.
pub const LONGEST_SCHEME: usize = 32;

/// Seeds of the independent hash families: one stream of [`splitmix`] each.
pub const SEED_TERM: u64 = 0x6e65_6172_6475_7031;
pub const SEED_SHINGLE: u64 = 0x7368_696e_676c_6531;
pub const SEED_MINIMA: u64 = 0x6d69_6e69_6d61_3834;
pub const SEED_SUPERSHINGLE: u64 = 0x7375_7065_7273_6831;
pub const SEED_PROJECTION: u64 = 0x7072_6f6a_6563_7431;
pub const SEED_IDENTITY: u64 = 0x6964_656e_7469_7479;
pub const SEED_BREAKPOINT: u64 = 0x6272_6561_6b70_7431;
pub const SEED_CHUNK: u64 = 0x6368_756e_6b73_3031;
pub const SEED_ANCHOR: u64 = 0x616e_6368_6f72_3031;
pub const SEED_BYTES: u64 = 0x6279_7465_7368_3031;
pub const SEED_RANDOM: u64 = 0x7261_6e64_6f6d_3031;
pub const SEED_ONE_PERMUTATION: u64 = 0x6f6e_6570_6572_6d31;
pub const SEED_WEIGHTED: u64 = 0x7765_6967_6874_6564;
pub const SEED_STABLE: u64 = 0x7073_7461_626c_6531;
pub const SEED_LEXICON: u64 = 0x6c65_7869_636f_6e31;
pub const SEED_FUZZY: u64 = 0x6675_7a7a_7966_7031;
pub const SEED_LANES: u64 = 0x6262_6974_6d69_6e31;
pub const SEED_CONTENT: u64 = 0x636f_6e74_656e_7431;
pub const SEED_REPEATS: u64 = 0x7370_6578_7265_7031;
pub const SEED_SATURATION: u64 = 0x7361_7475_7261_7431;
pub const SEED_TERMS: u64 = 0x7465_726d_7365_7431;
pub const SEED_RABIN: u64 = 0x7261_6269_6e6d_6f31;
pub const SEED_PARAGRAPH: u64 = 0x7061_7261_6772_6131;

/// The `index`-th value of the stream that starts at `seed` (Steele, Lea and Flood's SplitMix64).
pub const fn splitmix(seed: u64, index: u64) -> u64 {
    let mut z = seed.wrapping_add((index + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splitmix_follows_its_published_sequence() {
        // First outputs of SplitMix64 seeded with 1234567, as published with the algorithm.
        assert_eq!(splitmix(1_234_567, 0), 6_457_827_717_110_365_317);
        assert_eq!(splitmix(1_234_567, 1), 3_203_168_211_198_807_973);
    }
}
