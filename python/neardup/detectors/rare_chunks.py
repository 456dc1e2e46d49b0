"""Rare chunks: those that few pages have (Heintze 1996)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from neardup.detectors.registry import register
from neardup.detectors.shared import SharesRatio
from neardup.fingerprints import RareChunks


@register
@dataclass(frozen=True)
class RareChunkSelection(SharesRatio):
    """Pages whose ``n``-word chunks that at most ``most`` pages have share ``ratio`` of their union.

    ``most=1``, a chunk that occurs once, can match only pages from outside the collection.

    >>> RareChunkSelection(n=4).counted()
    (4,)
    """

    n: int = 5
    most: int = 10
    ratio: float = 0.5

    name: ClassVar[str] = "rare-chunks"
    summary: ClassVar[str] = "word n-grams that at most 10 pages have: at least 0.5 shared"
    source: ClassVar[str] = "Heintze 1996; Potthast & Stein 2008, Table 1"
    cost: ClassVar[str] = "a first pass of several rounds over the tokens; 8 bytes a rare chunk"

    def __post_init__(self) -> None:
        self.check_ratio(lengths=("n", "most"))

    def fingerprint(self) -> RareChunks:
        return RareChunks(n=self.n, most=self.most)
