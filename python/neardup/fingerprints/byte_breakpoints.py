"""Hashed breakpoints by bytes (Manber 1994).

Idea: of all substrings of n bytes of the page's text (its terms with one space between two) those whose hash ends in a
zero byte: one in 256. Cost: O(bytes), and the page is read a second time for its text; 8/256 bytes a byte of text."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from neardup import _native
from neardup.fingerprints.base import OfTerms


@dataclass(frozen=True, slots=True)
class ByteBreakpoints(OfTerms):
    """The substrings of ``n`` bytes whose hash is 0 mod ``m``.

    >>> terms = pa.array([["some", "words"]], pa.large_list(pa.large_string()))
    >>> len(ByteBreakpoints(n=4, m=1).compute(terms)[0])
    7
    """

    n: int
    m: int

    def compute(self, terms: pa.LargeListArray) -> pa.LargeListArray:
        return _native.byte_windows(terms, n=self.n, modulus=self.m)
