//! Framing: what comes out does not depend on how the bytes are cut into pieces, every record's block is what stands in
//! the file behind its header, and pages are made of any record.
#![no_main]

use std::convert::Infallible;

use libfuzzer_sys::fuzz_target;
use neardup_core::warc::framing::{Bounds, Framed, Framer};
use neardup_core::warc::pages::Pages;
use neardup_core::warc::plain::{Pieces, Plain, Supply};

struct Cut<'a> {
    pieces: std::slice::Chunks<'a, u8>,
    taken: u64,
}

impl Pieces for Cut<'_> {
    type Error = Infallible;

    fn next(&mut self, plain: &mut Plain) -> Result<Supply, Infallible> {
        let Some(piece) = self.pieces.next() else { return Ok(Supply::End) };
        plain.append(piece, self.taken, false);
        self.taken += piece.len() as u64;
        Ok(Supply::More)
    }

    fn taken(&self) -> u64 {
        self.taken
    }
}

fn frames(data: &[u8], size: usize, bounds: Bounds) -> Vec<String> {
    let mut pieces = Cut { pieces: data.chunks(size), taken: 0 };
    let mut framer = Framer::new(true, bounds);
    let mut pages = Pages::default();
    let mut found = Vec::new();
    while let Ok(Some(framed)) = framer.next(&mut pieces) {
        if let Framed::Record(record) = &framed {
            assert!(record.block.len() as u64 <= record.block_length);
            if let Some(stored) = record.stored {
                let whole = &data[stored.offset as usize..(stored.offset + stored.length) as usize];
                assert!(whole.starts_with(record.header));
            }
        }
        found.push(format!("{framed:?}"));
        pages.push(framed, found.len() as i64, 1 << 20);
    }
    found
}

fuzz_target!(|data: &[u8]| {
    let bounds = Bounds { block: 64, head: 16 };
    let whole = frames(data, data.len().max(1), bounds);
    for size in [1, 7, 64] {
        assert_eq!(frames(data, size, bounds), whole);
    }
});
