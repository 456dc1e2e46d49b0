"""Intervals of judged pairs against exhaustive enumeration: of every possible sample, and what it would have said."""

from __future__ import annotations

from itertools import combinations, product
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from neardup.evaluation.judged import Judged
from neardup.evaluation.measures import quality
from neardup.evaluation.pair_shares import EXACT, PAGES, QUERIES, WEIGHTED, PairUnits

SHARES = np.linspace(0.02, 0.98, 25)


def independent(count: int, weights: list[float] | None = None) -> Judged:
    names = [f"{side}{at}" for side in "ab" for at in range(count)]
    values = None if weights is None else np.array(weights, np.float64)
    return Judged(names[:count], names[count:], np.zeros(count, np.int8), weights=values)


def said(units: PairUnits, hits: np.ndarray, base: np.ndarray | None = None) -> tuple[float, float]:
    share = units.share(hits, np.ones(len(hits), bool) if base is None else base)
    assert share.low is not None
    assert share.high is not None
    assert share.estimate is not None
    assert share.low <= share.estimate <= share.high
    return share.low, share.high


@pytest.mark.parametrize("count", [1, 2, 3, 7, 12])
def test_independent_pairs_have_clopper_and_pearsons_interval(count: int) -> None:
    units = PairUnits.of(independent(count))
    assert units.how == EXACT
    for hits in range(count + 1):
        expected = stats.binomtest(hits, count).proportion_ci(0.95, "exact")
        assert said(units, np.arange(count) < hits) == pytest.approx((expected.low, expected.high), abs=1e-8)


def test_pairs_of_one_weight_are_a_simple_random_sample() -> None:
    assert PairUnits.of(independent(5, [7.5] * 5)).how == EXACT
    few = np.arange(5) < 3
    assert said(PairUnits.of(independent(5, [7.5] * 5)), few) == pytest.approx(said(PairUnits.of(independent(5)), few))


@pytest.mark.parametrize("count", [1, 4, 9])
def test_f_of_independent_pairs_covers_the_truth_whatever_it_is(count: int) -> None:
    """Every way in which the pairs can fall into hits, false ones, missed ones and others, and its probability."""
    pairs = independent(count)
    told = {}
    for counts in product(range(count + 1), repeat=3):
        hits, false, _ = counts
        if sum(counts) <= count:
            accepted = np.arange(count) < hits + false
            pairs.label[:] = 1
            pairs.label[:hits] = 0
            pairs.label[hits + false : sum(counts)] = 0
            told[counts] = quality(pairs, accepted.astype(float), accepted, resamples=0)
    for truth in product((0.02, 0.2, 0.5, 0.8), repeat=3):
        if sum(truth) > 1:
            continue
        of_hits, of_false, of_missed = truth
        true = {"f": 2 * of_hits / (2 * of_hits + of_false + of_missed), "precision": of_hits / (of_hits + of_false)}
        true["recall"] = of_hits / (of_hits + of_missed)
        for name, value in true.items():
            covered = possible = 0.0
            for counts, one in told.items():
                chance = stats.multinomial.pmf([*counts, count - sum(counts)], count, [*truth, max(0, 1 - sum(truth))])
                if one[name]["estimate"] is not None:
                    possible += chance
                    covered += chance * (one[name]["low"] - 1e-4 <= value <= one[name]["high"] + 1e-4)
            assert covered >= 0.95 * possible, (name, truth, covered / possible)


@given(st.lists(st.tuples(st.booleans(), st.sampled_from([0, 1, 2])), min_size=1, max_size=60), st.booleans())
def test_f_is_not_beside_its_parts(pairs: list[tuple[bool, int]], shared: bool) -> None:
    judged = independent(len(pairs))
    if shared:
        judged.a[:] = [f"p{at % 4}" for at in range(len(pairs))]
    judged.label[:] = [label for _, label in pairs]
    accepted = np.array([one for one, _ in pairs])
    told = quality(judged, accepted.astype(float), accepted, resamples=30)
    f, parts = told["f"], [told["precision"], told["recall"]]
    if f["estimate"] is not None and all(part["estimate"] is not None for part in parts):
        assert f["low"] <= max(part["low"] for part in parts) + 1e-4
        assert f["high"] >= min(part["high"] for part in parts) - 1e-4
        assert f["low"] <= f["estimate"] <= f["high"]


@pytest.mark.parametrize(
    "strata", [[(12, 3), (6, 4)], [(40, 4), (8, 4)], [(100, 5), (10, 5)], [(9, 2), (9, 3), (9, 4)]]
)
def test_a_stratified_sample_covers_the_truth_whatever_it_is(strata: list[tuple[int, int]]) -> None:
    """Of every population, every sample: the share of those whose interval has the share of the population in it."""
    weights = [population / drawn for population, drawn in strata for _ in range(drawn)]
    units = PairUnits.of(independent(len(weights), weights))
    assert units.how == WEIGHTED
    starts = np.cumsum([0, *(drawn for _, drawn in strata)])
    intervals = {}
    for hits in product(*(range(drawn + 1) for _, drawn in strata)):
        flags = np.zeros(len(weights), bool)
        for start, count in zip(starts, hits, strict=False):
            flags[start : start + count] = True
        intervals[hits] = said(units, flags)
    worst = 1.0
    total = sum(population for population, _ in strata)
    for right in product(*(range(0, population + 1, max(1, population // 12)) for population, _ in strata)):
        covered = 0.0
        for hits, (low, high) in intervals.items():
            chance = 1.0
            for (population, drawn), good, count in zip(strata, right, hits, strict=True):
                chance *= comb(good, count) * comb(population - good, drawn - count) / comb(population, drawn)
            covered += chance * (low - 1e-12 <= sum(right) / total <= high + 1e-12)
        worst = min(worst, covered)
    assert worst >= 0.95


def test_pairs_that_share_pages_completely_are_worth_one() -> None:
    """Stars of pairs around a page, or pairs of one query, all of them right or all wrong."""
    stars = Judged([f"{at // 6}" for at in range(36)], [f"{at // 6}.{at}" for at in range(36)], np.zeros(36, np.int8))
    pairs = [(f"{group}.{a}", f"{group}.{b}") for group in range(6) for a, b in combinations(range(4), 2)]
    named = Judged(*map(list, zip(*pairs, strict=True)), np.zeros(36, np.int8), query=[a[0] for a, _ in pairs])
    outcomes = list(product((False, True), repeat=6))
    for judged, how in ((stars, PAGES), (named, QUERIES)):
        chosen = PairUnits.of(judged)
        assert chosen.how == how
        intervals = [said(chosen, np.repeat(outcome, 6)) for outcome in outcomes]
        for share in SHARES:
            chances = [share ** sum(o) * (1 - share) ** (6 - sum(o)) for o in outcomes]
            covered = sum(c for c, (low, high) in zip(chances, intervals, strict=True) if low <= share <= high)
            assert covered >= 0.95, (chosen.how, share)


@pytest.mark.parametrize("count", [5, 9])
def test_all_pairs_of_some_pages_cover_what_pages_decide(count: int) -> None:
    """A pair is right if both pages are good, which is drawn page by page: all outcomes, and what was said of each."""
    pairs = list(combinations(range(count), 2))
    judged = Judged([str(a) for a, _ in pairs], [str(b) for _, b in pairs], np.zeros(len(pairs), np.int8))
    units = PairUnits.of(judged)
    outcomes = list(product((False, True), repeat=count))
    intervals = [said(units, np.array([o[a] and o[b] for a, b in pairs])) for o in outcomes]
    for share in SHARES:
        chances = [share ** sum(o) * (1 - share) ** (count - sum(o)) for o in outcomes]
        covered = sum(c for c, (low, high) in zip(chances, intervals, strict=True) if low <= share**2 <= high)
        assert covered >= 0.95, share


@given(
    st.lists(
        st.tuples(st.integers(0, 5), st.integers(0, 5), st.sampled_from([None, "q", "r"]), st.booleans()),
        min_size=1, max_size=25,
    )
)  # fmt: skip
def test_what_pairs_have_in_common_is_counted_once(pairs: list[tuple[int, int, str | None, bool]]) -> None:
    judged = Judged(
        [str(a) for a, *_ in pairs], [str(b) for _, b, *_ in pairs], np.zeros(len(pairs), np.int8),
        query=[query for *_, query, _ in pairs],
    )  # fmt: skip
    units = PairUnits.of(judged)
    values = np.array([float(flag) for *_, flag in pairs])
    expected = sum(
        values[i] * values[j]
        for i, (a, b, query, _) in enumerate(pairs)
        for j, (c, d, other, _) in enumerate(pairs)
        if i == j or {a, b} & {c, d} or (query is not None and query == other)
    )
    assert units._sum(values).variance == pytest.approx(expected)


def test_a_resample_without_an_accepted_pair_counts() -> None:
    """One page in 30 is in the only accepted pairs: more than a third of the resamples do not have it."""
    names = [f"p{at}" for at in range(30)]
    judged = Judged(["p0", "p0", *names[3:]], ["p1", "p2", *names[4:], "p3"], np.array([0, 0] + [1] * 27, np.int8))
    accepted = np.arange(29) < 2
    told = quality(judged, accepted.astype(float), accepted, resamples=200)
    assert told["intervals"] == PAGES
    assert (told["precision"]["low"], told["precision"]["high"]) == (0.0, 1.0)
    assert told["precision"]["estimate"] == 1.0


def test_nothing_right_and_nothing_accepted_leave_room() -> None:
    judged = independent(38)
    nothing = quality(judged, np.zeros(38), np.zeros(38, bool), resamples=50)
    assert nothing["precision"] == {"estimate": None, "low": None, "high": None}
    assert nothing["recall"]["estimate"] == 0
    assert nothing["recall"]["high"] == pytest.approx(1 - 0.025 ** (1 / 38), abs=1e-4)
    one = quality(judged, np.eye(38)[0], np.eye(38)[0] > 0, resamples=50)
    assert (one["precision"]["low"], one["precision"]["high"]) == (pytest.approx(0.025), 1.0)
    judged.label[19:] = 1
    ties = quality(judged, np.zeros(38), np.zeros(38, bool), resamples=50)["auc"]
    assert ties["low"] < 0.5 < ties["high"], "that all scores are the same says little of other pairs"
