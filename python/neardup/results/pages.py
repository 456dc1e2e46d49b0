"""The pages of a run, found by id, URL or row, and their texts, read again from where they came. Pages of earlier runs
that it speaks of are found as well, behind its own; their texts come from where those runs had them.

Nothing is loaded that was not asked for: a record takes one row group of ``pages.parquet``, a name one column. Columns
stay loaded as long as the object lives, so whoever explains many pairs of a run holds on to one. Texts come from the
store (``--store``), else from the input by offset and length, else by reading the input from its beginning.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from neardup.engines import Settings
from neardup.engines.common.tables import PAGES_OUT
from neardup.errors import InputError, NeardupError, UsageError
from neardup.methods import parse
from neardup.page import PAGES
from neardup.results import Result, open_result
from neardup.results.earlier import EarlierPages, Place
from neardup.results.rows import TableRows
from neardup.sinks.store import FILE, read_store
from neardup.sources import Inputs, InputSpec
from neardup.sources.again import Where, read_again
from neardup.text import Reading


class RunPages:
    """A run's pages by name and by row.

    >>> RunPages("no-such-folder")
    Traceback (most recent call last):
    neardup.errors.InputError: not a result folder (no-such-folder): it has no run.json; give the --out of a dedup run
    """

    def __init__(self, run: str | os.PathLike[str] | Result) -> None:
        self.result = run if isinstance(run, Result) else open_result(run)
        self._columns: dict[str, pa.ChunkedArray] = {}
        self._earlier = EarlierTexts(self.result.earlier)

    @cached_property
    def table(self) -> TableRows:
        """The pages by row, those of earlier runs behind the run's own."""
        return self.result.page_rows()

    @property
    def report(self) -> dict[str, Any]:
        """What ``run.json`` says."""
        return self.result.report

    @cached_property
    def settings(self) -> Settings:
        """How the run read its pages, for whatever looks at them again."""
        counted = self.result.statistics_file
        reading = Reading(**self.report["settings"]["reading"])
        return Settings(reading=reading, statistics=None if counted is None else str(counted))

    def __len__(self) -> int:
        return int(self.report["counts"]["pages"])

    def column(self, name: str) -> pa.ChunkedArray:
        """A column of ``pages.parquet``, with that of earlier pages behind it."""
        if name not in self._columns:
            self._columns[name] = self.table.column(name)
        return self._columns[name]

    def row_of(self, page: str | int) -> int:
        """The row of a page named by its id, its URL, or its row (a number, or text like ``row 17``)."""
        if isinstance(page, int):
            row = page
        else:
            row = pc.index(self.column("id"), page).as_py()
            if row < 0:
                row = pc.index(self.column("url"), page).as_py()
            if row < 0 and page.startswith("row ") and page[4:].isdecimal():
                row = int(page[4:])
            if row < 0:
                raise InputError(
                    f"no page has the id or URL {page!r}", where=self._name, hint="a page may be named 'row 17' too"
                )
        if not 0 <= row < len(self.table):
            raise InputError(f"no page has the row {row}", where=self._name, hint=f"it has {len(self):,} pages")
        return row

    @cached_property
    def identity(self) -> npt.NDArray[np.int64]:
        """For each row the first with the same tokens."""
        if not self.report["counts"]["identical"] and not len(self.result.earlier):
            return np.arange(len(self), dtype=np.int64)
        ids = self.column("id").combine_chunks()
        return np.asarray(pc.index_in(self.column("identity"), value_set=ids).combine_chunks(), np.int64)

    @cached_property
    def _by_site(self) -> bool:
        return parse(self.report["detector"]).looks_at_sites

    def unit_of(self, record: dict[str, Any]) -> int:
        """The row of the first page that counts as the same one to the run's detector."""
        if not record["tokens"]:
            return int(record["row"])
        same = pc.equal(self.column("identity"), record["identity"])
        if self._by_site:
            site = self.column("site")
            same = pc.and_(same, pc.is_null(site) if record["site"] is None else pc.equal(site, record["site"]))
        rows = np.flatnonzero(pc.fill_null(same, False).to_numpy())
        # Earlier pages come first, though their rows are behind.
        return int([*rows[rows >= len(self)], *rows][0])

    def at(self, rows: Sequence[int]) -> list[dict[str, Any]]:
        """The records of these rows, as ``pages.parquet`` has them, in the order asked for; of a page of an earlier run
        the reason is ``earlier`` and the source that run."""
        found: list[dict[str, Any]] = self.table.take(list(rows), PAGES_OUT.names).to_pylist()
        return found

    @property
    def _name(self) -> str:
        return str(self.result.folder or "the run")

    def texts(self, records: Sequence[dict[str, Any]], *, patient: bool = True) -> list[pa.RecordBatch | None]:
        """The pages of these records as batches of one; None, without ``patient``, where the whole input would have to
        be read for one. Raises ``InputError`` where the input cannot be read again.
        """
        return with_earlier(
            records, len(self), lambda own: self._own_texts(own, patient), lambda rows: self._earlier(rows, patient)
        )

    def texts_for_report(
        self, records: Sequence[dict[str, Any]], patient: bool, most: int
    ) -> list[pa.RecordBatch | None]:
        """The same, without the pages of earlier runs that cannot be read one by one, and those of more than ``most``
        bytes."""
        return with_earlier(
            records, len(self), lambda own: self._own_texts(own, patient, most), self._earlier.where_there
        )

    def _own_texts(
        self, records: Sequence[dict[str, Any]], patient: bool, most: int | None = None
    ) -> list[pa.RecordBatch | None]:
        if self.result.folder is not None and (store := self.result.folder / FILE).exists():
            pages = read_store(store, [record["row"] for record in records])
            return [pages.slice(at, 1) for at in range(len(records))]
        told = self.report["input"]
        spec = InputSpec.from_json(told)
        if not spec.paths or "-" in spec.paths:
            raise InputError(
                "the input of this run cannot be read again",
                where=self._name,
                hint="run dedup with --store to keep the texts of pages",
            )
        try:
            source = spec.open()
        except InputError as error:
            if error.where is None or os.path.isabs(error.where):
                raise
            hint = "the run named it from the folder it was started in: start there too, or run dedup with --store"
            raise InputError(error.what, where=error.where, hint=hint) from None
        with source:
            return texts_from(source, records, patient=patient, most=most)


def texts_from(
    source: Inputs, records: Sequence[dict[str, Any]], *, patient: bool, most: int | None = None
) -> list[pa.RecordBatch | None]:
    """The pages of these records (with ``row``, ``source``, ``offset``, ``length``) from an input that is open; none of
    more than ``most`` bytes."""
    found = read_again(source, [Where(record["source"], record["offset"], record["length"]) for record in records])
    missing = {record["row"]: at for at, record in enumerate(records) if found[at] is None}
    if missing and patient:
        before = 0
        for chunk in source.chunks():
            pages = chunk.load().pages
            for row in [row for row in missing if before <= row < before + pages.num_rows]:
                page, at = pages.slice(row - before, 1), missing.pop(row)
                if most is None or page.column("content").nbytes <= most:
                    found[at] = page
            before += pages.num_rows
            if not missing:
                break
        if missing:
            raise InputError("the inputs have changed since the run: pages are missing", where=source.names()[0])
    if most is None:
        return found
    return [page if page is not None and page.column("content").nbytes <= most else None for page in found]


Texts = Mapping[int, pa.RecordBatch | None]


def with_earlier(
    records: Sequence[dict[str, Any]],
    own: int,
    fetch: Callable[[Sequence[dict[str, Any]]], Sequence[pa.RecordBatch | None]],
    earlier: Callable[[list[int]], Texts],
) -> list[pa.RecordBatch | None]:
    """The pages of these records, of which those from row ``own`` on are of earlier runs."""
    mine = [record for record in records if record["row"] < own]
    found: dict[int, pa.RecordBatch | None] = {}
    if mine:
        found |= zip([record["row"] for record in mine], fetch(mine), strict=True)
    if len(mine) < len(records):
        found |= earlier([record["row"] for record in records if record["row"] >= own])
    return [found[record["row"]] for record in records]


class EarlierTexts:
    """The texts of pages of earlier runs, read again by these."""

    def __init__(self, earlier: EarlierPages) -> None:
        self._earlier = earlier
        self._runs: dict[str, RunPages] = {}

    def __call__(self, rows: list[int], patient: bool = True) -> dict[int, pa.RecordBatch | None]:
        """By row. Raises ``InputError`` where an earlier run is not there any more, or its input."""
        found: dict[int, pa.RecordBatch | None] = {}
        for run, there in self._earlier.there(rows).items():
            found |= self._of_run(run, there, patient)
        return found

    def where_there(self, rows: list[int]) -> dict[int, pa.RecordBatch | None]:
        """The same, with none where they cannot be read, or not one by one."""
        found: dict[int, pa.RecordBatch | None] = dict.fromkeys(rows)
        for run, there in self._earlier.there(rows).items():
            with suppress(NeardupError):
                found |= self._of_run(run, there, patient=False)
        return found

    def _of_run(self, run: str, there: list[Place], patient: bool) -> dict[int, pa.RecordBatch | None]:
        if run not in self._runs:
            folder = self._earlier.folder_of(run)
            self._runs[run] = RunPages(folder)
        pages = self._runs[run]
        self._earlier.check(run, pages.table, there)
        texts = pages.texts(pages.at([place.row for place in there]), patient=patient)
        return dict(zip([place.here for place in there], texts, strict=True))


def fetch_pages(run: str | os.PathLike[str] | Result | RunPages, names: Sequence[str | int]) -> pa.RecordBatch:
    """The pages of a run named by id, URL or row, read again, in the order asked for.

    >>> import pathlib, tempfile
    >>> from neardup import dedup
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "a.txt").write_text("one page of some words and no other page")
    >>> _ = dedup(folder / "a.txt", folder / "out")
    >>> fetch_pages(folder / "out", ["row 0"])["content"].to_pylist()
    [b'one page of some words and no other page']
    """
    pages = run if isinstance(run, RunPages) else RunPages(run)
    found = pages.texts(pages.at([pages.row_of(name) for name in names]))
    return together([page for page in found if page is not None])


def together(batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    """Batches of pages as one.

    >>> from neardup.sources.memory import texts
    >>> together([texts(["one"]).batches[0], texts(["two"]).batches[0]]).num_rows
    2
    """
    if not batches:
        raise UsageError("no pages were given")
    return pa.concat_batches([batch if batch.schema == PAGES else batch.cast(PAGES) for batch in batches])
