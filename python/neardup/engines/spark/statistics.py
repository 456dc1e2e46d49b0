"""The first pass on a cluster: every partition counts, what they counted is merged, round by round.

Rounds and their merging are those of ``neardup.methods.statistics``, so the statistics are the same to the byte.
Partial counts meet on executors in two steps; the driver sees one merged round, as every executor does afterwards.
"""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING

import pyarrow as pa

from neardup import _native
from neardup.engines.common.layout import Layout, computed
from neardup.engines.common.packed import bytes_to_lists
from neardup.engines.common.statistics import MOST_ADDRESSES, counted_things
from neardup.engines.spark.layout import fingerprint_columns, names_of
from neardup.engines.spark.reading import Batches, arrow_schema, fitted
from neardup.methods import Statistical
from neardup.methods.statistics import CollectionStatistics, StatisticsRound, start_statistics

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def count(pages: DataFrame, first: DataFrame, layout: Layout) -> CollectionStatistics:
    """The statistics of the first members, which have their tokens, or the streams of their content, in ``t``."""
    blocks = layout.detector.counts_blocks()
    tokens = int(first.selectExpr("sum(tokens)").collect()[0][0] or 0)
    step: StatisticsRound | CollectionStatistics = start_statistics(
        layout.detector.counted(),
        tokens=tokens,
        hash=counted_things(layout.detector, layout.settings.reading),
    )
    if blocks:
        first = first.join(_different_pages(pages, first), "row", "left_semi")
    while isinstance(step, StatisticsRound):
        step.merge(_counted(first.select("t"), step, blocks))
        step = step.finish()
    return step


def _different_pages(pages: DataFrame, first: DataFrame) -> DataFrame:
    """The rows of the first pages of each name, as ``first_of_each_page`` of the local engine has them."""
    from pyspark.sql import functions as F

    named = pages.where("label != 0").select("row", "label", "address").join(first.select("row"), "row", "left_semi")
    addresses = named.groupBy("label").agg((F.count_distinct("address") > MOST_ADDRESSES).alias("crowded"))
    by_name = named.join(addresses, "label").withColumn("address", F.expr("if(crowded, address, 0)"))
    return by_name.groupBy("label", "address").agg(F.min("row").alias("row")).select("row")


def _counted(lists: DataFrame, step: StatisticsRound, blocks: bool) -> StatisticsRound:
    def add(batches: Batches) -> Batches:
        mine = step.fresh()
        for batch in batches:
            of_pages = bytes_to_lists(batch.column("t"))
            mine.add(_native.stream_cells(of_pages) if blocks else of_pages)
        yield pa.RecordBatch.from_pydict({"round": pa.array([pickle.dumps(mine)], pa.binary())})

    def merge(batches: Batches) -> Batches:
        merged = None
        for batch in batches:
            for pickled in batch.column("round").to_pylist():
                other = pickle.loads(pickled)
                if merged is None:
                    merged = other
                else:
                    merged.merge(other)
        if merged is not None:
            yield pa.RecordBatch.from_pydict({"round": pa.array([pickle.dumps(merged)], pa.binary())})

    from pyspark.sql import functions as F

    partial = lists.mapInArrow(add, "round binary").withColumn("half", F.spark_partition_id())
    # Not known beforehand how many partitions there are; a square root of many is few.
    some = partial.repartition(16, "half").select("round").mapInArrow(merge, "round binary")
    merged: StatisticsRound = pickle.loads(some.repartition(1).mapInArrow(merge, "round binary").collect()[0]["round"])
    return merged


def with_late_fingerprints(first: DataFrame, layout: Layout, statistics: CollectionStatistics) -> DataFrame:
    """The first members with the fingerprints that waited for statistics, and without their tokens; those of earlier
    runs have them already."""
    late = names_of(fingerprint_columns(layout, late=True))
    if set(late) & set(first.columns):
        own = with_late_fingerprints(first.where("row >= 0").drop(*late), layout, statistics)
        return own.unionByName(first.where("row < 0").select(*own.columns))
    names = [name for name in first.columns if name != "t"]
    kept = first.select(*names).schema
    declared = ", ".join([_ddl(kept), *fingerprint_columns(layout, late=True)])
    schema = arrow_schema(first.sparkSession, declared)

    def add(batches: Batches) -> Batches:
        given = {at: kind.given(statistics) for at, kind in enumerate(layout.kinds) if isinstance(kind, Statistical)}

        def rows() -> Batches:
            for batch in batches:
                if batch.num_rows:
                    tokens = bytes_to_lists(batch.column("t"))
                    columns = {name: batch.column(name) for name in names}
                    for at, kind in given.items():
                        columns |= computed(kind.compute(tokens), at)
                    yield pa.RecordBatch.from_pydict(columns)

        return fitted(rows(), schema)

    return first.mapInArrow(add, declared)


def _ddl(schema: object) -> str:
    fields = getattr(schema, "fields")  # noqa: B009  (pyspark is not imported here)
    return ", ".join(f"`{field.name}` {field.dataType.simpleString()}" for field in fields)
