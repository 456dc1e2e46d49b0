"""The first stage: source → pages read, tokenised and fingerprinted, in input order whatever the threads.

One thread takes chunks off the source (on many cores several do, each off files of its own); workers load them, read
their pages into tokens and compute fingerprints, with the GIL released; results are taken in order. Only a few chunks
are under way at a time, and a page's text is dropped as soon as its fingerprints are there. Now and then what was done
is committed to the scratch folder; a run that goes on takes those chunks off the source without loading them.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import field
from itertools import chain, islice
from typing import Any, Final, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup import _native
from neardup.engines.common.matching import Sets
from neardup.engines.common.page_columns import LIST, STREAMS, TOKENS, PageColumns
from neardup.engines.common.progress import Progress
from neardup.engines.common.settings import Settings
from neardup.engines.common.tally import Tally
from neardup.engines.common.unread import no_pages_error, strict_error
from neardup.engines.local.lanes import in_lanes
from neardup.engines.local.scratch import Part, Scratch
from neardup.engines.local.store import PartStore, loaded
from neardup.methods import AnyFingerprint, ChunkSets, Detector, Fingerprint, FixedWidth
from neardup.record import record
from neardup.sinks import ROW_GROUP_ROWS
from neardup.sources import Chunk, Loaded, Source
from neardup.sources.skipped import SkippedRecords
from neardup.workers import in_order


@record(frozen=True)
class Collection:
    """Every page of the input, in input order, without its text. What is asked for is read when it is asked for."""

    store: PartStore
    kinds: tuple[Fingerprint | ChunkSets, ...]
    count: int
    tally: Tally
    #: Fingerprints of all pages that had to wait for statistics of the collection: rows of numbers in batches, or sets.
    _given: dict[AnyFingerprint, list[FixedWidth] | Sets] = field(default_factory=dict, repr=False)

    def skipped(self) -> Iterator[SkippedRecords]:
        """The records that could not be read, in order, some at a time."""
        return self.store.skipped()

    def column(self, name: str) -> pa.ChunkedArray:
        """One of ``KEPT``, or ``title``, ``site`` or ``tokens`` (how many), of all pages."""
        return pa.chunked_array([batch.column(0) for batch in self.store.columns([name])])

    def columns(self, names: Sequence[str]) -> pa.Table:
        """Several of them."""
        return pa.Table.from_batches(list(self.store.columns(list(names))))

    def groups(self, names: Sequence[str]) -> Iterator[pa.Table]:
        """The same, ``ROW_GROUP_ROWS`` pages at a time; no more than that is held."""
        waiting: list[pa.RecordBatch] = []
        rows = 0
        for batch in self.store.columns(list(names)):
            waiting.append(batch)
            rows += batch.num_rows
            while rows >= ROW_GROUP_ROWS:
                table = pa.Table.from_batches(waiting)
                yield table.slice(0, ROW_GROUP_ROWS).combine_chunks()
                waiting = table.slice(ROW_GROUP_ROWS).to_batches()
                rows -= ROW_GROUP_ROWS
        if rows:
            yield pa.Table.from_batches(waiting).combine_chunks()

    def at(self, names: Sequence[str], rows: npt.NDArray[np.uint32]) -> pa.Table:
        """The same of some pages, given by their rows in ascending order."""
        batches: list[pa.RecordBatch] = []
        before = done = 0
        for batch in self.store.columns(list(names)):
            upto = int(np.searchsorted(rows, np.uint32(before + batch.num_rows)))
            if upto > done or not batches:
                batches.append(batch.take(pa.array(rows[done:upto] - np.uint32(before))))
            before, done = before + batch.num_rows, upto
        return pa.Table.from_batches(batches).combine_chunks()

    @property
    def identity(self) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
        """The two halves of the hash of each page's token sequence."""
        batches = list(self.store.columns(["identity_high", "identity_low"]))
        return numbers(batches, "identity_high"), numbers(batches, "identity_low")

    def fingerprint(self, kind: AnyFingerprint, rows: npt.NDArray[np.uint32]) -> FixedWidth:
        """A fingerprint of some pages, given by their rows in ascending order."""
        late = self._given.get(kind)
        if isinstance(late, list):
            values: FixedWidth = np.concatenate(late)[rows]
            return values
        return fixed_width_rows(self.store.columns([f"fingerprint_{self._place(kind)}"]), rows)

    def add_fingerprint(self, kind: AnyFingerprint, batches: Iterable[FixedWidth | pa.LargeListArray]) -> None:
        """Takes a fingerprint of all pages that could not be computed as they were read, batch by batch: all rows of
        numbers, or all sets, which go to a file if the pages did."""
        rest = iter(batches)
        first = next(rest)
        if isinstance(first, np.ndarray):
            self._given[kind] = [first, *cast("Iterator[FixedWidth]", rest)]
            return
        parities: list[pa.LargeListArray] = []

        def sets() -> Iterator[pa.LargeListArray]:
            for batch in chain([first], rest):
                parities.append(_native.parities(batch))
                yield batch

        stored = self.store.put(f"{LIST}given{len(self._given)}", sets())
        self._given[kind] = Sets(stored, parities)

    def fingerprint_bytes(self, kind: AnyFingerprint) -> int:
        """How much a fingerprint of all pages takes."""
        late = self._given.get(kind)
        if late is not None:
            return sum(batch.nbytes for batch in (loaded(late.sets) if isinstance(late, Sets) else late))
        place = self._place(kind)
        name = next(name for name in (f"fingerprint_{place}", f"{LIST}{place}") if name in self.store.names())
        return sum(batch.nbytes for batch in self.store.columns([name]))

    def _place(self, kind: AnyFingerprint) -> int:
        return next(place for place, known in enumerate(self.kinds) if known == kind)

    def sets(self, kind: AnyFingerprint, in_memory: bool = False) -> Sets:
        """Sets that pairs are verified by, of all pages; where they are, unless asked for in memory."""
        late = self._given.get(kind)
        if isinstance(late, Sets):
            stored = late
        else:
            number = self._place(kind)
            parities = [batch.column(0) for batch in self.store.columns([f"parity_{number}"])]
            stored = Sets(self.store.lists(f"{LIST}{number}"), parities)
        return Sets(list(loaded(stored.sets)), stored.parities) if in_memory else stored

    def forget_sets(self) -> None:
        """Lets go of sets and tokens that are in memory: matching is done, and they are most of what is held."""
        self._given.clear()
        self.store.forget_lists()

    def token_batches(self) -> Iterator[pa.LargeListArray]:
        """The tokens themselves, a batch at a time; there where they were kept."""
        return self.list_batches(TOKENS)

    def list_batches(self, name: str) -> Iterator[pa.LargeListArray]:
        """A column of lists, a batch at a time."""
        return loaded(self.store.lists(name))

    def stream_batches(self) -> Iterator[pa.LargeListArray]:
        """The streams of the pages' content, where the detector asks for them."""
        return self.list_batches(STREAMS)

    def chosen_tokens(self, flags: npt.NDArray[np.bool_]) -> Iterator[pa.LargeListArray]:
        """The tokens of the pages whose flag is set."""
        return _chosen(self.token_batches(), flags)

    def chosen_streams(self, flags: npt.NDArray[np.bool_]) -> Iterator[pa.LargeListArray]:
        """The streams of these pages."""
        return _chosen(self.stream_batches(), flags)

    @property
    def links(self) -> npt.NDArray[np.int64] | None:
        """How many other pages link to each page, where the keep policy asks for it."""
        if "links" not in self.store.names():
            return None
        return count_links([(batch.column(0), batch.column(1)) for batch in self.store.columns(["own_url", "links"])])


#: Workers that a thread that unpacks files keeps busy, about.
_WORKERS_A_LANE: Final = 3

#: Further columns of the pages of a chunk, by name; those named ``LIST…`` are lists that may go to files.
Also = Callable[[Loaded], dict[str, pa.Array]]


class _Worker:
    """Turns a chunk into a part; shared by all threads, so it holds nothing that changes."""

    def __init__(self, detector: Detector, settings: Settings, also: Also | None = None) -> None:
        self.columns = PageColumns(detector, settings)
        self._also = also

    def __call__(self, chunk: Chunk) -> Part:
        if self._also is None:
            loaded, columns, replaced = self.columns.load(chunk)
        else:
            loaded = chunk.load()
            columns, replaced = self.columns.of(loaded.pages)
            columns |= self._also(loaded)
        skipped = SkippedRecords.of(loaded.skipped) if loaded.skipped else None
        return Part(pa.RecordBatch.from_pydict(columns), Tally.of(chunk, loaded, replaced), skipped)


def collect(
    source: Source,
    detector: Detector,
    settings: Settings,
    progress: Progress,
    scratch: Scratch | None = None,
    also: Also | None = None,
) -> Collection:
    """Reads the whole source, going on behind what the scratch folder holds already. ``also`` gives columns that the
    caller wants of pages while they are at hand."""
    worker = _Worker(detector, settings, also)
    store = PartStore(scratch, settings.commit_every, settings.held_pages)
    done = scratch.chunks if scratch is not None else 0
    if scratch is not None:
        for tally in scratch.tallies:
            progress.advance(tally.pages, tally.nbytes)
    # Closed at once when something is wrong: threads would go on reading.
    with closing(_parts(source, worker, settings, done)) as parts:
        for part in parts:
            if settings.strict and part.skipped:
                raise strict_error(part.skipped[0])
            progress.advance(part.tally.pages, part.tally.nbytes)
            store.add(part)
    store.settle()
    tally = store.tally()
    if not tally.pages:
        first = next(store.skipped())[0] if tally.skipped else None
        raise no_pages_error(tally, first, "is it empty, or in another format? see --format and the --…-field options")
    return Collection(store, worker.columns.kinds, tally.pages, tally)


def _parts(source: Source, worker: _Worker, settings: Settings, done: int) -> Generator[Part]:
    """The parts of a source behind those that are done, in order. On many cores several files are read at a time; not
    where memory is short, for what is ready before its time has to be held."""
    if done:
        items = islice(source.chunks(), done, None)
        room = settings.memory_budget // 16
        return in_order(items, worker, settings.batches_at_once, size_of=_size if settings.memory else None, room=room)
    return in_lanes(
        source.lanes(),
        worker,
        settings.batches_at_once,
        beside=1 if settings.memory else settings.workers // _WORKERS_A_LANE,
        size_of=lambda part: part.nbytes,
        room=settings.memory_budget // 16,
        item_size=_size if settings.memory else None,
    )


def _size(chunk: Chunk) -> int:
    """What a chunk is when unpacked, about."""
    return chunk.nbytes if chunk.plain is None else chunk.plain


def _chosen(batches: Iterator[pa.LargeListArray], chosen: npt.NDArray[np.bool_]) -> Iterator[pa.LargeListArray]:
    start = 0
    for lists in batches:
        flags = chosen[start : start + len(lists)]
        start += len(lists)
        yield lists if flags.all() else lists.filter(pa.array(flags))


def fixed_width_rows(batches: Iterable[pa.RecordBatch], rows: npt.NDArray[np.uint32]) -> FixedWidth:
    """Some rows, ascending, of the column of batches that follow one another, as one array; nothing else is held.

    >>> from neardup.engines.common.page_columns import fixed_width_column
    >>> column = fixed_width_column(np.array([[1, 2], [3, 4]], np.uint64))
    >>> batches = [pa.RecordBatch.from_arrays([column], ["fingerprint"])] * 2
    >>> fixed_width_rows(batches, np.array([1, 2], np.uint32)).tolist()
    [[3, 4], [1, 2]]
    """
    gathered: FixedWidth | None = None
    before = filled = 0
    for batch in batches:
        column = batch.column(0)
        width = column.type.list_size
        if gathered is None:
            gathered = np.empty((len(rows), width), np.uint64)
        # A number of the rows' own type, or all of them would be cast to another for every batch.
        upto = int(np.searchsorted(rows, np.uint32(before + len(column))))
        # `flatten` respects that a batch may be a slice of another.
        values = column.flatten().to_numpy().reshape(-1, width)
        # Any mode but "raise" is written straight to where it belongs; no row is outside.
        np.take(values, rows[filled:upto] - before, axis=0, out=gathered[filled:upto], mode="clip")
        before, filled = before + len(column), upto
    assert gathered is not None, "a collection has pages"
    return gathered


def numbers(batches: Sequence[pa.RecordBatch], name: str) -> npt.NDArray[Any]:
    """A column of numbers of all batches as one array."""
    return np.concatenate([batch.column(name).to_numpy() for batch in batches])


def count_links(parts: Sequence[tuple[pa.UInt64Array, pa.LargeListArray]]) -> npt.NDArray[np.int64]:
    """For each page how many pages link to its URL.

    >>> own = pa.array([5, 6, 0], pa.uint64())
    >>> count_links([(own, pa.array([[6], [], [6, 7]], pa.large_list(pa.uint64())))]).tolist()
    [0, 2, 0]
    """
    own = np.concatenate([part[0].to_numpy() for part in parts])
    linked = np.concatenate([part[1].flatten().to_numpy() for part in parts])
    targets, counts = np.unique(linked, return_counts=True)
    links = np.zeros(len(own), np.int64)
    if len(targets):
        place = np.minimum(np.searchsorted(targets, own), len(targets) - 1)
        known = (targets[place] == own) & (own != 0)
        links[known] = counts[place[known]]
    return links
