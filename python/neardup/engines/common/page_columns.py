"""All fingerprints of a batch of pages as columns, and which of them wait for statistics of the collection."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np
import pyarrow as pa

from neardup import _native
from neardup.engines.common.settings import Settings
from neardup.methods import (
    AnyFingerprint,
    ChunkSets,
    Detector,
    Fingerprint,
    FixedWidth,
    OfContent,
    Statistical,
)
from neardup.methods.one_pass import Made, OnePass, ReadPages
from neardup.plan import Given, beyond_tokens
from neardup.sources.base import Chunk, Loaded

#: What is kept of each page as the source told it.
KEPT: Final = ("id", "url", "date", "source", "record", "offset", "length")


#: How columns of long lists (sets, tokens) are named; they are by far the largest, and read page by page.
LIST: Final = "list_"


TOKENS: Final = "list_tokens"


STREAMS: Final = "list_streams"


def waits_for(kinds: Sequence[AnyFingerprint]) -> tuple[bool, OfContent | None]:
    """What is held of pages until statistics are known: whether tokens, and for which fingerprint the streams of their
    content. Those of one detector agree in how streams are made."""
    waiting = after_all(kinds)
    streams = [kind for kind in waiting if isinstance(kind, OfContent)]
    return len(streams) < len(waiting), streams[0] if streams else None


def at_once(kinds: Sequence[AnyFingerprint]) -> tuple[Fingerprint | ChunkSets, ...]:
    """Those that a page alone decides."""
    return tuple(kind for kind in kinds if not isinstance(kind, Statistical))


def after_all(kinds: Sequence[AnyFingerprint]) -> tuple[Statistical, ...]:
    """Those that wait for statistics of the collection."""
    return tuple(kind for kind in kinds if isinstance(kind, Statistical))


def fingerprint_columns(
    kinds: Sequence[Fingerprint | ChunkSets], given: Given, made: Mapping[Fingerprint | ChunkSets, Made] | None = None
) -> Iterator[tuple[str, pa.Array]]:
    """The fingerprints of the pages as columns with their names, those that were made already as they are: rows of
    numbers, or sets and their parities."""
    for number, kind in enumerate(kinds):
        values = made[kind] if made is not None and kind in made else kind.compute(given.to(kind))
        if isinstance(values, np.ndarray):
            yield f"fingerprint_{number}", fixed_width_column(values)
            continue
        sets, parities = values if isinstance(values, tuple) else (values, _native.parities(values))
        yield f"{LIST}{number}", sets
        yield f"parity_{number}", parities


def fixed_width_column(values: FixedWidth) -> pa.FixedSizeListArray:
    """A fingerprint as a column.

    >>> fixed_width_column(np.array([[1, 2], [3, 4]], np.uint64)).to_pylist()
    [[1, 2], [3, 4]]
    """
    flat = pa.array(np.ascontiguousarray(values).reshape(-1))
    return pa.FixedSizeListArray.from_arrays(flat, values.shape[1])


class PageColumns:
    """All that is kept of batches of pages, by column. What that is, a detector and settings decide once."""

    def __init__(self, detector: Detector, settings: Settings) -> None:
        self.kinds = at_once(detector.fingerprints())
        hold_tokens, self._streamed = waits_for(detector.fingerprints())
        self._hold_tokens = hold_tokens or settings.hold_tokens
        self._reading = settings.reading
        self._linked = settings.keep == "most-linked"
        self._one_pass = OnePass(settings.reading, self.kinds, self._hold_tokens)
        #: Whether pages are looked at again when they have been read.
        self._looks_again = self._linked or self._streamed is not None or beyond_tokens(detector.fingerprints())

    def load(self, chunk: Chunk) -> tuple[Loaded, dict[str, pa.Array], int]:
        """Loads a chunk: its pages, perhaps without their contents, and what ``of`` gives."""
        if chunk.read is not None and not self._looks_again:
            loaded, read = chunk.read(self._one_pass.task)
            return loaded, *self._columns(loaded.pages, self._one_pass.read(read))
        loaded = chunk.load()
        return loaded, *self.of(loaded.pages)

    def of(self, pages: pa.RecordBatch) -> tuple[dict[str, pa.Array], int]:
        """The columns, and how many pages had bytes that did not fit their encoding."""
        return self._columns(pages, self._one_pass.of(pages))

    def _columns(self, pages: pa.RecordBatch, first: ReadPages) -> tuple[dict[str, pa.Array], int]:
        columns = {name: pages.column(name) for name in KEPT}
        columns["title"], columns["site"] = first.title, first.site
        columns["tokens"] = pa.array(first.lengths)
        columns["identity_high"] = pa.array(first.identity_high)
        columns["identity_low"] = pa.array(first.identity_low)
        given = Given(pages, self._reading, first.tokens)
        columns |= dict(fingerprint_columns(self.kinds, given, first.made))
        if self._hold_tokens:
            columns[TOKENS] = given.tokens
        if self._streamed is not None:
            columns[STREAMS] = given.streams(self._streamed)
        if self._linked:
            columns["own_url"], columns["links"] = page_links(pages)
        return columns, int(first.replaced.sum())


def page_links(pages: pa.RecordBatch) -> tuple[pa.UInt64Array, pa.LargeListArray]:
    """Of each page the hash of its own normalised URL (0: none), and of the distinct URLs it links to but its own."""
    own, targets = _native.links(
        pages.column("content"), pages.column("html"), pages.column("charset"), pages.column("url")
    )
    return pa.array(own), targets
