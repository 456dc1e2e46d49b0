"""What a person sees while a run goes on: bars on a terminal, a plain line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from threading import Thread
from typing import Any, TypeVar

from neardup.engines.common.progress import Progress, Silent

Done = TypeVar("Done")


def display(quiet: bool) -> Progress:
    """The right display for where standard error goes."""
    if quiet:
        return Silent()
    return Bars() if sys.stderr.isatty() else Lines()


def patiently(stage: str, work: Callable[[], Done]) -> Done:
    """Does what takes long and cannot say how far it is. On a terminal one sees that it goes on, and Ctrl-C ends it.

    >>> patiently("counting", lambda: sum(range(5)))
    10
    """
    progress = display(quiet=not sys.stderr.isatty())
    done: Future[Done] = Future()

    def run() -> None:
        try:
            done.set_result(work())
        except BaseException as error:
            done.set_exception(error)

    progress.begin(stage)
    try:
        # Signals reach Python only where its main thread does not wait for the core.
        Thread(target=run, name=f"neardup-{stage}", daemon=True).start()
        return done.result()
    finally:
        progress.end()


def failing() -> bool:
    """Whether a stage ends because an error is on its way through it: it is then not to be shown as done.

    >>> failing()
    False
    """
    return sys.exc_info()[0] is not None


class Lines:
    """A line when a stage ends, and every ten seconds while one goes on."""

    EVERY = 10.0

    def begin(self, stage: str, total_bytes: int | None = None, unit: str = "pages") -> None:
        self.stage, self.total, self.unit = stage, total_bytes, unit
        self.pages = self.nbytes = 0
        self.started = self.said = time.monotonic()

    def advance(self, pages: int, nbytes: int) -> None:
        self.pages += pages
        self.nbytes += nbytes
        if time.monotonic() - self.said >= self.EVERY:
            self.said = time.monotonic()
            share = f", {100 * self.nbytes / self.total:.0f} %" if self.total else ""
            self._say(f"{self.stage}: {self._done()}{share}")

    def end(self) -> None:
        seconds = time.monotonic() - self.started
        done = f" {self._done()}," if self.pages else ""
        self._say(f"{self.stage}:{done} {seconds:.1f} s{', not finished' if failing() else ''}")

    def _done(self) -> str:
        seconds = max(time.monotonic() - self.started, 1e-3)
        if self.unit != "pages":
            return f"{self.pages:,} {self.unit}, {self.pages / seconds:,.0f} {self.unit}/s"
        rate = self.pages / seconds
        return (
            f"{self.pages:,} pages, {self.nbytes / 1e6:,.1f} MB, "
            f"{rate:,.{0 if rate >= 10 else 1}f} pages/s, {self.nbytes / 1e6 / seconds:,.1f} MB/s"
        )

    def _say(self, text: str) -> None:
        # A run does not fail because nobody listens any more.
        with suppress(BrokenPipeError):
            print(text, file=sys.stderr, flush=True)


class Bars:
    """One bar a stage: pages, bytes, rate, time left."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            DownloadColumn,
            Progress,
            SpinnerColumn,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )

        self._console = Console(stderr=True)
        self._columns = [
            SpinnerColumn(finished_text="[green]✓"),
            TextColumn("{task.description:<11}"),
            BarColumn(bar_width=24),
            TextColumn("{task.fields[pages]}"),
            DownloadColumn(),
            TextColumn("{task.fields[rate]}"),
            TimeElapsedColumn(),
            TimeRemainingColumn(compact=True),
        ]
        self._short = [
            SpinnerColumn(finished_text="[green]✓"),
            TextColumn("{task.description:<11}"),
            BarColumn(bar_width=24),
            TimeElapsedColumn(),
        ]
        self._counting = [*self._short[:3], TextColumn("{task.fields[pages]}"), TimeElapsedColumn()]
        self._make = Progress
        self._bar: Any = None

    def begin(self, stage: str, total_bytes: int | None = None, unit: str = "pages") -> None:
        self._reads = stage in ("reading", "rendering") or unit != "pages"
        self._unit = unit
        columns = self._counting if unit != "pages" else self._columns if self._reads else self._short
        self._bar = self._make(*columns, console=self._console)
        self._pages = self._nbytes = 0
        self._started = time.monotonic()
        self._task = self._bar.add_task(stage, total=total_bytes, pages="", rate="")
        self._bar.start()

    def advance(self, pages: int, nbytes: int) -> None:
        self._pages += pages
        self._nbytes += nbytes
        # The mean since the stage began: rich's own rate needs two reports, and a short run makes only one.
        rate = self._nbytes / 1e6 / max(time.monotonic() - self._started, 1e-3)
        self._bar.update(self._task, advance=nbytes, pages=f"{self._pages:,} {self._unit}", rate=f"{rate:,.1f} MB/s")

    def end(self) -> None:
        if failing():
            self._bar.stop()
            return
        task = self._bar.tasks[0]
        done = task.completed if self._reads and task.completed else 1
        self._bar.update(self._task, total=done, completed=done)
        self._bar.stop()
