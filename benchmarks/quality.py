"""How right an answer is: against all pairs of Jaccard similarity ≥ .8, recomputed exactly (``exact_pairs.py``).

Ours is judged on our own tokens, a peer on the words it was given: each on what it promises.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from benchmarks import venvs
from benchmarks.places import BENCHMARKS, Places
from benchmarks.plan import SHINGLE_WORDS, THRESHOLD

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Exact:
    """The true pairs, as one number each: a · pages + b with a < b."""

    pages: int
    a: Numbers
    b: Numbers

    def codes(self) -> Numbers:
        return self.a * self.pages + self.b


@dataclass(frozen=True)
class Quality:
    """Recall and precision, and on what they were counted."""

    recall: float
    precision: float
    counted_on: str


def exact(places: Places, file: Path, ours: bool) -> Exact:
    """The true pairs of a text file, on our tokens or on the peers' words; computed once and kept."""
    kind = "our-tokens" if ours else "words"
    sets, pairs = (file.with_name(f"{file.stem}-{kind}-{what}.npz") for what in ("sets", "pairs"))
    if not pairs.exists() or ours:
        # Our own sets are made anew each time: it is our code that may have changed.
        python = venvs.require(places, "tools")
        print(f"  the exact answer, on {kind.replace('-', ' ')}", flush=True)
        if ours:
            command: list[str | Path] = [sys.executable, BENCHMARKS / "ours_sets.py", file, sets, str(SHINGLE_WORDS)]
        else:
            command = [python, BENCHMARKS / "peers" / "word_sets.py", file, sets]
        subprocess.run(command, check=True)
        subprocess.run([python, BENCHMARKS / "exact_pairs.py", sets, pairs, str(THRESHOLD)], check=True)
        sets.unlink()
    with np.load(pairs) as found:
        return Exact(int(found["pages"]), found["a"].astype(np.int64), found["b"].astype(np.int64))


def of_result(truth: Exact, folder: Path) -> Quality:
    """Of one of our result folders: accepted pairs, identical pages included."""
    import pyarrow.parquet as pq

    pages = pq.read_table(folder / "pages.parquet", columns=["id", "identity", "cluster"])
    report = json.loads((folder / "run.json").read_text())
    if report["pairs"]["held"] != "all":
        return _of_labels(truth, _first_rows(pages, "cluster"), "clusters (not all pairs are held)")
    pairs = pq.read_table(folder / "pairs.parquet", columns=["row_a", "row_b"])
    a, b = (pairs.column(name).to_numpy().astype(np.int64) for name in ("row_a", "row_b"))
    representative = _first_rows(pages, "identity")
    rows = np.arange(truth.pages)
    identical = rows[representative != rows]
    accepted = np.minimum(a, b) * truth.pages + np.maximum(a, b)
    one, other = representative[truth.a], representative[truth.b]
    codes = np.minimum(one, other) * truth.pages + np.maximum(one, other)
    hit = (one == other) | np.isin(codes, accepted)
    claimed = np.concatenate([accepted, representative[identical] * truth.pages + identical])
    right = np.isin(claimed, truth.codes())
    return Quality(_share(hit), _share(right), "pairs")


def of_peer(truth: Exact, folder: Path) -> Quality:
    """Of a peer's answer: its pairs if it gives them, else its clusters, else what it keeps."""
    if (folder / "pairs.u32").exists():
        pairs = np.fromfile(folder / "pairs.u32", np.uint32).astype(np.int64).reshape(-1, 2)
        codes = np.unique(pairs.min(axis=1) * truth.pages + pairs.max(axis=1))
        return Quality(_share(np.isin(truth.codes(), codes)), _share(np.isin(codes, truth.codes())), "pairs")
    if (folder / "labels.u32").exists():
        return _of_labels(truth, np.fromfile(folder / "labels.u32", np.uint32).astype(np.int64), "clusters")
    kept = np.fromfile(folder / "kept.u8", np.uint8).astype(bool)
    both_kept = kept[truth.a] & kept[truth.b]
    has_partner = np.zeros(truth.pages, bool)
    has_partner[truth.a] = has_partner[truth.b] = True
    return Quality(_share(~both_kept), _share(has_partner[~kept]), "removed documents")


def _of_labels(truth: Exact, labels: Numbers, counted_on: str) -> Quality:
    together = labels[truth.a] == labels[truth.b]
    sizes = np.unique(labels, return_counts=True)[1]
    claimed = int((sizes * (sizes - 1) // 2).sum())
    return Quality(_share(together), float(together.sum() / claimed) if claimed else 1.0, counted_on)


def _first_rows(pages: object, column: str) -> Numbers:
    """For every page the row of the page that its identity or cluster is named after."""
    ids = pages.column("id").to_pylist()  # type: ignore[attr-defined]
    row_of = {name: row for row, name in enumerate(ids)}
    return np.array([row_of[name] for name in pages.column(column).to_pylist()], np.int64)  # type: ignore[attr-defined]


def _share(flags: npt.NDArray[np.bool_]) -> float:
    return float(flags.mean()) if len(flags) else 1.0
