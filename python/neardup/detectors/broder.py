"""Alg. B: shingles, min-values, supershingles (Broder et al. as varied by Fetterly et al.; Henzinger 2006 §2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from neardup.detectors.base import Detector
from neardup.detectors.planner import supershingle_probability
from neardup.detectors.registry import register
from neardup.detectors.rules import AgreeingColumns, Keys, Rule, SingleColumns, SupershinglePairs
from neardup.fingerprints import Supershingles


@register
@dataclass(frozen=True)
class Broder(Detector):
    """Near-duplicates agree in at least ``least`` of ``groups`` supershingles.

    Keys are the pairs of supershingles, so everyone in a bucket is B-similar to everyone else. P(accepted | Jaccard J)
    is the upper tail of a binomial: ``groups`` trials of probability J^(m/groups).

    >>> str(Broder()), str(Broder(least=3))
    ('broder', 'broder(least=3)')
    """

    k: int = 8
    m: int = 84
    groups: int = 6
    least: int = 2
    rabin: bool = False

    name: ClassVar[str] = "broder"
    summary: ClassVar[str] = "Alg. B: at least 2 of 6 supershingles agree"
    source: ClassVar[str] = "Henzinger 2006 §2; Broder et al. 1997; Fetterly et al. 2003"
    cost: ClassVar[str] = "m minima a token; 48 bytes and 15 keys a page"

    def __post_init__(self) -> None:
        self.check(self.k >= 1, "k must be at least 1")
        self.check(1 <= self.groups <= self.m and self.m % self.groups == 0, "m must be divisible by groups")
        self.check(1 <= self.least <= self.groups, "least must be between 1 and groups")

    def fingerprint(self) -> Supershingles:
        return Supershingles(k=self.k, m=self.m, groups=self.groups, rabin=self.rabin)

    def keys(self) -> Keys:
        supershingles = self.fingerprint()
        return SupershinglePairs(supershingles) if self.least >= 2 else SingleColumns(supershingles)

    def rules(self) -> tuple[Rule, ...]:
        return (Rule("broder", self.keys(), AgreeingColumns(self.fingerprint(), self.least)),)

    def acceptance(self, similarity: float) -> float | None:
        return supershingle_probability(similarity, m=self.m, groups=self.groups, least=self.least)

    def as_used(self) -> tuple[str, str, str]:
        return (str(self.k), str(self.groups), f"κ = {self.least}")
