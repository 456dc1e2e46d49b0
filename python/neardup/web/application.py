"""The application: which address leads to which view, behind the guard."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from neardup.errors import ConflictError, InputError, MissingExtra, NeardupError, UsageError
from neardup.evaluation.judging import Judging
from neardup.results.texts import page_source
from neardup.web.contents import Contents
from neardup.web.explaining import Explaining
from neardup.web.listing import Lists
from neardup.web.run import OpenRun
from neardup.web.texts import TextIndex

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import ASGIApp

    from neardup.web.workspace import Workspace


def require_ui() -> None:
    """Raises ``MissingExtra`` unless what the application is made of is installed."""
    try:
        import jinja2  # noqa: F401
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise MissingExtra(f"the browser application needs {error.name}", hint="pip install 'neardup[ui]'") from None


def open_workspace(
    folder: Path, *, judging: Path | None = None, decisions: Path | None = None, secret: str | None = None
) -> Workspace:
    """Opens a run folder; its numbers are read in the background while the first page is on its way."""
    from neardup.web.workspace import Workspace, environment

    run = OpenRun(folder, decisions)

    def batches() -> Iterator[pa.RecordBatch]:
        with page_source(run.result) as source:
            for chunk in source.chunks():
                yield chunk.load().pages

    texts = TextIndex(run.folder / "texts.sqlite", run.counts["pages"], batches)
    found = judging or (run.folder / "judging.sqlite" if (run.folder / "judging.sqlite").exists() else None)
    explaining = Explaining(run)
    return Workspace(
        run=run,
        lists=Lists(run, texts.find),
        texts=texts,
        contents=Contents(explaining.contents),
        explaining=explaining,
        judging=None if found is None else Judging(found),
        templates=environment(),
        secret=secret or secrets.token_urlsafe(24),
    )


def application(
    space: Workspace, *, hosts: Iterable[str] | None = None, addresses: bool = False, token: str | None = None
) -> ASGIApp:
    """The guarded application of an open workspace."""
    from neardup.service.hosts import LOOPBACK
    from neardup.web.guard import Guard

    inner = _routes()
    inner.state.space = space
    return Guard(inner, hosts=(*LOOPBACK, *(hosts or ())), addresses=addresses, token=token, secret=space.secret)


def _routes() -> Starlette:
    from starlette.applications import Starlette
    from starlette.routing import Mount, Route
    from starlette.staticfiles import StaticFiles

    from neardup.web import actions, clusters, judge, overview, pair
    from neardup.web.workspace import HERE

    def get(path: str, view: Any) -> Route:
        return Route(path, view, methods=["GET"])

    def post(path: str, action: actions.Action) -> Route:
        return Route(path, actions.taking(action), methods=["POST"])

    return Starlette(
        routes=[
            get("/", overview.overview),
            get("/clusters", clusters.clusters),
            get("/clusters/rows", clusters.cluster_rows),
            get("/threshold", clusters.threshold),
            get("/cluster/{first:int}", clusters.cluster),
            get("/pair/{a:int}/{b:int}", pair.pair),
            get("/page/{row:int}", pair.page),
            get("/page/{row:int}/frame", pair.frame),
            get("/judge", judge.start),
            get("/judge/{judge}", judge.next_pair),
            get("/judge/{judge}/{place:int}", judge.judge),
            get("/adjudicate", judge.disputes),
            get("/adjudicate/{pair:int}", judge.adjudicate),
            get("/agreement", judge.agreement),
            post("/decide", actions.decide),
            post("/export", actions.export),
            post("/texts", actions.index_texts),
            post("/say", judge.say),
            post("/undo", judge.undo),
            get("/static/page.css", _page_css),
            Mount("/static", StaticFiles(directory=HERE / "static")),
        ],
        exception_handlers={NeardupError: _failed, 404: _not_found, 500: _unexpected},
    )


def _page_css(request: Request) -> Response:
    """The report's own style: the two look like one thing."""
    from starlette.responses import Response

    from neardup.report.frame import asset

    return Response(asset("page.css"), media_type="text/css")


def _answer(request: Request, status: int, what: str, place: str | None = None, hint: str | None = None) -> Response:
    from starlette.responses import JSONResponse

    if request.method == "POST":
        return JSONResponse({"what": what, "hint": hint}, status)
    space: Workspace = request.app.state.space
    return space.html("error.html", status=status, what=what, place=place, hint=hint)


def _failed(request: Request, error: Exception) -> Response:
    assert isinstance(error, NeardupError)
    statuses = ((ConflictError, 409), (UsageError, 400), (InputError, 404), (NeardupError, 500))
    status = next(status for kind, status in statuses if isinstance(error, kind))
    return _answer(request, status, error.what[:1].upper() + error.what[1:], error.where, error.hint)


def _not_found(request: Request, error: Exception) -> Response:
    return _answer(request, 404, "There is no such page")


def _unexpected(request: Request, error: Exception) -> Response:
    return _answer(request, 500, f"Unexpected {type(error).__name__}", hint="this is a fault in neardup")
