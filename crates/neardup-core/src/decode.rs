//! Bytes of a page to text: which encoding, in the order of the HTML Standard (§13.2.3), then the decoding
//! itself.
//!
//! Byte order mark; what the transport says; for HTML, what the page says in its first 1024 bytes (`meta`, or
//! an XML declaration); then what the bytes look like: UTF-8 if they are valid as that, else the guess of
//! `chardetng`, the detector of Firefox. Valid UTF-8, which is nearly all of the web, is checked once and
//! borrowed, never copied.

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252, X_USER_DEFINED};
use memchr::{memchr, memmem};

/// How far into a page its own declaration is looked for.
const PRESCAN_BYTES: usize = 1024;
/// How much of a page is enough to guess its encoding, from the first byte that is not ASCII on.
const GUESS_BYTES: usize = 1 << 20;
/// What stands before that byte helps the guess (is it inside a word?).
const GUESS_CONTEXT: usize = 64;

/// A page as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decoded<'a> {
    /// Without byte order mark; malformed sequences are U+FFFD.
    pub text: Cow<'a, str>,
    /// The name of the encoding in the Encoding Standard.
    pub encoding: &'static str,
    /// Whether anything malformed was replaced.
    pub replaced: bool,
}

/// Decodes `bytes`; `declared` is the charset that the transport names, `html` lets the page name its own.
///
/// ```
/// use neardup_core::decode::decode;
///
/// assert_eq!(decode("schön".as_bytes(), None, false).encoding, "UTF-8");
/// let page = decode(b"<meta charset=latin1>sch\xF6n", None, true);
/// assert_eq!((page.text.as_ref(), page.encoding), ("<meta charset=latin1>schön", "windows-1252"));
/// assert_eq!(decode(b"sch\xF6n", Some("ISO-8859-1"), true).text, "schön");
/// assert!(decode(b"sch\xF6n", Some("utf-8"), true).replaced);
/// ```
pub fn decode<'a>(bytes: &'a [u8], declared: Option<&str>, html: bool) -> Decoded<'a> {
    if let Some((encoding, mark)) = Encoding::for_bom(bytes) {
        return decode_as(&bytes[mark..], encoding);
    }
    let named = declared
        .and_then(|label| Encoding::for_label(label.as_bytes()))
        .or_else(|| if html { prescan(&bytes[..bytes.len().min(PRESCAN_BYTES)]) } else { None });
    if let Some(encoding) = named {
        return decode_as(bytes, encoding);
    }
    match simdutf8::basic::from_utf8(bytes) {
        Ok(text) => Decoded { text: Cow::Borrowed(text), encoding: UTF_8.name(), replaced: false },
        Err(_) => decode_as(bytes, guess(bytes)),
    }
}

fn decode_as<'a>(bytes: &'a [u8], encoding: &'static Encoding) -> Decoded<'a> {
    if encoding == UTF_8
        && let Ok(text) = simdutf8::basic::from_utf8(bytes)
    {
        return Decoded { text: Cow::Borrowed(text), encoding: UTF_8.name(), replaced: false };
    }
    let (text, replaced) = encoding.decode_without_bom_handling(bytes);
    Decoded { text, encoding: encoding.name(), replaced }
}

/// The encoding that bytes which are not valid UTF-8 look like.
fn guess(bytes: &[u8]) -> &'static Encoding {
    // A page that was cut off inside its last character is still UTF-8.
    if simdutf8::compat::from_utf8(bytes).is_err_and(|error| error.error_len().is_none()) {
        return UTF_8;
    }
    let first = bytes.iter().position(|byte| !byte.is_ascii()).unwrap_or(0);
    let sample = &bytes[first.saturating_sub(GUESS_CONTEXT)..];
    // ISO-2022-JP is written in ASCII bytes, so it cannot be what made the bytes invalid.
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(&sample[..sample.len().min(GUESS_BYTES)], true);
    detector.guess(None, Utf8Detection::Deny)
}

/// "Prescan a byte stream to determine its encoding" of the HTML Standard; `head` is the part to look at.
fn prescan(head: &[u8]) -> Option<&'static Encoding> {
    // UTF-16 text would hide any declaration; an XML declaration gives it away.
    if head.starts_with(b"<\0?\0x\0") {
        return Some(UTF_16LE);
    }
    if head.starts_with(b"\0<\0?\0x") {
        return Some(UTF_16BE);
    }
    prescan_meta(head).or_else(|| prescan_xml(head))
}

/// What cannot say what it claims to be: a declaration that can be read as ASCII is not UTF-16.
fn corrected(encoding: &'static Encoding) -> &'static Encoding {
    if encoding == UTF_16BE || encoding == UTF_16LE {
        UTF_8
    } else if encoding == X_USER_DEFINED {
        WINDOWS_1252
    } else {
        encoding
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\n' | b'\x0C' | b'\r' | b' ')
}

/// None also when the bytes run out, in the middle of whatever.
fn prescan_meta(head: &[u8]) -> Option<&'static Encoding> {
    let mut at = 0;
    loop {
        at += memchr(b'<', head.get(at..)?)?;
        let rest = &head[at + 1..];
        if rest.starts_with(b"!--") {
            // The dashes that open may be those that close.
            at += 3 + memmem::find(&rest[1..], b"-->")?;
        } else if rest.len() > 4
            && rest[..4].eq_ignore_ascii_case(b"meta")
            && (is_space(rest[4]) || rest[4] == b'/')
        {
            at += 5;
            if let Some(encoding) = meta_encoding(head, &mut at)? {
                return Some(corrected(encoding));
            }
        } else if rest.first().is_some_and(u8::is_ascii_alphabetic)
            || (rest.first() == Some(&b'/') && rest.get(1).is_some_and(u8::is_ascii_alphabetic))
        {
            at += 1 + rest.iter().position(|&byte| is_space(byte) || byte == b'>')?;
            while prescan_attribute(head, &mut at)?.is_some() {}
        } else if matches!(rest.first(), Some(b'!' | b'/' | b'?')) {
            at += 1 + memchr(b'>', rest)?;
        }
        at += 1;
    }
}

/// Reads the attributes of a `meta`: outer none if the bytes run out, inner none if it names no encoding.
fn meta_encoding(head: &[u8], at: &mut usize) -> Option<Option<&'static Encoding>> {
    let mut seen: Vec<Vec<u8>> = Vec::new();
    let mut has_pragma = false;
    let mut needs_pragma = None;
    // None: not named yet. Some(None): named, but by a label that no encoding has.
    let mut charset: Option<Option<&'static Encoding>> = None;
    while let Some((name, value)) = prescan_attribute(head, at)? {
        if seen.contains(&name) {
            continue;
        }
        match name.as_slice() {
            b"http-equiv" => has_pragma |= value == b"content-type",
            b"content" if charset.is_none() => {
                if let Some(encoding) = charset_in_content(&value) {
                    charset = Some(Some(encoding));
                    needs_pragma = Some(true);
                }
            }
            b"charset" => {
                charset = Some(Encoding::for_label(&value));
                needs_pragma = Some(false);
            }
            _ => {}
        }
        seen.push(name);
    }
    Some(match needs_pragma {
        Some(needed) if has_pragma || !needed => charset.flatten(),
        _ => None,
    })
}

/// "Get an attribute" of the standard, in lower case: outer none if the bytes run out, inner none at the `>`.
#[allow(clippy::type_complexity)]
fn prescan_attribute(head: &[u8], at: &mut usize) -> Option<Option<(Vec<u8>, Vec<u8>)>> {
    while is_space(*head.get(*at)?) || head[*at] == b'/' {
        *at += 1;
    }
    if head[*at] == b'>' {
        return Some(None);
    }
    let start = *at;
    loop {
        let byte = *head.get(*at)?;
        if is_space(byte) || matches!(byte, b'/' | b'>') || (byte == b'=' && *at > start) {
            break;
        }
        *at += 1;
    }
    let name = head[start..*at].to_ascii_lowercase();
    while is_space(*head.get(*at)?) {
        *at += 1;
    }
    if head[*at] != b'=' {
        return Some(Some((name, Vec::new())));
    }
    *at += 1;
    while is_space(*head.get(*at)?) {
        *at += 1;
    }
    let quote = head[*at];
    let value = if matches!(quote, b'"' | b'\'') {
        let start = *at + 1;
        let length = memchr(quote, &head[start..])?;
        *at = start + length + 1;
        &head[start..start + length]
    } else {
        let start = *at;
        *at += head[start..].iter().position(|&byte| is_space(byte) || byte == b'>')?;
        &head[start..*at]
    };
    Some(Some((name, value.to_ascii_lowercase())))
}

/// "Extracting a character encoding from a `meta` element"; `content` is in lower case.
fn charset_in_content(content: &[u8]) -> Option<&'static Encoding> {
    let mut rest = content;
    loop {
        rest = rest[memmem::find(rest, b"charset")? + 7..].trim_ascii_start();
        if let Some(after) = rest.strip_prefix(b"=") {
            rest = after.trim_ascii_start();
            break;
        }
    }
    let label = match rest.first()? {
        &quote @ (b'"' | b'\'') => &rest[1..1 + memchr(quote, &rest[1..])?],
        _ => &rest[..rest.iter().position(|&byte| is_space(byte) || byte == b';').unwrap_or(rest.len())],
    };
    Encoding::for_label(label)
}

/// "Get an XML encoding" of the standard: what `<?xml … encoding="…"?>` says.
fn prescan_xml(head: &[u8]) -> Option<&'static Encoding> {
    let declaration = head.strip_prefix(b"<?xml")?;
    let declaration = &declaration[..memchr(b'>', declaration)?];
    let skip = |bytes: &[u8]| bytes.iter().position(|&byte| byte > 0x20);
    let mut rest = &declaration[memmem::find(declaration, b"encoding")? + 8..];
    rest = rest[skip(rest)?..].strip_prefix(b"=")?;
    rest = &rest[skip(rest)?..];
    let quote = *rest.first().filter(|byte| matches!(byte, b'"' | b'\''))?;
    let label = &rest[1..1 + memchr(quote, &rest[1..])?];
    if label.iter().any(|&byte| byte <= 0x20) {
        return None;
    }
    Encoding::for_label(label).map(corrected)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn named(page: &str) -> Option<&'static str> {
        prescan(page.as_bytes()).map(Encoding::name)
    }

    #[test]
    fn a_meta_names_the_encoding_in_either_form() {
        assert_eq!(named("<meta charset=koi8-r>"), Some("KOI8-R"));
        assert_eq!(named("<html><head foo='>'><META/CharSet = ' Shift_JIS ' >"), Some("Shift_JIS"));
        assert_eq!(named("<meta http-equiv=Content-Type content='text/html; charset=big5'>"), Some("Big5"));
        assert_eq!(
            named("<meta content='text/html; charset = \"big5\";' http-equiv=content-type>"),
            Some("Big5")
        );
        assert_eq!(named("<meta content='charset charset=gbk' http-equiv=content-type>"), Some("GBK"));
    }

    #[test]
    fn a_meta_that_does_not_name_it_is_passed_over() {
        assert_eq!(named("<meta content='text/html; charset=big5'>"), None);
        assert_eq!(named("<meta charset=nonsense><meta charset=big5>"), Some("Big5"));
        assert_eq!(named("<metal charset=big5>"), None);
        assert_eq!(named("<meta name=x charset=big5 charset=gbk>"), Some("Big5"));
        assert_eq!(named("<!-- <meta charset=gbk> --><meta charset=big5>"), Some("Big5"));
        assert_eq!(named("<!--><meta charset=big5>"), Some("Big5"));
        assert_eq!(named("<a title='<meta charset=gbk>'><!x <?y></ z><meta charset=big5>"), Some("Big5"));
        assert_eq!(named("<meta charset=big5"), None);
        assert_eq!(named("<meta charset='big5"), None);
    }

    #[test]
    fn impossible_claims_are_corrected() {
        assert_eq!(named("<meta charset=utf-16>"), Some("UTF-8"));
        assert_eq!(named("<meta charset=x-user-defined>"), Some("windows-1252"));
    }

    #[test]
    fn an_xml_declaration_counts_last() {
        assert_eq!(named("<?xml version='1.0' encoding = \"EUC-JP\" ?><html>"), Some("EUC-JP"));
        assert_eq!(named("<?xml version='1.0' encoding='EUC-JP'?><meta charset=gbk>"), Some("GBK"));
        assert_eq!(named("<?xml version='1.0'> encoding='EUC-JP'"), None);
        assert_eq!(named("<\0?\0x\0"), Some("UTF-16LE"));
        assert_eq!(named("\0<\0?\0x"), Some("UTF-16BE"));
    }

    #[test]
    fn only_the_beginning_is_searched() {
        let page = format!("{}<meta charset=koi8-r>\u{E4}", " ".repeat(PRESCAN_BYTES));
        assert_eq!(decode(page.as_bytes(), None, true).encoding, "UTF-8");
    }

    #[test]
    fn the_order_is_mark_then_transport_then_page() {
        let page = b"\xEF\xBB\xBF<meta charset=koi8-r>";
        assert_eq!(decode(page, Some("latin1"), true).encoding, "UTF-8");
        assert!(matches!(decode(page, None, true).text, Cow::Borrowed("<meta charset=koi8-r>")));
        assert_eq!(decode(&page[3..], Some("latin1"), true).encoding, "windows-1252");
        assert_eq!(decode(&page[3..], Some("no such label"), true).encoding, "KOI8-R");
        assert_eq!(decode(&page[3..], None, false).encoding, "UTF-8");
        assert_eq!(decode(b"\xFF\xFEa\0b\0", None, true).text, "ab");
        assert_eq!(decode(b"\xFE\xFF\0a\0b", Some("utf-8"), true).text, "ab");
    }

    #[test]
    fn undeclared_bytes_are_guessed() {
        let russian = "Съешь ещё этих мягких французских булок, да выпей чаю";
        let (bytes, _, _) = encoding_rs::WINDOWS_1251.encode(russian);
        assert_eq!(
            decode(&bytes, None, false),
            Decoded { text: russian.into(), encoding: "windows-1251", replaced: false }
        );
        let japanese = "いろはにほへと散りぬるを我が世誰ぞ常ならむ";
        let (bytes, _, _) = encoding_rs::EUC_JP.encode(japanese);
        assert_eq!(decode(&bytes, None, false).text, japanese);
    }

    #[test]
    fn a_page_cut_off_inside_a_character_is_still_utf_8() {
        let page = decode("schön".as_bytes().split_last_chunk::<2>().unwrap().0, None, false);
        assert_eq!((page.text.as_ref(), page.encoding, page.replaced), ("sch\u{FFFD}", "UTF-8", true));
    }

    #[test]
    fn nul_bytes_are_harmless() {
        assert_eq!(decode(b"a\0b", None, true).text, "a\0b");
        assert_eq!(decode(b"", Some(""), true).text, "");
    }

    proptest! {
        #[test]
        fn any_bytes_decode(bytes: Vec<u8>, declared: Option<String>, html: bool) {
            decode(&bytes, declared.as_deref(), html);
        }

        #[test]
        fn any_declaration_decodes(
            page in "(<|!|--|>|/|meta|a|charset|content|http-equiv|-type|=|'|\"| |gbk|\\?|xml|encoding){0,24}",
        ) {
            decode(page.as_bytes(), None, true);
        }
    }
}
