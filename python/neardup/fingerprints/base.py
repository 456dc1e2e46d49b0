"""What a fingerprint is to the rest: tokens of a batch in, numbers of each page out.

Most are of fixed size, a row of 64-bit numbers a page (``Fingerprint``). Others are sets whose size follows the page
(``ChunkSets``). What a method may ask for beyond tokens: the text of the terms (``OfTerms``), since a token is a hash
and hides its letters; the blocks of the page with their structure (``OfContent``); the pages themselves (``OfPages``),
for what tokens lack, such as periods; and statistics of the whole collection (``Statistical``), which is then a
fingerprint only once they are *given*.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
import pyarrow as pa

if TYPE_CHECKING:
    from neardup.fingerprints.content import Content
    from neardup.fingerprints.statistics import CollectionStatistics

#: One row a page, a fixed number of columns.
FixedWidth = npt.NDArray[np.uint64]


class Fingerprint(Protocol):
    """Hashable and comparable, so that an engine computes each one once however many rules use it."""

    @property
    def width(self) -> int:
        """64-bit numbers a page."""
        ...

    def compute(self, tokens: pa.LargeListArray, /) -> FixedWidth:
        """The fingerprints of a batch of pages given as lists of tokens."""
        ...


class ChunkSets(Protocol):
    """A fingerprint whose size follows the page: a sorted set of numbers."""

    def compute(self, tokens: pa.LargeListArray, /) -> pa.LargeListArray:
        """The sets of a batch of pages given as lists of tokens."""
        ...


class OfTerms:
    """Mixed into a fingerprint that is computed of terms as text (``large_list<large_string>``), not of tokens."""

    __slots__ = ()


class OfPages:
    """Mixed into a fingerprint that is computed of the pages as they are (a batch of ``neardup.page.PAGES``)."""

    __slots__ = ()


class OfContent:
    """Mixed into a fingerprint that is computed of content streams (``neardup.text.content_streams``), not of tokens.
    One that is statistical as well is about stretches of blocks: how many different pages of a site have them."""

    __slots__ = ()

    #: How the streams are made and weighed.
    content: Content


@runtime_checkable
class OverSets(Protocol):
    """A fingerprint that is made of sets which are one themselves: where both are wanted, the sets are made once."""

    @property
    def sets(self) -> Statistical: ...

    def of_sets(self, sets: pa.LargeListArray) -> FixedWidth: ...


@runtime_checkable
class Statistical(Protocol):
    """A fingerprint that needs statistics of the collection; the engine takes a first pass for them."""

    #: How many tokens the chunks have whose frequencies are needed.
    @property
    def counted(self) -> int: ...

    def given(self, statistics: CollectionStatistics) -> Fingerprint | ChunkSets:
        """The same with the statistics at hand."""
        ...


AnyFingerprint = Fingerprint | ChunkSets | Statistical
