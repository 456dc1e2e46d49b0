"""Pages that are already in memory: a list of texts or records, or an Arrow table of the user's own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import TracebackType
from typing import Any, Self

import pyarrow as pa

from neardup.errors import InputError
from neardup.page import BATCH_BYTES
from neardup.sources.base import Chunk, Loaded, build_pages


@dataclass(frozen=True, slots=True)
class Memory:
    """A source over batches that are there already."""

    batches: list[pa.RecordBatch]

    def chunks(self) -> Iterator[Chunk]:
        for batch in self.batches:
            yield Chunk(batch.column("content").nbytes, partial(Loaded, batch))

    def nbytes(self) -> int | None:
        return sum(int(batch.column("content").nbytes) for batch in self.batches)

    def has_urls(self) -> bool | None:
        return any(batch.column("url").null_count < batch.num_rows for batch in self.batches)

    def close(self) -> None:
        pass

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass


def texts(pages: Sequence[str | Mapping[str, Any]]) -> Memory:
    """A source of texts, or of mappings with ``text`` or ``html`` and optionally ``id``, ``url``, ``date``.

    >>> source = texts(["plain text", {"html": "<p>hello", "url": "http://a.example/"}])
    >>> source.has_urls(), sum(chunk.load().pages.num_rows for chunk in source.chunks())
    (True, 2)
    """
    batches: list[pa.RecordBatch] = []
    rows: list[dict[str, Any]] = []
    size = 0
    for number, page in enumerate(pages):
        rows.append(row_of(page, number))
        size += len(rows[-1]["content"])
        if size >= BATCH_BYTES:
            batches.append(_batch(rows))
            rows, size = [], 0
    if rows:
        batches.append(_batch(rows))
    return Memory(batches)


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
