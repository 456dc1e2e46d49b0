"""A detector as an index needs it: its plan, and what is computed of every page in the order of the plan."""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from neardup import _native
from neardup.methods import AnyFingerprint, ChunkSets, Detector, Fingerprint, Statistical
from neardup.methods.statistics import CollectionStatistics
from neardup.plan import Given, Plan, beyond_tokens


@dataclass(frozen=True)
class Shape:
    """What is computed of every page, in the order in which the index holds it."""

    plan: Plan
    #: Rows of numbers, and sets.
    columns: tuple[Fingerprint, ...]
    sets: tuple[ChunkSets, ...]

    @property
    def detector(self) -> Detector:
        return self.plan.detector

    @property
    def by_site(self) -> bool:
        """Whether what is computed of a page depends on its site, so that pages with the same tokens are one only on
        one site. Then identical pages of other sites are found as near ones are: the two halves of the hash of the
        tokens are the first column, and the first rule asks for both.
        """
        return self.detector.counts_blocks()

    @property
    def native(self) -> _native.Plan:
        """What is held of a page, and the rules over it."""
        return self.plan.by_tokens if self.by_site else self.plan.native

    @property
    def needs_text(self) -> bool:
        """Whether tokens alone are not enough."""
        return beyond_tokens((*self.columns, *self.sets))

    def compute(self, given: Given) -> tuple[list[np.ndarray], list[pa.LargeListArray]]:
        """All fingerprints of a batch."""
        rows = [np.ascontiguousarray(kind.compute(given.to(kind))) for kind in self.columns]
        if self.by_site:
            rows.insert(0, np.stack(_native.token_identities(given.tokens), axis=1))
        return rows, [kind.compute(given.to(kind)) for kind in self.sets]


def shape_of(detector: Detector, statistics: CollectionStatistics | None) -> Shape:
    """How an index holds the pages of a detector.

    >>> from neardup.methods import parse
    >>> shape_of(parse("combined"), None).native.widths
    [6, 6]
    """
    plan = Plan(detector, statistics=statistics)

    def ready(kind: AnyFingerprint) -> Fingerprint | ChunkSets:
        if isinstance(kind, Statistical):
            assert statistics is not None, "an index of such a detector has statistics"
            return kind.given(statistics)
        return kind

    columns, sets = (tuple(map(ready, kinds)) for kinds in (plan.columns, plan.sets))
    return Shape(plan, columns, sets)  # type: ignore[arg-type]


def open_store(
    path: str, shape: Shape, *, most: int, sync: str, cache: int, buffers: int, most_matches: int | None = None
) -> _native.IndexStore:
    """The tables of an index of this shape."""
    return _native.IndexStore(
        path,
        shape.native,
        most=most,
        most_matches=sys.maxsize if most_matches is None else most_matches,
        sync=sync,
        cache=cache,
        buffers=buffers,
    )
