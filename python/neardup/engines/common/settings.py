"""What a run may be told beside its input and its detector, and what the machine has for it."""

from __future__ import annotations

import os
from dataclasses import field, replace
from math import isqrt
from pathlib import Path
from typing import TYPE_CHECKING, Final

from neardup.engines.common.sizes import memory_bytes, number_of_bytes, page_bytes
from neardup.errors import UsageError
from neardup.graph.keep import POLICIES, KeepPolicy
from neardup.graph.removal import REMOVALS, Removal
from neardup.record import record
from neardup.sources.base import PAGE_BYTES
from neardup.text import Reading

#: Accepted pairs that are held whatever the pages, and beyond that for each page, unless a run is told otherwise.
ALWAYS_HELD: Final = 1 << 20
HELD_A_PAGE: Final = 10
#: Pairs that share a key and may be looked at, for each page.
POSSIBLE_A_PAGE: Final = 4096
#: Buckets are joined exhaustively, the small ones first, until this many pairs are accepted or were possible:
#: beyond, those that are left are hot as well. Collections of any size have this much; ``Settings.max_pairs`` and
#: ``POSSIBLE_A_PAGE`` give more to larger ones.
_POSSIBLE: Final = 1 << 26
#: Memory for a pair on its way from the join to the table.
_BYTES_A_PAIR: Final = 256
#: Of a budget, what a thread may take that compares pages, and one that works on a batch of pages: about twice of what
#: was seen.
_A_THREAD: Final = 16 << 20
_A_BATCH: Final = 64 << 20
#: No key that fewer pages share is hot, and every key that more share, unless a run is told otherwise.
_HOT: Final = (20_000, 1 << 16)

if TYPE_CHECKING:

    class Bytes:
        """What a checker has to know of a number of bytes: a text may be given for it."""

        def __init__(self, value: int) -> None: ...
        def __get__(self, settings: object, owner: type | None = None) -> int: ...
        def __set__(self, settings: object, value: int | str) -> None: ...

else:
    Bytes = int


@record(frozen=True, slots=True)
class Settings:
    """Settings of a run; only ``reading``, ``keep``, ``removal``, ``max_page`` and ``statistics`` change the answer.

    >>> Settings(memory="256MiB").memory
    268435456
    >>> Settings(keep="prettiest")
    Traceback (most recent call last):
    neardup.errors.UsageError: unknown keep policy 'prettiest': one of first, longest, newest, shortest-url, most-linked
    """

    keep: KeepPolicy = "first"
    removal: Removal = "direct"
    reading: Reading = field(default_factory=Reading)
    #: A record that cannot be read ends the run.
    strict: bool = False
    #: Worker threads; 0 means one a core.
    threads: int = 0
    #: All accepted pairs are held while they are at most this many times the pages (0: 10 times, and a million however
    #: few the pages); beyond, the spanning forest. With more than 10 times, more pairs are looked for as well.
    max_pairs: int = 0
    #: A key that more pages share than this is hot: its pages are compared with those that stay, not all with all. What
    #: stays and the clusters are the same; pairs between pages that go may be left out, as ``run.json`` tells. 0 means
    #: as many as all pairs of one key are still a small part of the work: 20,000, and up to 65,536 where there are more
    #: than 100,000 pages.
    hot: int = 0
    #: Bytes of memory to get along with, beside some 300 MB for the program itself: what does not fit goes to the
    #: scratch folder until it is needed. 0 means three quarters of what the machine, or the process's group, has. A
    #: text is read as ``--memory`` reads it.
    memory: Bytes = Bytes(0)
    #: A page that is longer as it stands in its file (a line, a row, a value, a record, a file) is skipped, and named
    #: with its length. Pages that are given from memory may be as long as they are. A text is read as ``--max-page``
    #: reads it.
    max_page: Bytes = Bytes(PAGE_BYTES)
    #: Seconds between two commits of what was read to the scratch folder, and what a later stage must take for its
    #: outcome to be committed: what a killed run may have to do again.
    commit_every: float = 30.0
    #: A file of frozen statistics, for detectors that need some, in place of a first pass over the input.
    statistics: str | None = None
    #: Tokens are held until the end whatever the detector, for what measures a run to look at them.
    hold_tokens: bool = False

    def __post_init__(self) -> None:
        if self.keep not in POLICIES:
            raise UsageError(f"unknown keep policy {self.keep!r}", hint=f"one of {', '.join(POLICIES)}")
        if self.removal not in REMOVALS:
            raise UsageError(f"unknown removal {self.removal!r}", hint=f"one of {', '.join(REMOVALS)}")
        if self.threads < 0 or self.max_pairs < 0 or self.hot < 0:
            raise UsageError("threads, max_pairs and hot must not be negative")
        # A frozen record: texts are replaced by what they say.
        object.__setattr__(self, "memory", number_of_bytes("memory", self.memory, memory_bytes))
        object.__setattr__(self, "max_page", number_of_bytes("max_page", self.max_page, page_bytes))
        if self.memory < 0:
            raise UsageError("memory must not be negative")
        if self.max_page < 1:
            raise UsageError("max_page must be one byte or more")

    def every_pair(self) -> Settings:
        """The same, but all accepted pairs are looked for and held: for what asks about single pairs."""
        return replace(self, hot=1 << 40, max_pairs=1 << 20)

    @property
    def memory_budget(self) -> int:
        """Bytes of memory the run may take."""
        return self.memory or available_memory() * 3 // 4

    @property
    def held_pages(self) -> int:
        """Bytes of what was read that are held in memory; of more, all goes to the scratch folder. A budget that was
        given is kept to whatever the pages: it leaves room for many short ones, whose pairs and tables take more.

        >>> Settings(memory=1 << 30).held_pages == 1 << 27
        True
        """
        return self.memory_budget // (8 if self.memory else 3)

    def most_held(self, pages: int) -> int:
        """Accepted pairs that are all held; of more, the spanning forest.

        >>> Settings().most_held(1_000), Settings().most_held(1_000_000), Settings(max_pairs=3).most_held(1_000)
        (1048576, 10000000, 3000)
        """
        return self.max_pairs * pages if self.max_pairs else max(ALWAYS_HELD, HELD_A_PAGE * pages)

    def hot_beyond(self, pages: int) -> int:
        """Keys that more of so many pages share than this are hot; no key whose pairs are to be held is.

        >>> Settings().hot_beyond(1_000), Settings().hot_beyond(1_000_000), Settings(hot=7).hot_beyond(1_000_000)
        (20000, 64000, 7)
        >>> Settings(max_pairs=50_000).hot_beyond(100_000)
        100000
        """
        least, most = _HOT
        return self.hot or max(min(max(least, isqrt(POSSIBLE_A_PAGE * pages)), most), isqrt(2 * self.max_pairs * pages))

    def most_accepted(self, pages: int) -> int:
        """Accepted pairs beyond which buckets are hot."""
        return max(ALWAYS_HELD, min(self.most_held(pages), self.memory_budget // _BYTES_A_PAIR))

    def most_possible(self, pages: int) -> int:
        """Possible pairs beyond which buckets are hot: more of them for who asks to hold more.

        >>> Settings().most_possible(1_000), Settings(max_pairs=1_000).most_possible(1_000)
        (67108864, 6710886400)
        """
        share = max(1, self.max_pairs // HELD_A_PAGE)
        return min(max(_POSSIBLE, POSSIBLE_A_PAGE * pages) * share, 1 << 62)

    @property
    def workers(self) -> int:
        """Threads that do the work: as told, or one for each core this process may use; no more than a budget that was
        given has room for.

        >>> Settings(threads=64).workers, Settings(threads=64, memory=1 << 28).workers
        (64, 16)
        """
        return self._within_memory(self.threads or _cores(), _A_THREAD)

    @property
    def batches_at_once(self) -> int:
        """How many of them work on batches of pages.

        >>> Settings(threads=64).batches_at_once, Settings(threads=64, memory=1 << 28).batches_at_once
        (64, 4)
        """
        return self._within_memory(self.workers, _A_BATCH)

    def _within_memory(self, threads: int, each: int) -> int:
        return min(threads, max(1, self.memory // each)) if self.memory else threads


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def available_memory() -> int:
    """Bytes of memory the process may count on: the machine's, or its group's limit if that is less.

    >>> available_memory() > 0
    True
    """
    limits = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    for path in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            text = Path(path).read_text(encoding="ascii").strip()
        except OSError:
            continue
        if text.isdecimal():
            limits.append(int(text))
    return min(limits)
