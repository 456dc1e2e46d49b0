"""What a detector says of given pairs: a score for each, and whether it accepts, without joining the collection.

A rule's score of a pair is what its verify step measures (share of supershingles or bits that agree, Jaccard
similarity) if the rule speaks of the two, else 0, whether or not a run would have met them; where a shared key is
evidence of its own, as the supershingles of the combined algorithm are, it must be there, and so must the terms that
confirm Alg. C's bits. A detector's score is the best of its rules. Pages with the same tokens score 1; pages too short
to be compared have no score with any other, which counts as 0. The decision is the one a run would make. Detectors with
rules of a kind that is not known here are run over the whole collection instead, and score what the run scored, 0 where
it accepted nothing. Cost: the fingerprints of the pages that are in pairs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from neardup import _native
from neardup.engines import Settings, run
from neardup.engines.common.accepted import AcceptedPairs
from neardup.engines.local.identity import unique_ids, units_of
from neardup.engines.local.reading import Collection
from neardup.errors import InputError, NeardupError
from neardup.evaluation.oracle import first_members, tokens_of
from neardup.methods import Detector, Rule
from neardup.methods.projections import Projection, TermSketch
from neardup.methods.rules import (
    AgreeingBits,
    AgreeingColumns,
    ExactJaccard,
    Pieces,
    SingleColumns,
    SupershinglePairs,
    confirming,
)
from neardup.methods.shingles import Bands, ShingleSet, Supershingles
from neardup.sources import Source

Rows = npt.NDArray[np.uint32]
Numbers = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
_KEYS: Final = (SingleColumns, SupershinglePairs, Pieces)
_VERIFIES: Final = (AgreeingBits, AgreeingColumns, ExactJaccard)
_FINGERPRINTS: Final = (Bands, Projection, ShingleSet, Supershingles, TermSketch)


@dataclass(frozen=True, slots=True)
class Scores:
    """For each pair a score from 0 to 1, and whether the detector accepts it."""

    score: Numbers
    accepted: Flags

    def select(self, flags: Flags) -> Scores:
        """Those of some of the pairs."""
        return Scores(self.score[flags], self.accepted[flags])


@dataclass(frozen=True)
class PagePairs:
    """Pairs of pages of a collection, and the tokens of the pages in them."""

    collection: Collection
    #: Reads the collection again, for detectors that are run over the whole of it.
    source: Callable[[], Source]
    settings: Settings
    #: Rows of the pages in pairs, ascending, their tokens, and each pair as two places in them.
    rows: npt.NDArray[np.int64]
    tokens: pa.LargeListArray
    a: Rows
    b: Rows

    @staticmethod
    def of(
        source: Callable[[], Source],
        pairs: Callable[[Collection], tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]],
        settings: Settings | None = None,
    ) -> PagePairs:
        """Reads a source, and takes the pairs (of rows) that are asked of it."""
        settings = settings or Settings()
        with source() as opened:
            collection = tokens_of(opened, settings)
        a, b = pairs(collection)
        rows = np.unique(np.concatenate([a, b]))
        parts, start = [], 0
        for tokens in collection.token_batches():
            low, high = np.searchsorted(rows, [start, start + len(tokens)])
            if high > low:
                parts.append(tokens.take(pa.array(rows[low:high] - start)))
            start += len(tokens)
        places = (np.searchsorted(rows, side).astype(np.uint32) for side in (a, b))
        return PagePairs(collection, source, settings, rows, pa.concat_arrays(parts), *places)

    def same_site(self) -> Flags:
        """Whether the two pages of each pair are on the same known site."""
        encoded = self.collection.column("site").combine_chunks().dictionary_encode()
        site = np.asarray(encoded.indices.fill_null(-1), np.int64)[self.rows]
        same: Flags = (site[self.a] == site[self.b]) & (site[self.a] >= 0)
        return same

    def identical(self) -> Flags:
        """Whether they have the same tokens, and have some."""
        first = first_members(self.collection)[self.rows]
        same: Flags = (first[self.a] == first[self.b]) & (self.lengths[self.a] > 0)
        return same

    @cached_property
    def lengths(self) -> npt.NDArray[np.int64]:
        """How many tokens the pages in pairs have."""
        return np.asarray(pc.list_value_length(self.tokens), np.int64)

    @cached_property
    def compared(self) -> Flags:
        """Whether the two pages of each pair are compared at all, or identical."""
        enough = self.lengths >= self.settings.reading.min_tokens
        flags: Flags = (enough[self.a] & enough[self.b]) | self.identical()
        return flags

    def not_compared(self) -> list[str | None]:
        """Why not, for each pair of which they are not."""
        reading, lengths = self.settings.reading, self.lengths
        ends = zip(lengths[self.a].tolist(), lengths[self.b].tolist(), self.compared.tolist(), strict=True)
        return [None if compared else reading.not_compared(a, b) for a, b, compared in ends]

    def jaccard(self, k: int = 5, rabin: bool = False) -> Numbers:
        """Their Jaccard similarity over shingles of ``k`` tokens."""
        return _native.jaccard(ShingleSet(k, rabin).compute(self.tokens), self.a, self.b)

    def b_similarity(self) -> npt.NDArray[np.int64]:
        """How many of Alg. B's supershingles agree; 0 of pages that are not compared."""
        agree = _native.equal_columns(Supershingles().compute(self.tokens), self.a, self.b).astype(np.int64)
        return np.where(self.compared, agree, 0)

    def c_similarity(self) -> npt.NDArray[np.int64]:
        """How many of Alg. C's bits agree; 0 of pages that are not compared."""
        agree = _native.agreeing_bits(Projection().compute(self.tokens), self.a, self.b).astype(np.int64)
        return np.where(self.compared, agree, 0)

    def term_difference(self) -> npt.NDArray[np.int64]:
        """Tokens without a counterpart, both ways."""
        return _native.term_difference(self.tokens, self.a, self.b).astype(np.int64)

    def score(self, detector: Detector) -> Scores:
        """What the detector says of each pair.

        >>> from neardup.methods import parse
        >>> from neardup.sources.memory import texts
        >>> text = "one two three four five six seven eight nine ten eleven twelve "
        >>> pages = texts([text * 3, text * 3 + "end", "something else of at least eight tokens or more"])
        >>> asked = PagePairs.of(lambda: pages, lambda _: (np.array([0, 0]), np.array([1, 2])))
        >>> asked.score(parse("minhash")).accepted.tolist()
        [True, False]
        """
        if not all(is_known(rule) for rule in detector.rules()):
            return self._by_a_run(detector)
        both, same = self.compared, self.same_site()
        score, accepted = np.zeros(len(self.a)), np.zeros(len(self.a), bool)
        for rule in detector.rules():
            speaks = both if rule.predicate == "any" else both & (same == (rule.predicate == "same-site"))
            found: Any = rule.keys  # of a known kind
            keys = found.of(found.fingerprint.compute(self.tokens))
            met = speaks & (_native.equal_columns(keys, self.a, self.b) > 0)
            measured, least = self._verify(rule)
            confirmed = self._confirmed(rule)
            counts = met if _key_is_evidence(rule) else speaks
            score = np.maximum(score, np.where(counts & confirmed, measured, 0.0))
            accepted |= met & confirmed & (measured >= least)
        identical = self.identical()
        return Scores(np.where(identical, 1.0, score), accepted | identical)

    def _verify(self, rule: Rule) -> tuple[Numbers, float]:
        """What the rule measures of each pair, and from where on it accepts."""
        verify: Any = rule.verify
        kind: Any = verify.fingerprint  # of a known kind
        if isinstance(verify, ExactJaccard):
            sets = kind.compute(self.tokens)
            return _native.jaccard(sets, self.a, self.b), verify.least
        values = verify.fingerprint.compute(self.tokens)
        if isinstance(verify, AgreeingBits):
            bits = verify.fingerprint.bits
            return _native.agreeing_bits(values, self.a, self.b) / bits, verify.least / bits
        width = verify.fingerprint.width
        return _native.equal_columns(values, self.a, self.b) / width, verify.least / width

    def _confirmed(self, rule: Rule) -> Flags:
        """Whether each pair shows what is asked beside what is measured."""
        asked = confirming(rule.verify)
        if asked is None:
            return np.ones(len(self.a), bool)
        agreeing = _native.agreeing_bits(asked.fingerprint.compute(self.tokens), self.a, self.b)
        found: Flags = agreeing >= asked.least
        return found

    def _by_a_run(self, detector: Detector) -> Scores:
        with self.source() as source:
            outcome = run(source, detector, self.settings.every_pair())
        check_all_pairs(outcome.report, detector)
        count = self.collection.count
        first = units_of(self.collection, first_members(self.collection), detector).astype(np.int64)[self.rows]
        low, high = np.minimum(first[self.a], first[self.b]), np.maximum(first[self.a], first[self.b])
        found = outcome.pairs.column("row_a").to_numpy().astype(np.int64) * count
        found += outcome.pairs.column("row_b").to_numpy().astype(np.int64)
        place = np.minimum(np.searchsorted(found, low * count + high), max(len(found) - 1, 0))
        accepted = found[place] == low * count + high if len(found) else np.zeros(len(low), bool)
        scores = outcome.pairs.column("score").to_numpy()
        score = np.where(accepted, scores[place], 0.0) if len(found) else np.zeros(len(low))
        identical = self.identical()
        return Scores(np.where(identical, 1.0, score), accepted | identical)


def check_all_pairs(report: dict[str, Any], detector: Detector) -> None:
    """Whether a run that was to hold every pair does; of single pairs it could not tell otherwise."""
    if not AcceptedPairs.of_report(report).complete:
        raise NeardupError(
            f"{detector} accepts more pairs than can be held", hint="use fewer pages, or a machine with more memory"
        )


def _key_is_evidence(rule: Rule) -> bool:
    """Whether a shared key says something of its own (combined: two supershingles), or only finds candidates."""
    return not isinstance(rule.verify, ExactJaccard) and rule.verify.fingerprint != rule.keys.fingerprint


def is_known(rule: Rule) -> bool:
    """Whether the rule's keys, test and fingerprints are of kinds that come from tokens alone and are compared here."""
    known = isinstance(rule.keys, _KEYS) and isinstance(rule.verify, _VERIFIES)
    return known and all(isinstance(fingerprint, _FINGERPRINTS) for fingerprint in rule.fingerprints())


def rows_of(collection: Collection, names: list[str], where: str) -> npt.NDArray[np.int64]:
    """The rows of pages named by id, or else by URL."""
    ids, _ = unique_ids(collection.columns(["id", "source", "record"]))
    wanted = pa.array(names, pa.string())
    place = pc.index_in(wanted, value_set=ids)
    if place.null_count:
        urls = collection.column("url").combine_chunks()
        place = pc.coalesce(place, pc.index_in(wanted, value_set=urls, skip_nulls=True))
    if place.null_count:
        missing = names[int(np.flatnonzero(np.asarray(place.is_null()))[0])]
        raise InputError(f"no page has the id or URL {missing!r}", where=where, hint="are these the right pages?")
    return np.asarray(place, np.int64)
