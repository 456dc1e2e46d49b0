"""Work in several threads whose results come in the order of the items, with only a few items under way at a time."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_order(
    items: Iterable[Item],
    work: Callable[[Item], Result],
    threads: int,
    *,
    waiting: int = 2,
    size_of: Callable[[Item], int] | None = None,
    room: int = 0,
) -> Generator[Result]:
    """``work`` of each item. Unlike an executor's ``map`` it takes items only as results are taken, so that a source
    larger than memory passes through: those that threads work on, and so many that wait for one or are done; and of
    large items, by ``size_of``, only as many as have ``room``. Without ``threads`` it is done here.

    >>> list(in_order([3, 1, 2], lambda item: item * item, threads=2))
    [9, 1, 4]
    """
    if not threads:
        yield from map(work, items)
        return
    pool = ThreadPoolExecutor(threads, thread_name_prefix="neardup")
    under_way: deque[tuple[Future[Result], int]] = deque()
    size = 0
    try:
        for item in items:
            large = 0 if size_of is None else size_of(item)
            while under_way and size + large > room and size_of is not None:
                future, before = under_way.popleft()
                size -= before
                yield future.result()
            size += large
            under_way.append((pool.submit(work, item), large))
            del item
            if len(under_way) >= threads + waiting:
                future, before = under_way.popleft()
                size -= before
                yield future.result()
        while under_way:
            yield under_way.popleft()[0].result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
