"""The commands of ``sh`` blocks: what the documentation tells a reader to type, without an output to compare.

They run in order, in the folder of the page, and must end well. A command that goes on until it is stopped (a
service, an application) is started, and is there for what follows until the next such command, or the end of the
page; then it is asked to end, and must. A few cannot run anywhere but at the reader's: ``NOT_RUN`` says which, and
why; what is left out is printed.

What a page takes for granted (a crawl, some pages) is made by an invisible comment, which runs in its place:

    <!-- setup
    neardup demo --pages 150 --out demo > demo.txt 2>&1
    -->
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from pathlib import Path
from typing import Final

from neardup.errors import MissingExtra
from neardup.render.pool import find_browser

#: Commands that are not run, and why.
NOT_RUN: Final = {
    r"(pip|apt-get) install ": "it installs something",
    r"make ": "it builds, or runs these tests",
    r"chromium ": "it opens a window",
    r"python tools/many_signals\.py ": "it takes an hour, and data that is not here",
    r"neardup dedup .*--master spark://": "it needs a cluster",
    r"neardup render (https:|--urls )": "it needs the web",
}
_RENDERS: Final = re.compile(r"neardup render ")
_SERVES: Final = re.compile(r"neardup (serve|ui) |neardup testing web .*--serve")
#: A server has begun when it says where it is.
_THERE: Final = re.compile(r"https?://\S+")
_SECONDS: Final = 60.0
#: How a program ends that was asked to: well, or by the signal.
_ENDED: Final = (0, -signal.SIGTERM, 128 + signal.SIGTERM)


def commands(block: str) -> list[str]:
    r"""The commands of a block, without what only speaks to the reader; lines that go on are one.

    >>> commands("# first\nneardup demo   # small\npython -c 'print(1)' \\\n    --more\n")
    ['neardup demo', "python -c 'print(1)' --more"]
    """
    joined = re.sub(r"\\\n\s*", "", block)
    lines = (re.sub(r"(^|\s)#\s.*$", "", line).strip() for line in joined.splitlines())
    return [line for line in lines if line]


def browser_program() -> str | None:
    """The browser that `neardup render` takes by itself: the one without a window, where it is installed."""
    try:
        return find_browser(os.environ.get("CHROMIUM"))
    except MissingExtra:
        return None


def _without_a_browser() -> str | None:
    return None if browser_program() else "no Chromium is installed"


def why_not_run(command: str) -> str | None:
    """Why a command is left out; None if it runs.

    >>> why_not_run("pip install 'neardup[ui]'"), why_not_run("neardup dedup pages.jsonl --out result")
    ('it installs something', None)
    """
    for pattern, reason in NOT_RUN.items():
        if re.match(pattern, command):
            return reason
    return _without_a_browser() if _RENDERS.match(command) else None


def as_run(command: str) -> str:
    """The command as it runs here: by the browser that tests have, which has no sandbox for the superuser."""
    options = f"--browser {browser_program()} {'--no-sandbox ' if os.geteuid() == 0 else ''}"
    return _RENDERS.sub(f"neardup render {options}", command)


class Server:
    """A command that goes on, started; its output is a file of the folder."""

    def __init__(self, command: str, folder: Path, environment: dict[str, str]) -> None:
        self.command, self._said = command, folder / ".server.txt"
        with open(self._said, "wb") as said:
            self._process = subprocess.Popen(
                ["bash", "-c", f"exec {command}" if command.startswith("neardup") else command],
                cwd=folder, env=environment | {"BROWSER": "true"}, stdin=subprocess.DEVNULL, stdout=said, stderr=said,
                start_new_session=True,
            )  # fmt: skip
        until = time.monotonic() + _SECONDS
        while not _THERE.search(self._text()):
            if self._process.poll() is not None or time.monotonic() > until:
                self._kill()
                raise RuntimeError(f"$ {command}\n{self._text()}(it did not begin)")
            time.sleep(0.05)

    def _text(self) -> str:
        return self._said.read_text(encoding="utf-8", errors="replace")

    def _kill(self) -> None:
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def end(self) -> None:
        """Asks it to end; one that ended before, or does not, is an error."""
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGTERM)
        try:
            code = self._process.wait(_SECONDS)
        except subprocess.TimeoutExpired:
            self._kill()
            raise RuntimeError(f"$ {self.command}\n{self._text()}(it does not end)") from None
        if code not in _ENDED or "Traceback" in self._text():
            raise RuntimeError(f"$ {self.command}\n{self._text()}(exit code {code})")


def serves(command: str) -> bool:
    """Whether a command goes on until it is stopped.

    >>> serves("NEARDUP_TOKEN=x neardup serve seen --host 0.0.0.0"), serves("neardup demo")
    (True, False)
    """
    return _SERVES.search(command) is not None
