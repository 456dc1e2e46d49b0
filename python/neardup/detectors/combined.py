"""The combined algorithm: Alg. B finds, Alg. C filters (Henzinger 2006 §3.5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from neardup.detectors.base import Detector
from neardup.detectors.broder import Broder
from neardup.detectors.registry import register
from neardup.detectors.rules import AgreeingBits, Rule
from neardup.fingerprints import Projection


@register
@dataclass(frozen=True)
class Combined(Detector):
    """B-similar pairs of which at least ``t`` of ``bits`` projection bits agree.

    >>> str(Combined(t=355))
    'combined'
    """

    t: int = 355
    bits: int = 384
    k: int = 8
    m: int = 84
    groups: int = 6
    least: int = 2
    rabin: bool = False

    name: ClassVar[str] = "combined"
    summary: ClassVar[str] = "Alg. B's pairs whose projections agree in at least 355 bits"
    source: ClassVar[str] = "Henzinger 2006 §3.5"
    cost: ClassVar[str] = "Alg. B and Alg. C; 96 bytes and 15 keys a page"

    def __post_init__(self) -> None:
        self.broder()
        self.check(self.bits >= 64 and self.bits % 64 == 0, "bits must be a multiple of 64")
        self.check(0 <= self.t <= self.bits, "t must be between 0 and bits")

    def broder(self) -> Broder:
        return Broder(k=self.k, m=self.m, groups=self.groups, least=self.least, rabin=self.rabin)

    def rules(self) -> tuple[Rule, ...]:
        return (Rule("combined", self.broder().keys(), AgreeingBits(Projection(bits=self.bits), self.t)),)

    def as_used(self) -> tuple[str, str, str]:
        return (f"{self.k}, |d|", f"{self.groups}, {self.bits} bits", f"κ = {self.least}, {self.t} bits agree")
