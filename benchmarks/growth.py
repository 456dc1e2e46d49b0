"""Seconds against pages, and against the shape of the collection: nothing may grow faster than the input."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

from benchmarks import made_pages
from benchmarks.corpus import Corpora
from benchmarks.places import Places
from benchmarks.plan import MINHASH, SITE_AWARE, Plan
from benchmarks.sections import Claim, Section, number
from benchmarks.text_to_clusters import our_command
from benchmarks.timing import Summary, alternate, measure

_EXPONENT = 1.08
_COST = 3.0
#: A shape is given up at this many times what the ordinary case took a page.
_PATIENCE = 20


def report(places: Places, plan: Plan, _: Corpora) -> list[Section]:
    """Growth with the pages, then the odd shapes, for both detectors."""
    sections = []
    for detector in (MINHASH, SITE_AWARE):
        sections.append(_pages(places, plan, detector))
        sections.append(_shapes(places, plan, detector))
    return sections


def exponent(points: list[tuple[float, float]]) -> float:
    """The slope of a straight line through (ln pages, ln seconds), least squares.

    >>> round(exponent([(10, 1.0), (100, 10.0), (1000, 100.0)]), 6)
    1.0
    """
    x, y = [math.log(at) for at, _ in points], [math.log(value) for _, value in points]
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    above = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
    return above / sum((a - mean_x) ** 2 for a in x)


def _run(places: Places, plan: Plan, files: dict[str, Any], detector: str, limit: float) -> dict[str, Summary]:
    return alternate(
        {
            name: partial(
                measure,
                our_command(places, file, places.answer("ours-growth"), detector),
                places.log("ours-growth"),
                limit_seconds=limit,
            )
            for name, file in files.items()
        },
        plan.rounds,
    )


def _pages(places: Places, plan: Plan, detector: str) -> Section:
    section = Section(
        f"Growth with the pages, {detector}",
        ("pages", "seconds (median)", "range", "µs a page", "peak MB"),
    )
    print(section.title, flush=True)
    files = {f"{pages:,}": made_pages.prepare(places.corpus, "ordinary", pages) for pages in plan.growth}
    summaries = _run(places, plan, files, detector, 3600)
    points = []
    for pages, (name, summary) in zip(plan.growth, summaries.items(), strict=True):
        if summary.trouble:
            section.rows.append([name, places.public(summary.trouble), "–", "–", "–"])
            continue
        seconds = summary.median()
        points.append((float(pages), seconds))
        peak = summary.median("peak_bytes") / 1e6
        section.rows.append([name, f"{seconds:.2f}", summary.spread(), number(1e6 * seconds / pages), f"{peak:,.0f}"])
    whole = len(points) == len(plan.growth)
    # Start-up flattens the small end, so the large end is asked by itself as well; the worse one counts.
    slopes = [exponent(points), exponent(points[-3:])] if whole else []
    if slopes:
        section.notes.append(f"Exponent over all sizes {slopes[0]:.3f}, over the three largest {slopes[1]:.3f}.")
    section.notes.append(f"Pages of {made_pages.WORDS} words: {made_pages.KINDS['ordinary'][1]}.")
    section.claims.append(
        Claim(
            f"growth with the pages, {detector}: exponent",
            _EXPONENT,
            max(slopes) if slopes else None,
            unit="",
            at_least=False,
            judged=plan.name == "full",
        )
    )
    section.data = {
        "detector": detector,
        "points": points,
        "runs": {name: side.record() for name, side in summaries.items()},
    }
    return section


def _shapes(places: Places, plan: Plan, detector: str) -> Section:
    section = Section(
        f"Shapes of collections, {detector}",
        ("shape", "pages", "seconds (median)", "range", "µs a page", "÷ ordinary", "peak MB"),
    )
    print(section.title, flush=True)
    counts = {kind: plan.one_word_pages if kind == "one word" else plan.shape_pages for kind in made_pages.KINDS}
    files = {kind: made_pages.prepare(places.corpus, kind, pages) for kind, pages in counts.items()}
    ordinary = _run(places, plan, {"ordinary": files.pop("ordinary")}, detector, 3600)
    section.data = {"detector": detector}
    if ordinary["ordinary"].trouble:
        trouble = places.public(ordinary["ordinary"].trouble)
        section.notes.append(f"The ordinary collection failed ({trouble}), so there is nothing to compare with.")
        section.claims.append(Claim(f"shapes, {detector}: worst cost a page", _COST, None, at_least=False))
        return section
    usual = ordinary["ordinary"].median()
    summaries = ordinary | _run(places, plan, files, detector, max(60.0, _PATIENCE * usual))
    worst = 0.0
    ratios = {}
    for kind, summary in summaries.items():
        if summary.trouble:
            # What did not come to an end costs more than was asked, however much more.
            worst = math.inf
            text = places.public(summary.trouble)
            section.rows.append([kind, f"{counts[kind]:,}", text, "–", "–", "–", "–"])
            continue
        each = summary.median() / counts[kind]
        ratios[kind] = each / (usual / counts["ordinary"])
        worst = max(worst, ratios[kind])
        section.rows.append(
            [
                kind,
                f"{counts[kind]:,}",
                f"{summary.median():.2f}",
                summary.spread(),
                number(1e6 * each),
                number(ratios[kind]),
                f"{summary.median('peak_bytes') / 1e6:,.0f}",
            ]
        )
    section.notes += [f"{kind}: {about}." for kind, (_, about) in made_pages.KINDS.items()]
    section.claims.append(
        Claim(
            f"shapes, {detector}: worst cost a page ÷ ordinary",
            _COST,
            worst,
            at_least=False,
            judged=plan.name == "full",
        )
    )
    section.data |= {"ratios": ratios, "runs": {kind: side.record() for kind, side in summaries.items()}}
    return section
