//! The term that stands for an image (Henzinger 2006 §2): the whole URL where it points to another host, only the
//! file's name where it points to the page's own, so that a page mirrored with its images keeps its tokens.

use std::borrow::Cow;

use url::Url;

/// What the images of a page are resolved against.
#[derive(Debug)]
pub struct ImageBase<'a> {
    page: Option<&'a Url>,
    base: Option<Url>,
}

impl<'a> ImageBase<'a> {
    /// `base` is the page's `<base href>`, if it has one.
    pub fn new(page: Option<&'a Url>, base: Option<&str>) -> Self {
        let base = base.and_then(|href| page.map_or_else(|| Url::parse(href), |page| page.join(href)).ok());
        ImageBase { page, base }
    }

    /// The term of an image, or none for `data:` URLs and names that are empty.
    pub fn term<'s>(&self, source: &'s str) -> Option<Cow<'s, str>> {
        if source.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("data:")) {
            return None;
        }
        let Some(page) = self.page else {
            return self.term_without_page(source);
        };
        // Most images are named by a plain relative path: its last segment is all that counts on the own host.
        let base_on_own_host = self.base.as_ref().is_none_or(|base| base.host() == page.host());
        if base_on_own_host && is_plain_path(source) {
            return file_name(source).map(Cow::Borrowed);
        }
        match self.base.as_ref().unwrap_or(page).join(source) {
            Ok(resolved) if resolved.host() == page.host() => {
                file_name(resolved.path()).map(|name| Cow::Owned(name.to_owned()))
            }
            Ok(resolved) => Some(Cow::Owned(resolved.into())),
            Err(_) => file_name(source).map(Cow::Borrowed),
        }
    }

    /// A page without a URL counts relative URLs as its own host's.
    fn term_without_page<'s>(&self, source: &'s str) -> Option<Cow<'s, str>> {
        let absolute = match source.strip_prefix("//") {
            Some(rest) => Url::parse(&format!("http://{rest}")),
            None => Url::parse(source),
        };
        match absolute {
            Ok(url) if url.has_host() => Some(Cow::Owned(url.into())),
            _ => file_name(source).map(Cow::Borrowed),
        }
    }
}

/// What lasts of the term of an image: the file's name without query and without the pieces that a cache puts there,
/// letters mixed with digits, or none if nothing is left.
///
/// ```
/// use neardup_core::image::lasting_name;
///
/// assert_eq!(lasting_name("https://cdn.example/a/logo.3f2a9bc1.png?v=7").as_deref(), Some("logo.png"));
/// assert_eq!(lasting_name("https://cdn.example/u/69403976?s=80"), None);
/// ```
pub fn lasting_name(term: &str) -> Option<String> {
    let name = file_name(term)?;
    let of_a_cache = |piece: &str| {
        let digits = piece.bytes().filter(u8::is_ascii_digit).count();
        piece.len() >= 8 && digits > 0
    };
    let kept: Vec<&str> = name.split(['.', '-', '_', '%']).filter(|piece| !of_a_cache(piece)).collect();
    let kept = kept.join(".");
    (!kept.is_empty()).then_some(kept)
}

/// Neither a scheme nor a host nor a character that parsing would change.
fn is_plain_path(source: &str) -> bool {
    !source.starts_with("//")
        && source.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/._-?=&#".contains(&byte))
        && !source.ends_with("..")
}

/// The last path segment, without query and fragment.
fn file_name(path: &str) -> Option<&str> {
    let path = path.split(['?', '#']).next().unwrap_or(path);
    let name = path.rsplit('/').next().unwrap_or(path);
    (!name.is_empty() && name != ".").then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn term(page: Option<&str>, base: Option<&str>, source: &str) -> Option<String> {
        let page = page.map(|page| Url::parse(page).unwrap());
        ImageBase::new(page.as_ref(), base).term(source).map(Cow::into_owned)
    }

    #[test]
    fn own_host_gives_the_file_name_and_others_the_whole_url() {
        let page = Some("http://a.example/dir/page.html");
        for (source, expected) in [
            ("pic.gif", Some("pic.gif")),
            ("/i/pic.gif?v=3#x", Some("pic.gif")),
            ("http://a.example/i/pic.gif?v=3", Some("pic.gif")),
            ("//a.example:80/i/pic.gif", Some("pic.gif")),
            ("my pic.gif", Some("my%20pic.gif")),
            ("http://b.example/i/Pic.gif?v=3", Some("http://b.example/i/Pic.gif?v=3")),
            ("//b.example/p.png", Some("http://b.example/p.png")),
            ("data:image/png;base64,AAAA", None),
            ("DATA:image/png;base64,AAAA", None),
            ("/i/", None),
            ("?x=1", None),
            ("http://[broken/pic.gif", Some("pic.gif")),
        ] {
            assert_eq!(term(page, None, source).as_deref(), expected, "{source}");
        }
    }

    #[test]
    fn base_moves_relative_urls() {
        let page = Some("http://a.example/dir/page.html");
        assert_eq!(term(page, Some("http://c.example/x/"), "p.gif").unwrap(), "http://c.example/x/p.gif");
        assert_eq!(term(page, Some("/other/"), "p.gif").unwrap(), "p.gif");
    }

    #[test]
    fn without_a_page_url_relative_means_own() {
        assert_eq!(term(None, None, "/i/p.gif?x").unwrap(), "p.gif");
        assert_eq!(term(None, None, "http://b.example/p.gif").unwrap(), "http://b.example/p.gif");
        assert_eq!(term(None, Some("http://c.example/"), "p.gif").unwrap(), "p.gif");
    }
}
