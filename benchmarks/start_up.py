"""How long `neardup --version` takes, against importing NumPy."""

from __future__ import annotations

import sys
from functools import partial

from benchmarks.corpus import Corpora
from benchmarks.places import Places
from benchmarks.plan import Plan
from benchmarks.sections import Claim, Section
from benchmarks.timing import alternate, measure

_OURS, _PEER = "neardup --version", "python -c 'import numpy'"


def report(places: Places, plan: Plan, _: Corpora) -> list[Section]:
    """The table of the two."""
    section = Section("Start-up", ("command", "ms (median)", "range, s"))
    print(section.title, flush=True)
    summaries = alternate(
        {
            _OURS: partial(measure, [places.neardup, "--version"], places.log("version")),
            _PEER: partial(measure, [sys.executable, "-c", "import numpy"], places.log("numpy")),
        },
        plan.start_up_rounds,
    )
    for name, summary in summaries.items():
        section.rows.append(
            [name, places.public(summary.trouble), "–"]
            if summary.trouble
            else [name, f"{1000 * summary.median():.0f}", summary.spread()]
        )
    ratio = None
    if not any(side.trouble for side in summaries.values()):
        ratio = summaries[_OURS].median() / summaries[_PEER].median()
    section.claims.append(Claim("start-up ÷ importing NumPy", 1.5, ratio, at_least=False))
    section.data = {"runs": {name: side.record() for name, side in summaries.items()}}
    return [section]
