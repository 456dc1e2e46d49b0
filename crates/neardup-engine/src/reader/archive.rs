//! WARC files to batches of pages: what the core framed and took, and what had to be read patiently, in input order.

use std::io;

use neardup_core::page::Page;
use neardup_core::warc::framing::{Bounds, Framed, Framer, Stored};
use neardup_core::warc::pages::{self, Aside, Pages};

use super::codec::Compression;
use super::patient::{self, NoPage, Record, RecordPage};
use super::unpack::Unpacker;
use crate::pass::Pass;

/// The records of one file, which an [`Unpacker`] unpacks.
#[derive(Debug)]
pub struct Archive {
    framer: Framer,
    number: i64,
}

/// How much is read for one batch.
#[derive(Clone, Copy, Debug)]
pub struct Batch {
    /// Bytes of blocks of a page's kind, and how many such records: with either the batch is full.
    pub bytes: usize,
    pub records: usize,
    /// The most bytes a page may have.
    pub longest: usize,
}

impl Archive {
    pub fn new(compression: Compression, bounds: Bounds) -> Self {
        Self { framer: Framer::new(compression == Compression::None, bounds), number: 0 }
    }

    /// The next record, or bad stretch.
    pub fn next_record(&mut self, unpacker: &mut Unpacker) -> io::Result<Option<Framed<'_>>> {
        self.framer.next(unpacker)
    }

    /// The next records; none at the end of the file.
    ///
    /// ```
    /// use neardup_core::warc::framing::Bounds;
    /// use neardup_engine::reader::archive::{Archive, Batch};
    /// use neardup_engine::reader::unpack::{READ_BYTES, Unpacker};
    ///
    /// let record = "WARC/1.0\r\nWARC-Type: conversion\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello\r\n\r\n";
    /// let file = Box::new(std::io::Cursor::new(record.repeat(3)));
    /// let bounds = Bounds { block: 1 << 20, head: 1 << 10 };
    /// let mut unpacker = Unpacker::new(file, READ_BYTES)?;
    /// let mut archive = Archive::new(unpacker.compression, bounds);
    /// let batch = Batch { bytes: 1 << 20, records: 2, longest: 1 << 20 };
    /// assert_eq!(archive.next_pages(&mut unpacker, batch)?.unwrap().number, [0, 1]);
    /// assert_eq!(archive.next_pages(&mut unpacker, batch)?.unwrap().number, [2]);
    /// assert!(archive.next_pages(&mut unpacker, batch)?.is_none());
    /// # std::io::Result::Ok(())
    /// ```
    pub fn next_pages(&mut self, unpacker: &mut Unpacker, batch: Batch) -> io::Result<Option<Pages>> {
        let mut pages = Pages::with_capacity(batch.bytes + batch.bytes / 8);
        while pages.size < batch.bytes && pages.held < batch.records {
            let Some(framed) = self.framer.next(unpacker)? else {
                return Ok((!pages.is_empty()).then_some(pages));
            };
            let is_record = matches!(framed, Framed::Record(_));
            pages.push(framed, self.number, batch.longest);
            self.number += i64::from(is_record);
        }
        Ok(Some(pages))
    }
}

/// A page that was read patiently: the number of its record, where that is stored, and the page.
#[derive(Debug)]
struct Late {
    number: i64,
    stored: Option<Stored>,
    page: RecordPage,
}

/// What came of a batch of records.
#[derive(Debug, Default)]
pub struct Loaded {
    /// The pages of the plainest form, and those that were read patiently.
    plain: Pages,
    late: Vec<Late>,
    /// Records that could not be read: where they stand, and why.
    pub skipped: Vec<(String, String)>,
    /// How many records of each kind are no pages.
    pub ignored: Vec<(String, u64)>,
    /// Pages that were read though their form is wrong.
    pub tolerated: u64,
    /// Addresses that answered with another, and that other as it is written.
    pub redirects: Vec<(String, String)>,
}

/// A row of the plain pages, or of those read patiently.
enum Row<'a> {
    Plain(usize),
    Late(&'a Late),
}

impl Loaded {
    /// Reads patiently what the core put aside.
    pub fn new(mut pages: Pages, longest: usize) -> Self {
        let asides = std::mem::take(&mut pages.asides);
        let mut loaded = Self { redirects: std::mem::take(&mut pages.redirects), ..Self::default() };
        for aside in asides {
            match aside {
                Aside::Bad { position, reason } => loaded.skipped.push((position, reason)),
                Aside::Record { number, position, stored, kind, header, block, block_length } => {
                    let record = Record { kind: &kind, header: &header, block: &block, block_length };
                    match patient::read(record, longest) {
                        Ok(page) => {
                            loaded.tolerated += u64::from(page.tolerated);
                            loaded.late.push(Late { number, stored, page });
                        }
                        Err(NoPage::Kind(kind)) => pages.ignore(&kind),
                        Err(NoPage::Redirect { kind, url, location }) => {
                            pages.ignore(&kind);
                            if !url.is_empty() {
                                loaded.redirects.push((url, location));
                            }
                        }
                        Err(NoPage::Broken(reason)) => loaded.skipped.push((position, reason)),
                    }
                }
            }
        }
        loaded.ignored = std::mem::take(&mut pages.ignored);
        loaded.ignored.sort();
        loaded.plain = pages;
        loaded
    }

    /// Bytes of all contents.
    pub fn content_bytes(&self) -> usize {
        self.plain.content.bytes.len() + self.late.iter().map(|late| late.page.content.len()).sum::<usize>()
    }

    fn rows(&self) -> Vec<Row<'_>> {
        let mut rows = Vec::with_capacity(self.plain.number.len() + self.late.len());
        let mut late = self.late.iter().peekable();
        for (row, number) in self.plain.number.iter().enumerate() {
            while let Some(late) = late.next_if(|late| late.number < *number) {
                rows.push(Row::Late(late));
            }
            rows.push(Row::Plain(row));
        }
        rows.extend(late.map(Row::Late));
        rows
    }

    /// Shows all pages to a pass, in input order.
    pub fn show(&self, pass: &mut Pass<'_>) {
        for row in self.rows() {
            match row {
                Row::Plain(row) => {
                    let page = self.plain.page(row);
                    let (charset, url) =
                        (page.charset.as_deref(), Some(page.url).filter(|url| !url.is_empty()));
                    pass.page(Page { content: page.content, html: page.html, charset, url });
                }
                Row::Late(late) => pass.page(late.page.page()),
            }
        }
    }

    /// The pages in input order; without their contents if these are not `held`.
    pub fn into_pages(mut self, held: bool) -> Pages {
        if !held {
            self.plain.content = pages::Texts::default();
        }
        if self.late.is_empty() {
            return self.plain;
        }
        let mut merged = Pages::with_capacity(if held { self.content_bytes() } else { 0 });
        for row in self.rows() {
            match row {
                Row::Plain(row) => {
                    let page = if held { self.plain.page(row) } else { self.plain.without_content(row) };
                    merged.push_page(page, self.plain.number[row], self.plain.stored[row]);
                }
                Row::Late(Late { number, stored, page }) => {
                    let RecordPage { id, url, date, content, html, charset, .. } = page;
                    let content = if held { content.as_slice() } else { b"" };
                    let page = pages::Page { id, url, date, content, html: *html, charset: charset.clone() };
                    merged.push_page(page, *number, *stored);
                }
            }
        }
        merged
    }
}
