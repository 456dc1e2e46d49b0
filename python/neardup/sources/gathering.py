"""Small chunks as fewer larger ones: a crawl may come as very many small files, and what is done once for a batch of
pages would be done for each of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Final

import pyarrow as pa

from neardup.page import BATCH_BYTES
from neardup.sources.base import Chunk, Loaded
from neardup.sources.skipped import SkippedRecords

#: Chunks are put together until they have as many bytes, or are so many; a usual one passes as it is.
ENOUGH: Final = BATCH_BYTES // 2
MOST: Final = 512


def gathered(chunks: Iterable[Chunk]) -> Iterator[Chunk]:
    """The same pages in the same order. Which chunks are put together depends on their number and sizes alone.

    >>> from neardup.sources.memory import texts
    >>> few = [chunk for text in ("one", "two") for chunk in texts([text]).chunks()]
    >>> [chunk.load().pages["content"].to_pylist() for chunk in gathered(few)]
    [[b'one', b'two']]
    """
    held: list[Chunk] = []
    size = 0
    for chunk in chunks:
        held.append(chunk)
        size += chunk.nbytes if chunk.plain is None else chunk.plain
        if size >= ENOUGH or len(held) >= MOST:
            yield _one(held)
            held, size = [], 0
    if held:
        yield _one(held)


def _one(chunks: list[Chunk]) -> Chunk:
    if len(chunks) == 1:
        return chunks[0]
    plain = sum(chunk.nbytes if chunk.plain is None else chunk.plain for chunk in chunks)
    return Chunk(sum(chunk.nbytes for chunk in chunks), partial(_load, chunks), plain)


def _load(chunks: list[Chunk]) -> Loaded:
    parts = [chunk.load() for chunk in chunks]
    ignored: Counter[str] = Counter()
    tolerated: Counter[str] = Counter()
    for part in parts:
        ignored.update(part.ignored)
        tolerated.update(part.tolerated)
    return Loaded(
        pa.concat_batches([part.pages for part in parts]),
        SkippedRecords.of(*(part.skipped for part in parts)),
        dict(sorted(ignored.items())),
        dict(tolerated),
        [redirect for part in parts for redirect in part.redirects],
    )
