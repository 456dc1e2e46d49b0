"""A trained classifier: what it needs, what it says of a pair, its text, and its file.

The file is JSON: the kind, the signals with their versions, the idf table they were made with, and the numbers of the
tree, rules or trees. Nothing in it is code; what is read is checked before it is used. The library that trained it is
not needed to use it: predictions are computed here, and tests hold them equal to the library's.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup.errors import FormatError, InputError, UsageError
from neardup.signals.catalogue import by_name
from neardup.signals.classifiers.boosting import Boosting
from neardup.signals.classifiers.rules import Rules
from neardup.signals.classifiers.tree import Tree
from neardup.signals.computing import told
from neardup.sinks import write_json

Numbers = npt.NDArray[np.float64]

#: Raised when the file's form changes.
FILE_VERSION: Final = 1
_LARGEST_FILE: Final = 256 << 20


class Parts(Protocol):
    """What a kind of classifier is made of."""

    def scores(self, values: Numbers) -> Numbers:
        """For each row of signals (nan: missing) how sure it is that the pair is a duplicate, from 0 to 1."""
        ...

    def accepts(self, values: Numbers) -> npt.NDArray[np.bool_]:
        """Whether it takes the pair for a duplicate."""
        ...

    def text(self, names: Sequence[str]) -> str:
        """As a person reads it."""
        ...

    def parts(self) -> dict[str, Any]:
        """Its numbers, for JSON."""
        ...


_KINDS: Final[dict[str, Any]] = {"tree": Tree, "rules": Rules, "boosting": Boosting}


@dataclass(frozen=True)
class Classifier:
    """A trained classifier.

    >>> rules = Rules([[("fetched_mcd", "<=", 0.1)]], [0.9], 0.01)
    >>> judge = Classifier("rules", ["fetched_mcd"], rules)
    >>> print(judge.text())
    duplicate if fetched_mcd ≤ 0.1  (.90 of such pairs in training)
    else not  (.01)
    """

    kind: str
    signals: list[str]
    parts: Parts
    #: Digest of the idf table that tf-idf distances are to be made with.
    idf: str | None = None
    #: How it was trained, for people.
    about: Mapping[str, Any] = field(default_factory=dict)

    def values(self, table: pa.Table, where: str = "signals") -> Numbers:
        """The signals it needs of a table, a row a pair, nan where missing; a table made otherwise is an error."""
        check_table(table, self.signals, self.idf, where)
        return matrix(table, self.signals)

    def classify(self, table: pa.Table, where: str = "signals") -> tuple[Numbers, npt.NDArray[np.bool_]]:
        """For each pair of a table of signals a score from 0 to 1, and the decision."""
        values = self.values(table, where)
        return self.parts.scores(values), self.parts.accepts(values)

    def text(self) -> str:
        """The classifier as text."""
        return self.parts.text(self.signals)


def matrix(table: pa.Table, names: Sequence[str]) -> Numbers:
    """Columns of a table as rows of numbers, nan where null.

    >>> matrix(pa.table({"x": [1.0, None]}), ["x"]).tolist()
    [[1.0], [nan]]
    """
    columns = [np.asarray(table.column(name).combine_chunks().cast(pa.float64()).fill_null(math.nan)) for name in names]
    return np.column_stack(columns) if columns else np.empty((table.num_rows, 0))


def check_table(table: pa.Table, names: Sequence[str], idf: str | None, where: str) -> None:
    """Raises unless the table has these signals, in the present versions, made with that idf table."""
    about = told(table, where)
    missing = [name for name in names if name not in table.column_names]
    if missing:
        kind = "--rendered" if missing[0].startswith("rendered") else "--idf" if "tfidf" in missing[0] else "--signals"
        raise InputError(
            f"the table has no {missing[0]!r} ({len(missing)} signals are missing)",
            where=where,
            hint=f"make it with all of them: neardup signals {kind} …",
        )
    versions = {name: about["signals"].get(name) for name in names}
    stale = [name for name, version in versions.items() if version != by_name()[name].version]
    if stale:
        raise FormatError(
            f"{stale[0]!r} is of version {versions[stale[0]]}, this is version {by_name()[stale[0]].version}",
            where=where,
            hint="make the signals again",
        )
    if any("tfidf" in name for name in names) and idf is not None and about["idf"] != idf:
        raise InputError(
            "the signals were made with another idf table than the classifier's", where=where,
            hint="give neardup signals the same --idf",
        )  # fmt: skip


def save_classifier(classifier: Classifier, path: str | os.PathLike[str]) -> None:
    """Writes a classifier as JSON."""
    known = by_name()
    write_json(
        {
            "neardup classifier": FILE_VERSION,
            "kind": classifier.kind,
            "signals": [{"name": name, "version": known[name].version} for name in classifier.signals],
            "idf": classifier.idf,
            "about": dict(classifier.about),
            "parts": classifier.parts.parts(),
        },
        path,
    )


def load_classifier(path: str | os.PathLike[str]) -> Classifier:
    """Reads a classifier back; a file that is not one, or needs other versions of signals, is an error.

    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "model.json"
    >>> save_classifier(Classifier("rules", ["fetched_mcd"], Rules([[("fetched_mcd", "<=", 0.1)]], [0.9], 0.0)), file)
    >>> load_classifier(file).kind
    'rules'
    """
    where = os.fspath(path)
    try:
        with open(path, "rb") as file:
            raw = file.read(_LARGEST_FILE + 1)
        if len(raw) > _LARGEST_FILE:
            raise FormatError("too large for a classifier", where=where)
        told_by = json.loads(raw)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", where=where) from None
    except (ValueError, RecursionError):
        told_by = None
    if not isinstance(told_by, dict) or "neardup classifier" not in told_by:
        raise FormatError("not a classifier", where=where, hint="neardup train makes one")
    if told_by["neardup classifier"] != FILE_VERSION:
        raise FormatError(
            f"a classifier of file version {told_by['neardup classifier']!r}, this is {FILE_VERSION}", where=where,
            hint="train it again",
        )  # fmt: skip
    try:
        names = [str(signal["name"]) for signal in told_by["signals"]]
        versions = [signal["version"] for signal in told_by["signals"]]
        kind = str(told_by["kind"])
        idf = told_by.get("idf")
        parts = _KINDS[kind].of(told_by["parts"], names)
        about = dict(told_by.get("about") or {})
    except (KeyError, TypeError, ValueError, IndexError, OverflowError) as error:
        raise FormatError(f"the classifier is damaged: {error}", where=where, hint="train it again") from None
    known = by_name()
    for name, version in zip(names, versions, strict=True):
        if name not in known or known[name].version != version:
            raise UsageError(
                f"the classifier needs version {version!r} of the signal {name!r}",
                where=where,
                hint=f"there is {known[name].version}; train it again" if name in known else "there is no such signal",
            )
    return Classifier(kind, names, parts, None if idf is None else str(idf), about)
