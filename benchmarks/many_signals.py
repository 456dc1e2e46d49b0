"""Pairs a minute of `neardup.signals.compute`, with bodies of 30 kB and of 160 kB.

    python benchmarks/many_signals.py [--pairs N] [--threads N]

Bodies are generated pages of one language strung together to the length asked for; fifteen pages a query, every two of
them a pair, as in search evaluation. Told are wall and processor seconds of the fetched group (F) and of all signals of
fetched bodies. The expected answer: the table is the same for one thread and for all.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import time

from neardup.signals import build_idf, compute
from neardup.sources.memory import texts
from neardup.testing import web


def bodies(count: int, size: int) -> list[dict[str, str]]:
    """Pages of at least ``size`` bytes."""
    supply = itertools.cycle(web(seed=3, sites=12, pages=900, languages=["en"], words=600).pages)
    made = []
    for number in range(count):
        parts: list[str] = []
        while sum(map(len, parts)) < size:
            parts.append(next(supply).html)
        made.append(
            {"id": f"p{number}", "url": f"http://s{number % 40}.example/{number}", "html": "".join(parts)[:size]}
        )
    return made


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", type=int, default=10_500)
    parser.add_argument("--threads", type=int, default=0)
    asked = parser.parse_args()
    queries = max(asked.pairs // 105, 1)
    for size in (30_000, 160_000):
        pages = bodies(queries * 15, size)
        idf = build_idf(texts(pages))
        pairs = [
            (one["id"], other["id"], "the same words")
            for start in range(0, len(pages), 15)
            for one, other in itertools.combinations(pages[start : start + 15], 2)
        ]
        for groups in ("F", "F+L+FS+O"):
            wall, processor = time.perf_counter(), time.process_time()
            table = compute(pairs, pages, idf=idf, signals=groups, threads=asked.threads)
            wall, processor = time.perf_counter() - wall, time.process_time() - processor
            record = {
                "bytes": size, "signals": groups, "pairs": len(pairs), "pages": len(pages),
                "wall seconds": round(wall, 2), "processor seconds": round(processor, 2),
                "pairs a minute": round(60 * len(pairs) / wall),
                "pairs a minute of two cores' processor time": round(120 * len(pairs) / processor),
                "cores": len(os.sched_getaffinity(0)), "load": round(os.getloadavg()[0], 1),
            }  # fmt: skip
            print(json.dumps(record), flush=True)
            few = pairs[:105]
            one, all_of = (compute(few, pages[:15], idf=idf, signals=groups, threads=n) for n in (1, 2))
            assert one.equals(all_of)
            assert table.slice(0, 105).equals(one)


if __name__ == "__main__":
    main()
