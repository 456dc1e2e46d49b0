"""The rules of WARC framing once more, in plain Python over pieces of any size: the twin of the kernel."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from neardup.sources import framing
from neardup.sources.base import PAGE_BYTES
from neardup.sources.framing import Framed
from neardup.sources.unpack import Unpacked

_HEADER_BYTES: Final = 64 << 10
_START: Final = re.compile(rb"WARC/[01]\.\d{1,3}\r?\n")
_NEXT: Final = re.compile(rb"WARC/[01]\.\d{1,3}\r?\n(?=((?:WARC|Content)-[A-Za-z-]+:))")
_NEXT_BYTES: Final = 64  # a match of _NEXT and what it looks at must be shorter
_LENGTH: Final = re.compile(rb"^content-length:[ \t]*(\d{1,18})[ \t]*\r?$", re.IGNORECASE | re.MULTILINE)
_TYPE: Final = re.compile(rb"^warc-type:[ \t]*([a-z]+)[ \t]*\r?$", re.IGNORECASE | re.MULTILINE)


class _Buffer:
    """Plain bytes not yet framed, and the stored offsets of the members that start among them."""

    def __init__(self, unpacked: Unpacked) -> None:
        self._pieces = iter(unpacked)
        self._plain = unpacked.compression == "none"
        self.data = bytearray()
        self.passed = 0  # plain bytes before data[0]
        self.starts: list[tuple[int, int]] = []  # (plain position, stored offset) of members, oldest first
        self.damage: tuple[int, str] | None = None  # behind the data: stored offset and what is wrong there
        self.ended = False
        self.member = 0  # stored offset of the member that the last bytes belong to
        self._unpacked = unpacked

    def fill(self) -> bool:
        """Takes the next piece; False at the end of the file or at damage, which must be cleared first."""
        if self.damage is not None or self.ended:
            return False
        piece = next(self._pieces, None)
        if piece is None:
            self.ended = True
            return False
        if piece.damage is not None:
            self.damage = piece.offset, piece.damage
            return False
        if piece.starts and not self._plain:
            self.starts.append((self.passed + len(self.data), piece.offset))
        self.data += piece.data
        self.member = piece.offset
        return True

    def need(self, size: int) -> bool:
        while len(self.data) < size:
            if not self.fill():
                return False
        return True

    def drop(self, size: int) -> None:
        del self.data[:size]
        self.passed += size
        while self.starts and self.starts[0][0] < self.passed:
            self.starts.pop(0)

    def stored_offset(self) -> int | None:
        """Where ``data[0]`` is stored, if reading can begin there."""
        if self._plain:
            return self.passed
        if self.starts and self.starts[0][0] == self.passed:
            return self.starts[0][1]
        if not self.data and self.ended:
            return self._unpacked.taken
        return None

    def position(self) -> str:
        offset = self.stored_offset()
        return f"offset {offset}" if offset is not None else f"unpacked offset {self.passed}"

    def member_inside(self, size: int) -> int | None:
        """Where, within the next ``size`` bytes but not at once, a member begins that begins a record."""
        for position, _ in self.starts:
            at = position - self.passed
            if 0 < at < size and self.data.startswith(b"WARC/", at):
                return at
        return None


def naive_frame(unpacked: Unpacked, longest: int = PAGE_BYTES) -> Iterator[Framed]:
    """The records of a WARC file, in order, with what is damaged named in between."""
    buffer = _Buffer(unpacked)
    while True:
        _skip_empty_lines(buffer)
        if not buffer.data:
            if buffer.damage is not None:
                yield _hole(buffer)
                continue
            return
        buffer.need(_NEXT_BYTES)
        if not _START.match(buffer.data):
            yield from _search(buffer, "bytes that belong to no record", 0)
        else:
            yield from _record(buffer, longest + framing.HTTP_BYTES)


def _record(buffer: _Buffer, most: int) -> Iterator[Framed]:
    position, offset = buffer.position(), buffer.stored_offset()
    header_end = _find_header_end(buffer)
    if header_end is None:
        yield from _search(buffer, "a record header that does not end", 5)
        return
    header = bytes(buffer.data[:header_end])
    stated = _LENGTH.search(header)
    if stated is None:
        yield from _search(buffer, "a record without a valid Content-Length", 5)
        return
    kind = match[1].decode().lower() if (match := _TYPE.search(header)) else ""
    size = int(stated[1])
    if size > most:
        yield from _long_record(buffer, position, offset, kind, header, size)
        return
    end = header_end + size
    # One byte more than the record and its empty line: what follows shows whether the length was right.
    buffer.need(end + 5)
    cut = buffer.member_inside(end)
    if cut is None and len(buffer.data) >= end and _ends_well(buffer, end):
        block = bytes(buffer.data[header_end:end])
        buffer.drop(end)
        _skip_empty_lines(buffer)
        if buffer.damage is not None and not buffer.data and buffer.damage[0] == buffer.member:
            # The checksum of a member comes behind its bytes: this record's bytes are the ones it speaks of.
            yield Framed(position, damage=_damage_text(buffer))
            buffer.damage = None
            return
        after = buffer.stored_offset()
        if offset is None or after is None:
            offset = after = None
        length = None if offset is None or after is None else after - offset
        yield Framed(position, offset, length, kind, header, block, size)
        return
    have = min(cut if cut is not None else len(buffer.data), end) - header_end
    if cut is not None or len(buffer.data) < end:
        yield from _search(buffer, f"a record cut short: {have} of {size} bytes", 5)
    else:
        yield from _search(buffer, f"a record that does not end where its Content-Length of {size} says", 5)


def _long_record(
    buffer: _Buffer, position: str, offset: int | None, kind: str, header: bytes, size: int
) -> Iterator[Framed]:
    """A block that is too long to hold: its head is kept, the rest passed, unless records begin there."""
    buffer.need(len(header) + framing.HEAD_BYTES)
    head = bytes(buffer.data[len(header) : len(header) + framing.HEAD_BYTES])
    buffer.drop(len(header))
    left = size
    while left:
        buffer.need(min(left, 1 << 20) + _NEXT_BYTES)
        if not buffer.data:
            break
        found = _next_start(buffer, 0)
        if found is not None and found < left:
            buffer.drop(found)
            yield Framed(position, damage=_cut_short(len(header), size - left + found, size))
            return
        step = min(left, max(1, len(buffer.data) - _NEXT_BYTES) if not _at_end(buffer) else len(buffer.data))
        buffer.drop(step)
        left -= step
    if left:
        text = _cut_short(len(header), size - left, size)
        yield Framed(position, damage=f"{text}: {_damage_text(buffer)}" if buffer.damage else text)
        buffer.damage = None
        return
    _skip_empty_lines(buffer)
    after = buffer.stored_offset()
    length = None if offset is None or after is None else after - offset
    yield Framed(position, offset if length is not None else None, length, kind, header, head, size)


def _cut_short(header: int, there: int, size: int) -> str:
    return f"a record cut short: {there} of {size} bytes; {header + there} bytes passed over"


def _search(buffer: _Buffer, reason: str, begin: int) -> Iterator[Framed]:
    """Passes bytes up to the next record, looking from ``begin`` on; names them as one damaged stretch."""
    position, passed = buffer.position(), buffer.passed
    while True:
        found = _next_start(buffer, begin)
        if found is not None:
            buffer.drop(found)
            break
        # A record may begin in the last few bytes; all before them are done with.
        searched = max(0, len(buffer.data) - _NEXT_BYTES)
        buffer.drop(searched)
        begin = max(0, begin - searched)
        if not buffer.fill():
            buffer.drop(len(buffer.data))
            break
    there = buffer.passed - passed
    reason = f"{there} {reason}" if reason.startswith("bytes") else f"{reason}; {there} bytes passed over"
    if buffer.damage is not None and not buffer.data:
        reason = f"{reason}: {_damage_text(buffer)}"
        buffer.damage = None
    yield Framed(position, damage=reason)


def _next_start(buffer: _Buffer, begin: int) -> int | None:
    """Where in the data, from ``begin`` on, a record seems to start: a member's beginning, or a line."""
    starts = (
        match.start() for match in _NEXT.finditer(buffer.data, begin) if match.end(1) - match.start() < _NEXT_BYTES
    )
    at = next(starts, None)
    for plain, _ in buffer.starts:
        member = plain - buffer.passed
        if member >= begin and (at is None or member < at) and _START.match(buffer.data, member):
            return member
    return at


def _find_header_end(buffer: _Buffer) -> int | None:
    while True:
        ends = [
            at + len(mark) for mark in (b"\r\n\r\n", b"\n\n") if (at := buffer.data.find(mark, 0, _HEADER_BYTES)) > 0
        ]
        if ends:
            return min(ends)
        if len(buffer.data) >= _HEADER_BYTES or not buffer.fill():
            return None


def _ends_well(buffer: _Buffer, end: int) -> bool:
    """Whether a record may end there: an empty line, the next record, a member's start or nothing follows."""
    after = bytes(buffer.data[end : end + 5])
    if not after or after.startswith((b"\r\n\r\n", b"\n\n", b"WARC/")):
        return True
    if not after.strip(b"\r\n") and _at_end(buffer):
        return True
    return any(position - buffer.passed == end for position, _ in buffer.starts)


def _at_end(buffer: _Buffer) -> bool:
    return buffer.ended or buffer.damage is not None


def _skip_empty_lines(buffer: _Buffer) -> None:
    while buffer.need(1):
        held = len(buffer.data)
        empty = held - len(buffer.data[:64].lstrip(b"\r\n")) - max(0, held - 64)
        if not empty:
            return
        buffer.drop(empty)


def _damage_text(buffer: _Buffer) -> str:
    assert buffer.damage is not None
    offset, text = buffer.damage
    return f"{text} (at byte {offset} of the file)"


def _hole(buffer: _Buffer) -> Framed:
    assert buffer.damage is not None
    framed = Framed(f"offset {buffer.damage[0]}", damage=buffer.damage[1])
    buffer.damage = None
    return framed
