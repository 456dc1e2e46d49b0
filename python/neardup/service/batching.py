"""Requests that wait together are carried out together: one commit, one look-up, for all that came meanwhile."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Generic, TypeVar

from neardup.service.gate import Refused

Asked = TypeVar("Asked")
Answered = TypeVar("Answered")


class Batcher(Generic[Asked, Answered]):
    """Takes requests on the event loop and hands those that wait to a thread, some at a time and each of them whole.

    ``work`` answers a list of requests with a result or an exception for each. ``most`` pages are handed over
    together, or one request if it has more; ``waiting`` pages may wait.
    """

    def __init__(
        self,
        work: Callable[[list[Asked]], Sequence[Answered | Exception]],
        *,
        most: int,
        waiting: int,
        done: Callable[[int], None],
    ) -> None:
        self._work, self._most, self._limit, self._done = work, most, waiting, done
        self._waiting: deque[tuple[Asked, int, asyncio.Future[Answered]]] = deque()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="neardup-batch")
        self._running: asyncio.Task[None] | None = None

    @property
    def waiting(self) -> int:
        """How many pages wait."""
        return sum(pages for _, pages, _ in self._waiting)

    async def ask(self, request: Asked, pages: int) -> Answered:
        """Carries out a request, of so many pages; requests stay in order."""
        if self.waiting + pages > self._limit:
            raise Refused(429, "too many pages are waiting", retry_after=1)
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Answered] = loop.create_future()
        self._waiting.append((request, pages, future))
        if self._running is None or self._running.done():
            self._running = loop.create_task(self._run())
        # Shielded: a client that goes away does not take back what others share.
        return await asyncio.shield(future)

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        while self._waiting:
            batch = [self._waiting.popleft()]
            pages = batch[0][1]
            while self._waiting and pages + self._waiting[0][1] <= self._most:
                batch.append(self._waiting.popleft())
                pages += batch[-1][1]
            requests = [request for request, _, _ in batch]
            results = await loop.run_in_executor(self._thread, self._carried_out, requests)
            self._done(pages)
            for (_, _, future), result in zip(batch, results, strict=True):
                if future.cancelled():
                    continue
                if isinstance(result, Exception):
                    future.set_exception(result)
                    # Whoever asked may have gone.
                    future.exception()
                else:
                    future.set_result(result)

    def _carried_out(self, requests: list[Asked]) -> Sequence[Answered | Exception]:
        try:
            return self._work(requests)
        except Exception as error:
            return [error] * len(requests)

    async def close(self) -> None:
        """Finishes what was taken on."""
        if self._running is not None:
            await asyncio.wait([self._running])
        self._thread.shutdown(wait=True)
