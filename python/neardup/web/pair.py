"""Two pages side by side, explained; one page by itself; and a page under study in its sandbox."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from neardup.engines.outcome import REASONS
from neardup.errors import NeardupError
from neardup.web.guard import HOSTILE_POLICY
from neardup.web.workspace import Workspace

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response


def side_by_side(space: Workspace, a: int, b: int) -> dict[str, Any]:
    """What is shown of two pages whatever the purpose: who they are, and how their texts differ."""
    pages = [space.run.row(row) for row in (a, b)]
    return {"pages": pages, "problem": None, "rows": []}


def pair(request: Request) -> Response:
    """``/pair/{a}/{b}``"""
    space: Workspace = request.app.state.space
    a, b = request.path_params["a"], request.path_params["b"]
    shown = side_by_side(space, a, b)
    return space.html("pair.html", here="clusters", a=a, b=b, **shown)


def page(request: Request) -> Response:
    """``/page/{row}``"""
    space: Workspace = request.app.state.space
    row = request.path_params["row"]
    told, cut = space.run.row(row), space.run.cut()
    first = int(cut.cluster[row])
    text, problem = "", None
    try:
        text = space.contents.text(row)
    except NeardupError as error:
        problem = str(error)
    return space.html(
        "page.html", page=told, first=first, in_cluster=len(cut.members(first)) > 1, text=text, problem=problem,
        reasons=REASONS,
    )  # fmt: skip


def frame(request: Request) -> Response:
    """``/page/{row}/frame``: the page itself, under a policy that lets it do nothing."""
    from starlette.responses import HTMLResponse

    space: Workspace = request.app.state.space
    told = space.run.row(request.path_params["row"])
    document = space.contents.document(told["row"])
    return HTMLResponse(document, headers={"content-security-policy": HOSTILE_POLICY})
