//! A page's bytes to its tokens, title and site: decoding, markup, terms and hashing in one place.

use url::Url;

use crate::decode::decode;
use crate::hash::{TermHash, fold_short};
use crate::html::visible::{Visible, extract};
use crate::image::ImageBase;
use crate::site::{SiteRule, site};
use crate::terms::{Splitter, Terms};

/// How pages are read. All of it is part of what makes two runs comparable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    pub hash: TermHash,
    pub site: SiteRule,
}

/// A page as it comes in.
#[derive(Clone, Copy, Debug)]
pub struct Page<'a> {
    pub content: &'a [u8],
    pub html: bool,
    /// The charset the transport names.
    pub charset: Option<&'a str>,
    pub url: Option<&'a str>,
}

/// What is told of a page beside its terms.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    pub title: Option<String>,
    pub site: Option<String>,
    pub encoding: &'static str,
    /// Some bytes did not fit the encoding and became U+FFFD.
    pub replaced: bool,
}

/// Reads one page after another with the same buffers.
#[derive(Debug, Default)]
pub struct Reader {
    visible: Visible,
    splitter: Splitter,
}

impl Reader {
    /// Sends the page's terms to `sink`, in order.
    pub fn read(&mut self, page: Page<'_>, reading: Reading, sink: &mut impl Terms) -> Facts {
        let decoded = decode(page.content, page.charset, page.html);
        let url = page.url.and_then(|url| Url::parse(url.trim()).ok());
        let mut facts = Facts {
            title: None,
            site: url.as_ref().and_then(|url| site(url, reading.site)),
            encoding: decoded.encoding,
            replaced: decoded.replaced,
        };
        if page.html {
            extract(&decoded.text, &mut self.visible);
            self.html_terms(url.as_ref(), sink);
            facts.title = self.visible.title().map(str::to_owned);
        } else {
            self.splitter.split(&decoded.text, sink);
        }
        facts
    }

    /// The text that a reader of the page sees, before it is split into terms.
    pub fn with_text<R>(&mut self, page: Page<'_>, look: impl FnOnce(&str) -> R) -> R {
        let decoded = decode(page.content, page.charset, page.html);
        if !page.html {
            return look(&decoded.text);
        }
        extract(&decoded.text, &mut self.visible);
        look(&self.visible.text)
    }

    /// The tokens of a page, appended to `tokens`.
    pub fn tokens(&mut self, page: Page<'_>, reading: Reading, tokens: &mut Vec<u64>) -> Facts {
        match reading.hash {
            TermHash::Fold => self.read(page, reading, &mut FoldTokens(tokens)),
            TermHash::Rabin => self.read(page, reading, &mut RabinTokens(tokens)),
        }
    }

    fn html_terms(&mut self, url: Option<&Url>, sink: &mut impl Terms) {
        let text = self.visible.text.as_str();
        if self.visible.images.is_empty() {
            return self.splitter.split(text, sink);
        }
        let base = ImageBase::new(url, self.visible.base());
        let mut from = 0;
        for image in &self.visible.images {
            self.splitter.split(&text[from..image.at], sink);
            from = image.at;
            if let Some(term) = base.term(self.visible.source(image)) {
                self.splitter.whole(&term, sink);
            }
        }
        self.splitter.split(&text[from..], sink);
    }
}

struct FoldTokens<'a>(&'a mut Vec<u64>);

impl Terms for FoldTokens<'_> {
    fn term(&mut self, term: &str) {
        self.0.push(TermHash::Fold.token(term.as_bytes()));
    }

    #[inline(always)]
    fn short_term(&mut self, low: u64, high: u64, length: usize) {
        self.0.push(fold_short(low, high, length));
    }
}

struct RabinTokens<'a>(&'a mut Vec<u64>);

impl Terms for RabinTokens<'_> {
    fn term(&mut self, term: &str) {
        self.0.push(TermHash::Rabin.token(term.as_bytes()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(html: &str, url: Option<&str>) -> (Vec<String>, Facts) {
        let mut terms = Vec::new();
        let page = Page { content: html.as_bytes(), html: true, charset: None, url };
        let facts = Reader::default().read(page, Reading::default(), &mut terms);
        (terms, facts)
    }

    const HTML: &str = "<title>A &amp; B</title><p>foo<b>bar</b> <a href=x>menu</a><a href=y>links</a>\
        <img src='/i/pic.gif?1' alt=never>caf&eacute; <script>no</script><img src=http://cdn.example/p.png>end";

    #[test]
    fn terms_of_a_page() {
        let (terms, facts) = read(HTML, Some("http://www.a.example/x"));
        let expected =
            ["a", "b", "foobar", "menu", "links", "pic.gif", "café", "http://cdn.example/p.png", "end"];
        assert_eq!(terms, expected);
        assert_eq!(facts.title.as_deref(), Some("A & B"));
        assert_eq!(facts.site.as_deref(), Some("a.example"));
    }

    #[test]
    fn tokens_are_the_hashes_of_the_terms() {
        for hash in [TermHash::Fold, TermHash::Rabin] {
            let reading = Reading { hash, ..Reading::default() };
            let page = Page { content: HTML.as_bytes(), html: true, charset: None, url: None };
            let (mut terms, mut tokens) = (Vec::new(), Vec::new());
            Reader::default().read(page, reading, &mut terms);
            Reader::default().tokens(page, reading, &mut tokens);
            let expected: Vec<u64> = terms.iter().map(|term: &String| hash.token(term.as_bytes())).collect();
            assert_eq!(tokens, expected);
        }
    }

    #[test]
    fn plain_text_knows_no_markup() {
        let mut terms: Vec<String> = Vec::new();
        let page = Page { content: b"a <b>c</b>", html: false, charset: None, url: None };
        Reader::default().read(page, Reading::default(), &mut terms);
        assert_eq!(terms, ["a", "b", "c", "b"]);
    }
}
