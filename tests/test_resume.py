"""A run that is killed goes on, and ends with the same bytes as one that was not."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import pyarrow as pa
import pytest

from neardup.engines import Settings
from neardup.engines.common.matching import InFile
from neardup.engines.local.scratch import Part, Scratch
from neardup.errors import InputError, OutputError, UsageError
from neardup.job import dedup
from neardup.testing import web

FILES = ("pages.parquet", "pairs.parquet", "clusters.parquet")

#: A run that commits after every chunk and takes its time, so that a kill finds it at work.
SLOW = """
import sys, time
from neardup.engines import Settings
from neardup.job import dedup
from neardup.sources import gathering, jsonl
jsonl.BATCH_BYTES = gathering.ENOUGH = 1 << 16
loaded = jsonl.JsonLines._loaded
def slow(self, *parsed):
    time.sleep(0.01)
    return loaded(self, *parsed)
jsonl.JsonLines._loaded = slow
dedup(sys.argv[1], sys.argv[2], detector=sys.argv[3], settings=Settings(threads=2, commit_every=0),
      resume=len(sys.argv) > 4, overwrite=True)
"""


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("crawl") / "web.jsonl"
    web(seed=3, pages=1200).write_jsonl(path)
    return path


def start(crawl: Path, out: Path, detector: str, *more: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", SLOW, str(crawl), str(out), detector, *more])


def at_work(process: subprocess.Popen[bytes], out: Path) -> float:
    """When the run began to read: on a busy machine the interpreter alone may take seconds to start."""
    while not (out.parent / f".{out.name}.scratch" / "manifest.json").exists() and process.poll() is None:
        time.sleep(0.005)
    return time.monotonic()


def result_bytes(out: Path) -> dict[str, bytes]:
    return {name: (out / name).read_bytes() for name in FILES}


def told(out: Path) -> dict[str, object]:
    """``run.json`` but for what measures time and memory, and the checksum over that."""
    report: dict[str, object] = json.loads((out / "run.json").read_text())
    return {name: value for name, value in report.items() if name not in ("stages", "peak_memory", "checksum")}


def looked_at(out: Path) -> str:
    """``report.html`` but for the section that measures time and memory."""
    report = (out / "report.html").read_text(encoding="utf-8")
    without = re.sub(r'<section id="stages".*?</section>', "", report, flags=re.DOTALL)
    assert len(without) < len(report)
    return without


@pytest.mark.parametrize("detector", ["site-aware", "minhash"])
def test_killed_at_random_moments_it_ends_with_the_same_bytes(crawl: Path, tmp_path: Path, detector: str) -> None:
    whole = tmp_path / "whole"
    process = start(crawl, whole, detector)
    begun = at_work(process, whole)
    assert process.wait() == 0
    lasted = time.monotonic() - begun
    dice = random.Random(detector)
    out = tmp_path / "out"
    went_on = 0
    for _ in range(20):
        process = start(crawl, out, detector, "resume")
        at_work(process, out)
        time.sleep(lasted * dice.random())
        process.send_signal(signal.SIGKILL)
        process.wait()
        went_on += any(tmp_path.glob(".out.scratch/segment-*.json"))
        if out.exists():
            # The run ended before the kill came; begin anew.
            assert result_bytes(out) == result_bytes(whole)
    assert went_on > 2
    assert start(crawl, out, detector, "resume").wait() == 0
    assert result_bytes(out) == result_bytes(whole)
    assert told(out) == told(whole)
    assert looked_at(out) == looked_at(whole)
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def stopped(crawl: Path, tmp_path: Path, detector: str = "combined") -> Path:
    """A scratch folder with a few segments, as a killed run leaves it."""
    process = start(crawl, tmp_path / "out", detector)
    while len(list(tmp_path.glob(".out.scratch/segment-*.json"))) < 3:
        time.sleep(0.01)
        assert process.poll() is None
    process.kill()
    process.wait()
    return tmp_path / ".out.scratch"


def test_another_detector_is_refused_and_named(crawl: Path, tmp_path: Path) -> None:
    stopped(crawl, tmp_path)
    with pytest.raises(UsageError, match='detector "combined", this one has "exact"'):
        dedup(crawl, tmp_path / "out", detector="exact", resume=True)


def test_a_changed_input_is_refused_and_named(crawl: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.jsonl"
    copy.write_bytes(crawl.read_bytes())
    scratch = stopped(copy, tmp_path)
    with copy.open("ab") as file:
        file.write(b'{"id": "new", "text": "one more page"}\n')
    with pytest.raises(UsageError, match="the stopped run had files"):
        dedup(copy, tmp_path / "out", detector="combined", resume=True)
    assert scratch.exists()


@pytest.mark.parametrize("resume", [True, False])
def test_a_kill_while_the_scratch_folder_is_made_or_removed_does_no_harm(
    crawl: Path, tmp_path: Path, resume: bool
) -> None:
    scratch = stopped(crawl, tmp_path)
    (scratch / "manifest.json").rename(scratch / "manifest.json.tmp")
    (scratch / "segment-000000.arrow").unlink()
    dedup(crawl, tmp_path / "out", detector="exact", resume=resume)
    assert os.listdir(tmp_path) == ["out"]


def test_ctrl_c_while_the_scratch_folder_is_made_leaves_nothing(
    crawl: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its manifest is brought to the disk, which may take a while where others write."""

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("neardup.engines.local.scratch.write_json", interrupted)
    with pytest.raises(KeyboardInterrupt):
        dedup(crawl, tmp_path / "out", detector="minhash")
    assert not list(tmp_path.iterdir())


def test_without_resume_a_run_begins_anew(crawl: Path, tmp_path: Path) -> None:
    scratch = stopped(crawl, tmp_path)
    dedup(crawl, tmp_path / "out", detector="exact")
    assert not scratch.exists()


@pytest.mark.parametrize("damage", ["flip", "cut", "note", "gone"])
def test_a_damaged_segment_is_noticed_and_done_again(crawl: Path, tmp_path: Path, damage: str) -> None:
    whole = tmp_path / "whole"
    assert start(crawl, whole, "combined").wait() == 0
    scratch = stopped(crawl, tmp_path)
    data, note = scratch / "segment-000001.arrow", scratch / "segment-000001.json"
    content = bytearray(data.read_bytes())
    if damage == "flip":
        content[len(content) // 2] ^= 1
        data.write_bytes(content)
    elif damage == "cut":
        data.write_bytes(content[: len(content) // 2])
    elif damage == "note":
        note.write_text("{")
    else:
        data.unlink()
    manifest = json.loads((scratch / "manifest.json").read_text())
    assert len(Scratch.resume(scratch, manifest).tallies) == 1
    assert start(crawl, tmp_path / "out", "combined", "resume").wait() == 0
    assert result_bytes(tmp_path / "out") == result_bytes(whole)


class Stopped(Exception):
    """As a kill: nothing behind it is done."""


def matched_and_stopped(crawl: Path, out: Path, detector: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The scratch folder of a run that ended before its result was written."""

    def stop(*_: object, **__: object) -> None:
        raise Stopped

    with monkeypatch.context() as patched:
        patched.setattr("neardup.job.run.write_outcome", stop)
        with pytest.raises(Stopped):
            dedup(crawl, out, detector=detector, settings=Settings(commit_every=0))
    return out.parent / f".{out.name}.scratch"


@pytest.mark.parametrize("detector", ["site-aware", "minhash", "template-aware"])
def test_what_was_matched_before_a_kill_is_not_matched_again(
    crawl: Path, tmp_path: Path, detector: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    dedup(crawl, tmp_path / "whole", detector=detector)
    scratch = matched_and_stopped(crawl, tmp_path / "out", detector, monkeypatch)
    made = {path.name for path in scratch.glob("stage-*")}
    assert made == ({"stage-matching", "stage-statistics"} if detector == "template-aware" else {"stage-matching"})

    def again(*_: object) -> None:
        raise AssertionError("this was done before the kill")

    monkeypatch.setattr("neardup.engines.local.run.match", again)
    monkeypatch.setattr("neardup.engines.local.run.count", again)
    dedup(crawl, tmp_path / "out", detector=detector, resume=True)
    assert result_bytes(tmp_path / "out") == result_bytes(tmp_path / "whole")
    assert told(tmp_path / "out") == told(tmp_path / "whole")
    assert not scratch.exists()


@pytest.mark.parametrize("stage", ["matching", "statistics"])
@pytest.mark.parametrize("damage", ["flip", "cut", "empty"])
def test_a_damaged_stage_is_noticed_and_done_again(
    crawl: Path, tmp_path: Path, stage: str, damage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    dedup(crawl, tmp_path / "whole", detector="template-aware")
    file = matched_and_stopped(crawl, tmp_path / "out", "template-aware", monkeypatch) / f"stage-{stage}"
    content = bytearray(file.read_bytes())
    content[-9] ^= 1
    file.write_bytes(content if damage == "flip" else content[: len(content) // 2] if damage == "cut" else b"")
    dedup(crawl, tmp_path / "out", detector="template-aware", resume=True)
    assert result_bytes(tmp_path / "out") == result_bytes(tmp_path / "whole")


def test_matches_within_other_limits_are_made_again(
    crawl: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = Settings(hot=3)
    dedup(crawl, tmp_path / "whole", detector="site-aware", settings=few)
    matched_and_stopped(crawl, tmp_path / "out", "site-aware", monkeypatch)
    dedup(crawl, tmp_path / "out", detector="site-aware", settings=few, resume=True)
    assert result_bytes(tmp_path / "out") == result_bytes(tmp_path / "whole")
    assert told(tmp_path / "out")["rules"] == told(tmp_path / "whole")["rules"]
    assert any(rule["hot_buckets"] for rule in told(tmp_path / "out")["rules"])  # type: ignore[attr-defined]


def test_a_short_stage_is_not_committed(crawl: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save = Mock()
    monkeypatch.setattr("neardup.engines.local.matching.Matches.save", save)
    dedup(crawl, tmp_path / "out", detector="site-aware")
    assert not save.called


# Full while pages are read, and while the result of a run that has matched all is written.
@pytest.mark.parametrize(("size", "where"), [("64k", ".out.scratch/segment-"), ("1m", "out/")])
def test_a_full_disk_ends_the_run_and_room_lets_it_go_on(
    crawl: Path, tmp_path: Path, disk_of: Callable[[str], Path], size: str, where: str
) -> None:
    disk = disk_of(size)
    whole = tmp_path / "whole"
    assert start(crawl, whole, "combined").wait() == 0
    stopped = subprocess.run(
        [sys.executable, "-c", SLOW, crawl, disk / "out", "combined"], capture_output=True, text=True
    )
    assert stopped.returncode == 1
    assert f"No space left on device ({disk / where}" in stopped.stderr
    assert os.listdir(disk) == [".out.scratch"]
    assert list(disk.glob(".out.scratch/segment-*.json"))
    disk_of("64m")
    assert start(crawl, disk / "out", "combined", "resume").wait() == 0
    assert result_bytes(disk / "out") == result_bytes(whole)
    assert told(disk / "out") == told(whole)
    assert looked_at(disk / "out") == looked_at(whole)
    assert os.listdir(disk) == ["out"]


def test_files_that_may_not_grow_are_as_a_full_disk(crawl: Path, tmp_path: Path) -> None:
    """For those who cannot mount one."""
    whole = tmp_path / "whole"
    assert start(crawl, whole, "combined").wait() == 0
    # No file may grow beyond 40 kB: the first segments fit, the result does not.
    limited = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000))\n" + SLOW
    limited = limited.replace("resume=len(sys.argv) > 4", "resume=False")
    process = subprocess.run(
        [sys.executable, "-c", limited, str(crawl), str(tmp_path / "out"), "combined"], capture_output=True
    )
    assert process.returncode == 1
    assert b"cannot be written" in process.stderr
    assert not (tmp_path / "out").exists()
    assert list(tmp_path.glob(".out.scratch/segment-*.json"))
    assert start(crawl, tmp_path / "out", "combined", "resume").wait() == 0
    assert result_bytes(tmp_path / "out") == result_bytes(whole)


def test_a_folder_that_is_no_scratch_folder_is_left_alone(crawl: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "thesis.txt").write_text("years of work")
    with pytest.raises(Exception, match="not a scratch folder"):
        dedup(crawl, tmp_path / "out", detector="exact", scratch=mine)
    assert (mine / "thesis.txt").exists()
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("detector", ["minhash", "site-aware", "template-aware"])
@pytest.mark.parametrize("keep", ["first", "most-linked"])
def test_parts_that_went_to_disk_give_the_same_bytes(
    crawl: Path, tmp_path: Path, detector: str, keep: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("neardup.sources.jsonl.BATCH_BYTES", 1 << 16)
    monkeypatch.setattr("neardup.sources.gathering.ENOUGH", 1)
    committed = []
    commit, put_lists = Scratch.commit, Scratch.put_lists
    later = []
    taken = 0

    def watched(self: Scratch) -> None:
        nonlocal taken
        taken = max(taken, sum(path.stat().st_size for path in self.folder.iterdir()))

    def watched_commit(self: Scratch, parts: Sequence[Part]) -> None:
        committed.append(len(parts))
        commit(self, parts)
        watched(self)

    def watched_put(self: Scratch, name: str, batches: Iterable[pa.LargeListArray]) -> InFile:
        later.append(name)
        put = put_lists(self, name, batches)
        watched(self)
        return put

    monkeypatch.setattr(Scratch, "commit", watched_commit)
    monkeypatch.setattr(Scratch, "put_lists", watched_put)
    roomy = Settings(keep=keep, commit_every=1e9)  # type: ignore[arg-type]
    dedup(crawl, tmp_path / "held", detector=detector, settings=roomy)
    assert committed == []
    # An eighth of a megabyte may be held at a time.
    needed: list[int] = []
    monkeypatch.setattr("neardup.job.run.check_room", lambda folder, bytes: needed.append(bytes))
    dedup(crawl, tmp_path / "spilled", detector=detector, settings=replace(roomy, memory=1 << 18))
    assert len(committed) > 2
    # Sets that had to wait for what is counted of the collection went to disk as well.
    assert len(later) == (1 if detector == "template-aware" else 0)
    # There was room for it.
    assert 0 < taken <= needed[0]
    assert result_bytes(tmp_path / "held") == result_bytes(tmp_path / "spilled")


def test_nothing_is_left_behind(crawl: Path, tmp_path: Path) -> None:
    dedup(crawl, tmp_path / "out", detector="exact", settings=Settings(commit_every=0))
    assert os.listdir(tmp_path) == ["out"]


#: A run that is killed when its result has taken its place, before anything else.
KILLED = """
import os, signal, sys
from neardup.cli.main import main
from neardup.sinks import folder
put = folder._put_in_place
def put_and_die(*arguments):
    put(*arguments)
    os.kill(os.getpid(), signal.SIGKILL)
folder._put_in_place = put_and_die
main()
"""


@pytest.mark.parametrize("more", [[], ["--store"], ["--certify"]], ids=" ".join)
def test_a_run_that_was_killed_with_its_result_in_place_ends_with_it(
    crawl: Path, tmp_path: Path, more: list[str]
) -> None:
    command = ["dedup", str(crawl), "--out", str(tmp_path / "out"), "--detector", "combined", *more]
    assert subprocess.run([sys.executable, "-c", KILLED, *command]).returncode == -signal.SIGKILL
    assert os.listdir(tmp_path) == ["out"]
    before = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    for _ in range(2):
        done = subprocess.run([sys.executable, "-m", "neardup", *command, "--resume"], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert "1200" in done.stdout.replace(",", "")
        assert os.listdir(tmp_path) == ["out"]
        assert {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()} == before


def test_a_finished_run_of_other_options_or_another_input_is_not_gone_on_with(crawl: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.jsonl"
    copy.write_bytes(crawl.read_bytes())
    dedup(copy, tmp_path / "out", detector="combined")
    assert dedup(copy, tmp_path / "out", detector="combined", resume=True).pages.num_rows == 1200
    with pytest.raises(OutputError, match="a run of the same input with the same options has finished there"):
        dedup(copy, tmp_path / "out", detector="combined")
    for other in ({"detector": "exact"}, {"detector": "combined", "store": True}):
        with pytest.raises(OutputError, match="another run has finished there"):
            dedup(copy, tmp_path / "out", resume=True, **other)  # type: ignore[arg-type]
    lines = copy.read_bytes()
    for changed in (lines.replace(b"the", b"teh"), lines + lines[: lines.index(b"\n") + 1]):
        copy.write_bytes(changed)
        with pytest.raises(InputError, match=r"the input has changed since .*copy.jsonl"):
            dedup(copy, tmp_path / "out", detector="combined", resume=True)
