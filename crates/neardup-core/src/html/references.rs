//! Character references (`&amp;`, `&#228;`, `&#xE4;`) decoded by the rules of the HTML Standard (§13.2.5.72
//! to .80).
//!
//! Text between references is found with `memchr` and handed on whole. Numeric references follow the
//! standard's table for 0x80 to 0x9F (they mean windows-1252). A named reference is the *longest* known name
//! at that place, with or without its semicolon; in an attribute, a name without semicolon before `=` or a
//! letter or digit is text (`?a=1&copy=2` keeps its meaning). Names are looked up by narrowing a sorted table
//! one byte at a time: at most 32 bytes are looked at for an ampersand, so hostile input stays linear.

use std::sync::LazyLock;

use entities::ENTITIES;
use memchr::memchr;

/// What 0x80 to 0x9F mean when written as a number; `\0` marks the five that mean themselves.
const WINDOWS_1252: [char; 32] = [
    '\u{20AC}', '\0', '\u{201A}', '\u{0192}', '\u{201E}', '\u{2026}', '\u{2020}', '\u{2021}', '\u{02C6}',
    '\u{2030}', '\u{0160}', '\u{2039}', '\u{0152}', '\0', '\u{017D}', '\0', '\0', '\u{2018}', '\u{2019}',
    '\u{201C}', '\u{201D}', '\u{2022}', '\u{2013}', '\u{2014}', '\u{02DC}', '\u{2122}', '\u{0161}',
    '\u{203A}', '\u{0153}', '\0', '\u{017E}', '\u{0178}',
];

/// All names without their ampersand, sorted by bytes, and where the names with a given first byte begin.
struct Names {
    sorted: Vec<(&'static [u8], &'static str)>,
    first: [u16; 257],
}

static NAMES: LazyLock<Names> = LazyLock::new(|| {
    let mut sorted: Vec<_> =
        ENTITIES.iter().map(|entry| (&entry.entity.as_bytes()[1..], entry.characters)).collect();
    sorted.sort_unstable();
    let first =
        std::array::from_fn(|byte| sorted.partition_point(|(name, _)| usize::from(name[0]) < byte) as u16);
    Names { sorted, first }
});

/// The longest known name that `rest` begins with: its length and what it stands for.
fn longest_name(rest: &[u8]) -> Option<(usize, &'static str)> {
    // The names that make up nearly all references in real pages, without the table.
    match rest {
        [b'l', b't', b';', ..] => return Some((3, "<")),
        [b'g', b't', b';', ..] => return Some((3, ">")),
        [b'a', b'm', b'p', b';', ..] => return Some((4, "&")),
        [b'n', b'b', b's', b'p', b';', ..] => return Some((5, "\u{A0}")),
        [b'q', b'u', b'o', b't', b';', ..] => return Some((5, "\"")),
        _ => {}
    }
    let initial = usize::from(*rest.first()?);
    let names = &*NAMES;
    let mut range = &names.sorted[usize::from(names.first[initial])..usize::from(names.first[initial + 1])];
    let mut best = None;
    let mut length = 1;
    while let Some(&(name, characters)) = range.first() {
        // Sorted by bytes, the name that ends here comes before those that go on.
        if name.len() == length {
            best = Some((length, characters));
        }
        let Some(&next) = rest.get(length) else { break };
        let start = range.partition_point(|(name, _)| name.get(length).is_none_or(|&byte| byte < next));
        let end = start + range[start..].partition_point(|(name, _)| name[length] == next);
        range = &range[start..end];
        length += 1;
    }
    best
}

/// The character that a number stands for; numbers too large for `u32` come in saturated.
fn numbered(number: u32) -> char {
    match number {
        0 => '\u{FFFD}',
        0x80..=0x9F => match WINDOWS_1252[number as usize - 0x80] {
            '\0' => char::from(number as u8),
            mapped => mapped,
        },
        // Surrogates and what lies beyond Unicode.
        _ => char::from_u32(number).unwrap_or('\u{FFFD}'),
    }
}

/// Reads `#…` after an ampersand: the length read and the character.
fn numeric(rest: &[u8]) -> Option<(usize, char)> {
    let (start, radix) = if matches!(rest.get(1), Some(b'x' | b'X')) { (2, 16) } else { (1, 10) };
    let mut length = start;
    let mut number = 0_u32;
    while let Some(digit) = rest.get(length).and_then(|&byte| char::from(byte).to_digit(radix)) {
        number = number.saturating_mul(radix).saturating_add(digit);
        length += 1;
    }
    if length == start {
        return None;
    }
    if rest.get(length) == Some(&b';') {
        length += 1;
    }
    Some((length, numbered(number)))
}

/// Hands `raw` to `emit` in pieces, in order: text as written (`false`) and the decoded references (`true`).
/// Pieces may be any length but none is empty.
pub fn decode_pieces(raw: &str, in_attribute: bool, mut emit: impl FnMut(&str, bool)) {
    let bytes = raw.as_bytes();
    let mut text_start = 0;
    let mut at = 0;
    while let Some(offset) = memchr(b'&', &bytes[at..]) {
        let ampersand = at + offset;
        let rest = &bytes[ampersand + 1..];
        at = ampersand + 1;
        let mut buffer = [0; 4];
        let (length, decoded): (usize, &str) = if rest.first() == Some(&b'#') {
            match numeric(rest) {
                Some((length, character)) => (length, character.encode_utf8(&mut buffer)),
                None => continue,
            }
        } else {
            match longest_name(rest) {
                Some((length, characters)) => {
                    let follower = rest.get(length);
                    if in_attribute
                        && rest[length - 1] != b';'
                        && follower.is_some_and(|&byte| byte == b'=' || byte.is_ascii_alphanumeric())
                    {
                        continue;
                    }
                    (length, characters)
                }
                None => continue,
            }
        };
        if text_start < ampersand {
            emit(&raw[text_start..ampersand], false);
        }
        emit(decoded, true);
        at += length;
        text_start = at;
    }
    if text_start < raw.len() {
        emit(&raw[text_start..], false);
    }
}

/// Appends `raw` to `out` with its character references decoded.
///
/// ```
/// use neardup_core::html::references::decode_into;
///
/// let mut text = String::new();
/// decode_into("R&amp;D &lt &#xE4; &#150; &notit; &unknown;", false, &mut text);
/// assert_eq!(text, "R&D < ä – ¬it; &unknown;");
///
/// text.clear();
/// decode_into("?a=1&copy=2&lt;", true, &mut text);
/// assert_eq!(text, "?a=1&copy=2<");
/// ```
pub fn decode_into(raw: &str, in_attribute: bool, out: &mut String) {
    decode_pieces(raw, in_attribute, |piece, _| out.push_str(piece));
}
