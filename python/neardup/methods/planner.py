"""How many functions and bands: S-curves and exact tails, with the lecture's (corrected) bound beside them.

Everything is computed from binomial tails in closed form or by summation, so the planner needs no library.
"""

from __future__ import annotations

import math
from typing import Final

from neardup.errors import UsageError
from neardup.record import record


def binomial_tail(trials: int, probability: float, least: int) -> float:
    """P(at least ``least`` successes).

    >>> round(binomial_tail(6, 0.9**14, 2), 2)  # Alg. B at Jaccard 0.9
    0.42
    """
    if least <= 0:
        return 1.0
    if least > trials or probability <= 0:
        return 0.0
    if probability >= 1:
        return 1.0

    def chance(successes: int) -> float:
        ways = math.lgamma(trials + 1) - math.lgamma(successes + 1) - math.lgamma(trials - successes + 1)
        return math.exp(ways + successes * math.log(probability) + (trials - successes) * math.log1p(-probability))

    # Of the two tails the shorter is summed.
    if least > trials // 2:
        return min(1.0, math.fsum(chance(successes) for successes in range(least, trials + 1)))
    return max(0.0, 1.0 - math.fsum(chance(successes) for successes in range(least)))


def supershingle_probability(jaccard: float, *, m: int = 84, groups: int = 6, least: int = 2) -> float:
    """P(Alg. B accepts | Jaccard).

    >>> [round(supershingle_probability(j), 3) for j in (0.8, 0.9, 0.95)]
    [0.026, 0.415, 0.879]
    """
    return binomial_tail(groups, jaccard ** (m // groups), least)


def band_probability(jaccard: float, bands: int, rows: int) -> float:
    """P(a pair shares at least one band | Jaccard): 1 − (1 − J^rows)^bands.

    >>> round(band_probability(0.8, 16, 8), 3)
    0.947
    """
    return -math.expm1(bands * math.log1p(-(jaccard**rows))) if jaccard < 1 else 1.0


def underestimate_probability(functions: int, jaccard: float, delta: float = 0.1) -> float:
    """P(the share of equal min-values is below (1 − delta)·J), exactly.

    >>> underestimate_probability(154, 0.8) <= 0.01 < underestimate_probability(153, 0.8)
    True
    """
    # Strictly below: an estimate of exactly (1 − delta)·J is not an underestimate; rounding must not decide that.
    least = math.ceil((1 - delta) * jaccard * functions - 1e-9)
    return 1.0 - binomial_tail(functions, jaccard, least)


def chernoff_bound(functions: int, jaccard: float, delta: float = 0.1) -> float:
    """The lecture's bound on the same, corrected: exp(−k·J·δ²/2).

    >>> chernoff_bound(921, 1.0) < 0.0101
    True
    """
    return math.exp(-functions * jaccard * delta * delta / 2)


def functions_needed(jaccard: float, error: float = 0.01, delta: float = 0.1) -> int:
    """The smallest number of functions from which on P(underestimate) stays at most ``error``.

    >>> [functions_needed(j) for j in (0.5, 0.8, 0.9)]
    [550, 154, 74]
    """
    most = functions_by_chernoff(jaccard, error, delta)
    needed = most
    # The exact tail falls in saw teeth, so look from above for the last count that fails.
    for functions in range(most, 0, -1):
        if underestimate_probability(functions, jaccard, delta) > error:
            break
        needed = functions
    return needed


def functions_by_chernoff(jaccard: float, error: float = 0.01, delta: float = 0.1) -> int:
    """What the bound would ask for.

    >>> functions_by_chernoff(1.0)
    922
    """
    return math.ceil(2 * math.log(1 / error) / (delta * delta * jaccard))


#: A page is taken to have so many others below the threshold, evenly over all similarities, and so many that share next
#: to nothing with it. To reject a candidate at a glance takes about as long as one min-value of a page.
_IN_VAIN: Final = 500
_UNLIKE: Final = 10_000
_LITTLE: Final = 0.05


@record(frozen=True, slots=True)
class BandLayout:
    """Bands and rows for a threshold.

    >>> chosen = plan_bands(0.8, 0.99)
    >>> chosen.recall >= 0.99, chosen.functions == chosen.bands * chosen.rows
    (True, True)
    """

    threshold: float
    bands: int
    rows: int

    @property
    def functions(self) -> int:
        return self.bands * self.rows

    @property
    def recall(self) -> float:
        """P(found) at the threshold; more above it."""
        return band_probability(self.threshold, self.bands, self.rows)

    def curve(self, points: int = 101) -> list[tuple[float, float]]:
        """The S-curve: (Jaccard, P(found))."""
        steps = [step / (points - 1) for step in range(points)]
        return [(jaccard, band_probability(jaccard, self.bands, self.rows)) for jaccard in steps]

    @property
    def wasted(self) -> float:
        """The area under the S-curve below the threshold: how readily pairs become candidates in vain."""
        steps = 1000
        width = self.threshold / steps
        middles = ((step + 0.5) * width for step in range(steps))
        return math.fsum(band_probability(j, self.bands, self.rows) for j in middles) * width


def plan_bands(threshold: float, recall: float = 0.99, *, functions: int = 256) -> BandLayout:
    """The bands and rows that find a pair at ``threshold`` with probability ``recall``.

    Of the layouts with at most ``functions`` functions it takes the one whose cost is least: a min-value costs one
    unit, and candidates in vain cost in proportion to how many there are to be expected.

    >>> chosen = plan_bands(0.8, 0.99)
    >>> (chosen.bands, chosen.rows, chosen.functions)
    (9, 4, 36)
    """
    if not 0 < threshold <= 1 or not 0 < recall < 1:
        raise UsageError(
            "threshold and recall must lie between 0 and 1", hint="for example --threshold 0.8 --recall 0.99"
        )
    if threshold == 1:
        return BandLayout(threshold, bands=1, rows=4)
    best: tuple[float, BandLayout] | None = None
    for rows in range(1, functions + 1):
        misses = math.log1p(-(threshold**rows))
        bands = max(1, math.ceil(math.log1p(-recall) / misses - 1e-12)) if misses < 0 else functions + 1
        if bands * rows > functions:
            break
        candidate = BandLayout(threshold, bands, rows)
        cost = bands * rows + _UNLIKE * band_probability(_LITTLE, bands, rows)
        # The area is dear to compute: only where the rest does not decide.
        if best is None or cost < best[0]:
            cost += _IN_VAIN * candidate.wasted
            if best is None or cost < best[0]:
                best = cost, candidate
    if best is None:
        raise UsageError(
            f"no layout of at most {functions} functions reaches recall {recall} at {threshold}",
            hint="ask for less recall, a higher threshold, or allow more functions",
        )
    return best[1]
