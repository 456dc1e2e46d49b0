"""Earlier runs: the fingerprints of the pages they kept, saved beside their results, and a new collection against them.

A page of the new collection goes if it is identical to a page that an earlier run kept, or was accepted against one;
the others are compared among themselves as ever. That is direct removal over the earlier pages and the new ones, in
which the earlier ones come first and all stay. Saved are bytes, in columns that any engine reads (``s{i}`` is a set,
``f{i}`` a row of numbers; see ``neardup.engines.common.layout``), so a crawl that was deduplicated on one machine
serves a later one on a cluster. Fingerprints that depend on statistics of the collection are saved with these, and the
later run computes its own with the same: only then can they be compared. Cost: the detector's bytes a page that was
kept; sets, where pairs are verified by sets.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup import _native
from neardup.engines.common.layout import Layout, computed
from neardup.engines.common.matching import Sets
from neardup.engines.common.packed import bytes_to_lists, bytes_to_rows
from neardup.engines.local.reading import Collection
from neardup.lazy import later
from neardup.methods import AnyFingerprint, FixedWidth
from neardup.record import record
from neardup.sinks import write_table
from neardup.sinks.sealed import read_table

pc = later("pyarrow.compute")

Rows = npt.NDArray[np.uint32]


@record(frozen=True)
class Earlier:
    """The kept pages of earlier runs, one run after another."""

    layout: Layout
    table: pa.Table
    #: The names and files of the runs.
    runs: Sequence[tuple[str, Path]] = ()

    @staticmethod
    def load(runs: Sequence[tuple[str, Path]], layout: Layout) -> Earlier:
        """What was saved by these runs, given by the names that results call them."""
        tables = []
        for name, path in runs:
            table = read_table(path.parent, path.name)
            tables.append(table.append_column("run", pa.repeat(pa.scalar(name), table.num_rows)))
        # Of engines the columns are the same, but not their order.
        return Earlier(layout, pa.concat_tables(tables, promote_options="default").combine_chunks(), runs)

    @property
    def count(self) -> int:
        return int(self.table.num_rows)

    def column(self, name: str) -> pa.Array:
        """A column as one array; null where nothing of the name was saved."""
        if name not in self.table.column_names:
            return pa.nulls(self.count, pa.string())
        column = self.table.column(name)
        return column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)

    def names(self, own: pa.Array) -> pa.Array:
        """What the result calls these pages: by their ids, or ``id#run`` where a page in front or one of its ``own``
        has the id: in a result an id names one page."""
        ids = self.column("id")
        clash = np.isin(np.arange(len(ids)), _native.repeated_rows(ids))
        clash |= pc.is_in(ids, value_set=own).to_numpy(zero_copy_only=False)
        others = pa.concat_arrays([own, ids.filter(pa.array(~clash))])
        names = ids
        while clash.any():
            longer = pc.binary_join_element_wise(names, self.column("run"), "#")
            names = pc.if_else(pa.array(clash), longer, names)
            clash &= pc.is_in(names, value_set=others).to_numpy(zero_copy_only=False)
        return names

    @cached_property
    def identity(self) -> npt.NDArray[np.uint64]:
        """The two halves of the hash of each page's tokens."""
        return bytes_to_rows(self.column("identity"), 2)

    def fingerprint(self, kind: AnyFingerprint) -> FixedWidth:
        column = self.column(f"f{self.layout.kinds.index(kind)}")
        return bytes_to_rows(column, len(column[0].as_py()) // 8)

    def sets(self, kind: AnyFingerprint) -> tuple[pa.LargeListArray, pa.LargeListArray]:
        """Sets and their parities."""
        number = self.layout.kinds.index(kind)
        return bytes_to_lists(self.column(f"s{number}")), bytes_to_lists(self.column(f"p{number}"))


@record(frozen=True)
class WithEarlier:
    """A collection behind the pages of earlier runs, as matching asks for it."""

    own: Collection
    earlier: Earlier

    @property
    def count(self) -> int:
        return self.own.count + self.earlier.count

    def column(self, name: str) -> pa.ChunkedArray:
        mine = self.own.column(name)
        return pa.chunked_array([self.earlier.column(name).cast(mine.type), *mine.chunks])

    @property
    def identity(self) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
        before, (high, low) = self.earlier.identity, self.own.identity
        return np.concatenate([before[:, 0], high]), np.concatenate([before[:, 1], low])

    def fingerprint(self, kind: AnyFingerprint, rows: Rows) -> FixedWidth:
        count = self.earlier.count
        cut = int(np.searchsorted(rows, count))
        mine = self.own.fingerprint(kind, (rows[cut:] - np.uint32(count)).astype(np.uint32))
        return np.concatenate([self.earlier.fingerprint(kind)[rows[:cut]], mine])

    def sets(self, kind: AnyFingerprint, in_memory: bool = False) -> Sets:
        sets, parities = self.earlier.sets(kind)
        own = self.own.sets(kind, in_memory=True)
        return Sets([sets, *own.sets], [parities, *own.parities])

    @property
    def links(self) -> npt.NDArray[np.int64] | None:
        links = self.own.links
        return None if links is None else np.concatenate([np.zeros(self.earlier.count, np.int64), links])


def save(collection: Collection, layout: Layout, ids: pa.Array, kept: npt.NDArray[np.bool_], path: Path) -> None:
    """Saves the fingerprints of the pages that stay and have tokens."""
    tokens = collection.column("tokens").to_numpy()
    rows = np.flatnonzero(kept & (tokens > 0)).astype(np.uint32)
    places = pa.array(rows)
    high, low = collection.identity
    halves = np.ascontiguousarray(np.stack([high[rows], low[rows]], axis=1))
    columns: dict[str, pa.Array] = {
        "row": pa.array(rows.astype(np.int64)),
        "id": ids.take(places),
        "site": collection.column("site").take(places).combine_chunks(),
        "tokens": pa.array(tokens[rows].astype(np.int64)),
        "identity": computed(halves, 0)["f0"],
    }
    for at, kind in enumerate(layout.kinds):
        if kind in layout.sets:
            lists = pa.chunked_array(collection.sets(kind, in_memory=True).sets).take(places).combine_chunks()
            columns |= computed(lists, at)
        else:
            columns |= computed(collection.fingerprint(kind, rows), at)
    write_table(pa.table(columns), path)
