"""Pages under study, made harmless: as plain text, or as a document that can neither run nor fetch anything.

A page is shown as text, or in a frame without scripts, network, forms or origin (``guard.HOSTILE_POLICY``, and the
frame's own sandbox); scripts stay where they are and do not run. Elements that browsers follow before any policy is
asked (links that name servers to prepare for, refreshes, bases) are given names that mean nothing.
"""

from __future__ import annotations

import codecs
import html
import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Final

import pyarrow as pa

from neardup.text import terms

_HELD: Final = 64
#: Characters of a page that are shown; beyond, a page is cut.
MOST_SHOWN: Final = 400_000
_FOLLOWED: Final = re.compile(
    r"(?i)<(/?)(?=(?:link|meta|base|i?frame|frameset|object|embed|applet|portal|fencedframe|form)\b)"
)
# Neither "<" nor ">" is part of what is looked at: a tag that is never closed must not cost the rest of the page.
_TAG: Final = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]*)[^<>]*>|<!--[^<>]*-->|<![^<>]*>")
_BLOCKS: Final = frozenset(
    ("address", "article", "aside", "blockquote", "br", "caption", "dd", "div", "dl", "dt", "fieldset", "figure",
     "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "li", "main", "nav", "ol", "option", "p",
     "pre", "section", "select", "table", "td", "th", "title", "tr", "ul")
)  # fmt: skip
_SILENT: Final = frozenset(("script", "style", "template", "noscript"))


class Contents:
    """The pages of a run by row, the last ones held; ``fetch`` reads them again from the inputs."""

    def __init__(self, fetch: Callable[[Sequence[int]], pa.RecordBatch]) -> None:
        self._fetch = fetch
        self._lock = threading.Lock()
        self._held: OrderedDict[int, pa.RecordBatch] = OrderedDict()

    def pages(self, rows: Sequence[int]) -> pa.RecordBatch:
        """The pages at these rows, in this order."""
        with self._lock:
            found = {row: self._held[row] for row in rows if row in self._held}
        missing = sorted(set(rows) - found.keys())
        if missing:
            fetched = self._fetch(missing)
            found |= {row: fetched.slice(at, 1) for at, row in enumerate(missing)}
            with self._lock:
                self._held.update((row, found[row]) for row in missing)
                while len(self._held) > _HELD:
                    self._held.popitem(last=False)
        return pa.concat_batches([found[row] for row in rows])

    def text(self, row: int) -> str:
        """The visible text of a page."""
        page = self.pages([row])
        content = decoded(page)
        return visible_text(content) if page.column("html")[0].as_py() else content[:MOST_SHOWN]

    def document(self, row: int) -> str:
        """The page as a document for a sandboxed frame."""
        page = self.pages([row])
        content = decoded(page)[: 4 * MOST_SHOWN]
        if page.column("html")[0].as_py():
            return '<!doctype html><meta charset="utf-8">' + harmless(content)
        escaped = content.replace("&", "&amp;").replace("<", "&lt;")
        return f'<!doctype html><meta charset="utf-8"><pre>{escaped}</pre>'


def decoded(page: pa.RecordBatch) -> str:
    """A page's content as text, in the encoding that neardup reads it in."""
    content = page.column("content")[0].as_py()
    charset = page.column("charset")[0].as_py()
    named = terms(content[:65536], html=page.column("html")[0].as_py(), charset=charset).encoding
    try:
        codecs.lookup(named)
    except LookupError:
        named = "windows-1252"
    return str(content.decode(named, "replace"))


def harmless(content: str) -> str:
    """HTML in which everything that a browser follows by itself has a name that means nothing.

    >>> harmless('<LINK rel=preconnect href=//evil.example><p>text')
    '<x-LINK rel=preconnect href=//evil.example><p>text'
    """
    return _FOLLOWED.sub(r"<\1x-", content)


def visible_text(content: str) -> str:
    r"""The text of an HTML page, a line a block; in one pass over the tags, whatever the page holds.

    >>> visible_text("<h1>One</h1><p>two <b>three</b>&amp;c.<script>if (1<2) four()</script>")
    'One\ntwo three&c.'
    """
    content = content[: 8 * MOST_SHOWN]
    parts: list[str] = []
    start, silent = 0, ""
    for tag in _TAG.finditer(content):
        name = (tag[2] or "").lower()
        if not silent:
            parts.append(html.unescape(content[start : tag.start()]))
            if name in _BLOCKS:
                parts.append("\n")
            silent = name if name in _SILENT and not tag[1] else ""
        elif tag[1] and name == silent:
            silent = ""
        start = tag.end()
    if not silent:
        parts.append(html.unescape(content[start:]))
    lines = (" ".join(line.split()) for line in "".join(parts)[:MOST_SHOWN].splitlines())
    return "\n".join(line for line in lines if line)
