"""Standard input that can be read more than once: what is taken off it is copied to a temporary file on the way.

Nobody has to wait for the copy, and only as much is copied as is read before the last reading begins. The file has no
name where the system allows that, so nothing is left behind, however the program ends.
"""

from __future__ import annotations

import tempfile
from threading import Lock
from typing import BinaryIO, cast

from neardup.errors import InputError


class Replayed:
    """A stream that opens any number of times, until ``read_last`` says that one more is enough.

    >>> import io
    >>> stream = Replayed(io.BytesIO(b"one two three"))
    >>> stream.peek(3), stream.open().read(7), stream.open().read(3)
    (b'one', b'one two', b'one')
    >>> stream.read_last()
    >>> last = stream.open()
    >>> last.read(5), last.read(), stream.copied
    (b'one t', b'wo three', 7)
    >>> stream.discard()
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._copy = tempfile.TemporaryFile(prefix="neardup-stdin-")  # noqa: SIM115  (it lives as long as this)
        #: Bytes that were taken off the stream and are in the copy.
        self.copied = 0
        self._copying, self._lost = True, False
        self._lock = Lock()

    def peek(self, size: int) -> bytes:
        """The first bytes; whoever opens it afterwards sees them again."""
        with self._lock:
            while self.copied < size and self._taken(size - self.copied):
                pass
        return self.read_at(0, size)

    def open(self) -> BinaryIO:
        """The stream from its beginning."""
        if self._lost:
            raise InputError("standard input can be read only once", where="-", hint="write it to a file and name that")
        return cast(BinaryIO, _Reading(self))

    def read_last(self) -> None:
        """Nothing more is copied: what opens the stream from now on is its last reader."""
        self._copying = False

    def discard(self) -> None:
        """Removes the copy: nobody reads it any more."""
        self._lost = True
        self._copy.close()

    def read_at(self, start: int, size: int) -> bytes:
        """Some of the bytes from there on, as many as are at hand; none at the end."""
        with self._lock:
            if start < self.copied:
                self._copy.seek(start)
                return self._copy.read(min(size, self.copied - start) if size >= 0 else self.copied - start)
            return self._taken(size)

    def _taken(self, size: int) -> bytes:
        data = self._stream.read(size)
        if not self._copying:
            self._lost = self._lost or bool(data)
            return data
        try:
            self._copy.seek(self.copied)
            self._copy.write(data)
        except OSError as error:
            raise InputError(
                f"standard input cannot be copied to a temporary file: {error.strerror or error}",
                where=tempfile.gettempdir(),
                hint="set TMPDIR to a folder with room, name a file instead of -, or name the --detector",
            ) from None
        self.copied += len(data)
        return data


class _Reading:
    """One reading of it."""

    def __init__(self, stream: Replayed) -> None:
        self._from, self._at = stream, 0

    def read(self, size: int = -1) -> bytes:
        """So many bytes, fewer only at the end, whether they are in the copy or still to come; all by default."""
        parts: list[bytes] = []
        missing = size
        while missing and (data := self._from.read_at(self._at, missing)):
            self._at += len(data)
            parts.append(data)
            if size >= 0:
                missing -= len(data)
        return b"".join(parts)

    def close(self) -> None:
        """Leaves standard input open: it is not ours."""

    def __enter__(self) -> _Reading:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
