"""Stored bytes to plain bytes: gzip, zstd, xz, bzip2 or nothing, known by the first bytes, not by the name.

The unpacker is native (``reader/unpack.rs`` of ``neardup-engine`` says how it works); files of this machine it reads
itself, and of any other file object it asks for bytes. This is its face for those who go through a file piece by piece.
"""

from __future__ import annotations

from typing import Final

from neardup import _native

#: First bytes of a file that show how it is compressed.
HEAD_BYTES: Final = 10

#: The plain bytes of a binary file object, piece by piece; damage is a piece as well, and reading goes on behind it.
#:
#: >>> import gzip, io
#: >>> two = gzip.compress(b"one ") + gzip.compress(b"two")
#: >>> [(piece.data, piece.offset, piece.starts) for piece in Unpacked(io.BytesIO(two))]
#: [(b'one ', 0, True), (b'two', 24, True)]
#: >>> [piece.damage for piece in Unpacked(io.BytesIO(two[:-6])) if piece.damage]
#: ['the file ends inside a gzip member']
Unpacked = _native.Unpacked

#: Some plain bytes and the place of their member, or (``damage``) a hole: what was wrong at ``offset``. ``starts`` says
#: that ``data`` is the beginning of a member, so that reading can begin at ``offset``.
Piece = _native.Piece

#: The compression that a file's first ``HEAD_BYTES`` stand for: "gzip", "zstd", "xz", "bzip2" or "none".
compression_of = _native.compression_of
