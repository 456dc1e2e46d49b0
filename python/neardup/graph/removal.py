"""Which pages go, and which page stays instead of each.

Of pages with the same tokens one is kept at most, the most preferred. Between others removal is *direct*: a unit of
pages (``neardup.graph.units``) goes only if it was accepted against one that stays. ``component`` keeps one page a
cluster and no more.
"""

from __future__ import annotations

from typing import Final, Literal, get_args

import numpy as np
import numpy.typing as npt

from neardup import _native
from neardup.record import record

Removal = Literal["direct", "component"]
REMOVALS: Final[tuple[str, ...]] = get_args(Removal)
Rows = npt.NDArray[np.uint32]


@record(frozen=True, slots=True)
class Removed:
    """For each page: the page kept instead of it (itself if it stays) and whether that one is identical to it."""

    instead: Rows
    identical: npt.NDArray[np.bool_]


def remove(
    order: Rows,
    identity: Rows,
    cluster: Rows,
    pairs: tuple[Rows, Rows, npt.NDArray[np.float64]],
    removal: Removal = "direct",
    *,
    units: Rows | None = None,
    settled: int = 0,
) -> Removed:
    """Decides for every page, given all rows in keep order, the first member of each page's identity set and cluster,
    and the accepted pairs between first members; of units, where these are not identity sets. The first ``settled``
    pages of the order stay whatever they are like.

    >>> import numpy as np
    >>> rows = lambda *values: np.array(values, np.uint32)
    >>> chain = rows(0, 1), rows(1, 2), np.array([0.9, 0.9])
    >>> remove(rows(0, 1, 2), rows(0, 1, 2), rows(0, 0, 0), chain).instead.tolist()
    [0, 0, 2]
    >>> remove(rows(0, 1, 2), rows(0, 1, 2), rows(0, 0, 0), chain, "component").instead.tolist()
    [0, 0, 0]
    >>> twins, pair = rows(0, 0, 2), (rows(1), rows(2), np.array([0.9]))
    >>> remove(rows(0, 1, 2), twins, rows(0, 0, 0), pair, units=rows(0, 1, 2)).instead.tolist()
    [0, 0, 2]
    """
    pages = len(order)
    if removal == "component":
        instead = _first_met(order, cluster, pages)[cluster]
    else:
        unit = identity if units is None else units
        first, number = set_numbers(unit)
        a, b, score = pairs
        kept_unit = _native.direct_removal(
            set_order(order, unit),
            number[a],
            number[b],
            np.ascontiguousarray(score, np.float64),
            texts=None if (identity[first] == first).all() else number[identity[first]],
            settled=len(np.unique(unit[order[:settled]])),
        )
        # The most preferred member of each unit: the first one met in keep order.
        instead = _first_met(order, unit, pages)[first[kept_unit[number]]]
    return Removed(instead.astype(np.uint32), identity[instead] == identity)


def set_order(order: Rows, identity: Rows) -> Rows:
    """The identity sets, numbered in the order of their first members, by their most preferred member.

    >>> import numpy as np
    >>> rows = lambda *values: np.array(values, np.uint32)
    >>> set_order(rows(3, 0, 1, 2), rows(0, 1, 2, 1)).tolist()
    [1, 0, 2]
    """
    label = identity[order]
    most_preferred = _first_met(order, identity, len(order))[label] == order
    by_preference: Rows = set_numbers(identity)[1][label[most_preferred]]
    return by_preference


def set_numbers(identity: Rows) -> tuple[Rows, Rows]:
    """The first member of each identity set, ascending; and for each page the number of its set among them.

    >>> import numpy as np
    >>> first, number = set_numbers(np.array([0, 1, 2, 1, 2], np.uint32))
    >>> first.tolist(), number.tolist()
    ([0, 1, 2], [0, 1, 2, 1, 2])
    """
    is_first = identity == np.arange(len(identity), dtype=np.uint32)
    before = np.cumsum(is_first, dtype=np.uint32) - np.uint32(1)
    return np.flatnonzero(is_first).astype(np.uint32), before[identity]


def _first_met(order: Rows, label: Rows, pages: int) -> Rows:
    best = np.empty(pages, np.uint32)
    # Written from the least preferred on, so the most preferred is written last and stays.
    backwards = order[::-1]
    best[label[backwards]] = backwards
    return best
