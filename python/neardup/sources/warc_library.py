"""FastWARC, imported in one place and when it is first needed: the import takes its time, and warns of its own old
names, which is no concern of ours."""

from __future__ import annotations

import warnings
from functools import cache
from importlib import import_module
from io import BytesIO
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fastwarc.stream_io import BrotliReader
    from fastwarc.warc import WarcRecord


def record_from(framed: bytes) -> WarcRecord:
    """The record whose header and block these are.

    >>> record_from(b"WARC/1.1\\r\\nWARC-Type: resource\\r\\nContent-Length: 2\\r\\n\\r\\nhi").content_length
    2
    """
    record: WarcRecord = _module("fastwarc.warc").WarcRecord.from_bytes(framed)
    return record


def brotli_reader(packed: bytes) -> BrotliReader:
    """Unpacks Brotli."""
    reader: BrotliReader = _module("fastwarc.stream_io").BrotliReader(BytesIO(packed))
    return reader


@cache
def _module(name: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return import_module(name)
