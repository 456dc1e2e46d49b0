"""Which pages a certificate looks at: a stratified sample, drawn at random within each stratum.

The population is every page whose fate was a decision: those that stay and those that went as near-duplicates. A page
that went for one with the same tokens is right by construction, and a page too short to be compared was not decided
on. Strata are what is known of every page beforehand and says most of how many partners it has: whether it stays, and
how large its cluster is, in powers of two. A third of the sample goes to the pages that went, a third to those that
stay, each in proportion; the last third in proportion to pages times cluster size, for that is where the pairs are.
Cost: O(pages).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

Rows = npt.NDArray[np.int64]
#: No stratum is looked at with fewer pages than this, if it has them.
LEAST: Final = 12


@dataclass(frozen=True, slots=True)
class Drawn:
    """The pages drawn from one stratum."""

    kept: bool
    #: Its pages are in clusters of more than half as many and at most so many identity sets.
    cluster_size: int
    population: int
    rows: Rows


def draw_sample(kept: Rows, removed: Rows, cluster_sizes: npt.NDArray[np.int64], size: int, seed: int) -> list[Drawn]:
    """About ``size`` of the pages at ``kept`` and ``removed``, given the size of every page's cluster.

    >>> import numpy as np
    >>> sizes = np.array([1] * 900 + [2] * 60 + [40] * 40)
    >>> drawn = draw_sample(np.arange(950), np.arange(950, 1000), sizes, 100, 0)
    >>> [(one.kept, one.cluster_size, one.population, len(one.rows)) for one in drawn]
    [(False, 2, 10, 10), (False, 64, 40, 40), (True, 1, 900, 32), (True, 2, 50, 12)]
    """
    strata: list[tuple[bool, int, Rows]] = []
    for stays, rows in ((False, removed), (True, kept)):
        classes = np.ceil(np.log2(np.maximum(cluster_sizes[rows], 1))).astype(np.int64)
        strata += [(stays, 1 << int(one), rows[classes == one]) for one in np.unique(classes)]
    pages = np.array([len(rows) for _, _, rows in strata], np.float64)
    staying = np.array([one for one, _, _ in strata], bool)
    pairs = np.array([float(cluster_sizes[rows].sum()) if one > 1 else 0.0 for _, one, rows in strata])
    share = np.zeros(len(strata))
    for weight in (np.where(staying, 0, pages), np.where(staying, pages, 0), pairs):
        if weight.sum():
            share += weight / weight.sum() / 3
    wanted = np.minimum(pages, np.maximum(np.ceil(share * size), LEAST)).astype(np.int64)
    generator = np.random.default_rng(seed)
    return [
        Drawn(kept_ones, cluster_size, len(rows), np.sort(generator.choice(rows, int(count), replace=False)))
        for (kept_ones, cluster_size, rows), count in zip(strata, wanted, strict=True)
    ]
