"""Gzip by several threads: one member that any reader reads, and the same bytes whatever the threads.

What is written is cut into pieces of one size. Each is packed by itself, but with the end of the piece before it as
dictionary, and ends at a whole byte, so that the pieces behind one another are one stream (as in M. Adler's pigz).
"""

from __future__ import annotations

import struct
import zlib
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import IO, Final

#: Bytes of a piece: far more than the dictionary, and enough of them for all threads in a file of some megabytes.
_PIECE: Final = 1 << 18
#: As far back as the format looks.
_WINDOW: Final = 1 << 15
#: The level that gzip itself takes.
LEVEL: Final = 6
#: No name and no time: the same pages give the same bytes. The last two: no extra flags, and an unknown system.
_HEADER: Final = b"\x1f\x8b\x08" + bytes(5) + b"\x00\xff"


class GzipWriter:
    """A file to write to; what is under way in memory is a few pieces a thread.

    >>> import gzip, io
    >>> file = io.BytesIO()
    >>> with GzipWriter(file, threads=2) as writer:
    ...     writer.write(b"hello ")
    ...     writer.write(b"there")
    >>> gzip.decompress(file.getvalue())
    b'hello there'
    """

    def __init__(self, file: IO[bytes], threads: int) -> None:
        self._file = file
        self._threads = threads
        self._pool: ThreadPoolExecutor | None = None
        self._under_way: deque[Future[bytes]] = deque()
        self._waiting = bytearray()
        self._before = b""
        self._sum = self._size = 0
        file.write(_HEADER)

    def write(self, data: bytes) -> None:
        """Takes the next bytes."""
        self._waiting += data
        while len(self._waiting) > _PIECE:
            self._submit(last=False)

    def _submit(self, last: bool) -> None:
        piece = bytes(memoryview(self._waiting)[:_PIECE])
        del self._waiting[:_PIECE]
        self._sum = zlib.crc32(piece, self._sum)
        self._size += len(piece)
        if last and self._pool is None:
            self._file.write(_pack(piece, b"", last))  # of one piece: not worth a thread
            return
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self._threads, thread_name_prefix="neardup-gzip")
        self._under_way.append(self._pool.submit(_pack, piece, self._before, last))
        self._before = piece[-_WINDOW:]
        if len(self._under_way) > 2 * self._threads + 1:
            self._file.write(self._under_way.popleft().result())

    def __enter__(self) -> GzipWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if error is None:
                self._submit(last=True)
                for packed in self._under_way:
                    self._file.write(packed.result())
                self._file.write(struct.pack("<LL", self._sum, self._size & 0xFFFFFFFF))
        finally:
            if self._pool is not None:
                self._pool.shutdown(wait=True, cancel_futures=True)


def _pack(piece: bytes, before: bytes, last: bool) -> bytes:
    packer = zlib.compressobj(LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS, zdict=before)
    return packer.compress(piece) + packer.flush(zlib.Z_FINISH if last else zlib.Z_SYNC_FLUSH)
