"""What a detector says of two pages, rule by rule: which keys they share, how alike they are, how much was needed.

The same fingerprints as in a run, computed for the two pages alone. Detectors that select chunks by their frequency in
the collection need its statistics: the run's own where it has some, else they are not asked.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup import _native
from neardup.engines.common.page_columns import Given
from neardup.methods import AnyFingerprint, Detector, Rule, Statistical
from neardup.methods.projections import TermSketch
from neardup.methods.rules import (
    AgreeingBits,
    AgreeingColumns,
    AgreeingLanes,
    ColumnGroups,
    Pieces,
    RarestChunks,
    SharedOfLarger,
    SupershinglePairs,
    confirming,
)
from neardup.methods.statistics import CollectionStatistics
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
) -> Verdict | None:
    """What the detector says of the two pages of a batch; None where it needs statistics that are not at hand.

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
    values: dict[AnyFingerprint, Any] = {}
    given = Given(pages, reading, tokens)
    for kind in detector.fingerprints():
        made = kind.given(statistics) if isinstance(kind, Statistical) and statistics is not None else kind
        values[kind] = made.compute(given.to(kind))  # type: ignore[union-attr]
    rules = [_rule_verdict(rule, values, same_site) for rule in detector.rules()]
    return Verdict(str(detector), any(rule.accepted for rule in rules), rules)


def _rule_verdict(rule: Rule, values: dict[AnyFingerprint, Any], same_site: bool) -> RuleVerdict:
    words, shared, keys = _keys(rule, values[rule.keys.fingerprint])
    measure, value, most = _measure(rule, values[rule.verify.fingerprint])
    terms, terms_needed = _terms(rule, values)
    return RuleVerdict(
        rule=rule.name,
        speaks=rule.predicate == "any" or (rule.predicate == "same-site") == same_site,
        predicate=rule.predicate,
        keys=words,
        shared_keys=shared,
        all_keys=keys,
        measure=measure,
        value=value,
        needed=rule.verify.least,
        most=most,
        terms=terms,
        terms_needed=terms_needed,
    )


def _terms(rule: Rule, values: dict[AnyFingerprint, Any]) -> tuple[float | None, float]:
    asked = confirming(rule.verify)
    if asked is None or not isinstance(asked.fingerprint, TermSketch):
        return None, 0.0
    agreeing = int(_native.agreeing_bits(values[asked.fingerprint], _FIRST, _SECOND)[0])
    return asked.fingerprint.similarity(agreeing), asked.fingerprint.similarity(asked.least)


def _keys(rule: Rule, values: Any) -> tuple[str, int, int]:
    keys = rule.keys
    if isinstance(keys, RarestChunks):
        # Any pair that is alike enough shares one of its rarest chunks: to share a chunk is what can be told here.
        shared, union = _sets(values)
        return "chunks (the rarest are keys)", shared, union
    numbers: npt.NDArray[np.uint64] = keys.of(values)
    if isinstance(keys, SupershinglePairs):
        words = "pairs of supershingles"
    elif isinstance(keys, Pieces):
        words = f"pieces of {values.shape[1] * 64 // keys.pieces} bits"
    elif isinstance(keys, ColumnGroups):
        words = "groups of numbers"
    else:
        words = "numbers"
    return words, int((numbers[0] == numbers[1]).sum()), numbers.shape[1]


def _measure(rule: Rule, values: Any) -> tuple[str, float, float]:
    verify = rule.verify
    if isinstance(verify, AgreeingBits):
        return "bits that agree", int(_native.agreeing_bits(values, _FIRST, _SECOND)[0]), verify.fingerprint.bits
    if isinstance(verify, AgreeingColumns):
        words = "supershingles that agree" if hasattr(verify.fingerprint, "groups") else "numbers that agree"
        return words, int(_native.equal_columns(values, _FIRST, _SECOND)[0]), values.shape[1]
    if isinstance(verify, AgreeingLanes):
        bits, lanes = verify.fingerprint.bits, verify.fingerprint.m
        apart = np.unpackbits((values[0] ^ values[1]).view(np.uint8), bitorder="little")[: lanes * bits]
        return "lanes that agree", int((~apart.reshape(lanes, bits).astype(bool).any(axis=1)).sum()), lanes
    shared, union = _sets(values)
    if isinstance(verify, SharedOfLarger):
        larger = max(len(values[0]), len(values[1]))
        return "share of the larger page's paragraphs", shared / larger if larger else 0.0, 1.0
    words = "Jaccard similarity of shingles" if type(verify).__name__ == "ExactJaccard" else "ratio of shared chunks"
    return words, shared / union if union else 0.0, 1.0


def _sets(values: pa.LargeListArray) -> tuple[int, int]:
    a, b = (np.unique(values[at].values.to_numpy()) for at in (0, 1))
    shared = len(np.intersect1d(a, b, assume_unique=True))
    return shared, len(a) + len(b) - shared


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
