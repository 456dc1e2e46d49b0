"""The compression a file came in, for the file that goes out."""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

import zstandard

from neardup.sinks.gzipped import LEVEL, GzipWriter
from neardup.sources.files import Place
from neardup.sources.unpack import compression_of
from neardup.writing import replacing


class Writable(Protocol):
    """What takes bytes."""

    def write(self, data: bytes, /) -> object: ...


def stored_compression(place: Place) -> str:
    """How a file is compressed: "gzip", "zstd" or "none"."""
    return compression_of(place.head(4))


@contextmanager
def packed(path: str | os.PathLike[str], compression: str, threads: int = 1) -> Iterator[Writable]:
    """A file to write to that is compressed on the way, and appears when it is whole. It has the same bytes for any
    number of threads.

    >>> import gzip, pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with packed(f"{folder}/a.gz", "gzip") as file:
    ...         _ = file.write(b"hello")
    ...     gzip.decompress(pathlib.Path(folder, "a.gz").read_bytes())
    b'hello'
    """
    with replacing(path) as file:
        if compression == "gzip":
            with GzipWriter(file, max(1, threads)) as packer:
                yield packer
        elif compression == "zstd":
            # The library cuts what it is given where no thread would cut it, but in the same places for any number.
            with zstandard.ZstdCompressor(threads=max(1, threads)).stream_writer(file, closefd=False) as writer:
                yield writer
        else:
            yield file


def pack_record(data: bytes, compression: str) -> bytes:
    """One record as a member of its own, so that reading can begin at it.

    >>> gzip.decompress(pack_record(b"hello", "gzip"))
    b'hello'
    """
    if compression == "gzip":
        return gzip.compress(data, LEVEL, mtime=0)
    return zstandard.compress(data) if compression == "zstd" else data
