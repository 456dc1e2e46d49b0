"""The service under load from a real load generator (wrk) on loopback: p50, p99 and throughput at 1, 8, 64 connections.

    python -m benchmarks.service_load FOLDER [SECONDS]

Serves a new index in FOLDER with 10,000 pages of 400 words, and asks about pages (`POST /v1/query`) and adds them
(`POST /v1/pages`, durable). Prints JSON; wrk must be installed.
"""

from __future__ import annotations

import json
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from neardup import Index

WORDS = 400

SCRIPT = """
math.randomseed(SEED)
local count = 0
request = function()
  count = count + 1
  local words = {}
  for at = 1, WORDS do words[at] = "w" .. math.random(50000) end
  local body = '{"text": "' .. table.concat(words, " ") .. '"}'
  return wrk.format("POST", "PATH", {["content-type"] = "application/json"}, body)
end
done = function(summary, latency, requests)
  local bad = summary.errors.status + summary.errors.timeout + summary.errors.read + summary.errors.write
  io.write(string.format("TOLD %f %f %f %d\\n", latency:percentile(50) / 1000, latency:percentile(99) / 1000,
    summary.requests / summary.duration * 1000000, bad))
end
"""


def fill(folder: Path, pages: int = 10_000) -> None:
    """A new index with pages that are like no other."""
    shutil.rmtree(folder, ignore_errors=True)
    Index.create(folder, "combined")
    drawn = random.Random(1)
    with Index(folder, sync="system") as index:
        for start in range(0, pages, 1000):
            texts = [" ".join(f"w{drawn.randrange(50_000)}" for _ in range(WORDS)) for _ in range(1000)]
            index.add_many([{"id": str(start + at), "text": text} for at, text in enumerate(texts)])


def load(
    address: str, path: str, connections: int, seconds: int, script: Path, *, words: int = WORDS, seed: int = 1
) -> dict[str, Any]:
    """What wrk measured, sending pages of so many words, others with another seed."""
    script.write_text(SCRIPT.replace("WORDS", str(words)).replace("PATH", path).replace("SEED", str(seed)))
    command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "30s", "-s", str(script), address]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = re.search(r"TOLD (\S+) (\S+) (\S+) (\d+)", done.stdout)
    if found is None:
        raise RuntimeError(done.stdout)
    p50, p99, rate, bad = map(float, found.groups())
    return {
        "path": path,
        "connections": connections,
        "p50_ms": round(p50, 2),
        "p99_ms": round(p99, 2),
        "requests_per_second": round(rate, 1),
        "errors": int(bad),
    }


@contextmanager
def served(folder: Path, *options: str) -> Iterator[tuple[str, int]]:
    """A new index, filled and served with these options: the service's address and its process."""
    if shutil.which("wrk") is None:
        raise SystemExit("wrk is not installed")
    fill(folder)
    command = [sys.executable, "-m", "neardup", "serve", str(folder), "--port", "0", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as service:
        assert service.stdout is not None
        found = re.search(r"http://\S+", service.stdout.readline())
        assert found is not None
        try:
            yield found[0], service.pid
        finally:
            service.terminate()


def main() -> None:
    folder = Path(sys.argv[1])
    seconds = int(sys.argv[2]) if len(sys.argv) > 2 else 10
    with served(folder) as (address, _):
        for path in ("/v1/query", "/v1/pages"):
            for connections in (1, 8, 64):
                told = load(address, path, connections, seconds, folder.parent / "wrk.lua", seed=connections)
                print(json.dumps(told), flush=True)


if __name__ == "__main__":
    main()
