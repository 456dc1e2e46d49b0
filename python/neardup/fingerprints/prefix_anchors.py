"""Prefix anchors (Manber 1994).

Idea: of all windows of n words those whose first word begins with a particular prefix. Which prefixes: given ones, or
one in ``every`` of all prefixes of so many letters, chosen by a hash, so that no language must be known. Cost:
O(words), and the page is read a second time for its text; 8 bytes a selected window."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from neardup import _native
from neardup.fingerprints.base import OfTerms


@dataclass(frozen=True, slots=True)
class PrefixAnchors(OfTerms):
    """The windows of ``n`` words that begin with one of ``prefixes`` (joined by "+"); without any, with one in
    ``every`` of the prefixes of ``letters`` letters.

    >>> terms = pa.array([["the", "cat", "then", "sat"]], pa.large_list(pa.large_string()))
    >>> len(PrefixAnchors(n=2, prefixes="th+ca").compute(terms)[0])
    3
    """

    n: int
    prefixes: str = ""
    letters: int = 2
    every: int = 8

    def compute(self, terms: pa.LargeListArray) -> pa.LargeListArray:
        if self.prefixes:
            return _native.anchored_windows(terms, n=self.n, prefixes=self.prefixes.split("+"))
        return _native.anchored_windows(terms, n=self.n, letters=self.letters, every=self.every)
