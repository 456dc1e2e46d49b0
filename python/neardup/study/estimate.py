"""The totals of a collection, estimated after some of the steps.

After a share of the steps a random part of the pages has been compared with the whole collection. A cluster of c pages
is found if one of them is in that part, which among N pages of which s are in it has the chance
π(c) = 1 − C(N − c, s) / C(N, s). Two ways from there to the totals:

- **By chance** (no other collection needed): each cluster found stands for 1/π(c) clusters of its size (Horvitz and
  Thompson 1952). Unbiased where clusters are found whole, as duplicates are. The interval has their variance, Σ (1 −
  π)/π² · y² over the clusters found, and one more unseen cluster of two pages, so that "none was missed" is never
  certain. Clusters of near-duplicates that hang together by chains are found piece by piece, and are underestimated.
- **By another collection's growth** (the paper's way): what was found is taken for the percentage that the other
  collection had found after the same share of its steps. The interval has the chance above, how far the two growth
  curves differ over the first half of what was seen, stretched to the way that is left, and the spread of several
  such collections.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from neardup.study.clustering import Sizes

#: Of a 95 % interval.
_Z: Final = 1.959964
Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A total, and where it is with 95 % confidence. Never below what was found already."""

    found: int
    estimate: float
    low: float
    high: float

    def to_json(self) -> dict[str, Any]:
        return {
            "found": self.found,
            "estimate": round(self.estimate, 1),
            "low": round(self.low, 1),
            "high": round(self.high, 1),
        }


def chance_found(sizes: Sizes, pages: int, compared: int) -> Numbers:
    """π(c): the chance that a cluster of c of the ``pages`` has one among the ``compared``.

    >>> chance_found(np.array([1, 2, 10]), 10, 5).round(3).tolist()
    [0.5, 0.778, 1.0]
    """
    largest = int(sizes.max(initial=1))
    place = np.arange(largest, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        missed = np.cumsum(np.log(np.maximum(pages - compared - place, 0.0)) - np.log(np.maximum(pages - place, 1.0)))
    chance: Numbers = -np.expm1(missed)[sizes - 1]
    return chance


def by_chance(sizes: Sizes, pages: int, compared: int) -> tuple[Estimate, Estimate]:
    """The duplicates and the clusters of all ``pages``, from the sizes of the clusters found.

    >>> duplicates, clusters = by_chance(np.array([2] * 30 + [40]), 1000, 200)
    >>> round(duplicates.estimate), round(clusters.estimate)
    (122, 84)
    """
    chance = chance_found(sizes, pages, compared)
    unseen = chance_found(np.array([2]), pages, compared)[0]
    told = []
    for weight in (sizes - 1, np.ones(len(sizes))):
        estimate = float((weight / chance).sum())
        variance = float((weight**2 * (1 - chance) / chance**2).sum()) + (1 - unseen) / unseen**2
        told.append(_bounded(int(weight.sum()), estimate, estimate, _Z * math.sqrt(variance), pages))
    return told[0], told[1]


def _bounded(found: int, estimate: float, middle: float, half: float, pages: int) -> Estimate:
    return Estimate(
        found=found,
        estimate=min(max(estimate, found), pages),
        low=min(max(middle - half, found), pages),
        high=min(max(middle + half, found), pages),
    )


@dataclass(frozen=True, slots=True)
class Growth:
    """How a collection's number of clusters or duplicates grew: after each share of its steps, how many."""

    shares: Sequence[float]
    values: Sequence[float]

    def percentage(self, share: float) -> float:
        """What part of the total was found after a share of the steps.

        >>> Growth([0.5, 1.0], [80, 100]).percentage(0.25)
        0.4
        """
        total = self.values[-1]
        grown = float(np.interp(share, [0.0, *self.shares], [0.0, *self.values]))
        return grown / total if total else 1.0


def by_growth(own: Growth, like: Sequence[Growth], sizes: Sizes, pages: int, compared: int, what: str) -> Estimate:
    """A total by the growth of other collections; ``what`` is ``duplicates`` or ``clusters``, the sizes those of the
    clusters found.

    >>> other = Growth([0.2, 0.4, 1.0], [50, 70, 100])
    >>> by_growth(Growth([0.2], [10]), [other], np.array([11]), 1000, 200, "duplicates").estimate
    20.0
    """
    share, found = own.shares[-1], own.values[-1]
    percentages = np.array([max(other.percentage(share), 1e-9) for other in like])
    percentage = float(np.exp(np.log(percentages).mean()))
    chance = chance_found(sizes, pages, compared)
    weight = sizes - 1 if what == "duplicates" else np.ones(len(sizes))
    variance = float((weight**2 * (1 - chance)).sum()) / max(found, 1) ** 2
    if len(like) > 1:
        variance += float(np.log(percentages).var(ddof=1))
    variance += max(_mismatch(own, other, share) for other in like) ** 2
    estimate = found / percentage
    spread = math.exp(_Z * math.sqrt(variance))
    low, high = estimate / spread, estimate * spread
    return _bounded(int(found), estimate, (low + high) / 2, (high - low) / 2, pages)


def _mismatch(own: Growth, other: Growth, share: float) -> float:
    """How far the two curves differ over the last half of what was seen, stretched to what is left; as a logarithm."""
    if len(own.shares) < 2:
        return 0.0
    half = share / 2
    seen = np.interp(half, [0.0, *own.shares], [0.0, *own.values]) / max(own.values[-1], 1)
    expected = other.percentage(half) / max(other.percentage(share), 1e-9)
    if seen <= 0 or expected <= 0:
        return 0.0
    way = abs(math.log(expected))
    left = abs(math.log(max(other.percentage(share), 1e-9)))
    return abs(math.log(float(seen) / expected)) * max(1.0, left / way if way > 0 else 1.0)
