"""How many of their single terms two pages share, told by a bit for each of some bins (Li, Owen and Zhang 2012;
Shrivastava 2017; Li and König 2010).

Idea: one hash function deals the distinct tokens into bins, each bin keeps its smallest, an empty one borrows; of each
a bit is kept. Two bins agree with probability (1 + J)/2, J the Jaccard similarity of the terms. It confirms what Alg. C
says, which a few terms that fill two pages decide alone. Error: with 256 bins the told J has a standard deviation of
.055 at J = .5. Cost: O(tokens + bins); 32 bytes a page."""

from __future__ import annotations

import math
from typing import ClassVar

import pyarrow as pa

from neardup import _native
from neardup.fingerprints.base import FixedWidth
from neardup.record import record


@record(frozen=True, slots=True)
class TermSketch:
    """A bit for each of ``bins`` bins of the distinct tokens.

    >>> tokens = pa.array([list(range(1, 31))], pa.large_list(pa.uint64()))
    >>> TermSketch().compute(tokens).shape, TermSketch().needed(0.5)
    ((1, 4), 192)
    """

    bins: int = 256
    #: Lanes are of one bit.
    bits: ClassVar[int] = 1

    @property
    def m(self) -> int:
        """Lanes."""
        return self.bins

    @property
    def width(self) -> int:
        return self.bins // 64

    def needed(self, similarity: float) -> int:
        """How many bins agree on average where terms are as similar as this."""
        return math.ceil(self.bins * (1 + similarity) / 2 - 1e-9)

    def similarity(self, agreeing: int) -> float:
        """The similarity that so many bins tell; below 0 by chance only."""
        return 2 * agreeing / self.bins - 1

    def compute(self, tokens: pa.LargeListArray) -> FixedWidth:
        return _native.term_sketches(tokens, count=self.bins)
