"""The paper's best: Alg. C between sites, the combined algorithm within one (Henzinger 2006 §3.5, end)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from neardup.detectors.base import Detector
from neardup.detectors.charikar import Charikar
from neardup.detectors.combined import Combined
from neardup.detectors.registry import register
from neardup.detectors.rules import Rule


@register
@dataclass(frozen=True)
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
