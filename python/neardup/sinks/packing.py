"""The compression a file came in, for the file that goes out."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, Any, Final, Protocol

import zstandard

from neardup.sinks.gzipped import LEVEL, GzipWriter
from neardup.sources.files import Place
from neardup.sources.unpack import HEAD_BYTES, compression_of
from neardup.writing import replacing


class Writable(Protocol):
    """What takes bytes."""

    def write(self, data: bytes, /) -> object: ...


def stored_compression(place: Place) -> str:
    """How a file is compressed, as ``compression_of`` says."""
    return compression_of(place.head(HEAD_BYTES))


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
        elif compression in _STREAMS:
            packer = _STREAMS[compression]()
            yield _Stream(file, packer)
            file.write(packer.flush())
        else:
            yield file


#: Compressions of the standard library: what packs a stream.
_STREAMS: Final[dict[str, Callable[[], Any]]] = {"xz": lzma.LZMACompressor, "bzip2": bz2.BZ2Compressor}


class _Stream:
    """Writes what a compressor makes of what is written."""

    def __init__(self, file: IO[bytes], packer: Any) -> None:
        self._file, self._packer = file, packer

    def write(self, data: bytes, /) -> object:
        return self._file.write(self._packer.compress(data))


def pack_record(data: bytes, compression: str) -> bytes:
    """One record as a member of its own, so that reading can begin at it.

    >>> gzip.decompress(pack_record(b"hello", "gzip"))
    b'hello'
    """
    if compression == "gzip":
        return gzip.compress(data, LEVEL, mtime=0)
    if compression in _STREAMS:
        packer = _STREAMS[compression]()
        packed: bytes = packer.compress(data) + packer.flush()
        return packed
    return zstandard.compress(data) if compression == "zstd" else data
