"""Rare chunks (Heintze 1996): the chunks that few pages have.

Idea: what is on many pages is boilerplate and says nothing; a chunk that few pages have ties just these together. "Once
in the collection", as the taxonomy puts it, can match only a page from outside; within one, few must mean two and more.
Cost: a first pass (``statistics``), then one look-up a token; 8 bytes a rare chunk."""

from __future__ import annotations

from dataclasses import dataclass

from neardup import _native
from neardup.fingerprints.spex import MemberChunks
from neardup.fingerprints.statistics import CollectionStatistics


@dataclass(frozen=True, slots=True)
class RareChunks:
    """The windows of ``n`` tokens that at most ``most`` pages of the collection have.

    >>> from neardup.fingerprints.statistics import collect_statistics
    >>> import pyarrow as pa
    >>> tokens = pa.array([[1, 2, 3], [1, 2, 4], [1, 2, 5]], pa.large_list(pa.uint64()))
    >>> [len(kept) for kept in RareChunks(n=2, most=2).given(collect_statistics([tokens], [2])).compute(tokens)]
    [1, 1, 1]
    """

    n: int
    most: int

    @property
    def counted(self) -> int:
        return self.n

    def given(self, statistics: CollectionStatistics) -> MemberChunks:
        frequent = statistics.between(self.n, self.most + 1, 2**32 - 1)
        return MemberChunks(self.n, _native.NumberTable(frequent), inside=False)
