"""Hashed breakpoints by words (Brin, Davis and Garcia-Molina 1995, as a selection).

Idea: of all windows of n words those whose last word's hash is 0 mod m: one in m, the same on every page that has them.
Cost: O(tokens); 8/m bytes a token.
"""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from neardup import _native


@dataclass(frozen=True, slots=True)
class WordBreakpoints:
    """The windows of ``n`` words that end in a word whose hash is 0 mod ``m``.

    >>> tokens = pa.array([[1, 2, 3]], pa.large_list(pa.uint64()))
    >>> len(WordBreakpoints(n=2, m=1).compute(tokens)[0])
    2
    """

    n: int
    m: int

    def compute(self, tokens: pa.LargeListArray) -> pa.LargeListArray:
        return _native.ending_windows(tokens, n=self.n, modulus=self.m)
