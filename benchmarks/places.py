"""Where things are: the work folder with corpora, environments and answers, and the command under test."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
BENCHMARKS: Final = ROOT / "benchmarks"
RECORD: Final = BENCHMARKS / "record"


@dataclass(frozen=True)
class Places:
    """The folders of one run, and the ``neardup`` command that is measured."""

    work: Path
    neardup: Path
    #: The folder of real pages (it holds ``debian_docs_en``), or None: pages are then generated.
    data: Path | None

    @classmethod
    def from_environment(cls, neardup: str | None = None) -> Places:
        """BENCH names the work folder, NEARDUP_DATA the data; the command is the one beside this Python."""
        work = Path(os.environ.get("BENCH") or ROOT / "target" / "bench").resolve()
        data = os.environ.get("NEARDUP_DATA")
        command = Path(neardup) if neardup else Path(sys.executable).parent / "neardup"
        for folder in ("corpus", "answers", "logs", "venvs"):
            (work / folder).mkdir(parents=True, exist_ok=True)
        return cls(work, command.absolute(), Path(data).resolve() if data else None)

    @property
    def corpus(self) -> Path:
        return self.work / "corpus"

    def answer(self, name: str) -> Path:
        """The folder into which a measured command writes its answer."""
        return self.work / "answers" / name

    def log(self, name: str) -> Path:
        """Where the output of a measured command goes."""
        return self.work / "logs" / f"{name}.log"

    def public(self, text: str) -> str:
        """A text for the record: without the names of this machine's folders.

        >>> Places(Path("/somewhere/bench"), Path("neardup"), None).public("no file /somewhere/bench/x")
        'no file $BENCH/x'
        """
        hidden = [(str(self.work), "$BENCH"), (str(ROOT), "."), (str(Path.home()), "~")]
        if self.data is not None:
            hidden.insert(0, (str(self.data), "$NEARDUP_DATA"))
        for name, instead in hidden:
            if name != "/":
                text = text.replace(name, instead)
        return text
