"""Megashingling: pairs of supershingles hashed together (Fetterly, Manasse & Najork 2003)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from neardup.detectors.base import Detector
from neardup.detectors.planner import supershingle_probability
from neardup.detectors.registry import register
from neardup.detectors.rules import AgreeingColumns, Rule, SupershinglePairs
from neardup.fingerprints import Supershingles


@register
@dataclass(frozen=True)
class Megashingling(Detector):
    """Pages that share at least one megashingle: a pair of their ``groups`` supershingles.

    A supershingle is ``m``/``groups`` min-values over ``n``-word chunks. Two that agree make a megashingle that does,
    so this is Alg. B with two of its supershingles needed, found by one look-up each.

    >>> round(Megashingling().acceptance(0.9), 2)
    0.42
    """

    n: int = 8
    m: int = 84
    groups: int = 6

    name: ClassVar[str] = "megashingling"
    summary: ClassVar[str] = "at least one of 15 pairs of supershingles agrees"
    source: ClassVar[str] = "Fetterly, Manasse & Najork 2003; Potthast & Stein 2008, Table 1"
    cost: ClassVar[str] = "m multiplications a token; 48 bytes and 15 keys a page"

    def __post_init__(self) -> None:
        self.check(self.n >= 1, "n must be at least 1")
        self.check(
            2 <= self.groups <= self.m <= 4096 and self.m % self.groups == 0,
            "m must be divisible by groups, two or more",
        )

    def fingerprint(self) -> Supershingles:
        return Supershingles(k=self.n, m=self.m, groups=self.groups)

    def rules(self) -> tuple[Rule, ...]:
        kind = self.fingerprint()
        return (Rule(self.name, SupershinglePairs(kind), AgreeingColumns(kind, 2)),)

    def acceptance(self, similarity: float) -> float | None:
        return supershingle_probability(similarity, m=self.m, groups=self.groups, least=2)

    def as_used(self) -> tuple[str, str, str]:
        return (str(self.n), str(self.groups * (self.groups - 1) // 2), "κ = 1")
