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

JOINING = frozenset(["b", "i", "em", "strong", "u", "s", "font", "tt", "big", "small", "sub", "sup", "wbr"])
HIDDEN = frozenset(["script", "style", "template", "noscript", "noembed", "noframes", "iframe"])
#: How the names begin of the letters and numbers of scripts written without spaces.
UNSPACED = re.compile(
    "CJK UNIFIED|CJK COMPATIBILITY IDEOGRAPH|IDEOGRAPHIC (ITERATION|NUMBER|CLOSING|ANNOTATION)|VERTICAL IDEOGRAPHIC"
    "|(PARENTHESIZED|CIRCLED) IDEOGRAPH|HANGZHOU NUMERAL|COUNTING ROD|OLD CHINESE|HIRAGANA|HENTAIGANA"
    "|VERTICAL KANA|MASU MARK|(HALFWIDTH )?KATAKANA|THAI|KHMER|LAO|MYANMAR"
)
SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,31}://")
URL_END = re.compile(r"[\s\"'`<>‘’“”„«»‹›]")


def kind(character: str) -> str:
    """What a character is to a term: "word", "unspaced", "mark", "joiner" or ""."""
    if character == "\xad":
        return "joiner"
    category = unicodedata.category(character)[0]
    if category == "M":
        return "mark"
    if category not in "LN":
        return ""
    return "unspaced" if UNSPACED.match(unicodedata.name(character, "")) else "word"


def finished(text: str) -> str:
    """Soft hyphens dropped, normal form C, lower case letter by letter."""
    composed = unicodedata.normalize("NFC", text.replace("\xad", ""))
    return "".join(character.lower() for character in composed)


def text_terms(text: str) -> Iterator[str]:
    """The terms of plain text."""
    at = 0
    while at < len(text):
        own = kind(text[at])
        if own not in ("word", "unspaced"):
            at += 1
            continue
        end = at + 1
        while end < len(text) and kind(text[end]) in (own, "mark", "joiner"):
            end += 1
        run = text[at:end]
        scheme = SCHEME.match(text, at)
        www = run.lower() == "www" and text.startswith(".", end)
        if run.isascii() and (scheme or www):
            stop = URL_END.search(text, scheme.end() if scheme else end)
            end = stop.start() if stop else len(text)
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
            pieces.append(text(node).replace("\xad", ""))
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
