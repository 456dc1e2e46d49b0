"""Shares with intervals: binomial ones exactly, and ratios of what a stratified sample of pages found.

A share of pages is Clopper and Pearson's (1934): the interval of binomial parameters under which the count is not
surprising, which covers the truth at least as often as it says. Of pairs a page has none, two or ten thousand, so the
share of pairs is a *ratio* of two sums over sampled pages, each page weighted by the pages it stands for. Its interval
is Korn and Graubard's (1998): the ratio's variance is put into words as an effective number of trials, and Clopper and
Pearson's interval is taken at that number. Heavy tails make a variance estimate too small exactly when the sample
missed what matters; so the number of trials is never taken to be more than Kish's, (Σw)² / Σw², w what each page
brings into the denominator, with the heaviest page of each stratum counted once more for the one that was not drawn. A
stratum that was looked at in full has no error and adds none. Cost: O(sample).
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
    for _ in range(60):
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


def binomial_share(hits: int, trials: int, confidence: float = CONFIDENCE) -> Share:
    """A share of independent trials with its exact interval.

    >>> str(binomial_share(8, 10))
    '80.0 % (44.4–97.5 %)'
    """
    if trials == 0:
        return NOTHING
    return Share(hits / trials, *clopper_pearson(hits, trials, confidence), trials)


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
    '80.0 % (66.1–90.1 %)'
    """
    used = [stratum for stratum in strata if len(stratum.base)]
    total = math.fsum(stratum.weight * float(stratum.base.sum()) for stratum in used)
    count = sum(int(np.count_nonzero(stratum.base)) for stratum in used)
    if total <= 0:
        return NOTHING
    ratio = min(1.0, math.fsum(stratum.weight * float(stratum.hits.sum()) for stratum in used) / total)
    variance = squares = 0.0
    for stratum in used:
        size = len(stratum.base)
        if size >= stratum.population:
            continue
        residual = stratum.hits - ratio * stratum.base
        spread = float(residual.var(ddof=1)) if size > 1 else float((residual**2).sum())
        variance += stratum.population**2 * stratum.open * spread / size
        heaviest = float(stratum.base.max(initial=0.0))
        squares += stratum.open * stratum.weight**2 * (float((stratum.base**2).sum()) + heaviest**2)
    if squares == 0:
        return Share(ratio, ratio, ratio, count)
    trials = total**2 / squares
    if 0 < ratio < 1 and variance > 0:
        trials = min(trials, ratio * (1 - ratio) * total**2 / variance)
    low, high = clopper_pearson(ratio * trials, trials, confidence)
    return Share(ratio, min(low, ratio), max(high, ratio), count)


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
