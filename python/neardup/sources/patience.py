"""CSV and TSV read patiently: a record at a time, by Python's strict parser, with a way out where it is wrong."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa

from neardup import _native
from neardup.page import BATCH_BYTES
from neardup.sources.base import PAGE_BYTES
from neardup.sources.unpack import Unpacked

_BOM: Final = b"\xef\xbb\xbf"
_UNCLOSED: Final = "a quote that is not closed"


@dataclass(frozen=True, slots=True)
class Row:
    """One record: its first line (from 1), its bytes as they are, its values, and what is ``wrong``."""

    line: int
    raw: bytes
    values: list[str]
    wrong: str | None = None


class PlainText:
    """The plain bytes of a file around the reading position: ``data`` from ``at`` on, where line ``line`` begins."""

    def __init__(self, unpacked: Unpacked) -> None:
        self._pieces = iter(unpacked)
        self._first = True
        self.data, self.at, self.line = b"", 0, 1
        #: Damage that the data ends at.
        self.hole: str | None = None
        #: Why the kernel took no more: "odd" is for the patient reader, "open" a quote without an end so far.
        self.stop = ""

    def advance(self, **form: Any) -> list[pa.Array]:
        """Takes the records from the position on that leave no doubt, as the kernel gives them."""
        rows = _native.read_delimited(self.data, self.at, self.line, **form)
        self.at, self.line, self.stop = rows.at, rows.line, rows.stop
        return rows.columns

    def pass_wrong_rows(self, **form: Any) -> list[tuple[int, str]]:
        """Passes rows of another width that leave no doubt either: their lines, and what is wrong."""
        wrong = _native.wrong_rows(self.data, self.at, self.line, **form)
        self.at, self.line = wrong.at, wrong.line
        return [(line, _width(count, form["width"])) for line, count in zip(wrong.lines, wrong.fields, strict=True)]

    @property
    def held(self) -> int:
        """Bytes from the position on that were read."""
        return len(self.data) - self.at

    def read_on(self) -> bool:
        """Reads on, as much as is held already or more; False where nothing came."""
        held = self.held
        if self.hole is not None:
            return False
        parts, size = [self.data[self.at :]], 0
        while size < max(BATCH_BYTES, held):
            piece = next(self._pieces, None)
            if piece is None:
                break
            if piece.damage is not None:
                self.hole = f"{piece.damage} (at byte {piece.offset} of the file)"
                break
            parts.append(piece.data.removeprefix(_BOM) if self._first else piece.data)
            self._first = False
            size += len(parts[-1])
        self.data, self.at = b"".join(parts), 0
        return size > 0

    def pass_line(self) -> int:
        """Goes behind the line at the position, which may be too long to be held; how long it is without its end."""
        length = 0
        while (end := self.data.find(b"\n", self.at)) < 0:
            length += self.held
            self.at = len(self.data)
            if not self.read_on():
                return length
        length += end - self.at
        self.at = end + 1
        self.line += 1
        return length


class _Hole(Exception):
    """Damage in the stored bytes."""


class _TooLong(Exception):
    """A record that is longer than any may be."""


class _Lines:
    """The lines from the position on (they end at a line feed only); the position moves when it is told to."""

    def __init__(self, text: PlainText, longest: int) -> None:
        self._text, self._longest = text, longest
        self._lengths: list[int] = []
        self._size = 0

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        text = self._text
        looked = 0
        while not (end := text.data.find(b"\n", text.at + self._size + looked) + 1):
            looked = len(text.data) - text.at - self._size
            if self._size + looked > self._longest:
                raise _TooLong
            if not text.read_on():
                if text.hole is not None:
                    raise _Hole(text.hole)
                if not looked:
                    raise StopIteration
                end = len(text.data)
                break
        line = text.data[text.at + self._size : end]
        if self._size + len(line.removesuffix(b"\n")) > self._longest:
            raise _TooLong
        self._lengths.append(len(line))
        self._size += len(line)
        return line.decode("utf-8", "surrogateescape")

    def finish(self, lines: int | None = None) -> bytes:
        """Goes behind the first of the lines that were read (all by default)."""
        text, lengths = self._text, self._lengths[:lines]
        raw = text.data[text.at : text.at + sum(lengths)]
        text.at += len(raw)
        text.line += len(lengths)
        return raw

    def fall(self) -> bytes:
        """Goes behind all lines that were read, and the hole."""
        raw, text = self.finish(), self._text
        text.data, text.at, text.hole = b"", 0, None
        return raw


def give_up(text: PlainText, longest: int) -> Row:
    """The record at the position, which has more than ``longest`` bytes. If its first line has, it is passed. Otherwise
    a quote was not closed in time: only the first line is given up, and reading goes on at the second."""
    line, at = text.line, text.at
    if text.data.find(b"\n", at, at + longest + 1) < 0:
        return Row(line, b"", [], _native.too_long("a line", text.pass_line(), longest))
    text.pass_line()
    return Row(line, b"", [], f"a quote that is not closed within --max-page ({longest:,} bytes)")


def open_to_the_end(text: PlainText, delimiter: str, width: int) -> Row:
    """The record at the position, of which a quote is open up to the end of the file: only its first line is given up,
    or read if its quotes stand in odd places."""
    line = text.line
    end = text.data.find(b"\n", text.at) + 1
    raw = text.data[text.at : end or None]
    text.at += len(raw)
    text.line += 1
    values = _leniently(raw, delimiter)
    return Row(line, raw, values, _fault(values, width) if len(values) == width else _UNCLOSED)


def read_record(text: PlainText, delimiter: str, width: int = 0, longest: int = PAGE_BYTES) -> Row | None:
    """The next record, of ``width`` fields unless it is the first, or None at the end; empty lines are none.

    >>> import io
    >>> text = PlainText(Unpacked(io.BytesIO(b'id,text\\n1,"a\\nb"\\n\\n2\\n3,"c" d\\n4,"e\\n')))
    >>> while (row := read_record(text, ",", 2)) is not None:
    ...     print(row.line, row.values, row.wrong)
    1 ['id', 'text'] None
    2 ['1', 'a\\nb'] None
    5 ['2'] 1 field, not 2
    6 ['3', 'c d'] None
    7 [] a quote that is not closed
    """
    csv.field_size_limit(longest)  # the parser's own limit of 128 KiB is smaller than many pages
    while True:
        line, lines = text.line, _Lines(text, longest)
        try:
            values = next(csv.reader(lines, delimiter=delimiter, strict=True))
        except StopIteration:
            return None
        except _Hole as hole:
            return Row(line, lines.fall(), [], str(hole))
        except _TooLong:
            return give_up(text, longest)
        except csv.Error as error:
            raw = lines.finish(1)
            values = _leniently(raw, delimiter)
            if len(values) != width or not width:
                return Row(line, raw, values, _UNCLOSED if "unexpected end" in str(error) else str(error))
        else:
            raw = lines.finish()
        if values:
            return Row(line, raw, values, _fault(values, width or len(values)))


def _leniently(line: bytes, delimiter: str) -> list[str]:
    """A single line with quotes in odd places, read forgivingly; nothing if a quote stays open."""
    text = line.decode("utf-8", "surrogateescape").rstrip("\r\n") + "\n"
    try:
        values = next(csv.reader([text], delimiter=delimiter), [])
    except csv.Error:
        return []
    return [] if values and values[-1].endswith("\n") else values


def _width(fields: int, width: int) -> str:
    return f"{fields} field{'s' if fields != 1 else ''}, not {width}"


def _fault(values: list[str], width: int) -> str | None:
    if len(values) != width:
        return _width(len(values), width)
    try:
        for value in values:
            value.encode()
    except UnicodeEncodeError:
        return "invalid UTF-8"
    return None
