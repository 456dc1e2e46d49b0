"""Supershingling: groups of min-values hashed together (Broder 1997, 2000)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from neardup.detectors.registry import register
from neardup.detectors.shared import SharesColumns
from neardup.fingerprints import Supershingles


@register
@dataclass(frozen=True)
class Supershingling(SharesColumns):
    """Pages that share at least ``kappa`` of ``k`` supershingles.

    A supershingle is ``m``/``k`` min-values over ``n``-word chunks; one agrees with probability J^(m/k).

    >>> round(Supershingling().acceptance(0.9), 2)
    0.79
    """

    n: int = 8
    m: int = 84
    k: int = 6
    kappa: int = 1

    name: ClassVar[str] = "supershingling"
    summary: ClassVar[str] = "at least one of 6 supershingles agrees"
    source: ClassVar[str] = "Broder 1997, 2000; Potthast & Stein 2008, Table 1"
    cost: ClassVar[str] = "m multiplications a token; 8·k bytes a page"

    def __post_init__(self) -> None:
        self.check(self.n >= 1, "n must be at least 1")
        self.check(1 <= self.k <= self.m <= 4096 and self.m % self.k == 0, "m must be divisible by k")
        self.check_kappa()

    def fingerprint(self) -> Supershingles:
        return Supershingles(k=self.n, m=self.m, groups=self.k)

    def one_agrees(self, similarity: float) -> float | None:
        return similarity ** (self.m // self.k)
