//! What changes on a page by itself: dates and times, "10 minutes ago", counters, session ids.
//!
//! Idea: a term by itself is a number, a name of a month, or a word; what makes it noise is its neighbours. A number
//! beside a month is a date; a number beside `ago` is an age; a number beside `views` is a counter; a number beside
//! nothing of the kind may be a telephone number, a price, an article of law, and stays. So every term has a [`Kind`],
//! and a run of such terms that makes a date, an age or a counter is read as one and the same token, whatever it says.
//! Long mixtures of letters and digits (session ids, message ids, cache keys) are that token by themselves.
//! "Within 30 days" is no noise, nor is a lone year.
//!
//! Languages: the names of months and the words around ages and counters in English, German, French, Spanish,
//! Italian, Portuguese, Dutch and Russian; years, months and days as Chinese, Japanese and Korean write them.
//! Cost: one look into a small table a term.

use std::sync::OnceLock;

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
    /// A number with the sign of a year, month, day or hour, as Korean writes it.
    Dated,
    Month,
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

const MONTHS: &str = "january february march april may june july august september october november december \
    jan feb mar apr jun jul aug sep sept oct nov dec \
    januar februar märz mai juni juli oktober dezember mär okt dez \
    janvier février mars avril juin juillet août septembre octobre novembre décembre janv févr juil déc \
    enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre ene abr ago dic \
    gennaio febbraio aprile maggio giugno luglio settembre ottobre dicembre gen mag giu lug set ott \
    janeiro fevereiro março maio junho julho setembro outubro novembro dezembro fev mai out \
    januari februari maart mei augustus mrt \
    января февраля марта апреля мая июня июля августа сентября октября ноября декабря \
    am pm utc gmt cet cest est edt pst pdt 年 月 日 时 時 分 秒 年度";
const AGO: &str = "ago vor hace fa atrás geleden назад 前 전";
const UNITS: &str = "minute minutes min mins hour hours hr hrs day days week weeks month months year years \
    minuten stunde stunden tag tagen tage woche wochen monat monaten monate jahr jahren jahre \
    minuto minutos hora horas día días semana semanas mes meses año años \
    minuti ora ore giorno giorni settimana settimane mese mesi anno anni \
    dia dias mês uur dag dagen weken maanden jaar \
    минут минуты минуту час часа часов день дня дней недель недели месяц месяца месяцев год года лет \
    分钟 分鐘 小时 小時 時間 분 시간 일 주 개월";
const SECONDS: &str = "second seconds sec secs ms sekunde sekunden seconde secondes segundo segundos secondi seconden \
    секунд секунды сек";
const COUNTERS: &str = "view views visitor visitors visit visits hits comments likes followers downloads online \
    aufrufe besucher kommentare zugriffe vues visiteurs commentaires visitas visitantes comentarios \
    visite visitatori commenti visualizações bezoekers reacties просмотров посетителей комментариев";

struct Words {
    /// A bit for the lowest bits of each word's token: most terms are told to be none of them at a glance.
    glance: [u64; 64],
    sorted: Vec<(u64, Kind)>,
}

fn words() -> &'static Words {
    static WORDS: OnceLock<Words> = OnceLock::new();
    WORDS.get_or_init(|| {
        let lists = [
            (MONTHS, Kind::Month),
            (AGO, Kind::Ago),
            (UNITS, Kind::Unit),
            (SECONDS, Kind::Seconds),
            (COUNTERS, Kind::Counter),
        ];
        let of = |(list, kind): (&'static str, Kind)| {
            list.split_whitespace().map(move |word| (fold_term(word.as_bytes()), kind))
        };
        let mut sorted: Vec<(u64, Kind)> = lists.into_iter().flat_map(of).collect();
        sorted.sort_unstable();
        // A word of two lists is what the earlier one says.
        sorted.dedup_by_key(|entry| entry.0);
        let mut glance = [0; 64];
        for (token, _) in &sorted {
            glance[(token >> 6 & 63) as usize] |= 1 << (token & 63);
        }
        Words { glance, sorted }
    })
}

impl Words {
    #[inline(always)]
    fn kind(&self, token: u64) -> Kind {
        if self.glance[(token >> 6 & 63) as usize] >> (token & 63) & 1 == 0 {
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
        (1.., "") => Kind::Number,
        (1..=4, "년" | "월" | "일" | "시" | "분" | "초") => Kind::Dated,
        _ if term.len() >= LONG && is_mixture(term) => Kind::Identifier,
        _ => words().kind(token),
    }
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
                if is_noise(&kinds[at..at + length]) {
                    out.push(NOISE);
                } else {
                    out.extend_from_slice(&tokens[at..at + length]);
                }
                at += length;
            }
        }
    }
}

/// Whether numbers and words in a row are a date, an age, a counter, or the time that something took.
fn is_noise(run: &[Kind]) -> bool {
    let count = |wanted: &[Kind]| run.iter().filter(|kind| wanted.contains(kind)).count();
    let small = count(&[Kind::Small]);
    let years = count(&[Kind::Year]);
    let numbers = small + years + count(&[Kind::Number]);
    let dated = count(&[Kind::Dated]);
    (count(&[Kind::Month, Kind::Ago, Kind::Counter]) > 0 && numbers + dated > 0)
        || dated >= 2
        || (years > 0 && small >= 2)
        || (count(&[Kind::Seconds]) > 0 && numbers >= 2)
}

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
            ("chapter 日本", "chapter 本日"),
        ] {
            assert_ne!(quiet(a), quiet(b), "{a} | {b}");
        }
    }

    #[test]
    fn words_of_every_list_have_their_kind() {
        for (list, kind) in [(AGO, Kind::Ago), (SECONDS, Kind::Seconds), (COUNTERS, Kind::Counter)] {
            for word in
                list.split_whitespace().filter(|word| !MONTHS.split_whitespace().any(|month| month == *word))
            {
                assert_eq!(super::kind(word), kind, "{word}");
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
                || (has(Kind::Year) && small > 1)
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
                "may|march|2025|1789|[0-9]{1,5}|ago|vor|days|seconds|views|10월|23일|word|other|[a-f0-9]{14,18}|年|日",
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
