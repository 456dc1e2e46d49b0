"""Memory of the service over many requests: a curve of what is resident, while wrk asks and adds on kept connections.

    python -m benchmarks.service_soak FOLDER [REQUESTS]

Serves a new index in FOLDER and sends it requests in rounds: pages are asked about, every tenth round they are added
(durably, so that the index grows as it would in a crawl). The index gets little memory, so that what it may hold of new
pages is reached early, and what grows then is what should not. Prints a JSON object a round; the last says how much
more was resident at the end than after the first tenth of the requests. wrk must be installed.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

from benchmarks.service_load import load, served

#: Seconds of a round; few enough for a curve, many enough for its start not to count.
_SECONDS = 10
_CONNECTIONS = 8
_MEMORY = "64MiB"


def resident(process: int) -> int:
    """Bytes of a process that are in memory."""
    said = Path(f"/proc/{process}/status").read_text()
    found = re.search(r"VmRSS:\s+(\d+) kB", said)
    assert found is not None
    return 1024 * int(found[1])


def soak(address: str, process: int, requests: int, script: Path) -> list[dict[str, Any]]:
    """Rounds until so many requests were answered."""
    rounds: list[dict[str, Any]] = []
    sent = 0
    while sent < requests:
        path = "/v1/pages" if len(rounds) % 10 == 9 else "/v1/query"
        told = load(address, path, _CONNECTIONS, _SECONDS, script, words=100, seed=len(rounds))
        sent += round(told["requests_per_second"] * _SECONDS)
        rounds.append({"requests": sent, "resident_mb": round(resident(process) / 1e6, 1), "errors": told["errors"]})
        print(json.dumps(rounds[-1]), flush=True)
    return rounds


def main() -> None:
    folder = Path(sys.argv[1])
    requests = int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
    with served(folder, "--memory", _MEMORY) as (address, process):
        rounds = soak(address, process, requests, folder.parent / "wrk-soak.lua")
    warm = next(one for one in rounds if one["requests"] >= requests / 10)
    grown = rounds[-1]["resident_mb"] - warm["resident_mb"]
    print(json.dumps({"requests": rounds[-1]["requests"], "grown_mb_after_a_tenth": round(grown, 1)}))


if __name__ == "__main__":
    main()
