"""Runs that end early or talk to something else than a file: signals, pipes that close, terminals, odd streams."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

PROGRAM = [sys.executable, "-m", "neardup"]


#: What a program is ended by, and what a shell has it ignore in the background, or nohup.
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def treating(signals: Iterable[signal.Signals], how: signal.Handlers) -> Iterator[None]:
    """What is started in the block begins with these signals ignored, or not: a program inherits that."""
    before = {number: signal.signal(number, how) for number in signals}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def start(*args: str | Path, ignored: Iterable[signal.Signals] = (), **options: Any) -> subprocess.Popen[bytes]:
    """A call of the program, as from a terminal wherever these tests were started, but for signals that are ignored."""
    command = [*PROGRAM, *map(str, args)]
    with treating(SIGNALS, signal.SIG_DFL), treating(ignored, signal.SIG_IGN):
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)


def run(*args: str | Path) -> tuple[bytes, bytes]:
    """What a call that goes well says on its two streams."""
    started = start(*args, env=os.environ | {"PYTHONFAULTHANDLER": "1"})
    try:
        said = started.communicate(timeout=120)
    except subprocess.TimeoutExpired:
        # One that hangs tells where.
        started.send_signal(signal.SIGABRT)
        said = started.communicate()
    assert started.returncode == 0, b"\n".join(said).decode()
    return said


def wait_for(pattern: str, folder: Path) -> None:
    """Waits until a file of that name pattern is there."""
    for _ in range(3000):
        if any(folder.glob(pattern)):
            return
        time.sleep(0.01)
    raise AssertionError(f"{pattern} did not appear")


def left(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if "out" in path.name)


def lines(count: int, words: int = 300) -> bytes:
    """Pages of which no two are alike."""
    made = ({"id": f"p{at}", "text": " ".join(f"w{at}x{word}" for word in range(words))} for at in range(count))
    return "".join(json.dumps(line) + "\n" for line in made).encode()


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pages") / "pages.jsonl"
    path.write_bytes(lines(200, 100))
    return path


@pytest.fixture
def half_way(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A run that has read some pages and waits for more of them."""
    started = start("dedup", "-", "-o", tmp_path / "out", "--format", "jsonl", stdin=subprocess.PIPE)
    assert started.stdin is not None
    started.stdin.write(lines(3000))
    started.stdin.flush()
    wait_for(".out.*.partial", tmp_path)
    time.sleep(0.3)
    yield started
    started.kill()
    started.communicate()


# Signals


def test_ctrl_c_leaves_nothing(half_way: subprocess.Popen[bytes], tmp_path: Path) -> None:
    half_way.send_signal(signal.SIGINT)
    out, said = half_way.communicate(timeout=30)
    assert (half_way.returncode, out) == (130, b"")
    assert b"interrupted; nothing was left" in said
    assert b"Traceback" not in said
    assert left(tmp_path) == []


def test_ctrl_c_while_all_threads_work(tmp_path: Path) -> None:
    block = lines(2000)
    with (tmp_path / "big.jsonl").open("wb") as file:
        for _ in range(15):
            file.write(block)
    slow = ["-d", "broder(rabin=True)", "--token-hash", "rabin"]
    started = start("dedup", tmp_path / "big.jsonl", "-o", tmp_path / "out", *slow)
    wait_for(".out.*.partial", tmp_path)
    time.sleep(0.4)
    started.send_signal(signal.SIGINT)
    out, said = started.communicate(timeout=30)
    assert (started.returncode, out) == (130, b"")
    assert b"not finished" in said
    assert b"Traceback" not in said
    assert left(tmp_path) == []


def test_ctrl_c_says_what_an_index_keeps(tmp_path: Path, pages: Path) -> None:
    run("index", "create", tmp_path / "seen", "--detector", "minhash")
    started = start("index", "add", tmp_path / "seen", "-", "--format", "jsonl", stdin=subprocess.PIPE)
    assert started.stdin is not None
    started.stdin.write(lines(3000))  # more than a pipe holds: when it is through, pages are being added
    started.stdin.flush()
    time.sleep(2)
    started.send_signal(signal.SIGINT)
    _, said = started.communicate(timeout=30)
    assert started.returncode == 130
    assert b"interrupted; the index is whole, and what was added or removed so far stays" in said
    assert b"sound" in run("index", "verify", tmp_path / "seen")[0]


def test_ctrl_c_ends_a_run_wherever_the_tests_were_started(tmp_path: Path) -> None:
    """Tests in the background of a shell, or under nohup, would hand on that they ignore signals."""
    with treating(SIGNALS, signal.SIG_IGN):
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)):
            started = start("dedup", "-", "-o", tmp_path / "out", "--format", "jsonl", stdin=subprocess.PIPE)
            wait_for(".out.*.partial", tmp_path)
            time.sleep(0.3)
            started.send_signal(number)
            started.communicate(timeout=30)
            assert started.returncode == code
            assert left(tmp_path) == []


def test_a_run_goes_on_where_signals_are_ignored(tmp_path: Path) -> None:
    """So a user has it who starts it in the background, or under nohup."""
    whole = lines(3000)
    started = start(
        "dedup", "-", "-o", tmp_path / "out", "--format", "jsonl", "-q", ignored=SIGNALS, stdin=subprocess.PIPE
    )
    wait_for(".out.*.partial", tmp_path)
    time.sleep(0.3)
    for number in SIGNALS:
        started.send_signal(number)
    assert started.communicate(whole, timeout=120) == (b"", b"")
    assert started.returncode == 0
    assert (tmp_path / "out" / "run.json").exists()


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_a_request_to_end_cleans_up_too(name: str, half_way: subprocess.Popen[bytes], tmp_path: Path) -> None:
    number = getattr(signal, name)
    half_way.send_signal(number)
    _, said = half_way.communicate(timeout=30)
    assert half_way.returncode == 128 + number
    assert b"Traceback" not in said
    assert said.endswith(b"asked to end; nothing was left under the final names\n")
    assert left(tmp_path) == []


def test_a_killed_run_leaves_nothing_under_the_final_name(
    half_way: subprocess.Popen[bytes], tmp_path: Path, pages: Path
) -> None:
    half_way.kill()
    half_way.communicate(timeout=30)
    assert half_way.returncode == -signal.SIGKILL
    assert not (tmp_path / "out").exists()
    assert run("dedup", pages, "-o", tmp_path / "out", "-q") == (b"", b"")
    assert (tmp_path / "out" / "run.json").exists()


def test_an_interrupted_run_leaves_the_old_result(tmp_path: Path, pages: Path) -> None:
    run("dedup", pages, "-o", tmp_path / "out", "-q")
    before = (tmp_path / "out" / "run.json").read_bytes()
    started = start("dedup", "-", "-o", tmp_path / "out", "--overwrite", stdin=subprocess.PIPE)
    wait_for(".out.*.partial", tmp_path)
    time.sleep(0.1)
    started.send_signal(signal.SIGINT)
    started.communicate(timeout=30)
    assert started.returncode == 130
    assert (tmp_path / "out" / "run.json").read_bytes() == before
    assert left(tmp_path) == ["out"]


# Pipes and streams


@pytest.mark.parametrize("verb", ["tokens", "tokens --json", "show", "show --json", "plan", "detectors"])
def test_a_reader_that_goes_away_is_no_failure(verb: str, tmp_path: Path, pages: Path) -> None:
    call = verb.split()
    if call[0] == "tokens":
        (tmp_path / "big.html").write_text("<p>" + "word " * 100_000)
        call.append(str(tmp_path / "big.html"))
    elif call[0] == "show":
        run("dedup", pages, "-o", tmp_path / "out", "-q")
        call.append(str(tmp_path / "out"))
    reading, writing = os.pipe()
    started = subprocess.Popen([*PROGRAM, *call], stdout=writing, stderr=subprocess.PIPE)
    os.close(writing)
    if call[0] == "tokens":
        assert os.read(reading, 1) in (b"w", b"{")
    os.close(reading)
    assert started.communicate(timeout=30)[1] == b""
    assert started.returncode == 0


def test_a_run_goes_on_when_nobody_reads_its_progress(tmp_path: Path, pages: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [*PROGRAM, "dedup", str(pages), "-o", str(tmp_path / "out")]
    done = subprocess.run(command, stderr=writing, stdout=subprocess.PIPE, timeout=30)
    os.close(writing)
    assert done.returncode == 0
    assert (tmp_path / "out" / "run.json").exists()


def test_standard_output_that_is_full_is_told_once(tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full here")
    (tmp_path / "a.html").write_text("<p>one")
    for call in (["tokens", str(tmp_path / "a.html")], ["plan"], ["detectors", "--json"]):
        with open("/dev/full", "w") as full:
            done = subprocess.run([*PROGRAM, *call], stdout=full, stderr=subprocess.PIPE, text=True, timeout=30)
        assert (done.returncode, done.stderr) == (1, "neardup: No space left on device\n")


@pytest.mark.parametrize(
    ("call", "code"),
    [("tokens - <&-", 0), ("tokens a.html >&-", 0), ("tokens a.html 2>&-", 0), ("dedup - -o out <&-", 1)],
)
def test_closed_streams(call: str, code: int, tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("<p>one")
    command = f'"{sys.executable}" -m neardup {call}'
    done = subprocess.run(["sh", "-c", command], cwd=tmp_path, capture_output=True, text=True, timeout=30)
    assert done.returncode == code
    assert "Traceback" not in done.stderr
    assert "unexpected" not in done.stderr
    assert left(tmp_path) == []


def test_a_terminal_that_is_not_utf8_gets_what_it_can_show(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("<p>naïve 😀 日本", encoding="utf-8")
    ascii_only = os.environ | {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    told, plan = (
        subprocess.run([*PROGRAM, *call], cwd=tmp_path, env=ascii_only, capture_output=True, timeout=30)
        for call in (["tokens", "a.html", "--json", "--charset", "utf-8"], ["plan"])
    )
    assert json.loads(told.stdout.decode("ascii"))["terms"] == ["naïve", "日本"]
    assert plan.returncode == 0


# Progress


def test_progress_is_plain_lines_where_there_is_no_terminal(tmp_path: Path, pages: Path) -> None:
    out, said = run("dedup", pages, "-o", tmp_path / "out")
    told = said.decode()
    assert re.match(r"reading: 200 pages, [\d.]+ MB, [\d,]+ pages/s, [\d.,]+ MB/s, [\d.]+ s\n", told)
    assert [line.split(":")[0] for line in told.splitlines()] == [
        "reading", "matching", "clustering", "writing", "report",
    ]  # fmt: skip
    assert "\x1b" not in told + out.decode()


def test_quiet_says_nothing(tmp_path: Path, pages: Path) -> None:
    assert run("dedup", pages, "-o", tmp_path / "out", "--quiet") == (b"", b"")


@pytest.mark.parametrize("fails", [False, True])
def test_progress_is_bars_on_a_terminal(fails: bool, tmp_path: Path, pages: Path) -> None:
    """A stage that fails is not ticked off."""
    given = pages
    if fails:
        given = tmp_path / "in.jsonl"
        given.write_bytes(lines(10) + b"{\n")
    ours, theirs = pty.openpty()
    environment = os.environ | {"TERM": "xterm", "COLUMNS": "150"}
    command = [*PROGRAM, "dedup", str(given), "-o", str(tmp_path / "out"), "--strict"]
    started = subprocess.Popen(command, stderr=theirs, stdout=subprocess.DEVNULL, env=environment)
    os.close(theirs)
    seen = b""
    while True:
        try:
            more = os.read(ours, 65536)
        except OSError:  # what Linux answers once the other side has closed
            break
        if not more:
            break
        seen += more
    os.close(ours)
    assert started.wait(timeout=30) == fails
    told = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", seen.decode())
    if fails:
        assert "✓" not in told
        assert "line 11" in told
    else:
        assert re.search(r"✓ reading .* 200 pages .*kB [\d.]+ MB/s", told)
        assert all(f"✓ {stage}" in told for stage in ("matching", "clustering", "writing"))


@pytest.mark.parametrize("module", ["click", "neardup.cli.main", "neardup.errors"])
def test_ctrl_c_while_the_program_is_imported(module: str) -> None:
    """Wherever in its imports it comes; that is most of the first tenth of a second."""
    program = f"""
import sys
class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupting())
from neardup.cli import program
program()
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted; nothing was written\n")


def test_what_breaks_because_the_program_ends_is_no_error() -> None:
    """A run on Spark that is asked to end: its connection breaks while it unwinds, with an error of its own."""
    program = """
import os, signal, click
from neardup.cli import main as cli
@cli.application.command("dummy")
def dummy():
    try:
        os.kill(os.getpid(), signal.SIGTERM)
        signal.pause()
    except SystemExit:
        raise RuntimeError("Answer from Java side is empty")
cli.Verbs.get_command = lambda *_: dummy
import sys
sys.argv = ["neardup", "dummy"]
cli.main()
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    said = "asked to end; nothing was left under the final names\n"
    assert (done.returncode, done.stdout, done.stderr) == (128 + signal.SIGTERM, "", said)
