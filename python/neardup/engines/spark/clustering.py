"""Clusters to decisions: which pages stay, which pairs form the spanning forest, what is told of each cluster.

All of it speaks of one cluster at a time. Direct removal looks sequential: a page goes if it was accepted against an
earlier one (in keep order) that stays. But a page's fate depends on earlier pages it has a pair with, and theirs on
earlier ones of theirs: all in its own cluster. So removal over all pages is removal cluster by cluster, in any order
and anywhere; the spanning forest, the diameter and the cohesion are of a cluster to begin with. Clusters are sorted
together, and each task takes up whole ones, thousands at a time, with the functions of the local engine. (Inside one
cluster there is little to win: which pages stay is the lexicographically first maximal independent set, which is
P-complete, so no way to find it in few rounds is known.)

Cost: one shuffle of the clustered pages and the pairs. A cluster must fit the memory of one task, at some 60 bytes a
page and a pair.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup import _native
from neardup.engines.common.packed import whole_groups
from neardup.engines.common.settings import Settings
from neardup.engines.spark.reading import Batches
from neardup.graph import between_sets, clusters_table, ends_of_sets, remove

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Numbers = npt.NDArray[Any]
#: Rows of ``kind`` "page" tell of a page x that y stays instead, with ``one`` whether they are identical and ``two``
#: whether x stands for others; of kind "pair" that x and y are tied (``one``: in the forest); of kind "cluster" x its
#: size y, and ``sites``, ``kept``, ``diameter`` and ``value``, its cohesion.
DECIDED = (
    "kind string, x bigint, y bigint, one boolean, two boolean, sites bigint, kept bigint, diameter bigint, "
    "value double"
)
_SCHEMA = pa.schema(
    [("kind", pa.string()), ("x", pa.int64()), ("y", pa.int64()), ("one", pa.bool_()), ("two", pa.bool_()),
     ("sites", pa.int64()), ("kept", pa.int64()), ("diameter", pa.int64()), ("value", pa.float64())]
)  # fmt: skip


def decided(members: DataFrame, pairs: DataFrame, settings: Settings, crowded: DataFrame | None) -> DataFrame:
    """Decisions for the pages of clusters of two and more.

    ``members`` has ``row``, ``first`` (of its identity set), ``unit``, ``cluster``, ``preference`` and ``site``;
    ``pairs`` has ``a``, ``b``, ``score`` and ``cluster``; they may lack some of two units whose rows are ``crowded``.
    """
    from pyspark.sql import functions as F

    empty = F.lit(None)
    if crowded is None:
        members = members.withColumn("crowded", F.lit(False))
    else:
        units = crowded.select(F.col("row").alias("unit"), F.lit(True).alias("crowded"))
        members = members.join(units, "unit", "left").withColumn("crowded", F.coalesce("crowded", F.lit(False)))
    of_pages = members.select(
        "cluster", F.lit(0).alias("kind"), F.col("row").alias("x"), F.col("first").alias("y"), "unit", "preference",
        "site", "crowded", empty.cast("double").alias("score"),
    )  # fmt: skip
    of_pairs = pairs.select(
        "cluster", F.lit(1).alias("kind"), F.col("a").alias("x"), F.col("b").alias("y"),
        *(empty.cast("bigint").alias(name) for name in ("unit", "preference")), empty.cast("string").alias("site"),
        F.lit(False).alias("crowded"), "score",
    )  # fmt: skip
    both = of_pages.unionByName(of_pairs).repartition("cluster").sortWithinPartitions("cluster", "kind", "x", "y")

    def decide(batches: Batches) -> Batches:
        for batch in whole_groups(batches, ["cluster"]):
            yield from _decide(batch, settings)

    return both.mapInArrow(decide, DECIDED)


def _decide(batch: pa.RecordBatch, settings: Settings) -> Batches:
    is_pair = batch.column("kind").to_numpy() == 1
    of_pages, of_pairs = batch.filter(pa.array(~is_pair)), batch.filter(pa.array(is_pair))
    # Sorted by cluster, then row: numbered by row, as the local engine has them.
    rows = of_pages.column("x").to_numpy()
    order = np.argsort(rows, kind="stable")
    rows = rows[order]

    def places(values: pa.Array) -> npt.NDArray[np.uint32]:
        found: npt.NDArray[np.uint32] = np.searchsorted(rows, values.to_numpy()).astype(np.uint32)
        return found

    identity, unit = (places(of_pages.column(name))[order] for name in ("y", "unit"))
    cluster = places(of_pages.column("cluster"))[order]
    preferred = np.argsort(of_pages.column("preference").to_numpy()[order], kind="stable").astype(np.uint32)
    a, b = places(of_pairs.column("x")), places(of_pairs.column("y"))
    # By a, then b: what is said of equal scores depends on it.
    sort = np.lexsort((b, a))
    a, b, score = a[sort], b[sort], of_pairs.column("score").to_numpy()[sort]
    # Pages of earlier runs, which are preferred to all, stay.
    settled = int((rows < 0).sum())
    removed = remove(preferred, identity, cluster, (a, b, score), settings.removal, units=unit, settled=settled)
    kept = (removed.instead == np.arange(len(rows), dtype=np.uint32)) | (rows < 0)
    stands_for = np.bincount(removed.instead, minlength=len(rows)) > 1
    yield _rows("page", rows, rows[removed.instead], one=removed.identical, two=kept & stands_for)
    if len(a):
        tree = _native.spanning_forest(len(rows), *ends_of_sets(identity, a, b), np.ascontiguousarray(score))
        yield _rows("pair", rows[a], rows[b], one=tree)
    sites = of_pages.column("site").take(pa.array(order)).dictionary_encode()
    site = np.asarray(sites.indices.fill_null(-1), dtype=np.int64)
    names = pa.array(rows).cast(pa.string())
    crowded = of_pages.column("crowded").to_numpy(zero_copy_only=False)[order]
    clusters = clusters_table(names, cluster, identity, site, kept, between_sets(identity, a, b), crowded=crowded)
    columns = {name: clusters.column(name).combine_chunks() for name in ("sites", "kept", "diameter")}
    yield _rows(
        "cluster",
        clusters.column("cluster").cast(pa.int64()).to_numpy(),
        clusters.column("size").to_numpy(),
        value=clusters.column("cohesion").combine_chunks(),
        **columns,
    )


def _rows(kind: str, x: Numbers, y: Numbers, **others: object) -> pa.RecordBatch:
    columns = []
    for field in _SCHEMA:
        if field.name == "kind":
            columns.append(pa.repeat(pa.scalar(kind), len(x)))
        elif field.name in ("x", "y"):
            columns.append(pa.array(x if field.name == "x" else y).cast(pa.int64()))
        elif field.name in others:
            value = others[field.name]
            columns.append(value if isinstance(value, pa.Array) else pa.array(value))
        else:
            columns.append(pa.nulls(len(x), field.type))
    return pa.RecordBatch.from_arrays(columns, schema=_SCHEMA)
