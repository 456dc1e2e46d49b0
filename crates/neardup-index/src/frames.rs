//! A journal, read byte by byte before the store opens it.
//!
//! fjall writes each commit as a frame: how many items and the commit's sequence number, the items, a checksum of the
//! items, and four bytes that never change. It takes the first frame that it cannot read for the end of the journal, cuts
//! the file there, and goes on; so one flipped bit takes away all commits behind it. And the number in front is not part
//! of its checksum. Here frames are read without changing anything, and each must fit the one before: the last item of a
//! commit is a [`Link`] with its number, the sequence number and a digest of the commit before.
//!
//! What cannot be read is a *torn end* only if it looks like one. A process that was killed leaves the beginning of a
//! frame and nothing behind it. A machine that lost power may also leave out sectors, which are zeros then. Anything else
//! was written whole and has changed since: damage.

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

const START: u8 = 1;
const ITEM: u8 = 2;
const END: u8 = 3;
const MAGIC: &[u8] = b"FJL\x03";
/// Of the end of a frame: its tag, a checksum, and what never changes.
const END_BYTES: usize = 1 + 8 + MAGIC.len();
/// What a disk writes whole or not at all.
const SECTOR: usize = 512;
/// Sequence numbers that the store takes for itself between two commits are fewer than this.
const STEP: u64 = 1 << 32;

/// The key of the last item of a commit.
pub const CHAIN: &[u8] = b"chain";

/// How a commit fits the one before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Link {
    pub number: u64,
    /// The least sequence number it can have: one more than that of the commit before, whose digest comes next.
    pub least: u64,
    pub previous: u64,
}

impl Link {
    pub fn encode(self) -> [u8; 24] {
        let mut bytes = [0; 24];
        for (place, number) in bytes.chunks_exact_mut(8).zip([self.number, self.least, self.previous]) {
            place.copy_from_slice(&number.to_le_bytes());
        }
        bytes
    }

    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; 24] = bytes.try_into().ok()?;
        let at = |at: usize| u64::from_le_bytes(bytes[8 * at..8 * at + 8].try_into().expect("eight bytes"));
        Some(Link { number: at(0), least: at(1), previous: at(2) })
    }
}

/// The digest of a commit, one item more.
#[inline]
pub fn fold(digest: u64, key: &[u8], value: &[u8]) -> u64 {
    xxh3_64_with_seed(value, xxh3_64_with_seed(key, digest))
}

/// A commit that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    pub link: Link,
    pub sequence: u64,
    pub digest: u64,
    /// Where the next one begins.
    pub end: usize,
}

impl Frame {
    /// The link of the next commit.
    pub fn next(&self) -> Link {
        Link { number: self.link.number + 1, least: self.sequence + 1, previous: self.digest }
    }

    /// What is wrong with the place of a frame behind another, or behind none that is still there.
    fn misplaced(&self, last: Option<&Frame>) -> Option<&'static str> {
        let Link { number, least, .. } = self.link;
        if last.is_some_and(|last| number != last.link.number + 1) {
            Some("does not have the next number")
        } else if last.is_some_and(|last| self.link != last.next()) {
            Some("does not continue the commit before it")
        } else if self.sequence < least || self.sequence - least >= STEP {
            Some("has a sequence number out of order")
        } else {
            None
        }
    }
}

/// Why a frame cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// What is there fits, and then it ends.
    Cut,
    Wrong(&'static str),
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], Fault> {
        let end = self.at.checked_add(count).ok_or(Fault::Cut)?;
        let taken = self.bytes.get(self.at..end).ok_or(Fault::Cut)?;
        self.at = end;
        Ok(taken)
    }

    fn number(&mut self, bytes: usize) -> Result<u64, Fault> {
        let mut whole = [0; 8];
        whole[..bytes].copy_from_slice(self.take(bytes)?);
        Ok(u64::from_le_bytes(whole))
    }

    fn tag(&mut self, tag: u8) -> Result<(), Fault> {
        if self.take(1)?[0] == tag { Ok(()) } else { Err(Fault::Wrong("has a part that is none")) }
    }
}

fn frame(bytes: &[u8], at: usize) -> Result<Frame, Fault> {
    let mut reader = Reader { bytes, at };
    reader.tag(START)?;
    let count = reader.number(4)?;
    let sequence = reader.number(8)?;
    let from = reader.at;
    let mut digest = 0;
    let mut link = None;
    for _ in 0..count {
        reader.tag(ITEM)?;
        // What kind of item it is, whether it is compressed, and its table.
        let (kind, compressed, _) = (reader.number(1)?, reader.number(1)?, reader.number(8)?);
        let key_bytes = reader.number(2)? as usize;
        let (value_bytes, stored_bytes) = (reader.number(4)?, reader.number(4)?);
        if kind > 2 || compressed != 0 || value_bytes != stored_bytes {
            return Err(Fault::Wrong("has an item that is none"));
        }
        let (key, value) = (reader.take(key_bytes)?, reader.take(value_bytes as usize)?);
        link = if key == CHAIN { Link::decode(value) } else { None };
        digest = fold(digest, key, value);
    }
    let items = &bytes[from..reader.at];
    reader.tag(END)?;
    let checksum = reader.number(8)?;
    // As far as it goes: an end that is cut off is no wrong one.
    let rest = &bytes[reader.at..];
    if rest[..rest.len().min(MAGIC.len())] != MAGIC[..rest.len().min(MAGIC.len())] {
        return Err(Fault::Wrong("has no end"));
    }
    reader.take(MAGIC.len())?;
    if xxh3_64(items) != checksum {
        return Err(Fault::Wrong("does not fit its checksum"));
    }
    let link = link.ok_or(Fault::Wrong("has no number"))?;
    Ok(Frame { link, sequence, digest, end: reader.at })
}

/// How a journal goes on behind the last commit that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rest {
    Nothing,
    /// A commit that was never written to its end.
    Torn,
    /// A commit that was written and has changed, or stands in the wrong place.
    Damaged(&'static str),
}

/// What a journal holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Read {
    pub first: Option<Frame>,
    pub last: Option<Frame>,
    /// Where the last commit that can be read ends, and what is behind it.
    pub end: usize,
    pub rest: Rest,
}

/// Reads the commits of a journal, which go on from the last one of the journal before it. What is behind the last byte
/// that is not 0 was never written.
pub fn read(bytes: &[u8], before: Option<Frame>) -> Read {
    let written = bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    let bytes = &bytes[..written];
    let mut read = Read { first: None, last: before, end: 0, rest: Rest::Nothing };
    while read.end < bytes.len() {
        match frame(bytes, read.end) {
            Ok(frame) => {
                if let Some(what) = frame.misplaced(read.last.as_ref()) {
                    read.rest = Rest::Damaged(what);
                    break;
                }
                read.first.get_or_insert(frame);
                read.end = frame.end;
                read.last = Some(frame);
            }
            Err(fault) => {
                read.rest = rest(bytes, read.end, fault);
                break;
            }
        }
    }
    read
}

fn rest(bytes: &[u8], at: usize, fault: Fault) -> Rest {
    let whole = (at..bytes.len()).find(|&end| {
        bytes[end] == END && bytes.get(end + END_BYTES - MAGIC.len()..end + END_BYTES) == Some(MAGIC)
    });
    if lacks_sector(bytes, at, whole.unwrap_or(bytes.len())) {
        return Rest::Torn;
    }
    match (fault, whole) {
        (Fault::Cut, None) => Rest::Torn,
        (Fault::Cut, Some(_)) => Rest::Damaged("is longer than it can be"),
        (Fault::Wrong(what), _) => Rest::Damaged(what),
    }
}

/// Whether a sector in between was never written; of the first one, what is not part of the commit before.
fn lacks_sector(bytes: &[u8], from: usize, to: usize) -> bool {
    let mut start = from;
    while start < to {
        let end = (start / SECTOR + 1) * SECTOR;
        // A single byte that is 0 may have been flipped.
        if end <= to && end - start > 1 && bytes[start..end].iter().all(|&byte| byte == 0) {
            return true;
        }
        start = end;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Appends a commit as fjall writes it.
    fn append(
        bytes: &mut Vec<u8>,
        last: Option<Frame>,
        sequence: u64,
        items: &[(Vec<u8>, Vec<u8>)],
    ) -> Frame {
        let link = last.map_or(Link { number: 1, ..Link::default() }, |last| last.next());
        let chain = [(CHAIN.to_vec(), link.encode().to_vec())];
        bytes.push(START);
        bytes.extend((items.len() as u32 + 1).to_le_bytes());
        bytes.extend(sequence.to_le_bytes());
        let from = bytes.len();
        let mut digest = 0;
        for (key, value) in items.iter().chain(&chain) {
            bytes.extend([ITEM, 0, 0]);
            bytes.extend(7u64.to_le_bytes());
            bytes.extend((key.len() as u16).to_le_bytes());
            bytes.extend((value.len() as u32).to_le_bytes());
            bytes.extend((value.len() as u32).to_le_bytes());
            bytes.extend(key.iter().chain(value));
            digest = fold(digest, key, value);
        }
        let checksum = xxh3_64(&bytes[from..]);
        bytes.push(END);
        bytes.extend(checksum.to_le_bytes());
        bytes.extend(MAGIC);
        Frame { link, sequence, digest, end: bytes.len() }
    }

    fn items() -> impl Strategy<Value = Vec<(Vec<u8>, Vec<u8>)>> {
        let item =
            (proptest::collection::vec(any::<u8>(), 1..9), proptest::collection::vec(any::<u8>(), 0..200));
        proptest::collection::vec(item, 0..12)
    }

    /// A journal of these commits, and where each ends.
    fn journal(commits: &[Vec<(Vec<u8>, Vec<u8>)>]) -> (Vec<u8>, Vec<usize>) {
        let (mut bytes, mut last, mut ends) = (Vec::new(), None, vec![0]);
        for (number, items) in commits.iter().enumerate() {
            last = Some(append(&mut bytes, last, 3 * number as u64 + 5, items));
            ends.push(bytes.len());
        }
        (bytes, ends)
    }

    proptest! {
        #[test]
        fn a_whole_journal_is_read_to_its_end(commits in proptest::collection::vec(items(), 0..6), zeros in 0usize..2000) {
            let (mut bytes, ends) = journal(&commits);
            bytes.extend(vec![0; zeros]);
            let read = read(&bytes, None);
            prop_assert_eq!((read.end, read.rest), (ends[commits.len()], Rest::Nothing));
            prop_assert_eq!(read.last.map_or(0, |last| last.link.number), commits.len() as u64);
        }

        #[test]
        fn a_flipped_bit_is_never_a_torn_end(
            commits in proptest::collection::vec(items(), 1..6), at: prop::sample::Index, zeros in 0usize..2000,
        ) {
            let (mut bytes, ends) = journal(&commits);
            let bit = at.index(8 * bytes.len());
            bytes[bit / 8] ^= 1 << (bit % 8);
            bytes.extend(vec![0; zeros]);
            let read = read(&bytes, None);
            let whole = (read.end, read.rest) == (ends[commits.len()], Rest::Nothing);
            // A sequence number that stays between its neighbours changes nothing.
            let start = ends.iter().rev().find(|&&end| end <= bit / 8).unwrap();
            let harmless = (5..13).contains(&(bit / 8 - start));
            prop_assert!(matches!(read.rest, Rest::Damaged(_)) || (whole && harmless), "{:?}", read);
        }

        #[test]
        fn what_a_kill_leaves_is_torn(
            commits in proptest::collection::vec(items(), 1..6), at: prop::sample::Index, zeros in 0usize..2000,
        ) {
            let (mut bytes, ends) = journal(&commits);
            bytes.truncate(at.index(bytes.len()));
            let whole = *ends.iter().rev().find(|&&end| end <= bytes.len()).unwrap();
            let nothing = bytes[whole..].iter().all(|&byte| byte == 0);
            bytes.extend(vec![0; zeros]);
            let read = read(&bytes, None);
            prop_assert_eq!((read.end, read.rest), (whole, if nothing { Rest::Nothing } else { Rest::Torn }));
        }

        #[test]
        fn a_sector_that_was_never_written_tears(commits in proptest::collection::vec(items(), 1..6), at: prop::sample::Index) {
            let (mut bytes, ends) = journal(&commits);
            let sectors = bytes.len() / SECTOR;
            prop_assume!(sectors > 0);
            let from = SECTOR * at.index(sectors);
            bytes[from..from + SECTOR].fill(0);
            let read = read(&bytes, None);
            let whole = *ends.iter().rev().find(|&&end| end <= from).unwrap();
            prop_assert_eq!(read.end, whole);
            // What is left of a commit before its last sector may be too little to tell.
            prop_assert!(read.rest != Rest::Nothing || bytes[whole..].iter().all(|&byte| byte == 0));
        }

        #[test]
        fn any_bytes_are_read_without_a_panic(bytes: Vec<u8>) {
            let _ = read(&bytes, None);
        }
    }

    #[test]
    fn a_commit_out_of_place_is_damage() {
        let mut bytes = Vec::new();
        let first = append(&mut bytes, None, 1, &[]);
        let second = append(&mut bytes, Some(first), 2, &[]);
        append(&mut bytes, Some(second), 3, &[]);
        let without = [&bytes[..first.end], &bytes[second.end..]].concat();
        assert_eq!(read(&without, None).rest, Rest::Damaged("does not have the next number"));
        let mut other = Vec::new();
        let first_of_other = append(&mut other, None, 1, &[(vec![1], vec![2])]);
        append(&mut other, Some(first_of_other), 2, &[]);
        let mixed = [&bytes[..first.end], &other[first_of_other.end..]].concat();
        assert_eq!(read(&mixed, None).rest, Rest::Damaged("does not continue the commit before it"));
    }
}
