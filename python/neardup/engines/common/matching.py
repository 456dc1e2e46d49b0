"""What matching hands to the kernels, whichever engine it is: sets, and the sites of units."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup import _native
from neardup.methods import AnyFingerprint, FixedWidth, Rule
from neardup.methods.projections import Projection
from neardup.methods.shingles import Supershingles
from neardup.record import record

Rows = npt.NDArray[np.uint32]
#: Lists one after another in a file, and how long each is.
InFile = tuple[Path, npt.NDArray[np.int64]]
#: Batches of lists, all in memory or all in files.
Lists = list[pa.LargeListArray] | list[InFile]


@record(frozen=True, slots=True)
class Sets:
    """Ordered sets of all pages, and their parities, in batches; the sets in memory, or in files with their sizes."""

    sets: Lists
    parities: list[pa.LargeListArray]


@record(frozen=True, slots=True)
class SetSites:
    """The sites of each unit, all its members' together; a unit that is not an identity set is on one."""

    offsets: npt.NDArray[np.uint64]
    values: npt.NDArray[np.uint32]
    #: The same number for units with the same tokens, where a unit is not an identity set: these are no pairs.
    texts: npt.NDArray[np.uint32] | None = None


def same_site_of(sites: SetSites, a: Rows, b: Rows) -> npt.NDArray[np.bool_]:
    """Whether two units share a known site; nearly all have one site, which needs no search."""
    if len(sites.values) == len(sites.offsets) - 1:
        only_a, only_b = sites.values[a], sites.values[b]
        one: npt.NDArray[np.bool_] = (only_a == only_b) & (only_a != 0)
        return one
    start_a, start_b = sites.offsets[a], sites.offsets[b]
    first_a, first_b = sites.values[start_a], sites.values[start_b]
    same: npt.NDArray[np.bool_] = (first_a == first_b) & (first_a != 0)
    several = np.flatnonzero((sites.offsets[a + 1] - start_a > 1) | (sites.offsets[b + 1] - start_b > 1))
    for pair in several.tolist():
        of_a = sites.values[int(start_a[pair]) : int(sites.offsets[a[pair] + 1])]
        of_b = sites.values[int(start_b[pair]) : int(sites.offsets[b[pair] + 1])]
        shared = np.intersect1d(of_a, of_b)
        same[pair] = bool((shared != 0).any())
    return same


def scores_of(
    rules: Sequence[Rule], which: npt.NDArray[np.int8], score: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """What rules measured, as probabilities where they say how."""
    for place, rule in enumerate(rules):
        if rule.calibration is not None:
            score = np.where(which == place, rule.calibration.of(score), score)
    return score


def similarity(
    fingerprints: dict[AnyFingerprint, FixedWidth], kind: type[Supershingles | Projection], a: Rows, b: Rows
) -> npt.NDArray[np.uint32] | None:
    for fingerprint, values in fingerprints.items():
        if isinstance(fingerprint, kind):
            if isinstance(fingerprint, Projection):
                return _native.agreeing_bits(values, a, b)
            return _native.equal_columns(values, a, b)
    return None
