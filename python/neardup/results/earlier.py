"""Pages of earlier runs that a result speaks of (``earlier.parquet``), numbered behind the result's own pages.

A run against earlier ones names their pages as identity, cluster and ``kept_instead`` of its own. Whatever looks at a
result by row finds them here, in the columns that the run's own pages and pairs have: page ``own + n`` is the n-th of
them. What the run did not know of a page (its URL, its title) is read from the earlier run's folder, if that is there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import pyarrow as pa

from neardup.engines.common.tables import AGAINST_OUT, EARLIER_OUT, PAGES_OUT, PAIRS_OUT
from neardup.errors import InputError, NeardupError
from neardup.lazy import later
from neardup.results.rows import TableRows

if TYPE_CHECKING:
    from neardup.results.folder import Result

pc = later("pyarrow.compute")

#: The ``reason`` of these pages.
REASON: Final = "earlier"


class Place(NamedTuple):
    """A page of an earlier run: its row behind the result's own, its row and its id in that run."""

    here: int
    row: int
    id: str


@dataclass(frozen=True)
class EarlierPages:
    """The pages, and their pairs with the run's own."""

    #: How many pages the run itself has.
    own: int
    #: ``earlier.parquet`` and ``against.parquet``.
    table: pa.Table
    against: pa.Table
    #: The folder of each earlier run, as it was called when it was read.
    runs: Mapping[str, Path]
    #: The folder of the result, beside which an earlier run is looked for if it is not where it was.
    beside: Path | None = None

    @staticmethod
    def of(
        report: Mapping[str, Any], table: pa.Table | None, against: pa.Table | None, folder: Path | None = None
    ) -> EarlierPages:
        """Of a result with this ``run.json``; tables that a run did not make are empty."""
        return EarlierPages(
            int(report["counts"]["pages"]),
            EARLIER_OUT.empty_table() if table is None else table,
            AGAINST_OUT.empty_table() if against is None else against,
            {one["run"]: Path(one["folder"]) for one in report.get("against") or ()},
            folder,
        )

    def __len__(self) -> int:
        return int(self.table.num_rows)

    @cached_property
    def pages(self) -> pa.Table:
        """They as rows of ``pages.parquet``: kept, for the reason ``earlier``, from the run as their source."""
        count = len(self)
        columns: dict[str, Any] = {
            "row": pa.array(np.arange(self.own, self.own + count), pa.uint64()),
            "kept": pa.repeat(pa.scalar(True), count),
            "reason": pa.repeat(pa.scalar(REASON), count),
            "source": self.table.column("run"),
            **{name: self.table.column(name) for name in ("id", "site", "tokens", "identity", "cluster")},
            **self._shown(),
        }
        nothing = pa.nulls(count)
        return pa.table([columns.get(name, nothing) for name in PAGES_OUT.names], names=PAGES_OUT.names).cast(PAGES_OUT)

    @cached_property
    def pairs(self) -> pa.Table:
        """The pairs with the run's own pages as rows of ``pairs.parquet``."""
        rows = pc.index_in(self.against.column("a"), value_set=self.table.column("id").combine_chunks())
        columns: dict[str, Any] = {
            name: self.against.column(name) for name in self.against.column_names if name != "run"
        }
        columns["row_a"] = pc.add(rows.cast(pa.uint64()), pa.scalar(self.own, pa.uint64()))
        columns["tree"] = pa.repeat(pa.scalar(True), self.against.num_rows)
        return pa.table([columns[name] for name in PAIRS_OUT.names], names=PAIRS_OUT.names).cast(PAIRS_OUT)

    def run_of(self, row: int) -> str | None:
        """The run of a page by its number; None if it is of this one."""
        return None if row < self.own else str(self.table.column("run")[row - self.own].as_py())

    def there(self, rows: list[int]) -> dict[str, list[Place]]:
        """Where these pages are, by run."""
        places: dict[str, list[Place]] = {}
        wanted = (
            self.table.take(pa.array([row - self.own for row in rows], pa.int64()))
            .select(["run", "row", "page"])
            .to_pylist()
        )
        for row, page in zip(rows, wanted, strict=True):
            places.setdefault(page["run"], []).append(Place(row, page["row"], page["page"]))
        return places

    def folder_of(self, run: str) -> Path:
        """Where an earlier run is."""
        folder = self.runs[run]
        if self.beside is not None and not (folder / "run.json").exists():
            moved = self.beside.parent / folder.name
            folder = moved if (moved / "run.json").exists() else folder
        if not (folder / "run.json").exists():
            raise InputError(
                "the page is of an earlier run, which is not there any more",
                where=str(folder),
                hint="put that result folder back, or look at pages of this run",
            )
        return folder

    def check(self, run: str, pages: TableRows, places: list[Place]) -> None:
        """Refuses the pages of a folder that is another run's by now."""
        rows, ids = [place.row for place in places], [place.id for place in places]
        if max(rows) >= len(pages) or pages.take(rows, ["id"])["id"].to_pylist() != ids:
            where = str(self.runs[run])
            raise InputError(
                f"the earlier run {run!r} is another one now",
                where=where,
                hint="run dedup again, against what is there",
            )

    def open(self, run: str) -> Result:
        """The result of an earlier run."""
        from neardup.results.folder import open_result

        return open_result(self.folder_of(run))

    def _shown(self) -> dict[str, pa.Array]:
        """URLs and titles, where the earlier runs are there to be asked."""
        names = ("url", "title")
        shown: dict[str, list[str | None]] = {name: [None] * len(self) for name in names}
        for run, places in self.there(list(range(self.own, self.own + len(self)))).items():
            try:
                pages = self.open(run).tables["pages"]
                self.check(run, pages, places)
                values = pages.take([place.row for place in places], names)
            except NeardupError:
                continue
            for name in names:
                for place, value in zip(places, values.column(name).to_pylist(), strict=True):
                    shown[name][place.here - self.own] = value
        return {name: pa.array(values, pa.string()) for name, values in shown.items()}
