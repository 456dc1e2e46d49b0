"""HTTP bodies as archives hold them: transfer and content encodings undone, within a bound.

Archives are what servers sent, and servers lie: a label ``gzip`` on a body that is not (or no longer) packed,
raw deflate under the name of zlib's, "utf-8" as an encoding. What a browser would show is what comes out;
what cannot be undone is an error with its reason, and a body that unpacks to more than the bound is one too.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from typing import Final

import zstandard

from neardup import _native
from neardup.sources.inflate import InflateError, inflater
from neardup.sources.unpack import ZSTD_WINDOW
from neardup.sources.warc_library import brotli_reader

_GZIP: Final = b"\x1f\x8b"
_CHUNK_SIZE: Final = re.compile(rb"[ \t]*([0-9A-Fa-f]{1,15})[ \t]*(?:;[^\n]*)?\r?\n")
_STEP: Final = 1 << 20
_NOTHING: Final = {"", "identity", "none", "binary", "utf-8", "utf8", "iso-8859-1", "chunked"}


class BodyError(Exception):
    """A body that cannot be decoded; its text is the reason."""


def decode_body(
    body: bytes, *, transfer: str = "", content: str = "", limit: int = 64 << 20, partial: bool = False
) -> bytes:
    """The body with its transfer and content encodings undone.

    ``partial`` takes what there is of a body that ends early (a record that says it was truncated).

    >>> import gzip
    >>> packed = gzip.compress(b"<p>hello")
    >>> chunked = b"%x\\r\\n%s\\r\\n0\\r\\n\\r\\n" % (len(packed), packed)
    >>> decode_body(chunked, transfer="chunked", content="gzip")
    b'<p>hello'
    """
    transfers, contents = _labels(transfer), _labels(content)
    if "chunked" in transfers:
        body = _unchunk(body, partial)
    for label in [*reversed(transfers), *reversed(contents)]:
        body = _unpack(body, label, limit, partial)
    if len(body) > limit:
        raise BodyError(_native.too_long("a body", len(body), limit))
    return body


def _labels(header: str) -> list[str]:
    return [label.strip().lower() for label in header.split(",") if label.strip()]


def _unchunk(body: bytes, partial: bool) -> bytes:
    if not _CHUNK_SIZE.match(body):
        return body  # the label stayed when the archive undid the encoding
    parts: list[bytes] = []
    at = 0
    while True:
        size = _CHUNK_SIZE.match(body, at)
        if size is None:
            # A body of whole chunks without the last, empty one is what a closed connection leaves.
            if at >= len(body) or partial:
                return b"".join(parts)
            raise BodyError(f"chunked transfer encoding: no chunk size at byte {at} of the body")
        length, at = int(size[1], 16), size.end()
        if length == 0:
            return b"".join(parts)
        parts.append(body[at : at + length])
        if at + length > len(body):
            if partial:
                return b"".join(parts)
            raise BodyError("chunked transfer encoding: the body ends inside a chunk")
        at += length
        at += 2 if body[at : at + 2] == b"\r\n" else 1 if body[at : at + 1] == b"\n" else 0


def _unpack(body: bytes, label: str, limit: int, partial: bool) -> bytes:
    if label in _NOTHING or not body:
        return body
    try:
        if label in ("gzip", "x-gzip"):
            return _inflate(body, 31, label, limit, partial) if body.startswith(_GZIP) else body
        if label == "deflate":
            try:
                return _inflate(body, 15, label, limit, partial)
            except InflateError:
                return _inflate(body, -15, label, limit, partial)
        if label == "zstd":
            if not body.startswith(b"\x28\xb5\x2f\xfd"):
                return body
            reader = zstandard.ZstdDecompressor(max_window_size=ZSTD_WINDOW).stream_reader(io.BytesIO(body))
            return _bounded(reader.read, label, limit)
        if label == "br":
            return _bounded(brotli_reader(body).read, label, limit)
    except (InflateError, zstandard.ZstdError, OSError) as error:
        raise BodyError(f"content encoding {label}: {error}") from None
    raise BodyError(f"unknown content encoding {label!r}")


def _inflate(body: bytes, window: int, label: str, limit: int, partial: bool) -> bytes:
    engine = inflater(window)
    data: bytes = engine.decompress(body, limit + 1)
    if len(data) > limit:
        raise BodyError(_too_long(label, limit))
    if not engine.eof and not partial:
        raise BodyError(f"content encoding {label}: the body ends early")
    return data


def _bounded(read: Callable[[int], bytes], label: str, limit: int) -> bytes:
    parts, size = [], 0
    while part := read(_STEP):
        parts.append(part)
        size += len(part)
        if size > limit:
            raise BodyError(_too_long(label, limit))
    return b"".join(parts)


def _too_long(label: str, limit: int) -> str:
    return f"content encoding {label}: unpacks to more than --max-page ({limit:,} bytes)"
