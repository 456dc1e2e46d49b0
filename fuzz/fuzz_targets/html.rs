//! The scanner gives the tokens that the HTML Standard's tokenizer gives, written state by state; and what stands on it
//! (text, structure, anatomy, links) takes any page.
#![no_main]

use libfuzzer_sys::fuzz_target;
use neardup_core::html::anatomy::anatomy;
use neardup_core::html::blocks::structure;
use neardup_core::html::scanner::Start;
use neardup_core::html::visible::{Visible, extract};

#[path = "../../crates/neardup-core/tests/html_tokens/mod.rs"]
mod html_tokens;

fuzz_target!(|data: &[u8]| {
    let html = html_tokens::normalize_newlines(&String::from_utf8_lossy(data));
    assert_eq!(html_tokens::scanned(&html, Start::default()), html_tokens::twin::tokens(&html, Start::default()));
    let (mut text, mut again, mut segments) = (Visible::default(), Visible::default(), Vec::new());
    extract(&html, &mut text);
    structure(&html, &mut again, &mut segments);
    assert_eq!(text.text, again.text);
    assert!(segments.windows(2).all(|pair| pair[0].at <= pair[1].at));
    anatomy(&html, None);
});
