"""What the similarity graph of a run looks like, in the numbers of Henzinger 2006 §3 (Table 1, Figs. 1 and 3).

Nodes are identity sets (where the detector looks at sites, one for each site), edges accepted pairs, and an edge's
label is how alike the two are: the supershingles that agree, the bits, or the Jaccard similarity. A page counts as
near-duplicate if it has an edge. Degrees are told of the nodes that have one, as the paper does; both their
distribution and that of cluster sizes get a fitted power law. Cost: O(pairs), and the fits.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup.graph.power_law import fit_power_law

#: A page of so many near-duplicates has a high degree.
HIGH_DEGREE: Final = 100
#: Labels that are no counts are told in ranges of this width.
_RANGE: Final = 0.05


def graph_statistics(
    pairs: pa.Table, sizes: npt.ArrayLike, *, resamples: int = 100, xmin: int | None = None
) -> dict[str, Any]:
    """The graph's numbers, from a run's table of pairs and the sizes of its clusters. Laws are fitted from ``xmin``
    on, or from where they fit best.

    >>> table = pa.table({"row_a": [0, 0], "row_b": [1, 2], "same_site": [True, False], "score": [0.5, 1 / 3],
    ...     "b_similarity": [3, 2], "c_similarity": [None, None], "jaccard": [None, None]})
    >>> told = graph_statistics(table, [3], resamples=0)
    >>> told["nodes"], told["edges"], told["average_degree"], told["labels"]["values"]
    (3, 2, 1.3333, {'2': 1, '3': 1})
    """
    ends = np.concatenate([pairs.column(name).to_numpy() for name in ("row_a", "row_b")])
    degrees = np.unique(ends, return_counts=True)[1]
    values, counts = np.unique(degrees, return_counts=True)
    cluster_sizes, clusters = np.unique(np.asarray(sizes, np.int64), return_counts=True)
    same = pairs.column("same_site").to_numpy(zero_copy_only=False)
    return {
        "nodes": len(degrees),
        "edges": pairs.num_rows,
        "labels": _labels(pairs),
        "average_degree": _rounded(degrees.mean()) if len(degrees) else None,
        "high_degree_share": _rounded((degrees >= HIGH_DEGREE).mean()) if len(degrees) else None,
        "same_site_share": _rounded(same.mean()) if len(same) else None,
        "degrees": _counts(values, counts),
        "degree_law": _law(degrees, resamples, xmin),
        "cluster_sizes": _counts(cluster_sizes, clusters),
        "cluster_size_law": _law(np.asarray(sizes, np.int64), resamples, xmin),
    }


def _law(values: npt.NDArray[np.int64], resamples: int, xmin: int | None) -> dict[str, Any] | None:
    law = fit_power_law(values, xmin=xmin, resamples=resamples)
    return None if law is None else law.to_json()


def _labels(pairs: pa.Table) -> dict[str, Any]:
    """How many pairs have each label: the B-similarity, else the C-similarity, else the score in ranges."""
    for name in ("b_similarity", "c_similarity"):
        column = pairs.column(name)
        if pairs.num_rows and column.null_count == 0:
            return {"label": name, "values": _counts(*np.unique(column.to_numpy(), return_counts=True))}
    # Rounded before the cut: 0.8 / 0.05 is a little less than 16.
    place = np.floor(np.round(pairs.column("score").to_numpy() / _RANGE, 9)).astype(int)
    steps, counts = np.unique(place, return_counts=True)
    told = {f"{step * _RANGE:.2f}": int(count) for step, count in zip(steps, counts, strict=True)}
    return {"label": f"score, from here {_RANGE} on", "values": told}


def _counts(values: npt.NDArray[np.int64], counts: npt.NDArray[np.int64]) -> dict[str, int]:
    return {str(int(value)): int(count) for value, count in zip(values, counts, strict=True)}


def _rounded(value: float) -> float:
    return round(float(value), 4)
