"""What stands before the service: who may come in, how large and how slow a request may be, and how many at a time.

A request is read to its end here, within its bounds, before anything of it is looked at. So a slow client costs a
connection and a little memory, and never one of the places of those that are being served.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import time
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from neardup.service.hosts import Hosts, is_own_origin

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Message, Receive, Send], Awaitable[None]]

#: Of a body that is too large, so many times the allowed size is read and forgotten.
_DRAINED: Final = 16
#: Paths that say only whether the service is there; they need no token and no place.
OPEN: Final = ("/health", "/ready")


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of a service."""

    #: Bytes of a request's body.
    body: int = 8 << 20
    #: Pages of one request.
    batch: int = 1000
    #: Seconds in which a request must have arrived, and in which it must be answered.
    seconds: float = 30.0
    #: Requests that are served at the same time; more are turned away.
    concurrency: int = 256
    #: Pages that may wait to be added; more are turned away.
    waiting: int = 10_000
    #: Bytes of a request's head: its line and its headers.
    head: int = 64 << 10
    #: Connections that are open at the same time; more are turned away.
    connections: int = 1000


#: Bounds unless told otherwise.
DEFAULT: Final = Limits()


class Refused(Exception):
    """A request that is not carried out, with the status that says why."""

    def __init__(self, status: int, reason: str, *, hint: str | None = None, retry_after: int | None = None) -> None:
        super().__init__(reason)
        self.status, self.reason, self.hint, self.retry_after = status, reason, hint, retry_after


def error_body(reason: str, hint: str | None = None) -> bytes:
    """The body of an error.

    >>> error_body("too large")
    b'{"error": {"reason": "too large", "hint": null}}'
    """
    return json.dumps({"error": {"reason": reason, "hint": hint}}).encode()


class Gate:
    """ASGI middleware: turns away what is out of bounds and tells of every request what became of it.

    Where no token is asked for, ``hosts`` are the names that are answered to: without them a page of the web could have
    its own name point here, and a browser would let it ask.
    """

    def __init__(
        self,
        application: Application,
        limits: Limits,
        token: str | None,
        hosts: Hosts | None,
        tell: Callable[[str, str, int, float], None],
    ) -> None:
        self._application, self._limits, self._hosts, self._tell = application, limits, hosts, tell
        self._token = None if token is None else token.encode()
        self._serving = 0

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._application(scope, receive, send)
            return
        started = time.perf_counter()
        status = 0

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._admit(scope, receive, watched)
        except Refused as refused:
            await _refuse(watched, refused)
        finally:
            self._tell(scope["method"], scope["path"], status, time.perf_counter() - started)

    async def _admit(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["path"] in OPEN:
            await self._application(scope, receive, send)
            return
        self._check_names(scope)
        self._check_token(scope)
        body = await self._read(scope, receive)
        if self._serving >= self._limits.concurrency:
            raise Refused(503, "too many requests are being served", retry_after=1)
        self._serving += 1
        given = False

        async def replay() -> Message:
            nonlocal given
            if given:
                return await receive()
            given = True
            return {"type": "http.request", "body": body, "more_body": False}

        try:
            await self._application(scope, replay, send)
        finally:
            self._serving -= 1

    def _check_names(self, scope: Message) -> None:
        if any(ord(letter) < 0x20 or ord(letter) == 0x7F for letter in scope["path"]):
            raise Refused(404, "Not Found")
        if self._hosts is None:
            return
        host = _header(scope, b"host")
        if not self._hosts.have(host):
            raise Refused(
                421, "this service does not answer to that name", hint="neardup serve --allow-host NAME lets it"
            )
        origin = _header(scope, b"origin")
        if origin and scope["method"] not in ("GET", "HEAD") and not is_own_origin(origin, host):
            raise Refused(403, "pages of other sites may not ask this service")

    def _check_token(self, scope: Message) -> None:
        if self._token is None:
            return
        given = next((value for name, value in scope["headers"] if name == b"authorization"), b"")
        kind, _, token = given.partition(b" ")
        # Compared in constant time, and on the same way whether or not there is one.
        if not hmac.compare_digest(token.strip(), self._token) or kind.lower() != b"bearer":
            raise Refused(401, "a token is needed", hint="send it as Authorization: Bearer …")

    async def _read(self, scope: Message, receive: Receive) -> bytes:
        most = self._limits.body
        lengths = [value for name, value in scope["headers"] if name == b"content-length"]
        if lengths and lengths[0].isdigit() and int(lengths[0]) > most:
            await self._drain(receive)
            raise self._too_large()
        parts: list[bytes] = []
        size = 0
        try:
            async with asyncio.timeout(self._limits.seconds):
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise Refused(400, "the client went away")
                    part = message.get("body", b"")
                    more = message.get("more_body", False)
                    size += len(part)
                    if size > most:
                        break
                    parts.append(part)
                    if not more:
                        return b"".join(parts)
        except TimeoutError:
            raise Refused(408, f"the request did not arrive within {self._limits.seconds:g} s") from None
        parts.clear()
        if more:
            await self._drain(receive)
        raise self._too_large()

    async def _drain(self, receive: Receive) -> None:
        """Lets a client that sends too much finish, within bounds: one that still sends does not read the answer."""
        left = _DRAINED * self._limits.body
        with suppress(TimeoutError):
            async with asyncio.timeout(self._limits.seconds):
                while left > 0:
                    message = await receive()
                    left -= len(message.get("body", b"")) + 1
                    if message["type"] == "http.disconnect" or not message.get("more_body", False):
                        return

    def _too_large(self) -> Refused:
        return Refused(413, f"the body is larger than {self._limits.body:,} bytes", hint="send fewer pages at a time")


def _header(scope: Message, name: bytes) -> str:
    return next((value.decode("latin-1") for key, value in scope["headers"] if key == name), "")


async def _refuse(send: Send, refused: Refused) -> None:
    body = error_body(refused.reason, refused.hint)
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if refused.retry_after is not None:
        headers.append((b"retry-after", str(refused.retry_after).encode()))
    if refused.status in (408, 413):
        # What is still on its way is not read.
        headers.append((b"connection", b"close"))
    if refused.status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": refused.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
