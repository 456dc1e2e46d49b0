"""Requests that wait together are carried out together: one commit, one look-up, for all that came meanwhile."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Generic, TypeVar

from neardup.web.service.gate import Refused

Asked = TypeVar("Asked")
Given = TypeVar("Given")


class Batcher(Generic[Asked, Given]):
    """Takes single requests on the event loop and hands what is waiting to a thread, a batch at a time."""

    def __init__(
        self, work: Callable[[list[Asked]], list[Given]], *, most: int, waiting: int, told: Callable[[int], None]
    ) -> None:
        self._work, self._most, self._limit, self._told = work, most, waiting, told
        self._waiting: deque[tuple[Asked, asyncio.Future[Given]]] = deque()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="neardup-batch")
        self._running: asyncio.Task[None] | None = None

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    async def ask(self, asked: list[Asked]) -> list[Given]:
        """Carries out some requests; they stay in order, and others may come between."""
        if len(self._waiting) + len(asked) > self._limit:
            raise Refused(429, "too many pages are waiting", retry_after=1)
        loop = asyncio.get_running_loop()
        futures: list[asyncio.Future[Given]] = [loop.create_future() for _ in asked]
        self._waiting.extend(zip(asked, futures, strict=True))
        if self._running is None or self._running.done():
            self._running = loop.create_task(self._run())
        # Shielded: a client that goes away does not take back what others share.
        return list(await asyncio.gather(*(asyncio.shield(future) for future in futures)))

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        while self._waiting:
            taken = [self._waiting.popleft() for _ in range(min(self._most, len(self._waiting)))]
            given = await loop.run_in_executor(self._thread, self._carried_out, [asked for asked, _ in taken])
            self._told(len(taken))
            for (_, future), result in zip(taken, given, strict=True):
                if future.cancelled():
                    continue
                if isinstance(result, BaseException):
                    future.set_exception(result)
                    # Whoever asked may have gone.
                    future.exception()
                else:
                    future.set_result(result)

    def _carried_out(self, asked: list[Asked]) -> list[Given | BaseException]:
        try:
            return list(self._work(asked))
        except Exception as error:
            if len(asked) == 1:
                return [error]
        # One that cannot be carried out must not fail the others.
        return [self._carried_out([one])[0] for one in asked]

    async def close(self) -> None:
        """Finishes what was taken on."""
        if self._running is not None:
            await asyncio.wait([self._running])
        self._thread.shutdown(wait=True)
