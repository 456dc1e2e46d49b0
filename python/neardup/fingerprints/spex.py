"""SPEX (Bernstein and Zobel 2004): the chunks that occur on several pages.

Idea: a chunk that one page only has can match nothing; what is left is a small part of a collection. Which chunks
repeat is found in a first pass, level by level (``statistics``), lossless and, after the last count, exact. Cost: the
pass, then one look-up a token; 8 bytes a repeated chunk."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from neardup import _native
from neardup.fingerprints.statistics import CollectionStatistics


@dataclass(frozen=True, slots=True)
class RepeatedChunks:
    """The windows of ``n`` tokens that at least two pages of the collection have.

    >>> from neardup.fingerprints.statistics import collect_statistics
    >>> tokens = pa.array([[1, 2, 3, 4], [9, 1, 2, 3]], pa.large_list(pa.uint64()))
    >>> [len(kept) for kept in RepeatedChunks(n=2).given(collect_statistics([tokens], [2])).compute(tokens)]
    [2, 2]
    """

    n: int

    @property
    def counted(self) -> int:
        return self.n

    def given(self, statistics: CollectionStatistics) -> MemberChunks:
        return MemberChunks(self.n, statistics.table(self.n), inside=True)


@dataclass(frozen=True, slots=True, eq=False)
class MemberChunks:
    """The windows of ``n`` tokens inside, or outside, a table of the collection."""

    n: int
    members: _native.NumberTable
    inside: bool

    def compute(self, tokens: pa.LargeListArray) -> pa.LargeListArray:
        return _native.member_windows(tokens, self.members, n=self.n, inside=self.inside)
