//! One pass over the pages of a batch, wherever they come from: what is read off each, and the fingerprints that are made
//! of its tokens while these are in the nearest cache.

use std::cell::RefCell;

use arrow_array::StringArray;
use arrow_array::builder::StringBuilder;
use neardup_core::hash::identities;
use neardup_core::making::{Kind, Made, Maker, Workspace};
use neardup_core::page::{Facts, Page, Reader, Reading, Text};

/// Bytes of running text that a term takes.
const TERM_BYTES: usize = 6;

/// Pages that get their identities together, several at a time: enough that the last ones, which have nothing beside
/// them, are few; and few enough that their tokens stay in a near cache.
const NAMED: usize = 64;

/// Bytes of text that so many ordinary pages have.
const NAMED_BYTES: usize = NAMED << 13;

/// A thread's buffers are freed if a batch made them larger than this.
const LARGEST_KEPT: usize = 16 << 20;

/// Buffers that a thread reads one batch after another with.
#[derive(Default)]
struct Workbench {
    making: Workspace,
    /// Of the tokens only the last ones, where they are not held.
    tokens: Vec<u64>,
}

thread_local! {
    static WORKBENCH: RefCell<Workbench> = RefCell::default();
}

/// What is to be made of pages.
#[derive(Clone, Debug)]
pub struct PageTask {
    pub kinds: Vec<Kind>,
    /// Whether the tokens are to be held as well.
    pub held: bool,
    pub reading: Reading,
}

impl PageTask {
    /// Gives a pass over pages with about so many bytes of text to `read`, which shows it the pages; what came of them.
    ///
    /// ```
    /// use neardup_core::page::{Page, Reading};
    /// use neardup_engine::pass::PageTask;
    ///
    /// let task = PageTask { kinds: vec![], held: true, reading: Reading::default() };
    /// let page = |content| Page { content, html: false, charset: None, url: None };
    /// let (_, read) = task.run(8, |pass| {
    ///     pass.page(page(b"one two"));
    ///     pass.page(page(b"one"));
    /// });
    /// assert_eq!(read.lengths, [2, 1]);
    /// assert_eq!(read.tokens.unwrap().len(), 3);
    /// ```
    pub fn run<R>(&self, bytes: usize, read: impl FnOnce(&mut Pass<'_>) -> R) -> (R, PagesRead) {
        WORKBENCH.with_borrow_mut(|bench| {
            let mut pass = Pass::new(self, bytes, bench);
            let result = read(&mut pass);
            let pages = pass.end();
            if bench.making.nbytes() + bench.tokens.capacity() * size_of::<u64>() > LARGEST_KEPT {
                *bench = Workbench::default();
            }
            (result, pages)
        })
    }
}

/// What reading has given so far, one row a page; of the tokens only the last ones, unless they are held.
pub struct Pass<'a> {
    task: &'a PageTask,
    reader: Reader,
    maker: Maker<'a>,
    lengths: Vec<i64>,
    tokens: &'a mut Vec<u64>,
    titles: StringBuilder,
    sites: StringBuilder,
    replaced: Vec<bool>,
    high: Vec<u64>,
    low: Vec<u64>,
    /// Where the tokens begin of the pages that wait for their identities, and where those of each of them end.
    from: usize,
    waiting: Vec<usize>,
}

impl std::fmt::Debug for Pass<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Pass({} pages)", self.lengths.len())
    }
}

impl<'a> Pass<'a> {
    fn new(task: &'a PageTask, bytes: usize, bench: &'a mut Workbench) -> Self {
        let Workbench { making, tokens } = bench;
        tokens.clear();
        // Growing the buffer would copy it.
        tokens.reserve(if task.held { bytes } else { bytes.min(NAMED_BYTES) } / TERM_BYTES);
        Pass {
            task,
            reader: Reader::default(),
            maker: Maker::new(&task.kinds, bytes / TERM_BYTES, making),
            lengths: Vec::new(),
            tokens,
            titles: StringBuilder::new(),
            sites: StringBuilder::new(),
            replaced: Vec::new(),
            high: Vec::new(),
            low: Vec::new(),
            from: 0,
            waiting: Vec::with_capacity(NAMED),
        }
    }

    /// Reads the next page.
    pub fn page(&mut self, page: Page<'_>) {
        let start = self.tokens.len();
        let facts = self.reader.tokens(page, self.task.reading, self.tokens);
        self.take(start, facts);
    }

    /// Reads the next page, which is text already.
    pub fn text(&mut self, page: Text<'_>) {
        let start = self.tokens.len();
        let facts = self.reader.text_tokens(page, self.task.reading, self.tokens);
        self.take(start, facts);
    }

    fn take(&mut self, start: usize, facts: Facts) {
        let tokens = &self.tokens[start..];
        self.lengths.push(tokens.len() as i64);
        self.titles.append_option(facts.title);
        self.sites.append_option(facts.site);
        self.replaced.push(facts.replaced);
        self.maker.page(tokens);
        self.waiting.push(self.tokens.len());
        // Some pages get their identities together, while their tokens are still in a near cache.
        if self.waiting.len() == NAMED {
            self.name();
        }
    }

    fn name(&mut self) {
        let starts = std::iter::once(self.from).chain(self.waiting.iter().copied());
        let pages: Vec<&[u64]> =
            starts.zip(&self.waiting).map(|(start, &end)| &self.tokens[start..end]).collect();
        for identity in identities(&pages) {
            self.high.push((identity >> 64) as u64);
            self.low.push(identity as u64);
        }
        self.waiting.clear();
        if !self.task.held {
            self.tokens.clear();
        }
        self.from = self.tokens.len();
    }

    fn end(mut self) -> PagesRead {
        self.name();
        PagesRead {
            tokens: self.task.held.then(|| std::mem::take(self.tokens)),
            lengths: self.lengths,
            titles: self.titles.finish(),
            sites: self.sites.finish(),
            replaced: self.replaced,
            high: self.high,
            low: self.low,
            made: self.maker.made(),
        }
    }
}

/// What a pass made of all pages, one row a page.
#[derive(Debug)]
pub struct PagesRead {
    pub lengths: Vec<i64>,
    /// All tokens one after another, if they are held.
    pub tokens: Option<Vec<u64>>,
    pub titles: StringArray,
    pub sites: StringArray,
    /// Whether bytes were replaced that are no text.
    pub replaced: Vec<bool>,
    /// Both halves of the identity.
    pub high: Vec<u64>,
    pub low: Vec<u64>,
    /// A column for each kind of fingerprint.
    pub made: Vec<Made>,
}

#[cfg(test)]
mod tests {
    use neardup_core::hash::identity;

    use super::*;

    fn read(texts: &[String], held: bool) -> PagesRead {
        let task = PageTask { kinds: vec![], held, reading: Reading::default() };
        let pages = texts.iter().map(|text| Page {
            content: text.as_bytes(),
            html: false,
            charset: Some("utf-8"),
            url: Some("http://www.a.example/b"),
        });
        task.run(texts.iter().map(String::len).sum(), |pass| pages.for_each(|page| pass.page(page))).1
    }

    #[test]
    fn identities_do_not_depend_on_where_pages_are_named_or_tokens_held() {
        for count in [0, 1, NAMED - 1, NAMED, NAMED + 1, 3 * NAMED] {
            let texts: Vec<String> =
                (0..count).map(|at| format!("page {at} has {} words", "more ".repeat(at % 7))).collect();
            let (held, let_go) = (read(&texts, true), read(&texts, false));
            assert_eq!((&held.high, &held.low), (&let_go.high, &let_go.low));
            assert_eq!(held.lengths, let_go.lengths);
            assert!(let_go.tokens.is_none());
            let tokens = held.tokens.unwrap();
            let mut start = 0;
            for (at, length) in held.lengths.iter().enumerate() {
                let end = start + *length as usize;
                let name = identity(&tokens[start..end]);
                assert_eq!((held.high[at], held.low[at]), ((name >> 64) as u64, name as u64));
                start = end;
            }
            assert_eq!(start, tokens.len());
        }
    }

    #[test]
    fn a_text_reads_as_its_bytes_do() {
        let task = PageTask { kinds: vec![], held: true, reading: Reading::default() };
        let content = "<title>T</title><p>a fine sentence";
        let url = Some("http://a.example/");
        let page = Page { content: content.as_bytes(), html: true, charset: Some("utf-8"), url };
        let (_, bytes) = task.run(64, |pass| pass.page(page));
        let (_, text) = task.run(64, |pass| pass.text(Text { text: content, html: true, url }));
        assert_eq!((bytes.tokens, bytes.titles, bytes.sites), (text.tokens, text.titles, text.sites));
    }

    #[test]
    fn large_buffers_are_freed() {
        read(&["word ".repeat(4 << 20)], false);
        WORKBENCH.with_borrow(|bench| assert!(bench.tokens.capacity() * size_of::<u64>() <= LARGEST_KEPT));
    }
}
