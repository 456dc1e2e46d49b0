"""Hot groups too large for one task, taken apart before they are resolved.

Idea (``links.rs``): what is decided in a hot bucket depends only on pages that hang together by accepted pairs. The
pages of a large group are dealt out over *salts*; a task gets the pages of two salts, or of one, and tells by few links
which of them hang together. The components of all links, and of the pairs known already, are the groups that are then
resolved, each in one task: real clusters, and no longer all pages that share a template.

Cost: with n salts n(n + 1)/2 tasks, each page sent n times; n grows with the group up to ``MOST_SALTS``. Links are at
most n times the pages.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from neardup.engines.common.layout import Layout
from neardup.engines.common.packed import whole_groups
from neardup.engines.spark.components import components
from neardup.engines.spark.matching import evidence_columns, group_arrays, hot_entries, sites_of
from neardup.engines.spark.reading import Batches
from neardup.engines.spark.working import Working

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: Pages of a hot group that one task resolves: 5·10⁹ comparisons at most, some seconds.
ONE_TASK: Final = 100_000
#: Pages of a salt, while there are few salts.
PAGES_A_SALT: Final = 25_000
MOST_SALTS: Final = 64
#: Partitions that pieces are spread over at most.
_MOST_TASKS: Final = 4096


@dataclass(frozen=True, slots=True)
class Salted:
    """What was taken apart, as ``run.json`` tells it."""

    #: Hot groups of more pages than one task resolves, their pages, and the tasks these were dealt out over.
    groups: int = 0
    pages: int = 0
    tasks: int = 0

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Salting:
    """When groups are taken apart; tests do it with few pages."""

    one_task: int = ONE_TASK
    pages_a_salt: int = PAGES_A_SALT


def apart(
    groups: DataFrame,
    hot: DataFrame,
    tied: DataFrame,
    first: DataFrame,
    layout: Layout,
    working: Working,
    together: int,
    salting: Salting,
) -> tuple[DataFrame, Salted]:
    """The groups, with those of very many pages taken apart. ``groups`` has ``row`` and ``group``, ``hot`` the entries
    in hot buckets of each row, ``tied`` what hangs together without these."""
    from pyspark.sql import functions as F

    counted = groups.groupBy("group").agg(F.count("*").alias("pages")).where(F.col("pages") > salting.one_task)
    salts = F.least(F.lit(MOST_SALTS), F.ceil(F.col("pages") / salting.pages_a_salt)).cast("int")
    large = working.keep(counted.withColumn("salts", salts), "large-groups")
    told = large.selectExpr("count(*)", "sum(pages)", "sum(salts * (salts + 1) div 2)").collect()[0]
    if not told[0]:
        return groups, Salted()
    salted = Salted(*(int(number) for number in told))
    dealt = groups.join(F.broadcast(large), "group")
    dealt = dealt.withColumn("salt", F.pmod(F.xxhash64("row"), F.col("salts")).cast("int"))
    dealt = working.keep(dealt.select("group", "row", "salt", "salts"), "dealt")
    links = working.keep(_links(dealt, hot, first, layout, min(salted.tasks, _MOST_TASKS)), "links")
    rows = dealt.select(F.col("row").alias("a"))
    known = tied.join(rows, "a", "left_semi")
    label = components(links.unionByName(known), working, together)
    linked = links.select(F.col("a").alias("page")).join(label, "page").select("component").distinct()
    pieces = label.join(linked, "component").select(F.col("page").alias("row"), F.col("component").alias("group"))
    others = groups.join(F.broadcast(large), "group", "left_anti").select("row", "group")
    return others.unionByName(pieces), salted


def _links(dealt: DataFrame, hot: DataFrame, first: DataFrame, layout: Layout, tasks: int) -> DataFrame:
    from pyspark.sql import functions as F

    columns = ["sites", "unknown", *evidence_columns(layout)]
    joined = dealt.join(hot, "row").join(first.select("row", *columns), "row")
    joined = joined.withColumn("other", F.explode(F.sequence(F.lit(0), F.col("salts") - 1)))
    piece = ("group", "low", "high")
    sent = joined.select(
        "group", F.least("salt", "other").alias("low"), F.greatest("salt", "other").alias("high"), "row", "salt", "hot",
        *columns,
    )  # fmt: skip

    def link(batches: Batches) -> Batches:
        for batch in whole_groups(batches, piece, worth=1):
            sites, numbers = sites_of(batch)
            a, b = layout.plan.native.hot_links(
                group_arrays(batch, layout, sites),
                hot_entries(batch, numbers),
                batch.column("salt").to_numpy().astype(np.uint32),
            )
            rows = batch.column("row").to_numpy()
            yield pa.RecordBatch.from_pydict({"a": pa.array(rows[a]), "b": pa.array(rows[b])})

    # A number of partitions that is given is kept: by their bytes, small pieces of much work would be put together.
    spread = sent.repartition(tasks, *piece).sortWithinPartitions(*piece, "row")
    return spread.mapInArrow(link, "a bigint, b bigint")
