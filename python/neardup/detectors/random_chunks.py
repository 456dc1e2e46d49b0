"""Random selection of chunks (Potthast & Stein, Table 1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from neardup.detectors.registry import register
from neardup.detectors.shared import SharesNumbers
from neardup.fingerprints import RandomChunks


@register
@dataclass(frozen=True)
class RandomSelection(SharesNumbers):
    """Pages that share ``kappa`` of the ``k`` chunks that each draws at random.

    Pages draw independently, so few of the chunks they share are drawn on both: a yardstick, not a recommendation.

    >>> str(RandomSelection(k=50, kappa=2))
    'random-chunks(k=50,kappa=2)'
    """

    n: int = 5
    k: int = 100
    kappa: int = 5

    name: ClassVar[str] = "random-chunks"
    summary: ClassVar[str] = "100 word n-grams drawn at random: at least 5 shared"
    source: ClassVar[str] = "Potthast & Stein 2008, Table 1"
    cost: ClassVar[str] = "O(tokens); 8·k bytes a page"

    def __post_init__(self) -> None:
        self.check_numbers()

    def fingerprint(self) -> RandomChunks:
        return RandomChunks(n=self.n, k=self.k)
