"""Pages under study, made harmless: as plain text, or as a document that can neither run nor fetch anything.

A page is shown as text, or in a frame without scripts, network, forms or origin (``guard.HOSTILE_POLICY``, and the
frame's own sandbox); scripts stay where they are and do not run. Elements that browsers follow before any policy is
asked (links that name servers to prepare for, refreshes, bases) are given names that mean nothing.
"""

from __future__ import annotations

import codecs
import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

import pyarrow as pa

from neardup.text import Block, structures, terms

_HELD: Final = 64
#: Characters of a page that are shown; beyond, a page is cut.
MOST_SHOWN: Final = 400_000
_FOLLOWED: Final = re.compile(
    r"(?i)<(/?)(?=(?:link|meta|base|i?frame|frameset|object|embed|applet|portal|fencedframe|form)\b)"
)


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

    def is_html(self, row: int) -> bool:
        """Whether a page is markup."""
        return bool(self.pages([row]).column("html")[0].as_py())

    def text(self, row: int) -> str:
        """The text of a page of plain text, as it is."""
        return decoded(self.pages([row]))[:MOST_SHOWN]

    def blocks(self, row: int) -> list[Block]:
        """The blocks of a page's text, as detectors see them; of a very long page the first."""
        (read,) = structures(self.pages([row]))
        shown, left = [], MOST_SHOWN
        for block in read.blocks:
            if left <= 0:
                break
            shown.append(replace(block, text=block.text[:left]))
            left -= len(block.text)
        return shown

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
