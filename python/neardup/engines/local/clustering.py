"""From accepted pairs to decisions: the cluster of each page, whether it is kept, and the table of clusters.

The spanning forest and the diameters are needed last, and nothing before them waits for them: another thread computes
them meanwhile.
"""

from __future__ import annotations

from concurrent.futures import Executor, Future

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup import _native
from neardup.engines.common.matching import Rows
from neardup.engines.common.reasons import page_reasons
from neardup.engines.local.identity import Numbering, site_numbers
from neardup.engines.local.matching import Matches
from neardup.graph import between_sets, cluster_diameters, clusters_table, ends_of_sets, remove
from neardup.graph.removal import Removal
from neardup.record import record


@record(frozen=True, slots=True)
class Clustering:
    """What was decided, over the pages of earlier runs and the run's own."""

    numbering: Numbering
    #: For each page the first page of its cluster.
    cluster: Rows
    #: For each page the one that is kept instead (itself, where it is kept), and whether both have the same tokens.
    instead: Rows
    identical: npt.NDArray[np.bool_]
    kept: npt.NDArray[np.bool_]
    #: The accepted pairs between identity sets.
    _between: tuple[Rows, Rows]
    _forest: Future[npt.NDArray[np.bool_]]
    _diameters: Future[npt.NDArray[np.uint32]]

    def in_forest(self) -> npt.NDArray[np.bool_]:
        """Of each accepted pair, whether it is in the spanning forest."""
        return self._forest.result()

    def reasons(self, tokens: npt.NDArray[np.int64], min_tokens: int) -> npt.NDArray[np.int8]:
        """For each page the place of its reason in ``REASONS``."""
        seen = ~self.numbering.is_own(self.instead)
        return page_reasons(self.kept, self.instead, self.identical, self.cluster, tokens, min_tokens, seen)

    def with_own_page(self) -> npt.NDArray[np.bool_]:
        """For each page, were it the first of a cluster, whether a page of this run is in that."""
        own = self.numbering.of_own(self.cluster)
        several: npt.NDArray[np.bool_] = np.bincount(own, minlength=self.numbering.count) > 0
        return several

    def table(self, ids: pa.Array, sites: pa.ChunkedArray, matches: Matches) -> pa.Table:
        """The table of clusters that a page of this run is in."""
        clusters = clusters_table(
            ids,
            self.cluster,
            matches.identity,
            site_numbers(sites),
            self.kept,
            self._between,
            self._diameters.result(),
            matches.crowded,
        )
        if not self.numbering.earlier:
            return clusters
        several = np.bincount(self.cluster, minlength=self.numbering.count) >= 2
        return clusters.filter(pa.array(self.with_own_page()[several]))


def clustered(matches: Matches, numbering: Numbering, removal: Removal, beside: Executor) -> Clustering:
    """Decides for every page; pages of earlier runs are all kept. ``beside`` computes what is needed last."""
    count, identity = numbering.count, matches.identity
    # Of identity sets, whose pages hang together without pairs.
    ends = ends_of_sets(identity, matches.a, matches.b)
    forest = beside.submit(_native.spanning_forest, count, *ends, matches.score)
    between = between_sets(identity, matches.a, matches.b)
    cluster = _native.components(
        count, np.concatenate([matches.a, identity]), np.concatenate([matches.b, numbering.rows])
    )
    diameters = beside.submit(cluster_diameters, cluster, between)
    removed = remove(
        matches.order,
        identity,
        cluster,
        (matches.a, matches.b, matches.score),
        removal,
        units=matches.unit,
        settled=numbering.earlier,
    )
    # What an earlier run kept is there, whatever else is like it.
    kept = (removed.instead == numbering.rows) | ~numbering.is_own(numbering.rows)
    return Clustering(numbering, cluster, removed.instead, removed.identical, kept, between, forest, diameters)
