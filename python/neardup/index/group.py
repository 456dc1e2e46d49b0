"""Group commit: what several threads ask for at the same time is carried out together.

The first thread that finds nobody at work leads: it takes what is waiting, carries it out as one batch, and wakes those
who asked. What comes meanwhile waits for the next round. So one ``fsync`` serves as many callers as there are.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Generic, TypeVar

Asked = TypeVar("Asked")
Given = TypeVar("Given")


class Group(Generic[Asked, Given]):
    """Carries out single requests in groups of at most ``most``.

    >>> group = Group(lambda numbers: [number * 2 for number in numbers], most=8)
    >>> group(21)
    42
    """

    def __init__(self, work: Callable[[list[Asked]], list[Given]], most: int) -> None:
        self._work, self._most = work, most
        self._waiting: deque[tuple[Asked, Future[Given]]] = deque()
        self._leading = threading.Lock()

    def __call__(self, asked: Asked) -> Given:
        future: Future[Given] = Future()
        self._waiting.append((asked, future))
        while not future.done():
            # Whoever gets the lock leads a round; the others sleep until it ends, and by then are mostly served.
            with self._leading:
                if not future.done():
                    self._round()
        return future.result()

    def _round(self) -> None:
        taken = [self._waiting.popleft() for _ in range(min(self._most, len(self._waiting)))]
        try:
            given = self._work([asked for asked, _ in taken])
        except BaseException as error:
            if len(taken) == 1:
                taken[0][1].set_exception(error)
                return
            # One that cannot be carried out must not fail the others.
            for asked, future in taken:
                try:
                    future.set_result(self._work([asked])[0])
                except BaseException as own:
                    future.set_exception(own)
            return
        for (_, future), result in zip(taken, given, strict=True):
            future.set_result(result)
