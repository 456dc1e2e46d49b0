"""Tables of inverse document frequencies: built from a collection, saved, and never assumed.

idf(term) = ln(N / df): N different pages, df of them with the term; a term that the collection has not, or has on one
page only, counts as df = 1. The table is the statistics of chunks of one token (``neardup.methods.statistics``),
which keep what occurs on two pages or more; its digest names it in every table of signals that was made with it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup import _native
from neardup.engines import Progress, Settings, Silent
from neardup.engines.local.reading import collect
from neardup.engines.local.statistics import count
from neardup.errors import FormatError, InputError
from neardup.methods import parse
from neardup.methods.shingles import ShingleSet
from neardup.methods.statistics import CollectionStatistics
from neardup.sources import Source
from neardup.text import Reading

_LENGTH = 1


@dataclass(frozen=True)
class Idf:
    """Document frequencies of a collection."""

    statistics: CollectionStatistics

    @staticmethod
    def of(frequencies: Mapping[int, int], pages: int) -> Idf:
        """A table of given document frequencies of tokens.

        >>> round(float(Idf.of({5: 2}, pages=4).weights(np.array([5], np.uint64))[0]), 3)
        0.693
        """
        chunks = _chunks(np.array(list(frequencies), np.uint64))
        order = np.argsort(chunks)
        counts = np.array(list(frequencies.values()), np.uint32)[order]
        return Idf(CollectionStatistics(pages, "fold", {_LENGTH: (chunks[order], counts)}))

    @property
    def pages(self) -> int:
        """How many different pages were counted."""
        return self.statistics.pages

    @property
    def terms(self) -> int:
        """How many terms occur on two of them or more."""
        return len(self.statistics.chunks[_LENGTH][0])

    @property
    def digest(self) -> str:
        """Names the table."""
        return self.statistics.digest

    @cached_property
    def _table(self) -> _native.NumberTable:
        return _native.NumberTable(*self.statistics.chunks[_LENGTH])

    def weights(self, tokens: npt.NDArray[np.uint64]) -> npt.NDArray[np.float64]:
        """ln(N / df) of each token."""
        frequency = self._table.look_up(_chunks(tokens), 1)
        weights: npt.NDArray[np.float64] = np.log(max(self.pages, 1) / np.maximum(frequency, 1))
        return np.maximum(weights, 0.0)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the table to a file."""
        self.statistics.save(path)

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Idf:
        """A table from a file; one that holds other statistics is an error."""
        loaded = CollectionStatistics.load(path)
        if _LENGTH not in loaded.chunks:
            raise FormatError("no idf table: it has no single terms", where=os.fspath(path), hint="neardup idf build")
        if loaded.hash != "fold":
            raise FormatError(
                f"the table is of {loaded.hash!r} tokens, signals are of 'fold'",
                where=os.fspath(path),
                hint="build it without --token-hash",
            )
        return Idf(loaded)


def _chunks(tokens: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """The chunk of one token that each token is: statistics are of chunks, which are hashed once more."""
    lists = pa.LargeListArray.from_arrays(np.arange(len(tokens) + 1, dtype=np.int64), pa.array(tokens, pa.uint64()))
    return np.ascontiguousarray(np.asarray(ShingleSet(_LENGTH).compute(lists).flatten(), np.uint64))


def build_idf(source: Source, *, threads: int = 0, progress: Progress | None = None) -> Idf:
    """Counts the pages of a source that have each term; pages with the same terms count once.

    >>> from neardup.sources.memory import texts
    >>> table = build_idf(texts(["one two three", "one two", "one four"]))
    >>> table.pages, table.terms
    (3, 2)
    """
    detector = parse("i-match")  # the detector whose statistics are of single terms
    # Every page with terms counts, however short it is.
    settings = Settings(threads=threads, reading=Reading(min_tokens=1))
    progress = progress or Silent()
    progress.begin("reading", source.nbytes())
    try:
        collection = collect(source, detector, settings, progress)
    finally:
        progress.end()
    statistics = count(collection, detector, settings)
    if not statistics.pages:
        raise InputError("no pages were read", hint="an idf table needs a collection")
    return Idf(statistics)
