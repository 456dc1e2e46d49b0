"""Pages that are already in memory: a list of texts or records, or a table, of whatever library that speaks Arrow."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from types import TracebackType
from typing import Any, Final, Protocol, Self

import pyarrow as pa

from neardup.errors import InputError, UsageError
from neardup.lazy import later
from neardup.page import BATCH_BYTES
from neardup.record import record
from neardup.several import check_several
from neardup.sources.base import Chunk, Fields, Loaded, build_pages
from neardup.sources.parquet import check_columns, column_of, convert, pieces
from neardup.sources.spooled import Room

pc = later("pyarrow.compute")

#: Pages that are put together, however short they are.
_MOST_ROWS: Final = 1 << 14


@record(frozen=True, slots=True)
class Memory:
    """A source over batches that are there already, in memory or in a file."""

    batches: Sequence[pa.RecordBatch]

    @property
    def unread(self) -> tuple[()]:
        return ()

    def chunks(self) -> Iterator[Chunk]:
        for batch in self.batches:
            yield Chunk(batch.column("content").nbytes, partial(Loaded, batch))

    def lanes(self) -> list[Callable[[], Iterator[Chunk]]]:
        return [self.chunks]

    def nbytes(self) -> int | None:
        return sum(int(batch.column("content").nbytes) for batch in self.batches)

    def close(self) -> None:
        pass

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass


class Tabular(Protocol):
    """A table or a column of texts: Arrow's own, pandas', polars', DuckDB's."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...


#: Texts; mappings with ``text`` or ``html``, and maybe ``id``, ``url``, ``date``; or a table of such columns.
Pages = Iterable[str | Mapping[str, Any]] | Tabular


def in_memory(pages: Pages, fields: Fields = Fields(), room: Room | None = None) -> Memory:
    """A source of pages that are there, as many as there are rows; ``room`` says where those are held that are
    given one after another.

    >>> in_memory(pa.table({"body": ["plain text", None]}), Fields(text="body")).batches[0]["content"].to_pylist()
    [b'plain text', b'']
    >>> in_memory("plain text")
    Traceback (most recent call last):
    neardup.errors.UsageError: pages were expected, not a single text: put it into a list
    """
    check_several(pages)
    if isinstance(pages, pa.RecordBatchReader):
        check_columns(pages.schema, fields, "the table")
        return _of_tables((pa.Table.from_batches([batch]) for batch in pages), fields, room)
    table = as_table(pages, fields)
    if table is not None:
        return _of_tables([table], fields)
    if not isinstance(pages, Iterable):
        raise UsageError(f"pages cannot be taken from a {type(pages).__name__}", hint="give a list, or a table")
    return texts((_renamed(page, fields) for page in pages) if fields.changed() else pages, room)


def as_table(pages: Any, fields: Fields = Fields()) -> pa.Table | None:
    """Pages as a table, where they are one to whoever speaks Arrow; a column is taken for texts."""
    if isinstance(pages, pa.RecordBatch):
        return pa.Table.from_batches([pages])
    if isinstance(pages, pa.Array):
        pages = pa.chunked_array([pages])
    if not hasattr(pages, "__arrow_c_stream__"):
        return None
    try:
        return pa.table(pages)
    except pa.ArrowInvalid:
        return pa.table({fields.text: pa.chunked_array(pages)})


def _of_tables(tables: Iterable[pa.Table], fields: Fields, room: Room | None = None) -> Memory:
    batches: list[pa.RecordBatch] = []
    take = batches.append if room is None else room.append
    first = 0
    for table in tables:
        for batch in _of_table(table, fields, first):
            take(batch)
        first += table.num_rows
    return Memory(batches if room is None else room.batches())


def _of_table(table: pa.Table, fields: Fields, first: int) -> Iterator[pa.RecordBatch]:
    """Rows without content are empty pages, so that what is found has a row for every row; ``first`` is the number of
    the first."""
    check_columns(table.schema, fields, "the table")
    # What stands inside of other columns is taken out of them.
    table = pa.table({name: found for name in fields.names() if (found := column_of(table, name)) is not None})
    name = fields.text if fields.text in table.column_names else fields.html
    column: Any = table.column(name)
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_null(column.type):
        column = column.cast(pa.string())
    if pa.types.is_string_view(column.type) or pa.types.is_binary_view(column.type):
        column = column.cast(pa.large_string() if pa.types.is_string_view(column.type) else pa.large_binary())
    empty = "" if pa.types.is_string(column.type) or pa.types.is_large_string(column.type) else b""
    if column.null_count:
        column = pc.fill_null(column, pa.scalar(empty, column.type))
    table = table.set_column(table.column_names.index(name), name, column)
    for batch in pieces(table):
        # A page that is held already may be as long as it is.
        loaded = convert(batch, fields, "memory", first, sys.maxsize)
        if loaded.skipped:
            raise InputError(loaded.skipped[0].reason, where=f"the table, {loaded.skipped[0].position}")
        yield loaded.pages
        first += batch.num_rows


def _renamed(page: Any, fields: Fields) -> Any:
    """A mapping with the usual names."""
    if not isinstance(page, Mapping):
        return page
    usual = ("id", "url", "html", "text", "date")
    return {name: page.get(given) for name, given in zip(usual, fields.names(), strict=True)}


def texts(pages: Iterable[str | Mapping[str, Any]], room: Room | None = None) -> Memory:
    """A source of texts, or of mappings with ``text`` or ``html`` and optionally ``id``, ``url``, ``date``.

    >>> source = texts(["plain text", {"html": "<p>hello", "url": "http://a.example/"}])
    >>> sum(chunk.load().pages.num_rows for chunk in source.chunks())
    2
    """
    batches: list[pa.RecordBatch] = []
    take = batches.append if room is None else room.append
    rows: list[dict[str, Any]] = []
    size = 0
    for number, page in enumerate(pages):
        rows.append(row_of(page, number))
        size += len(rows[-1]["content"])
        if size >= BATCH_BYTES or len(rows) >= _MOST_ROWS:
            take(_batch(rows))
            rows, size = [], 0
    if rows:
        take(_batch(rows))
    return Memory(batches if room is None else room.batches())


def row_of(page: str | Mapping[str, Any], number: int) -> dict[str, Any]:
    """A text or a mapping taken apart; its number is what an error calls it.

    >>> row_of("hello", 0)["content"]
    b'hello'
    """
    if isinstance(page, str):
        page = {"text": page}
    if not isinstance(page, Mapping):
        raise InputError(
            f"page {number} is neither text nor a mapping but {type(page).__name__}",
            hint="give strings, or mappings with 'text' or 'html'",
        )
    html = page.get("html") is not None
    content = page.get("html") if html else page.get("text")
    if isinstance(content, str):
        content, charset = content.encode("utf-8", "replace"), "utf-8"
    elif isinstance(content, bytes):
        charset = None
    else:
        raise InputError(f"page {number} has no 'text' or 'html'", hint="give one of them as a string")
    row: dict[str, Any] = {"content": content, "html": html, "charset": charset, "record": number}
    for name in ("id", "url", "date"):
        row[name] = None if page.get(name) is None else str(page[name])
    return row


def _batch(rows: list[dict[str, Any]]) -> pa.RecordBatch:
    names = ("id", "url", "content", "html", "charset", "date", "record")
    return build_pages({name: [row[name] for row in rows] for name in names}, "memory", len(rows))
