"""One of a sliding window (Potthast & Stein, Table 1: "misc.").

Idea: the chunks that start at every m-th word. An inserted word shifts all behind it, so pages share what stands before
the first change and little more. Kept as a yardstick for the others. Cost: O(tokens); 8/m bytes a token.
"""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from neardup import _native


@dataclass(frozen=True, slots=True)
class SlidingWindow:
    """The windows of ``n`` tokens at places 0, ``m``, 2·``m`` …

    >>> tokens = pa.array([list(range(1, 31))], pa.large_list(pa.uint64()))
    >>> len(SlidingWindow(n=5, m=10).compute(tokens)[0])
    3
    """

    n: int
    m: int

    def compute(self, tokens: pa.LargeListArray) -> pa.LargeListArray:
        return _native.stepping_windows(tokens, n=self.n, step=self.m)
