"""Page to terms a second time, the slow way: a real HTML parser's tree, and the rules written character by character.

The tree comes from a parser that follows the HTML standard; the walk joins inline formatting, skips what is not shown
and puts images where they stand. Characters are classed by Python's own Unicode data.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any
from urllib.parse import quote, urljoin, urlsplit

FORMATTING = ["b", "i", "em", "strong", "u", "s", "strike", "font", "basefont", "tt", "big", "small", "sub", "sup"]
JOINING = frozenset([*FORMATTING, "nobr", "blink", "wbr"])
HIDDEN = frozenset(["script", "style", "template", "noscript", "noembed", "noframes", "iframe"])
#: How the names begin of the letters and numbers of scripts written without spaces.
UNSPACED = re.compile(
    "CJK UNIFIED|CJK COMPATIBILITY IDEOGRAPH|IDEOGRAPHIC (ITERATION|NUMBER|CLOSING|ANNOTATION)|VERTICAL IDEOGRAPHIC"
    "|(PARENTHESIZED|CIRCLED) IDEOGRAPH|HANGZHOU NUMERAL|COUNTING ROD|OLD CHINESE|HIRAGANA|HENTAIGANA"
    "|VERTICAL KANA|MASU MARK|(HALFWIDTH )?KATAKANA|THAI|KHMER|LAO|MYANMAR"
)
#: Nothing that is seen: Unicode's Default_Ignorable_Code_Point, and the control characters of ASCII but white space.
UNSEEN = re.compile(
    "[\0-\x08\x0e-\x1f\x7f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,31}://")
BRACKETS = {")": "(", "]": "[", "}": "{"}


def kind(character: str) -> str:
    """What a character is to a term: "word", "unspaced", "mark", "unseen" or ""."""
    if UNSEEN.match(character):
        return "unseen"
    category = unicodedata.category(character)[0]
    if category == "M":
        return "mark"
    if category not in "LN":
        return ""
    return "unspaced" if UNSPACED.match(unicodedata.name(character, "")) else "word"


def finished(text: str) -> str:
    """What is not seen dropped, normal form C, the case folded; Turkish letters i are all one."""
    folded = unicodedata.normalize("NFC", UNSEEN.sub("", text)).replace("İ", "i").replace("ı", "i").casefold()
    return unicodedata.normalize("NFC", re.sub("i\u0307+", "i", folded))


def glued(character: str) -> bool:
    """Whether words of its script follow an address without a space."""
    korean = kind(character) == "word" and unicodedata.name(character, "").startswith("HANGUL")
    return korean or kind(character) == "unspaced"


def url_length(text: str) -> int:
    """How many characters behind the scheme, or ``www``, belong to a URL."""
    for at, character in enumerate(text):
        before = text[:at]
        if (character.isspace() and kind(character) != "unseen") or character in "\"'`<>\\^|":
            break
        no_letter = kind(character) == "" or (kind(character) != "unseen" and "\uff00" <= character <= "\uffef")
        if no_letter and not character.isascii():
            break
        if character in BRACKETS and before.count(BRACKETS[character]) <= before.count(character):
            break
        if glued(character):
            # Only in a name of the host that begins with such a letter.
            name = UNSEEN.sub("", before).rsplit(".", 1)[-1]
            if re.search("[/?#]", before) or (name and not glued(name[0])):
                break
    else:
        at = len(text)
    while at and (text[at - 1] in ".,;:!?([{" or kind(text[at - 1]) == "unseen"):
        at -= 1
    return at


def text_terms(text: str) -> Iterator[str]:
    """The terms of plain text."""
    at = 0
    while at < len(text):
        own = kind(text[at])
        if own not in ("word", "unspaced"):
            at += 1
            continue
        end = at + 1
        while end < len(text) and kind(text[end]) in (own, "mark", "unseen"):
            end += 1
        run = text[at:end]
        scheme = SCHEME.match(text, at)
        www = run.lower() == "www" and text.startswith(".", end)
        if run.isascii() and (scheme or www):
            body = scheme.end() if scheme else end
            end = body + url_length(text[body:])
            yield from filter(None, map(finished, re.split("[/.:]", text[at:end])))
        elif own == "word":
            yield finished(run)
        else:
            characters = finished(run)
            yield from map("".join, pairwise(characters))
            if len(characters) == 1:
                yield characters
        at = end


def image_term(source: str, page: str | None, base: str | None) -> str | None:
    """The term of an image: its whole URL, or only its name where it is on the page's own host."""
    source = source.strip(" \t\n\r\f")
    if not source or source.lower().startswith("data:"):
        return None
    resolved = urljoin(urljoin(page or "", base or ""), quote(source, safe="%/:?#[]@!$&'()*+,;=~"))
    if (page is None and urlsplit(resolved).netloc == "") or urlsplit(resolved).netloc == urlsplit(page or "").netloc:
        return urlsplit(resolved).path.rsplit("/", 1)[-1] or None
    return resolved


Node = Any


def page_terms(
    root: Node,
    url: str | None,
    children: Callable[[Node], Iterator[Node]],
    name: Callable[[Node], str | None],
    text: Callable[[Node], str],
    attribute: Callable[[Node, str], str | None],
) -> list[str]:
    """The terms of a parsed page; the functions say how to look at the parser's nodes (text is named "#text")."""
    pieces: list[str] = []
    images: list[str] = []
    bases: list[str] = []

    def walk(node: Node) -> None:
        own = name(node)
        if own == "#text":
            pieces.append(UNSEEN.sub("", text(node)))
            return
        if own in HIDDEN:
            pieces.append(" ")
            return
        if own == "base" and attribute(node, "href") is not None:
            bases.append(str(attribute(node, "href")))
        if own == "img" and (attribute(node, "src") or "").strip():
            pieces.append(" \0 ")
            images.append(str(attribute(node, "src")))
        space = "" if own in JOINING else " "
        pieces.append(space)
        for child in children(node):
            walk(child)
        pieces.append(space)

    walk(root)
    terms: list[str] = []
    shown = "".join(pieces).split("\0")
    for number, part in enumerate(shown):
        terms += text_terms(part)
        if number < len(images):
            term = image_term(images[number], url, bases[0] if bases else None)
            terms += [finished(term)] if term else []
    return terms
