"""Weighted MinHash by consistent weighted sampling (Ioffe 2010), over tf or tf·idf.

Idea: each of k functions samples one element of the page and a level of its weight, so that two pages agree in one with
probability Σ min(w, w') / Σ max(w, w'), the weighted Jaccard similarity. Weights are how often a chunk occurs on the
page, or that times ln(N/df), df being how many pages of the collection have it. Cost: three logarithms a distinct chunk
and function, in vector registers; 8·k bytes a page."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from neardup import _native
from neardup.fingerprints.base import FixedWidth
from neardup.fingerprints.statistics import CollectionStatistics


@dataclass(frozen=True, slots=True)
class WeightedSamples:
    """``k`` samples of the windows of ``n`` tokens, weighted by how often each occurs.

    >>> tokens = pa.array([[1, 2, 2, 3], [2, 1, 3, 2]], pa.large_list(pa.uint64()))
    >>> samples = WeightedSamples(n=1, k=32).compute(tokens)
    >>> samples.shape, bool((samples[0] == samples[1]).all())
    ((2, 32), True)
    """

    n: int
    k: int

    @property
    def width(self) -> int:
        return self.k

    def compute(self, tokens: pa.LargeListArray) -> FixedWidth:
        return _native.weighted_samples(tokens, k=self.n, count=self.k)


@dataclass(frozen=True, slots=True)
class RarityWeightedSamples:
    """The same weighted by tf·idf: a fingerprint once the collection's frequencies are given."""

    n: int
    k: int

    @property
    def width(self) -> int:
        return self.k

    @property
    def counted(self) -> int:
        return self.n

    def given(self, statistics: CollectionStatistics) -> GivenSamples:
        return GivenSamples(self, statistics.pages, statistics.table(self.n))


@dataclass(frozen=True, slots=True, eq=False)
class GivenSamples:
    """With the frequencies at hand."""

    kind: RarityWeightedSamples
    pages: int
    table: _native.NumberTable

    @property
    def width(self) -> int:
        return self.kind.k

    def compute(self, tokens: pa.LargeListArray) -> FixedWidth:
        return _native.weighted_samples(
            tokens, k=self.kind.n, count=self.kind.k, pages=self.pages, frequencies=self.table
        )
