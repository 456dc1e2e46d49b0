"""The first stage: source → pages read, tokenised and fingerprinted, in input order whatever the threads.

One thread takes chunks off the source; workers load them, read their pages into tokens and compute fingerprints, with
the GIL released; results are taken in order. Only a few chunks are under way at a time, and a page's text is dropped
as soon as its fingerprints are there.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from neardup.detectors import Detector
from neardup.engines.links import LinkCounts, page_links
from neardup.engines.progress import Progress
from neardup.engines.settings import Settings
from neardup.errors import InputError
from neardup.fingerprints import Fingerprint, FixedWidth
from neardup.page import Skipped
from neardup.sources import Chunk, Source
from neardup.text import read

#: What is kept of each page besides fingerprints.
_KEPT = ("id", "url", "date", "source", "record", "offset", "length")


@dataclass(frozen=True, slots=True)
class Collection:
    """Every page of the input, in input order, without its text."""

    #: The columns of ``_KEPT``, ``title``, ``site`` and ``tokens`` (how many).
    pages: pa.Table
    identity: tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]
    fingerprints: dict[Fingerprint, FixedWidth]
    #: The tokens themselves, where the detector verifies with them.
    tokens: pa.ChunkedArray | None
    #: How many other pages link to each page, where the keep policy asks for it.
    links: npt.NDArray[np.int64] | None
    skipped: list[Skipped]
    ignored: dict[str, int]
    #: Pages with bytes that did not fit their encoding.
    replaced: int
    nbytes: int


@dataclass(slots=True)
class _Part:
    """One chunk, done."""

    pages: pa.RecordBatch
    identity: tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]
    fingerprints: list[FixedWidth]
    tokens: pa.LargeListArray | None
    links: LinkCounts | None
    skipped: list[Skipped]
    ignored: dict[str, int]
    replaced: int
    nbytes: int


@dataclass(slots=True)
class _Worker:
    """Turns a chunk into a part; shared by all threads, so it holds nothing that changes."""

    detector: Detector
    settings: Settings
    fingerprints: tuple[Fingerprint, ...] = field(init=False)

    def __post_init__(self) -> None:
        self.fingerprints = self.detector.fingerprints()

    def __call__(self, chunk: Chunk) -> _Part:
        loaded = chunk.load()
        pages = loaded.pages
        page_tokens = read(pages, self.settings.reading)
        tokens = page_tokens.tokens
        kept = {name: pages.column(name) for name in _KEPT}
        kept["title"], kept["site"] = page_tokens.title, page_tokens.site
        kept["tokens"] = pc.list_value_length(tokens)
        return _Part(
            pages=pa.RecordBatch.from_pydict(kept),
            identity=(page_tokens.identity_high, page_tokens.identity_low),
            fingerprints=[fingerprint.compute(tokens) for fingerprint in self.fingerprints],
            tokens=tokens if self.detector.needs_tokens() else None,
            links=page_links(pages) if self.settings.keep == "most-linked" else None,
            skipped=loaded.skipped,
            ignored=loaded.ignored,
            replaced=int(page_tokens.replaced.sum()),
            nbytes=chunk.nbytes,
        )


def collect(source: Source, detector: Detector, settings: Settings, progress: Progress) -> Collection:
    """Reads the whole source."""
    worker = _Worker(detector, settings)
    parts = []
    for part in _in_order(source, worker, settings.workers):
        if settings.strict and part.skipped:
            bad = part.skipped[0]
            raise InputError(
                f"a record cannot be read: {bad.reason}",
                where=f"{bad.source}, {bad.position}",
                hint="mend it, or run without --strict to skip such records",
            )
        progress.advance(part.pages.num_rows, part.nbytes)
        parts.append(part)
    return _assemble(parts, worker.fingerprints, settings)


def _in_order(source: Source, worker: _Worker, threads: int) -> Iterator[_Part]:
    pool = ThreadPoolExecutor(threads, thread_name_prefix="neardup")
    under_way: deque[Future[_Part]] = deque()
    try:
        for chunk in source.chunks():
            under_way.append(pool.submit(worker, chunk))
            if len(under_way) > threads + 1:
                yield under_way.popleft().result()
        while under_way:
            yield under_way.popleft().result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _assemble(parts: list[_Part], fingerprints: tuple[Fingerprint, ...], settings: Settings) -> Collection:
    filled = [part for part in parts if part.pages.num_rows]
    ignored: Counter[str] = Counter()
    for part in parts:
        ignored.update(part.ignored)
    if not filled:
        raise InputError("no pages were found in the input", hint=_why_none(parts, ignored))

    def joined(column: int) -> npt.NDArray[np.uint64]:
        return np.concatenate([part.identity[column] for part in filled])

    rows = [np.concatenate([part.fingerprints[at] for part in filled]) for at in range(len(fingerprints))]
    tokens = [part.tokens for part in filled if part.tokens is not None]
    links = [part.links for part in filled if part.links is not None]
    return Collection(
        pages=pa.Table.from_batches([part.pages for part in filled]),
        identity=(joined(0), joined(1)),
        fingerprints=dict(zip(fingerprints, rows, strict=True)),
        tokens=pa.chunked_array(tokens) if tokens else None,
        links=LinkCounts.total(links) if links else None,
        skipped=[bad for part in parts for bad in part.skipped],
        ignored=dict(sorted(ignored.items())),
        replaced=sum(part.replaced for part in parts),
        nbytes=sum(part.nbytes for part in parts),
    )


def _why_none(parts: list[_Part], ignored: Counter[str]) -> str:
    skipped = [bad for part in parts for bad in part.skipped]
    if skipped:
        return f"{len(skipped)} records could not be read, the first: {skipped[0].describe()}"
    if ignored:
        kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(ignored.items()))
        return f"it holds only records that are no pages: {kinds}"
    return "is it empty, or in another format? see --format and the --…-field options"
