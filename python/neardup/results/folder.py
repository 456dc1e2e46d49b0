"""Results: what a run found, in memory or read back from its folder, and the way back to its pages."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from neardup import _native
from neardup.engines.common.earlier import STATISTICS
from neardup.engines.common.tables import AGAINST_OUT, EARLIER_OUT, PAGES_OUT, PAIRS_OUT
from neardup.errors import FormatError, InputError
from neardup.graph.clusters import CLUSTERS
from neardup.lazy import later
from neardup.methods.statistics import CollectionStatistics
from neardup.record import record
from neardup.results.earlier import EarlierPages
from neardup.results.rows import TableRows, damaged, parts_of
from neardup.selection import Rows, rows_where

if TYPE_CHECKING:
    import pyarrow.parquet as pq

pc = later("pyarrow.compute")


@record(frozen=True)
class Result:
    """What a run found, as Arrow tables (``.to_pandas()``; ``polars.from_arrow``), and where it was written.

    ``pages`` has a row for every page of the input, ``pairs`` the accepted pairs, ``clusters`` a row for each cluster
    of two pages or more, ``report`` what ``run.json`` says. Tables that were written are read when they are asked for.
    """

    #: Gives the table of a name.
    load: Callable[[str], pa.Table] = field(repr=False)
    report: dict[str, Any] = field(repr=False)
    folder: Path | None = None
    #: The statistics that the run counted, where it is this program's own run.
    counted: CollectionStatistics | None = field(default=None, repr=False)

    @cached_property
    def statistics(self) -> CollectionStatistics | None:
        """The statistics of the collection that the run's fingerprints were computed with, where its detector needs
        some: whoever asks about pages of the run judges them as the run did."""
        path = self.statistics_file
        return self.counted if self.counted is not None or path is None else CollectionStatistics.load(path)

    @property
    def statistics_file(self) -> Path | None:
        """Where the result folder has them."""
        path = None if self.folder is None else self.folder / STATISTICS
        return path if path is not None and path.exists() else None

    @cached_property
    def pages(self) -> pa.Table:
        """A row for every page of the input, in input order."""
        return self.load("pages")

    @cached_property
    def pairs(self) -> pa.Table:
        """The accepted pairs of identity sets' first members."""
        return self.load("pairs")

    @cached_property
    def clusters(self) -> pa.Table:
        """A row for each cluster of two pages or more."""
        return self.load("clusters")

    @cached_property
    def against(self) -> pa.Table:
        """The accepted pairs with pages of earlier runs; none where the run was against no other."""
        return self.load("against") if self.report.get("against") else AGAINST_OUT.empty_table()

    @cached_property
    def earlier(self) -> EarlierPages:
        """The pages of earlier runs in clusters that a page of this one is in."""
        told = self.load("earlier") if self.report.get("against") else None
        return EarlierPages.of(self.report, told, self.against, self.folder)

    def page_rows(self) -> TableRows:
        """All pages by row: the run's own, and those of earlier runs behind them."""
        behind = self.earlier.pages
        if self.folder is None:
            return TableRows(None, PAGES_OUT, pa.concat_tables([self.pages, behind]))
        return TableRows(self.folder / "pages.parquet", PAGES_OUT, behind)

    def pair_rows(self) -> TableRows:
        """All accepted pairs: of the run's own pages, and with those of earlier runs behind them."""
        behind = self.earlier.pairs
        if self.folder is None:
            return TableRows(None, PAIRS_OUT, pa.concat_tables([self.pairs, behind]))
        return TableRows(self.folder / "pairs.parquet", PAIRS_OUT, behind)

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
    if not (path / "run.json").exists():
        raise InputError(
            "not a result folder", where=str(path), hint="it has no run.json; give the --out of a dedup run"
        )
    try:
        report = json.loads((path / "run.json").read_text(encoding="utf-8"))
    except (ValueError, RecursionError, OSError) as error:
        raise damaged(path / "run.json", error) from None
    if not isinstance(report, dict) or not {"format", "counts", "input", "settings"} <= report.keys():
        raise FormatError("not the run.json of a dedup run", where=str(path / "run.json"))
    if report["format"] != _native.FORMAT_VERSION:
        raise FormatError(
            f"written in fingerprint format {report['format']}, this is format {_native.FORMAT_VERSION}",
            where=str(path),
            hint="run neardup dedup again with this version",
        )
    return Result(Written(path, bool(report.get("against"))), report, path)


#: The tables of a result folder, and those that only a run against earlier ones has.
_SCHEMAS = {"pages": PAGES_OUT, "pairs": PAIRS_OUT, "clusters": CLUSTERS}
_AGAINST = {"against": AGAINST_OUT, "earlier": EARLIER_OUT}


class Written:
    """The tables of a result folder, opened at once: what is read later is this run's, even if another took its place.

    >>> Written(Path("none"))
    Traceback (most recent call last):
    neardup.errors.FormatError: the result is damaged: No such file or directory (none/pages.parquet): run dedup again
    """

    def __init__(self, folder: Path, against: bool = False) -> None:
        import pyarrow.parquet as pq

        self._folder = folder
        self._files: dict[str, list[pq.ParquetFile]] = {}
        with ExitStack() as opened:
            for name in [*_SCHEMAS, *(_AGAINST if against else ())]:
                try:
                    # Opened here, for pyarrow takes no path that is not UTF-8.
                    parts = [opened.enter_context(open(part, "rb")) for part in parts_of(folder / f"{name}.parquet")]
                    self._files[name] = [pq.ParquetFile(part) for part in parts]
                except (pa.ArrowException, OSError) as error:
                    raise damaged(folder / f"{name}.parquet", error) from None
            # They are closed with this object.
            self._opened = opened.pop_all()

    def __call__(self, name: str) -> pa.Table:
        schema = (_SCHEMAS | _AGAINST)[name]
        try:
            tables = [part.read() for part in self._files[name]]
            if (self._folder / f"{name}.parquet").is_dir():
                # As Spark writes it: rows are signed there, and clusters have the row they are sorted by.
                tables = [table.select(schema.names).cast(schema) for table in tables]
            return pa.concat_tables(tables).combine_chunks()
        except (pa.ArrowException, OSError, KeyError) as error:
            raise damaged(self._folder / f"{name}.parquet", error) from None

    def __del__(self) -> None:
        if hasattr(self, "_opened"):
            self._opened.close()
