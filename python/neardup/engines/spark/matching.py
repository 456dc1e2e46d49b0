"""Buckets to accepted pairs, by the kernels of the local engine.

Entries are joined with what their pages are verified by, sorted by bucket, and taken up in whole buckets, thousands at
a time. As in the local engine a pair is taken up only in the bucket of its first shared key, so no pair is found twice
and nothing needs to be made distinct. Sets are not sent along: a pair that their sizes and parities do not rule out
is written down, and joined with the two sets afterwards.

Hot buckets are resolved as the local engine does it (``hot.rs``). What that walk decides for a page depends only on
pages it hangs together with by pairs or by hot buckets; each such group goes to one task, whole, unless it is so large
that it is taken apart first (``salting``).
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from neardup import _native
from neardup.engines.common.layout import Layout
from neardup.engines.common.matching import Sets, SetSites, same_site_of, scores_of, similarity
from neardup.engines.common.packed import bytes_to_lists, whole_groups
from neardup.engines.spark.identity import text_of
from neardup.engines.spark.layout import COLUMNS_A_RULE
from neardup.engines.spark.reading import Batches
from neardup.methods import AnyFingerprint, FixedWidth
from neardup.methods.projections import Projection
from neardup.methods.shingles import Supershingles
from neardup.plan import Glances, HotEntries, PageArrays

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: ``counted`` rows tell how many candidates a call had, and what else hot buckets had to tell.
PAIRS = (
    "rule int, a bigint, b bigint, score double, same_site boolean, b_similarity int, c_similarity int, "
    "counted bigint, accepted bigint, unscored bigint"
)
_SCHEMA = pa.schema(
    [("rule", pa.int32()), ("a", pa.int64()), ("b", pa.int64()), ("score", pa.float64()), ("same_site", pa.bool_()),
     ("b_similarity", pa.int32()), ("c_similarity", pa.int32()), ("counted", pa.int64()), ("accepted", pa.int64()),
     ("unscored", pa.int64())]
)  # fmt: skip


def sites_of(batch: pa.RecordBatch) -> tuple[SetSites, dict[str, int]]:
    """The sites of each row, numbered in their own order: the smallest site of two pages is the same in every batch;
    and which rows have the same tokens, where this is told."""
    lists = batch.column("sites")
    names = lists.flatten()
    distinct = sorted(set(names.to_pylist()))
    numbers = {name: at + 1 for at, name in enumerate(distinct)}
    flat = pc.index_in(names, value_set=pa.array(distinct, pa.string())).to_numpy(zero_copy_only=False)
    flat = flat.astype(np.uint32) + np.uint32(1)
    lengths = pc.list_value_length(lists).to_numpy(zero_copy_only=False).astype(np.int64)
    unknown = np.asarray(batch.column("unknown")).astype(np.int64)
    ends = np.cumsum(lengths + unknown)
    values = np.zeros(int(ends[-1]) if len(ends) else 0, np.uint32)
    # An unknown site is 0, and stands first.
    first = np.repeat(ends - lengths, lengths)
    values[first + np.arange(len(flat)) - np.repeat(np.cumsum(lengths) - lengths, lengths)] = flat
    offsets = np.concatenate([[0], ends]).astype(np.uint64)
    texts = None
    if "text" in batch.schema.names:
        texts = np.unique(batch.column("text").to_numpy(), return_inverse=True)[1].astype(np.uint32)
    return SetSites(offsets, values, texts), numbers


def pairs_batch(
    rule: int,
    rows: npt.NDArray[np.int64],
    found: tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32], npt.NDArray[np.float64]],
    sites: SetSites,
    values: dict[AnyFingerprint, FixedWidth],
) -> pa.RecordBatch:
    """Accepted pairs as rows."""
    # As one array holds them, pairs come in strides.
    a, b, score = np.ascontiguousarray(found[0]), np.ascontiguousarray(found[1]), found[2]

    def optional(numbers: npt.NDArray[np.uint32] | None) -> pa.Array:
        return pa.nulls(len(a), pa.int32()) if numbers is None else pa.array(numbers.astype(np.int32))

    none = pa.nulls(len(a), pa.int64())
    columns = [
        pa.array(np.full(len(a), rule, np.int32)), pa.array(rows[a]), pa.array(rows[b]), pa.array(score),
        pa.array(same_site_of(sites, a, b)), optional(similarity(values, Supershingles, a, b)),
        optional(similarity(values, Projection, a, b)), none, none, none,
    ]  # fmt: skip
    return pa.RecordBatch.from_arrays(columns, schema=_SCHEMA)


def counted(rule: int, candidates: int, accepted: int, unscored: int = 0) -> pa.RecordBatch:
    """What a call had to tell beside its pairs."""
    told: dict[str, Any] = {"rule": rule, "counted": candidates, "accepted": accepted, "unscored": unscored}
    return pa.RecordBatch.from_pylist([told], schema=_SCHEMA)


def ordinary(met: DataFrame, first: DataFrame, layout: Layout) -> DataFrame:
    """The pairs of entries of buckets that are not hot: accepted, or, where sets decide, not ruled out."""
    from pyspark.sql import functions as F

    wanted = [*layout.fixed.values(), *layout.key_lists.values(), *text_of(layout)]
    for number in layout.sets.values():
        wanted += [f"n{number}", f"p{number}"]
    joined = met.select("column", "key", "site", "row").join(first.select("row", "sites", "unknown", *wanted), "row")
    bucket = ("column", "key", "site")

    def look(batches: Batches) -> Batches:
        for batch in whole_groups(batches, bucket):
            rule = batch.column("column").to_numpy() // COLUMNS_A_RULE
            cuts = [0, *(np.flatnonzero(np.diff(rule)) + 1).tolist(), len(rule)]
            for start, stop in pairwise(cuts):
                yield from _look(batch.slice(start, stop - start), int(rule[start]), layout)

    spread = joined.repartition(*bucket).sortWithinPartitions(*bucket, "row")
    return spread.select(*(F.col(name) for name in [*bucket, "row", "sites", "unknown", *wanted])).mapInArrow(
        look, PAIRS
    )


def _look(batch: pa.RecordBatch, at: int, layout: Layout) -> Batches:
    rule = layout.rules[at]
    values = layout.values(batch)
    sites, numbers = sites_of(batch)
    glanced = layout.plan.by_sets(at)
    sets: list[Glances | None] = [None] * len(layout.sets)
    if glanced:
        kind = layout.plan.set_kind(at)
        number = layout.sets[kind]
        sizes = batch.column(f"n{number}").to_numpy().astype(np.uint32)
        sets[layout.plan.set(kind)] = Glances(sizes, bytes_to_lists(batch.column(f"p{number}")))
    key_sites = np.zeros(batch.num_rows, np.uint32)
    if rule.predicate == "same-site":
        key_sites = np.array([numbers[name] for name in batch.column("site").to_pylist()], np.uint32)
    found = layout.plan.native.match_buckets(
        at,
        PageArrays([values[kind] for kind in layout.plan.columns], sets, key_lists_of(batch, layout), units=sites),
        (batch.column("column").to_numpy() - at * COLUMNS_A_RULE).astype(np.uint32),
        np.ascontiguousarray(batch.column("key").to_numpy()).view(np.uint64),
        key_sites,
    )
    if len(found.a):
        yield pairs_batch(at, batch.column("row").to_numpy(), (found.a, found.b, found.score), sites, values)
    yield counted(at, found.candidates, 0 if glanced else len(found.a))


def verified(pairs: DataFrame, first: DataFrame, layout: Layout) -> DataFrame:
    """The pairs of rules whose sets decide, those accepted, with their scores; the others as they are."""
    from pyspark.sql import functions as F

    by_sets = [at for at in range(len(layout.rules)) if layout.plan.by_sets(at)]
    if not by_sets:
        return pairs
    given = [name for name in pairs.columns if name != "score"]
    done = pairs.where(~F.col("rule").isin(by_sets) | F.col("a").isNull())
    for at in by_sets:
        name = f"s{layout.sets[layout.plan.set_kind(at)]}"
        least, of_larger = layout.rules[at].verify.least, layout.plan.of_larger(at)
        sets = first.select("row", name)
        mine = pairs.where((F.col("rule") == at) & F.col("a").isNotNull()).drop("score")
        mine = mine.join(sets.withColumnRenamed(name, "set_a").withColumnRenamed("row", "a"), "a")
        mine = mine.join(sets.withColumnRenamed(name, "set_b").withColumnRenamed("row", "b"), "b")

        def score(batches: Batches, least: float = least, of_larger: bool = of_larger, at: int = at) -> Batches:
            for batch in batches:
                count = batch.num_rows
                if not count:
                    continue
                both = pa.concat_arrays([bytes_to_lists(batch.column("set_a")), bytes_to_lists(batch.column("set_b"))])
                numbers = np.arange(count, dtype=np.uint32)
                scores = _native.jaccard(both, numbers, numbers + np.uint32(count))
                if of_larger:
                    scores = _of_larger(scores, pc.list_value_length(both).to_numpy().reshape(2, count))
                columns = [
                    pa.array(scores) if name == "score" else batch.column(name).cast(_SCHEMA.field(name).type)
                    for name in _SCHEMA.names
                ]
                accepted = scores >= least
                yield pa.RecordBatch.from_arrays(columns, schema=_SCHEMA).filter(pa.array(accepted))
                yield counted(at, 0, int(accepted.sum()))

        done = done.unionByName(mine.select(*given, "set_a", "set_b").mapInArrow(score, PAIRS))
    return done


def _of_larger(jaccard: npt.NDArray[np.float64], sizes: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """What two sets share of the larger one; the number they share is whole, so that rounding loses nothing."""
    shared = np.rint(jaccard * sizes.sum(axis=0) / (1 + jaccard))
    return np.asarray(shared / np.maximum(sizes.max(axis=0), 1))


def evidence_columns(layout: Layout) -> list[str]:
    """The columns that pairs of hot buckets are found and verified by."""
    wanted = [*layout.fixed.values(), *layout.key_lists.values(), *text_of(layout)]
    for number in layout.sets.values():
        wanted += [f"p{number}", f"s{number}"]
    return wanted


def key_lists_of(batch: pa.RecordBatch, layout: Layout) -> list[pa.LargeListArray | None]:
    """The keys of the pages of a batch, for rules that choose them by rarity."""
    names = (layout.key_lists.get(at) for at in range(len(layout.rules)))
    return [None if name is None else bytes_to_lists(batch.column(name)) for name in names]


def group_arrays(batch: pa.RecordBatch, layout: Layout, sites: SetSites) -> PageArrays:
    """All that is held of the pages of a batch."""
    values = layout.values(batch)
    sets = [
        Sets([bytes_to_lists(batch.column(f"s{number}"))], [bytes_to_lists(batch.column(f"p{number}"))])
        for number in (layout.sets[kind] for kind in layout.plan.sets)
    ]
    return PageArrays([values[kind] for kind in layout.plan.columns], sets, key_lists_of(batch, layout), units=sites)


def hot_entries(batch: pa.RecordBatch, numbers: dict[str, int]) -> HotEntries:
    """Of each entry in a hot bucket its rule, column, key, site and page, the latter two as numbers in the batch."""
    lists = batch.column("hot")
    flat = lists.flatten()
    column = flat.field("column").to_numpy(zero_copy_only=False)
    key = np.ascontiguousarray(flat.field("key").to_numpy(zero_copy_only=False)).view(np.uint64)
    known = pc.index_in(flat.field("site"), value_set=pa.array(list(numbers), pa.string()))
    # The names of all sites in their order, numbered from 1; a bucket of no site has 0.
    site = pc.fill_null(known, -1).to_numpy(zero_copy_only=False).astype(np.int64) + 1
    page = pc.list_parent_indices(lists).to_numpy(zero_copy_only=False)
    return HotEntries(
        rule=(column // COLUMNS_A_RULE).astype(np.uint32),
        column=(column % COLUMNS_A_RULE).astype(np.uint32),
        key=key,
        site=site.astype(np.uint32),
        page=page.astype(np.uint32),
    )


def resolved(groups: DataFrame, hot: DataFrame, first: DataFrame, layout: Layout, recorded: int) -> DataFrame:
    """The pairs of hot buckets. ``groups`` has of each page of a hot group its row and its group, ``hot`` of each page
    in hot buckets its entries there."""
    columns = ["group", "row", "sites", "unknown", "preference", "best", "hot", *evidence_columns(layout)]
    joined = groups.select("group", "row").join(first, "row").join(hot, "row", "left").select(*columns)

    def resolve(batches: Batches) -> Batches:
        for batch in whole_groups(batches, ["group"]):
            yield from _resolve(batch, layout, recorded)

    return joined.repartition("group").sortWithinPartitions("group", "row").mapInArrow(resolve, PAIRS)


def _resolve(batch: pa.RecordBatch, layout: Layout, recorded: int) -> Batches:
    values = layout.values(batch)
    sites, numbers = sites_of(batch)
    order = np.lexsort((batch.column("best").to_numpy(), batch.column("preference").to_numpy())).astype(np.uint32)
    found = layout.plan.native.resolve_hot(
        group_arrays(batch, layout, sites), order, hot_entries(batch, numbers), recorded=recorded
    )
    rows = batch.column("row").to_numpy()
    for at, pairs in enumerate(found):
        if len(pairs.a):
            yield pairs_batch(at, rows, (pairs.a, pairs.b, pairs.score), sites, values)
        yield counted(at, pairs.candidates, pairs.accepted, pairs.unscored)


def united(pairs: DataFrame, layout: Layout) -> DataFrame:
    """All accepted pairs, each once; one that several rules accepted is told by its highest score, then first rule."""
    from pyspark.sql import functions as F

    kept = ["rule", "score", "same_site", "b_similarity", "c_similarity"]
    accepted = pairs.where("a is not null").select("a", "b", *kept)
    if len(layout.rules) == 1:
        return accepted
    told = F.struct((-F.col("score")).alias("worse"), *(F.col(name) for name in kept))
    best = accepted.groupBy("a", "b").agg(F.min(told).alias("best"))
    return best.select("a", "b", *(F.col(f"best.{name}").alias(name) for name in kept))


def calibrated(pairs: DataFrame, layout: Layout) -> DataFrame:
    """What rules measured as ``measured``, and as ``score`` the probability of it where a rule knows that."""
    from pyspark.sql import functions as F

    from neardup.engines.spark.reading import arrow_schema, fitted

    pairs = pairs.withColumn("measured", F.col("score"))
    if all(rule.calibration is None for rule in layout.rules):
        return pairs
    declared = ", ".join(f"{name} {kind}" for name, kind in pairs.dtypes)
    schema = arrow_schema(pairs.sparkSession, declared)
    rules = layout.rules

    def calibrate(batches: Batches) -> Batches:
        def made() -> Batches:
            for batch in batches:
                # By the function of the local engine: another exponential might differ in the last bit.
                which, measured = batch.column("rule").to_numpy(), batch.column("measured").to_numpy()
                at = batch.schema.get_field_index("score")
                yield batch.set_column(at, "score", pa.array(scores_of(rules, which, measured)))

        return fitted(made(), schema)

    return pairs.mapInArrow(calibrate, declared)


def undecided(pairs: DataFrame, layout: Layout) -> dict[int, int]:
    """Of rules that give probabilities, how many pairs are too near to one half to be sure."""
    unsure = {}
    for at, rule in enumerate(layout.rules):
        if rule.calibration is not None:
            unsure[at] = pairs.where(f"rule = {at} and score < {rule.calibration.undecided[1]}").count()
    return unsure
