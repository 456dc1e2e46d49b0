"""What the service does: pages are handed to the index by threads, within bounds.

Each request waits in a thread of its own for its call of the index, which puts together what several threads add at the
same time. How many pages may be under way is bounded, and how long a request may take.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final, TypeVar

from neardup.answers import Answer, Stats
from neardup.errors import ConflictError, OutputError
from neardup.index import Index
from neardup.service.gate import DEFAULT, Limits, Refused

#: Threads that wait for the index at the same time; more requests wait for them.
_THREADS: Final = 64

Result = TypeVar("Result")
Page = dict[str, Any]


class Service:
    """An index that is asked by many, from an event loop.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp() + "/index"
    >>> Index.create(folder, "combined")
    >>> async def asked(index):
    ...     service = Service(index)
    ...     await service.add([{"id": "a", "text": "a few words that are said again and again"}])
    ...     answers = await service.query([{"text": "a few words that are said again and again"}])
    ...     await service.close()
    ...     return answers[0].seen
    >>> with Index(folder) as index:
    ...     asyncio.run(asked(index))
    'a'
    """

    def __init__(self, index: Index, limits: Limits = DEFAULT, backups: Path | None = None) -> None:
        self.index = index
        self.limits = limits
        self.waiting = 0
        self._backups = backups
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="neardup-serve")

    async def add(self, pages: list[Page], key: str | None = None) -> list[Answer]:
        """Adds pages, all or none; ``key`` names the request, which is carried out once."""
        self._check_count(len(pages))
        try:
            return await self._waited_for(len(pages), lambda: self.index.add_many(pages, request=key))
        except ConflictError:
            raise ConflictError(
                "the Idempotency-Key was used before with something else", hint="give every request a key of its own"
            ) from None

    async def query(self, pages: list[Page]) -> list[Answer]:
        """Asks about pages."""
        self._check_count(len(pages))
        return await self._waited_for(len(pages), lambda: self.index.query_many(pages))

    async def remove(self, ids: list[str]) -> list[bool]:
        """Takes pages out; says of each whether it was there."""
        self._check_count(len(ids))
        return await self._waited_for(len(ids), lambda: self.index.remove(ids))

    async def stats(self) -> Stats:
        """What is in the index."""
        return await self._waited_for(0, self.index.stats)

    async def backup(self, name: str) -> int:
        """Copies the index into the folder for backups; says how many pages there are. It takes as long as it takes."""
        if self._backups is None:
            raise Refused(400, "the service was started without a folder for backups", hint="--backups DIR")
        try:
            await asyncio.to_thread(self.index.backup, self._backups / name)
        except OutputError as error:
            raise Refused(409, error.what, hint="choose another name") from None
        return self.index.stats().pages

    async def close(self) -> None:
        """Finishes what was taken on."""
        await asyncio.to_thread(self._threads.shutdown)

    def _check_count(self, count: int) -> None:
        if count > self.limits.batch:
            raise Refused(413, f"more than {self.limits.batch:,} in one request", hint="send fewer at a time")

    async def _waited_for(self, pages: int, work: Callable[[], Result]) -> Result:
        """The result of work in a thread. What was begun goes on if the client goes away, or if it takes too long."""
        if self.waiting + pages > self.limits.waiting:
            raise Refused(429, "too many pages are waiting", retry_after=1)
        self.waiting += pages
        loop = asyncio.get_running_loop()

        def done(_: Future[Result]) -> None:
            loop.call_soon_threadsafe(self._came_back, pages)

        future = self._threads.submit(work)
        future.add_done_callback(done)
        try:
            async with asyncio.timeout(self.limits.seconds):
                return await asyncio.wrap_future(future)
        except TimeoutError:
            raise Refused(503, f"no answer within {self.limits.seconds:g} s", retry_after=1) from None

    def _came_back(self, pages: int) -> None:
        self.waiting -= pages
