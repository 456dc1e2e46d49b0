"""SPEX: the chunks that occur on several pages (Bernstein & Zobel 2004)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from neardup.detectors.registry import register
from neardup.detectors.shared import SharesRatio
from neardup.fingerprints import RepeatedChunks


@register
@dataclass(frozen=True)
class Spex(SharesRatio):
    """Pages whose ``n``-word chunks that other pages have too share ``ratio`` of their union.

    A first pass finds exactly the chunks that at least two pages (identity sets) have. What a page has alone is not
    counted at all, so the ratio must be higher than elsewhere: pages that share a template share most of what is left.

    >>> Spex().counted()
    (8,)
    """

    n: int = 8
    ratio: float = 0.8

    name: ClassVar[str] = "spex"
    summary: ClassVar[str] = "word n-grams that at least two pages have: at least 0.8 shared"
    source: ClassVar[str] = "Bernstein & Zobel 2004"
    cost: ClassVar[str] = "a first pass of several rounds over the tokens; 8 bytes a repeated chunk"

    def __post_init__(self) -> None:
        self.check_ratio()

    def fingerprint(self) -> RepeatedChunks:
        return RepeatedChunks(n=self.n)
