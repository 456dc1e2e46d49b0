//! Where URLs stand in running text: they are split into terms by a rule of their own.

use memchr::memmem;

use crate::format::LONGEST_SCHEME;

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

/// White space, a quote or an angle bracket ends a URL.
pub fn url_end(text: &str, from: usize) -> usize {
    let ends = |char: char| char.is_whitespace() || "\"'`<>‘’“”„«»‹›".contains(char);
    text[from..].find(ends).map_or(text.len(), |length| from + length)
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
            ["http://a.example/b?c=d,", "ftp://e/f", "www.g.example"]
        );
        assert_eq!(urls("WWW.x.example> wwww.y.example :// 1x://z www"), ["WWW.x.example"]);
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
