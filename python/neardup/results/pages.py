"""The pages of a run, found by id, URL or row, and their texts. Pages of earlier runs that it speaks of are found as
well, behind its own.

Nothing is loaded that was not asked for: a record takes one row group of ``pages.parquet``, a name one column. Columns
stay loaded as long as the object lives, so whoever explains many pairs of a run holds on to one.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from neardup.engines import Settings
from neardup.engines.common.tables import PAGES_OUT
from neardup.errors import InputError
from neardup.methods import parse
from neardup.results.folder import Result, open_result
from neardup.results.rows import TableRows
from neardup.results.texts import EarlierTexts, Records, own_texts, together, with_earlier
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
        statistics = self.result.statistics_file
        reading = Reading(**self.report["settings"]["reading"])
        return Settings(reading=reading, statistics=None if statistics is None else str(statistics))

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
                    f"no page has the id or URL {page!r}",
                    where=self.result.name,
                    hint="a page may be named 'row 17' too",
                )
        if not 0 <= row < len(self.table):
            raise InputError(f"no page has the row {row}", where=self.result.name, hint=f"it has {len(self):,} pages")
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
        records: list[dict[str, Any]] = self.table.take(list(rows), PAGES_OUT.names).to_pylist()
        return records

    def texts(self, records: Records, *, patient: bool = True) -> list[pa.RecordBatch | None]:
        """The pages of these records as batches of one; None, without ``patient``, where the whole input would have to
        be read for one. Raises ``InputError`` where the input cannot be read again.
        """
        own = partial(own_texts, self.result, patient=patient)
        return with_earlier(records, len(self), own, partial(self._earlier, patient=patient))

    def texts_for_report(self, records: Records, patient: bool, most: int) -> list[pa.RecordBatch | None]:
        """The same, without the pages of earlier runs that cannot be read one by one, and those of more than ``most``
        bytes."""
        own = partial(own_texts, self.result, patient=patient, most=most)
        return with_earlier(records, len(self), own, self._earlier.where_there)


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
    texts = pages.texts(pages.at([pages.row_of(name) for name in names]))
    return together([page for page in texts if page is not None])
