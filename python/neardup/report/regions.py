"""Parts of a page that a visitor does not read as its text, cut out of the HTML, so that a difference can be tried
without them: if it is gone, that is where it was.

One pass over the tags, no tree: an element that is cut out ends at the end tag that balances its start tag, or where
the page ends. Cost: linear in the page, whatever it holds.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

# An attribute value may hold ">", a tag that is never closed may not cost the rest of the page each time: neither "<"
# nor ">" is part of what is looked at.
_TAG: Final = re.compile(rb"<(/?)([a-zA-Z][a-zA-Z0-9]*)([^<>]*)>")
# Bytes of a tag that are looked at, and of a value: one huge tag must not cost more than its length either.
_LOOKED_AT: Final = 4096
_HIDDEN: Final = re.compile(
    rb"(?i)(?:\bstyle\s*=\s*(?:\"[^\"]{0,500}|'[^']{0,500}|[^\s>]{0,500})(?:display\s*:\s*none|visibility\s*:\s*hidden))|\bhidden\b(?!\s*-)"
)
_NAMED: Final = re.compile(rb"(?i)\b(?:id|class|role)\s*=\s*(\"[^\"]*\"|'[^']*'|[^\s>]+)")
_SIDE_WORDS: Final = frozenset(
    b"ad ads adv advert advertisement advertising banner banners sponsor sponsored promo promotion side sidebar aside "
    b"related recommended teaser box widget footer foot nav navigation menu breadcrumb breadcrumbs share social "
    b"complementary contentinfo".split()
)
_SIDE_TAGS: Final = frozenset({b"aside", b"footer", b"nav"})
_FORM_TAGS: Final = frozenset({b"textarea", b"option"})
_VOID: Final = frozenset(b"area base br col embed hr img input link meta param source track wbr".split())
_INPUT: Final = re.compile(rb"(?i)<input\b[^<>]*>")
_VALUE: Final = re.compile(rb"(?i)\bvalue\s*=\s*(\"[^\"]*\"|'[^']*'|[^\s>]+)|\bchecked\b")
_PASSWORD: Final = re.compile(rb"(?i)<input\b[^<>]*\btype\s*=\s*[\"']?password")
_SESSION: Final = re.compile(
    rb"(?i)([?&;](?:phpsessid|jsessionid|aspsessionid\w*|session_?id|sess(?:ion)?|sid)=)[\w\-.]+"
)
_REFRESH: Final = re.compile(rb"(?i)<meta\b[^<>]{0,300}http-equiv\s*=\s*[\"']?refresh[^<>]{0,300}url\s*=")

Wanted = Callable[[bytes, bytes], bool]


def without(html: bytes, wanted: Wanted) -> bytes:
    """The page without the elements that ``wanted`` (name in lower case, attributes) picks out.

    >>> without(b"<p>seen</p><div hidden><div>not</div> seen</div><p>again", hidden)
    b'<p>seen</p><p>again'
    """
    telling = _TELLING.get(wanted, _TAG)
    kept: list[bytes] = []
    start = at = 0
    while (tag := telling.search(html, at)) is not None:
        at = tag.end()
        name = tag[2].lower()
        if not tag[1] and name not in _VOID and wanted(name, tag[3]):
            kept.append(html[start : tag.start()])
            start = at = _behind(html, at, name)
    kept.append(html[start:])
    return b"".join(kept)


def _behind(html: bytes, at: int, name: bytes) -> int:
    """Where an element ends whose start tag ends at ``at``."""
    depth = 1
    for tag in _TAG.finditer(html, at):
        if tag[2].lower() == name and not tag[3].endswith(b"/"):
            depth += -1 if tag[1] else 1
            if depth == 0:
                return tag.end()
    return len(html)


def hidden(name: bytes, attributes: bytes) -> bool:
    """Elements that are not displayed, by their own style or attribute (style sheets are not read)."""
    return bool(_HIDDEN.search(attributes[:_LOOKED_AT]))


def form_values(name: bytes, attributes: bytes) -> bool:
    """Elements whose text is a value that a visitor can erase or choose."""
    return name in _FORM_TAGS


def beside(name: bytes, attributes: bytes) -> bool:
    """Elements that say of themselves that they stand beside the main content: advertisements, boxes, menus.

    >>> beside(b"div", b' class="left-sidebar"'), beside(b"div", b" id=content")
    (True, False)
    """
    if name in _SIDE_TAGS:
        return True
    said = b" ".join(_NAMED.findall(attributes[:_LOOKED_AT])).lower()
    return bool(said) and not _SIDE_WORDS.isdisjoint(re.split(rb"[^a-z]+", said))


#: Tags that are looked at, where not all of them may be wanted.
_TELLING: Final[dict[Wanted, re.Pattern[bytes]]] = {
    hidden: re.compile(rb"(?i)<()([a-z][a-z0-9]*)([^<>]*(?:hidden|display)[^<>]*)>"),
    form_values: re.compile(rb"(?i)<()(textarea|option)(?![a-z0-9])([^<>]*)>"),
}


def input_values(html: bytes) -> list[bytes]:
    """The values with which a page's input fields come filled in; they are no terms of the page.

    >>> input_values(b'<input name=a value="7"><input name=b>')
    [b'"7"']
    """
    return [value[1] or value[0] for field in _INPUT.findall(html) for value in _VALUE.finditer(field)]


def sends_elsewhere(html: bytes) -> bool:
    """Whether the page sends the browser to another by itself, so that a visitor does not see what was stored.

    >>> sends_elsewhere(b'<meta http-equiv="refresh" content="3; url=/new">')
    True
    """
    return bool(_REFRESH.search(html))


def asks_for_a_password(html: bytes) -> bool:
    """Whether the page has a field for a password.

    >>> asks_for_a_password(b"<input type=password name=p>")
    True
    """
    return bool(_PASSWORD.search(html))


def without_sessions(html: bytes) -> bytes:
    """The page with the values of session ids in addresses left out.

    >>> without_sessions(b'<a href="/news?sid=0a1b2c">')
    b'<a href="/news?sid=">'
    """
    return _SESSION.sub(rb"\1", html)
