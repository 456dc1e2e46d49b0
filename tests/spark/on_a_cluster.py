"""Runs in a process of their own, for a test to watch.

``on_a_cluster.py MASTER INPUT OUT`` prints the name of each stage as it begins, and waits for a line of input before
the second, so that what is done to the cluster meanwhile is done in mid-run. ``on_a_cluster.py REMOTE`` has a frame of
Spark Connect, and prints "equal" if both engines keep the same pages of it.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

# What tests share stands a folder higher.
sys.path.append(str(Path(__file__).resolve().parent.parent))

from collections_of_pages import everything

from neardup.engines.common.progress import Silent
from neardup.job import dedup, find_duplicates


class Told(Silent):
    """Says which stage begins."""

    begun = 0

    def begin(self, stage: str, total_bytes: int | None = None, unit: str = "pages") -> None:
        self.begun += 1
        print(f"begin {stage}", flush=True)
        if self.begun == 2:
            sys.stdin.readline()


def frame_on_connect(remote: str) -> None:
    from neardup.engines.spark import run, start

    pages = everything()
    rows = [(at, *(page.get(name) for name in ("url", "html", "text"))) for at, page in enumerate(pages)]
    frame = start(remote=remote).createDataFrame(rows[::-1], "n bigint, url string, html string, text string")
    with run(frame, "combined", order="n", working=os.getcwd()) as found:
        kept = [row["row"] for row in found.pages.where("kept").orderBy("row").collect()]
    expected = find_duplicates(pages, detector="combined").kept["row"].to_pylist()
    print("equal" if kept == expected else f"{kept} stay, not {expected}")


if __name__ == "__main__":
    if len(sys.argv) == 2:
        frame_on_connect(sys.argv[1])
    else:
        master, given, out = sys.argv[1:]
        dedup(given, out, detector="site-aware", engine="spark", master=master, progress=Told())
        print("done", flush=True)
