"""The work of the service and its routes, without HTTP: bounds, keys, and what becomes of what was begun."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from neardup import Index
from neardup.answers import Answer, Match
from neardup.errors import ConflictError
from neardup.service.gate import Limits, Refused
from neardup.service.work import Service

pytest.importorskip("fastapi", reason="the service needs the extra 'serve'")

TEXT = "the quick brown fox jumps over the lazy dog and then runs away from all of us"


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    Index.create(tmp_path / "index", "minhash(threshold=0.5)")
    with Index(tmp_path / "index", sync="system") as index:
        yield index


class Held:
    """An index whose additions wait to be let go."""

    def __init__(self) -> None:
        self.let_go = threading.Event()
        self.added: list[str] = []

    def add_many(self, pages: list[dict[str, Any]], request: str | None = None) -> list[Answer]:
        assert self.let_go.wait(60)
        self.added += [page["id"] for page in pages]
        return [Answer(page["id"]) for page in pages]


def test_pages_that_wait_are_bounded_and_finished() -> None:
    held = Held()

    async def asked() -> None:
        service = Service(cast(Index, held), Limits(waiting=3, batch=3))
        first = asyncio.ensure_future(service.add([{"id": "a"}, {"id": "b"}]))
        await asyncio.sleep(0)
        assert service.waiting == 2
        with pytest.raises(Refused, match="too many pages are waiting") as refusal:
            await service.add([{"id": "c"}, {"id": "d"}])
        assert (refusal.value.status, refusal.value.retry_after) == (429, 1)
        with pytest.raises(Refused, match="more than 3") as refusal:
            await service.add([{"id": "c"}] * 4)
        assert refusal.value.status == 413
        held.let_go.set()
        assert [answer.id for answer in await first] == ["a", "b"]
        await service.add([{"id": "e"}])
        await service.close()

    asyncio.run(asked())
    assert held.added == ["a", "b", "e"]


def test_what_takes_too_long_is_answered_and_goes_on() -> None:
    held = Held()

    async def asked() -> None:
        service = Service(cast(Index, held), Limits(seconds=0.05))
        with pytest.raises(Refused, match="no answer within") as refusal:
            await service.add([{"id": "a"}])
        assert refusal.value.status == 503
        assert service.waiting == 1
        held.let_go.set()
        await service.close()

    asyncio.run(asked())
    assert held.added == ["a"]


def test_a_key_is_carried_out_whole_or_not_at_all(index: Index) -> None:
    pages = [{"id": str(at), "text": f"{TEXT} {at}"} for at in range(3)]

    async def asked() -> None:
        service = Service(index)
        assert not any(answer.repeated for answer in await service.add(pages[:2], "key"))
        assert all(answer.repeated for answer in await service.add(pages[:2], "key"))
        for others in (pages, pages[1:], pages[:1]):
            with pytest.raises(ConflictError, match="Idempotency-Key was used before"):
                await service.add(others, "key")
        await service.close()

    asyncio.run(asked())
    assert index.ids() == ["0", "1"]


def test_a_request_may_be_longer_than_what_is_verified_together(index: Index) -> None:
    pages = [{"id": str(at), "text": f"w{at} " * 12} for at in range(1200)]
    assert not any(answer.repeated for answer in index.add_many(pages, request="long"))
    assert all(answer.repeated for answer in index.add_many(pages, request="long"))
    with pytest.raises(ConflictError):
        index.add_many(pages[:-1], request="long")
    assert index.stats().pages == 1200


def test_additions_of_threads_share_commits(tmp_path: Path) -> None:
    """Of a detector that the native module knows, and of one whose fingerprints are computed in Python."""
    for detector in ("combined", "winnowing"):
        Index.create(tmp_path / detector, detector)
        with Index(tmp_path / detector) as index:

            def add(thread: int, index: Index = index) -> None:
                for at in range(25):
                    name = f"{thread}-{at}"
                    assert index.add(" ".join(f"w{name}x{word}" for word in range(60)), id=name).seen is None

            threads = [threading.Thread(target=add, args=(number,)) for number in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            commits, pages = index.commits()
            assert pages == index.stats().pages == 200
            assert commits < 200, detector


def test_a_route_is_a_function() -> None:
    from neardup.service import models, routes

    class Adding:
        async def add(self, pages: list[dict[str, Any]], key: str | None) -> list[Answer]:
            assert key == "k"
            return [Answer(page["id"], (Match("b", 1.0, "identity", 2),)) for page in pages]

    counted: list[tuple[str, int]] = []

    class Counting:
        def answered(self, what: str, answers: list[Answer]) -> None:
            counted.append((what, len(answers)))

    page = models.PageIn(id="a", text="some text")
    answer = asyncio.run(routes.add(page, cast(Any, Adding()), cast(Any, Counting()), "k"))
    assert json.loads(bytes(answer.body))["matches"] == [{"id": "b", "score": 1.0, "rule": "identity", "copies": 2}]
    assert counted == [("add", 1)]
