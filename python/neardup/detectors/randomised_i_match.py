"""I-Match with randomised lexicons (Kołcz, Chowdhury & Alspector 2004)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from neardup.detectors.registry import register
from neardup.detectors.shared import SharesColumns
from neardup.fingerprints import LexiconSignatures


@register
@dataclass(frozen=True)
class RandomisedIMatch(SharesColumns):
    """Pages with the same I-Match signature in at least ``kappa`` of ``k`` lexicons.

    The first lexicon is I-Match's; each other leaves out a share ``left_out`` of its terms, so that it forgives a
    difference of d terms with probability left_out^d.

    >>> str(RandomisedIMatch(k=5))
    'randomised-i-match(k=5)'
    """

    k: int = 10
    left_out: float = 0.33
    low: float = 0.2
    high: float = 0.8
    least: int = 4
    kappa: int = 1

    name: ClassVar[str] = "randomised-i-match"
    summary: ClassVar[str] = "the same terms of middling frequency in one of 10 randomised lexicons"
    source: ClassVar[str] = "Kołcz, Chowdhury & Alspector 2004"
    cost: ClassVar[str] = "a first pass over the tokens, k coins a term; 8·k bytes a page"

    def __post_init__(self) -> None:
        self.check(0 <= self.low < self.high <= 1, "low and high are shares of the idf, low the lesser")
        self.check(self.least >= 1, "least must be at least 1")
        self.check(0 < self.left_out < 1, "left_out must be between 0 and 1")
        self.check_kappa(64)

    def fingerprint(self) -> LexiconSignatures:
        return LexiconSignatures(
            low=self.low, high=self.high, least=self.least, randomised=self.k - 1, left_out=self.left_out
        )
