"""The path of pairs that ties two pages of a cluster together: the fewest pairs, and of those the most alike.

Idea: breadth first from one page over the accepted pairs the run holds; among ways of one length the one is taken whose
weakest pair is strongest, then the earliest pages. Cost: O(pairs of the run) to make the graph once, then O(pairs of
the cluster) a path.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Rows = npt.NDArray[np.int64]


@dataclass(frozen=True)
class PairGraph:
    """Accepted pairs (columns ``row_a``, ``row_b``, ``score`` and whatever else is to be told of them).

    >>> graph = PairGraph(pa.table({"row_a": [0, 1, 0], "row_b": [1, 2, 3], "score": [0.9, 0.8, 0.7]}))
    >>> [(pair["row_a"], pair["row_b"]) for pair in graph.path(0, 2)]
    [(0, 1), (1, 2)]
    >>> graph.path(0, 9) is None, graph.path(2, 2)
    (True, [])

    Where pages 0 and 4 have the same tokens, a path may go on from one of them where it came to the other.

    >>> pairs = pa.table({"row_a": [0, 2], "row_b": [1, 4], "score": [0.9, 0.8]})
    >>> [(pair["row_a"], pair["row_b"]) for pair in PairGraph(pairs, np.array([0, 1, 2, 3, 0])).path(1, 2)]
    [(0, 1), (2, 4)]
    """

    pairs: pa.Table
    #: For each row the first with the same tokens; the nodes of the graph. Without it each row is a node.
    identity: Rows | None = None

    @cached_property
    def _edges(self) -> tuple[Rows, Rows, Rows]:
        """Each pair both ways, sorted by where it starts: starts, ends, and the pair."""
        a, b = (self.pairs.column(name).to_numpy().astype(np.int64) for name in ("row_a", "row_b"))
        if self.identity is not None:
            a, b = self.identity[a], self.identity[b]
        starts, ends = np.concatenate([a, b]), np.concatenate([b, a])
        which = np.tile(np.arange(len(a)), 2)
        order = np.lexsort((ends, starts))
        return starts[order], ends[order], which[order]

    @cached_property
    def _scores(self) -> npt.NDArray[np.float64]:
        scores: npt.NDArray[np.float64] = self.pairs.column("score").to_numpy()
        return scores

    def pair(self, a: int, b: int) -> dict[str, Any] | None:
        """The pair of just these two rows."""
        ends = [self.pairs.column(name).to_numpy() for name in ("row_a", "row_b")]
        # A page of an earlier run comes first in its pairs, though its row is behind.
        found = np.flatnonzero(((ends[0] == a) & (ends[1] == b)) | ((ends[0] == b) & (ends[1] == a)))
        told: list[dict[str, Any]] = self.pairs.take(found[:1]).to_pylist()
        return told[0] if told else None

    def path(self, start: int, goal: int) -> list[dict[str, Any]] | None:
        """The pairs from one row to another, in order; None where none lead there."""
        if self.identity is not None:
            start, goal = int(self.identity[start]), int(self.identity[goal])
        if start == goal:
            return []
        starts, ends, which = self._edges
        # For each page reached: how strong its weakest pair is, and the pair it was reached by.
        weakest = {start: np.inf}
        reached_by: dict[int, tuple[int, int]] = {}
        front = np.array([start])
        while len(front) and goal not in reached_by:
            low, high = np.searchsorted(starts, front), np.searchsorted(starts, front, "right")
            counts = high - low
            edges = np.repeat(low - np.concatenate([[0], np.cumsum(counts)[:-1]]), counts) + np.arange(counts.sum())
            origin, target, pair = np.repeat(front, counts), ends[edges], which[edges]
            fresh = np.array([end not in weakest for end in target.tolist()], bool)
            origin, target, pair = origin[fresh], target[fresh], pair[fresh]
            strength = np.minimum([weakest[page] for page in origin.tolist()], self._scores[pair])
            best = np.lexsort((origin, -strength, target))
            first = best[np.unique(target[best], return_index=True)[1]]
            for page, by, number, held in zip(
                target[first].tolist(),
                origin[first].tolist(),
                pair[first].tolist(),
                strength[first].tolist(),
                strict=True,
            ):
                weakest[page], reached_by[page] = held, (by, number)
            front = target[first]
        if goal not in reached_by:
            return None
        numbers = []
        at = goal
        while at != start:
            at, number = reached_by[at]
            numbers.append(number)
        found: list[dict[str, Any]] = self.pairs.take(numbers[::-1]).to_pylist()
        return found
