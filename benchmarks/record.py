"""The dated record: what was measured, on what, with which versions; as Markdown to read and JSON to compare.

A record of the full run is ``benchmarks/record/YYYY-MM-DD.md``; a quick one goes to the work folder, for its numbers
are too small to be kept. Nothing in it names the machine or its folders.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
from collections import Counter
from datetime import date
from importlib import metadata
from pathlib import Path
from typing import Any, Final

from benchmarks import venvs
from benchmarks.places import BENCHMARKS, RECORD, ROOT, Places
from benchmarks.plan import Plan
from benchmarks.sections import Section, table
from benchmarks.timing import machine_memory


def machine() -> dict[str, Any]:
    """What the numbers depend on."""
    processor = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as about:
            processor = next(line.split(":", 1)[1].strip() for line in about if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    return {
        "processor": processor,
        "cores": len(os.sched_getaffinity(0)),
        "memory_gb": round(machine_memory() / 1e9, 1),
        "system": f"{platform.system()} {platform.release().split('-')[0]}",
        "load_before": round(os.getloadavg()[0], 2),
    }


def our_version() -> dict[str, str]:
    """The version and the commit that were measured."""
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True)
    return {"neardup": metadata.version("neardup"), "commit": commit.stdout.strip() or "unknown"}


def busy(sections: list[Section]) -> str | None:
    """A warning that names the runs during which others used the machine.

    >>> run = {"seconds": 1.0, "foreign_seconds": 0.9 * len(os.sched_getaffinity(0))}
    >>> runs = {"ours": [run], "peer": [run | {"foreign_seconds": 0.0}]}
    >>> busy([Section("Speed", (), data={"runs": runs})]).split(". ")[:2]
    ['**The machine was busy** in 1 of 2 runs: others used more than a tenth of it (at worst 90%)', 'Speed (ours), 1']
    """
    cores = len(os.sched_getaffinity(0))
    worst, total = 0.0, 0
    disturbed: list[str] = []
    for section in sections:
        for side, runs in section.data.get("runs", {}).items():
            total += len(runs)
            for run in runs:
                share = run["foreign_seconds"] / (cores * run["seconds"])
                if share > _DISTURBED and cores * run["seconds"] * _DISTURBED > _TICKS:
                    disturbed.append(f"{section.title} ({side})")
                    worst = max(worst, share)
    if not disturbed:
        return None
    where = "; ".join(f"{what}, {count}" for what, count in Counter(disturbed).items())
    return (
        f"**The machine was busy** in {len(disturbed)} of {total} runs: others used more than a tenth of it (at worst "
        f"{worst:.0%}). {where}. Ratios suffer less than times, but do not quote these."
    )


#: The share of a machine that others may use.
_DISTURBED: Final = 0.1
#: The system counts CPU time in ticks: so many seconds may be taken for others' that are not, and shorter
#: shares of a run tell nothing.
_TICKS: Final = 0.02


def write(
    places: Places,
    plan: Plan,
    origin: str,
    about: dict[str, Any],
    sections: list[Section],
    failures: dict[str, str],
    left_out: list[str],
) -> Path:
    """Writes both files and the plots; gives the Markdown file."""
    folder = RECORD if plan.name == "full" else places.work / "record"
    folder.mkdir(parents=True, exist_ok=True)
    day = date.today().isoformat()
    claims = [claim for section in sections for claim in section.claims]
    versions = our_version() | venvs.versions(places)
    warning = busy(sections)
    kept = {
        "date": day,
        "plan": plan.name,
        "machine": about,
        "versions": versions,
        "origin": origin,
        "warning": warning,
        "claims": [claim.record() for claim in claims],
        "sections": [
            {"title": one.title, "columns": list(one.columns), "rows": one.rows, "notes": one.notes, "data": one.data}
            for one in sections
        ],
        "failures": failures,
        "left_out": left_out,
    }
    data = folder / f"{day}.json"
    data.write_text(json.dumps(kept, indent=1, ensure_ascii=False, allow_nan=False) + "\n")
    plots = _draw(places, data)
    parts = [
        f"# Benchmarks, {day}" + ("" if plan.name == "full" else " (quick: too small to be quoted)"),
        f"{about['processor']}, {about['cores']} cores, {about['memory_gb']} GB, {about['system']}; load before: "
        f"{about['load_before']}. Pages: {origin}.",
        "Versions: " + ", ".join(f"{name} {version}" for name, version in versions.items()) + ".",
    ]
    if warning:
        parts.append(warning)
    parts.append("## Asked and reached\n\n" + table(("what", "asked", "reached", ""), [one.cells() for one in claims]))
    parts += [section.markdown().rstrip() for section in sections]
    parts += [f"![{plot.stem}]({plot.name})" for plot in plots]
    if failures:
        parts.append("## Parts that failed\n\n" + "\n".join(f"- {part}: {why}" for part, why in failures.items()))
    if left_out:
        parts.append("## Parts that were not run in this sitting\n\n" + ", ".join(left_out) + ".")
    text = folder / f"{day}.md"
    text.write_text("\n\n".join(parts) + "\n")
    return text


def _draw(places: Places, data: Path) -> list[Path]:
    """The plots of a record, drawn in the environment that has the library for it."""
    environment = venvs.prepare(places, "tools")
    if environment.trouble:
        print(f"no plots: {environment.trouble}")
        return []
    done = subprocess.run(
        [environment.python, BENCHMARKS / "plots.py", data], check=True, capture_output=True, text=True
    )
    return [data.parent / name for name in done.stdout.split()]
