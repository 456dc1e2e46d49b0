"""CSV and TSV: a header line, then rows; a quoted field may hold line ends.

Python's parser is used strictly, and each record's own lines are kept beside it: a quote that is never closed
would swallow everything up to the next one, so after an error only the first line of the record is given up
and reading begins again at the second. Wrong rows are named by line and skipped.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import pyarrow as pa

from neardup.errors import InputError
from neardup.page import BATCH_BYTES, Skipped
from neardup.sources.base import PAGE_BYTES, Chunk, Fields, Loaded, no_pages
from neardup.sources.files import Place
from neardup.sources.parquet import check_columns, convert
from neardup.sources.unpack import Unpacked

_BOM: Final = b"\xef\xbb\xbf"
_CHUNK_ROWS: Final = 8192


@dataclass(frozen=True, slots=True)
class Row:
    """One record: its first line (from 1), its bytes as they are, its values, and what is ``wrong``."""

    line: int
    raw: bytes
    values: list[str]
    wrong: str | None = None


@dataclass(frozen=True, slots=True)
class Group:
    """Rows that follow each other, the file's header, and the number of the first row behind it (from 0)."""

    nbytes: int
    header: Row
    rows: list[Row]
    first: int


class Delimited:
    """The pages of one CSV or TSV file, plain or compressed."""

    def __init__(self, place: Place, fields: Fields, delimiter: str) -> None:
        self.place, self.fields, self.delimiter = place, fields, delimiter

    def nbytes(self) -> int | None:
        return self.place.size()

    def has_urls(self) -> bool | None:
        return None if self.place.once is not None else self.fields.url in self._header()

    def check(self) -> None:
        """Raises ``InputError`` if the file has no header or a column is missing."""
        if self.place.once is None and (header := self._header()):
            self.check_header(header)

    def check_header(self, header: list[str]) -> None:
        check_columns(pa.schema([(name, pa.string()) for name in header]), self.fields, self.place.name)

    def _header(self) -> list[str]:
        with self.place.open() as raw:
            first = next(read_rows(Unpacked(raw), self.delimiter, self.place.name), None)
            return [] if first is None else first.values

    def chunks(self) -> Iterator[Chunk]:
        for group in self.groups():
            yield Chunk(group.nbytes, partial(self.load, group), sum(len(row.raw) for row in group.rows))

    def groups(self) -> Iterator[Group]:
        """The rows in groups of about a batch."""
        with self.place.open() as raw:
            unpacked = Unpacked(raw)
            rows = read_rows(unpacked, self.delimiter, self.place.name)
            header = next(rows, None)
            if header is None:
                return
            self.check_header(header.values)
            held: list[Row] = []
            first = size = counted = 0
            for row in rows:
                held.append(row)
                size += len(row.raw)
                if size >= BATCH_BYTES or len(held) >= _CHUNK_ROWS:
                    yield Group(unpacked.taken - counted, header, held, first)
                    first += len(held)
                    held, size, counted = [], 0, unpacked.taken
            if held or unpacked.taken > counted:
                yield Group(unpacked.taken - counted, header, held, first)

    def load(self, group: Group) -> Loaded:
        """The pages of a group; a page's ``record`` is the row's number behind the header, from 0.

        An empty field is no value: CSV has no other way to say so.
        """
        name, rows, header = self.place.name, group.rows, group.header.values
        good = [(group.first + at, row) for at, row in enumerate(rows) if row.wrong is None]
        wrong = [(row.line, row.wrong) for row in rows if row.wrong is not None]
        if not good:
            return Loaded(no_pages(), [Skipped(name, f"line {line}", reason) for line, reason in wrong])
        columns = {
            field: pa.array([row.values[at] or None for _, row in good], pa.large_string())
            for at, field in enumerate(header)
            if field in self.fields.names()
        }
        loaded = convert(pa.RecordBatch.from_pydict(columns), self.fields, name, 0)
        for entry in loaded.skipped:
            _, row = good[int(entry.position.removeprefix("record "))]
            wrong.append((row.line, entry.reason))
        rows_read: list[Any] = loaded.pages["record"].to_pylist()
        records = pa.array([good[at][0] for at in rows_read], pa.int64())
        pages = loaded.pages.set_column(
            loaded.pages.schema.get_field_index("record"), loaded.pages.schema.field("record"), records
        )
        return Loaded(pages, [Skipped(name, f"line {line}", reason) for line, reason in sorted(wrong)])


class _Hole(Exception):
    """Damage in the stored bytes."""


class _Lines:
    """The lines of a file (they end at a line feed only), which can be given back."""

    def __init__(self, unpacked: Unpacked) -> None:
        self._pieces = iter(unpacked)
        self._parts: list[bytes] = []
        self._ready: list[bytes] = []  # lines to come, the next one last
        self._first = True
        self.pending: list[bytes] = []  # lines of the record being read
        self.line = 1  # number of the first of them

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        line = self._take()
        self.pending.append(line)
        return line.decode("utf-8", "surrogateescape")

    def finish(self, lines: int | None = None) -> bytes:
        """Ends a record after its first lines (all by default); the others will come again."""
        count = len(self.pending) if lines is None else lines
        raw = b"".join(self.pending[:count])
        self._ready += reversed(self.pending[count:])
        self.line += count
        self.pending = []
        return raw

    def _take(self) -> bytes:
        while not self._ready:
            piece = next(self._pieces, None)
            if piece is None:
                rest, self._parts = b"".join(self._parts), []
                if rest:
                    return rest
                raise StopIteration
            if piece.damage is not None:
                self._parts = []
                raise _Hole(f"{piece.damage} (at byte {piece.offset} of the file)")
            data = piece.data.removeprefix(_BOM) if self._first else piece.data
            self._first = False
            *ended, rest = data.split(b"\n")
            if ended:
                whole = [line + b"\n" for line in ended]
                whole[0] = b"".join([*self._parts, whole[0]])
                self._ready, self._parts = whole[::-1], []
            if rest:
                self._parts.append(rest)
        return self._ready.pop()


def read_rows(unpacked: Unpacked, delimiter: str, name: str) -> Iterator[Row]:
    """The records of a file, the header first; empty lines are none.

    >>> import io
    >>> for row in read_rows(Unpacked(io.BytesIO(b'id,text\\n1,"a\\nb"\\n2\\n3,c\\n')), ",", "a.csv"):
    ...     print(row.line, row.values, row.wrong)
    1 ['id', 'text'] None
    2 ['1', 'a\\nb'] None
    4 ['2'] 1 field, not 2
    5 ['3', 'c'] None
    """
    csv.field_size_limit(PAGE_BYTES)  # the parser's own limit of 128 KiB is smaller than many pages
    lines = _Lines(unpacked)
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    width = 0
    while True:
        line = lines.line
        wrong: str | None = None
        values: list[str] = []
        try:
            values = next(reader)
            raw = lines.finish()
        except StopIteration:
            return
        except _Hole as hole:
            wrong, raw = str(hole), lines.finish()
            reader = csv.reader(lines, delimiter=delimiter, strict=True)
        except csv.Error as error:
            values = _leniently(lines.pending[0], delimiter)
            wrong = None if len(values) == width else str(error)
            raw = lines.finish(1)
            reader = csv.reader(lines, delimiter=delimiter, strict=True)
        if wrong is None and not values:
            continue
        if not width:
            if wrong is not None or "\0" in "".join(values):
                reason = wrong or "NUL bytes: is it UTF-16?"
                raise InputError(f"no header that can be read: {reason}", where=name, hint="write it as UTF-8")
            width = len(values)
        elif wrong is None:
            wrong = _fault(values, width)
        yield Row(line, raw, values, wrong)


def _leniently(line: bytes, delimiter: str) -> list[str]:
    """A single line with quotes in odd places, read forgivingly; nothing if a quote stays open."""
    text = line.decode("utf-8", "surrogateescape").rstrip("\r\n") + "\n"
    try:
        values = next(csv.reader([text], delimiter=delimiter), [])
    except csv.Error:
        return []
    return [] if values and values[-1].endswith("\n") else values


def _fault(values: list[str], width: int) -> str | None:
    if len(values) != width:
        return f"{len(values)} field{'s' if len(values) != 1 else ''}, not {width}"
    try:
        for value in values:
            value.encode()
    except UnicodeEncodeError:
        return "invalid UTF-8"
    return None
