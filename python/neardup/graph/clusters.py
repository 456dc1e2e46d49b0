"""The table of clusters: size, sites, how tightly they hang together.

``diameter`` is the longest shortest path, in pairs, between two identity sets of the cluster; ``cohesion`` is the share
of all pairs of its identity sets that were accepted (1 for a cluster of identical pages). Where a cluster has more
than ``EXACT_DIAMETER`` identity sets its diameter is a lower bound, found by two sweeps. Both are null where not all
accepted pairs of a cluster are known: where two of its pages have hot keys, and no accepted pair between them is known.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup import _native

EXACT_DIAMETER: Final = 200
Rows = npt.NDArray[np.uint32]

CLUSTERS: Final = pa.schema(
    [
        pa.field("cluster", pa.string(), nullable=False),
        pa.field("size", pa.int64(), nullable=False),
        pa.field("sites", pa.int64(), nullable=False),
        pa.field("kept", pa.int64(), nullable=False),
        pa.field("diameter", pa.int64()),
        pa.field("cohesion", pa.float64()),
    ]
)


def clusters_table(
    ids: pa.Array,
    cluster: Rows,
    identity: Rows,
    sites: npt.NDArray[np.int64],
    kept: npt.NDArray[np.bool_],
    pairs: tuple[Rows, Rows],
    diameter: npt.NDArray[np.uint32] | None = None,
    crowded: npt.NDArray[np.bool_] | None = None,
) -> pa.Table:
    """One row a cluster of two pages or more, in the order of their first pages.

    ``sites`` numbers each page's site, a negative number standing for none; ``diameter`` is what
    ``cluster_diameters`` gives, if it is at hand; of pairs of two ``crowded`` pages not all are known.

    >>> import numpy as np, pyarrow as pa
    >>> rows = lambda *values: np.array(values, np.uint32)
    >>> table = clusters_table(pa.array(["a", "b", "c", "d"]), rows(0, 0, 0, 3), rows(0, 1, 2, 3),
    ...     np.array([0, 0, 1, 1]), np.array([True, False, True, True]), (rows(0, 1), rows(1, 2)))
    >>> table.to_pylist()
    [{'cluster': 'a', 'size': 3, 'sites': 2, 'kept': 2, 'diameter': 2, 'cohesion': 0.6666666666666666}]
    """
    pages = len(cluster)
    size = np.bincount(cluster, minlength=pages)
    first = np.flatnonzero(size >= 2)
    place = _places(first, pages)
    kept_count = np.bincount(cluster[kept], minlength=pages)[first]
    sets = np.bincount(cluster[identity == np.arange(pages)], minlength=pages)[first]
    edges = np.bincount(place[cluster[pairs[0]]], minlength=len(first))
    possible = sets * (sets - 1) / 2
    cohesion = np.where(possible > 0, edges / np.maximum(possible, 1), 1.0)
    diameters = cluster_diameters(cluster, pairs) if diameter is None else diameter
    unknown = np.zeros(len(first), bool)
    if crowded is not None:
        in_crowd = np.zeros(pages, bool)
        in_crowd[identity[crowded]] = True
        among = np.bincount(cluster[in_crowd], minlength=pages)[first]
        known = np.bincount(place[cluster[pairs[0][in_crowd[pairs[0]] & in_crowd[pairs[1]]]]], minlength=len(first))
        unknown = known < among * (among - 1) / 2
    return pa.Table.from_arrays(
        [
            ids.take(pa.array(first)),
            pa.array(size[first], pa.int64()),
            pa.array(_sites(place[cluster], sites, len(first)), pa.int64()),
            pa.array(kept_count, pa.int64()),
            pa.array(diameters, pa.int64(), mask=unknown),
            pa.array(cohesion, pa.float64(), mask=unknown),
        ],
        schema=CLUSTERS,
    )


def cluster_diameters(cluster: Rows, pairs: tuple[Rows, Rows]) -> npt.NDArray[np.uint32]:
    """The diameter of each cluster of two pages or more.

    >>> import numpy as np
    >>> rows = lambda *values: np.array(values, np.uint32)
    >>> cluster_diameters(rows(0, 0, 0, 3), (rows(0, 1), rows(1, 2))).tolist()
    [2]
    """
    first = np.flatnonzero(np.bincount(cluster, minlength=len(cluster)) >= 2)
    of_pair = _places(first, len(cluster))[cluster[pairs[0]]].astype(np.uint32)
    return _native.diameters(len(first), of_pair, *pairs, EXACT_DIAMETER)


def _places(first: npt.NDArray[np.int64], pages: int) -> npt.NDArray[np.int64]:
    """For each first page of a cluster the number of the cluster, −1 for others."""
    place = np.full(pages, -1, np.int64)
    place[first] = np.arange(len(first))
    return place


def _sites(place: npt.NDArray[np.int64], sites: npt.NDArray[np.int64], count: int) -> npt.NDArray[np.int64]:
    """Distinct known sites a cluster."""
    known = (place >= 0) & (sites >= 0)
    # Both in one number: rows of two are sorted a hundred times slower.
    all_sites = int(sites.max(initial=0)) + 1
    distinct = np.unique(place[known] * all_sites + sites[known])
    return np.bincount(distinct // all_sites, minlength=count)
