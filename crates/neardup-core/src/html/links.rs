//! Where a page links to: the targets of its `a` and `area` elements, resolved and normalised.
//!
//! A target is an absolute http(s) URL without its fragment, in the URL Standard's serialisation, so that the ways of
//! writing one address become one string. Malformed links are left out.

use std::collections::BTreeSet;

use url::Url;

use super::scanner::{Sink, Tag, scan};

/// The distinct targets of a page at `page`, the page itself left out, sorted.
pub fn links(html: &str, page: Option<&Url>) -> BTreeSet<String> {
    let mut found = Hrefs::default();
    scan(html, &mut found);
    let own = page.map(normalised);
    let base = match (found.base, page) {
        (Some(base), Some(page)) => page.join(&base).ok().or_else(|| Some(page.clone())),
        (Some(base), None) => Url::parse(&base).ok(),
        (None, page) => page.cloned(),
    };
    let resolve = |href: &String| match &base {
        Some(base) => base.join(href).ok(),
        None => Url::parse(href).ok(),
    };
    let targets =
        found.hrefs.iter().filter_map(resolve).filter(|url| matches!(url.scheme(), "http" | "https"));
    targets.map(|url| normalised(&url)).filter(|target| Some(target) != own.as_ref()).collect()
}

/// A URL as a link target is written: without its fragment.
pub fn normalised(url: &Url) -> String {
    let mut url = url.clone();
    url.set_fragment(None);
    url.into()
}

#[derive(Default)]
struct Hrefs {
    hrefs: Vec<String>,
    base: Option<String>,
}

impl<'a> Sink<'a> for Hrefs {
    fn start_tag(&mut self, tag: Tag<'a>) {
        let is_base = tag.name.is("base");
        if !is_base && !tag.name.is("a") && !tag.name.is("area") {
            return;
        }
        let Some(href) = tag.attributes.get("href") else { return };
        let href = href.value().trim_ascii().to_owned();
        if !is_base {
            self.hrefs.push(href);
        } else if self.base.is_none() {
            self.base = Some(href);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(html: &str, page: Option<&str>) -> Vec<String> {
        links(html, page.map(|page| Url::parse(page).unwrap()).as_ref()).into_iter().collect()
    }

    #[test]
    fn targets_are_resolved_and_told_once() {
        let html = "<a href='b.html#x'>1</a><A HREF=' /c '>2</a><area href=b.html><a href='mailto:x@y'>\
            <a name=z><a href='http://[bad'><a href='#top'><a href='https://O.example'>";
        let expected = ["http://a.example/c", "http://a.example/d/b.html", "https://o.example/"];
        assert_eq!(of(html, Some("http://a.example/d/p.html")), expected);
    }

    #[test]
    fn base_counts_and_relative_links_without_any_base_do_not() {
        let html = "<base href='http://b.example/x/'><a href=y>";
        assert_eq!(of(html, Some("http://a.example/")), ["http://b.example/x/y"]);
        assert_eq!(of(html, None), ["http://b.example/x/y"]);
        assert_eq!(of("<a href=y><a href=http://c.example/>", None), ["http://c.example/"]);
    }
}
