"""Statistics of a collection: how many pages have each chunk, for every chunk that repeats.

Idea: methods that choose chunks by their frequency need one look at all pages before the first fingerprint. This is the
object they ask and the pass that makes it, free of any engine: a pass takes *rounds* (the levels of SPEX, Bernstein and
Zobel 2004, then an exact count); in each, batches are added in any order and from any thread, and what other partitions
counted is merged. However the pages are cut up, the result is the same, to the byte. A chunk that is not listed stands
on one page (or, asked from outside, on none). Once made, statistics do not change; their digest names them. Cost:
(levels + 1) passes over the tokens; two bits a counter while it runs, then 12 bytes a chunk that repeats.
"""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup import _native
from neardup.errors import FormatError, UsageError
from neardup.methods.container import digest_of, read_arrays, write_arrays

KIND: Final = "collection statistics"
#: How ``hash`` begins where blocks of pages were counted, not chunks of tokens.
BLOCKS: Final = "blocks"
_Counted = tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint32]]


@dataclass(frozen=True, eq=False)
class CollectionStatistics:
    """Frequencies of chunks by their length in tokens; made by a ``StatisticsRound``.

    >>> import pyarrow as pa
    >>> from neardup.methods.shingles import ShingleSet
    >>> pages = pa.array([[1, 2, 3], [2, 3, 4], [9, 9]], pa.large_list(pa.uint64()))
    >>> made = collect_statistics([pages], [2])
    >>> made.pages, made.frequency(ShingleSet(2).compute(pages[:1]).flatten().to_numpy(), 2).tolist()
    (3, [2, 1])
    """

    #: How many pages were counted (identity sets of enough tokens, in a run).
    pages: int
    #: How terms became tokens, or what else was counted; statistics of other things say nothing.
    hash: str
    #: By length: chunks in two pages or more, ascending, and how many pages have each.
    chunks: Mapping[int, _Counted]

    def table(self, length: int) -> _native.NumberTable:
        """The chunks of a length with their frequencies, ready to be looked up."""
        return _native.NumberTable(*self._of(length))

    def between(self, length: int, least: int, most: int) -> npt.NDArray[np.uint64]:
        """The listed chunks that at least ``least`` and at most ``most`` pages have."""
        chunks, pages = self._of(length)
        return np.ascontiguousarray(chunks[(pages >= least) & (pages <= most)])

    def frequency(self, chunks: Sequence[int] | npt.NDArray[np.uint64], length: int) -> npt.NDArray[np.uint32]:
        """How many pages have each of these chunks (numbers as ``ShingleSet`` has them); 1 for one not listed."""
        return self.table(length).look_up(np.asarray(chunks, np.uint64), 1)

    def _of(self, length: int) -> _Counted:
        if length not in self.chunks:
            have = ", ".join(map(str, sorted(self.chunks))) or "none"
            raise UsageError(
                f"the statistics do not count chunks of {length} tokens; they have: {have}",
                hint="make them for this detector",
            )
        return self.chunks[length]

    @property
    def of_blocks(self) -> bool:
        """Whether they count blocks, and not chunks of tokens."""
        return self.hash.startswith(BLOCKS)

    @cached_property
    def digest(self) -> str:
        """Names these statistics: equal for equal ones, whatever made them."""
        return digest_of(KIND, self._about(), self._arrays())

    @property
    def nbytes(self) -> int:
        return sum(chunks.nbytes + pages.nbytes for chunks, pages in self.chunks.values())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes them to a file; ``load`` maps it back."""
        write_arrays(path, KIND, self._about() | {"digest": self.digest}, self._arrays())

    @staticmethod
    def load(path: str | os.PathLike[str]) -> CollectionStatistics:
        """Statistics from a file; a damaged file, or one of another version, is a ``FormatError``."""
        about, arrays = read_arrays(path, KIND)
        try:
            lengths = [int(length) for length in about["lengths"]]
            chunks = {n: (arrays[f"chunks of {n}"], arrays[f"pages of {n}"]) for n in lengths}
            loaded = CollectionStatistics(int(about["pages"]), str(about["hash"]), chunks)
        except (KeyError, ValueError, TypeError):
            raise FormatError("the statistics are damaged", where=os.fspath(path), hint="make them again") from None
        if loaded.digest != about.get("digest"):
            raise FormatError("the statistics are not what was saved", where=os.fspath(path), hint="make them again")
        return loaded

    def _about(self) -> dict[str, Any]:
        return {"pages": self.pages, "hash": self.hash, "lengths": sorted(self.chunks)}

    def _arrays(self) -> dict[str, npt.NDArray[Any]]:
        arrays: dict[str, npt.NDArray[Any]] = {}
        for length in sorted(self.chunks):
            arrays[f"chunks of {length}"], arrays[f"pages of {length}"] = self.chunks[length]
        return arrays


@dataclass
class StatisticsRound:
    """One round of the pass. ``add`` every page once, ``merge`` the rounds of other partitions, then ``finish``: the
    next round, for all pages once more, or the statistics. Rounds travel between processes (they pickle)."""

    #: Lengths that are still to be counted; the first is under way.
    lengths: tuple[int, ...]
    hash: str
    #: 2^bits counters a level.
    bits: int
    pages: int = 0
    #: Finished lengths.
    done: dict[int, _Counted] = field(default_factory=dict)
    #: The level before, and the one that is counted now; None: the exact count.
    before: _native.Repeats | None = None
    counters: _native.Repeats | None = None
    _runs: list[_Counted] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def add(self, tokens: pa.LargeListArray) -> None:
        """Counts a batch of pages; threads may add at the same time."""
        if self.counters is not None:
            self.counters.count(tokens, self.before, last=self.counters.length == self.lengths[0])
        else:
            assert self.before is not None
            counted = self.before.frequencies(tokens)
            with self._lock:
                self._push(counted)
        if not self.done and self.before is None:
            with self._lock:
                self.pages += len(tokens)

    def merge(self, other: StatisticsRound) -> None:
        """Adds what another partition counted in the same round."""
        if (self.lengths, self.bits, self._level) != (other.lengths, other.bits, other._level):
            raise UsageError("rounds of different passes do not merge", hint="merge rounds of one pass, level by level")
        if self.counters is not None and other.counters is not None:
            self.counters.merge(other.counters)
        for run in other._runs:
            self._push(run)
        if not self.done and self.before is None:
            self.pages += other.pages

    def fresh(self) -> StatisticsRound:
        """The same round with nothing counted yet, for another partition."""
        counters = None if self.counters is None else _native.Repeats(self.counters.length, self.bits)
        pages = 0 if not self.done and self.before is None else self.pages
        return StatisticsRound(self.lengths, self.hash, self.bits, pages, dict(self.done), self.before, counters)

    def finish(self) -> StatisticsRound | CollectionStatistics:
        """Ends the round, after all pages were added."""
        length = self.lengths[0]
        if self.counters is not None:
            later = [level for level in _native.Repeats.levels(length) if level > self.counters.length]
            counters = _native.Repeats(later[0], self.bits) if later else None
            return StatisticsRound(self.lengths, self.hash, self.bits, self.pages, self.done, self.counters, counters)
        while len(self._runs) > 1:
            self._runs.append(_native.Repeats.merge_frequencies(self._runs.pop(), self._runs.pop()))
        chunks, pages = self._runs[0] if self._runs else (np.empty(0, np.uint64), np.empty(0, np.uint32))
        repeated = pages > 1
        done = self.done | {length: (chunks[repeated], pages[repeated])}
        if len(self.lengths) > 1:
            return _first_level(self.lengths[1:], self.hash, self.bits, self.pages, done)
        return CollectionStatistics(self.pages, self.hash, done)

    @property
    def _level(self) -> int | None:
        return None if self.counters is None else self.counters.length

    def _push(self, run: _Counted) -> None:
        """Runs are merged like digits are carried: each is at least twice as long as the next."""
        self._runs.append(run)
        while len(self._runs) > 1 and len(self._runs[-2][0]) < 2 * len(self._runs[-1][0]):
            self._runs.append(_native.Repeats.merge_frequencies(self._runs.pop(), self._runs.pop()))

    def __getstate__(self) -> dict[str, Any]:
        state = {name: value for name, value in vars(self).items() if name != "_lock"}
        for name in ("before", "counters"):
            level = state[name]
            state[name] = None if level is None else (level.length, level.bits, *level.planes())
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name in ("before", "counters"):
            state[name] = None if state[name] is None else _native.Repeats.from_planes(*state[name])
        vars(self).update(state, _lock=threading.Lock())


def _first_level(
    lengths: tuple[int, ...], hash: str, bits: int, pages: int, done: dict[int, _Counted]
) -> StatisticsRound:
    return StatisticsRound(lengths, hash, bits, pages, done, None, _native.Repeats(1, bits))


def start_statistics(lengths: Sequence[int], *, tokens: int, hash: str = "fold") -> StatisticsRound:
    """The first round of a pass that counts chunks of these lengths. ``tokens``: about how many there are in all, which
    decides how many counters there are, and nothing else.

    >>> start_statistics([5], tokens=1000).lengths
    (5,)
    """
    if not lengths or min(lengths) < 1:
        raise UsageError("statistics count chunks of at least one token", hint="give lengths of 1 and more")
    return _first_level(tuple(sorted(set(lengths))), hash, _table_bits(tokens), 0, {})


def collect_statistics(
    batches: Sequence[pa.LargeListArray], lengths: Sequence[int], *, hash: str = "fold"
) -> CollectionStatistics:
    """The whole pass over token lists that are at hand.

    >>> import pyarrow as pa
    >>> pages = pa.array([[1, 2, 3, 4], [1, 2, 3, 9], [7, 8, 9]], pa.large_list(pa.uint64()))
    >>> whole = collect_statistics([pages], [2])
    >>> whole.digest == collect_statistics([pages[2:], pages[:2]], [2]).digest
    True
    """
    step: StatisticsRound | CollectionStatistics = start_statistics(
        lengths, tokens=sum(len(batch.flatten()) for batch in batches), hash=hash
    )
    while isinstance(step, StatisticsRound):
        for batch in batches:
            step.add(batch)
        step = step.finish()
    return step


def _table_bits(entries: int) -> int:
    """Counters, as a power of two, that keep chance meetings of so many entries rare: eight for each.

    >>> _table_bits(0), _table_bits(1_000_000), _table_bits(10**12)
    (16, 23, 32)
    """
    return min(32, max(16, math.ceil(math.log2(8 * max(1, entries)))))
