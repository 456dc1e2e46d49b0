"""Why a pair is correct, incorrect or undecided: the reasons of Henzinger 2006 (§3.1), and how people spell them.

A reason is known whatever its case, number and hyphens (``Time-stamp``, ``prefilled forms``), and by the usual other
words for it. Whatever else was written counts under *other*, and is listed there by its own name.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

#: By label, in the paper's words; others may be typed.
REASONS: Final = {
    "correct": (
        "url only", "time stamp", "execution time", "visitor count", "session id", "message id", "server name",
        "combination", "invisible", "entry pages",
    ),
    "incorrect": ("main item", "unrelated"),
    "undecided": ("form", "minor item", "cannot evaluate", "other"),
}  # fmt: skip
#: The reason by which prefilled, erasable forms are known.
FORM: Final = "form"
OTHER: Final = "other"
NOT_GIVEN: Final = "not given"
_ALSO: Final = {
    "url only": ("url", "only the url", "address"),
    "time stamp": ("timestamp", "date stamp", "time stamp only"),
    "execution time": ("run time", "generation time"),
    "visitor count": ("visitor counter", "visit count", "hit count", "hit counter", "access counter", "counter"),
    "session id": ("sessionid", "session identifier", "session"),
    "message id": ("messageid", "message identifier"),
    "server name": ("server", "host name", "hostname"),
    "combination": ("combined", "several"),
    "invisible": ("invisible difference", "not visible"),
    "entry pages": ("entry page of one site",),
    "main item": ("different main item", "main item differs", "main item is different"),
    "form": (
        "prefilled form", "pre filled form", "prefilled erasable form", "erasable form", "filled form",
        "form prefilled",
    ),
    "minor item": ("different minor item", "minor item differs", "minor item is different"),
    "cannot evaluate": (
        "can not evaluate", "cannot be evaluated", "can not be evaluated", "could not evaluate",
        "could not be evaluated",
    ),
    "other": ("rest",),
}  # fmt: skip
_BETWEEN: Final = re.compile(r"[\s\-_/,.;:()]+")
Flags = npt.NDArray[np.bool_]


def _spelling(text: str) -> str:
    """Words without case, plural and what stands between them."""
    return " ".join(word.removesuffix("s") for word in _BETWEEN.split(text.casefold()) if word)


_KNOWN: Final = {
    _spelling(spelling): reason
    for reasons in REASONS.values()
    for reason in reasons
    for spelling in (reason, *_ALSO.get(reason, ()))
}


def known_reason(text: str | None) -> str | None:
    """The paper's reason that a text means, or None.

    >>> known_reason("Prefilled forms"), known_reason("time-stamp"), known_reason("URL only"), known_reason("it rained")
    ('form', 'time stamp', 'url only', None)
    """
    return None if text is None else _KNOWN.get(_spelling(text))


def is_reason(texts: Sequence[str | None], reason: str) -> Flags:
    """Which of the texts mean this reason."""
    return np.array([known_reason(text) == reason for text in texts], bool)


def reason_rows(texts: Sequence[str | None], flags: Flags) -> list[tuple[str, Flags]]:
    """The rows of a table of reasons over the flagged pairs, the most frequent first: each known reason, then *other*,
    followed by what it consists of, and the pairs without a reason; no row where no pair of all has a reason.

    >>> rows = reason_rows(["Form", "weather", None, "form", "Weather"], np.ones(5, bool))
    >>> [(name, int(flags.sum())) for name, flags in rows]
    [('form', 2), ('other', 2), ('other: weather', 2), ('not given', 1)]
    """
    if not any(texts):
        return []
    names = [_row_of(text) if flag else None for text, flag in zip(texts, flags.tolist(), strict=True)]
    counts = Counter(name for name in names if name is not None)
    by_reason: Counter[str] = Counter()
    for (reason, _), count in counts.items():
        by_reason[reason] += count
    rows = []
    for reason in sorted(by_reason, key=lambda one: (one == NOT_GIVEN, one == OTHER, -by_reason[one])):
        rows.append((reason, np.array([name is not None and name[0] == reason for name in names], bool)))
        rows += [
            (f"{reason}: {name[1]}", np.array([one == name for one in names], bool))
            for name, _ in counts.most_common()
            if name[0] == reason and name[1]
        ]
    return rows


def _row_of(text: str | None) -> tuple[str, str]:
    """The reason, and what was written where it is none of the known ones."""
    if not text or text == NOT_GIVEN:
        return NOT_GIVEN, ""
    reason = known_reason(text)
    return (OTHER, " ".join(text.casefold().split())) if reason is None else (reason, "")
