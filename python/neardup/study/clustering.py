"""What a way of telling duplicates gives the study: clusters at each level, and how they grew step by step.

The pages that take part are put in a seeded random order and cut into m subcollections. Step i compares the i-th with
all pages that are not in an earlier one, and finds every pair with a page in it. So after some steps a random part of
the pages has been compared with the whole collection, which is what an estimate needs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt

Rows = npt.NDArray[np.uint32]
Mask = npt.NDArray[np.bool_]
Sizes = npt.NDArray[np.int64]

#: The level of duplicates; the others are named by their percentage.
DUPLICATES: Final = "duplicates"
#: Shares of the steps after which the totals are estimated.
SHARES_TOLD: Final = (0.1, 0.2, 0.5)


@dataclass(frozen=True, slots=True)
class Plan:
    """How the comparison is cut into steps."""

    steps: int
    #: How many of them are done: all, or those up to the share asked for.
    done: int
    seed: int

    @staticmethod
    def of(steps: int, seed: int, stop_at: float | None = None) -> Plan:
        """The steps up to a share, at least one.

        >>> Plan.of(20, 0, 0.2).done, Plan.of(3, 0, 0.5).done, Plan.of(7, 0).done
        (4, 2, 7)
        """
        done = steps if stop_at is None else min(steps, max(1, int(np.ceil(steps * stop_at - 1e-9))))
        return Plan(steps, done, seed)

    def told(self) -> tuple[int, ...]:
        """The steps after which totals are estimated, by number from 1."""
        chosen = {max(1, round(self.steps * share)) for share in SHARES_TOLD} | {self.done}
        return tuple(sorted(step for step in chosen if step <= self.done))

    def step_of(self, considered: Mask) -> npt.NDArray[np.int64]:
        """The step of each page, by its place in a random order of those that take part; the others have m.

        >>> sorted(Plan(2, 2, 0).step_of(np.array([True, True, False, True, True])).tolist())
        [0, 0, 1, 1, 2]
        """
        rows = np.flatnonzero(considered)
        step = np.full(len(considered), self.steps, np.int64)
        order = np.random.default_rng(self.seed).permutation(len(rows))
        step[rows[order]] = np.arange(len(rows)) * self.steps // max(len(rows), 1)
        return step

    def documents(self, considered: Mask) -> list[int]:
        """How many pages the subcollections have after each step."""
        count = int(considered.sum())
        return [-(-count * (step + 1) // self.steps) for step in range(self.done)]


@dataclass(frozen=True, slots=True)
class Level:
    """The clusters at one level."""

    #: For each page the first page of its cluster.
    labels: Rows
    #: Clusters and duplicates after each step that was done.
    clusters: list[int]
    duplicates: list[int]
    #: Sizes of the clusters found after the steps at which totals are estimated.
    sizes_after: dict[int, Sizes]


@dataclass(frozen=True, slots=True)
class Clustering:
    """The clusters of a collection."""

    considered: Mask
    plan: Plan
    #: By level, the strictest first: ``duplicates``, then ``90%`` and so on.
    levels: dict[str, Level]
    #: The same by the rule that counts repetitions, where the way of telling duplicates has both.
    counted: dict[str, Level] = field(default_factory=dict)
    #: Clusters of duplicates anew among some of the pages.
    inside: Callable[[Mask], Rows] = field(default=lambda mask: np.arange(len(mask), dtype=np.uint32), repr=False)


def cluster_sizes(labels: Rows) -> Sizes:
    """The sizes of clusters of two pages or more, in the order of their first pages.

    >>> cluster_sizes(np.array([0, 1, 0, 1, 1, 5], np.uint32)).tolist()
    [2, 3]
    """
    sizes = np.bincount(labels, minlength=len(labels)) if len(labels) else np.empty(0, np.int64)
    return sizes[sizes > 1].astype(np.int64)
