"""WARC archives: the pages among the records of a crawl.

A page is a ``response`` record of a successful (2xx) HTTP answer with HTML or plain text, a ``resource``
record of such a type, or a ``conversion`` record with text (WET). All other records are counted by kind and
left alone. All of it is native: one thread unpacks and frames records and takes the pages among them whose header and
body are of the plainest form; all other records of a page's kind are read patiently, in the workers.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, Final

from neardup import _native
from neardup.errors import InputError
from neardup.page import BATCH_BYTES, Skipped
from neardup.sources.base import PAGE_BYTES, Chunk, Loaded, build_pages, only_skipped
from neardup.sources.files import Place
from neardup.sources.framing import reader
from neardup.sources.unpack import Unpacked

#: Kinds of records that may be pages.
PAGE_KINDS: Final = frozenset({"response", "resource", "conversion"})
#: Under what a page is counted that was read without one.
WITHOUT_STATUS: Final = "response without an HTTP status line"
_CHUNK_RECORDS: Final = 4096


class WarcFile:
    """The pages of one WARC file, plain or compressed."""

    def __init__(self, place: Place, longest: int = PAGE_BYTES) -> None:
        self.place, self.longest = place, longest

    def nbytes(self) -> int | None:
        return self.place.size()

    def check(self) -> None:
        """Raises ``InputError`` for an archive in the older ARC format."""
        if self.place.once is not None:
            return
        with self.place.open() as raw:
            first = next(iter(Unpacked(raw)), None)
        if first is not None and first.data.startswith(b"filedesc:"):
            raise InputError(
                "an ARC file, which neardup does not read",
                where=self.place.name,
                hint="convert it to WARC first",
            )

    def chunks(self) -> Iterator[Chunk]:
        with self.place.open() as raw:
            unpacked = Unpacked(raw)
            records = reader(unpacked, self.longest)
            counted = 0
            while (batch := records.next_pages(BATCH_BYTES, _CHUNK_RECORDS, self.longest)) is not None:
                taken, plain, pages = batch
                yield Chunk(taken - counted, partial(load, self.place, pages), plain, partial(_read, self.place, pages))
                counted = taken
            if unpacked.taken > counted:
                yield only_skipped(unpacked.taken - counted)  # nothing but what fills up the file


def load(place: Place, pages: _native.WarcPages) -> Loaded:
    """The pages among the records that the kernel took off an archive."""
    return _loaded(place, pages.load())


def _read(place: Place, pages: _native.WarcPages, task: _native.PageTask) -> tuple[Loaded, _native.PagesRead]:
    loaded, read = pages.read(task)
    return _loaded(place, loaded), read


def _loaded(place: Place, loaded: _native.WarcLoaded) -> Loaded:
    columns: dict[str, Any] = dict(loaded.columns)
    rows = len(columns["record"])
    if not place.is_local:
        del columns["offset"], columns["length"]
    tolerated = {WITHOUT_STATUS: loaded.tolerated} if loaded.tolerated else {}
    skipped = [Skipped(place.name, position, reason) for position, reason in loaded.skipped]
    return Loaded(build_pages(columns, place.name, rows), skipped, dict(loaded.ignored), tolerated, loaded.redirects)
