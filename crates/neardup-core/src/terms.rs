//! Text to terms (Henzinger 2006 §2; the rules are those of "Page to tokens" in the documentation).
//!
//! A term is a maximal run of letters, digits and the marks that follow them, its case folded, in normal form C.
//! Characters that nobody sees are as if they were not there. Runs of scripts written without spaces give overlapping
//! character bigrams. A URL in the text is split at `/`, `.` and `:` and nowhere else.
//!
//! Cost: one pass. Sixty-four bytes at a time are classed into bit masks (letter or digit; beyond ASCII, or a control
//! character); runs of ASCII are read off the masks and go to the sink in two registers, without a copy. Only a run that
//! touches a character beyond ASCII, or a control character, is decoded character by character.

use unicode_normalization::UnicodeNormalization;

#[cfg(target_arch = "x86_64")]
use crate::ascii::{Avx2, Avx512};
use crate::ascii::{Classes, Masks, Portable, first};
#[cfg(target_arch = "x86_64")]
use crate::cpu::{self, Level};
use crate::runs::Runs;
use crate::unicode::{Class, Kind, push_term};
use crate::urls::{Schemes, may_be_www};

/// Takes the terms of a text, in order.
pub trait Terms {
    /// A term, its case folded, normalised.
    fn term(&mut self, term: &str);

    /// A term of 1 to 16 ASCII letters and digits, lower-cased, as two little-endian words padded with zeros.
    #[inline(always)]
    fn short_term(&mut self, low: u64, high: u64, length: usize) {
        let mut bytes = [0u8; 16];
        bytes[..8].copy_from_slice(&low.to_le_bytes());
        bytes[8..].copy_from_slice(&high.to_le_bytes());
        // Only ASCII letters and digits reach this place.
        self.term(std::str::from_utf8(&bytes[..length]).unwrap_or_default());
    }

    /// A term of more than 16 ASCII letters and digits, not lower-cased yet.
    #[inline(always)]
    fn long_term(&mut self, run: &[u8], buffer: &mut String) {
        let mut lower = std::mem::take(buffer).into_bytes();
        lower.clear();
        lower.extend(run.iter().map(|&byte| byte | CASE as u8));
        *buffer = String::from_utf8(lower).expect("letters and digits of ASCII");
        self.term(buffer);
    }

    /// Terms of 1 to 16 ASCII letters and digits, not lower-cased yet, that begin at some places and are so long.
    ///
    /// # Safety
    /// From each place on 16 bytes can be read.
    #[inline(always)]
    unsafe fn short_terms(&mut self, bytes: *const u8, starts: &[u16], lengths: &[u8]) {
        for (&start, &length) in starts.iter().zip(lengths) {
            // SAFETY: as the caller says.
            let (low, high) = unsafe { first_words(bytes.add(usize::from(start)), usize::from(length)) };
            self.short_term(low, high, usize::from(length));
        }
    }
}

/// The two words of a run of up to `SHORT` letters and digits, lower-cased.
///
/// # Safety
/// From `run` on `SHORT` bytes can be read.
#[inline(always)]
unsafe fn first_words(run: *const u8, length: usize) -> (u64, u64) {
    let words = run.cast::<u64>();
    // SAFETY: as the caller says.
    unsafe {
        let (low, high) = (words.read_unaligned(), words.add(1).read_unaligned());
        first(u64::from_le(low) | CASE, u64::from_le(high) | CASE, length)
    }
}

/// The terms as strings, for people and tests.
impl Terms for Vec<String> {
    fn term(&mut self, term: &str) {
        self.push(term.to_owned());
    }
}

/// The longest term, in bytes, that goes to the sink in two registers.
pub(crate) const SHORT: usize = 16;

/// What is left at the end of a text, or all of a short one, is read from a copy if it is no longer.
const LAST: usize = 128;

/// In ASCII letters and digits, setting bit 5 is lower-casing.
pub(crate) const CASE: u64 = 0x2020_2020_2020_2020;

/// Splits texts into terms; holds the buffers that one text after another uses.
#[derive(Debug, Default)]
pub struct Splitter {
    term: String,
    characters: Vec<char>,
    runs: Runs,
}

impl Splitter {
    /// Sends the terms of `text` to `sink`.
    pub fn split(&mut self, text: &str, sink: &mut impl Terms) {
        #[cfg(target_arch = "x86_64")]
        match cpu::level() {
            // SAFETY: `level` has just tested for the instructions.
            Level::Avx512 => return unsafe { self.split_avx512(text, sink) },
            // SAFETY: as above.
            Level::Avx2 => return unsafe { self.split_avx2(text, sink) },
            Level::Portable => {}
        }
        // SAFETY: every machine has what this asks for.
        unsafe { self.split_by::<Portable>(text, sink) }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,avx2,bmi1,bmi2,popcnt")]
    fn split_avx512(&mut self, text: &str, sink: &mut impl Terms) {
        // SAFETY: the machine has what this function is compiled for.
        unsafe { self.split_by::<Avx512>(text, sink) }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
    fn split_avx2(&mut self, text: &str, sink: &mut impl Terms) {
        // SAFETY: the machine has what this function is compiled for.
        unsafe { self.split_by::<Avx2>(text, sink) }
    }

    /// # Safety
    /// The machine has the instructions of `C`.
    #[inline(always)]
    unsafe fn split_by<C: Classes>(&mut self, text: &str, sink: &mut impl Terms) {
        let bytes = text.as_bytes();
        let mut schemes = Schemes::new(bytes);
        self.runs.clear();
        let mut at = 0;
        // Bytes at the beginning of the block that belong to a separator in the one before.
        let mut passed = 0;
        while at < bytes.len() {
            // SAFETY: as the caller says.
            let masks = unsafe { C::at(bytes, at) };
            let from = std::mem::take(&mut passed);
            let plain = schemes.none_before(at + 64)
                && at + 64 + SHORT <= bytes.len()
                && (masks.beyond == 0
                    // SAFETY: as the caller says.
                    || unsafe { usual_separators::<C>(bytes, at, masks.beyond >> from << from) }
                    || only_separators(text, at, masks.beyond >> from << from, &mut passed));
            // SAFETY: as the caller says; behind the block there is room for a short term.
            if plain && let Some(next) = unsafe { self.plain_block::<C>(bytes, at, masks, sink) } {
                at = next;
            } else {
                // SAFETY: these bytes are those that runs wait in.
                unsafe { self.runs.send(bytes, sink) };
                let mut start = at + from;
                passed = 0;
                if bytes.len() - start <= LAST && schemes.none_before(bytes.len()) {
                    // SAFETY: as the caller says.
                    start = unsafe { self.last_blocks::<C>(text, start, sink) };
                }
                at = if start < bytes.len() { self.block(text, start, &mut schemes, sink) } else { start };
            }
        }
        // SAFETY: as above.
        unsafe { self.runs.send(bytes, sink) };
    }

    /// A block in which nothing but ASCII makes terms, and no `://` near: its terms are read off two masks, of the bytes
    /// where a run begins and of those behind one. They wait there, to be hashed together with those of other blocks.
    /// Gives where the next block begins: behind this one, or where a run begins that goes on
    /// behind it, so that every run is read in one block. Or nothing, and nothing is done, where a run fills all of it or a
    /// URL without a scheme may begin.
    ///
    /// # Safety
    /// The machine has the instructions of `C`; behind the block there are `SHORT` bytes, and what waits is of these bytes.
    #[inline(always)]
    unsafe fn plain_block<C: Classes>(
        &mut self,
        bytes: &[u8],
        at: usize,
        masks: Masks,
        sink: &mut impl Terms,
    ) -> Option<usize> {
        let behind = masks.word << 1;
        let (mut starts, mut ends) = (masks.word & !behind, behind & !masks.word);
        if starts << 3 & ends & masks.stop != 0 && may_be_www(bytes, at, starts << 3 & ends & masks.stop) {
            return None;
        }
        // Starts and ends take turns: one that is left over stands above all ends.
        let next = if starts > ends { starts.ilog2() as usize } else { 64 };
        if next == 0 {
            return None;
        }
        if long_runs(masks.word) {
            // SAFETY: as the caller says.
            unsafe { self.runs.send(bytes, sink) };
            while ends != 0 {
                let (start, end) =
                    (at + starts.trailing_zeros() as usize, at + ends.trailing_zeros() as usize);
                // SAFETY: as the caller says.
                unsafe { self.plain_run(bytes, start, end, sink) };
                starts &= starts - 1;
                ends &= ends - 1;
            }
        } else {
            if !self.runs.have_room(at) {
                // SAFETY: as the caller says.
                unsafe { self.runs.send(bytes, sink) };
            }
            // SAFETY: as the caller says.
            unsafe { self.runs.add::<C>(at, starts, ends) };
        }
        Some(at + next)
    }

    /// What is left of a text, up to [`LAST`] bytes and without `://`, as far as its blocks are plain: read where there is
    /// white space behind it. Gives the place that was reached.
    ///
    /// # Safety
    /// The machine has the instructions of `C`.
    #[inline(always)]
    unsafe fn last_blocks<C: Classes>(&mut self, text: &str, start: usize, sink: &mut impl Terms) -> usize {
        let rest = &text[start..];
        let mut blocks = [b' '; LAST + 64 + SHORT];
        blocks[..rest.len()].copy_from_slice(rest.as_bytes());
        let (mut at, mut passed) = (0, 0);
        let mut reached = text.len();
        while at < rest.len() {
            // SAFETY: as the caller says.
            let masks = unsafe { C::at(&blocks, at) };
            let from = std::mem::take(&mut passed);
            let plain =
                masks.beyond == 0 || only_separators(rest, at, masks.beyond >> from << from, &mut passed);
            // SAFETY: as the caller says; behind the block there is room for a short term.
            if plain && let Some(next) = unsafe { self.plain_block::<C>(&blocks, at, masks, sink) } {
                at = next;
            } else {
                reached = start + at + from;
                break;
            }
        }
        // SAFETY: these bytes are those that runs wait in.
        unsafe { self.runs.send(&blocks, sink) };
        reached
    }

    /// A run of ASCII letters and digits as a term.
    ///
    /// # Safety
    /// From `start` on there are `SHORT` bytes.
    #[inline(always)]
    unsafe fn plain_run(&mut self, bytes: &[u8], start: usize, end: usize, sink: &mut impl Terms) {
        let length = end - start;
        if length > SHORT {
            return self.long_ascii(&bytes[start..end], sink);
        }
        debug_assert!(start + SHORT <= bytes.len());
        // SAFETY: as the caller says.
        let (low, high) = unsafe { first_words(bytes.as_ptr().add(start), length) };
        sink.short_term(low, high, length);
    }

    /// The terms of the next 64 bytes, whatever they are; where to go on.
    fn block(&mut self, text: &str, at: usize, schemes: &mut Schemes<'_>, sink: &mut impl Terms) -> usize {
        let bytes = text.as_bytes();
        // SAFETY: every machine has what this asks for.
        let Masks { word, beyond, .. } = unsafe { Portable::at(bytes, at) };
        let mut from = 0;
        loop {
            let rest = (word | beyond) & (u64::MAX << from);
            if rest == 0 {
                return at + 64;
            }
            let start = rest.trailing_zeros() as usize;
            if beyond >> start & 1 == 1 {
                from = self.run_beyond_ascii(text, at + start, sink) - at;
                // Among letters beyond ASCII it goes on like this; before others it is quicker to begin anew.
                if from < 64 && beyond >> from & 1 == 1 {
                    continue;
                }
                return at + from;
            }
            let end = start + (!(word >> start)).trailing_zeros() as usize;
            if end >= 64 {
                // The run may go on behind this block.
                return if start > 0 { at + start } else { self.long_run(text, at, schemes, sink) };
            }
            if beyond >> end & 1 == 1 {
                return self.run_beyond_ascii(text, at + start, sink);
            }
            if let Some(url_end) = schemes.url(text, at + start, at + end) {
                self.url(&text[at + start..url_end], sink);
                return url_end;
            }
            self.ascii(bytes, at + start, at + end, sink);
            if end == 63 {
                return at + 64;
            }
            from = end + 1;
        }
    }

    /// A whole string as one term: its case folded, normalised, without what is not seen, split nowhere.
    pub fn whole(&mut self, text: &str, sink: &mut impl Terms) {
        self.normalise(text);
        if !self.term.is_empty() {
            sink.term(&self.term);
        }
    }

    #[inline(always)]
    fn ascii(&mut self, bytes: &[u8], start: usize, end: usize, sink: &mut impl Terms) {
        let length = end - start;
        if length > SHORT {
            return self.long_ascii(&bytes[start..end], sink);
        }
        let mut block = [0u8; SHORT];
        block[..length].copy_from_slice(&bytes[start..end]);
        let (low, high) = words(&block);
        let (low, high) = first(low | CASE, high | CASE, length);
        sink.short_term(low, high, length);
    }

    #[inline(never)]
    fn long_ascii(&mut self, run: &[u8], sink: &mut impl Terms) {
        sink.long_term(run, &mut self.term);
    }

    /// A run of ASCII that fills a whole block.
    fn long_run(
        &mut self,
        text: &str,
        start: usize,
        schemes: &mut Schemes<'_>,
        sink: &mut impl Terms,
    ) -> usize {
        let bytes = text.as_bytes();
        let length = bytes[start..].iter().position(|byte| !byte.is_ascii_alphanumeric());
        let end = length.map_or(bytes.len(), |length| start + length);
        let next = text[end..].chars().next();
        if next.is_some_and(|next| !next.is_ascii() || Class::of(next).kind() == Kind::Nothing) {
            return self.run_beyond_ascii(text, start, sink);
        }
        if let Some(url_end) = schemes.url(text, start, end) {
            self.url(&text[start..url_end], sink);
            return url_end;
        }
        self.ascii(bytes, start, end, sink);
        end
    }

    /// A run that starts at `start` and holds, or stands before, a character beyond ASCII or one that is not seen.
    fn run_beyond_ascii(&mut self, text: &str, start: usize, sink: &mut impl Terms) -> usize {
        let mut end = start;
        let mut run = None;
        let (mut normalise, mut unseen) = (false, false);
        for char in text[start..].chars() {
            let class = Class::of(char);
            let kind = class.kind();
            match (run, kind) {
                (None, Kind::Word | Kind::Unspaced) => run = Some(kind),
                (None, _) => return start + char.len_utf8(),
                (Some(_), Kind::Mark | Kind::Nothing) => {}
                (Some(run), kind) if run == kind => {}
                _ => break,
            }
            normalise |= class.may_need_normalising();
            unseen |= kind == Kind::Nothing;
            end += char.len_utf8();
        }
        let run_text = &text[start..end];
        if run != Some(Kind::Unspaced) {
            self.normalise_if(run_text, normalise);
            sink.term(&self.term);
        } else if normalise || unseen {
            self.altered_bigrams(run_text, normalise, sink);
        } else {
            bigrams(run_text, sink);
        }
        end
    }

    /// The bigrams of a run that does not stand in the text as they do: out of normal form, or with characters that are not
    /// seen.
    fn altered_bigrams(&mut self, run: &str, normalise: bool, sink: &mut impl Terms) {
        let mut characters = std::mem::take(&mut self.characters);
        characters.clear();
        let seen = run.chars().filter(|&char| Class::of(char).kind() != Kind::Nothing);
        if normalise {
            characters.extend(seen.nfc());
        } else {
            characters.extend(seen);
        }
        for pair in characters.windows(2) {
            self.term.clear();
            self.term.extend(pair);
            sink.term(&self.term);
        }
        if let [lone] = characters[..] {
            sink.term(lone.encode_utf8(&mut [0; 4]));
        }
        self.characters = characters;
    }

    fn url(&mut self, url: &str, sink: &mut impl Terms) {
        for piece in url.split(['/', '.', ':']) {
            self.whole(piece, sink);
        }
    }

    fn normalise(&mut self, text: &str) {
        let beyond = text.chars().any(|char| Class::of(char).may_need_normalising());
        self.normalise_if(text, beyond);
    }

    fn normalise_if(&mut self, text: &str, needed: bool) {
        self.term.clear();
        push_term(text, needed, &mut self.term);
    }
}

/// Whether more than [`SHORT`] bits stand next to each other.
#[inline(always)]
fn long_runs(word: u64) -> bool {
    let two = word & word >> 1;
    let four = two & two >> 2;
    let eight = four & four >> 4;
    let sixteen = eight & eight >> 8;
    sixteen & sixteen >> 1 != 0
}

/// Every two neighbours of a run, or its lone character.
fn bigrams(run: &str, sink: &mut impl Terms) {
    let mut ends = run.char_indices().map(|(at, char)| at + char.len_utf8());
    let (mut start, mut middle) = (0, ends.next().unwrap_or(0));
    if middle == run.len() {
        return sink.term(run);
    }
    for end in ends {
        sink.term(&run[start..end]);
        (start, middle) = (middle, end);
    }
}

/// Whether the characters of a block that lie beyond ASCII are all of the separators that are met most, and end in it:
/// the space that does not break (C2 A0) and dashes, quotes and bullets (U+2010 to U+2027, E2 80 90 to E2 80 A7).
///
/// # Safety
/// The machine has the instructions of `C`.
#[inline(always)]
unsafe fn usual_separators<C: Classes>(bytes: &[u8], at: usize, beyond: u64) -> bool {
    let Some(block): Option<&[u8; 64]> = bytes.get(at..at + 64).and_then(|block| block.try_into().ok())
    else {
        return false;
    };
    // Text that is not written in ASCII begins otherwise, and need not be looked at twice.
    if !matches!(block[beyond.trailing_zeros() as usize % 64], 0xC2 | 0xE2) {
        return false;
    }
    // SAFETY: as the caller says.
    let within = |first, last| unsafe { C::within(block, first, last) };
    let spaces = within(0xC2, 0xC2) & within(0xA0, 0xA0) >> 1;
    let signs = within(0xE2, 0xE2) & within(0x80, 0x80) >> 1 & within(0x90, 0xA7) >> 2;
    beyond == (spaces | spaces << 1 | signs | signs << 1 | signs << 2)
}

/// Whether the characters of a block that lie beyond ASCII are all separators, as dashes and quotes are; `over` is then
/// how many bytes of the last one stand in the next block.
#[inline]
fn only_separators(text: &str, at: usize, mut beyond: u64, over: &mut usize) -> bool {
    while beyond != 0 {
        let first = beyond.trailing_zeros() as usize;
        let Some(char) = text.get(at + first..).and_then(|rest| rest.chars().next()) else { return false };
        if Class::of(char).kind() != Kind::Other {
            return false;
        }
        let end = first + char.len_utf8();
        *over = end.saturating_sub(64);
        beyond = if end < 64 { beyond >> end << end } else { 0 };
    }
    true
}

#[inline(always)]
fn words(block: &[u8]) -> (u64, u64) {
    let word = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().expect("eight bytes"));
    (word(&block[..8]), word(&block[8..16]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::LONGEST_SCHEME;
    use crate::hash::fold_term;
    use crate::page::{Page, Reader, Reading};
    use crate::unicode_tables::FOLDINGS;
    use crate::urls::is_scheme;
    use proptest::prelude::*;

    /// The terms, by every way that this machine has.
    fn terms(text: &str) -> Vec<String> {
        let (mut terms, mut portable) = (Vec::new(), Vec::new());
        Splitter::default().split(text, &mut terms);
        // SAFETY: every machine has what this asks for.
        unsafe { Splitter::default().split_by::<Portable>(text, &mut portable) };
        assert_eq!(terms, portable, "{text:?}");
        #[cfg(target_arch = "x86_64")]
        if cpu::level() != Level::Portable {
            let mut by_avx2 = Vec::new();
            // SAFETY: `level` has just tested for the instructions; AVX-512 machines have AVX2.
            unsafe { Splitter::default().split_avx2(text, &mut by_avx2) };
            assert_eq!(terms, by_avx2, "{text:?}");
        }
        terms
    }

    /// The rules, a character at a time.
    fn naive(text: &str) -> Vec<String> {
        let chars: Vec<char> = text.chars().collect();
        let kind = |at: usize| chars.get(at).map(|&char| Class::of(char).kind());
        let mut found = Vec::new();
        let mut at = 0;
        while at < chars.len() {
            let own = kind(at);
            if !matches!(own, Some(Kind::Word | Kind::Unspaced)) {
                at += 1;
                continue;
            }
            let mut end = at + 1;
            while kind(end) == own || matches!(kind(end), Some(Kind::Mark | Kind::Nothing)) {
                end += 1;
            }
            let run: String = chars[at..end].iter().collect();
            let scheme =
                chars[at..].windows(3).position(|three| three == [':', '/', '/']).filter(|&length| {
                    let name: String = chars[at..at + length].iter().collect();
                    length <= LONGEST_SCHEME && is_scheme(name.as_bytes())
                });
            let www = run.eq_ignore_ascii_case("www") && chars.get(end) == Some(&'.');
            if run.is_ascii() && (scheme.is_some() || www) {
                // A run before a character beyond ASCII is never looked at for a scheme of its own.
                let body = scheme.map_or(end, |length| at + length + 3);
                end = body + naive_url(&chars[body..]);
                let pieces = chars[at..end].split(|char| ['/', '.', ':'].contains(char));
                found.extend(pieces.map(finish).filter(|piece| !piece.is_empty()));
            } else if own == Some(Kind::Word) {
                found.push(finish(&chars[at..end]));
            } else {
                let units: Vec<char> = finish(&chars[at..end]).chars().collect();
                found.extend(units.windows(2).map(|pair| pair.iter().collect::<String>()));
                if units.len() == 1 {
                    found.push(units[0].to_string());
                }
            }
            at = end;
        }
        found
    }

    /// Unseen characters dropped, normal form C, full case folding, normal form C again.
    fn finish(chars: &[char]) -> String {
        let folded: String = (chars.iter().copied().filter(|&char| Class::of(char).kind() != Kind::Nothing))
            .nfc()
            .flat_map(|char| match FOLDINGS.iter().find(|(from, _)| *from == char) {
                Some((_, folding)) => folding.chars().collect::<Vec<char>>(),
                None => vec![char],
            })
            .collect();
        let mut undotted = folded;
        while undotted.contains("i\u{307}") {
            undotted = undotted.replace("i\u{307}", "i");
        }
        undotted.nfc().collect()
    }

    /// How many of these characters, behind a scheme or `www`, belong to the URL.
    fn naive_url(chars: &[char]) -> usize {
        let belongs = |at: usize| {
            let (before, char) = (&chars[..at], chars[at]);
            let bracket = ")]}".find(char);
            let count = |wanted: char| before.iter().filter(|&&char| char == wanted).count();
            let opened = bracket.is_none_or(|pair| {
                count("([{".chars().nth(pair).unwrap()) > count(")]}".chars().nth(pair).unwrap())
            });
            let seen: Vec<char> =
                before.iter().copied().filter(|&char| Class::of(char).kind() != Kind::Nothing).collect();
            let in_host = !before.iter().any(|char| "/?#".contains(*char));
            let begun_by = seen.rsplit(|&char| char == '.').next().and_then(|name| name.first().copied());
            let named = in_host && begun_by.is_none_or(|char| Class::of(char).is_glued());
            !Class::of(char).ends_url() && opened && (!Class::of(char).is_glued() || named)
        };
        let mut end = (0..chars.len()).position(|at| !belongs(at)).unwrap_or(chars.len());
        while end > 0
            && (".,;:!?([{".contains(chars[end - 1]) || Class::of(chars[end - 1]).kind() == Kind::Nothing)
        {
            end -= 1;
        }
        end
    }

    #[test]
    fn examples() {
        for (text, expected) in [
            ("Hello, World 42!", "hello world 42"),
            ("don't re-use", "don t re use"),
            ("Straße ÉCOLE e\u{301}cole", "strasse école école"),
            ("ΟΔΥΣΣΕΥΣ οδυσσευς", "οδυσσευσ οδυσσευσ"),
            ("İstanbul i\u{307}stanbul ISTANBUL ı", "istanbul istanbul istanbul i"),
            ("J\u{30c} ǰ", "ǰ ǰ"),
            ("soft\u{ad}hyphen", "softhyphen"),
            ("ze\u{200b}ro nu\0l de\u{7f}l e\u{1b}sc \u{2}a\u{3} me\tn", "zero nul del esc a me n"),
            ("می\u{200c}خواهم 葛\u{e0100}城", "میخواهم 葛城"),
            ("日本語テスト", "日本 本語 語テ テス スト"),
            ("第3章 猫", "第 3 章 猫"),
            ("コーヒー", "コー ーヒ ヒー"),
            ("한국어 텍스트", "한국어 텍스트"),
            ("ไทย", "ไท ทย"),
            (
                "see http://www.Example.com:8080/a-b/c?d=e_f#g now",
                "see http www example com 8080 a-b c?d=e_f#g now",
            ),
            ("WWW.example.org/x,y", "www example org x,y"),
            ("svn+ssh://host/p \"http://q/r\"s", "svn+ssh host p http q r s"),
            ("(see http://a.example/b/c), d-e", "see http a example b c d e"),
            ("详见http://a.com/abc，更多。", "详见 http a com abc 更多"),
            ("http://a.com/b_c를 참조", "http a com b_c 를 참조"),
            ("http://a/b_(c)(d", "http a b_(c)(d"),
            ("http://例え.jp/a-b", "http 例え jp a-b"),
            ("a://b", "a b"),
            ("1a://b-c", "1a b c"),
            ("://x-y", "x y"),
            ("www www. wwww.a-b", "www www wwww a b"),
            ("", ""),
            ("\u{301}a", "a"),
        ] {
            assert_eq!(terms(text).join(" "), expected, "{text:?}");
        }
    }

    #[test]
    fn runs_of_every_length_at_every_place() {
        for lead in 0..70 {
            for length in [1, 2, 7, 8, 9, 15, 16, 17, 31, 63, 64, 65, 128, 200] {
                let text = format!("{}{} z", " ".repeat(lead), "Ab1".repeat(70).split_at(length).0);
                assert_eq!(terms(&text), naive(&text), "{lead} {length}");
            }
        }
    }

    #[test]
    fn runs_that_wait_keep_their_order_and_places() {
        // More than may wait; wider apart than their places can be told; between them what is not made to wait.
        let words = |count: usize| (0..count).map(|at| format!("W{at} ")).collect::<String>();
        let between =
            ["", "日本", &"long".repeat(9), "http://a/b", "é", &" ".repeat(70_000), &". ".repeat(40_000)];
        for one in between {
            for other in between {
                let text = format!("{}{one} x {}{other} {}", words(700), words(40), words(33));
                let expected: Vec<String> = naive(&text);
                assert_eq!(terms(&text), expected, "{:?} {:?}", one.get(..9), other.get(..9));
                let tokens: Vec<u64> = expected.iter().map(|term| fold_term(term.as_bytes())).collect();
                let page = Page { content: text.as_bytes(), html: false, charset: None, url: None };
                let mut made = Vec::new();
                Reader::default().tokens(page, Reading::default(), &mut made);
                assert_eq!(made, tokens);
            }
        }
    }

    #[test]
    fn separators_beyond_ascii_at_every_place() {
        for separator in
            ["\u{a0}", "—", "😀", "\u{301}", "é", "\u{ad}", "\0", "\u{1f}", "\u{7f}", "\u{200b}", "ß"]
        {
            for lead in 0..140 {
                let filling = "ab, www.c/d-e x".repeat(20);
                let text = format!("{}{separator}{}", filling.split_at(lead).0, filling.split_at(lead).1);
                assert_eq!(terms(&text), naive(&text), "{separator:?} {lead}");
            }
        }
    }

    #[test]
    fn usual_separators_are_separators() {
        let mut usual = 0;
        for char in '\u{80}'..='\u{ffff}' {
            let text = format!("ab {char}{}", "c".repeat(64));
            let beyond = (1 << (3 + char.len_utf8())) - (1 << 3);
            // SAFETY: every machine has what this asks for.
            if unsafe { usual_separators::<Portable>(text.as_bytes(), 0, beyond) } {
                assert_eq!(Class::of(char).kind(), Kind::Other, "{char:?}");
                usual += 1;
            }
        }
        assert_eq!(usual, 1 + 0x18);
    }

    #[test]
    fn short_terms_default_to_strings() {
        assert_eq!(terms("ABC def"), ["abc", "def"]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(3000))]
        #[test]
        fn agrees_with_the_rules(text in soup()) {
            prop_assert_eq!(terms(&text), naive(&text));
        }

        #[test]
        fn agrees_on_any_text(text: String) {
            prop_assert_eq!(terms(&text), naive(&text));
        }
    }

    fn soup() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            4 => "[a-zA-Z0-9]{1,20}",
            2 => "[ .,:/\"'<>+-]{1,3}",
            1 => "[()\\[\\]{}.,;!?/、。）（]{1,3}",
            1 => Just("http://".to_owned()),
            1 => Just("www.".to_owned()),
            1 => "[éÀßžΣςİıiǰJ\u{30c}\u{307}\u{301}\u{ad}]{1,3}",
            1 => "[\0\u{1}\u{1f}\u{7f}\u{200b}\u{200d}\u{fe0f}]{1,2}",
            1 => "[日本語カナกไ한국]{1,4}",
            2 => "[\u{a0}•—“”…😀]{1,3}",
            1 => " {30,70}",
        ];
        proptest::collection::vec(piece, 0..30).prop_map(|pieces| pieces.concat())
    }
}
