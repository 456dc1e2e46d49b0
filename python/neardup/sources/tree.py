"""Page files: each ``.html`` or ``.txt`` file (compressed or not) is a page, its path in its folder the id.

The files are only listed when chunks are made; workers read them, many small ones to a chunk.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Final
from urllib.parse import quote, urljoin

from neardup.errors import InputError
from neardup.page import BATCH_BYTES, Skipped
from neardup.sources.base import PAGE_BYTES, Chunk, Loaded, build_pages, page_too_long
from neardup.sources.expand import COMPRESSIONS, Named
from neardup.sources.files import shown
from neardup.sources.unpack import Unpacked

_CHUNK_FILES: Final = 512


class PageFiles:
    """A run of page files, in order."""

    def __init__(self, files: Sequence[Named], base_url: str | None = None) -> None:
        self.files, self.base_url = tuple(files), base_url

    def nbytes(self) -> int | None:
        sizes = [named.place.size() for named in self.files]
        return None if None in sizes else sum(size for size in sizes if size is not None)

    def has_urls(self) -> bool:
        return self.base_url is not None

    def check(self) -> None:
        """Nothing to check: every file is a page."""

    def chunks(self) -> Iterator[Chunk]:
        held: list[Named] = []
        size = 0
        for named in self.files:
            held.append(named)
            size += named.place.size() or 0
            if size >= BATCH_BYTES or len(held) >= _CHUNK_FILES:
                yield Chunk(size, partial(self._load, held))
                held, size = [], 0
        if held:
            yield Chunk(size, partial(self._load, held))

    def _load(self, files: list[Named]) -> Loaded:
        columns: dict[str, list[Any]] = {
            name: [] for name in ("id", "url", "content", "html", "source", "record", "offset", "length")
        }
        skipped = []
        for named in files:
            content, wrong, plain = read_page_file(named)
            if wrong is not None:
                skipped.append(Skipped(named.place.name, "whole file", wrong))
                continue
            inside = named.inside or named.place.name
            seekable = plain and named.place.is_local
            values = {
                "id": shown(inside),
                "url": page_url(self.base_url, inside),
                "content": content,
                "html": looks_like_html(inside, content),
                "source": named.place.name,
                "record": 0,
                "offset": 0 if seekable else None,
                "length": len(content) if seekable else None,
            }
            for name, value in values.items():
                columns[name].append(value)
        return Loaded(build_pages(dict(columns), "", len(columns["id"])), skipped)


def read_page_file(named: Named) -> tuple[bytes, str | None, bool]:
    """A page file's plain bytes, or why they cannot be had; and whether they are stored as they are."""
    parts: list[bytes] = []
    size = 0
    try:
        with named.place.open() as raw:
            unpacked = Unpacked(raw)
            for piece in unpacked:
                if piece.damage is not None:
                    return b"", piece.damage, False
                parts.append(piece.data)
                size += len(piece.data)
                if size > PAGE_BYTES:
                    return b"", page_too_long(), False
            return b"".join(parts), None, unpacked.compression == "none"
    except (OSError, InputError) as error:
        return b"", error.what if isinstance(error, InputError) else error.strerror or str(error), False


def page_url(base_url: str | None, inside: str) -> str | None:
    """The URL of a page in a folder whose files are served under ``base_url``.

    >>> page_url("https://example.org/docs", "a b/index.html.gz")
    'https://example.org/docs/a%20b/index.html'
    """
    if base_url is None:
        return None
    for ending in COMPRESSIONS:
        inside = inside.removesuffix(ending)
    return urljoin(base_url.rstrip("/") + "/", quote(os.fsencode(inside), safe="/~!$&'()*+,;=@"))


def looks_like_html(name: str, content: bytes) -> bool:
    """Whether a page file is HTML: by its ending, else (standard input) by its first character.

    >>> looks_like_html("a.HTM", b""), looks_like_html("notes.txt.gz", b"<p>"), looks_like_html("-", b" <p>")
    (True, False, True)
    """
    name = name.lower()
    for ending in COMPRESSIONS:
        name = name.removesuffix(ending)
    if name.endswith((".html", ".htm", ".xhtml")):
        return True
    return not name.endswith(".txt") and content.lstrip()[:1] == b"<"
