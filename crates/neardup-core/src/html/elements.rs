//! What each element is to a page, in one table: to its text, to its blocks, to its structure.
//!
//! Everybody who reads markup asks [`ELEMENTS`]: [`super::visible`] whether a tag is white space, [`super::blocks`]
//! whether it ends a block and what its content stands in, [`super::outline`] what kind of block it makes. An element that the table does
//! not name separates words and ends a block.

use super::names::NameTable;

/// What an element means for the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Text {
    /// Inline formatting: its tags vanish, so that the words around them are one (Henzinger 2006 §2).
    Joins,
    /// Its tags are white space, as those of all that follow.
    Separates,
    /// It has raw text, which is shown.
    ShownRaw,
    /// It has raw text, which is not shown.
    HiddenRaw,
    Template,
    Title,
    Image,
    Base,
}

/// What an element means for the blocks of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// Part of the running text.
    Inline,
    /// The same; what it holds stands in its place if it has an address.
    Link,
    /// Ends a block; what it holds stands where the element stands.
    Block,
    /// Ends a block; what it holds stands in its place too, and where its role says, and may be hidden.
    Place,
}

/// What a block is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    #[default]
    Text,
    Heading,
    Item,
    Cell,
}

/// An element whose end tag may be left out ends where the next of its siblings begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Siblings {
    None,
    /// Any element of the layout ends a paragraph.
    Paragraph,
    Item,
    Definition,
    Choice,
    /// A row ends a cell too.
    Cell,
    Row,
}

/// What a stretch of text stands in; several may hold at once.
pub mod place {
    pub const LINK: u16 = 1;
    pub const NAVIGATION: u16 = 1 << 1;
    pub const HEADER: u16 = 1 << 2;
    pub const FOOTER: u16 = 1 << 3;
    pub const ASIDE: u16 = 1 << 4;
    pub const MAIN: u16 = 1 << 5;
    pub const ARTICLE: u16 = 1 << 6;
    pub const HEADING: u16 = 1 << 7;
    /// A form's controls: buttons, choices. (Not labels: there are pages with all of their text in labels.)
    pub const CONTROL: u16 = 1 << 8;
    pub const TITLE: u16 = 1 << 9;
    /// Not shown unless something happens.
    pub const HIDDEN: u16 = 1 << 10;
    pub const DIALOG: u16 = 1 << 11;
    /// The name of an image.
    pub const IMAGE: u16 = 1 << 12;
    /// A value that a visitor can erase or choose. [`super::super::outline`] alone says this and what follows.
    pub const FIELD: u16 = 1 << 13;
    /// Not displayed, as its own tags say: `hidden`, `display:none`, `visibility:hidden`, a `dialog` that is not open.
    pub const UNDISPLAYED: u16 = 1 << 14;

    /// All of them by name, for people.
    pub const NAMES: [(&str, u16); 15] = [
        ("link", LINK),
        ("navigation", NAVIGATION),
        ("header", HEADER),
        ("footer", FOOTER),
        ("aside", ASIDE),
        ("main", MAIN),
        ("article", ARTICLE),
        ("heading", HEADING),
        ("control", CONTROL),
        ("title", TITLE),
        ("hidden", HIDDEN),
        ("dialog", DIALOG),
        ("image", IMAGE),
        ("field", FIELD),
        ("undisplayed", UNDISPLAYED),
    ];
}

/// What a role says that the content of its element stands in.
pub fn role_place(role: &str) -> u16 {
    match role.trim() {
        "navigation" | "menu" | "menubar" => place::NAVIGATION,
        "banner" => place::HEADER,
        "contentinfo" => place::FOOTER,
        "complementary" => place::ASIDE,
        "main" => place::MAIN,
        "article" => place::ARTICLE,
        "dialog" | "alertdialog" => place::DIALOG,
        "search" => place::CONTROL,
        "heading" => place::HEADING,
        _ => 0,
    }
}

/// All there is to say of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Element {
    pub text: Text,
    pub flow: Flow,
    /// What its content stands in ([`place`]).
    pub place: u16,
    pub kind: Kind,
    pub siblings: Siblings,
    /// It has no content and no end tag.
    pub void: bool,
    /// Part of the layout ([`super::anatomy`]).
    pub layout: bool,
}

const BLOCK: Element = Element {
    text: Text::Separates,
    flow: Flow::Block,
    place: 0,
    kind: Kind::Text,
    siblings: Siblings::None,
    void: false,
    layout: false,
};
const INLINE: Element = Element { flow: Flow::Inline, ..BLOCK };
const JOINS: Element = Element { text: Text::Joins, ..INLINE };
const LAYOUT: Element = Element { layout: true, ..BLOCK };
const CONTAINER: Element = Element { flow: Flow::Place, ..LAYOUT };
const HEADING: Element = Element { place: place::HEADING, kind: Kind::Heading, ..CONTAINER };

const fn part(place: u16) -> Element {
    Element { place, ..CONTAINER }
}

const fn ended(siblings: Siblings, kind: Kind) -> Element {
    Element { siblings, kind, ..LAYOUT }
}

const ROWS: &[(&[&str], Element)] = &[
    (
        &[
            "b", "i", "em", "strong", "u", "s", "strike", "font", "basefont", "tt", "big", "small", "sub",
            "sup", "nobr", "blink",
        ],
        JOINS,
    ),
    (&["wbr"], Element { void: true, ..JOINS }),
    (
        &[
            "abbr", "cite", "code", "del", "dfn", "ins", "kbd", "label", "mark", "q", "samp", "span", "time",
            "var", "acronym", "bdi", "bdo", "data", "rb", "rp", "rt", "rtc", "ruby",
        ],
        INLINE,
    ),
    (&["a"], Element { flow: Flow::Link, place: place::LINK, ..INLINE }),
    // Browsers read `image` as `img`.
    (&["img", "image"], Element { text: Text::Image, void: true, ..INLINE }),
    (
        &["script", "style", "noscript", "noembed", "noframes", "iframe"],
        Element { text: Text::HiddenRaw, ..INLINE },
    ),
    (&["template"], Element { text: Text::Template, ..INLINE }),
    (&["xmp"], Element { text: Text::ShownRaw, ..BLOCK }),
    // What a page says of itself to machines may stand in the midst of its text.
    (&["base"], Element { text: Text::Base, void: true, ..INLINE }),
    (&["link", "meta"], Element { void: true, ..INLINE }),
    (&["area", "br", "col", "embed", "input", "param", "source", "track"], Element { void: true, ..BLOCK }),
    (&["hr"], Element { void: true, ..LAYOUT }),
    (&["title"], Element { text: Text::Title, layout: false, ..part(place::TITLE) }),
    (&["nav"], part(place::NAVIGATION)),
    (&["menu"], Element { layout: false, ..part(place::NAVIGATION) }),
    (&["header"], part(place::HEADER)),
    (&["footer"], part(place::FOOTER)),
    (&["aside"], part(place::ASIDE)),
    (&["main"], part(place::MAIN)),
    (&["article"], part(place::ARTICLE)),
    (&["h1", "h2", "h3", "h4", "h5", "h6"], HEADING),
    (&["button", "select"], Element { layout: false, ..part(place::CONTROL) }),
    (&["dialog"], Element { layout: false, ..part(place::DIALOG) }),
    (&["div", "section", "form", "ul", "ol", "table"], CONTAINER),
    (&["dl", "figure", "pre"], LAYOUT),
    (&["p"], ended(Siblings::Paragraph, Kind::Text)),
    (&["li"], ended(Siblings::Item, Kind::Item)),
    (&["dd", "dt"], ended(Siblings::Definition, Kind::Item)),
    (&["td", "th"], ended(Siblings::Cell, Kind::Cell)),
    (&["tr"], ended(Siblings::Row, Kind::Text)),
    (&["option"], Element { place: place::FIELD, layout: false, ..ended(Siblings::Choice, Kind::Text) }),
    (&["textarea"], Element { place: place::FIELD, ..BLOCK }),
];

/// What an element is, by the [`key`](super::names::key) of its name.
///
/// ```
/// use neardup_core::html::elements::{ELEMENTS, Flow, Kind, Text};
/// use neardup_core::html::names::key;
///
/// assert_eq!(ELEMENTS.get(key(b"b")).text, Text::Joins);
/// assert_eq!(ELEMENTS.get(key(b"cite")).flow, Flow::Inline);
/// assert_eq!(ELEMENTS.get(key(b"LI")).kind, Kind::Item);
/// assert_eq!(ELEMENTS.get(key(b"my-own")).flow, Flow::Block);
/// ```
pub static ELEMENTS: NameTable<Element, 1024> = NameTable::new(ROWS, BLOCK);

impl Element {
    /// Whether this element ends where `next` begins, if nothing else has ended it before.
    pub fn is_ended_by(self, next: Self) -> bool {
        match self.siblings {
            Siblings::None => false,
            Siblings::Paragraph => next.layout,
            Siblings::Cell => matches!(next.siblings, Siblings::Cell | Siblings::Row),
            siblings => siblings == next.siblings,
        }
    }
}

/// The names of the elements in the table of which this holds.
#[cfg(test)]
pub fn names_where(holds: impl Fn(Element) -> bool) -> Vec<&'static str> {
    ROWS.iter().filter(|row| holds(row.1)).flat_map(|row| row.0).copied().collect()
}
