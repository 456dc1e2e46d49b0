"""The one way out of the browser: a proxy on loopback that looks at every address before it connects.

All that the browser sends goes through it, whatever asked for it: redirects, workers, sockets and what never comes
by the browser's own hooks. A page's traffic has a gateway of its own, so its bytes can be counted and its connections
cut. Without a policy the gateway is closed: it refuses everything, and remembers that somebody tried.
"""

from __future__ import annotations

import asyncio
import re
from contextlib import suppress
from typing import Final
from urllib.parse import urlsplit

from neardup.render.policy import Policy, Refused

_HEAD_BYTES: Final = 256 << 10
_PIECE: Final = 64 << 10
_CONNECT_SECONDS: Final = 15.0
#: Header fields that are between two neighbours, and not for whoever is behind them.
_NEIGHBOURLY: Final = re.compile(
    rb"^(?:connection|proxy-[a-z-]+|keep-alive|upgrade)[ \t]*:[^\n]*\n", re.IGNORECASE | re.MULTILINE
)
_LENGTH: Final = re.compile(rb"^content-length[ \t]*:[ \t]*(\d{1,12})[ \t]*\r?$", re.IGNORECASE | re.MULTILINE)
_STATUS: Final = re.compile(rb"HTTP/1\.[01] (\d{3})")


class Gateway:
    """A proxy for one page at a time; ``async with`` opens and closes it."""

    def __init__(self, policy: Policy | None) -> None:
        self._policy = policy
        self._limit = 0
        self._open: set[asyncio.StreamWriter] = set()
        #: Bytes that came in for the present page.
        self.received = 0
        #: Hosts that the present page was refused, with the reason.
        self.refused: dict[str, str] = {}

    async def __aenter__(self) -> Gateway:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=_HEAD_BYTES)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        self._cut()
        # From Python 3.12 on this waits for connections too; they have been cut.
        with suppress(TimeoutError):
            await asyncio.wait_for(self._server.wait_closed(), 2)

    @property
    def address(self) -> str:
        """Where it listens, as a browser is told of it."""
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    @property
    def overflowed(self) -> bool:
        """Whether more came in than the present page may have."""
        return self.received > self._limit

    def begin(self, limit: int) -> None:
        """Starts counting for another page; what the last one left open is cut."""
        self._cut()
        self._limit, self.received, self.refused = limit, 0, {}

    def _cut(self) -> None:
        for writer in tuple(self._open):
            writer.transport.abort()
        self._open.clear()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open.add(writer)
        try:
            await self._answer(reader, writer)
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, TimeoutError):
            pass  # whoever closed the connection knows why
        finally:
            self._open.discard(writer)
            writer.transport.abort() if self.overflowed else writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        method, target, _ = [*head.split(b"\r\n", 1)[0].decode("latin-1").split(" ", 2), "", ""][:3]
        tunnel = method == "CONNECT"
        try:
            parts = urlsplit(f"//{target}" if tunnel else target)
            host, port = parts.hostname or "", parts.port or 80
        except ValueError:
            parts, host, port = urlsplit(""), "", 0
        try:
            if self._policy is None:
                raise Refused("nothing leaves the machine")
            if not tunnel and parts.scheme.lower() != "http":
                raise Refused(f"{parts.scheme or 'no scheme'}: is not http or https")
            address = await self._policy.address(host, port)
            there, onward = await asyncio.wait_for(asyncio.open_connection(*address), _CONNECT_SECONDS)
        except Refused as refused:
            self.refused[host] = str(refused)
            writer.write(b"HTTP/1.1 403 Refused\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            await writer.drain()
            return
        except (OSError, TimeoutError):
            writer.write(b"HTTP/1.1 502 Unreachable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            self.refused.setdefault(host, "could not be reached")
            await writer.drain()
            return
        self._open.add(onward)
        try:
            if tunnel:
                writer.write(b"HTTP/1.1 200 Connected\r\n\r\n")
                sending = asyncio.create_task(_pass(reader, onward))
                try:
                    await self._receive(there, writer)
                finally:
                    sending.cancel()
            else:
                await self._exchange(head, parts.path or "/", parts.query, (reader, writer), (there, onward))
        finally:
            self._open.discard(onward)
            onward.transport.abort()

    async def _exchange(
        self,
        head: bytes,
        path: str,
        query: str,
        here: tuple[asyncio.StreamReader, asyncio.StreamWriter],
        there: tuple[asyncio.StreamReader, asyncio.StreamWriter],
    ) -> None:
        """One request and its answer. The connection closes after it, so that no second request can follow to a host
        that was never looked at."""
        line, _, fields = head.partition(b"\r\n")
        method = line.split(b" ", 1)[0]
        target = f"{path}?{query}" if query else path
        sent = _NEIGHBOURLY.sub(b"", fields)
        there[1].write(method + b" " + target.encode("latin-1") + b" HTTP/1.1\r\nConnection: close\r\n" + sent)
        if length := _LENGTH.search(fields):
            left = int(length[1])
            while left and (data := await here[0].read(min(left, _PIECE))):
                there[1].write(data)
                await there[1].drain()
                left -= len(data)
        await there[1].drain()
        while True:
            answer = await there[0].readuntil(b"\r\n\r\n")
            self.received += len(answer)
            status = _STATUS.match(answer)
            if status is None or status[1][:1] != b"1":
                break
        first, _, rest = answer.partition(b"\r\n")
        here[1].write(first + b"\r\nConnection: close\r\n" + _NEIGHBOURLY.sub(b"", rest))
        await self._receive(there[0], here[1])

    async def _receive(self, there: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Passes on what comes in, as far as the page's limit goes."""
        while not self.overflowed and (data := await there.read(_PIECE)):
            self.received += len(data)
            writer.write(data)
            await writer.drain()


async def _pass(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(_PIECE):
            writer.write(data)
            await writer.drain()
