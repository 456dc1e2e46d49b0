"""Shingling by k functions (Broder 1997; the lecture's MinHash).

Idea: for each of k hash functions the smallest value over the page's chunks; two pages agree in one with probability
equal to their Jaccard similarity, independently of the others. Cost: k multiplications a token, in registers; 8·k bytes
a page."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from neardup import _native
from neardup.fingerprints.base import FixedWidth


@dataclass(frozen=True, slots=True)
class Minima:
    """``k`` min-values over windows of ``n`` tokens, each tagged with its function.

    >>> tokens = pa.array([list(range(1, 31))], pa.large_list(pa.uint64()))
    >>> Minima(n=5, k=16).compute(tokens).shape
    (1, 16)
    """

    n: int
    k: int

    @property
    def width(self) -> int:
        return self.k

    def compute(self, tokens: pa.LargeListArray) -> FixedWidth:
        return _native.tagged_minima(tokens, k=self.n, count=self.k)
