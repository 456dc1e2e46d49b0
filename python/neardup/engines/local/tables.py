"""The tables of a run of the local engine. Pages and pairs are many: what a run holds of them is numbers and the ids,
and their tables are made group by group as they are written or asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup.engines.common.accepted import AcceptedPairs
from neardup.engines.common.reasons import REASONS
from neardup.engines.common.settings import Settings
from neardup.engines.common.tables import AGAINST_OUT, EARLIER_OUT, PAGES_OUT, PAIRS_OUT, Groups
from neardup.engines.local.clustering import Clustering, clustered
from neardup.engines.local.earlier import Earlier, WithEarlier
from neardup.engines.local.identity import Numbering, unique_ids
from neardup.engines.local.matching import Matches
from neardup.engines.local.reading import Collection
from neardup.lazy import later
from neardup.record import record
from neardup.sinks import ROW_GROUP_ROWS

pc = later("pyarrow.compute")

Rows = npt.NDArray[np.uint32]

#: Rows of the table of pages, given by their numbers in ascending order.
PagesAt = Callable[[npt.NDArray[np.uint32]], pa.Table]
#: What the table of pages has as it was read.
_AS_READ: Final = ["url", "site", "title", "tokens", "source", "offset", "length"]


@record(frozen=True, slots=True)
class Tables:
    """The three tables, and what is counted in them."""

    pages: Groups
    pages_at: PagesAt
    pairs: Groups
    clusters: pa.Table
    #: How many pairs were accepted, and which of them ``pairs`` holds.
    accepted: AcceptedPairs
    #: Of each page its id, and whether it stays.
    ids: pa.Array
    kept: npt.NDArray[np.bool_]
    #: Pages without tokens, with too few to be compared, and without another of the same tokens before them.
    empty: int
    short: int
    identity_sets: int
    repeated_ids: int
    #: For each page the first page of its cluster, where all pages of a cluster are of this run.
    cluster: Rows | None
    #: Pairs with pages of earlier runs, where there are such, and these pages.
    against: pa.Table | None = None
    earlier: pa.Table | None = None


def assemble(
    collection: Collection, matches: Matches, settings: Settings, earlier: WithEarlier | None = None
) -> Tables:
    """From pages and pairs to clusters, removals and the tables. With pages of earlier runs in front, all is decided
    over both, and the tables are of the new pages."""
    numbering = Numbering(earlier.earlier.count if earlier is not None else 0, collection.count)
    everything: Collection | WithEarlier = collection if earlier is None else earlier
    with ThreadPoolExecutor(1, thread_name_prefix="neardup-tables") as beside:
        clustering = clustered(matches, numbering, settings.removal, beside)
        own_ids, repeated = unique_ids(collection.columns(["id", "source", "record"]))
        ids = own_ids if earlier is None else pa.concat_arrays([earlier.earlier.names(own_ids), own_ids])
        tokens = everything.column("tokens").to_numpy()
        reasons = clustering.reasons(tokens, settings.reading.min_tokens)
        pages = PageRows(collection, ids, matches.identity, clustering, reasons)
        clusters = clustering.table(ids, everything.column("site"), matches)
        tree = clustering.in_forest()
    own_pairs = np.flatnonzero(numbering.is_own(matches.a))
    most_held = settings.most_held(collection.count)
    accepted = AcceptedPairs.of(len(own_pairs), matches.rules, earlier is not None, most_held)
    pairs = PairRows(ids, numbering, matches, tree, own_pairs[tree[own_pairs]] if accepted.forest else own_pairs)
    own_tokens = numbering.of_own(tokens)
    return Tables(
        pages=Groups(PAGES_OUT, pages.groups),
        pages_at=pages.at,
        pairs=Groups(PAIRS_OUT, pairs.groups),
        clusters=clusters,
        accepted=accepted,
        ids=own_ids,
        kept=numbering.of_own(clustering.kept),
        empty=int((own_tokens == 0).sum()),
        short=int(((own_tokens > 0) & (own_tokens < settings.reading.min_tokens)).sum()),
        identity_sets=int(numbering.of_own(matches.identity == numbering.rows).sum()),
        repeated_ids=repeated,
        cluster=clustering.cluster if earlier is None else None,
        against=None if earlier is None else _against(earlier.earlier, pairs),
        earlier=None if earlier is None else _earlier_pages(earlier.earlier, ids, matches.identity, clustering),
    )


@record(frozen=True, slots=True)
class PageRows:
    """The rows of the table of pages."""

    collection: Collection
    ids: pa.Array
    identity: Rows
    clustering: Clustering
    reasons: npt.NDArray[np.int8]

    def groups(self) -> Iterator[pa.Table]:
        """All of them."""
        rows = self.clustering.numbering.of_own(self.clustering.numbering.rows)
        start = 0
        for columns in self.collection.groups(_AS_READ):
            yield self._table(rows[start : start + columns.num_rows], columns)
            start += columns.num_rows

    def at(self, rows: Rows) -> pa.Table:
        """Some of them, by their numbers in results, ascending."""
        return self._table(self.clustering.numbering.among_all(rows), self.collection.at(_AS_READ, rows)).cast(
            PAGES_OUT
        )

    def _table(self, rows: Rows, as_read: pa.Table) -> pa.Table:
        clustering, ids = self.clustering, self.ids
        kept = clustering.kept[rows]
        columns = {
            "row": pa.array(clustering.numbering.in_results(rows), pa.uint64()),
            "id": ids.take(pa.array(rows)),
            **{name: as_read.column(name) for name in as_read.column_names},
            # Most pages are alone: a dictionary would hold nearly as many ids, and be larger and dearer than they are.
            "identity": ids.take(pa.array(self.identity[rows])),
            "cluster": ids.take(pa.array(clustering.cluster[rows])),
            "kept": pa.array(kept),
            "kept_instead": _coded(ids, clustering.instead[rows], ~kept),
            "reason": _coded(pa.array(list(REASONS), pa.string()), self.reasons[rows]),
        }
        return _group(PAGES_OUT, columns)


@record(frozen=True, slots=True)
class PairRows:
    """The rows of the table of pairs."""

    ids: pa.Array
    numbering: Numbering
    matches: Matches
    #: Of each accepted pair, whether it is in the spanning forest.
    tree: npt.NDArray[np.bool_]
    #: The places of the pairs between pages of this run that are held.
    places: npt.NDArray[np.intp]

    def groups(self) -> Iterator[pa.Table]:
        """All of them."""
        for start in range(0, len(self.places), ROW_GROUP_ROWS):
            places = self.places[start : start + ROW_GROUP_ROWS]
            rows = pa.array(self.numbering.in_results(self.matches.a[places]), pa.uint64())
            yield _group(PAIRS_OUT, self.columns(places) | {"row_a": rows, "tree": pa.array(self.tree[places])})

    def columns(self, places: npt.NDArray[np.intp]) -> dict[str, pa.Array]:
        """The columns that pairs with pages of earlier runs have as well."""
        matches = self.matches

        def optional(values: npt.NDArray[Any] | None, kind: pa.DataType) -> pa.Array:
            return pa.nulls(len(places), kind) if values is None else pa.array(values[places]).cast(kind)

        rules = pa.array([rule.rule for rule in matches.rules], pa.string())
        a, b = matches.a[places], matches.b[places]
        return {
            "a": _coded(self.ids, a),
            "b": _coded(self.ids, b),
            "row_b": pa.array(self.numbering.in_results(b), pa.uint64()),
            "same_site": pa.array(matches.same_site[places]),
            "score": pa.array(matches.score[places]),
            "b_similarity": optional(matches.b_similarity, pa.int32()),
            "c_similarity": optional(matches.c_similarity, pa.int32()),
            "jaccard": optional(matches.jaccard, pa.float64()),
            "rule": _coded(rules, matches.rule[places]),
        }


def _earlier_pages(earlier: Earlier, ids: pa.Array, identity: Rows, clustering: Clustering) -> pa.Table:
    """The pages of earlier runs in clusters that a page of this run is in, as the result tells of them."""
    numbering = clustering.numbering
    rows = numbering.of_earlier(numbering.rows)
    rows = rows[clustering.with_own_page()[clustering.cluster[rows]]]
    at = pa.array(rows)
    columns = {
        "id": ids.take(at),
        "run": earlier.column("run").take(at),
        "page": earlier.column("id").take(at),
        "row": earlier.column("row").take(at).cast(pa.uint64()),
        "site": earlier.column("site").take(at),
        "tokens": earlier.column("tokens").take(at),
        "identity": ids.take(pa.array(identity[rows])),
        "cluster": ids.take(pa.array(clustering.cluster[rows])),
    }
    return pa.table(columns).cast(EARLIER_OUT)


def _against(earlier: Earlier, pairs: PairRows) -> pa.Table:
    """The accepted pairs of a page of an earlier run and a new one."""
    a = pairs.matches.a
    places = np.flatnonzero(~pairs.numbering.is_own(a))
    runs = earlier.column("run").take(pa.array(a[places]))
    return _group(AGAINST_OUT, pairs.columns(places) | {"run": runs}).cast(AGAINST_OUT)


def _coded(names: pa.Array, rows: npt.NDArray[Any], valid: npt.NDArray[np.bool_] | None = None) -> pa.DictionaryArray:
    """Names by their rows, each name once: a page is in many pairs, and its id may be long."""
    coded = pa.array(rows, mask=None if valid is None else ~valid).dictionary_encode()
    return pa.DictionaryArray.from_arrays(coded.indices, names.take(coded.dictionary))


def _group(schema: pa.Schema, columns: dict[str, pa.Array]) -> pa.Table:
    """Columns of a schema, some of them with a dictionary."""
    fields = [field.with_type(columns[field.name].type) for field in schema]
    return pa.table([columns[field.name] for field in schema], schema=pa.schema(fields))
