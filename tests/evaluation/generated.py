"""Collections that exist only as graphs: clusters of heavy-tailed sizes, a detector that errs, and the truth known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup import _native
from neardup.evaluation.certificate import Partners, Rows, RunGraph
from neardup.graph.power_law import draw
from neardup.graph.removal import remove

REPORT: dict[str, Any] = {"settings": {"reading": {"min_tokens": 8}}, "pairs": {"held": "all"}}


@dataclass(frozen=True)
class Truth:
    """The shares that a certificate estimates."""

    without_partner: float
    repeats: float
    recall: float
    precision: float


@dataclass(frozen=True)
class Generated:
    """A run over an invented collection."""

    graph: RunGraph
    true: npt.NDArray[np.bool_]
    truth: Truth

    def find(self, members: Rows) -> Partners:
        """All true partners of some pages."""
        place, partner = np.nonzero(self.true[members])
        alike = np.full(len(place), 0.9)
        return Partners(members[place], partner.astype(np.int64), alike, {}, alike)


def generate(seed: int, *, pages: int = 4000, exponent: float = 2.3, per_cluster: bool = True) -> Generated:
    """A third of the pages in true clusters of power-law sizes; the detector misses some clusters wholly or in part
    (``per_cluster``) or single pairs, and accepts some pairs that are none."""
    generator = np.random.default_rng(seed)
    true = np.zeros((pages, pages), bool)
    accepted = np.zeros((pages, pages), bool)
    start = 0
    while start < pages // 3:
        size = int(min(draw(exponent, 2, 1, generator)[0], pages // 8))
        block = slice(start, start + size)
        true[block, block] = True
        chance = generator.choice([0.0, 0.6, 0.95, 1.0], p=[0.1, 0.2, 0.3, 0.4]) if per_cluster else 0.85
        accepted[block, block] = generator.random((size, size)) < chance
        start += size
    wrong = generator.integers(0, pages, (pages // 25, 2))
    accepted[wrong[:, 0], wrong[:, 1]] = True
    true = np.triu(true, 1)
    accepted = np.triu(accepted | accepted.T, 1)
    a, b = (ends.astype(np.uint32) for ends in np.nonzero(accepted))
    rows = np.arange(pages, dtype=np.uint32)
    cluster = _native.components(pages, a, b)
    instead = remove(rows, rows, cluster, (a, b, np.ones(len(a)))).instead
    kept = instead == rows
    names = pa.array([str(row) for row in range(pages)])
    table = pa.table(
        {
            "id": names,
            "identity": names,
            "cluster": names.take(pa.array(cluster)),
            "kept": kept,
            "reason": np.where(kept, "unique", "near-duplicate"),
            "tokens": np.full(pages, 100),
            "site": pa.nulls(pages, pa.string()),
        }
    )
    pairs = pa.table({"row_a": pa.array(a, pa.uint64()), "row_b": pa.array(b, pa.uint64()), "score": np.ones(len(a))})
    both = true | true.T
    kept_partner = (both & kept).any(axis=1)
    truth = Truth(
        without_partner=float((~kept_partner[~kept]).mean()),
        repeats=float(kept_partner[kept].mean()),
        recall=float((true & accepted).sum() / true.sum()),
        precision=float((true & accepted).sum() / accepted.sum()),
    )
    return Generated(RunGraph.of(table, pairs, REPORT), both, truth)
