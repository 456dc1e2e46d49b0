//! Names of elements as numbers, and tables from such numbers to what a consumer makes of an element.
//!
//! Every element that means something special has a name of at most eight bytes (but `plaintext`), so its
//! lower-case form fits one `u64` and a comparison is one instruction. A [`NameTable`] answers for a few
//! dozen names with one multiplication and one load, from a perfect hash that is searched at compile time; on
//! manuals it is as fast as a `match` over the same names, and it does not get slower with more of them.

/// The name of a tag as written, with a key that makes comparing it cheap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Name<'a> {
    pub raw: &'a str,
    /// [`key`] of the name: equal for names that differ only in case; 0 for names that have none.
    pub key: u64,
}

impl<'a> Name<'a> {
    /// The name that stands in `html` from `start` to `end`, which is at least one byte.
    #[inline(always)]
    pub(super) fn at(html: &'a str, start: usize, end: usize) -> Self {
        Self { raw: &html[start..end], key: key_at(html.as_bytes(), start, end) }
    }

    /// Whether this is the element `name`, given in any case.
    pub fn is(&self, name: &str) -> bool {
        self.raw.eq_ignore_ascii_case(name)
    }
}

/// Up to eight bytes of a name in lower case, packed into one number; 0 for longer names and those that end
/// in NUL.
///
/// For a name of letters and digits, as all elements of HTML have, no other name has its key except in other
/// case.
///
/// ```
/// use neardup_core::html::names::key;
///
/// assert_eq!(key(b"ScRiPt"), key(b"script"));
/// assert_ne!(key(b"b"), key(b"i"));
/// assert_eq!(key(b"blockquote"), 0);
/// ```
pub const fn key(name: &[u8]) -> u64 {
    if name.len() > 8 {
        return 0;
    }
    let mut packed = 0;
    let mut at = name.len();
    while at > 0 {
        at -= 1;
        packed = packed << 8 | name[at] as u64;
    }
    finished(packed, name.len())
}

/// The key of the name whose bytes are the lowest `length` of `packed`, the others being 0.
#[inline(always)]
const fn finished(packed: u64, length: usize) -> u64 {
    // A NUL at the end would be lost in the number: `b` and `b\0` are two names.
    if length == 0 || packed >> (8 * (length - 1)) == 0 {
        return 0;
    }
    // Bit 5 set in every byte that has bit 6: all letters become lower case, and nothing else becomes a
    // letter.
    packed | (packed & 0x4040_4040_4040_4040) >> 1
}

/// [`key`] of `bytes[start..end]`, all bytes at once where the input goes on far enough.
#[inline(always)]
pub(super) fn key_at(bytes: &[u8], start: usize, end: usize) -> u64 {
    let length = end - start;
    if length > 8 || length == 0 {
        return 0;
    }
    match bytes[start..].first_chunk::<8>() {
        Some(window) => finished(u64::from_le_bytes(*window) & (u64::MAX >> (64 - 8 * length)), length),
        None => key(&bytes[start..end]),
    }
}

/// A value for each of a few dozen names of at most eight bytes, and another for all other names. `SLOTS` is a power of two,
/// some four times the names or more.
#[derive(Clone, Copy, Debug)]
pub struct NameTable<T, const SLOTS: usize = 128> {
    multiplier: u64,
    keys: [u64; SLOTS],
    values: [T; SLOTS],
    other: T,
}

impl<T: Copy, const SLOTS: usize> NameTable<T, SLOTS> {
    /// Builds the table of groups of names; meant for constants, where names that are too long or repeated fail to compile.
    ///
    /// ```
    /// use neardup_core::html::names::{NameTable, key};
    ///
    /// const LEVELS: NameTable<u8> = NameTable::new(&[(&["title", "h1"], 1), (&["h2"], 2)], 0);
    /// assert_eq!(LEVELS.get(key(b"H1")), 1);
    /// assert_eq!(LEVELS.get(key(b"blockquote")), 0);
    /// ```
    pub const fn new(groups: &[(&[&str], T)], other: T) -> Self {
        // Odd multipliers, tried in turn: with few names for their slots, one in some tens has no collision.
        let mut multiplier: u64 = 0x9E37_79B9_7F4A_7C15;
        let mut tries = 0;
        while tries < 20_000 {
            let mut table = Self { multiplier, keys: [0; SLOTS], values: [other; SLOTS], other };
            if table.fill(groups) {
                return table;
            }
            multiplier = multiplier.wrapping_mul(0xD134_2543_DE82_EF95).wrapping_add(2) | 1;
            tries += 1;
        }
        panic!("too many names for a table")
    }

    /// Puts the names of each group in; false if two of them want one slot.
    const fn fill(&mut self, groups: &[(&[&str], T)]) -> bool {
        let (mut group, mut at) = (0, 0);
        while group < groups.len() {
            let (names, value) = &groups[group];
            if at == names.len() {
                (group, at) = (group + 1, 0);
                continue;
            }
            let packed = key(names[at].as_bytes());
            assert!(packed != 0, "a name in a table has one to eight bytes");
            let slot = self.slot(packed);
            if self.keys[slot] != 0 {
                assert!(self.keys[slot] != packed, "a name stands in a table once");
                return false;
            }
            (self.keys[slot], self.values[slot]) = (packed, *value);
            at += 1;
        }
        true
    }

    #[inline(always)]
    const fn slot(&self, name_key: u64) -> usize {
        (name_key.wrapping_mul(self.multiplier) >> (64 - SLOTS.ilog2())) as usize
    }

    /// The value of the name with this [`key`]. A name without key (0) is in no table.
    #[inline(always)]
    pub const fn get(&self, name_key: u64) -> T {
        let slot = self.slot(name_key);
        if self.keys[slot] == name_key && name_key != 0 { self.values[slot] } else { self.other }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_fast_key_is_the_plain_one(
            before in "[ -~]{0,3}",
            name in "[bB1]{1,2}\u{0}?|[A-Za-z@\\[`{é\u{0}0-9-]{1,12}",
            after in "[ -~]{0,9}",
        ) {
            let html = format!("{before}{name}{after}");
            let found = Name::at(&html, before.len(), before.len() + name.len());
            prop_assert_eq!(found.key, key(name.as_bytes()));
            prop_assert!(found.is(&name.to_ascii_uppercase()));
            prop_assert_eq!(found.key == key(b"b1"), found.is("b1"));
        }
    }
}
