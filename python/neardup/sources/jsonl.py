"""JSON Lines: one object a line, and a line ends at ``\\n`` only (a string may hold U+2028 and the like).

The reader cuts blocks at line ends and does not look inside; a kernel parses a block in a worker, and of a plain file
reads it there as well, so that the file is read once. A line that does not parse is named by its number in the file,
and the rest goes on. A file that holds one JSON array is read as its elements (``json_array``).
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from functools import cached_property, partial
from itertools import chain
from typing import Any, Final, TypeVar

import pyarrow as pa

from neardup import _native
from neardup.errors import InputError
from neardup.lazy import later
from neardup.methods.one_pass import OnePass, ReadPages
from neardup.page import BATCH_BYTES, PAGES, Skipped
from neardup.record import record
from neardup.sources.base import PAGE_BYTES, Chunk, Fields, Loaded, build_pages, only_skipped
from neardup.sources.files import Place
from neardup.sources.json_array import array_begins, elements
from neardup.sources.line_numbers import LineNumbers
from neardup.sources.skipped import SkippedRecords
from neardup.sources.unpack import Piece, Unpacked, compression_of

pc = later("pyarrow.compute")

_BOM: Final = b"\xef\xbb\xbf"
#: Bytes of a file that tell how it is compressed, and whether it is an array.
_HEAD_BYTES: Final = 4096
_PEEK_LINES: Final = 100
_PEEK_BYTES: Final = 4 << 20

Read = TypeVar("Read")
#: Numbers of lines in a block, the places of their reasons, and the reasons.
BadLines = tuple[pa.Array, pa.Array, list[str]]


@record(frozen=True, slots=True)
class Block:
    """Whole lines of a file, or (``skipped``) a place where they could not be had.

    ``nbytes`` is what it took off the stored file, ``first_line`` the number of its first line from 0, and
    ``first_byte`` where it begins in the file, if reading can begin there. ``unit`` is what a line was in the file.
    """

    nbytes: int
    data: bytes
    first_line: int
    first_byte: int | None
    skipped: Skipped | None = None
    unit: str = "line"


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
        if array_begins(text):
            cutter = _native.ArrayCutter(self.longest)
            cutter.feed(text)
            text, _ = cutter.take()
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
                yield only_skipped(block.nbytes, block.skipped)
            else:
                yield Chunk(block.nbytes, partial(self.load, block), len(block.data), partial(self._read, block))

    def blocks(self) -> Iterator[Block]:
        """The file cut at line ends, and what had to be passed over."""
        with self.place.open() as raw:
            if not self._is_plain:
                yield from self._cut(Unpacked(raw))
                return
            stretches: list[Stretch] = []
            numbers = self._line_numbers(stretches)
            for stretch in self._stretches(stretches):
                first = numbers.before(stretch.number)
                if stretch.long:
                    yield Block(stretch.nbytes, b"", first, None, self._skipped(stretch, numbers))
                    continue
                raw.seek(stretch.start)
                data = raw.read(stretch.length)
                numbers.end(stretch.number, _native.count_lines(data))
                yield Block(stretch.nbytes, data, first, stretch.start)

    def _line_numbers(self, stretches: list[Stretch]) -> LineNumbers:
        def count(number: int) -> int:
            stretch = stretches[number]
            if stretch.long:
                return 1
            return self._readable(_native.count_lines_in_file, self.place.path, stretch.start, stretch.length)

        return LineNumbers(count)

    def _skipped(self, stretch: Stretch, numbers: LineNumbers) -> Skipped:
        line = numbers.before(stretch.number) + 1
        return Skipped(self.place.name, f"line {line}", _native.too_long("a line", stretch.long, self.longest))

    def _cut(self, unpacked: Unpacked) -> Iterator[Block]:
        """The blocks of a stream."""
        pieces = iter(unpacked)
        head: list[Piece] = []
        # Enough to tell an array from lines; damage is for those who cut.
        while sum(len(piece.data) for piece in head) < _HEAD_BYTES and (piece := next(pieces, None)) is not None:
            head.append(piece)
        pieces = chain(head, pieces)
        if not array_begins(b"".join(piece.data for piece in head)):
            yield from _Cutter(self.place, unpacked, pieces, self.longest).cut()
            return
        counted = 0
        for first, lines, skipped in elements(self.place.name, pieces, self.longest):
            yield Block(unpacked.taken - counted, lines, first, None, skipped, "element")
            counted = unpacked.taken

    def is_array(self) -> bool:
        """Whether it holds one JSON array."""
        with self.place.open() as raw:
            text = b""
            for piece in Unpacked(raw):
                text += piece.data
                if piece.damage or len(text) >= _HEAD_BYTES:
                    break
        return array_begins(text)

    @cached_property
    def _head(self) -> bytes:
        return self.place.head(_HEAD_BYTES)

    @property
    def _is_plain(self) -> bool:
        """Whether any place of it can be read by itself."""
        return self.place.is_local and compression_of(self._head) == "none" and not array_begins(self._head)

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
        rows, bad = self._of_stretch(stretch, numbers, _native.parse_jsonl_file)
        return self._loaded(rows, bad, numbers.before(stretch.number), stretch.start)

    def _read_stretch(self, stretch: Stretch, numbers: LineNumbers, one_pass: OnePass) -> tuple[Loaded, ReadPages]:
        rows, bad, read = self._of_stretch(stretch, numbers, _native.fingerprint_jsonl_file, **one_pass.asked)
        return self._loaded(rows, bad, numbers.before(stretch.number), stretch.start), one_pass.read(read)

    def _of_stretch(
        self, stretch: Stretch, numbers: LineNumbers, parse: Callable[..., Any], **asked: Any
    ) -> tuple[Any, ...]:
        """What a function of the native module makes of a stretch, but for how many lines it has."""
        lines = None
        numbers.begin(stretch.number)
        try:
            rows, bad, lines, *more = self._readable(
                partial(parse, **asked),
                self.place.path,
                stretch.start,
                stretch.length,
                self.fields.names(),
                self.longest,
            )
        finally:
            numbers.end(stretch.number, lines)
        return rows, bad, *more

    def load(self, block: Block) -> Loaded:
        """The pages of a block; a page's ``record`` is the number of its line in the file, from 0."""
        rows, bad = _native.parse_jsonl(block.data, self.fields.names(), self.longest)
        return self._loaded(rows, bad, block.first_line, block.first_byte, block.unit)

    def _read(self, block: Block, one_pass: OnePass) -> tuple[Loaded, ReadPages]:
        rows, bad, read = _native.fingerprint_jsonl(block.data, self.fields.names(), self.longest, **one_pass.asked)
        return self._loaded(rows, bad, block.first_line, block.first_byte, block.unit), one_pass.read(read)

    def _loaded(
        self, rows: pa.RecordBatch, bad: BadLines, first: int, first_byte: int | None, unit: str = "line"
    ) -> Loaded:
        """Pages, with or without their contents."""
        source = self.place.name
        columns: dict[str, Any] = {"charset": "utf-8"}
        columns |= {name: rows[name] for name in PAGES.names if name in rows.schema.names}
        columns["record"] = pc.add(rows["line"], first) if first else rows["line"]
        if first_byte is not None:
            columns["offset"] = pc.add(rows["start"], first_byte) if first_byte else rows["start"]
        else:
            del columns["length"]
        pages = build_pages(columns, source, rows.num_rows)
        lines, places, reasons = bad
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


class _Cutter:
    """Cuts a stream into blocks of whole lines, counting lines and bytes."""

    def __init__(self, place: Place, unpacked: Unpacked, pieces: Iterator[Piece], longest: int) -> None:
        self._name, self._unpacked, self._pieces, self._longest = place.name, unpacked, pieces, longest
        self._seekable = unpacked.compression == "none" and place.is_local
        self._counted = 0  # stored bytes accounted for by earlier blocks
        self._lines = self._start = 0  # lines and plain bytes before what is held
        self._whole: list[bytes] = []  # held pieces up to a line end
        self._rest: list[bytes] = []  # held pieces behind it
        self._whole_size = self._rest_size = 0
        self._long = 0  # bytes so far of a line that is too long to be held

    def cut(self) -> Iterator[Block]:
        for piece in self._pieces:
            if piece.damage is not None:
                yield from self._flush()
                yield self._skip(f"{piece.damage} (at byte {piece.offset} of the file)")
                continue
            data = piece.data
            if self._long:
                end = data.find(b"\n")
                self._long += len(data) if end < 0 else end
                self._start += len(data) if end < 0 else end + 1
                if end < 0:
                    continue
                yield self._skip_long_line()
                data = data[end + 1 :]
            self._take(data)
            if self._whole_size + self._rest_size >= BATCH_BYTES:
                yield from self._flush()
            if self._rest_size > self._longest:
                yield from self._flush()
                self._long = self._rest_size
                self._let_go()
        if self._long:
            yield self._skip_long_line()
        self._whole += self._rest  # a last line needs no line end
        yield from self._flush()

    def _take(self, data: bytes) -> None:
        end = data.rfind(b"\n") + 1
        if end:
            self._whole += [*self._rest, data[:end]]
            self._whole_size += self._rest_size + end
            self._rest, self._rest_size = [], 0
        if end < len(data):
            self._rest.append(data[end:])
            self._rest_size += len(data) - end

    def _flush(self) -> Iterator[Block]:
        if not self._whole:
            return
        data = b"".join(self._whole)
        if self._start == 0 and data.startswith(_BOM):
            data, self._start = data[len(_BOM) :], len(_BOM)
        yield Block(self._used(), data, self._lines, self._start if self._seekable else None)
        self._lines += _native.count_lines(data)
        self._start += len(data)
        self._whole, self._whole_size = [], 0

    def _let_go(self) -> None:
        """Lets go of the unfinished line."""
        self._start += self._rest_size
        self._rest, self._rest_size = [], 0

    def _skip(self, reason: str) -> Block:
        """Names the line that is not finished, and lets go of it."""
        self._let_go()
        self._long = 0
        skipped = Skipped(self._name, f"line {self._lines + 1}", reason)
        return Block(self._used(), b"", self._lines, None, skipped)

    def _skip_long_line(self) -> Block:
        block = self._skip(_native.too_long("a line", self._long, self._longest))
        self._lines += 1
        return block

    def _used(self) -> int:
        used = self._unpacked.taken - self._counted
        self._counted += used
        return used
