"""Stored bytes to plain bytes: gzip, zstd, xz, bzip2 or nothing, told by the first bytes, not by the name.

A compressed file is a row of *members* (gzip members, zstd frames, streams of xz and bzip2), and reading can begin at
any of them. The unpacker says where members start, which is what gives a WARC record its offset, and treats damage as
an event and not as the end: it looks for the next member that unpacks, so that one bad sector costs one member.
Memory is bounded whatever the input claims: a small piece of input is taken at a time and gzip's output is
capped a piece, so a bomb comes out slowly and its reader can stop. gzip, xz and bzip2 go the same way, by an inflater
each with the interface of ``zlib.decompressobj``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, Final

import zstandard

from neardup.sources.inflate import Decompressor, InflateError, inflater

#: The largest zstd window taken: the largest that zstd's own --long can write.
ZSTD_WINDOW: Final = 1 << 31

_READ: Final = 1 << 20  # bytes asked of the file at a time
_STEP: Final = 16 << 10  # compressed bytes given to a decompressor at a time
_ZSTD_STEP: Final = 4 << 10  # smaller: zstd's output has no cap, at worst 128 KiB for each 4 bytes
_PIECE: Final = 1 << 20  # most plain bytes that gzip gives at a time
_LOOK_BACK: Final = 1 << 20  # bytes kept behind the reading position, to look for a member in after damage
_GZIP: Final = b"\x1f\x8b\x08"
_XZ: Final = b"\xfd7zXZ\0"
_BZIP2: Final = b"BZh"
#: What bzip2's first block begins with, or the end of an empty stream, behind the magic and a digit.
_BZIP2_BLOCKS: Final = (b"1AY&SY", b"\x17rE8P\x90")
_ZSTD: Final = b"\x28\xb5\x2f\xfd"
_SKIPPABLE: Final = b"\x2a\x4d\x18"  # after a first byte of 0x50 to 0x5f
_DICTIONARY: Final = 0x5D  # the first byte of the frame that holds a .warc.zst file's dictionary
_DICTIONARY_BYTES: Final = 64 << 20


#: First bytes of a file that tell how it is compressed.
HEAD_BYTES: Final = 10

#: What unpacks a member, where that is an inflater's business: magic, and what makes one.
_INFLATED: Final[dict[str, tuple[bytes, Callable[[], Any]]]] = {
    "gzip": (_GZIP, lambda: inflater(31)),
    "xz": (_XZ, lambda: Decompressor("xz")),
    "bzip2": (_BZIP2, lambda: Decompressor("bzip2")),
}


@dataclass(frozen=True, slots=True)
class Piece:
    """Some plain bytes and the place of their member, or (``damage``) a hole: what was wrong at ``offset``.

    ``starts`` says that ``data`` is the beginning of a member, so that reading can begin at ``offset``. For a
    file that is not compressed, ``offset`` is that of the piece itself and every piece "starts".
    """

    data: bytes
    offset: int
    starts: bool
    damage: str | None = None


#: What a member is called where the file ends inside of one.
_A: Final = {"gzip": "a gzip member", "xz": "an xz stream", "bzip2": "a bzip2 stream"}


class _Cut(Exception):
    """The file ends inside a member."""


class _Window:
    """The part of the file around the reading position."""

    def __init__(self, raw: BinaryIO) -> None:
        self._raw, self._data, self._base, self._at, self._end = raw, b"", 0, 0, False
        self.furthest = 0  # the position, unless a search for the next member went back

    @property
    def position(self) -> int:
        return self._base + self._at

    def available(self, size: int) -> memoryview:
        """Up to ``size`` bytes from the reading position on; fewer only at the end of the file."""
        while len(self._data) - self._at < size and not self._end:
            more = self._raw.read(_READ)
            if not more:
                self._end = True
                break
            drop = max(0, self._at - _LOOK_BACK)
            self._data = self._data[drop:] + more if len(self._data) > drop else more
            self._base += drop
            self._at -= drop
        return memoryview(self._data)[self._at : self._at + size]

    def some(self, size: int) -> memoryview:
        """Between 1 and ``size`` bytes, without reading on if any are there; empty at the end of the file."""
        if self._at >= len(self._data):
            self.available(1)
        return memoryview(self._data)[self._at : self._at + size]

    def held(self) -> tuple[bytes, int, int]:
        """All that is held, where in it the reading position is, and where in the file it begins."""
        return self._data, self._at, self._base

    def advance(self, size: int) -> None:
        self._at += size
        self.furthest = max(self.furthest, self.position)

    def seek_back(self, position: int) -> None:
        """Goes to a position behind, or as near to it as is still held."""
        self._at = max(0, position - self._base)

    def find(self, magic: bytes) -> bool:
        """Goes to the next occurrence of ``magic`` at or behind the position; False if there is none."""
        while True:
            found = self._data.find(magic, self._at)
            if found >= 0:
                self._at = found
                return True
            self._at = max(self._at, len(self._data) - len(magic) + 1)
            if len(self.available(len(magic))) < len(magic):
                return False


class Unpacked:
    """The plain bytes of a file, piece by piece; ``compression`` is as ``compression_of`` says.

    >>> import gzip, io
    >>> two = gzip.compress(b"one ") + gzip.compress(b"two")
    >>> [(piece.data, piece.offset, piece.starts) for piece in Unpacked(io.BytesIO(two))]
    [(b'one ', 0, True), (b'two', 24, True)]
    >>> [piece.damage for piece in Unpacked(io.BytesIO(two[:-6])) if piece.damage]
    ['the file ends inside a gzip member']
    """

    def __init__(self, raw: BinaryIO) -> None:
        self._window = _Window(raw)
        self.compression = compression_of(bytes(self._window.available(HEAD_BYTES)))
        self.dictionary: zstandard.ZstdCompressionDict | None = None  # that of a .warc.zst file
        self._inside = False  # whether the next piece begins behind the beginning of a member, or behind damage

    @property
    def taken(self) -> int:
        """Stored bytes consumed so far; never less than before."""
        return self._window.furthest

    def packed(self, size: int) -> tuple[bytes, int, int] | None:
        """Stored bytes around the reading position, where that is between two gzip members; else None.

        The bytes, where among them the position is (``size`` bytes or more follow, fewer at the end of the file), and
        where in the file they begin. Who unpacks members from there says so by ``consume``, and the pieces that follow
        begin behind them.
        """
        if self.compression != "gzip" or self._inside:
            return None
        self._window.available(size)
        return self._window.held()

    def consume(self, size: int) -> None:
        """Goes on behind whole members of ``size`` bytes that were unpacked elsewhere."""
        self._window.advance(size)

    def __iter__(self) -> Iterator[Piece]:
        if self.compression == "none":
            return self._plain()
        return self._members(_ZSTD if self.compression == "zstd" else _INFLATED[self.compression][0])

    def _plain(self) -> Iterator[Piece]:
        while block := bytes(self._window.some(_READ)):
            offset = self._window.position
            self._window.advance(len(block))
            yield Piece(block, offset, True)

    def _members(self, magic: bytes) -> Iterator[Piece]:
        unpack = self._zstd if magic == _ZSTD else self._inflated
        while True:
            start = self._window.position
            head = bytes(self._window.available(HEAD_BYTES))
            if not head:
                return
            if head[0] == 0:
                self._skip_padding()
                continue
            if magic == _ZSTD and _is_skippable(head):
                self._skippable(start)
                continue
            try:
                if not head.startswith(magic):
                    raise InflateError(f"bytes that are no {self.compression} member")
                yield from unpack(start)
            except (_Cut, InflateError, zstandard.ZstdError) as error:
                self._inside = True
                yield Piece(b"", start, False, _reason(error, self.compression))
                if not self._resume(magic, start):
                    return

    def _inflated(self, start: int) -> Iterator[Piece]:
        engine = _INFLATED[self.compression][1]()
        first = self._inside = True
        while not engine.eof:
            given = self._window.some(_STEP)
            before = engine.copy() if self.compression == "gzip" else None
            try:
                data = engine.decompress(given, _PIECE)
            except InflateError:
                if before is not None and (rescued := _up_to_damage(before, given)):
                    yield Piece(rescued, start, first)
                raise
            if not given and not data:
                raise _Cut(f"the file ends inside {_A[self.compression]}")
            # At the end of a member what is left over may be in both attributes, and be more than was just given.
            left = engine.unused_data if engine.eof else engine.unconsumed_tail
            self._window.advance(len(given) - len(left))
            self._inside = not engine.eof
            if data:
                yield Piece(data, start, first)
                first = False

    def _zstd(self, start: int) -> Iterator[Piece]:
        engine = self._zstd_engine().decompressobj()
        first = True
        while not engine.eof:
            given = self._window.some(_ZSTD_STEP)
            if not given:
                raise _Cut("the file ends inside a zstd frame")
            data = engine.decompress(given)
            self._window.advance(len(given) - len(engine.unused_data))
            if data:
                yield Piece(data, start, first)
                first = False

    def _zstd_engine(self) -> zstandard.ZstdDecompressor:
        return zstandard.ZstdDecompressor(dict_data=self.dictionary, max_window_size=ZSTD_WINDOW)

    def _skip_padding(self) -> None:
        """Passes zero bytes, with which tapes and disks fill up the space behind a member."""
        while given := self._window.some(_STEP):
            zeros = len(given) - len(bytes(given).lstrip(b"\0"))
            self._window.advance(zeros)
            if zeros < len(given):
                return

    def _skippable(self, start: int) -> None:
        """Passes a frame that is not data; the dictionary of a .warc.zst file is in one."""
        head = bytes(self._window.available(8))
        size = int.from_bytes(head[4:8], "little")
        self._window.advance(len(head))
        if start == 0 and head[0] == _DICTIONARY and size <= _DICTIONARY_BYTES:
            stored = bytes(self._window.available(size))
            if stored.startswith(_ZSTD):
                unpacker = zstandard.ZstdDecompressor().decompressobj()
                stored = unpacker.decompress(stored)
            self.dictionary = zstandard.ZstdCompressionDict(stored)
        while size and (given := self._window.some(min(size, _READ))):
            self._window.advance(len(given))
            size -= len(given)

    def _resume(self, magic: bytes, start: int) -> bool:
        """Goes to the next member behind ``start`` that unpacks; False if there is none."""
        self._window.seek_back(start + 1)
        while self._window.find(magic):
            sample = bytes(self._window.available(_STEP))
            try:
                if magic != _ZSTD:
                    _INFLATED[self.compression][1]().decompress(sample, _PIECE)
                else:
                    self._zstd_engine().decompressobj().decompress(sample[:_ZSTD_STEP])
                return True
            except (InflateError, zstandard.ZstdError):
                self._window.advance(1)
        self._window.advance(len(self._window.available(len(magic))))  # all is consumed
        return False


def compression_of(head: bytes) -> str:
    """The compression that a file's first ``HEAD_BYTES`` stand for: "gzip", "zstd", "xz", "bzip2" or "none".

    >>> compression_of(b"{\\n  "), compression_of(b"\\x1f\\x8b\\x08\\0")
    ('none', 'gzip')
    """
    if head.startswith(_GZIP):
        return "gzip"
    if head.startswith(_XZ):
        return "xz"
    if head.startswith(_BZIP2) and head[3:4].isdigit() and head[4:10] in _BZIP2_BLOCKS:
        return "bzip2"
    return "zstd" if head.startswith(_ZSTD) or _is_skippable(head) else "none"


def _is_skippable(head: bytes) -> bool:
    return len(head) >= 4 and head[1:4] == _SKIPPABLE and head[0] & 0xF0 == 0x50


def _up_to_damage(engine: Any, given: memoryview) -> bytes:
    """What unpacks before the damaged place: the last good state is fed again in small steps."""
    data = b""
    try:
        for at in range(0, len(given), 16):
            data += engine.decompress(given[at : at + 16], _PIECE)
    except InflateError:
        pass
    return data


def _reason(error: Exception, compression: str) -> str:
    if isinstance(error, _Cut):
        return str(error)
    text = str(error)
    return text if text.startswith("bytes that") else f"damaged {compression} data: {text}"
