"""Two pages of a run explained: what differs, how alike they are, what each detector says, what became of them.

One object holds everything that is to be shown, ready for a terminal, a browser, or JSON: it is made here and shown
elsewhere.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup import _native
from neardup.comparison import Comparison, compare_batch
from neardup.engines import Settings, Silent
from neardup.engines.common.statistics import suits
from neardup.engines.local.reading import collect
from neardup.engines.local.statistics import count
from neardup.errors import InputError
from neardup.methods import Detector, parse
from neardup.methods.default import compared_detectors
from neardup.methods.statistics import CollectionStatistics
from neardup.plan import Given, beyond_tokens
from neardup.report.boilerplate import RULE, boilerplate, site_samples
from neardup.report.kinds import Kind, Page, kind_of
from neardup.report.paths import PairGraph
from neardup.report.side_by_side import without_cut_end
from neardup.report.verdicts import RuleVerdict, Verdict, distance, verdict_of
from neardup.results import Result
from neardup.results.pages import RunPages
from neardup.results.texts import together
from neardup.sources.memory import Memory, texts
from neardup.text import read, term_lists

#: Of longer pages the beginning is aligned.
MOST_TERMS: Final = 100_000

Relation = Literal["same page", "identical", "paired", "connected", "apart", "not of a run"]


@dataclass(frozen=True)
class Side:
    """One of the two pages: what the run says of it, its terms, and which of them its site repeats."""

    id: str
    url: str | None
    site: str | None
    title: str | None
    #: The columns of ``pages.parquet`` where the page is of a run.
    record: dict[str, Any] | None
    terms: list[str] = field(repr=False)
    #: One for each term; None where too few other pages of the site are known.
    boilerplate: npt.NDArray[np.bool_] | None = field(repr=False)


@dataclass(frozen=True, slots=True)
class Step:
    """One pair on a path, as ``pairs.parquet`` has it, walked from ``a`` to ``b``; with their URLs, where they have."""

    a: str
    b: str
    url_a: str | None
    url_b: str | None
    score: float
    rule: str


@dataclass(frozen=True, slots=True)
class Fate:
    """For a page that goes: the page kept instead, and the pairs that tie it to that one (none if identical)."""

    page: str
    url: str | None
    kept_instead: str
    kept_url: str | None
    reason: str
    path: list[Step]


@dataclass(frozen=True)
class Explanation:
    """Everything there is to say of two pages."""

    sides: tuple[Side, Side]
    comparison: Comparison
    #: Where the terms differ: rows of start and end in A, start and end in B; between them the two are equal.
    hunks: npt.NDArray[np.uint32] = field(repr=False)
    kind: Kind
    #: The run's own detector first.
    verdicts: list[Verdict]
    relation: Relation
    #: Why the run joined the two, or what kept them apart, in sentences.
    because: list[str]
    #: The accepted pairs from A to B where they are in one cluster.
    path: list[Step]
    fates: list[Fate]
    #: Where a page is longer than ``MOST_TERMS``: of both only so many terms were aligned.
    beginning: int | None = None

    @cached_property
    def unmatched(self) -> int:
        """Terms without a counterpart in this alignment."""
        return int((self.hunks[:, 1] - self.hunks[:, 0]).sum() + (self.hunks[:, 3] - self.hunks[:, 2]).sum())

    def to_json(self) -> dict[str, Any]:
        """All of it as plain values."""
        told: dict[str, Any] = {
            "pages": [
                {name: getattr(side, name) for name in ("id", "url", "site", "title", "record", "terms")}
                | {"boilerplate": None if side.boilerplate is None else _ranges(side.boilerplate)}
                for side in self.sides
            ],
            "boilerplate_rule": RULE,
            "comparison": asdict(self.comparison),
            "hunks": self.hunks.tolist(),
            "beginning": self.beginning,
            "kind": asdict(self.kind),
            "verdicts": [_verdict_json(verdict) for verdict in self.verdicts],
            "relation": self.relation,
            "because": self.because,
            "path": [asdict(step) for step in self.path],
            "fates": [asdict(fate) for fate in self.fates],
        }
        return told


def explain(
    run: str | os.PathLike[str] | Result | RunPages,
    a: str | int,
    b: str | int,
    *,
    judges: Sequence[str | Detector] | None = None,
) -> Explanation:
    """Explains two pages of a run, each named by its id, its URL or its row.

    ``judges`` are the detectors that are asked beside the run's own; the usual ones unless others are named.

    >>> import json, pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> text = "the same words stand here in both of these pages and you are visitor number "
    >>> lines = [{"id": name, "text": text + number} for name, number in (("a", "1207"), ("b", "1388"))]
    >>> _ = (folder / "pages.jsonl").write_text("".join(json.dumps(line) + chr(10) for line in lines))
    >>> from neardup import dedup
    >>> _ = dedup(folder / "pages.jsonl", folder / "out", detector="minhash(threshold=0.5)")
    >>> told = explain(folder / "out", "a", "b")
    >>> told.kind.name, told.relation, told.fates[0].kept_instead
    ('visitor count', 'paired', 'a')
    """
    pages = run if isinstance(run, RunPages) else RunPages(run)
    records = pages.at([pages.row_of(a), pages.row_of(b)])
    batch = together([page for page in pages.texts(records) if page is not None])
    detector = parse(pages.report["detector"])
    chosen = [detector, *(judge for name in judges or compared_detectors() if (judge := parse(name)) != detector)]
    names = [(record["id"], record["url"]) for record in records]
    looked = _look(
        batch, pages.settings, chosen, names, records, site_samples(pages, records),
        _first_of_units(pages, records) if any(beyond_tokens(judge.fingerprints()) for judge in chosen) else None,
        pages.result.statistics,
    )  # fmt: skip
    for record, found in zip(records, looked.comparison.tokens, strict=True):
        if record["tokens"] != found:
            raise InputError(
                f"the page {record['id']!r} is not what the run read: {found:,} tokens, then {record['tokens']:,}",
                where=record["source"],
                hint="the input has changed since; run dedup again",
            )
    return _in_the_run(looked, pages, records)


def explain_pages(
    a: str | Mapping[str, Any],
    b: str | Mapping[str, Any],
    *,
    settings: Settings | None = None,
    judges: Sequence[str | Detector] | None = None,
) -> Explanation:
    """Explains two pages that are not of a run, given as text or as mappings (``html`` or ``text``, ``url``, ``id``).

    >>> told = explain_pages("one two three four five six seven eight", "one two three four five six seven nine")
    >>> told.relation, told.hunks.tolist(), told.comparison.term_difference
    ('not of a run', [[7, 8, 7, 8]], 2)
    """
    batch = texts([a, b]).batches[0]
    names = [(row["id"] or letter, row["url"]) for row, letter in zip(batch.to_pylist(), "AB", strict=True)]
    chosen = [parse(judge) for judge in judges or compared_detectors()]
    settings = settings or Settings()
    frozen = CollectionStatistics.load(settings.statistics) if settings.statistics else None
    return _look(batch, settings, chosen, names, [None, None], [[], []], None, frozen)


def _look(
    batch: pa.RecordBatch,
    settings: Settings,
    judges: Sequence[Detector],
    names: Sequence[tuple[str, str | None]],
    records: Sequence[dict[str, Any] | None],
    samples: Sequence[Sequence[npt.NDArray[np.uint64]]],
    compared: pa.RecordBatch | None = None,
    frozen: CollectionStatistics | None = None,
) -> Explanation:
    """All that the two pages tell by themselves, and by the statistics of their collection; ``compared`` are the pages
    that a run compared in their place."""

    def statistics_for(judge: Detector) -> CollectionStatistics | None:
        if frozen is not None and suits(frozen, judge, settings.reading):
            return frozen
        # What is not known of a run's collection cannot be had; of two pages by themselves they are all there is.
        return None if records[0] is not None else _of_two(batch, judge, settings)

    found = read(batch, settings.reading)
    comparison = compare_batch(batch, settings=settings, judges=["exact"])
    pages = batch if compared is None else compared
    given = Given(pages, settings.reading, found.tokens)
    verdicts = [
        verdict_of(
            judge, pages, found.tokens, same_site=comparison.same_site, identical=comparison.identical,
            reading=settings.reading, statistics=statistics_for(judge), given=given,
        )
        or Verdict(str(judge), False, [], "needs statistics that this run did not count: not asked")
        for judge in judges
    ]  # fmt: skip
    terms = term_lists(batch)
    lists = [terms[at].values[:MOST_TERMS].to_pylist() for at in (0, 1)]
    tokens = [found.tokens[at].values.to_numpy()[:MOST_TERMS] for at in (0, 1)]
    sides, looks = [], []
    for at, (name, url) in enumerate(names):
        mask = boilerplate(tokens[at], samples[at])
        row = batch.slice(at, 1).to_pylist()[0]
        title, site = comparison.titles[at], comparison.sites[at]
        sides.append(Side(name, url, site, title, records[at], lists[at], mask))
        looks.append(Page(row["content"], row["html"], row["charset"], url, site, title, lists[at], mask))
    cut = pa.LargeListArray.from_arrays(
        pa.array([0, len(tokens[0]), len(tokens[0]) + len(tokens[1])], pa.int64()), pa.array(np.concatenate(tokens))
    )
    beginning = MOST_TERMS if max(comparison.tokens) > MOST_TERMS else None
    hunks = _native.align(cut, 0, 1)
    return Explanation(
        sides=(sides[0], sides[1]),
        comparison=comparison,
        hunks=hunks if beginning is None else without_cut_end(hunks, (len(tokens[0]), len(tokens[1]))),
        beginning=beginning,
        kind=kind_of(looks[0], looks[1]),
        verdicts=verdicts,
        relation="not of a run",
        because=[] if comparison.identical else [*filter(None, [settings.reading.advice(*comparison.tokens)])],
        path=[],
        fates=[],
    )


def _of_two(batch: pa.RecordBatch, judge: Detector, settings: Settings) -> CollectionStatistics | None:
    """The statistics of the two pages by themselves, where the detector counts some."""
    if not judge.counted():
        return None
    return count(collect(Memory([batch]), judge, settings, Silent()), judge, settings)


def _in_the_run(looked: Explanation, run: RunPages, records: list[dict[str, Any]]) -> Explanation:
    """The same with what became of the two."""
    first, second = records
    graph = _graph(run)
    heads = [run.unit_of(record) for record in records]
    path: list[dict[str, Any]] | None = None
    relation: Relation
    if first["row"] == second["row"]:
        relation = "same page"
    elif first["identity"] == second["identity"] and first["tokens"]:
        relation = "identical"
    elif first["cluster"] == second["cluster"]:
        pair = graph.pair(heads[0], heads[1])
        path = graph.path(heads[0], heads[1]) if pair is None else [pair]
        relation = "connected" if pair is None else "paired"
    else:
        relation = "apart"
    own = looked.verdicts[0]
    return Explanation(
        sides=looked.sides,
        comparison=looked.comparison,
        hunks=looked.hunks,
        beginning=looked.beginning,
        kind=looked.kind,
        verdicts=looked.verdicts,
        relation=relation,
        because=_because(relation, own, path, records, run),
        path=_steps(path, heads[0], run),
        fates=[_fate(record, run, graph) for record in records if not record["kept"]],
    )


def _graph(run: RunPages) -> PairGraph:
    """The run's pairs, made into a graph once for every explanation of it."""
    if "_graph" not in vars(run):
        pairs = pa.concat_tables([run.result.pairs, run.result.earlier.pairs])
        vars(run)["_graph"] = PairGraph(pairs, run.identity)
    made: PairGraph = vars(run)["_graph"]
    return made


def _because(
    relation: Relation,
    own: Verdict,
    path: list[dict[str, Any]] | None,
    records: list[dict[str, Any]],
    run: RunPages,
) -> list[str]:
    if relation == "same page":
        return ["A and B are the same page of the input."]
    if relation == "identical":
        return ["They have the same tokens: one identity set, joined whatever the detector."]
    said = []
    if relation == "paired":
        said.append(f"{own.detector} accepted the two as a pair.")
    elif relation == "connected":
        between = f"; {len(path)} pairs lead from one to the other" if path else ""
        said.append(f"They are in one cluster without being a pair themselves{between}.")
    else:
        said.append("They are in different clusters: no accepted pairs lead from one to the other.")
    if own.note:
        note = own.note if own.compared else f"not compared: {own.note}"
        said.append(note[0].upper() + note[1:] + ".")
    if not own.compared and (advice := run.settings.reading.advice(*(record["tokens"] for record in records))):
        said.append(advice)
    said += [f"Rule {rule.rule}: {rule_in_words(rule)}." for rule in own.rules]
    if own.accepted and relation in ("connected", "apart"):
        held = run.report["pairs"]["held"]
        said.append(
            "By themselves the two would be accepted; the run did not compare them, for their keys are shared by very "
            f"many pages, or did not hold the pair (pairs held: {held})."
        )
    return said


def rule_in_words(rule: RuleVerdict) -> str:
    """Which keys the two share under a rule, and how far they are from its threshold."""
    if not rule.speaks:
        return f"it speaks of pairs on {'one site' if rule.predicate == 'same-site' else 'different sites'} only"
    met = (
        f"the two share {rule.shared_keys:,} of {rule.all_keys:,} {rule.keys}"
        if rule.shared_keys
        else f"the two share none of {rule.all_keys:,} {rule.keys}, so they were never compared"
    )
    return f"{met}; {distance(rule)}"


def _verdict_json(verdict: Verdict) -> dict[str, Any]:
    rules = [
        asdict(rule) | {"margin": rule.margin, "accepted": rule.accepted, "in_words": rule_in_words(rule)}
        for rule in verdict.rules
    ]
    return asdict(verdict) | {"rules": rules}


def _steps(path: list[dict[str, Any]] | None, start: int, run: RunPages) -> list[Step]:
    """A path as it is walked from a row."""
    rows = sorted({row for pair in path or [] for row in (pair["row_a"], pair["row_b"])})
    known = dict(zip(rows, run.at(rows), strict=True))
    # Where a path comes to a page it may go on from another with the same tokens.
    same = run.identity if path else np.empty(0, np.int64)
    steps, at = [], start
    for pair in path or []:
        ends = pair["row_a"], pair["row_b"]
        from_, to = ends if same[ends[0]] == same[at] else ends[::-1]
        one, other = known[from_], known[to]
        steps.append(Step(one["id"], other["id"], one["url"], other["url"], pair["score"], pair["rule"]))
        at = to
    return steps


def _fate(record: dict[str, Any], run: RunPages, graph: PairGraph) -> Fate:
    instead = run.at([run.row_of(record["kept_instead"])])[0]
    start, goal = (run.unit_of(page) for page in (record, instead))
    pair = graph.pair(start, goal)
    path = _steps(graph.path(start, goal) if pair is None else [pair], start, run)
    return Fate(record["id"], record["url"], instead["id"], instead["url"], record["reason"], path)


def _first_of_units(run: RunPages, records: list[dict[str, Any]]) -> pa.RecordBatch | None:
    """The pages that the run compared in place of these two, where it was others: pages that look the same to a
    detector may differ in what is not tokens."""
    heads = [run.unit_of(record) for record in records]
    if heads == [record["row"] for record in records]:
        return None
    return together([page for page in run.texts(run.at(heads)) if page is not None])


def _ranges(mask: npt.NDArray[np.bool_]) -> list[list[int]]:
    """Where a mask is set, as starts and ends.

    >>> _ranges(np.array([False, True, True, False, True]))
    [[1, 3], [4, 5]]
    """
    edges = np.flatnonzero(np.diff(np.concatenate([[0], mask.astype(np.int8), [0]])))
    return edges.reshape(-1, 2).tolist()
