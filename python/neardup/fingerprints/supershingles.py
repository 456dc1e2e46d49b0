"""Supershingles (Broder et al. 1997; Fetterly et al. 2003; Henzinger's Alg. B).

Idea: every k consecutive tokens are a shingle; of m hash functions the minima over a page's shingles are taken, and
groups of m/groups minima are hashed to one number each. Two pages of Jaccard similarity J agree in one supershingle
with probability J^(m/groups). Cost: m multiplications a token, in registers; 48 bytes a page.
"""

from __future__ import annotations

import pyarrow as pa

from neardup import _native
from neardup.fingerprints.base import FixedWidth
from neardup.record import record


@record(frozen=True, slots=True)
class Supershingles:
    """``groups`` supershingles from ``m`` min-values over shingles of ``k`` tokens.

    >>> import pyarrow as pa
    >>> tokens = pa.array([list(range(20)), list(range(20))], pa.large_list(pa.uint64()))
    >>> values = Supershingles().compute(tokens)
    >>> values.shape, bool((values[0] == values[1]).all())
    ((2, 6), True)
    """

    k: int = 8
    m: int = 84
    groups: int = 6
    rabin: bool = False

    @property
    def rows(self) -> int:
        """Min-values in one supershingle (the paper's l)."""
        return self.m // self.groups

    @property
    def width(self) -> int:
        return self.groups

    def compute(self, tokens: pa.LargeListArray) -> FixedWidth:
        return _native.minima_keys(tokens, k=self.k, count=self.rows * self.groups, rows=self.rows, rabin=self.rabin)
