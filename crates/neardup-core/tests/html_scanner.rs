//! The scanner and the decoder of references against their naive twins on random tag soup, and what holds for
//! any input: slices of it, in order; no panic; linear time.

mod html_tokens;

use std::time::{Duration, Instant};

use html_tokens::{normalize_newlines, scanned, twin};
use neardup_core::html::attributes::Attributes;
use neardup_core::html::names::Name;
use neardup_core::html::references::decode_into;
use neardup_core::html::scanner::{Sink, Start, State, Tag, TextKind, scan};
use neardup_core::html::visible::{Visible, extract};
use proptest::prelude::*;

/// The pieces that states hang on, more often together than chance would put them.
fn soup() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "<",
        ">",
        "/",
        "</",
        "<!",
        "<!--",
        "-->",
        "--!>",
        "--",
        "-",
        "!",
        "<?",
        "=",
        "\"",
        "'",
        " ",
        "\n",
        "\t",
        "\x0C",
        "\r",
        "\0",
        "&",
        "#",
        "x",
        ";",
        "&amp;",
        "&lt",
        "&notin;",
        "&not",
        "&#65",
        "&#x80;",
        "&copy=",
        "a",
        "B",
        "é",
        "中",
        "<a ",
        "<A",
        "</a>",
        "<p>",
        "href=",
        "title",
        "<title>",
        "</title>",
        "</TITLE ",
        "<textarea>",
        "</textarea/",
        "<script>",
        "</script>",
        "<script",
        "</script",
        "script",
        "<SCRIPT ",
        "<style>",
        "</style>",
        "<xmp>",
        "</xmp>",
        "<noscript>",
        "</noscript>",
        "<iframe>",
        "</iframe>",
        "<plaintext>",
        "<!doctype",
        "<!DOCTYPE html>",
        "[CDATA[",
        "<![CDATA[",
        "]]>",
        "]",
        "<svg>",
        "</svg>",
        "<svg/>",
        "<math>",
        "</math>",
        "<title/>",
        "<template>",
        "</template>",
        "<img src=",
        "<b>",
        "</b>",
        "12345678",
        "blockquote",
    ]);
    prop::collection::vec(pieces, 0..40).prop_map(|pieces| pieces.concat())
}

fn starts() -> impl Strategy<Value = Start<'static>> {
    let states = [
        State::Data,
        State::Rcdata,
        State::Rawtext,
        State::ScriptData,
        State::Plaintext,
        State::CdataSection,
    ];
    (
        prop::sample::select(states.to_vec()),
        prop::sample::select(vec!["", "title", "script", "xmp"]),
        any::<bool>(),
    )
        .prop_map(|(state, last_start_tag, switch_states)| Start {
            state,
            last_start_tag,
            switch_states,
        })
}

/// Fails if a slice is not part of the page or stands before the one that came earlier.
struct InOrder<'a> {
    html: &'a str,
    at: usize,
}

impl<'a> InOrder<'a> {
    fn take(&mut self, slice: &'a str) {
        // The attributes of a tag that has none are an empty slice of nowhere.
        if slice.is_empty() {
            return;
        }
        let start = (slice.as_ptr() as usize).checked_sub(self.html.as_ptr() as usize).unwrap();
        assert!(start >= self.at);
        self.at = start + slice.len();
        assert!(self.at <= self.html.len());
    }
}

impl<'a> Sink<'a> for InOrder<'a> {
    fn text(&mut self, raw: &'a str, _kind: TextKind) {
        assert!(!raw.is_empty());
        self.take(raw);
    }

    fn start_tag(&mut self, tag: Tag<'a>) {
        self.take(tag.name.raw);
        for attribute in tag.attributes {
            self.take(attribute.name);
            self.take(attribute.raw_value);
        }
    }

    fn end_tag(&mut self, name: Name<'a>) {
        self.take(name.raw);
    }

    fn comment(&mut self, raw: &'a str) {
        self.take(raw);
    }

    fn doctype(&mut self, raw: &'a str) {
        self.take(raw);
    }
}

/// What references are made of, and what breaks them.
const REFERENCES: &str = "(&|#|x|X|;|=|amp|lt|notin|not|it|shy|NotEqualTilde|CounterClockwiseContourIntegral|copy\
                          |0|9|80|9f|D800|110000|99999999999999999999999|é| ){0,12}";

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_scanner_is_its_twin(html in soup(), start in starts()) {
        let html = normalize_newlines(&html);
        prop_assert_eq!(scanned(&html, start), twin::tokens(&html, start));
        prop_assert_eq!(scanned(&html, Start::default()), twin::tokens(&html, Start::default()));
    }

    #[test]
    fn slices_are_parts_of_the_input_in_order(html in soup()) {
        scan(&html, &mut InOrder { html: &html, at: 0 });
    }

    #[test]
    fn the_decoder_of_references_is_its_twin(
        text in REFERENCES,
        in_attribute: bool,
    ) {
        let mut fast = String::new();
        decode_into(&text, in_attribute, &mut fast);
        let characters: Vec<char> = text.chars().collect();
        let mut naive = String::new();
        let mut at = 0;
        while at < characters.len() {
            let is_ampersand = characters[at] == '&';
            let found = is_ampersand.then(|| twin::reference(&characters[at + 1..], in_attribute)).flatten();
            match found {
                Some((decoded, length)) => {
                    naive.push_str(&decoded);
                    at += length;
                }
                None => naive.push(characters[at]),
            }
            at += 1;
        }
        prop_assert_eq!(fast, naive);
    }

    #[test]
    fn any_input_can_be_read(html: String, attributes: String) {
        extract(&html, &mut Visible::default());
        Attributes::new(&attributes).iter().for_each(|attribute| drop(attribute.value()));
    }

    #[test]
    fn reading_a_page_does_not_depend_on_the_page_before(first in soup(), second in soup()) {
        let mut reused = Visible::default();
        extract(&first, &mut reused);
        extract(&second, &mut reused);
        let mut fresh = Visible::default();
        extract(&second, &mut fresh);
        prop_assert_eq!(&reused.text, &fresh.text);
        prop_assert_eq!(&reused.images, &fresh.images);
        prop_assert_eq!(reused.title(), fresh.title());
        prop_assert_eq!(reused.base(), fresh.base());
        for image in &reused.images {
            prop_assert!(reused.text.is_char_boundary(image.at));
        }
    }
}

/// Found by the property above: a name's key must not take a NUL at its end for nothing.
#[test]
fn a_name_with_nul_is_another_name() {
    let html = "<script\0 a>&amp;</script>";
    assert_eq!(scanned(html, Start::default()), twin::tokens(html, Start::default()));
}

/// Four megabytes of each: a scan that goes back over its input would take hours here.
#[test]
fn hostile_input_takes_linear_time() {
    const BYTES: usize = 4 << 20;
    let hostile = [
        "<",
        "<div>",
        "</",
        "<!",
        "<!--",
        "<!-->",
        "<!-",
        "--!",
        "-",
        "<?",
        "<a ",
        "<a b=\"",
        "<a b='>",
        "<a =",
        "<a/",
        "<x",
        "<script>",
        "<script><!--",
        "<script><!--<script>",
        "</script",
        "<title>",
        "</titl",
        "<title></titl",
        "<template>",
        "<svg><![CDATA[",
        "]]",
        "<svg>",
        "&",
        "&#",
        "&#x",
        "&#1",
        "&a",
        "&CounterClockwiseContourIntegra",
        "&shy;",
        "\u{AD}",
        "\0",
        "<img src=x>",
        "<img src='&",
        "<base><title>",
        "</title><title>",
        "<plaintext",
        "<!doctype",
        "<b></b>",
    ];
    let mut page = Visible::default();
    for piece in hostile {
        for prefix in
            ["", "<a b=\"", "<script>", "<title>", "<!--", "<svg>", "<svg><![CDATA[", "<xmp>", "<img src='"]
        {
            let html = prefix.to_owned() + &piece.repeat(BYTES / piece.len());
            let started = Instant::now();
            extract(&html, &mut page);
            assert!(
                started.elapsed() < Duration::from_secs(5),
                "{prefix:?} and then {piece:?} again and again"
            );
        }
    }
}
