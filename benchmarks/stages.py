"""Every stage alone: its rate, and the share of what the machine can do. Reading must not be the bottleneck."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from benchmarks.corpus import Corpora
from benchmarks.places import BENCHMARKS, ROOT, Places
from benchmarks.plan import MINHASH, Plan
from benchmarks.sections import Section, number
from benchmarks.text_to_clusters import our_command
from benchmarks.timing import measure


def report(places: Places, plan: Plan, corpora: Corpora) -> list[Section]:
    """One thread a stage; then the stages of a whole run on all cores, as ``run.json`` tells them."""
    section = Section("Each stage alone", ("stage", "MB/s", "% of the machine's limit", "the limit", "its MB/s"))
    print(section.title, flush=True)
    script = BENCHMARKS / "ours_stages.py"
    cargo = ["cargo", "build", "--quiet", "--release", "-p", "neardup-core", "--example", "limits"]
    subprocess.run(cargo, check=True, cwd=ROOT)
    limits = ROOT / "target" / "release" / "examples" / "limits"
    arguments: list[str | Path] = [
        corpora.small,
        corpora.html,
        corpora.warc,
        str(plan.html_bytes),
        str(plan.rounds),
        limits,
    ]
    done = subprocess.run([sys.executable, script, *arguments], check=True, capture_output=True, text=True)
    stages = json.loads(done.stdout)
    for one in stages:
        share = f"{100 * one['rate'] / one['limit_rate']:.0f} %"
        section.rows.append([one["stage"], number(one["rate"]), share, one["limit"], number(one["limit_rate"])])
    answer = places.answer("ours-stages")
    run = measure(our_command(places, corpora.small, answer, MINHASH), places.log("ours-stages"))
    if run.trouble:
        section.rows.append(["a whole run", "–", places.public(run.trouble), "–", "–"])
    else:
        size = corpora.small.stat().st_size
        whole = json.loads((answer / "run.json").read_text())["stages"]
        for one in whole:
            rate = number(size / 1e6 / one["seconds"]) if one["seconds"] else "–"
            section.rows.append([f"whole run, all cores: {one['name']}", rate, "–", "–", "–"])
        section.data["whole_run"] = whole
    section.notes.append(
        "One thread; MB of the file, of HTML or of text, whichever goes in. Limits are the simplest thing that must "
        "happen: reading the bytes, unpacking them, finding where words begin, sorting as many numbers, "
        "multiplying as often in vector registers."
    )
    section.data["stages"] = stages
    return [section]
