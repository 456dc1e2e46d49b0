"""Starts the application: on loopback unless told otherwise, and then only with a token."""

from __future__ import annotations

import secrets
import socket
import threading
import webbrowser
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from neardup.errors import UsageError
from neardup.service.loopback import is_loopback
from neardup.web.application import application, open_workspace, require_ui

#: Tried first, so that an address can be kept; another is taken where it is in use.
PORT: Final = 8740


def bound(host: str, port: int | None) -> socket.socket:
    """A socket that listens: at the port asked for, else at the usual one, else at any."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    tried = [port] if port is not None else [PORT, 0]
    failure: OSError | None = None
    for one in tried:
        made = socket.socket(family, socket.SOCK_STREAM)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            made.bind((host, one))
        except OSError as error:
            made.close()
            failure = error
        else:
            return made
    raise UsageError(
        f"cannot listen there: {failure.strerror if failure else ''}", where=f"{host}:{port}", hint="another --port"
    )


def serve(
    folder: Path,
    *,
    host: str = "127.0.0.1",
    port: int | None = None,
    token: str | None = None,
    allowed: Sequence[str] = (),
    judging: Path | None = None,
    decisions: Path | None = None,
    open_browser: bool = True,
    told: Callable[[str], None] = print,
) -> None:
    """Serves a run folder until it is interrupted."""
    require_ui()
    import uvicorn

    local = is_loopback(host)
    token = token or (None if local else secrets.token_urlsafe(24))
    space = open_workspace(folder, judging=judging, decisions=decisions)
    try:
        listening = bound(host, port)
        number = listening.getsockname()[1]
        name = host if local else socket.gethostname() if host in ("0.0.0.0", "::") else host
        names = [*allowed, *(() if local else (socket.gethostname(), host))]
        address = f"http://{f'[{name}]' if ':' in name else name}:{number}/" + (f"?token={token}" if token else "")
        guarded = application(space, hosts=names, addresses=not local, token=token)
        config = uvicorn.Config(guarded, log_level="warning", access_log=False, lifespan="off", server_header=False)
        server = uvicorn.Server(config)
        told(f"{folder} is at {address}  (Ctrl-C ends it)")
        # The numbers of a large run take a moment; they are read while the browser starts.
        threading.Thread(target=space.warm, daemon=True).start()
        if open_browser:
            threading.Timer(0.3, webbrowser.open, [address]).start()
        server.run(sockets=[listening])
    finally:
        space.close()
