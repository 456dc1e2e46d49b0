//! Each kernel once over a fixed input made here, for counting its instructions (`make bench-kernels`).
//!
//! `kernels` alone lists the kernels; `kernels NAME` runs one and says over how many items. The input follows from
//! seeds, so the count of instructions of a build depends on nothing else: no file, no clock, no second thread. What
//! is counted lies inside [`measured`]; making the input lies outside.

use std::convert::Infallible;
use std::env::args;
use std::hint::black_box;
use std::io::Write;
use std::process::ExitCode;

use flate2::Compression;
use flate2::write::GzEncoder;
use neardup_core::batch::{Lists, Shingling, shingle_sets};
use neardup_core::components::components;
use neardup_core::decode::decode;
use neardup_core::format::splitmix;
use neardup_core::html::visible::{Visible, extract};
use neardup_core::join::{Predicate, join};
use neardup_core::jsonl::{Fields, parse};
use neardup_core::keys::Keys;
use neardup_core::merging::jaccard;
use neardup_core::minhash::Functions;
use neardup_core::page::{Page, Reader, Reading};
use neardup_core::projection::Projection;
use neardup_core::shingle::shingles;
use neardup_core::verify::Everything;
use neardup_core::warc::framing::{Bounds, Framer};
use neardup_core::warc::members::Members;
use neardup_core::warc::pages::Pages;
use neardup_core::warc::plain::{Pieces, Plain, Supply};

const PAGES: usize = 40;
const WORDS: usize = 600;
const TOKENS: usize = 50_000;

/// The counter is switched on when this is entered and off when it is left, by its name.
#[inline(never)]
fn measured(work: &mut dyn FnMut() -> usize) -> usize {
    black_box(work())
}

struct Kernel {
    name: &'static str,
    /// What the count is divided by.
    unit: &'static str,
    /// Runs it; gives the number of units.
    run: fn() -> usize,
}

const KERNELS: [Kernel; 15] = [
    Kernel { name: "decode", unit: "byte", run: run_decode },
    Kernel { name: "html-extract", unit: "byte", run: run_extract },
    Kernel { name: "html-to-tokens", unit: "byte", run: || run_tokens(&html_pages(), true) },
    Kernel { name: "text-to-tokens", unit: "byte", run: || run_tokens(&texts(english), false) },
    Kernel { name: "cjk-to-tokens", unit: "byte", run: || run_tokens(&texts(japanese), false) },
    Kernel { name: "jsonl-parse", unit: "byte", run: run_jsonl },
    Kernel { name: "warc-gz-to-pages", unit: "byte", run: run_warc },
    Kernel { name: "shingles", unit: "token", run: run_shingles },
    Kernel { name: "shingle-set", unit: "token", run: run_set },
    Kernel { name: "minima-84", unit: "token", run: run_minima },
    Kernel { name: "projection-384", unit: "token", run: run_projection },
    Kernel { name: "join", unit: "key", run: run_join },
    Kernel { name: "join-hot-keys", unit: "pair", run: run_hot_join },
    Kernel { name: "jaccard-merge", unit: "element", run: run_jaccard },
    Kernel { name: "components", unit: "pair", run: run_components },
];

fn main() -> ExitCode {
    let Some(wanted) = args().nth(1) else {
        for kernel in &KERNELS {
            println!("{}", kernel.name);
        }
        return ExitCode::SUCCESS;
    };
    let Some(kernel) = KERNELS.iter().find(|kernel| kernel.name == wanted) else {
        eprintln!("no kernel {wanted:?}; without an argument all are listed");
        return ExitCode::FAILURE;
    };
    // Rayon's work runs in this thread: a waiting thread would spin, and spinning would be counted.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build_global();
    if let Err(error) = pool {
        eprintln!("no pool of one thread: {error}");
        return ExitCode::FAILURE;
    }
    println!("{} {}", (kernel.run)(), kernel.unit);
    ExitCode::SUCCESS
}

/// A draw from 0 up to, and without, `limit`, small numbers more often, as common words are.
fn skewed(seed: u64, at: u64, limit: usize) -> usize {
    let uniform = (splitmix(seed, at) >> 11) as f64 / (1u64 << 53) as f64;
    (uniform * uniform * limit as f64) as usize
}

/// The n-th word of a made-up language: short words are common, now and then one begins a sentence.
fn english(page: usize, at: usize, out: &mut String) {
    let draw = splitmix(page as u64 + 1, at as u64);
    let word = skewed(page as u64 + 1000, at as u64, 20_000) as u64;
    let length = 2 + (splitmix(2, word) % 8) as usize + usize::from(word > 2000) * 2;
    for letter in 0..length {
        let byte = b"etaoinshrdlucmfwypvbgkqjxz"[skewed(word, letter as u64, 26)];
        out.push(
            if letter == 0 && draw.is_multiple_of(12) { byte.to_ascii_uppercase() } else { byte } as char
        );
    }
    out.push_str(match draw % 97 {
        0..8 => ", ",
        8..14 => ". ",
        14..16 => " – ",
        16 => " 2,048 ",
        17 => "é ",
        _ => " ",
    });
}

/// A run of kana and Han characters, as between two marks of punctuation.
fn japanese(page: usize, at: usize, out: &mut String) {
    let length = 2 + splitmix(page as u64 + 7, at as u64) % 9;
    for place in 0..length {
        let draw = splitmix(page as u64 + 8, at as u64 * 16 + place);
        let (first, count) = if draw.is_multiple_of(3) { (0x4e00, 3000) } else { (0x3042, 80) };
        out.extend(char::from_u32(first + (draw >> 8) as u32 % count));
    }
    out.push(if at.is_multiple_of(4) { '。' } else { '、' });
}

fn text(words: fn(usize, usize, &mut String), page: usize) -> String {
    let mut out = String::new();
    for at in 0..WORDS {
        words(page, at, &mut out);
        if at % 80 == 79 {
            out.push('\n');
        }
    }
    out
}

fn texts(words: fn(usize, usize, &mut String)) -> Vec<String> {
    (0..PAGES).map(|page| text(words, page)).collect()
}

/// Pages as sites write them: a head with style and script, a menu, paragraphs with links, emphasis and images.
fn html_pages() -> Vec<String> {
    let page = |page: usize| {
        let mut html = format!(
            "<!DOCTYPE html><html lang=en><head><meta charset=utf-8><title>Page {page} &amp; more</title><style>{}</style>\
             <script>if (a < b) {{ document.write('<p>'); }}</script></head><body class='main wide'>\n<ul id=menu>",
            "body { margin: 0; padding: 1em } ".repeat(12)
        );
        for item in 0..15 {
            html += &format!(
                "<li class=\"item level-{item}\"><a href=\"/section/{item}.html\">Section {item}</a></li>\n"
            );
        }
        html.push_str("</ul>");
        for (number, paragraph) in text(english, page).split('\n').enumerate() {
            html +=
                &format!("<p class='text'><!-- part {number} --><img src='/images/{number}.png' alt='none'>");
            for (at, word) in paragraph.split(' ').enumerate() {
                match at % 23 {
                    3 => html += &format!("<a href='/word/{at}?ref={number}&amp;x=1'>{word}</a> "),
                    9 => html += &format!("<b>{word}</b> "),
                    17 => html += &format!("<span class=\"note\" title='a > b'>{word}</span>&nbsp;"),
                    _ => html += &format!("{word} "),
                }
            }
            html.push_str("</p>\n");
        }
        html + "<div id=footer>Updated 2006-03-01 &copy; nobody</div></body></html>"
    };
    (0..PAGES).map(page).collect()
}

fn bytes(pages: &[String]) -> usize {
    pages.iter().map(String::len).sum()
}

fn tokens(seed: u64) -> Vec<u64> {
    (0..TOKENS).map(|at| splitmix(3, skewed(seed, at as u64, 20_000) as u64)).collect()
}

fn run_decode() -> usize {
    let pages = html_pages();
    measured(&mut || pages.iter().map(|page| decode(page.as_bytes(), None, true).text.len()).sum());
    bytes(&pages)
}

fn run_extract() -> usize {
    let pages = html_pages();
    let mut visible = Visible::default();
    measured(&mut || {
        let mut length = 0;
        for page in &pages {
            extract(page, &mut visible);
            length += visible.text.len();
        }
        length
    });
    bytes(&pages)
}

fn run_tokens(pages: &[String], html: bool) -> usize {
    let (mut reader, mut tokens) = (Reader::default(), Vec::new());
    measured(&mut || {
        for page in pages {
            let url = Some("http://www.site.example/page.html");
            let page = Page { content: page.as_bytes(), html, charset: None, url };
            black_box(reader.tokens(page, Reading::default(), &mut tokens));
        }
        tokens.len()
    });
    bytes(pages)
}

fn run_jsonl() -> usize {
    let mut block = String::new();
    for (number, page) in html_pages().iter().enumerate() {
        let url = format!("http://www.site.example/{number}");
        let line = serde_json::json!({"id": number, "url": url, "extra": [1, {"deep": null}], "html": page});
        block += &format!("{line}\n");
    }
    let fields = Fields { id: "id", url: "url", html: "html", text: "text", date: "date" };
    measured(&mut || parse(block.as_bytes(), &fields, usize::MAX).html.len());
    block.len()
}

/// A `.warc.gz` file in memory.
struct Archive {
    packed: Vec<u8>,
    at: usize,
    members: Members,
}

impl Pieces for Archive {
    type Error = Infallible;

    fn next(&mut self, plain: &mut Plain) -> Result<Supply, Infallible> {
        let (mut starts, room) = (Vec::new(), plain.room());
        let before = room.len();
        self.members
            .unpack(&self.packed, &mut self.at, room, 1 << 19, |at, length| starts.push((length, at as u64)));
        let more = room.len() > before;
        starts.into_iter().for_each(|(length, offset)| plain.starts_member(length, offset));
        Ok(if more { Supply::More } else { Supply::End })
    }

    fn taken(&self) -> u64 {
        self.at as u64
    }
}

fn run_warc() -> usize {
    let mut archive = Archive { packed: Vec::new(), at: 0, members: Members::default() };
    for (number, page) in html_pages().iter().enumerate() {
        let block = format!(
            "HTTP/1.1 200 OK\r\nServer: made\r\nContent-Type: text/html; charset=utf-8\r\n\r\n{page}"
        );
        let record = format!(
            "WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:{number}>\r\nWARC-Target-URI: \
             http://www.site.example/{number}\r\nContent-Type: application/http; msgtype=response\r\n\
             Content-Length: {}\r\n\r\n{block}\r\n\r\n",
            block.len()
        );
        let mut encoder = GzEncoder::new(&mut archive.packed, Compression::default());
        encoder
            .write_all(record.as_bytes())
            .and_then(|()| encoder.try_finish())
            .expect("memory does not fail");
    }
    let mut size = 0;
    measured(&mut || {
        let mut framer = Framer::new(false, Bounds { block: 1 << 26, head: 1 << 16 });
        let mut pages = Pages::with_capacity(4 << 20);
        while let Ok(Some(framed)) = framer.next(&mut archive) {
            pages.push(framed, 0, 1 << 26);
        }
        size = pages.content.bytes.len();
        pages.held
    });
    size
}

fn run_shingles() -> usize {
    let (tokens, mut out) = (tokens(1), Vec::new());
    measured(&mut || {
        shingles(&tokens, 8, &mut out);
        out.len()
    });
    TOKENS
}

/// Sets of pages of a usual length: sorting costs more than in proportion.
fn run_set() -> usize {
    let (tokens, offsets) = (tokens(1), (0..=TOKENS as i64).step_by(1000).collect::<Vec<_>>());
    let lists = Lists { offsets: &offsets, values: &tokens };
    measured(&mut || shingle_sets(lists, Shingling { k: 5, rabin: false }).1.len());
    TOKENS
}

fn run_minima() -> usize {
    let (tokens, functions, mut out) = (tokens(1), Functions::new(84), [0; 84]);
    measured(&mut || {
        functions.minima(&tokens, &mut out);
        out[0] as usize
    });
    TOKENS
}

fn run_projection() -> usize {
    let (tokens, projection, mut out) = (tokens(1), Projection::new(384), [0; 6]);
    measured(&mut || {
        projection.bits(&tokens, &mut out);
        out[0] as usize
    });
    TOKENS
}

/// Six keys a page, a tenth of the pages in pairs: an ordinary collection.
fn run_join() -> usize {
    let pages = 5000;
    let key =
        |page: u64, column: u64| splitmix(10 + column, if page.is_multiple_of(20) { page + 1 } else { page });
    let values: Vec<u64> =
        (0..pages as u64).flat_map(|page| (0..6).map(move |column| key(page, column))).collect();
    let (keys, active) = (Keys::columns(6, &values), vec![true; pages]);
    measured(&mut || join(keys, &active, Predicate::Any, &Everything).pairs.len());
    values.len()
}

/// All pages of a group of 200 share two of their keys.
fn run_hot_join() -> usize {
    let (groups, size) = (5u64, 200u64);
    let mut values = Vec::new();
    for page in 0..groups * size {
        values.extend((0..2).map(|column| splitmix(20 + column, page / size)));
        values.extend((2..6).map(|column| splitmix(20 + column, 1_000_000 + page)));
    }
    let (keys, active) = (Keys::columns(6, &values), vec![true; (groups * size) as usize]);
    measured(&mut || join(keys, &active, Predicate::Any, &Everything).pairs.len());
    (groups * size * (size - 1) / 2) as usize
}

fn run_jaccard() -> usize {
    let set = |seed: u64| {
        let mut values: Vec<u64> = (0..TOKENS as u64)
            .map(|at| splitmix(if at.is_multiple_of(10) { seed } else { 30 }, at))
            .collect();
        values.sort_unstable();
        values.dedup();
        values
    };
    let (a, b) = (set(31), set(32));
    measured(&mut || (jaccard(&a, &b) * 1e6) as usize);
    a.len() + b.len()
}

fn run_components() -> usize {
    let pairs: Vec<(u32, u32)> = (0..TOKENS as u64)
        .map(|at| (skewed(40, at, 60_000) as u32, (splitmix(41, at) % 60_000) as u32))
        .collect();
    measured(&mut || components(60_000, pairs.iter().copied()).len());
    pairs.len()
}
