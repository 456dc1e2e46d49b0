"""The main job on a whole collection of real manuals, as a user runs it: seconds, memory, the same bytes twice."""

from __future__ import annotations

import filecmp
import json
from functools import partial

from benchmarks.corpus import Corpora
from benchmarks.places import Places
from benchmarks.plan import Plan
from benchmarks.sections import Claim, Section
from benchmarks.timing import alternate, measure

_TABLES = ("pages.parquet", "pairs.parquet", "clusters.parquet")


def report(places: Places, plan: Plan, corpora: Corpora) -> list[Section]:
    """The default detector over all files, compressed as they are."""
    section = Section("A whole collection, default detector", ("stage", "seconds", "peak MB"))
    print(section.title, flush=True)
    outs = [places.answer("collection-1"), places.answer("collection-2")]
    runs = {
        f"run {number}": partial(
            measure,
            [places.neardup, "dedup", *corpora.collection, "--out", out, "--overwrite", "--quiet"],
            places.log(f"collection-{number}"),
        )
        for number, out in enumerate(outs, 1)
    }
    summaries = alternate(runs, plan.rounds)
    trouble = next((side.trouble for side in summaries.values() if side.trouble), None)
    if trouble:
        section.notes.append(f"Failed: {places.public(trouble)}")
        return [section]
    told = json.loads((outs[0] / "run.json").read_text())
    for stage in told["stages"]:
        section.rows.append([stage["name"], f"{stage['seconds']:.2f}", f"{stage['peak_memory'] / 1e6:.0f}"])
    same = all(filecmp.cmp(outs[0] / name, outs[1] / name, shallow=False) for name in _TABLES)
    both = [run for side in summaries.values() for run in side.good]
    seconds = sorted(run.seconds for run in both)[len(both) // 2]
    counts = told["counts"]
    section.notes.append(
        f"{counts['pages']:,} pages, {told['detector']}: {counts['clusters']:,} clusters, "
        f"{counts['removed']:,} removed. The stages are those of one of the runs. "
        f"The tables of two runs are {'the same' if same else 'NOT the same'}, byte for byte."
    )
    peak = max(run.peak_bytes for run in both) / 1e9
    whole = corpora.whole
    section.claims += [
        Claim("whole collection, seconds", 20, seconds, unit=" s", at_least=False, judged=whole),
        Claim("whole collection, peak memory", 2, peak, unit=" GB", at_least=False, judged=whole),
        Claim("whole collection, same bytes twice", 1, float(same), unit=""),
    ]
    section.data = {"runs": {name: side.record() for name, side in summaries.items()}}
    return [section]
