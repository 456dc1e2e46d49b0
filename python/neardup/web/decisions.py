"""What a person decided of a run in the browser, in a SQLite file beside the tables; every click is on disk at once.

A decision on a cluster remembers which pages the cluster had. If another threshold or a rejected pair gives the cluster
other pages, the decision is *stale*: it is shown as such and not exported.
"""

from __future__ import annotations

import sqlite3
import threading
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from neardup.errors import FormatError, OutputError
from neardup.writing import check_local

Verdict = Literal["accepted", "rejected"]
_APPLICATION: Final = 0x6E64_6465
_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS decisions (
    kind TEXT NOT NULL CHECK (kind IN ('threshold', 'cluster', 'representative', 'pair', 'run')),
    name TEXT NOT NULL, value TEXT NOT NULL, members INTEGER, at TEXT NOT NULL DEFAULT (datetime('now')),
    PRIMARY KEY (kind, name)
) WITHOUT ROWID;
"""


@dataclass(frozen=True, slots=True)
class Decided:
    """Everything that was decided so far."""

    threshold: float | None = None
    #: By first page of the cluster: the verdict, or the page that stays, and a digest of the cluster's pages.
    clusters: dict[int, tuple[Verdict, int]] = field(default_factory=dict)
    representatives: dict[int, tuple[int, int]] = field(default_factory=dict)
    rejected_pairs: tuple[tuple[int, int], ...] = ()

    @property
    def count(self) -> int:
        return (self.threshold is not None) + len(self.clusters) + len(self.representatives) + len(self.rejected_pairs)


def digest(members: npt.NDArray[np.integer[Any]]) -> int:
    """A number that names a set of pages.

    >>> digest(np.array([1, 2])) == digest(np.array([1, 2], np.uint32)) != digest(np.array([1, 3]))
    True
    """
    return zlib.crc32(np.sort(members).astype("<i8").tobytes())


class DecisionStore:
    """The decisions of one run; threads take turns.

    >>> import tempfile
    >>> store = DecisionStore(Path(tempfile.mkdtemp()) / "decisions.sqlite", "run 1")
    >>> store.put("cluster", "7", "accepted", 99); store.put("pair", "3 5", "rejected")
    >>> store.put("threshold", "", "0.9")
    >>> store.all()
    Decided(threshold=0.9, clusters={7: ('accepted', 99)}, representatives={}, rejected_pairs=((3, 5),))
    >>> store.remove("pair", "3 5"); store.version, store.all().count
    (4, 2)
    >>> store.close()
    """

    def __init__(self, path: Path, run: str) -> None:
        check_local(path)
        self.path = path
        self._lock = threading.Lock()
        #: Grows with every change, for what is remembered of earlier ones.
        self.version = 0
        try:
            self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=10)
            found = self._connection.execute("PRAGMA application_id").fetchone()[0]
            if found not in (0, _APPLICATION):
                raise FormatError("not a file of decisions", where=str(path), hint="move it away")
            self._connection.executescript(
                "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA trusted_schema=OFF;"
                f"PRAGMA application_id={_APPLICATION}; {_SCHEMA}"
            )
            known = self._connection.execute("SELECT value FROM decisions WHERE kind = 'run'").fetchone()
        except sqlite3.Error as error:
            raise OutputError(
                f"decisions cannot be stored: {error}", where=str(path), hint="name a file elsewhere with --decisions"
            ) from None
        if known is not None and known[0] != run:
            raise FormatError("these decisions are of another run", where=str(path), hint="move the file away")
        if known is None:
            self.put("run", "", run)
            self.version = 0

    def close(self) -> None:
        """Lets go of the file."""
        with self._lock:
            self._connection.close()

    def __del__(self) -> None:
        if hasattr(self, "_connection"):
            self._connection.close()

    def put(self, kind: str, name: str, value: str, members: int | None = None) -> None:
        """Stores a decision in place of an earlier one of the same name; on disk when this returns."""
        self._write(
            "INSERT OR REPLACE INTO decisions (kind, name, value, members) VALUES (?, ?, ?, ?)",
            (kind, name, value, members),
        )

    def remove(self, kind: str, name: str) -> None:
        """Forgets a decision."""
        self._write("DELETE FROM decisions WHERE kind = ? AND name = ?", (kind, name))

    def _write(self, query: str, values: tuple[Any, ...]) -> None:
        with self._lock:
            try:
                self._connection.execute(query, values)
            except sqlite3.Error as error:
                raise OutputError(f"the decision could not be stored: {error}", where=str(self.path)) from None
            self.version += 1

    def all(self) -> Decided:
        """Everything that was decided."""
        with self._lock:
            rows = self._connection.execute("SELECT kind, name, value, members FROM decisions").fetchall()
        threshold = next((float(value) for kind, _, value, _ in rows if kind == "threshold"), None)
        pairs = sorted(tuple(map(int, name.split())) for kind, name, _, _ in rows if kind == "pair")
        return Decided(
            threshold,
            {int(name): (value, members) for kind, name, value, members in rows if kind == "cluster"},
            {int(name): (int(value), members) for kind, name, value, members in rows if kind == "representative"},
            tuple((a, b) for a, b in pairs),
        )
