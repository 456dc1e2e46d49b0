"""Shingling by k functions: min-values (Broder 1997; the lecture on MinHash)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from neardup.detectors.registry import register
from neardup.detectors.shared import SharesColumns
from neardup.fingerprints import Minima


@register
@dataclass(frozen=True)
class ShinglingFunctions(SharesColumns):
    """Pages that agree in ``kappa`` of ``k`` min-values over their ``n``-word chunks.

    Each agrees with probability J, so P(accepted) is the upper tail of a binomial; no pair that agrees enough is
    missed.

    >>> round(ShinglingFunctions().acceptance(0.6), 3)
    0.991
    """

    n: int = 5
    k: int = 128
    kappa: int = 64

    name: ClassVar[str] = "shingling-functions"
    summary: ClassVar[str] = "at least 64 of 128 min-values agree"
    source: ClassVar[str] = "Broder 1997; Potthast & Stein 2008, Table 1; the lecture on MinHash"
    cost: ClassVar[str] = "k multiplications a token; 8·k bytes a page"

    def __post_init__(self) -> None:
        self.check(self.n >= 1, "n must be at least 1")
        self.check_kappa()

    def fingerprint(self) -> Minima:
        return Minima(n=self.n, k=self.k)

    def one_agrees(self, similarity: float) -> float | None:
        return similarity
