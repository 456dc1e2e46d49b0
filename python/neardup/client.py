"""A client of ``neardup serve``: typed answers, and retries that do not add twice.

Every request that adds carries an idempotency key, made once however often it is sent: the service carries it out the
first time and only answers after that. So a request whose answer was lost may be sent again. It needs nothing but the
standard library.
"""

from __future__ import annotations

import http.client
import json
import random
import secrets
import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Final, Self
from urllib.parse import urlsplit

from neardup.answers import Answer, Match, Stats
from neardup.errors import InputError, NeardupError, UsageError
from neardup.several import check_several

#: Statuses after which the same request may be sent again.
_AGAIN: Final = frozenset({408, 425, 429, 502, 503, 504})
_LONGEST_WAIT: Final = 30.0


class ServiceError(NeardupError):
    """The service refused a request, or could not be reached; ``status`` is None in the latter case."""

    def __init__(self, what: str, *, status: int | None, where: str, hint: str | None = None) -> None:
        super().__init__(what, where=where, hint=hint)
        self.status = status


@dataclass(frozen=True, slots=True)
class _Reply:
    status: int
    body: bytes
    retry_after: float | None


class Client:
    """Asks the service of an index. Threads may share one; each has a connection of its own.

    >>> Client("http://127.0.0.1:8750", token="…").address
    'http://127.0.0.1:8750'
    """

    def __init__(
        self,
        address: str = "http://127.0.0.1:8750",
        *,
        token: str | None = None,
        timeout: float = 30.0,
        attempts: int = 5,
    ) -> None:
        parts = urlsplit(address)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise UsageError(f"{address!r} is no address of a service", hint="write it as http://127.0.0.1:8750")
        if attempts < 1:
            raise UsageError("a request needs at least one attempt")
        self.address = address.rstrip("/")
        self._parts, self._token, self._timeout, self._attempts = parts, token, timeout, attempts
        self._own = threading.local()
        self._connections: set[http.client.HTTPConnection] = set()

    def add(
        self,
        page: str | Mapping[str, Any],
        *,
        id: str | None = None,
        url: str | None = None,
        date: str | None = None,
        key: str | None = None,
    ) -> Answer:
        """Adds a page and says which near-duplicates were there. ``key`` names the request; else it gets a name."""
        body = _page(page) | {name: text for name, text in (("id", id), ("url", url), ("date", date)) if text}
        return _answer(self._ask("POST", "/v1/pages", body, key or secrets.token_hex(16)))

    def add_many(self, pages: Iterable[str | Mapping[str, Any]], *, key: str | None = None) -> list[Answer]:
        """The same for several pages, in order."""
        said = self._ask("POST", "/v1/pages/batch", {"pages": _pages(pages)}, key or secrets.token_hex(16))
        return [_answer(answer) for answer in said["answers"]]

    def query(self, page: str | Mapping[str, Any], *, id: str | None = None, url: str | None = None) -> Answer:
        """Which near-duplicates of a page are there; nothing is added."""
        body = _page(page) | {name: text for name, text in (("id", id), ("url", url)) if text}
        return _answer(self._ask("POST", "/v1/query", body))

    def query_many(self, pages: Iterable[str | Mapping[str, Any]]) -> list[Answer]:
        """The same for several pages."""
        said = self._ask("POST", "/v1/query/batch", {"pages": _pages(pages)})
        return [_answer(answer) for answer in said["answers"]]

    def remove(self, ids: str | Iterable[str]) -> list[bool]:
        """Takes pages out, one or several; says of each whether it was there."""
        listed = [ids] if isinstance(ids, str) else list(ids)
        removed: list[bool] = self._ask("POST", "/v1/remove", {"ids": listed})["removed"]
        return removed

    def stats(self) -> Stats:
        """What is in the index."""
        return Stats(**self._ask("GET", "/v1/stats"))

    def backup(self, name: str) -> int:
        """Makes a backup of this name in the service's folder for them; says how many pages there are."""
        return int(self._ask("POST", "/v1/backup", {"name": name})["pages"])

    def ready(self) -> bool:
        """Whether the service is there and takes requests."""
        try:
            return self._send("GET", "/ready", None, {}).status == 200
        except (OSError, http.client.HTTPException):
            return False

    def _ask(self, method: str, path: str, body: object = None, key: str | None = None) -> Any:
        headers = {"content-type": "application/json"} if body is not None else {}
        if self._token is not None:
            headers["authorization"] = f"Bearer {self._token}"
        if key is not None:
            headers["idempotency-key"] = key
        sent = None if body is None else json.dumps(body).encode()
        wait = 0.05
        for attempt in range(1, self._attempts + 1):
            last = attempt == self._attempts
            try:
                reply = self._send(method, path, sent, headers)
            except (OSError, http.client.HTTPException) as error:
                self._drop()
                if last:
                    reason = str(error) or type(error).__name__
                    raise ServiceError(
                        f"the service cannot be reached: {reason}", status=None, where=self.address,
                        hint="is it running? neardup serve INDEX",
                    ) from None  # fmt: skip
            else:
                if reply.status == 200:
                    return _parsed(reply, self.address)
                if last or reply.status not in _AGAIN:
                    raise _error(reply, self.address)
                wait = max(wait, reply.retry_after or 0.0)
            # Apart from each other, so that clients that were turned away together do not come back together.
            time.sleep(min(wait, _LONGEST_WAIT) * random.uniform(0.5, 1.0))
            wait *= 2
        raise AssertionError("the last attempt returns or raises")

    def _send(self, method: str, path: str, body: bytes | None, headers: dict[str, str]) -> _Reply:
        connection: http.client.HTTPConnection | None = getattr(self._own, "connection", None)
        if connection is None:
            secure = self._parts.scheme == "https"
            kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
            connection = self._own.connection = kind(
                self._parts.hostname or "", self._parts.port, timeout=self._timeout
            )
            self._connections.add(connection)
        connection.request(method, self._parts.path.rstrip("/") + path, body, headers)
        reply = connection.getresponse()
        try:
            wait = float(reply.headers.get("retry-after", ""))
        except ValueError:
            wait = None
        return _Reply(reply.status, reply.read(), wait)

    def _drop(self) -> None:
        """Closes the connection of this thread; the next request opens another."""
        connection = getattr(self._own, "connection", None)
        self._own.connection = None
        if connection is not None:
            self._connections.discard(connection)
            connection.close()

    def close(self) -> None:
        """Closes the connections of all threads."""
        self._own = threading.local()
        while self._connections:
            self._connections.pop().close()

    def __del__(self) -> None:
        if hasattr(self, "_connections"):
            self.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _pages(pages: Iterable[str | Mapping[str, Any]]) -> list[dict[str, Any]]:
    check_several(pages)
    return [_page(page) for page in pages]


def _page(page: str | Mapping[str, Any]) -> dict[str, Any]:
    said = {"text": page} if isinstance(page, str) else dict(page)
    if any(isinstance(value, bytes) for value in said.values()):
        raise InputError("a page for the service is text, not bytes", hint="decode it first")
    return said


def _answer(said: dict[str, Any]) -> Answer:
    return Answer(**(said | {"matches": tuple(Match(**match) for match in said["matches"])}))


def _parsed(reply: _Reply, where: str) -> Any:
    try:
        return json.loads(reply.body)
    except ValueError:
        raise ServiceError("what answers is no service of neardup", status=reply.status, where=where) from None


def _error(reply: _Reply, where: str) -> ServiceError:
    try:
        said = json.loads(reply.body)["error"]
        reason, hint = str(said["reason"]), said.get("hint")
    except (ValueError, KeyError, TypeError):
        reason, hint = f"the service answered with status {reply.status}", None
    return ServiceError(reason, status=reply.status, where=where, hint=hint)
