"""Lines before a stretch, whoever reads the stretches before it and in whatever order."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from random import Random

import pytest

from neardup.sources.line_numbers import LineNumbers

LINES = [3, 0, 5, 1, 4, 2, 6, 7]
BEFORE = [sum(LINES[:at]) for at in range(len(LINES))]


def never(stretch: int) -> int:
    raise AssertionError(f"{stretch} was read and need not be counted")


def test_stretches_that_nobody_reads_are_counted_once() -> None:
    asked: list[int] = []

    def count(stretch: int) -> int:
        asked.append(stretch)
        return LINES[stretch]

    numbers = LineNumbers(count)
    assert [numbers.before(at) for at in (5, 2, 7)] == [BEFORE[5], BEFORE[2], BEFORE[7]]
    assert asked == list(range(7))


def test_who_comes_first_waits_for_those_before() -> None:
    numbers = LineNumbers(never)
    numbers.begin(0)
    numbers.begin(1)
    numbers.end(1, LINES[1])
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(numbers.before, 2)
        with pytest.raises(TimeoutError):
            waiting.result(timeout=0.05)
        numbers.end(0, LINES[0])
        assert waiting.result(timeout=10) == BEFORE[2]


def test_a_stretch_that_could_not_be_read_is_counted() -> None:
    numbers = LineNumbers(lambda stretch: LINES[stretch])
    numbers.begin(0)
    numbers.end(0, None)
    assert numbers.before(1) == LINES[0]


def test_a_count_that_fails_is_told_and_can_be_asked_again() -> None:
    broken = [True]

    def count(stretch: int) -> int:
        if broken.pop() if broken else False:
            raise OSError("gone")
        return LINES[stretch]

    numbers = LineNumbers(count)
    with pytest.raises(OSError, match="gone"):
        numbers.before(1)
    assert numbers.before(1) == LINES[0]


@pytest.mark.parametrize("seed", range(5))
def test_many_threads_in_any_order(seed: int) -> None:
    numbers = LineNumbers(lambda stretch: LINES[stretch])
    pause = threading.Event()

    def read(stretch: int) -> int:
        numbers.begin(stretch)
        pause.wait(Random(seed * 100 + stretch).random() / 100)
        numbers.end(stretch, LINES[stretch])
        return numbers.before(stretch)

    order = Random(seed).sample(range(len(LINES)), 6)
    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(read, order)) == [BEFORE[stretch] for stretch in order]
