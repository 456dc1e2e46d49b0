"""Fuzzy fingerprinting: deviation from what words of the language begin with (Stein 2005)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from neardup.detectors.registry import register
from neardup.detectors.shared import SharesColumns
from neardup.fingerprints import FuzzyCodes
from neardup.fingerprints.profiles import languages


@register
@dataclass(frozen=True)
class FuzzyFingerprinting(SharesColumns):
    """Pages that agree in at least ``kappa`` of ``k`` fuzzification schemes.

    Words are classed by their first letter. The deviation of each class from the ``profile`` of the language is told as
    one of ``intervals`` intervals, cut ``spread`` apart; classes below the share ``rarest`` are left out. Cost of a
    page's other words is none: what they say is not looked at, so pages of one topic and style may be taken for
    duplicates.

    >>> str(FuzzyFingerprinting(profile="de"))
    'fuzzy-fingerprinting(profile=de)'
    """

    profile: str = "en"
    k: int = 3
    intervals: int = 2
    spread: float = 0.6
    rarest: float = 0.02
    kappa: int = 1

    name: ClassVar[str] = "fuzzy-fingerprinting"
    summary: ClassVar[str] = "the same deviation of first letters from the language, in one of 3 schemes"
    source: ClassVar[str] = "Stein 2005; Stein & Meyer zu Eissen 2006; Potthast & Stein 2008 §2.2"
    cost: ClassVar[str] = "one look-up a word, and reading pages twice; 8·k bytes a page"

    def __post_init__(self) -> None:
        self.check(self.profile in languages(), f"profile is one of {', '.join(languages())}")
        self.check(2 <= self.intervals <= 16, "intervals must be between 2 and 16")
        self.check(0 < self.spread <= 10, "spread must be above 0 and at most 10")
        self.check(0 <= self.rarest < 1, "rarest is a share below 1")
        self.check_kappa(64)

    def fingerprint(self) -> FuzzyCodes:
        return FuzzyCodes(
            profile=self.profile, k=self.k, intervals=self.intervals, spread=self.spread, rarest=self.rarest
        )
