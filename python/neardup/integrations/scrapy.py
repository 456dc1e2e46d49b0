"""A Scrapy item pipeline: pages that repeat one the index has seen are dropped, or marked.

In the project's settings::

    ITEM_PIPELINES = {"neardup.integrations.scrapy.NearDuplicates": 300}
    NEARDUP_INDEX = "seen"                      # a folder, made if it is not there; or
    NEARDUP_SERVICE = "http://127.0.0.1:8750"   # the address of neardup serve
    NEARDUP_ACTION = "drop"                     # or "mark": items get the field "repeats"

Items need ``html`` or ``text``, and should have ``url``; other names are told by NEARDUP_FIELDS. Several spiders of one
process share an index in a folder; several processes need the service.

The crawl goes on while items are added: threads of the pipeline's own wait for the disk or the service, and those that
wait at the same time share a sync.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final, Protocol

from neardup.client import Client
from neardup.errors import MissingExtra, UsageError
from neardup.index import Answer, Index

#: Items that are added at the same time, at most; the others wait.
_AT_ONCE: Final = 8


class _Adds(Protocol):
    def add(self, page: Mapping[str, Any], /) -> Answer: ...

    def close(self) -> None: ...


class NearDuplicates:
    """Asks the index about every item, and adds it in the same step."""

    def __init__(
        self,
        *,
        index: str | os.PathLike[str] | None = None,
        service: str | None = None,
        detector: str | None = None,
        action: str = "drop",
        fields: Mapping[str, str] | None = None,
    ) -> None:
        if (index is None) == (service is None):
            raise UsageError("the pipeline needs an index or a service", hint="set NEARDUP_INDEX or NEARDUP_SERVICE")
        if action not in ("drop", "mark"):
            raise UsageError(f"unknown action {action!r}", hint="one of drop, mark")
        self._index, self._service, self._detector = index, service, detector
        self._action = action
        self._fields = {"html": "html", "text": "text", "url": "url"} | dict(fields or {})
        self._asked: _Adds | None = None
        self._threads: ThreadPoolExecutor | None = None

    @classmethod
    def from_crawler(cls, crawler: Any) -> NearDuplicates:
        """The pipeline as the project's settings describe it."""
        settings = crawler.settings
        pipeline = cls(
            index=settings.get("NEARDUP_INDEX"),
            service=settings.get("NEARDUP_SERVICE"),
            detector=settings.get("NEARDUP_DETECTOR"),
            action=settings.get("NEARDUP_ACTION", "drop"),
            fields=settings.getdict("NEARDUP_FIELDS"),
        )
        pipeline._stats = crawler.stats
        return pipeline

    _stats: Any = None

    def open_spider(self, spider: Any = None) -> None:
        """Opens the index, or a connection to the service."""
        self._threads = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="neardup-pipeline")
        if self._service is not None:
            self._asked = Client(self._service, token=os.environ.get("NEARDUP_TOKEN"))
            return
        assert self._index is not None
        if not Path(self._index).exists():
            Index.create(self._index, self._detector)
        self._asked = Index(self._index)

    def close_spider(self, spider: Any = None) -> None:
        if self._threads is not None:
            self._threads.shutdown()
        if self._asked is not None:
            self._asked.close()

    async def process_item(self, item: Any, spider: Any = None) -> Any:
        """The item, unless it repeats one that was seen; an item without content passes."""
        given = {name: item.get(field) for name, field in self._fields.items()}
        kind = "html" if given.get("html") else "text"
        if not given.get(kind) or self._asked is None:
            return item
        page = {kind: given[kind]} | ({"url": str(given["url"])} if given.get("url") else {})
        answer = await self._added(self._asked, page)
        self._count("neardup/added")
        if not answer:
            return item
        self._count("neardup/repeats")
        if self._action == "mark":
            item["repeats"] = answer.seen
            return item
        raise _drop_item()(f"repeats {answer.seen}")

    def _added(self, asked: _Adds, page: Mapping[str, Any]) -> Awaitable[Answer]:
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            # One of Twisted's reactors that is not asyncio's, with threads of its own.
            from twisted.internet.threads import deferToThread

            deferred: Awaitable[Answer] = deferToThread(asked.add, page)
            return deferred
        return loop.run_in_executor(self._threads, asked.add, page)

    def _count(self, name: str) -> None:
        if self._stats is not None:
            self._stats.inc_value(name)


def _drop_item() -> type[Exception]:
    try:
        from scrapy.exceptions import DropItem
    except ImportError:
        raise MissingExtra("the pipeline needs Scrapy", hint="pip install scrapy") from None
    kind: type[Exception] = DropItem
    return kind
