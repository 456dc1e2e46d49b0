"""Min-values, each by itself (Broder 1997; Li & König 2010; Shrivastava 2017; Ioffe 2010).

Idea: the smallest value of a random function over a page's chunks agrees on two pages with probability equal to the
similarity of the pages, so the share of k that agree estimates it, and a number that must agree is a threshold. Kept
whole, as b bits, from one function instead of k, or weighted. Cost: k multiplications a token, or one; 8·k bytes a
page, or a sixteenth of that.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import ClassVar

from neardup import _native
from neardup.methods.base import Detector, NativeRows
from neardup.methods.planner import BandLayout, band_probability, binomial_tail, plan_bands
from neardup.methods.registry import register
from neardup.methods.rules import AgreeingLanes, Rule, SingleColumns
from neardup.methods.shared import SharesColumns
from neardup.methods.shingles import Bands
from neardup.methods.statistics import CollectionStatistics
from neardup.record import record


@record(frozen=True, slots=True)
class Minima(NativeRows):
    """``k`` min-values over windows of ``n`` tokens, each tagged with its function.

    Shingling by k functions (Broder 1997; the lecture's MinHash). Idea: for each of k hash functions the smallest value
    over the page's chunks; two pages agree in one with probability equal to their Jaccard similarity, independently of
    the others. Cost: k multiplications a token, in registers; 8·k bytes a page.

    >>> import pyarrow as pa
    >>> tokens = pa.array([list(range(1, 31))], pa.large_list(pa.uint64()))
    >>> Minima(n=5, k=16).compute(tokens).shape
    (1, 16)
    """

    native: ClassVar[str] = "minima"
    n: int
    k: int

    @property
    def width(self) -> int:
        return self.k


# Shingling by k functions: min-values (Broder 1997; the lecture on MinHash).
@register
@record(frozen=True)
class ShinglingFunctions(SharesColumns):
    """Pages that agree in ``kappa`` of ``k`` min-values over their ``n``-word chunks.

    Each agrees with probability J, so P(accepted) is the upper tail of a binomial; no pair that agrees enough is
    missed.

    >>> round(ShinglingFunctions().acceptance(0.6), 3)
    0.991
    """

    n: int = 5
    k: int = 128
    kappa: int = 64

    name: ClassVar[str] = "shingling-functions"
    summary: ClassVar[str] = "at least 64 of 128 min-values agree"
    source: ClassVar[str] = "Broder 1997; Potthast & Stein 2008, Table 1; the lecture on MinHash"
    cost: ClassVar[str] = "k multiplications a token; 8·k bytes a page"

    def __post_init__(self) -> None:
        self.check(self.n >= 1, "n must be at least 1")
        self.check_kappa()

    def fingerprint(self) -> Minima:
        return Minima(n=self.n, k=self.k)

    def one_agrees(self, similarity: float) -> float | None:
        return similarity


@record(frozen=True, slots=True)
class PackedMinima(NativeRows):
    """``bits`` bits of each of ``m`` min-values over windows of ``n`` tokens.

    b-bit signatures (Li and König 2010). Idea: of every min-value only b bits are kept. Values that differ agree in
    them by chance with probability 2^−b, which is accounted for: of m lanes m·(J + (1 − J)·2^−b) agree on average.
    Cost: m multiplications a token; m·b/8 bytes a page, a sixteenth of the values at b = 2.

    >>> import pyarrow as pa
    >>> tokens = pa.array([list(range(1, 31))], pa.large_list(pa.uint64()))
    >>> PackedMinima(n=5, m=256, bits=2).compute(tokens).shape
    (1, 8)
    """

    native: ClassVar[str] = "packed minima"
    n: int
    m: int
    bits: int

    @property
    def width(self) -> int:
        return -(-self.m * self.bits // 64)


# b-bit signatures: MinHash with two bits a value (Li & König 2010).
@register
@record(frozen=True)
class BBitMinHash(Detector):
    """Pages whose Jaccard similarity, as ``b`` bits of each of ``m`` min-values tell it, is at least ``threshold``.

    Candidates come from bands of min-values, so planned that a pair at the threshold becomes one with probability
    ``recall``. Of a candidate at least m·(t + (1 − t)/2^b) lanes must agree: what is expected at the threshold t.

    >>> BBitMinHash(threshold=0.8).needed
    218
    """

    n: int = 5
    m: int = 256
    b: int = 2
    threshold: float = 0.8
    recall: float = 0.99

    name: ClassVar[str] = "b-bit-minhash"
    summary: ClassVar[str] = "Jaccard similarity told by 2 bits of each of 256 min-values"
    source: ClassVar[str] = "Li & König 2010"
    cost: ClassVar[str] = "m multiplications a token; m·b/8 bytes a page, and 8 a band for finding candidates"

    def __post_init__(self) -> None:
        self.check(self.n >= 1, "n must be at least 1")
        self.check(1 <= self.m <= 4096, "m must be between 1 and 4096")
        self.check(self.b in (1, 2, 4, 8), "b must be 1, 2, 4 or 8")
        self.check(0 < self.threshold <= 1, "threshold must be above 0 and at most 1")
        self.check(0 < self.recall < 1, "recall must be between 0 and 1")
        # A recall that no layout reaches is told here, not when the input is about to be read.
        _ = self.layout

    @cached_property
    def layout(self) -> BandLayout:
        """The bands in use."""
        return plan_bands(self.threshold, self.recall)

    @property
    def needed(self) -> int:
        """Lanes that must agree."""
        return math.ceil(self.m * self._agreeing(self.threshold) - 1e-9)

    def _agreeing(self, similarity: float) -> float:
        return similarity + (1 - similarity) / (1 << self.b)

    def rules(self) -> tuple[Rule, ...]:
        bands = Bands(k=self.n, bands=self.layout.bands, rows=self.layout.rows)
        packed = PackedMinima(n=self.n, m=self.m, bits=self.b)
        return (Rule(self.name, SingleColumns(bands), AgreeingLanes(packed, self.needed)),)

    def acceptance(self, similarity: float) -> float | None:
        """As if bands and lanes were independent of each other."""
        found = band_probability(similarity, self.layout.bands, self.layout.rows)
        return found * binomial_tail(self.m, self._agreeing(similarity), self.needed)

    def as_used(self) -> tuple[str, str, str]:
        return (str(self.n), f"{self.m} × {self.b} bits", f"{self.needed} lanes agree")


@record(frozen=True, slots=True)
class OnePermutation(NativeRows):
    """``k`` bins over windows of ``n`` tokens, each number tagged with its bin.

    One-permutation hashing with optimal densification (Li, Owen and Zhang 2012; Shrivastava 2017). Idea: one hash
    function deals the chunks into k bins, and each bin keeps its smallest; an empty bin borrows from a full one that a
    hash of its own number leads to. Each of the k numbers agrees with probability equal to the Jaccard similarity, as
    min-values do, at one multiplication a token instead of k. Cost: O(tokens + k); 8·k bytes a page.

    >>> import pyarrow as pa
    >>> tokens = pa.array([list(range(1, 31))], pa.large_list(pa.uint64()))
    >>> OnePermutation(n=5, k=64).compute(tokens).shape
    (1, 64)
    """

    native: ClassVar[str] = "one permutation"
    n: int
    k: int

    @property
    def width(self) -> int:
        return self.k


# One-permutation hashing with optimal densification (Li, Owen & Zhang 2012; Shrivastava 2017).
@register
@record(frozen=True)
class OnePermutationHashing(SharesColumns):
    """Pages that agree in ``kappa`` of ``k`` bins over their ``n``-word chunks.

    Each agrees with probability J, at the cost of one function; ``acceptance`` takes bins as independent, which they
    nearly are.

    >>> str(OnePermutationHashing(k=64, kappa=40))
    'one-permutation(k=64,kappa=40)'
    """

    n: int = 5
    k: int = 128
    kappa: int = 64

    name: ClassVar[str] = "one-permutation"
    summary: ClassVar[str] = "at least 64 of 128 bins of one hash function agree"
    source: ClassVar[str] = "Li, Owen & Zhang 2012; Shrivastava 2017"
    cost: ClassVar[str] = "one multiplication a token; 8·k bytes a page"

    def __post_init__(self) -> None:
        self.check(self.n >= 1, "n must be at least 1")
        self.check_kappa()

    def fingerprint(self) -> OnePermutation:
        return OnePermutation(n=self.n, k=self.k)

    def one_agrees(self, similarity: float) -> float | None:
        return similarity


@record(frozen=True, slots=True)
class WeightedSamples(NativeRows):
    """``k`` samples of the windows of ``n`` tokens, weighted by how often each occurs.

    Weighted MinHash by consistent weighted sampling (Ioffe 2010), over tf or tf·idf. Idea: each of k functions samples
    one element of the page and a level of its weight, so that two pages agree in one with probability Σ min(w, w') / Σ
    max(w, w'), the weighted Jaccard similarity. Weights are how often a chunk occurs on the page, or that times
    ln(N/df), df being how many pages of the collection have it. Cost: three logarithms a distinct chunk and function,
    in vector registers; 8·k bytes a page.

    >>> import pyarrow as pa
    >>> tokens = pa.array([[1, 2, 2, 3], [2, 1, 3, 2]], pa.large_list(pa.uint64()))
    >>> samples = WeightedSamples(n=1, k=32).compute(tokens)
    >>> samples.shape, bool((samples[0] == samples[1]).all())
    ((2, 32), True)
    """

    native: ClassVar[str] = "weighted samples"
    n: int
    k: int

    @property
    def width(self) -> int:
        return self.k


@record(frozen=True, slots=True)
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
        return GivenSamples(self.n, self.k, statistics.pages, statistics.table(self.n))


@record(frozen=True, slots=True, eq=False)
class GivenSamples(NativeRows):
    """With the frequencies at hand."""

    native: ClassVar[str] = "weighted samples"
    n: int
    k: int
    pages: int
    table: _native.NumberTable

    @property
    def width(self) -> int:
        return self.k


# Weighted MinHash over tf or tf·idf (Ioffe 2010).
@register
@record(frozen=True)
class WeightedMinHash(SharesColumns):
    """Pages that agree in ``kappa`` of ``k`` weighted samples of their ``n``-word chunks.

    Each agrees with probability Σ min / Σ max of the weights: ``tf``, how often a chunk occurs on the page, or
    ``tf-idf``, that times ln(N/df) by the statistics of the collection.

    >>> WeightedMinHash().counted(), WeightedMinHash(weights="tf-idf").counted()
    ((), (1,))
    """

    n: int = 1
    weights: str = "tf"
    k: int = 128
    kappa: int = 90

    name: ClassVar[str] = "weighted-minhash"
    summary: ClassVar[str] = "at least 90 of 128 weighted samples agree: weights are tf, or tf·idf"
    source: ClassVar[str] = "Ioffe 2010"
    cost: ClassVar[str] = "three logarithms a distinct token and function; 8·k bytes a page; tf-idf takes a first pass"
    measure: ClassVar[str] = "weighted Jaccard similarity"

    def __post_init__(self) -> None:
        self.check(self.n >= 1, "n must be at least 1")
        self.check(self.weights in ("tf", "tf-idf"), "weights are 'tf' or 'tf-idf'")
        self.check_kappa()

    def fingerprint(self) -> WeightedSamples | RarityWeightedSamples:
        return WeightedSamples(self.n, self.k) if self.weights == "tf" else RarityWeightedSamples(self.n, self.k)

    def one_agrees(self, similarity: float) -> float | None:
        return similarity
