"""Filling an index from files: pages of inputs as ``neardup dedup`` reads them, or those of an earlier run."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa

from neardup.answers import Answer
from neardup.engines import Progress, Settings, Silent
from neardup.errors import InputError
from neardup.index.incoming import Arrays, encoded
from neardup.index.index import MOST, Index, new_index
from neardup.methods import parse
from neardup.methods.statistics import CollectionStatistics
from neardup.page import Skipped
from neardup.results import open_result
from neardup.results.texts import page_source
from neardup.sources import Chunk, Fields, InputSpec, Source
from neardup.sources.base import PAGE_BYTES
from neardup.text import Reading
from neardup.workers import in_order
from neardup.writing import check_local


@dataclass(frozen=True, slots=True)
class Added:
    """A batch of an input that was added: its pages' answers, and records that could not be read."""

    answers: list[Answer]
    skipped: Sequence[Skipped]


def add_inputs(
    index: Index,
    inputs: Sequence[str | os.PathLike[str]],
    *,
    fields: Fields | None = None,
    base_url: str | None = None,
    format: str | None = None,
    max_page: int = PAGE_BYTES,
    threads: int = 0,
    progress: Progress | None = None,
) -> Iterator[Added]:
    """Adds the pages of files, folders or globs, in order, a commit a batch. A page without an id or URL is named
    after its file and place there, so that adding the same input again adds nothing.
    """
    spec = InputSpec([os.fspath(path) for path in inputs], fields or Fields(), base_url, format, max_page)
    yield from _each(index, index.add_arrays, spec.open(), None, threads, progress or Silent())


def build(
    folder: str | os.PathLike[str],
    run: str | os.PathLike[str],
    *,
    statistics: CollectionStatistics | str | os.PathLike[str] | None = None,
    most: int = MOST,
    threads: int = 0,
    progress: Progress | None = None,
) -> Iterator[Added]:
    """Makes an index of the pages of a run: same detector, same reading, same ids. Texts come from the run's store, or
    its inputs are read again. The index is there when all pages are in it. Statistics of the collection, where the
    detector needs some, are those of the run unless given.
    """
    check_local(folder)
    result = open_result(run)
    report = result.report
    detector = parse(report["detector"])
    reading = Reading(**report["settings"]["reading"])
    if detector.counted() and statistics is None:
        statistics = result.statistics
    names: list[str] = result.pages.column("id").to_pylist()
    with page_source(result) as source, new_index(folder) as place:
        Index.create(place, detector, reading=reading, statistics=statistics, most=most)
        with Index(place, sync="system") as index:
            yield from _each(index, index.add_arrays, source, names, threads, progress or Silent())
            index.flush()


def query_inputs(
    index: Index,
    inputs: Sequence[str | os.PathLike[str]],
    *,
    fields: Fields | None = None,
    base_url: str | None = None,
    format: str | None = None,
    max_page: int = PAGE_BYTES,
    threads: int = 0,
) -> Iterator[Added]:
    """What the index says of the pages of files, folders or globs; nothing is added."""
    spec = InputSpec([os.fspath(path) for path in inputs], fields or Fields(), base_url, format, max_page)
    yield from _each(index, index.query_arrays, spec.open(), None, threads, Silent())


def _each(
    index: Index, carry_out: Callable[[Arrays], list[Answer]], source: Source, names: list[str] | None, threads: int,
    progress: Progress,
) -> Iterator[Added]:  # fmt: skip
    """Reading and fingerprinting goes on in other threads while a batch is carried out."""
    workers = Settings(threads=threads).workers

    def prepare(chunk: Chunk) -> tuple[Arrays | None, Sequence[Skipped], int]:
        loaded = chunk.load()
        arrays = index.arrays(loaded.pages, _named(loaded.pages)) if loaded.pages.num_rows else None
        return arrays, loaded.skipped, chunk.nbytes

    def answered(arrays: Arrays | None) -> list[Answer]:
        return [] if arrays is None else carry_out(arrays)

    before = 0
    with source, ThreadPoolExecutor(1) as committing:
        progress.begin("reading", source.nbytes())
        under_way: deque[tuple[Future[list[Answer]], Sequence[Skipped]]] = deque()
        try:
            for arrays, skipped, size in in_order(source.chunks(), prepare, workers):
                count = 0 if arrays is None else len(arrays.ids)
                progress.advance(count, size)
                if arrays is not None and names is not None:
                    arrays = _renamed(arrays, names[before : before + count])
                before += count
                under_way.append((committing.submit(answered, arrays), skipped))
                if len(under_way) > 1:
                    done, told = under_way.popleft()
                    yield Added(done.result(), told)
            for done, told in under_way:
                yield Added(done.result(), told)
        finally:
            progress.end()
    if names is not None and before != len(names):
        raise InputError("the inputs have changed since the run: pages are missing", hint="run dedup again")


def _renamed(arrays: Arrays, names: list[str]) -> Arrays:
    """The same pages under the ids they had in a run."""
    if len(names) != len(arrays.ids):
        raise InputError("the inputs have changed since the run: there are more pages")
    return replace(arrays, names=names, ids=encoded(names))


def _named(pages: pa.RecordBatch) -> list[str]:
    columns = (pages.column(name).to_pylist() for name in ("id", "url", "source", "record"))
    return [own or url or f"{Path(source).name}#{record}" for own, url, source, record in zip(*columns, strict=True)]
