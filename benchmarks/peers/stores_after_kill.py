"""What other stores keep when their process is killed: acknowledged batches, whole batches, and the time to open again.

    python stores_after_kill.py FOLDER [ROUNDS]     with lmdb and rocksdict installed

A child writes batches of 2,048 pages (18 keys of 7 bytes with 4 bytes each, and a row of 96 bytes), each committed with
a sync, and says so; it is killed (SIGKILL) at a different moment of each round. Then the store is opened again: every
batch that was acknowledged must be there, and one that was under way wholly or not at all. Prints JSON, a line a store.
"""

from __future__ import annotations

import json
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PAGES, KEYS = 2048, 18


def entries(batch: int) -> Iterator[tuple[bytes, bytes]]:
    """The entries of a batch, sorted; the same whoever asks."""
    drawn = random.Random(batch)
    made = [(b"k" + drawn.randbytes(6), drawn.randbytes(4)) for _ in range(PAGES * KEYS)]
    made += [(b"r" + (batch * PAGES + page).to_bytes(6, "big"), drawn.randbytes(96)) for page in range(PAGES)]
    return iter(sorted(made))


class Lmdb:
    """LMDB as it is unless told otherwise: a sync a commit."""

    def __init__(self, folder: Path) -> None:
        import lmdb

        self._store = lmdb.open(str(folder), map_size=1 << 34)

    def write(self, batch: int) -> None:
        with self._store.begin(write=True) as transaction:
            for key, value in entries(batch):
                transaction.put(key, value)

    def get(self, key: bytes) -> bytes | None:
        with self._store.begin() as transaction:
            found: bytes | None = transaction.get(key)
            return found

    def close(self) -> None:
        self._store.close()


class RocksDb:
    """RocksDB with a synced write-ahead log."""

    def __init__(self, folder: Path) -> None:
        import rocksdict

        self._module = rocksdict
        options = rocksdict.Options(raw_mode=True)
        options.create_if_missing(True)
        self._store = rocksdict.Rdict(str(folder), options)
        self._synced = rocksdict.WriteOptions()
        self._synced.sync = True

    def write(self, batch: int) -> None:
        together = self._module.WriteBatch(raw_mode=True)
        for key, value in entries(batch):
            together.put(key, value)
        self._store.write(together, self._synced)

    def get(self, key: bytes) -> bytes | None:
        found: bytes | None = self._store.get(key)
        return found

    def close(self) -> None:
        self._store.close()


STORES: dict[str, Any] = {"lmdb": Lmdb, "rocksdb": RocksDb}


def there(store: Any, batch: int) -> int:
    """How many entries of a batch are there."""
    return sum(store.get(key) is not None for key, _ in entries(batch))


def one_round(name: str, folder: Path, seconds: float) -> dict[str, Any]:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    child = subprocess.Popen([sys.executable, __file__, "--child", name, folder], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    child.stdout.readline()
    time.sleep(seconds)
    child.send_signal(signal.SIGKILL)
    acknowledged = len(child.stdout.read().split())
    child.wait()
    begun = time.perf_counter()
    store = STORES[name](folder)
    opened = time.perf_counter() - begun
    whole = PAGES * (KEYS + 1)
    kept = [there(store, batch) for batch in range(acknowledged + 2)]
    return {
        "acknowledged": acknowledged,
        "lost": sum(count < whole for count in kept[:acknowledged]),
        "torn": sum(0 < count < whole for count in kept),
        "open_ms": 1e3 * opened,
    }


def main() -> None:
    if sys.argv[1] == "--child":
        store = STORES[sys.argv[2]](Path(sys.argv[3]))
        print("open", flush=True)
        batch = 0
        while True:
            store.write(batch)
            print(batch, flush=True)
            batch += 1
    folder, rounds = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 5
    for name in STORES:
        told = [one_round(name, folder / name, 2 + 0.37 * at) for at in range(rounds)]
        summed = {key: sum(one[key] for one in told) for key in ("acknowledged", "lost", "torn")}
        print(json.dumps({"store": name, **summed, "open_ms": [round(one["open_ms"]) for one in told]}), flush=True)
        shutil.rmtree(folder / name, ignore_errors=True)


if __name__ == "__main__":
    main()
