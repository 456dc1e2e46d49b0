"""The promise of ``--memory``: ten gigabytes of text in one, one in a quarter, twenty million fingerprints in two."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path

from benchmarks.corpus import Corpora, huge
from benchmarks.places import BENCHMARKS, Places
from benchmarks.plan import MINHASH, Plan
from benchmarks.sections import Claim, Section
from benchmarks.timing import measure

#: What a run may take beyond what it was told.
_SLACK = 300_000_000


def report(places: Places, plan: Plan, corpora: Corpora) -> list[Section]:
    """All of them, each in a process of its own whose peak is measured from outside and told by itself."""
    large = corpora.large or corpora.small
    return [
        _text(places, plan, huge(places, plan, corpora), MINHASH, 1024),
        _text(places, plan, large, MINHASH, 256),
        # One whose sets wait for what is counted of the collection.
        _text(places, plan, large, "template-aware", 256),
        _fingerprints(places, plan),
    ]


def _text(places: Places, plan: Plan, file: Path, detector: str, mebibytes: int) -> Section:
    what = f"{file.name}, {detector.split('(')[0]}, --memory {mebibytes}MiB"
    section = Section(f"Text in little memory: {what}", ("stage", "seconds", "peak MB"))
    print(section.title, flush=True)
    out = places.answer("little-memory")
    memory = ["--memory", f"{mebibytes}MiB"]
    run = measure(
        [places.neardup, "dedup", file, "--out", out, "--detector", detector, *memory, "--overwrite", "-q"],
        places.log("little-memory"),
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
        f"{file.stat().st_size / 1e9:.2f} GB as stored, {counts['pages']:,} pages, {run.seconds:.0f} s: "
        f"{counts['clusters']:,} clusters, {counts['removed']:,} pages removed; pairs held: {told['pairs']['held']}."
    )
    peak = max(run.peak_bytes, told["peak_memory"])
    section.claims.append(_claim(f"{what}: peak memory", mebibytes << 20, peak, plan))
    section.data = {"run": asdict(run), "stages": told["stages"], "counts": counts}
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
    section.claims.append(_claim("20 million fingerprints in 2 GiB: peak memory", 2 << 30, run.peak_bytes, plan))
    right = float(told["found"] == told["clusters"] and told["same"])
    section.claims.append(Claim("20 million fingerprints: the clusters that were made", 1, right, unit=""))
    section.data = {"run": asdict(run), "told": told}
    return section


def _claim(what: str, told: int, peak: int, plan: Plan) -> Claim:
    asked = (told + _SLACK) / 1e9
    return Claim(what, asked, peak / 1e9, unit=" GB", at_least=False, judged=plan.name == "full")
