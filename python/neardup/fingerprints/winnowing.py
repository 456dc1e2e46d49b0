"""Winnowing (Schleimer, Wilkerson and Aiken 2003).

Idea: of every w consecutive chunks of n tokens the smallest is selected. A run of w + n − 1 tokens that two pages have
in common always shares a number; of random chunks a share of 2/(w + 1) is selected. Cost: O(tokens); 16/(w + 1) bytes a
token."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from neardup import _native


@dataclass(frozen=True, slots=True)
class Winnowed:
    """The smallest of every ``w`` consecutive windows of ``n`` tokens.

    >>> tokens = pa.array([list(range(1, 31))], pa.large_list(pa.uint64()))
    >>> len(Winnowed(n=5, w=26).compute(tokens)[0]), len(Winnowed(n=5, w=1).compute(tokens)[0])
    (1, 26)
    """

    n: int
    w: int

    def compute(self, tokens: pa.LargeListArray) -> pa.LargeListArray:
        return _native.winnowed(tokens, n=self.n, window=self.w)
