"""The first stage: source → pages read, tokenised and fingerprinted, in input order whatever the threads.

One thread takes chunks off the source; workers load them, read their pages into tokens and compute fingerprints, with
the GIL released; results are taken in order. Only a few chunks are under way at a time, and a page's text is dropped
as soon as its fingerprints are there. Now and then what was done is committed to the scratch folder; a run that goes
on takes those chunks off the source without loading them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from neardup.detectors import Detector
from neardup.engines.links import count_links, page_links
from neardup.engines.parts import KEPT, Part, Tally, fixed_width_column, fixed_width_values, numbers
from neardup.engines.progress import Progress
from neardup.engines.scratch import TOKENS, Scratch
from neardup.engines.settings import Settings
from neardup.engines.store import PartStore
from neardup.errors import InputError
from neardup.fingerprints import Fingerprint, FixedWidth
from neardup.sources import Chunk, Source
from neardup.text import read


@dataclass(frozen=True)
class Collection:
    """Every page of the input, in input order, without its text. What is asked for is read when it is asked for."""

    store: PartStore
    kinds: tuple[Fingerprint, ...]
    count: int
    tally: Tally
    _fingerprints: dict[Fingerprint, FixedWidth] = field(default_factory=dict, repr=False)

    def column(self, name: str) -> pa.ChunkedArray:
        """One of ``KEPT``, or ``title``, ``site`` or ``tokens`` (how many), of all pages."""
        return pa.chunked_array([batch.column(0) for batch in self.store.columns([name])])

    def columns(self, names: Sequence[str]) -> pa.Table:
        """Several of them."""
        return pa.Table.from_batches(list(self.store.columns(list(names))))

    @property
    def identity(self) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
        """The two halves of the hash of each page's token sequence."""
        batches = list(self.store.columns(["identity_high", "identity_low"]))
        return numbers(batches, "identity_high"), numbers(batches, "identity_low")

    def fingerprint(self, kind: Fingerprint) -> FixedWidth:
        """A fingerprint of all pages, a row a page; asked for by several rules, put together once."""
        if kind not in self._fingerprints:
            name = f"fingerprint_{self.kinds.index(kind)}"
            self._fingerprints[kind] = fixed_width_values(list(self.store.columns([name])), name)
        return self._fingerprints[kind]

    def token_lists(self) -> list[pa.LargeListArray]:
        """The tokens themselves, in batches; there where the detector verifies with them, or settings ask for it."""
        return list(self.token_batches())

    def token_batches(self) -> Iterator[pa.LargeListArray]:
        """The same one after another, for who needs each but once."""
        return (_lists(*held) if isinstance(held, tuple) else held for held in self.store.tokens())

    @property
    def links(self) -> npt.NDArray[np.int64] | None:
        """How many other pages link to each page, where the keep policy asks for it."""
        if "links" not in self.store.names():
            return None
        return count_links([(batch.column(0), batch.column(1)) for batch in self.store.columns(["own_url", "links"])])


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
        if self.detector.needs_tokens() or self.settings.hold_tokens:
            columns[TOKENS] = tokens
        if self.settings.keep == "most-linked":
            columns["own_url"], columns["links"] = page_links(pages)
        replaced = int(page_tokens.replaced.sum())
        tally = Tally(1, pages.num_rows, chunk.nbytes, replaced, loaded.skipped, loaded.ignored)
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
    store = PartStore(scratch, settings.commit_every, settings.memory_budget // 2)
    done = scratch.chunks if scratch is not None else 0
    if scratch is not None:
        for tally in scratch.tallies:
            progress.advance(tally.pages, tally.nbytes)
    for part in _in_order(islice(source.chunks(), done, None), worker, settings.workers):
        if settings.strict and part.tally.skipped:
            bad = part.tally.skipped[0]
            raise InputError(
                f"a record cannot be read: {bad.reason}",
                where=f"{bad.source}, {bad.position}",
                hint="mend it, or run without --strict to skip such records",
            )
        progress.advance(part.tally.pages, part.tally.nbytes)
        store.add(part)
    tally = store.tally()
    if not tally.pages:
        raise InputError("no pages were found in the input", hint=_why_none(tally))
    return Collection(store, worker.fingerprints, tally.pages, tally)


def _lists(path: Path, counts: npt.NDArray[np.int64]) -> pa.LargeListArray:
    """Token lists out of a file of the scratch folder."""
    offsets = np.concatenate([[0], np.cumsum(counts)])
    kind = pa.large_list(pa.field("item", pa.uint64(), nullable=False))
    return pa.LargeListArray.from_arrays(pa.array(offsets), pa.array(np.fromfile(path, np.uint64)), type=kind)


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


def _why_none(tally: Tally) -> str:
    if tally.skipped:
        return f"records that could not be read: {len(tally.skipped):,}, the first: {tally.skipped[0].describe()}"
    if tally.ignored:
        kinds = ", ".join(f"{count} {kind}" for kind, count in tally.ignored.items())
        return f"it holds only records that are no pages: {kinds}"
    return "is it empty, or in another format? see --format and the --…-field options"
