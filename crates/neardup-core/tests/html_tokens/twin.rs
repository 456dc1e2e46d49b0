//! The naive twin of the scanner: the tokenizer of the HTML Standard (§13.2.5), state by state and character
//! by character, as slow and as plain as the standard's text. Parse errors are left out, and of doctypes all
//! but the name. The state switches after start tags, which are the tree builder's, are those the scanner
//! promises.

use entities::ENTITIES;
use neardup_core::html::scanner::{Start, State as StartState};

use super::{Token, push_text};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Data,
    Rcdata,
    Rawtext,
    ScriptData,
    Plaintext,
    TagOpen,
    EndTagOpen,
    TagName,
    /// "RCDATA/RAWTEXT/script data less-than sign" and the two states after it, for the state to return to.
    RawLessThan,
    RawEndTagOpen,
    RawEndTagName,
    ScriptEscapeStart,
    ScriptEscapeStartDash,
    ScriptEscaped,
    ScriptEscapedDash,
    ScriptEscapedDashDash,
    ScriptEscapedLessThan,
    ScriptDoubleEscapeStart,
    ScriptDoubleEscaped,
    ScriptDoubleEscapedDash,
    ScriptDoubleEscapedDashDash,
    ScriptDoubleEscapedLessThan,
    ScriptDoubleEscapeEnd,
    BeforeAttributeName,
    AttributeName,
    AfterAttributeName,
    BeforeAttributeValue,
    AttributeValueDoubleQuoted,
    AttributeValueSingleQuoted,
    AttributeValueUnquoted,
    AfterAttributeValueQuoted,
    SelfClosingStartTag,
    BogusComment,
    MarkupDeclarationOpen,
    CommentStart,
    CommentStartDash,
    Comment,
    CommentEndDash,
    CommentEnd,
    CommentEndBang,
    Doctype,
    CdataSection,
}

fn is_space(character: char) -> bool {
    matches!(character, '\t' | '\n' | '\x0C' | ' ')
}

/// What an ampersand before `rest` stands for, and how many characters of `rest` belong to it.
pub fn reference(rest: &[char], in_attribute: bool) -> Option<(String, usize)> {
    if rest.first() == Some(&'#') {
        let hexadecimal = matches!(rest.get(1), Some('x' | 'X'));
        let (start, radix) = if hexadecimal { (2, 16) } else { (1, 10) };
        let digits: String =
            rest[start.min(rest.len())..].iter().take_while(|digit| digit.is_digit(radix)).collect();
        if digits.is_empty() {
            return None;
        }
        let semicolon = usize::from(rest.get(start + digits.len()) == Some(&';'));
        let number = u128::from_str_radix(&digits[digits.len().saturating_sub(20)..], radix).unwrap();
        let significant = digits.trim_start_matches('0').len();
        let number = if significant > 8 { u32::MAX } else { number as u32 };
        let character = match number {
            0 => '\u{FFFD}',
            // The standard's table is windows-1252; what that leaves undefined stands for itself.
            0x80..=0x9F => encoding_rs::WINDOWS_1252.decode(&[number as u8]).0.chars().next().unwrap(),
            _ => char::from_u32(number).unwrap_or('\u{FFFD}'),
        };
        return Some((character.to_string(), start + digits.len() + semicolon));
    }
    let matching = |name: &str| {
        rest.len() >= name.len() && name.chars().zip(rest).all(|(wanted, found)| wanted == *found)
    };
    let entity = ENTITIES
        .iter()
        .filter(|entity| matching(&entity.entity[1..]))
        .max_by_key(|entity| entity.entity.len())?;
    let length = entity.entity.len() - 1;
    let follower = rest.get(length);
    if in_attribute
        && !entity.entity.ends_with(';')
        && follower.is_some_and(|next| *next == '=' || next.is_ascii_alphanumeric())
    {
        return None;
    }
    Some((entity.characters.to_owned(), length))
}

struct Twin {
    input: Vec<char>,
    at: usize,
    tokens: Vec<Token>,
    /// The text state that raw end tags return to.
    return_state: State,
    last_start_tag: String,
    buffer: String,
    is_end_tag: bool,
    name: String,
    attributes: Vec<(String, String)>,
    comment: String,
    switch_states: bool,
    foreign_depth: usize,
}

/// The tokens of `html` by the standard's own steps.
pub fn tokens(html: &str, start: Start<'_>) -> Vec<Token> {
    let mut twin = Twin {
        input: html.chars().collect(),
        at: 0,
        tokens: Vec::new(),
        return_state: State::Data,
        last_start_tag: start.last_start_tag.to_ascii_lowercase(),
        buffer: String::new(),
        is_end_tag: false,
        name: String::new(),
        attributes: Vec::new(),
        comment: String::new(),
        switch_states: start.switch_states,
        foreign_depth: 0,
    };
    let mut state = match start.state {
        StartState::Data => State::Data,
        StartState::Rcdata => State::Rcdata,
        StartState::Rawtext => State::Rawtext,
        StartState::ScriptData => State::ScriptData,
        StartState::Plaintext => State::Plaintext,
        StartState::CdataSection => State::CdataSection,
    };
    while let Some(next) = twin.step(state) {
        state = next;
    }
    twin.tokens
}

impl Twin {
    fn text(&mut self, character: char) {
        push_text(&mut self.tokens, character.encode_utf8(&mut [0; 4]));
    }

    fn texts(&mut self, text: &str) {
        text.chars().for_each(|character| self.text(character));
    }

    fn looking_at(&self, word: &str, any_case: bool) -> bool {
        word.chars().enumerate().all(|(offset, wanted)| {
            self.input
                .get(self.at + offset)
                .is_some_and(|found| *found == wanted || (any_case && found.eq_ignore_ascii_case(&wanted)))
        })
    }

    /// Consumes a reference after an ampersand that was consumed; the text it stands for.
    fn reference(&mut self, in_attribute: bool) -> String {
        match reference(&self.input[self.at..], in_attribute) {
            Some((text, length)) => {
                self.at += length;
                text
            }
            None => "&".to_owned(),
        }
    }

    fn start_attribute(&mut self) {
        self.attributes.push((String::new(), String::new()));
    }

    fn value(&mut self) -> &mut String {
        &mut self.attributes.last_mut().unwrap().1
    }

    fn emit_comment(&mut self) -> Option<State> {
        self.tokens.push(Token::Comment(std::mem::take(&mut self.comment)));
        Some(State::Data)
    }

    fn emit_tag(&mut self, self_closing: bool) -> Option<State> {
        let name = std::mem::take(&mut self.name);
        let mut attributes: Vec<(String, String)> = Vec::new();
        for (attribute, value) in self.attributes.drain(..) {
            if attributes.iter().all(|(known, _)| *known != attribute) {
                attributes.push((attribute, value));
            }
        }
        if self.is_end_tag {
            if matches!(name.as_str(), "svg" | "math") {
                self.foreign_depth = self.foreign_depth.saturating_sub(1);
            }
            self.tokens.push(Token::EndTag(name));
            return Some(State::Data);
        }
        let mut state = State::Data;
        if self.switch_states {
            state = match name.as_str() {
                "title" | "textarea" => State::Rcdata,
                "style" | "xmp" | "iframe" | "noembed" | "noframes" | "noscript" => State::Rawtext,
                "script" => State::ScriptData,
                "plaintext" => State::Plaintext,
                _ => State::Data,
            };
            if self.foreign_depth > 0 && self_closing {
                state = State::Data;
            }
            if matches!(name.as_str(), "svg" | "math") && !self_closing {
                self.foreign_depth += 1;
            }
        }
        self.last_start_tag.clone_from(&name);
        self.tokens.push(Token::StartTag { name, attributes, self_closing });
        Some(state)
    }

    fn is_appropriate(&self) -> bool {
        !self.last_start_tag.is_empty() && self.buffer.eq_ignore_ascii_case(&self.last_start_tag)
    }

    fn begin_tag(&mut self, is_end_tag: bool) -> Option<State> {
        self.is_end_tag = is_end_tag;
        self.name.clear();
        self.attributes.clear();
        self.at -= 1;
        Some(State::TagName)
    }

    fn reconsume(&mut self, next: Option<char>, state: State) -> Option<State> {
        self.at -= usize::from(next.is_some());
        Some(state)
    }

    /// Consumes one character in `state`; the state after it, or none at the end of the file.
    fn step(&mut self, state: State) -> Option<State> {
        let next = self.input.get(self.at).copied();
        self.at += usize::from(next.is_some());
        match (state, next) {
            (State::Data | State::Rcdata, Some('&')) => {
                let text = self.reference(false);
                self.texts(&text);
                Some(state)
            }
            (State::Data, Some('<')) => Some(State::TagOpen),
            (State::Data, Some(character)) => {
                self.text(character);
                Some(state)
            }
            (State::Rcdata | State::Rawtext | State::ScriptData, Some('<')) => {
                self.return_state = state;
                Some(State::RawLessThan)
            }
            (State::Rcdata | State::Rawtext | State::ScriptData | State::Plaintext, Some(character)) => {
                self.text(if character == '\0' { '\u{FFFD}' } else { character });
                Some(state)
            }
            (State::Data | State::Rcdata | State::Rawtext | State::ScriptData | State::Plaintext, None) => {
                None
            }
            (State::CdataSection, _) => {
                let character = next?;
                if character == ']' && self.looking_at("]>", false) {
                    self.at += 2;
                    return Some(State::Data);
                }
                self.text(character);
                Some(state)
            }
            (State::TagOpen, Some('!')) => Some(State::MarkupDeclarationOpen),
            (State::TagOpen, Some('/')) => Some(State::EndTagOpen),
            (State::TagOpen, Some(letter)) if letter.is_ascii_alphabetic() => self.begin_tag(false),
            (State::TagOpen, Some('?')) => self.reconsume(next, State::BogusComment),
            (State::TagOpen, _) => {
                self.text('<');
                self.reconsume(next, State::Data)
            }
            (State::EndTagOpen, Some(letter)) if letter.is_ascii_alphabetic() => self.begin_tag(true),
            (State::EndTagOpen, Some('>')) => Some(State::Data),
            (State::EndTagOpen, None) => {
                self.texts("</");
                None
            }
            (State::EndTagOpen, Some(_)) => self.reconsume(next, State::BogusComment),
            (State::TagName, Some(character)) => match character {
                space if is_space(space) => Some(State::BeforeAttributeName),
                '/' => Some(State::SelfClosingStartTag),
                '>' => self.emit_tag(false),
                '\0' => {
                    self.name.push('\u{FFFD}');
                    Some(state)
                }
                _ => {
                    self.name.push(character.to_ascii_lowercase());
                    Some(state)
                }
            },
            (State::BeforeAttributeName, Some(space)) if is_space(space) => Some(state),
            (State::BeforeAttributeName, Some('/' | '>') | None) => {
                self.reconsume(next, State::AfterAttributeName)
            }
            (State::BeforeAttributeName, Some('=')) => {
                self.start_attribute();
                self.attributes.last_mut().unwrap().0.push('=');
                Some(State::AttributeName)
            }
            (State::BeforeAttributeName, Some(_)) => {
                self.start_attribute();
                self.reconsume(next, State::AttributeName)
            }
            (State::AttributeName, Some('/' | '>') | None) => self.reconsume(next, State::AfterAttributeName),
            (State::AttributeName, Some(space)) if is_space(space) => {
                self.reconsume(next, State::AfterAttributeName)
            }
            (State::AttributeName, Some('=')) => Some(State::BeforeAttributeValue),
            (State::AttributeName, Some(character)) => {
                let character = if character == '\0' { '\u{FFFD}' } else { character.to_ascii_lowercase() };
                self.attributes.last_mut().unwrap().0.push(character);
                Some(state)
            }
            (State::AfterAttributeName, Some(character)) => match character {
                space if is_space(space) => Some(state),
                '/' => Some(State::SelfClosingStartTag),
                '=' => Some(State::BeforeAttributeValue),
                '>' => self.emit_tag(false),
                _ => {
                    self.start_attribute();
                    self.reconsume(next, State::AttributeName)
                }
            },
            (State::BeforeAttributeValue, Some(space)) if is_space(space) => Some(state),
            (State::BeforeAttributeValue, Some('"')) => Some(State::AttributeValueDoubleQuoted),
            (State::BeforeAttributeValue, Some('\'')) => Some(State::AttributeValueSingleQuoted),
            (State::BeforeAttributeValue, Some('>')) => self.emit_tag(false),
            (State::BeforeAttributeValue, _) => self.reconsume(next, State::AttributeValueUnquoted),
            (State::AttributeValueDoubleQuoted, Some('"')) => Some(State::AfterAttributeValueQuoted),
            (State::AttributeValueSingleQuoted, Some('\'')) => Some(State::AfterAttributeValueQuoted),
            (State::AttributeValueUnquoted, Some('>')) => self.emit_tag(false),
            (State::AttributeValueUnquoted, Some(space)) if is_space(space) => {
                Some(State::BeforeAttributeName)
            }
            (
                State::AttributeValueDoubleQuoted
                | State::AttributeValueSingleQuoted
                | State::AttributeValueUnquoted,
                Some(character),
            ) => {
                match character {
                    '&' => {
                        let text = self.reference(true);
                        self.value().push_str(&text);
                    }
                    '\0' => self.value().push('\u{FFFD}'),
                    _ => self.value().push(character),
                }
                Some(state)
            }
            (State::AfterAttributeValueQuoted, Some('/')) => Some(State::SelfClosingStartTag),
            (State::AfterAttributeValueQuoted, Some('>')) => self.emit_tag(false),
            (State::AfterAttributeValueQuoted, Some(_)) => self.reconsume(next, State::BeforeAttributeName),
            (State::SelfClosingStartTag, Some('>')) => self.emit_tag(true),
            (State::SelfClosingStartTag, Some(_)) => self.reconsume(next, State::BeforeAttributeName),
            // The end of the file inside a tag: the tag is lost.
            (
                State::TagName
                | State::AfterAttributeName
                | State::AttributeValueDoubleQuoted
                | State::AttributeValueSingleQuoted
                | State::AttributeValueUnquoted
                | State::AfterAttributeValueQuoted
                | State::SelfClosingStartTag,
                None,
            ) => None,
            (
                State::RawLessThan
                | State::RawEndTagOpen
                | State::RawEndTagName
                | State::ScriptEscapeStart
                | State::ScriptEscapeStartDash
                | State::ScriptEscaped
                | State::ScriptEscapedDash
                | State::ScriptEscapedDashDash
                | State::ScriptEscapedLessThan
                | State::ScriptDoubleEscapeStart
                | State::ScriptDoubleEscaped
                | State::ScriptDoubleEscapedDash
                | State::ScriptDoubleEscapedDashDash
                | State::ScriptDoubleEscapedLessThan
                | State::ScriptDoubleEscapeEnd,
                _,
            ) => self.raw_step(state, next),
            _ => self.declaration_step(state, next),
        }
    }

    /// End tags inside raw text, and the escaped states of scripts.
    fn raw_step(&mut self, state: State, next: Option<char>) -> Option<State> {
        match (state, next) {
            (State::RawLessThan, Some('/')) => {
                self.buffer.clear();
                Some(State::RawEndTagOpen)
            }
            (State::RawLessThan, Some('!')) if self.return_state == State::ScriptData => {
                self.texts("<!");
                Some(State::ScriptEscapeStart)
            }
            (State::RawLessThan, _) => {
                self.text('<');
                self.reconsume(next, self.return_state)
            }
            (State::RawEndTagOpen, Some(letter)) if letter.is_ascii_alphabetic() => {
                self.reconsume(next, State::RawEndTagName)
            }
            (State::RawEndTagOpen, _) => {
                self.texts("</");
                self.reconsume(next, self.return_state)
            }
            (State::RawEndTagName, Some(letter)) if letter.is_ascii_alphabetic() => {
                self.buffer.push(letter);
                Some(state)
            }
            (State::RawEndTagName, Some(character))
                if self.is_appropriate() && (is_space(character) || matches!(character, '/' | '>')) =>
            {
                self.is_end_tag = true;
                self.name = self.buffer.to_ascii_lowercase();
                self.attributes.clear();
                match character {
                    '/' => Some(State::SelfClosingStartTag),
                    '>' => self.emit_tag(false),
                    _ => Some(State::BeforeAttributeName),
                }
            }
            (State::RawEndTagName, _) => {
                let buffer = std::mem::take(&mut self.buffer);
                self.texts("</");
                self.texts(&buffer);
                self.reconsume(next, self.return_state)
            }
            (State::ScriptEscapeStart, Some('-')) => {
                self.text('-');
                Some(State::ScriptEscapeStartDash)
            }
            (State::ScriptEscapeStartDash, Some('-')) => {
                self.text('-');
                Some(State::ScriptEscapedDashDash)
            }
            (State::ScriptEscapeStart | State::ScriptEscapeStartDash, _) => {
                self.reconsume(next, State::ScriptData)
            }
            (State::ScriptEscaped | State::ScriptEscapedDash | State::ScriptEscapedDashDash, Some('<')) => {
                Some(State::ScriptEscapedLessThan)
            }
            (State::ScriptEscapedLessThan, Some('/')) => {
                self.buffer.clear();
                // What follows returns here when it is no end tag.
                self.return_state = State::ScriptEscaped;
                Some(State::RawEndTagOpen)
            }
            (State::ScriptEscapedLessThan, Some(letter)) if letter.is_ascii_alphabetic() => {
                self.buffer.clear();
                self.text('<');
                self.reconsume(next, State::ScriptDoubleEscapeStart)
            }
            (State::ScriptEscapedLessThan, _) => {
                self.text('<');
                self.reconsume(next, State::ScriptEscaped)
            }
            (State::ScriptDoubleEscapedLessThan, Some('/')) => {
                self.buffer.clear();
                self.text('/');
                Some(State::ScriptDoubleEscapeEnd)
            }
            (State::ScriptDoubleEscapedLessThan, _) => self.reconsume(next, State::ScriptDoubleEscaped),
            (State::ScriptDoubleEscapeStart | State::ScriptDoubleEscapeEnd, Some(character)) => {
                let (if_script, if_not) = match state {
                    State::ScriptDoubleEscapeStart => (State::ScriptDoubleEscaped, State::ScriptEscaped),
                    _ => (State::ScriptEscaped, State::ScriptDoubleEscaped),
                };
                if is_space(character) || matches!(character, '/' | '>') {
                    self.text(character);
                    Some(if self.buffer == "script" { if_script } else { if_not })
                } else if character.is_ascii_alphabetic() {
                    self.buffer.push(character.to_ascii_lowercase());
                    self.text(character);
                    Some(state)
                } else {
                    self.reconsume(next, if_not)
                }
            }
            (
                State::ScriptDoubleEscaped
                | State::ScriptDoubleEscapedDash
                | State::ScriptDoubleEscapedDashDash,
                Some('<'),
            ) => {
                self.text('<');
                Some(State::ScriptDoubleEscapedLessThan)
            }
            (State::ScriptEscapedDashDash | State::ScriptDoubleEscapedDashDash, Some('>')) => {
                self.text('>');
                Some(State::ScriptData)
            }
            (_, Some('-')) => {
                self.text('-');
                Some(match state {
                    State::ScriptEscaped => State::ScriptEscapedDash,
                    State::ScriptEscapedDash | State::ScriptEscapedDashDash => State::ScriptEscapedDashDash,
                    State::ScriptDoubleEscaped => State::ScriptDoubleEscapedDash,
                    _ => State::ScriptDoubleEscapedDashDash,
                })
            }
            (_, Some(character)) => {
                self.text(if character == '\0' { '\u{FFFD}' } else { character });
                Some(match state {
                    State::ScriptEscaped | State::ScriptEscapedDash | State::ScriptEscapedDashDash => {
                        State::ScriptEscaped
                    }
                    _ => State::ScriptDoubleEscaped,
                })
            }
            (_, None) => None,
        }
    }

    /// Comments, doctypes and what is taken for a comment.
    fn declaration_step(&mut self, state: State, next: Option<char>) -> Option<State> {
        match (state, next) {
            (State::MarkupDeclarationOpen, _) => {
                self.at -= usize::from(next.is_some());
                if self.looking_at("--", false) {
                    self.at += 2;
                    Some(State::CommentStart)
                } else if self.looking_at("doctype", true) {
                    self.at += 7;
                    Some(State::Doctype)
                } else if self.foreign_depth > 0 && self.looking_at("[CDATA[", false) {
                    self.at += 7;
                    Some(State::CdataSection)
                } else {
                    Some(State::BogusComment)
                }
            }
            (State::Doctype, _) => {
                self.at -= usize::from(next.is_some());
                let inside: String =
                    self.input[self.at..].iter().take_while(|found| **found != '>').collect();
                self.at = (self.at + inside.chars().count() + 1).min(self.input.len());
                let name = inside
                    .trim_start_matches(is_space)
                    .split(is_space)
                    .next()
                    .filter(|name| !name.is_empty());
                let name = name.map(|name| name.to_ascii_lowercase().replace('\0', "\u{FFFD}"));
                self.tokens.push(Token::Doctype(name));
                Some(State::Data)
            }
            (State::BogusComment, Some('>')) => self.emit_comment(),
            (State::CommentStart, Some('-')) => Some(State::CommentStartDash),
            (State::CommentStartDash, Some('-')) => Some(State::CommentEnd),
            (
                State::CommentStart | State::CommentStartDash | State::CommentEnd | State::CommentEndBang,
                Some('>'),
            ) => self.emit_comment(),
            (State::CommentStart, _) => self.reconsume(next, State::Comment),
            (State::Comment, Some('-')) => Some(State::CommentEndDash),
            (State::BogusComment | State::Comment, Some(character)) => {
                self.comment.push(if character == '\0' { '\u{FFFD}' } else { character });
                Some(state)
            }
            (State::CommentEndDash, Some('-')) => Some(State::CommentEnd),
            (State::CommentEnd, Some('!')) => Some(State::CommentEndBang),
            (State::CommentEnd, Some('-')) => {
                self.comment.push('-');
                Some(state)
            }
            (State::CommentEndBang, Some('-')) => {
                self.comment.push_str("--!");
                Some(State::CommentEndDash)
            }
            (_, None) => {
                self.emit_comment();
                None
            }
            (_, Some(_)) => {
                self.comment.push_str(match state {
                    State::CommentStartDash | State::CommentEndDash => "-",
                    State::CommentEnd => "--",
                    _ => "--!",
                });
                self.reconsume(next, State::Comment)
            }
        }
    }
}
