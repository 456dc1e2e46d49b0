"""I-Match: one signature of the terms of middling frequency (Chowdhury et al. 2002)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from neardup.detectors.registry import register
from neardup.detectors.shared import SharesColumns
from neardup.fingerprints import LexiconSignatures


@register
@dataclass(frozen=True)
class IMatch(SharesColumns):
    """Pages with the same set of terms whose normalised idf lies between ``low`` and ``high``.

    The normalised idf is ln(N/df) / ln N, counted over the collection in a first pass. A page with fewer than ``least``
    such terms matches only its copies.

    >>> IMatch().counted()
    (1,)
    """

    low: float = 0.2
    high: float = 0.8
    least: int = 4

    name: ClassVar[str] = "i-match"
    summary: ClassVar[str] = "the same set of terms of middling frequency"
    source: ClassVar[str] = "Chowdhury, Frieder, Grossman & McCabe 2002"
    cost: ClassVar[str] = "a first pass over the tokens, one look-up a term; 8 bytes a page"

    def __post_init__(self) -> None:
        self.check(0 <= self.low < self.high <= 1, "low and high are shares of the idf, low the lesser")
        self.check(self.least >= 1, "least must be at least 1")

    def fingerprint(self) -> LexiconSignatures:
        return LexiconSignatures(low=self.low, high=self.high, least=self.least)

    def width(self) -> int:
        return 1

    def needed(self) -> int:
        return 1
