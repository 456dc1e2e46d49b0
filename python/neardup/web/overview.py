"""The first view: what the run found, at a glance, and what was decided so far."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from neardup.engines.common.reasons import REASONS
from neardup.web.listing import Query
from neardup.web.run import OpenRun
from neardup.web.workspace import Workspace

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

#: A cluster of lower cohesion is loose.
LOOSE: Final = 0.8
_BARS: Final = 12
_SITES: Final = 10


def overview(request: Request) -> Response:
    """``/``"""
    space: Workspace = request.app.state.space
    run = space.run
    cut = run.cut(run.shape.floor)
    decided = run.store.all()
    _, stale = run.decisions()
    verdicts = [verdict for verdict, _ in decided.clusters.values()]
    return space.html(
        "overview.html",
        report=run.report | {"certificate": run.report.get("certificate")},
        counts=run.counts,
        doubtful=int((cut.cohesion < LOOSE).sum()),
        apart=int((run.reasons == list(REASONS).index("apart")).sum()),
        sizes=_sizes(cut.size),
        scores=_scores(run.shape.score),
        sites=_sites(run),
        site_count=len(run.site_names),
        largest=space.lists.rows(Query(threshold=run.shape.floor), 0, 8),
        complete=run.shape.complete,
        accepted_pairs=run.result.accepted.in_words(),
        decided=decided,
        accepted=verdicts.count("accepted"),
        rejected=verdicts.count("rejected"),
        stale=stale,
        suggested=f"{run.folder.name}-revised",
        settings={name: run.report[name] for name in ("detector", "settings", "input")},
    )


def _sizes(sizes: npt.NDArray[np.int64]) -> list[dict[str, Any]]:
    """Clusters by their size, in powers of two."""
    if not len(sizes):
        return []
    classes = np.floor(np.log2(sizes)).astype(int)
    counts = np.bincount(classes)
    rows = []
    for power in range(1, len(counts)):
        low, high = 1 << power, (2 << power) - 1
        name = str(low) if low == high else f"{low:,}–{high:,}"
        rows.append(_bar(name, int(counts[power]), int(counts.max())) | {"low": low, "high": high})
    return rows


def _scores(scores: npt.NDArray[np.float64]) -> list[dict[str, Any]]:
    """Pairs by score, in even steps from the lowest to 1."""
    if not len(scores):
        return []
    counts, edges = np.histogram(scores, bins=_BARS, range=(float(scores.min()), max(1.0, float(scores.max()))))
    most = int(counts.max())
    return [_bar(f"{edge:.3f}", int(count), most) for edge, count in zip(edges, counts, strict=False)]


def _sites(run: OpenRun) -> list[dict[str, Any]]:
    """The sites that lose most pages."""
    known = run.shape.site >= 0
    known[run.counts["pages"] :] = False
    count = len(run.site_names)
    pages = np.bincount(run.shape.site[known], minlength=count)
    gone = np.bincount(run.shape.site[known & ~run.shape.kept], minlength=count)
    top = np.argsort(-gone, kind="stable")[:_SITES].tolist()
    return [_bar(run.site_names[at], int(gone[at]), int(pages[at])) | {"of": int(pages[at])} for at in top if gone[at]]


def _bar(name: str, count: int, whole: int) -> dict[str, Any]:
    return {"name": name, "count": count, "share": count / whole if whole else 0.0}
