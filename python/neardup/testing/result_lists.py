"""What several engines return for a query, and what judges think of it.

Each engine has its own opinion of an item, which is the item's true grade and some error; copies of an item are
ranked one after the other, as engines do that do not look. The first engine drops most of the repeats it meets, the
second none, the third half of them, and so on in turn. Judges see one page at a time: two copies of a page may be
given different grades, which is the noise that Huffman et al. speak of.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from neardup.testing.dice import Dice

#: Trees that have lent their names to engines.
ENGINES: Final = ("alder", "birch", "cedar", "dogwood", "elm", "fir")
#: How large a share of the repeats an engine leaves out, in turn.
_DROPS: Final = (0.9, 0.0, 0.5)
#: How far an engine's opinion is from the truth, in grades.
_ERRORS: Final = (1.2, 1.0, 1.6)
#: How often a judge is one grade off.
_SLIPS: Final = 0.15
#: The best grade; 0 is useless.
BEST: Final = 3


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a run: what an engine returned for a query, where, and with what score."""

    query: str
    page: str
    rank: int
    score: float
    engine: str


def grade_of(seed: int, item: str) -> int:
    """How well an item answers its query, from 0 to 3; most do not.

    >>> [grade_of(0, str(number)) for number in range(6)] == [grade_of(0, str(number)) for number in range(6)]
    True
    """
    return Dice(seed, "grade", item).pick((0, 0, 0, 1, 1, 2, 2, 3))


def judged(seed: int, page: str, grade: int) -> int:
    """The grade that a judge gives a page.

    >>> sum(judged(0, str(number), 1) != 1 for number in range(1000)) in range(120, 180)
    True
    """
    dice = Dice(seed, "judge", page)
    if not dice.chance(_SLIPS):
        return grade
    return grade - 1 if grade and (grade == BEST or dice.chance(0.5)) else grade + 1


def ranked(
    seed: int,
    query: str,
    pages: Sequence[tuple[str, str, int]],
    repeats: Callable[[str, str], bool],
    engines: int,
    depth: int,
) -> list[Entry]:
    """The lists of all engines for one query; ``pages`` are id, item and true grade, ``repeats`` says of two of them
    whether they are duplicates. A page that no engine would show is at the end of one engine's list.

    >>> two = [("a", "item 1", 3), ("b", "item 1", 3)]
    >>> [entry.page for entry in ranked(0, "q", two, lambda a, b: True, 2, 10) if entry.engine == "birch"]
    ['a', 'b']
    """
    shown: set[str] = set()
    lists: list[tuple[str, list[tuple[float, str]]]] = []
    for number, engine in enumerate(ENGINES[:engines]):
        dice = Dice(seed, "engine", engine, query)
        opinions: dict[str, float] = {}
        scored: list[tuple[float, str]] = []
        for page, item, grade in pages:
            # Four numbers make a bell curve near enough.
            if item not in opinions:
                error = (dice.random() + dice.random() + dice.random() + dice.random() - 2) * _ERRORS[number % 3]
                opinions[item] = grade + error
            scored.append((round(10 + opinions[item] + 0.01 * dice.random(), 4), page))
        scored.sort(key=lambda entry: (-entry[0], entry[1]))
        kept: list[tuple[float, str]] = []
        for score, page in scored:
            again = any(repeats(page, other) for _, other in kept)
            if len(kept) < depth and not (again and dice.chance(_DROPS[number % 3])):
                kept.append((score, page))
        shown.update(page for _, page in kept)
        lists.append((engine, kept))
    for place, page in enumerate(page for page, _, _ in pages if page not in shown):
        kept = lists[place % len(lists)][1]
        kept.append((round(kept[-1][0] - 0.01, 4) if kept else 0.0, page))
    return [
        Entry(query, page, rank, score, engine)
        for engine, kept in lists
        for rank, (score, page) in enumerate(kept, start=1)
    ]
