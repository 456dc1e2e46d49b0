"""Components by stars: right on every shape, in few rounds on long ones; checked against networkx."""

from __future__ import annotations

import random
from pathlib import Path
from typing import TYPE_CHECKING

import networkx
import pytest

from neardup.engines.spark.components import components
from neardup.engines.spark.working import Working

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Edges = list[tuple[int, int]]


def mixed(count: int) -> Edges:
    """A path whose pages have numbers in no order, with a star at its end and a few loose pairs."""
    numbers = list(range(3 * count))
    random.Random(1).shuffle(numbers)
    path = [(numbers[at], numbers[at + 1]) for at in range(count)]
    star = [(numbers[count], numbers[at]) for at in range(count + 1, 2 * count)]
    pairs = [(numbers[at], numbers[at + 1]) for at in range(2 * count, 3 * count - 1, 2)]
    return [*path, *star, *pairs, *pairs[:5], (5, 5)]


def ascending(count: int) -> Edges:
    return [(at, at + 1) for at in range(-3, count)]


@pytest.mark.parametrize("edges", [mixed(120), ascending(200)], ids=["mixed", "ascending path"])
def test_as_networkx_has_them(spark: SparkSession, tmp_path: Path, edges: Edges) -> None:
    working = Working(spark, f"file://{tmp_path}/working")
    frame = spark.createDataFrame(edges, "a bigint, b bigint").repartition(3)
    graph = networkx.Graph([(a, b) for a, b in edges if a != b])
    expected = {page: min(part) for part in networkx.connected_components(graph) for page in part}
    for together in (10**6, 0):
        found = components(frame, working, together).collect()
        assert {row["page"]: row["component"] for row in found} == expected
        assert len(found) == len(expected)
    rounds = [path for path in (tmp_path / "working").iterdir() if path.name.endswith("-stars")]
    # A path of 200 pages has a logarithm of 7.6; the last round is the one that changes nothing.
    assert len(rounds) <= 10
