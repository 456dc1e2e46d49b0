"""Estimates on collections whose totals are known: as near as they say, as often as they say."""

from __future__ import annotations

import numpy as np
import pytest

from neardup.graph.power_law import draw
from neardup.study.estimate import Growth, by_chance, by_growth, chance_found

PAGES = 20_000


def sizes_of_clusters(generator: np.random.Generator, exponent: float = 2.4) -> np.ndarray:
    """Clusters of two pages or more, about half of all pages in them."""
    sizes = draw(exponent, 2, 4000, generator)
    sizes = np.minimum(sizes, 2000)
    return sizes[np.cumsum(sizes) < PAGES // 2]


def found_after(sizes: np.ndarray, share: float, generator: np.random.Generator) -> np.ndarray:
    """Sizes of clusters with a page among a random share of all pages."""
    cluster = np.repeat(np.arange(len(sizes)), sizes)
    labels = np.concatenate([cluster, np.full(PAGES - len(cluster), -1)])
    compared = generator.permutation(PAGES)[: int(PAGES * share)]
    seen = np.unique(labels[compared])
    return sizes[seen[seen >= 0]]


def test_the_chance_of_being_found_is_the_share_that_is() -> None:
    generator = np.random.default_rng(1)
    sizes = np.repeat([2, 3, 10], 300)
    share = 0.2
    found = [found_after(sizes, share, generator) for _ in range(40)]
    for size in (2, 3, 10):
        expected = chance_found(np.array([size]), PAGES, int(PAGES * share))[0]
        seen = np.mean([(one == size).sum() / 300 for one in found])
        # Five standard deviations of 12,000 draws.
        assert abs(seen - expected) < 5 * np.sqrt(expected * (1 - expected) / 12_000)


@pytest.mark.parametrize("share", [0.05, 0.2, 0.5])
def test_estimates_by_chance_are_right_as_often_as_they_say(share: float) -> None:
    generator = np.random.default_rng(2006)
    inside = {"duplicates": 0, "clusters": 0}
    errors = []
    runs = 200
    for _ in range(runs):
        sizes = sizes_of_clusters(generator)
        true = {"duplicates": int(sizes.sum()) - len(sizes), "clusters": len(sizes)}
        found = found_after(sizes, share, generator)
        told = dict(zip(("duplicates", "clusters"), by_chance(found, PAGES, int(PAGES * share)), strict=True))
        for what, estimate in told.items():
            inside[what] += estimate.low <= true[what] <= estimate.high
            assert estimate.found <= estimate.low <= estimate.estimate <= estimate.high
        errors.append(told["duplicates"].estimate / true["duplicates"] - 1)
    # 95 % intervals: of 200 at least 180, five in a thousand times fewer by chance alone.
    assert min(inside.values()) >= 0.9 * runs, inside
    # Unbiased: the mean error is within five of its standard errors.
    assert abs(np.mean(errors)) < 5 * np.std(errors) / np.sqrt(runs)
    assert np.abs(errors).mean() < {0.05: 0.1, 0.2: 0.05, 0.5: 0.02}[share]


def growth_of(sizes: np.ndarray, steps: int, generator: np.random.Generator) -> tuple[Growth, np.ndarray]:
    """How duplicates grow over the steps, and the first step of each cluster."""
    step_of = generator.permutation(np.arange(PAGES) * steps // PAGES)
    first = np.minimum.reduceat(step_of[: int(sizes.sum())], np.concatenate([[0], np.cumsum(sizes)[:-1]]))
    grown = [int((sizes[first <= step] - 1).sum()) for step in range(steps)]
    return Growth([(step + 1) / steps for step in range(steps)], grown), first


def test_estimates_by_another_collections_growth() -> None:
    """The paper's way, with a collection of the same kind and with one of another kind."""
    generator = np.random.default_rng(7)
    for exponent, most in ((2.4, 0.08), (2.8, 0.25)):
        inside, errors = 0, []
        runs = 60
        for _ in range(runs):
            other, _ = growth_of(sizes_of_clusters(generator, exponent), 40, generator)
            sizes = sizes_of_clusters(generator)
            own, first = growth_of(sizes, 50, generator)
            true = own.values[-1]
            part = Growth(own.shares[:10], own.values[:10])
            told = by_growth(part, [other], sizes[first < 10], PAGES, PAGES // 5, "duplicates")
            inside += told.low <= true <= told.high
            errors.append(abs(told.estimate / true - 1))
        assert np.mean(errors) < most
        # The interval knows of a mismatch only what the first fifth shows of it.
        assert inside >= 0.75 * runs


def test_nothing_found_is_not_nothing_there() -> None:
    duplicates, clusters = by_chance(np.empty(0, np.int64), 1000, 100)
    assert (duplicates.found, duplicates.estimate) == (0, 0)
    assert clusters.high > 5
    duplicates, _ = by_chance(np.array([2, 3]), 1000, 1000)
    assert (duplicates.low, duplicates.estimate, duplicates.high) == (3, 3, 3)
