"""The study of a collection as a user runs it, and the link graph of ten million links."""

from __future__ import annotations

import json
import sys
from functools import partial
from pathlib import Path

from benchmarks.corpus import Corpora
from benchmarks.places import BENCHMARKS, Places
from benchmarks.plan import Plan
from benchmarks.sections import Claim, Section
from benchmarks.timing import alternate, measure


def report(places: Places, plan: Plan, corpora: Corpora) -> list[Section]:
    """Seconds of both."""
    section = Section("The study of a collection", ("what", "seconds (median)", "range, s"))
    print(section.title, flush=True)
    out = places.answer("study")
    graph: list[str | Path] = [sys.executable, BENCHMARKS / "ours_links.py", str(plan.links)]
    study: list[str | Path] = [places.neardup, "study", *corpora.collection, "--out", out, "--overwrite", "--quiet"]
    runs = {
        "link graph": partial(measure, graph, places.log("links")),
        "study": partial(measure, study, places.log("study")),
    }
    summaries = alternate(runs, plan.rounds)
    for name, summary in summaries.items():
        if summary.trouble:
            section.rows.append([name, places.public(summary.trouble), "–"])
        else:
            section.rows.append([name, f"{summary.median():.1f}", summary.spread()])
    section.notes.append(f"The graph: {plan.links:,} links of a million pages, to bow tie and crawl, in one process.")
    full = plan.name == "full"
    for name, asked, judged in (("link graph", 30, full), ("study", 60, corpora.whole)):
        seconds = None if summaries[name].trouble else summaries[name].median()
        section.claims.append(Claim(f"{name}, seconds", asked, seconds, " s", at_least=False, judged=judged))
    if not summaries["study"].trouble:
        told = json.loads((out / "study.json").read_text())
        general = told["tables"]["table2"]["rows"][0]
        section.notes.append(
            f"The study: {told['tables']['table1']['rows'][0]['documents']:,} pages in {told['steps']['steps']} steps, "
            f"{general['duplicates']:,} duplicates in {general['clusters']:,} clusters."
        )
    section.data = {"runs": {name: side.record() for name, side in summaries.items()}}
    return [section]
