"""The tables of a run as frames: the columns and the contents of the local engine's, rows as signed numbers.

Spark has no unsigned numbers, so ``row``, ``row_a`` and ``row_b`` are ``bigint`` here; ``neardup.results`` reads them
back as the local engine writes them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from neardup.engines.common.layout import Layout
from neardup.engines.common.reasons import Conditions
from neardup.engines.common.tables import EARLIER_OUT, PAGES_OUT, PAIRS_OUT
from neardup.engines.spark.working import Working
from neardup.graph.clusters import CLUSTERS

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


def unique_ids(pages: DataFrame, working: Working) -> tuple[DataFrame, int]:
    """The id of every row, and how many had to be renamed: the input's own id, else ``source#record``; one that stands
    in an earlier row becomes ``id#row``."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    named = F.coalesce(F.col("id"), F.concat_ws("#", F.col("source"), F.col("record").cast("string")))
    same = Window.partitionBy("id")
    ids = pages.select("row", named.alias("id")).withColumn("first", F.min("row").over(same))
    ids = working.keep(ids.select("row", "id", (F.col("first") != F.col("row")).alias("repeated")), "ids")
    repeated = ids.where("repeated").count()
    if not repeated:
        return ids.select("row", "id"), 0
    taken = ids.where("not repeated").select("row", "id")
    own = F.col("row").cast("string")
    renamed = ids.where("repeated").select("row", F.concat_ws("#", "id", own).alias("id"))
    # "x#1" may be another page's own id, which that page keeps.
    while True:
        names = taken.select("id").withColumn("clash", F.lit(True))
        clashing = working.keep(renamed.join(names, "id", "left"), "renamed")
        renamed = clashing.select(
            "row", F.when(F.col("clash"), F.concat_ws("#", "id", own)).otherwise(F.col("id")).alias("id")
        )
        if not clashing.where("clash").limit(1).count():
            break
    return working.keep(taken.unionByName(renamed), "unique-ids"), repeated


def earlier_ids(earlier: DataFrame, ids: DataFrame, working: Working) -> DataFrame:
    """What the result calls the pages of ``earlier`` runs (``row``, ``id``, ``run``): by their ids, or ``id#run`` where
    a page in front or one of its own has the id."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    own = ids.select("id").withColumn("own", F.lit(True))
    first = F.min("row").over(Window.partitionBy("id"))
    taken = F.col("own").isNotNull() | (F.col("row") != F.col("first"))
    found = earlier.withColumn("first", first).join(own, "id", "left").withColumn("taken", taken)
    names = working.keep(found.select("row", "id", "run", "taken"), "earlier-ids")
    others = own.unionByName(names.where("not taken").select("id").withColumn("own", F.lit(True)))
    left = names.where("taken")
    while left.limit(1).count():
        longer = left.withColumn("id", F.concat_ws("#", "id", "run"))
        left = working.keep(
            longer.join(others, "id", "left").withColumn("taken", F.col("own").isNotNull()), "longer-ids"
        )
        left = left.drop("own")
        names = names.where("not taken").unionByName(left)
        left = left.where("taken")
    return names.select("row", "id")


def earlier_table(earlier: DataFrame, ids: DataFrame, rows_a_run: int) -> DataFrame:
    """The table of pages of earlier runs; ``earlier`` has ``first``, ``cluster`` and ``run``."""
    from pyspark.sql import functions as F

    frame = earlier.withColumnRenamed("id", "page").join(ids, "row")
    frame = named(frame, ids, "first", "identity_id")
    frame = named(frame, ids, "cluster", "cluster_id")
    shown = {
        "row": F.pmod(F.col("row"), F.lit(rows_a_run)),
        "identity": F.col("identity_id"),
        "cluster": F.col("cluster_id"),
    }
    columns = [shown.get(name, F.col(name)).alias(name) for name in EARLIER_OUT.names]
    return frame.select(*columns, F.col("row").alias("place"))


def named(frame: DataFrame, ids: DataFrame, row: str, name: str) -> DataFrame:
    """The frame with the id of the page in column ``row``; a page that names itself or none is not looked up."""
    from pyspark.sql import functions as F

    # Rows that are not looked up get a key of their own that no page has: they spread over all tasks.
    other = F.col(row).isNotNull() & (F.col(row) != F.col("row"))
    key = F.when(other, F.col(row)).otherwise(-1 - F.col("row"))
    found = ids.select(F.col("row").alias("_key"), F.col("id").alias("_found"))
    joined = frame.withColumn("_key", key).join(found, "_key", "left")
    value = F.when(other, F.col("_found")).otherwise(F.when(F.col(row) == F.col("row"), F.col("id")))
    return joined.withColumn(name, value).drop("_key", "_found")


def page_table(pages: DataFrame, decisions: DataFrame, ids: DataFrame, layout: Layout) -> DataFrame:
    """The table of pages; ``pages`` has ``first`` and ``cluster`` (null for a page alone)."""
    from pyspark.sql import functions as F

    told = decisions.where("kind = 'page'").select(
        F.col("x").alias("row"),
        F.col("y").alias("instead"),
        F.col("one").alias("identical"),
        F.col("two").alias("chosen"),
    )
    frame = pages.join(told, "row", "left").drop("id").join(ids, "row")
    frame = frame.withColumn("apart", F.col("cluster").isNotNull())
    frame = frame.withColumn("cluster", F.coalesce(F.col("cluster"), F.col("row")))
    goes = F.coalesce(F.col("instead") != F.col("row"), F.lit(False))
    frame = frame.withColumn("kept", ~goes).withColumn("other", F.when(goes, F.col("instead")))
    conditions = Conditions(
        removed=goes,
        seen=F.col("instead") < 0,
        identical=F.col("identical"),
        empty=F.col("tokens") == 0,
        short=F.col("tokens") < layout.settings.reading.min_tokens,
        preferred=F.coalesce(F.col("chosen"), F.lit(False)),
        clustered=F.col("apart"),
    )
    # The first is asked of the functions, each other one of what the one before gives.
    reason: Any = F
    for why, holds in conditions.by_precedence().items():
        reason = reason.when(holds, why)
    frame = frame.withColumn("reason", reason.otherwise("unique"))
    frame = named(frame, ids, "first", "identity_id")
    frame = named(frame, ids, "cluster", "cluster_id")
    frame = named(frame, ids, "other", "kept_instead")
    shown = {"identity": F.col("identity_id"), "cluster": F.col("cluster_id")}
    columns: list[Column] = [shown.get(name, F.col(name)).alias(name) for name in PAGES_OUT.names]
    return frame.select(*columns)


def pair_table(pairs: DataFrame, decisions: DataFrame, ids: DataFrame, layout: Layout, forest: bool) -> DataFrame:
    """The table of pairs: all of them, or their spanning forest."""
    from pyspark.sql import functions as F

    told = decisions.where("kind = 'pair'").select(
        F.col("x").alias("a"), F.col("y").alias("b"), F.col("one").alias("tree")
    )
    frame = pairs.join(told, ["a", "b"])
    if forest:
        frame = frame.where("tree")
    frame = frame.withColumnRenamed("a", "row_a").withColumnRenamed("b", "row_b")
    for side in ("a", "b"):
        found = ids.select(F.col("row").alias(f"row_{side}"), F.col("id").alias(side))
        frame = frame.join(found, f"row_{side}")
    names = F.array(*(F.lit(rule.name) for rule in layout.rules))
    exact = layout.plan.scores_are_jaccard
    frame = frame.withColumn("jaccard", F.col("measured") if exact else F.lit(None).cast("double"))
    frame = frame.withColumn("rule", F.element_at(names, F.col("rule") + 1))
    return frame.select(*PAIRS_OUT.names)


def cluster_table(decisions: DataFrame, ids: DataFrame) -> DataFrame:
    """The table of clusters, in the order of their first pages."""
    from pyspark.sql import functions as F

    told = decisions.where("kind = 'cluster'").select(
        F.col("x").alias("row"), F.col("y").alias("size"), "sites", "kept", "diameter", F.col("value").alias("cohesion")
    )
    found = ids.select("row", F.col("id").alias("cluster"))
    return told.join(found, "row").orderBy("row").select(*CLUSTERS.names)
