"""Connected components by Spark: the alternating star algorithm (Kiveris, Lattanzi, Mirrokni, Rastogi, Vassilvitskii,
"Connected Components in MapReduce and Beyond", 2014).

Idea: a *large star* ties every larger neighbour of a page to the smallest page among its neighbours and itself; a
*small star* does so with its smaller neighbours. Both keep what hangs together, and edges only ever move to smaller
pages; where neither changes anything, every page is tied to the first page of its component and to nothing else.
Cost: two shuffles of the edges a round, and in practice about log₂ of the longest path rounds (log² is proven). A page
with very many neighbours is no trouble: its smallest neighbour is found by an aggregation, never by a list.

Edges are never brought to the driver. Few of them (``together``) are worth no further rounds: one task joins them all,
by the union-find of the local engine. Wrong components, as GraphFrames had them under adaptive execution, came from
numbers that a retried stage drew anew; rows here are written down before they are used, and so is every round.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa

from neardup import _native
from neardup.engines.spark.reading import Batches
from neardup.engines.spark.working import Working

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: So many edges one task joins in a second or so, and holds in some hundred megabytes.
TOGETHER: Final = 4_000_000
_EDGES: Final = "a bigint, b bigint"


def components(edges: DataFrame, working: Working, together: int = TOGETHER) -> DataFrame:
    """Of each page that has an edge its component, which is that of its smallest page: ``page``, ``component``.

    ``edges`` has columns ``a`` and ``b``, in any order and any number of times.
    """
    from pyspark.sql import functions as F

    # An edge is held once, the larger page first: large and small stars say which is which.
    high, low = F.greatest("a", "b").alias("a"), F.least("a", "b").alias("b")
    now = working.keep(edges.select(high, low).where("a != b").distinct(), "edges")
    count, before = now.count(), None
    while count > together:
        now = working.keep(_small_stars(_large_stars(now)).distinct(), "stars")
        # An edge (page, smallest) for every page: the same number and the same sum means that nothing moved.
        sums = now.selectExpr("count(*)", "sum(cast(b as decimal(38, 0)))", "sum(cast(a as decimal(38, 0)))").collect()[
            0
        ]
        count = int(sums[0])
        if tuple(sums) == before:
            break
        before = tuple(sums)
    else:
        now = now.repartition(1).mapInArrow(_joined, _EDGES)
    labels = now.select(F.col("a").alias("page"), F.col("b").alias("component"))
    own = labels.select(F.col("component").alias("page"), "component").distinct()
    return working.keep(labels.unionByName(own), "components")


def _large_stars(edges: DataFrame) -> DataFrame:
    """Every page ties its larger neighbours to the smallest of its neighbours and itself."""
    from pyspark.sql import functions as F

    both = edges.unionByName(edges.select(F.col("b").alias("a"), F.col("a").alias("b")))
    least = both.groupBy("a").agg(F.least(F.min("b"), F.first("a")).alias("smallest"))
    # Here b is the larger neighbour of a.
    larger = edges.select(F.col("b").alias("a"), F.col("a").alias("b"))
    return larger.join(least, "a").select(F.col("b").alias("a"), F.col("smallest").alias("b")).where("a != b")


def _small_stars(edges: DataFrame) -> DataFrame:
    """Every page ties its smaller neighbours and itself to the smallest of them."""
    from pyspark.sql import functions as F

    least = edges.groupBy("a").agg(F.min("b").alias("smallest"))
    smaller = edges.join(least, "a").select(F.col("b").alias("a"), F.col("smallest").alias("b"))
    own = least.select("a", F.col("smallest").alias("b"))
    return smaller.unionByName(own).where("a != b")


def _joined(batches: Batches) -> Batches:
    """All edges at once, by union-find: an edge to the smallest page for every other one."""
    parts = [batch for batch in batches if batch.num_rows]
    if not parts:
        return
    a = np.concatenate([batch.column("a").to_numpy() for batch in parts])
    b = np.concatenate([batch.column("b").to_numpy() for batch in parts])
    pages, inverse = np.unique(np.concatenate([a, b]), return_inverse=True)
    places = inverse.astype(np.uint32)
    label = _native.components(len(pages), places[: len(a)], places[len(a) :])
    moved = label != np.arange(len(pages))
    yield pa.RecordBatch.from_pydict({"a": pa.array(pages[moved]), "b": pa.array(pages[label[moved]])})
