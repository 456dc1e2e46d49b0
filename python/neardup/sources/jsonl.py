"""JSON Lines: one object a line, and a line ends at ``\\n`` only (a string may hold U+2028 and the like).

The reader cuts blocks at line ends and does not look inside; a kernel parses a block in a worker, and of a plain file
reads it there as well, so that the file is read once. A line that does not parse is named by its number in the file,
and the rest goes on. A file that holds one JSON array is read as its elements. All of it is native (``reader/lines.rs``
and ``reader/stretch.rs`` of ``neardup-engine``); here is which of these a file needs.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable, Iterator
from functools import cached_property, partial
from typing import Any, Final, TypeVar

from neardup import _native
from neardup.errors import InputError
from neardup.lazy import later
from neardup.page import BATCH_BYTES, PAGES, Skipped
from neardup.record import record
from neardup.sources.base import PAGE_BYTES, Chunk, Fields, Loaded, build_pages, only_skipped
from neardup.sources.files import Place
from neardup.sources.line_numbers import LineNumbers
from neardup.sources.skipped import SkippedRecords
from neardup.sources.unpack import Unpacked, compression_of

pc = later("pyarrow.compute")

_BOM: Final = b"\xef\xbb\xbf"
#: Bytes of a file that tell how it is compressed, and whether it is an array.
_HEAD_BYTES: Final = 4096
_PEEK_LINES: Final = 100
_PEEK_BYTES: Final = 4 << 20

Read = TypeVar("Read")


#: Whole lines of a file, or (``skipped`` says why) a place where they could not be had. ``nbytes`` is what it took off
#: the stored file, ``first_line`` the number of its first line from 0, and ``first_byte`` where it begins in the file,
#: if reading can begin there. ``unit`` is what a line was in the file.
Block = _native.LineBlock


@record(frozen=True, slots=True)
class Stretch:
    """Whole lines of a plain file that were not read yet: its number, where they begin, how many bytes they have; or
    one line that is passed over, and how ``long`` it is without its end."""

    number: int
    start: int
    length: int
    long: int = 0

    @property
    def nbytes(self) -> int:
        """What it took off the file; the first one has the mark before it as well."""
        return self.length + (self.start if self.number == 0 else 0)


class JsonLines:
    """The pages of one JSONL file, plain or compressed."""

    def __init__(self, place: Place, fields: Fields, longest: int = PAGE_BYTES) -> None:
        self.place, self.fields, self.longest = place, fields, longest

    def nbytes(self) -> int | None:
        return self.place.size()

    def check(self) -> None:
        """Raises ``InputError`` if the file cannot be opened, or a field that was named on purpose is in none of the
        first rows. Only then these are looked at: there may be very many files."""
        if self.place.once is None:
            _ = self._head
        if not self.fields.changed():
            return
        present = {name for row in self._first_rows for name in _names(row)}
        for what, name in self.fields.changed().items():
            if present and name not in present:
                known = ", ".join(sorted(present)[:20])
                raise InputError(
                    f"no field {name!r} for {what} in the first lines",
                    where=self.place.name,
                    hint=f"there are: {known}",
                )

    @cached_property
    def _first_rows(self) -> list[dict[str, Any]]:
        """The objects among the first lines; empty where nothing can be looked at without consuming it."""
        if self.place.once is not None:
            return []
        text = b""
        with self.place.open() as raw:
            for piece in Unpacked(raw):
                text += piece.data
                if piece.damage or len(text) >= _PEEK_BYTES or text.count(b"\n") >= _PEEK_LINES:
                    break
        rows = []
        if _native.array_begins(text):
            blocks = _native.LineBlocks(Unpacked(io.BytesIO(text)), _PEEK_BYTES, self.longest, False)
            text = b"".join(block.data for block in blocks)
        for line in text.removeprefix(_BOM).split(b"\n")[:_PEEK_LINES]:
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(row, dict):
                rows.append(row)
        return rows

    def chunks(self) -> Iterator[Chunk]:
        if self._is_plain:
            stretches: list[Stretch] = []
            numbers = self._line_numbers(stretches)
            for stretch in self._stretches(stretches):
                if stretch.long:
                    yield only_skipped(stretch.nbytes, self._skipped(stretch, numbers))
                else:
                    load = partial(self._load_stretch, stretch, numbers)
                    yield Chunk(stretch.nbytes, load, read=partial(self._read_stretch, stretch, numbers))
            return
        for block in self.blocks():
            if block.skipped is not None:
                position = f"{block.unit} {block.first_line + 1}"
                yield only_skipped(block.nbytes, Skipped(self.place.name, position, block.skipped))
            else:
                yield Chunk(block.nbytes, partial(self.load, block), len(block), partial(self._read, block))

    def blocks(self) -> Iterator[Block]:
        """The file cut at line ends, and what had to be passed over."""
        with self.place.open() as raw:
            yield from _native.LineBlocks(Unpacked(raw), BATCH_BYTES, self.longest, self._is_seekable)

    def _line_numbers(self, stretches: list[Stretch]) -> LineNumbers:
        def count(number: int) -> int:
            stretch = stretches[number]
            if stretch.long:
                return 1
            return self._readable(self._lines_of(stretch).count)

        return LineNumbers(count)

    def _skipped(self, stretch: Stretch, numbers: LineNumbers) -> Skipped:
        line = numbers.before(stretch.number) + 1
        return Skipped(self.place.name, f"line {line}", _native.too_long("a line", stretch.long, self.longest))

    def is_array(self) -> bool:
        """Whether it holds one JSON array."""
        with self.place.open() as raw:
            text = b""
            for piece in Unpacked(raw):
                text += piece.data
                if piece.damage or len(text) >= _HEAD_BYTES:
                    break
        return _native.array_begins(text)

    @cached_property
    def _head(self) -> bytes:
        return self.place.head(_HEAD_BYTES)

    @property
    def _is_plain(self) -> bool:
        """Whether any place of it can be read by itself."""
        return self._is_seekable and not _native.array_begins(self._head)

    @property
    def _is_seekable(self) -> bool:
        return self.place.is_local and compression_of(self._head) == "none"

    def _lines_of(self, stretch: Stretch) -> _native.LineStretch:
        return _native.LineStretch(self.place.path, stretch.start, stretch.length)

    def _stretches(self, found: list[Stretch]) -> Iterator[Stretch]:
        """A plain file cut at line ends, ``found`` as they come. Only the ends are looked at here, so that workers need
        not wait."""
        path = self.place.path
        start = len(_BOM) if self._head.startswith(_BOM) else 0
        size = BATCH_BYTES
        before = os.stat(path)
        while True:
            there, whole = self._readable(_native.cut_lines, path, start, size)
            if not there:
                break
            end = whole if there == size else there
            if end == 0 and size <= self.longest:
                size = min(2 * size, self.longest + 1)
                continue
            long = 0
            if end == 0:
                long, end = self._readable(_long_line, path, start, size)
            found.append(Stretch(len(found), start, end, long))
            yield found[-1]
            if there < size or (long and long == end):
                break
            start += end
            size = BATCH_BYTES
        after = os.stat(path)
        if (after.st_dev, after.st_ino) != (before.st_dev, before.st_ino) or after.st_size < before.st_size:
            raise InputError("the file was replaced or cut while it was read", where=self.place.name, hint="run again")

    def _readable(self, read: Callable[..., Read], *arguments: object) -> Read:
        try:
            return read(*arguments)
        except OSError as error:
            reason = f"cannot be read: {error.strerror or error}"
            raise InputError(reason, where=self.place.name) from None

    def _load_stretch(self, stretch: Stretch, numbers: LineNumbers) -> Loaded:
        with numbers.reading(stretch.number) as counted:
            parsed = self._readable(self._lines_of(stretch).parse, self.fields.names(), self.longest)
            counted(parsed.count)
        return self._loaded(parsed, numbers.before(stretch.number), stretch.start)

    def _read_stretch(
        self, stretch: Stretch, numbers: LineNumbers, task: _native.PageTask
    ) -> tuple[Loaded, _native.PagesRead]:
        with numbers.reading(stretch.number) as counted:
            parsed, read = self._readable(self._lines_of(stretch).read, self.fields.names(), self.longest, task)
            counted(parsed.count)
        return self._loaded(parsed, numbers.before(stretch.number), stretch.start), read

    def load(self, block: Block) -> Loaded:
        """The pages of a block; a page's ``record`` is the number of its line in the file, from 0."""
        parsed = block.parse(self.fields.names(), self.longest)
        return self._loaded(parsed, block.first_line, block.first_byte, block.unit)

    def _read(self, block: Block, task: _native.PageTask) -> tuple[Loaded, _native.PagesRead]:
        parsed, read = block.read(self.fields.names(), self.longest, task)
        return self._loaded(parsed, block.first_line, block.first_byte, block.unit), read

    def _loaded(self, parsed: _native.ParsedLines, first: int, first_byte: int | None, unit: str = "line") -> Loaded:
        """Pages, with or without their contents."""
        source, rows = self.place.name, parsed.pages
        columns: dict[str, Any] = {"charset": "utf-8"}
        columns |= {name: rows[name] for name in PAGES.names if name in rows.schema.names}
        columns["record"] = pc.add(rows["line"], first) if first else rows["line"]
        if first_byte is not None:
            columns["offset"] = pc.add(rows["start"], first_byte) if first_byte else rows["start"]
        else:
            del columns["length"]
        pages = build_pages(columns, source, rows.num_rows)
        lines, places, reasons = parsed.bad
        if not reasons:
            return Loaded(pages)
        return Loaded(pages, SkippedRecords.of_lines(source, unit, pc.add(lines, first + 1), places, reasons))


def _names(row: dict[str, Any]) -> Iterator[str]:
    """The names of an object's fields, and of those inside of them.

    >>> list(_names({"id": 1, "meta": {"url": "x"}}))
    ['id', 'meta', 'meta.url']
    """
    waiting = [("", row)]
    for prefix, inner in waiting:
        for name, value in inner.items():
            yield f"{prefix}{name}"
            if isinstance(value, dict):
                waiting.append((f"{prefix}{name}.", value))


def _long_line(path: str, start: int, size: int) -> tuple[int, int]:
    """How long the line is that begins at ``start`` and has no end within ``size`` bytes, without and with its end."""
    with open(path, "rb") as raw:
        raw.seek(start + size)
        while data := raw.read(BATCH_BYTES):
            end = data.find(b"\n")
            if end >= 0:
                return size + end, size + end + 1
            size += len(data)
    return size, size
