"""Measures commands from outside: wall clock, CPU seconds and peak memory of the whole process tree.

Start-up is included. Sides take turns, and every second round goes in the opposite order, so that a machine that
slows down or warms up favours neither; the median counts, and the spread is shown.
"""

from __future__ import annotations

import os
import resource
import signal
import statistics
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

_SAMPLE_SECONDS: Final = 0.05


@dataclass(frozen=True)
class Run:
    """One measurement. ``trouble`` says why it does not count."""

    seconds: float
    cpu_seconds: float
    #: Resident bytes summed over the tree, sampled; memory that processes share counts in each of them.
    peak_bytes: int
    #: CPU seconds that the rest of the machine used meanwhile.
    foreign_seconds: float
    trouble: str | None = None


@dataclass(frozen=True)
class Summary:
    """The runs of one side."""

    runs: tuple[Run, ...]

    @property
    def good(self) -> list[Run]:
        return [run for run in self.runs if run.trouble is None]

    @property
    def trouble(self) -> str | None:
        """Why there is nothing to compare; one failure is enough, for a failing command is not a fast one."""
        return next((run.trouble for run in self.runs if run.trouble), None if self.runs else "not run")

    def median(self, what: str = "seconds") -> float:
        return statistics.median(getattr(run, what) for run in self.good)

    def spread(self) -> str:
        """The shortest and the longest run."""
        seconds = [run.seconds for run in self.good]
        return f"{min(seconds):.2f}–{max(seconds):.2f}"

    def record(self) -> list[dict[str, Any]]:
        return [asdict(run) for run in self.runs]


def measure(
    command: Sequence[str | Path],
    log: Path,
    *,
    limit_seconds: float = 3600,
    limit_bytes: int | None = None,
    environment: Mapping[str, str] | None = None,
) -> Run:
    """Runs a command to its end, or to a limit; its output goes to ``log``."""
    limit_bytes = limit_bytes or int(0.8 * machine_memory())
    busy = _busy_seconds()
    with open(log, "wb") as output:
        start = time.perf_counter()
        process = subprocess.Popen(
            [os.fspath(part) for part in command],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**os.environ, **(environment or {})},
            # A group of its own, so that a limit ends all that belongs to it and nothing else.
            start_new_session=True,
        )
        watch = _Watch(process.pid, start, limit_seconds, limit_bytes)
        watch.start()
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    watch.stop()
    # The system counts only descendants that were waited for; servers of worker processes often are not.
    cpu = max(usage.ru_utime + usage.ru_stime, sum(watch.cpu.values()))
    trouble = watch.ended_for
    if trouble is None and process.returncode != 0:
        trouble = f"failed with {process.returncode}: {_last_lines(log)}"
    # What the system tells is at least what this process had when it started the other.
    told = usage.ru_maxrss if usage.ru_maxrss > resource.getrusage(resource.RUSAGE_SELF).ru_maxrss else 0
    peak = max(watch.peak, told * 1024)
    return Run(seconds, cpu, peak, max(0.0, _busy_seconds() - busy - cpu), trouble)


def alternate(
    sides: Mapping[str, Callable[[], Run]], rounds: int, say: Callable[[str], object] = print
) -> dict[str, Summary]:
    """Every side ``rounds`` times, in turns; a side that failed is not tried again.

    >>> order = []
    >>> run = lambda name: lambda: order.append(name) or Run(1.0, 1.0, 0, 0.0)
    >>> alternate({"ours": run("ours"), "peer": run("peer")}, 3, say=len)["ours"].median()
    1.0
    >>> order
    ['ours', 'peer', 'peer', 'ours', 'ours', 'peer']
    """
    runs: dict[str, list[Run]] = {name: [] for name in sides}
    for number in range(rounds):
        for name in list(sides)[:: 1 if number % 2 == 0 else -1]:
            if not any(run.trouble for run in runs[name]):
                runs[name].append(sides[name]())
                said = runs[name][-1]
                say(f"  {name}: {said.trouble or f'{said.seconds:.2f} s'}")
    return {name: Summary(tuple(done)) for name, done in runs.items()}


class _Watch(threading.Thread):
    """Samples the memory of a process tree, and ends it beyond a limit."""

    def __init__(self, root: int, start: float, limit_seconds: float, limit_bytes: int) -> None:
        super().__init__(daemon=True)
        self.root, self.begun = root, start
        self.limit_seconds, self.limit_bytes = limit_seconds, limit_bytes
        self.peak = 0
        #: CPU seconds of every process of the tree when it was last seen.
        self.cpu: dict[int, float] = {}
        self.ended_for: str | None = None
        self._done = threading.Event()

    def run(self) -> None:
        while not self._done.wait(_SAMPLE_SECONDS):
            tree = _tree(self.root)
            resident = sum(_resident(process) for process in tree)
            self.cpu.update({process: seconds for process in tree if (seconds := _cpu(process)) is not None})
            self.peak = max(self.peak, resident)
            if resident > self.limit_bytes:
                self._end(f"ended: more than {self.limit_bytes / 1e9:g} GB of memory")
            elif time.perf_counter() - self.begun > self.limit_seconds:
                self._end(f"ended: more than {self.limit_seconds:g} s")

    def _end(self, why: str) -> None:
        try:
            os.killpg(self.root, signal.SIGKILL)
        except ProcessLookupError:
            return
        self.ended_for = why
        self._done.set()

    def stop(self) -> None:
        self._done.set()
        self.join()


def _tree(root: int) -> list[int]:
    """A process and its descendants; one that ends meanwhile is left out."""
    found, waiting = [], [root]
    while waiting:
        process = waiting.pop()
        found.append(process)
        try:
            for task in os.listdir(f"/proc/{process}/task"):
                with open(f"/proc/{process}/task/{task}/children", encoding="ascii") as children:
                    waiting.extend(int(child) for child in children.read().split())
        except OSError:
            continue
    return found


def _resident(process: int) -> int:
    try:
        with open(f"/proc/{process}/statm", encoding="ascii") as memory:
            return int(memory.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def _cpu(process: int) -> float | None:
    try:
        with open(f"/proc/{process}/stat", encoding="utf-8", errors="replace") as stat:
            # The name, in brackets, may hold anything; user and system ticks are the 12th and 13th behind it.
            fields = stat.read().rpartition(")")[2].split()
    except OSError:
        return None
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _busy_seconds() -> float:
    """CPU seconds of all processes since the machine started; 0 where the system does not tell."""
    try:
        with open("/proc/stat", encoding="ascii") as stat:
            user, nice, system, _idle, _wait, hard, soft, *_ = map(int, stat.readline().split()[1:])
    except OSError:
        return 0.0
    return (user + nice + system + hard + soft) / os.sysconf("SC_CLK_TCK")


def machine_memory() -> int:
    """Bytes of memory of this machine."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _last_lines(log: Path) -> str:
    lines = [line.strip() for line in log.read_text(errors="replace").splitlines() if line.strip()]
    return " / ".join(lines[-2:])[:400] if lines else "it said nothing"
