"""Prefix anchors that are rare on the page (Heintze 1996).

Idea: of all windows of n words those that begin with a prefix which is infrequent on this page: at most ``most`` of its
words begin so. Rare beginnings are found in few other pages, and a page decides alone which they are. Cost: O(words),
and the page is read a second time for its text; 8 bytes a selected window."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from neardup import _native
from neardup.fingerprints.base import OfTerms


@dataclass(frozen=True, slots=True)
class RarePrefixes(OfTerms):
    """The windows of ``n`` words whose first ``letters`` letters at most ``most`` words of the page begin with.

    >>> terms = pa.array([["the", "cat", "then", "sat"]], pa.large_list(pa.large_string()))
    >>> len(RarePrefixes(n=2, letters=2, most=1).compute(terms)[0])
    1
    """

    n: int
    letters: int
    most: int

    def compute(self, terms: pa.LargeListArray) -> pa.LargeListArray:
        return _native.anchored_windows(terms, n=self.n, letters=self.letters, most=self.most)
