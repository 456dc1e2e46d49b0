"""Sets of what pages are about, and bands of min-values over them.

Idea: shingles of the main text, weighed by where they stand and by how many different pages of the site have the same
stretch of text, the weights told by consistent sampling; so the plain Jaccard similarity of two sets is the weighted
one of the contents (the kernel's text has it in full). Keys are bands of min-values of the same sets: pages meet
because their main texts are alike, whatever surrounds them. Cost: the pages are read once more for their structure; 8
bytes a shingle of main text; with statistics of the site a look-up a stretch, and the streams are held until these are
known.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import pyarrow as pa

from neardup import _native
from neardup.fingerprints.base import FixedWidth, OfContent
from neardup.fingerprints.statistics import CollectionStatistics
from neardup.text.content import Ideas


@dataclass(frozen=True, slots=True)
class Content:
    """How the elements of a page are weighed.

    ``enough``: elements of content from which on links count less. ``title``: the title's share of the weight.
    """

    ideas: Ideas = field(default_factory=Ideas)
    enough: int = 30
    title: float = 0.02

    def sets(self, streams: pa.LargeListArray, frequencies: _native.NumberTable | None) -> pa.LargeListArray:
        title = self.title if self.ideas.title else 0.0
        return _native.content_sets(streams, frequencies=frequencies, enough=self.enough, title=title)


@dataclass(frozen=True, slots=True)
class ContentSets(OfContent):
    """The sets of pages by themselves, without statistics of their sites.

    >>> from neardup.sources.memory import texts
    >>> from neardup.text import content_streams
    >>> pages = texts([{"html": f"<nav>{menu}</nav><p>one two three four five six"} for menu in ("x", "y z")])
    >>> first, second = ContentSets(Content()).compute(content_streams(pages.batches[0])).to_pylist()
    >>> len(first), first == second
    (2, True)
    """

    content: Content

    def compute(self, streams: pa.LargeListArray) -> pa.LargeListArray:
        return self.content.sets(streams, None)


@dataclass(frozen=True, slots=True)
class ContentBands(OfContent):
    """One key for each of ``bands`` bands of ``rows`` min-values of these sets."""

    content: Content
    bands: int
    rows: int

    @property
    def width(self) -> int:
        return self.bands

    def compute(self, streams: pa.LargeListArray) -> FixedWidth:
        return _keys(self.content.sets(streams, None), self.bands, self.rows)


@dataclass(frozen=True, slots=True)
class SiteContentSets(OfContent):
    """The sets with what siblings share weighed down: a fingerprint once the blocks of the sites are counted."""

    content: Content

    @property
    def counted(self) -> int:
        return 1

    def given(self, statistics: CollectionStatistics) -> GivenContentSets:
        return GivenContentSets(self.content, statistics.table(1))


@dataclass(frozen=True, slots=True)
class SiteContentBands(OfContent):
    """Bands of those."""

    content: Content
    bands: int
    rows: int

    @property
    def width(self) -> int:
        return self.bands

    @property
    def counted(self) -> int:
        return 1

    @property
    def sets(self) -> SiteContentSets:
        """What they are bands of."""
        return SiteContentSets(self.content)

    def of_sets(self, sets: pa.LargeListArray) -> FixedWidth:
        return _keys(sets, self.bands, self.rows)

    def given(self, statistics: CollectionStatistics) -> GivenContentBands:
        return GivenContentBands(self.content, self.bands, self.rows, statistics.table(1))


@dataclass(frozen=True, slots=True, eq=False)
class GivenContentSets(OfContent):
    """With the counts at hand."""

    content: Content
    table: _native.NumberTable

    def compute(self, streams: pa.LargeListArray) -> pa.LargeListArray:
        return self.content.sets(streams, self.table)


@dataclass(frozen=True, slots=True, eq=False)
class GivenContentBands(OfContent):
    """With the counts at hand."""

    content: Content
    bands: int
    rows: int
    table: _native.NumberTable

    @property
    def width(self) -> int:
        return self.bands

    def compute(self, streams: pa.LargeListArray) -> FixedWidth:
        return _keys(self.content.sets(streams, self.table), self.bands, self.rows)


def _keys(sets: pa.LargeListArray, bands: int, rows: int) -> FixedWidth:
    return _native.minima_keys(sets, k=1, count=bands * rows, rows=rows)
