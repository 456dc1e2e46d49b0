"""The promise of ``--memory``: ten gigabytes of text in one, and twenty million fingerprints in two."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from benchmarks.corpus import Corpora, huge
from benchmarks.places import BENCHMARKS, Places
from benchmarks.plan import MINHASH, Plan
from benchmarks.sections import Claim, Section
from benchmarks.timing import measure

_GIBIBYTE = 1 << 30
#: What a run may take beyond what it was told.
_SLACK = 300_000_000


def report(places: Places, plan: Plan, corpora: Corpora) -> list[Section]:
    """Both, each in a process of its own whose peak is measured from outside and told by itself."""
    return [_text(places, plan, corpora), _fingerprints(places, plan)]


def _text(places: Places, plan: Plan, corpora: Corpora) -> Section:
    section = Section(
        f"{plan.huge_bytes / 1e9:g} GB of text, compressed, with --memory 1GiB",
        ("stage", "seconds", "peak MB"),
    )
    print(section.title, flush=True)
    file = huge(places, plan, corpora)
    out = places.answer("huge")
    run = measure(
        [places.neardup, "dedup", file, "--out", out, "--detector", MINHASH, "--memory", "1GiB", "--overwrite", "-q"],
        places.log("huge"),
        limit_seconds=3600,
    )
    if run.trouble:
        section.notes.append(f"Failed: {places.public(run.trouble)}")
        return section
    told = json.loads((Path(out) / "run.json").read_text())
    for stage in told["stages"]:
        section.rows.append([stage["name"], f"{stage['seconds']:.1f}", f"{stage['peak_memory'] / 1e6:,.0f}"])
    counts = told["counts"]
    section.notes.append(
        f"{file.stat().st_size / 1e9:.2f} GB packed, {counts['pages']:,} pages, {run.seconds:.0f} s: "
        f"{counts['clusters']:,} clusters, {counts['removed']:,} pages removed; pairs held: {told['pairs']['held']}."
    )
    peak = max(run.peak_bytes, told["peak_memory"])
    section.claims.append(_claim("10 GB of text in 1 GiB: peak memory", 1, peak, plan))
    section.data = {"run": run.record(), "stages": told["stages"], "counts": counts}
    return section


def _fingerprints(places: Places, plan: Plan) -> Section:
    section = Section(f"{plan.fingerprints:,} fingerprints to clusters", ("step", "seconds"))
    print(section.title, flush=True)
    answer = places.answer("fingerprints")
    run = measure(
        [sys.executable, BENCHMARKS / "ours_fingerprints.py", str(plan.fingerprints), answer],
        places.log("fingerprints"),
        limit_seconds=3600,
    )
    if run.trouble:
        section.notes.append(f"Failed: {places.public(run.trouble)}")
        return section
    told = json.loads(Path(answer).read_text())
    section.rows += [[name, f"{seconds:.1f}"] for name, seconds in told["seconds"].items()]
    section.notes.append(
        f"Sketches of 384 bits in clusters of Zipf-distributed size (exponent 2), each with five bits of its own; "
        f"accepted at 372 agreeing bits. {told['clusters']:,} clusters of two or more were made, "
        f"{told['found']:,} found, the largest of {told['largest']:,}; hot keys: {told['hot_buckets']:,}."
    )
    section.claims.append(_claim("20 million fingerprints in 2 GiB: peak memory", 2, run.peak_bytes, plan))
    right = float(told["found"] == told["clusters"] and told["same"])
    section.claims.append(Claim("20 million fingerprints: the clusters that were made", 1, right, unit=""))
    section.data = {"run": run.record(), "told": told}
    return section


def _claim(what: str, gibibytes: int, peak: int, plan: Plan) -> Claim:
    asked = (gibibytes * _GIBIBYTE + _SLACK) / 1e9
    return Claim(what, asked, peak / 1e9, unit=" GB", at_least=False, judged=plan.name == "full")
