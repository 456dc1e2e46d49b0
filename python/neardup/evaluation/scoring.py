"""What a detector says of given pairs: a score for each, and whether it accepts, without joining the collection.

A rule's score of a pair is what its verify step measures (share of supershingles or bits that agree, Jaccard
similarity) if the rule speaks of the two, else 0, whether or not a run would have met them; where a shared key is
evidence of its own, as the supershingles of the combined algorithm are, it must be there, and so must the terms that
confirm Alg. C's bits. A detector's score is the best of its rules. Pages with the same tokens score 1; pages too short
to be compared have no score with any other, which counts as 0. The decision is the one a run would make. Cost: the
fingerprints of the pages that are in pairs, each made once for all detectors; for a detector that looks beyond tokens
the collection is read once more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from neardup import _native
from neardup.engines import Settings, Silent
from neardup.engines.common.accepted import AcceptedPairs
from neardup.engines.common.page_columns import at_once
from neardup.engines.common.statistics import frozen
from neardup.engines.local.identity import unique_ids, units_of
from neardup.engines.local.reading import Collection, collect
from neardup.engines.local.statistics import prepare
from neardup.engines.local.store import loaded
from neardup.errors import InputError, NeardupError
from neardup.evaluation.oracle import first_members, tokens_of
from neardup.methods import AnyFingerprint, Detector
from neardup.methods.projections import Projection
from neardup.methods.shingles import ShingleSet, Supershingles
from neardup.plan import Given, Plan, beyond_tokens
from neardup.sources import Source

Rows = npt.NDArray[np.uint32]
Numbers = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


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
        return _native.jaccard(self._given.value(ShingleSet(k, rabin)), self.a, self.b)

    def b_similarity(self) -> npt.NDArray[np.int64]:
        """How many of Alg. B's supershingles agree; 0 of pages that are not compared."""
        agree = _native.equal_columns(self._given.value(Supershingles()), self.a, self.b).astype(np.int64)
        return np.where(self.compared, agree, 0)

    def c_similarity(self) -> npt.NDArray[np.int64]:
        """How many of Alg. C's bits agree; 0 of pages that are not compared."""
        agree = _native.agreeing_bits(self._given.value(Projection()), self.a, self.b).astype(np.int64)
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
        plan = Plan(detector, self.settings.reading)
        found = plan.pair(self._values(plan), self.a, self.b, self.same_site())
        identical = self.identical()
        score = np.where(self.compared, found.score, 0.0)
        return Scores(np.where(identical, 1.0, score), found.accepted & self.compared | identical)

    def _values(self, plan: Plan) -> dict[AnyFingerprint, Any]:
        """All that the detector computes of the pages in pairs."""
        if not plan.rules:
            return {}
        by_collection = plan.beyond_tokens or bool(plan.detector.counted())
        if not by_collection:
            return {kind: self._given.value(kind) for kind in plan.kinds}
        collection, settings = self.collection, self.settings
        if plan.beyond_tokens:
            with self.source() as source:
                collection = collect(source, plan.detector, settings, Silent())
        prepare(collection, plan.detector, settings, frozen(settings, plan.detector))
        # Pages with the same tokens are one to a run, which looks at the first of them alone.
        first = units_of(collection.column("site"), first_members(collection), plan.detector)[self.rows]
        rows, place = np.unique(first, return_inverse=True)
        values: dict[AnyFingerprint, Any] = {}
        for kind in plan.kinds:
            if at_once([kind]) and not beyond_tokens([kind]):
                values[kind] = self._given.value(kind)
            elif kind in plan.sets:
                values[kind] = _taken(loaded(collection.sets(kind).sets), first)
            else:
                values[kind] = collection.fingerprint(kind, rows.astype(np.uint32))[place]
        return values

    @cached_property
    def _given(self) -> Given:
        """The pages by their tokens alone, with the fingerprints that were made of them."""
        return Given(None, self.settings.reading, self.tokens)


def _taken(batches: Iterable[pa.LargeListArray], rows: npt.NDArray[Any]) -> pa.LargeListArray:
    """The lists of some pages, given by their rows in any order, of lists that come in batches over all."""
    wanted, place = np.unique(rows, return_inverse=True)
    parts, start = [], 0
    for batch in batches:
        low, high = np.searchsorted(wanted, [start, start + len(batch)])
        parts.append(batch.take(pa.array(wanted[low:high] - start)))
        start += len(batch)
    return pa.concat_arrays(parts).take(pa.array(place))


def check_all_pairs(report: dict[str, Any], detector: Detector) -> None:
    """Whether a run that was to hold every pair does; of single pairs it could not tell otherwise."""
    if not AcceptedPairs.of_report(report).complete:
        raise NeardupError(
            f"{detector} accepts more pairs than can be held", hint="use fewer pages, or a machine with more memory"
        )


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
