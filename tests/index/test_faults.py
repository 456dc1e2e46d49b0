"""An index over an input/output layer that fails or is slow, and one whose process is killed at any moment."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from faults import Fault, can_trace
from neardup import Index
from neardup.errors import NeardupError
from neardup.index import verify

#: Adds pages one by one and says which were acknowledged, and how long each took; goes on after an error of ours.
ADD = """
import os, sys, time
from neardup import Index
from neardup.errors import NeardupError
try:
    with Index(sys.argv[1]) as index:
        for at in range(int(sys.argv[2]), int(sys.argv[2]) + 25):
            begun = time.monotonic()
            try:
                index.add(" ".join(f"w{at}x{word}" for word in range(12)), id=str(at))
                os.write(1, f"{at} {time.monotonic() - begun}\\n".encode())
            except NeardupError as error:
                os.write(2, f"refused: {error}\\n".encode())
except NeardupError as error:
    os.write(2, f"refused: {error}\\n".encode())
"""

FAULTS = [
    Fault("fdatasync", "error=EIO", "4"),
    Fault("fdatasync", "error=EIO", "4+"),
    Fault("write", "error=ENOSPC", "5", "0.jnl"),
    Fault("write", "error=EIO", "5+", "0.jnl"),
    Fault("write", "error=EINTR", "5", "0.jnl"),
    Fault("pwrite64", "error=EIO", "4", "acknowledged"),
    Fault("fsync", "error=EIO", "2+"),
    Fault("ftruncate", "error=EIO"),
    Fault("read", "error=EIO", "2+", "0.jnl"),
    Fault("flock", "error=ENOLCK"),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    if not can_trace():
        pytest.skip("strace cannot trace here")
    Index.create(tmp_path / "index", "combined")
    with Index(tmp_path / "index") as index:
        index.add("what was there before anything went wrong, and is there after it", id="before")
    return tmp_path / "index"


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: f"{fault.option()}-{fault.file}")
def test_what_was_acknowledged_is_there_after_a_fault(folder: Path, fault: Fault) -> None:
    program = [sys.executable, "-c", ADD, str(folder)]
    done = fault.run([*program, "0"], folder / "tables")
    assert done.returncode == 0, done.stderr
    assert "panicked" not in done.stderr
    assert "damaged" not in done.stderr, "a disk that fails is not what is stored on it"
    acknowledged = {line.split()[0] for line in done.stdout.splitlines()} | {"before"}
    found = verify(folder)
    assert found.sound, found.complaints
    # It can be opened and added to as if nothing had been.
    again = subprocess.run([*program, "100"], capture_output=True, text=True)
    assert (again.returncode, again.stderr, len(again.stdout.splitlines())) == (0, "", 25)
    with Index(folder) as index:
        assert acknowledged <= set(index.ids())
        assert index.verify().sound


def test_an_addition_waits_for_a_slow_disk(folder: Path) -> None:
    done = Fault("fdatasync", "delay_enter=60000").run([sys.executable, "-c", ADD, str(folder), "0"], folder / "tables")
    taken = [float(line.split()[1]) for line in done.stdout.splitlines()]
    assert len(taken) == 25
    assert min(taken) >= 0.06


#: Adds, replaces and removes pages and makes room, by a seed, and says what it sets out to do and what is done.
CHANGES = """
import os, random, sys
from neardup import Index
draw = random.Random(int(sys.argv[2]))
with Index(sys.argv[1], sync="system") as index:
    while True:
        some = [str(draw.randrange(300)) for _ in range(draw.choice((1, 1, 1, 40)))]
        what = draw.choice(("add", "add", "remove", "compact")) if draw.random() < 0.3 else "add"
        os.write(1, f"begin {what} {' '.join(some)}\\n".encode())
        if what == "add":
            index.add_many([{"id": id, "text": " ".join(f"w{id}x{draw.random()}" for _ in range(12))} for id in some])
        elif what == "remove":
            index.remove(some)
        else:
            index.compact()
        os.write(1, f"done {what} {' '.join(some)}\\n".encode())
"""


def test_killed_at_any_moment_an_index_is_as_it_was_told(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    Index.create(folder, "combined")
    draw = random.Random(11)
    there: set[str] = set()
    for seed in range(8):
        command = [sys.executable, "-c", CHANGES, str(folder), str(seed)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as changing:
            assert changing.stdout is not None
            lines = [changing.stdout.readline() for _ in range(draw.randrange(1, 150))]
            changing.kill()
            lines += changing.stdout.read().splitlines()
        under_way: set[str] = set()
        for line in lines:
            when, what, *ids = line.split()
            under_way = set(ids) if when == "begin" and what != "compact" else set()
            if when == "done" and what != "compact":
                there = there | set(ids) if what == "add" else there - set(ids)
        found = verify(folder)
        assert found.sound, found.complaints
        with Index(folder) as index:
            ids = set(index.ids())
        assert ids ^ there <= under_way, "only what was under way may be one way or the other"
        there = ids


def test_verifying_changes_nothing_and_names_the_file(tmp_path: Path) -> None:
    folder, torn = tmp_path / "index", tmp_path / "torn"
    Index.create(folder, "combined")
    with Index(folder) as index:
        for at in range(30):
            index.add(f"w{at} " * 20, id=str(at))
        shutil.copytree(folder, torn)
    journal = torn / "tables" / "0.jnl"
    whole = journal.read_bytes().rstrip(b"\0")
    # A batch that was begun when the power went, and what is there of it.
    journal.write_bytes(whole + whole[:100])
    before = journal.read_bytes()
    assert verify(torn).sound
    assert journal.read_bytes() == before
    with Index(torn) as index:
        assert len(index.ids()) == 30
    assert journal.stat().st_size == len(whole)

    for at, what in ((len(whole) // 2, "batches follow"), (len(whole) - 20, "the last batch")):
        journal.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        before = journal.read_bytes()
        found = verify(torn)
        assert "tables/0.jnl" in found.complaints[0], what
        with pytest.raises(NeardupError, match=r"the index is damaged: tables/0.jnl: batch \d+, at byte") as raised:
            Index(torn)
        assert os.fspath(torn) in str(raised.value)
        assert journal.read_bytes() == before
