"""Work in several threads whose results come in the order of the items, with only a few items under way at a time."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_order(
    items: Iterable[Item], work: Callable[[Item], Result], threads: int, *, waiting: int = 2
) -> Generator[Result]:
    """``work`` of each item. Unlike an executor's ``map`` it takes items only as results are taken, so that a source
    larger than memory passes through: those that threads work on, and so many that wait for one or are done. Without
    ``threads`` it is done here.

    >>> list(in_order([3, 1, 2], lambda item: item * item, threads=2))
    [9, 1, 4]
    """
    if not threads:
        yield from map(work, items)
        return
    pool = ThreadPoolExecutor(threads, thread_name_prefix="neardup")
    under_way: deque[Future[Result]] = deque()
    try:
        for item in items:
            under_way.append(pool.submit(work, item))
            if len(under_way) >= threads + waiting:
                yield under_way.popleft().result()
        while under_way:
            yield under_way.popleft().result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
