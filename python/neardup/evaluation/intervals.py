"""Shares with intervals: binomial ones exactly, and ratios of what a stratified sample of pages found.

A share of pages is Clopper and Pearson's (1934): the interval of binomial parameters under which the count is not
surprising, which covers the truth at least as often as it says. Of pairs a page has none, two or ten thousand, so the
share of pairs is a *ratio* of two sums over sampled pages, each page weighted by the pages it stands for; and what
matters (a page whose many partners were all missed) may be in few draws or in none.

Hits and misses are therefore taken for two weighted sums of Poisson counts, each a gamma variable with as many
effective counts as its weights allow, (Σw)² / Σw², and on the side that could be worse one more count of the heaviest
weight is added for the page that was not drawn (Fay and Feuer 1997, for standardised rates). The share of two gamma
variables is a beta variable. With equal weights this is Clopper and Pearson's interval. A stratum that was looked at in
full has no error and adds none. Cost: O(sample).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

CONFIDENCE: Final = 0.95
Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Share:
    """A share with its interval; all None where there was nothing to take a share of.

    >>> str(Share(0.98, 0.93, 0.9976, 100))
    '98.0 % (93.0–99.8 %)'
    """

    estimate: float | None
    low: float | None
    high: float | None
    #: How many (sampled pages, or pairs) it rests on.
    count: int

    def __str__(self) -> str:
        if self.estimate is None or self.low is None or self.high is None:
            return "–"
        return f"{100 * self.estimate:.1f} % ({100 * self.low:.1f}–{100 * self.high:.1f} %)"

    def to_json(self) -> dict[str, float | int | None]:
        """As ``run.json`` tells it."""
        rounded = [None if value is None else round(value, 6) for value in (self.estimate, self.low, self.high)]
        return {"estimate": rounded[0], "low": rounded[1], "high": rounded[2], "count": self.count}


NOTHING: Final = Share(None, None, None, 0)


def incomplete_beta(x: float, a: float, b: float) -> float:
    """The regularised incomplete beta function, by its continued fraction (Lentz's method).

    >>> round(incomplete_beta(0.5, 2, 3), 6)
    0.6875
    """
    if x <= 0 or x >= 1:
        return float(x >= 1)
    front = math.exp(
        math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    )  # fmt: skip
    # The fraction converges fast on one side of the mean; the other side is its mirror image.
    if x < (a + 1) / (a + b + 2):
        return front * _fraction(x, a, b) / a
    return 1 - front * _fraction(1 - x, b, a) / b


def _fraction(x: float, a: float, b: float) -> float:
    tiny = 1e-300
    c, d = 1.0, 1 - (a + b) * x / (a + 1)
    d = 1 / (d if abs(d) > tiny else tiny)
    value = d
    # It takes about the square root of the larger parameter in steps.
    for m in range(1, 200 + int(4 * math.sqrt(max(a, b)))):
        for numerator in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 + numerator * d
            c = 1 + numerator / c
            d = 1 / (d if abs(d) > tiny else tiny)
            c = c if abs(c) > tiny else tiny
            value *= c * d
        if abs(c * d - 1) < 1e-14:
            break
    return value


def beta_quantile(probability: float, a: float, b: float) -> float:
    """Where the beta distribution has this much below it.

    >>> round(beta_quantile(0.5, 3, 3), 9)
    0.5
    """
    low, high = 0.0, 1.0
    for _ in range(48):
        middle = (low + high) / 2
        if incomplete_beta(middle, a, b) < probability:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def clopper_pearson(hits: float, trials: float, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """The exact interval of a binomial share; counts need not be whole.

    >>> [round(bound, 4) for bound in clopper_pearson(0, 10)], [round(bound, 4) for bound in clopper_pearson(8, 10)]
    ([0.0, 0.3085], [0.4439, 0.9748])
    """
    tail = (1 - confidence) / 2
    if trials <= 0:
        return 0.0, 1.0
    low = beta_quantile(tail, hits, trials - hits + 1) if hits > 0 else 0.0
    high = beta_quantile(1 - tail, hits + 1, trials - hits) if hits < trials else 1.0
    return low, high


@dataclass(frozen=True, slots=True)
class Stratum:
    """What the sampled pages of one stratum found: of ``base`` things a page, ``hits`` are as asked.

    The sample is drawn at random without replacement from ``population`` pages.
    """

    population: int
    hits: Numbers
    base: Numbers

    @property
    def weight(self) -> float:
        """How many pages each sampled one stands for."""
        return self.population / len(self.base)

    @property
    def open(self) -> float:
        """The share of the stratum that was not looked at."""
        return 1 - len(self.base) / self.population


def ratio_share(strata: Sequence[Stratum], confidence: float = CONFIDENCE) -> Share:
    """Σ hits / Σ base over the whole population, from a stratified sample, with its interval.

    >>> import numpy as np
    >>> ones = np.ones(50)
    >>> str(ratio_share([Stratum(50, ones * (np.arange(50) < 40), ones)]))  # all of them were looked at
    '80.0 % (80.0–80.0 %)'
    >>> str(ratio_share([Stratum(10**9, ones * (np.arange(50) < 40), ones)]))
    '80.0 % (66.3–90.0 %)'
    """
    used = [stratum for stratum in strata if len(stratum.base)]
    hits = _sum_of([(stratum, stratum.hits) for stratum in used])
    misses = _sum_of([(stratum, stratum.base - stratum.hits) for stratum in used])
    count = sum(int(np.count_nonzero(stratum.base)) for stratum in used)
    if hits.value + misses.value <= 0:
        return NOTHING
    # The page that was not drawn: as many things as any page that was, from the stratum where a page stands for most.
    most = max(float(stratum.base.max()) for stratum in used)
    heaviest = most * max(math.sqrt(max(stratum.open, 0.0)) * stratum.weight for stratum in used)
    return share_of_sums(hits, misses, heaviest, count, confidence)


def share_of_sums(
    hits: WeightedSum, misses: WeightedSum, heaviest: float, count: int, confidence: float = CONFIDENCE
) -> Share:
    """hits / (hits + misses), with one more count of the heaviest weight on the side that could be worse.

    >>> str(share_of_sums(WeightedSum(8, 8), WeightedSum(2, 2), 1, 10))  # ten draws: Clopper and Pearson's
    '80.0 % (44.4–97.5 %)'
    """
    ratio = min(1.0, hits.value / (hits.value + misses.value))
    if heaviest == 0:
        return Share(ratio, ratio, ratio, count)
    tail = (1 - confidence) / 2
    low = _bound(tail, hits, misses.with_one_more(heaviest))
    high = _bound(1 - tail, hits.with_one_more(heaviest), misses)
    return Share(ratio, min(low, ratio), max(high, ratio), count)


@dataclass(frozen=True, slots=True)
class WeightedSum:
    """An estimated sum and its variance, each draw taken for a Poisson count."""

    value: float
    variance: float

    def with_one_more(self, weight: float) -> WeightedSum:
        return WeightedSum(self.value + weight, self.variance + weight**2)

    @property
    def counts(self) -> float:
        """Effective counts; a sum without error has very many."""
        return min(self.value**2 / self.variance, _MANY) if self.variance > 0 else _MANY


def _sum_of(parts: Sequence[tuple[Stratum, Numbers]]) -> WeightedSum:
    return WeightedSum(
        math.fsum(stratum.weight * float(values.sum()) for stratum, values in parts),
        math.fsum(stratum.open * stratum.weight**2 * float((values**2).sum()) for stratum, values in parts),
    )


#: Effective counts beyond which more make no difference that is told.
_MANY: Final = 1e6


def _bound(probability: float, hits: WeightedSum, misses: WeightedSum) -> float:
    """A quantile of hits / (hits + misses)."""
    if hits.value <= 0 or misses.value <= 0:
        return float(misses.value <= 0)
    share = beta_quantile(probability, hits.counts, misses.counts)
    if share <= 0 or share >= 1:
        return share
    # Effective counts of the two may differ in what one of them is worth.
    odds = share / (1 - share) * (hits.value / hits.counts) / (misses.value / misses.counts)
    return odds / (1 + odds)


def weighted_mean(strata: Sequence[Stratum]) -> float | None:
    """Σ hits / Σ base over the whole population, without an interval.

    >>> import numpy as np
    >>> weighted_mean([Stratum(10, np.array([1.0, 0.0]), np.ones(2)), Stratum(30, np.ones(2), np.ones(2))])
    0.875
    """
    used = [stratum for stratum in strata if len(stratum.base)]
    total = math.fsum(stratum.weight * float(stratum.base.sum()) for stratum in used)
    if total <= 0:
        return None
    return math.fsum(stratum.weight * float(stratum.hits.sum()) for stratum in used) / total
