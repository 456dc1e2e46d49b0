//! A page's bytes to its tokens, title and site: decoding, markup, terms and hashing in one place.

use encoding_rs::UTF_8;
use url::Url;

use crate::address::{address, page_url};
use crate::content::stream::Found;
use crate::content::{Class, Ideas, Placed, Streamer};
use crate::decode::decode;
use crate::hash::{TermHash, fold_runs, fold_short, fold_with};
use crate::html::blocks::{Segment, place, structure};
use crate::html::visible::{Visible, extract};
use crate::image::{ImageBase, lasting_name};
use crate::noise::{Kind, NotedTokens};
use crate::site::{SiteRule, site};
use crate::terms::{CASE, Splitter, Terms};

const BYTE_ORDER_MARK: char = '\u{feff}';

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

/// A page that is text already: what a file of text says of it, where nothing has to be decoded.
#[derive(Clone, Copy, Debug)]
pub struct Text<'a> {
    pub text: &'a str,
    pub html: bool,
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
    segments: Vec<Segment>,
    splitter: Splitter,
    placed: PlacedTokens,
    streamer: Streamer,
}

impl Reader {
    /// Sends the page's terms to `sink`, in order.
    pub fn read(&mut self, page: Page<'_>, reading: Reading, sink: &mut impl Terms) -> Facts {
        let decoded = decode(page.content, page.charset, page.html);
        let text = Text { text: &decoded.text, html: page.html, url: page.url };
        Facts {
            encoding: decoded.encoding,
            replaced: decoded.replaced,
            ..self.read_text(text, reading, sink)
        }
    }

    /// The same of a page that was decoded.
    fn read_text(&mut self, page: Text<'_>, reading: Reading, sink: &mut impl Terms) -> Facts {
        let url = page.url.and_then(page_url);
        let mut facts = Facts {
            title: None,
            site: url.as_ref().and_then(|url| site(url, reading.site)),
            encoding: UTF_8.name(),
            replaced: false,
        };
        if page.html {
            extract(page.text, &mut self.visible);
            self.html_terms(url.as_ref(), sink);
            facts.title = self.visible.title().map(str::to_owned);
        } else {
            self.splitter.split(page.text, sink);
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

    /// The same of a page that is text already: as if its bytes had come with the word that they are UTF-8.
    pub fn text_tokens(&mut self, page: Text<'_>, reading: Reading, tokens: &mut Vec<u64>) -> Facts {
        let page = Text { text: page.text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(page.text), ..page };
        match reading.hash {
            TermHash::Fold => self.read_text(page, reading, &mut FoldTokens(tokens)),
            TermHash::Rabin => self.read_text(page, reading, &mut RabinTokens(tokens)),
        }
    }

    /// Appends the stream of a page ([`crate::content`]): what [`tokens`](Self::tokens) reads, with its structure.
    pub fn stream(&mut self, page: Page<'_>, rule: SiteRule, ideas: Ideas, out: &mut Vec<u64>) {
        let decoded = decode(page.content, page.charset, page.html);
        let url = page.url.and_then(page_url);
        self.placed.clear();
        if page.html {
            structure(&decoded.text, &mut self.visible, &mut self.segments);
            self.place_html(url.as_ref());
        } else {
            self.place_paragraphs(&decoded.text);
        }
        let site = url.as_ref().and_then(|url| site(url, rule));
        let found = Found { site: site.as_deref(), address: url.as_ref().map_or(0, address) };
        self.streamer.append(self.placed.page(), found, ideas, out);
    }

    /// The text of an HTML page by its segments, images where they stand.
    fn place_html(&mut self, url: Option<&Url>) {
        let text = self.visible.text.as_str();
        let base = ImageBase::new(url, self.visible.base());
        let mut images = self.visible.images.iter().peekable();
        let placed = &mut self.placed;
        for (number, segment) in self.segments.iter().enumerate() {
            let last = number + 1 == self.segments.len();
            let end = self.segments.get(number + 1).map_or(text.len(), |next| next.at);
            placed.begins |= segment.begins;
            let mut from = segment.at;
            while let Some(image) = images.next_if(|image| image.at < end || last) {
                placed.split(&mut self.splitter, &text[from..image.at.max(from)], segment.place);
                from = image.at.max(from);
                if let Some(name) = base.term(self.visible.source(image)).and_then(|term| lasting_name(&term))
                {
                    self.splitter.whole(&name, &mut placed.sink());
                    placed.fill(segment.place | place::IMAGE);
                }
            }
            placed.split(&mut self.splitter, &text[from..end], segment.place);
        }
    }

    fn place_paragraphs(&mut self, text: &str) {
        self.segments.clear();
        self.segments.extend(paragraphs(text));
        for (number, segment) in self.segments.iter().enumerate() {
            let end = self.segments.get(number + 1).map_or(text.len(), |next| next.at);
            self.placed.begins = true;
            self.placed.split(&mut self.splitter, &text[segment.at..end], segment.place);
        }
    }

    /// The blocks of the page whose [`stream`](Self::stream) came last: its tokens, and their class.
    pub fn classes(&self) -> impl Iterator<Item = (std::ops::Range<usize>, Class)> + '_ {
        self.streamer.classes()
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

/// Beside a token: a block begins with it.
pub const BEGINS: u64 = 1 << 16;

/// Where the paragraphs of a plain text begin: it has no structure but its empty lines.
pub fn paragraphs(text: &str) -> impl Iterator<Item = Segment> + '_ {
    let mut next = 0;
    let empty = text.split_inclusive('\n').filter_map(move |line| {
        let at = next;
        next += line.len();
        line.trim_ascii().is_empty().then_some(at)
    });
    std::iter::once(0).chain(empty).map(|at| Segment { at, place: 0, begins: true })
}

/// Tokens with what each stands in and what kind it is, of one page after another.
#[derive(Debug, Default)]
struct PlacedTokens {
    tokens: Vec<u64>,
    places: Vec<u32>,
    kinds: Vec<Kind>,
    /// The next token begins a block.
    begins: bool,
}

impl PlacedTokens {
    fn clear(&mut self) {
        self.tokens.clear();
        self.places.clear();
        self.kinds.clear();
        self.begins = true;
    }

    fn page(&self) -> Placed<'_> {
        Placed { tokens: &self.tokens, places: &self.places, kinds: &self.kinds }
    }

    fn sink(&mut self) -> NotedTokens<'_> {
        NotedTokens { tokens: &mut self.tokens, kinds: &mut self.kinds }
    }

    fn split(&mut self, splitter: &mut Splitter, text: &str, place: u16) {
        splitter.split(text, &mut self.sink());
        self.fill(place);
    }

    /// The tokens that came last stand here.
    fn fill(&mut self, place: u16) {
        if self.tokens.len() > self.places.len() {
            let begins = if std::mem::take(&mut self.begins) { BEGINS as u32 } else { 0 };
            self.places.push(u32::from(place) | begins);
            self.places.resize(self.tokens.len(), u32::from(place));
        }
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

    #[inline(always)]
    fn long_term(&mut self, run: &[u8], _: &mut String) {
        self.0.push(fold_with(run, CASE));
    }

    #[inline(always)]
    unsafe fn short_terms(&mut self, bytes: *const u8, starts: &[u16], lengths: &[u8]) {
        // SAFETY: as the caller says.
        unsafe { fold_runs(bytes, starts, lengths, CASE, self.0) }
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

    proptest::proptest! {
        #[test]
        fn text_is_read_as_its_bytes_are(
            text in "(\u{feff}|<(p|b|title|img src=x.png|a href=y)>|[a-zA-Zé日本 .&;]){0,40}", html: bool, url: bool, rabin: bool,
        ) {
            let hash = if rabin { TermHash::Rabin } else { TermHash::Fold };
            let reading = Reading { hash, ..Reading::default() };
            let url = url.then_some("http://www.a.example/x");
            let page = Page { content: text.as_bytes(), html, charset: Some("utf-8"), url };
            let (mut of_bytes, mut of_text) = (Vec::new(), Vec::new());
            let told = Reader::default().tokens(page, reading, &mut of_bytes);
            let also = Reader::default().text_tokens(Text { text: &text, html, url }, reading, &mut of_text);
            proptest::prop_assert_eq!((told, of_bytes), (also, of_text));
        }
    }

    /// The structure beside the text leaves the text as it is.
    fn tokens_are_the_same(html: &str) {
        let page =
            Page { content: html.as_bytes(), html: true, charset: None, url: Some("http://a.example/x") };
        let mut reader = Reader::default();
        let mut tokens = Vec::new();
        reader.tokens(page, Reading::default(), &mut tokens);
        reader.stream(page, SiteRule::Registrable, Ideas::default(), &mut Vec::new());
        let placed = &reader.placed;
        assert_eq!((placed.places.len(), placed.kinds.len()), (placed.tokens.len(), placed.tokens.len()));
        let text = |(token, place): (&u64, &u32)| (place & u32::from(place::IMAGE) == 0).then_some(*token);
        let placed: Vec<u64> = placed.tokens.iter().zip(&placed.places).filter_map(text).collect();
        if html.contains("<img") || html.contains("<image") {
            let mut rest = tokens.iter();
            assert!(placed.iter().all(|token| rest.any(|other| other == token)), "{html}");
        } else {
            assert_eq!(placed, tokens, "{html}");
        }
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(2000))]
        #[test]
        fn structure_changes_no_token(
            pieces in proptest::collection::vec(
                "<(/?)(a|b|p|div|nav|header|main|h1|title|template|script|span|ul|li|svg|td|form|button)( href=x| class=menu| hidden)?>|word|two words |&amp;|<!-- c -->|<img src=/i.png>",
                0..40,
            ),
        ) {
            tokens_are_the_same(&pieces.concat());
        }
    }

    #[test]
    fn the_last_image_is_read() {
        tokens_are_the_same(HTML);
        let mut out = Vec::new();
        let page = Page { content: b"<p>a b<img src=/x.png>", html: true, charset: None, url: None };
        Reader::default().stream(page, SiteRule::Registrable, Ideas::default(), &mut out);
        // The page, its address, a cell, its two words in one shingle, another cell, and the image.
        assert_eq!(out.len(), 6);
    }

    #[test]
    fn paragraphs_of_plain_text_are_blocks() {
        let mut out = Vec::new();
        let page =
            Page { content: b"one two\nthree\n\n four \r\n\r\nfive", html: false, charset: None, url: None };
        Reader::default().stream(page, SiteRule::Registrable, Ideas::default(), &mut out);
        assert_eq!(out.iter().filter(|&&word| word & 0xFF == crate::content::BLOCK).count(), 3);
    }

    #[test]
    fn plain_text_knows_no_markup() {
        let mut terms: Vec<String> = Vec::new();
        let page = Page { content: b"a <b>c</b>", html: false, charset: None, url: None };
        Reader::default().read(page, Reading::default(), &mut terms);
        assert_eq!(terms, ["a", "b", "c", "b"]);
    }
}
