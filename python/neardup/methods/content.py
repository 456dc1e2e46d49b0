"""Sets of what pages are about, and bands of min-values over them.

Idea: shingles of the main text, weighed by where they stand and by how many different pages of the site have the same
stretch of text. Consistent sampling expresses the weights, so the plain Jaccard similarity of two sets is the weighted
one of the contents (the kernel's text has it in full). Keys are bands of min-values of the same sets: pages meet
because their main texts are alike, whatever surrounds them. Cost: the pages are read once more for their structure; 8
bytes a shingle of main text; with statistics of the site a look-up a stretch, and the streams are held until these are
known.
"""

from __future__ import annotations

from dataclasses import field
from functools import cached_property
from typing import ClassVar, Final

import pyarrow as pa

from neardup import _native
from neardup.methods.base import Detector, FixedWidth, NativeSets, OfContent
from neardup.methods.planner import BandLayout, band_probability, plan_bands
from neardup.methods.registry import register
from neardup.methods.rules import ExactJaccard, Logistic, Rule, SingleColumns
from neardup.methods.shingles import Bands
from neardup.methods.statistics import CollectionStatistics
from neardup.record import record
from neardup.text.content import Ideas


@record(frozen=True, slots=True)
class Content:
    """How the elements of a page are weighed.

    ``enough``: elements of content from which on links count less. ``title``: the title's share of the weight.
    """

    ideas: Ideas = field(default_factory=Ideas)
    enough: int = 30
    title: float = 0.02

    def sets(self, streams: pa.LargeListArray, frequencies: _native.NumberTable | None) -> pa.LargeListArray:
        return _Weighed(self.enough, self.title if self.ideas.title else 0.0, frequencies).compute(streams)


@record(frozen=True, slots=True, eq=False)
class _Weighed(NativeSets):
    """The elements of a stream, by their weight; ``table``: on how many different pages of its site a cell is found."""

    native: ClassVar[str] = "content"
    enough: int
    title: float
    table: _native.NumberTable | None


@record(frozen=True, slots=True)
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


@record(frozen=True, slots=True)
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


@record(frozen=True, slots=True)
class SiteContentSets(OfContent):
    """The sets with what siblings share weighed down: a fingerprint once the blocks of the sites are counted."""

    content: Content

    @property
    def counted(self) -> int:
        return 1

    def given(self, statistics: CollectionStatistics) -> GivenContentSets:
        return GivenContentSets(self.content, statistics.table(1))


@record(frozen=True, slots=True)
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


@record(frozen=True, slots=True, eq=False)
class GivenContentSets(OfContent):
    """With the counts at hand."""

    content: Content
    table: _native.NumberTable

    def compute(self, streams: pa.LargeListArray) -> pa.LargeListArray:
        return self.content.sets(streams, self.table)


@record(frozen=True, slots=True, eq=False)
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
    return Bands(1, bands, rows).compute(sets)


#: From the similarity of main texts to the probability that two pages have the same content, as ``tools/same_site.py``
#: fits it to pages of many services; how well it holds is in ``docs/same-site.md``.
CALIBRATION: Final = Logistic(middle=0.925, steepness=60.0)


@register
@record(frozen=True)
class TemplateAware(Detector):
    """Pairs that have the same main text with at least this ``probability``, whatever surrounds it.

    The similarity is the Jaccard similarity of the main texts' shingles, weighed by structure and by what the pages of
    a site share; the score is the probability that belongs to it. ``structure``, ``main``, ``site``, ``noise`` and
    ``title`` leave out an idea each, to see what it is worth.

    >>> round(TemplateAware().least, 2), TemplateAware(probability=0.9).least > TemplateAware().least
    (0.93, True)
    >>> TemplateAware().counted(), TemplateAware(site=False).counted()
    ((1,), ())
    """

    probability: float = 0.5
    recall: float = 0.99
    structure: bool = True
    site: bool = True
    noise: bool = True
    title: bool = True
    main: bool = True

    name: ClassVar[str] = "template-aware"
    summary: ClassVar[str] = "the same main text, by structure, site and title, whatever surrounds it"
    source: ClassVar[str] = "own; Henzinger 2006 §3.2 and §3.3 name the cases, Yi et al. 2003 the statistics of sites"
    cost: ClassVar[str] = "a second reading, and a pass over the blocks of sites; 8 bytes a shingle of main text"
    measure: ClassVar[str] = "weighted Jaccard similarity of main texts"

    def __post_init__(self) -> None:
        self.check(0 < self.probability < 1, "probability must be between 0 and 1")
        self.check(0 < self.recall < 1, "recall must be between 0 and 1")
        self.check(0 < self.least < 1, "no similarity has this probability")
        # A recall that no layout reaches is told here, not when the input is about to be read.
        _ = self.layout

    @cached_property
    def least(self) -> float:
        """The similarity that has the probability."""
        return CALIBRATION.similarity(self.probability)

    @cached_property
    def layout(self) -> BandLayout:
        """The bands in use and what they promise."""
        return plan_bands(self.least, self.recall)

    def rules(self) -> tuple[Rule, ...]:
        content = Content(Ideas(self.structure, self.noise, self.title, self.main))
        bands, rows = self.layout.bands, self.layout.rows
        if self.site:
            keys, sets = SiteContentBands(content, bands, rows), SiteContentSets(content)
            return (Rule(self.name, SingleColumns(keys), ExactJaccard(sets, self.least), calibration=CALIBRATION),)
        alone, own = ContentBands(content, bands, rows), ContentSets(content)
        return (Rule(self.name, SingleColumns(alone), ExactJaccard(own, self.least), calibration=CALIBRATION),)

    def acceptance(self, similarity: float) -> float | None:
        if similarity < self.least:
            return 0.0
        return band_probability(similarity, self.layout.bands, self.layout.rows)

    def as_used(self) -> tuple[str, str, str]:
        return ("5", f"{self.layout.bands} bands", f"probability ≥ {self.probability:g}")
