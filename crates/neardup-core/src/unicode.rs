//! What the tokeniser knows of a character: a letter or digit, a mark, of a script without spaces, its lower case.
//!
//! Two look-ups in the checked-in tables; they are part of the format (see [`crate::format`]).

use crate::unicode_tables::{BLOCKS, CLASSES, LOWER};
pub use crate::unicode_tables::{CASE_VERSION, UNICODE_VERSION};

const BLOCK_BITS: u32 = 7;
const NORMALISE: u8 = 8;
const UPPER: u8 = 16;

/// The part a character plays in a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Ends a term.
    Other,
    /// A letter or number.
    Word,
    /// A letter or number of a script written without spaces (Han, Kana, Thai, Khmer, Lao, Burmese).
    Unspaced,
    /// Belongs to the character before it.
    Mark,
    /// Soft hyphen: as if it were not there.
    Joiner,
}

#[derive(Clone, Copy, Debug)]
pub struct Class(u8);

impl Class {
    #[inline(always)]
    pub fn of(char: char) -> Self {
        let point = char as u32;
        let block = BLOCKS[(point >> BLOCK_BITS) as usize] as usize;
        Class(CLASSES[(block << BLOCK_BITS) | (point & ((1 << BLOCK_BITS) - 1)) as usize])
    }

    #[inline(always)]
    pub fn kind(self) -> Kind {
        match self.0 & 7 {
            1 => Kind::Word,
            2 => Kind::Unspaced,
            3 => Kind::Mark,
            4 => Kind::Joiner,
            _ => Kind::Other,
        }
    }

    /// Text that holds such a character may not be in normal form C.
    #[inline(always)]
    pub fn may_need_normalising(self) -> bool {
        self.0 & NORMALISE != 0
    }

    #[inline(always)]
    pub fn has_lower_case(self) -> bool {
        self.0 & UPPER != 0
    }
}

/// Appends the lower case of `char`.
#[inline(always)]
pub fn push_lower(char: char, class: Class, out: &mut String) {
    if !class.has_lower_case() {
        out.push(char);
    } else if char == 'İ' {
        out.push_str("i\u{307}");
    } else {
        let at = LOWER.binary_search_by_key(&(char as u32), |&(upper, _)| upper);
        out.push(at.ok().and_then(|at| char::from_u32(LOWER[at].1)).unwrap_or(char));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

    #[test]
    fn kinds() {
        for (char, kind) in [
            ('a', Kind::Word),
            ('7', Kind::Word),
            ('é', Kind::Word),
            ('한', Kind::Word),
            ('語', Kind::Unspaced),
            ('ー', Kind::Unspaced),
            ('ก', Kind::Unspaced),
            ('\u{301}', Kind::Mark),
            ('\u{ad}', Kind::Joiner),
            (' ', Kind::Other),
            ('’', Kind::Other),
            ('_', Kind::Other),
        ] {
            assert_eq!(Class::of(char).kind(), kind, "{char:?}");
        }
    }

    #[test]
    fn unflagged_characters_are_in_normal_form() {
        for char in '\0'..=char::MAX {
            if !Class::of(char).may_need_normalising() {
                assert_eq!(is_nfc_quick(std::iter::once(char)), IsNormalized::Yes, "{char:?}");
                assert!(std::iter::once(char).nfc().eq([char]), "{char:?}");
            }
        }
    }

    #[test]
    fn lower_case_is_a_fixed_point() {
        let mut lower = String::new();
        for char in '\0'..=char::MAX {
            lower.clear();
            push_lower(char, Class::of(char), &mut lower);
            assert!(lower.chars().all(|char| !Class::of(char).has_lower_case()), "{char:?}");
        }
    }
}
