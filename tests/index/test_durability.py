"""What was acknowledged stays: after a kill, after power loss, and never silently damaged."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from neardup import Index
from neardup.errors import FormatError, InputError, NeardupError, OutputError, UsageError
from neardup.index import verify

ADD = """
import sys
from neardup import Index
with Index(sys.argv[1], sync=sys.argv[3]) as index:
    for at in range(int(sys.argv[2]), int(sys.argv[2]) + 100000):
        index.add(" ".join(f"w{at}x{word}" for word in range(12)), id=str(at))
        print(at, flush=True)
"""


def texts(count: int, start: int = 0) -> list[dict[str, str]]:
    return [
        {"id": str(at), "text": " ".join(f"w{at}x{word}" for word in range(12))} for at in range(start, start + count)
    ]


#: Forks a process that adds pages and kills it, again and again; forked, for what is imported once need not be again.
KILLS = """
import os, signal, sys
from neardup import Index
import neardup.index.build
for kills in range(20):
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        with Index(sys.argv[1], sync="system") as index:
            for at in range(kills * 100000, kills * 100000 + 100000):
                index.add(" ".join(f"w{at}x{word}" for word in range(12)), id=str(at))
                os.write(write, f"{at}\\n".encode())
    os.close(write)
    with os.fdopen(read) as told:
        # Killed after a different number of pages each time, in the midst of the next ones.
        for _ in range(1 + 7 * kills):
            print(told.readline().strip())
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        for line in told:
            if line.endswith("\\n"):
                print(line.strip())
"""


def test_a_kill_loses_nothing_acknowledged(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    Index.create(folder, "combined")
    done = subprocess.run([sys.executable, "-c", KILLS, str(folder)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    acknowledged = set(done.stdout.split())
    with Index(folder) as index:
        assert acknowledged <= set(index.ids())
        assert len(acknowledged) > 1000
        assert index.verify().sound


#: Forks a process that compacts an index and kills it, later each time, until one comes to its end.
COMPACTIONS = """
import os, signal, sys, time
from neardup import Index
import neardup.index.build
kills = 0
while True:
    child = os.fork()
    if child == 0:
        with Index(sys.argv[1], sync="system") as index:
            index.compact()
        os._exit(0)
    time.sleep(0.02 * 1.5**kills)
    os.kill(child, signal.SIGKILL)
    if os.waitpid(child, 0)[1] == 0:
        break
    kills += 1
    with Index(sys.argv[1]) as index:
        found = index.verify()
        assert found.sound, found.complaints
print(kills)
"""


def test_a_kill_while_room_is_made_loses_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    Index.create(folder, "site-aware")
    pages = texts(20_000)
    with Index(folder, sync="system") as index:
        index.add_many(pages)
        index.remove([page["id"] for page in pages[::3]])
        left = index.ids()
        keys = index.verify().keys
    done = subprocess.run([sys.executable, "-c", COMPACTIONS, str(folder)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 2
    with Index(folder) as index:
        checked = index.verify()
        assert checked.sound, checked.complaints
        assert checked.keys < 0.7 * keys
        assert index.ids() == left
        asked = index.query_many([{"id": "x" + page["id"], "text": page["text"]} for page in pages[:300]])
    assert [bool(answer) for answer in asked] == [at % 3 > 0 for at in range(300)]


#: Threads that add at the same time, so that pages of one are on their way to the disk while another's are written.
ADD_BY_THREADS = """
import os, sys
from concurrent.futures import ThreadPoolExecutor
from neardup import Index
with Index(sys.argv[1], sync=sys.argv[3]) as index, ThreadPoolExecutor(6) as threads:
    def add(at):
        index.add(" ".join(f"w{at}x{word}" for word in range(12)), id=str(at))
        os.write(1, f"{at}\\n".encode())
    list(threads.map(add, range(240)))
"""


@pytest.mark.parametrize("program", [ADD.replace("100000", "40"), ADD_BY_THREADS], ids=["alone", "threads"])
@pytest.mark.parametrize("sync", ["commit", "system"])
def test_power_loss(tmp_path: Path, sync: str, program: str) -> None:
    """The writes of a process are recorded (strace), and the folder is rebuilt with only what was synced by some
    moment, as a disk whose cache is lost would have it: what was acknowledged by then must be there with ``commit``.
    With ``system`` the same cut loses pages, so the test would notice a policy that does nothing.
    """
    from power import Recorded

    from faults import can_trace

    if not can_trace():
        pytest.skip("strace cannot trace here")
    folder = tmp_path / "index"
    Index.create(folder, "combined")
    recorded = Recorded.of([sys.executable, "-c", program, str(folder), "0", sync], folder)
    lost = 0
    for cut in recorded.moments(6):
        rebuilt = tmp_path / f"cut-{cut}"
        recorded.rebuild(rebuilt, cut)
        acknowledged = recorded.acknowledged(cut)
        with Index(rebuilt) as index:
            there = set(index.ids())
            assert index.verify().sound
        lost += len(acknowledged - there)
        if sync == "commit":
            assert acknowledged <= there, f"cut at {cut}"
    assert (lost == 0) == (sync == "commit")


def test_a_second_writer_hears_why(tmp_path: Path) -> None:
    Index.create(tmp_path / "index", "combined")
    with Index(tmp_path / "index"):
        with pytest.raises(InputError, match="open elsewhere"):
            Index(tmp_path / "index")
        done = subprocess.run(
            [sys.executable, "-m", "neardup", "index", "stats", tmp_path / "index"], capture_output=True, text=True
        )
        assert done.returncode == 1
        assert "open elsewhere" in done.stderr
        assert "Traceback" not in done.stderr
    with Index(tmp_path / "index") as index:
        assert index.stats().pages == 0


def test_readers_do_not_wait_for_the_writer(tmp_path: Path) -> None:
    import threading

    Index.create(tmp_path / "index", "combined")
    with Index(tmp_path / "index", sync="system") as index:
        index.add_many(texts(100))
        writing = threading.Thread(target=lambda: index.add_many(texts(20_000, 1000)))
        writing.start()
        asked = 0
        while writing.is_alive():
            # A commit is seen whole or not at all.
            assert index.stats().pages in (100, 20_100)
            assert len(index.query_many(texts(3))) == 3
            asked += 1
        writing.join()
        assert asked > 2
        assert index.stats().pages == 20_100


def test_a_backup_is_an_index(tmp_path: Path) -> None:
    Index.create(tmp_path / "index", "combined")
    with Index(tmp_path / "index", sync="system") as index:
        index.add_many(texts(500))
        index.backup(tmp_path / "copy")
        index.add_many(texts(10, 1000))
        with pytest.raises(OutputError, match="exists already"):
            index.backup(tmp_path / "copy")
    with Index(tmp_path / "copy") as copy:
        assert copy.ids() == [page["id"] for page in texts(500)]
        assert copy.verify().sound
        assert copy.add("w3x0 " * 20, id="more") is not None


@pytest.mark.parametrize("closed", [True, False], ids=["closed", "killed"])
def test_damage_is_noticed(tmp_path: Path, closed: bool) -> None:
    """A bit is flipped in every file, the journal's among them; more of it is in the Rust tests (``faults.rs``)."""
    folder, whole, trial = (tmp_path / name for name in ("index", "whole", "trial"))
    Index.create(folder, "combined")
    with Index(folder) as index:
        index.add_many(texts(300))
        if closed:
            index.compact()
        for page in texts(20, 300):
            index.add(page)
        if not closed:
            shutil.copytree(folder, whole)
    if closed:
        shutil.copytree(folder, whole)
    journal = whole / "tables" / "0.jnl"
    journal.write_bytes(journal.read_bytes().rstrip(b"\0"))
    draw = random.Random(5)
    files = sorted(path.relative_to(whole) for path in whole.rglob("*") if path.is_file() and path.stat().st_size)
    assert {"index.json", "0.jnl", "acknowledged", "current", "version"} <= {path.name for path in files}
    noticed = 0
    for path in files:
        for _ in range(10 if path.suffix == ".jnl" else 1):
            shutil.rmtree(trial, ignore_errors=True)
            shutil.copytree(whole, trial)
            damaged = bytearray((trial / path).read_bytes())
            bit = draw.randrange(8 * len(damaged))
            damaged[bit // 8] ^= 1 << bit % 8
            (trial / path).write_bytes(damaged)
            found = _sound(trial)
            try:
                with Index(trial) as index:
                    # What is not told changes nothing.
                    assert len(index.ids()) == 320, f"bit {bit} of {path}"
                    assert index.query(texts(1, 17)[0] | {"id": "x"}).seen == "17", f"bit {bit} of {path}"
            except NeardupError:
                assert not found, f"bit {bit} of {path}: told when it is opened, and not by verify"
            noticed += not found
    # The others are files that the tables no longer use.
    assert noticed > len(files) // 2
    assert _sound(whole)


def _sound(folder: Path) -> bool:
    """Whether checking an index that nobody has open finds it sound; an error of ours says that it is not."""
    try:
        return verify(folder).sound
    except NeardupError:
        return False


def test_versions_are_looked_at_first(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    Index.create(folder, "combined")
    about = json.loads((folder / "index.json").read_text())
    # 3 is the index format before this one.
    for name, version in (("index", 99), ("format", 99), ("index", 3)):
        (folder / "index.json").write_text(json.dumps(about | {name: version}))
        with pytest.raises(FormatError, match=f"format {version}, this is format .*: build it anew"):
            Index(folder)
    (folder / "index.json").write_text(json.dumps(about | {"most": 7}))
    with pytest.raises(FormatError, match="damaged"):
        Index(folder)
    (folder / "index.json").write_text("{")
    with pytest.raises(FormatError, match="damaged"):
        Index(folder)


def test_wrong_calls_are_told(tmp_path: Path) -> None:
    Index.create(tmp_path / "index", "combined")
    with pytest.raises(OutputError, match="not empty"):
        Index.create(tmp_path / "index")
    with pytest.raises(UsageError, match="needs statistics"):
        Index.create(tmp_path / "other", "spex")
    assert not (tmp_path / "other").exists()
    with pytest.raises(UsageError, match="sync policy"):
        Index(tmp_path / "index", sync="never")  # type: ignore[arg-type]
    with Index(tmp_path / "index") as index:
        with pytest.raises(UsageError, match="no date"):
            index.expire("soon")
        with pytest.raises(InputError, match="tokens must be"):
            index.add({"tokens": [-1]})
        with pytest.raises(InputError, match="neither text"):
            index.add(7)  # type: ignore[arg-type]
        assert index.add_many([]) == []
    with pytest.raises(UsageError, match="closed"):
        index.stats()


def test_a_commit_within_a_second(tmp_path: Path) -> None:
    Index.create(tmp_path / "index", "combined")
    with Index(tmp_path / "index", sync="second") as index:
        index.add_many(texts(10))
        time.sleep(1.2)
        assert len(index.ids()) == 10
    assert os.path.isdir(tmp_path / "index")
