"""Shingling: the k smallest chunks (Broder 1997, 2000)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from neardup.detectors.registry import register
from neardup.detectors.shared import SharesNumbers
from neardup.fingerprints import SmallestShingles


@register
@dataclass(frozen=True)
class Shingling(SharesNumbers):
    """Pages that share ``kappa`` of the ``k`` smallest ``n``-word chunks of each.

    A share of κ/k among the k smallest of each stands for a Jaccard similarity of κ/(2k − κ): 0.5 with the defaults.

    >>> round(Shingling().least_ratio(), 2)
    0.5
    """

    n: int = 5
    k: int = 128
    kappa: int = 85

    name: ClassVar[str] = "shingling"
    summary: ClassVar[str] = "the 128 smallest word n-grams: at least 85 shared"
    source: ClassVar[str] = "Broder 1997, 2000; Potthast & Stein 2008, Table 1"
    cost: ClassVar[str] = "O(tokens) and a sort; 8·k bytes a page"

    def __post_init__(self) -> None:
        self.check_numbers()

    def fingerprint(self) -> SmallestShingles:
        return SmallestShingles(n=self.n, k=self.k)
