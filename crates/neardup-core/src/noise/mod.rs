//! What changes on a page by itself: dates and times, "10 minutes ago", counters, session ids.
//!
//! Idea: a term by itself is a number, a name of a month, or a word; what makes it noise is its neighbours. A number
//! beside a month is a date; a number beside `ago` is an age; a number beside `views` is a counter; a number beside
//! nothing of the kind may be a telephone number, a price, an article of law, and stays. So every term has a [`Kind`],
//! and a run of such terms that makes a date, an age or a counter is read as one and the same token, whatever it says.
//! Long mixtures of letters and digits (session ids, message ids, cache keys), and very long numbers, are that token by
//! themselves.
//! "Within 30 days" is no noise, nor is a lone year.
//!
//! Languages: the names of months and the words around ages and counters in English, German, French, Spanish,
//! Italian, Portuguese, Dutch, Russian, Arabic and Hindi; years, months and days as Chinese, Japanese and Korean write
//! them. The table is in [`words`]. It is read once more by those who say what a difference between two pages is
//! ([`look`], [`runs`]). Cost: one look into a small table a term.

pub mod words;

use std::sync::OnceLock;

use self::words::{LISTS, List, ZEROS, in_digits};

use crate::format::{SEED_CONTENT, splitmix};
use crate::hash::{fold_short, fold_term};
use crate::terms::Terms;

/// What a term may be a part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Kind {
    Word,
    /// One or two digits: a day, an hour.
    Small,
    Year,
    Number,
    /// A number with the sign of a year, month, day or hour, as Korean writes it; 9pm; the 23T14 and 01Z of a time stamp.
    Dated,
    /// The name of a month, or another sign that a number is a date or a time.
    Month,
    /// Part of a date that has another part.
    Weekday,
    /// What makes a length of time an age.
    Ago,
    /// Minutes, hours, days.
    Unit,
    Seconds,
    /// What is counted on pages: views, visitors.
    Counter,
    /// A mixture of letters and digits that nobody reads.
    Identifier,
}

/// The token that stands for all noise.
pub const NOISE: u64 = splitmix(SEED_CONTENT, 0);

/// Letters and digits from which on a mixture of both is an identifier, and digits that it needs.
const LONG: usize = 16;
const DIGITS: usize = 4;

struct Words {
    /// A bit for the lowest bits of each word's token: most terms are told to be none of them at a glance.
    glance: [u64; 256],
    sorted: Vec<(u64, Kind)>,
    /// The lists that each word is in, as bits.
    lists: Vec<(u64, u16)>,
}

fn words() -> &'static Words {
    static WORDS: OnceLock<Words> = OnceLock::new();
    WORDS.get_or_init(|| {
        let (mut sorted, mut lists) = (Vec::new(), Vec::new());
        for (list, text) in LISTS {
            for word in text.split_whitespace() {
                let token = fold_term(word.as_bytes());
                lists.push((token, 1 << list as u16));
                sorted.extend(list.kind().map(|kind| (token, kind)));
            }
        }
        for zero in ZEROS {
            let number = |number, kind| (fold_term(in_digits(number, zero).as_bytes()), kind);
            sorted.extend((0..=60).map(|small| number(small, Kind::Small)));
            sorted.extend((1990..=2099).map(|year| number(year, Kind::Year)));
        }
        // Of a word in several lists, the first decides.
        sorted.sort_by_key(|entry| entry.0);
        sorted.dedup_by_key(|entry| entry.0);
        lists.sort_unstable();
        lists.dedup_by(|next, one| {
            let same = next.0 == one.0;
            one.1 |= if same { next.1 } else { 0 };
            same
        });
        let mut glance = [0; 256];
        for (token, _) in &sorted {
            glance[(token >> 6 & 255) as usize] |= 1 << (token & 63);
        }
        Words { glance, sorted, lists }
    })
}

impl Words {
    #[inline(always)]
    fn kind(&self, token: u64) -> Kind {
        if self.glance[(token >> 6 & 255) as usize] >> (token & 63) & 1 == 0 {
            return Kind::Word;
        }
        let found = self.sorted.binary_search_by_key(&token, |entry| entry.0);
        found.map_or(Kind::Word, |at| self.sorted[at].1)
    }
}

/// The kind of a term.
///
/// ```
/// use neardup_core::noise::{Kind, kind};
///
/// assert_eq!(kind("october"), Kind::Month);
/// assert_eq!(kind("2025"), Kind::Year);
/// assert_eq!(kind("3f2a9bc11d00e4a7"), Kind::Identifier);
/// assert_eq!(kind("fish"), Kind::Word);
/// ```
pub fn kind(term: &str) -> Kind {
    of_token(term, fold_term(term.as_bytes()))
}

fn of_token(term: &str, token: u64) -> Kind {
    let digits = term.bytes().take_while(u8::is_ascii_digit).count();
    let rest = &term[digits..];
    match (digits, rest) {
        (1 | 2, "" | "st" | "nd" | "rd" | "th" | "er") => Kind::Small,
        (4, "") if ("1990"..="2099").contains(&term) => Kind::Year,
        (18.., "") => Kind::Identifier,
        (1.., "") => Kind::Number,
        (1..=4, "년" | "월" | "일" | "시" | "분" | "초") => Kind::Dated,
        (1 | 2, "am" | "pm" | "h" | "z") => Kind::Dated,
        (1 | 2, _) if is_hour(rest) => Kind::Dated,
        _ if term.len() >= LONG && is_mixture(term) => Kind::Identifier,
        _ => words().kind(token),
    }
}

/// The hour behind the day of a time stamp: 23T14 of 2025-10-23T14:33.
fn is_hour(rest: &str) -> bool {
    matches!(rest.as_bytes(), [b't', hour @ ..] if matches!(hour.len(), 1 | 2) && hour.iter().all(u8::is_ascii_digit))
}

fn is_mixture(term: &str) -> bool {
    let digits = term.bytes().filter(u8::is_ascii_digit).count();
    term.bytes().all(|byte| byte.is_ascii_alphanumeric()) && digits >= DIGITS && digits < term.len()
}

/// Takes terms as tokens, and the kind of each.
#[derive(Debug)]
pub struct NotedTokens<'a> {
    pub tokens: &'a mut Vec<u64>,
    pub kinds: &'a mut Vec<Kind>,
}

impl Terms for NotedTokens<'_> {
    fn term(&mut self, term: &str) {
        let token = fold_term(term.as_bytes());
        self.tokens.push(token);
        self.kinds.push(of_token(term, token));
    }

    #[inline(always)]
    fn short_term(&mut self, low: u64, high: u64, length: usize) {
        let token = fold_short(low, high, length);
        self.tokens.push(token);
        // A digit in front, or room for an identifier: the letters themselves must be looked at.
        let kind = if (low as u8).is_ascii_digit() || length >= LONG {
            let mut bytes = [0u8; 16];
            bytes[..8].copy_from_slice(&low.to_le_bytes());
            bytes[8..].copy_from_slice(&high.to_le_bytes());
            of_token(std::str::from_utf8(&bytes[..length]).unwrap_or_default(), token)
        } else {
            words().kind(token)
        };
        self.kinds.push(kind);
    }
}

/// Appends the tokens of one block to `out`, each run of noise as one [`NOISE`].
pub fn quieted(tokens: &[u64], kinds: &[Kind], out: &mut Vec<u64>) {
    let mut at = 0;
    while at < tokens.len() {
        match kinds[at] {
            Kind::Word => {
                out.push(tokens[at]);
                at += 1;
            }
            Kind::Identifier => {
                out.push(NOISE);
                at += 1;
            }
            _ => {
                let part = |kind: &Kind| !matches!(kind, Kind::Word | Kind::Identifier);
                let length = kinds[at..].iter().take_while(|kind| part(kind)).count();
                if noise(&kinds[at..at + length]).is_some() {
                    out.push(NOISE);
                } else {
                    out.extend_from_slice(&tokens[at..at + length]);
                }
                at += length;
            }
        }
    }
}

/// What numbers and words in a row are, if they are noise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Noise {
    /// A date or a time, or an age.
    Date = 1,
    Counter,
    /// The time that something took.
    Duration,
    Identifier,
}

/// Whether numbers and words in a row are a date, an age, a counter, or the time that something took.
fn noise(run: &[Kind]) -> Option<Noise> {
    let count = |wanted: &[Kind]| run.iter().filter(|kind| wanted.contains(kind)).count();
    let small = count(&[Kind::Small]);
    let years = count(&[Kind::Year]);
    let numbers = small + years + count(&[Kind::Number]);
    let dated = count(&[Kind::Dated]);
    if count(&[Kind::Month, Kind::Ago]) > 0 && numbers + dated > 0
        || dated >= 2
        || years > 0 && small + dated >= 2
    {
        Some(Noise::Date)
    } else if count(&[Kind::Counter]) > 0 && numbers + dated > 0 {
        Some(Noise::Counter)
    } else {
        (count(&[Kind::Seconds]) > 0 && numbers >= 2).then_some(Noise::Duration)
    }
}

/// For each of a block's terms what the run it is in is, if it is noise: what [`quieted`] makes one token of.
pub fn runs(kinds: &[Kind]) -> Vec<Option<Noise>> {
    let part = |kind: &Kind| !matches!(kind, Kind::Word | Kind::Identifier);
    let mut found = Vec::with_capacity(kinds.len());
    while found.len() < kinds.len() {
        let rest = &kinds[found.len()..];
        let length = rest.iter().take_while(|kind| part(kind)).count();
        found.extend(std::iter::repeat_n(noise(&rest[..length]), length));
        if let Some(next) = rest.get(length) {
            found.push((*next == Kind::Identifier).then_some(Noise::Identifier));
        }
    }
    found
}

/// What a term looks like to those who say what a difference is: the lists it is in, as bits, and more.
///
/// ```
/// use neardup_core::noise::{look, words::List, DATE_PART};
///
/// assert_eq!(look("updated"), 1 << List::Updated as u32);
/// assert_eq!(look("23"), DATE_PART);
/// ```
pub fn look(term: &str) -> u32 {
    let token = fold_term(term.as_bytes());
    let words = words();
    let found = words.lists.binary_search_by_key(&token, |entry| entry.0);
    let lists = found.map_or(0, |at| u32::from(words.lists[at].1));
    let part = match of_token(term, token) {
        Kind::Small | Kind::Year | Kind::Dated | Kind::Month | Kind::Weekday | Kind::Ago | Kind::Unit => true,
        // A time of day, or all of a date in one number.
        Kind::Number => matches!(term.len(), 3 | 4 | 8 | 14),
        _ => lists & (1 << List::Letters as u32) != 0,
    };
    lists | if part { DATE_PART } else { 0 }
}

/// Of [`look`]: the term can be part of a date, a time or an age.
pub const DATE_PART: u32 = 1 << 16;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::Splitter;
    use proptest::prelude::*;

    fn read(text: &str) -> (Vec<u64>, Vec<Kind>) {
        let (mut tokens, mut kinds) = (Vec::new(), Vec::new());
        Splitter::default().split(text, &mut NotedTokens { tokens: &mut tokens, kinds: &mut kinds });
        (tokens, kinds)
    }

    fn quiet(text: &str) -> Vec<u64> {
        let (tokens, kinds) = read(text);
        let mut out = Vec::new();
        quieted(&tokens, &kinds, &mut out);
        out
    }

    #[test]
    fn what_changes_by_itself_is_one_token() {
        for (a, b) in [
            ("Last updated October 23, 2025 15:25", "Last updated April 2, 2026"),
            ("updated 10 minutes ago by Louise", "updated 4 days ago by Louise"),
            ("Stand: 3. März 2024", "Stand: 12. Dezember 2025"),
            ("vor 5 Minuten geändert", "vor 2 Tagen geändert"),
            ("mis à jour le 1er août 2025", "mis à jour le 14 juillet 2026"),
            ("hace 3 horas", "hace 12 días"),
            ("обновлено 5 мая 2024", "обновлено 17 июня 2025"),
            ("5 минут назад", "2 часа назад"),
            ("2025年10月23日", "2026年4月2日"),
            ("2025년 10월 23일", "2026년 4월 2일"),
            ("23/10/2025", "02.04.2026"),
            ("2025-10-23 14:33:01", "2026-04-02 08:00:59"),
            ("12,345 views", "9 views"),
            ("page made in 0.123 seconds", "page made in 1.071 seconds"),
            ("2025-10-23T14:33:01Z", "2026-04-02T08:00:59Z"),
            ("Monday, 3 April 2006, 9pm", "Tuesday, 4 May 2007, 11am"),
            ("٥ مايو ٢٠٢٤", "١٧ يونيو ٢٠٢٥"),
            ("5 मई 2024", "१७ जून २०२५"),
            ("order 123456789012345678", "order 923456789012345678"),
            ("session 9f86d081884c7d65", "session a3c1f0b255ad015e"),
        ] {
            assert_eq!(quiet(a), quiet(b), "{a} | {b}");
        }
    }

    #[test]
    fn what_says_something_stays() {
        for (a, b) in [
            ("call 020 7946 0018", "call 020 7946 0991"),
            ("within 30 days", "within 60 days"),
            ("since 2019", "since 2020"),
            ("section 12", "section 13"),
            ("price 12.50", "price 13.50"),
            ("you may leave", "you can leave"),
            ("open Monday", "open Tuesday"),
            ("a table for 4 guests", "a table for 6 guests"),
            ("chapter 日本", "chapter 本日"),
        ] {
            assert_ne!(quiet(a), quiet(b), "{a} | {b}");
        }
    }

    #[test]
    fn words_of_every_list_have_their_kind() {
        let mut seen: Vec<&str> = Vec::new();
        for (list, text) in LISTS {
            for word in text.split_whitespace() {
                assert_eq!(look(word) >> list as u32 & 1, 1, "{word}");
                if let Some(kind) = list.kind()
                    && !seen.contains(&word)
                {
                    assert_eq!(super::kind(word), kind, "{word}");
                    seen.push(word);
                }
            }
        }
    }

    /// A word that terms are cut or folded from would never be met.
    #[test]
    fn every_word_is_a_term() {
        for word in LISTS.iter().flat_map(|list| list.1.split_whitespace()) {
            let mut terms: Vec<String> = Vec::new();
            Splitter::default().split(word, &mut terms);
            assert_eq!(terms, [word]);
        }
        for zero in ZEROS {
            let mut terms: Vec<String> = Vec::new();
            Splitter::default().split(&in_digits(2024, zero), &mut terms);
            assert_eq!(terms, [in_digits(2024, zero)]);
        }
    }

    /// Every month makes a number beside it a date, every sign of an age an age, every counter a count.
    #[test]
    fn every_word_makes_noise_of_a_number() {
        for (list, expected) in [
            (List::Months, Noise::Date),
            (List::Clock, Noise::Date),
            (List::Ago, Noise::Date),
            (List::Counters, Noise::Counter),
        ] {
            let (_, text) = LISTS[list as usize];
            for word in text.split_whitespace() {
                let kinds = [kind("17"), kind(word), kind("2024")];
                let expected = if kind(word) == Kind::Month { Noise::Date } else { expected };
                assert_eq!(runs(&kinds), [Some(expected); 3], "{word}");
            }
        }
    }

    /// The rules once more, over the terms themselves.
    fn naive(terms: &[String]) -> Vec<u64> {
        let mut out = Vec::new();
        let mut run: Vec<&String> = Vec::new();
        let flush = |run: &mut Vec<&String>, out: &mut Vec<u64>| {
            let kinds: Vec<Kind> = run.iter().map(|term| kind(term)).collect();
            let has = |wanted: Kind| kinds.contains(&wanted);
            let numbers =
                kinds.iter().filter(|kind| matches!(kind, Kind::Small | Kind::Year | Kind::Number)).count();
            let dated = kinds.iter().filter(|&&kind| kind == Kind::Dated).count();
            let small = kinds.iter().filter(|&&kind| kind == Kind::Small).count();
            let named = has(Kind::Month) || has(Kind::Ago) || has(Kind::Counter);
            if (named && numbers + dated > 0)
                || dated > 1
                || (has(Kind::Year) && small + dated > 1)
                || (has(Kind::Seconds) && numbers > 1)
            {
                out.push(NOISE);
            } else {
                out.extend(run.iter().map(|term| fold_term(term.as_bytes())));
            }
            run.clear();
        };
        for term in terms {
            match kind(term) {
                Kind::Word => {
                    flush(&mut run, &mut out);
                    out.push(fold_term(term.as_bytes()));
                }
                Kind::Identifier => {
                    flush(&mut run, &mut out);
                    out.push(NOISE);
                }
                _ => run.push(term),
            }
        }
        flush(&mut run, &mut out);
        out
    }

    proptest! {
        #[test]
        fn agrees_with_the_rules(
            terms in prop::collection::vec(
                "may|march|2025|1789|monday|9pm|23t14|[0-9]{1,5}|ago|vor|days|seconds|views|10월|23일|word|other|[a-f0-9]{14,18}|年|日",
                0..30,
            ),
        ) {
            prop_assert_eq!(quiet(&terms.join(" ")), naive(&terms));
        }

        #[test]
        fn tokens_are_what_they_are_without_noting(text: String) {
            let (tokens, kinds) = read(&text);
            let mut terms: Vec<String> = Vec::new();
            Splitter::default().split(&text, &mut terms);
            prop_assert_eq!(tokens, terms.iter().map(|term| fold_term(term.as_bytes())).collect::<Vec<_>>());
            prop_assert_eq!(kinds, terms.iter().map(|term| kind(term)).collect::<Vec<_>>());
        }
    }
}
