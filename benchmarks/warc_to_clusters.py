"""``.warc.gz`` → clusters with the site-aware detector, against extracting the text alone."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from benchmarks import venvs
from benchmarks.corpus import Corpora
from benchmarks.places import BENCHMARKS, Places
from benchmarks.plan import SITE_AWARE, Plan
from benchmarks.sections import Claim, Section, number
from benchmarks.text_to_clusters import our_command
from benchmarks.timing import Run, alternate, measure

_PEER = "FastWARC + resiliparse, text only"


def report(places: Places, plan: Plan, corpora: Corpora) -> list[Section]:
    """The table of the archive."""
    packed, size = corpora.warc.stat().st_size, corpora.warc_bytes
    section = Section(
        f".warc.gz → clusters, site-aware, {packed / 1e6:,.0f} MB packed, {size / 1e6:,.0f} MB of HTML",
        ("side", "MB/s of HTML", "seconds (median)", "range", "CPU s", "peak MB"),
    )
    print(section.title, flush=True)
    command = our_command(places, corpora.warc, places.answer("ours-warc"), SITE_AWARE)
    sides: dict[str, Callable[[], Run]] = {"ours": partial(measure, command, places.log("ours-warc"))}
    environment = venvs.prepare(places, "pages")
    if environment.trouble:
        section.rows.append([_PEER, "–", environment.trouble, "–", "–", "–"])
    else:
        script = BENCHMARKS / "peers" / "run_warc_text.py"
        sides[_PEER] = partial(measure, [environment.python, script, corpora.warc], places.log("warc-text"))
    summaries = alternate(sides, plan.rounds)
    for name, summary in summaries.items():
        if summary.trouble:
            section.rows.append([name, "–", places.public(summary.trouble), "–", "–", "–"])
            continue
        section.rows.append(
            [
                name,
                number(size / 1e6 / summary.median()),
                f"{summary.median():.2f}",
                summary.spread(),
                f"{summary.median('cpu_seconds'):.2f}",
                f"{summary.median('peak_bytes') / 1e6:,.0f}",
            ]
        )
    comparable = len(summaries) == 2 and not any(side.trouble for side in summaries.values())
    ratio = summaries[_PEER].median() / summaries["ours"].median() if comparable else None
    section.claims.append(
        Claim(".warc.gz → clusters ÷ extracting the text alone", 6.0, ratio, judged=plan.name == "full")
    )
    section.notes.append(
        "The peer is the loop that its documentation shows: one process, one thread. Ours uses all cores; "
        "the CPU seconds tell the two apart."
    )
    section.data = {
        "packed_bytes": packed,
        "bytes": size,
        "runs": {name: side.record() for name, side in summaries.items()},
    }
    return [section]
