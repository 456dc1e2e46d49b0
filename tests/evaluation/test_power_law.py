"""The power law: zeta against scipy, parameters found again, laws told from what is none."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pyarrow as pa
import pytest
from scipy import optimize, special

from neardup.errors import UsageError
from neardup.graph.power_law import LEAST_TAIL, PowerLaw, draw, fit_power_law, hurwitz_zeta
from neardup.graph.statistics import graph_statistics
from neardup.report.run_sections import law_words, points


@pytest.mark.parametrize("exponent", [1.05, 1.3, 2.0, 3.5, 9.0])
def test_zeta_is_scipys(exponent: float) -> None:
    starts = np.array([1.0, 2, 5, 10, 1000])
    assert hurwitz_zeta(exponent, starts) == pytest.approx(special.zeta(exponent, starts), rel=1e-9)


#: The second is what cluster sizes of three versions of each page look like: an exponent beyond 12.
LISTS = {
    "few of two sizes": [2] * 1000 + [3] * 5,
    "versions": [2] * 2826 + [3] * 844 + [10] * 3,
    "next to none beyond the first": [1] * 5000 + [2] * 2,
    "large values": [1000] * 300 + [1001] * 40 + [1002] * 3,
    "heavy": [*range(1, 60), *(10**at for at in range(2, 12))] * 3,
    "one law": draw(2.5, 1, 2000, np.random.default_rng(8)).tolist(),
    "another": draw(1.4, 3, 2000, np.random.default_rng(9)).tolist(),
}


def likelihood(exponent: float, tail: np.ndarray, xmin: int) -> float:
    """The negative logarithm, a value; ζ is scaled by xmin^α, and a plain sum where it converges soon: it vanishes."""
    if exponent > 15:
        scaled = ((xmin + np.arange(20_000)) / xmin) ** -exponent
    else:
        scaled = special.zeta(exponent, xmin) * float(xmin) ** exponent
    return float(exponent * np.log(tail / xmin).mean() + np.log(np.sum(scaled)))


def optimum(values: list[int], xmin: int) -> tuple[float, float]:
    """The exponent of greatest likelihood and its standard error, by scipy."""
    tail = np.array([value for value in values if value >= xmin], np.float64)
    exponent = optimize.minimize_scalar(
        likelihood, bounds=(1.01, 5000), args=(tail, xmin), method="bounded", options={"xatol": 1e-9, "maxiter": 2000}
    ).x
    step = 1e-3 * (exponent - 1)
    low, middle, high = (likelihood(exponent + at * step, tail, xmin) for at in (-1, 0, 1))
    return exponent, 1 / np.sqrt(len(tail) * (low - 2 * middle + high) / step**2)


def distance(values: list[int], exponent: float, xmin: int) -> float:
    """Kolmogorov and Smirnov's, over all whole numbers to one beyond the largest value (or 10,000), by scipy."""
    tail = np.sort([value for value in values if value >= xmin])
    at = np.unique(np.concatenate([tail, tail + 1, np.arange(xmin, 10_000)])).astype(np.float64)
    law = special.zeta(exponent, at) / special.zeta(exponent, xmin)
    return float(np.abs(law - (len(tail) - np.searchsorted(tail, at)) / len(tail)).max())


@pytest.mark.parametrize("name", LISTS)
def test_the_exponent_is_the_optimum_of_the_likelihood_whatever_it_is(name: str) -> None:
    values = LISTS[name]
    for xmin in (None, *sorted(set(values))[:3]):
        if xmin is not None and sum(value >= xmin for value in values) < LEAST_TAIL:
            continue
        law = fit_power_law(values, xmin=xmin, resamples=0)
        if law is None:
            continue
        exponent, error = optimum(values, law.xmin)
        assert law.exponent == pytest.approx(exponent, rel=1e-5), (name, xmin)
        assert law.high - law.low == pytest.approx(2 * 1.96 * error, rel=1e-2) or law.low == 1.0
        assert law.tail == sum(value >= law.xmin for value in values)
        if law.exponent * np.log10(max(values)) < 280:  # or scipy's zeta vanishes
            assert law.distance == pytest.approx(distance(values, law.exponent, law.xmin), abs=1e-9)


@pytest.mark.parametrize("name", ["versions", "one law", "another"])
def test_the_best_start_is_the_one_whose_law_is_nearest(name: str) -> None:
    values = LISTS[name]
    law = fit_power_law(values, resamples=0)
    assert law is not None
    distinct = sorted(set(values))
    for xmin in distinct[:10]:
        if xmin < distinct[-1] and sum(value >= xmin for value in values) >= LEAST_TAIL:
            assert law.distance <= distance(values, optimum(values, xmin)[0], xmin) + 1e-6, xmin


def test_where_the_law_begins_can_be_fixed() -> None:
    values = LISTS["another"]
    for xmin in (1, 3, 7):
        law = fit_power_law(values, xmin=xmin, resamples=20)
        assert law is not None
        assert law.xmin == xmin
        assert law.exponent == pytest.approx(optimum(values, xmin)[0], rel=1e-5)
    assert fit_power_law(values, xmin=1, resamples=50).plausible is False, "nothing below 3: no law from 1 on"  # type: ignore[union-attr]
    assert fit_power_law(values, xmin=3, resamples=50).plausible, "they were drawn from one"  # type: ignore[union-attr]
    assert fit_power_law(values, xmin=10**12) is None
    with pytest.raises(UsageError, match="at least 1"):
        fit_power_law(values, xmin=0)


def test_no_exponent_is_told_of_what_is_no_power_law() -> None:
    law = fit_power_law(LISTS["versions"])
    assert law is not None
    assert law.plausible is False
    words = law_words("Degrees", law)
    assert "no power law" in words
    assert "14.8" not in words
    counted = np.unique(LISTS["versions"], return_counts=True)
    assert '"line":' not in str(points("Degrees", "x", "y", counted, law))
    assert '"line":' in str(points("Degrees", "x", "y", counted, fit_power_law(LISTS["one law"])))
    assert PowerLaw.of_json(law.to_json()).xmin == law.xmin


def test_draws_follow_the_law() -> None:
    drawn = draw(2.5, 2, 200_000, np.random.default_rng(5))
    for value in (2, 3, 4, 10):
        expected = value**-2.5 / special.zeta(2.5, 2)
        # Five standard errors of a share.
        assert (drawn == value).mean() == pytest.approx(expected, abs=5 * np.sqrt(expected / len(drawn)))


def test_intervals_cover_the_exponent() -> None:
    covered = 0
    for seed in range(200):
        law = fit_power_law(draw(2.2, 1, 1000, np.random.default_rng(seed)), resamples=0)
        assert law is not None
        covered += law.low <= 2.2 <= law.high
    # 200 trials of 95 %: under 179 in one of 1,000 cases. Choosing xmin costs a little.
    assert covered >= 179, covered


def test_xmin_is_found() -> None:
    generator = np.random.default_rng(2)
    values = np.concatenate([generator.integers(1, 10, 4000), draw(2.5, 10, 6000, generator)])
    law = fit_power_law(values, resamples=0)
    assert law is not None
    assert 8 <= law.xmin <= 12
    assert law.exponent == pytest.approx(2.5, abs=0.1)


def test_what_is_no_law_is_doubted_and_a_law_is_not() -> None:
    generator = np.random.default_rng(3)
    # From somewhere in its far tail on a Poisson distribution is as good as any steep law; as a whole it is none.
    no_law = fit_power_law(generator.poisson(20, 5000) + 1, xmin=1, resamples=50)
    law = fit_power_law(draw(2.5, 1, 5000, generator), resamples=50)
    assert no_law is not None
    assert law is not None
    assert no_law.p_value == 0.0
    assert law.p_value is not None
    assert law.p_value > 0.1


@pytest.mark.parametrize("values", [[], [3], [5] * 1000, [0, -1], list(range(1, 20))])
def test_too_little_to_tell_is_told_as_none(values: list[int]) -> None:
    assert fit_power_law(values) is None


def test_graph_numbers_are_networkx_numbers() -> None:
    graph = nx.gnm_random_graph(60, 90, seed=4)
    a, b = zip(*sorted(graph.edges), strict=True)
    pairs = pa.table(
        {
            "row_a": pa.array(a, pa.uint64()),
            "row_b": pa.array(b, pa.uint64()),
            "same_site": [at % 3 == 0 for at in range(len(a))],
            "score": [0.8 + 0.2 * at / len(a) for at in range(len(a))],
            "b_similarity": pa.nulls(len(a), pa.int32()),
            "c_similarity": pa.array([372 + at % 13 for at in range(len(a))], pa.int32()),
        }
    )
    told = graph_statistics(pairs, [2, 2, 5], resamples=0)
    degrees = [degree for _, degree in graph.degree if degree]
    assert told["nodes"] == len(degrees)
    assert told["average_degree"] == pytest.approx(np.mean(degrees), abs=1e-4)
    assert told["degrees"] == {str(d): degrees.count(d) for d in sorted(set(degrees))}
    assert told["cluster_sizes"] == {"2": 2, "5": 1}
    assert told["same_site_share"] == pytest.approx(30 / 90, abs=1e-4)
    assert told["labels"]["label"] == "c_similarity"
    assert sum(told["labels"]["values"].values()) == 90


def test_scores_without_counts_are_told_in_ranges() -> None:
    pairs = pa.table(
        {
            "row_a": pa.array([0, 1, 2], pa.uint64()),
            "row_b": pa.array([1, 2, 3], pa.uint64()),
            "same_site": [True, False, False],
            "score": [0.8, 0.849, 1.0],
            "b_similarity": pa.nulls(3, pa.int32()),
            "c_similarity": pa.nulls(3, pa.int32()),
        }
    )
    assert graph_statistics(pairs, [4], resamples=0)["labels"]["values"] == {"0.80": 2, "1.00": 1}


def test_an_empty_graph_has_numbers_too() -> None:
    names = ("row_a", "row_b", "same_site", "score", "b_similarity", "c_similarity")
    kinds = (pa.uint64(), pa.uint64(), pa.bool_(), pa.float64(), pa.int32(), pa.int32())
    empty = pa.schema(list(zip(names, kinds, strict=True))).empty_table()
    told = graph_statistics(empty, [], resamples=0)
    assert (told["nodes"], told["edges"], told["average_degree"], told["degree_law"]) == (0, 0, None, None)
