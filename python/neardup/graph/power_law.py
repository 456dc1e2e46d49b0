"""A power law fitted to whole numbers as it should be (Clauset, Shalizi and Newman 2009).

Idea: P(x) = x^−α / ζ(α, xmin) from some xmin on. For each candidate xmin the exponent is that of greatest likelihood;
of all candidates the one is taken whose law is nearest to the data (Kolmogorov and Smirnov's distance). The interval of
α is that of the likelihood at that xmin. Whether a power law is plausible at all is told by a bootstrap: collections
are drawn that follow the fitted law above xmin and the data below it, each is fitted anew, and ``p_value`` is the share
of those that lie farther from their law than the data do; below ``PLAUSIBLE`` this is no power law, and nothing else
should be said of it. A line through a log-log plot, as papers of the time drew it, answers none of this.

Parameters: at most ``CANDIDATES`` candidates for xmin, spread over the values there are, or one xmin that the caller
fixes; ``resamples`` and ``seed`` of the bootstrap. The exponent has no upper bound: where nearly all values are the
smallest it is large, and the sums are scaled by xmin^α so that they neither vanish nor overflow. Cost:
O(candidates × distinct values) a fit.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from neardup.errors import UsageError
from neardup.record import record

CANDIDATES: Final = 40
#: A tail of fewer values says nothing of its exponent.
LEAST_TAIL: Final = 25
#: Below this p-value the values follow no power law.
PLAUSIBLE: Final = 0.1
#: The likelihood knows no exponent of 1 or less: the law would not add up.
_LOW: Final = 1.0001
#: Where the search for the exponent begins; it doubles this until the optimum is below.
_HIGH: Final = 12.0
#: Terms of ζ behind the first that are summed one by one.
_STEPS: Final = np.arange(1.0, 12.0)
Numbers = npt.NDArray[np.float64]
Whole = npt.NDArray[np.int64]


@record(frozen=True, slots=True)
class PowerLaw:
    """The law from ``xmin`` on: P(x) ∝ x^−exponent."""

    exponent: float
    #: 95 % interval of the exponent, given xmin.
    low: float
    high: float
    xmin: int
    #: How many values are xmin or more.
    tail: int
    #: The largest difference between the distribution of the tail and the law's.
    distance: float
    #: Share of collections that follow the law and lie farther from it; None where it was not asked for.
    p_value: float | None

    @property
    def plausible(self) -> bool | None:
        """Whether the values may follow a power law; None where that was not tested.

        >>> PowerLaw(14.8, 13.1, 16.4, 3, 847, 0.03, 0.0).plausible
        False
        """
        return None if self.p_value is None else self.p_value >= PLAUSIBLE

    def expected(self, values: npt.ArrayLike) -> Numbers:
        """How many of the values in the tail the law expects at each of these.

        >>> PowerLaw(2.0, 1.9, 2.1, 1, 1000, 0.01, None).expected([1, 10]).round(2).tolist()
        [607.93, 6.08]
        """
        ratio = np.asarray(values, np.float64) / self.xmin
        at_each: Numbers = self.tail * ratio**-self.exponent / (1 + _beyond_first(self.exponent, float(self.xmin)))
        return at_each

    def to_json(self) -> dict[str, Any]:
        numbers = {name: round(value, 4) if isinstance(value, float) else value for name, value in asdict(self).items()}
        return numbers | {"plausible": self.plausible}

    @staticmethod
    def of_json(told: Mapping[str, Any]) -> PowerLaw:
        """As ``to_json`` wrote it."""
        return PowerLaw(**{name: value for name, value in told.items() if name != "plausible"})


def fit_power_law(
    values: npt.ArrayLike, *, xmin: int | None = None, resamples: int = 100, seed: int = 0
) -> PowerLaw | None:
    """The power law that fits positive whole numbers best, or None where too few are there to tell; from ``xmin`` on
    where it is fixed.

    >>> import numpy as np
    >>> drawn = draw(2.5, 1, 5000, np.random.default_rng(0))
    >>> law = fit_power_law(drawn, resamples=20)
    >>> law.low < 2.5 < law.high
    True
    >>> fit_power_law(drawn, xmin=3, resamples=0).xmin
    3
    """
    if xmin is not None and xmin < 1:
        raise UsageError("xmin must be at least 1")
    data = np.asarray(values, np.int64)
    data = data[data > 0]
    best = _fit(data, xmin)
    if best is None:
        return None
    exponent, start, tail, distance = best
    error = _standard_error(exponent, start, tail)
    p_value = _p_value(data, best, xmin, resamples, seed) if resamples else None
    low, high = max(1.0, exponent - 1.96 * error), exponent + 1.96 * error
    return PowerLaw(exponent, low, high, start, tail, distance, p_value)


def hurwitz_zeta(exponent: npt.ArrayLike, start: npt.ArrayLike) -> Numbers:
    """ζ(α, q) = Σ (q + k)^−α over k ≥ 0, for α > 1 and q ≥ 1 (Euler and Maclaurin's formula).

    >>> bool(abs(hurwitz_zeta(2.0, 1.0) - math.pi**2 / 6) < 1e-10)
    True
    """
    alpha, first = np.broadcast_arrays(np.asarray(exponent, np.float64), np.asarray(start, np.float64))
    total: Numbers = first**-alpha * (1 + _beyond_first(alpha, first))
    return total


def _beyond_first(exponent: npt.ArrayLike, start: npt.ArrayLike) -> Numbers:
    """q^α · ζ(α, q) − 1 = Σ (1 + k/q)^−α over k ≥ 1: what follows the first term, in units of it."""
    alpha, first = np.broadcast_arrays(np.asarray(exponent, np.float64), np.asarray(start, np.float64))
    head = ((1 + _STEPS / first[..., None]) ** -alpha[..., None]).sum(axis=-1)
    at = first + len(_STEPS) + 1
    power = (at / first) ** -alpha
    tail = at * power / (alpha - 1) + power / 2
    term = alpha * power / at
    tail += term / 12
    term = term * (alpha + 1) * (alpha + 2) / at**2
    tail -= term / 720
    term = term * (alpha + 3) * (alpha + 4) / at**2
    tail += term / 30240
    total: Numbers = head + tail
    return total


def _log_scaled(exponent: npt.ArrayLike, start: npt.ArrayLike) -> Numbers:
    """ln (q^α · ζ(α, q)), exact also where it is next to nothing."""
    logarithm: Numbers = np.log1p(_beyond_first(exponent, start))
    return logarithm


def _survival(exponent: float, xmin: float, values: Numbers) -> Numbers:
    """P(X ≥ x) under the law."""
    ratio = (1 + _beyond_first(exponent, values)) / (1 + _beyond_first(exponent, xmin))
    share: Numbers = (values / xmin) ** -exponent * ratio
    return share


def draw(exponent: float, xmin: int, count: int, generator: np.random.Generator) -> Whole:
    """Whole numbers that follow the law.

    >>> import numpy as np
    >>> draw(3.0, 2, 5, np.random.default_rng(1)).min() >= 2
    np.True_
    """
    # By its distribution up to a point, beyond which the law is as good as continuous.
    known = np.arange(xmin, xmin + 4096, dtype=np.float64)
    above = _survival(exponent, float(xmin), known)
    chance = 1 - generator.random(count)  # P(X ≥ x) falls along `known`
    place = np.searchsorted(-above, -chance, side="right") - 1
    drawn = known[place]
    far = place == len(known) - 1
    if far.any():
        edge = known[-1] - 0.5
        drawn[far] = np.floor(edge * (chance[far] / above[-1]) ** (-1 / (exponent - 1)) + 0.5)
    return np.minimum(drawn, 2.0**62).astype(np.int64)


#: Exponent, xmin, size of the tail, and distance.
_Fit = tuple[float, int, int, float]


def _fit(data: Whole, xmin: int | None) -> _Fit | None:
    """The best fit, over all candidates for xmin or at the one that is fixed."""
    if xmin is not None:
        data = data[data >= xmin]
    distinct, counts = np.unique(data, return_counts=True)
    from_here = np.cumsum(counts[::-1])[::-1]
    possible = np.flatnonzero((from_here >= LEAST_TAIL) & (distinct < distinct.max(initial=0)))
    if len(possible) == 0:
        return None
    if xmin is None:
        places = np.unique(np.linspace(0, len(possible) - 1, CANDIDATES).round().astype(int))
        # Small values are many and lie near each other: all of the first ones are tried.
        places = np.unique(np.concatenate([places, np.arange(min(10, len(possible)))]))
        starts = possible[places]
        begins = distinct[starts]
    else:
        starts, begins = np.array([0]), np.array([xmin])
    tails = from_here[starts]
    logs = np.cumsum((counts * np.log(distinct))[::-1])[::-1]
    exponents = _most_likely(begins.astype(np.float64), logs[starts] / tails - np.log(begins))
    fits = [
        (exponent, begin, tail, _distance(exponent, begin, distinct[start:], from_here[start:] / tail))
        for exponent, begin, tail, start in zip(
            exponents.tolist(), begins.tolist(), tails.tolist(), starts.tolist(), strict=True
        )
    ]
    return min(fits, key=lambda fit: fit[3])


def _distance(exponent: float, xmin: int, values: Whole, seen: Numbers) -> float:
    """The largest difference between the law and what was ``seen``, both as P(X ≥ x), at the values and just behind
    them, where the steps are."""
    at, behind = (_survival(exponent, float(xmin), (values + more).astype(np.float64)) for more in (0, 1))
    return float(max(np.abs(at - seen).max(), np.abs(behind[:-1] - seen[1:]).max(initial=0.0), behind[-1]))


def _most_likely(xmin: Numbers, excess: Numbers) -> Numbers:
    """For each xmin the exponent at which the expected ln(x / xmin), −d/dα ln(xmin^α ζ(α, xmin)), is the tail's mean of
    it, its ``excess``. It falls from infinity to nothing as the exponent grows, so there is always one.
    """

    def expects_more(exponent: Numbers) -> npt.NDArray[np.bool_]:
        step = 1e-6 * (exponent - 1)
        more, less = _log_scaled(np.stack([exponent - step, exponent + step]), xmin)
        above: npt.NDArray[np.bool_] = (more - less) / (2 * step) > excess
        return above

    low, high = np.full(len(xmin), _LOW), np.full(len(xmin), _HIGH)
    while (below := expects_more(high)).any():
        low, high = np.where(below, high, low), np.where(below, 2 * high, high)
    for _ in range(45):
        middle = (low + high) / 2
        more = expects_more(middle)
        low, high = np.where(more, middle, low), np.where(more, high, middle)
    likeliest: Numbers = (low + high) / 2
    return likeliest


def _standard_error(exponent: float, xmin: int, tail: int) -> float:
    """By the curvature of the likelihood: 1 / √(n · (ln ζ)'')."""
    step = 1e-3 * (exponent - 1)
    logs = _log_scaled(np.array([exponent - step, exponent, exponent + step]), float(xmin))
    curvature = float(logs[0] - 2 * logs[1] + logs[2]) / step**2
    return 1 / math.sqrt(tail * curvature)


def _p_value(data: Whole, best: _Fit, fixed: int | None, resamples: int, seed: int) -> float:
    exponent, xmin, _, distance = best
    generator = np.random.default_rng(seed)
    below = data[data < xmin]
    share = len(below) / len(data)
    farther = 0
    for _ in range(resamples):
        under = int(generator.binomial(len(data), share)) if share else 0
        resample = draw(exponent, xmin, len(data) - under, generator)
        if under:
            resample = np.concatenate([generator.choice(below, under), resample])
        again = _fit(resample, fixed)
        farther += int(again is not None and again[3] >= distance)
    return farther / resamples
