"""Counts the instructions of every kernel under callgrind and compares them with the stored counts.

``python -m benchmarks.kernels.count`` prints the change of each; ``--fail-above 20`` ends with 1 if a kernel needs so
many per cent more, ``--store`` keeps the new counts in ``counts.json``. Each kernel of the core crate's
``examples/kernels.rs`` is a process of its own over an input made from a seed: the same build gives the same counts.
Valgrind does not know AVX-512 and says so to the program, which then takes its AVX2 path: that is what is counted.
"""

from __future__ import annotations

import argparse
import json
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from datetime import date
from pathlib import Path
from typing import Any, Final

from benchmarks.places import BENCHMARKS, ROOT
from benchmarks.sections import Section, number, table

COUNTS: Final = BENCHMARKS / "kernels" / "counts.json"
_PROGRAM: Final = ROOT / "target" / "release" / "examples" / "kernels"
#: The function of the program inside which instructions are counted.
_COUNTED: Final = "*measured*"


def count_all() -> dict[str, dict[str, Any]]:
    """Builds the program and counts: kernel → instructions, items, unit, instructions an item."""
    if shutil.which("valgrind") is None:
        raise SystemExit("valgrind is not installed; kernels are counted with its callgrind tool")
    subprocess.run(
        ["cargo", "build", "--quiet", "--release", "-p", "neardup-core", "--example", "kernels"],
        check=True,
        cwd=ROOT,
    )
    names = subprocess.run([_PROGRAM], check=True, capture_output=True, text=True).stdout.split()
    return {name: _count(name) for name in names}


def _count(kernel: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "callgrind.out")
        done = subprocess.run(
            [
                "valgrind",
                "--tool=callgrind",
                f"--callgrind-out-file={file}",
                f"--toggle-collect={_COUNTED}",
                _PROGRAM,
                kernel,
            ],
            capture_output=True,
            text=True,
        )
        if done.returncode != 0:
            raise SystemExit(f"kernel {kernel}: {done.stderr.strip().splitlines()[-1]}")
        instructions = instructions_of(file.read_text())
    items, unit = done.stdout.split()
    if instructions == 0:
        raise SystemExit(f"kernel {kernel}: nothing was counted; was the counted function inlined?")
    each = instructions / int(items)
    return {"instructions": instructions, "items": int(items), "unit": unit, "each": round(each, 4)}


def instructions_of(profile: str) -> int:
    """The sum that callgrind's file gives.

    >>> instructions_of("events: Ir" + chr(10) + "totals: 1234" + chr(10))
    1234
    """
    found = re.search(r"^(?:totals|summary): (\d+)", profile, re.MULTILINE)
    return int(found[1]) if found else 0


def stored() -> dict[str, Any]:
    """The counts kept in the repository, or nothing."""
    found: dict[str, Any] = json.loads(COUNTS.read_text()) if COUNTS.exists() else {}
    return found


def changes(now: dict[str, dict[str, Any]], before: dict[str, dict[str, Any]]) -> dict[str, float | None]:
    """Per cent more (or fewer) instructions an item; None for a kernel that was not counted before.

    >>> changes({"a": {"each": 12.0}, "b": {"each": 1.0}}, {"a": {"each": 10.0}})
    {'a': 20.0, 'b': None}
    """
    return {
        name: round(100 * (one["each"] / before[name]["each"] - 1), 2) if name in before else None
        for name, one in now.items()
    }


def report() -> Section:
    """The counts as a section of the record."""
    now, before = count_all(), stored().get("kernels", {})
    section = Section("Kernels, instructions", ("kernel", "instructions", "an item", "before", "change"))
    for name, change in changes(now, before).items():
        one = now[name]
        section.rows.append(
            [
                name,
                f"{one['each']:.2f}",
                one["unit"],
                f"{before[name]['each']:.2f}" if name in before else "–",
                "new" if change is None else f"{change:+.1f} %",
            ]
        )
    section.rows += [[name, "–", "–", number(before[name]["each"]), "gone"] for name in sorted(before.keys() - now)]
    section.notes.append("Counted by callgrind on AVX2; they do not depend on how busy the machine is.")
    section.data = {"kernels": now}
    return section


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--fail-above", type=float, metavar="PERCENT")
    options.add_argument("--store", action="store_true")
    chosen = options.parse_args()
    section = report()
    print(table(section.columns, section.rows))
    before = stored()
    now = section.data["kernels"]
    if before and before.get("compiler") != _compiler():
        print(f"stored counts are from {before.get('compiler')}, these from {_compiler()}")
    if chosen.store or not before:
        kept = {
            "date": date.today().isoformat(),
            "compiler": _compiler(),
            "architecture": platform.machine(),
            "kernels": now,
        }
        COUNTS.write_text(json.dumps(kept, indent=2) + "\n")
        print("stored")
        return
    slower = {
        name: change
        for name, change in changes(now, before["kernels"]).items()
        if chosen.fail_above is not None and change is not None and change > chosen.fail_above
    }
    if slower:
        names = ", ".join(f"{name} {change:+.1f} %" for name, change in slower.items())
        print(f"more instructions than before: {names}; if that is meant, store the new counts with --store")
        sys.exit(1)


def _compiler() -> str:
    return subprocess.run(["rustc", "--version"], check=True, capture_output=True, text=True).stdout.strip()


if __name__ == "__main__":
    main()
