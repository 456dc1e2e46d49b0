//! Where URLs stand in running text: they are split into terms by a rule of their own.

use memchr::memmem;

use crate::format::LONGEST_SCHEME;
use crate::unicode::{Class, Kind};

/// Where the URLs of a text begin. `://` is searched for once, ahead of the terms, so that text without URLs
/// pays one comparison a term.
#[derive(Debug)]
pub struct Schemes<'a> {
    bytes: &'a [u8],
    next: usize,
}

impl<'a> Schemes<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        let mut schemes = Schemes { bytes, next: 0 };
        schemes.advance(0);
        schemes
    }

    fn advance(&mut self, from: usize) {
        let found = memmem::find(&self.bytes[from..], b"://");
        self.next = found.map_or(usize::MAX, |found| from + found);
    }

    /// Where the URL ends that begins with the ASCII run `start..end`, if one does.
    #[inline(always)]
    pub fn url(&mut self, text: &str, start: usize, end: usize) -> Option<usize> {
        if self.next <= end + LONGEST_SCHEME {
            if self.next < start {
                self.advance(start);
            }
            if self.next <= start + LONGEST_SCHEME && is_scheme(&self.bytes[start..self.next]) {
                return Some(url_end(text, self.next));
            }
        }
        is_www(self.bytes, start, end).then(|| url_end(text, end))
    }

    /// Whether no `://` belongs to a run that begins before `end`.
    #[inline(always)]
    pub fn none_before(&self, end: usize) -> bool {
        self.next > end + LONGEST_SCHEME
    }
}

/// Whether one of these runs of three letters, given by the full stops behind them, is a `www`.
#[inline(never)]
pub fn may_be_www(bytes: &[u8], at: usize, mut stops: u64) -> bool {
    let mut found = false;
    while stops != 0 {
        let end = at + stops.trailing_zeros() as usize;
        found |= is_www(bytes, end - 3, end);
        stops &= stops - 1;
    }
    found
}

/// Whether a run of ASCII is the `www` of a URL without a scheme.
#[inline(always)]
pub fn is_www(bytes: &[u8], start: usize, end: usize) -> bool {
    end - start == 3 && bytes.get(end) == Some(&b'.') && bytes[start..end].eq_ignore_ascii_case(b"www")
}

/// Whether these bytes before `://` name a scheme.
pub fn is_scheme(bytes: &[u8]) -> bool {
    bytes.first().is_some_and(u8::is_ascii_alphabetic)
        && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(byte))
}

/// Where the URL ends whose scheme, or `www`, ends at `from`.
///
/// It ends at white space, a quote, an angle bracket and anything else that is in no address as people write it
/// ([`Class::ends_url`]); at a closing bracket that closes none of its own; and at a letter of a script whose words follow
/// an address without a space ([`Class::is_glued`]), unless that stands in a name of the host that begins with one. Full
/// stops, commas and the like at its end, and brackets that open there, are not part of it.
pub fn url_end(text: &str, from: usize) -> usize {
    let from = from + if text[from..].starts_with("://") { 3 } else { 0 };
    let mut open = [0u32; BRACKETS.len()];
    // Whether the next letter begins a name of the host, and whether the name we are in began with a glued one.
    let (mut in_host, mut begins, mut glued) = (true, true, false);
    let mut end = text.len();
    for (at, char) in text[from..].char_indices() {
        let class = Class::of(char);
        if class.ends_url()
            || BRACKETS.iter().zip(&mut open).any(|(pair, open)| closes_another(char, *pair, open))
            || class.is_glued() && !(in_host && (begins || glued))
        {
            end = from + at;
            break;
        }
        in_host &= !matches!(char, '/' | '?' | '#');
        if class.kind() != Kind::Nothing {
            glued = char != '.' && if begins { class.is_glued() } else { glued };
            begins = char == '.';
        }
    }
    let trailing = |char: char| ".,;:!?([{".contains(char) || Class::of(char).kind() == Kind::Nothing;
    from + text[from..end].trim_end_matches(trailing).len()
}

const BRACKETS: [(char, char); 3] = [('(', ')'), ('[', ']'), ('{', '}')];

/// Counts the brackets of a pair that are open; whether this one closes none of them.
#[inline(always)]
fn closes_another(char: char, (opening, closing): (char, char), open: &mut u32) -> bool {
    if char == opening {
        *open += 1;
    } else if char == closing {
        if *open == 0 {
            return true;
        }
        *open -= 1;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn urls(text: &str) -> Vec<&str> {
        let mut schemes = Schemes::new(text.as_bytes());
        let (mut found, mut at) = (Vec::new(), 0);
        while at < text.len() {
            let end = text[at..]
                .find(|char: char| !char.is_ascii_alphanumeric())
                .map_or(text.len(), |end| at + end);
            at = match if end > at { schemes.url(text, at, end) } else { None } {
                None => end + 1,
                Some(url_end) => {
                    found.push(&text[at..url_end]);
                    url_end + 1
                }
            };
        }
        found
    }

    #[test]
    fn urls_end_at_white_space_and_quotes() {
        assert_eq!(
            urls("see http://a.example/b?c=d, then \"ftp://e/f\" and www.g.example"),
            ["http://a.example/b?c=d", "ftp://e/f", "www.g.example"]
        );
        assert_eq!(urls("WWW.x.example> wwww.y.example :// 1x://z www"), ["WWW.x.example"]);
    }

    #[test]
    fn what_people_do_not_write_in_an_address_ends_it() {
        for (text, expected) in [
            // What a sentence adds.
            ("http://a.example/b.html.", "http://a.example/b.html"),
            ("http://a.example/b?!…", "http://a.example/b"),
            ("http://a.example/?b,c;d!", "http://a.example/?b,c;d"),
            ("http://a.example/:-)", "http://a.example/:-"),
            // Brackets of the text, and of the address.
            ("http://a.example/b),", "http://a.example/b"),
            ("http://a.example/b](c", "http://a.example/b"),
            ("http://a.example/b_(c)/d)", "http://a.example/b_(c)/d"),
            ("http://[::1]/b]", "http://[::1]/b"),
            ("http://a.example/{b}/c}", "http://a.example/{b}/c"),
            ("http://a.example/b(\u{53c2}\u{7167})", "http://a.example/b"),
            ("http://a.example/b|c", "http://a.example/b"),
            // Full-width, CJK and other punctuation; letters of scripts whose words are not parted from it.
            ("http://a.example/b，c", "http://a.example/b"),
            ("http://a.example/b。", "http://a.example/b"),
            ("http://a.example/b）", "http://a.example/b"),
            ("http://a.example/bＡ", "http://a.example/b"),
            ("http://a.example/b更多", "http://a.example/b"),
            ("http://a.example/を見る", "http://a.example/"),
            ("http://a.example에서", "http://a.example"),
            ("http://a.example/bที่นี่", "http://a.example/b"),
            ("http://a.example/b،", "http://a.example/b"),
            ("http://a.example/b।", "http://a.example/b"),
            ("http://a.example/b\u{92}s", "http://a.example/b"),
            // What people do write in one.
            ("http://a.example/Москва_(город) x", "http://a.example/Москва_(город)"),
            ("http://a.example/straße-über x", "http://a.example/straße-über"),
            ("http://a.example/صفحة x", "http://a.example/صفحة"),
            ("http://例え.テスト/b", "http://例え.テスト/b"),
            ("http://www.가나.example/b를", "http://www.가나.example/b"),
            ("http://a.example/so\u{ad}ft\u{200b} x", "http://a.example/so\u{ad}ft"),
            ("http://)", "http://"),
        ] {
            assert_eq!(text.get(..url_end(text, 4)), Some(expected), "{text}");
        }
    }

    #[test]
    fn of_several_runs_of_three_letters_one_may_be_www() {
        let text = b"abc.def.www.x";
        assert!(may_be_www(text, 0, 1 << 3 | 1 << 7 | 1 << 11));
        assert!(!may_be_www(text, 0, 1 << 3 | 1 << 7));
    }

    #[test]
    fn what_lies_ahead_is_known() {
        let mut schemes = Schemes::new(b"one two three four five six seven eight nine http://a");
        assert!(schemes.none_before(5));
        assert!(!schemes.none_before(49));
        schemes.advance(50);
        assert!(schemes.none_before(1000));
    }
}
