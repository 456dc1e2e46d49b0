"""A run where no detector was named: over all pages by the default for their kinds, whatever that takes.

Which kinds there are is known when all is read. A run for pages of markup looks at each as it is read, so it ends at
the first page of plain text, and what was read so far is read again by the detector for both. A run that begins with
plain text needs no look: its detector is right for whatever follows. Matching never begins with the wrong one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

from neardup.methods import Detector
from neardup.methods.default import default_detector, described_kinds
from neardup.page import Kinds
from neardup.sources.kinds import PlainTextMet

Made = TypeVar("Made")

#: Behind the detector, where it says that nobody named it.
BY_DEFAULT: Final = ", by default"
#: Where both kinds are, however many of each.
BOTH: Final = Kinds(html=1, text=1)


def by_kind(first: Kinds, attempt: Callable[[Detector, bool], Made]) -> Made:
    """What an attempt makes by the default detector, beginning with the one for the ``first`` pages. An attempt gets a
    detector, and whether it is to raise ``PlainTextMet`` for a page of plain text.

    >>> def attempt(detector, markup_only):
    ...     if markup_only:
    ...         raise PlainTextMet
    ...     return str(detector)
    >>> by_kind(Kinds(html=3), attempt)
    'minhash'
    """
    if first.html and not first.text:
        try:
            return attempt(default_detector(first), True)
        except PlainTextMet:
            pass
    return attempt(default_detector(BOTH), False)


def note_default(report: dict[str, Any]) -> None:
    """Writes into a report that nobody named the detector, and warns where pages of both kinds are."""
    report["by_default"] = True
    if report["kinds"]["html"] and report["kinds"]["text"]:
        kinds = described_kinds(Kinds(**report["kinds"]))
        report["warnings"].append(
            f"the input holds {kinds}: all are compared as plain text is, by {report['detector']}; "
            "to compare markup by its main text, run it by itself"
        )


def described(report: dict[str, Any]) -> str:
    """The detector of a run, and why it is this one where nobody named it.

    >>> described({"detector": "minhash", "by_default": True, "kinds": {"html": 0, "text": 3}})
    'minhash, the default for pages of plain text'
    """
    if not report.get("by_default"):
        return str(report["detector"])
    return f"{report['detector']}, the default for {described_kinds(Kinds(**report['kinds']))}"
