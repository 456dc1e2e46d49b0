"""A run over an input/output layer that fails or is slow, and its result with a file cut off or deleted.

Kills at any moment are in ``test_resume.py``; damaged input in ``test_bad_input.py``.
"""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from faults import Fault, can_trace

FILES = ("pages.parquet", "pairs.parquet", "clusters.parquet")
PROGRAM = [sys.executable, "-m", "neardup"]

#: The same with a limit on how long a file may become: writing fails from some byte on, as on a disk that is full.
LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]),) * 2)
sys.argv = ["neardup", *sys.argv[2:]]
from neardup.cli.main import main
main()
"""

FAULTS = [
    Fault("fsync", "error=EIO"),
    Fault("rename,renameat,renameat2", "error=EIO"),
    Fault("mkdir", "error=ENOSPC"),
    Fault("pwrite64", "error=ENOSPC"),
    Fault("ftruncate", "error=ENOSPC"),
]


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    draw = random.Random(4)
    place = tmp_path_factory.mktemp("pages") / "pages.jsonl"
    with place.open("w") as file:
        for group in range(50):
            words = [f"w{draw.randrange(3000)}" for _ in range(100)]
            for copy in range(3):
                text = " ".join(words[:50] + [f"c{copy}"] * (copy > 0) + words[50:])
                file.write(json.dumps({"id": f"{group}-{copy}", "text": text}) + "\n")
    return place


@pytest.fixture(scope="module")
def sound(pages: Path) -> dict[str, bytes]:
    """The result of a run that nothing happens to."""
    out = pages.parent / "sound"
    subprocess.run([*PROGRAM, "dedup", str(pages), "-o", str(out)], check=True, capture_output=True)
    return {name: (out / name).read_bytes() for name in FILES}


def refused_well(done: subprocess.CompletedProcess[str], folder: Path) -> None:
    """One line of ours says what went wrong, and nothing is left that could be taken for a result."""
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr
    assert "fault in neardup" not in done.stderr
    assert done.stderr.strip().splitlines()[-1].strip(), "it says what went wrong"
    assert not (folder / "out").exists()


@pytest.mark.parametrize("limit", [0, 300, 3000])
def test_a_full_disk_is_told_and_leaves_no_result(tmp_path: Path, pages: Path, limit: int) -> None:
    command = [sys.executable, "-c", LIMITED, str(limit), "dedup", str(pages), "-o", str(tmp_path / "out")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    refused_well(done, tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("fault", FAULTS, ids=Fault.option)
def test_a_call_that_fails_is_told_or_does_not_matter(
    tmp_path: Path, pages: Path, sound: dict[str, bytes], fault: Fault
) -> None:
    if not can_trace():
        pytest.skip("strace cannot trace here")
    out = tmp_path / "out"
    done = fault.run([*PROGRAM, "dedup", str(pages), "-o", str(out)], tmp_path)
    if done.returncode == 0:
        assert {name: (out / name).read_bytes() for name in FILES} == sound
    else:
        refused_well(done, tmp_path)


def test_a_slow_disk_gives_the_same_result(tmp_path: Path, pages: Path, sound: dict[str, bytes]) -> None:
    if not can_trace():
        pytest.skip("strace cannot trace here")
    out = tmp_path / "out"
    slow = Fault("fsync,rename,renameat2,ftruncate", "delay_enter=200000")
    done = slow.run([*PROGRAM, "dedup", str(pages), "-o", str(out)], tmp_path)
    assert done.returncode == 0, done.stderr
    assert {name: (out / name).read_bytes() for name in FILES} == sound


@pytest.mark.parametrize("name", [*FILES, "run.json"])
def test_a_result_with_a_file_cut_off_is_told(tmp_path: Path, pages: Path, sound: dict[str, bytes], name: str) -> None:
    out = tmp_path / "out"
    shutil.copytree(pages.parent / "sound", out)
    whole = (out / name).read_bytes()
    for length in (None, 0, len(whole) // 2, len(whole) - 3):
        if length is None:
            (out / name).unlink()
        else:
            (out / name).write_bytes(whole[:length])
        done = subprocess.run([*PROGRAM, "show", str(out)], capture_output=True, text=True)
        assert done.returncode == 1, f"{length}: {done.stdout}"
        assert "Traceback" not in done.stderr
        assert "fault in neardup" not in done.stderr, done.stderr
        assert str(out) in done.stderr
