"""Alg. C: random projections (Charikar 2002; Henzinger 2006 §2, §3.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from neardup.detectors.base import Detector
from neardup.detectors.registry import register
from neardup.detectors.rules import AgreeingBits, AgreeingLanes, Pieces, Rule
from neardup.fingerprints import Projection, TermSketch


@register
@dataclass(frozen=True)
class Charikar(Detector):
    """Near-duplicates agree in at least ``t`` of ``bits`` bits, and share terms.

    Candidates share one of ``pieces`` pieces of the bits: every pair with fewer than ``pieces`` differing bits does,
    so with the paper's 12 pieces all pairs with up to 11 differences are found and some at exactly 12 may be missed.
    ``pieces=13`` finds all pairs at t = 372, at the price of shorter pieces and more candidates.

    The bits weigh a term by how often it occurs: unrelated pages agree in nearly all of them where every fifth word
    of both is the same. So the Jaccard similarity of their single terms must be at least ``terms``, as a sketch of 256
    bits tells it, with a standard deviation of .055. ``terms=0`` is the algorithm of the paper.

    >>> str(Charikar(t=370, pieces=15))
    'charikar(t=370,pieces=15)'
    """

    bits: int = 384
    t: int = 372
    pieces: int = 12
    k: int = 1
    terms: float = 0.5

    name: ClassVar[str] = "charikar"
    summary: ClassVar[str] = "Alg. C: at least 372 of 384 projection bits agree, and half of the terms are shared"
    source: ClassVar[str] = "Henzinger 2006 §2, §3.3; Charikar 2002"
    cost: ClassVar[str] = "b sign sums a token, bit-sliced; 80 bytes and 12 keys a page"

    def __post_init__(self) -> None:
        self.check(self.bits >= 64 and self.bits % 64 == 0, "bits must be a multiple of 64")
        self.check(0 < self.t <= self.bits, "t must be between 1 and bits")
        self.check(self.bits // 32 <= self.pieces <= self.bits, "pieces must be between bits/32 and bits")
        self.check(self.k >= 1, "k must be at least 1")
        self.check(0 <= self.terms <= 1, "terms must be between 0 and 1")

    def fingerprint(self) -> Projection:
        return Projection(bits=self.bits, k=self.k)

    def rules(self) -> tuple[Rule, ...]:
        sketch = self.fingerprint()
        shared = AgreeingLanes(TermSketch(), TermSketch().needed(self.terms)) if self.terms > 0 else None
        return (Rule("charikar", Pieces(sketch, self.pieces), AgreeingBits(sketch, self.t, shared)),)

    def as_used(self) -> tuple[str, str, str]:
        return ("|d|" if self.k == 1 else str(self.k), f"{self.bits} bits", f"{self.t} bits agree")
