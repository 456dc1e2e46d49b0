"""The service of an index as an ASGI application: its routes, behind the gate that lets requests in."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from neardup.errors import MissingExtra
from neardup.index import Index
from neardup.service.gate import DEFAULT, Gate, Limits
from neardup.service.hosts import LOOPBACK, Hosts
from neardup.version import VERSION

if TYPE_CHECKING:
    from fastapi import FastAPI

    from neardup.service.metrics import Metrics

LOG: Final = logging.getLogger("neardup.service")


def application(
    index: Index,
    *,
    limits: Limits = DEFAULT,
    token: str | None = None,
    backups: Path | None = None,
    allowed: Sequence[str] = (),
) -> Gate:
    """The service of an index as an ASGI application; the index is closed by whoever opened it.

    Without a token it answers to the names of this machine and to those ``allowed``; with one, to any name unless some
    are given: a page of the web whose name was made to point here has no token.
    """
    try:
        from fastapi import FastAPI

        from neardup.service.metrics import Metrics
        from neardup.service.models import with_whole_bounds
        from neardup.service.routes import ERRORS, answer_errors, routes
        from neardup.service.work import Service
    except ImportError as error:
        raise MissingExtra(f"the service needs {error.name}", hint="pip install 'neardup[serve]'") from None

    api = FastAPI(title="neardup index", version=VERSION, lifespan=_lifespan, responses=ERRORS, redoc_url=None)
    service = Service(index, limits, backups)
    api.state.service = service
    api.state.metrics = metrics = Metrics(index, lambda: service.waiting)
    api.state.ready = False
    api.include_router(routes)
    answer_errors(api)
    with_whole_bounds(api.openapi())
    hosts = Hosts((*LOOPBACK, *allowed)) if token is None or allowed else None
    return Gate(api, limits, token, hosts, partial(_log, metrics))


@asynccontextmanager
async def _lifespan(api: FastAPI) -> AsyncIterator[None]:
    service = api.state.service
    api.state.ready = True
    LOG.info(json.dumps({"event": "ready", "pages": service.index.stats().pages}))
    yield
    api.state.ready = False
    await service.close()
    LOG.info(json.dumps({"event": "stopped"}))


def _log(metrics: Metrics, method: str, path: str, status: int, seconds: float) -> None:
    metrics.request(path, status, seconds)
    line = {"event": "request", "method": method, "path": path[:200], "status": status}
    LOG.info(json.dumps(line | {"ms": round(seconds * 1e3, 2), "time": round(time.time(), 3)}))
