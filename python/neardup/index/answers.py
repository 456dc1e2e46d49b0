"""What an index says of a page: the near-duplicates that are already there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np

from neardup.engines.common.matching import scores_of
from neardup.methods import Rule

#: The rule of pages with the same tokens.
SAME_TOKENS: Final = "identity"
_REPLACED, _REPEATED, _FULL_KEY, _CONFLICT = 1, 2, 4, 8


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


def answers(ids: Sequence[str], rules: Sequence[Rule], raw: Any, by_site: bool = False) -> list[Answer]:
    """Answers as the native index gives them, in words; ``by_site`` is that of its shape."""
    offsets, found, scores, which, copies, flags, more = raw
    if by_site:
        # Its first rule says "the same tokens" too.
        which = np.maximum(which - 1, -1)
    # A rule's number; −1, the last, is "the same tokens".
    names = [*(rule.name for rule in rules), SAME_TOKENS]
    scores = scores_of(rules, which, scores)
    matches = [
        Match(bytes(match).decode("utf-8", "replace"), score, names[rule], count)
        for match, score, rule, count in zip(found, scores.tolist(), which.tolist(), copies.tolist(), strict=True)
    ]
    starts = offsets.tolist()

    def of_page(at: int) -> tuple[Match, ...]:
        mine = matches[starts[at] : starts[at + 1]]
        return tuple(sorted(mine, key=lambda match: match.rule != SAME_TOKENS) if by_site else mine)

    return [
        _answer(name, of_page(at), flag, further)
        for at, (name, flag, further) in enumerate(zip(ids, flags.tolist(), more.tolist(), strict=True))
    ]


def answer_of(id: str, rules: Sequence[Rule], flags: int, raw: Any) -> Answer:
    """The answer to one page: its flags, and what the native index gave if it has matches.

    >>> answer_of("a", [], 1, None).replaced
    True
    """
    if raw is not None:
        return answers([id], rules, raw)[0]
    return _answer(id, (), flags, 0)


def _answer(id: str, matches: tuple[Match, ...], flags: int, more: int) -> Answer:
    return Answer(
        id=id,
        matches=matches,
        replaced=bool(flags & _REPLACED),
        repeated=bool(flags & _REPEATED),
        full_key=bool(flags & _FULL_KEY),
        more=more,
        conflict=bool(flags & _CONFLICT),
    )
