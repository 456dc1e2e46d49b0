"""A search index over the texts of a run's pages, made in the background while the application is already in use.

SQLite FTS5 over the terms of each page, as neardup itself reads them: what is typed is read the same way, so that case,
accents and scripts without spaces match as the detectors match them. Texts are not kept, only where words occur. The
file appears beside the tables when it is whole, and is used again next time. Cost: one reading of the inputs.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup.errors import InputError, NeardupError
from neardup.text import terms
from neardup.text.reading import term_lists

#: Runs of so many pages or fewer are indexed without being asked.
BY_ITSELF: Final = 20_000
_FOUND: Final = 200_000


class TextIndex:
    """The index of one run: absent, being made, ready, or failed."""

    def __init__(self, path: Path, pages: int, batches: Callable[[], Iterator[pa.RecordBatch]]) -> None:
        self._path, self._pages, self._batches = path, pages, batches
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._stop = threading.Event()
        self.done = pages if path.exists() else 0
        self.failure: str | None = None
        self.ready = path.exists()
        if not self.ready and pages <= BY_ITSELF:
            self.start()

    @property
    def state(self) -> dict[str, Any]:
        """As the pages tell it."""
        running = self._thread is not None and self._thread.is_alive()
        return {
            "ready": self.ready, "running": running, "done": self.done, "pages": self._pages, "failure": self.failure,
        }  # fmt: skip

    def start(self) -> None:
        """Begins to make it, if nobody has."""
        with self._lock:
            if self.ready or (self._thread is not None and self._thread.is_alive()):
                return
            self.failure = None
            self._thread = threading.Thread(target=self._make, name="texts", daemon=True)
            self._thread.start()

    def close(self) -> None:
        """Stops making it; what is half made goes."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(timeout=10)

    def _make(self) -> None:
        temporary = self._path.with_name(f".{self._path.name}.{os.getpid()}.tmp")
        try:
            temporary.unlink(missing_ok=True)
            with closing(sqlite3.connect(temporary, isolation_level=None)) as made:
                made.executescript(
                    "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; BEGIN;"
                    "CREATE VIRTUAL TABLE texts USING fts5(text, content='', tokenize='unicode61 remove_diacritics 0');"
                )
                for batch in self._batches():
                    rows = ((self.done + at, " ".join(words)) for at, words in enumerate(term_lists(batch).to_pylist()))
                    made.executemany("INSERT INTO texts (rowid, text) VALUES (?, ?)", rows)
                    self.done += batch.num_rows
                    if self._stop.is_set():
                        return
                if self.done != self._pages:
                    raise InputError("the inputs have changed since the run", hint="run dedup again")
                made.execute("COMMIT")
            os.replace(temporary, self._path)
            self.ready = True
        except (NeardupError, sqlite3.Error, OSError) as error:
            self.failure, self.done = str(error), 0
        finally:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)

    def find(self, text: str) -> npt.NDArray[np.int64]:
        """Rows of pages that have all words of a text; of a text in quotes, in this order."""
        if not self.ready:
            return np.empty(0, np.int64)
        words = [word.replace('"', "") for word in terms(text, html=False).terms]
        if not any(words):
            return np.empty(0, np.int64)
        phrase = text.strip().startswith('"')
        asked = f'"{" ".join(words)}"' if phrase else " ".join(f'"{word}"' for word in words)
        try:
            with closing(sqlite3.connect(f"file:{_quoted(self._path)}?mode=ro", uri=True)) as opened:
                found = opened.execute(
                    "SELECT rowid FROM texts WHERE texts MATCH ? LIMIT ?", (asked, _FOUND)
                ).fetchall()
        except sqlite3.Error:
            return np.empty(0, np.int64)
        return np.array(sorted(row for (row,) in found), np.int64)


def _quoted(path: Path) -> str:
    from urllib.parse import quote

    return quote(os.fspath(path.resolve()))
