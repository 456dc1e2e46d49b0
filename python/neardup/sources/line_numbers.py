"""The numbers of lines in a file that several threads read, a stretch each.

How many lines a stretch has is known when it was read, and stretches are read about in their order: whoever needs the
number of a line waits for the stretches before it that are being read, and counts the lines of those that nobody reads
(they were passed over when a run was resumed). So no thread has to read the file ahead of the others to count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Condition


class LineNumbers:
    """Stretches are numbered from 0; ``count`` counts the lines of one.

    >>> numbers = LineNumbers(lambda stretch: 10)
    >>> numbers.begin(1)
    >>> numbers.end(1, lines=5)
    >>> numbers.before(2)
    15
    """

    def __init__(self, count: Callable[[int], int]) -> None:
        self._count = count
        #: Of each stretch that was read its lines; None of one that is being read.
        self._lines: dict[int, int | None] = {}
        #: Lines before each stretch, as far as all before it were read.
        self._before = [0]
        self._changed = Condition()

    def begin(self, stretch: int) -> None:
        """Says that a stretch is being read; it must end."""
        with self._changed:
            self._lines.setdefault(stretch, None)

    def end(self, stretch: int, lines: int | None) -> None:
        """Says how many lines it has; None where it could not be read."""
        with self._changed:
            if lines is not None:
                self._lines[stretch] = lines
            elif self._lines.get(stretch) is None:
                self._lines.pop(stretch, None)
            self._changed.notify_all()

    @contextmanager
    def reading(self, stretch: int) -> Iterator[Callable[[int], None]]:
        """Begins and ends a stretch; whoever reads it gives its lines to what comes."""
        lines: int | None = None

        def counted(count: int) -> None:
            nonlocal lines
            lines = count

        self.begin(stretch)
        try:
            yield counted
        finally:
            self.end(stretch, lines)

    def before(self, stretch: int) -> int:
        """How many lines stand before a stretch."""
        while True:
            with self._changed:
                while len(self._before) <= stretch and (lines := self._lines.get(len(self._before) - 1)) is not None:
                    self._before.append(self._before[-1] + lines)
                if len(self._before) > stretch:
                    return self._before[stretch]
                missing = len(self._before) - 1
                if missing in self._lines:
                    self._changed.wait()
                    continue
                self._lines[missing] = None
            lines = None
            try:
                lines = self._count(missing)
            finally:
                self.end(missing, lines)
