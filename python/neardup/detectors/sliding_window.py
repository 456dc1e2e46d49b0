"""One of a sliding window: the chunks at every m-th word (Potthast & Stein, Table 1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from neardup.detectors.registry import register
from neardup.detectors.shared import SharesRatio
from neardup.fingerprints import SlidingWindow


@register
@dataclass(frozen=True)
class OneOfSlidingWindow(SharesRatio):
    """Pages whose ``n``-word chunks at every ``m``-th word share ``ratio`` of their union.

    An inserted word shifts all chunks behind it: a yardstick, not a recommendation.

    >>> str(OneOfSlidingWindow(m=1))
    'sliding-window(m=1)'
    """

    n: int = 5
    m: int = 5
    ratio: float = 0.5

    name: ClassVar[str] = "sliding-window"
    summary: ClassVar[str] = "the word n-grams at every 5th word: at least 0.5 shared"
    source: ClassVar[str] = "Potthast & Stein 2008, Table 1"
    cost: ClassVar[str] = "O(tokens); 8/m bytes a token"

    def __post_init__(self) -> None:
        self.check_ratio(lengths=("n", "m"))

    def fingerprint(self) -> SlidingWindow:
        return SlidingWindow(n=self.n, m=self.m)
