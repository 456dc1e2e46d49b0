//! The attributes of a tag, read lazily from the raw slice between the tag's name and its `>`.
//!
//! One cursor implements the attribute states of the HTML Standard (§13.2.5.32 to .40). The scanner drives it
//! to find where a tag ends (a quoted value may hold `>`); a sink that wants an attribute drives it again
//! over the slice that was found. Most tags are never asked for their attributes, so nothing is stored on the
//! first walk. Cost: one pass, with `memchr` over quoted values.

use std::borrow::Cow;

use memchr::{memchr, memchr2};

use super::marks::{Map, Marks};
use super::{lanes, references};

/// What the cursor met: the positions are byte offsets into the slice it walks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Attribute {
        name: (usize, usize),
        value: (usize, usize),
    },
    /// The `>` of the tag stands at `at`.
    Close {
        at: usize,
        self_closing: bool,
    },
    /// The input ended inside the tag.
    EndOfInput,
}

const SPACE: u8 = 1;
const SLASH: u8 = 2;
const CLOSE: u8 = 4;
const EQUALS: u8 = 8;

/// The bytes at which an attribute name, a tag name or an unquoted value may end.
const CLASS: [u8; 256] = {
    let mut class = [0; 256];
    // A carriage return never reaches the tokenizer of the standard (it becomes a line feed first): white
    // space.
    class[b'\t' as usize] = SPACE;
    class[b'\n' as usize] = SPACE;
    class[b'\x0C' as usize] = SPACE;
    class[b'\r' as usize] = SPACE;
    class[b' ' as usize] = SPACE;
    class[b'/' as usize] = SLASH;
    class[b'>' as usize] = CLOSE;
    class[b'=' as usize] = EQUALS;
    class
};

#[inline(always)]
pub(super) fn is_space(byte: u8) -> bool {
    CLASS[byte as usize] == SPACE
}

/// Where the tag name that starts at `from` ends: at white space, `/`, `>` or the end of input.
#[inline(always)]
pub(super) fn name_end(bytes: &[u8], from: usize) -> usize {
    run_until(bytes, from, SPACE | SLASH | CLOSE)
}

#[inline(always)]
fn run_until(bytes: &[u8], mut at: usize, stop: u8) -> usize {
    // Every stop is `/`, `=`, `>` or at most a space: the first such byte is nearly always the stop itself.
    while let Some(block) = lanes::load(bytes, at) {
        let mut marks = block.at_most(b' ') | block.equal(b'>');
        if stop & SLASH != 0 {
            marks |= block.equal(b'/');
        }
        if stop & EQUALS != 0 {
            marks |= block.equal(b'=');
        }
        if marks == 0 {
            at += lanes::WIDTH;
            continue;
        }
        at += lanes::Block::first(marks);
        if CLASS[bytes[at] as usize] & stop != 0 {
            return at;
        }
        at += 1;
    }
    while at < bytes.len() && CLASS[bytes[at] as usize] & stop == 0 {
        at += 1;
    }
    at
}

#[inline(always)]
fn skip_spaces(bytes: &[u8], mut at: usize) -> usize {
    while at < bytes.len() && is_space(bytes[at]) {
        at += 1;
    }
    at
}

/// Takes one step from `at`, the place after a tag name or after an earlier attribute ("before attribute
/// name"). Returns the step and the place to go on from.
#[inline]
pub(super) fn step(bytes: &[u8], mut at: usize) -> (Step, usize) {
    loop {
        at = skip_spaces(bytes, at);
        match bytes.get(at) {
            None => return (Step::EndOfInput, at),
            Some(b'>') => return (Step::Close { at, self_closing: false }, at + 1),
            Some(b'/') => match bytes.get(at + 1) {
                Some(b'>') => return (Step::Close { at: at + 1, self_closing: true }, at + 2),
                _ => at += 1,
            },
            Some(_) => break,
        }
    }
    // A name may begin with `=`; from its second byte on, `=` ends it.
    let name_start = at;
    at = run_until(bytes, at + 1, SPACE | SLASH | CLOSE | EQUALS);
    let name = (name_start, at);
    let after_spaces = skip_spaces(bytes, at);
    if bytes.get(after_spaces) != Some(&b'=') {
        return (Step::Attribute { name, value: (at, at) }, after_spaces);
    }
    at = skip_spaces(bytes, after_spaces + 1);
    let quote = match bytes.get(at) {
        Some(&quote @ (b'"' | b'\'')) => quote,
        _ => {
            let end = run_until(bytes, at, SPACE | CLOSE);
            return (Step::Attribute { name, value: (at, end) }, end);
        }
    };
    at += 1;
    match lanes::find(quote, bytes, at) {
        Some(end) => (Step::Attribute { name, value: (at, end) }, end + 1),
        None => (Step::EndOfInput, bytes.len()),
    }
}

/// Where a tag ends: the place of its `>`, and whether it is written with `/>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TagEnd {
    pub close: usize,
    pub self_closing: bool,
}

/// Where the tag ends whose name ends at `at`; none if the input ends inside it. `marks` are those of `bytes`, and `mark`
/// is the first of them behind the `<`.
///
/// Nearly all tags have no attributes but such as ` name="value"`. Before the first quote any `>` ends the tag; a quote
/// begins a value if it stands behind a space, a name and `=`, and nothing else. Whatever has another form is read
/// state by state.
#[inline(always)]
pub(super) fn tag_end(bytes: &[u8], marks: &Marks, mut at: usize, mut mark: usize) -> Option<TagEnd> {
    loop {
        let found = *bytes.get(mark)?;
        if found == b'>' {
            if bytes[mark - 1] == b'/' {
                return tag_end_by_states(bytes, at);
            }
            return Some(TagEnd { close: mark, self_closing: false });
        }
        if !is_plain_name(bytes, at, mark) {
            return tag_end_by_states(bytes, at);
        }
        let mut end = marks.next(Map::Close, mark + 1);
        while *bytes.get(end)? != found {
            end = marks.next(Map::Close, end + 1);
        }
        at = end + 1;
        mark = marks.next(Map::Close, at);
    }
}

/// Whether a space, a name and `=` stand from `at` up to `quote`, before which there is neither quote nor `>`.
#[inline(always)]
fn is_plain_name(bytes: &[u8], at: usize, quote: usize) -> bool {
    // A quote can also be part of the tag's name, before `at`.
    let length = quote.wrapping_sub(at);
    let Some(block) = lanes::load(bytes, at) else { return false };
    if !(3..=lanes::WIDTH).contains(&length) || bytes[quote - 1] != b'=' || !is_space(bytes[at]) {
        return false;
    }
    // From the second byte on, the first that can be no part of a name is the `=` before the quote.
    let stops = block.at_most(b' ') | block.equal(b'=') | block.equal(b'/');
    lanes::Block::first(lanes::Block::without_first(stops)) == length - 1
}

/// What [`tag_end`] does, one attribute after the other.
#[inline(never)]
fn tag_end_by_states(bytes: &[u8], mut at: usize) -> Option<TagEnd> {
    loop {
        match step(bytes, at) {
            (Step::Attribute { .. }, after) => at = after,
            (Step::Close { at: close, self_closing }, _) => return Some(TagEnd { close, self_closing }),
            (Step::EndOfInput, _) => return None,
        }
    }
}

/// One attribute as it is written; a value that is not written is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attribute<'a> {
    /// As written, so in any case; compare with [`str::eq_ignore_ascii_case`].
    pub name: &'a str,
    /// The value before its character references are decoded.
    pub raw_value: &'a str,
}

impl<'a> Attribute<'a> {
    /// The value with its character references decoded; borrowed where there are none.
    pub fn value(&self) -> Cow<'a, str> {
        if memchr2(b'&', 0, self.raw_value.as_bytes()).is_none() {
            return Cow::Borrowed(self.raw_value);
        }
        let mut value = String::with_capacity(self.raw_value.len());
        references::decode_pieces(self.raw_value, true, |piece, from_reference| {
            if from_reference || memchr(0, piece.as_bytes()).is_none() {
                value.push_str(piece);
            } else {
                value.extend(
                    piece.chars().map(|character| if character == '\0' { '\u{FFFD}' } else { character }),
                );
            }
        });
        Cow::Owned(value)
    }
}

/// The attributes of one tag, in the order written; repeated names are all there, the first is the one that
/// counts.
///
/// ```
/// use neardup_core::html::attributes::Attributes;
///
/// let attributes = Attributes::new(" HREF='a?b&amp;c' href=other disabled");
/// assert_eq!(attributes.get("href").unwrap().value(), "a?b&c");
/// assert_eq!(attributes.get("disabled").unwrap().value(), "");
/// assert!(attributes.get("alt").is_none());
/// assert_eq!(attributes.iter().count(), 3);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Attributes<'a> {
    raw: &'a str,
}

impl<'a> Attributes<'a> {
    /// `raw` is what stands between a tag's name and its `>`.
    pub fn new(raw: &'a str) -> Self {
        Self { raw }
    }

    pub fn raw(&self) -> &'a str {
        self.raw
    }

    pub fn iter(&self) -> AttributeIterator<'a> {
        AttributeIterator { raw: self.raw, at: 0 }
    }

    /// The first attribute of this name (given in any case).
    pub fn get(&self, name: &str) -> Option<Attribute<'a>> {
        self.iter().find(|attribute| attribute.name.eq_ignore_ascii_case(name))
    }
}

impl<'a> IntoIterator for Attributes<'a> {
    type Item = Attribute<'a>;
    type IntoIter = AttributeIterator<'a>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// Walks the attributes of one tag.
#[derive(Clone, Debug)]
pub struct AttributeIterator<'a> {
    raw: &'a str,
    at: usize,
}

impl<'a> Iterator for AttributeIterator<'a> {
    type Item = Attribute<'a>;

    fn next(&mut self) -> Option<Attribute<'a>> {
        let (found, after) = step(self.raw.as_bytes(), self.at);
        match found {
            Step::Attribute { name, value } => {
                self.at = after;
                Some(Attribute { name: &self.raw[name.0..name.1], raw_value: &self.raw[value.0..value.1] })
            }
            Step::Close { .. } | Step::EndOfInput => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(raw: &str) -> Vec<(String, String)> {
        Attributes::new(raw).iter().map(|found| (found.name.to_owned(), found.value().into_owned())).collect()
    }

    fn owned(expected: &[(&str, &str)]) -> Vec<(String, String)> {
        expected.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect()
    }

    #[test]
    fn every_way_of_writing_an_attribute() {
        assert_eq!(
            pairs(r#" a="1" b='2' c=3 d e = 5"#),
            owned(&[("a", "1"), ("b", "2"), ("c", "3"), ("d", ""), ("e", "5")])
        );
    }

    #[test]
    fn a_quoted_value_may_hold_anything_but_its_quote() {
        assert_eq!(pairs(r#" a=">'/=" b='"'"#), owned(&[("a", ">'/="), ("b", "\"")]));
    }

    #[test]
    fn slashes_part_attributes_except_in_unquoted_values() {
        assert_eq!(pairs(" a/b=c/d /"), owned(&[("a", ""), ("b", "c/d")]));
    }

    #[test]
    fn a_leading_equals_sign_belongs_to_the_name() {
        assert_eq!(pairs(" =a=b"), owned(&[("=a", "b")]));
    }

    #[test]
    fn quotes_without_equals_sign_are_name_characters() {
        assert_eq!(pairs(" \"a\" 'b'x"), owned(&[("\"a\"", ""), ("'b'x", "")]));
    }

    #[test]
    fn references_follow_the_attribute_rule() {
        assert_eq!(pairs(" u='?a&copy=1&lt;&ampx&amp'"), owned(&[("u", "?a&copy=1<&ampx&")]));
    }
}
