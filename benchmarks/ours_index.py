"""One index filled with made-up pages of 400 tokens, and asked: rates, latencies, bytes. Prints JSON.

    python benchmarks/ours_index.py FOLDER DETECTOR PAGES [--single SECONDS]

Pages are lists of random tokens, so that no text has to be made and read: what is measured begins with fingerprinting.
One page in ten is another with one token changed; such a pair must be found.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from neardup import Index, _native
from neardup.index.incoming import Arrays, encoded
from neardup.index.shape import shape_of
from neardup.plan import Given

TOKENS = 400
BATCH = 4096
SITES = 1000
#: Pages that a client of ``single`` makes at a time.
AHEAD = 1024


def batch_of(number: int, shape: Any) -> Arrays:
    """The pages of one batch; every tenth is like the one before it."""
    random = np.random.default_rng(number)
    tokens = random.integers(0, 1 << 63, (BATCH, TOKENS), dtype=np.uint64)
    tokens[9::10] = tokens[8::10][: len(tokens[9::10])]
    tokens[9::10, 200] += 1
    offsets = np.arange(BATCH + 1, dtype=np.int64) * TOKENS
    kind = pa.large_list(pa.field("item", pa.uint64(), nullable=False))
    lists = pa.LargeListArray.from_arrays(pa.array(offsets), pa.array(tokens.reshape(-1)), type=kind)
    names = [f"http://s{at % SITES}.example/{number}/{at}" for at in range(BATCH)]
    high, low = _native.token_identities(lists)
    columns, sets = shape.compute(Given(None, tokens=lists))
    return Arrays(
        names=names,
        ids=encoded(names),
        identity_high=high,
        identity_low=low,
        empty=np.zeros(BATCH, bool),
        active=np.ones(BATCH, bool),
        sites=(np.arange(BATCH, dtype=np.uint64) % SITES) + 1,
        times=np.full(BATCH, int(time.time()), np.int64),
        requests=None,
        columns=columns,
        sets=sets,
    )


def fill(index: Index, pages: int, first: int = 0) -> dict[str, Any]:
    """Adds pages in batches from the ``first`` on, fingerprinting ahead in another thread; the rate of each tenth."""
    shape = shape_of(index.about.detector, None)
    batches = pages // BATCH
    rates, found = [], 0
    begun = last = time.perf_counter()
    cpu = time.process_time()
    with ThreadPoolExecutor(1) as ahead:
        coming = ahead.submit(batch_of, first, shape)
        for number in range(batches):
            arrays = coming.result()
            coming = ahead.submit(batch_of, first + number + 1, shape)
            found += sum(bool(answer) for answer in index.add_arrays(arrays))
            if (number + 1) % max(1, batches // 10) == 0:
                now = time.perf_counter()
                rates.append(max(1, batches // 10) * BATCH / (now - last))
                print(f"{(number + 1) * BATCH:,} pages, {rates[-1]:,.0f} a second", file=sys.stderr, flush=True)
                last = now
    seconds = time.perf_counter() - begun
    added = batches * BATCH
    return {
        "pages": added,
        "adds_per_second": added / seconds,
        "last_tenth_per_second": rates[-1],
        "tenths_per_second": [round(rate) for rate in rates],
        "cpu_microseconds_a_page": 1e6 * (time.process_time() - cpu) / added,
        "found": found,
        "planted": batches * len(range(9, BATCH, 10)),
    }


def ask(index: Index, questions: int = 2000) -> dict[str, float]:
    """Milliseconds of single questions, fingerprinting included: half about pages that are there."""
    random = np.random.default_rng(1)
    known = np.random.default_rng(0).integers(0, 1 << 63, (BATCH, TOKENS), dtype=np.uint64)
    took = []
    for at in range(questions):
        tokens = known[at % BATCH] if at % 2 else random.integers(0, 1 << 63, TOKENS, dtype=np.uint64)
        page = {"tokens": tokens, "url": "http://s1.example/asked"}
        begun = time.perf_counter()
        index.query(page)
        took.append(1e3 * (time.perf_counter() - begun))
    return {"p50_ms": float(np.percentile(took, 50)), "p99_ms": float(np.percentile(took, 99))}


def resident_bytes() -> dict[str, int]:
    """Memory of this process now, and at most so far; the cache of blocks and the buffers for writes included."""
    said = Path("/proc/self/status").read_text().splitlines()
    fields = {line.split(":")[0]: line.split()[1] for line in said if line.startswith("Vm")}
    return {"resident_bytes": 1024 * int(fields["VmRSS"]), "resident_bytes_most": 1024 * int(fields["VmHWM"])}


def disk_bytes(folder: Path) -> int:
    """What the whole folder takes, the journal included, as ``du`` counts."""
    return sum(512 * path.stat().st_blocks for path in folder.rglob("*") if path.is_file())


def syncs_per_second(folder: Path, seconds: float) -> float:
    """How often the disk takes a few kilobytes for good."""
    with open(folder / "sync-probe", "wb") as file:
        begun, count = time.perf_counter(), 0
        while time.perf_counter() - begun < seconds:
            file.write(b"x" * 4096)
            file.flush()
            os.fdatasync(file.fileno())
            count += 1
        rate = count / (time.perf_counter() - begun)
    (folder / "sync-probe").unlink()
    return rate


def single(index: Index, seconds: float, clients: int = 8) -> float:
    """Single adds a second, of several threads together; as durable as the index was opened to be."""
    counted = [0] * clients
    # Pages that are not there yet: one that replaces another is more work.
    first = index.stats().pages
    end = time.perf_counter() + seconds

    def work(client: int) -> None:
        random = np.random.default_rng([first, client])
        while time.perf_counter() < end:
            # Many at a time: to make a page is not what is measured, and takes the interpreter lock twice.
            for tokens in random.integers(0, 1 << 63, (AHEAD, TOKENS), dtype=np.uint64):
                name = f"single-{first}-{client}-{counted[client]}"
                index.add({"tokens": tokens, "url": "http://s1.example/"}, id=name)
                counted[client] += 1
                if time.perf_counter() >= end:
                    break

    threads = [threading.Thread(target=work, args=(client,)) for client in range(clients)]
    begun = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(counted) / (time.perf_counter() - begun)


def main() -> None:
    folder, detector, pages = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    seconds = float(sys.argv[sys.argv.index("--single") + 1]) if "--single" in sys.argv else 0.0
    shutil.rmtree(folder, ignore_errors=True)
    Index.create(folder, detector)
    told: dict[str, Any] = {"detector": detector}
    with Index(folder, memory=1 << 30) as index:
        told |= fill(index, pages)
        told |= resident_bytes()
        # Right after the filling, while files are merged in the background; and later, when none are.
        told |= ask(index)
        told["bytes_a_page"] = disk_bytes(folder) / told["pages"]
        print(json.dumps(told), file=sys.stderr, flush=True)
        begun = time.perf_counter()
    closed = time.perf_counter()
    with Index(folder, memory=1 << 30) as index:
        told |= {"close_seconds": closed - begun, "open_seconds": time.perf_counter() - closed}
        begun = time.perf_counter()
        index.compact()
        told["compact_seconds"] = time.perf_counter() - begun
        told |= {f"{name}_at_rest": value for name, value in ask(index).items()}
        told["bytes_a_page_compact"] = disk_bytes(folder) / told["pages"]
        told["adds_per_second_when_compact"] = fill(index, max(BATCH, pages // 10), pages // BATCH)["adds_per_second"]
        widths = shape_of(index.about.detector, None).native.widths
        # Pieces are slices of the sketch; the identity is a key as well, and ids are held as they are.
        told["key_and_sketch_bytes"] = 8 * sum(widths) + 16
        told["id_bytes"] = len("http://s000.example/000/0000")
        if seconds:
            before = syncs_per_second(folder, seconds / 2)
            told["single_adds_per_second"] = single(index, seconds)
            told["syncs_per_second"] = (before + syncs_per_second(folder, seconds / 2)) / 2
    if seconds:
        with Index(folder, memory=1 << 30, sync="system") as index:
            told["unsynced_single_adds_per_second"] = [single(index, seconds / 2, clients) for clients in (1, 2, 8)]
    print(json.dumps(told))


if __name__ == "__main__":
    main()
