//! A line is a page exactly if serde_json reads an object with a text from it, and the text is the same; but for what is
//! taken on purpose though strict JSON forbids it: control characters in strings, and halves of surrogate pairs.
#![no_main]

use libfuzzer_sys::fuzz_target;
use neardup_core::jsonl::{Fields, parse};

fuzz_target!(|data: &[u8]| {
    let fields = Fields { id: "id", url: "url", html: "html", text: "text", date: "date" };
    let mut block = data.to_vec();
    block.push(b'\n');
    let lines = parse(&block, &fields, usize::MAX);
    let ours = |number: usize| lines.line.iter().position(|&line| line as usize == number);
    for (number, line) in block.split(|&byte| byte == b'\n').enumerate() {
        let found = ours(number);
        assert!(found.is_none() || lines.bad.line.iter().all(|&bad| bad as usize != number), "both a page and none");
        if line.iter().any(|&byte| byte < 0x20) || line.windows(2).any(|pair| pair == b"\\u") {
            continue;
        }
        let Ok(serde_json::Value::Object(object)) = serde_json::from_slice(line) else {
            assert!(found.is_none(), "{:?}", String::from_utf8_lossy(line));
            continue;
        };
        let Some(at) = found else { continue };
        let name = if lines.html[at] { "html" } else { "text" };
        if let Some(serde_json::Value::String(text)) = object.get(name) {
            // Of a name that stands twice, one is taken.
            let twice = line.windows(6).filter(|part| *part == format!("\"{name}\"").as_bytes()).count() > 1;
            assert!(twice || lines.content.get(at) == Some(text.as_bytes()), "{:?}", String::from_utf8_lossy(line));
        }
    }
});
