"""Rows, identity sets and units: which pages there are, which of them count as one, and what results call them.

Where a run is against earlier ones, the pages that these kept stand in front of its own. Matching and clustering number
all of them together; results number the run's own.
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup import _native
from neardup.engines.common.matching import Rows, SetSites
from neardup.graph import site_units
from neardup.lazy import later
from neardup.methods import Detector
from neardup.record import record

pc = later("pyarrow.compute")

Values = TypeVar("Values")


@record(frozen=True, slots=True)
class Numbering:
    """Rows over the pages of earlier runs and the run's own.

    >>> numbering = Numbering(earlier=2, own=3)
    >>> numbering.is_own(np.array([1, 2], np.uint32)).tolist()
    [False, True]
    >>> numbering.in_results(np.array([2, 4], np.uint32)).tolist(), numbering.of_own(["x", "y", "a", "b", "c"])
    ([0, 2], ['a', 'b', 'c'])
    """

    #: How many pages of earlier runs there are, and how many of this one.
    earlier: int
    own: int

    @property
    def count(self) -> int:
        return self.earlier + self.own

    @property
    def rows(self) -> Rows:
        """All rows."""
        return np.arange(self.count, dtype=np.uint32)

    def is_own(self, rows: Rows) -> npt.NDArray[np.bool_]:
        """Whether pages are the run's own."""
        own: npt.NDArray[np.bool_] = rows >= self.earlier
        return own

    def in_results(self, rows: Rows) -> Rows:
        """Rows of the run's own pages, as results number them."""
        return rows - np.uint32(self.earlier)

    def among_all(self, rows: Rows) -> Rows:
        """The same the other way round."""
        return rows + np.uint32(self.earlier)

    def of_own(self, values: Any) -> Any:
        """Of values, one for each page, those of the run's own."""
        return values[self.earlier :]

    def of_earlier(self, values: Any) -> Any:
        """Those of earlier pages."""
        return values[: self.earlier]


def units_of(site: pa.ChunkedArray, identity: Rows, detector: Detector) -> Rows:
    """For each page the first page that counts as the same one to a detector."""
    return site_units(identity, site_numbers(site)) if detector.looks_at_sites else identity


def unit_sites(site: pa.ChunkedArray, member_of: Rows, first: Rows, texts: Rows | None) -> SetSites:
    """The sites of each unit, from its members'; ``texts`` are those of ``SetSites``."""
    if site.null_count == len(site):
        return SetSites(np.arange(len(first) + 1, dtype=np.uint64), np.zeros(len(first), np.uint32), texts)
    # 0 is "unknown", so known sites are numbered from 1.
    numbered = member_of.astype(np.uint64) << np.uint64(32) | (site_numbers(site) + 1).astype(np.uint64)
    # First members come in the order of their sets, so all but the few others need no sorting.
    others = np.ones(len(numbered), bool)
    others[first] = False
    ordered = np.concatenate([numbered[first], np.sort(numbered[others])])
    ordered.sort(kind="stable")
    distinct = ordered[np.insert(ordered[1:] != ordered[:-1], 0, True)]
    sizes = np.bincount((distinct >> np.uint64(32)).astype(np.int64), minlength=len(first))
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.uint64)
    return SetSites(offsets, (distinct & np.uint64(0xFFFFFFFF)).astype(np.uint32), texts)


def site_numbers(site: pa.ChunkedArray) -> npt.NDArray[np.int64]:
    """A number for each page's site, −1 where it has none.

    >>> site_numbers(pa.chunked_array([["a.example", None, "a.example"]])).tolist()
    [0, -1, 0]
    """
    encoded = site.combine_chunks().dictionary_encode()
    return np.asarray(encoded.indices.fill_null(-1), dtype=np.int64)


def unique_ids(pages: pa.Table) -> tuple[pa.Array, int]:
    """The id of every page: the input's own, else ``source#record``; one that repeats becomes ``id#row``.

    >>> table = pa.table({"id": ["x", "x", None], "source": ["f"] * 3, "record": [0, 1, 2]})
    >>> ids, repeated = unique_ids(table)
    >>> ids.to_pylist(), repeated
    (['x', 'x#1', 'f#2'], 1)
    """
    ids = pages.column("id")
    if ids.null_count:
        named = pc.binary_join_element_wise(pages.column("source"), pages.column("record").cast(pa.string()), "#")
        ids = pc.coalesce(ids, named)
    ids = ids.combine_chunks()
    repeated_rows = _native.repeated_rows(ids)
    if not len(repeated_rows):
        return ids, 0
    mask = np.zeros(len(ids), bool)
    mask[repeated_rows] = True
    distinct = ids.filter(pa.array(~mask))
    number = pa.array(repeated_rows).cast(pa.string())
    renamed = pc.binary_join_element_wise(ids.take(pa.array(repeated_rows)), number, "#")
    # "x#1" may be another page's own id, which that page keeps.
    while pc.any(clash := pc.is_in(renamed, value_set=distinct)).as_py():
        renamed = pc.if_else(clash, pc.binary_join_element_wise(renamed, number, "#"), renamed)
    return pc.replace_with_mask(ids, pa.array(mask), renamed), len(repeated_rows)
