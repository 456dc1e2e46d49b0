"""Search evaluation with duplicates (Huffman et al. 2007, §1): what result lists are worth when repeats are known.

Two errors arise where they are not. An engine gets *undue credit* for each copy of a good page it returns; and one
page that two engines return under two addresses is *judged twice*, maybe differently. So every list is measured in
four ways:

- ``every``: as it stands;
- ``once``: of the pages of a group only the first in a list counts, the others keep their places and earn nothing; what
  an ideal list could earn counts each group once, by its best page, whatever the list showed;
- ``shared``: every page has the judgement of its group, the mean of those given, rounded, halves up;
- ``shared once``: both.

Groups are the connected pages of a query, by the pairs that a classifier or a detector accepts. Unjudged pages earn
nothing, as usual. Differences are tested by paired randomisation over queries.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final

import numpy as np
import pyarrow as pa

from neardup import _native
from neardup.errors import InputError, MissingExtra, UsageError
from neardup.evaluation.significance import randomisation
from neardup.evaluation.trec import Run

WAYS: Final = ("every", "once", "shared", "shared once")
MEASURES: Final = ("nDCG@10", "P@5")
DEPTH: Final = 20

Grades = Mapping[str, Mapping[str, int]]
#: The measures whose ideal can be told where groups count once: nDCG's by the formula below, that of the others by how
#: many groups are relevant.
_GRADED: Final = "nDCG"
_COUNTED: Final = frozenset((
    "AP", "P", "RR", "R", "Rprec", "Success", "SetP", "SetR", "SetF", "SetAP", "SetRelP", "Bpref", "IPrec", "infAP",
    "ERR", "RBP", "Judged", "NumRet", "NumRel", "NumRelRet", "Accuracy",
))  # fmt: skip

#: Query, page, page.
Pair = tuple[str, str, str]


def require_measures() -> None:
    """Raises ``MissingExtra`` unless ir-measures is there."""
    try:
        import ir_measures  # noqa: F401  (only whether it is there)
    except ImportError:
        raise MissingExtra(
            "search evaluation needs ir-measures, which is not installed", hint="pip install 'neardup[signals]'"
        ) from None


def pool(runs: Sequence[Run], depth: int = DEPTH, qrels: Grades | None = None) -> dict[str, list[str]]:
    """The pages that any run returned for each query among its first ``depth``, and those that were judged for it.

    >>> runs = [Run("a", {"q": ["x", "y"]}), Run("b", {"q": ["z", "x"]})]
    >>> pool(runs, 1), pool(runs, 1, {"q": {"w": 2}, "r": {"v": 1}})
    ({'q': ['x', 'z']}, {'q': ['w', 'x', 'z']})
    """
    pages: defaultdict[str, set[str]] = defaultdict(set)
    for run in runs:
        for query, results in run.results.items():
            pages[query].update(results[:depth])
    for query, judged in (qrels or {}).items():
        if query in pages:
            pages[query].update(judged)
    return {query: sorted(names) for query, names in sorted(pages.items())}


def pairs_of(pages: Mapping[str, Iterable[str]]) -> list[Pair]:
    """Every two pages of each query.

    >>> pairs_of({"q": ["x", "y"]})
    [('q', 'x', 'y')]
    """
    return [(query, a, b) for query, found in pages.items() for a, b in combinations(found, 2)]


def groups_of(pairs: Iterable[Pair]) -> dict[str, dict[str, str]]:
    """For each query the group of every page that is in a pair: the first of its pages by name.

    >>> groups_of([("q", "x", "y"), ("q", "y", "z")])
    {'q': {'x': 'x', 'y': 'x', 'z': 'x'}}
    """
    by_query: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
    for query, a, b in pairs:
        by_query[query].append((a, b))
    groups = {}
    for query, edges in by_query.items():
        names = sorted({name for edge in edges for name in edge})
        place = {name: at for at, name in enumerate(names)}
        ends = [np.array([place[edge[side]] for edge in edges], np.uint32) for side in (0, 1)]
        first = _native.components(len(names), *ends)
        groups[query] = {name: names[int(first[at])] for at, name in enumerate(names)}
    return groups


@dataclass(frozen=True)
class SearchEvaluation:
    """What was found: a value for each run, way, measure and query."""

    #: way → measure → run → query → value
    values: dict[str, dict[str, dict[str, dict[str, float]]]]
    report: dict[str, Any]

    def table(self) -> pa.Table:
        """A row for each run, query and measure, a column a way."""
        rows = []
        for measure, by_run in self.values["every"].items():
            for run, by_query in by_run.items():
                for query in by_query:
                    told = {way.replace(" ", "_"): self.values[way][measure][run][query] for way in WAYS}
                    rows.append({"run": run, "query": query, "measure": measure} | told)
        return pa.Table.from_pylist(rows)


def evaluate_searches(
    runs: Sequence[Run], qrels: Grades, groups: Mapping[str, Mapping[str, str]], measures: Sequence[str] = MEASURES
) -> SearchEvaluation:
    """Measures the runs in all four ways.

    >>> runs = [Run("a", {"q": ["x", "y", "z"]}), Run("b", {"q": ["x", "z"]})]
    >>> found = evaluate_searches(runs, {"q": {"x": 3, "y": 3, "z": 1}}, groups_of([("q", "x", "y")]), ["nDCG@3"])
    >>> [round(found.values[way]["nDCG@3"]["a"]["q"], 2) for way in WAYS]
    [1.0, 0.96, 1.0, 0.96]
    """
    require_measures()
    if len({run.name for run in runs}) < len(runs):
        raise UsageError("two runs have the same name", hint="name the engines apart, in the last field of a run")
    parsed = _parsed(measures)
    # Queries without any relevant page tell nothing, and a measure may not be defined for them.
    queries = sorted(query for query, grades in qrels.items() if any(grade > 0 for grade in grades.values()))
    queries = [query for query in queries if any(query in run.results for run in runs)]
    if not queries:
        raise InputError(
            "no query has both results and a relevant page", hint="are these the judgements of these runs?"
        )
    values: dict[str, Any] = {}
    for way in WAYS:
        by_measure: dict[str, dict[str, dict[str, float]]] = {str(measure): {} for measure in parsed}
        for run in runs:
            told = _calculate(parsed, run, qrels, groups, way, queries)
            for measure, by_query in told.items():
                by_measure[measure][run.name] = by_query
        values[way] = by_measure
    return SearchEvaluation(values, _report(values, runs, qrels, groups, queries))


def _parsed(measures: Sequence[str]) -> list[Any]:
    import ir_measures

    try:
        parsed = [ir_measures.parse_measure(measure) for measure in measures]
    except (ValueError, NameError) as error:
        raise UsageError(f"not a measure: {error}", hint="such as nDCG@10, P@5, AP, RR") from None
    for measure in parsed:
        if measure.NAME != _GRADED and measure.NAME not in _COUNTED:
            raise UsageError(
                f"what {measure.NAME} would be of an ideal list in which repeats count once is not known",
                hint="such as nDCG@10, P@5, AP, RR",
            )
    return parsed


def _calculate(
    measures: Sequence[Any], run: Run, qrels: Grades, groups: Mapping[str, Mapping[str, str]], way: str,
    queries: Sequence[str],
) -> dict[str, dict[str, float]]:  # fmt: skip
    values = {}
    seen = {query: _seen(run.results.get(query, []), qrels[query], groups.get(query, {}), way) for query in queries}
    for measure in measures:
        found = values[str(measure)] = dict.fromkeys(queries, 0.0)
        for query, value in _by_query(measure, seen):
            one = seen[query]
            # The library takes the ideal from the pages shown; what the best of each group could earn is a constant.
            ideal = _ideal(measure, one.best.values()) if measure.NAME == _GRADED else 0.0
            found[query] = value * _ideal(measure, one.shown_grades().values()) / ideal if ideal else value
    return values


def _by_query(measure: Any, seen: Mapping[str, _Seen]) -> list[tuple[str, float]]:
    import ir_measures

    results, grades = [], []
    relevant = measure.params.get("rel", 1)
    # Some of the programs that measure read names as words or as numbers.
    queries = list(seen)
    for number, one in enumerate(seen.values(), 1):
        query, judged = str(number), one.shown_grades()
        place = {page: f"d{at}" for at, page in enumerate(dict.fromkeys([*one.shown, *judged]))}
        results += [ir_measures.ScoredDoc(query, place[page], float(-at)) for at, page in enumerate(one.shown)]
        grades += [ir_measures.Qrel(query, place[page], grade) for page, grade in judged.items()]
        if measure.NAME != _GRADED:
            # A group is relevant by its best page, also where the list showed one that is not.
            grades += [
                ir_measures.Qrel(query, f"best{at}", best)
                for at, (page, best) in enumerate(one.best.items())
                if judged.get(page, 0) < relevant <= best
            ]
    metrics = ir_measures.iter_calc([measure], grades, results)
    return [(queries[int(metric.query_id) - 1], float(metric.value)) for metric in metrics]


def _ideal(measure: Any, grades: Iterable[int]) -> float:
    """The highest discounted cumulative gain that a list can have, as nDCG is normalised by.

    >>> import ir_measures
    >>> round(_ideal(ir_measures.parse_measure("nDCG@2"), [1, 3, 2]), 3)
    4.262
    """
    gains = measure.params.get("gains", {})
    values: list[float] = [gains.get(grade, max(grade, 0)) for grade in grades]
    if measure.params.get("dcg") == "exp-log2":
        values = [2.0**value - 1 for value in values]
    best = sorted(values, reverse=True)[: measure.params.get("cutoff")]
    return sum(value / math.log2(place + 1) for place, value in enumerate(best, 1))


@dataclass(frozen=True)
class _Seen:
    """A list of results as one of the ways sees it: names of pages or groups."""

    shown: list[str]
    #: The grade of the page that was shown, where it was judged.
    own: dict[str, int]
    #: The best grade of each group, of those judged; of each page where pages count by themselves.
    best: dict[str, int]

    def shown_grades(self) -> dict[str, int]:
        """Grades as this list earns them; of what it does not show, the best."""
        shown = set(self.shown)
        return {page: grade for page, grade in self.best.items() if page not in shown} | self.own


def _seen(results: Sequence[str], grades: Mapping[str, int], groups: Mapping[str, str], way: str) -> _Seen:
    """A list of results and the judgements of their names, as one of the ways sees them."""
    if "shared" in way:
        grades = shared_grades(grades, groups)
    if "once" not in way:
        return _Seen(list(results), {page: grades[page] for page in results if page in grades}, dict(grades))
    shown: list[str] = []
    own: dict[str, int] = {}
    seen: set[str] = set()
    for at, page in enumerate(results):
        group = groups.get(page, page)
        shown.append(f"{group} again, at {at}" if group in seen else group)
        if group not in seen and page in grades:
            own[group] = grades[page]
        seen.add(group)
    best: dict[str, int] = {}
    for page, grade in grades.items():
        group = groups.get(page, page)
        best[group] = max(grade, best.get(group, grade))
    return _Seen(shown, own, best)


def shared_grades(grades: Mapping[str, int], groups: Mapping[str, str]) -> dict[str, int]:
    """The judgement of each page's group: the mean of those given, rounded, halves up.

    >>> shared_grades({"x": 3, "y": 2, "z": 0}, {"x": "x", "y": "x", "w": "x"})
    {'x': 3, 'y': 3, 'z': 0, 'w': 3}
    """
    given: defaultdict[str, list[int]] = defaultdict(list)
    for page, grade in grades.items():
        given[groups.get(page, page)].append(grade)
    mean = {group: int(np.floor(np.mean(found) + 0.5)) for group, found in given.items()}
    shared = {page: mean[groups.get(page, page)] for page in grades}
    return shared | {page: mean[group] for page, group in groups.items() if page not in shared and group in mean}


def _report(
    values: dict[str, Any], runs: Sequence[Run], qrels: Grades, groups: Mapping[str, Mapping[str, str]],
    queries: Sequence[str],
) -> dict[str, Any]:  # fmt: skip
    told: dict[str, Any] = {"queries": len(queries), "runs": [run.name for run in runs], "measures": {}}
    for measure in values["every"]:
        of_runs, between = [], []
        arrays = {
            way: {run.name: np.array([values[way][measure][run.name][query] for query in queries]) for run in runs}
            for way in WAYS
        }
        for run in runs:
            row: dict[str, Any] = {"run": run.name}
            for way in WAYS:
                row[way] = round(float(arrays[way][run.name].mean()), 4)
            undue = arrays["every"][run.name] - arrays["once"][run.name]
            row["undue credit"] = round(float(undue.mean()), 4)
            row["p"] = round(randomisation(undue), 4)
            row["queries"] = int((np.abs(undue) > 1e-9).sum())
            of_runs.append(row)
        for one, other in combinations([run.name for run in runs], 2):
            for way in WAYS:
                difference = arrays[way][one] - arrays[way][other]
                between.append({"runs": [one, other], "way": way, "difference": round(float(difference.mean()), 4),
                                "p": round(randomisation(difference), 4)})  # fmt: skip
        told["measures"][measure] = {
            "runs": of_runs,
            "order": {way: sorted(arrays[way], key=lambda name: (-arrays[way][name].mean(), name)) for way in WAYS},
            "between": between,
        }
    told["repeats"] = _repeats(runs, qrels, groups, queries)
    told["judged twice"] = judged_twice(qrels, groups)
    return told


def _repeats(
    runs: Sequence[Run], qrels: Grades, groups: Mapping[str, Mapping[str, str]], queries: Sequence[str]
) -> list[dict[str, Any]]:
    """Every result that repeats an earlier one of its list, with the grade it would earn."""
    found = []
    for run in runs:
        for query in queries:
            first: dict[str, str] = {}
            for place, page in enumerate(run.results.get(query, []), 1):
                group = groups.get(query, {}).get(page)
                if group is None:
                    continue
                if group in first:
                    found.append({"run": run.name, "query": query, "page": page, "repeats": first[group],
                                  "rank": place, "grade": qrels[query].get(page)})  # fmt: skip
                first.setdefault(group, page)
    return found


def judged_twice(qrels: Grades, groups: Mapping[str, Mapping[str, str]]) -> dict[str, Any]:
    """Groups of which two pages or more were judged, and those whose judgements differ.

    >>> judged_twice({"q": {"x": 3, "y": 2}}, {"q": {"x": "x", "y": "x"}})["differ"]
    1
    """
    several, differing = 0, []
    for query, group_of in sorted(groups.items()):
        members: defaultdict[str, dict[str, int]] = defaultdict(dict)
        for page, group in group_of.items():
            if page in qrels.get(query, {}):
                members[group][page] = qrels[query][page]
        for grades in members.values():
            several += len(grades) > 1
            if len(set(grades.values())) > 1:
                differing.append({"query": query, "grades": grades})
    return {"groups": several, "differ": len(differing), "which": differing}
