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


def report(places: Places, plan: Plan, _: Corpora) -> list[Section]:
    """Seconds of both."""
    section = Section("The study of a collection", ("what", "seconds (median)", "range, s"))
    print(section.title, flush=True)
    out = places.answer("study")
    runs = {
        "link graph": partial(
            measure, [sys.executable, BENCHMARKS / "ours_links.py", str(plan.links)], places.log("links")
        )
    }
    if places.data is not None:
        files = sorted((places.data / "debian_docs_en").glob("*.jsonl.zst"))
        command: list[str | Path] = [places.neardup, "study", *files, "--out", out, "--overwrite", "--quiet"]
        runs["study"] = partial(measure, command, places.log("study"))
    summaries = alternate(runs, plan.rounds)
    for name, summary in summaries.items():
        if summary.trouble:
            section.rows.append([name, places.public(summary.trouble), "–"])
        else:
            section.rows.append([name, f"{summary.median():.1f}", summary.spread()])
    section.notes.append(f"The graph: {plan.links:,} links of a million pages, to bow tie and crawl, in one process.")
    links = None if summaries["link graph"].trouble else summaries["link graph"].median()
    section.claims.append(Claim("link graph, seconds", 30, links, unit=" s", at_least=False))
    if "study" in summaries and not summaries["study"].trouble:
        told = json.loads((out / "study.json").read_text())
        general = told["tables"]["table2"]["rows"][0]
        section.notes.append(
            f"The study: {told['tables']['table1']['rows'][0]['documents']:,} pages in {told['steps']['steps']} steps, "
            f"{general['duplicates']:,} duplicates in {general['clusters']:,} clusters."
        )
        section.claims.append(Claim("study, seconds", 60, summaries["study"].median(), unit=" s", at_least=False))
    section.data = {"runs": {name: side.record() for name, side in summaries.items()}}
    return [section]
