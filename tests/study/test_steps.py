"""Comparison in steps: any number of them, any memory and any cut of the input give the same clusters."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.engines import Settings
from neardup.study import study
from neardup.study.clustering import Plan
from neardup.study.paragraphs import ParagraphLists, cluster_by_paragraphs

SHARES = (0.9, 0.7, 0.5)
LIST = pa.large_list(pa.field("item", pa.uint64(), nullable=False))


def naive(pages: list[list[int]], share: float | None, paper: bool) -> list[int]:
    """The definitions over all pairs; clusters by spreading the least number."""

    def accepted(earlier: list[int], later: list[int]) -> bool:
        if not earlier or not later:
            return False
        if paper:
            shared = sum(paragraph in earlier for paragraph in later)
        else:
            shared = sum(min(earlier.count(one), later.count(one)) for one in set(later))
        if share is None:
            return len(earlier) == len(later) == shared
        return shared >= share * max(len(earlier), len(later)) - 1e-9

    labels = list(range(len(pages)))
    pairs = [(a, b) for b in range(len(pages)) for a in range(b) if accepted(pages[a], pages[b])]
    for _ in pages:
        for a, b in pairs:
            labels[a] = labels[b] = min(labels[a], labels[b])
    return labels


def lists_of(pages: list[list[int]], cut: int) -> ParagraphLists:
    # Numbers are spread over all 64 bits, as hashes are.
    spread = [[one * 0x9E3779B97F4A7C15 % 2**64 for one in page] for page in pages]
    batches = [pa.array(spread[start : start + cut], LIST) for start in range(0, len(spread), cut)]
    return ParagraphLists.of(lambda: iter(batches), threads=2)


PAGES = st.lists(st.lists(st.integers(1, 6), max_size=6), min_size=1, max_size=12)


@given(PAGES, st.integers(1, 7), st.integers(1, 5), st.integers(0, 3))
def test_clusters_are_those_of_all_pairs(pages: list[list[int]], steps: int, cut: int, seed: int) -> None:
    found = cluster_by_paragraphs(lists_of(pages, cut), Plan.of(steps, seed), SHARES)
    for levels, paper in ((found.levels, True), (found.counted, False)):
        for (name, level), share in zip(levels.items(), (None, *SHARES), strict=True):
            assert level.labels.tolist() == naive(pages, share, paper), name
    part = np.arange(len(pages)) % 3 != 0
    inside = naive([page if chosen else [] for page, chosen in zip(pages, part, strict=True)], None, True)
    assert found.inside(part).tolist() == inside


@given(PAGES, st.integers(1, 6), st.integers(0, 3))
def test_growth_is_that_of_the_pairs_of_each_step(pages: list[list[int]], steps: int, seed: int) -> None:
    """By the rule that counts repetitions, which is an equivalence: a cluster is found with its first page."""
    found = cluster_by_paragraphs(lists_of(pages, 4), Plan.of(steps, seed), ())
    step_of = found.plan.step_of(found.considered)
    labels = np.array(naive(pages, None, False))
    for step in range(steps):
        clusters = duplicates = 0
        for label in np.unique(labels):
            members = np.flatnonzero((labels == label) & found.considered)
            if len(members) > 1 and step_of[members].min() <= step:
                clusters += 1
                duplicates += len(members) - 1
        level = found.counted["duplicates"]
        assert (level.clusters[step], level.duplicates[step]) == (clusters, duplicates)


def test_subcollections_are_a_random_cut_of_equal_parts() -> None:
    considered = np.ones(1000, bool)
    steps = Plan.of(10, 3).step_of(considered)
    assert np.bincount(steps).tolist() == [100] * 10
    # Sorted input must not stay together: neighbours share a step one time in ten, give or take five deviations.
    assert abs((steps[1:] == steps[:-1]).mean() - 0.1) < 5 * (0.09 / 999) ** 0.5
    assert (steps == Plan.of(10, 3).step_of(considered)).all()
    assert (steps != Plan.of(10, 4).step_of(considered)).any()


@pytest.mark.parametrize("settings", [Settings(threads=1), Settings(threads=2, memory=1, commit_every=0)])
@pytest.mark.parametrize("steps", [1, 3])
def test_a_study_does_not_depend_on_steps_threads_or_memory(
    settings: Settings, steps: int, tmp_path: Path, web_pages: list[dict[str, str]]
) -> None:
    file = tmp_path / "pages.jsonl"
    file.write_text("".join(json.dumps(page) + "\n" for page in web_pages), encoding="utf-8")
    expected = study(file, steps=4)
    found = study(file, tmp_path / "out", steps=steps, settings=settings)
    assert found.pages.equals(expected.pages)
    for name in ("table2", "table3", "table4", "table5", "table6", "useful", "bow_tie", "sites", "sizes"):
        assert found.tables[name].rows == expected.tables[name].rows
    assert found.tables["table3"].rows[-1]["clusters"] > 5
    assert not (tmp_path / ".out.scratch").exists()


def test_little_memory_means_more_steps(tmp_path: Path, web_pages: list[dict[str, str]]) -> None:
    file = tmp_path / "pages.jsonl"
    file.write_text("".join(json.dumps(page) + "\n" for page in web_pages), encoding="utf-8")
    told = study(file, tmp_path / "out", settings=Settings(memory=4000)).report["steps"]
    # A quarter of the memory, at 64 bytes a paragraph.
    assert told["steps"] == -(-told["paragraphs"] * 64 // 1000) > 20
