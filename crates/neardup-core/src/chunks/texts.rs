//! Pages as the text of their terms: what methods look at that ask for letters, which tokens, being hashes, hide.

/// Lists of terms end to end, as Arrow lays out a list of strings: the terms of page i are those with numbers
/// `pages[i]..pages[i + 1]`, and the bytes of term j are `bytes[ends[j]..ends[j + 1]]`.
#[derive(Clone, Copy, Debug)]
pub struct TermLists<'a> {
    pub pages: &'a [i64],
    pub ends: &'a [i64],
    pub bytes: &'a [u8],
}

impl<'a> TermLists<'a> {
    pub fn len(&self) -> usize {
        self.pages.len().saturating_sub(1)
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn iter(&self) -> impl Iterator<Item = PageTerms<'a>> {
        let lists = *self;
        (0..lists.len()).map(move |at| PageTerms {
            ends: &lists.ends[lists.pages[at] as usize..lists.pages[at + 1] as usize + 1],
            bytes: lists.bytes,
        })
    }
}

/// The terms of one page.
#[derive(Clone, Copy, Debug)]
pub struct PageTerms<'a> {
    ends: &'a [i64],
    bytes: &'a [u8],
}

impl<'a> PageTerms<'a> {
    pub fn iter(&self) -> impl Iterator<Item = &'a [u8]> + Clone {
        let page = *self;
        page.ends.windows(2).map(move |place| &page.bytes[place[0] as usize..place[1] as usize])
    }

    /// The terms with one space between two: the page's text in its normal form.
    pub fn joined(&self, out: &mut Vec<u8>) {
        out.clear();
        for term in self.iter() {
            if !out.is_empty() {
                out.push(b' ');
            }
            out.extend_from_slice(term);
        }
    }
}

/// The first `letters` characters of a term in UTF-8, all of it if it is shorter.
#[inline]
pub fn prefix(term: &[u8], letters: usize) -> &[u8] {
    let starts = term.iter().enumerate().filter(|&(_, &byte)| byte & 0b1100_0000 != 0b1000_0000);
    let end = starts.map(|(at, _)| at).nth(letters).unwrap_or(term.len());
    &term[..end]
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Terms laid out, for tests.
    #[derive(Debug)]
    pub(crate) struct Owned {
        pages: Vec<i64>,
        ends: Vec<i64>,
        bytes: Vec<u8>,
    }

    impl Owned {
        pub(crate) fn new(pages: &[&[&str]]) -> Self {
            let mut owned = Owned { pages: vec![0], ends: vec![0], bytes: Vec::new() };
            for page in pages {
                for term in *page {
                    owned.bytes.extend_from_slice(term.as_bytes());
                    owned.ends.push(owned.bytes.len() as i64);
                }
                owned.pages.push(owned.ends.len() as i64 - 1);
            }
            owned
        }

        pub(crate) fn lists(&self) -> TermLists<'_> {
            TermLists { pages: &self.pages, ends: &self.ends, bytes: &self.bytes }
        }
    }

    #[test]
    fn pages_have_their_own_terms() {
        let owned = Owned::new(&[&["one", "two"], &[], &["drei"]]);
        let lists = owned.lists();
        let all: Vec<Vec<&[u8]>> = lists.iter().map(|page| page.iter().collect()).collect();
        assert_eq!(all, [vec![&b"one"[..], b"two"], vec![], vec![b"drei"]]);
        let mut text = Vec::new();
        lists.iter().next().expect("a page").joined(&mut text);
        assert_eq!(text, b"one two");
    }

    #[test]
    fn prefixes_are_counted_in_characters() {
        assert_eq!(prefix("straße".as_bytes(), 5), "straß".as_bytes());
        assert_eq!(prefix("über".as_bytes(), 1), "ü".as_bytes());
        assert_eq!(prefix(b"ab", 3), b"ab");
        assert_eq!(prefix(b"ab", 0), b"");
        assert_eq!(prefix(b"", 2), b"");
    }
}
