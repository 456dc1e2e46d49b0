"""A power law fitted to whole numbers as it should be (Clauset, Shalizi and Newman 2009).

Idea: P(x) = x^−α / ζ(α, xmin) from some xmin on. For each candidate xmin the exponent is that of greatest likelihood;
of all candidates the one is taken whose law is nearest to the data (Kolmogorov and Smirnov's distance). The interval of
α is that of the likelihood at that xmin. Whether a power law is plausible at all is told by a bootstrap: collections
are drawn that follow the fitted law above xmin and the data below it, each is fitted anew, and ``p_value`` is the share
of those that lie farther from their law than the data do; below about 0.1 the law is to be doubted. A line through a
log-log plot, as papers of the time drew it, answers none of this.

Parameters: at most ``CANDIDATES`` candidates for xmin, spread over the values there are; ``resamples`` and ``seed`` of
the bootstrap. Cost: O(candidates × distinct values) a fit.
"""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from neardup.record import record

CANDIDATES: Final = 40
#: A tail of fewer values says nothing of its exponent.
LEAST_TAIL: Final = 25
_LOW, _HIGH = 1.0001, 12.0
#: Terms of ζ that are summed one by one.
_STEPS: Final = np.arange(12.0)
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

    def to_json(self) -> dict[str, Any]:
        return {name: round(value, 4) if isinstance(value, float) else value for name, value in asdict(self).items()}


def fit_power_law(values: npt.ArrayLike, *, resamples: int = 100, seed: int = 0) -> PowerLaw | None:
    """The power law that fits positive whole numbers best, or None where too few are there to tell.

    >>> import numpy as np
    >>> drawn = draw(2.5, 1, 5000, np.random.default_rng(0))
    >>> law = fit_power_law(drawn, resamples=20)
    >>> law.low < 2.5 < law.high
    True
    """
    data = np.asarray(values, np.int64)
    data = data[data > 0]
    fitted = _fit(data)
    if fitted is None:
        return None
    exponent, xmin, tail, distance = fitted
    error = _standard_error(exponent, xmin, tail)
    p_value = _p_value(data, exponent, xmin, distance, resamples, seed) if resamples else None
    # The likelihood knows no exponent of 1 or less: the law would not add up.
    return PowerLaw(exponent, max(1.0, exponent - 1.96 * error), exponent + 1.96 * error, xmin, tail, distance, p_value)


def hurwitz_zeta(exponent: npt.ArrayLike, start: npt.ArrayLike) -> Numbers:
    """ζ(α, q) = Σ (q + k)^−α over k ≥ 0, for α > 1 and q ≥ 1 (Euler and Maclaurin's formula).

    >>> bool(abs(hurwitz_zeta(2.0, 1.0) - math.pi**2 / 6) < 1e-10)
    True
    """
    alpha, first = np.broadcast_arrays(np.asarray(exponent, np.float64), np.asarray(start, np.float64))
    head = ((first[..., None] + _STEPS) ** -alpha[..., None]).sum(axis=-1)
    at = first + len(_STEPS)
    power = at**-alpha
    tail = at * power / (alpha - 1) + power / 2
    term = alpha * power / at
    tail += term / 12
    term = term * (alpha + 1) * (alpha + 2) / at**2
    tail -= term / 720
    term = term * (alpha + 3) * (alpha + 4) / at**2
    tail += term / 30240
    total: Numbers = head + tail
    return total


def draw(exponent: float, xmin: int, count: int, generator: np.random.Generator) -> Whole:
    """Whole numbers that follow the law.

    >>> import numpy as np
    >>> draw(3.0, 2, 5, np.random.default_rng(1)).min() >= 2
    np.True_
    """
    # By its distribution up to a point, beyond which the law is as good as continuous.
    known = np.arange(xmin, xmin + 4096, dtype=np.float64)
    above = hurwitz_zeta(exponent, known) / hurwitz_zeta(exponent, float(xmin))
    chance = 1 - generator.random(count)  # P(X ≥ x) falls along `known`
    place = np.searchsorted(-above, -chance, side="right") - 1
    drawn = known[place]
    far = place == len(known) - 1
    if far.any():
        edge = known[-1] - 0.5
        drawn[far] = np.floor(edge * (chance[far] / above[-1]) ** (-1 / (exponent - 1)) + 0.5)
    return np.minimum(drawn, 2.0**62).astype(np.int64)


def _fit(data: Whole) -> tuple[float, int, int, float] | None:
    """Exponent, xmin, size of the tail and distance of the best fit."""
    distinct, counts = np.unique(data, return_counts=True)
    from_here = np.cumsum(counts[::-1])[::-1]
    possible = np.flatnonzero((from_here >= LEAST_TAIL) & (distinct < distinct.max(initial=0)))
    if len(possible) == 0:
        return None
    chosen = np.unique(np.linspace(0, len(possible) - 1, CANDIDATES).round().astype(int))
    # Small values are many and lie near each other: all of the first ones are tried.
    chosen = np.unique(np.concatenate([chosen, np.arange(min(10, len(possible)))]))
    starts = possible[chosen]
    logs = np.cumsum((counts * np.log(distinct))[::-1])[::-1]
    exponents = _most_likely(distinct[starts].astype(np.float64), logs[starts] / from_here[starts])
    best: tuple[float, int, int, float] | None = None
    for start, exponent in zip(starts.tolist(), exponents.tolist(), strict=True):
        law = hurwitz_zeta(exponent, distinct[start:].astype(np.float64))
        whole = law[0]
        law /= whole
        seen = from_here[start:] / from_here[start]
        # Both as P(X ≥ x), at the values and just behind them, where the steps are.
        behind = law - distinct[start:].astype(np.float64) ** -exponent / whole
        distance = max(np.abs(law - seen).max(), np.abs(behind[:-1] - seen[1:]).max(initial=0.0), float(behind[-1]))
        if best is None or distance < best[3]:
            best = exponent, int(distinct[start]), int(from_here[start]), float(distance)
    return best


def _most_likely(xmin: Numbers, mean_log: Numbers) -> Numbers:
    """For each xmin the exponent at which −d/dα ln ζ(α, xmin) is the mean logarithm of the tail."""
    low, high = np.full(len(xmin), _LOW), np.full(len(xmin), _HIGH)
    for _ in range(45):
        middle = (low + high) / 2
        step = 1e-6 * middle
        above, below = np.log(hurwitz_zeta(np.stack([middle + step, middle - step]), xmin))
        slope = (above - below) / (2 * step)
        # The expected logarithm falls as the exponent grows.
        expects_more = -slope > mean_log
        low, high = np.where(expects_more, middle, low), np.where(expects_more, high, middle)
    likeliest: Numbers = (low + high) / 2
    return likeliest


def _standard_error(exponent: float, xmin: int, tail: int) -> float:
    """By the curvature of the likelihood: 1 / √(n · (ln ζ)'')."""
    step = 1e-3 * exponent
    at = np.array([exponent - step, exponent, exponent + step])
    logs = np.log(hurwitz_zeta(np.maximum(at, _LOW), float(xmin)))
    curvature = float(logs[0] - 2 * logs[1] + logs[2]) / step**2
    return 1 / math.sqrt(max(tail * curvature, 1e-12))


def _p_value(data: Whole, exponent: float, xmin: int, distance: float, resamples: int, seed: int) -> float:
    generator = np.random.default_rng(seed)
    below = data[data < xmin]
    share = len(below) / len(data)
    farther = 0
    for _ in range(resamples):
        under = int(generator.binomial(len(data), share)) if share else 0
        made = draw(exponent, xmin, len(data) - under, generator)
        if under:
            made = np.concatenate([generator.choice(below, under), made])
        fitted = _fit(made)
        farther += fitted is not None and fitted[3] >= distance
    return farther / resamples
