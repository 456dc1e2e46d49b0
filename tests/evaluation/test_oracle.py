"""The exact oracle against brute force over real pages, and its limits."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from brute_force import BruteForce, shingles
from neardup import _native
from neardup.engines import Settings
from neardup.errors import NeardupError, UsageError
from neardup.evaluation.oracle import exact_pairs
from neardup.sources.memory import texts
from neardup.testing import Web


def by_definition(brute: BruteForce, measure: str, k: int, threshold: float) -> dict[tuple[int, int], float]:
    sets = {row: shingles(brute.tokens[row], k) for row in brute.compared}
    found = {}
    for a, b in combinations(brute.compared, 2):
        shared, sizes = len(sets[a] & sets[b]), (len(sets[a]), len(sets[b]))
        similarity = {
            "jaccard": shared / (sum(sizes) - shared),
            "cosine": shared / math.sqrt(sizes[0] * sizes[1]),
            "containment": shared / min(sizes),
        }[measure]
        if similarity >= threshold:
            found[a, b] = similarity
    return found


@pytest.fixture(scope="module")
def brute(small_pages: list[dict[str, Any]]) -> BruteForce:
    return BruteForce(small_pages)


@pytest.fixture(scope="module")
def small_pages(small_web: Web) -> list[dict[str, Any]]:
    return [{"html": page.html, "url": page.url} for page in small_web.pages]


@pytest.mark.parametrize("measure", ["jaccard", "cosine", "containment"])
@pytest.mark.parametrize(("k", "threshold"), [(5, 0.8), (3, 0.5), (1, 0.9)])
def test_finds_what_brute_force_finds(
    brute: BruteForce, small_pages: list[dict[str, Any]], measure: Any, k: int, threshold: float
) -> None:
    expected = by_definition(brute, measure, k, threshold)
    found = exact_pairs(texts(small_pages), k=k, threshold=threshold, measure=measure)
    assert list(zip(found.a.tolist(), found.b.tolist(), strict=True)) == sorted(expected)
    assert found.similarity == pytest.approx([expected[pair] for pair in sorted(expected)])
    assert expected, "a test of nothing"


def test_threads_and_batches_do_not_matter(small_pages: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch) -> None:
    one = exact_pairs(texts(small_pages), settings=Settings(threads=1)).table()
    monkeypatch.setattr("neardup.sources.memory.BATCH_BYTES", 10_000)
    assert exact_pairs(texts(small_pages), settings=Settings(threads=3)).table().equals(one)


def test_too_many_pairs_are_named() -> None:
    pages = [f"the same ten words stand in all of these pages {number}" for number in range(20)]
    with pytest.raises(NeardupError, match="more than 5 pairs"):
        exact_pairs(texts(pages), k=1, threshold=0.5, most=5)


def test_wrong_calls_are_told() -> None:
    with pytest.raises(UsageError, match="unknown measure"):
        exact_pairs(texts(["a"]), measure="angle")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="threshold"):
        exact_pairs(texts(["a"]), threshold=0)


def test_the_kernel_refuses_what_are_no_sets() -> None:
    import pyarrow as pa

    for values in ([[2, 1]], [[1, 1]]):
        with pytest.raises(ValueError, match="ascending"):
            _native.all_pairs([pa.array(values, pa.large_list(pa.uint64()))], threshold=0.5, most=9)
    with pytest.raises(ValueError, match="threshold"):
        _native.all_pairs([], threshold=float("nan"), most=9)


def test_partners_of_a_sample_are_the_oracles_pairs(small_pages: list[dict[str, Any]]) -> None:
    from neardup.evaluation.oracle import tokens_of

    collection = tokens_of(texts(small_pages))
    tokens = list(collection.token_batches())
    pairs = exact_pairs(collection, threshold=0.6)
    compared = (pairs.identity == np.arange(len(pairs.identity))) & (collection.column("tokens").to_numpy() >= 8)
    rows = np.flatnonzero(compared)[::3]
    import pyarrow as pa

    index = _native.SampleIndex([pa.concat_arrays(tokens).take(pa.array(rows))], k=5, threshold=0.6)
    sample, page, jaccard, _, _ = index.partners(pa.concat_arrays(tokens), compared)
    met = {(int(rows[s]), int(p)): j for s, p, j in zip(sample, page, jaccard, strict=True) if rows[s] != p}
    exact = dict(zip(zip(pairs.a.tolist(), pairs.b.tolist(), strict=True), pairs.similarity, strict=True))
    chosen = set(rows.tolist())
    expected = {(a, b): j for (a, b), j in exact.items() if a in chosen}
    expected |= {(b, a): j for (a, b), j in exact.items() if b in chosen}
    assert met == pytest.approx(expected)
    assert expected, "a test of nothing"
