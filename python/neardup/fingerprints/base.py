"""What a fingerprint is to the rest: tokens of a batch in, one row of 64-bit numbers a page out, or a set a page."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

#: One row a page, a fixed number of columns.
FixedWidth = npt.NDArray[np.uint64]


class Fingerprint(Protocol):
    """Hashable and comparable, so that an engine computes each one once however many rules use it."""

    @property
    def width(self) -> int:
        """64-bit numbers a page."""
        ...

    def compute(self, tokens: pa.LargeListArray) -> FixedWidth:
        """The fingerprints of a batch of pages given as lists of tokens."""
        ...


class SetFingerprint(Protocol):
    """A set of 64-bit numbers a page, of any size: what pairs are verified by exactly. Hashable and comparable."""

    def compute(self, tokens: pa.LargeListArray) -> pa.LargeListArray:
        """The sets of a batch of pages, each ascending and without repetition."""
        ...
