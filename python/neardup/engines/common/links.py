"""Who links to whom, as far as a keep policy asks: how many other pages of the collection link to each page."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup import _native


def page_links(pages: pa.RecordBatch) -> tuple[pa.UInt64Array, pa.LargeListArray]:
    """Of each page the hash of its own normalised URL (0: none), and of the distinct URLs it links to but its own."""
    own, targets = _native.links(
        pages.column("content"), pages.column("html"), pages.column("charset"), pages.column("url")
    )
    return pa.array(own), targets


def count_links(parts: Sequence[tuple[pa.UInt64Array, pa.LargeListArray]]) -> npt.NDArray[np.int64]:
    """For each page how many pages link to its URL.

    >>> own = pa.array([5, 6, 0], pa.uint64())
    >>> count_links([(own, pa.array([[6], [], [6, 7]], pa.large_list(pa.uint64())))]).tolist()
    [0, 2, 0]
    """
    own = np.concatenate([part[0].to_numpy() for part in parts])
    found = np.concatenate([part[1].flatten().to_numpy() for part in parts])
    targets, counts = np.unique(found, return_counts=True)
    links = np.zeros(len(own), np.int64)
    if len(targets):
        place = np.minimum(np.searchsorted(targets, own), len(targets) - 1)
        known = (targets[place] == own) & (own != 0)
        links[known] = counts[place[known]]
    return links
