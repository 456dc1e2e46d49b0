"""How long the views of ``neardup ui`` take: on the demo's run, and on a run of a million pages.

    python -m benchmarks.application [--pages 1000000]

The tables of the large run are made, not found: clusters with sizes of a heavy tail over shuffled pages, with scores as
Alg. C gives them. Every view is asked for twice, in one process, without a network, after what ``neardup ui`` reads
ahead at its start; the first time includes what is read for it. Told are milliseconds of processor time and of the
clock; only on an idle machine are the latter worth anything. That the first view says the right number of clusters is
checked. Where a Chromium is installed, the list of the large run is then scrolled in it (``benchmarks.scrolling``).
"""

from __future__ import annotations

import argparse
import asyncio
import subprocess
import sys
import tempfile
import time
from datetime import date
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pyarrow as pa

from benchmarks.places import RECORD
from benchmarks.record import machine
from benchmarks.scrolling import scrolling, show
from neardup import _native, dedup, find_duplicates
from neardup.engines import PAGES_OUT, PAIRS_OUT
from neardup.graph import clusters_table, remove
from neardup.sinks import write_json, write_table
from neardup.testing import web
from neardup.web.application import application, open_workspace

WORDS = np.array("alpha beta gamma delta river stone market garden winter letter museum harbour".split())  # noqa: SIM905


def made_run(pages: int, folder: Path) -> None:
    """The tables of a run of so many pages, half of them in clusters."""
    generator = np.random.default_rng(0)
    rows = np.arange(pages, dtype=np.uint32)
    sizes = np.minimum(np.floor(generator.pareto(1.2, pages // 3) + 2), 2000).astype(np.int64)
    sizes = sizes[np.cumsum(sizes) < pages // 2]
    shuffled = generator.permutation(pages).astype(np.uint32)
    members = [np.sort(part) for part in np.split(shuffled, np.cumsum(sizes))[:-1]]
    # A chain with shortcuts: every page is paired with the next and the one after it.
    a = np.concatenate([np.concatenate([one[:-1], one[:-2]]) for one in members])
    b = np.concatenate([np.concatenate([one[1:], one[2:]]) for one in members])
    order = np.lexsort((b, a))
    a, b = a[order], b[order]
    score = generator.integers(355, 385, len(a)) / 384
    cluster = _native.components(pages, a, b)
    instead = remove(rows, rows, cluster, (a, b, score)).instead
    kept = instead == rows
    site = generator.zipf(1.3, pages) % 5000
    chosen = WORDS[generator.integers(0, len(WORDS), (pages, 3))]
    ids = pa.array([f"<urn:uuid:{row:08x}-5c79-4a4c-9c75-{row * 2654435761 % 2**32:08x}0000>" for row in range(pages)])
    alone = np.bincount(cluster, minlength=pages)[cluster] == 1
    columns = {
        "row": rows.astype(np.uint64),
        "id": ids,
        "url": [
            f"http://site{s}.example/{w[0]}/{w[1]}-{row}.html"
            for row, (s, w) in enumerate(zip(site, chosen, strict=True))
        ],
        "site": [f"site{number}.example" for number in site.tolist()],
        "title": [" ".join(words) for words in chosen.tolist()],
        "tokens": generator.integers(10, 2000, pages),
        "identity": ids,
        "cluster": ids.take(pa.array(cluster)),
        "kept": kept,
        "kept_instead": ids.take(pa.array(instead, mask=kept)),
        "reason": np.where(~kept, "near-duplicate", np.where(alone, "unique", "chosen")).tolist(),
        "source": ["crawl.warc.gz"] * pages,
        "offset": pa.nulls(pages, pa.int64()),
        "length": pa.nulls(pages, pa.int64()),
    }
    write_table(pa.table(columns).cast(PAGES_OUT), folder / "pages.parquet")
    missing = {"b_similarity": pa.nulls(len(a), pa.int32()), "jaccard": pa.nulls(len(a), pa.float64())}
    pairs = {
        "a": ids.take(pa.array(a)), "b": ids.take(pa.array(b)), "row_a": a.astype(np.uint64),
        "row_b": b.astype(np.uint64), "same_site": site[a] == site[b], "score": score,
        "c_similarity": (score * 384).round().astype(np.int32), "rule": ["charikar"] * len(a),
        "tree": _native.spanning_forest(pages, a, b, score),
    } | missing  # fmt: skip
    write_table(pa.table(pairs).select(PAIRS_OUT.names).cast(PAIRS_OUT), folder / "pairs.parquet")
    clusters = clusters_table(ids, cluster, rows, site.astype(np.int64), kept, (a, b))
    write_table(clusters, folder / "clusters.parquet")
    report = find_duplicates(["the same nine words stand in both of these"] * 2).report
    counts = {"pages": pages, "identity_sets": pages, "identical": 0, "pairs": len(a), "clusters": clusters.num_rows}
    counts |= {"clustered": int((~alone).sum()), "kept": int(kept.sum()), "removed": int((~kept).sum())}
    report |= {"detector": "charikar", "counts": report["counts"] | counts}
    write_json(report | {"pairs": {"in_all": len(a), "held": "all"}}, folder / "run.json")


def measure(folder: Path, texts: bool) -> None:
    """Asks for every view of a run twice, and prints what each took."""
    started = time.process_time(), time.perf_counter()
    space = open_workspace(folder)
    asked = Asked(application(space))
    home = asked("/")
    print(f"open and first view: {1000 * (time.process_time() - started[0]):,.0f} ms of processor time, "
          f"{1000 * (time.perf_counter() - started[1]):,.0f} ms")  # fmt: skip
    assert f"<b>{space.run.counts['clusters']:,}</b>" in home.text
    space.warm()
    cut = space.run.cut()
    first = int(cut.first[np.argmax(cut.size)])
    second = int(cut.members(first)[1])
    far = max(0, len(cut.first) - 100)
    paths = ["/", "/clusters", f"/clusters/rows?start={far}", f"/threshold?threshold={space.run.steps[-2]}"]
    paths += ["/clusters?text=harbour", "/clusters?sort=cohesion&ascending=1", f"/cluster/{first}"]
    paths += [f"/pair/{first}/{second}", f"/page/{first}"] if texts else []
    print(f"{'first':>14} {'again':>14}   milliseconds of processor time (of the clock)")
    for path in paths:
        told = []
        for _ in range(2):
            before = time.process_time(), time.perf_counter()
            assert asked(path).status_code == 200, path
            spent = time.process_time() - before[0], time.perf_counter() - before[1]
            told.append(f"{1000 * spent[0]:,.0f} ({1000 * spent[1]:,.0f})")
        print(f"{told[0]:>14} {told[1]:>14}   {path.partition('?')[0] if 'start' not in path else path}")
    # Not from getrusage: that one remembers the process that started this one.
    peak = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    print(f"peak memory {int(peak.split()[1]) / 1000:,.0f} MB")
    space.close()


class Asked:
    """Asks an application without a network."""

    def __init__(self, app: Any) -> None:
        self._app = app

    def __call__(self, path: str) -> httpx.Response:
        async def ask() -> httpx.Response:
            transport = httpx.ASGITransport(app=self._app)
            async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
                return await client.get(path)

        return asyncio.run(ask())


def scroll(folder: Path, record: bool) -> None:
    """Scrolls through a run's list in a browser, prints what that took, and records it if asked to."""
    told = scrolling(folder)
    show(told)
    if record:
        about = {"date": date.today().isoformat(), "machine": machine()}
        write_json(about | told, RECORD / f"{about['date']}-scrolling.json")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=1_000_000)
    parser.add_argument("--run", type=Path, help="only measure this run")
    parser.add_argument("--scroll", type=Path, metavar="RUN", help="only scroll through this run")
    parser.add_argument("--record", action="store_true", help="leave a dated record of the scrolling")
    given = parser.parse_args()
    if given.scroll:
        scroll(given.scroll, given.record)
        return
    if given.run:
        measure(given.run, texts=given.run.name == "demo")
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        web(seed=0, pages=3000).write_warc(folder / "web.warc.gz")
        dedup(folder / "web.warc.gz", folder / "demo")
        (folder / "large").mkdir()
        made_run(given.pages, folder / "large")
        for run, title in ((folder / "demo", "the demo's 3,000 pages"), (folder / "large", f"{given.pages:,} pages")):
            print(f"\n{title}", flush=True)
            # A process each: nothing of the one is left in the other's memory.
            subprocess.run([sys.executable, "-m", "benchmarks.application", "--run", run], check=True)
        scroll(folder / "large", given.record)


if __name__ == "__main__":
    main()
