//! What the tokeniser knows of a character: a letter or digit, a mark, of a script without spaces, its case folding, whether
//! it may stand in an address.
//!
//! Two look-ups in the checked-in tables; they are part of the format (see [`crate::format`]).

use unicode_normalization::UnicodeNormalization;

use crate::unicode_tables::{BLOCKS, CLASSES, FOLDINGS};
pub use crate::unicode_tables::{CASE_VERSION, UNICODE_VERSION};

const BLOCK_BITS: u32 = 7;
const NORMALISE: u8 = 8;
const FOLDS: u8 = 16;
const ENDS_URL: u8 = 32;
const GLUED: u8 = 64;

const DOT_ABOVE: char = '\u{307}';

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
    /// Nothing that is seen: soft hyphen, zero-width and control characters. As if it were not there.
    Nothing,
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
            4 => Kind::Nothing,
            _ => Kind::Other,
        }
    }

    /// Text that holds such a character may not be in normal form C.
    #[inline(always)]
    pub fn may_need_normalising(self) -> bool {
        self.0 & NORMALISE != 0
    }

    #[inline(always)]
    pub fn folds(self) -> bool {
        self.0 & FOLDS != 0
    }

    /// Never part of an address as people write it.
    #[inline(always)]
    pub fn ends_url(self) -> bool {
        self.0 & ENDS_URL != 0
    }

    /// A letter of a script whose words follow an address without a space: those without spaces, and Hangul.
    #[inline(always)]
    pub fn is_glued(self) -> bool {
        self.0 & GLUED != 0
    }
}

/// Appends the full case folding of `char`.
#[inline(always)]
fn push_folded(char: char, class: Class, out: &mut String) {
    if !class.folds() {
        return out.push(char);
    }
    match FOLDINGS.binary_search_by_key(&char, |&(folds, _)| folds) {
        Ok(at) => out.push_str(FOLDINGS[at].1),
        Err(_) => out.push(char),
    }
}

/// Appends `text` as it stands in a term: without what is not seen, in normal form C, its case folded. `normalise` says
/// whether any character of it may need normalising.
///
/// ```
/// use neardup_core::unicode::push_term;
///
/// let term = |text: &str| {
///     let mut term = String::new();
///     push_term(text, true, &mut term);
///     term
/// };
/// assert_eq!(term("ΟΔΥΣΣΕΥΣ"), term("Οδυσσεύς").replace('ύ', "υ"));
/// assert_eq!(term("STRAẞE"), "strasse");
/// ```
pub fn push_term(text: &str, normalise: bool, out: &mut String) {
    let seen = text.chars().filter(|&char| Class::of(char).kind() != Kind::Nothing);
    if !normalise {
        return seen.for_each(|char| push_folded(char, Class::of(char), out));
    }
    let (from, mut folded) = (out.len(), false);
    for char in seen.nfc() {
        let class = Class::of(char);
        // What İ becomes under other programs' lower case, i and a dot above, is i as well.
        let dropped = char == DOT_ABOVE && out[from..].ends_with('i');
        folded |= dropped || class.folds();
        if !dropped {
            push_folded(char, class, out);
        }
    }
    // J with a caron has no form of its own, j with a caron has.
    if folded {
        let term: String = out[from..].nfc().collect();
        out.truncate(from);
        out.push_str(&term);
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
            ('\u{ad}', Kind::Nothing),
            ('\u{200b}', Kind::Nothing),
            ('\u{200d}', Kind::Nothing),
            ('\u{fe0f}', Kind::Nothing),
            ('\0', Kind::Nothing),
            ('\u{7f}', Kind::Nothing),
            ('\n', Kind::Other),
            ('\u{92}', Kind::Other),
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

    fn term(text: &str) -> String {
        let mut term = String::new();
        push_term(text, text.chars().any(|char| Class::of(char).may_need_normalising()), &mut term);
        term
    }

    #[test]
    fn a_term_is_a_fixed_point_in_normal_form() {
        for char in '\0'..=char::MAX {
            let once = term(&char.to_string());
            assert_eq!(term(&once), once, "{char:?}");
            assert!(once.nfc().eq(once.chars()), "{char:?}");
        }
    }

    #[test]
    fn scripts_without_spaces_have_no_case() {
        for char in '\0'..=char::MAX {
            let class = Class::of(char);
            assert!(class.kind() != Kind::Unspaced || !class.folds(), "{char:?}");
        }
    }

    #[test]
    fn upper_and_lower_case_give_one_term() {
        // The standard library is newer than the format: it knows the case of some letters that this does not.
        let newer = |char: char| matches!(char, '\u{1c89}'..='\u{1c8a}' | '\u{a7cb}'..='\u{a7dc}' | '\u{10d50}'..='\u{10d85}' | '\u{16ea0}'..='\u{16ed3}');
        for char in '\0'..=char::MAX {
            for (upper, lower) in [(char.to_uppercase().to_string(), char.to_lowercase().to_string())] {
                if upper.chars().chain(lower.chars()).any(newer) {
                    continue;
                }
                let own = term(&format!("x{char}y"));
                assert_eq!(own, term(&format!("X{upper}Y")), "{char:?}");
                assert_eq!(own, term(&format!("x{lower}y")), "{char:?}");
            }
        }
    }
}
