"""What the default detector costs: ``neardup dedup`` without ``--detector`` by two versions of the package, in turn.

    python -m benchmarks.default_cost BEFORE/python AFTER/python pages.jsonl more.jsonl

Each version is a folder that holds ``neardup`` with its native module. Each runs every file, or pattern, three times,
the versions in turn; printed are medians of processor and of elapsed seconds, the highest memory, and what came out.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from glob import glob
from pathlib import Path
from typing import Any

ROUNDS = 3


def measured(package: str, file: str, out: Path) -> tuple[float, float, dict[str, Any]]:
    """Processor seconds, elapsed seconds, and the report of one run."""
    shutil.rmtree(out, ignore_errors=True)
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "neardup", "dedup", file, "--out", str(out), "--quiet"],
        env=os.environ | {"PYTHONPATH": package},
        cwd=out.parent,
        check=True,
    )
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return used, wall, json.loads((out / "run.json").read_text())


def main() -> None:
    packages, files = [os.path.abspath(name) for name in sys.argv[1:3]], sys.argv[3:]
    print("load", os.getloadavg())
    print("| pages | detector | CPU s | elapsed s | peak MB | removed |")
    print("|---|---|--:|--:|--:|--:|")
    with tempfile.TemporaryDirectory() as folder:
        for file in map(os.path.abspath, files):
            rounds = [[measured(package, file, Path(folder) / "out") for package in packages] for _ in range(ROUNDS)]
            for at in range(len(packages)):
                runs = [one[at] for one in rounds]
                cpu, wall = statistics.median(run[0] for run in runs), statistics.median(run[1] for run in runs)
                report = runs[0][2]
                counts = report["counts"]
                name, size = Path(file).name, sum(os.stat(path).st_size for path in glob(file)) / 1e6
                print(
                    f"| {name}: {counts['pages']:,} pages, {size:,.0f} MB | {report['detector']} | {cpu:.2f} "
                    f"| {wall:.2f} | {report['peak_memory'] / 1e6:,.0f} | {counts['removed']:,} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
