"""What every source is to an engine: an ordered stream of chunks, each of which loads into one page batch.

Producing a chunk is cheap and happens in one reader thread (cut a block at a line end, take records off an
archive); *loading* it (parsing, decoding) happens in the engine's workers, with the GIL released where it
counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import field, fields
from types import TracebackType
from typing import Any, Final, Protocol, Self

import pyarrow as pa

from neardup import _native
from neardup.page import PAGES, Skipped
from neardup.record import record

#: A page that is longer as it stands in its file (a line, a row, a value, a record, a file) is passed over and named,
#: unless a run is told another length: no reader of pages goes on for so long, and a page has to be held whole.
PAGE_BYTES: Final = 64 << 20


@record(frozen=True, slots=True)
class Fields:
    """The names under which rows (JSONL, Parquet, CSV) hold what a page has; ``a.b`` is what is called ``b`` inside of
    ``a``.

    A name that was changed must be there; the usual names are taken where they are.

    >>> Fields(id="doc", text="body").changed()
    {'id': 'doc', 'text': 'body'}
    """

    id: str = "id"
    url: str = "url"
    html: str = "html"
    text: str = "text"
    date: str = "date"

    def changed(self) -> dict[str, str]:
        """The names that differ from the usual ones, by what they stand for."""
        return {f.name: getattr(self, f.name) for f in fields(self) if getattr(self, f.name) != f.default}

    def names(self) -> tuple[str, str, str, str, str]:
        """All names: id, url, html, text, date."""
        return self.id, self.url, self.html, self.text, self.date


@record(frozen=True, slots=True)
class Loaded:
    """A chunk's pages (schema ``neardup.page.PAGES``) and what else it held.

    ``skipped`` are records that could not be read. ``ignored`` counts, by kind, records that are no pages at
    all: requests, images, redirects; ``tolerated`` pages that were read though their form is wrong. ``redirects`` are
    addresses that answered with another, and that other as it was written.
    """

    pages: pa.RecordBatch
    skipped: Sequence[Skipped] = ()
    ignored: dict[str, int] = field(default_factory=dict)
    tolerated: dict[str, int] = field(default_factory=dict)
    redirects: list[tuple[str, str]] = field(default_factory=list)


@record(frozen=True, slots=True)
class Chunk:
    """A piece of the input, in input order. ``nbytes`` is what it took off the (compressed) input, and ``plain`` about
    what it is when unpacked, where that is another number."""

    nbytes: int
    load: Callable[[], Loaded]
    plain: int | None = None
    #: The same with what a task makes of the pages, where the source can make it on the way: contents need not be held
    #: then, and are null.
    read: Callable[[_native.PageTask], tuple[Loaded, _native.PagesRead]] | None = None


class Source(Protocol):
    """One or several inputs, read in order; reading twice gives the same pages in the same order."""

    @property
    def unread(self) -> Sequence[Skipped]:
        """Files that are not read, of folders that are."""
        ...

    def chunks(self) -> Iterator[Chunk]:
        """The input, piece by piece."""
        ...

    def lanes(self) -> Sequence[Callable[[], Iterable[Chunk]]]:
        """The same in parts that may be read beside each other; one after another they are ``chunks()``."""
        ...

    def nbytes(self) -> int | None:
        """Bytes of the (compressed) input in all, or None where that is not known beforehand."""
        ...

    def close(self) -> None:
        """Gives back what the source holds (the temporary copy of standard input)."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


def no_pages() -> pa.RecordBatch:
    """An empty batch of pages.

    >>> no_pages().num_rows
    0
    """
    return pa.RecordBatch.from_pylist([], schema=PAGES)


def only_skipped(nbytes: int, *skipped: Skipped) -> Chunk:
    """A chunk that holds nothing but records that could not be read.

    >>> only_skipped(10, Skipped("a.jsonl.gz", "line 3", "truncated")).load().pages.num_rows
    0
    """
    return Chunk(nbytes, lambda: Loaded(no_pages(), list(skipped)))


def build_pages(columns: dict[str, Any], source: str, rows: int) -> pa.RecordBatch:
    """A batch of pages from the columns at hand; a column that is absent is null in every row.

    >>> build_pages({"content": [b"hello"], "html": [False], "record": [0]}, "a.txt", 1)["source"][0].as_py()
    'a.txt'
    """
    arrays = []
    for column in PAGES:
        value = columns.get(column.name, source if column.name == "source" else None)
        if value is None:
            arrays.append(pa.nulls(rows, column.type))
        elif isinstance(value, pa.Array):
            arrays.append(value if value.type == column.type else value.cast(column.type))
        elif isinstance(value, str):
            arrays.append(pa.repeat(pa.scalar(value, column.type), rows))
        else:
            arrays.append(pa.array(value, column.type))
    return pa.RecordBatch.from_arrays(arrays, schema=PAGES)
