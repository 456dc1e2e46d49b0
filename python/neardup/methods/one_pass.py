"""Pages read and fingerprinted in one native pass: the fingerprints of a page are made while its tokens are in the
nearest cache. These are the ones that tokens alone decide, and that are rows of keys or bits, or the set of shingles;
others are computed of the tokens afterwards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup import _native
from neardup.methods.base import AnyFingerprint, ChunkSets, Fingerprint, FixedWidth, NativeRows, NativeSets
from neardup.record import record
from neardup.text import Reading

#: Rows of numbers, or sets and their parities.
Made = FixedWidth | tuple[pa.LargeListArray, pa.LargeListArray]


#: By the native module's names.
_MADE_WHILE_READING: Final = ("keys", "bits", "terms", "set")


def made_while_reading(kind: AnyFingerprint) -> bool:
    """Whether the native module makes the fingerprint while it reads a page.

    >>> from neardup.methods.chunks import Winnowed
    >>> from neardup.methods.shingles import ShingleSet
    >>> made_while_reading(ShingleSet(5)), made_while_reading(Winnowed(5, 4))
    (True, False)
    """
    # A fingerprint that builds on another may compute something else.
    own = type(kind).compute in (NativeRows.compute, NativeSets.compute) if hasattr(kind, "compute") else False
    return own and getattr(kind, "native", None) in _MADE_WHILE_READING


@record(frozen=True, slots=True)
class ReadPages:
    """What reading gives for a batch of pages, one row a page, and the fingerprints that were made on the way."""

    #: How many tokens, and the tokens themselves if somebody needs them later.
    lengths: npt.NDArray[np.int64]
    tokens: pa.LargeListArray | None
    title: pa.StringArray
    site: pa.StringArray
    replaced: npt.NDArray[np.bool_]
    identity_high: npt.NDArray[np.uint64]
    identity_low: npt.NDArray[np.uint64]
    made: Mapping[Fingerprint | ChunkSets, Made]


class OnePass:
    """What is asked of pages: these fingerprints, as far as the native module can make them, and the tokens if they are
    to be held or if a fingerprint that is left asks for them.

    >>> from neardup.methods.chunks import Winnowed
    >>> from neardup.methods.shingles import ShingleSet
    >>> from neardup.sources.memory import texts
    >>> batch = texts(["a few words"]).batches[0]
    >>> OnePass(Reading(), [ShingleSet(2)]).of(batch).tokens is None
    True
    >>> OnePass(Reading(), [Winnowed(5, 4)]).of(batch).lengths
    array([3])
    """

    def __init__(self, reading: Reading, kinds: Sequence[Fingerprint | ChunkSets], held: bool = False) -> None:
        self._kinds = [kind for kind in kinds if made_while_reading(kind)]
        #: What a source that makes it on the way takes along.
        self.task = _native.PageTask(
            self._kinds, held or len(self._kinds) < len(kinds), hash=reading.hash, site_rule=reading.site
        )

    def of(self, pages: pa.RecordBatch) -> ReadPages:
        """Reads a batch of pages."""
        return self.read(self.task.read(*(pages.column(name) for name in ("content", "html", "charset", "url"))))

    def read(self, read: _native.PagesRead) -> ReadPages:
        """What the native module made of pages."""
        return ReadPages(
            read.lengths,
            read.tokens,
            read.title,
            read.site,
            read.replaced,
            read.identity_high,
            read.identity_low,
            dict(zip(self._kinds, read.made, strict=True)),
        )
