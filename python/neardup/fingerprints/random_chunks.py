"""Chunks at random (Potthast & Stein, Table 1: "misc.").

Idea: k of the page's distinct chunks, drawn by a generator that the page's own tokens seed. Two pages draw
independently: of c chunks that they share c·(k/C)² are expected on both, C being how many each has. Kept as a yardstick
for the others. Cost: O(tokens); 8·k bytes a page."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from neardup import _native


@dataclass(frozen=True, slots=True)
class RandomChunks:
    """``k`` of the windows of ``n`` tokens.

    >>> tokens = pa.array([list(range(1, 31))], pa.large_list(pa.uint64()))
    >>> len(RandomChunks(n=5, k=10).compute(tokens)[0])
    10
    """

    n: int
    k: int

    def compute(self, tokens: pa.LargeListArray) -> pa.LargeListArray:
        return _native.random_windows(tokens, n=self.n, count=self.k)
