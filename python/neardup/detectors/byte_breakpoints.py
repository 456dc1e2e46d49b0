"""Hashed breakpoints, Manber's byte rule: substrings whose hash ends in a zero byte (Manber 1994)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from neardup.detectors.registry import register
from neardup.detectors.shared import SharesRatio
from neardup.fingerprints import ByteBreakpoints


@register
@dataclass(frozen=True)
class ManberBreakpoints(SharesRatio):
    """Pages whose selected substrings of ``n`` bytes share ``ratio`` of their union.

    Selected are those whose hash is 0 mod ``m``. Of a short text it may be none: such a page matches only its copies.

    >>> str(ManberBreakpoints(m=64))
    'byte-breakpoints(m=64)'
    """

    n: int = 50
    m: int = 256
    ratio: float = 0.5

    name: ClassVar[str] = "byte-breakpoints"
    summary: ClassVar[str] = "50-byte substrings whose hash ends in a zero byte: at least 0.5 shared"
    source: ClassVar[str] = "Manber 1994; Potthast & Stein 2008, Table 1"
    cost: ClassVar[str] = "one hash a byte, and reading pages twice; 8 bytes in m bytes"

    def __post_init__(self) -> None:
        self.check_ratio(lengths=("n", "m"))

    def fingerprint(self) -> ByteBreakpoints:
        return ByteBreakpoints(n=self.n, m=self.m)

    def chunk_length(self) -> str:
        return f"{self.n} bytes"
