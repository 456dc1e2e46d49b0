"""Detectors without a fingerprint of their own: none, or those of Alg. B and Alg. C together (Henzinger 2006).

Idea: pages with the same tokens are found before any fingerprint is compared; and Alg. B and Alg. C err on different
pairs, so what both accept, or each where it is the better, is right more often. Cost: that of what is combined.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from neardup.methods.base import Detector
from neardup.methods.projections import Charikar, Projection
from neardup.methods.registry import register
from neardup.methods.rules import AgreeingBits, Rule
from neardup.methods.shingles import Broder
from neardup.record import record


# Exact duplicates: pages with the same token sequence, and nothing else.
@register
@record(frozen=True)
class Exact(Detector):
    """Identity sets only; every other detector has them too.

    >>> Exact().rules()
    ()
    """

    name: ClassVar[str] = "exact"
    summary: ClassVar[str] = "pages with the same token sequence"
    source: ClassVar[str] = "Henzinger 2006 §3, identity sets"
    cost: ClassVar[str] = "one 128-bit hash of the tokens; 16 bytes a page"

    def rules(self) -> tuple[Rule, ...]:
        return ()

    def as_used(self) -> tuple[str, str, str]:
        return ("|d|", "1", "κ = 1")


# The combined algorithm: Alg. B finds, Alg. C filters (Henzinger 2006 §3.5).
@register
@record(frozen=True)
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


# The paper's best: Alg. C between sites, the combined algorithm within one (Henzinger 2006 §3.5, end).
@register
@record(frozen=True)
class SiteAware(Detector):
    """Pairs on different sites from Alg. C at ``t``, pairs on the same site from combined at ``same_site_t``.

    Between sites the Jaccard similarity of the single terms must be at least ``terms``, as for ``charikar``;
    ``terms=0`` is the algorithm of the paper.

    >>> [rule.predicate for rule in SiteAware().rules()]
    ['different-site', 'same-site']
    """

    t: int = 372
    same_site_t: int = 355
    pieces: int = 12
    terms: float = 0.5
    rabin: bool = False

    name: ClassVar[str] = "site-aware"
    summary: ClassVar[str] = "Alg. C for pairs on different sites, combined for pairs on the same site"
    source: ClassVar[str] = "Henzinger 2006 §3.5"
    cost: ClassVar[str] = "Alg. B and Alg. C; 128 bytes and 27 keys a page"

    def __post_init__(self) -> None:
        self.rules()

    def rules(self) -> tuple[Rule, ...]:
        (different,) = Charikar(t=self.t, pieces=self.pieces, terms=self.terms).rules()
        (same,) = Combined(t=self.same_site_t, rabin=self.rabin).rules()
        return (replace(different, predicate="different-site"), replace(same, predicate="same-site"))

    def as_used(self) -> tuple[str, str, str]:
        return ("8, |d|", "6, 384 bits", f"{self.t} bits agree; on one site κ = 2, {self.same_site_t} bits")
