"""What writing costs other stores: a look-up before each key, batches that are synced; CPU time and bytes on disk.

    python stores_writing.py FOLDER [BATCHES]     with lmdb and rocksdict installed

Batches as in ``stores_after_kill.py``. Every key is looked up before it is written, as an index does. What Python takes
to make the entries and to go through them is measured with a store that does nothing, and taken off; what a call from
Python costs is not. Prints JSON, a line a store.
"""

from __future__ import annotations

import json
import shutil
import sys
import time
from pathlib import Path

from stores_after_kill import PAGES, STORES, entries


class Nothing:
    """Takes what it is given and keeps none of it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, batch: int) -> None:
        for _ in entries(batch):
            pass

    def get(self, key: bytes) -> bytes | None:
        return None


def written(store: Nothing, batches: int) -> tuple[float, float]:
    """Seconds and CPU seconds, threads in the background included."""
    begun, cpu = time.perf_counter(), time.process_time()
    for batch in range(batches):
        for key, _ in entries(batch):
            store.get(key)
        store.write(batch)
    return time.perf_counter() - begun, time.process_time() - cpu


def main() -> None:
    folder, batches = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 100
    pages = batches * PAGES
    _, idle = written(Nothing(folder), batches)
    for name, kind in STORES.items():
        place = folder / name
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        store = kind(place)
        seconds, cpu = written(store, batches)
        store.close()
        size = sum(512 * path.stat().st_blocks for path in place.rglob("*") if path.is_file())
        told = {
            "store": name,
            "pages": pages,
            "seconds": round(seconds, 1),
            "cpu_microseconds_a_page": round(1e6 * (cpu - idle) / pages, 1),
            "bytes_a_page": round(size / pages),
        }
        print(json.dumps(told), flush=True)
        shutil.rmtree(place)


if __name__ == "__main__":
    main()
