"""Hashed-breakpoint chunking (Brin et al. 1995): the best of Potthast & Stein's experiments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from neardup.detectors.registry import register
from neardup.detectors.shared import SharesRatio
from neardup.fingerprints import BreakpointChunks


@register
@dataclass(frozen=True)
class HashedBreakpointChunks(SharesRatio):
    """Pages whose stretches between breakpoint words share ``ratio`` of their union.

    A word is a breakpoint if its hash is 0 mod ``n``, so chunks have ``n`` words on average.

    >>> str(HashedBreakpointChunks(ratio=0.7))
    'breakpoint-chunks(ratio=0.7)'
    """

    n: int = 5
    ratio: float = 0.5

    name: ClassVar[str] = "breakpoint-chunks"
    summary: ClassVar[str] = "stretches between hashed breakpoint words: at least 0.5 shared"
    source: ClassVar[str] = "Brin, Davis & Garcia-Molina 1995; Potthast & Stein 2008 §3"
    cost: ClassVar[str] = "one hash a token; 8 bytes in n tokens"

    def __post_init__(self) -> None:
        self.check_ratio()

    def fingerprint(self) -> BreakpointChunks:
        return BreakpointChunks(n=self.n)

    def chunk_length(self) -> str:
        return f"{self.n} on average"
