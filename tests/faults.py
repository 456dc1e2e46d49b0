"""An input/output layer that fails and delays: system calls of a process are changed on their way, by strace.

What is done to files at rest (flipped, cut off, zeroed, deleted) is in the Rust tests of the index: ``faults.rs``.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path


@cache
def can_trace() -> bool:
    if shutil.which("strace") is None:
        return False
    with tempfile.TemporaryFile() as nothing:
        return subprocess.run(["strace", "-f", "true"], stdout=nothing, stderr=nothing).returncode == 0


@dataclass(frozen=True, slots=True)
class Fault:
    """What happens to a system call instead of what was asked for.

    >>> Fault("fsync", "error=EIO", "3+").option()
    'inject=fsync:error=EIO:when=3+'
    """

    call: str
    #: ``error=EIO``, ``delay_enter=50000`` (microseconds).
    effect: str
    #: The how-maniest call of a thread: ``3``, ``3+``.
    when: str = "1+"
    #: Only calls for this file of a folder.
    file: str | None = None

    def option(self) -> str:
        return f"inject={self.call}:{self.effect}:when={self.when}"

    def run(self, command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
        """Runs a command that meets this fault."""
        only = [] if self.file is None else ["-P", str(folder / self.file)]
        strace = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={self.call}", "-e", self.option(), *only]
        return subprocess.run([*strace, *command], capture_output=True, text=True, timeout=120)
