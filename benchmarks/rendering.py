"""Pages a second of `neardup render`, and processor time a page: the generated web from its archive, by each browser.

What has to come out is known: every page that stands still is rendered, and those that load themselves again and
again fail. The browser runs without its sandbox if this is root, who cannot have it.
"""

from __future__ import annotations

import json
import os
import shutil
from functools import partial
from pathlib import Path

from benchmarks.corpus import Corpora
from benchmarks.places import Places
from benchmarks.plan import Plan
from benchmarks.sections import Section
from benchmarks.timing import Run, alternate, measure
from neardup.testing import search_web

_BROWSERS = ("chromium-headless-shell", "chromium")


def report(places: Places, plan: Plan, _: Corpora) -> list[Section]:
    """The table of the browsers that this machine has."""
    section = Section("Rendering", ("browser", "pages", "pages/s (median)", "range, s", "CPU s a page"))
    print(section.title, flush=True)
    made = search_web(seed=0, queries=plan.rendered_queries)
    folder = places.corpus / f"search-web-{plan.rendered_queries}"
    folder.mkdir(exist_ok=True)
    made.write(folder)
    expected = sum(page.delivery != "restless" for page in made.pages)
    browsers = [name for name in _BROWSERS if shutil.which(name)]

    def run(browser: str) -> Run:
        log = places.log(f"render-{browser}")
        command: list[str | Path] = [
            places.neardup, "render", folder / "pages.jsonl.gz", "--archive", folder / "web.warc.gz", "--json",
            "--browser", browser, "--out", places.answer(f"rendered-{browser}.jsonl"),
        ]  # fmt: skip
        done = measure([*command, "--no-sandbox"] if os.geteuid() == 0 else command, log)
        if done.trouble is None and (found := json.loads(log.read_text())["rendered"]) != expected:
            return Run(done.seconds, done.cpu_seconds, done.peak_bytes, done.foreign_seconds, f"rendered {found}")
        return done

    summaries = alternate({name: partial(run, name) for name in browsers}, plan.rendering_rounds)
    for name, summary in summaries.items():
        if summary.trouble:
            section.rows.append([name, str(len(made.pages)), places.public(summary.trouble), "–", "–"])
            continue
        rate, cost = len(made.pages) / summary.median(), summary.median("cpu_seconds") / len(made.pages)
        section.rows.append([name, str(len(made.pages)), f"{rate:.1f}", summary.spread(), f"{cost:.2f}"])
    if not browsers:
        section.rows.append(["none installed", "–", "–", "–", "–"])
    section.data = {"runs": {name: side.record() for name, side in summaries.items()}}
    return [section]
