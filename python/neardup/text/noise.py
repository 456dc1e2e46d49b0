"""What changes on a page by itself: dates, ages, counters, session ids, and the words beside such values.

The table is in the core (``noise/words.rs``): kinds of difference and the weighing of ``template-aware`` read the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from neardup import _native
from neardup.record import record

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

#: Bits of ``TermNoise.looks``; and what runs are.
LOOKS, RUNS = _native.noise_names()


@record(frozen=True, slots=True)
class TermNoise:
    """For each of a page's terms what it looks like (``LOOKS``), and what the run of such terms is that it is in
    (``RUNS``; 0 for what says something).
    """

    looks: npt.NDArray[np.uint32]
    runs: npt.NDArray[np.uint8]


def term_noise(terms: Sequence[str]) -> TermNoise:
    """What the terms of a page look like.

    >>> found = term_noise("updated 23 october 2025 by 12 people".split())
    >>> (found.runs == RUNS["date"]).tolist()
    [False, True, True, True, False, False, False]
    >>> bool(found.looks[0] & LOOKS["time stamp"])
    True
    """
    values = pa.array(terms, pa.large_string())
    return TermNoise(*_native.term_noise(pa.LargeListArray.from_arrays(pa.array([0, len(values)], pa.int64()), values)))
