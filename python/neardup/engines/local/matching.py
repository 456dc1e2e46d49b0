"""The second stage: fingerprints → identity sets and units → accepted pairs of the units' first members."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup import _native
from neardup.engines.common.accepted import RuleCounts
from neardup.engines.common.settings import ALWAYS_HELD, HELD_A_PAGE, POSSIBLE_A_PAGE, Settings
from neardup.engines.local.matches import Matches
from neardup.engines.local.reading import Sets
from neardup.graph import keep_order, set_numbers, set_order, site_units
from neardup.methods import AnyFingerprint, Detector, FixedWidth, Rule
from neardup.methods.projections import Projection
from neardup.methods.rules import (
    AgreeingBits,
    AgreeingColumns,
    AgreeingLanes,
    ColumnGroups,
    ExactJaccard,
    Keys,
    OfSets,
    Pieces,
    RarestChunks,
    SharedOfLarger,
    confirming,
    evidence,
)
from neardup.methods.shingles import Supershingles
from neardup.record import record

Rows = npt.NDArray[np.uint32]

#: Buckets are joined exhaustively, the small ones first, until so many pairs are accepted, or have been possible:
#: beyond, those that are left are hot as well. Collections of any size have this much; ``Settings.max_pairs`` and
#: ``POSSIBLE_A_PAGE`` give more to larger ones.
_POSSIBLE: Final = 1 << 26
#: Buckets that are joined whatever the limits say.
FEW: Final = 16
#: Memory for a pair on its way from the join to the table.
_BYTES_A_PAIR: Final = 256


@record(frozen=True, slots=True)
class SetSites:
    """The sites of each unit, all its members' together; a unit that is not an identity set is on one."""

    offsets: npt.NDArray[np.uint64]
    values: npt.NDArray[np.uint32]
    #: The same number for units with the same tokens, where a unit is not an identity set: these are no pairs.
    texts: npt.NDArray[np.uint32] | None = None


class Matched(Protocol):
    """What matching asks of a collection."""

    def column(self, name: str) -> pa.ChunkedArray: ...

    @property
    def identity(self) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]: ...

    def fingerprint(self, kind: AnyFingerprint, rows: Rows) -> FixedWidth: ...

    def sets(self, kind: AnyFingerprint, in_memory: bool = False) -> Sets: ...

    @property
    def links(self) -> npt.NDArray[np.int64] | None: ...


def match(collection: Matched, detector: Detector, settings: Settings, earlier: int = 0) -> Matches:
    """Finds the pairs the detector accepts. The first pages may be ``earlier`` ones, which come before all others in
    keep order; pairs among themselves are not asked for."""
    tokens = collection.column("tokens").to_numpy()
    identity = _native.identity_sets(*collection.identity, tokens == 0)
    unit = units_of(collection, identity, detector)
    first, member_of = set_numbers(unit)
    rules = detector.rules()
    with ThreadPoolExecutor(1, thread_name_prefix="neardup-rows") as beside:
        # One row a unit, put together once however many rules ask for it.
        rows = {kind: beside.submit(collection.fingerprint, kind, first) for kind in fixed_width(rules)}
        texts = member_of[identity[first]] if detector.looks_at_sites else None
        sites = _sites(collection.column("site"), member_of, first, texts)
        active = tokens[first] >= settings.reading.min_tokens
        order = keep_order(
            settings.keep,
            tokens=tokens,
            urls=collection.column("url"),
            dates=collection.column("date"),
            links=collection.links,
        )
        # Earlier pages stay whatever the policy.
        order = np.concatenate([order[order < earlier], order[order >= earlier]])
        fingerprints = {kind: made.result() for kind, made in rows.items()}
    found = _native.match_rules(
        [_arrays(rule, collection, fingerprints) for rule in rules],
        active,
        set_order(order, unit),
        hot=settings.hot_beyond(len(identity)),
        most_accepted=most_accepted(len(identity), settings),
        most_possible=most_possible(len(identity), settings),
        units=sites,
        rows=first,
        threads=settings.workers,
    )
    # Sets and their parities were most of what there was.
    pa.default_memory_pool().release_unused()
    # They are fields of rows.
    columns = [(np.ascontiguousarray(a), np.ascontiguousarray(b), np.ascontiguousarray(s)) for a, b, s, *_ in found]
    a, b, score, which = _native.united(columns)
    if earlier:
        asked = first[b] >= earlier
        a, b, score, which = a[asked], b[asked], score[asked], which[asked]
    jaccard = score if all(isinstance(rule.verify, ExactJaccard) for rule in rules) else None
    score = scores_of(rules, which, score)
    return Matches(
        order=order,
        identity=identity,
        unit=unit,
        a=first[a],
        b=first[b],
        score=score,
        same_site=same_site_of(sites, a, b),
        b_similarity=similarity(fingerprints, Supershingles, a, b),
        c_similarity=similarity(fingerprints, Projection, a, b),
        jaccard=jaccard,
        rule=which,
        rules=(
            counts := [
                RuleCounts(
                    rule.name,
                    *pairs[3:],
                    undecided=_undecided(rule, score[which == place]),
                    unrecorded=pairs[4] - len(pairs[0]),
                )
                for place, (rule, pairs) in enumerate(zip(rules, found, strict=True))
            ]
        ),
        crowded=_crowded(counts, len(identity)),
    )


def units_of(collection: Matched, identity: Rows, detector: Detector) -> Rows:
    """For each page the first page that counts as the same one to a detector."""
    return site_units(identity, site_numbers(collection.column("site"))) if detector.looks_at_sites else identity


def _crowded(rules: Sequence[RuleCounts], pages: int) -> npt.NDArray[np.bool_] | None:
    """Pages of which not all accepted pairs may be known, where rules left some out: any that could stand in a hot
    bucket."""
    return np.ones(pages, bool) if any(rule.unscored or rule.unrecorded for rule in rules) else None


def most_accepted(pages: int, settings: Settings) -> int:
    """Accepted pairs beyond which buckets are hot."""
    return max(ALWAYS_HELD, min(settings.most_held(pages), settings.memory_budget // _BYTES_A_PAIR))


def most_possible(pages: int, settings: Settings) -> int:
    """Possible pairs beyond which buckets are hot: more of them for who asks to hold more."""
    held = max(1, settings.max_pairs // HELD_A_PAGE)
    return min(max(_POSSIBLE, POSSIBLE_A_PAGE * pages) * held, 1 << 62)


def scores_of(
    rules: Sequence[Rule], which: npt.NDArray[np.int8], score: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """What rules measured, as probabilities where they say how."""
    for place, rule in enumerate(rules):
        if rule.calibration is not None:
            score = np.where(which == place, rule.calibration.of(score), score)
    return score


def _undecided(rule: Rule, score: npt.NDArray[np.float64]) -> int | None:
    return None if rule.calibration is None else int((score < rule.calibration.undecided[1]).sum())


@record(frozen=True, slots=True)
class RuleArrays:
    """A rule as the native module takes it."""

    #: There unless the sets give keys, their rarest members.
    keys: FixedWidth | None
    key_kind: str
    pieces: int
    predicate: str
    columns: FixedWidth | None
    bits: FixedWidth | None
    #: Sketches, bits of a lane, how many lanes, and how many of them must agree; beside ``bits`` they confirm these.
    lanes: tuple[FixedWidth, int, int, int] | None
    sets: Sets | None
    #: Sets are scored by what they share of the larger one.
    of_larger: bool
    least: float
    #: Keys that were made elsewhere, a list a page; and in place of sets their sizes and parities.
    key_lists: pa.LargeListArray | None = None
    glances: tuple[npt.NDArray[np.uint32], pa.LargeListArray] | None = None


def _arrays(rule: Rule, collection: Matched, fingerprints: dict[AnyFingerprint, FixedWidth]) -> RuleArrays:
    sets = None
    if isinstance(rule.verify, OfSets):
        sets = collection.sets(rule.verify.fingerprint, in_memory=isinstance(rule.keys, RarestChunks))
    return rule_arrays(rule, fingerprints, sets=sets)


def rule_arrays(
    rule: Rule,
    fingerprints: dict[AnyFingerprint, FixedWidth],
    *,
    sets: Sets | None = None,
    key_lists: pa.LargeListArray | None = None,
    glances: tuple[npt.NDArray[np.uint32], pa.LargeListArray] | None = None,
) -> RuleArrays:
    """A rule over fingerprints of fixed width, one row a page, and what else it is told."""
    keys, verify = rule.keys, rule.verify
    asked = verify if isinstance(verify, AgreeingLanes) else confirming(verify)
    lanes = None
    if asked is not None:
        lanes = (fingerprints[asked.fingerprint], asked.fingerprint.bits, asked.fingerprint.m, asked.least)
    return RuleArrays(
        keys=None if isinstance(keys, RarestChunks) else _keys(keys, fingerprints[keys.fingerprint]),
        key_kind=keys.kind,
        pieces=keys.pieces if isinstance(keys, Pieces) else 0,
        predicate=rule.predicate,
        columns=fingerprints[verify.fingerprint] if isinstance(verify, AgreeingColumns) else None,
        bits=fingerprints[verify.fingerprint] if isinstance(verify, AgreeingBits) else None,
        lanes=lanes,
        sets=sets,
        of_larger=isinstance(verify, SharedOfLarger),
        least=verify.least,
        key_lists=key_lists,
        glances=glances,
    )


def fixed_width(rules: Sequence[Rule]) -> list[AnyFingerprint]:
    """The fingerprints of rules that are rows of numbers, each once."""
    kinds: dict[AnyFingerprint, None] = {}
    for rule in rules:
        if not isinstance(rule.keys, RarestChunks):
            kinds[rule.keys.fingerprint] = None
        if not isinstance(rule.verify, OfSets):
            kinds.update(dict.fromkeys(evidence(rule.verify)))
    return list(kinds)


def _keys(keys: Keys, values: FixedWidth) -> FixedWidth:
    """What keys are made of; groups of columns are hashed here, the others as they are looked at."""
    return keys.of(values) if isinstance(keys, ColumnGroups) else values


def _sites(site: pa.ChunkedArray, member_of: Rows, first: Rows, texts: Rows | None) -> SetSites:
    if site.null_count == len(site):
        return SetSites(np.arange(len(first) + 1, dtype=np.uint64), np.zeros(len(first), np.uint32), texts)
    # 0 is "unknown", so known sites are numbered from 1.
    told = member_of.astype(np.uint64) << np.uint64(32) | (site_numbers(site) + 1).astype(np.uint64)
    # First members come in the order of their sets, so all but the few others need no sorting.
    others = np.ones(len(told), bool)
    others[first] = False
    ordered = np.concatenate([told[first], np.sort(told[others])])
    ordered.sort(kind="stable")
    distinct = ordered[np.insert(ordered[1:] != ordered[:-1], 0, True)]
    sizes = np.bincount((distinct >> np.uint64(32)).astype(np.int64), minlength=len(first))
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.uint64)
    return SetSites(offsets, (distinct & np.uint64(0xFFFFFFFF)).astype(np.uint32), texts)


def site_numbers(site: pa.ChunkedArray) -> npt.NDArray[np.int64]:
    """A number for each page's site, −1 where it has none.

    >>> site_numbers(pa.chunked_array([["a.example", None, "a.example"]])).tolist()
    [0, -1, 0]
    """
    encoded = site.combine_chunks().dictionary_encode()
    return np.asarray(encoded.indices.fill_null(-1), dtype=np.int64)


def same_site_of(sites: SetSites, a: Rows, b: Rows) -> npt.NDArray[np.bool_]:
    """Whether two units share a known site; nearly all have one site, which needs no search."""
    if len(sites.values) == len(sites.offsets) - 1:
        only_a, only_b = sites.values[a], sites.values[b]
        one: npt.NDArray[np.bool_] = (only_a == only_b) & (only_a != 0)
        return one
    start_a, start_b = sites.offsets[a], sites.offsets[b]
    first_a, first_b = sites.values[start_a], sites.values[start_b]
    same: npt.NDArray[np.bool_] = (first_a == first_b) & (first_a != 0)
    several = np.flatnonzero((sites.offsets[a + 1] - start_a > 1) | (sites.offsets[b + 1] - start_b > 1))
    for pair in several.tolist():
        of_a = sites.values[int(start_a[pair]) : int(sites.offsets[a[pair] + 1])]
        of_b = sites.values[int(start_b[pair]) : int(sites.offsets[b[pair] + 1])]
        shared = np.intersect1d(of_a, of_b)
        same[pair] = bool((shared != 0).any())
    return same


def similarity(
    fingerprints: dict[AnyFingerprint, FixedWidth], kind: type[Supershingles | Projection], a: Rows, b: Rows
) -> npt.NDArray[np.uint32] | None:
    for fingerprint, values in fingerprints.items():
        if isinstance(fingerprint, kind):
            if isinstance(fingerprint, Projection):
                return _native.agreeing_bits(values, a, b)
            return _native.equal_columns(values, a, b)
    return None
