//! What names a page by its address: two fetches of one page have one name, two items of a site have two.
//!
//! Host, path and query, and the fragment where an application routes by it (`#!/…`, `#/…`). Parameters that hold an
//! identifier nobody reads ([`crate::noise`]: sessions, clicks) name nothing. Cost: one pass over the address.

use url::Url;

use crate::hash::fold_term;
use crate::noise::{Kind, kind};

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
