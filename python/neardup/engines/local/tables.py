"""The tables a run gives back: pages, pairs, clusters; their schemas are a contract.

Pages and pairs are many, so their tables are made group by group as they are written or asked for: what a run holds of
them is numbers, and the ids.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup import _native
from neardup.engines.common.accepted import AcceptedPairs
from neardup.engines.common.settings import Settings
from neardup.engines.local.earlier import Earlier, WithEarlier
from neardup.engines.local.matches import Matches
from neardup.engines.local.matching import site_numbers
from neardup.engines.local.reading import Collection
from neardup.graph import between_sets, cluster_diameters, clusters_table, ends_of_sets, remove
from neardup.lazy import later
from neardup.methods.statistics import CollectionStatistics
from neardup.record import record
from neardup.sinks import ROW_GROUP_ROWS

pc = later("pyarrow.compute")

PAGES_OUT: Final = pa.schema(
    [
        pa.field("row", pa.uint64(), nullable=False),
        pa.field("id", pa.string(), nullable=False),
        pa.field("url", pa.string()),
        pa.field("site", pa.string()),
        pa.field("title", pa.string()),
        pa.field("tokens", pa.int64(), nullable=False),
        pa.field("identity", pa.string(), nullable=False),
        pa.field("cluster", pa.string(), nullable=False),
        pa.field("kept", pa.bool_(), nullable=False),
        pa.field("kept_instead", pa.string()),
        pa.field("reason", pa.string(), nullable=False),
        pa.field("source", pa.string(), nullable=False),
        pa.field("offset", pa.int64()),
        pa.field("length", pa.int64()),
    ]
)

PAIRS_OUT: Final = pa.schema(
    [
        pa.field("a", pa.string(), nullable=False),
        pa.field("b", pa.string(), nullable=False),
        pa.field("row_a", pa.uint64(), nullable=False),
        pa.field("row_b", pa.uint64(), nullable=False),
        pa.field("same_site", pa.bool_(), nullable=False),
        pa.field("score", pa.float64(), nullable=False),
        pa.field("b_similarity", pa.int32()),
        pa.field("c_similarity", pa.int32()),
        pa.field("jaccard", pa.float64()),
        pa.field("rule", pa.string(), nullable=False),
        pa.field("tree", pa.bool_(), nullable=False),
    ]
)

#: Pairs with pages of earlier runs: ``a`` is a page of ``run``, ``b`` one of this.
AGAINST_OUT: Final = pa.schema(
    [
        pa.field("a", pa.string(), nullable=False),
        pa.field("run", pa.string(), nullable=False),
        *(PAIRS_OUT.field(name) for name in PAIRS_OUT.names if name not in ("a", "row_a", "tree")),
    ]
)

#: The pages of earlier runs in clusters that a page of this run is in; ``page`` and ``row`` are id and row in ``run``.
EARLIER_OUT: Final = pa.schema(
    [
        pa.field("id", pa.string(), nullable=False),
        pa.field("run", pa.string(), nullable=False),
        pa.field("page", pa.string(), nullable=False),
        pa.field("row", pa.uint64(), nullable=False),
        *(PAGES_OUT.field(name) for name in ("site", "tokens", "identity", "cluster")),
    ]
)

#: Why a page stays or goes, in the column ``reason``.
REASONS: Final = {
    "unique": "stays: nothing like it was found",
    "chosen": "stays: the keep policy prefers it to the pages removed for it",
    "apart": "stays: in a cluster, but accepted against no page that stays",
    "empty": "stays: it has no tokens, and empty pages never match",
    "short": "stays: too few tokens to be compared, and none identical before it",
    "identical": "goes: the same tokens as the page kept instead",
    "near-duplicate": "goes: accepted against the page kept instead",
    "rejected": "stays: a person said that its cluster is none",
    "seen-identical": "goes: the same tokens as the page kept instead, which is of an earlier run",
    "seen-near-duplicate": "goes: accepted against the page kept instead, which is of an earlier run",
    "earlier": "stays: a page that an earlier run kept, shown beside those of this run; in no `pages.parquet`",
}


@record(frozen=True, slots=True)
class Groups:
    """A table as groups of rows that are made when they are asked for, each time anew. Texts that repeat may stand in a
    group as a dictionary and places in it.

    >>> table = pa.table({"row": [7]})
    >>> groups = Groups(table.schema, lambda: iter([table]))
    >>> groups.table().to_pylist()
    [{'row': 7}]
    """

    schema: pa.Schema
    make: Callable[[], Iterator[pa.Table]]

    def __iter__(self) -> Iterator[pa.Table]:
        return self.make()

    def table(self) -> pa.Table:
        """All of it."""
        plain = (group.cast(self.schema) for group in self)
        return pa.concat_tables([self.schema.empty_table(), *plain]).combine_chunks()


#: Rows of the table of pages, given by their numbers in ascending order.
PagesAt = Callable[[npt.NDArray[np.uint32]], pa.Table]


@record(frozen=True)
class Outcome:
    """Everything a run found."""

    page_groups: Groups
    pages_at: PagesAt
    pair_groups: Groups
    clusters: pa.Table
    #: What ``run.json`` says.
    report: dict[str, Any]
    #: For each page the first page of its cluster.
    cluster: npt.NDArray[np.uint32] | None = None
    #: Pairs with pages of earlier runs, where the run was against such, and these pages.
    against: pa.Table | None = None
    earlier: pa.Table | None = None
    #: What fingerprints were computed with, where the detector needs statistics of the collection.
    statistics: CollectionStatistics | None = None
    #: All that was not read, where there is more of it than ``report`` names.
    unread: Groups | None = None

    @cached_property
    def pages(self) -> pa.Table:
        """The table of pages, whole."""
        return self.page_groups.table()

    @cached_property
    def pairs(self) -> pa.Table:
        """The table of pairs, whole."""
        return self.pair_groups.table()


@record(frozen=True, slots=True)
class Tables:
    """The three tables, and the counts that are told of them."""

    pages: Groups
    pages_at: PagesAt
    pairs: Groups
    clusters: pa.Table
    counts: dict[str, int]
    #: How many pairs were accepted, and which of them ``pairs`` holds.
    accepted: AcceptedPairs
    #: Of each page its id, and whether it stays.
    ids: pa.Array
    kept: npt.NDArray[np.bool_]
    #: For each page the first page of its cluster, where all pages of a cluster are of this run.
    cluster: npt.NDArray[np.uint32] | None
    #: Pairs with pages of earlier runs, where there are such, and these pages.
    against: pa.Table | None = None
    earlier: pa.Table | None = None


def assemble(
    collection: Collection, matches: Matches, settings: Settings, earlier: WithEarlier | None = None
) -> Tables:
    """From pages and pairs to clusters, removals and the tables. With pages of earlier runs in front, all is decided
    over both, and the tables are of the new pages."""
    with ThreadPoolExecutor(1, thread_name_prefix="neardup-tables") as beside:
        return _assembled(collection, matches, settings, earlier, beside)


def _assembled(
    collection: Collection,
    matches: Matches,
    settings: Settings,
    earlier: WithEarlier | None,
    beside: ThreadPoolExecutor,
) -> Tables:
    behind = earlier.earlier.count if earlier is not None else 0
    count = collection.count + behind
    rows = np.arange(count, dtype=np.uint32)
    # Forest and diameters are needed last, and nothing before them waits for them.
    # Of identity sets, whose pages hang together without pairs.
    a, b = ends_of_sets(matches.identity, matches.a, matches.b)
    forest = beside.submit(_native.spanning_forest, count, a, b, matches.score)
    between = between_sets(matches.identity, matches.a, matches.b)
    ids, repeated = unique_ids(collection.columns(["id", "source", "record"]))
    if earlier is not None:
        ids = pa.concat_arrays([earlier.earlier.names(ids), ids])
    told_of: Collection | WithEarlier = collection if earlier is None else earlier
    cluster = _native.components(
        count, np.concatenate([matches.a, matches.identity]), np.concatenate([matches.b, rows])
    )
    diameter = beside.submit(cluster_diameters, cluster, between)
    tokens = told_of.column("tokens").to_numpy()
    removed = remove(
        matches.order,
        matches.identity,
        cluster,
        (matches.a, matches.b, matches.score),
        settings.removal,
        units=matches.unit,
        settled=behind,
    )
    kept = removed.instead == rows
    # What an earlier run kept is there, whatever else is like it.
    kept[:behind] = True
    reason = page_reasons(
        kept, removed.instead, removed.identical, cluster, tokens, settings.reading.min_tokens, removed.instead < behind
    )

    as_read = ["url", "site", "title", "tokens", "source", "offset", "length"]
    reasons = pa.array(list(REASONS), pa.string())

    def pages_table(here: npt.NDArray[np.uint32], told: pa.Table) -> pa.Table:
        stays = kept[here]
        columns = {
            "row": pa.array(here - np.uint32(behind), pa.uint64()),
            "id": ids.take(pa.array(here)),
            **{name: told.column(name) for name in told.column_names},
            # Most pages are alone: a dictionary would hold nearly as many ids, and be larger and dearer than they are.
            "identity": ids.take(pa.array(matches.identity[here])),
            "cluster": ids.take(pa.array(cluster[here])),
            "kept": pa.array(stays),
            "kept_instead": _named(ids, removed.instead[here], ~stays),
            "reason": _named(reasons, reason[here]),
        }
        return _group(PAGES_OUT, columns)

    def page_groups() -> Iterator[pa.Table]:
        start = behind
        for told in collection.groups(as_read):
            yield pages_table(rows[start : start + told.num_rows], told)
            start += told.num_rows

    def pages_at(wanted: npt.NDArray[np.uint32]) -> pa.Table:
        return pages_table(wanted + np.uint32(behind), collection.at(as_read, wanted)).cast(PAGES_OUT)

    clusters = clusters_table(
        ids,
        cluster,
        matches.identity,
        site_numbers(told_of.column("site")),
        kept,
        between,
        diameter.result(),
        matches.crowded,
    )
    known: pa.Table | None = None
    if earlier is not None:
        # Of clusters that a new page is in.
        new = np.bincount(cluster[behind:], minlength=count) > 0
        clusters = clusters.filter(pa.array(new[np.bincount(cluster, minlength=count) >= 2]))
        known = _earlier(earlier.earlier, ids, rows[:behind][new[cluster[:behind]]], matches.identity, cluster)
    tree = forest.result()
    own = np.flatnonzero(matches.a >= behind)
    too_many = len(own) > settings.most_held(collection.count)
    held = own[tree[own]] if too_many else own
    accepted = AcceptedPairs.of(len(own), matches.rules, too_many, earlier is not None)

    def pair_groups() -> Iterator[pa.Table]:
        for start in range(0, len(held), ROW_GROUP_ROWS):
            yield _pairs_table(ids, matches, tree, held[start : start + ROW_GROUP_ROWS], behind)

    mine = slice(behind, None)
    counts = {
        "pages": collection.count,
        "empty": int((tokens[mine] == 0).sum()),
        "short": int(((tokens[mine] > 0) & (tokens[mine] < settings.reading.min_tokens)).sum()),
        "identity_sets": int((matches.identity == rows)[mine].sum()),
        "identical": int((matches.identity != rows)[mine].sum()),
        "pairs": accepted.in_all,
        "clusters": clusters.num_rows,
        "clustered": int(pc.sum(clusters.column("size")).as_py() or 0),
        "kept": int(kept[mine].sum()),
        "removed": int(collection.count - kept[mine].sum()),
        "repeated_ids": repeated,
        "wrong_charset": collection.tally.replaced,
        "skipped": collection.tally.skipped,
        "ignored": sum(collection.tally.ignored.values()),
    }
    return Tables(
        Groups(PAGES_OUT, page_groups),
        pages_at,
        Groups(PAIRS_OUT, pair_groups),
        clusters,
        counts,
        accepted,
        ids[behind:],
        kept[mine],
        cluster if earlier is None else None,
        None if earlier is None else _against(earlier, ids, matches, behind),
        known,
    )


def _earlier(
    earlier: Earlier,
    ids: pa.Array,
    rows: npt.NDArray[np.uint32],
    identity: npt.NDArray[np.uint32],
    cluster: npt.NDArray[np.uint32],
) -> pa.Table:
    """Some pages of earlier runs, as the result tells of them."""
    at = pa.array(rows)
    columns = {
        "id": ids.take(at),
        "run": earlier.column("run").take(at),
        "page": earlier.column("id").take(at),
        "row": earlier.column("row").take(at).cast(pa.uint64()),
        "site": earlier.column("site").take(at),
        "tokens": earlier.column("tokens").take(at),
        "identity": ids.take(pa.array(identity[rows])),
        "cluster": ids.take(pa.array(cluster[rows])),
    }
    return pa.table(columns).cast(EARLIER_OUT)


def _against(earlier: WithEarlier, ids: pa.Array, matches: Matches, behind: int) -> pa.Table:
    """The accepted pairs of a page of an earlier run and a new one."""
    found = np.flatnonzero(matches.a < behind)
    pairs = _pairs_table(ids, matches, np.zeros(len(matches.a), bool), found, behind, check=False)
    runs = earlier.earlier.column("run").take(pa.array(matches.a[found]))
    columns = {name: pairs.column(name) for name in AGAINST_OUT.names if name != "run"} | {"run": runs}
    return _group(AGAINST_OUT, columns).cast(AGAINST_OUT)


def _pairs_table(
    ids: pa.Array,
    matches: Matches,
    tree: npt.NDArray[np.bool_],
    held: npt.NDArray[np.int64],
    behind: int = 0,
    check: bool = True,
) -> pa.Table:
    def optional(values: npt.NDArray[Any] | None, kind: pa.DataType) -> pa.Array:
        return pa.nulls(len(held), kind) if values is None else pa.array(values[held]).cast(kind)

    names = pa.array([rule.rule for rule in matches.rules], pa.string())
    a, b = matches.a[held], matches.b[held]
    columns = {
        "a": _named(ids, a),
        "b": _named(ids, b),
        # An earlier page has no row of its own; its table has no such column.
        "row_a": pa.array(a - np.uint32(behind) if check else a, pa.uint64()),
        "row_b": pa.array(b - np.uint32(behind), pa.uint64()),
        "same_site": pa.array(matches.same_site[held]),
        "score": pa.array(matches.score[held]),
        "b_similarity": optional(matches.b_similarity, pa.int32()),
        "c_similarity": optional(matches.c_similarity, pa.int32()),
        "jaccard": optional(matches.jaccard, pa.float64()),
        "rule": _named(names, matches.rule[held]),
        "tree": pa.array(tree[held]),
    }
    return _group(PAIRS_OUT, columns)


def _named(names: pa.Array, rows: npt.NDArray[Any], valid: npt.NDArray[np.bool_] | None = None) -> pa.DictionaryArray:
    """Names by their rows, each name once: a page is in many pairs, and its id may be long."""
    coded = pa.array(rows, mask=None if valid is None else ~valid).dictionary_encode()
    return pa.DictionaryArray.from_arrays(coded.indices, names.take(coded.dictionary))


def _group(schema: pa.Schema, columns: dict[str, pa.Array]) -> pa.Table:
    """Columns of a schema, some of them with a dictionary."""
    fields = [field.with_type(columns[field.name].type) for field in schema]
    return pa.table([columns[field.name] for field in schema], schema=pa.schema(fields))


def page_reasons(
    kept: npt.NDArray[np.bool_],
    instead: npt.NDArray[np.uint32],
    identical: npt.NDArray[np.bool_],
    cluster: npt.NDArray[np.uint32],
    tokens: npt.NDArray[np.int64],
    min_tokens: int,
    seen: npt.NDArray[np.bool_],
) -> npt.NDArray[np.int8]:
    """For each page the place of its reason in ``REASONS``; ``seen``: what is kept instead is of an earlier run."""
    stands_for = np.bincount(instead, minlength=len(kept))
    names = list(REASONS)
    conditions = {
        "seen-identical": ~kept & identical & seen,
        "seen-near-duplicate": ~kept & ~identical & seen,
        "identical": ~kept & identical,
        "near-duplicate": ~kept & ~identical,
        "empty": tokens == 0,
        "chosen": kept & (stands_for > 1),
        "short": tokens < min_tokens,
        "apart": np.bincount(cluster, minlength=len(kept))[cluster] > 1,
    }
    places = [np.int8(names.index(name)) for name in conditions]
    return np.select(list(conditions.values()), places, default=np.int8(names.index("unique")))


def unique_ids(pages: pa.Table) -> tuple[pa.Array, int]:
    """The id of every page: the input's own, else ``source#record``; one that repeats becomes ``id#row``.

    >>> table = pa.table({"id": ["x", "x", None], "source": ["f"] * 3, "record": [0, 1, 2]})
    >>> ids, repeated = unique_ids(table)
    >>> ids.to_pylist(), repeated
    (['x', 'x#1', 'f#2'], 1)
    """
    ids = pages.column("id")
    if ids.null_count:
        named = pc.binary_join_element_wise(pages.column("source"), pages.column("record").cast(pa.string()), "#")
        ids = pc.coalesce(ids, named)
    ids = ids.combine_chunks()
    repeated_rows = _native.repeated_rows(ids)
    if not len(repeated_rows):
        return ids, 0
    mask = np.zeros(len(ids), bool)
    mask[repeated_rows] = True
    taken = ids.filter(pa.array(~mask))
    number = pa.array(repeated_rows).cast(pa.string())
    renamed = pc.binary_join_element_wise(ids.take(pa.array(repeated_rows)), number, "#")
    # "x#1" may be another page's own id, which that page keeps.
    while pc.any(clash := pc.is_in(renamed, value_set=taken)).as_py():
        renamed = pc.if_else(clash, pc.binary_join_element_wise(renamed, number, "#"), renamed)
    return pc.replace_with_mask(ids, pa.array(mask), renamed), len(repeated_rows)
