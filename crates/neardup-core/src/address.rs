//! A page's address as people write it, and what names a page by its address: two fetches of one page have one name, two
//! items of a site have two.
//!
//! Host, path and query, and the fragment where an application routes by it (`#!/…`, `#/…`). Parameters that hold an
//! identifier nobody reads ([`crate::noise`]: sessions, clicks) name nothing. Cost: one pass over the address.

use url::Url;

use crate::hash::fold_term;
use crate::noise::{Kind, kind};

/// The URL of a page. One that is written without a scheme (`www.cs.berkeley.edu/index.html`, `localhost:8000/x`) is read
/// as http; what is neither, as a bare word or a relative path, is no URL.
///
/// ```
/// use neardup_core::address::page_url;
///
/// assert_eq!(page_url(" www.cs.berkeley.edu/x ").unwrap().as_str(), "http://www.cs.berkeley.edu/x");
/// assert_eq!(page_url("https://a.example").unwrap().as_str(), "https://a.example/");
/// assert!(page_url("pages/one.html").is_none());
/// ```
pub fn page_url(written: &str) -> Option<Url> {
    let written = written.trim();
    let without_scheme = written.strip_prefix("//").or_else(|| begins_with_host(written).then_some(written));
    match without_scheme {
        Some(rest) => Url::parse(&format!("http://{rest}")).ok(),
        None => Url::parse(written).ok(),
    }
}

/// Whether a name of a host comes first, alone or before a port, a path, a query or a fragment. A file's name looks like
/// one: without anything behind it, the last part must be a known top-level domain.
fn begins_with_host(written: &str) -> bool {
    let (host, rest) = written.split_at(written.find(['/', '?', '#', ':']).unwrap_or(written.len()));
    let port = rest.strip_prefix(':').map(|rest| rest.split(['/', '?', '#']).next().unwrap_or(rest));
    let labels: Vec<&str> = host.strip_suffix('.').unwrap_or(host).split('.').collect();
    let is_label = |label: &&str| {
        !label.is_empty() && label.chars().all(|char| char.is_alphanumeric() || char == '-' || char == '_')
    };
    let is_number = |label: &&str| label.bytes().all(|byte| byte.is_ascii_digit());
    if !labels.iter().all(is_label) || port.is_some_and(|port| port.is_empty() || !is_number(&port)) {
        return false;
    }
    match labels[..] {
        [name] => name.eq_ignore_ascii_case("localhost"),
        [.., last] if is_number(&last) => labels.len() == 4 && labels.iter().all(is_number),
        [first, .., last] => {
            !rest.is_empty()
                || first.eq_ignore_ascii_case("www")
                || RESERVED.contains(&last.to_ascii_lowercase().as_str())
                || psl::suffix(host.to_lowercase().as_bytes()).is_some_and(|suffix| suffix.is_known())
        }
        [] => false,
    }
}

/// Top-level domains that are kept for examples (RFC 2606); no list has them.
const RESERVED: [&str; 4] = ["example", "invalid", "localhost", "test"];

/// The hash of the address without what changes from visit to visit.
///
/// ```
/// use neardup_core::address::address;
/// use url::Url;
///
/// let of = |url: &str| address(&Url::parse(url).unwrap());
/// assert_eq!(of("http://a.example/x?id=5#top"), of("http://a.example/x?sid=9f86d081884c7d65&id=5"));
/// assert_ne!(of("http://a.example/x?id=5"), of("http://a.example/x?id=6"));
/// assert_ne!(of("http://a.example/#!/owners/1"), of("http://a.example/#!/owners/2"));
/// ```
pub fn address(url: &Url) -> u64 {
    let mut name = format!("{}{}", url.host_str().unwrap_or_default(), url.path());
    for (key, value) in url.query_pairs() {
        if kind(&value.to_ascii_lowercase()) != Kind::Identifier {
            name.extend(["\n", &key, "=", &value]);
        }
    }
    if let Some(route) = url.fragment().filter(|fragment| fragment.starts_with(['!', '/'])) {
        name.extend(["\n#", route]);
    }
    fold_term(name.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(url: &str) -> u64 {
        address(&Url::parse(url).unwrap())
    }

    #[test]
    fn an_address_without_a_scheme_is_of_the_web() {
        for (written, expected) in [
            ("www.cs.berkeley.edu/index.html", "http://www.cs.berkeley.edu/index.html"),
            ("berkeley.edu", "http://berkeley.edu/"),
            ("WWW.A.Example", "http://www.a.example/"),
            ("a.example", "http://a.example/"),
            ("a.example:8080/x?y#z", "http://a.example:8080/x?y#z"),
            ("a.example?x", "http://a.example/?x"),
            ("localhost:8000/x", "http://localhost:8000/x"),
            ("192.168.0.1/x", "http://192.168.0.1/x"),
            ("//a.example/x", "http://a.example/x"),
            ("bücher.de/x", "http://xn--bcher-kva.de/x"),
            ("shop.intern.lan/x", "http://shop.intern.lan/x"),
            ("https://a.example/x", "https://a.example/x"),
            ("file:///tmp/x.y", "file:///tmp/x.y"),
            ("mailto:a@b.example", "mailto:a@b.example"),
        ] {
            assert_eq!(page_url(written).map(String::from).as_deref(), Some(expected), "{written}");
        }
        for none in [
            "",
            "no url at all",
            "page",
            "page/one.html",
            "/x.example",
            "./a.example",
            "index.html",
            "notes.txt",
            "3.14",
            "1.2.3/x",
            "a@b.example",
            "a..example/x",
            "clueweb09-en0000-00-00000",
            "://a.example",
        ] {
            assert_eq!(page_url(none), None, "{none}");
        }
    }

    #[test]
    fn what_names_a_page_and_what_does_not() {
        for (one, other) in [
            ("http://a.example/x#part", "http://a.example/x"),
            ("http://a.example/x?s=0123456789abcdef0", "http://a.example/x?s=fedcba98765432100"),
            ("http://a.example/x?S=0123456789ABCDEF0", "http://a.example/x"),
        ] {
            assert_eq!(of(one), of(other), "{one} {other}");
        }
        for (one, other) in [
            ("http://a.example/x", "http://a.example/y"),
            ("http://a.example/x", "http://b.a.example/x"),
            ("http://a.example/x?a=1&b=2", "http://a.example/x?a=12"),
            ("http://a.example/#/one", "http://a.example/#/two"),
        ] {
            assert_ne!(of(one), of(other), "{one} {other}");
        }
    }
}
