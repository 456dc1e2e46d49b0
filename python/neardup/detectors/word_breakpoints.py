"""Hashed breakpoints, Brin's word rule, as a selection of n-grams (Potthast & Stein, Table 1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from neardup.detectors.registry import register
from neardup.detectors.shared import SharesRatio
from neardup.fingerprints import WordBreakpoints


@register
@dataclass(frozen=True)
class BrinBreakpoints(SharesRatio):
    """Pages whose ``n``-word chunks that end in a breakpoint word share ``ratio`` of their union.

    One word in ``m`` is a breakpoint: its hash is 0 mod ``m``.

    >>> str(BrinBreakpoints())
    'word-breakpoints'
    """

    n: int = 5
    m: int = 4
    ratio: float = 0.5

    name: ClassVar[str] = "word-breakpoints"
    summary: ClassVar[str] = "word n-grams whose last word's hash is 0 mod 4: at least 0.5 shared"
    source: ClassVar[str] = "Brin, Davis & Garcia-Molina 1995; Potthast & Stein 2008, Table 1"
    cost: ClassVar[str] = "one hash a token; 8 bytes in m tokens"

    def __post_init__(self) -> None:
        self.check_ratio(lengths=("n", "m"))

    def fingerprint(self) -> WordBreakpoints:
        return WordBreakpoints(n=self.n, m=self.m)
