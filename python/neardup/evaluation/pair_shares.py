"""Shares of judged pairs with 95 % intervals that hold for the way the pairs came about.

**Pairs drawn at random, none with a page in common**: Clopper and Pearson's interval, exact.

**Pairs that weigh differently** (a stratified sample, as ``neardup judge export`` writes it): a bound by Fay and Feuer
(1997). Hits and misses are two weighted sums of Poisson counts, each a gamma variable with (Σw)² / Σw² effective
counts, and the side that could be worse has one more count of the heaviest weight (``intervals.py``). What it speaks of
are the pairs the sample was drawn from.

**Pairs that share pages or queries** are right or wrong together. How much so is not known; the bound takes them to be
so completely: Σw² becomes the sum of w·w' over all two pairs with a page or a query in common, found by inclusion and
exclusion over pages, pairs of pages and queries, and the one more count is all that the page (or query) with most pairs
has. Beside it pages are resampled, or queries where pairs have some: a pair is in a resample as often as its first page
is drawn, times as often as its second is (Owen's pigeonhole bootstrap, 2007, which errs on the wide side). A resample
without a pair to take the share of counts as the worst on either side. The interval is the wider of the two, at each
end.

F = 2PR / (P + R) of hits h among a accepted and c correct pairs is 2J / (1 + J), J = h / (a + c − h) being the share of
hits among all pairs that are accepted or correct: the bounds of J give those of F. They are never narrower than what
the bounds of P and R make of it. Where all is equal and independent this *is* Clopper and Pearson's. Cost: O(pairs log
pairs), and O(pairs) a resample.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from neardup.evaluation.intervals import CONFIDENCE, NOTHING, Share, WeightedSum, share_of_sums
from neardup.evaluation.judged import Judged

Numbers = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
Whole = npt.NDArray[np.int64]
#: How the intervals of some pairs are made, in words.
EXACT: Final = "exact (Clopper and Pearson)"
WEIGHTED: Final = "a conservative bound for weighted pairs (Fay and Feuer)"
PAGES: Final = "a conservative bound for pairs with common pages, and pages resampled"
QUERIES: Final = "a conservative bound for pairs of common pages and queries, and queries resampled"


@dataclass(frozen=True, slots=True)
class _Grouping:
    """Which pairs are in which groups: an entry for each pair and group it is in; and whether the groups' squares are
    added or taken off again."""

    group: Whole
    pair: Whole
    added: bool

    @staticmethod
    def of(keys: npt.NDArray[np.int64], pair: Whole, added: bool) -> _Grouping:
        """From keys of any number of columns."""
        group = np.unique(keys, axis=0, return_inverse=True)[1].reshape(-1) if len(keys) else pair
        return _Grouping(group.astype(np.int64), pair, added)

    def sums(self, values: Numbers) -> Numbers:
        """The sum of the values of each group's pairs."""
        return np.bincount(self.group, values[self.pair], 1).astype(np.float64)


@dataclass(frozen=True)
class PairUnits:
    """How much judged pairs weigh, and what they have in common."""

    weight: Numbers
    groupings: list[_Grouping]
    how: str
    #: Both pages of each pair, by number, and its query, −1 where it has none.
    a: Whole
    b: Whole
    query: Whole

    @staticmethod
    def of(judged: Judged) -> PairUnits:
        """From the pages, queries and weights of judged pairs.

        >>> PairUnits.of(Judged(["x", "y"], ["z", "v"], np.zeros(2, np.int8))).how
        'exact (Clopper and Pearson)'
        >>> PairUnits.of(Judged(["x", "x"], ["z", "v"], np.zeros(2, np.int8))).how
        'a conservative bound for pairs with common pages, and pages resampled'
        """
        count = len(judged)
        numbers = np.unique([*judged.a, *judged.b], return_inverse=True)[1].astype(np.int64) if count else np.empty(0)
        a, b = np.minimum(numbers[:count], numbers[count:]), np.maximum(numbers[:count], numbers[count:])
        known = np.array([one is not None for one in judged.query], bool)
        query = np.full(count, -1, np.int64)
        if known.any():
            query[known] = np.unique([one for one in judged.query if one is not None], return_inverse=True)[1]
        every = np.arange(count)
        alone = [_Grouping(every, every, added=True)]
        weight = judged.weight
        if judged.weights is not None:
            return PairUnits(weight, alone, EXACT if len(np.unique(weight)) < 2 else WEIGHTED, a, b, query)
        pages, queries = _of_pages(a, b), _of_queries(a, b, query)
        if not any(np.bincount(one.group, minlength=1).max(initial=0) > 1 for one in (*pages, *queries)):
            return PairUnits(weight, alone, EXACT, a, b, query)
        return PairUnits(weight, [*pages, *queries], QUERIES if known.any() else PAGES, a, b, query)

    @property
    def resampled(self) -> bool:
        """Whether pages or queries are resampled for shares."""
        return self.how in (PAGES, QUERIES)

    def share(self, hits: Flags, base: Flags, confidence: float = CONFIDENCE) -> Share:
        """The share of hits in the base, with its bound.

        >>> pairs = Judged(list("abcd"), list("efgh"), np.zeros(4, np.int8))
        >>> str(PairUnits.of(pairs).share(np.array([True] * 3 + [False]), np.ones(4, bool)))
        '75.0 % (19.4–99.4 %)'
        """
        if not base.any():
            return NOTHING
        hit, miss = (np.where(flags, self.weight, 0.0) for flags in (base & hits, base & ~hits))
        return share_of_sums(self._sum(hit), self._sum(miss), self.heaviest(base), int(base.sum()), confidence)

    def _sum(self, values: Numbers) -> WeightedSum:
        squares = sum((1 if one.added else -1) * float((one.sums(values) ** 2).sum()) for one in self.groupings)
        return WeightedSum(float(values.sum()), squares)

    def heaviest(self, base: Flags) -> float:
        """What the page, query or pair with the most of these pairs has of them."""
        values = np.where(base, self.weight, 0.0)
        return max(float(one.sums(values).max(initial=0.0)) for one in self.groupings if one.added)

    def resamples(self, rounds: int, seed: int) -> Iterator[Numbers]:
        """How much each pair weighs in each resample: of queries where pairs have one, else of pages, or of pairs."""
        generator = np.random.default_rng(seed)
        count = len(self.weight)
        pages = int(max(self.a.max(initial=-1), self.b.max(initial=-1))) + 1
        queries = int(self.query.max(initial=-1)) + 1
        for _ in range(rounds):
            if not self.resampled:
                yield self.weight * _drawn(generator, count)
                continue
            of_page, of_query = _drawn(generator, pages), _drawn(generator, queries)
            times = np.where(self.a == self.b, of_page[self.a], of_page[self.a] * of_page[self.b])
            if queries:
                times = np.where(self.query >= 0, of_query[np.maximum(self.query, 0)], times)
            yield self.weight * times


def _drawn(generator: np.random.Generator, count: int) -> Numbers:
    """How often each of so many is drawn, in as many draws."""
    if count == 0:
        return np.empty(0)
    return np.bincount(generator.integers(0, count, count), minlength=count).astype(np.float64)


def _of_pages(a: Whole, b: Whole) -> list[_Grouping]:
    """Pairs by their pages; those with both pages in common were counted twice and are taken off once."""
    every = np.arange(len(a))
    two = np.flatnonzero(a != b)
    ends, pairs = np.concatenate([a, b[two]]), np.concatenate([every, two])
    return [
        _Grouping.of(ends[:, None], pairs, added=True),
        _Grouping.of(np.stack([a[two], b[two]], axis=1), two, added=False),
    ]


def _of_queries(a: Whole, b: Whole, query: Whole) -> list[_Grouping]:
    """Pairs by their queries, without those that have a page in common as well, which pages count already."""
    known = np.flatnonzero(query >= 0)
    if not len(known):
        return []
    two = known[a[known] != b[known]]
    ends, pairs = np.concatenate([a[known], b[two]]), np.concatenate([known, two])
    return [
        _Grouping.of(query[known][:, None], known, added=True),
        _Grouping.of(np.stack([query[pairs], ends], axis=1), pairs, added=False),
        _Grouping.of(np.stack([query[two], a[two], b[two]], axis=1), two, added=True),
    ]
