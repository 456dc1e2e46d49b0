"""Who may ask: the guard in front of every request, and the headers on every answer.

- The Host header must name this server: a page on the web that has its own name point here (DNS rebinding) is turned
  away. Names are checked; addresses are let through where the server was told to listen beyond loopback.
- Beyond loopback a token is needed: from the address the program prints, then from a cookie that no script can read.
- What changes something must be JSON by POST from our own pages, with a secret that only they know.
- No answer may be framed, load anything from elsewhere, or run a script that is not ours. Pages under study are shown
  under a policy of their own: no script, no network, no forms, an origin of no one.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qs, urlencode

from neardup.service.hosts import LOOPBACK, Hosts, is_own_origin

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

CSRF_HEADER: Final = "x-neardup"
COOKIE: Final = "neardup"
_MOST_BYTES: Final = 1 << 16
POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; frame-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
#: Of a page under study: its own inline styles and inline images, and nothing else.
HOSTILE_POLICY: Final = (
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; base-uri 'none'; "
    "frame-ancestors 'self'"
)
_HEADERS: Final = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "x-dns-prefetch-control": "off",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}


class Guard:
    """An application that lets only the right requests through to another."""

    def __init__(
        self,
        application: ASGIApp,
        *,
        hosts: Iterable[str] = LOOPBACK,
        addresses: bool = False,
        token: str | None = None,
        secret: str | None = None,
    ) -> None:
        self._application = application
        self._hosts = Hosts(hosts, addresses=addresses)
        self._token = token
        self._secret = secret or secrets.token_urlsafe(24)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._application(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        refusal = self._refusal(scope, headers)
        if refusal is None and self._token is not None and not self._has_token(headers):
            if self._brings_token(scope):
                await self._let_in(scope, send)
                return
            refusal = 401, "a token is needed: open the address that neardup ui printed"
        if refusal is not None:
            await _answer(send, *refusal)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                present = {name.lower() for name, _ in message["headers"]}
                wanted = _HEADERS | {"content-security-policy": POLICY, "cache-control": "no-store"}
                message["headers"] = [
                    *message["headers"],
                    *((k.encode(), v.encode()) for k, v in wanted.items() if k.encode() not in present),
                ]
            await send(message)

        await self._application(scope, receive, with_headers)

    def _refusal(self, scope: Scope, headers: dict[str, str]) -> tuple[int, str] | None:
        if not self._hosts.have(headers.get("host", "")):
            return 421, "this server does not answer to that name; neardup ui --allow-host NAME lets it"
        if scope["method"] in ("GET", "HEAD"):
            return None
        if scope["method"] != "POST":
            return 405, "only GET and POST"
        origin = headers.get("origin")
        if headers.get("sec-fetch-site", "same-origin") != "same-origin" or (
            origin is not None and not is_own_origin(origin, headers.get("host", ""))
        ):
            return 403, "changes are taken from this application's own pages only"
        if not hmac.compare_digest(headers.get(CSRF_HEADER, "").encode(), self._secret.encode()):
            return 403, "the page is older than the server: load it again"
        if headers.get("content-type", "").partition(";")[0] != "application/json":
            return 415, "only JSON is taken"
        length = headers.get("content-length", "")
        if not length.isdecimal() or int(length) > _MOST_BYTES:
            return 413, "too much, or of unknown length"
        return None

    def _has_token(self, headers: dict[str, str]) -> bool:
        assert self._token is not None
        for part in headers.get("cookie", "").split(";"):
            name, _, value = part.strip().partition("=")
            if name == COOKIE and hmac.compare_digest(value.encode(), self._token.encode()):
                return True
        return False

    def _brings_token(self, scope: Scope) -> bool:
        assert self._token is not None
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        return scope["method"] == "GET" and hmac.compare_digest(given.encode(), self._token.encode())

    async def _let_in(self, scope: Scope, send: Send) -> None:
        """Moves the token from the address, which is seen and remembered, to a cookie."""
        words = parse_qs(scope["query_string"].decode("latin-1"))
        words.pop("token", None)
        # Only a path of our own: two slashes would name another server.
        place = "/" + scope["path"].lstrip("/\\") + (f"?{urlencode(words, doseq=True)}" if words else "")
        cookie = f"{COOKIE}={self._token}; HttpOnly; SameSite=Strict; Path=/"
        await _answer(send, 303, "", {"location": place, "set-cookie": cookie})


async def _answer(send: Send, status: int, text: str, others: dict[str, str] | None = None) -> None:
    headers: dict[str, Any] = {"content-type": "text/plain; charset=utf-8", "cache-control": "no-store"}
    headers |= _HEADERS | {"content-security-policy": "default-src 'none'"} | (others or {})
    pairs = [(name.encode(), str(value).encode("latin-1", "replace")) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": pairs})
    await send({"type": "http.response.body", "body": text.encode()})
