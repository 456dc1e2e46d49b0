"""A part: what reading makes of one or more chunks of the input, as one Arrow batch and a few counts.

Everything of a page is a column of the batch, fingerprints and tokens included, so that a part goes to disk and comes
back as it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, field
from typing import Any

from neardup.page import Kinds
from neardup.record import record
from neardup.sources import Chunk, Loaded
from neardup.sources.skipped import SkippedRecords, add_kinds


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
