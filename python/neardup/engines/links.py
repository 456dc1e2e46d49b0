"""Who links to whom, as far as a keep policy asks: how many other pages of the collection link to each page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup import _native


@dataclass(frozen=True, slots=True)
class LinkCounts:
    """The pages of a batch and what they link to, both as hashes of normalised URLs (0: no URL)."""

    own: npt.NDArray[np.uint64]
    #: Distinct targets of each page, all pages together, the page itself left out.
    targets: npt.NDArray[np.uint64]

    @staticmethod
    def total(parts: Sequence[LinkCounts]) -> npt.NDArray[np.int64]:
        """For each page how many other pages link to its URL.

        >>> import numpy as np
        >>> part = LinkCounts(np.array([5, 6, 0], np.uint64), np.array([6, 6], np.uint64))
        >>> LinkCounts.total([part]).tolist()
        [0, 2, 0]
        """
        own = np.concatenate([part.own for part in parts])
        targets, counts = np.unique(np.concatenate([part.targets for part in parts]), return_counts=True)
        links = np.zeros(len(own), np.int64)
        if len(targets):
            place = np.minimum(np.searchsorted(targets, own), len(targets) - 1)
            found = (targets[place] == own) & (own != 0)
            links[found] = counts[place[found]]
        return links


def page_links(pages: pa.RecordBatch) -> LinkCounts:
    """The links of a batch of pages (schema ``neardup.page.PAGES``)."""
    own, targets = _native.links(
        pages.column("content"), pages.column("html"), pages.column("charset"), pages.column("url")
    )
    return LinkCounts(own, targets)
