"""A detector as an index needs it: which fingerprints are held of a page, and its rules in terms of them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa

from neardup import _native
from neardup.engines.common.page_columns import Given, beyond_tokens
from neardup.methods import AnyFingerprint, ChunkSets, Detector, Fingerprint, Rule, Statistical
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
from neardup.sources.memory import texts

#: In place of a fingerprint: the hash of a page's tokens.
_TOKENS: Final = "tokens"

_Lanes = tuple[int, int, int, int]
_RuleParts = tuple[tuple[str, int, int], tuple[str, int, float, _Lanes | None], str]


@dataclass(frozen=True)
class Shape:
    """What is computed of every page, in the order in which the index holds it."""

    detector: Detector
    #: Rows of numbers, and sets.
    columns: tuple[Fingerprint, ...]
    sets: tuple[ChunkSets, ...]
    widths: tuple[int, ...]
    rules: tuple[_RuleParts, ...]

    @property
    def by_site(self) -> bool:
        """Whether what is computed of a page depends on its site, so that pages with the same tokens are one only on
        one site. Then identical pages of other sites are found as near ones are: the two halves of the hash of the
        tokens are the first column, and the first rule asks for both.
        """
        return self.detector.counts_blocks()

    @property
    def needs_text(self) -> bool:
        """Whether tokens alone are not enough."""
        return beyond_tokens((*self.columns, *self.sets))

    def compute(self, given: Given) -> tuple[list[np.ndarray], list[pa.LargeListArray]]:
        """All fingerprints of a batch."""
        rows = [np.ascontiguousarray(kind.compute(given.to(kind))) for kind in self.columns]
        if self.by_site:
            rows.insert(0, np.stack(_native.token_identities(given.tokens), axis=1))
        return rows, [kind.compute(given.to(kind)) for kind in self.sets]


def shape_of(detector: Detector, statistics: CollectionStatistics | None) -> Shape:
    """How an index holds the pages of a detector.

    >>> from neardup.methods import parse
    >>> shape_of(parse("combined"), None).widths
    (6, 6)
    """
    kinds = detector.fingerprints()
    as_sets = {rule.verify.fingerprint for rule in detector.rules() if _by_sets(rule)}
    columns = [kind for kind in kinds if kind not in as_sets]
    sets = [kind for kind in kinds if kind in as_sets]

    def given(kind: AnyFingerprint) -> Fingerprint | ChunkSets:
        if isinstance(kind, Statistical):
            assert statistics is not None, "an index of such a detector has statistics"
            return kind.given(statistics)
        return kind

    made = [given(kind) for kind in columns]
    nothing = Given(texts([""]).batches[0])
    widths = tuple(int(kind.compute(nothing.to(kind)).shape[1]) for kind in made)
    if not detector.counts_blocks():
        rules = tuple(_rule(rule, columns, sets) for rule in detector.rules())
    else:
        # See ``Shape.by_site``.
        widths = (2, *widths)
        behind = (_rule(rule, [_TOKENS, *columns], sets) for rule in detector.rules())
        rules = ((("columns", 0, 0), ("columns", 0, 2.0, None), "any"), *behind)
    return Shape(detector, tuple(made), tuple(given(kind) for kind in sets), widths, rules)  # type: ignore[arg-type]


def open_store(
    path: str, shape: Shape, *, most: int, sync: str, cache: int, buffers: int, most_matches: int | None = None
) -> _native.IndexStore:
    """The tables of an index of this shape."""
    return _native.IndexStore(
        path,
        list(shape.widths),
        len(shape.sets),
        list(shape.rules),
        most=most,
        most_matches=sys.maxsize if most_matches is None else most_matches,
        sync=sync,
        cache=cache,
        buffers=buffers,
    )


def _by_sets(rule: Rule) -> bool:
    return not isinstance(rule.verify, AgreeingColumns | AgreeingBits | AgreeingLanes)


def _rule(rule: Rule, columns: Sequence[object], sets: list[AnyFingerprint]) -> _RuleParts:
    keys, verify = rule.keys, rule.verify
    match keys:
        case RarestChunks():
            made = ("sets", sets.index(keys.fingerprint), 0)
        case SupershinglePairs():
            made = ("pairs", columns.index(keys.fingerprint), 0)
        case Pieces():
            made = ("pieces", columns.index(keys.fingerprint), keys.pieces)
        case ColumnGroups():
            made = ("groups", columns.index(keys.fingerprint), keys.groups)
        case _:
            made = ("columns", columns.index(keys.fingerprint), 0)
    among: Sequence[object] = columns
    match verify:
        case AgreeingColumns():
            kind = "columns"
        case AgreeingBits():
            kind = "bits"
        case AgreeingLanes():
            kind = "lanes"
        case SharedOfLarger():
            kind, among = "sets-of-larger", sets
        case _:
            kind, among = "sets", sets
    asked = verify if isinstance(verify, AgreeingLanes) else confirming(verify)
    lanes = None
    if asked is not None:
        lanes = (columns.index(asked.fingerprint), asked.fingerprint.bits, asked.fingerprint.m, asked.least)
    return made, (kind, among.index(verify.fingerprint), float(verify.least), lanes), rule.predicate
