"""Weighted MinHash over tf or tf·idf (Ioffe 2010)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from neardup.detectors.registry import register
from neardup.detectors.shared import SharesColumns
from neardup.fingerprints import RarityWeightedSamples, WeightedSamples


@register
@dataclass(frozen=True)
class WeightedMinHash(SharesColumns):
    """Pages that agree in ``kappa`` of ``k`` weighted samples of their ``n``-word chunks.

    Each agrees with probability Σ min / Σ max of the weights: ``tf``, how often a chunk occurs on the page, or
    ``tf-idf``, that times ln(N/df) by the statistics of the collection.

    >>> WeightedMinHash().counted(), WeightedMinHash(weights="tf-idf").counted()
    ((), (1,))
    """

    n: int = 1
    weights: str = "tf"
    k: int = 128
    kappa: int = 90

    name: ClassVar[str] = "weighted-minhash"
    summary: ClassVar[str] = "at least 90 of 128 weighted samples agree: weights are tf, or tf·idf"
    source: ClassVar[str] = "Ioffe 2010"
    cost: ClassVar[str] = "three logarithms a distinct token and function; 8·k bytes a page; tf-idf takes a first pass"
    measure: ClassVar[str] = "weighted Jaccard similarity"

    def __post_init__(self) -> None:
        self.check(self.n >= 1, "n must be at least 1")
        self.check(self.weights in ("tf", "tf-idf"), "weights are 'tf' or 'tf-idf'")
        self.check_kappa()

    def fingerprint(self) -> WeightedSamples | RarityWeightedSamples:
        return WeightedSamples(self.n, self.k) if self.weights == "tf" else RarityWeightedSamples(self.n, self.k)

    def one_agrees(self, similarity: float) -> float | None:
        return similarity
