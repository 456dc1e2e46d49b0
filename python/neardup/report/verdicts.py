"""What a detector says of two pages, rule by rule: which keys they share, how alike they are, how much was needed.

The same fingerprints as in a run, computed for the two pages alone. Detectors that select chunks by their frequency in
the collection need its statistics: the run's own where it has some, else they are not asked.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from neardup.methods import Detector
from neardup.methods.statistics import CollectionStatistics
from neardup.plan import Given, Plan, RuleFinding
from neardup.text import Reading

_FIRST, _SECOND = np.array([0], np.uint32), np.array([1], np.uint32)


@dataclass(frozen=True, slots=True)
class RuleVerdict:
    """One rule of a detector on the pair."""

    rule: str
    #: Whether the rule speaks of such pairs at all (same or different site).
    speaks: bool
    predicate: str
    #: What keys are, in words; how many the two share, of how many.
    keys: str
    shared_keys: int
    all_keys: int
    #: What is measured, in words; the value, the least that is accepted, and the greatest there can be.
    measure: str
    value: float
    needed: float
    most: float
    #: The Jaccard similarity of single terms as their sketch tells it, and the least that is accepted, where a rule
    #: asks for it as well.
    terms: float | None = None
    terms_needed: float = 0.0

    @property
    def margin(self) -> float:
        """How far above the threshold (0 is exactly at it; negative: below), in the measure's own unit."""
        return self.value - self.needed

    @property
    def accepted(self) -> bool:
        return self.speaks and self.shared_keys > 0 and self.margin >= 0 and self.confirmed

    @property
    def confirmed(self) -> bool:
        """Whether enough terms are shared, where that is asked."""
        return self.terms is None or self.terms >= self.terms_needed


@dataclass(frozen=True, slots=True)
class Verdict:
    """One detector on the pair; ``note`` says why where it was not asked rule by rule, ``compared`` whether it compares
    such pages at all."""

    detector: str
    accepted: bool
    rules: list[RuleVerdict]
    note: str | None = None
    compared: bool = True

    @property
    def word(self) -> str:
        """What the detector takes the two for."""
        if self.accepted:
            return "duplicates"
        return "different" if self.compared else "not compared"


def verdict_of(
    detector: Detector,
    pages: pa.RecordBatch,
    tokens: pa.LargeListArray,
    *,
    same_site: bool,
    identical: bool,
    reading: Reading = Reading(),
    statistics: CollectionStatistics | None = None,
    given: Given | None = None,
) -> Verdict | None:
    """What the detector says of the two pages of a batch; None where it needs statistics that are not at hand.
    Detectors share the fingerprints that were made of ``given``.

    >>> from neardup.methods import parse
    >>> from neardup.sources.memory import texts
    >>> from neardup.text import read
    >>> both = texts(["one two three four five six seven eight nine ten", "another page of nine words or so it is"])
    >>> told = verdict_of(parse("charikar"), both.batches[0], read(both.batches[0]).tokens, same_site=False,
    ...                   identical=False)
    >>> told.accepted, told.rules[0].measure, told.rules[0].margin < 0
    (False, 'bits that agree', True)
    """
    lengths = (len(tokens[0]), len(tokens[1]))
    if identical:
        return Verdict(str(detector), True, [], "the same tokens: one identity set, whatever the detector")
    if (why := reading.not_compared(*lengths)) is not None:
        return Verdict(str(detector), False, [], why, compared=False)
    if not set(detector.counted()) <= (statistics.chunks.keys() if statistics else set()):
        return None
    if not detector.rules():
        return Verdict(str(detector), False, [], "it joins pages with the same tokens, and no others")
    plan = Plan(detector, reading, statistics)
    values = plan.values(given or Given(pages, reading, tokens))
    found = plan.pair(values, _FIRST, _SECOND, np.array([same_site]))
    return Verdict(str(detector), bool(found.accepted[0]), [_rule_verdict(rule) for rule in found.rules])


def _rule_verdict(found: RuleFinding) -> RuleVerdict:
    arrays = found.arrays
    terms, terms_needed = found.terms(0) or (None, 0.0)
    number = int if found.counts else float
    return RuleVerdict(
        rule=found.rule.name,
        speaks=bool(arrays.applies[0]),
        predicate=found.rule.predicate,
        keys=found.keys,
        shared_keys=int(arrays.keys_shared[0]),
        all_keys=int(arrays.keys[0]),
        measure=found.measure,
        value=number(arrays.value[0]),
        needed=number(arrays.threshold),
        most=number(arrays.greatest),
        terms=terms,
        terms_needed=terms_needed,
    )


def distance(rule: RuleVerdict) -> str:
    """How far a rule is from its threshold, in words.

    >>> distance(RuleVerdict("c", True, "any", "pieces", 0, 12, "bits that agree", 360, 372, 384))
    '360 of 384 bits that agree, 12 too few'
    >>> distance(RuleVerdict("j", True, "any", "bands", 3, 9, "Jaccard similarity", 0.91, 0.8, 1.0))
    'Jaccard similarity 0.910, 0.110 above the 0.800 needed'
    """
    if rule.most == 1.0:
        return f"{rule.measure} {rule.value:.3f}, {_apart(rule.value, rule.needed)}"
    if rule.margin < 0:
        apart = f"{-rule.margin:g} too few"
    else:
        apart = f"{rule.margin:g} more than needed" if rule.margin else "just enough"
    words = f"{rule.value:g} of {rule.most:g} {rule.measure}, {apart}"
    if rule.terms is None:
        return words
    return f"{words}; similarity of terms {rule.terms:.3f}, {_apart(rule.terms, rule.terms_needed)}"


def _apart(value: float, needed: float) -> str:
    return f"{abs(value - needed):.3f} {'above' if value >= needed else 'below'} the {needed:.3f} needed"
