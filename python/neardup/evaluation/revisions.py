"""Revision corpora: articles and their versions in order, from MediaWiki history dumps or from JSON lines.

A MediaWiki dump (``pages-meta-history``: ``.xml``, ``.xml.bz2``, ``.xml.gz``) is parsed as it streams by; only one
revision is held at a time, and pages outside the article namespace are passed over. JSON lines have the fields ``id``,
``doc`` (the article's name) and ``text``, an article's revisions one after the other. In both the article's name
travels as the page's URL, which it does not look like, so it makes no site. Damage ends a dump where it is, and is
named.
"""

from __future__ import annotations

import bz2
import gzip
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Final, Self
from xml.etree import ElementTree

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup import _native
from neardup.engines.local.reading import Collection
from neardup.errors import InputError
from neardup.page import BATCH_BYTES, Skipped
from neardup.sources import Chunk, Fields, Loaded, Source, open_inputs
from neardup.sources.base import PAGE_BYTES, build_pages, only_skipped

_ENDINGS: Final = (".xml", ".xml.bz2", ".xml.gz")


def open_revisions(paths: Sequence[str], *, articles: int | None = None, revisions: int | None = None) -> Source:
    """A revision corpus as a source of pages; the first so many articles, and of each the first so many revisions."""
    dumps = [_ending(path) is not None for path in paths]
    if any(dumps) and not all(dumps):
        raise InputError("MediaWiki dumps and JSON lines cannot be mixed", where=", ".join(paths))
    if paths and all(dumps):
        for path in paths:
            if not Path(path).is_file():
                raise InputError("no such file", where=path)
        return MediaWiki([Path(path) for path in paths], articles, revisions)
    try:
        lines = open_inputs(paths, Fields(url="doc"))
        return lines if articles is None and revisions is None else FirstRevisions(lines, articles, revisions)
    except InputError as error:
        if "'doc'" not in str(error):
            raise
        raise InputError(
            "not a revision corpus: its lines have no field 'doc' that names the article",
            where=", ".join(paths),
            hint="give JSON lines with id, doc and text, or a MediaWiki dump (.xml, .xml.bz2)",
        ) from None


def _ending(path: str) -> str | None:
    return next((ending for ending in _ENDINGS if path.lower().endswith(ending)), None)


def _unpacked(path: Path) -> AbstractContextManager[Any]:
    ending = _ending(str(path))
    if ending == ".xml.bz2":
        return bz2.open(path, "rb")
    return gzip.open(path, "rb") if ending == ".xml.gz" else open(path, "rb")


@dataclass(frozen=True, slots=True)
class MediaWiki:
    """History dumps as a source: one page a revision, ``id`` is the revision's, ``url`` the article's title.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "dump.xml.bz2"
    >>> revision = "<revision><id>{}</id><timestamp>2011-07-29T00:00:00Z</timestamp><text>{}</text></revision>"
    >>> both = revision.format(7, "one") + revision.format(8, "two")
    >>> dump = f"<mediawiki><page><title>Shingle</title><ns>0</ns>{both}</page></mediawiki>"
    >>> _ = path.write_bytes(bz2.compress(dump.encode()))
    >>> pages = [chunk.load().pages for chunk in MediaWiki([path]).chunks()]
    >>> [(row["id"], row["url"], row["content"]) for row in pages[0].to_pylist()]
    [('7', 'Shingle', b'one'), ('8', 'Shingle', b'two')]
    """

    paths: Sequence[Path]
    articles: int | None = None
    revisions: int | None = None

    def chunks(self) -> Iterator[Chunk]:
        for lane in self.lanes():
            yield from lane()

    def lanes(self) -> list[Callable[[], Iterator[Chunk]]]:
        return [partial(self._file, path) for path in self.paths]

    def _file(self, path: Path) -> Iterator[Chunk]:
        rows: list[dict[str, Any]] = []
        size = record = 0
        try:
            with _unpacked(path) as stream:
                for row in self._revisions(stream):
                    row["record"] = record
                    record += 1
                    if len(row["content"]) > PAGE_BYTES:
                        too_long = _native.too_long("a revision", len(row["content"]), PAGE_BYTES)
                        yield only_skipped(0, Skipped(str(path), f"revision {row['id']}", too_long))
                        continue
                    rows.append(row)
                    size += len(row["content"])
                    if size >= BATCH_BYTES:
                        yield _chunk(rows, size, str(path))
                        rows, size = [], 0
        except (ElementTree.ParseError, OSError, EOFError, zlib.error, ValueError) as error:
            if rows:
                yield _chunk(rows, size, str(path))
            yield only_skipped(0, Skipped(str(path), f"after {record:,} revisions", f"damaged dump: {error}"))
            return
        if rows:
            yield _chunk(rows, size, str(path))

    def _revisions(self, stream: IO[bytes]) -> Iterator[dict[str, Any]]:
        title, namespace, taken, articles = "", "0", 0, 0
        path: list[ElementTree.Element] = []
        for event, element in ElementTree.iterparse(stream, events=("start", "end")):
            if event == "start":
                path.append(element)
                continue
            path.pop()
            name = element.tag.rpartition("}")[2]
            if name == "title":
                title, namespace, taken = element.text or "", "0", 0
            elif name == "ns":
                namespace = (element.text or "0").strip()
            elif name == "revision":
                wanted = namespace == "0" and (self.revisions is None or taken < self.revisions)
                text = _child(element, "text")
                if wanted and text:
                    if taken == 0:
                        articles += 1
                        if self.articles is not None and articles > self.articles:
                            return
                    taken += 1
                    yield {
                        "id": _child(element, "id") or None,
                        "url": title,
                        "content": text.encode("utf-8", "replace"),
                        "date": _child(element, "timestamp") or None,
                    }
            if name in ("revision", "page"):
                element.clear()
                if path:
                    # What is done is taken off its parent, or the tree of the whole dump would grow in memory.
                    path[-1].remove(element)

    @property
    def unread(self) -> tuple[()]:
        return ()

    def nbytes(self) -> int | None:
        return None

    def close(self) -> None:
        pass

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass


@dataclass(frozen=True, slots=True)
class FirstRevisions:
    """Of a source whose pages' URLs name articles, the first articles and of each the first revisions, read in order.

    >>> from neardup.sources.memory import texts
    >>> pages = texts([{"id": f"{name}{at}", "url": name, "text": "x"} for name in "ABC" for at in range(3)])
    >>> [id for chunk in FirstRevisions(pages, 2, 1).chunks() for id in chunk.load().pages.column("id").to_pylist()]
    ['A0', 'B0']
    """

    source: Source
    articles: int | None
    revisions: int | None

    def chunks(self) -> Iterator[Chunk]:
        taken: dict[str, int] = {}
        for chunk in self.source.chunks():
            loaded = chunk.load()
            flags = [self._is_wanted(name, taken) for name in loaded.pages.column("url").to_pylist()]
            few = replace(loaded, pages=loaded.pages.filter(pa.array(flags, pa.bool_())))
            yield Chunk(chunk.nbytes, partial(_as_loaded, few), chunk.plain)

    def _is_wanted(self, name: str | None, taken: dict[str, int]) -> bool:
        """Whether a revision is among the first ones; a page without article is, and makes the corpus none."""
        if name is None:
            return True
        if name not in taken and self.articles is not None and len(taken) >= self.articles:
            return False
        taken[name] = taken.get(name, 0) + 1
        return self.revisions is None or taken[name] <= self.revisions

    def lanes(self) -> list[Callable[[], Iterator[Chunk]]]:
        """One: which revisions are the first ones is known from those before them."""
        return [self.chunks]

    @property
    def unread(self) -> Sequence[Skipped]:
        return self.source.unread

    def nbytes(self) -> int | None:
        return self.source.nbytes()

    def close(self) -> None:
        self.source.close()

    def __enter__(self) -> Self:
        self.source.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.source.__exit__(kind, error, trace)


def _as_loaded(loaded: Loaded) -> Loaded:
    return loaded


def _child(element: ElementTree.Element, name: str) -> str:
    for child in element:
        if child.tag.rpartition("}")[2] == name:
            return child.text or ""
    return ""


def _chunk(rows: list[dict[str, Any]], size: int, source: str) -> Chunk:
    columns = {name: [row[name] for row in rows] for name in ("id", "url", "content", "date", "record")}
    columns["html"], columns["charset"] = [False] * len(rows), ["utf-8"] * len(rows)
    return Chunk(size, partial(_load, columns, source, len(rows)))


def _load(columns: dict[str, list[Any]], source: str, count: int) -> Loaded:
    return Loaded(build_pages(columns, source, count))


@dataclass(frozen=True, slots=True)
class RevisionPairs:
    """Potthast and Stein's pairs: each article's first revision with its others, and with the next article's first."""

    first: npt.NDArray[np.int64]
    other: npt.NDArray[np.int64]
    #: Whether the other is the next article's.
    across: npt.NDArray[np.bool_]
    articles: int


def revision_pairs(collection: Collection) -> RevisionPairs:
    """The pairs of a corpus, in the order of the articles."""
    names = collection.column("url").combine_chunks()
    if names.null_count:
        raise InputError("a revision names no article", hint="JSON lines of a revision corpus need a field 'doc'")
    place = np.asarray(names.dictionary_encode().indices, np.int64)
    order = np.argsort(place, kind="stable")
    starts = np.flatnonzero(np.diff(place[order], prepend=-1))
    firsts = order[starts]
    first_of_each = np.repeat(firsts, np.diff([*starts, len(order)]))
    later = np.ones(len(order), bool)
    later[starts] = False
    first = np.concatenate([first_of_each[later], firsts[:-1]])
    other = np.concatenate([order[later], firsts[1:]])
    across = np.repeat([False, True], [int(later.sum()), max(len(firsts) - 1, 0)])
    by_article = np.argsort(place[first], kind="stable")
    return RevisionPairs(first[by_article], other[by_article], across[by_article], len(firsts))
