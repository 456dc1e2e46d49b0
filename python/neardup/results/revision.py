"""A run revised by a person: another threshold, pairs and clusters rejected, other pages chosen to stay.

Nothing is fingerprinted again: the new tables follow from the old ones. Clusters in which nothing changed are taken
over as they are. A rejected cluster is dissolved: its pages all stay, each by itself, as ``rejected``; which
of them have the same tokens is still told by ``identity``.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from neardup import _native
from neardup.engines import PAGES_OUT, PAIRS_OUT
from neardup.engines.common.accepted import ALL, AcceptedPairs
from neardup.engines.common.earlier import STATISTICS
from neardup.engines.common.reasons import REASONS, page_reasons
from neardup.engines.common.tables import EARLIER_OUT
from neardup.engines.common.unread import FILE as SKIPPED_FILE
from neardup.errors import UsageError
from neardup.graph import between_sets, clusters_table, ends_of_sets
from neardup.graph.cut import Cut, Shape, cut
from neardup.methods import parse
from neardup.results.folder import Result, open_result
from neardup.sinks import write_groups, write_table
from neardup.sinks.folder import new_folder
from neardup.sinks.sealed import check_table, parts_of, seal
from neardup.sinks.store import FILE as STORE_FILE

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Decisions:
    """What a person decided of a run; pages are named by their rows, clusters by the row of their first page."""

    #: Pairs below it are dropped.
    threshold: float | None = None
    rejected_pairs: Sequence[tuple[int, int]] = ()
    rejected_clusters: Sequence[int] = ()
    #: By cluster, the page that is to stay.
    representatives: Mapping[int, int] = field(default_factory=dict)


def shape_of(result: Result) -> Shape:
    """The numbers of a run, pages of earlier runs behind its own: its text is not read but for what tells pages of one
    identity set and site."""
    report, earlier = result.report, len(result.earlier)
    pages, pairs = result.page_rows(), result.pair_rows()
    complete = AcceptedPairs.of_report(report).complete
    identity = kept_instead = np.arange(len(pages), dtype=np.uint32)
    if report["counts"]["identical"] or earlier or not complete:
        ids = pages.column("id")
        identity = _rows_of(ids, pages.column("identity"))
        kept_instead = identity if complete else _rows_of(ids, pc.coalesce(pages.column("kept_instead"), ids))
    a, b = (pairs.column(name).to_numpy().astype(np.uint32) for name in ("row_a", "row_b"))
    score, tree = pairs.column("score").to_numpy(), pairs.column("tree").to_numpy()
    return Shape(
        identity=identity,
        site=pages.codes("site")[0],
        kept=pages.column("kept").to_numpy(),
        a=a,
        b=b,
        score=score,
        # What the run marked is the forest of both, of which the one part alone is stored.
        tree=_native.spanning_forest(len(pages), *ends_of_sets(identity, a, b), score) if earlier else tree,
        complete=complete,
        removal=report["settings"]["removal"],
        instead=None if complete else kept_instead,
        by_site=parse(report["detector"]).looks_at_sites,
        earlier=earlier,
        # Not a number where the run does not know it.
        cohesion=None if complete else result.clusters.column("cohesion").to_numpy(),
    )


def _rows_of(ids: pa.ChunkedArray, named: pa.ChunkedArray) -> npt.NDArray[np.uint32]:
    """For each page the row of the page it names, most pages naming themselves."""
    rows = np.arange(len(ids), dtype=np.uint32)
    others = pc.not_equal(named, ids)
    elsewhere = named.filter(others)
    if len(elsewhere):
        wanted = elsewhere.unique()
        # One look at every id for the few that are named, rather than a table of all ids.
        places = pc.index_in(ids, value_set=wanted)
        valid = np.flatnonzero(places.is_valid().to_numpy())
        row = np.zeros(len(wanted), np.uint32)
        row[places.drop_null().to_numpy()] = valid
        rows[others.to_numpy()] = row[pc.index_in(elsewhere, value_set=wanted).to_numpy()]
    return rows


def revised_cut(shape: Shape, decisions: Decisions) -> Cut:
    """The clusters and removals that decisions on pairs, threshold and representatives give."""
    rejected = pair_places(shape, decisions.rejected_pairs)
    left = shape.without(rejected) if rejected.any() else shape
    preferred = np.array(list(decisions.representatives.values()), np.uint32)
    return cut(left, shape.floor if decisions.threshold is None else decisions.threshold, preferred)


def pair_places(shape: Shape, pairs: Sequence[tuple[int, int]]) -> Flags:
    """Which pairs of a run join the identity sets of these pages."""
    wanted = {tuple(sorted((int(shape.identity[a]), int(shape.identity[b])))) for a, b in pairs}
    flags = np.zeros(len(shape.a), bool)
    ends = ends_of_sets(shape.identity, shape.a, shape.b)
    low, high = np.minimum(*ends), np.maximum(*ends)
    for a, b in wanted:
        flags |= (low == a) & (high == b)
    return flags


def revise(
    run: str | os.PathLike[str] | Result,
    out: str | os.PathLike[str],
    decisions: Decisions,
    *,
    overwrite: bool = False,
    finish: Callable[[Path], object] | None = None,
) -> Result:
    """Writes a run, of a folder or in memory, anew, as decided, into a folder that appears whole or not at all.

    ``finish`` is given the folder before it takes its name, for what else is to be in it.

    >>> import json, tempfile
    >>> from neardup import dedup
    >>> folder = Path(tempfile.mkdtemp())
    >>> text = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    >>> lines = [{"id": name, "text": text * 3 + name} for name in "abc"]
    >>> _ = (folder / "pages.jsonl").write_text("".join(json.dumps(line) + chr(10) for line in lines))
    >>> _ = dedup(folder / "pages.jsonl", folder / "out", detector="minhash")
    >>> new = revise(folder / "out", folder / "chosen", Decisions(representatives={0: 2}))
    >>> new.pages["reason"].to_pylist(), new.removed["kept_instead"].to_pylist()
    (['near-duplicate', 'near-duplicate', 'chosen'], ['c', 'c'])
    """
    result = run if isinstance(run, Result) else open_result(run)
    shape = shape_of(result)
    if decisions.threshold is not None and decisions.threshold < shape.floor:
        raise UsageError(
            f"the run knows no pairs below {shape.floor:.4g}",
            where=result.name,
            hint="run dedup with a lower threshold",
        )
    before, after = cut(shape, shape.floor), revised_cut(shape, decisions)
    rejected = np.isin(after.cluster, np.array(list(decisions.rejected_clusters), np.uint32))
    changed = _changed(before, after, rejected)
    with new_folder(Path(out), overwrite) as target:
        _Writer(result, shape, after, rejected, changed, decisions).write(target)
        if finish is not None:
            finish(target)
    return open_result(out)


def _changed(before: Cut, after: Cut, rejected: Flags) -> Flags:
    """Pages of clusters in which something is other than it was."""
    touched = np.zeros(before.shape.pages, bool)
    left = after.shape.score >= after.threshold
    pairs_before = np.bincount(before.cluster[before.shape.a], minlength=before.shape.pages)
    pairs_after = np.bincount(before.cluster[after.shape.a[left]], minlength=before.shape.pages)
    touched |= pairs_before != pairs_after
    touched[before.cluster[after.preferred]] = True
    touched[before.cluster[rejected]] = True
    return touched[before.cluster]


@dataclass(frozen=True, slots=True)
class _Writer:
    """Makes the new tables from the old ones, a group of rows at a time."""

    result: Result
    shape: Shape
    after: Cut
    rejected: Flags
    changed: Flags
    decisions: Decisions

    @property
    def own(self) -> int:
        """The run's own pages; behind them are those of earlier runs."""
        return self.shape.pages - self.shape.earlier

    def write(self, folder: Path) -> None:
        earlier = self.result.earlier
        ids = pa.chunked_array(
            [*self.result.pages.column("id").chunks, *earlier.pages.column("id").chunks], pa.string()
        )
        rows = np.arange(self.shape.pages, dtype=np.uint32)
        cluster = np.where(self.rejected, rows, self.after.cluster)
        # A cluster is named by its first page, and earlier pages come first.
        heads, before = rows.copy(), rows[self.own :][::-1]
        heads[cluster[before]] = before
        names = ids.combine_chunks().take(pa.array(heads))
        instead = np.where(self.rejected, rows, self.after.instead) if self.changed.any() else rows
        kept = np.where(self.changed, instead == rows, self.shape.kept)
        kept[self.own :] = True
        left = self._left()
        a, b = self.shape.a[left], self.shape.b[left]
        identity, site = self.shape.identity, self.shape.site.astype(np.int64)
        tree = _native.spanning_forest(self.shape.pages, *ends_of_sets(identity, a, b), self.shape.score[left])
        # Where not all pairs are held, what rests on them is known no more of clusters that changed.
        unsure = None if self.shape.complete else self.changed
        between = between_sets(identity, a, b)
        clusters = clusters_table(names, cluster, identity, site, kept, between, crowded=unsure)
        first = np.flatnonzero(np.bincount(cluster, minlength=self.shape.pages) >= 2)
        # Those with a page of this run, in the order of their first pages.
        order = np.argsort((heads[first].astype(np.int64) - self.own) % self.shape.pages, kind="stable")
        clusters = clusters.take(pa.array(order[first[order] < self.own]))
        if unsure is not None:
            clusters = self._as_before(clusters)
        groups = self._page_groups(ids.combine_chunks(), names.take(pa.array(cluster)), cluster, instead, kept)
        write_groups(PAGES_OUT, groups, folder / "pages.parquet")
        own_left = left[: self.result.pairs.num_rows]
        pairs = self.result.pairs.filter(pa.array(own_left))
        pairs = pairs.set_column(
            PAIRS_OUT.get_field_index("tree"), PAIRS_OUT.field("tree"), pa.array(tree[: pairs.num_rows])
        )
        write_groups(PAIRS_OUT, [pairs], folder / "pairs.parquet")
        write_table(clusters, folder / "clusters.parquet")
        if self.result.report.get("against"):
            write_table(self.result.against.filter(pa.array(left[len(own_left) :])), folder / "against.parquet")
            here = np.bincount(cluster[: self.own], minlength=self.shape.pages)[cluster[self.own :]] > 0
            at = EARLIER_OUT.get_field_index("cluster")
            named = names.take(pa.array(cluster[self.own :]))
            table = earlier.table.set_column(at, EARLIER_OUT.field("cluster"), named).filter(pa.array(here))
            write_table(table, folder / "earlier.parquet")
        self._as_they_were(folder)
        seal(folder, self._report(clusters, kept[: self.own], pairs.num_rows))

    def _as_they_were(self, folder: Path) -> None:
        """Files of the run that no decision changes."""
        run, report = self.result.folder, self.result.report
        if run is not None:
            for name in (STORE_FILE, SKIPPED_FILE):
                for part in parts_of(run, report, name):
                    check_table(run, report, name)
                    shutil.copyfile(part, folder / name)
        if self.result.statistics is not None:
            self.result.statistics.save(folder / STATISTICS)

    def _left(self) -> Flags:
        """Which of the run's pairs are left, those with earlier pages behind the others."""
        rejected = pair_places(self.shape, self.decisions.rejected_pairs)
        below = self.shape.score < self.after.threshold
        return ~(rejected | below | self.rejected[self.shape.a])

    def _as_before(self, clusters: pa.Table) -> pa.Table:
        """The clusters, with the cohesion and diameter that the run told of those that are as they were."""
        before, named = self.result.clusters, self.result.pages.column("cluster")
        same_pages = named.filter(pa.array(~self.changed[: self.own])).unique()
        place = pc.index_in(clusters.column("cluster"), value_set=before.column("cluster").combine_chunks())
        same = pc.is_in(clusters.column("cluster"), value_set=same_pages)
        for name in ("diameter", "cohesion"):
            values = pc.if_else(same, before.column(name).take(place), clusters.column(name))
            clusters = clusters.set_column(clusters.schema.get_field_index(name), clusters.schema.field(name), values)
        return clusters

    def _page_groups(
        self, ids: pa.Array, clusters: pa.Array, cluster: npt.NDArray[Any], instead: npt.NDArray[Any], kept: Flags
    ) -> Iterator[pa.Table]:
        names = pa.array([*REASONS], pa.string())
        tokens = np.concatenate(
            [pages.column("tokens").to_numpy() for pages in (self.result.pages, self.result.earlier.pages)]
        )
        identical = self.shape.identity[instead] == self.shape.identity
        min_tokens = self.result.report["settings"]["reading"]["min_tokens"]
        reasons = page_reasons(kept, instead, identical, cluster, tokens, min_tokens, instead >= self.own)
        reasons = np.where(self.rejected, list(REASONS).index("rejected"), reasons)
        start = 0
        for batch in self.result.pages.to_batches(max_chunksize=1 << 17):
            here = slice(start, start := start + batch.num_rows)
            changed = pa.array(self.changed[here])
            new = {
                # Where nothing changed the old words stand, also where they rest on pairs that are not held.
                "cluster": clusters[here],
                "kept": pa.array(kept[here]),
                "kept_instead": ids.take(pa.array(instead[here], mask=kept[here])),
                "reason": names.take(pa.array(reasons[here])),
            }
            columns = [
                pc.if_else(changed, new[name], batch.column(name)) if name in new else batch.column(name)
                for name in PAGES_OUT.names
            ]
            yield pa.table(columns, schema=PAGES_OUT)

    def _report(self, clusters: pa.Table, kept: Flags, pairs: int) -> dict[str, Any]:
        report: dict[str, Any] = dict(self.result.report)
        # What was measured, certified and written was the run as it was.
        for name in ("certificate", "written"):
            report.pop(name, None)
        counts = {"pairs": pairs, "clusters": clusters.num_rows, "kept": int(kept.sum()), "removed": int((~kept).sum())}
        counts["clustered"] = int(pc.sum(clusters.column("size")).as_py() or 0)
        report["counts"] = report["counts"] | counts
        if self.shape.complete:
            report["pairs"] = AcceptedPairs(pairs, True, ALL, pairs).to_json()
        else:
            before = AcceptedPairs.of_report(report)
            report["pairs"] = AcceptedPairs(pairs, False, before.held, before.at_most).to_json()
        report["warnings"] = [*report["warnings"]]
        if not self.shape.complete:
            report["warnings"].append(
                "revised with the spanning forest alone: where something changed, pages may stay that could go"
            )
        report["decisions"] = {
            "from": None if self.result.folder is None else str(self.result.folder.resolve()),
            "threshold": self.decisions.threshold,
            "rejected_pairs": sorted([int(a), int(b)] for a, b in self.decisions.rejected_pairs),
            "rejected_clusters": sorted(map(int, self.decisions.rejected_clusters)),
            "representatives": {str(k): int(v) for k, v in sorted(self.decisions.representatives.items())},
        }
        return report
