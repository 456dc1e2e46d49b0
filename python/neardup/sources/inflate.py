"""Inflating gzip and deflate: zlib-ng, which reads the same format two to three times as fast as zlib. And xz and
bzip2 by the standard library, with the same interface."""

from __future__ import annotations

from typing import Any, Final

from zlib_ng import zlib_ng

#: What damaged data raises.
InflateError: type[Exception] = zlib_ng.error  # type: ignore[assignment]

#: Memory that an xz stream may ask for: twice what ``xz -9`` takes.
_XZ_BYTES: Final = 128 << 20


class Decompressor:
    """A decompressor of one stream of xz or bzip2, with the interface of ``zlib.decompressobj``.

    >>> import bz2
    >>> engine = Decompressor("bzip2")
    >>> engine.decompress(bz2.compress(b"hello") + b"rest", 3), engine.decompress(b"more", 9), engine.unused_data
    (b'hel', b'lo', b'restmore')
    """

    def __init__(self, compression: str) -> None:
        self._engine: Any
        self._error: type[Exception]
        #: What was given and not taken: what waits in the engine has to come out first.
        self.unconsumed_tail = b""
        if compression == "xz":
            import lzma

            self._engine, self._error = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_XZ_BYTES), lzma.LZMAError
        else:
            import bz2

            self._engine, self._error = bz2.BZ2Decompressor(), OSError

    @property
    def eof(self) -> bool:
        """Whether the stream is at its end."""
        return bool(self._engine.eof)

    @property
    def unused_data(self) -> bytes:
        """What was given behind the stream's end."""
        return bytes(self._engine.unused_data) + self.unconsumed_tail

    def decompress(self, data: Any, most: int) -> bytes:
        """What comes next, ``most`` of it."""
        takes = self._engine.needs_input
        self.unconsumed_tail = b"" if takes else bytes(data)
        try:
            plain: bytes = self._engine.decompress(data if takes else b"", most)
        except (self._error, ValueError, EOFError) as error:
            raise InflateError(str(error)) from None
        return plain


def inflater(window: int) -> Any:
    """A decompressor with the interface of ``zlib.decompressobj``; ``window`` is its ``wbits``.

    >>> import gzip
    >>> inflater(31).decompress(gzip.compress(b"hello"))
    b'hello'
    """
    return zlib_ng.decompressobj(wbits=window)
