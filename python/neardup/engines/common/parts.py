"""A part: what reading makes of one or more chunks of the input, as one Arrow batch and a few counts.

Everything of a page is a column of the batch, fingerprints and tokens included, so that a part goes to disk and comes
back as it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup.methods import FixedWidth
from neardup.page import Kinds
from neardup.record import record
from neardup.sources import Chunk, Loaded
from neardup.sources.skipped import SkippedRecords, add_kinds

#: What is kept of each page as the source told it.
KEPT: Final = ("id", "url", "date", "source", "record", "offset", "length")
#: How columns of long lists (sets, tokens) are named; they are by far the largest, and read page by page.
LIST: Final = "list_"
TOKENS: Final = "list_tokens"
STREAMS: Final = "list_streams"


@record(frozen=True, slots=True)
class Tally:
    """What else reading has to tell of a stretch of the input."""

    #: How many chunks of the source it took, pages it gave, and bytes of the (compressed) input it stands for.
    chunks: int = 0
    pages: int = 0
    nbytes: int = 0
    #: Pages with bytes that did not fit their encoding.
    replaced: int = 0
    #: Records that could not be read, and how many of each kind of reason.
    skipped: int = 0
    reasons: dict[str, int] = field(default_factory=dict)
    ignored: dict[str, int] = field(default_factory=dict)
    tolerated: dict[str, int] = field(default_factory=dict)
    #: Of the pages, those of markup; the others are plain text.
    html: int = 0

    @property
    def kinds(self) -> Kinds:
        """How many pages are of which kind."""
        return Kinds(self.html, self.pages - self.html)

    @staticmethod
    def of(chunk: Chunk, loaded: Loaded, replaced: int) -> Tally:
        """What a chunk that was loaded has to tell."""
        skipped = SkippedRecords.of(loaded.skipped)
        return Tally(
            1,
            loaded.pages.num_rows,
            chunk.nbytes,
            replaced,
            len(skipped),
            skipped.kinds() if skipped else {},
            loaded.ignored,
            loaded.tolerated,
            Kinds.of(loaded.pages).html,
        )

    @staticmethod
    def total(tallies: Iterable[Tally]) -> Tally:
        """All of them together.

        >>> together = Tally.total([Tally(1, 3, 10, ignored={"image": 1}), Tally(1, 4, 5, ignored={"image": 2})])
        >>> together.pages, together.nbytes, together.ignored
        (7, 15, {'image': 3})
        """
        numbers, html = [0] * 5, 0
        reasons: dict[str, int] = {}
        ignored: Counter[str] = Counter()
        tolerated: Counter[str] = Counter()
        for tally in tallies:
            one = (tally.chunks, tally.pages, tally.nbytes, tally.replaced, tally.skipped)
            numbers = [before + more for before, more in zip(numbers, one, strict=True)]
            reasons = add_kinds(reasons, tally.reasons)
            ignored.update(tally.ignored)
            tolerated.update(tally.tolerated)
            html += tally.html
        chunks, pages, nbytes, replaced, skipped = numbers
        return Tally(
            chunks=chunks,
            pages=pages,
            nbytes=nbytes,
            replaced=replaced,
            skipped=skipped,
            reasons=reasons,
            ignored=dict(sorted(ignored.items())),
            tolerated=dict(sorted(tolerated.items())),
            html=html,
        )

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    def from_json(value: dict[str, Any]) -> Tally:
        return Tally(**value)


@record(frozen=True, slots=True)
class Part:
    """Pages in input order, read and fingerprinted."""

    rows: pa.RecordBatch
    tally: Tally
    #: What of the same stretch of the input could not be read.
    skipped: SkippedRecords | None = None

    @property
    def nbytes(self) -> int:
        """About the bytes of memory it takes."""
        return int(self.rows.nbytes) + (self.skipped.nbytes if self.skipped is not None else 0)


def fixed_width_column(values: FixedWidth) -> pa.FixedSizeListArray:
    """A fingerprint as a column.

    >>> fixed_width_column(np.array([[1, 2], [3, 4]], np.uint64)).to_pylist()
    [[1, 2], [3, 4]]
    """
    flat = pa.array(np.ascontiguousarray(values).reshape(-1))
    return pa.FixedSizeListArray.from_arrays(flat, values.shape[1])


def fixed_width_rows(batches: Iterable[pa.RecordBatch], rows: npt.NDArray[np.uint32]) -> FixedWidth:
    """Some rows, ascending, of the column of batches that follow one another, as one array; nothing else is held.

    >>> column = fixed_width_column(np.array([[1, 2], [3, 4]], np.uint64))
    >>> batches = [pa.RecordBatch.from_arrays([column], ["fingerprint"])] * 2
    >>> fixed_width_rows(batches, np.array([1, 2], np.uint32)).tolist()
    [[3, 4], [1, 2]]
    """
    found: FixedWidth | None = None
    before = filled = 0
    for batch in batches:
        column = batch.column(0)
        width = column.type.list_size
        if found is None:
            found = np.empty((len(rows), width), np.uint64)
        # A number of the rows' own type, or all of them would be cast to another for every batch.
        upto = int(np.searchsorted(rows, np.uint32(before + len(column))))
        # `flatten` respects that a batch may be a slice of another.
        values = column.flatten().to_numpy().reshape(-1, width)
        # Any mode but "raise" is written straight to where it belongs; no row is outside.
        np.take(values, rows[filled:upto] - before, axis=0, out=found[filled:upto], mode="clip")
        before, filled = before + len(column), upto
    assert found is not None, "a collection has pages"
    return found


def numbers(batches: Sequence[pa.RecordBatch], name: str) -> npt.NDArray[Any]:
    """A column of numbers of all batches as one array."""
    return np.concatenate([batch.column(name).to_numpy() for batch in batches])
