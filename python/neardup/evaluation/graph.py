"""``evaluate graph``: the similarity graph of a run, in numbers and as a page to look at."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from neardup import _native
from neardup.engines.common.accepted import require_all_pairs
from neardup.engines.common.progress import Silent, Stopwatch, stages
from neardup.evaluation.pages import graph_page
from neardup.graph.statistics import graph_statistics
from neardup.results import open_result
from neardup.sinks import write_json
from neardup.sinks.folder import new_folder


def evaluate_graph(
    run: str | os.PathLike[str], *, resamples: int = 100, xmin: int | None = None, command: str | None = None
) -> dict[str, Any]:
    """The graph of a result folder as ``run.json`` tells it. Power laws are fitted from ``xmin`` on, or from where they
    fit best; ``command`` is told as what does it again.

    >>> import pathlib, tempfile
    >>> from neardup import dedup
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> text = "one two three four five six seven eight nine ten eleven twelve"
    >>> for name in ("a", "b", "c"):
    ...     _ = (folder / f"{name}.txt").write_text(f"{text} {text} {text} {name}")
    >>> _ = dedup(folder, folder / "out", detector="minhash(threshold=0.5)")
    >>> evaluate_graph(folder / "out")["degrees"]
    {'2': 3}
    """
    watch = Stopwatch(Silent())
    with watch.stage("reading"):
        result = open_result(run)
        require_all_pairs(result.report, os.fspath(run), "The graph")
        pairs, sizes = result.pairs, result.clusters.column("size").to_numpy()
    with watch.stage("laws"):
        told = graph_statistics(pairs, sizes, resamples=resamples, xmin=xmin)
    about = {
        "what": "similarity graph",
        "format": _native.FORMAT_VERSION,
        "run": os.fspath(run),
        "detector": result.report["detector"],
    }
    made = {
        "settings": {"detector": result.report["detector"], "resamples": resamples, "xmin": xmin},
        "command": command,
        "stages": stages(watch.stages),
    }
    return about | told | made


def write_graph(
    told: dict[str, Any],
    run: str | os.PathLike[str],
    out: str | os.PathLike[str] | None = None,
    *,
    overwrite: bool = False,
) -> Path:
    """Writes ``run.json`` and ``report.html`` into a folder that appears whole or not at all: ``out``, or ``graph`` in
    the run's folder, where an earlier one is replaced: it says the same of the same run.
    """
    place = Path(run) / "graph" if out is None else Path(out)
    with new_folder(place, overwrite or out is None) as folder:
        graph_page(told).write(folder / "report.html")
        write_json(told, folder / "run.json")
    return place
