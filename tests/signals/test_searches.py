"""Search evaluation: the four ways on lists small enough to be worked out by hand, and both errors planted."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from scipy import stats

from neardup.errors import InputError, UsageError
from neardup.evaluation.search_judges import by_detector, read_queries
from neardup.evaluation.searches import WAYS, evaluate_searches, groups_of, judged_twice, pool, shared_grades
from neardup.evaluation.significance import randomisation
from neardup.evaluation.trec import Run, read_qrels, read_run


def gain(grades: list[int]) -> float:
    return sum(grade / math.log2(place + 1) for place, grade in enumerate(grades, 1))


def test_the_four_ways_by_hand() -> None:
    runs = [Run("repeats", {"q": ["x", "y", "z"]}), Run("varied", {"q": ["y", "z", "w"]})]
    qrels = {"q": {"x": 3, "y": 2, "z": 1, "w": 0}}
    found = evaluate_searches(runs, qrels, groups_of([("q", "x", "y")]), ["nDCG@3"])
    values = {way: {run: found.values[way]["nDCG@3"][run]["q"] for run in ("repeats", "varied")} for way in WAYS}
    assert values["every"]["repeats"] == pytest.approx(1.0)
    assert values["every"]["varied"] == pytest.approx(gain([2, 1, 0]) / gain([3, 2, 1]))
    assert values["once"]["repeats"] == pytest.approx(gain([3, 0, 1]) / gain([3, 1]))
    # The ideal has the better copy, which this list did not show.
    assert values["once"]["varied"] == pytest.approx(gain([2, 1, 0]) / gain([3, 1]))
    # 3 and 2 become 3 for both: the mean, halves up.
    assert values["shared"]["repeats"] == pytest.approx(gain([3, 3, 1]) / gain([3, 3, 1]))
    assert values["shared once"]["varied"] == pytest.approx(gain([3, 1, 0]) / gain([3, 1]))
    report = found.report
    assert report["measures"]["nDCG@3"]["order"]["every"] == ["repeats", "varied"]
    assert report["measures"]["nDCG@3"]["order"]["once"] == ["repeats", "varied"]
    assert report["repeats"] == [{"run": "repeats", "query": "q", "page": "y", "repeats": "x", "rank": 2, "grade": 2}]
    assert report["judged twice"]["which"] == [{"query": "q", "grades": {"x": 3, "y": 2}}]
    assert found.table().num_rows == 2


def test_without_duplicates_all_ways_are_one() -> None:
    generator = np.random.default_rng(1)
    qrels = {f"q{n}": {f"d{d}": int(generator.integers(0, 4)) for d in range(20)} for n in range(12)}
    runs = [Run(name, {query: [f"d{d}" for d in generator.permutation(20)[:10]] for query in qrels}) for name in "ab"]
    found = evaluate_searches(runs, qrels, {}, ["nDCG@10", "AP(rel=2)", "RR"])
    for way in WAYS[1:]:
        assert found.values[way] == found.values["every"]


def test_judgements_are_shared_within_a_group_and_nowhere_else() -> None:
    assert shared_grades({"a": 0, "b": 3, "c": 1}, {"a": "a", "b": "a"}) == {"a": 2, "b": 2, "c": 1}
    assert judged_twice({"q": {"a": 1, "b": 1, "c": 3}}, {"q": {"a": "a", "b": "a"}}) == {
        "groups": 1, "differ": 0, "which": [],
    }  # fmt: skip


def test_the_randomisation_test_is_one() -> None:
    generator = np.random.default_rng(3)
    # Under no difference p-values are uniform: 200 of them, by a Kolmogorov–Smirnov bound at 1 in 1000.
    chances = [randomisation(generator.normal(size=30), seed) for seed in range(200)]
    assert stats.kstest(chances, "uniform").pvalue > 0.001
    shifted = generator.normal(0.5, 1, 40)
    assert randomisation(shifted) == pytest.approx(stats.ttest_1samp(shifted, 0).pvalue, abs=0.02)
    assert randomisation(shifted) == randomisation(shifted)
    few = np.array([0.3, -0.1, 0.4, 0.2])
    exact = stats.permutation_test((few,), np.mean, permutation_type="samples", n_resamples=np.inf).pvalue
    assert randomisation(few) == pytest.approx(exact)


def test_bad_files_name_their_line(tmp_path: Path) -> None:
    file = tmp_path / "run.txt"
    for text, words in (("q Q0 d 1 x e", "numbers"), ("q d 1", "line 1"), ("", "no results"),
                        ("q Q0 d 1 2 e\nq Q0 d 2 1 e", "twice")):  # fmt: skip
        file.write_text(text)
        with pytest.raises(InputError, match=words):
            read_run(file)
    for text, words in (("q 0 d x", "whole number"), ("q 0 d", "3 fields"), (" ", "no judgements")):
        file.write_text(text)
        with pytest.raises(InputError, match=words):
            read_qrels(file)
    file.write_bytes(b"\xff")
    with pytest.raises(InputError, match="UTF-8"):
        read_run(file)
    file.write_text("{}")
    with pytest.raises(InputError, match="line 1"):
        read_queries(file)
    with pytest.raises(UsageError, match="not a measure"):
        evaluate_searches([Run("a", {"q": ["d"]})], {"q": {"d": 1}}, {}, ["Best@10"])
    with pytest.raises(UsageError, match="same name"):
        evaluate_searches([Run("a", {"q": ["d"]})] * 2, {"q": {"d": 1}}, {})
    with pytest.raises(InputError, match="no query"):
        evaluate_searches([Run("a", {"q": ["d"]})], {"q": {"d": 0}}, {})


def test_only_what_was_returned_early_is_compared() -> None:
    assert pool([Run("a", {"q": ["x", "y"], "r": ["z"]})], 1) == {"q": ["x"], "r": ["z"]}


def test_the_command_on_a_generated_web(tmp_path: Path) -> None:
    def neardup(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "neardup", *arguments], capture_output=True, text=True, cwd=tmp_path
        )

    made = neardup("testing", "web", "--out", "web", "--queries", "12", "--seed", "5")
    assert made.returncode == 0, made.stderr
    runs = [part for path in sorted((tmp_path / "web" / "runs").iterdir()) for part in ("--run", str(path))]
    given = ["searcheval", *runs, "--qrels", "web/qrels.txt", "--pages", "web/pages.jsonl.gz"]
    done = neardup(*given, "--detector", "exact", "--out", "result", "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert len(report["runs"]) == len(runs) // 2
    assert report["missing"] == []
    table = pq.read_table(tmp_path / "result" / "queries.parquet")
    assert set(table.column_names) == {"run", "query", "measure", "every", "once", "shared", "shared_once"}
    shown = neardup(*given)
    assert shown.returncode == 0, shown.stderr
    assert "Undue credit" in shown.stdout
    assert "Two judgements for one page" in shown.stdout
    # A classifier in place of the detector, trained on the same pairs.
    steps = (
        ["idf", "build", "web/pages.jsonl.gz", "--out", "idf"],
        ["signals", "--pages", "web/pages.jsonl.gz", "--pairs", "web/pairs.csv", "--query-field", "query_text",
         "--idf", "idf", "--out", "s.parquet"],
        ["train", "--signals", "s.parquet", "--labels", "web/pairs.csv", "--groups", "F+FS+O", "--seeds", "1",
         "--folds", "3", "--learner", "tree", "--out", "model.json"],
        ["classify", "--model", "model.json", "--signals", "s.parquet", "--labels", "web/pairs.csv", "--show"],
        [*given, "--model", "model.json", "--idf", "idf", "--queries", "web/queries.jsonl"],
    )  # fmt: skip
    for step in steps:
        done = neardup(*step)
        assert done.returncode == 0, (step, done.stderr)
    assert "Undue credit" in done.stdout
    done = neardup(*given, "--model", "model.json", "--detector", "exact")
    assert done.returncode == 2


def test_missing_pages_are_told() -> None:
    from neardup.methods import parse
    from neardup.sources.memory import texts

    text = "one two three four five six seven eight nine ten"
    found = by_detector(
        {"q": ["x", "y", "gone"]}, lambda: texts([{"id": n, "text": text} for n in "xy"]), parse("exact")
    )
    assert (found.groups, found.missing, found.pairs) == ({"q": {"x": "x", "y": "x"}}, ["gone"], 1)


def _plain_value(measure: str, shown: list[str], own: dict[str, int], best: dict[str, int]) -> float:
    """A measure where groups count once, by its definition: own grades of what is shown, an ideal of the best."""
    grades = [own.get(name, 0) for name in shown]
    if measure == "nDCG@5":
        return gain(grades[:5]) / gain(sorted(best.values(), reverse=True)[:5])
    if measure == "nDCG(dcg='exp-log2')@5":
        powers = [[2**grade - 1 for grade in row] for row in (grades[:5], sorted(best.values(), reverse=True)[:5])]
        return gain(powers[0]) / gain(powers[1])
    relevant = [grade >= 2 for grade in grades]
    count = sum(grade >= 2 for grade in best.values())
    if measure == "AP(rel=2)":
        return sum(sum(relevant[: at + 1]) / (at + 1) for at, flag in enumerate(relevant) if flag) / max(count, 1)
    if measure == "R(rel=2)@5":
        return sum(relevant[:5]) / max(count, 1)
    assert measure == "P(rel=2)@5"
    return sum(relevant[:5]) / 5


@pytest.mark.parametrize("measure", ["nDCG@5", "nDCG(dcg='exp-log2')@5", "AP(rel=2)", "R(rel=2)@5", "P(rel=2)@5"])
def test_the_ideal_does_not_depend_on_the_run(measure: str) -> None:
    """Against the definition, on random lists, grades and groups: some copies shown are worse than their group's best,
    some are not judged, some judged pages were returned by nobody."""
    generator = np.random.default_rng(35)
    for _ in range(60):
        pages = [f"d{at}" for at in range(12)]
        group = {page: f"d{generator.integers(0, int(page[1:]) + 1)}" for page in pages}
        group = {page: group[group[page]] if group[group[page]] == group[page] else page for page in pages}
        grades = {page: int(generator.integers(0, 4)) for page in pages if generator.random() < 0.8} | {"d0": 3}
        results = list(generator.permutation(pages)[:8])
        by_query = {page: first for page, first in group.items() if list(group.values()).count(first) > 1}
        found = evaluate_searches([Run("a", {"q": results})], {"q": grades}, {"q": by_query}, [measure])
        shown, own, best, seen = [], {}, {}, set()
        for page in results:
            first = group[page]
            shown.append(first if first not in seen else "a repeat")
            own.setdefault(first, grades.get(page, 0)) if first not in seen else None
            seen.add(first)
        for page, grade in grades.items():
            best[group[page]] = max(grade, best.get(group[page], 0))
        (value,) = (value for by_run in found.values["once"].values() for value in by_run["a"].values())
        # gdeval, which ir-measures calls for exp-log2, gives five digits.
        assert value == pytest.approx(_plain_value(measure, shown, own, best), abs=1e-4), (results, grades, group)


def test_judged_pages_that_nobody_returned_are_grouped() -> None:
    from neardup.evaluation.search_judges import by_detector
    from neardup.methods import parse
    from neardup.sources.memory import texts

    text = "one two three four five six seven eight nine ten"
    pages = [{"id": "d1", "text": text}, {"id": "d1x", "text": text}, {"id": "d2", "text": "other " + text[::-1]}]
    runs, qrels = [Run("a", {"q": ["d1", "d2"]})], {"q": {"d1": 1, "d1x": 2, "d2": 1}}
    found = by_detector(pool(runs, 20, qrels), lambda: texts(pages), parse("exact"))
    assert found.groups == {"q": {"d1": "d1", "d1x": "d1"}}
    values = evaluate_searches(runs, qrels, found.groups, ["nDCG@10"]).values
    assert values["once"]["nDCG@10"]["a"]["q"] == pytest.approx(gain([1, 1]) / gain([2, 1]))
    with pytest.raises(UsageError, match="NERR8"):
        evaluate_searches(runs, qrels, {}, ["NERR8@10"])
