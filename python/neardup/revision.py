"""A run revised by a person: another threshold, pairs and clusters rejected, other pages chosen to stay.

Nothing is fingerprinted again: the new tables follow from the old ones. Clusters in which nothing changed are taken
over as they are. A rejected cluster is dissolved: its pages all stay, each by itself, as ``rejected``; which
of them have the same tokens is still told by ``identity``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from neardup import _native
from neardup.detectors import parse
from neardup.engines import PAGES_OUT, PAIRS_OUT
from neardup.engines.outcome import REASONS, page_reasons
from neardup.errors import UsageError
from neardup.graph import between_sets, clusters_table, ends_of_sets
from neardup.graph.cut import Cut, Shape, cut
from neardup.results import Result, open_result
from neardup.sinks import write_groups, write_json, write_table
from neardup.sinks.folder import new_folder
from neardup.tables import TableRows

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


def shape_of(folder: str | os.PathLike[str], report: Mapping[str, Any]) -> Shape:
    """The numbers of a run: its text is not read but for what tells pages of one identity set and site."""
    pages, pairs = (TableRows(Path(folder) / f"{name}.parquet") for name in ("pages", "pairs"))
    try:
        complete = report["pairs"]["held"] == "all"
        identity = kept_instead = np.arange(len(pages), dtype=np.uint32)
        if report["counts"]["identical"] or not complete:
            ids = pages.column("id")
            identity = _rows_of(ids, pages.column("identity"))
            kept_instead = identity if complete else _rows_of(ids, pc.coalesce(pages.column("kept_instead"), ids))
        return Shape(
            identity=identity,
            site=pages.codes("site")[0],
            kept=pages.column("kept").to_numpy(),
            a=pairs.column("row_a").to_numpy().astype(np.uint32),
            b=pairs.column("row_b").to_numpy().astype(np.uint32),
            score=pairs.column("score").to_numpy(),
            tree=pairs.column("tree").to_numpy(),
            complete=complete,
            removal=report["settings"]["removal"],
            instead=None if complete else kept_instead,
            by_site=parse(report["detector"]).looks_at_sites,
        )
    finally:
        pages.close()
        pairs.close()


def _rows_of(ids: pa.ChunkedArray, named: pa.ChunkedArray) -> npt.NDArray[np.uint32]:
    """For each page the row of the page it names, most pages naming themselves."""
    rows = np.arange(len(ids), dtype=np.uint32)
    others = pc.not_equal(named, ids)
    elsewhere = named.filter(others)
    if len(elsewhere):
        wanted = elsewhere.unique()
        # One look at every id for the few that are named, rather than a table of all ids.
        places = pc.index_in(ids, value_set=wanted)
        found = np.flatnonzero(places.is_valid().to_numpy())
        row = np.zeros(len(wanted), np.uint32)
        row[places.drop_null().to_numpy()] = found
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
    folder: str | os.PathLike[str],
    out: str | os.PathLike[str],
    decisions: Decisions,
    *,
    overwrite: bool = False,
    finish: Callable[[Path], object] | None = None,
) -> Result:
    """Writes the run of a folder anew, as decided, into a folder that appears whole or not at all.

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
    result = open_result(folder)
    shape = shape_of(folder, result.report)
    if decisions.threshold is not None and decisions.threshold < shape.floor:
        raise UsageError(
            f"the run knows no pairs below {shape.floor:.4g}",
            where=str(folder),
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
    held = after.shape.score >= after.threshold
    pairs_before = np.bincount(before.cluster[before.shape.a], minlength=before.shape.pages)
    pairs_after = np.bincount(before.cluster[after.shape.a[held]], minlength=before.shape.pages)
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

    def write(self, folder: Path) -> None:
        pages = self.result.pages
        ids = pages.column("id").combine_chunks()
        rows = np.arange(self.shape.pages, dtype=np.uint32)
        cluster = np.where(self.rejected, rows, self.after.cluster)
        instead = np.where(self.rejected, rows, self.after.instead) if self.changed.any() else rows
        kept = np.where(self.changed, instead == rows, self.shape.kept)
        after = self.after.shape
        dropped = (after.score < self.after.threshold) | self.rejected[after.a]
        a, b, score = after.a[~dropped], after.b[~dropped], after.score[~dropped]
        identity, site = self.shape.identity, self.shape.site.astype(np.int64)
        clusters = clusters_table(ids, cluster, identity, site, kept, between_sets(identity, a, b))
        groups = self._page_groups(pages, ids, cluster, instead, kept)
        write_groups(PAGES_OUT, groups, folder / "pages.parquet")
        write_groups(PAIRS_OUT, [self._pairs(a, b, score)], folder / "pairs.parquet")
        write_table(clusters, folder / "clusters.parquet")
        write_json(self._report(clusters, kept, len(a)), folder / "run.json")

    def _page_groups(
        self, pages: pa.Table, ids: pa.Array, cluster: npt.NDArray[Any], instead: npt.NDArray[Any], kept: Flags
    ) -> Iterator[pa.Table]:
        names = pa.array([*REASONS], pa.string())
        tokens = pages.column("tokens").to_numpy()
        identical = self.shape.identity[instead] == self.shape.identity
        told = page_reasons(
            kept, instead, identical, cluster, tokens, self.result.report["settings"]["reading"]["min_tokens"]
        )
        told = np.where(self.rejected, list(REASONS).index("rejected"), told)
        start = 0
        for batch in pages.to_batches(max_chunksize=1 << 17):
            here = slice(start, start := start + batch.num_rows)
            changed = pa.array(self.changed[here])
            new = {
                # Where nothing changed the old words stand, also where they rest on pairs that are not held.
                "cluster": ids.take(pa.array(cluster[here])),
                "kept": pa.array(kept[here]),
                "kept_instead": ids.take(pa.array(instead[here], mask=kept[here])),
                "reason": names.take(pa.array(told[here])),
            }
            columns = [
                pc.if_else(changed, new[name], batch.column(name)) if name in new else batch.column(name)
                for name in PAGES_OUT.names
            ]
            yield pa.table(columns, schema=PAGES_OUT)

    def _pairs(self, a: npt.NDArray[Any], b: npt.NDArray[Any], score: npt.NDArray[Any]) -> pa.Table:
        shape, pairs = self.shape, self.result.pairs
        key = shape.a.astype(np.uint64) << np.uint64(32) | shape.b
        left = np.isin(key, a.astype(np.uint64) << np.uint64(32) | b)
        table = pairs.filter(pa.array(left))
        tree = _native.spanning_forest(shape.pages, *ends_of_sets(shape.identity, a, b), score)
        return table.set_column(PAIRS_OUT.get_field_index("tree"), PAIRS_OUT.field("tree"), pa.array(tree))

    def _report(self, clusters: pa.Table, kept: Flags, pairs: int) -> dict[str, Any]:
        report: dict[str, Any] = dict(self.result.report)
        # What was measured, certified and written was the run as it was.
        for name in ("certificate", "written"):
            report.pop(name, None)
        told = {"pairs": pairs, "clusters": clusters.num_rows, "kept": int(kept.sum()), "removed": int((~kept).sum())}
        told["clustered"] = int(pc.sum(clusters.column("size")).as_py() or 0)
        report["counts"] = report["counts"] | told
        report["pairs"] = {"in_all": pairs, "held": report["pairs"]["held"]}
        report["warnings"] = [*report["warnings"]]
        if not self.shape.complete:
            report["warnings"].append(
                "revised with the spanning forest alone: where something changed, pages may stay that could go"
            )
        report["decisions"] = {
            "from": str(Path(self.result.folder or "").resolve()),
            "threshold": self.decisions.threshold,
            "rejected_pairs": sorted([int(a), int(b)] for a, b in self.decisions.rejected_pairs),
            "rejected_clusters": sorted(map(int, self.decisions.rejected_clusters)),
            "representatives": {str(k): int(v) for k, v in sorted(self.decisions.representatives.items())},
        }
        return report
