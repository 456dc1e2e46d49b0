//! The text form of rules: `keys between evidence`, each with its numbers, as in `pairs(0) any bits(1,355)`.
//!
//! ```text
//! rule     = keys " " between " " evidence
//! keys     = columns(c) | pairs(c) | pieces(c,n) | groups(c,n) | sets(s)
//! between  = any | same-site | different-site
//! evidence = key | columns(c,least) | bits(c,least) | bits(c,least)+lanes | lanes
//!          | sets(s,least) | larger-sets(s,least)
//! lanes    = lanes(c,bits,lanes,least)
//! ```
//!
//! It is how a rule comes from Python, and what a plan's digest is of. Numbers come back as they went.

use std::fmt;
use std::str::FromStr;

use super::{Between, Evidence, KeySource, Plan, Rule};
use crate::error::{Error, Result};

impl fmt::Display for Between {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Between::Any => "any",
            Between::SameSite => "same-site",
            Between::DifferentSite => "different-site",
        })
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} {} {}", self.keys, self.between, self.evidence)
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:?} {}", self.columns.widths, self.columns.sets)?;
        self.rules.iter().try_for_each(|rule| write!(out, "; {rule}"))
    }
}

/// A term of the text form: its name, and its numbers as they are written.
pub(super) fn term(text: &str) -> Option<(&str, Vec<&str>)> {
    let Some((name, rest)) = text.split_once('(') else { return Some((text, Vec::new())) };
    Some((name, rest.strip_suffix(')')?.split(',').collect()))
}

fn between(text: &str) -> Option<Between> {
    [Between::Any, Between::SameSite, Between::DifferentSite]
        .into_iter()
        .find(|known| known.to_string() == text)
}

impl FromStr for Rule {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let parts: Vec<&str> = text.split(' ').collect();
        let rule = match &parts[..] {
            &[first, second, third] => KeySource::parse(first)
                .zip(between(second))
                .zip(Evidence::parse(third))
                .map(|((keys, between), evidence)| Rule { keys, between, evidence }),
            _ => None,
        };
        rule.ok_or_else(|| Error::NotARule { text: text.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::any_rule;
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_rule_comes_back(rule in any_rule()) {
            prop_assert_eq!(rule.to_string().parse(), Ok(rule));
        }

        #[test]
        fn any_text_is_a_rule_or_none(text in "[a-z(),+0-9. -]{0,40}") {
            if let Ok(rule) = text.parse::<Rule>() {
                prop_assert_eq!(rule.to_string().parse(), Ok(rule));
            }
        }
    }

    #[test]
    fn what_is_no_rule_is_refused() {
        for text in [
            "",
            "pairs(0)",
            "pairs(0) any",
            "pairs(0) any bits(1,355) more",
            "pears(0) any key",
            "pairs any key",
            "pairs(0,1) any key",
            "pieces(0) any key",
            "pairs(0) some key",
            "pairs(0) any bits(1)",
            "pairs(0) any columns(1,2)+lanes(0,1,64,3)",
            "pairs(0) any bits(1,2)+sets(0,1)",
            "pairs(0) any lanes(1,2,3)",
            "pairs(0 any key",
        ] {
            assert_eq!(text.parse::<Rule>(), Err(Error::NotARule { text: text.to_owned() }));
        }
    }
}
