//! One member of a compressed file, unpacked step by step: gzip by zlib-rs, zstd, xz and bzip2.
//!
//! A step takes some stored bytes and appends what they unpack to, at most [`PIECE`] bytes. Of a step that fails, gzip gives
//! what came before the fault, for it is decoded byte by byte; the others decode blocks, and of a damaged block nothing is
//! worth having.

use std::fmt;

use liblzma::stream as lzma;
use zlib_rs::{Inflate, InflateFlush};
use zstd_safe::{DCtx, DParameter, InBuffer, OutBuffer};

use crate::error::{Error, Result};

/// Most plain bytes of a step.
pub const PIECE: usize = 1 << 20;

/// Memory that an xz stream may ask for: twice what `xz -9` takes.
const XZ_BYTES: u64 = 128 << 20;

/// The largest zstd window, as a power of two: the largest that zstd's own `--long` can write.
const ZSTD_WINDOW: u32 = 31;

/// How a file is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    None,
    Gzip,
    Zstd,
    Xz,
    Bzip2,
}

/// What bzip2's first block begins with, or the end of an empty stream, behind the magic and a digit.
const BZIP2_BLOCKS: [&[u8]; 2] = [b"1AY&SY", b"\x17rE8P\x90"];

impl Compression {
    /// First bytes of a file that show how it is compressed.
    pub const HEAD_BYTES: usize = 10;

    /// The compression that a file's first bytes stand for.
    ///
    /// ```
    /// use neardup_engine::reader::codec::Compression;
    ///
    /// assert_eq!(Compression::of(b"{\n  "), Compression::None);
    /// assert_eq!(Compression::of(b"\x1f\x8b\x08\0"), Compression::Gzip);
    /// ```
    pub fn of(head: &[u8]) -> Self {
        if head.starts_with(Self::Gzip.magic()) {
            Self::Gzip
        } else if head.starts_with(Self::Xz.magic()) {
            Self::Xz
        } else if head.starts_with(Self::Bzip2.magic())
            && head.get(3).is_some_and(u8::is_ascii_digit)
            && head.get(4..10).is_some_and(|block| BZIP2_BLOCKS.contains(&block))
        {
            Self::Bzip2
        } else if head.starts_with(Self::Zstd.magic()) || is_skippable(head) {
            Self::Zstd
        } else {
            Self::None
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
            Self::Xz => "xz",
            Self::Bzip2 => "bzip2",
        }
    }

    /// What a member begins with.
    pub fn magic(self) -> &'static [u8] {
        match self {
            Self::None => b"",
            Self::Gzip => b"\x1f\x8b\x08",
            Self::Zstd => b"\x28\xb5\x2f\xfd",
            Self::Xz => b"\xfd7zXZ\0",
            Self::Bzip2 => b"BZh",
        }
    }

    /// What a member is called where the file ends inside of one.
    pub fn member(self) -> &'static str {
        match self {
            Self::None => "a file",
            Self::Gzip => "a gzip member",
            Self::Zstd => "a zstd frame",
            Self::Xz => "an xz stream",
            Self::Bzip2 => "a bzip2 stream",
        }
    }
}

/// Whether a zstd frame begins with these bytes that is to be passed over.
pub fn is_skippable(head: &[u8]) -> bool {
    matches!(head, [first, 0x2A, 0x4D, 0x18, ..] if first & 0xF0 == 0x50)
}

/// What a step came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Stored bytes that were used up.
    pub used: usize,
    /// Whether the member is at its end.
    pub done: bool,
}

/// A decoder of one member.
pub enum Codec {
    Gzip(Box<Inflate>),
    Xz(lzma::Stream),
    Bzip2(bzip2::Decompress),
    Zstd(ZstdFrames),
}

impl fmt::Debug for Codec {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Gzip(_) => "Codec(gzip)",
            Self::Xz(_) => "Codec(xz)",
            Self::Bzip2(_) => "Codec(bzip2)",
            Self::Zstd(_) => "Codec(zstd)",
        })
    }
}

impl fmt::Debug for ZstdFrames {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("ZstdFrames")
    }
}

impl Codec {
    /// A decoder at the beginning of a member; `dictionary` is that of a file of zstd frames.
    pub fn new(compression: Compression, dictionary: Option<&[u8]>) -> Result<Self> {
        Ok(match compression {
            Compression::None => return Err(damaged("bytes that are not compressed")),
            Compression::Gzip => Self::inflate(true, 31),
            Compression::Xz => Self::Xz(lzma::Stream::new_stream_decoder(XZ_BYTES, 0).map_err(lzma_reason)?),
            Compression::Bzip2 => Self::Bzip2(bzip2::Decompress::new(false)),
            Compression::Zstd => Self::Zstd(ZstdFrames::new(dictionary)?),
        })
    }

    /// A decoder of gzip, zlib's format or raw deflate, as zlib's `inflateInit2` counts them.
    pub fn inflate(header: bool, window_bits: u8) -> Self {
        Self::Gzip(Box::new(Inflate::new(header, window_bits)))
    }

    /// Unpacks some of `given` behind what `out` holds; what is wrong with it.
    pub fn step(&mut self, given: &[u8], out: &mut Vec<u8>) -> Result<Step> {
        let length = out.len();
        out.reserve(PIECE);
        let spare = &mut out.spare_capacity_mut()[..PIECE];
        let (used, written, done) = match self {
            Self::Gzip(engine) => {
                let (before_in, before_out) = (engine.total_in(), engine.total_out());
                let status = engine.decompress_uninit(given, spare, InflateFlush::NoFlush);
                let used = (engine.total_in() - before_in) as usize;
                let written = (engine.total_out() - before_out) as usize;
                // A fault that is met behind good bytes is left in the message, and the call is called good.
                let done = match (engine.error_message(), status) {
                    // Its fast loop forgets what was wrong.
                    (Some("repeated call with bad state"), _) => Err(damaged("invalid code or distance")),
                    (Some(reason), _) => Err(damaged(reason)),
                    (None, Err(error)) => Err(damaged(error.as_str())),
                    (None, Ok(status)) => Ok(status == zlib_rs::Status::StreamEnd),
                };
                (used, written, done)
            }
            Self::Xz(engine) => {
                let (before_in, before_out) = (engine.total_in(), engine.total_out());
                let status = engine.process_uninit(given, spare, lzma::Action::Run);
                let used = (engine.total_in() - before_in) as usize;
                let written = (engine.total_out() - before_out) as usize;
                (used, written, status.map(|status| status == lzma::Status::StreamEnd).map_err(lzma_reason))
            }
            Self::Bzip2(engine) => {
                let (before_in, before_out) = (engine.total_in(), engine.total_out());
                let status = engine.decompress_uninit(given, spare);
                let used = (engine.total_in() - before_in) as usize;
                let written = (engine.total_out() - before_out) as usize;
                let reason = |_| damaged("Invalid data stream");
                (used, written, status.map(|status| status == bzip2::Status::StreamEnd).map_err(reason))
            }
            Self::Zstd(frames) => return frames.step(given, out),
        };
        let written = if done.is_ok() || matches!(self, Self::Gzip(_)) { written } else { 0 };
        // SAFETY: the decoder has written that many bytes of the spare capacity, from its beginning on.
        unsafe { out.set_len(length + written) };
        done.map(|done| Step { used, done })
    }
}

fn damaged(reason: &str) -> Error {
    Error::Damaged(reason.to_owned())
}

fn lzma_reason(error: lzma::Error) -> Error {
    damaged(match error {
        lzma::Error::Data => "Corrupt input data",
        lzma::Error::Options => "Invalid or unsupported options",
        lzma::Error::Format => "Input format not supported by decoder",
        lzma::Error::MemLimit => "Memory usage limit exceeded",
        lzma::Error::Mem => "out of memory",
        lzma::Error::NoCheck | lzma::Error::UnsupportedCheck => "Unsupported integrity check",
        lzma::Error::Program => "Internal error",
    })
}

/// A decoder of zstd frames, one after another with the same dictionary.
pub struct ZstdFrames {
    context: DCtx<'static>,
    /// The library writes to what is initialised only.
    scratch: Vec<u8>,
}

impl ZstdFrames {
    fn new(dictionary: Option<&[u8]>) -> Result<Self> {
        let mut context = DCtx::create();
        context.set_parameter(DParameter::WindowLogMax(ZSTD_WINDOW)).map_err(zstd_reason)?;
        if let Some(dictionary) = dictionary {
            context.load_dictionary(dictionary).map_err(zstd_reason)?;
        }
        Ok(Self { context, scratch: Vec::with_capacity(DCtx::out_size()) })
    }

    fn step(&mut self, given: &[u8], out: &mut Vec<u8>) -> Result<Step> {
        let before = out.len();
        let mut input = InBuffer::around(given);
        loop {
            self.scratch.clear();
            let mut output = OutBuffer::around(&mut self.scratch);
            let left = self.context.decompress_stream(&mut output, &mut input).map_err(|code| {
                out.truncate(before);
                zstd_reason(code)
            })?;
            let full = self.scratch.len() == self.scratch.capacity();
            out.extend_from_slice(&self.scratch);
            let used = input.pos();
            if left == 0 || !full && used == given.len() || out.len() - before >= PIECE {
                return Ok(Step { used, done: left == 0 });
            }
        }
    }
}

fn zstd_reason(code: usize) -> Error {
    damaged(zstd_safe::get_error_name(code))
}
