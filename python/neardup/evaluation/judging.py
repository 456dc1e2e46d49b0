"""A judging: a sample of pairs, the people who look at them, and what each of them said, in one SQLite file.

Nothing that was said is ever overwritten. Every click is a row that is added and on the disk before the next pair is
shown (write-ahead log, ``synchronous=FULL``); changing one's mind adds a row, and so does undoing it. What *stands* is
the last click of a judge on a pair that was not undone. Each judge goes through the pairs in an order of their own, and
sees them left or right by chance, both drawn from the session's seed and the judge's name. A pair on which they differ
is a dispute until an adjudicator says what is so; the final label is the adjudicator's, else the one all judges gave.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np

from neardup.errors import FormatError, InputError, OutputError, UsageError
from neardup.evaluation.judged import LABELS
from neardup.evaluation.judging_sample import PairSample, Returned, SampledPair
from neardup.writing import check_local

Role = Literal["judge", "adjudicator"]
_APPLICATION: Final = 0x6E64_7570
_VERSION: Final = 1
_LONGEST_NAME, _LONGEST_REASON, _LONGEST_NOTE = 60, 200, 10_000
_SCHEMA: Final = """
CREATE TABLE session (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE strata (
    stratum INTEGER PRIMARY KEY, name TEXT NOT NULL, population INTEGER NOT NULL, sampled INTEGER NOT NULL
);
CREATE TABLE pairs (
    pair INTEGER PRIMARY KEY, a TEXT NOT NULL, b TEXT NOT NULL, row_a INTEGER NOT NULL, row_b INTEGER NOT NULL,
    same_site INTEGER NOT NULL, stratum INTEGER NOT NULL REFERENCES strata
);
CREATE TABLE returned (
    pair INTEGER NOT NULL REFERENCES pairs, detector TEXT NOT NULL, rule TEXT NOT NULL, score REAL NOT NULL,
    b_similarity INTEGER, c_similarity INTEGER, jaccard REAL, PRIMARY KEY (pair, detector)
) WITHOUT ROWID;
CREATE TABLE clicks (
    click INTEGER PRIMARY KEY AUTOINCREMENT, at TEXT NOT NULL, judge TEXT NOT NULL,
    role TEXT NOT NULL CHECK (role IN ('judge', 'adjudicator')), pair INTEGER NOT NULL REFERENCES pairs,
    label TEXT CHECK (label IN ('correct', 'incorrect', 'undecided')), reason TEXT, note TEXT,
    undoes INTEGER UNIQUE REFERENCES clicks, CHECK ((label IS NULL) = (undoes IS NOT NULL))
);
CREATE VIEW standing AS
    SELECT click, at, judge, role, pair, label, reason, note, max(click) FROM clicks
    WHERE label IS NOT NULL AND click NOT IN (SELECT undoes FROM clicks WHERE undoes IS NOT NULL)
    GROUP BY judge, role, pair;
"""


@dataclass(frozen=True, slots=True)
class Said:
    """What one person said of one pair, as it stands."""

    judge: str
    pair: int
    label: str
    reason: str | None
    note: str | None
    #: Its place among all clicks: who came first.
    click: int


class Judging:
    """An open judging; threads take turns.

    >>> import tempfile
    >>> from neardup.evaluation.judging_sample import SampledStratum
    >>> pairs = [SampledPair("x", name, 0, at + 1, True, 0, []) for at, name in enumerate("yz")]
    >>> sample = PairSample(["run"], ["minhash"], pairs, [SampledStratum("all", 2, 2)], [], 0)
    >>> made = Judging.create(Path(tempfile.mkdtemp()) / "judging.sqlite", sample)
    >>> made.say("ada", 0, "correct", "time stamp"); made.say("bob", 0, "incorrect"); made.say("bob", 1, "correct")
    >>> made.disputes(), made.undo("bob"), sorted(made.final().items())
    ([0], 1, [])
    >>> made.say("eve", 0, "correct", role="adjudicator")
    >>> made.final()[0].label, made.disputes()
    ('correct', [])
    >>> made.close()
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        if not self.path.is_file():
            raise InputError("no judging there", where=str(path), hint="make one: neardup judge new --from DIR")
        self._lock = threading.RLock()
        self._connection = _connect(self.path)
        with self._reading():
            found = self._value("PRAGMA application_id"), self._value("PRAGMA user_version")
        if found != (_APPLICATION, _VERSION):
            self._connection.close()
            raise FormatError("not a judging of this version", where=str(path), hint="neardup judge new makes one")
        with self._reading():
            self.session: dict[str, Any] = {
                key: json.loads(value) for key, value in self._connection.execute("SELECT key, value FROM session")
            }
            self.count = int(self._value("SELECT count(*) FROM pairs"))

    @staticmethod
    def create(path: str | os.PathLike[str], sample: PairSample, *, overwrite: bool = False) -> Judging:
        """A new judging of a sample; the file appears when all of it is there."""
        check_local(path)
        target = Path(path)
        if target.exists() and not overwrite:
            raise OutputError(
                "the judging exists already", where=str(path), hint="choose another --out, or --overwrite"
            )
        temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        try:
            connection = sqlite3.connect(temporary, isolation_level=None)
        except sqlite3.Error:
            raise OutputError("cannot be written there", where=str(path), hint="does the folder exist?") from None
        try:
            connection.executescript(f"PRAGMA synchronous=FULL; BEGIN; {_SCHEMA}")
            _fill(connection, sample)
            connection.execute("COMMIT")
            connection.executescript(
                f"PRAGMA application_id={_APPLICATION}; PRAGMA user_version={_VERSION}; PRAGMA journal_mode=WAL;"
            )
            connection.close()
            for tail in ("-wal", "-shm"):
                # What an earlier judging of the name left would be taken for part of this one.
                target.with_name(target.name + tail).unlink(missing_ok=True)
            os.replace(temporary, target)
        except (sqlite3.Error, OSError) as error:
            raise OutputError(f"cannot be written: {error}", where=str(path)) from None
        finally:
            connection.close()
            temporary.unlink(missing_ok=True)
        return Judging(target)

    def close(self) -> None:
        """Lets go of the file."""
        with self._lock:
            self._connection.close()

    def __del__(self) -> None:
        if hasattr(self, "_connection"):
            self._connection.close()

    # What people do -------------------------------------------------------------------------------------------------

    def say(
        self,
        judge: str,
        pair: int,
        label: str,
        reason: str | None = None,
        note: str | None = None,
        *,
        role: Role = "judge",
    ) -> None:
        """Adds what a judge, or an adjudicator, says of a pair; on disk when this returns."""
        if label not in LABELS:
            raise UsageError(f"{label!r} is no label", hint=f"one of {', '.join(LABELS)}")
        if not 0 <= pair < self.count:
            raise UsageError(f"there is no pair {pair}", where=str(self.path))
        for what, text, most in (("reason", reason, _LONGEST_REASON), ("note", note, _LONGEST_NOTE)):
            if text is not None and len(text) > most:
                raise UsageError(f"the {what} is too long", hint=f"{most:,} characters are the most")
        values = (_now(), checked_name(judge), role, pair, label, reason or None, note or None)
        self._write(
            "INSERT INTO clicks (at, judge, role, pair, label, reason, note) VALUES (?, ?, ?, ?, ?, ?, ?)", values
        )

    def undo(self, judge: str, *, role: Role = "judge") -> int | None:
        """Takes back what somebody said last, and tells of which pair; None where nothing is left."""
        with self._lock:
            with self._reading():
                last = self._connection.execute(
                    "SELECT click, pair FROM clicks WHERE judge = ? AND role = ? AND label IS NOT NULL "
                    "AND click NOT IN (SELECT undoes FROM clicks WHERE undoes IS NOT NULL) ORDER BY click DESC LIMIT 1",
                    (judge, role),
                ).fetchone()
            if last is None:
                return None
            self._write(
                "INSERT INTO clicks (at, judge, role, pair, undoes) VALUES (?, ?, ?, ?, ?)",
                (_now(), judge, role, last[1], last[0]),
            )
            return int(last[1])

    # What there is --------------------------------------------------------------------------------------------------

    def order(self, judge: str) -> list[tuple[int, bool]]:
        """The pairs in the order of one judge, and whether the two pages change sides."""
        generator = np.random.default_rng([int(self.session["seed"]) & 0xFFFF_FFFF, zlib.crc32(judge.encode())])
        pairs = generator.permutation(self.count).tolist()
        return list(zip(pairs, (generator.random(self.count) < 0.5).tolist(), strict=True))

    def pair(self, pair: int) -> SampledPair:
        """One pair, as it was drawn."""
        return self.pairs(pair)[0]

    def pairs(self, only: int | None = None) -> list[SampledPair]:
        """All pairs by number, and by whom they were returned."""
        where, values = ("WHERE pair = ?", (only,)) if only is not None else ("", ())
        with self._reading():
            told = self._connection.execute(
                f"SELECT pair, detector, rule, score, b_similarity, c_similarity, jaccard FROM returned {where}", values
            ).fetchall()
            rows = self._connection.execute(
                f"SELECT pair, a, b, row_a, row_b, same_site, stratum FROM pairs {where} ORDER BY pair", values
            ).fetchall()
        returned: dict[int, list[Returned]] = {}
        for number, *said in told:
            returned.setdefault(number, []).append(Returned(*said))
        if only is not None and not rows:
            raise UsageError(f"there is no pair {only}", where=str(self.path))
        return [
            SampledPair(a, b, row_a, row_b, bool(same), stratum, returned.get(number, []))
            for number, a, b, row_a, row_b, same, stratum in rows
        ]

    def strata(self) -> list[tuple[str, int, int]]:
        """Name, population and drawn pairs of each stratum."""
        with self._reading():
            return self._connection.execute("SELECT name, population, sampled FROM strata ORDER BY stratum").fetchall()

    def said(self, *, role: Role = "judge", judge: str | None = None, pair: int | None = None) -> list[Said]:
        """What stands, in the order in which it was said."""
        conditions, values = ["role = ?"], [role]
        for name, value in (("judge", judge), ("pair", pair)):
            if value is not None:
                conditions.append(f"{name} = ?")
                values.append(value)  # type: ignore[arg-type]
        with self._reading():
            rows = self._connection.execute(
                "SELECT judge, pair, label, reason, note, click FROM standing "
                f"WHERE {' AND '.join(conditions)} ORDER BY click",
                values,
            ).fetchall()
        return [Said(*row) for row in rows]

    def judges(self) -> dict[str, int]:
        """Who judged, and how many pairs each."""
        counts: dict[str, int] = {}
        for one in self.said():
            counts[one.judge] = counts.get(one.judge, 0) + 1
        return dict(sorted(counts.items()))

    def by_pair(self) -> dict[int, list[Said]]:
        """What judges said of each pair that was looked at, the first judge first."""
        found: dict[int, list[Said]] = {}
        for one in self.said():
            found.setdefault(one.pair, []).append(one)
        return found

    def disputes(self) -> list[int]:
        """Pairs on which judges differ and nobody has adjudicated yet."""
        settled = {one.pair for one in self.said(role="adjudicator")}
        return sorted(p for p, said in self.by_pair().items() if len({s.label for s in said}) > 1 and p not in settled)

    def final(self) -> dict[int, Said]:
        """The final label of each pair that has one: the adjudicator's, else what all judges said.

        Where judges agree on the label and not on the reason, the reason most of them gave stands, the earlier first.
        """
        found = {}
        for pair, said in self.by_pair().items():
            if len({one.label for one in said}) == 1:
                reasons = [one.reason for one in said if one.reason]
                usual = max(reasons, key=lambda reason: (reasons.count(reason), -reasons.index(reason)), default=None)
                notes = "; ".join(one.note for one in said if one.note) or None
                found[pair] = Said(said[0].judge, pair, said[0].label, usual, notes, said[0].click)
        return dict(sorted((found | {one.pair: one for one in self.said(role="adjudicator")}).items()))

    # The file -------------------------------------------------------------------------------------------------------

    def _value(self, query: str) -> Any:
        return self._connection.execute(query).fetchone()[0]

    def _write(self, query: str, values: tuple[Any, ...]) -> None:
        with self._lock:
            try:
                self._connection.execute(query, values)
            except sqlite3.Error as error:
                raise OutputError(f"what was said could not be stored: {error}", where=str(self.path)) from None

    @contextmanager
    def _reading(self) -> Iterator[None]:
        with self._lock:
            try:
                yield
            except (sqlite3.Error, ValueError) as error:
                raise FormatError(f"the judging cannot be read: {error}", where=str(self.path)) from None


def checked_name(judge: str) -> str:
    """A judge's name, if it can be one.

    >>> checked_name(" ada ")
    'ada'
    """
    name = judge.strip()
    if not name or len(name) > _LONGEST_NAME or not name.isprintable() or "/" in name or not name.strip("."):
        raise UsageError("that is no name for a judge", hint=f"1 to {_LONGEST_NAME} characters, none of them a slash")
    return name


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _connect(path: Path) -> sqlite3.Connection:
    try:
        # Every statement commits by itself.
        connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=10)
        connection.executescript("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA trusted_schema=OFF;")
    except sqlite3.Error as error:
        raise FormatError(f"the judging cannot be opened: {error}", where=str(path)) from None
    return connection


def _fill(connection: sqlite3.Connection, sample: PairSample) -> None:
    session: dict[str, Any] = {
        "runs": sample.runs,
        "detectors": sample.detectors,
        "stratify": sample.stratify,
        "seed": sample.seed,
    }
    session |= {"notes": sample.notes, "made": _now()}
    connection.executemany("INSERT INTO session VALUES (?, ?)", [(key, json.dumps(v)) for key, v in session.items()])
    strata = [(at, one.name, one.population, one.sampled) for at, one in enumerate(sample.strata)]
    connection.executemany("INSERT INTO strata VALUES (?, ?, ?, ?)", strata)
    for number, pair in enumerate(sample.pairs):
        place = (number, pair.a, pair.b, pair.row_a, pair.row_b, pair.same_site, pair.stratum)
        connection.execute("INSERT INTO pairs VALUES (?, ?, ?, ?, ?, ?, ?)", place)
        told = [(number, *asdict(one).values()) for one in pair.returned]
        connection.executemany("INSERT INTO returned VALUES (?, ?, ?, ?, ?, ?, ?)", told)
