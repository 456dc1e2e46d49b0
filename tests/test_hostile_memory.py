"""Inputs made to take memory, under a limit: each run has a budget of 128 MiB, and takes at most 300 MB more.

A run is a process of its own, and its peak is what the system says of it (VmHWM, which ``run.json`` hands on). Every
input is small where it is stored, or has one thing in it that would be held whole.
"""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

PROGRAM = [sys.executable, "-m", "neardup"]
BOUND = (128 << 20) + 300_000_000
GOOD = json.dumps({"id": "good", "text": "a page of some words that is well, between all the others"}).encode()
LONG = 150 << 20


def blocks(start: bytes, middle: bytes, count: int, end: bytes) -> Iterator[bytes]:
    yield start
    for _ in range(count):
        yield middle
    yield end


def long_line() -> Iterator[bytes]:
    return blocks(GOOD + b'\n{"id": "long", "text": "', b"word " * 8192, LONG // 40960, b'"}\n' + GOOD)


def unreadable(folder: Path) -> Path:
    (folder / "in.jsonl").write_bytes(GOOD + b"\n" + b'{"id":1,"body":"x"}\n' * 400_000)
    return folder / "in.jsonl"


def unreadable_and_short(folder: Path) -> Path:
    (folder / "in.jsonl").write_bytes(GOOD + b"\n" + b"x\n" * 2_000_000)
    return folder / "in.jsonl"


def each_with_another_field(folder: Path) -> Path:
    lines = b"".join(b'{"f%d":1}\n' % at for at in range(300_000))
    (folder / "in.jsonl").write_bytes(GOOD + b"\n" + lines)
    return folder / "in.jsonl"


def a_quote_not_closed(folder: Path) -> Path:
    (folder / "in.csv").write_bytes(b'id,text\n0,some words that are well\n1,"open\n' + b"xyz\n" * 300_000)
    return folder / "in.csv"


def a_quote_not_closed_for_long(folder: Path) -> Path:
    with gzip.open(folder / "in.csv.gz", "wb", 1) as file:
        for block in blocks(b'id,text\n0,some words that are well\n1,"', b"word " * 8192 + b"\n", LONG // 40960, b"\n"):
            file.write(block)
    return folder / "in.csv.gz"


def a_long_line(folder: Path) -> Path:
    with open(folder / "in.jsonl", "wb") as file:
        file.writelines(long_line())
    return folder / "in.jsonl"


def a_long_packed_line(folder: Path) -> Path:
    with gzip.open(folder / "in.jsonl.gz", "wb", 1) as file:
        file.writelines(long_line())
    return folder / "in.jsonl.gz"


def bombs(folder: Path) -> Path:
    """xz and bzip2 pack zeros a thousand times smaller than gzip does."""
    for name, module in (("a.jsonl.xz", lzma), ("b.jsonl.bz2", bz2)):
        with getattr(module, "open")(folder / name, "wb") as file:  # noqa: B009  (the types of both differ)
            file.writelines(blocks(GOOD + b"\n", bytes(1 << 20), 100, b"\n" + GOOD))
    return folder


def one_array(folder: Path) -> Path:
    with gzip.open(folder / "in.json.gz", "wb", 1) as file:
        file.write(b"[" + GOOD)
        file.writelines([b', {"id":1,"body":"x"}' * 1000] * 400)
        file.writelines(blocks(b', {"text": "', b"word " * 8192, LONG // 40960, b'"}]'))
    return folder / "in.json.gz"


def a_dictionary(folder: Path) -> Path:
    """One value of 6 MB, which 150 rows repeat: 2 kB as stored, 900 MB decoded."""
    places = pa.DictionaryArray.from_arrays(pa.array([0] * 150, pa.int32()), pa.array(["word " * 1_200_000]))
    pq.write_table(pa.table({"text": places}), folder / "in.parquet", compression="zstd")
    return folder / "in.parquet"


def prefixes(folder: Path) -> Path:
    """The same by values that begin as the one before."""
    text = "word " * 2_400_000
    columns = {"text": [text + str(at) for at in range(40)]}
    pq.write_table(
        pa.table(columns),
        folder / "in.parquet",
        compression="zstd",
        use_dictionary=False,
        column_encoding={"text": "DELTA_BYTE_ARRAY"},
        data_page_size=1 << 30,
    )
    return folder / "in.parquet"


HOSTILE: dict[Callable[[Path], Path], tuple[int, int | None, str]] = {
    # what is made: pages that are read, records that are skipped, and a word of the first reason
    unreadable: (1, 400_000, "there are: id, body"),
    unreadable_and_short: (1, 2_000_000, "not a JSON object"),
    each_with_another_field: (1, 300_000, "there are: f0"),
    a_quote_not_closed: (1, 300_001, "a quote that is not closed"),
    a_quote_not_closed_for_long: (1, None, "not closed within --max-page (67,108,864 bytes)"),
    a_long_line: (2, 1, "a line of 157,286,426 bytes"),
    a_long_packed_line: (2, 1, "a line of 157,286,426 bytes"),
    bombs: (4, 2, "a line of 104,857,600 bytes"),
    one_array: (1, 400_001, "no field"),
    a_dictionary: (150, 0, ""),
    prefixes: (40, 0, ""),
}


def run(path: Path, out: Path, *options: str) -> dict[str, Any]:
    """What a run with the budget says in ``run.json``."""
    command = [*PROGRAM, "dedup", str(path), "--out", str(out), "--memory", "128MiB", "--quiet", *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stderr) == (0, "")
    assert not list(out.parent.glob(".out*")), "something was left behind"
    report: dict[str, Any] = json.loads((out / "run.json").read_text(encoding="utf-8"))
    assert (out / "run.json").stat().st_size < 1 << 20
    return report


@pytest.mark.parametrize("make", HOSTILE, ids=lambda make: make.__name__)
def test_memory_is_bounded_whatever_the_input(make: Callable[[Path], Path], tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    pages, skipped, reason = HOSTILE[make]
    report = run(make(tmp_path / "in"), tmp_path / "out", "--detector", "minhash")
    assert report["peak_memory"] < BOUND, report["stages"]
    counts = report["counts"]
    assert counts["pages"] == pages
    assert skipped is None or counts["skipped"] == skipped
    assert len(report["skipped"]) == min(1000, counts["skipped"])
    assert sum(report["skipped_reasons"].values()) == counts["skipped"]
    if counts["skipped"]:
        assert reason in report["skipped"][0]["reason"]
    listed = tmp_path / "out" / "skipped.parquet"
    assert listed.exists() == (counts["skipped"] > 1000)
    if listed.exists():
        # All of them, in the order of the input, the first as run.json names them.
        table = pq.read_table(listed)
        assert table.num_rows == counts["skipped"]
        assert table.slice(0, 1000).to_pylist() == report["skipped"]


def test_pages_from_a_generator_are_bounded_too(tmp_path: Path) -> None:
    """40 MB of text, of which the program is told to hold little; the peak is told as for a result that is written."""
    program = """
import random, sys
from neardup import Settings, find_duplicates
words, chance = [f"w{at}" for at in range(50_000)], random.Random(1)
pages = ({"id": str(at), "text": " ".join(chance.choices(words, k=400))} for at in range(int(sys.argv[1])))
result = find_duplicates(pages, detector="minhash", settings=Settings(memory=128 << 20))
print(result.pages.num_rows, result.report["peak_memory"])
"""
    peaks = []
    for count in (5_000, 30_000):
        command = [sys.executable, "-c", program, str(count)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=_with_purging(tmp_path))
        assert done.stderr == ""
        rows, peak = map(int, done.stdout.split())
        assert rows == count
        peaks.append(peak)
    assert max(peaks) < BOUND
    assert not list(tmp_path.iterdir()), "a temporary folder was left behind"


def _with_purging(folder: Path) -> dict[str, str]:
    return os.environ | {"MIMALLOC_PURGE_DELAY": "0", "TMPDIR": str(folder)}
