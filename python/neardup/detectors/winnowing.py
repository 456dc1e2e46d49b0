"""Winnowing: the smallest chunk of every window (Schleimer et al. 2003)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from neardup.detectors.registry import register
from neardup.detectors.shared import SharesRatio
from neardup.fingerprints import Winnowed


@register
@dataclass(frozen=True)
class Winnowing(SharesRatio):
    """Pages whose winnowed ``n``-word chunks share ``ratio`` of their union.

    Of every ``w`` consecutive chunks the smallest is selected; a common run of ``w`` + ``n`` − 1 words always shares
    one.

    >>> str(Winnowing(n=8, w=20))
    'winnowing(n=8,w=20)'
    """

    n: int = 5
    w: int = 10
    ratio: float = 0.5

    name: ClassVar[str] = "winnowing"
    summary: ClassVar[str] = "the smallest word n-gram of every 10: at least 0.5 shared"
    source: ClassVar[str] = "Schleimer, Wilkerson & Aiken 2003"
    cost: ClassVar[str] = "O(tokens); 16/(w + 1) bytes a token"

    def __post_init__(self) -> None:
        self.check_ratio(lengths=("n", "w"))

    def fingerprint(self) -> Winnowed:
        return Winnowed(n=self.n, w=self.w)
