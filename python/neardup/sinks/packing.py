"""The compression a file came in, for the file that goes out."""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, cast

import zstandard

from neardup.sinks.results import replacing
from neardup.sources.files import Place
from neardup.sources.unpack import compression_of


def stored_compression(place: Place) -> str:
    """How a file is compressed: "gzip", "zstd" or "none"."""
    return compression_of(place.head(4))


@contextmanager
def packed(path: str | os.PathLike[str], compression: str) -> Iterator[IO[bytes]]:
    """A file to write to that is compressed on the way, and appears when it is whole.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with packed(f"{folder}/a.gz", "gzip") as file:
    ...         _ = file.write(b"hello")
    ...     gzip.decompress(pathlib.Path(folder, "a.gz").read_bytes())
    b'hello'
    """
    with replacing(path) as file:
        if compression == "gzip":
            # No name and no time in the header: the same pages give the same bytes.
            with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as packer:
                yield cast("IO[bytes]", packer)
        elif compression == "zstd":
            with zstandard.ZstdCompressor().stream_writer(file, closefd=False) as writer:
                yield cast("IO[bytes]", writer)
        else:
            yield file


def pack_record(data: bytes, compression: str) -> bytes:
    """One record as a member of its own, so that reading can begin at it.

    >>> gzip.decompress(pack_record(b"hello", "gzip"))
    b'hello'
    """
    if compression == "gzip":
        return gzip.compress(data, mtime=0)
    return zstandard.compress(data) if compression == "zstd" else data
