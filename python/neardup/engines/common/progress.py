"""The stages of a run: who follows their progress, and the seconds and memory that each took.

The command line shows them; the library is silent.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any, Protocol

from neardup.record import record


class Progress(Protocol):
    """Receives each stage as it begins, and the progress within it."""

    def begin(self, stage: str, total_bytes: int | None = None, unit: str = "pages") -> None:
        """A stage begins; ``total_bytes`` is how much there is to read, where that is known. Where other things than
        pages are counted, ``unit`` names them, and they stand in for bytes."""
        ...

    def advance(self, pages: int, nbytes: int) -> None:
        """So much more was done."""
        ...

    def end(self) -> None:
        """The stage that began last is over."""
        ...


class Silent:
    """Says nothing.

    >>> Silent().begin("reading")
    """

    def begin(self, stage: str, total_bytes: int | None = None, unit: str = "pages") -> None:
        pass

    def advance(self, pages: int, nbytes: int) -> None:
        pass

    def end(self) -> None:
        pass


@record(frozen=True, slots=True)
class Stage:
    name: str
    seconds: float
    #: Peak resident bytes while the stage ran; None where the system does not tell.
    peak_memory: int | None


class Stopwatch:
    """Times stages and tells a progress display of them.

    >>> watch = Stopwatch(Silent())
    >>> with watch.stage("reading"):
    ...     pass
    >>> watch.stages[0].name
    'reading'
    """

    def __init__(self, progress: Progress) -> None:
        self.progress = progress
        self.stages: list[Stage] = []

    @contextmanager
    def stage(self, name: str, total_bytes: int | None = None) -> Iterator[None]:
        self.progress.begin(name, total_bytes)
        _forget_peak()
        start = time.perf_counter()
        try:
            yield
        finally:
            self.progress.end()
        self.stages.append(Stage(name, time.perf_counter() - start, peak_memory()))


def peak_memory() -> int | None:
    """Peak resident bytes of this process, since the last stage began where the system can tell.

    >>> (peak_memory() or 1) > 0
    True
    """
    try:
        with open("/proc/self/status", encoding="ascii") as status:
            for line in status:
                if line.startswith("VmHWM:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    try:
        import resource
    except ImportError:
        return None
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _forget_peak() -> None:
    try:
        with open("/proc/self/clear_refs", "w", encoding="ascii") as control:
            control.write("5")
    except OSError:
        pass


def highest(measured: list[dict[str, Any]]) -> int:
    """The most memory that one of these stages took, as ``run.json`` tells them.

    >>> highest([{"peak_memory": 5}, {"peak_memory": None}])
    5
    """
    return max((stage["peak_memory"] or 0 for stage in measured), default=0)


def stages(done: list[Stage]) -> list[dict[str, object]]:
    """The stages as ``run.json`` tells them.

    >>> stages([Stage("reading", 1.23456, None)])
    [{'name': 'reading', 'seconds': 1.235, 'peak_memory': None}]
    """
    return [asdict(stage) | {"seconds": round(stage.seconds, 3)} for stage in done]
