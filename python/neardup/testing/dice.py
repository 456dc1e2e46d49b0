"""Seeded chance that is the same on every platform and every Python.

Python promises that ``random.Random(seed).random()`` never changes; it does not promise that of ``choice``,
``sample`` or ``shuffle``. So everything here is made of ``random()`` alone. Each part of the generated web
rolls its own dice, named by a path of words: a change in one part then leaves all the others as they were.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

Item = TypeVar("Item")


class Dice:
    """A stream of choices, named by the seed and by what it is for.

    >>> dice = Dice(7, "example")
    >>> dice.pick(["red", "green", "blue"]) == Dice(7, "example").pick(["red", "green", "blue"])
    True
    """

    __slots__ = ("random",)

    def __init__(self, *name: int | str) -> None:
        # A text seed goes through SHA-512: no dependence on the process's hash seed.
        self.random = random.Random("/".join(str(part) for part in name)).random

    def below(self, limit: int) -> int:
        """A whole number from 0 up to, and without, the limit.

        >>> 0 <= Dice(1).below(10) < 10
        True
        """
        return int(self.random() * limit)

    def between(self, low: int, high: int) -> int:
        """A whole number from low to high, both included.

        >>> Dice(1).between(4, 4)
        4
        """
        return low + int(self.random() * (high - low + 1))

    def chance(self, probability: float) -> bool:
        """True with the given probability.

        >>> Dice(1).chance(1.0), Dice(1).chance(0.0)
        (True, False)
        """
        return self.random() < probability

    def pick(self, items: Sequence[Item]) -> Item:
        """One of the items.

        >>> Dice(1).pick("a")
        'a'
        """
        return items[int(self.random() * len(items))]

    def sample(self, items: Sequence[Item], count: int) -> list[Item]:
        """Several different items (by position), in random order; all of them if there are not enough.

        >>> sorted(Dice(1).sample("abc", 5))
        ['a', 'b', 'c']
        """
        pool = list(items)
        count = min(count, len(pool))
        for place in range(count):
            other = place + int(self.random() * (len(pool) - place))
            pool[place], pool[other] = pool[other], pool[place]
        return pool[:count]

    def shuffled(self, items: Sequence[Item]) -> list[Item]:
        """All items in random order.

        >>> sorted(Dice(1).shuffled([3, 1, 2]))
        [1, 2, 3]
        """
        return self.sample(items, len(items))

    def zipf(self, smallest: int, largest: int) -> int:
        """A size s ≥ smallest with P(size ≥ s) = smallest/s, cut at the largest: most are small.

        >>> sizes = [Dice(1, number).zipf(2, 40) for number in range(1000)]
        >>> min(sizes), max(sizes), 450 < sizes.count(2) + sizes.count(3) < 550
        (2, 40, True)
        """
        # Division is exact to the last bit everywhere; a power would not be.
        return min(largest, int(smallest / (1.0 - self.random())))

    def digits(self, count: int) -> str:
        """A number of so many digits, the first of them not zero.

        >>> len(Dice(1).digits(6))
        6
        """
        low = 10 ** (count - 1)
        return str(self.between(low, 10 * low - 1))

    def token(self, count: int) -> str:
        """A text of so many hexadecimal digits, as in a session id.

        >>> len(Dice(1).token(16))
        16
        """
        return "".join(["0123456789abcdef"[int(self.random() * 16)] for _ in range(count)])
