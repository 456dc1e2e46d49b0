"""Clusters by shingle paragraphs, in m steps with bounded memory (Pereira et al. 2006, §3).

Pages with the same paragraphs, repetitions counted, are told by a name of 128 bits and stand for one page, in the
earliest of their steps. Of the others only the table of one step is in memory; the paragraphs of all pages pass by,
from the scratch folder where they do not fit. The clusters after all steps are those of all pairs, whatever m is
(``crates/neardup-core/src/steps.rs`` says how pairs are found). Memory: 16 bytes a page for the names, 8 a page for
each level and rule, and the table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup import _native
from neardup.study.clustering import DUPLICATES, Clustering, Level, Mask, Plan, Rows, cluster_sizes

#: Bytes a paragraph takes in the table of a step: its number, how often, and its place among the others; as it is made.
TABLE_BYTES: Final = 64
#: Paragraphs that are looked up together.
_TOGETHER: Final = 1 << 20
_FEWEST_COUNTERS, _MOST_COUNTERS = 12, 24

Lists = Callable[[], Iterator[pa.LargeListArray]]


@dataclass(frozen=True, slots=True)
class ParagraphLists:
    """The paragraphs of all pages, to be gone through as often as needed, and what is known of each page's."""

    batches: Lists
    lengths: npt.NDArray[np.int64]
    high: npt.NDArray[np.uint64]
    low: npt.NDArray[np.uint64]
    threads: int = 0

    @staticmethod
    def of(batches: Lists, threads: int = 0) -> ParagraphLists:
        """Goes through the lists once.

        >>> lists = pa.array([[1, 2], [2, 1], []], pa.large_list(pa.uint64()))
        >>> ParagraphLists.of(lambda: iter([lists])).lengths.tolist()
        [2, 2, 0]
        """
        lengths, high, low = [np.empty(0, np.int64)], [np.empty(0, np.uint64)], [np.empty(0, np.uint64)]
        for lists in batches():
            lengths.append(np.diff(lists.offsets.to_numpy()))
            one, other = _native.bag_names(lists)
            high.append(one)
            low.append(other)
        return ParagraphLists(batches, np.concatenate(lengths), np.concatenate(high), np.concatenate(low), threads)

    def paragraphs(self) -> int:
        """How many paragraphs there are in all."""
        return int(self.lengths.sum())


def cluster_by_paragraphs(lists: ParagraphLists, plan: Plan, shares: Sequence[float]) -> Clustering:
    """Clusters of duplicates, and of near-duplicates at each share.

    >>> lists = pa.array([[1, 2], [3, 4], [2, 1], [1, 5]], pa.large_list(pa.uint64()))
    >>> found = cluster_by_paragraphs(ParagraphLists.of(lambda: iter([lists])), Plan.of(2, 0), [0.5])
    >>> found.levels["duplicates"].labels.tolist(), found.levels["50%"].labels.tolist()
    ([0, 1, 0, 3], [0, 1, 0, 0])
    """
    considered: Mask = lists.lengths > 0
    names = [DUPLICATES, *(f"{share * 100:g}%" for share in sorted(shares, reverse=True))]
    both, counts, sizes = _in_steps(lists, plan, considered, sorted(shares, reverse=True))
    levels: dict[str, dict[str, Level]] = {"paper": {}, "bags": {}}
    for number, name in enumerate(names):
        for place, rule in enumerate(("paper", "bags")):
            told = [after[place][number] for after in counts]
            levels[rule][name] = Level(
                labels=both.labels(rule, number),
                clusters=[clusters for clusters, _ in told],
                duplicates=[duplicates for _, duplicates in told],
                sizes_after={step: found[rule, number] for step, found in sizes.items()},
            )

    def inside(part: Mask) -> Rows:
        # Inside a part growth is not asked for: as few steps as memory allows would do, but they cost little.
        alone = Plan(plan.steps, plan.steps, plan.seed)
        return _in_steps(lists, alone, considered & part, [])[0].labels("paper", 0)

    return Clustering(considered, plan, levels["paper"], levels["bags"], inside)


_Counts = list[tuple[list[tuple[int, int]], list[tuple[int, int]]]]
_SizesAfter = dict[int, dict[tuple[str, int], npt.NDArray[np.int64]]]


def _in_steps(
    lists: ParagraphLists, plan: Plan, taking_part: Mask, shares: Sequence[float]
) -> tuple[_native.ParagraphSteps, _Counts, _SizesAfter]:
    """The clusters after the steps, the counts after each, and the sizes where they are asked for."""
    step_of = plan.step_of(taking_part)
    first = _native.identity_sets(lists.high, lists.low, ~taking_part)
    last = np.arange(len(first), dtype=np.uint32)
    np.maximum.at(last, first, np.arange(len(first), dtype=np.uint32))
    # Pages with the same paragraphs are one, in the earliest of their steps.
    np.minimum.at(step_of, first, step_of.copy())
    rows = np.arange(len(first), dtype=np.uint32)
    leads = taking_part & (first == rows)
    counters = int(np.clip(lists.paragraphs().bit_length(), _FEWEST_COUNTERS, _MOST_COUNTERS))
    steps = _native.ParagraphSteps(shares, last, bits=counters, threads=lists.threads)
    for chosen, _ in _chosen(lists, leads):
        steps.count(chosen)
    members = np.flatnonzero(taking_part & ~leads).astype(np.uint32)
    found_in = step_of[first[members]]
    counts: _Counts = []
    sizes: _SizesAfter = {}
    for step in range(plan.done):
        joins = members[found_in == step]
        steps.join_equal(first[joins], joins)
        own = leads & (step_of == step)
        batches = list(_chosen(lists, own))
        steps.begin(batches)
        for chosen, pages in batches:
            steps.probe(chosen, pages, True)
        del batches
        for chosen, pages in _chosen(lists, leads & (step_of > step)):
            steps.probe(chosen, pages, False)
        counts.append(steps.counts())
        if step + 1 in plan.told():
            sizes[step + 1] = {
                (rule, level): cluster_sizes(steps.labels(rule, level))
                for rule in ("paper", "bags")
                for level in range(len(shares) + 1)
            }
    return steps, counts, sizes


def _chosen(lists: ParagraphLists, wanted: Mask) -> Iterator[tuple[pa.LargeListArray, Rows]]:
    """The lists of some pages and their numbers, many together."""
    start = held = 0
    parts: list[pa.LargeListArray] = []
    rows: list[npt.NDArray[np.int64]] = []

    def together() -> tuple[pa.LargeListArray, Rows]:
        return pa.concat_arrays(parts), np.concatenate(rows).astype(np.uint32)

    for batch in lists.batches():
        flags = wanted[start : start + len(batch)]
        if flags.any():
            parts.append(batch if flags.all() else batch.filter(pa.array(flags)))
            rows.append(start + np.flatnonzero(flags))
            held += int(lists.lengths[start : start + len(batch)][flags].sum())
        start += len(batch)
        if held >= _TOGETHER:
            yield together()
            parts, rows, held = [], [], 0
    if parts:
        yield together()
