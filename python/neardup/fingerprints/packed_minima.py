"""b-bit signatures (Li and König 2010).

Idea: of every min-value only b bits are kept. Values that differ agree in them by chance with probability 2^−b, which
is accounted for: of m lanes m·(J + (1 − J)·2^−b) agree on average. Cost: m multiplications a token; m·b/8 bytes a page,
a sixteenth of the values at b = 2."""

from __future__ import annotations

import pyarrow as pa

from neardup import _native
from neardup.fingerprints.base import FixedWidth
from neardup.record import record


@record(frozen=True, slots=True)
class PackedMinima:
    """``bits`` bits of each of ``m`` min-values over windows of ``n`` tokens.

    >>> tokens = pa.array([list(range(1, 31))], pa.large_list(pa.uint64()))
    >>> PackedMinima(n=5, m=256, bits=2).compute(tokens).shape
    (1, 8)
    """

    n: int
    m: int
    bits: int

    @property
    def width(self) -> int:
        return -(-self.m * self.bits // 64)

    def compute(self, tokens: pa.LargeListArray) -> FixedWidth:
        return _native.packed_minima(tokens, k=self.n, count=self.m, bits=self.bits)
