"""Which kinds of pages a source has, for whoever chooses a detector by that.

What a file of lines or an archive holds is known only when it has been read. So a run begins with the first pages that
there are, as all of them may be; ``MarkupOnly`` ends it as soon as one is of the other kind. The answer depends on all
pages, and never on which of them comes first; the order decides only how much is read in vain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from types import TracebackType
from typing import Final, Self

from neardup import _native
from neardup.page import Kinds, Skipped
from neardup.sources.base import Chunk, Loaded, Source


class PlainTextMet(Exception):
    """A page of plain text, where all pages were to be markup."""


def first_kinds(source: Source) -> Kinds:
    """The kinds of the first pages; none where there are no pages.

    >>> from neardup.sources.memory import texts
    >>> first_kinds(texts([{"html": "<p>one"}, "two"]))
    Kinds(html=1, text=1)
    """
    for chunk in source.chunks():
        kinds = Kinds.of(chunk.load().pages)
        if kinds != _NONE:
            return kinds
    return _NONE


_NONE: Final = Kinds()


class MarkupOnly:
    """The same source; to load a page of plain text raises ``PlainTextMet``.

    >>> from neardup.sources.memory import texts
    >>> [chunk.load() for chunk in MarkupOnly(texts([{"html": "<p>one"}, "two"])).chunks()]
    Traceback (most recent call last):
    neardup.sources.kinds.PlainTextMet
    """

    def __init__(self, source: Source) -> None:
        self._source = source

    def chunks(self) -> Iterator[Chunk]:
        return map(_checked, self._source.chunks())

    def lanes(self) -> list[Callable[[], Iterable[Chunk]]]:
        return [partial(_checked_lane, lane) for lane in self._source.lanes()]

    @property
    def unread(self) -> Sequence[Skipped]:
        return self._source.unread

    def nbytes(self) -> int | None:
        return self._source.nbytes()

    def close(self) -> None:
        self._source.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _checked_lane(lane: Callable[[], Iterable[Chunk]]) -> Iterator[Chunk]:
    return map(_checked, lane())


def _checked(chunk: Chunk) -> Chunk:
    read = None if chunk.read is None else partial(_read, chunk.read)
    return replace(chunk, load=partial(_load, chunk.load), read=read)


def _load(load: Callable[[], Loaded]) -> Loaded:
    loaded = load()
    _refuse_text(loaded)
    return loaded


def _read(
    read: Callable[[_native.PageTask], tuple[Loaded, _native.PagesRead]], task: _native.PageTask
) -> tuple[Loaded, _native.PagesRead]:
    loaded, pages = read(task)
    _refuse_text(loaded)
    return loaded, pages


def _refuse_text(loaded: Loaded) -> None:
    if Kinds.of(loaded.pages).text:
        raise PlainTextMet
