"""A run on a cluster in a process of its own, for a test to watch: ``on_a_cluster.py MASTER INPUT OUT``.

It prints the name of each stage as it begins, and waits for a line of input before the second, so that what is done to
the cluster meanwhile is done in mid-run.
"""

from __future__ import annotations

import sys

from neardup.engines.progress import Silent
from neardup.job import dedup


class Told(Silent):
    """Says which stage begins."""

    begun = 0

    def begin(self, stage: str, total_bytes: int | None = None) -> None:
        self.begun += 1
        print(f"begin {stage}", flush=True)
        if self.begun == 2:
            sys.stdin.readline()


if __name__ == "__main__":
    master, given, out = sys.argv[1:]
    dedup(given, out, detector="site-aware", engine="spark", master=master, progress=Told())
    print("done", flush=True)
