"""WARC framing: the records of a file in order, with damage between, inside and around them named.

The framer is the kernel's (``warc/framing.rs`` of the core says how it works); this is its face for those who go
through a file record by record. Every byte of a file is either part of a record, or of something named as bad.

A block is held whole up to a length; of a longer one only the head is, enough to say what it was.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from neardup import _native
from neardup.sources.base import PAGE_BYTES
from neardup.sources.unpack import Unpacked

#: A block is held up to the length that a page may have and this: HTTP's header comes before it.
HTTP_BYTES: Final = 1 << 20

#: What is held of a longer block.
HEAD_BYTES: Final = 64 << 10

#: One record as it stands, or (``damage``) a stretch that is none.
Framed = _native.Framed


def reader(unpacked: Unpacked, longest: int = PAGE_BYTES) -> _native.WarcReader:
    """The kernel that reads the file, for pages of so many bytes at most.

    >>> import io
    >>> reader(Unpacked(io.BytesIO(b""))).next_record()
    """
    return _native.WarcReader(unpacked, longest + HTTP_BYTES, HEAD_BYTES)


def frame(unpacked: Unpacked, longest: int = PAGE_BYTES) -> Iterator[Framed]:
    """The records of a WARC file, in order, with what is damaged named in between.

    >>> import io
    >>> record = b"WARC/1.0\\r\\nWARC-Type: resource\\r\\nContent-Length: 5\\r\\n\\r\\nhello\\r\\n\\r\\n"
    >>> for framed in frame(Unpacked(io.BytesIO(record + b"rubbish\\n" + record))):
    ...     print(framed.position, framed.length, framed.block, framed.damage)
    offset 0 61 b'hello' None
    offset 61 None b'' 8 bytes that belong to no record
    offset 69 61 b'hello' None
    """
    records = reader(unpacked, longest)
    while (record := records.next_record()) is not None:
        yield record
