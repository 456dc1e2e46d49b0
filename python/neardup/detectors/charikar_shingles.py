"""Alg. C over shingles: the question that Henzinger 2006 leaves open."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from neardup.detectors.base import Detector
from neardup.detectors.charikar import Charikar
from neardup.detectors.registry import register
from neardup.detectors.rules import Rule


@register
@dataclass(frozen=True)
class CharikarShingles(Detector):
    """Near-duplicates agree in at least ``t`` of ``bits`` bits, projected from shingles of ``n`` tokens.

    The order of words counts, and one changed word changes ``n`` shingles: at the same similarity of wording fewer bits
    agree than over tokens. Pairs with fewer than ``pieces`` differing bits are all found, of the others most. As with
    ``charikar``, the Jaccard similarity of the single terms must be at least ``terms``; 0 does not ask for it.

    >>> str(CharikarShingles(n=3))
    'charikar-shingles(n=3)'
    """

    n: int = 5
    bits: int = 384
    t: int = 355
    pieces: int = 16
    terms: float = 0.5

    name: ClassVar[str] = "charikar-shingles"
    summary: ClassVar[str] = (
        "Alg. C over shingles: at least 355 of 384 projection bits agree, and half of the terms are shared"
    )
    source: ClassVar[str] = "Charikar 2002; Henzinger 2006 §5, as an open question"
    cost: ClassVar[str] = "b sign sums a token, bit-sliced; 80 bytes and 16 keys a page"

    def __post_init__(self) -> None:
        self.over_shingles()

    def over_shingles(self) -> Charikar:
        return Charikar(bits=self.bits, t=self.t, pieces=self.pieces, k=self.n, terms=self.terms)

    def rules(self) -> tuple[Rule, ...]:
        return self.over_shingles().rules()

    def as_used(self) -> tuple[str, str, str]:
        return (str(self.n), f"{self.bits} bits", f"{self.t} bits agree")
