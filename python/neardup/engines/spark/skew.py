"""Keys that very many rows share, counted without bringing the rows of one to one task.

Idea: how many rows have a key is told by a window, which costs one shuffle, but holds all rows of a key in one task. A
key is *heavy* if a small sample of the pages shows it often. Rows of heavy keys stay where they are: they are counted
by an aggregation, whose partial counts are all that moves, and the counts are sent to every task. The sample decides
which way a key goes, never what is counted.

Cost: one job over the sample; where a key is heavy, what makes the rows runs three times instead of once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from neardup.engines.spark.working import Working

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: How often a key of as many rows as one task may hold stands in the sample, on average.
_IN_SAMPLE: Final = 40
#: Heavy keys that are sent to every task; of more the most frequent.
_MOST: Final = 100_000


def with_counts(
    pages: DataFrame,
    rows_of: Callable[[DataFrame], DataFrame],
    key: Sequence[str],
    name: str,
    *,
    many: int,
    working: Working | None,
) -> DataFrame:
    """The rows that ``rows_of`` makes of the pages, with how many of them have the same key as column ``name``; those
    that are alone with theirs are left out. Keys of more than ``many`` rows are likely to be found heavy; without a
    working folder none is looked for."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    rows = rows_of(pages)
    same = Window.partitionBy(*key)

    def by_window(rows: DataFrame) -> DataFrame:
        return rows.withColumn(name, F.count("*").over(same)).where(F.col(name) > 1)

    heavy = None if working is None else _heavy(pages, rows_of, key, many, working)
    if working is None or heavy is None:
        return by_window(rows)
    counts = rows.join(F.broadcast(heavy), list(key)).groupBy(*key).agg(F.count("*").alias(name))
    # Written down: what is joined with the rows must not be made of the same rows in one plan.
    counts = working.keep(counts.where(F.col(name) > 1), "heavy-counts")
    of_heavy = rows.join(F.broadcast(counts), list(key))
    others = by_window(rows.join(F.broadcast(heavy), list(key), "left_anti"))
    return others.unionByName(of_heavy.select(*others.columns))


def _heavy(
    pages: DataFrame, rows_of: Callable[[DataFrame], DataFrame], key: Sequence[str], many: int, working: Working
) -> DataFrame | None:
    from pyspark.sql import functions as F

    share = min(1.0, _IN_SAMPLE / many)
    # Half of what is expected at ``many``: a key of that many rows is all but never missed.
    often = max(2, int(share * many / 2))
    counted = rows_of(pages.sample(fraction=share, seed=0)).groupBy(*key).agg(F.count("*").alias("seen"))
    heavy = counted.where(F.col("seen") >= often).orderBy(F.desc("seen")).limit(_MOST).select(*key)
    kept = working.keep(heavy, "heavy")
    return None if kept.isEmpty() else kept
