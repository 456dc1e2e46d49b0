"""What ``neardup estimate`` says against what runs take, and what Spark adds on one machine.

    python -m benchmarks.scale local 100000 300000 1000000     processor seconds by stage, predicted and measured
    python -m benchmarks.scale spark 100000                    the same pages on Spark, with its shuffle a page

Pages are made (``neardup.estimate.write_pages``), of 240 tokens, three in ten with near-duplicates. Processor seconds
are compared, not seconds by the clock, so that what else the machine does matters less.
"""

from __future__ import annotations

import json
import resource
import sys
import tempfile
import time
from pathlib import Path

from neardup import estimate as costs
from neardup.detectors import parse
from neardup.job import dedup

TOKENS, DUPLICATES, DETECTOR = 240, 0.3, "site-aware"


def local(sizes: list[int]) -> None:
    rates = costs.calibrate(DETECTOR)
    print(json.dumps(rates.to_json()))
    with tempfile.TemporaryDirectory() as name:
        for pages in sizes:
            path = costs.write_pages(Path(name, "pages.jsonl"), pages, TOKENS, DUPLICATES)
            found = costs.measure(path, parse(DETECTOR), Path(name, "out"))
            found["clustering"] += found.pop("writing")
            said = costs.predicted(rates, pages, TOKENS)
            total, expected = sum(found.values()), sum(said.values())
            shown = "  ".join(f"{stage} {said[stage]:.2f} / {found[stage]:.2f}" for stage in said)
            print(f"{pages:>9,}  {shown}  in all {expected:.2f} / {total:.2f}  off by {expected / total - 1:+.0%}")


def spark(sizes: list[int]) -> None:
    from neardup.engines.spark import start

    with tempfile.TemporaryDirectory() as name:
        options = {
            "spark.eventLog.enabled": "true", "spark.eventLog.dir": f"file://{name}", "spark.driver.memory": "4g",
            "spark.eventLog.compress": "false",
        }  # fmt: skip
        start("local[2]", options=options)
        for pages in sizes:
            path = Path(name, "pages")
            path.mkdir(exist_ok=True)
            # As many files as there are tasks at a time, and more: a file is a task.
            whole = costs.write_pages(Path(name, "pages.jsonl"), pages, TOKENS, DUPLICATES)
            lines = whole.read_text(encoding="utf-8").splitlines(keepends=True)
            for part in range(8):
                (path / f"{part}.jsonl").write_text("".join(lines[part::8]), encoding="utf-8")
            local_seconds = costs.measure(path, parse(DETECTOR), Path(name, "local"))
            print("local, processor seconds:", json.dumps(local_seconds))
            before, wall = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
            result = dedup(
                str(path), Path(name, "out"), detector=DETECTOR, engine="spark", master="local[2]", overwrite=True
            )
            wall = time.perf_counter() - wall
            after = resource.getrusage(resource.RUSAGE_SELF)
            totals = events(Path(name))
            print(json.dumps({stage["name"]: stage["seconds"] for stage in result.report["stages"]}))
            driver = after.ru_utime - before.ru_utime
            print(f"{pages:>9,}  {wall:.1f} s by the clock, {driver:.1f} s of the driver's Python")
            print(f"  tasks: {totals['run']:.1f} s, of which the JVM computed {totals['processor']:.1f} s")
            print(f"  shuffle: {totals['shuffle'] / pages:,.0f} bytes a page")


def events(folder: Path) -> dict[str, float]:
    """Shuffled bytes, seconds that tasks ran, and processor seconds of the JVM in them."""
    totals = {"shuffle": 0.0, "processor": 0.0, "run": 0.0}
    logs = [path for path in folder.rglob("*") if path.is_file() and ("local-" in path.name or "events_" in path.name)]
    for log in logs:
        for line in log.read_text(encoding="utf-8").splitlines():
            if '"SparkListenerTaskEnd"' in line:
                metrics = json.loads(line).get("Task Metrics") or {}
                totals["shuffle"] += metrics.get("Shuffle Write Metrics", {}).get("Shuffle Bytes Written", 0)
                totals["processor"] += metrics.get("Executor CPU Time", 0) / 1e9
                totals["run"] += metrics.get("Executor Run Time", 0) / 1e3
    return totals


if __name__ == "__main__":
    {"local": local, "spark": spark}[sys.argv[1]]([int(float(size)) for size in sys.argv[2:]])
