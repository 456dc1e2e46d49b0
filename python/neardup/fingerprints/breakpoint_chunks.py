"""Hashed-breakpoint chunks (Brin, Davis and Garcia-Molina 1995).

Idea: a chunk ends at every word whose hash is 0 mod n, so chunks have n words on average and do not overlap. A changed
word changes the chunk it stands in, and none behind the next breakpoint. Cost: O(tokens); 8/n bytes a token.
"""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from neardup import _native


@dataclass(frozen=True, slots=True)
class BreakpointChunks:
    """The stretches between words whose hash is 0 mod ``n``.

    >>> tokens = pa.array([[1, 2, 3]], pa.large_list(pa.uint64()))
    >>> len(BreakpointChunks(n=1).compute(tokens)[0])
    3
    """

    n: int

    def compute(self, tokens: pa.LargeListArray) -> pa.LargeListArray:
        return _native.stretches(tokens, modulus=self.n)
