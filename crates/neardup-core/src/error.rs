//! What can be wrong with a record, a rule or a fingerprint, in words for whoever has it.

use std::fmt;

/// Why a record cannot be read, or why a rule or a fingerprint makes no sense.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// JSON is broken, as shows in some column, counted from 1.
    Json {
        what: &'static str,
        column: usize,
    },
    /// Here must stand something else.
    Expected {
        byte: u8,
        column: usize,
    },
    /// The line ends where more must come.
    EndsEarly {
        column: usize,
    },
    /// The value that begins in some column is broken.
    Value {
        what: String,
        column: usize,
    },
    NotAnObject,
    /// Neither of the two fields that hold a page's content is there.
    NoContent {
        html: String,
        text: String,
    },
    NotText {
        field: String,
    },
    NotPlain {
        field: String,
    },
    /// A parameter of a fingerprint makes no sense.
    Parameter(&'static str),
    /// A rule of a detector speaks of what is not held of pages, or with numbers that make no sense.
    Rule {
        what: &'static str,
    },
    /// A text that is no rule.
    NotARule {
        text: String,
    },
}

pub type Result<T> = std::result::Result<T, Error>;

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Json { what, column } => write!(out, "invalid JSON: {what} at column {column}"),
            Error::Expected { byte, column } => {
                write!(out, "invalid JSON: expected `{}` at column {column}", char::from(*byte))
            }
            Error::EndsEarly { column } => {
                write!(out, "invalid JSON: the line ends early at column {column}")
            }
            Error::Value { what, column } => {
                write!(out, "invalid JSON: {what} in the value at column {column}")
            }
            Error::NotAnObject => out.write_str("not a JSON object"),
            Error::NoContent { html, text } => write!(out, "no field {html:?} or {text:?}"),
            Error::NotText { field } => write!(out, "field {field:?} is not a string"),
            Error::Rule { what } => out.write_str(what),
            Error::NotARule { text } => write!(out, "not a rule: {text:?}"),
            Error::NotPlain { field } => write!(out, "field {field:?} is neither text nor a number"),
            Error::Parameter(what) => out.write_str(what),
        }
    }
}

impl std::error::Error for Error {}
