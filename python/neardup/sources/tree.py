"""Page files: each ``.html`` or ``.txt`` file (compressed or not) is a page, its path in its folder the id.

The files are only listed when chunks are made; workers read them, many small ones to a chunk.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import cached_property, partial
from typing import Any, Final
from urllib.parse import quote, urljoin

from neardup import _native
from neardup.errors import InputError
from neardup.page import BATCH_BYTES, Skipped
from neardup.sources.base import PAGE_BYTES, Chunk, Loaded, build_pages
from neardup.sources.expand import COMPRESSIONS, Named
from neardup.sources.files import shown
from neardup.sources.skipped import WHOLE_FILE
from neardup.sources.unpack import Unpacked

_CHUNK_FILES: Final = 512


class PageFiles:
    """A run of page files, in order."""

    def __init__(self, files: Sequence[Named], base_url: str | None = None, longest: int = PAGE_BYTES) -> None:
        self.files, self.base_url, self.longest = tuple(files), base_url, longest

    def nbytes(self) -> int | None:
        return None if None in self._sizes else sum(size for size in self._sizes if size is not None)

    @cached_property
    def _sizes(self) -> list[int | None]:
        return [named.place.size() for named in self.files]

    def check(self) -> None:
        """Nothing to check: every file is a page."""

    def chunks(self) -> Iterator[Chunk]:
        held: list[Named] = []
        size = 0
        for named, its in zip(self.files, self._sizes, strict=True):
            held.append(named)
            size += its or 0
            if size >= BATCH_BYTES or len(held) >= _CHUNK_FILES:
                yield Chunk(size, partial(self._load, held))
                held, size = [], 0
        if held:
            yield Chunk(size, partial(self._load, held))

    def _load(self, files: list[Named]) -> Loaded:
        contents = _plain_contents(files, self.longest)
        skipped = []
        kept: list[tuple[Named, Any, bool]] = []
        for named, content in zip(files, contents, strict=True):
            plain = named.place.is_local
            if content is None:
                content, wrong, stored_so = read_page_file(named, self.longest)
                if wrong is not None:
                    skipped.append(Skipped(named.place.name, WHOLE_FILE, wrong))
                    continue
                plain = plain and stored_so
            kept.append((named, content, plain))
        insides = [named.inside or named.place.name for named, _, _ in kept]
        columns: dict[str, Any] = {
            "id": [shown(inside) for inside in insides],
            "url": [page_url(self.base_url, inside) for inside in insides],
            "content": [content for _, content, _ in kept],
            "html": [looks_like_html(inside, content) for inside, (_, content, _) in zip(insides, kept, strict=True)],
            "source": [named.place.name for named, _, _ in kept],
            "record": [0] * len(kept),
            "offset": [0 if plain else None for _, _, plain in kept],
            "length": [len(content) if plain else None for _, content, plain in kept],
        }
        return Loaded(build_pages(columns, "", len(kept)), skipped)


def _plain_contents(files: Sequence[Named], longest: int) -> list[bytes | None]:
    """What stands in the files, read by a kernel; None for those that need patience: elsewhere, compressed, too long,
    or not to be read."""
    if any(not named.place.is_local or named.place.path.endswith(COMPRESSIONS) for named in files):
        return [None] * len(files)
    contents: list[bytes | None] = _native.read_plain_files([named.place.path for named in files], longest).to_pylist()
    return contents


def read_page_file(named: Named, longest: int = PAGE_BYTES) -> tuple[bytes, str | None, bool]:
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
                if size > longest:
                    return b"", _too_long(named, unpacked.compression, longest), False
            return b"".join(parts), None, unpacked.compression == "none"
    except (OSError, InputError) as error:
        return b"", error.what if isinstance(error, InputError) else error.strerror or str(error), False


def _too_long(named: Named, compression: str, longest: int) -> str:
    """Why a file was not read on. How long a compressed one is nobody knows who has not unpacked it."""
    size = named.place.size()
    if compression == "none" and size is not None and size > longest:
        return _native.too_long("a file", size, longest)
    return f"a file that unpacks to more than --max-page ({longest:,} bytes)"


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
