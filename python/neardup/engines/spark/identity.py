"""Rows, identity sets and their first members: what all that follows is about.

A page's row is the number of pages in the parts before its own, and its position. Pages with the same tokens form a
set, named by its first row; the set carries the sites of all its members and its most preferred one. *First* is the
table of first members that have enough tokens to be compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from neardup.engines.layout import Layout
from neardup.engines.packed import bytes_to_lists
from neardup.engines.spark.reading import FRAME, Batches

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

#: Rows of one earlier run lie in a stretch of their own.
_ROWS_A_RUN = 1 << 40


def numbered(parts: DataFrame, layout: Layout) -> DataFrame:
    """The pages of what was read, each with its row."""
    from pyspark.sql import functions as F

    counted = {row["part"]: row["count"] for row in parts.where("told is null").groupBy("part").count().collect()}
    before, starts = 0, []
    for part in sorted(counted):
        starts.append((part, before))
        before += counted[part]
    offsets = F.broadcast(parts.sparkSession.createDataFrame(starts, "part int, start bigint"))
    pages = parts.where("told is null").join(offsets, "part").withColumn("row", F.col("start") + F.col("position"))
    # A frame has no records of its own.
    pages = pages.withColumn("record", F.when(F.col("source") == FRAME, F.col("row")).otherwise(F.col("record")))
    return _linked(pages) if layout.settings.keep == "most-linked" else pages


def _linked(pages: DataFrame) -> DataFrame:
    """Prefers pages that more pages link to."""
    from pyspark.sql import functions as F

    def targets(batches: Batches) -> Batches:
        for batch in batches:
            numbers = bytes_to_lists(batch.column("links")).flatten().to_numpy()
            yield pa.RecordBatch.from_pydict({"own_url": pa.array(numbers.view(np.int64))})

    found = pages.select("links").mapInArrow(targets, "own_url bigint")
    counts = found.groupBy("own_url").agg(F.count("*").alias("linking"))
    # Pages without a URL have 0 and are linked to by none; a key of its own each, lest they all go to one task.
    key = F.when(F.col("own_url") != 0, F.col("own_url")).otherwise(-1 - F.col("row"))
    joined = (
        pages.drop("preference")
        .withColumn("key", key)
        .join(counts.where("own_url != 0").withColumnRenamed("own_url", "key"), "key", "left")
    )
    linking = F.when(F.col("own_url") != 0, F.col("linking"))
    return joined.withColumn("preference", -F.coalesce(linking, F.lit(0))).drop("key", "linking")


def identity_sets(pages: DataFrame) -> DataFrame:
    """The sets of pages with the same tokens: first row, members, sites, and the most preferred member."""
    from pyspark.sql import functions as F

    return (
        pages.where("tokens > 0")
        .groupBy("identity")
        .agg(
            F.min("row").alias("first"),
            F.count("*").alias("members"),
            F.sort_array(F.collect_set("site")).alias("sites"),
            F.min(F.struct("preference", "row")).alias("best"),
            # One member without a site makes the set one of an unknown site as well.
            F.max(F.col("site").isNull()).alias("unknown"),
        )
    )


def names_of(declared: Sequence[str]) -> list[str]:
    """The names of declared columns.

    >>> names_of(["f0 binary", "n1 int"])
    ['f0', 'n1']
    """
    return [column.split()[0] for column in declared]


def first_members(pages: DataFrame, sets: DataFrame, layout: Layout, earlier: bool) -> DataFrame:
    """First members that have enough tokens, with what pairs are found and verified by; pages of ``earlier`` runs have
    the fingerprints that the others still wait for."""
    from pyspark.sql import functions as F

    wanted = names_of(layout.columns(late=False))
    if layout.detector.counted():
        wanted += ["t", *(names_of(layout.columns(late=True)) if earlier else [])]
    known = sets.select(
        F.col("first").alias("row"), "sites", "unknown",
        F.col("best.preference").alias("preference"), F.col("best.row").alias("best"),
    )  # fmt: skip
    enough = pages.where(F.col("tokens") >= layout.settings.reading.min_tokens)
    return enough.select("row", "tokens", *wanted).join(known, "row")


def membership(pages: DataFrame, sets: DataFrame) -> DataFrame:
    """Of each page the row of the first page with the same tokens, as ``first``, and whether there are ``several``."""
    from pyspark.sql import functions as F

    several = sets.where("members > 1").select("identity", "first")
    # Empty pages have no identity; a key of its own each, lest they all go to one task.
    key = F.coalesce(F.col("identity"), F.col("row").cast("string").cast("binary"))
    joined = pages.withColumn("identity", key).join(several, "identity", "left")
    joined = joined.withColumn("several", F.col("first").isNotNull())
    return joined.withColumn("first", F.coalesce(F.col("first"), F.col("row")))


def earlier_pages(session: SparkSession, runs: Sequence[tuple[str, Path]]) -> DataFrame | None:
    """The pages that earlier runs kept, as pages in front of all others: their rows are negative, and they are
    preferred to all."""
    from pyspark.sql import functions as F

    found = None
    for at, (name, path) in enumerate(runs):
        start = (at - len(runs)) * _ROWS_A_RUN
        # Not a file of Spark's own, perhaps: numbers without a sign are read as signed ones.
        pages = session.read.parquet(f"file://{path.absolute()}").withColumn("row", F.col("row") + start)
        pages = pages.withColumn("run", F.lit(name)).withColumn("preference", F.lit(-(1 << 63)))
        found = pages if found is None else found.unionByName(pages)
    return found
