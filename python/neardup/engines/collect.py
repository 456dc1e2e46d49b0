"""The first stage: source → pages read, tokenised and fingerprinted, in input order whatever the threads.

One thread takes chunks off the source; workers load them, read their pages into tokens and compute fingerprints, with
the GIL released; results are taken in order. Only a few chunks are under way at a time, and a page's text is dropped
as soon as its fingerprints are there. Now and then what was done is committed to the scratch folder; a run that goes
on takes those chunks off the source without loading them.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import islice

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from neardup.detectors import Detector
from neardup.engines.links import count_links, page_links
from neardup.engines.parts import KEPT, Part, Tally, fixed_width_column, fixed_width_values, numbers
from neardup.engines.progress import Progress
from neardup.engines.scratch import Scratch
from neardup.engines.settings import Settings
from neardup.errors import InputError
from neardup.fingerprints import Fingerprint, FixedWidth
from neardup.sources import Chunk, Source
from neardup.text import read


@dataclass(frozen=True, slots=True)
class Collection:
    """Every page of the input, in input order, without its text."""

    #: The columns of ``KEPT``, ``title``, ``site`` and ``tokens`` (how many).
    pages: pa.Table
    identity: tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]
    fingerprints: dict[Fingerprint, FixedWidth]
    #: The tokens themselves, where the detector verifies with them.
    tokens: pa.ChunkedArray | None
    #: How many other pages link to each page, where the keep policy asks for it.
    links: npt.NDArray[np.int64] | None
    tally: Tally


@dataclass(slots=True)
class _Worker:
    """Turns a chunk into a part; shared by all threads, so it holds nothing that changes."""

    detector: Detector
    settings: Settings
    fingerprints: tuple[Fingerprint, ...] = field(init=False)

    def __post_init__(self) -> None:
        self.fingerprints = self.detector.fingerprints()

    def __call__(self, chunk: Chunk) -> Part:
        loaded = chunk.load()
        pages = loaded.pages
        page_tokens = read(pages, self.settings.reading)
        tokens = page_tokens.tokens
        columns = {name: pages.column(name) for name in KEPT}
        columns["title"], columns["site"] = page_tokens.title, page_tokens.site
        columns["tokens"] = pc.list_value_length(tokens)
        columns["identity_high"] = pa.array(page_tokens.identity_high)
        columns["identity_low"] = pa.array(page_tokens.identity_low)
        for number, fingerprint in enumerate(self.fingerprints):
            columns[f"fingerprint_{number}"] = fixed_width_column(fingerprint.compute(tokens))
        if self.detector.needs_tokens():
            columns["token_lists"] = tokens
        if self.settings.keep == "most-linked":
            columns["own_url"], columns["links"] = page_links(pages)
        replaced = int(page_tokens.replaced.sum())
        tally = Tally(1, chunk.nbytes, replaced, loaded.skipped, loaded.ignored)
        return Part(pa.RecordBatch.from_pydict(columns), tally)


def collect(
    source: Source,
    detector: Detector,
    settings: Settings,
    progress: Progress,
    scratch: Scratch | None = None,
) -> Collection:
    """Reads the whole source, going on behind what the scratch folder holds already."""
    worker = _Worker(detector, settings)
    parts: list[Part] = []
    for number in range(len(scratch.tallies) if scratch is not None else 0):
        assert scratch is not None
        parts.append(scratch.load(number))
        progress.advance(parts[-1].rows.num_rows, parts[-1].tally.nbytes)
    done = scratch.chunks if scratch is not None else 0
    uncommitted = len(parts)
    committed_at = time.monotonic()
    for part in _in_order(islice(source.chunks(), done, None), worker, settings.workers):
        if settings.strict and part.tally.skipped:
            bad = part.tally.skipped[0]
            raise InputError(
                f"a record cannot be read: {bad.reason}",
                where=f"{bad.source}, {bad.position}",
                hint="mend it, or run without --strict to skip such records",
            )
        progress.advance(part.rows.num_rows, part.tally.nbytes)
        parts.append(part)
        if scratch is not None and time.monotonic() - committed_at >= settings.commit_every:
            scratch.commit(parts[uncommitted:])
            uncommitted, committed_at = len(parts), time.monotonic()
    return _assemble(parts, worker.fingerprints)


def _in_order(chunks: Iterator[Chunk], worker: _Worker, threads: int) -> Iterator[Part]:
    pool = ThreadPoolExecutor(threads, thread_name_prefix="neardup")
    under_way: deque[Future[Part]] = deque()
    try:
        for chunk in chunks:
            under_way.append(pool.submit(worker, chunk))
            if len(under_way) > threads + 1:
                yield under_way.popleft().result()
        while under_way:
            yield under_way.popleft().result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _assemble(parts: list[Part], fingerprints: tuple[Fingerprint, ...]) -> Collection:
    tally = Tally.total([part.tally for part in parts])
    batches = [part.rows for part in parts if part.rows.num_rows]
    if not batches:
        raise InputError("no pages were found in the input", hint=_why_none(tally))
    names = batches[0].schema.names
    linked = "links" in names
    return Collection(
        pages=pa.Table.from_batches(batches).select([*KEPT, "title", "site", "tokens"]),
        identity=(numbers(batches, "identity_high"), numbers(batches, "identity_low")),
        fingerprints={
            fingerprint: fixed_width_values(batches, f"fingerprint_{number}")
            for number, fingerprint in enumerate(fingerprints)
        },
        tokens=pa.chunked_array([batch.column("token_lists") for batch in batches]) if "token_lists" in names else None,
        links=count_links([(batch.column("own_url"), batch.column("links")) for batch in batches]) if linked else None,
        tally=tally,
    )


def _why_none(tally: Tally) -> str:
    if tally.skipped:
        return f"{len(tally.skipped)} records could not be read, the first: {tally.skipped[0].describe()}"
    if tally.ignored:
        kinds = ", ".join(f"{count} {kind}" for kind, count in tally.ignored.items())
        return f"it holds only records that are no pages: {kinds}"
    return "is it empty, or in another format? see --format and the --…-field options"
