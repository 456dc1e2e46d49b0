"""All word n-grams as chunks: what every selection is a part of (Potthast & Stein §2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from neardup.detectors.registry import register
from neardup.detectors.shared import SharesRatio
from neardup.fingerprints import ShingleSet


@register
@dataclass(frozen=True)
class WordChunks(SharesRatio):
    """Pages whose sets of ``n``-word chunks share ``ratio`` of their union.

    All chunks, nothing selected: the exact answer that the other chunk methods approximate.

    >>> str(WordChunks(n=3))
    'word-chunks(n=3)'
    """

    n: int = 5
    ratio: float = 0.5

    name: ClassVar[str] = "word-chunks"
    summary: ClassVar[str] = "all word n-grams: shared chunks of the union at least 0.5"
    source: ClassVar[str] = "Potthast & Stein 2008 §2; Broder et al. 1997"
    cost: ClassVar[str] = "8 bytes a token; keys about half of the chunks"

    def __post_init__(self) -> None:
        self.check_ratio()

    def fingerprint(self) -> ShingleSet:
        return ShingleSet(k=self.n)
