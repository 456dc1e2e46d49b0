"""The list of clusters with the threshold slider, and one cluster: its pages, their similarities, what is decided."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from neardup import _native
from neardup.engines.common.reasons import REASONS
from neardup.errors import InputError, NeardupError, UsageError
from neardup.graph import best_between_sets
from neardup.graph.cut import Cut
from neardup.methods.shingles import ShingleSet
from neardup.text import Reading, read
from neardup.web.listing import SORTS, STATES, Query, cohesion_of
from neardup.web.run import OpenRun
from neardup.web.workspace import Workspace

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

#: Rows of a list that are fetched at once, pages of a cluster that are shown at once, and sides of a matrix.
BLOCK: Final = 50
MEMBERS: Final = 100
MATRIX: Final = 32
_SHADES: Final = 6
#: Tokens in a shingle of the exact similarity.
SHINGLE: Final = 5


def _start(request: Request) -> int:
    word = request.query_params.get("start", "0")
    if not word.isdecimal() or len(word) > 12:
        raise UsageError("start is no number")
    return int(word)


def clusters(request: Request) -> Response:
    """``/clusters``"""
    space: Workspace = request.app.state.space
    run, query, start = space.run, Query.of(request.query_params), _start(request)
    texts = space.texts.state
    found = space.lists.find(query, texts["ready"])
    threshold = found.cut.threshold
    going = _going_by_step(run)
    return space.html(
        "clusters.html",
        here="clusters",
        query=query,
        address=query.address(),
        rows=space.lists.rows(query, start, BLOCK, texts["ready"]),
        total=len(found.places),
        alone=found.alone,
        start=start,
        block=BLOCK,
        steps=run.steps.tolist(),
        step=int(np.searchsorted(run.steps, threshold - 1e-12)),
        threshold=threshold,
        using=run.cut().threshold,
        told=told_of(run, found.cut),
        curve=_curve(going),
        curve_most=int(going[0]) if len(going) else 0,
        curve_least=int(going[-1]) if len(going) else 0,
        texts=texts,
        sites=run.site_names[:500],
        reasons=REASONS,
        sorts=SORTS,
        states=STATES,
    )


def cluster_rows(request: Request) -> Response:
    """``/clusters/rows``: a block of the list, for scrolling."""
    space: Workspace = request.app.state.space
    query = Query.of(request.query_params)
    ready = space.texts.state["ready"]
    rows = space.lists.rows(query, _start(request), BLOCK, ready)
    total = len(space.lists.find(query, ready).places)
    return space.html("cluster_rows.html", rows=rows, total=total, address=query.address())


def threshold(request: Request) -> Response:
    """``/threshold``: what a threshold gives, for the slider."""
    from starlette.responses import JSONResponse

    space: Workspace = request.app.state.space
    query = Query.of(request.query_params)
    found = space.lists.find(query, space.texts.state["ready"])
    return JSONResponse(
        {
            "threshold": found.cut.threshold,
            "told": told_of(space.run, found.cut),
            "total": len(found.places),
            "address": query.address(),
            "in_use": space.run.cut().threshold == found.cut.threshold,
        }
    )


def told_of(run: OpenRun, cut: Cut) -> str:
    """A cut in words: how many clusters, what could go, and what became of the run's clusters."""
    whole = run.cut(run.shape.floor)
    text = f"{len(cut.first):,} clusters with {int(cut.size.sum()):,} pages"
    if len(cut.first):
        text += f", the largest of {int(cut.size.max()):,}"
    gone = int((~cut.kept).sum())
    text += f"; {gone:,} pages go" if run.shape.complete else f"; {gone:,} pages go, or more (not all pairs are held)"
    if cut.threshold > whole.threshold and len(whole.first):
        # Into how many clusters each of the run's falls.
        parts = np.bincount(whole.cluster[cut.first], minlength=run.shape.pages)[whole.first]
        inside = np.bincount(whole.cluster[cut.first], weights=cut.size, minlength=run.shape.pages)[whole.first]
        same = (parts == 1) & (inside == whole.size)
        text += f". Of the run's {len(whole.first):,} clusters {int(same.sum()):,} are as they were, "
        text += f"{int((~same & (parts > 0)).sum()):,} are smaller or in parts, {int((parts == 0).sum()):,} are gone"
    return text + "."


def _going_by_step(run: OpenRun) -> Any:
    """Pages beyond the first of each cluster, at each step of the slider: each pair of the forest joins one more."""
    identical = int((run.shape.identity != np.arange(run.shape.pages)).sum())
    scores = np.sort(run.shape.score[run.shape.tree])
    return identical + len(scores) - np.searchsorted(scores, run.steps)


def _curve(going: Any) -> str:
    if len(going) < 2:
        return ""
    top = max(int(going.max()), 1)
    points = [f"{1000 * at / (len(going) - 1):.1f},{100 - 96 * value / top:.1f}" for at, value in enumerate(going)]
    return " ".join(["0,100", *points, "1000,100"])


def cluster(request: Request) -> Response:
    """``/cluster/{first}``"""
    space: Workspace = request.app.state.space
    run, query, start = space.run, Query.of(request.query_params), _start(request)
    cut = run.cut(query.threshold)
    asked = request.path_params["first"]
    if asked >= run.shape.pages:
        raise InputError(f"there is no page {asked}", where=str(run.folder))
    first = int(cut.cluster[asked])
    members = cut.members(first)
    if len(members) < 2:
        raise InputError(
            "at this threshold the page is in no cluster"
            if query.threshold is not None
            else "the page is in no cluster",
            hint="nothing like it was found, or what was found was rejected or lies below the threshold",
        )
    found = space.lists.find(query, space.texts.state["ready"])
    place = int(np.flatnonzero(found.first == first)[0]) if first in found.first else None
    pairs = cut.pairs_of(first)
    scores = cut.shape.score[pairs]
    decided = run.store.all()
    kept = members[cut.kept[members]]
    sets = np.unique(run.shape.identity[members])
    # The page most stand behind: what the others are shown against.
    instead, counts = np.unique(cut.instead[members], return_counts=True)
    representative = int(instead[np.argmax(counts)])
    at = int(np.searchsorted(cut.first, first))
    similarities, problem = None, None
    if "exact" in request.query_params:
        try:
            similarities = _exact(space, sets[:MATRIX])
        except NeardupError as error:
            problem = str(error)
    chosen = decided.representatives.get(first)
    return space.html(
        "cluster.html",
        here="clusters",
        first=first,
        address=query.address(),
        place=place,
        total=len(found.places),
        previous=int(found.first[place - 1]) if place else None,
        next=int(found.first[place + 1]) if place is not None and place + 1 < len(found.places) else None,
        size=len(members),
        sets=len(sets),
        sites=int(cut.sites[at]),
        kept=len(kept),
        cohesion=cohesion_of(cut, at),
        lowest=float(scores.min()) if len(scores) else None,
        highest=float(scores.max()) if len(scores) else None,
        threshold=cut.threshold,
        threshold_note=cut.threshold > run.shape.floor,
        exploring=query.threshold is not None and cut.threshold != run.cut().threshold,
        verdict=run.verdict(cut, first, decided),
        representative=representative,
        chosen=chosen[0] if chosen and cut.kept[chosen[0]] else None,
        members=_members(run, cut, members, representative, start),
        start=start,
        block=MEMBERS,
        matrix=_matrix(run, sets, _scores_between(cut, sets[:MATRIX], pairs) if similarities is None else similarities),
        exact=similarities is not None,
        problem=problem,
        complete=run.shape.complete,
    )


def _members(run: OpenRun, cut: Cut, members: Any, representative: int, start: int) -> list[dict[str, Any]]:
    """The pages of a cluster, those that stay first."""
    order = np.lexsort((members, ~cut.kept[members], members != representative))
    shown = members[order][start : start + MEMBERS]
    units = cut.units
    scores = _scores_with(cut, int(units[representative]))
    rows = []
    for page in run.rows(shown):
        row = page["row"]
        own, stays = int(run.shape.identity[row]), bool(cut.kept[row])
        instead = None if stays else int(cut.instead[row])
        rows.append(
            page
            | {
                "stays": stays,
                "instead": instead,
                "identical": instead is not None and int(run.shape.identity[instead]) == own,
                "score": 1.0 if own == int(run.shape.identity[representative]) else scores.get(int(units[row])),
            }
        )
    return rows


def _scores_with(cut: Cut, first: int) -> dict[int, float]:
    """The scores of all accepted pairs that one unit of pages is in, by the other."""
    shape = cut.shape
    as_a, as_b = np.flatnonzero(shape.a == first), np.flatnonzero(shape.b == first)
    others = np.concatenate([shape.b[as_a], shape.a[as_b]]).tolist()
    return dict(zip(others, np.concatenate([shape.score[as_a], shape.score[as_b]]).tolist(), strict=True))


def _scores_between(cut: Cut, sets: Any, pairs: Any) -> Any:
    """The scores of accepted pairs between identity sets; nothing where a pair was not accepted."""
    shape = cut.shape
    values = np.full((len(sets), len(sets)), np.nan)
    one, other, score = best_between_sets(shape.identity, shape.a[pairs], shape.b[pairs], shape.score[pairs])
    a, b = (np.searchsorted(sets, side) for side in (one, other))
    shown = (a < len(sets)) & (b < len(sets))
    values[a[shown], b[shown]] = values[b[shown], a[shown]] = score[shown]
    return values


def _exact(space: Workspace, sets: Any) -> Any:
    """The Jaccard similarities of the pages themselves, read again."""
    pages = space.contents.pages(sets.tolist())
    shingles = ShingleSet(SHINGLE).compute(read(pages, Reading(**space.run.report["settings"]["reading"])).tokens)
    a, b = np.triu_indices(len(sets), 1)
    values = np.ones((len(sets), len(sets)))
    values[a, b] = values[b, a] = _native.jaccard(shingles, a.astype(np.uint32), b.astype(np.uint32))
    return values


def _matrix(run: OpenRun, sets: Any, values: Any) -> list[dict[str, Any]]:
    """The first ``MATRIX`` identity sets, each with its similarity to the others."""
    shown = sets[:MATRIX]
    if len(shown) < 2:
        return []
    # The palest shade is the lowest value there is.
    floor = float(np.nanmin(values)) if not np.isnan(values).all() else 0.0
    names = run.rows(shown, ["url", "title", "id"])
    rows = []
    for at, page in enumerate(names):
        complete = run.shape.complete
        cells = [_cell(int(row), float(values[at, to]), floor, complete) for to, row in enumerate(shown)]
        rows.append({"row": page["row"], "name": page["title"] or page["url"] or page["id"], "cells": cells})
    return rows


def _cell(row: int, score: float, floor: float, complete: bool) -> dict[str, Any]:
    if np.isnan(score):
        return {"row": row, "shade": "none", "short": "·", "words": "not accepted" if complete else "not held"}
    shade = 0 if floor >= 1 else int((_SHADES - 1) * (score - floor) / (1 - floor) + 0.5)
    return {
        "row": row,
        "shade": shade,
        "short": f"{score:.3f}"[1:] if score < 1 else "1",
        "words": f"{score:.4f}",
    }
