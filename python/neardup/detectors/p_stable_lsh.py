"""Locality-sensitive hashing by p-stable distributions (Datar et al. 2004)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from neardup import _native
from neardup.detectors.registry import register
from neardup.detectors.shared import SharesColumns
from neardup.fingerprints import ProjectionCodes


@register
@dataclass(frozen=True)
class PStable(SharesColumns):
    """Pages that share at least ``kappa`` of ``k`` codes of ``r`` projections in intervals of ``w``.

    The page is its term-frequency vector, scaled to length 1; the closer two are, the likelier they share an interval.

    >>> PStable().acceptance(1.0), PStable().acceptance(0.9) > PStable().acceptance(0.5)
    (1.0, True)
    """

    k: int = 10
    r: int = 12
    w: float = 1.0
    kappa: int = 1

    name: ClassVar[str] = "p-stable-lsh"
    summary: ClassVar[str] = "at least one of 10 codes of projections in intervals agrees"
    source: ClassVar[str] = "Datar, Immorlica, Indyk & Mirrokni 2004; Potthast & Stein 2008 §2.2"
    cost: ClassVar[str] = "k·r additions a distinct token; 8·k bytes a page"
    measure: ClassVar[str] = "cosine similarity of term frequencies"

    def __post_init__(self) -> None:
        self.check(1 <= self.r <= 1024, "r must be between 1 and 1024")
        self.check(0 < self.w <= 100, "w must be above 0 and at most 100")
        self.check_kappa()

    def fingerprint(self) -> ProjectionCodes:
        return ProjectionCodes(k=self.k, projections=self.r, interval=self.w)

    def one_agrees(self, similarity: float) -> float | None:
        distance = math.sqrt(max(0.0, 2 - 2 * similarity))
        return min(1.0, _native.interval_probability(distance, self.w) ** self.r)
