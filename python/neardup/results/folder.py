"""Results: what a run found, in memory or read back from its folder, whichever engine wrote it.

One reader for every kind: local files, Spark's folders of parts, runs against earlier runs, tables in memory. Tables
are opened when the result is, and read when they are asked for. Damage, an older format and a missing file are one
error each, which says what to do.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import field
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from neardup.engines.common.accepted import AcceptedPairs
from neardup.engines.common.earlier import STATISTICS
from neardup.engines.common.tables import AGAINST_OUT, EARLIER_OUT, PAGES_OUT, PAIRS_OUT
from neardup.errors import FormatError
from neardup.graph.clusters import CLUSTERS
from neardup.lazy import later
from neardup.methods.statistics import CollectionStatistics
from neardup.record import record
from neardup.results.earlier import EarlierPages
from neardup.results.rows import StoredTable, TableRows
from neardup.selection import Rows, rows_where
from neardup.sinks.sealed import missing, open_table, parts_of, read_run
from neardup.sinks.store import FILE as STORE_FILE
from neardup.sinks.store import STORE

pc = later("pyarrow.compute")

#: The tables of every result, those of one against earlier runs, and the store of texts, if there is one.
_TABLES: Final = {"pages": PAGES_OUT, "pairs": PAIRS_OUT, "clusters": CLUSTERS}
_AGAINST: Final = {"against": AGAINST_OUT, "earlier": EARLIER_OUT}


@record(frozen=True)
class Result:
    """What a run found, as Arrow tables (``.to_pandas()``; ``polars.from_arrow``), and where it was written.

    ``pages`` has a row for every page of the input, ``pairs`` the accepted pairs, ``clusters`` a row for each cluster
    of two pages or more, ``report`` what ``run.json`` says. Tables that were written are read when they are asked for.
    """

    #: The tables by name.
    tables: Mapping[str, TableRows] = field(repr=False)
    report: dict[str, Any] = field(repr=False)
    folder: Path | None = None
    #: The statistics that the run counted, where it is this program's own run.
    counted: CollectionStatistics | None = field(default=None, repr=False)

    @staticmethod
    def in_memory(
        tables: Mapping[str, pa.Table | None], report: dict[str, Any], counted: CollectionStatistics | None = None
    ) -> Result:
        """The result of a run that was not written."""
        rows = {name: TableRows(None, table) for name, table in tables.items() if table is not None}
        return Result(rows, report, counted=counted)

    @staticmethod
    def written(folder: Path, report: dict[str, Any], counted: CollectionStatistics | None = None) -> Result:
        """The result in a folder whose ``run.json`` says this."""
        schemas = _TABLES | (_AGAINST if report.get("against") else {})
        if parts_of(folder, report, STORE_FILE):
            schemas |= {"texts": STORE}
        tables = {name: _stored(folder, report, f"{name}.parquet", schema) for name, schema in schemas.items()}
        if len(tables["pages"]) != report["counts"]["pages"]:
            raise FormatError("the tables are not those of its run.json", where=str(folder), hint="run dedup again")
        return Result(tables, report, folder, counted)

    @property
    def name(self) -> str:
        """What messages call it."""
        return str(self.folder or "the run")

    @cached_property
    def statistics(self) -> CollectionStatistics | None:
        """The statistics of the collection that the run's fingerprints were computed with, where its detector needs
        some: whoever asks about pages of the run judges them as the run did."""
        path = self.statistics_file
        if self.counted is not None or path is None:
            return self.counted
        statistics = CollectionStatistics.load(path)
        if statistics.digest != self.report["statistics"]["digest"]:
            raise FormatError("the statistics are of another run", where=str(path), hint="run dedup again")
        return statistics

    @property
    def statistics_file(self) -> Path | None:
        """Where the result folder has them."""
        if self.folder is None or self.report.get("statistics") is None:
            return None
        path = self.folder / STATISTICS
        if not path.exists():
            raise missing(path)
        return path

    @cached_property
    def pages(self) -> pa.Table:
        """A row for every page of the input, in input order."""
        return self.tables["pages"].whole()

    @cached_property
    def pairs(self) -> pa.Table:
        """The accepted pairs of identity sets' first members."""
        return self.tables["pairs"].whole()

    @cached_property
    def clusters(self) -> pa.Table:
        """A row for each cluster of two pages or more."""
        return self.tables["clusters"].whole()

    @cached_property
    def against(self) -> pa.Table:
        """The accepted pairs with pages of earlier runs; none where the run was against no other."""
        return self.tables["against"].whole() if "against" in self.tables else AGAINST_OUT.empty_table()

    @cached_property
    def earlier(self) -> EarlierPages:
        """The pages of earlier runs in clusters that a page of this one is in."""
        table = self.tables["earlier"].whole() if "earlier" in self.tables else None
        return EarlierPages.of(self.report, table, self.against, self.folder)

    @property
    def accepted(self) -> AcceptedPairs:
        """How many pairs were accepted, those with pages of earlier runs beside the run's own."""
        return AcceptedPairs.of_report(self.report, len(self.tables["against"]) if "against" in self.tables else None)

    def page_rows(self) -> TableRows:
        """All pages by row: the run's own, and those of earlier runs behind them."""
        return self.tables["pages"].followed_by(self.earlier.pages)

    def pair_rows(self) -> TableRows:
        """All accepted pairs: of the run's own pages, and with those of earlier runs behind them."""
        return self.tables["pairs"].followed_by(self.earlier.pairs)

    @property
    def kept(self) -> pa.Table:
        """The pages that stay."""
        return self.pages.filter(self.pages.column("kept"))

    @property
    def removed(self) -> pa.Table:
        """The pages that go, each with the page kept instead."""
        return self.pages.filter(pc.invert(self.pages.column("kept")))

    def filter(self, rows: Rows) -> Rows:
        """Of the rows that the result is of, those that are kept, by their place: of a list, a table of Arrow, pandas
        or Polars, a DuckDB relation, a Hugging Face dataset. They come back as the same kind; an index is left alone.

        A table of another length is refused, for its rows cannot be the result's pages. What neardup could not read in
        a file is no page, so of such a file the rows cannot be given. A DuckDB relation is run again, and must give its
        rows in the same order (``ORDER BY``).

        >>> from neardup import find_duplicates
        >>> pages = ["it was the best of times it was the worst of times", "it was the best of days", "no such page"]
        >>> find_duplicates([pages[0], *pages]).filter([pages[0], *pages]) == pages
        True
        """
        return rows_where(rows, self.pages.column("kept").to_numpy(zero_copy_only=False))


def open_result(folder: str | os.PathLike[str]) -> Result:
    """Reads a result folder back.

    >>> open_result("no-such-folder")
    Traceback (most recent call last):
    neardup.errors.InputError: not a result folder (no-such-folder): it has no run.json; give the --out of a dedup run
    """
    path = Path(folder)
    return Result.written(path, read_run(path))


def _stored(folder: Path, report: Mapping[str, Any], name: str, schema: pa.Schema) -> TableRows:
    return TableRows(StoredTable(open_table(folder, report, name), folder / name, schema))
