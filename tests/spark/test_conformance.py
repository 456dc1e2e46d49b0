"""Every detector gives the same tables on both engines, however pages are cut up and whatever order they come in."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pytest
from collections_of_pages import Page, chain, copied, everything, in_a_template, near_identical

from neardup import Settings, find_duplicates
from neardup.engines.common.tables import PAGES_OUT
from neardup.engines.spark import SparkOutcome, run
from neardup.engines.spark.salting import Salting
from neardup.graph.clusters import CLUSTERS
from neardup.methods import detectors, parse

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Runs at a time.
AT_A_TIME = 3
PARTITIONS = [1, 2, 3, 5, 8, 13, 64]
FIELDS = "n bigint, id string, url string, html string, text string, date string"
#: What settings change, each with a detector for which it matters: with more than one rule, with sets, with statistics,
#: with sites. As they are, these detectors run in the tests of inputs and of clusters.
VARIED: list[tuple[str, Settings]] = [
    ("minhash(threshold=0.6)", Settings(hot=5, keep="longest")),
    ("minhash(threshold=0.6)", Settings(max_pairs=1)),
    ("site-aware", Settings(hot=4, keep="newest")),
    ("site-aware", Settings(removal="component", keep="shortest-url")),
    ("combined", Settings(hot=3)),
    ("charikar", Settings(keep="most-linked", hot=6)),
    ("winnowing", Settings(hot=4)),
    ("i-match", Settings(hot=3, max_pairs=1)),
    ("broder", Settings(keep="longest", removal="component")),
]


@dataclass(frozen=True)
class Case:
    """One run: a detector, settings, into how many partitions pages are cut, and a seed of their order."""

    detector: str
    settings: Settings
    partitions: int
    seed: int


def cases() -> list[Any]:
    """Every detector, as it is or in other ways, partitions in turn; some at a time, since a run of few pages is mostly
    waiting."""
    varied = {parse(detector).name for detector, _ in VARIED}
    every = [(name, Settings()) for name in detectors() if name not in varied] + VARIED
    made = [Case(*one, PARTITIONS[at % len(PARTITIONS)], at) for at, one in enumerate(every)]
    together = [made[at : at + AT_A_TIME] for at in range(0, len(made), AT_A_TIME)]
    return [pytest.param(some, id=", ".join(case.detector for case in some)) for some in together]


def on_spark(
    spark: SparkSession, pages: list[Page], detector: str, settings: Settings, partitions: int, seed: int
) -> SparkOutcome:
    rows = [(at, *(page.get(name) for name in ("id", "url", "html", "text", "date"))) for at, page in enumerate(pages)]
    random.Random(seed).shuffle(rows)
    frame = spark.createDataFrame(rows, FIELDS).repartition(partitions)
    return run(frame, detector, settings, order="n")


def assert_same(outcome: SparkOutcome, pages: list[Page], detector: str, settings: Settings) -> None:
    expected = find_duplicates(
        [{"id": f"frame#{at}", **page} if page.get("id") is None else page for at, page in enumerate(pages)],
        detector=detector,
        settings=settings,
    )
    tables = outcome.to_arrow()
    found = tables["pages"]
    for name in PAGES_OUT.names:
        if name != "source":  # "memory" there, "frame" here
            assert found.column(name).to_pylist() == expected.pages.column(name).to_pylist(), name
    assert tables["pairs"].to_pylist() == expected.pairs.to_pylist()
    assert tables["clusters"].to_pylist() == expected.clusters.to_pylist()
    assert outcome.clusters.columns == CLUSTERS.names
    mine, theirs = outcome.report, expected.report
    assert [mine[name] for name in ("counts", "statistics")] == [theirs[name] for name in ("counts", "statistics")]
    # A bound on what was not scored is told for each group on its own, and groups that were salted compare other pairs.
    told = {"unscored"} if any(rule["hot_buckets"] for rule in theirs["rules"]) else set()
    told |= {"candidates", "accepted", "unrecorded"} if mine["spark"]["salted"]["groups"] else set()
    rules = [[{**rule, **dict.fromkeys(told, 0)} for rule in report["rules"]] for report in (mine, theirs)]
    assert rules[0] == rules[1]
    assert told or mine["warnings"] == theirs["warnings"]


@pytest.mark.parametrize("some", cases())
def test_the_tables_are_equal(spark: SparkSession, some: list[Case]) -> None:
    pages = everything()

    def compare(case: Case) -> None:
        with on_spark(spark, pages, case.detector, case.settings, case.partitions, case.seed) as outcome:
            assert_same(outcome, pages, case.detector, case.settings)

    with ThreadPoolExecutor(AT_A_TIME) as threads:
        for case, compared in [(case, threads.submit(compare, case)) for case in some]:
            assert compared.exception() is None, f"{case}: {compared.exception()}"


@pytest.mark.parametrize(
    ("pages", "detector"),
    [
        (chain(40), "minhash(threshold=0.5)"),
        (near_identical(60), "site-aware"),
        (copied(4) + near_identical(20), "site-aware"),
        (in_a_template(60), "minhash(threshold=0.7)"),
        (in_a_template(50) + near_identical(20), "winnowing"),
    ],
    ids=["chain", "star", "copies", "template", "both"],
)
def test_hot_groups_are_taken_apart(
    spark: SparkSession, pages: list[Page], detector: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Salted, and components by stars: what only very large collections have, with few pages."""
    engine = import_module("neardup.engines.spark.run")
    monkeypatch.setattr(engine, "_Run", partial(engine._Run, salting=Salting(one_task=12, pages_a_salt=17), together=0))
    settings = Settings(hot=5)
    with on_spark(spark, pages, detector, settings, 4, 1) as outcome:
        salted = outcome.report["spark"]["salted"]
        assert salted["groups"] > 0
        assert salted["tasks"] > salted["groups"]
        assert_same(outcome, pages, detector, settings)


def test_hot_keys_leave_the_cohesion_of_other_clusters_known(spark: SparkSession) -> None:
    """A chain, of which not every two pages are alike, beside a cluster of which not all pairs are scored."""
    pages, settings = chain(6) + near_identical(60), Settings(hot=20)
    with on_spark(spark, pages, "minhash(threshold=0.6)", settings, 3, 1) as outcome:
        assert_same(outcome, pages, "minhash(threshold=0.6)", settings)
        first, second = outcome.to_arrow()["clusters"].column("cohesion").to_pylist()
    assert 0 < first < 1
    assert second is None
