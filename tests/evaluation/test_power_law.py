"""The power law: zeta against scipy, parameters found again, laws told from what is none."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pyarrow as pa
import pytest
from scipy import special

from neardup.graph.power_law import draw, fit_power_law, hurwitz_zeta
from neardup.graph.statistics import graph_statistics


@pytest.mark.parametrize("exponent", [1.05, 1.3, 2.0, 3.5, 9.0])
def test_zeta_is_scipys(exponent: float) -> None:
    starts = np.array([1.0, 2, 5, 10, 1000])
    assert hurwitz_zeta(exponent, starts) == pytest.approx(special.zeta(exponent, starts), rel=1e-9)


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
    no_law = fit_power_law(generator.poisson(20, 5000) + 1, resamples=50)
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
