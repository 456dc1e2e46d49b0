"""A run's graph cut at a higher threshold, or without some pairs: clusters and removals, no fingerprint computed again.

The maximum-similarity spanning forest has, at every threshold above the lowest score in it, the same connected
components as the whole graph, so the pairs marked ``tree`` are enough to say which clusters a threshold gives, exactly.
Once single pairs are taken out that is no longer so, and all pairs that are held are used. What stays is decided by
direct removal over the held pairs, pages that stayed before being preferred: at the run's own threshold that gives the
run's own decisions again, which are taken as they are. Where only the forest is held (``complete`` is false) fewer
pages may go than could, never others. Cost: O(pages + pairs), for a million pages a few tenths of a second.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from neardup import _native
from neardup.graph.removal import Removal, remove
from neardup.graph.units import between_sets, ends_of_sets, site_units

Rows = npt.NDArray[np.uint32]
Flags = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.float64]
Whole = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Shape:
    """What a run found, in numbers: pages by row, pairs by the rows of their units' first members."""

    #: The first page with the same tokens.
    identity: Rows
    #: Each page's site as a number, negative where it has none.
    site: npt.NDArray[np.int32]
    kept: Flags
    a: Rows
    b: Rows
    score: Numbers
    tree: Flags
    #: Whether all accepted pairs are here.
    complete: bool
    removal: Removal = "direct"
    #: For each page the page kept in its place, as the run decided, where the pairs here do not tell.
    instead: Rows | None = None
    #: The cohesion of the run's clusters, where the pairs here do not tell; not a number where the run does not know.
    cohesion: Numbers | None = None
    #: Whether pairs were taken out of it.
    lessened: bool = False
    #: Whether pages with the same tokens are one page only on one site; see ``neardup.graph.units``.
    by_site: bool = False
    #: So many of the last rows are of earlier runs, which kept them: they stay, and before all others.
    earlier: int = 0

    @property
    def pages(self) -> int:
        return len(self.identity)

    @property
    def floor(self) -> float:
        """The lowest score: below it nothing is known."""
        return float(self.score.min()) if len(self.score) else 0.0

    @property
    def units(self) -> Rows:
        """For each page the first page that counts as the same one."""
        return site_units(self.identity, self.site) if self.by_site else self.identity

    def without(self, pairs: Flags) -> Shape:
        """The same without some pairs; the forest is that of what is left."""
        left = ~pairs
        a, b, score = self.a[left], self.b[left], self.score[left]
        tree = _native.spanning_forest(self.pages, *ends_of_sets(self.identity, a, b), score)
        return replace(self, a=a, b=b, score=score, tree=tree, lessened=bool(pairs.any()) or self.lessened)


@dataclass(frozen=True)
class Cut:
    """The clusters at one threshold; arrays by cluster are of those of two pages or more, in input order."""

    shape: Shape
    threshold: float
    #: For each page the first page of its cluster.
    cluster: Rows
    #: Rows that were chosen to stay before all others.
    preferred: Rows = field(default_factory=lambda: np.empty(0, np.uint32))

    @cached_property
    def _all_sizes(self) -> Whole:
        return np.bincount(self.cluster, minlength=self.shape.pages)

    @cached_property
    def first(self) -> Whole:
        """The first page of each cluster."""
        return np.flatnonzero(self._all_sizes >= 2)

    @cached_property
    def size(self) -> Whole:
        return self._all_sizes[self.first]

    @cached_property
    def units(self) -> Rows:
        """For each page the first page that counts as the same one."""
        return self.shape.units

    @cached_property
    def _held(self) -> Flags:
        held: Flags = self.shape.score >= self.threshold
        return held

    @cached_property
    def cohesion(self) -> Numbers:
        """The share of all pairs of identity sets that were accepted; not a number where that is not known."""
        shape = self.shape
        if not shape.complete:
            as_run = self.is_the_run and shape.cohesion is not None and len(shape.cohesion) == len(self.first)
            return shape.cohesion if as_run and shape.cohesion is not None else np.full(len(self.first), np.nan)
        is_first = shape.identity == np.arange(shape.pages)
        sets = np.bincount(self.cluster[is_first], minlength=shape.pages)[self.first]
        a, _ = between_sets(shape.identity, shape.a[self._held], shape.b[self._held])
        pairs = np.bincount(self.cluster[a], minlength=shape.pages)[self.first]
        possible = sets * (sets - 1) / 2
        return np.where(possible > 0, pairs / np.maximum(possible, 1), 1.0)

    @cached_property
    def sites(self) -> Whole:
        """How many different known sites a cluster is on."""
        known = (self.shape.site >= 0) & (self._all_sizes[self.cluster] >= 2)
        both = self.cluster[known].astype(np.int64) * (int(self.shape.site.max(initial=0)) + 1) + self.shape.site[known]
        # By a hash table: sorting them would take ten times as long.
        of_cluster = pc.unique(pa.array(both)).to_numpy() // (int(self.shape.site.max(initial=0)) + 1)
        return np.bincount(of_cluster, minlength=self.shape.pages)[self.first]

    @property
    def is_the_run(self) -> bool:
        """Whether this is what the run itself decided."""
        return self.threshold <= self.shape.floor and not self.shape.lessened and not len(self.preferred)

    @cached_property
    def instead(self) -> Rows:
        """For each page the page that stays in its place, itself if it stays."""
        shape = self.shape
        if self.is_the_run and shape.instead is not None:
            return shape.instead
        held = self._held
        order = np.argsort(~shape.kept, kind="stable").astype(np.uint32)
        own = shape.pages - shape.earlier
        first = np.concatenate([np.arange(own, shape.pages, dtype=np.uint32), self.preferred])
        if len(first):
            first = first[np.sort(np.unique(first, return_index=True)[1])]
            order = np.concatenate([first, order[~np.isin(order, first)]])
            if shape.earlier:
                # A page chosen to stay does not take the place of an earlier one.
                chosen = np.isin(shape.identity, shape.identity[self.preferred])
                held = held & ~((shape.a >= own) & chosen[shape.b])
        pairs = shape.a[held], shape.b[held], shape.score[held]
        instead = remove(
            order, shape.identity, self.cluster, pairs, shape.removal, units=self.units, settled=shape.earlier
        ).instead
        if shape.earlier:
            # Earlier pages stay, and so does a page that was chosen in spite of a copy among them.
            instead[own:] = np.arange(own, shape.pages)
            instead[self.preferred] = self.preferred
        return instead

    @cached_property
    def kept(self) -> Flags:
        if self.is_the_run:
            return self.shape.kept
        kept: Flags = self.instead == np.arange(self.shape.pages)
        return kept

    @cached_property
    def kept_count(self) -> Whole:
        """How many pages of each cluster stay."""
        return np.bincount(self.cluster[self.kept], minlength=self.shape.pages)[self.first]

    @cached_property
    def _by_cluster(self) -> Whole:
        return np.argsort(self.cluster, kind="stable")

    def members(self, first: int) -> Whole:
        """The rows of a cluster, ascending."""
        low, high = np.searchsorted(self.cluster, [first, first + 1], sorter=self._by_cluster)
        return self._by_cluster[low:high]

    def pairs_of(self, first: int) -> Whole:
        """The places of a cluster's held pairs."""
        return np.flatnonzero(self._held & (self.cluster[self.shape.a] == first))


def cut(shape: Shape, threshold: float = 0.0, preferred: Rows | None = None) -> Cut:
    """The clusters of the pairs whose score reaches a threshold.

    >>> rows = lambda *values: np.array(values, np.uint32)
    >>> chain = Shape(rows(0, 1, 2), np.zeros(3, np.int32), np.array([True, False, True]), rows(0, 1), rows(1, 2),
    ...               np.array([0.9, 0.8]), np.array([True, True]), True)
    >>> cut(chain).size.tolist(), cut(chain, 0.85).size.tolist(), cut(chain).kept.tolist()
    ([3], [2], [True, False, True])
    """
    held = shape.tree & (shape.score >= threshold)
    rows = np.arange(shape.pages, dtype=np.uint32)
    cluster = _native.components(
        shape.pages, np.concatenate([shape.a[held], shape.identity]), np.concatenate([shape.b[held], rows])
    )
    return Cut(shape, threshold, cluster, np.empty(0, np.uint32) if preferred is None else preferred)


def steps(shape: Shape, most: int = 200) -> Numbers:
    """Thresholds worth trying: all scores there are, or ``most`` of them where they are many.

    >>> rows, scores = np.zeros(3, np.uint32), np.array([0.8, 0.9, 0.8])
    >>> steps(Shape(rows, rows.astype(np.int32), rows > 0, rows, rows, scores, rows > 0, True)).tolist()
    [0.8, 0.9]
    """
    scores = np.unique(shape.score)
    if len(scores) <= most:
        return scores
    # Half of them where pairs are, half evenly: a slider that moves should change something, and also get along.
    by_pairs = np.quantile(shape.score, np.linspace(0, 1, most // 2), method="higher")
    evenly = np.linspace(scores[0], scores[-1], most - most // 2)
    return np.unique(scores[np.minimum(np.searchsorted(scores, np.concatenate([by_pairs, evenly])), len(scores) - 1)])
