"""How many rows of a Parquet row group may be decoded at a time: told by the headers of its pages, before any is read.

What is stored says little of what comes out: a dictionary holds a value of 40 MB once, and a thousand rows repeat it.
The header of each page says how many values it has, how many bytes these unpack to, and how they are encoded
(https://parquet.apache.org/docs/file-format/data-pages/); from that follows the most that any stretch of rows decodes
to. Headers are a kilobyte or less and are read one after another, a jump each.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO, Final

import numpy as np
import numpy.typing as npt

from neardup.record import record

#: Encodings whose values may repeat what stands elsewhere: places in a dictionary, and what the value before has too.
_BY_PLACE: Final = {2, 8}
_BY_PREFIX: Final = {7}
_DICTIONARY_PAGE: Final = 2
#: Bytes that a page's header has at most; statistics may stand in it.
_HEADERS: Final = (4 << 10, 1 << 20)


@record(frozen=True, slots=True)
class Page:
    """A page of a column: how many values it has, what they unpack to, and whether it is the dictionary. ``each`` is
    the most that one of its values may be, where they may be more together than the page."""

    values: int
    nbytes: int
    dictionary: bool
    each: int


class _Short(Exception):
    """The header is not all there."""


class _Compact:
    """Thrift's compact protocol, as far as headers need it: a structure as its numbers, by the number of the field."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def byte(self) -> int:
        if self.at >= len(self.data):
            raise _Short
        self.at += 1
        return self.data[self.at - 1]

    def number(self) -> int:
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value
            if shift > 63:
                raise ValueError("no number")

    def structure(self, depth: int = 0) -> dict[int, Any]:
        if depth > 8:
            raise ValueError("no header")
        fields: dict[int, Any] = {}
        last = 0
        while head := self.byte():
            last = last + (head >> 4) if head >> 4 else _signed(self.number())
            fields[last] = self.value(head & 0xF, depth)
        return fields

    def value(self, kind: int, depth: int) -> Any:
        match kind:
            case 1 | 2:
                return kind == 1
            case 3:
                return self.byte()
            case 4 | 5 | 6:
                return _signed(self.number())
            case 7:
                self.at += 8
            case 8:
                self.at += self.number()
            case 9 | 10:
                head = self.byte()
                count = self.number() if head >> 4 == 15 else head >> 4
                return [self.value(head & 0xF, depth + 1) for _ in range(min(count, len(self.data)))]
            case 12:
                return self.structure(depth + 1)
            case _:
                raise ValueError("no header")
        return None


def _signed(number: int) -> int:
    return number >> 1 ^ -(number & 1)


def pages_of(raw: BinaryIO, column: Any) -> Iterator[Page]:
    """The pages of a column chunk, as pyarrow's metadata tells where it stands. Raises ValueError where its headers
    cannot be followed."""
    at = column.data_page_offset
    if column.dictionary_page_offset is not None and 0 < column.dictionary_page_offset < at:
        at = column.dictionary_page_offset
    end = at + column.total_compressed_size
    longest = 0
    while at < end:
        length, header = _header(raw, at, end - at)
        nbytes, stored = header[2], header[3]
        about = header.get(5) or header.get(8) or header.get(7) or {}
        if not isinstance(about, dict):
            raise ValueError("no header of a page")
        values, encoding = about.get(1, 0), about.get(4 if 8 in header else 2, 0)
        if not all(isinstance(number, int) and 0 <= number < 1 << 31 for number in (nbytes, stored, values, encoding)):
            raise ValueError("a page of a size that none can have")
        dictionary = header[1] == _DICTIONARY_PAGE
        if dictionary:
            longest = nbytes
        each = longest if encoding in _BY_PLACE and not dictionary else nbytes if encoding in _BY_PREFIX else 0
        yield Page(values, nbytes, dictionary, each)
        at += length + stored


def _header(raw: BinaryIO, at: int, most: int) -> tuple[int, dict[int, Any]]:
    for size in _HEADERS:
        raw.seek(at)
        reader = _Compact(raw.read(min(size, most)))
        try:
            fields = reader.structure()
            if {1, 2, 3} <= fields.keys() and reader.at <= len(reader.data):
                return reader.at, fields
        except _Short:
            continue
        break
    raise ValueError("no header of a page")


def most_rows(columns: list[list[Page]], rows: int, most_bytes: int) -> int:
    """How many rows, ``rows`` at most, may be decoded together so that they are not more than ``most_bytes``; one, if a
    single value may be more.

    >>> plain, repeated = Page(100, 1000, False, 0), Page(100, 20, False, 500)
    >>> most_rows([[plain, plain]], 64, 3000), most_rows([[repeated]], 64, 3000)
    (64, 4)
    """
    sizes = []
    for pages in columns:
        data = [(page.values, page.nbytes, page.each) for page in pages if not page.dictionary]
        sizes.append(np.array(data, np.int64).reshape(-1, 3))
    while rows > 1 and sum(_worst(column, rows) for column in sizes) > most_bytes:
        rows //= 2
    return rows


def _worst(pages: npt.NDArray[np.int64], rows: int) -> int:
    """The most bytes that so many rows that follow each other may have: of each page that they touch, all of it, or
    as many of its longest value. A page is (values, bytes, the most that one value may be)."""
    if not len(pages):
        return 0
    values, nbytes, each = pages.T
    ends = np.cumsum(values)
    last = np.minimum(np.searchsorted(ends, ends + rows - 1), len(ends) - 1)
    before = np.concatenate([[0], np.cumsum(np.where(each > 0, np.minimum(values, rows) * each, nbytes))])
    return int((before[last + 1] - before[:-1]).max())
