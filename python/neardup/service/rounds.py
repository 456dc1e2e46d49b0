"""Requests of several pages, as the service hands them to the index: those that wait together in one call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from neardup.errors import ConflictError
from neardup.index import Answer, Index
from neardup.index.incoming import Request


@dataclass(frozen=True, slots=True)
class Asked:
    """The pages of one request; all of them have tokens, or none. ``key`` names a request that adds."""

    pages: list[dict[str, Any]]
    key: str | None = None

    @property
    def has_tokens(self) -> bool:
        return "tokens" in self.pages[0]

    def named(self) -> list[Request | None]:
        """A name for each page. What was sent is the whole request, so that no part of another passes for it."""
        if self.key is None:
            return [None] * len(self.pages)
        content = Request.of(self.key, self.pages).content
        # A header holds no such character, so no other request has these names.
        return [Request(f"{self.key}\0{at}", content) for at in range(len(self.pages))]


def add_together(index: Index, requests: Sequence[Asked]) -> list[list[Answer] | Exception]:
    """Adds the pages of several requests, each request whole or not at all."""

    def add(some: Sequence[Asked]) -> list[Answer]:
        names = [name for request in some for name in request.named()]
        return index.add_many([page for request in some for page in request.pages], requests=names)

    def taken(request: Asked) -> Exception | None:
        first = request.named()[0]
        if first is None or not index.is_taken(first):
            return None
        return ConflictError(
            "the Idempotency-Key was used before with something else", hint="give every request a key of its own"
        )

    return _in_rounds(requests, add, taken)


def query_together(index: Index, requests: Sequence[Asked]) -> list[list[Answer] | Exception]:
    """Asks about the pages of several requests."""

    def ask(some: Sequence[Asked]) -> list[Answer]:
        return index.query_many([page for request in some for page in request.pages])

    return _in_rounds(requests, ask, lambda _: None)


def _in_rounds(
    requests: Sequence[Asked],
    work: Callable[[Sequence[Asked]], list[Answer]],
    refusal: Callable[[Asked], Exception | None],
) -> list[list[Answer] | Exception]:
    results: list[list[Answer] | Exception] = []
    for some in _rounds(requests):
        refused = [refusal(request) for request in some]
        rest = [request for request, error in zip(some, refused, strict=True) if error is None]
        answers = iter(_apart(rest, work))
        results.extend(next(answers) if error is None else error for error in refused)
    return results


def _rounds(requests: Sequence[Asked]) -> list[list[Asked]]:
    """Requests that can go in one call: pages with tokens are read in another way, and whether a key is taken is known
    only when the request that came before with it is carried out."""
    rounds: list[list[Asked]] = []
    keys: set[str] = set()
    for request in requests:
        if not rounds or request.has_tokens != rounds[-1][0].has_tokens or request.key in keys:
            rounds.append([])
            keys = set()
        rounds[-1].append(request)
        keys |= {request.key} if request.key is not None else set()
    return rounds


def _apart(
    requests: Sequence[Asked], work: Callable[[Sequence[Asked]], list[Answer]]
) -> list[list[Answer] | Exception]:
    """The answers to each request; one that cannot be carried out does not fail the others."""
    if not requests:
        return []
    try:
        answers = iter(work(requests))
        return [[next(answers) for _ in request.pages] for request in requests]
    except Exception as error:
        if len(requests) == 1:
            return [error]
    return [_apart([request], work)[0] for request in requests]
