//! The text around a query's words (Gomes and Smith 2003; Huffman et al. 2007 §3.2.2).
//!
//! Of a page's visible text those terms are kept that stand at most `window` terms from a term of the query; what
//! overlaps is one passage. If all passages together are longer than `most` terms, those with more different words of
//! the query come first, then those that stand earlier. The snippet has them in the order of the page, terms joined by
//! spaces, a line a passage. Splitting query and page by the same rules ([`crate::terms`]) finds words in scripts
//! without spaces as well. Cost: one pass over the text.

use std::collections::HashSet;
use std::ops::Range;

use crate::terms::{Splitter, Terms};

/// Terms one after another, and where each ends.
#[derive(Debug, Default)]
struct Collected {
    bytes: String,
    ends: Vec<usize>,
}

impl Collected {
    fn get(&self, at: usize) -> &str {
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        &self.bytes[start..self.ends[at]]
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }
}

impl Terms for Collected {
    fn term(&mut self, term: &str) {
        self.bytes.push_str(term);
        self.ends.push(self.bytes.len());
    }
}

/// Cuts snippets out of one page after another with the same buffers.
#[derive(Debug, Default)]
pub struct Snippets {
    splitter: Splitter,
    page: Collected,
    query: Collected,
}

/// A passage and how many different words of the query are in it.
struct Passage {
    terms: Range<usize>,
    words: usize,
}

impl Snippets {
    /// The snippet of `text` for `query`; empty if none of its words is there.
    ///
    /// ```
    /// use neardup_core::snippet::Snippets;
    ///
    /// let text = "one two three four five six seven eight";
    /// assert_eq!(Snippets::default().around(text, "Four!", 1, 100), "three four five");
    /// ```
    pub fn around(&mut self, text: &str, query: &str, window: usize, most: usize) -> String {
        self.query.clear();
        self.splitter.split(query, &mut self.query);
        self.page.clear();
        self.splitter.split(text, &mut self.page);
        let words: HashSet<&str> = (0..self.query.ends.len()).map(|at| self.query.get(at)).collect();
        let mut passages = self.passages(&words, window);
        let total: usize = passages.iter().map(|passage| passage.terms.len()).sum();
        if total > most {
            passages.sort_by_key(|passage| (std::cmp::Reverse(passage.words), passage.terms.start));
            let mut room = most;
            for passage in &mut passages {
                passage.terms.end = passage.terms.end.min(passage.terms.start + room);
                room -= passage.terms.len();
            }
            passages.retain(|passage| !passage.terms.is_empty());
            passages.sort_by_key(|passage| passage.terms.start);
        }
        let mut snippet = String::new();
        for passage in passages {
            for (place, at) in passage.terms.enumerate() {
                if !snippet.is_empty() {
                    snippet.push(if place == 0 { '\n' } else { ' ' });
                }
                snippet.push_str(self.page.get(at));
            }
        }
        snippet
    }

    fn passages(&self, words: &HashSet<&str>, window: usize) -> Vec<Passage> {
        let count = self.page.ends.len();
        let mut passages: Vec<Passage> = Vec::new();
        let mut seen: HashSet<&str> = HashSet::new();
        for at in 0..count {
            let term = self.page.get(at);
            if !words.contains(term) {
                continue;
            }
            let (start, end) = (at.saturating_sub(window), (at + window + 1).min(count));
            match passages.last_mut() {
                Some(last) if last.terms.end >= start => {
                    last.terms.end = end;
                    last.words += usize::from(seen.insert(term));
                }
                _ => {
                    seen.clear();
                    seen.insert(term);
                    passages.push(Passage { terms: start..end, words: 1 });
                }
            }
        }
        passages
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn around(text: &str, query: &str, window: usize, most: usize) -> String {
        Snippets::default().around(text, query, window, most)
    }

    /// Without a cap: every term whose neighbourhood holds a word of the query.
    fn naive(text: &str, query: &str, window: usize) -> Vec<String> {
        let (mut page, mut words) = (Vec::<String>::new(), Vec::<String>::new());
        Splitter::default().split(text, &mut page);
        Splitter::default().split(query, &mut words);
        let near = |at: usize| {
            let (start, end) = (at.saturating_sub(window), (at + window + 1).min(page.len()));
            page[start..end].iter().any(|term| words.contains(term))
        };
        (0..page.len()).filter(|&at| near(at)).map(|at| page[at].clone()).collect()
    }

    #[test]
    fn passages_with_more_words_of_the_query_come_first_when_there_is_no_room() {
        let text = "red a b c d e f red blue g h";
        assert_eq!(around(text, "blue red", 1, 100), "red a\nf red blue g");
        assert_eq!(around(text, "blue red", 1, 4), "f red blue g");
        assert_eq!(around(text, "blue red", 1, 5), "red\nf red blue g");
        assert_eq!(around(text, "green", 1, 5), "");
        assert_eq!(around(text, "", 1, 5), "");
        assert_eq!(around(text, "red", 1, 0), "");
    }

    #[test]
    fn scripts_without_spaces_are_searched_too() {
        assert_eq!(around("私は東京都に住む", "東京", 1, 100), "は東 東京 京都");
    }

    proptest! {
        #[test]
        fn a_snippet_is_what_stands_near(text in "[a-f ]{0,60}", query in "[a-f ]{0,5}", window in 0usize..4) {
            let found: Vec<String> =
                around(&text, &query, window, 1000).split_whitespace().map(str::to_owned).collect();
            prop_assert_eq!(found, naive(&text, &query, window));
        }

        #[test]
        fn a_snippet_is_never_longer_than_asked(text in "[a-f ]{0,90}", most in 0usize..12) {
            prop_assert!(around(&text, "a b", 2, most).split_whitespace().count() <= most);
        }
    }
}
