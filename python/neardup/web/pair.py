"""Two pages side by side, explained; one page by itself; and a page under study in its sandbox."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from neardup.engines.common.reasons import REASONS
from neardup.errors import NeardupError
from neardup.report import explain_page
from neardup.report.explain import Explanation
from neardup.report.side_by_side import CONTEXT, pair_html
from neardup.web.guard import HOSTILE_POLICY
from neardup.web.workspace import Workspace

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

#: Differences that are shown, and, where all of the text is asked for, the most of it.
MOST: Final = 120
_ALL: Final = 1 << 30


def side_by_side(space: Workspace, a: int, b: int, everything: bool) -> dict[str, Any]:
    """What is shown of two pages whatever the purpose: who they are, and how their texts differ."""
    from markupsafe import Markup

    pages = [space.run.row(row) for row in (a, b)]
    told: Explanation | None = None
    problem = None
    diff = Markup("")
    try:
        told = space.explaining.pair(a, b)
    except NeardupError as error:
        problem = str(error)
    if told is not None:
        one, other = told.sides
        context = _ALL if everything else CONTEXT
        drawn = pair_html(
            _heads(pages), (one.terms, other.terms), (one.boilerplate, other.boilerplate), told.hunks,
            most=MOST, context=context,
        )  # fmt: skip
        # Escaped where it was made.
        diff = Markup(drawn)
    return {"pages": pages, "told": told, "problem": problem, "diff": diff, "everything": everything}


def _heads(pages: list[dict[str, Any]]) -> tuple[Any, Any]:
    from neardup.report.frame import element, html

    made = [
        html([element("b", f"{letter}: {page['title'] or '(no title)'}"), element("bdi", page["url"] or page["id"])])
        for letter, page in zip("AB", pages, strict=True)
    ]
    return made[0], made[1]


def pair(request: Request) -> Response:
    """``/pair/{a}/{b}``"""
    from markupsafe import Markup

    space: Workspace = request.app.state.space
    run = space.run
    a, b = request.path_params["a"], request.path_params["b"]
    shown = side_by_side(space, a, b, "all" in request.query_params)
    told: Explanation | None = shown["told"]
    cut = run.cut()
    sets = sorted(int(run.shape.identity[row]) for row in (a, b))
    parts = {}
    if told is not None:
        made = {
            "summary": explain_page.summary_html(told),
            "scores": explain_page.scores_html(told),
            "detectors": explain_page.detectors_html(told),
            "in_run": explain_page.run_html(told),
        }
        parts = {name: Markup(text) for name, text in made.items()}
    return space.html(
        "pair.html",
        here="clusters",
        a=a,
        b=b,
        headline=explain_page.HEADLINES[told.relation] if told else "Two pages",
        parts=parts,
        first=int(cut.cluster[a]),
        in_cluster=len(cut.members(int(cut.cluster[a]))) > 1,
        accepted=bool(told and told.relation == "paired"),
        rejected=tuple(sets) in run.store.all().rejected_pairs,
        unmatched=None if told is None else told.unmatched,
        known=told is not None and any(side.boilerplate is not None for side in told.sides),
        **shown,
    )


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
