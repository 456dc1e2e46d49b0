"""What an index, or its service, says of a page and of itself.

The client of the service needs these and nothing else of the index, so nothing is imported here that is not Python's.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Match:
    """A near-duplicate that is there already."""

    #: The id of the first of the pages in the index that it stands for: those with these tokens, where the detector
    #: looks at sites those of them that the page was accepted with.
    id: str
    #: How alike the rule found the two, from 0 to 1.
    score: float
    #: The rule of the detector that accepted it; ``identity``: it has the same tokens.
    rule: str
    #: How many pages it stands for.
    copies: int


@dataclass(frozen=True, slots=True)
class Answer:
    """What there is to say of one page. Counts as true if it has matches.

    >>> answer = Answer("b", (Match("a", 1.0, "identity", 1),))
    >>> bool(answer), answer.seen
    (True, 'a')
    """

    #: The page that was asked about, or added under this id.
    id: str
    #: Pages with the same tokens first, then the most similar, then the oldest.
    matches: tuple[Match, ...] = ()
    #: A page of this id was there and was replaced.
    replaced: bool = False
    #: The request had been carried out before; nothing was added.
    repeated: bool = False
    #: A key of the page lists as many pages as a key may, so that others may be missing.
    full_key: bool = False
    #: How many further matches there are that ``matches`` leaves out.
    more: int = 0
    #: The request's name was used before for something else; nothing was added.
    conflict: bool = False

    @property
    def seen(self) -> str | None:
        """The id of the best match, if there is any."""
        return self.matches[0].id if self.matches else None

    def __bool__(self) -> bool:
        return bool(self.matches)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Stats:
    """What is in an index."""

    pages: int
    #: Different token sequences among them.
    identity_sets: int
    #: Keys that list as many pages as a key may, and how often a page was not listed because of it.
    full_keys: int
    left_out: int
    #: Bytes on disk: of the tables, and of the journal that will become part of them.
    table_bytes: int
    journal_bytes: int
    detector: str
    #: Names the frozen statistics of the collection, where the detector needs some.
    statistics: str | None
