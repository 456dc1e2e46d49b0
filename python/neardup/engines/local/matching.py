"""The second stage: fingerprints → identity sets and units → accepted pairs of the units' first members."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup import _native
from neardup.engines.common.accepted import RuleCounts
from neardup.engines.common.matching import (
    Rows,
    Sets,
    same_site_of,
    scores_of,
    similarity,
)
from neardup.engines.common.settings import Settings
from neardup.engines.local.identity import unit_sites, units_of
from neardup.engines.local.matches import Matches
from neardup.graph import keep_order, set_numbers, set_order
from neardup.methods import AnyFingerprint, Detector, FixedWidth, Rule
from neardup.methods.projections import Projection
from neardup.methods.shingles import Supershingles
from neardup.plan import PageArrays, Plan


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
    unit = units_of(collection.column("site"), identity, detector)
    first, member_of = set_numbers(unit)
    plan = Plan(detector, settings.reading)
    rules = plan.rules
    with ThreadPoolExecutor(1, thread_name_prefix="neardup-rows") as beside:
        # One row a unit, put together once however many rules ask for it.
        rows = {kind: beside.submit(collection.fingerprint, kind, first) for kind in plan.fixed_width}
        texts = member_of[identity[first]] if detector.looks_at_sites else None
        sites = unit_sites(collection.column("site"), member_of, first, texts)
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
    in_memory = {plan.set_kind(at) for at in range(len(rules)) if plan.by_rarity(at)}
    found = _native.match_rules(
        plan.native,
        PageArrays(
            [fingerprints[kind] for kind in plan.columns],
            [collection.sets(kind, in_memory=kind in in_memory) for kind in plan.sets],
            active=active,
            units=sites,
            rows=first,
        ),
        set_order(order, unit),
        hot=settings.hot_beyond(len(identity)),
        most_accepted=settings.most_accepted(len(identity)),
        most_possible=settings.most_possible(len(identity)),
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
    jaccard = score if plan.scores_are_jaccard else None
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


def _crowded(rules: Sequence[RuleCounts], pages: int) -> npt.NDArray[np.bool_] | None:
    """Pages of which not all accepted pairs may be known, where rules left some out: any that could stand in a hot
    bucket."""
    return np.ones(pages, bool) if any(rule.unscored or rule.unrecorded for rule in rules) else None


def _undecided(rule: Rule, score: npt.NDArray[np.float64]) -> int | None:
    return None if rule.calibration is None else int((score < rule.calibration.undecided[1]).sum())
