"""The main text decides: pairs on one site that share a template are told from pages with the same content."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Final

from neardup.detectors.base import Detector
from neardup.detectors.planner import Plan, band_probability, plan
from neardup.detectors.registry import register
from neardup.detectors.rules import ExactJaccard, Logistic, Rule, SingleColumns
from neardup.fingerprints import Content, ContentBands, ContentSets, SiteContentBands, SiteContentSets
from neardup.text import Ideas

#: From the similarity of main texts to the probability that two pages have the same content, as ``tools/same_site.py``
#: fits it to pages of many services; how well it holds is in ``docs/same-site.md``.
CALIBRATION: Final = Logistic(middle=0.925, steepness=60.0)


@register
@dataclass(frozen=True)
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
        _ = self.plan

    @cached_property
    def least(self) -> float:
        """The similarity that has the probability."""
        return CALIBRATION.similarity(self.probability)

    @cached_property
    def plan(self) -> Plan:
        """The bands in use and what they promise."""
        return plan(self.least, self.recall)

    def rules(self) -> tuple[Rule, ...]:
        content = Content(Ideas(self.structure, self.noise, self.title, self.main))
        bands, rows = self.plan.bands, self.plan.rows
        if self.site:
            keys, sets = SiteContentBands(content, bands, rows), SiteContentSets(content)
            return (Rule(self.name, SingleColumns(keys), ExactJaccard(sets, self.least), calibration=CALIBRATION),)
        alone, own = ContentBands(content, bands, rows), ContentSets(content)
        return (Rule(self.name, SingleColumns(alone), ExactJaccard(own, self.least), calibration=CALIBRATION),)

    def acceptance(self, similarity: float) -> float | None:
        if similarity < self.least:
            return 0.0
        return band_probability(similarity, self.plan.bands, self.plan.rows)

    def as_used(self) -> tuple[str, str, str]:
        return ("5", f"{self.plan.bands} bands", f"probability ≥ {self.probability:g}")
