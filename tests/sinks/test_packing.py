"""Compression on the way out: readable by anyone, the same bytes for any number of threads."""

from __future__ import annotations

import gzip
import io
import subprocess
import threading
import zlib
from pathlib import Path

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from neardup.sinks import gzipped
from neardup.sinks.packing import packed

WORDS = b"".join(b"word %d of the %d-th line\n" % (n % 97, n * n % 1009) for n in range(40_000))


def zipped(pieces: list[bytes], threads: int) -> bytes:
    file = io.BytesIO()
    with gzipped.GzipWriter(file, threads) as writer:
        for piece in pieces:
            writer.write(piece)
    return file.getvalue()


@settings(max_examples=60, deadline=None)
@given(st.lists(st.binary(max_size=300).map(lambda data: data * 5)), st.integers(1, 4), st.integers(1, 900))
def test_any_pieces_by_any_threads(pieces: list[bytes], threads: int, length: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gzipped, "_PIECE", length)
        made = zipped(pieces, threads)
        assert gzip.decompress(made) == b"".join(pieces)
        # How it is handed over does not matter either.
        assert zipped([b"".join(pieces)], 1) == made


def test_one_member_that_gzip_reads() -> None:
    made = zipped([WORDS, WORDS[:77_777]], 3)
    assert subprocess.run(["gzip", "-dc"], input=made, capture_output=True, check=True).stdout == WORDS + WORDS[:77_777]
    # A reader that stops behind the first member has everything.
    inflater = zlib.decompressobj(wbits=31)
    assert len(inflater.decompress(made)) == len(WORDS) + 77_777
    assert inflater.eof
    assert not inflater.unused_data
    # Pieces know what stands before them: hardly longer than in one go.
    assert len(made) < 1.01 * len(gzip.compress(WORDS + WORDS[:77_777], 6))


def test_zstd_by_any_threads(tmp_path: Path) -> None:
    made = []
    for threads in (1, 2, 5):
        path = tmp_path / f"{threads}.zst"
        with packed(path, "zstd", threads) as file:
            for _ in range(30):
                file.write(WORDS)
        made.append(path.read_bytes())
    assert made[0] == made[1] == made[2]
    assert zstandard.ZstdDecompressor().stream_reader(io.BytesIO(made[0])).read() == WORDS * 30


def test_nothing_is_left_of_what_failed(tmp_path: Path) -> None:
    def fail() -> None:
        with packed(tmp_path / "a.gz", "gzip", 3) as file:
            file.write(WORDS)
            raise RuntimeError("half way")

    before = threading.active_count()
    with pytest.raises(RuntimeError, match="half way"):
        fail()
    assert not list(tmp_path.iterdir())
    assert threading.active_count() == before
