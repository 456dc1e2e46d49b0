"""One-permutation hashing with optimal densification (Li, Owen & Zhang 2012; Shrivastava 2017)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from neardup.detectors.registry import register
from neardup.detectors.shared import SharesColumns
from neardup.fingerprints import OnePermutation


@register
@dataclass(frozen=True)
class OnePermutationHashing(SharesColumns):
    """Pages that agree in ``kappa`` of ``k`` bins over their ``n``-word chunks.

    Each agrees with probability J, at the cost of one function; ``acceptance`` takes bins as independent, which they
    nearly are.

    >>> str(OnePermutationHashing(k=64, kappa=40))
    'one-permutation(k=64,kappa=40)'
    """

    n: int = 5
    k: int = 128
    kappa: int = 64

    name: ClassVar[str] = "one-permutation"
    summary: ClassVar[str] = "at least 64 of 128 bins of one hash function agree"
    source: ClassVar[str] = "Li, Owen & Zhang 2012; Shrivastava 2017"
    cost: ClassVar[str] = "one multiplication a token; 8·k bytes a page"

    def __post_init__(self) -> None:
        self.check(self.n >= 1, "n must be at least 1")
        self.check_kappa()

    def fingerprint(self) -> OnePermutation:
        return OnePermutation(n=self.n, k=self.k)

    def one_agrees(self, similarity: float) -> float | None:
        return similarity
