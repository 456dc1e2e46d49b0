"""The main job from Python: a small web, its duplicates, and what became of the largest cluster.

    python examples/dedup_in_python.py [FILE…]

Without files it generates a web of its own.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import neardup
from neardup.testing import web


def report(inputs: list[str]) -> None:
    """Prints what was found, and every page of the largest cluster with what becomes of it."""
    result = neardup.dedup(inputs, settings=neardup.Settings(keep="shortest-url"))
    counts = result.report["counts"]
    print(f"{counts['pages']} pages, {counts['removed']} can go, by {result.report['detector']}")
    if not result.clusters.num_rows:
        return
    order = [("size", "descending"), ("cluster", "ascending")]
    largest = result.clusters.sort_by(order).to_pylist()[0]
    print(f"the largest cluster has {largest['size']} pages, {largest['kept']} stay:")
    for page in result.pages.to_pylist():
        if page["cluster"] == largest["cluster"]:
            print(f"  {page['reason']:<15} {page['url'] or page['id']}")


def main() -> None:
    if sys.argv[1:]:
        report(sys.argv[1:])
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "web.jsonl")
        web(seed=1, pages=200).write_jsonl(path)
        report([str(path)])


if __name__ == "__main__":
    main()
