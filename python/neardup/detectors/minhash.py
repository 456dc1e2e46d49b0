"""MinHash with banded candidates, every candidate verified by its exact Jaccard similarity (the lecture)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from neardup.detectors.base import Detector
from neardup.detectors.planner import Plan, band_probability, plan
from neardup.detectors.registry import register
from neardup.detectors.rules import ExactJaccard, Rule, SingleColumns
from neardup.fingerprints import Bands, ShingleSet


@register
@dataclass(frozen=True)
class MinHash(Detector):
    """Pairs whose sets of ``k``-token shingles have Jaccard similarity at least ``threshold``, exactly.

    Bands and rows are chosen so that a pair at the threshold is found with probability ``recall`` (and more above
    it); give ``bands`` and ``rows`` to choose them yourself. An accepted pair is never below the threshold.

    >>> MinHash(threshold=0.8).plan.recall >= 0.99
    True
    """

    k: int = 5
    threshold: float = 0.8
    recall: float = 0.99
    bands: int = 0
    rows: int = 0
    rabin: bool = False

    name: ClassVar[str] = "minhash"
    summary: ClassVar[str] = "exact Jaccard similarity of shingle sets, candidates by banded min-values"
    source: ClassVar[str] = "the lecture on MinHash; Broder 1997; Indyk & Motwani 1998"
    cost: ClassVar[str] = "bands × rows minima a token; 8 bytes a band and 8 a token until verified"

    def __post_init__(self) -> None:
        self.check(self.k >= 1, "k must be at least 1")
        self.check(0 < self.threshold <= 1, "threshold must be above 0 and at most 1")
        self.check(0 < self.recall < 1, "recall must be between 0 and 1")
        self.check(self.bands >= 0 and self.rows >= 0, "bands and rows must not be negative")
        self.check((self.bands > 0) == (self.rows > 0), "give both bands and rows, or neither")
        self.check(self.bands * self.rows <= 4096, "at most 4096 functions")
        # A recall that no layout reaches is told here, not when the input is about to be read.
        _ = self.plan

    @cached_property
    def plan(self) -> Plan:
        """The bands in use and what they promise."""
        if self.bands:
            return Plan(self.threshold, self.bands, self.rows)
        return plan(self.threshold, self.recall)

    def rules(self) -> tuple[Rule, ...]:
        bands = Bands(k=self.k, bands=self.plan.bands, rows=self.plan.rows, rabin=self.rabin)
        return (Rule("minhash", SingleColumns(bands), ExactJaccard(ShingleSet(self.k, self.rabin), self.threshold)),)

    def acceptance(self, similarity: float) -> float | None:
        if similarity < self.threshold:
            return 0.0
        return band_probability(similarity, self.plan.bands, self.plan.rows)

    def as_used(self) -> tuple[str, str, str]:
        return (str(self.k), f"{self.plan.bands} bands", f"Jaccard ≥ {self.threshold:g}, exactly")
