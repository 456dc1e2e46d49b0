//! The scanner against the html5lib tokenizer tests, the suite that browsers' parsers are held to.
//!
//! The tests are not part of the repository: `python tools/fetch_html5lib_tests.py` fetches them, and the
//! environment variable HTML5LIB_TESTS names their folder. Parse errors are not compared, nor the identifiers
//! of doctypes.

mod html_tokens;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use html_tokens::{Token, normalize_newlines, push_text, scanned, twin};
use neardup_core::html::scanner::{Start, State};
use serde_json::Value;

/// The cases that do not apply: a lone surrogate stands in the input or the output. No Rust string can hold
/// one, and decoding makes it U+FFFD before the scanner sees it.
const LONE_SURROGATES: usize = 4;
/// All cases that were run when the package's version was chosen; fewer would mean that some are not found.
const LEAST_CASES: usize = 7_026;

fn folder() -> Option<PathBuf> {
    let named = std::env::var_os("HTML5LIB_TESTS").map(PathBuf::from).filter(|folder| folder.is_dir());
    if named.is_none() {
        eprintln!(
            "skipped: HTML5LIB_TESTS names no folder; `python tools/fetch_html5lib_tests.py` fetches one"
        );
    }
    named
}

/// Undoes the second escaping of a case marked "doubleEscaped"; none if it holds a lone surrogate.
fn unescape(text: &str, escaped: bool) -> Option<String> {
    if !escaped {
        return Some(text.to_owned());
    }
    let mut units: Vec<u16> = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("\\u") {
        units.extend(rest[..at].encode_utf16());
        units.push(u16::from_str_radix(&rest[at + 2..at + 6], 16).unwrap());
        rest = &rest[at + 6..];
    }
    units.extend(rest.encode_utf16());
    String::from_utf16(&units).ok()
}

/// The tokens a case expects; none if they hold a lone surrogate.
fn expected(output: &Value, escaped: bool) -> Option<Vec<Token>> {
    let mut tokens = Vec::new();
    for token in output.as_array().unwrap() {
        // Old files put parse errors among the tokens.
        let Some(parts) = token.as_array() else { continue };
        let text = |value: &Value| unescape(value.as_str().unwrap(), escaped);
        match parts[0].as_str().unwrap() {
            "Character" => push_text(&mut tokens, &text(&parts[1])?),
            "Comment" => tokens.push(Token::Comment(text(&parts[1])?)),
            "EndTag" => tokens.push(Token::EndTag(text(&parts[1])?)),
            "DOCTYPE" => {
                tokens.push(Token::Doctype(if parts[1].is_null() { None } else { Some(text(&parts[1])?) }));
            }
            "StartTag" => {
                let mut attributes = Vec::new();
                for (name, value) in parts[2].as_object().unwrap() {
                    attributes.push((unescape(name, escaped)?, text(value)?));
                }
                attributes.sort();
                let self_closing = parts.get(3).is_some_and(|flag| flag.as_bool().unwrap());
                tokens.push(Token::StartTag { name: text(&parts[1])?, attributes, self_closing });
            }
            other => panic!("unknown token {other}"),
        }
    }
    Some(tokens)
}

fn with_sorted_attributes(mut tokens: Vec<Token>) -> Vec<Token> {
    for token in &mut tokens {
        if let Token::StartTag { attributes, .. } = token {
            attributes.sort();
        }
    }
    tokens
}

fn state(name: &str) -> State {
    match name {
        "Data state" => State::Data,
        "RCDATA state" => State::Rcdata,
        "RAWTEXT state" => State::Rawtext,
        "Script data state" => State::ScriptData,
        "PLAINTEXT state" => State::Plaintext,
        "CDATA section state" => State::CdataSection,
        other => panic!("unknown state {other}"),
    }
}

#[derive(Default)]
struct Outcome {
    run: usize,
    lone_surrogates: usize,
    failures: Vec<String>,
}

fn run_file(path: &Path, outcome: &mut Outcome) {
    let file: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    // Files of another kind (what an XML consumer may not be given) have their cases under another name.
    let Some(cases) = file["tests"].as_array() else { return };
    for case in cases {
        let escaped = case["doubleEscaped"].as_bool().unwrap_or(false);
        let input = unescape(case["input"].as_str().unwrap(), escaped);
        let expected = expected(&case["output"], escaped);
        let (Some(input), Some(expected)) = (input, expected) else {
            outcome.lone_surrogates += 1;
            continue;
        };
        let input = normalize_newlines(&input);
        let states: BTreeSet<&str> = match case["initialStates"].as_array() {
            Some(names) => names.iter().map(|name| name.as_str().unwrap()).collect(),
            None => BTreeSet::from(["Data state"]),
        };
        for name in states {
            let last_start_tag = case["lastStartTag"].as_str().unwrap_or("");
            let start = Start { state: state(name), last_start_tag, switch_states: false };
            outcome.run += 1;
            for (reader, tokens) in
                [("scanner", scanned(&input, start)), ("twin", twin::tokens(&input, start))]
            {
                let tokens = with_sorted_attributes(tokens);
                if tokens != expected {
                    outcome.failures.push(format!(
                        "{} {} in {name}, {reader}:\n  {input:?}\n  expected {expected:?}\n  found {tokens:?}",
                        path.file_name().unwrap().display(),
                        case["description"],
                    ));
                }
            }
        }
    }
}

#[test]
fn the_scanner_passes_the_html5lib_tokenizer_tests() {
    let Some(folder) = folder() else { return };
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "test"));
    paths.sort();
    let mut outcome = Outcome::default();
    for path in &paths {
        run_file(path, &mut outcome);
    }
    println!("{} cases run, {} with lone surrogates", outcome.run, outcome.lone_surrogates);
    let shown: Vec<_> = outcome.failures.iter().take(20).map(String::as_str).collect();
    assert!(shown.is_empty(), "{} failures\n{}", outcome.failures.len(), shown.join("\n"));
    assert_eq!(outcome.lone_surrogates, LONE_SURROGATES);
    assert!(outcome.run >= LEAST_CASES, "only {} cases", outcome.run);
}
