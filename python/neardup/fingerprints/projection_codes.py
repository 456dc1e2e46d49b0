"""Locality-sensitive hashing of the term vector (Datar et al. 2004; Charikar 2002).

Idea: the page's term frequencies, scaled to length 1, are multiplied with random normal vectors. p-stable hashing cuts
the products into intervals of a width; random hyperplanes take their signs. Several results make one code, and a few
codes are the fingerprint: near vectors share one. Cost: codes × projections additions a token, exact in whole numbers;
8 bytes a code."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from neardup import _native
from neardup.fingerprints.base import FixedWidth


@dataclass(frozen=True, slots=True)
class ProjectionCodes:
    """``k`` codes of ``projections`` products each, cut into intervals of ``interval``; 0 takes signs.

    >>> tokens = pa.array([[1, 2, 3], [3, 1, 2]], pa.large_list(pa.uint64()))
    >>> codes = ProjectionCodes(k=4, projections=8, interval=0.5).compute(tokens)
    >>> codes.shape, bool((codes[0] == codes[1]).all())
    ((2, 4), True)
    """

    k: int
    projections: int
    interval: float = 0.0

    @property
    def width(self) -> int:
        return self.k

    def compute(self, tokens: pa.LargeListArray) -> FixedWidth:
        return _native.projection_codes(tokens, codes=self.k, projections=self.projections, width=self.interval or None)
