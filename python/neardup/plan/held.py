"""What is held of pages, in the form in which the native module takes it beside a plan."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup.methods import FixedWidth
from neardup.record import record


@record(frozen=True, slots=True)
class Glances:
    """In place of sets: how large each is, and their parities. Then a pair is accepted unless these rule it out."""

    sizes: npt.NDArray[np.uint32]
    parities: pa.LargeListArray


@record(frozen=True, slots=True)
class Limits:
    """How far buckets are joined."""

    #: Entries of a bucket that is not hot.
    hot: int
    #: Accepted pairs in all that are recorded.
    accepted: int
    #: Pairs of all buckets together.
    possible: int


@record(frozen=True, slots=True)
class HotEntries:
    """Entries of hot buckets: of each its rule, the bucket's column, key and site, and its page."""

    rule: npt.NDArray[np.uint32]
    column: npt.NDArray[np.uint32]
    key: npt.NDArray[np.uint64]
    site: npt.NDArray[np.uint32]
    page: npt.NDArray[np.uint32]


@record(frozen=True, slots=True)
class PageArrays:
    """Columns and sets of pages in the order of a plan; what no rule speaks of that is asked may be missing."""

    columns: Sequence[FixedWidth | None]
    #: Of each set an object with ``sets`` and ``parities`` in batches, or ``Glances``.
    sets: Sequence[Any]
    #: For each rule keys that were chosen before, a list a page; empty where there are none.
    key_lists: Sequence[pa.LargeListArray | None] = ()
    #: Pages that are long enough to be compared; None if all are.
    active: npt.NDArray[np.bool_] | None = None
    #: An object with ``offsets``, ``values`` and ``texts``.
    units: Any = None
    #: The row of each page among those of the sets; None if they are the same.
    rows: npt.NDArray[np.uint32] | None = None
