"""What changes something: decisions on clusters, pairs and the threshold; the new run folder; the index of texts.

Every action takes JSON and answers JSON. The guard has already made sure that one of our own pages asks.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from neardup.errors import ConflictError, InputError, UsageError
from neardup.report.run_report import write_report
from neardup.results.revision import revise
from neardup.web.decisions import digest
from neardup.web.workspace import Workspace

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

_FOLDER: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
Action = Callable[[Workspace, dict[str, Any]], dict[str, Any]]


def taking(action: Action) -> Any:
    """An endpoint that reads JSON, runs an action in a thread, and answers with what it gives back."""

    async def endpoint(request: Request) -> Response:
        from starlette.concurrency import run_in_threadpool
        from starlette.responses import JSONResponse

        try:
            body = await request.json()
        except (ValueError, RecursionError):
            body = None
        if not isinstance(body, dict):
            raise UsageError("a JSON object is expected")
        return JSONResponse(await run_in_threadpool(action, request.app.state.space, body | request.path_params))

    return endpoint


def whole(body: dict[str, Any], name: str, below: int) -> int:
    """A row number out of a request."""
    value = body.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < below:
        raise UsageError(f"{name} must be a number below {below:,}")
    return value


def text(body: dict[str, Any], name: str, default: str | None = None) -> str | None:
    """A text out of a request."""
    value = body.get(name, default)
    if value is not None and not isinstance(value, str):
        raise UsageError(f"{name} must be a text")
    return value


def decide(space: Workspace, body: dict[str, Any]) -> dict[str, Any]:
    """Accepts or rejects a cluster, chooses the page that stays, rejects a pair, or sets the threshold."""
    run, store = space.run, space.run.store
    kind, pages = body.get("kind"), space.run.shape.pages
    if kind == "threshold":
        value = body.get("value")
        if value is None:
            store.remove("threshold", "")
        elif isinstance(value, int | float) and run.shape.floor <= value <= 1:
            store.put("threshold", "", repr(float(value)))
        else:
            raise UsageError(f"a threshold lies between {run.shape.floor:.4g} and 1")
    elif kind == "pair":
        a, b = sorted(int(run.shape.identity[whole(body, name, pages)]) for name in ("a", "b"))
        if a == b:
            raise UsageError("the two are one page, or identical: only pages that differ make a pair")
        if body.get("value") is None:
            store.remove("pair", f"{a} {b}")
        else:
            store.put("pair", f"{a} {b}", "rejected")
    elif kind in ("cluster", "representative"):
        cut = run.cut()
        first = int(cut.cluster[whole(body, "first", pages)])
        members = cut.members(first)
        value = body.get("value")
        if value is None:
            store.remove(kind, str(first))
        elif kind == "representative":
            row = whole(body, "value", pages)
            if int(cut.cluster[row]) != first:
                raise UsageError("that page is not in the cluster")
            store.put(kind, str(first), str(row), digest(members))
        elif value in ("accepted", "rejected"):
            store.put(kind, str(first), value, digest(members))
        else:
            raise UsageError("a cluster is accepted or rejected")
    else:
        raise UsageError("nothing is known of such a decision")
    return {"decided": store.all().count}


def export(space: Workspace, body: dict[str, Any]) -> dict[str, Any]:
    """Writes the decisions as a new run folder beside this one."""
    name = text(body, "name") or ""
    if not _FOLDER.fullmatch(name):
        raise UsageError("that is no name for a folder", hint="letters, digits, dots and dashes")
    if (space.run.folder.parent / name).exists():
        raise ConflictError(f"{name} exists already", hint="choose another name")
    decisions, stale = space.run.decisions()
    made = revise(space.run.folder, space.run.folder.parent / name, decisions, finish=_report)
    counts = made.report["counts"]
    return {"folder": str(made.folder), "kept": counts["kept"], "removed": counts["removed"], "stale": stale}


def _report(folder: Path) -> None:
    """Every run has a report to look at; where the pages cannot be read again it has to do without."""
    with suppress(InputError):
        write_report(folder, patient=False)


def index_texts(space: Workspace, body: dict[str, Any]) -> dict[str, Any]:
    """Begins to index the texts of all pages."""
    space.texts.start()
    return space.texts.state
