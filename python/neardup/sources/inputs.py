"""Several inputs as one source: expanded, checked before anything is read, and read one after the other."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from neardup.errors import InputError, UsageError
from neardup.page import Skipped
from neardup.sources.base import PAGE_BYTES, Chunk, Fields
from neardup.sources.delimited import Delimited
from neardup.sources.expand import FORMATS, Named, expand, sniff
from neardup.sources.files import STDIN_NAME, Place, spooled_input, standard_input
from neardup.sources.gathering import gathered
from neardup.sources.jsonl import JsonLines
from neardup.sources.parquet import ParquetRows
from neardup.sources.relative import below, root_of
from neardup.sources.replay import Replayed
from neardup.sources.tree import PageFiles
from neardup.sources.unpack import HEAD_BYTES, Unpacked, compression_of
from neardup.sources.warc import WarcFile

#: One file, or one run of page files, of the inputs.
FileSource = JsonLines | WarcFile | ParquetRows | Delimited | PageFiles


#: Small files that are read one after another, in any case.
LANE_BYTES: Final = 32 << 20
#: Stored bytes that hold the first block of a file of xz or bzip2.
_BLOCK: Final = 4 << 20


class Inputs:
    """The source that ``open_inputs`` gives: ``files`` are its parts, in order."""

    #: What the files were found by, without standard input.
    given: Sequence[str] = ()

    def __init__(
        self, files: Sequence[FileSource], temporary: Path | None = None, unread: Sequence[Skipped] = ()
    ) -> None:
        self.files = tuple(files)
        self.unread = unread
        self._temporary = temporary
        self._root: str | None = None

    def chunks(self) -> Iterator[Chunk]:
        for lane in self.lanes():
            yield from lane()

    def lanes(self) -> list[Callable[[], Iterator[Chunk]]]:
        """A large file, a run of small ones, or a run of page files each; which depends on their sizes alone."""
        return [partial(_chunks, files) for files in runs_of_files(self.files, LANE_BYTES)]

    def nbytes(self) -> int | None:
        total = 0
        for file in self.files:
            size = file.nbytes()
            if size is None:
                return None
            total += size
        return total

    def read_last(self) -> None:
        """The next reading is the last: standard input need not be copied any further."""
        for stream in self._replayed():
            stream.read_last()

    def _replayed(self) -> list[Replayed]:
        streams = [place.once for file in self.files for place in _places(file)]
        return [stream for stream in streams if isinstance(stream, Replayed)]

    def names(self) -> list[str]:
        """The path or URL of every file that is read, in order; standard input is ``-``."""
        names: list[str] = []
        for file in self.files:
            names += ["-" if place.once is not None else place.path for place in _places(file)]
        return names

    def relative_name(self, place: Place) -> str:
        """The path of a file below the folder that all inputs are in."""
        if self._root is None:
            self._root = root_of(self.given, self.names())
        return STDIN_NAME if place.name == STDIN_NAME else below(self._root, place.path)

    def close(self) -> None:
        for stream in self._replayed():
            stream.discard()
        if self._temporary is not None:
            self._temporary.unlink(missing_ok=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _places(file: FileSource) -> list[Place]:
    return [named.place for named in file.files] if isinstance(file, PageFiles) else [file.place]


def runs_of_files(files: Sequence[FileSource], most: int) -> list[list[FileSource]]:
    """Files that follow each other, together where they have at most so many stored bytes; page files, which are many
    already, and what has no known size alone."""
    runs: list[list[FileSource]] = []
    room = 0
    for file in files:
        size = most if isinstance(file, PageFiles) else file.nbytes() or most
        if size > room:
            runs.append([])
            room = most
        runs[-1].append(file)
        room -= size
    return runs


def _chunks(files: Sequence[FileSource]) -> Iterator[Chunk]:
    chunks = chain.from_iterable(file.chunks() for file in files)
    # Of page files each chunk has many already.
    return chunks if isinstance(files[0], PageFiles) else gathered(chunks)


def open_inputs(
    inputs: Sequence[str | os.PathLike[str]],
    fields: Fields = Fields(),
    base_url: str | None = None,
    format: str | None = None,
    spool: bool = False,
    again: bool = False,
    max_page: int = PAGE_BYTES,
) -> Inputs:
    """All inputs as one source, in the given order.

    An input is a file, a folder, a glob, a URL of a file system, or ``-`` for standard input. ``format`` says
    what files are whose names do not; ``base_url`` gives pages of a folder their URLs; ``spool`` copies
    standard input to a temporary file (until ``close``), so that it can be read again from any place; ``again`` copies
    it as it is read, so that it can be read again from its beginning (until ``read_last``). Pages of more than
    ``max_page`` bytes are skipped.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a.html").write_text("<p>one")
    ...     with open_inputs([folder], base_url="https://example.org/") as source:
    ...         [page["url"] for chunk in source.chunks() for page in chunk.load().pages.to_pylist()]
    ['https://example.org/a.html']
    """
    if not inputs:
        raise UsageError("no input was given", hint="name a file, a folder, a pattern, or - for standard input")
    if format is not None and format not in FORMATS:
        raise UsageError(f"unknown format {format!r}", hint=f"one of {', '.join(FORMATS)}")
    if sum(os.fspath(given) == STDIN_NAME for given in inputs) > 1:
        raise UsageError("standard input (-) was given twice")
    temporary: Path | None = None
    named: list[Named] = []
    unread: list[Skipped] = []
    try:
        for given in inputs:
            if os.fspath(given) == STDIN_NAME:
                place, known, temporary = _standard_input(format, spool, again)
                named.append(Named(place, known, STDIN_NAME if known == "page" else None))
            else:
                named += expand([given], format, unread)
        files = _sources(named, fields, base_url, max_page)
        for file in files:
            file.check()
    except BaseException:
        for entry in named:
            _discard(entry.place)
        if temporary is not None:
            temporary.unlink(missing_ok=True)
        raise
    source = Inputs(files, temporary, unread)
    source.given = [os.fspath(name) for name in inputs if os.fspath(name) != STDIN_NAME]
    return source


def _discard(place: Place) -> None:
    """Removes the copy of standard input that was made while it was read."""
    if isinstance(place.once, Replayed):
        place.once.discard()


def _sources(named: Sequence[Named], fields: Fields, base_url: str | None, longest: int) -> list[FileSource]:
    files: list[FileSource] = []
    pages: list[Named] = []  # a run of page files is one source, so that small pages share batches
    for entry in named:
        if entry.format == "page":
            pages.append(entry)
            continue
        if pages:
            files.append(PageFiles(pages, base_url, longest))
            pages = []
        files.append(_source(entry, fields, longest))
    if pages:
        files.append(PageFiles(pages, base_url, longest))
    return files


def _source(named: Named, fields: Fields, longest: int) -> FileSource:
    match named.format:
        case "warc":
            return WarcFile(named.place, longest)
        case "jsonl":
            return JsonLines(named.place, fields, longest)
        case "parquet":
            return ParquetRows(named.place, fields, longest)
        case _:
            return Delimited(named.place, fields, "\t" if named.format == "tsv" else ",", longest)


def _standard_input(format: str | None, spool: bool, again: bool) -> tuple[Place, str, Path | None]:
    place, temporary = (standard_input(again), None) if not spool else spooled_input()
    try:
        if format is None:
            # What xz and bzip2 pack together comes out together.
            size = _BLOCK if compression_of(place.head(HEAD_BYTES)) in ("xz", "bzip2") else 4096
            plain = next((piece.data for piece in Unpacked(io.BytesIO(place.head(size)))), b"")
            format = sniff(plain) if plain else "jsonl"  # nothing at all is as good as no lines
        if format is None:
            raise InputError(
                "standard input is of unknown format",
                where=STDIN_NAME,
                hint=f"give its format: {', '.join(FORMATS)}",
            )
        if format == "parquet" and temporary is None:
            piped, (place, temporary) = place, spooled_input(place.open())
            _discard(piped)
        return place, format, temporary
    except BaseException:
        _discard(place)
        if temporary is not None:
            temporary.unlink(missing_ok=True)
        raise
