//! How small a text becomes, alone or behind another: what compression distances are made of (Cilibrasi and Vitányi
//! 2005; Huffman et al. 2007 §3.2.1).
//!
//! A compressor describes what it has seen before by pointing back at it, so the size of AB says how much of B is in A.
//! It sees only so far back: [`Method::Gzip`] (deflate, level 9, as the paper) 32 KiB, [`Method::Wide`] (zstd) as far
//! as the text is long. Sizes are comparable only if they come from one implementation: deflate is stock zlib (zlib-ng
//! and libdeflate give other sizes at the same level), zstd the release that is compiled in; both are built from source
//! and pinned. Cost: one compression of both texts.

use flate2::{Compress, Compression, FlushCompress, Status};
use zstd::bulk::Compressor;
use zstd::zstd_safe::{CParameter, compress_bound};

/// How far back gzip sees: its window of 32 KiB without the 262 bytes that zlib keeps for looking ahead. A text must not
/// be longer, or the second of two is not compared with the first.
pub const GZIP_WINDOW: usize = (32 << 10) - 262;
/// Texts up to this length are compared by [`Method::Wide`]: two of them fit its widest window.
pub const WIDE_WINDOW: usize = 8 << 20;

const GZIP_LEVEL: u32 = 9;
/// The header and the checksum of a gzip member.
const GZIP_FRAME: usize = 18;
const WIDE_LEVEL: i32 = 9;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    Gzip,
    Wide,
}

impl Method {
    /// The longest text that it can compare with another.
    pub fn longest(self) -> usize {
        match self {
            Self::Gzip => GZIP_WINDOW,
            Self::Wide => WIDE_WINDOW,
        }
    }
}

/// Measures one text after another with the same buffers.
pub struct Sizer {
    method: Method,
    deflate: Compress,
    zstd: Option<Compressor<'static>>,
    text: Vec<u8>,
    out: Vec<u8>,
}

impl std::fmt::Debug for Sizer {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Sizer").field("method", &self.method).finish_non_exhaustive()
    }
}

impl Sizer {
    pub fn new(method: Method) -> Self {
        Self {
            method,
            deflate: Compress::new(Compression::new(GZIP_LEVEL), false),
            zstd: None,
            text: Vec::new(),
            out: Vec::new(),
        }
    }

    /// The compressed size of `first` followed by `second`; none if one of them is too long to be compared, or the
    /// compressor fails (it has no memory left).
    pub fn size(&mut self, first: &[u8], second: &[u8]) -> Option<usize> {
        if first.len().max(second.len()) > self.method.longest() {
            return None;
        }
        self.text.clear();
        self.text.extend_from_slice(first);
        self.text.extend_from_slice(second);
        match self.method {
            Method::Gzip => self.gzip(),
            Method::Wide => self.wide(),
        }
    }

    fn gzip(&mut self) -> Option<usize> {
        // Longer than any output: one call does it all.
        self.out.resize(self.text.len() + self.text.len() / 8 + 128, 0);
        self.deflate.reset();
        let status = self.deflate.compress(&self.text, &mut self.out, FlushCompress::Finish).ok()?;
        (status == Status::StreamEnd).then(|| self.deflate.total_out() as usize + GZIP_FRAME)
    }

    fn wide(&mut self) -> Option<usize> {
        if self.zstd.is_none() {
            self.zstd = Some(Compressor::new(WIDE_LEVEL).ok()?);
        }
        let zstd = self.zstd.as_mut()?;
        // The window is as long as the text: the level alone would choose one that may be shorter.
        let bits = usize::BITS - self.text.len().leading_zeros();
        zstd.set_parameter(CParameter::WindowLog(bits.clamp(10, 24))).ok()?;
        self.out.resize(compress_bound(self.text.len()), 0);
        zstd.compress_to_buffer(&self.text, &mut self.out[..]).ok()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use proptest::prelude::*;

    use super::*;

    /// Words of a generator, so that texts compress like text and not like noise.
    fn words(seed: u64, bytes: usize) -> Vec<u8> {
        let mut state = seed;
        let mut text = Vec::new();
        while text.len() < bytes {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            write!(text, "{:x} ", state >> 40 & 0xFFF).unwrap();
        }
        text.truncate(bytes);
        text
    }

    fn distance(method: Method, a: &[u8], b: &[u8]) -> f64 {
        let mut sizer = Sizer::new(method);
        let [ab, aa, bb] = [(a, b), (a, a), (b, b)].map(|(a, b)| sizer.size(a, b).unwrap() as f64);
        (ab - aa).abs().max((ab - bb).abs()) / aa.max(bb)
    }

    #[test]
    fn gzip_sizes_are_those_of_a_gzip_writer() {
        for text in [&b""[..], b"a", &words(1, 5_000), &words(2, 60_000)] {
            let mut writer = flate2::write::GzEncoder::new(Vec::new(), Compression::new(9));
            writer.write_all(text).unwrap();
            let expected = writer.finish().unwrap().len();
            let (first, second) = text.split_at(text.len() / 2);
            assert_eq!(Sizer::new(Method::Gzip).size(first, second), Some(expected));
        }
    }

    /// These numbers move only if another compressor is compiled in.
    #[test]
    fn sizes_do_not_change_from_release_to_release() {
        let text = words(7, 20_000);
        let sizes = [Method::Gzip, Method::Wide].map(|method| Sizer::new(method).size(&text, &text).unwrap());
        assert_eq!(sizes, GOLDEN);
    }

    const GOLDEN: [usize; 2] = [10_867, 10_048];

    #[test]
    fn gzip_is_blind_beyond_its_window_and_the_wide_one_is_not() {
        let (a, b) = (words(1, 52_000), words(2, 52_000));
        assert!(distance(Method::Wide, &a, &b) > 0.4);
        assert!(distance(Method::Wide, &a, &a) == 0.0);
        assert_eq!(Sizer::new(Method::Gzip).size(&a, &b), None);
        assert!(distance(Method::Gzip, &a[..GZIP_WINDOW], &b[..GZIP_WINDOW]) > 0.4);
        let huge = vec![0; WIDE_WINDOW + 1];
        assert_eq!(Sizer::new(Method::Wide).size(&huge, b""), None);
    }

    proptest! {
        #[test]
        fn a_used_sizer_measures_like_a_new_one(
            texts in prop::collection::vec("[a-d <>/]{0,400}", 1..6), wide: bool,
        ) {
            let method = if wide { Method::Wide } else { Method::Gzip };
            let mut used = Sizer::new(method);
            for (first, second) in texts.iter().zip(texts.iter().rev()) {
                let new = Sizer::new(method).size(first.as_bytes(), second.as_bytes());
                prop_assert_eq!(used.size(first.as_bytes(), second.as_bytes()), new);
            }
        }
    }
}
