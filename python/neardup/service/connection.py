"""A connection to the service, by uvicorn: bounded before a request is known to be one.

A request's head must arrive in time, the second on a connection like the first, and must not be long; a client must
take the answer in time; and only so many connections are open. Every refusal is JSON, as those of the service are.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import time
from http import HTTPStatus
from typing import Any, Final

from neardup.service.gate import Limits, error_body

#: Of the files that the process may still open, the index is left so many parts of one.
_SHARE: Final = 2
_FEWEST_CONNECTIONS: Final = 8
#: Files that are open before the first connection comes, where that cannot be asked.
_OPEN_FILES: Final = 64
#: What a body's chunks may need around them: so many bytes for one of the body.
_AROUND_CHUNKS: Final = 0.25
#: Seconds that a refused client has to read why; what it still sends is dropped.
_LINGER: Final = 1.0
_MINUTE: Final = 60.0
#: Different messages that are remembered.
_MESSAGES: Final = 100


def connection_limit(limits: Limits) -> int:
    """How many connections may be open: never so many that the index could open no file any more."""
    try:
        import resource
    except ImportError:  # Not on Windows, which has no such limit.
        return limits.connections
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        open_files = len(os.listdir("/proc/self/fd"))
    except OSError:
        open_files = _OPEN_FILES
    if soft == resource.RLIM_INFINITY:
        return limits.connections
    return min(limits.connections, max(_FEWEST_CONNECTIONS, (soft - open_files) // _SHARE))


def bounded_protocol(limits: Limits) -> type[asyncio.Protocol]:
    """Uvicorn's protocol, within these limits."""
    from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

    most_connections = connection_limit(limits)

    class Bounded(HttpToolsProtocol):
        """A connection that ends when a request's head is late or long, or an answer is not taken."""

        #: When the connection ends unless something happens.
        _deadline: asyncio.TimerHandle | None = None
        #: Bytes of the request under way that are no body, and that are.
        _around = 0
        _body = 0
        _refused = False

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            if len(self.connections) > most_connections:
                self._refuse(503, f"more than {most_connections:,} connections are open", retry_after=1)
                transport.close()
                return
            self._give_time()

        def connection_lost(self, exc: Exception | None) -> None:
            self._take_back()
            super().connection_lost(exc)

        def data_received(self, data: bytes) -> None:
            if self._refused or self.transport.is_closing():
                return
            self._around += len(data)
            super().data_received(data)
            if self._around > limits.head + _AROUND_CHUNKS * self._body and not self._refused:
                self._refuse(431, f"the head of the request is longer than {limits.head:,} bytes")

        def on_headers_complete(self) -> None:
            self._take_back()
            super().on_headers_complete()

        def on_body(self, body: bytes) -> None:
            self._around -= len(body)
            self._body += len(body)
            super().on_body(body)

        def on_message_complete(self) -> None:
            self._around = self._body = 0
            super().on_message_complete()

        def on_response_complete(self) -> None:
            super().on_response_complete()
            # A request that came meanwhile is being served, or the next one has to come in time.
            if self.cycle.response_complete:
                self._give_time()

        def pause_writing(self) -> None:
            super().pause_writing()
            self._give_time()

        def resume_writing(self) -> None:
            super().resume_writing()
            self._take_back()

        def send_400_response(self, msg: str) -> None:
            self._refuse(400, msg)

        def _refuse(self, status: int, reason: str, retry_after: int | None = None) -> None:
            body = error_body(reason)
            lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}", "content-type: application/json"]
            lines += [f"content-length: {len(body)}", "connection: close"]
            lines += [] if retry_after is None else [f"retry-after: {retry_after}"]
            # While an answer is under way, another cannot stand in the middle of it.
            if self.cycle is None or self.cycle.response_complete or not self.cycle.response_started:
                self.transport.write("\r\n".join([*lines, "", ""]).encode() + body)
            # Closed at once, with something of the request unread, a connection is reset and the answer lost.
            self._refused = True
            self._take_back()
            self.transport.write_eof()
            self._deadline = self.loop.call_later(_LINGER, self.transport.abort)

        def _give_time(self) -> None:
            self._take_back()
            self._deadline = self.loop.call_later(limits.seconds, self._end)

        def _take_back(self) -> None:
            if self._deadline is not None:
                self._deadline.cancel()
                self._deadline = None

        def _end(self) -> None:
            if self.transport.get_write_buffer_size():
                # What the client does not take is dropped.
                self.transport.abort()
            elif self._around:
                self._refuse(408, f"the request did not arrive within {limits.seconds:g} s")
            else:
                self.transport.close()

    return Bounded


class Seldom(logging.Filter):
    """Lets each message through once a minute, with the number of those that were left out."""

    def __init__(self) -> None:
        super().__init__()
        self._last: dict[str, float] = {}
        self._left_out: dict[str, int] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        if len(self._last) > _MESSAGES:
            self._last.clear()
            self._left_out.clear()
        now = time.monotonic()
        message = record.getMessage().partition("\n")[0]
        if now - self._last.get(message, -_MINUTE) < _MINUTE:
            self._left_out[message] += 1
            return False
        record.left_out = self._left_out.get(message, 0)
        self._last[message], self._left_out[message] = now, 0
        return True


class JsonLines(logging.Formatter):
    """One JSON object a line, without tracebacks."""

    def format(self, record: logging.LogRecord) -> str:
        line = {"event": "server", "level": record.levelname.lower(), "reason": record.getMessage().partition("\n")[0]}
        return json.dumps(line | {"left_out": getattr(record, "left_out", 0)})
