"""Locality-sensitive hashing by random hyperplanes (Charikar 2002)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from neardup.detectors.registry import register
from neardup.detectors.shared import SharesColumns
from neardup.fingerprints import ProjectionCodes


@register
@dataclass(frozen=True)
class Hyperplanes(SharesColumns):
    """Pages that share at least ``kappa`` of ``k`` codes of ``r`` signs.

    A sign says on which side of a random plane the term-frequency vector lies; one agrees with probability 1 − θ/π.

    >>> Hyperplanes().acceptance(1.0), round(Hyperplanes().acceptance(0.9), 2)
    (1.0, 0.07)
    """

    k: int = 10
    r: int = 32
    kappa: int = 1

    name: ClassVar[str] = "hyperplane-lsh"
    summary: ClassVar[str] = "at least one of 10 codes of 32 hyperplane sides agrees"
    source: ClassVar[str] = "Charikar 2002; Potthast & Stein 2008 §2.2"
    cost: ClassVar[str] = "k·r additions a distinct token; 8·k bytes a page"
    measure: ClassVar[str] = "cosine similarity of term frequencies"

    def __post_init__(self) -> None:
        self.check(1 <= self.r <= 1024, "r must be between 1 and 1024")
        self.check_kappa()

    def fingerprint(self) -> ProjectionCodes:
        return ProjectionCodes(k=self.k, projections=self.r)

    def one_agrees(self, similarity: float) -> float | None:
        return float((1 - math.acos(min(1.0, max(-1.0, similarity))) / math.pi) ** self.r)
