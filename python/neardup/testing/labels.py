"""The true label of a pair of generated pages, by two notions that do not agree with each other.

Henzinger (2006, §3.1) asks whether the *text* is the same but for a listed few things: correct, incorrect or
undecided. Huffman et al. (2007, §4) ask whether a searcher gains anything from the second page: duplicate or
not. A changed advertisement, for example, is undecided for the one and a duplicate for the other.

Where the papers are silent we read them so: parked domains, entry pages, prefilled forms and pages with
another text box have "essentially the same content and layout" and are duplicates for Huffman; the same item
in other surroundings is Henzinger's undecided "other"; of two pages without any content nothing can be said.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from neardup.testing.facts import Facts

Henzinger = Literal["correct", "incorrect", "undecided"]

#: Differences that leave a pair correct (§3.1, cases 1 to 3), with the paper's word for each.
LISTED: Final = {
    "url": "url only",
    "time_stamp": "time stamp",
    "execution_time": "execution time",
    "visitor_count": "visitor count",
    "session_id": "session id",
    "message_id": "message id",
    "server_name": "server name",
    "invisible": "invisible",
}

#: Every reason that a Henzinger label can have.
HENZINGER_REASONS: Final = (
    "identical",
    *LISTED.values(),
    "combination",
    "entry pages",
    "main item",
    "unrelated",
    "form",
    "minor item",
    "cannot evaluate",
    "other",
)

#: Every reason that a Huffman label can have.
HUFFMAN_REASONS: Final = (
    "identical",
    "inessential difference",
    "advertisement",
    "printer friendly",
    "automatic redirect",
    "main item",
    "unrelated",
    "another layout",
    "login",
    "sort order",
    "no content",
)


@dataclass(frozen=True, slots=True)
class Label:
    """What is true of a pair: Henzinger's label and Huffman's, each with its reason.

    >>> Label("correct", "time stamp", True, "inessential difference").henzinger
    'correct'
    """

    henzinger: Henzinger
    henzinger_reason: str
    #: Huffman's label: whether the pages are duplicates.
    huffman: bool
    huffman_reason: str


def label_of(a: Facts, b: Facts) -> Label:
    """The true label of two pages made of these facts; the order does not matter.

    >>> page = Facts(item="article 1", layout="alpha.example", time_stamp="12:00")
    >>> label_of(page, Facts(item="article 1", layout="alpha.example", time_stamp="12:05"))
    Label(henzinger='correct', henzinger_reason='time stamp',
          huffman=True, huffman_reason='inessential difference')
    >>> label_of(page, Facts(item="article 2", layout="alpha.example")).henzinger
    'incorrect'
    """
    differences = a.differences(b)
    henzinger, reason = _henzinger(a, b, differences)
    duplicate, huffman_reason = _huffman(a, b, differences)
    return Label(henzinger, reason, duplicate, huffman_reason)


def _henzinger(a: Facts, b: Facts, differences: frozenset[str]) -> tuple[Henzinger, str]:
    if not a.item and not b.item:
        return "undecided", "cannot evaluate"
    if "item" in differences:
        # With the same boilerplate around it the pair is the paper's typical error; else they have nothing
        # in common.
        return "incorrect", "unrelated" if "layout" in differences else "main item"
    if not differences:
        return "correct", "identical"
    if a.entry_of and a.entry_of == b.entry_of:
        return "correct", "entry pages"
    if differences <= LISTED.keys():
        return "correct", LISTED[next(iter(differences))] if len(differences) == 1 else "combination"
    if "redirect" in differences:
        return "undecided", "cannot evaluate"
    rest = differences - LISTED.keys()
    if rest == {"form"}:
        return "undecided", "form"
    if rest <= {"advertisement", "minor_item"}:
        return "undecided", "minor item"
    return "undecided", "other"


def _huffman(a: Facts, b: Facts, differences: frozenset[str]) -> tuple[bool, str]:
    if not a.item and not b.item:
        return False, "no content"
    if "item" in differences:
        return False, "unrelated" if "layout" in differences else "main item"
    if not differences:
        return True, "identical"
    for name, reason in (("layout", "another layout"), ("login", "login"), ("sort_order", "sort order")):
        if name in differences:
            return False, reason
    for name, reason in (("redirect", "automatic redirect"), ("printer", "printer friendly")):
        if name in differences:
            return True, reason
    if "advertisement" in differences:
        return True, "advertisement"
    return True, "inessential difference"
