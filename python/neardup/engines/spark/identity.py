"""Rows, identity sets, units and their first members: what all that follows is about.

A page's row is the number of pages in the parts before its own, and its position. Pages with the same tokens form an
identity set; those that count as one page are a unit (``neardup.graph.units``), named by its first row, and carry the
sites of all members and the most preferred one. *First* is the table of first members of units that have enough tokens
to be compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from neardup.engines.common.layout import Layout
from neardup.engines.common.packed import bytes_to_lists
from neardup.engines.spark.layout import fingerprint_columns, names_of
from neardup.engines.spark.reading import FRAME, Batches

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

#: Rows of one earlier run lie in a stretch of their own.
ROWS_A_RUN = 1 << 40


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

    linked = pages.select("links").mapInArrow(targets, "own_url bigint")
    counts = linked.groupBy("own_url").agg(F.count("*").alias("linking"))
    # Pages without a URL have 0 and are linked to by none; a key of its own each, lest they all go to one task.
    key = F.when(F.col("own_url") != 0, F.col("own_url")).otherwise(-1 - F.col("row"))
    joined = (
        pages.drop("preference")
        .withColumn("key", key)
        .join(counts.where("own_url != 0").withColumnRenamed("own_url", "key"), "key", "left")
    )
    linking = F.when(F.col("own_url") != 0, F.col("linking"))
    return joined.withColumn("preference", -F.coalesce(linking, F.lit(0))).drop("key", "linking")


def units(pages: DataFrame, layout: Layout) -> DataFrame:
    """The units: first row (``first``), sites, the most preferred member; and of the pages with the same tokens, on
    whatever site, the first row (``text``) and how many there are (``copies``)."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    sited = _by_site(pages.where("tokens > 0"), layout)
    if layout.detector.looks_at_sites:
        # Then pages with the same tokens are together already when their units are put side by side.
        sited = sited.repartition("identity")
    groups = sited.groupBy("identity", "by_site").agg(
        F.min("row").alias("first"),
        F.count("*").alias("members"),
        F.sort_array(F.collect_set("site")).alias("sites"),
        F.min(F.struct("preference", "row")).alias("best"),
        # One member without a site makes the unit one of an unknown site as well.
        F.max(F.col("site").isNull()).alias("unknown"),
    )
    if not layout.detector.looks_at_sites:
        return groups.withColumn("text", F.col("first")).withColumnRenamed("members", "copies")
    same = Window.partitionBy("identity")
    text, copies = F.min("first").over(same), F.sum("members").over(same)
    return groups.withColumn("text", text).withColumn("copies", copies).drop("members")


def _by_site(pages: DataFrame, layout: Layout) -> DataFrame:
    """Pages with what tells units of one identity set apart: their site, where the detector looks at it."""
    from pyspark.sql import functions as F

    site = F.coalesce(F.col("site"), F.lit("")) if layout.detector.looks_at_sites else F.lit("")
    return pages.withColumn("by_site", site)


def text_of(layout: Layout) -> list[str]:
    """The column that tells which units have the same tokens, where units are not identity sets."""
    return ["text"] if layout.detector.looks_at_sites else []


def twins(sets: DataFrame) -> DataFrame:
    """Units and the first of the same tokens: they hang together without a pair."""
    from pyspark.sql import functions as F

    return sets.where("first != text").select(F.col("first").alias("a"), F.col("text").alias("b"))


def first_members(pages: DataFrame, sets: DataFrame, layout: Layout, earlier: bool) -> DataFrame:
    """First members that have enough tokens, with what pairs are found and verified by; pages of ``earlier`` runs have
    the fingerprints that the others still wait for."""
    from pyspark.sql import functions as F

    wanted = names_of(fingerprint_columns(layout, late=False))
    if layout.detector.counted():
        wanted += ["t", *(names_of(fingerprint_columns(layout, late=True)) if earlier else [])]
    known = sets.select(
        F.col("first").alias("row"), "sites", "unknown", *text_of(layout),
        F.col("best.preference").alias("preference"), F.col("best.row").alias("best"),
    )  # fmt: skip
    enough = pages.where(F.col("tokens") >= layout.settings.reading.min_tokens)
    return enough.select("row", "tokens", *wanted).join(known, "row")


def membership(pages: DataFrame, sets: DataFrame, layout: Layout) -> DataFrame:
    """Of each page the row of the first page with the same tokens, as ``first``, and whether there are ``several``; and
    of the first page that counts as the same one, as ``unit``."""
    from pyspark.sql import functions as F

    several = sets.where("copies > 1").select(
        "identity", "by_site", F.col("first").alias("unit"), F.col("text").alias("first")
    )
    # Empty pages have no identity; a key of its own each, lest they all go to one task.
    key = F.coalesce(F.col("identity"), F.col("row").cast("string").cast("binary"))
    keyed = _by_site(pages.withColumn("identity", key), layout)
    joined = keyed.join(several, ["identity", "by_site"], "left").drop("by_site")
    joined = joined.withColumn("several", F.col("first").isNotNull())
    for name in ("first", "unit"):
        joined = joined.withColumn(name, F.coalesce(F.col(name), F.col("row")))
    return joined


def earlier_pages(session: SparkSession, runs: Sequence[tuple[str, Path]]) -> DataFrame | None:
    """The pages that earlier runs kept, as pages in front of all others: their rows are negative, and they are
    preferred to all."""
    from pyspark.sql import functions as F

    everything = None
    for at, (name, path) in enumerate(runs):
        start = (at - len(runs)) * ROWS_A_RUN
        # Not a file of Spark's own, perhaps: numbers without a sign are read as signed ones.
        pages = session.read.parquet(f"file://{path.absolute()}").withColumn("row", F.col("row") + start)
        pages = pages.withColumn("run", F.lit(name)).withColumn("preference", F.lit(-(1 << 63)))
        everything = pages if everything is None else everything.unionByName(pages)
    return everything
