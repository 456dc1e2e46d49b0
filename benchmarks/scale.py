"""What ``neardup estimate`` says against what runs take, and what Spark adds on one machine.

    python -m benchmarks.scale local 100000 300000 1000000     processor seconds by stage, predicted and measured
    python -m benchmarks.scale spark 100000                    both engines by stage, with Spark's shuffle a page
    python -m benchmarks.scale shuffled 300000                 the same, every join by a shuffle as for large tables

Pages are made (``neardup.estimate.write_pages``), of 240 tokens, three in ten with near-duplicates. Predictions are
held against processor seconds, not seconds by the clock, so that what else the machine does matters less; so are both
engines, those of the JVM and of its Python workers together. Both must count the same.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from contextlib import ExitStack, suppress
from pathlib import Path

from neardup import estimate as costs
from neardup.engines import Progress
from neardup.job import dedup
from neardup.methods import parse

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


class Watched(Progress):
    """Processor seconds of this process and all it started, by stage, and when each stage began."""

    def __init__(self) -> None:
        self.began: list[tuple[str, float]] = []
        self.seconds: dict[str, float] = {}
        self._start = 0.0

    def begin(self, stage: str, total_bytes: int | None = None, unit: str = "pages") -> None:
        self.began.append((stage, time.time()))
        self._start = processor_seconds()

    def advance(self, pages: int, nbytes: int) -> None:
        pass

    def end(self) -> None:
        self.seconds[self.began[-1][0]] = processor_seconds() - self._start

    def stage_at(self, moment: float) -> str:
        """The stage that was under way; what came before all is starting."""
        return next((stage for stage, began in reversed(self.began) if began <= moment), "starting")


def processor_seconds() -> float:
    """Of this process and its descendants that are alive, with those of theirs that have ended."""
    parents, spent = {}, {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            numbers = path.read_text().rpartition(")")[2].split()
            parents[int(path.parent.name)] = int(numbers[1])
            spent[int(path.parent.name)] = sum(map(int, numbers[11:15]))
    mine, grew = {os.getpid()}, True
    while grew:
        found = {process for process, parent in parents.items() if parent in mine} - mine
        mine |= found
        grew = bool(found)
    return sum(spent[process] for process in mine if process in spent) / os.sysconf("SC_CLK_TCK")


def spark(sizes: list[int], **more: str) -> None:
    """Each size is best run by itself: a JVM that has run once has compiled what it needs."""
    from neardup.engines.spark import start

    with tempfile.TemporaryDirectory() as name:
        options = {
            "spark.eventLog.enabled": "true", "spark.eventLog.dir": f"file://{name}", "spark.driver.memory": "4g",
            "spark.eventLog.compress": "false", **more,
        }  # fmt: skip
        began = time.perf_counter()
        session = start("local[2]", options=options)
        wall = time.perf_counter() - began
        print(f"starting: {wall:.1f} s by the clock, {processor_seconds():.1f} processor seconds")
        for pages in sizes:
            folder = Path(name, "pages")
            write_parts(folder, pages)
            clock, began = Watched(), time.perf_counter()
            expected = dedup(str(folder), Path(name, "local"), detector=DETECTOR, progress=clock, overwrite=True)
            told("local", pages, time.perf_counter() - began, clock, {})
            clock, began = Watched(), time.perf_counter()
            found = dedup(
                str(folder), Path(name, "out"), detector=DETECTOR, engine="spark", master="local[2]", overwrite=True,
                progress=clock,
            )  # fmt: skip
            assert found.report["counts"] == expected.report["counts"]
            told("spark", pages, time.perf_counter() - began, clock, shuffled(Path(name), clock))
        session.stop()


def shuffled_joins(sizes: list[int]) -> None:
    """Small tables are not sent to every task: what a page costs here is what one of very many costs."""
    names = ("spark.sql.autoBroadcastJoinThreshold", "spark.sql.adaptive.autoBroadcastJoinThreshold")
    spark(sizes, **dict.fromkeys(names, "-1"))


def write_parts(folder: Path, pages: int) -> None:
    """Made pages in eight files: more than there are tasks at a time, since a file is a task."""
    folder.mkdir(exist_ok=True)
    whole = costs.write_pages(folder.parent / "pages.jsonl", pages, TOKENS, DUPLICATES)
    files = [open(folder / f"{part}.jsonl", "w", encoding="utf-8") for part in range(8)]  # noqa: SIM115
    with ExitStack() as stack, open(whole, encoding="utf-8") as lines:
        for file in files:
            stack.enter_context(file)
        for at, line in enumerate(lines):
            files[at % 8].write(line)
    whole.unlink()


def told(engine: str, pages: int, wall: float, clock: Watched, shuffle: dict[str, int]) -> None:
    ends = [began for _, began in clock.began[1:]] + [time.time()]
    print(f"{engine}, {pages:,} pages: {wall:.1f} s by the clock, {sum(clock.seconds.values()):.1f} processor seconds")
    for (stage, began), end in zip(clock.began, ends, strict=True):
        sent = f"  {shuffle.get(stage, 0) / pages:7,.0f} bytes a page sent" if shuffle else ""
        print(f"  {stage:<14} {end - began:7.1f} s by the clock  {clock.seconds[stage]:7.1f} processor seconds{sent}")
    if shuffle:
        print(f"  in all {sum(shuffle.values()) / pages:,.0f} bytes a page sent between tasks, compressed")
    sys.stdout.flush()


def shuffled(folder: Path, clock: Watched) -> dict[str, int]:
    """Bytes that tasks wrote to be sent, by the stage of the run in which they ended."""
    sent: dict[str, int] = {}
    logs = [path for path in folder.rglob("*") if path.is_file() and ("local-" in path.name or "events_" in path.name)]
    for log in logs:
        with open(log, encoding="utf-8") as lines:
            for line in lines:
                if '"SparkListenerTaskEnd"' in line:
                    event = json.loads(line)
                    moment = event["Task Info"]["Finish Time"] / 1000
                    # Of an earlier run in the same log.
                    if clock.began and moment >= clock.began[0][1]:
                        metrics = event.get("Task Metrics") or {}
                        written = metrics.get("Shuffle Write Metrics", {}).get("Shuffle Bytes Written", 0)
                        stage = clock.stage_at(moment)
                        sent[stage] = sent.get(stage, 0) + written
    return sent


if __name__ == "__main__":
    chosen = {"local": local, "spark": spark, "shuffled": shuffled_joins}[sys.argv[1]]
    chosen([int(float(size)) for size in sys.argv[2:]])
