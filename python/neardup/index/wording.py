"""The answers of the native index in words: names of rules, scores as the rules have them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from neardup import _native
from neardup.answers import Answer, Match
from neardup.engines.common.matching import scores_of
from neardup.methods import Rule

#: The rule of pages with the same tokens.
SAME_TOKENS: Final = "identity"
_REPLACED, _REPEATED, _FULL_KEY, _CONFLICT = 1, 2, 4, 8


def answers(
    names: Sequence[str], rules: Sequence[Rule], given: _native.IndexAnswers, by_site: bool = False
) -> list[Answer]:
    """Answers as the native index gives them, in words; ``by_site`` is that of its shape."""
    flags = given.flags.tolist()
    if given.matches is None:
        return [_answer(name, (), flag, 0) for name, flag in zip(names, flags, strict=True)]
    matches = _matches(rules, given.matches, by_site)
    starts, more = given.matches.offsets.tolist(), given.matches.more.tolist()

    def of_page(at: int) -> tuple[Match, ...]:
        mine = matches[starts[at] : starts[at + 1]]
        return tuple(sorted(mine, key=lambda match: match.rule != SAME_TOKENS) if by_site else mine)

    return [
        _answer(name, of_page(at), flag, further)
        for at, (name, flag, further) in enumerate(zip(names, flags, more, strict=True))
    ]


def _matches(rules: Sequence[Rule], given: _native.IndexMatches, by_site: bool) -> list[Match]:
    which: Any = given.rules
    if by_site:
        # Its first rule says "the same tokens" too.
        which = np.maximum(which - 1, -1)
    # A rule's number; −1, the last, is "the same tokens".
    names = [*(rule.name for rule in rules), SAME_TOKENS]
    scores = scores_of(rules, which, given.scores)
    return [
        Match(match.decode("utf-8", "replace"), score, names[rule], count)
        for match, score, rule, count in zip(
            given.ids, scores.tolist(), which.tolist(), given.copies.tolist(), strict=True
        )
    ]


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
