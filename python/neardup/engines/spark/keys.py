"""Keys to buckets: which first members share a key, and which keys are hot.

Every first member has an *entry* for each of its keys (and, where a rule is for pairs on one site, for each of its
sites): a bucket's column, key and site, and the row. Entries meet by a shuffle of some 20 bytes each; those alone in
their bucket, nearly all, are dropped there. Only the rest is ever joined with fingerprints.

A bucket of more than ``Settings.hot_beyond`` entries is hot, as in the local engine. That engine also stops joining,
from the smallest bucket on, when too many pairs were possible; here the same limit is found from the sizes of all
buckets at once. Below it both engines verify the same pairs; above it they agree on what stays and on clusters, not on
how many of the pairs between pages that go are listed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from neardup import _native
from neardup.engines.common.layout import Layout
from neardup.engines.common.packed import bytes_to_lists, lists_to_bytes, whole_groups
from neardup.engines.spark.layout import COLUMNS_A_RULE
from neardup.engines.spark.reading import Batches
from neardup.engines.spark.skew import with_counts
from neardup.engines.spark.working import Working

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

ENTRIES = "column int, key bigint, site string, row bigint"
#: What makes a bucket.
BUCKET = ("column", "key", "site")


def entries(first: DataFrame, layout: Layout) -> DataFrame:
    """All entries of all rules."""
    wanted = sorted({*layout.fixed.values(), *layout.key_lists.values()})

    def make(batches: Batches) -> Batches:
        for batch in batches:
            if batch.num_rows:
                yield from _entries(batch, layout)

    return first.select("row", "sites", *wanted).mapInArrow(make, ENTRIES)


def _entries(batch: pa.RecordBatch, layout: Layout) -> Batches:
    values = layout.values(batch)
    rows = batch.column("row").to_numpy()
    for at, rule in enumerate(layout.rules):
        if at in layout.key_lists:
            lists = bytes_to_lists(batch.column(f"k{at}"))
            keys, owner = lists.flatten().to_numpy(), pc.list_parent_indices(lists).to_numpy()
            columns = np.full(len(keys), at * COLUMNS_A_RULE, np.int32)
        else:
            made = layout.plan.keys(at, values)
            keys, owner = made.reshape(-1), np.repeat(np.arange(len(rows)), made.shape[1])
            columns = np.tile(np.arange(made.shape[1], dtype=np.int32) + at * COLUMNS_A_RULE, len(rows))
        sites = pa.nulls(len(keys), pa.string()).fill_null("")
        if rule.predicate == "same-site":
            known = batch.column("sites")
            counts = pc.list_value_length(known).to_numpy(zero_copy_only=False).astype(np.int64)[owner]
            starts = (np.cumsum(np.concatenate([[0], pc.list_value_length(known).to_numpy()])))[owner]
            # Each entry once for every site of its page.
            again = np.repeat(np.arange(len(keys)), counts)
            within = np.arange(len(again)) - np.repeat(np.cumsum(counts) - counts, counts)
            sites = known.flatten().take(pa.array(starts[again] + within))
            keys, owner, columns = keys[again], owner[again], columns[again]
        yield pa.RecordBatch.from_arrays(
            [
                pa.array(columns),
                pa.array(np.ascontiguousarray(keys).view(np.int64)),
                sites.cast(pa.string()),
                pa.array(rows[owner]),
            ],
            names=["column", "key", "site", "row"],
        )


def shared(first: DataFrame, layout: Layout, hot: int, working: Working | None) -> DataFrame:
    """The entries that are not alone in their bucket, with its size as ``entries``; of buckets that may be very full
    where there is a working folder."""
    return with_counts(
        first,
        lambda pages: entries(pages, layout),
        BUCKET,
        "entries",
        many=hot,
        working=working,
    )


def rarest(first: DataFrame, layout: Layout, hot: int, working: Working | None) -> DataFrame:
    """The first members with the keys of rules that choose them by rarity: the rarest numbers of each set, so many that
    two sets that share enough share one of them (see ``prefix.rs``)."""
    from pyspark.sql import functions as F

    for at, name in layout.key_lists.items():
        number = layout.sets[layout.plan.set_kind(at)]
        least = layout.plan.least_jaccard(at)

        def explode(batches: Batches, column: str = f"s{number}") -> Batches:
            for batch in batches:
                lists = bytes_to_lists(batch.column(column))
                sizes = pc.list_value_length(lists).to_numpy()
                owner = pc.list_parent_indices(lists).to_numpy()
                yield pa.RecordBatch.from_pydict(
                    {
                        "number": pa.array(lists.flatten().to_numpy().view(np.int64)),
                        "row": pa.array(batch.column("row").to_numpy()[owner]),
                        "size": pa.array(sizes[owner].astype(np.int32)),
                    }
                )

        def choose(batches: Batches, least: float = least, name: str = name) -> Batches:
            for batch in whole_groups(batches, ["row"]):
                rows, lists = _prefixes(batch, least)
                yield pa.RecordBatch.from_pydict({"row": pa.array(rows), name: lists_to_bytes(lists)})

        def exploded(pages: DataFrame, explode: Any = explode, column: str = f"s{number}") -> DataFrame:
            return pages.select("row", column).mapInArrow(explode, "number bigint, row bigint, size int")

        repeated = with_counts(first, exploded, ["number"], "pages", many=hot, working=working)
        chosen = (
            repeated.repartition("row").sortWithinPartitions("row").mapInArrow(choose, f"row bigint, {name} binary")
        )
        # A page all of whose numbers are its own has no keys.
        nothing = F.lit(b"").cast("binary")
        first = first.join(chosen, "row", "left").withColumn(name, F.coalesce(F.col(name), nothing))
    return first


def _prefixes(batch: pa.RecordBatch, least: float) -> tuple[npt.NDArray[np.int64], pa.LargeListArray]:
    rows, numbers = batch.column("row").to_numpy(), batch.column("number").to_numpy().view(np.uint64)
    size, pages = batch.column("size").to_numpy().astype(np.int64), batch.column("pages").to_numpy()
    order = np.lexsort((numbers, pages, rows))
    rows, numbers, size = rows[order], numbers[order], size[order]
    distinct, start, count = np.unique(rows, return_index=True, return_counts=True)
    needed = np.maximum(np.ceil(least * size[start] - 1e-9), 1).astype(np.int64)
    # Numbers of one page only come first of all, and are no keys.
    room = size[start] + 1 - needed - (size[start] - count)
    chosen = np.arange(len(rows)) - np.repeat(start, count) < np.repeat(room, count)
    rows, numbers = rows[chosen], numbers[chosen]
    ascending = np.lexsort((numbers, rows))
    rows, numbers = rows[ascending], numbers[ascending]
    offsets = np.concatenate([[0], np.searchsorted(rows, distinct, side="right")])
    kind = pa.large_list(pa.field("item", pa.uint64(), nullable=False))
    return distinct, pa.LargeListArray.from_arrays(pa.array(offsets), pa.array(numbers), type=kind)


def rule_of_entry() -> Column:
    """The number of the rule that an entry is of."""
    from pyspark.sql import functions as F

    return F.floor(F.col("column") / COLUMNS_A_RULE).cast("int")


def bucket_sizes(met: DataFrame) -> list[tuple[int, int, int]]:
    """(rule, entries of a bucket, how many such buckets), for buckets of two and more."""
    from pyspark.sql import functions as F

    by_size = met.groupBy(rule_of_entry().alias("rule"), "entries")
    counted = by_size.agg((F.count("*") / F.col("entries")).cast("bigint").alias("buckets"))
    return sorted((row["rule"], row["entries"], row["buckets"]) for row in counted.collect())


def hot_limit(sizes: Iterable[tuple[int, int, int]], hot: int, most: int) -> int:
    """Buckets of more entries than this are hot, of which more than ``hot`` always are; ``most`` pairs of a rule are
    looked at.

    >>> hot_limit([(0, 2, 1000), (0, 30, 1)], 20, 1 << 26)
    20
    >>> hot_limit([(0, 2, 1000), (0, 20_000, 10)], 20_000, 1 << 26)
    19999
    """
    limit = hot
    possible: dict[int, int] = {}
    for rule, entries_, buckets in sorted(sizes):
        possible[rule] = possible.get(rule, 0) + buckets * entries_ * (entries_ - 1) // 2
        if possible[rule] > most:
            limit = min(limit, max(entries_ - 1, _native.FEW_ENTRIES))
    return limit
