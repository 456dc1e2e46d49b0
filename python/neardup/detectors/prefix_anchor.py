"""Prefix anchors, Manber's: chunks that begin with a particular prefix (Manber 1994)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from neardup.detectors.registry import register
from neardup.detectors.shared import SharesRatio
from neardup.fingerprints import PrefixAnchors


@register
@dataclass(frozen=True)
class PrefixAnchor(SharesRatio):
    """Pages whose ``n``-word chunks that begin with an anchor share ``ratio`` of their union.

    Anchors are ``prefixes``, joined by "+"; or, without any, one in ``every`` of the prefixes of ``letters`` letters,
    by hash.

    >>> str(PrefixAnchor(prefixes="th+re"))
    'prefix-anchor(prefixes=th+re)'
    """

    n: int = 5
    prefixes: str = ""
    letters: int = 2
    every: int = 4
    ratio: float = 0.5

    name: ClassVar[str] = "prefix-anchor"
    summary: ClassVar[str] = "word n-grams that begin with one of some prefixes: at least 0.5 shared"
    source: ClassVar[str] = "Manber 1994; Potthast & Stein 2008, Table 1"
    cost: ClassVar[str] = "one look a word, and reading pages twice; 8 bytes an anchor"

    def __post_init__(self) -> None:
        self.check_ratio(lengths=("n", "letters", "every"))
        self.check("" not in self.prefixes.split("+")[1:], "prefixes are joined by one +, none of them empty")

    def fingerprint(self) -> PrefixAnchors:
        return PrefixAnchors(n=self.n, prefixes=self.prefixes, letters=self.letters, every=self.every)
