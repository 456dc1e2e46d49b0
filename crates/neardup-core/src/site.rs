//! The site of a page: what "same site" and "different site" mean.
//!
//! By default the registrable domain of the host by the public suffix list (its release is pinned: it is part of
//! the format). Henzinger 2006 (§1) takes the host if it has at most one dot, else the host minus what stands
//! before its first dot; that rule is offered too, and puts every `.co.uk` shop on one site.

use url::{Host, Url};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SiteRule {
    #[default]
    Registrable,
    Henzinger,
}

/// The site of `url`, or none if it has no host.
pub fn site(url: &Url, rule: SiteRule) -> Option<String> {
    let host = match url.host()? {
        Host::Domain(host) => host.trim_end_matches('.'),
        Host::Ipv4(_) | Host::Ipv6(_) => return url.host_str().map(str::to_owned),
    };
    if host.is_empty() {
        return None;
    }
    let site = match rule {
        SiteRule::Registrable => psl::domain_str(host).unwrap_or(host),
        SiteRule::Henzinger => match host.split_once('.') {
            Some((_, rest)) if rest.contains('.') => rest,
            _ => host,
        },
    };
    Some(site.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(url: &str, rule: SiteRule) -> Option<String> {
        site(&Url::parse(url).unwrap(), rule)
    }

    #[test]
    fn registrable_domains() {
        for (url, expected) in [
            ("http://www.cs.berkeley.edu/index.html", "berkeley.edu"),
            ("https://shop.example.co.uk/", "example.co.uk"),
            ("https://example.co.uk", "example.co.uk"),
            ("http://alice.github.io/", "alice.github.io"),
            ("http://WWW.Bücher.DE/", "xn--bcher-kva.de"),
            ("http://localhost:8000/x", "localhost"),
            ("http://co.uk/", "co.uk"),
            ("http://192.168.0.1/a", "192.168.0.1"),
            ("http://[::1]/a", "[::1]"),
            ("http://a.b.alpha.example/", "alpha.example"),
            ("http://www.example.com./", "example.com"),
        ] {
            assert_eq!(of(url, SiteRule::Registrable).as_deref(), Some(expected), "{url}");
        }
        assert_eq!(of("file:///tmp/x", SiteRule::Registrable), None);
        assert_eq!(of("mailto:a@b", SiteRule::Registrable), None);
    }

    #[test]
    fn the_papers_rule() {
        for (url, expected) in [
            ("http://www.cs.berkeley.edu/index.html", "cs.berkeley.edu"),
            ("http://berkeley.edu/", "berkeley.edu"),
            ("http://example.co.uk/", "co.uk"),
            ("http://localhost/", "localhost"),
            ("http://10.0.0.1/", "10.0.0.1"),
        ] {
            assert_eq!(of(url, SiteRule::Henzinger).as_deref(), Some(expected), "{url}");
        }
    }
}
