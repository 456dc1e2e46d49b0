"""``Index``: pages go in, and each is told which near-duplicates are already there."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Literal, Self

import pyarrow as pa

from neardup import _native
from neardup.answers import Answer, Stats
from neardup.engines.common.statistics import check
from neardup.errors import ConflictError, FormatError, InputError, OutputError, UsageError
from neardup.index.about import TABLES, About
from neardup.index.incoming import Arrays, Page, Request, arrays_of_batch, encoded, moment, page_list
from neardup.index.shape import open_store, shape_of
from neardup.index.ways import ByArrays, Way, in_one_call
from neardup.methods import Detector, parse
from neardup.methods.default import default_detector, default_without_statistics
from neardup.methods.statistics import CollectionStatistics
from neardup.page import Kinds
from neardup.sinks.folder import new_folder
from neardup.sources.memory import Pages
from neardup.text import Reading
from neardup.writing import check_local

#: When an addition reaches the disk: before it returns, within a second, or when the system finds time.
Sync = Literal["commit", "second", "system"]
SYNCS: Final = ("commit", "second", "system")
#: A key lists at most so many pages unless told otherwise.
MOST: Final = 4096
#: Bytes of memory for blocks that were read, and for what is not yet in a file, unless told otherwise.
MEMORY: Final = 256 << 20
#: Bytes on a disk that may be too few to write a table's file.
_LITTLE_ROOM: Final = 256 << 20
#: How long it is remembered that a request was carried out, in seconds.
_REQUESTS_KEPT: Final = 7 * 86_400


@dataclass(frozen=True, slots=True)
class Verified:
    """What a check of an index read, and what is wrong with it."""

    pages: int
    identity_sets: int
    #: One that was packed when the index was compacted, and listed further pages since, counts twice.
    keys: int
    complaints: tuple[str, ...]

    @property
    def sound(self) -> bool:
        return not self.complaints


class Index:
    """A durable index in a folder, for one process at a time and any number of its threads.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp() + "/index"
    >>> Index.create(folder, "minhash(threshold=0.5)")
    >>> text = "the quick brown fox jumps over the lazy dog and runs away from here"
    >>> with Index(folder) as index:
    ...     index.add(text, id="first").seen
    ...     index.add(text + " again", id="second").seen
    ...     index.query("something else that is long enough to be compared with others").seen
    'first'
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        sync: Sync = "commit",
        memory: int = MEMORY,
        most_matches: int | None = None,
    ) -> None:
        if sync not in SYNCS:
            raise UsageError(f"unknown sync policy {sync!r}", hint=f"one of {', '.join(SYNCS)}")
        if most_matches is not None and most_matches < 1:
            raise UsageError("an answer must name at least one match", hint="leave most_matches out for all of them")
        self.folder = Path(folder)
        self.sync = sync
        self.about = About.read(self.folder)
        self._shape = shape_of(self.about.detector, self.about.statistics)
        self._rules = self.about.detector.rules()
        tables = tables_of(self.folder)
        with in_words(self.folder):
            # A quarter is left for what has been gathered and is on its way to the disk while more is gathered.
            self._store = open_store(
                str(tables),
                self._shape,
                most=self.about.most,
                most_matches=most_matches,
                sync=sync,
                cache=memory // 2,
                buffers=memory // 4,
            )
        reading = self.about.reading
        self._arrays = ByArrays(self._store, self._shape, reading, self._rules)
        self._way: Way = in_one_call(self._store, self._shape, reading, self._rules) or self._arrays

    @staticmethod
    def create(
        folder: str | os.PathLike[str],
        detector: str | Detector | None = None,
        *,
        reading: Reading | None = None,
        statistics: CollectionStatistics | str | os.PathLike[str] | None = None,
        most: int = MOST,
    ) -> None:
        """Makes an empty index for a detector; one that needs statistics of a collection gets them frozen. Without a
        detector it is the one for markup if statistics of sites are given, else one that needs none.

        >>> import tempfile
        >>> Index.create(tempfile.mkdtemp() + "/index", "i-match")  # doctest: +IGNORE_EXCEPTION_DETAIL
        Traceback (most recent call last):
        neardup.errors.UsageError: detector 'i-match' needs statistics of a collection
        """
        reading = reading or Reading()
        if isinstance(statistics, str | os.PathLike):
            statistics = CollectionStatistics.load(statistics)
        of_sites = statistics is not None and statistics.of_blocks
        usual = default_detector(Kinds(html=1)) if of_sites else default_without_statistics()
        chosen = parse(detector if detector is not None else usual)
        if chosen.counted() and statistics is None:
            raise UsageError(
                f"detector {chosen.name!r} needs statistics of a collection",
                hint="make them with neardup statistics, and give them with --statistics",
            )
        if statistics is not None:
            check(statistics, chosen, reading)
        if most < 1:
            raise UsageError("a key must list at least one page", hint=f"the default is {MOST}")
        about = About(chosen, reading, most, statistics if chosen.counted() else None)
        shape = shape_of(chosen, about.statistics)
        with new_index(folder) as place:
            (place / TABLES).mkdir()
            open_store(str(place / TABLES), shape, most=most, sync="commit", cache=1 << 20, buffers=1 << 20).close()
            about.write(place)

    # Pages in.

    def add(
        self,
        page: Page,
        *,
        id: str | None = None,
        url: str | None = None,
        date: str | None = None,
        request: str | None = None,
    ) -> Answer:
        """Adds a page and says, in the same step, which near-duplicates were there before.

        A page is text, or a mapping with ``text``, ``html`` or ``tokens``. Without an id its URL serves as one; a page
        of the same id is replaced. ``request`` names the request: carried out once, it is not carried out again; the
        name with another page is a ``ConflictError``. Threads that add at the same time share a commit.
        """
        named = _named(page, id, url, date)
        named_request = None if request is None else Request.of(request, [named])
        with in_words(self.folder):
            answers = self._way.add([named], [named_request])
        return _without_conflict(answers, [named_request])[0]

    def add_many(
        self, pages: Pages, *, request: str | None = None, requests: Sequence[str | None] | None = None
    ) -> list[Answer]:
        """The same for many pages, a list or a table of them, in order and in one commit.

        ``request`` names the whole of it, which is carried out once, all or nothing; ``requests`` name the pages one by
        one.
        """
        listed = page_list(pages)
        named = _requests(listed, request, requests)
        if not listed:
            return []
        with in_words(self.folder):
            answers = self._way.add(listed, named)
        return _without_conflict(answers, named)

    def add_batch(self, batch: pa.RecordBatch, *, ids: list[str] | None = None) -> list[Answer]:
        """The same for a batch of pages as sources yield it (``neardup.page.PAGES``)."""
        return self.add_arrays(self.arrays(batch, ids)) if batch.num_rows else []

    def arrays(self, batch: pa.RecordBatch, ids: list[str] | None = None) -> Arrays:
        """A batch of pages read and fingerprinted for ``add_arrays``; several threads may do so ahead of it."""
        return arrays_of_batch(batch, self._shape, self.about.reading, names=ids)

    def add_arrays(self, arrays: Arrays) -> list[Answer]:
        """Adds pages that were read and fingerprinted."""
        with in_words(self.folder):
            return self._arrays.add_arrays(arrays)

    # Questions.

    def query(self, page: Page, *, id: str | None = None, url: str | None = None) -> Answer:
        """Which near-duplicates of a page are there; nothing is added. A page of the same id is not among them."""
        return self.query_many([_named(page, id, url, None)])[0]

    def query_many(self, pages: Pages) -> list[Answer]:
        """The same for many pages, a list or a table of them."""
        listed = page_list(pages)
        with in_words(self.folder):
            return self._way.query(listed) if listed else []

    def query_arrays(self, arrays: Arrays) -> list[Answer]:
        """Asks about pages that were read and fingerprinted."""
        with in_words(self.folder):
            return self._arrays.query_arrays(arrays)

    def ids(self, most: int = 1_000_000) -> list[str]:
        """The ids that are there, in order of addition."""
        with in_words(self.folder):
            return [name.decode("utf-8", "replace") for name in self._store.ids(most)]

    def commits(self) -> tuple[int, int]:
        """How many commits added pages since it was opened, and how many pages: those that add together share one."""
        with in_words(self.folder):
            return self._store.commits()

    # Looking after it.

    def remove(self, ids: str | Iterable[str]) -> list[bool]:
        """Takes pages out, one or several; says of each whether it was there."""
        with in_words(self.folder):
            return self._store.remove(encoded([ids] if isinstance(ids, str) else ids))

    def expire(self, before: str | date | datetime) -> int:
        """Takes out all pages of a date before this one; a page without a date is of the time it was added."""
        with in_words(self.folder):
            return self._store.expire(moment(before))

    def compact(self) -> None:
        """Gives back room of what was removed, packs keys, empties the journal. Additions wait, questions do not."""
        with in_words(self.folder):
            self._store.compact(int(time.time()) - _REQUESTS_KEPT)

    def verify(self) -> Verified:
        """Reads everything, compares checksums and looks whether it fits together; changes nothing.

        ``verify`` of this package does so with an index that nobody has open, damaged as it may be.
        """
        with in_words(self.folder):
            pages, sets, keys, complaints = self._store.verify()
        return Verified(pages, sets, keys, tuple(complaints))

    def stats(self) -> Stats:
        """What is in it."""
        with in_words(self.folder):
            pages, sets, left_out, full, tables, journal = self._store.stats()
        statistics = None if self.about.statistics is None else self.about.statistics.digest
        return Stats(pages, sets, full, left_out, tables, journal, str(self.about.detector), statistics)

    def backup(self, out: str | os.PathLike[str]) -> None:
        """Copies the state of this moment into a new folder, which is an index, while others read and write."""
        with new_folder(Path(out)) as place, in_words(self.folder):
            (place / TABLES).mkdir()
            self._store.backup(str(place / TABLES))
            self.about.write(place)

    def flush(self) -> None:
        """Brings everything to the disk, whatever the policy."""
        with in_words(self.folder):
            self._store.flush()

    def close(self) -> None:
        """Brings everything to the disk and lets go of the folder."""
        with in_words(self.folder):
            self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


@contextmanager
def in_words(folder: Path) -> Iterator[None]:
    """Errors of the store, and of the disk, in words. Any other error is a fault of ours and stays what it is."""
    try:
        yield
    except _native.LockedError:
        raise InputError(
            "the index is open elsewhere, and one process at a time may have it",
            where=str(folder),
            hint="ask the service that has it, or wait until it is closed",
        ) from None
    except _native.DamagedError as error:
        raise FormatError(
            f"the index is damaged: {error}", where=str(folder), hint="go back to a backup, or build it anew"
        ) from None
    except _native.CallError as error:
        raise UsageError(str(error), where=str(folder)) from None
    except (_native.StoreError, OSError) as error:
        raise OutputError(
            f"the index cannot be read or written: {error}", where=str(folder), hint=_room(folder)
        ) from None


def verify(folder: str | os.PathLike[str]) -> Verified:
    """Checks an index that nobody has open, file by file, and whether what is in it fits together; changes nothing.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp() + "/index"
    >>> Index.create(folder, "combined")
    >>> verify(folder).sound
    True
    """
    place = Path(folder)
    about = About.read(place)
    shape = shape_of(about.detector, about.statistics)
    with tempfile.TemporaryDirectory(prefix="neardup-verify-") as scratch, in_words(place):
        pages, sets, keys, complaints = _native.IndexStore.verify_folder(
            tables_of(place),
            shape.native,
            most=about.most,
            place=Path(scratch) / TABLES,
        )
    return Verified(pages, sets, keys, tuple(complaints))


def tables_of(folder: Path) -> Path:
    """The folder of an index's tables."""
    tables = folder / TABLES
    if not tables.is_dir():
        raise FormatError("the index has lost its tables", where=str(tables), hint="go back to a backup")
    return tables


def new_index(folder: str | os.PathLike[str]) -> AbstractContextManager[Path]:
    """A folder for a new index, which takes its name when all is in it. One that is there and empty is taken."""
    check_local(folder)
    place = Path(folder)
    if place.is_dir() and any(place.iterdir()):
        raise OutputError("the folder is not empty", where=str(folder), hint="choose another name")
    return new_folder(place)


def _requests(
    pages: Sequence[Page], request: str | None, requests: Sequence[str | None] | None
) -> list[Request | None]:
    """What names the request of each page."""
    if request is not None and requests is not None:
        raise UsageError("the pages are named as one request and one by one", hint="leave one of the two out")
    if request is not None:
        return [Request.of(request, pages)] * len(pages)
    if requests is None:
        return [None] * len(pages)
    if len(requests) != len(pages):
        raise UsageError(f"{len(requests):,} requests name {len(pages):,} pages", hint="give a name or None for each")
    return [None if name is None else Request.of(name, [page]) for name, page in zip(requests, pages, strict=True)]


def _without_conflict(answers: list[Answer], requests: Sequence[Request | None]) -> list[Answer]:
    """The answers, unless a request's name was used before for something else."""
    names = [request.name for answer, request in zip(answers, requests, strict=True) if answer.conflict and request]
    if names:
        others = "" if len(names) == len(answers) else f"; the other {len(answers) - len(names):,} were carried out"
        raise ConflictError(
            f"{len(names):,} of {len(answers):,} requests have a name that was used before with another page, "
            f"the first of them {names[0]!r}{others}",
            hint="give every request a name of its own",
        )
    return answers


def _room(folder: Path) -> str | None:
    """What to do if the disk is full; a write that fails in the background does not say why."""
    try:
        free = shutil.disk_usage(folder).free
    except OSError:
        return None
    return f"make room, the disk has {free / 1e6:,.0f} MB left" if free < _LITTLE_ROOM else None


def _named(page: Page, id: str | None, url: str | None, date: str | None) -> Page:
    given = {name: value for name, value in (("id", id), ("url", url), ("date", date)) if value is not None}
    if not given:
        return page
    said: dict[str, Any] = {"text": page} if isinstance(page, str) else dict(page)
    return said | given
