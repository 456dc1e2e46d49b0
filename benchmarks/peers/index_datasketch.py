"""datasketch's MinHashLSH as an index: pages of 400 tokens added and asked about, in memory or in Redis. Prints JSON.

    python index_datasketch.py PAGES [REDIS-PORT]

84 functions in 6 bands of 14, which is what Alg. B's supershingles are; 8-token shingles, no verification. One page in
ten is the one before it with one token changed.
"""

from __future__ import annotations

import json
import resource
import sys
import time

import numpy as np
from datasketch import MinHash, MinHashLSH


def main() -> None:
    pages = int(sys.argv[1])
    storage = {"type": "dict"}
    if len(sys.argv) > 2:
        storage = {"type": "redis", "redis": {"host": "127.0.0.1", "port": int(sys.argv[2])}}
    index = MinHashLSH(num_perm=84, params=(6, 14), storage_config=storage)
    random = np.random.default_rng(0)
    found, took = 0, []
    before = None
    begun = time.perf_counter()
    for at in range(pages):
        tokens = random.integers(0, 1 << 63, 400, dtype=np.uint64)
        if at % 10 == 9 and before is not None:
            tokens = before.copy()
            tokens[200] += np.uint64(1)
        before = tokens
        made = MinHash(num_perm=84)
        raw = tokens.tobytes()
        made.update_batch([raw[8 * place : 8 * place + 64] for place in range(393)])
        started = time.perf_counter()
        found += bool(index.query(made))
        index.insert(str(at), made)
        took.append(time.perf_counter() - started)
    seconds = time.perf_counter() - begun
    print(
        json.dumps(
            {
                "pages": pages,
                "adds_per_second": pages / seconds,
                "p99_ms": 1e3 * float(np.percentile(took, 99)),
                "found": found,
                "peak_bytes": 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
            }
        )
    )


if __name__ == "__main__":
    main()
