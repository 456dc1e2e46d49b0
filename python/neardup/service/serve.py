"""Runs the service of an index: one process, one socket, ended in order."""

from __future__ import annotations

import asyncio
import logging
import socket
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from neardup.errors import MissingExtra, OutputError, UsageError
from neardup.index import Index
from neardup.service.api import LOG, application
from neardup.service.gate import DEFAULT, Limits
from neardup.service.loopback import is_loopback


def serve(
    index: Index,
    *,
    host: str = "127.0.0.1",
    port: int = 8750,
    token: str | None = None,
    limits: Limits = DEFAULT,
    backups: Path | None = None,
    allowed: Sequence[str] = (),
    started: Callable[[str], None] = lambda address: None,
) -> None:
    """Serves until the process is asked to end; then finishes what it took on.

    Without a token it listens on this machine only, and answers only to the names of this machine and those
    ``allowed``.
    """
    if token is None and not is_loopback(host):
        raise UsageError(
            f"listening on {host} lets others in, which needs a token",
            hint="put one into NEARDUP_TOKEN, or listen on 127.0.0.1",
        )
    if token is not None and len(token) < 16:
        raise UsageError(
            "the token is shorter than 16 characters", hint="python -c 'import secrets; print(secrets.token_urlsafe())'"
        )
    try:
        import uvicorn

        from neardup.service.connection import bounded_protocol

        protocol = bounded_protocol(limits)
    except ImportError as error:
        raise MissingExtra(f"the service needs {error.name}", hint="pip install 'neardup[serve]'") from None

    listening = _listen(host, port)
    _log()
    configuration = uvicorn.Config(
        application(index, limits=limits, token=token, backups=backups, allowed=allowed),
        http=protocol,
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_keep_alive=int(limits.seconds),
        timeout_graceful_shutdown=int(limits.seconds) + 5,
        lifespan="on",
    )
    name = listening.getsockname()
    started(f"http://{f'[{name[0]}]' if ':' in name[0] else name[0]}:{name[1]}")
    asyncio.run(uvicorn.Server(configuration).serve(sockets=[listening]))


def _listen(host: str, port: int) -> socket.socket:
    """A socket whose connections notice that the other side is gone."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, kind, protocol)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for name, seconds in (("TCP_KEEPIDLE", 30), ("TCP_KEEPINTVL", 10), ("TCP_KEEPCNT", 3)):
            if hasattr(socket, name):
                listening.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), seconds)
        listening.bind(address)
        listening.listen(1024)
    except OSError as error:
        raise OutputError(f"cannot listen on {host}, port {port}: {error.strerror or error}") from None
    return listening


def _log() -> None:
    """A JSON object a line on standard error; what the server and the event loop complain of, once a minute."""
    from neardup.service.connection import JsonLines, Seldom

    for name in ("asyncio", "uvicorn.error"):
        complaints = logging.getLogger(name)
        if not any(isinstance(handler.formatter, JsonLines) for handler in complaints.handlers):
            handler = logging.StreamHandler(sys.stderr)
            handler.setFormatter(JsonLines())
            handler.addFilter(Seldom())
            complaints.addHandler(handler)
            complaints.setLevel(logging.WARNING)
            complaints.propagate = False
    if not LOG.handlers:
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(logging.Formatter("%(message)s"))
        LOG.addHandler(handler)
        LOG.setLevel(logging.INFO)
        LOG.propagate = False
