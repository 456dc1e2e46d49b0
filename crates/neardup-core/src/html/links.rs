//! Where a page links to: the targets of its anchors, frames, refreshes and canonical address, resolved and normalised.
//!
//! A target is an absolute http(s) URL without its fragment, in the URL Standard's serialisation, so that the ways of
//! writing one address become one string. Malformed links are left out. Of a page's addresses each is resolved once,
//! however often it is written: on manuals most are repeated, or lead to a place on the page itself.

use std::collections::{BTreeSet, HashSet};

use url::Url;

use super::scanner::{Sink, Tag, scan};

/// Which links are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// What a reader clicks on: `a` and `area`.
    Anchors,
    /// What a crawler follows: these, `frame`, `iframe`, `meta refresh` and `link rel=canonical`.
    All,
}

/// The distinct targets of a page at `page`, the page itself left out, sorted.
pub fn links(html: &str, page: Option<&Url>, wanted: Wanted) -> BTreeSet<String> {
    let mut found = Addresses { wanted, addresses: HashSet::new(), base: None };
    scan(html, &mut found);
    let own = page.map(normalised);
    let base = match (found.base, page) {
        (Some(base), Some(page)) => page.join(&base).ok().or_else(|| Some(page.clone())),
        (Some(base), None) => Url::parse(&base).ok(),
        (None, page) => page.cloned(),
    };
    let targets = found.addresses.iter().filter_map(|address| resolved(address, base.as_ref()));
    targets.filter(|target| Some(target) != own.as_ref()).collect()
}

/// An address as it is written on a page with this base, as a target; none if it is no http(s) URL.
pub fn resolved(address: &str, base: Option<&Url>) -> Option<String> {
    let url = match base {
        Some(base) => base.join(address).ok(),
        None => Url::parse(address).ok(),
    }?;
    matches!(url.scheme(), "http" | "https").then(|| normalised(&url))
}

/// A URL as a link target is written: without its fragment.
pub fn normalised(url: &Url) -> String {
    let mut url = url.clone();
    url.set_fragment(None);
    url.into()
}

/// The address that the content of a refresh names (the HTML Standard's "shared declarative refresh steps").
pub fn refresh_address(content: &str) -> Option<&str> {
    let spaces = |text: &'static str| move |c: char| c.is_ascii_whitespace() || text.contains(c);
    let rest = content.trim_start();
    let digits = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    if digits.len() == rest.len() || !digits.starts_with(spaces(";,")) {
        return None;
    }
    let rest =
        digits.trim_start_matches(spaces("")).trim_start_matches([';', ',']).trim_start_matches(spaces(""));
    let named = rest.get(..3).filter(|name| name.eq_ignore_ascii_case("url"));
    let after = named.and_then(|_| rest[3..].trim_start().strip_prefix('=')).map(str::trim_start);
    let address = after.unwrap_or(rest);
    let address = match address.chars().next() {
        Some(quote @ ('"' | '\'')) => address[1..].split(quote).next().unwrap_or_default(),
        _ => address,
    };
    Some(address.trim()).filter(|address| !address.is_empty())
}

struct Addresses {
    wanted: Wanted,
    /// As written, but for the fragment.
    addresses: HashSet<String>,
    base: Option<String>,
}

impl Addresses {
    fn take(&mut self, tag: Tag<'_>, attribute: &str) {
        let Some(written) = tag.attributes.get(attribute) else { return };
        let value = written.value();
        self.insert(value.trim_ascii());
    }

    fn insert(&mut self, address: &str) {
        let address = address.split('#').next().unwrap_or_default();
        // What is left of a place on the page itself leads nowhere.
        if !address.is_empty() && !self.addresses.contains(address) {
            self.addresses.insert(address.to_owned());
        }
    }
}

impl<'a> Sink<'a> for Addresses {
    fn start_tag(&mut self, tag: Tag<'a>) {
        let is = |name: &str| tag.name.is(name);
        if is("a") || is("area") {
            return self.take(tag, "href");
        }
        if is("base") && self.base.is_none() {
            self.base = tag.attributes.get("href").map(|href| href.value().trim_ascii().to_owned());
        }
        if self.wanted == Wanted::Anchors {
            return;
        }
        if is("frame") || is("iframe") {
            self.take(tag, "src");
        } else if is("link") {
            let relation = tag.attributes.get("rel").map(|relation| relation.value().into_owned());
            let mut relations = relation.iter().flat_map(|all| all.split_ascii_whitespace());
            if relations.any(|one| one.eq_ignore_ascii_case("canonical")) {
                self.take(tag, "href");
            }
        } else if is("meta") {
            let is_refresh = tag.attributes.get("http-equiv");
            if is_refresh.is_some_and(|name| name.value().trim_ascii().eq_ignore_ascii_case("refresh"))
                && let Some(content) = tag.attributes.get("content")
                && let Some(address) = refresh_address(&content.value())
            {
                self.insert(address);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(html: &str, page: Option<&str>, wanted: Wanted) -> Vec<String> {
        links(html, page.map(|page| Url::parse(page).unwrap()).as_ref(), wanted).into_iter().collect()
    }

    #[test]
    fn targets_are_resolved_and_told_once() {
        let html = "<a href='b.html#x'>1</a><A HREF=' /c '>2</a><area href=b.html><a href='mailto:x@y'>\
            <a name=z><a href='http://[bad'><a href='#top'><a href='https://O.example'>";
        let expected = ["http://a.example/c", "http://a.example/d/b.html", "https://o.example/"];
        for wanted in [Wanted::Anchors, Wanted::All] {
            assert_eq!(of(html, Some("http://a.example/d/p.html"), wanted), expected);
        }
    }

    #[test]
    fn base_counts_and_relative_links_without_any_base_do_not() {
        let html = "<base href='http://b.example/x/'><a href=y>";
        assert_eq!(of(html, Some("http://a.example/"), Wanted::All), ["http://b.example/x/y"]);
        assert_eq!(of(html, None, Wanted::All), ["http://b.example/x/y"]);
        assert_eq!(of("<a href=y><a href=http://c.example/>", None, Wanted::All), ["http://c.example/"]);
    }

    #[test]
    fn a_crawler_follows_more_than_a_reader_clicks_on() {
        let html = "<frame src=f><iframe src=i><a href=no></iframe><link rel='x CANONICAL' href=c><link rel=icon href=no>\
            <meta http-equiv=Refresh content=\"5; URL='m&amp;n'\"><meta name=refresh content='0;url=no'><a href=a>";
        let all = [
            "http://x.example/a",
            "http://x.example/c",
            "http://x.example/f",
            "http://x.example/i",
            "http://x.example/m&n",
        ];
        assert_eq!(of(html, Some("http://x.example/"), Wanted::All), all);
        assert_eq!(of(html, Some("http://x.example/"), Wanted::Anchors), all[..1]);
    }

    #[test]
    fn refreshes_as_servers_write_them() {
        for (content, expected) in [
            ("0; url=http://a/", Some("http://a/")),
            ("0;URL=\"x y\"z", Some("x y")),
            (" 3 , next.html", Some("next.html")),
            ("0 url = 'a'", Some("a")),
            ("5", None),
            ("5;", None),
            ("url=a", None),
            ("0;url=", None),
            ("1.5;ürl", Some("ürl")),
            ("", None),
        ] {
            assert_eq!(refresh_address(content), expected, "{content}");
        }
    }
}
