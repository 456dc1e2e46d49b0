"""Intervals: against scipy, and that they cover the truth as often as they say."""

from __future__ import annotations

from itertools import product
from math import comb

import numpy as np
import pytest
from scipy import special, stats

from neardup.evaluation.intervals import NOTHING, Stratum, beta_quantile, clopper_pearson, incomplete_beta, ratio_share


@pytest.mark.parametrize(("a", "b"), [(0.5, 0.5), (1, 1), (2, 30), (400.5, 3.25), (5000, 7000), (1e-3, 5)])
def test_the_beta_distribution_is_scipys(a: float, b: float) -> None:
    for x in (0.001, 0.2, 0.5, 0.9, 0.9999):
        assert incomplete_beta(x, a, b) == pytest.approx(special.betainc(a, b, x), abs=1e-10)
    for probability in (0.025, 0.5, 0.975):
        assert beta_quantile(probability, a, b) == pytest.approx(stats.beta.ppf(probability, a, b), abs=1e-9)


@pytest.mark.parametrize(("hits", "trials"), [(0, 7), (7, 7), (3, 10), (998, 1000)])
def test_binomial_intervals_are_scipys(hits: int, trials: int) -> None:
    expected = stats.binomtest(hits, trials).proportion_ci(0.95, "exact")
    assert clopper_pearson(hits, trials) == pytest.approx((expected.low, expected.high), abs=1e-8)


def test_a_stratum_looked_at_in_full_has_no_error() -> None:
    hits, base = np.array([1.0, 0, 5]), np.array([2.0, 3, 5])
    share = ratio_share([Stratum(3, hits, base)])
    assert (share.estimate, share.low, share.high) == (0.6, 0.6, 0.6)


def test_nothing_is_said_of_nothing() -> None:
    assert ratio_share([]) == NOTHING
    assert ratio_share([Stratum(10, np.zeros(2), np.zeros(2))]) == NOTHING


def test_no_hit_at_all_still_leaves_room() -> None:
    share = ratio_share([Stratum(10_000, np.zeros(100), np.ones(100))])
    assert share.low == 0
    assert share.high is not None
    assert 0.03 < share.high < 0.05, "about 3.7 of 100"


def test_a_page_that_outweighs_all_others_makes_the_interval_wide() -> None:
    base = np.ones(200)
    base[7] = 5000
    share = ratio_share([Stratum(100_000, base, base)])
    assert share.low is not None
    assert share.low < 0.5, "one page holds nearly all pairs: the sample is as good as one"


@pytest.mark.parametrize("strata", [[(12, 3), (6, 4)], [(40, 4), (8, 4)], [(9, 2), (9, 3), (9, 4)], [(20, 15)]])
def test_samples_of_strata_cover_the_truth_whatever_it_is(strata: list[tuple[int, int]]) -> None:
    """Every sample of every population, drawn without replacement: how often its interval has the truth in it."""
    intervals = {}
    for hits in product(*(range(drawn + 1) for _, drawn in strata)):
        looked = [
            Stratum(population, (np.arange(drawn) < count).astype(float), np.ones(drawn))
            for (population, drawn), count in zip(strata, hits, strict=True)
        ]
        share = ratio_share(looked)
        assert share.low is not None
        assert share.high is not None
        intervals[hits] = share.low, share.high
    total = sum(population for population, _ in strata)
    for right in product(*(range(0, population + 1, max(1, population // 12)) for population, _ in strata)):
        covered = 0.0
        for hits, (low, high) in intervals.items():
            chance = 1.0
            for (population, drawn), good, count in zip(strata, right, hits, strict=True):
                chance *= comb(good, count) * comb(population - good, drawn - count) / comb(population, drawn)
            covered += chance * (low - 1e-12 <= sum(right) / total <= high + 1e-12)
        assert covered >= 0.95, right
