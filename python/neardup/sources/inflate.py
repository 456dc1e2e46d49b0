"""Inflating gzip and deflate: zlib-ng, which reads the same format two to three times as fast as zlib."""

from __future__ import annotations

from typing import Any

from zlib_ng import zlib_ng

#: What damaged data raises.
InflateError: type[Exception] = zlib_ng.error  # type: ignore[assignment]


def inflater(window: int) -> Any:
    """A decompressor with the interface of ``zlib.decompressobj``; ``window`` is its ``wbits``.

    >>> import gzip
    >>> inflater(31).decompress(gzip.compress(b"hello"))
    b'hello'
    """
    return zlib_ng.decompressobj(wbits=window)
