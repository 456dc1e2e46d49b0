"""Where the parts of a run are while it goes on: in memory as long as they fit, in the scratch folder beyond.

A part that was committed is let go of when memory runs short; what is asked for later is read back column by column,
so that the ids of ten million pages do not bring their titles along.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

import pyarrow as pa

from neardup.engines.common.matching import Lists
from neardup.engines.common.page_columns import LIST
from neardup.engines.common.tally import Tally
from neardup.engines.local.scratch import Part, Scratch, read_lists
from neardup.sources.skipped import SkippedRecords


@dataclass(slots=True)
class PartStore:
    """Parts in order.

    >>> store = PartStore()
    >>> store.add(Part(pa.RecordBatch.from_pydict({"id": ["a"]}), Tally(chunks=1)))
    >>> [batch.to_pylist() for batch in store.columns(["id"])]
    [[{'id': 'a'}]]
    """

    scratch: Scratch | None = None
    #: Seconds between two commits, and bytes that may be held in memory.
    commit_every: float = 30.0
    budget: int = 1 << 62
    #: Parts in memory, by segment: the committed ones (None where they were let go), then the rest.
    _committed: list[list[Part] | None] = field(default_factory=list)
    _fresh: list[Part] = field(default_factory=list)
    _held: int = 0
    _last_commit: float = field(default_factory=time.monotonic)
    _names: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.scratch is not None and self.scratch.tallies:
            self._committed += [None] * len(self.scratch.tallies)
            self._names = self.scratch.names(0)

    def add(self, part: Part) -> None:
        """Takes the next part; commits, and lets go of what was committed, when it is time."""
        self._names = self._names or part.rows.schema.names
        self._fresh.append(part)
        self._held += part.nbytes
        if self.scratch is None:
            return
        full = self._held > self.budget
        if full or time.monotonic() - self._last_commit >= self.commit_every:
            self._commit()
        if full:
            self._committed = [None] * len(self._committed)
            self._held = 0

    def _commit(self) -> None:
        assert self.scratch is not None
        if self._fresh:
            self.scratch.commit(self._fresh)
            self._committed.append(self._fresh)
            self._fresh = []
            self._last_commit = time.monotonic()

    def tally(self) -> Tally:
        """What reading had to tell, in all."""
        committed = self.scratch.tallies if self.scratch is not None else []
        return Tally.total([*committed, *(part.tally for part in self._fresh)])

    def names(self) -> list[str]:
        """The columns there are."""
        return self._names

    def columns(self, names: list[str]) -> Iterator[pa.RecordBatch]:
        """Some columns of all parts that have rows, in order."""
        for number, parts in enumerate(self._committed):
            if parts is None:
                assert self.scratch is not None
                yield from self.scratch.columns(number, names)
            else:
                yield from _selected(parts, names)
        yield from _selected(self._fresh, names)

    def skipped(self) -> Iterator[SkippedRecords]:
        """The records that could not be read, in order."""
        for number, parts in enumerate(self._committed):
            if parts is None:
                assert self.scratch is not None
                yield from self.scratch.skipped(number)
            else:
                yield from (part.skipped for part in parts if part.skipped)
        yield from (part.skipped for part in self._fresh if part.skipped)

    def settle(self) -> None:
        """Ends the taking of parts. Where some had to go, all go: what comes next has the memory for itself."""
        if self.scratch is not None and None in self._committed:
            self._commit()
            self._committed = [None] * len(self._committed)
            self._held = 0
            pa.default_memory_pool().release_unused()

    def lists(self, name: str) -> Lists:
        """A column of long lists, in order: all in memory, or all as files and the length of each list."""
        if None in self._committed:
            assert self.scratch is not None
            return [self.scratch.lists(number, name) for number in range(len(self._committed))]
        return [batch.column(0) for batch in self.columns([name])]

    def forget_lists(self) -> None:
        """Lets go of long lists that are in memory, for nobody asks for them any more."""
        for parts in filter(None, (*self._committed, self._fresh)):
            for at, part in enumerate(parts):
                rows = part.rows.select([name for name in part.rows.schema.names if not name.startswith(LIST)])
                parts[at] = replace(part, rows=rows)

    def put(self, name: str, batches: Iterable[pa.LargeListArray]) -> Lists:
        """Further lists of all pages, batch by batch: as they are, or in a file, if what was read is in files."""
        if None in self._committed:
            assert self.scratch is not None
            return [self.scratch.put_lists(name, batches)]
        return list(batches)


def loaded(lists: Lists) -> Iterator[pa.LargeListArray]:
    """The lists themselves, in order, a batch at a time."""
    for part in lists:
        if isinstance(part, tuple):
            yield from read_lists(part)
        else:
            yield part


def _selected(parts: list[Part], names: list[str]) -> Iterator[pa.RecordBatch]:
    for part in parts:
        if part.rows.num_rows:
            yield part.rows.select(names)
