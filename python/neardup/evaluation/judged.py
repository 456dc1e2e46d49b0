"""Judged pairs: ``a``, ``b`` and a label that a person gave; from JSONL, CSV or Parquet.

Labels are Henzinger's ``correct``, ``incorrect`` and ``undecided``, or others that the caller maps to them, or grades,
of which those from a bound on are correct. ``reason``, ``query`` and ``weight`` are taken along where they are. A pair
that names an unknown page, or a label that nothing maps, is an error that names its line: a table of half the pairs
would mislead.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from neardup.errors import InputError, UsageError
from neardup.spreadsheet import from_text

LABELS: Final = ("correct", "incorrect", "undecided")
_USUAL: Final = {
    **{name: name for name in LABELS},
    **dict.fromkeys(("1", "true", "yes"), "correct"),
    **dict.fromkeys(("0", "false", "no"), "incorrect"),
}


@dataclass(frozen=True, slots=True)
class Labels:
    """Which words stand for which label; with ``grade``, labels are numbers, and correct from there on.

    >>> Labels(correct=("mirror",)).of("mirror"), Labels(grade=2).of("3"), Labels().of("1")
    ('correct', 'correct', 'correct')
    """

    correct: Sequence[str] = ()
    incorrect: Sequence[str] = ()
    undecided: Sequence[str] = ()
    grade: float | None = None

    def of(self, word: str) -> str | None:
        """The label that a word stands for, or None."""
        for name in LABELS:
            if word in getattr(self, name):
                return name
        if self.grade is not None:
            try:
                return "correct" if float(word) >= self.grade else "incorrect"
            except ValueError:
                return None
        return None if self.correct or self.incorrect else _USUAL.get(word.lower())


@dataclass(frozen=True, slots=True)
class Judged:
    """Judged pairs in the order of their file; ``label`` holds places in ``LABELS``."""

    a: list[str]
    b: list[str]
    label: npt.NDArray[np.int8]
    reason: list[str | None] = field(default_factory=list)
    query: list[str | None] = field(default_factory=list)
    #: How many pairs each one stands for, where the file says so: pairs drawn with other probabilities.
    weights: npt.NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        for name in ("reason", "query"):
            if not getattr(self, name):
                object.__setattr__(self, name, [None] * len(self.a))

    def __len__(self) -> int:
        return len(self.a)

    @property
    def weight(self) -> npt.NDArray[np.float64]:
        """What each pair counts: as many as it stands for, or one."""
        return np.ones(len(self)) if self.weights is None else self.weights

    def select(self, flags: npt.NDArray[np.bool_]) -> Judged:
        """Some of the pairs.

        >>> Judged(list("ab"), list("cd"), np.array([0, 1], np.int8)).select(np.array([False, True])).a
        ['b']
        """
        rows = np.flatnonzero(flags).tolist()
        a, b = ([side[row] for row in rows] for side in (self.a, self.b))
        reason, query = ([words[row] for row in rows] for words in (self.reason, self.query))
        return Judged(a, b, self.label[rows], reason, query, None if self.weights is None else self.weights[rows])

    def is_label(self, name: str) -> npt.NDArray[np.bool_]:
        flags: npt.NDArray[np.bool_] = self.label == LABELS.index(name)
        return flags


def read_judged(
    path: str | os.PathLike[str],
    labels: Labels = Labels(),
    column: str = "label",
    query_field: str = "query",
) -> Judged:
    """The judged pairs of a file; the label and the query, if there is one, stand in the columns named.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "pairs.csv"
    >>> _ = file.write_text("a,b,label\\nx,y,correct\\nx,z,incorrect\\n")
    >>> read_judged(file).label.tolist()
    [0, 1]
    """
    rows = read_rows(path, column)
    if not rows:
        raise InputError("no judged pairs were found", where=str(path))
    a, b, place = [], [], []
    for number, row in enumerate(rows):
        where = f"{path}, pair {number + 1}"
        missing = [name for name in ("a", "b", column) if row.get(name) is None]
        if missing:
            raise InputError(f"the pair has no {missing[0]!r}", where=where, hint=f"a pair needs a, b and {column}")
        label = labels.of(_word(row[column]))
        if label is None:
            raise UsageError(
                f"the label {_word(row[column])!r} stands for nothing",
                where=where,
                hint="say what it means: --correct, --incorrect, --undecided, or --grade",
            )
        a.append(str(row["a"]))
        b.append(str(row["b"]))
        place.append(LABELS.index(label))

    def optional(name: str) -> list[str | None]:
        return [None if row.get(name) in (None, "") else str(row[name]) for row in rows]

    return Judged(a, b, np.array(place, np.int8), optional("reason"), optional(query_field), _weights(rows, path))


def _weights(rows: Sequence[Mapping[str, Any]], path: str | os.PathLike[str]) -> npt.NDArray[np.float64] | None:
    """The column ``weight``, where the file has one: every pair needs a weight then."""
    if all(row.get("weight") in (None, "") for row in rows):
        return None
    weights = np.empty(len(rows))
    for number, row in enumerate(rows):
        try:
            weights[number] = float(row.get("weight") or "nothing")
        except (TypeError, ValueError):
            weights[number] = np.nan
        if not (np.isfinite(weights[number]) and weights[number] > 0):
            raise InputError(
                f"the weight {row.get('weight')!r} is no number above 0",
                where=f"{path}, pair {number + 1}",
                hint="give every pair a weight, or take the column off",
            )
    return weights


def _word(label: Any) -> str:
    """A label as a word; 1 and 1.0 are the same one."""
    if isinstance(label, float) and label.is_integer():
        return str(int(label))
    return str(label).lower() if isinstance(label, bool) else str(label)


def read_rows(path: str | os.PathLike[str], column: str = "label") -> list[Mapping[str, Any]]:
    """The rows of a file of pairs, as it has them."""
    path = Path(path)
    name = path.name.lower()
    try:
        if name.endswith(".parquet"):
            with open(path, "rb") as file:
                table: list[Mapping[str, Any]] = pq.read_table(file).to_pylist()
            return table
        if name.endswith((".csv", ".tsv")):
            delimiter = "\t" if name.endswith(".tsv") else ","
            words = pyarrow.csv.ConvertOptions(column_types=dict.fromkeys(("a", "b", column), pa.string()))
            with open(path, "rb") as file:
                parse = pyarrow.csv.ParseOptions(delimiter=delimiter)
                read: list[Mapping[str, Any]] = pyarrow.csv.read_csv(
                    file, parse_options=parse, convert_options=words
                ).to_pylist()
            return [
                {name: from_text(value) if isinstance(value, str) else value for name, value in row.items()}
                for row in read
            ]
        lines = path.read_text(encoding="utf-8").split("\n")
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", where=str(path)) from None
    except UnicodeDecodeError:
        raise InputError(
            "not a text file", where=str(path), hint="pairs stand in .jsonl, .csv, .tsv or .parquet, not compressed"
        ) from None
    except pa.ArrowException as error:
        raise InputError(f"cannot be read: {str(error).splitlines()[0]}", where=str(path)) from None
    rows: list[Mapping[str, Any]] = []
    for number, line in enumerate(lines):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            row = None
        if not isinstance(row, dict):
            raise InputError(
                "not a JSON object", where=f"{path}, line {number + 1}", hint="one pair a line; or .csv, .tsv, .parquet"
            )
        rows.append(row)
    return rows
