"""The durable index: adds a second, durable single adds, questions, bytes on disk; against datasketch's MinHashLSH."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from benchmarks import venvs
from benchmarks.corpus import Corpora
from benchmarks.places import BENCHMARKS, Places
from benchmarks.plan import Plan
from benchmarks.sections import Claim, Section

#: Detector → adds a second that are asked for.
_ASKED = {"combined": 20_000, "site-aware": 8_000}


def report(places: Places, plan: Plan, _corpora: Corpora) -> list[Section]:
    """Both detectors at one million pages (or fewer, in the quick run), then the peer, on a hundredth of them."""
    section = Section(
        f"The durable index, {plan.index_pages:,} pages of 400 tokens",
        ("index", "adds/s", "CPU µs a page", "question p50, p99 ms", "bytes a page, compacted"),
    )
    print(section.title, flush=True)
    judged = plan.name == "full"
    told = {}
    for detector, asked in _ASKED.items():
        seconds = "10" if judged else "2"
        command = [sys.executable, BENCHMARKS / "ours_index.py", places.work / "index", detector]
        ours = _told([*command, str(plan.index_pages), "--single", seconds])
        shutil.rmtree(places.work / "index", ignore_errors=True)
        told[detector] = ours
        section.rows.append(
            [
                f"`{detector}`",
                f"{ours['adds_per_second']:,.0f}",
                f"{ours['cpu_microseconds_a_page']:.0f}",
                f"{ours['p50_ms']:.2f}, {ours['p99_ms']:.2f}",
                f"{ours['bytes_a_page']:.0f}, {ours['bytes_a_page_compact']:.0f}",
            ]
        )
        one, two, eight = ours["unsynced_single_adds_per_second"]
        section.notes.append(
            f"`{detector}`, single adds a second by 8 threads: {ours['single_adds_per_second']:,.0f}, each "
            f"on disk when it returns; with --sync system {eight:,.0f} ({one:,.0f} by one thread, {two:,.0f} by two)."
        )
        share = ours["single_adds_per_second"] / (8 * ours["syncs_per_second"])
        allowed = 2.5 * ours["key_and_sketch_bytes"] + ours["id_bytes"]
        section.claims += [
            Claim(f"{detector}: adds a second in batches", asked, ours["adds_per_second"], unit="", judged=judged),
            Claim(f"{detector}: durable single adds, share of 8 a sync", 0.7, share, unit="", judged=judged),
            Claim(f"{detector}: question, 99th percentile", 2, ours["p99_ms"], " ms", at_least=False, judged=judged),
            Claim(
                f"{detector}: bytes a page", allowed, ours["bytes_a_page_compact"], "", at_least=False, judged=judged
            ),
            # One token of 400 changed is J = .96, which Alg. B accepts with probability .94.
            Claim(f"{detector}: planted pairs found", 0.92, ours["found"] / ours["planted"], unit=""),
        ]
    section.rows += _peers(places, max(2000, plan.index_pages // 100), told)
    section.notes.append(
        "Ours: fingerprinting, look-up, verification and insertion, committed to disk in batches of 4,096. datasketch: "
        "MinHash of the same parameters as Alg. B, look-up and insertion, nothing verified, on fewer pages."
    )
    section.data = {"told": told}
    return [section]


def _peers(places: Places, pages: int, told: dict[str, Any]) -> Iterator[list[str]]:
    environment = venvs.prepare(places, "datasketch")
    script = BENCHMARKS / "peers" / "index_datasketch.py"
    if environment.trouble:
        yield ["datasketch", environment.trouble, "", "", ""]
        return
    memory = told["datasketch, memory"] = _told([environment.python, script, str(pages)])
    yield [
        f"datasketch, memory, {pages:,} pages",
        f"{memory['adds_per_second']:,.0f}",
        "",
        f"{memory['p99_ms']:.2f}",
        "",
    ]
    with _redis(places) as port:
        if port is None:
            yield ["datasketch, Redis", "redis-server does not start here", "", "", ""]
            return
        redis = told["datasketch, Redis"] = _told([environment.python, script, str(pages), str(port)])
    yield [f"datasketch, Redis, {pages:,} pages", f"{redis['adds_per_second']:,.0f}", "", f"{redis['p99_ms']:.2f}", ""]


def _told(command: list[Any]) -> dict[str, Any]:
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return told


@contextmanager
def _redis(places: Places) -> Iterator[int | None]:
    """A Redis of its own, without persistence, on a free port."""
    if shutil.which("redis-server") is None:
        yield None
        return
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = ["redis-server", "--port", str(port), "--save", "", "--appendonly", "no", "--bind", "127.0.0.1"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, cwd=places.work) as server:
        try:
            time.sleep(1)
            yield port if server.poll() is None else None
        finally:
            server.terminate()
