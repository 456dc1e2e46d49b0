"""b-bit signatures: MinHash with two bits a value (Li & König 2010)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from neardup.detectors.base import Detector
from neardup.detectors.planner import Plan, band_probability, binomial_tail, plan
from neardup.detectors.registry import register
from neardup.detectors.rules import AgreeingLanes, Rule, SingleColumns
from neardup.fingerprints import Bands, PackedMinima


@register
@dataclass(frozen=True)
class BBitMinHash(Detector):
    """Pages whose Jaccard similarity, as ``b`` bits of each of ``m`` min-values tell it, is at least ``threshold``.

    Candidates come from bands of min-values, so planned that a pair at the threshold becomes one with probability
    ``recall``. Of a candidate at least m·(t + (1 − t)/2^b) lanes must agree: what is expected at the threshold t.

    >>> BBitMinHash(threshold=0.8).needed
    218
    """

    n: int = 5
    m: int = 256
    b: int = 2
    threshold: float = 0.8
    recall: float = 0.99

    name: ClassVar[str] = "b-bit-minhash"
    summary: ClassVar[str] = "Jaccard similarity told by 2 bits of each of 256 min-values"
    source: ClassVar[str] = "Li & König 2010"
    cost: ClassVar[str] = "m multiplications a token; m·b/8 bytes a page, and 8 a band for finding candidates"

    def __post_init__(self) -> None:
        self.check(self.n >= 1, "n must be at least 1")
        self.check(1 <= self.m <= 4096, "m must be between 1 and 4096")
        self.check(self.b in (1, 2, 4, 8), "b must be 1, 2, 4 or 8")
        self.check(0 < self.threshold <= 1, "threshold must be above 0 and at most 1")
        self.check(0 < self.recall < 1, "recall must be between 0 and 1")
        # A recall that no layout reaches is told here, not when the input is about to be read.
        _ = self.plan

    @cached_property
    def plan(self) -> Plan:
        """The bands in use."""
        return plan(self.threshold, self.recall)

    @property
    def needed(self) -> int:
        """Lanes that must agree."""
        return math.ceil(self.m * self._agreeing(self.threshold) - 1e-9)

    def _agreeing(self, similarity: float) -> float:
        return similarity + (1 - similarity) / (1 << self.b)

    def rules(self) -> tuple[Rule, ...]:
        bands = Bands(k=self.n, bands=self.plan.bands, rows=self.plan.rows)
        packed = PackedMinima(n=self.n, m=self.m, bits=self.b)
        return (Rule(self.name, SingleColumns(bands), AgreeingLanes(packed, self.needed)),)

    def acceptance(self, similarity: float) -> float | None:
        """As if bands and lanes were independent of each other."""
        found = band_probability(similarity, self.plan.bands, self.plan.rows)
        return found * binomial_tail(self.m, self._agreeing(similarity), self.needed)

    def as_used(self) -> tuple[str, str, str]:
        return (str(self.n), f"{self.m} × {self.b} bits", f"{self.needed} lanes agree")
