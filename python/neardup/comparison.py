"""How alike two pages are: every similarity the detectors use, exactly, and what each detector decides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from neardup import _native
from neardup.engines import Settings, Silent
from neardup.engines.common.statistics import check, suits
from neardup.engines.local.reading import collect
from neardup.engines.local.statistics import count
from neardup.methods import Detector, parse
from neardup.methods.default import compared_detectors
from neardup.methods.projections import Projection
from neardup.methods.shingles import ShingleSet, Supershingles
from neardup.methods.statistics import CollectionStatistics
from neardup.page import PAGES
from neardup.plan import Given, Plan
from neardup.sources.memory import Memory, texts
from neardup.text import read

#: Shingle lengths at which Jaccard similarity is told.
LENGTHS = (1, 2, 3, 5, 8)
#: Tokens of one page times tokens of the other up to which their term difference is counted: some seconds.
_MOST_CELLS = 1 << 37


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two pages side by side. Similarities of fingerprints are None where the two are not compared, and containment
    where a page has no tokens."""

    tokens: tuple[int, int]
    titles: tuple[str | None, str | None]
    sites: tuple[str | None, str | None]
    same_site: bool
    identical: bool
    #: Of 6 supershingles, how many agree.
    b_similarity: int | None
    #: Of 384 projection bits, how many agree.
    c_similarity: int | None
    #: Jaccard similarity of the sets of k-token shingles, by k.
    jaccard: dict[int, float]
    #: Share of each page's 5-token shingles that the other has too.
    containment: tuple[float, float] | None
    #: Tokens without a counterpart, both ways; a replaced token counts 2. None where both pages are so long that
    #: counting would take minutes.
    term_difference: int | None
    #: By detector: whether it takes the two for duplicates.
    decisions: dict[str, bool]
    #: Why the two are not compared, where they are not: identical pages are identical all the same.
    not_compared: str | None = None
    #: The detectors that had no statistics of a collection, though they count some: of these two pages alone they learn
    #: little.
    alone: tuple[str, ...] = ()


def compare(
    a: str | Mapping[str, Any],
    b: str | Mapping[str, Any],
    *,
    settings: Settings | None = None,
    judges: Sequence[str | Detector] | None = None,
) -> Comparison:
    """Compares two pages, given as text or as mappings with ``html`` or ``text`` and optionally ``url``.

    >>> first = "one two three four five six seven eight nine ten"
    >>> found = compare(first, first.replace("ten", "eleven"))
    >>> found.term_difference, found.identical, found.decisions["exact"], round(found.jaccard[1], 2)
    (2, False, False, 0.82)
    """
    return compare_batch(texts([a, b]).batches[0], settings=settings, judges=judges)


def compare_batch(
    pages: pa.RecordBatch,
    *,
    settings: Settings | None = None,
    judges: Sequence[str | Detector] | None = None,
) -> Comparison:
    """Compares the two pages of a batch (schema ``neardup.page.PAGES``). Detectors that need statistics of a collection
    have those that the settings name; the usual ones, where these are not such as they need, those of the two pages."""
    if pages.num_rows != 2 or pages.schema != PAGES:
        raise ValueError("expected a batch of two pages")
    settings = settings or Settings()
    found = read(pages, settings.reading)
    first, second = np.array([0], np.uint32), np.array([1], np.uint32)
    tokens = found.tokens
    lengths = (len(tokens[0]), len(tokens[1]))
    both = min(lengths) > 0
    titles, sites = found.title.to_pylist(), found.site.to_pylist()
    chosen = [parse(judge) for judge in judges or compared_detectors()]
    identical = both and bool(
        found.identity_high[0] == found.identity_high[1] and found.identity_low[0] == found.identity_low[1]
    )
    why = None if identical else settings.reading.not_compared(*lengths)
    frozen = CollectionStatistics.load(settings.statistics) if settings.statistics else None
    given = Given(pages, settings.reading, tokens)
    same_site = sites[0] is not None and sites[0] == sites[1]
    alone = tuple(
        str(judge)
        for judge in chosen
        if judge.counted() and (frozen is None or (not judges and not suits(frozen, judge, settings.reading)))
    )
    for judge in chosen:
        if frozen is not None and str(judge) not in alone:
            check(frozen, judge, settings.reading, settings.statistics)
    return Comparison(
        tokens=lengths,
        titles=(titles[0], titles[1]),
        sites=(sites[0], sites[1]),
        same_site=same_site,
        identical=identical,
        b_similarity=(
            int(_native.equal_columns(given.value(Supershingles()), first, second)[0]) if why is None else None
        ),
        c_similarity=(int(_native.agreeing_bits(given.value(Projection()), first, second)[0]) if why is None else None),
        jaccard={k: float(_native.jaccard(given.value(ShingleSet(k)), first, second)[0]) for k in LENGTHS},
        containment=_containment(given.value(ShingleSet(5))) if both else None,
        term_difference=(
            int(_native.term_difference(tokens, first, second)[0]) if lengths[0] * lengths[1] <= _MOST_CELLS else None
        ),
        decisions={
            str(judge): identical
            or (why is None and _accepts(judge, given, same_site, settings, None if str(judge) in alone else frozen))
            for judge in chosen
        },
        not_compared=why,
        alone=alone,
    )


def _containment(sets: pa.LargeListArray) -> tuple[float, float]:
    a, b = sets[0].values.to_numpy(), sets[1].values.to_numpy()
    shared = len(np.intersect1d(a, b))
    return shared / len(a), shared / len(b)


def _accepts(
    judge: Detector, given: Given, same_site: bool, settings: Settings, frozen: CollectionStatistics | None
) -> bool:
    """What a run over just these two pages decides, by the statistics that are frozen or those of the two."""
    statistics = frozen
    if judge.counted() and frozen is None:
        alone = replace(settings, statistics=None)
        with Memory([given.pages]) as source:
            statistics = count(collect(source, judge, alone, Silent()), judge, alone)
    plan = Plan(judge, settings.reading, statistics)
    one, other = np.array([0], np.uint32), np.array([1], np.uint32)
    return bool(plan.pair(plan.values(given), one, other, np.array([same_site])).accepted[0])
