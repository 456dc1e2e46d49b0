"""Random projections (Charikar 2002; Henzinger's Alg. C).

Idea: every token stands for b signs; they are added up over the page, and bit i says whether sum i is positive. The
share of bits on which two pages agree follows 1 − θ/π, θ the angle between their term-frequency vectors. Cost: b signs
a token, added in bit-sliced counters; b/8 bytes a page. Over shingles (k > 1) it answers the paper's open question.
"""

from __future__ import annotations

import pyarrow as pa

from neardup import _native
from neardup.fingerprints.base import FixedWidth
from neardup.record import record


@record(frozen=True, slots=True)
class Projection:
    """``bits`` bits over tokens, or over shingles of ``k`` tokens.

    >>> import pyarrow as pa
    >>> tokens = pa.array([[1, 2, 3], [3, 2, 1]], pa.large_list(pa.uint64()))
    >>> sketch = Projection(bits=64).compute(tokens)
    >>> sketch.shape, bool((sketch[0] == sketch[1]).all())
    ((2, 1), True)
    """

    bits: int = 384
    k: int = 1
    rabin: bool = False

    @property
    def width(self) -> int:
        return self.bits // 64

    def compute(self, tokens: pa.LargeListArray) -> FixedWidth:
        return _native.projections(tokens, bits=self.bits, k=self.k, rabin=self.rabin)
