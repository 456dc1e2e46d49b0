"""Bands of min-values: locality-sensitive hashing for Jaccard similarity (the lecture; Leskovec et al.).

Idea: bands × rows min-values; pages that agree in all rows of one band share a key. A pair of Jaccard similarity J
shares at least one with probability 1 − (1 − J^rows)^bands, the S-curve that ``neardup plan`` draws.
Cost: bands × rows multiplications a token; 8 bytes a band.
"""

from __future__ import annotations

import pyarrow as pa

from neardup import _native
from neardup.fingerprints.base import FixedWidth
from neardup.record import record


@record(frozen=True, slots=True)
class Bands:
    """One key for each of ``bands`` bands of ``rows`` min-values over shingles of ``k`` tokens.

    >>> Bands(k=5, bands=20, rows=6).width
    20
    """

    k: int
    bands: int
    rows: int
    rabin: bool = False

    @property
    def width(self) -> int:
        return self.bands

    def compute(self, tokens: pa.LargeListArray) -> FixedWidth:
        return _native.minima_keys(tokens, k=self.k, count=self.bands * self.rows, rows=self.rows, rabin=self.rabin)
