"""Prefix anchors, Heintze's: chunks that begin with a prefix which is infrequent on the page (Heintze 1996)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from neardup.detectors.registry import register
from neardup.detectors.shared import SharesRatio
from neardup.fingerprints import RarePrefixes


@register
@dataclass(frozen=True)
class RarePrefixAnchor(SharesRatio):
    """Pages whose ``n``-word chunks that begin with a rare prefix share ``ratio`` of their union.

    A prefix of ``letters`` letters is rare if at most ``most`` words of the page begin with it.

    >>> str(RarePrefixAnchor(most=2))
    'rare-prefix-anchor(most=2)'
    """

    n: int = 5
    letters: int = 3
    most: int = 1
    ratio: float = 0.5

    name: ClassVar[str] = "rare-prefix-anchor"
    summary: ClassVar[str] = "word n-grams that begin with a prefix rare on the page: at least 0.5 shared"
    source: ClassVar[str] = "Heintze 1996; Potthast & Stein 2008, Table 1"
    cost: ClassVar[str] = "one look a word, and reading pages twice; 8 bytes an anchor"

    def __post_init__(self) -> None:
        self.check_ratio(lengths=("n", "letters", "most"))

    def fingerprint(self) -> RarePrefixes:
        return RarePrefixes(n=self.n, letters=self.letters, most=self.most)
