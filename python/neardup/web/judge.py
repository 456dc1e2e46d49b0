"""Judging in the browser: pairs shown blind, one after the other; disputes; and how far the judges agree.

A judge sees two pages and how their texts differ; not who returned the pair, how alike it was found, what others said,
or what the rules of ``neardup explain`` make of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from neardup.errors import InputError, UsageError
from neardup.evaluation.judging import Judging, checked_name
from neardup.evaluation.judging_report import judging_report
from neardup.evaluation.reasons import REASONS
from neardup.web.actions import text, whole
from neardup.web.pair import side_by_side
from neardup.web.workspace import Workspace

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

_HINTS = {
    "correct": "the text differs only in what is listed, or invisibly, or both are entry pages of one site",
    "incorrect": "the main item of the page differs",
    "undecided": "a form filled in differently, another minor item, or it cannot be said",
}


def _judging(space: Workspace) -> Judging:
    if space.judging is None:
        raise InputError(
            "there is no judging in this folder",
            where=str(space.run.folder),
            hint=f"draw pairs with: neardup judge new --from {space.run.folder.name}, then start neardup ui again",
        )
    return space.judging


def start(request: Request) -> Response:
    """``/judge``: who are you?"""
    space: Workspace = request.app.state.space
    if space.judging is None:
        return space.html("judge_none.html", here="judge")
    judging = space.judging
    return space.html(
        "judge_start.html",
        here="judge",
        judges=judging.judges(),
        count=judging.count,
        disputes=len(judging.disputes()),
        final=len(judging.final()),
    )


def next_pair(request: Request) -> Response:
    """``/judge/{judge}``: on to the first pair this judge has not looked at."""
    from starlette.responses import RedirectResponse

    judging = _judging(request.app.state.space)
    name = checked_name(request.path_params["judge"])
    return RedirectResponse(_next(judging, name, 0), 303)


def _next(judging: Judging, name: str, after: int) -> str:
    """The address of the next pair to judge, from a place on and around."""
    done = {one.pair for one in judging.said(judge=name)}
    order = judging.order(name)
    for step in range(len(order)):
        place = (after + step) % len(order)
        if order[place][0] not in done:
            return f"/judge/{quote(name, safe='')}/{place + 1}"
    return f"/judge/{quote(name, safe='')}/{len(order)}?done=1"


def judge(request: Request) -> Response:
    """``/judge/{judge}/{place}``: one pair, blind."""
    space: Workspace = request.app.state.space
    judging = _judging(space)
    name, place = checked_name(request.path_params["judge"]), request.path_params["place"]
    if not 1 <= place <= judging.count:
        raise InputError(f"there is no pair {place}", hint=f"there are {judging.count:,}")
    number, swapped = judging.order(name)[place - 1]
    pair = judging.pair(number)
    rows = (pair.row_b, pair.row_a) if swapped else (pair.row_a, pair.row_b)
    said = next(iter(judging.said(judge=name, pair=number)), None)
    done = len(judging.said(judge=name))
    _look_ahead(space, name, place)
    return space.html(
        "judge.html",
        here="judge",
        judge=name,
        role="judge",
        pair=number,
        place=place,
        count=judging.count,
        done=done,
        finished=done == judging.count,
        said=said,
        others=[],
        reasons=REASONS,
        hints=_HINTS,
        previous=f"/judge/{quote(name, safe='')}/{place - 1}" if place > 1 else None,
        next=f"/judge/{quote(name, safe='')}/{place + 1}" if place < judging.count else None,
        **side_by_side(space, *rows, "all" in request.query_params),
    )


def _look_ahead(space: Workspace, name: str, place: int) -> None:
    """Has the pair after this one explained while the judge looks at this one."""
    judging = _judging(space)
    if place < judging.count:
        number, swapped = judging.order(name)[place]
        pair = judging.pair(number)
        space.explaining.ahead(*((pair.row_b, pair.row_a) if swapped else (pair.row_a, pair.row_b)))


def disputes(request: Request) -> Response:
    """``/adjudicate``: the pairs on which judges differ."""
    space: Workspace = request.app.state.space
    judging = _judging(space)
    by_pair, settled = judging.by_pair(), {one.pair: one for one in judging.said(role="adjudicator")}
    wanted = sorted(p for p, said in by_pair.items() if len({one.label for one in said}) > 1)
    rows = []
    for number in wanted:
        pair = judging.pair(number)
        rows.append(
            {"pair": number, "pages": space.run.rows([pair.row_a, pair.row_b]), "said": by_pair[number]}
            | {"settled": settled.get(number)}
        )
    name = request.query_params.get("name", "")
    return space.html("disputes.html", here="agreement", rows=rows, adjudicator=name)


def adjudicate(request: Request) -> Response:
    """``/adjudicate/{pair}``: one dispute, with what the judges said."""
    space: Workspace = request.app.state.space
    judging = _judging(space)
    name = checked_name(request.query_params.get("name", ""))
    number = request.path_params["pair"]
    pair = judging.pair(number)
    open_ones = judging.disputes()
    after = [one for one in open_ones if one > number] or [one for one in open_ones if one != number]
    said = next(iter(judging.said(role="adjudicator", pair=number)), None)
    where = f"?name={quote(name)}"
    return space.html(
        "judge.html",
        here="agreement",
        judge=name,
        role="adjudicator",
        pair=number,
        place=number,
        count=judging.count,
        done=len(judging.said(role="adjudicator")),
        finished=not open_ones,
        said=said,
        others=judging.by_pair().get(number, []),
        reasons=REASONS,
        hints=_HINTS,
        previous=f"/adjudicate{where}",
        next=f"/adjudicate/{after[0]}{where}" if after else f"/adjudicate{where}",
        **side_by_side(space, pair.row_a, pair.row_b, "all" in request.query_params),
    )


def agreement(request: Request) -> Response:
    """``/agreement``: how far judges agree, and how right the detectors are."""
    space: Workspace = request.app.state.space
    return space.html("agreement.html", here="agreement", told=judging_report(_judging(space)))


def _role(body: dict[str, Any]) -> Any:
    if body.get("role") not in ("judge", "adjudicator"):
        raise UsageError("a judge or an adjudicator speaks")
    return body["role"]


def say(space: Workspace, body: dict[str, Any]) -> dict[str, Any]:
    """Stores what was said, and tells where to go on."""
    judging, role = _judging(space), _role(body)
    name, number = checked_name(text(body, "judge") or ""), whole(body, "pair", judging.count)
    judging.say(name, number, text(body, "label") or "", text(body, "reason"), text(body, "note"), role=role)
    if role == "adjudicator":
        left = [one for one in judging.disputes() if one > number] or judging.disputes()
        return {"next": f"/adjudicate/{left[0]}?name={quote(name)}" if left else "/agreement"}
    place = [pair for pair, _ in judging.order(name)].index(number)
    return {"next": _next(judging, name, place + 1)}


def undo(space: Workspace, body: dict[str, Any]) -> dict[str, Any]:
    """Takes back what was said last, and goes there."""
    judging, role = _judging(space), _role(body)
    name = checked_name(text(body, "judge") or "")
    number = judging.undo(name, role=role)
    if number is None:
        return {"next": None}
    if role == "adjudicator":
        return {"next": f"/adjudicate/{number}?name={quote(name)}"}
    place = [pair for pair, _ in judging.order(name)].index(number)
    return {"next": f"/judge/{quote(name, safe='')}/{place + 1}"}
