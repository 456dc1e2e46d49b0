"""The second stage: fingerprints → identity sets and units → accepted pairs of the units' first members."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, fields
from typing import Any, Final, Protocol

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
from neardup.errors import FormatError
from neardup.graph import keep_order, set_numbers, set_order
from neardup.methods import AnyFingerprint, Detector, FixedWidth, Rule
from neardup.methods.container import read_arrays, write_arrays
from neardup.methods.projections import Projection
from neardup.methods.shingles import Supershingles
from neardup.plan import Limits, PageArrays, Plan
from neardup.record import record

KIND: Final = "matches"


@record(frozen=True, slots=True)
class Matches:
    """Identity sets, units, and the accepted pairs between the units' first members, sorted by (a, b); a < b are
    rows."""

    #: All rows, the most preferred first.
    order: Rows
    #: For each page the first page with the same tokens.
    identity: Rows
    #: For each page the first page that counts as the same one to the detector; see ``neardup.graph.units``.
    unit: Rows
    a: Rows
    b: Rows
    score: npt.NDArray[np.float64]
    same_site: npt.NDArray[np.bool_]
    b_similarity: npt.NDArray[np.uint32] | None
    c_similarity: npt.NDArray[np.uint32] | None
    jaccard: npt.NDArray[np.float64] | None
    #: Which rule accepted each pair, as a place in ``rules``.
    rule: npt.NDArray[np.int8]
    rules: list[RuleCounts]
    #: Pages of which two may have an accepted pair that is not among the pairs, if there are any.
    crowded: npt.NDArray[np.bool_] | None = None

    def save(self, path: str | os.PathLike[str], made_of: Mapping[str, Any]) -> None:
        """Writes them to a file, with what they were made of."""
        about = {"of": dict(made_of), "rules": [asdict(counts) for counts in self.rules]}
        columns = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "rules"}
        write_arrays(path, KIND, about, {name: values for name, values in columns.items() if values is not None})

    @staticmethod
    def load(path: str | os.PathLike[str], made_of: Mapping[str, Any]) -> Matches:
        """Matches from a file, mapped; a ``FormatError`` if it is damaged, or they were made of something else.

        >>> import tempfile
        >>> none = {name: None for name in ("b_similarity", "c_similarity", "jaccard")}
        >>> rows, one = np.array([0, 1], np.uint32), np.array([1], np.uint32)
        >>> found = Matches(
        ...     order=rows, identity=rows, unit=rows, a=one - 1, b=one, score=np.array([0.9]),
        ...     same_site=np.array([True]), rule=np.array([0], np.int8),
        ...     rules=[RuleCounts("exact", 1, 1, 2, 0, 0, None)], **none)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     found.save(f"{folder}/matches", {"hot": 20_000})
        ...     again = Matches.load(f"{folder}/matches", {"hot": 20_000})
        >>> again.score.tolist(), again.jaccard, again.rules == found.rules
        ([0.9], None, True)
        """
        about, arrays = read_arrays(path, KIND)
        if about.get("of") != dict(made_of):
            raise FormatError("the matches were made of something else", where=os.fspath(path), hint="make them again")
        try:
            rules = [RuleCounts(**counts) for counts in about["rules"]]
            columns: dict[str, Any] = dict.fromkeys(("b_similarity", "c_similarity", "jaccard")) | arrays
            return Matches(**columns, rules=rules)
        except (KeyError, TypeError):
            raise FormatError("the matches are damaged", where=os.fspath(path), hint="make them again") from None


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
    found = plan.native.match(
        PageArrays(
            [fingerprints[kind] for kind in plan.columns],
            [collection.sets(kind, in_memory=kind in in_memory) for kind in plan.sets],
            active=active,
            units=sites,
            rows=first,
        ),
        set_order(order, unit),
        Limits(
            hot=settings.hot_beyond(len(identity)),
            accepted=settings.most_accepted(len(identity)),
            possible=settings.most_possible(len(identity)),
        ),
        threads=settings.workers,
    )
    # Sets and their parities were most of what there was.
    pa.default_memory_pool().release_unused()
    # They are fields of rows.
    columns = [
        (np.ascontiguousarray(pairs.a), np.ascontiguousarray(pairs.b), np.ascontiguousarray(pairs.score))
        for pairs in found
    ]
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
                    candidates=pairs.candidates,
                    accepted=pairs.accepted,
                    largest_bucket=pairs.largest_bucket,
                    hot_buckets=pairs.hot_buckets,
                    unscored=pairs.unscored,
                    undecided=_undecided(rule, score[which == place]),
                    unrecorded=pairs.accepted - len(pairs.a),
                )
                for place, (rule, pairs) in enumerate(zip(rules, found, strict=True))
            ]
        ),
        crowded=_crowded(counts, [first[pairs.in_hot] for pairs in found], len(identity)),
    )


def _crowded(rules: Sequence[RuleCounts], in_hot: Sequence[Rows], pages: int) -> npt.NDArray[np.bool_] | None:
    """Pages of which not all accepted pairs may be known: those in hot buckets of the rules that left pairs out."""
    partly = [rows for rule, rows in zip(rules, in_hot, strict=True) if rule.unscored or rule.unrecorded]
    if not partly:
        return None
    crowded = np.zeros(pages, bool)
    crowded[np.concatenate(partly)] = True
    return crowded


def _undecided(rule: Rule, score: npt.NDArray[np.float64]) -> int | None:
    return None if rule.calibration is None else int((score < rule.calibration.undecided[1]).sum())
