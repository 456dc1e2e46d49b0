"""What counts as one page: pages with the same tokens, or those of them that are on one site.

Pages with the same tokens are an *identity set*, and identical whatever the detector. Where a rule or a statistic looks
at the site, what is fingerprinted and compared is a *unit* of them: the pages with the same tokens on the same site, so
that a copy elsewhere lends nobody its site. Elsewhere the unit is the identity set. Both are named by their first page.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Rows = npt.NDArray[np.uint32]
#: Rows in whatever width they are counted with.
Numbers = npt.NDArray[Any]


def site_units(identity: Rows, site: npt.NDArray[np.integer]) -> Rows:
    """For each page the first page with the same tokens on the same site, given the first page with the same tokens and
    the number of its site, a negative one where it has none; pages without a site are on one.

    >>> site_units(np.array([0, 0, 0, 0, 4], np.uint32), np.array([1, 2, 1, -1, 1])).tolist()
    [0, 1, 0, 3, 4]
    """
    alone = np.bincount(identity, minlength=len(identity))[identity] == 1
    unit = identity.copy()
    several = np.flatnonzero(~alone)
    if len(several):
        key = identity[several].astype(np.int64) << 32 | (site[several].astype(np.int64) + 1)
        _, first, place = np.unique(key, return_index=True, return_inverse=True)
        unit[several] = several[first[place]]
    return unit


def ends_of_sets(identity: Numbers, a: Numbers, b: Numbers) -> tuple[Numbers, Numbers]:
    """Pairs of units as pairs of their identity sets, in the same places; nothing is copied where they are the same.

    >>> rows = lambda *values: np.array(values, np.uint32)
    >>> [side.tolist() for side in ends_of_sets(rows(0, 0, 2, 2), rows(0, 0, 1), rows(2, 3, 3))]
    [[0, 0, 0], [2, 2, 2]]
    """
    firsts = identity == np.arange(len(identity), dtype=np.uint32)
    return (a, b) if (firsts[a].all() and firsts[b].all()) else (identity[a], identity[b])


def between_sets(identity: Rows, a: Rows, b: Rows) -> tuple[Rows, Rows]:
    """The pairs of identity sets that have a pair of units, each once.

    >>> rows = lambda *values: np.array(values, np.uint32)
    >>> [side.tolist() for side in between_sets(rows(0, 0, 2, 2), rows(0, 0, 1), rows(2, 3, 3))]
    [[0], [2]]
    """
    ends = ends_of_sets(identity, a, b)
    if ends[0] is a:
        return ends
    low, high = np.minimum(*ends).astype(np.uint64), np.maximum(*ends).astype(np.uint64)
    pairs = np.unique(low << np.uint64(32) | high)
    return (pairs >> np.uint64(32)).astype(np.uint32), (pairs & np.uint64(0xFFFFFFFF)).astype(np.uint32)


def best_between_sets(
    identity: Numbers, a: Numbers, b: Numbers, score: npt.NDArray[np.float64]
) -> tuple[Numbers, Numbers, npt.NDArray[np.float64]]:
    """The same with the highest score of each.

    >>> rows = lambda *values: np.array(values, np.uint32)
    >>> [one.tolist() for one in best_between_sets(rows(0, 0, 2), rows(0, 1), rows(2, 2), np.array([0.8, 0.9]))]
    [[0], [2], [0.9]]
    """
    ends = ends_of_sets(identity, a, b)
    if ends[0] is a:
        return a, b, score
    low, high = np.minimum(*ends), np.maximum(*ends)
    order = np.lexsort((-score, high, low))
    low, high, score = low[order], high[order], score[order]
    first = np.insert((low[1:] != low[:-1]) | (high[1:] != high[:-1]), 0, True)[: len(low)]
    return low[first], high[first], score[first]
