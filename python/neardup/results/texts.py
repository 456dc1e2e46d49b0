"""The texts of a run's pages, again: from its store (``--store``), else from the input by offset and length, else by
reading the input from its beginning; those of pages of earlier runs, from where those runs had them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import pyarrow as pa

from neardup.errors import InputError, NeardupError, UsageError
from neardup.page import PAGES
from neardup.results.earlier import EarlierPages, Place
from neardup.results.folder import Result
from neardup.results.rows import TableRows
from neardup.sources import Chunk, Inputs, InputSpec, Loaded, Source
from neardup.sources.again import Where, read_again

Records = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class StoredPages:
    """The store of a run as a source of its pages."""

    rows: TableRows
    unread: tuple[()] = ()

    def chunks(self) -> Iterator[Chunk]:
        for _, group in self.rows.groups(PAGES.names):
            pages = together(group.to_batches())
            yield Chunk(pages.nbytes, partial(Loaded, pages))

    def lanes(self) -> list[Callable[[], Iterator[Chunk]]]:
        return [self.chunks]

    def nbytes(self) -> None:
        """Not known before it is read."""
        return

    def close(self) -> None:
        """The result holds what is open."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def page_source(result: Result) -> Source:
    """All pages of a run again, in order: of its store, or of its input. An ``InputError`` where there is neither."""
    return StoredPages(result.tables["texts"]) if "texts" in result.tables else _input(result)


def _input(result: Result) -> Inputs:
    spec = InputSpec.from_json(result.report["input"])
    if not spec.lasts:
        raise InputError(
            "the input of this run cannot be read again",
            where=result.name,
            hint="run dedup with --store to keep the texts of pages",
        )
    try:
        return spec.open()
    except InputError as error:
        if error.where is None or os.path.isabs(error.where):
            raise
        hint = "the run named it from the folder it was started in: start there too, or run dedup with --store"
        raise InputError(error.what, where=error.where, hint=hint) from None


def own_texts(
    result: Result, records: Records, *, patient: bool = True, most: int | None = None
) -> list[pa.RecordBatch | None]:
    """The pages of these records (with ``row``, ``source``, ``offset``, ``length``) as batches of one; none of more
    than ``most`` bytes, and none, without ``patient``, for which the whole input would have to be read."""
    if "texts" in result.tables:
        pages = result.tables["texts"].take([record["row"] for record in records], PAGES.names)
        return _at_most([together(pages.slice(at, 1).to_batches()) for at in range(len(records))], most)
    with _input(result) as source:
        return texts_from(source, records, patient=patient, most=most)


def texts_from(
    source: Inputs, records: Records, *, patient: bool, most: int | None = None
) -> list[pa.RecordBatch | None]:
    """The same from an input that is open."""
    pages = read_again(source, [Where(record["source"], record["offset"], record["length"]) for record in records])
    absent = {record["row"]: at for at, record in enumerate(records) if pages[at] is None}
    if absent and patient:
        before = 0
        for chunk in source.chunks():
            batch = chunk.load().pages
            for row in [row for row in absent if before <= row < before + batch.num_rows]:
                page, at = batch.slice(row - before, 1), absent.pop(row)
                if most is None or page.column("content").nbytes <= most:
                    pages[at] = page
            before += batch.num_rows
            if not absent:
                break
        if absent:
            raise InputError("the inputs have changed since the run: pages are missing", where=source.names()[0])
    return _at_most(pages, most)


def _at_most(pages: list[pa.RecordBatch | None], most: int | None) -> list[pa.RecordBatch | None]:
    if most is None:
        return pages
    return [page if page is not None and page.column("content").nbytes <= most else None for page in pages]


Texts = Mapping[int, pa.RecordBatch | None]


def with_earlier(
    records: Records,
    own: int,
    fetch: Callable[[Records], Sequence[pa.RecordBatch | None]],
    earlier: Callable[[list[int]], Texts],
) -> list[pa.RecordBatch | None]:
    """The pages of these records, of which those from row ``own`` on are of earlier runs."""
    mine = [record for record in records if record["row"] < own]
    pages: dict[int, pa.RecordBatch | None] = {}
    if mine:
        pages |= zip([record["row"] for record in mine], fetch(mine), strict=True)
    if len(mine) < len(records):
        pages |= earlier([record["row"] for record in records if record["row"] >= own])
    return [pages[record["row"]] for record in records]


class EarlierTexts:
    """The texts of pages of earlier runs, read again by these."""

    def __init__(self, earlier: EarlierPages) -> None:
        self._earlier = earlier
        self._runs: dict[str, Result] = {}

    def __call__(self, rows: list[int], patient: bool = True) -> dict[int, pa.RecordBatch | None]:
        """By row. Raises ``InputError`` where an earlier run is not there any more, or its input."""
        texts: dict[int, pa.RecordBatch | None] = {}
        for run, places in self._earlier.there(rows).items():
            texts |= self._of_run(run, places, patient)
        return texts

    def where_there(self, rows: list[int]) -> dict[int, pa.RecordBatch | None]:
        """The same, with none where they cannot be read, or not one by one."""
        texts: dict[int, pa.RecordBatch | None] = dict.fromkeys(rows)
        for run, places in self._earlier.there(rows).items():
            with suppress(NeardupError):
                texts |= self._of_run(run, places, patient=False)
        return texts

    def _of_run(self, run: str, places: list[Place], patient: bool) -> dict[int, pa.RecordBatch | None]:
        if run not in self._runs:
            self._runs[run] = self._earlier.open(run)
        result = self._runs[run]
        pages = result.tables["pages"]
        self._earlier.check(run, pages, places)
        records = pages.take([place.row for place in places], ["row", "source", "offset", "length"]).to_pylist()
        texts = own_texts(result, records, patient=patient)
        return dict(zip([place.here for place in places], texts, strict=True))


def together(batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    """Batches of pages as one.

    >>> from neardup.sources.memory import texts
    >>> together([texts(["one"]).batches[0], texts(["two"]).batches[0]]).num_rows
    2
    """
    if not batches:
        raise UsageError("no pages were given")
    return pa.concat_batches([batch if batch.schema == PAGES else batch.cast(PAGES) for batch in batches])
