//! What elements are to running text: said here, read by everybody who asks.

/// Inline formatting: its tags vanish, so that the words around them are one (Henzinger 2006 §2).
pub const JOINING: [&str; 17] = [
    "b", "i", "em", "strong", "u", "s", "strike", "font", "basefont", "tt", "big", "small", "sub", "sup",
    "nobr", "blink", "wbr",
];

/// Part of a line: their tags are white space and end no block.
pub const PHRASES: [&str; 15] = [
    "abbr", "cite", "code", "del", "dfn", "img", "ins", "kbd", "label", "mark", "q", "samp", "span", "time",
    "var",
];

/// Their text is shown to nobody; they end no block.
pub const UNSHOWN: [&str; 6] = ["script", "style", "noscript", "noembed", "noframes", "iframe"];
