"""What a run of the local engine gives: tables that are made group by group, and what is told of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup.engines.common.tables import Groups
from neardup.methods.statistics import CollectionStatistics
from neardup.record import record

#: Rows of the table of pages, given by their numbers in ascending order.
PagesAt = Callable[[npt.NDArray[np.uint32]], pa.Table]


@record(frozen=True)
class Outcome:
    """Everything a run found."""

    page_groups: Groups
    pages_at: PagesAt
    pair_groups: Groups
    clusters: pa.Table
    #: What ``run.json`` says.
    report: dict[str, Any]
    #: For each page the first page of its cluster.
    cluster: npt.NDArray[np.uint32] | None = None
    #: Pairs with pages of earlier runs, where the run was against such, and these pages.
    against: pa.Table | None = None
    earlier: pa.Table | None = None
    #: What fingerprints were computed with, where the detector needs statistics of the collection.
    statistics: CollectionStatistics | None = None
    #: All that was not read, where there is more of it than ``report`` names.
    unread: Groups | None = None

    @cached_property
    def pages(self) -> pa.Table:
        """The table of pages, whole."""
        return self.page_groups.table()

    @cached_property
    def pairs(self) -> pa.Table:
        """The table of pairs, whole."""
        return self.pair_groups.table()
