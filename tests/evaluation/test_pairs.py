"""Judged pairs: labels, scores against runs, measures against their definitions, the paper's tables."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as pq
import pytest

import neardup
from neardup.errors import InputError, UsageError
from neardup.evaluation import henzinger
from neardup.evaluation.henzinger import Measured
from neardup.evaluation.judged import Judged, Labels, read_judged
from neardup.evaluation.measures import quality, roc
from neardup.evaluation.pages import figure, write_figures
from neardup.evaluation.pairs import evaluate_pairs, write_evaluation
from neardup.evaluation.plots import Line, Plot
from neardup.evaluation.reasons import REASONS, known_reason
from neardup.evaluation.scoring import PagePairs, Scores
from neardup.methods import detectors, parse
from neardup.methods.projections import Projection, TermSketch
from neardup.methods.shingles import Supershingles
from neardup.report.kinds import KINDS
from neardup.report.run_sections import points
from neardup.sources import InputSpec
from neardup.sources.memory import texts
from neardup.testing import Web


@pytest.fixture(scope="module")
def pages(small_web: Web) -> list[dict[str, Any]]:
    return [{"id": str(at), "html": page.html, "url": page.url} for at, page in enumerate(small_web.pages)]


@pytest.fixture(scope="module")
def all_pairs(pages: list[dict[str, Any]]) -> PagePairs:
    a, b = (np.array(side) for side in zip(*combinations(range(len(pages)), 2), strict=True))
    return PagePairs.of(lambda: texts(pages), lambda _: (a, b))


@pytest.mark.parametrize("name", sorted(detectors()))
def test_decisions_are_those_of_a_run(name: str, all_pairs: PagePairs, pages: list[dict[str, Any]]) -> None:
    result = neardup.find_duplicates(pages, detector=name)
    accepted = set(zip(result.pairs["row_a"].to_pylist(), result.pairs["row_b"].to_pylist(), strict=True))
    identity = {str(at): at for at in range(len(pages))}
    first = [identity[name] for name in result.pages["identity"].to_pylist()]
    tokens, sites = result.pages["tokens"].to_pylist(), result.pages["site"].to_pylist()
    found = all_pairs.score(parse(name))
    assert found.accepted.any()
    # What a detector compares: pages with the same tokens are one, unless it looks at sites and they are on several.
    units: dict[Any, int] = {}
    by_site = parse(name).looks_at_sites
    unit = [units.setdefault((first[at], sites[at] if by_site else None), at) for at in range(len(pages))]
    for at, (a, b) in enumerate(zip(all_pairs.rows[all_pairs.a], all_pairs.rows[all_pairs.b], strict=True)):
        pair = (min(unit[a], unit[b]), max(unit[a], unit[b]))
        expected = pair in accepted or (first[a] == first[b] and tokens[a] > 0)
        assert bool(found.accepted[at]) == expected, (a, b)
    assert ((found.score >= 0) & (found.score <= 1)).all()


@pytest.mark.parametrize("name", sorted(detectors()))
def test_scores_of_accepted_pairs_are_those_of_a_run(
    name: str, all_pairs: PagePairs, pages: list[dict[str, Any]]
) -> None:
    """And of the others a score says how near they came: none that is accepted is below one that could have been."""
    result = neardup.find_duplicates(pages, detector=name)
    ends = (result.pairs[column].to_pylist() for column in ("row_a", "row_b", "score"))
    of_run = {(a, b): score for a, b, score in zip(*ends, strict=True)}
    found = all_pairs.score(parse(name))
    rows = zip(all_pairs.rows[all_pairs.a].tolist(), all_pairs.rows[all_pairs.b].tolist(), strict=True)
    scores = dict(zip(rows, found.score.tolist(), strict=True))
    several = len(parse(name).rules()) > 1
    for pair, score in of_run.items():
        # The best of several rules may be one that no shared key led to.
        assert scores[pair] >= score if several else scores[pair] == score, pair


def test_a_fingerprint_is_made_once_for_all_detectors(
    pages: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    computed: Counter[str] = Counter()
    for kind in (Projection, Supershingles, TermSketch):
        compute = kind.compute

        def counting(self: Any, tokens: pa.LargeListArray, compute: Any = compute, name: str = kind.__name__) -> Any:
            computed[f"{name} {self}"] += 1
            return compute(self, tokens)

        monkeypatch.setattr(kind, "compute", counting)
    pairs = PagePairs.of(lambda: texts(pages), lambda _: (np.array([0, 1]), np.array([2, 3])))
    for name in ("broder", "charikar", "combined", "site-aware", "megashingling"):
        pairs.score(parse(name))
    pairs.b_similarity()
    pairs.c_similarity()
    assert set(computed.values()) == {1}, computed


def judged(labels: list[int], **more: Any) -> Judged:
    names = [str(at) for at in range(len(labels))]
    return Judged(names, names, np.array(labels, np.int8), **more)


def test_measures_are_what_they_are_defined_as() -> None:
    generator = np.random.default_rng(0)
    labels, score = generator.integers(0, 3, 300), generator.integers(0, 8, 300) / 7
    accepted = score >= 0.6
    told = quality(judged(labels.tolist()), score, accepted, resamples=200)
    correct = labels == 0
    precision, recall = (correct & accepted).sum() / accepted.sum(), (correct & accepted).sum() / correct.sum()
    assert told["precision"]["estimate"] == pytest.approx(precision, abs=1e-4)
    assert told["recall"]["estimate"] == pytest.approx(recall, abs=1e-4)
    assert told["f"]["estimate"] == pytest.approx(2 * precision * recall / (precision + recall), abs=1e-4)
    above = np.subtract.outer(score[labels == 0], score[labels == 1])
    assert told["auc"]["estimate"] == pytest.approx((above > 0).mean() + (above == 0).mean() / 2, abs=1e-4)
    for name in ("precision", "recall", "f", "auc"):
        assert told[name]["low"] < told[name]["estimate"] < told[name]["high"]


def test_the_bootstrap_covers_the_truth() -> None:
    covered = 0
    for seed in range(100):
        generator = np.random.default_rng(seed)
        labels = (generator.random(200) > 0.7).astype(int)
        accepted = generator.random(200) < 0.5
        told = quality(judged(labels.tolist()), accepted.astype(float), accepted, resamples=200, seed=seed)
        covered += told["precision"]["low"] <= 0.7 <= told["precision"]["high"]
    # 100 trials of 95 %: 87 or fewer in about one of 500 cases.
    assert covered >= 87, covered


def test_pairs_of_one_query_are_drawn_together() -> None:
    labels = [0] * 50 + [1] * 50
    accepted = np.ones(100, bool)
    apart = quality(judged(labels, query=[None] * 100), np.ones(100), accepted, resamples=300)["precision"]
    together = quality(judged(labels, query=[str(at // 50) for at in range(100)]), np.ones(100), accepted)["precision"]
    assert together["high"] - together["low"] > 2 * (apart["high"] - apart["low"])


def test_the_roc_curve_goes_from_corner_to_corner() -> None:
    false, true, _ = roc(judged([0, 1, 0, 1, 2]), np.array([0.9, 0.8, 0.7, 0.1, 0.95]))
    assert (false[0], true[0], false[-1], true[-1]) == (0, 0, 1, 1)
    assert (np.diff(false) >= 0).all()
    assert (np.diff(true) >= 0).all()


def measured(labels: list[int], c: list[int], b: list[int], **more: Any) -> Measured:
    count = len(labels)
    same = np.arange(count) % 2 == 0
    differences = np.arange(count) * 10
    return Measured(judged(labels, **more), same, np.array(b), np.array(c), differences, differences)


def test_the_threshold_is_chosen_on_one_half_and_tested_on_the_other() -> None:
    generator = np.random.default_rng(6)
    labels = generator.integers(0, 2, 400)
    c = np.where(labels == 0, generator.integers(350, 385, 400), generator.integers(300, 365, 400))
    told = henzinger.combined_threshold(measured(labels.tolist(), c.tolist(), [2] * 400), seed=1)
    assert told is not None
    rows = {row["threshold"]: row for row in told["curve"]}
    assert rows[told["threshold"]]["R"] >= 0.8 > rows[told["threshold"] + 1]["R"]
    assert told["tested"][0]["R"] == pytest.approx(0.8, abs=0.15)
    assert told["tested"][0]["correct"] > rows[0]["precision"]
    assert told["chosen on"] + told["tested on"] == 400


def test_tables_count_what_they_say() -> None:
    labels = [0, 0, 1, 2, 2, 0]
    reasons = ["URL only", "url only", None, "Prefilled form", "other", "time stamp"]
    table = measured(labels, [372, 373, 380, 384, 376, 100], [2, 3, 2, 6, 0, 0], reason=reasons)
    scores = Scores(np.array([0.9, 0.9, 0.8, 0.8, 0.9, 0.0]), np.array([True] * 5 + [False]))
    rows = henzinger.returned(table, scores)
    assert rows[0] == {
        "pairs of": "all", "pairs": 5, "correct": 0.4, "incorrect": 0.2, "undecided": 0.4, "forms": 0.2,
        "precision with forms": 0.6,
    }  # fmt: skip
    assert [row["pairs"] for row in rows] == [5, 3, 2, 2, 3]
    assert henzinger.reasons(table, scores.accepted, "correct") == [
        {"reason": "url only", "pairs": 2, "share": 1.0, "same site": 1, "share on the same site": 1.0}
    ]
    correlation = henzinger.correlation(table)
    assert correlation["by B-similarity"][0] == {"B-similarity": 2, "pairs": 2, "mean C-similarity": 376.0}
    assert correlation["by C-similarity"][0] == {"C-similarity": "372–375", "pairs": 2, "mean B-similarity": 2.5}
    differences = henzinger.term_differences(table, scores.accepted)
    assert (differences["mean"], differences["median"]) == (20, 20)
    assert henzinger.term_differences(table, np.zeros(6, bool)) == {"pairs": 0}


def test_reasons_are_known_however_they_are_written() -> None:
    for reason in (one for reasons in REASONS.values() for one in reasons):
        for text in (
            reason,
            reason.upper(),
            reason.title(),
            f"{reason.removesuffix('s')}s",
            reason.replace(" ", "-"),
            f" {reason} ",
        ):
            assert known_reason(text) == reason, text
    for text in ("Form", "prefilled form", "Prefilled forms", "pre-filled form", "prefilled, erasable form"):
        assert known_reason(text) == "form"
    # What `explain` calls a difference is a reason that the tables know.
    assert [kind for kind in KINDS if known_reason(kind) is None] == ["identical"]
    assert known_reason("reform") is None


def test_other_reasons_are_counted_together_and_named() -> None:
    reasons = ["Weather", "weather", "moon", None, "Form", "prefilled form", "other"]
    table = measured([2] * 7, [0] * 7, [0] * 7, reason=reasons)
    every = np.ones(7, bool)
    rows = {row["reason"]: row["pairs"] for row in henzinger.reasons(table, every, "undecided")}
    assert rows == {"form": 2, "other": 4, "other: weather": 2, "other: moon": 1, "not given": 1}
    shares = henzinger.label_shares(table.judged, every)
    assert (shares["forms"], shares["precision with forms"]) == (pytest.approx(2 / 7, abs=1e-4),) * 2


def test_a_weight_is_worth_as_many_pairs() -> None:
    """In every table and measure: pairs of whole weights, against each of them repeated as often."""
    generator = np.random.default_rng(4)
    count = 60
    weights = generator.integers(1, 6, count)
    labels = generator.integers(0, 3, count)
    reasons = generator.choice(["form", "time stamp", "weather"], count).tolist()
    b, c = generator.integers(0, 7, count), generator.integers(366, 385, count)
    same, differences = generator.random(count) < 0.5, generator.integers(0, 400, count)
    score = np.round(generator.random(count), 1)
    names = [str(at) for at in range(count)]
    columns = (same, b, c, differences, differences // 2)
    once = Measured(Judged(names, names, labels.astype(np.int8), reasons, weights=weights.astype(np.float64)), *columns)
    each = np.repeat(np.arange(count), weights)
    more = Measured(
        Judged(names * 0 + [names[at] for at in each], [names[at] for at in each], labels[each].astype(np.int8),
               [reasons[at] for at in each]),
        *(column[each] for column in columns),
    )  # fmt: skip
    accepted = score >= 0.4
    scores, of_each = Scores(score, accepted), Scores(score[each], accepted[each])

    def shares(row: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in row.items() if name not in ("pairs", "same site", "stand for")}

    def same_rows(ours: list[dict[str, Any]], theirs: list[dict[str, Any]]) -> None:
        assert [shares(row) for row in ours] == [shares(row) for row in theirs]

    assert [row["stand for"] for row in henzinger.returned(once, scores)[:3]] == [
        row["pairs"] for row in henzinger.returned(more, of_each)[:3]
    ]
    same_rows(henzinger.returned(once, scores)[:3], henzinger.returned(more, of_each)[:3])
    for label in ("correct", "undecided"):
        ours, theirs = henzinger.reasons(once, accepted, label), henzinger.reasons(more, of_each.accepted, label)
        same_rows(*(sorted(rows, key=lambda row: str(row["reason"])) for rows in (ours, theirs)))
    ours, theirs = henzinger.term_differences(once, accepted), henzinger.term_differences(more, of_each.accepted)
    for name in ("mean", "share of 2", "histogram", "labels beyond", "labels beyond, images left out"):
        assert ours[name] == theirs[name], name
    ordered = np.sort(differences[each][of_each.accepted])
    assert ours["median"] in ordered[[(len(ordered) - 1) // 2, len(ordered) // 2]]
    ours, theirs = henzinger.correlation(once), henzinger.correlation(more)
    for name, rows in ours.items():
        if isinstance(rows, list):
            same_rows(rows, theirs[name])
        else:
            assert rows == theirs[name], name
    for name in ("precision", "recall", "f", "auc"):
        first = quality(once.judged, score, accepted, resamples=0)[name]["estimate"]
        assert first == quality(more.judged, score[each], of_each.accepted, resamples=0)[name]["estimate"], name
    for ours, theirs in zip(roc(once.judged, score), roc(more.judged, score[each]), strict=True):
        assert ours == pytest.approx(theirs)
    for threshold in (370, 380):
        pairs = np.flatnonzero(b >= 2)
        row = henzinger._at(once, pairs, threshold)
        assert shares(row) == shares(henzinger._at(more, np.flatnonzero(b[each] >= 2), threshold))


def test_thresholds_are_chosen_and_tested_by_weight() -> None:
    generator = np.random.default_rng(6)
    labels = generator.integers(0, 2, 400)
    c = np.where(labels == 0, generator.integers(350, 385, 400), generator.integers(300, 365, 400))
    # The correct pairs that agree in most stand for nearly all.
    weights = np.where((labels == 0) & (c >= 380), 1000.0, 1.0)
    table = measured(labels.tolist(), c.tolist(), [2] * 400)
    plain = henzinger.combined_threshold(table, seed=1)
    heavy = henzinger.combined_threshold(replace(table, judged=replace(table.judged, weights=weights)), seed=1)
    assert plain is not None
    assert heavy is not None
    assert plain["threshold"] < 365 < 380 <= heavy["threshold"]
    assert heavy["tested"][0]["correct"] > 0.99
    by_half = henzinger.half_and_half(replace(table, judged=replace(table.judged, weights=weights)), c / 384)
    assert by_half is not None
    assert by_half["threshold"] >= 380 / 384 - 1e-6


@pytest.mark.parametrize("weight", ["0", "-1", "nan", "inf", "much", ""])
def test_a_weight_that_is_none_is_named(tmp_path: Path, weight: str) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text(f"a,b,label,weight\nx,y,correct,2\nx,z,correct,{weight}\n")
    with pytest.raises(InputError, match=r"pair 2.*weight"):
        read_judged(path)


def test_identical_pages_are_left_out_unless_they_are_asked_for(tmp_path: Path) -> None:
    words = [f"word{at}" for at in range(60)]
    texts_of = {"a": words, "a2": words, "b": [*words[:59], "other"], "b2": [*words[:59], "other"], "c": words[::-1]}
    path = tmp_path / "pages.jsonl"
    path.write_text("".join(json.dumps({"id": id, "text": " ".join(text)}) + "\n" for id, text in texts_of.items()))
    pairs = [("a", "a2", 0), ("b", "b2", 0), ("a", "b", 1), ("a2", "b2", 1), ("a", "c", 2), ("a", "a", 0)]
    made = Judged([a for a, *_ in pairs], [b for _, b, _ in pairs], np.array([label for *_, label in pairs], np.int8))
    rest = made.select(np.array([False, False, True, True, True, False]))
    found = evaluate_pairs(InputSpec([str(path)]), made, ["broder", "charikar", "minhash"], resamples=10)
    without = evaluate_pairs(InputSpec([str(path)]), rest, ["broder", "charikar", "minhash"], resamples=10)
    assert found.report["identical"] == {"pairs": 3, "counted": False}
    for name in ("pairs", "labels", "same_site", "detectors", "B against C", "combined threshold"):
        assert found.report[name] == without.report[name], name
    assert found.pairs_table()["identical"].to_pylist() == [True, True, False, False, False, True]
    assert found.scores_table().num_rows == 6, "scores are of all pairs"
    counted = evaluate_pairs(InputSpec([str(path)]), made, ["minhash"], resamples=10, count_identical=True)
    assert counted.report["pairs"] == 6
    assert counted.report["detectors"]["minhash"]["quality"]["correct"] == 3
    nothing = evaluate_pairs(InputSpec([str(path)]), made.select(np.arange(6) < 2), ["minhash"], resamples=10)
    write_evaluation(nothing, tmp_path / "nothing")
    assert nothing.report["detectors"]["minhash"]["quality"]["precision"]["estimate"] is None


def test_every_number_of_a_figure_is_listed_or_in_a_file(tmp_path: Path) -> None:
    few = Plot("Few", "x", "y", [Line("one", list(range(300)), [at**2 for at in range(300)])])
    many = Plot("Many", "x", "y", [Line(name, list(range(1500)), [at / 7 for at in range(1500)]) for name in "ab"])
    write_figures({"few": few, "many": many}, tmp_path)
    assert figure("few", few).count("<tr") == 301
    shown = figure("many", many)
    assert "and 1,000 more: many.csv has all" in shown
    for name, drawn in (("few", few), ("many", many)):
        rows = csv.read_csv(tmp_path / f"{name}.csv")
        assert rows.num_rows == sum(len(line.x) for line in drawn.lines)
        assert rows["y"].to_pylist() == [y for line in drawn.lines for y in line.y]
    counted = np.arange(1, 1001), np.arange(1000, 0, -1)
    assert points("Degrees", "degree", "pages", counted, None).count("<tr") == 1001


def test_images_are_told_apart(tmp_path: Path) -> None:
    words = " ".join(f"word{at}" for at in range(40))
    images = "".join(f"<img src=/i{at}.png>" for at in range(250))
    path = tmp_path / "pages.jsonl"
    rows = [{"id": "a", "html": f"<p>{words}"}, {"id": "b", "html": f"<p>{words}{images}"}]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = evaluate_pairs(InputSpec([str(path)]), Judged(["a"], ["b"], np.array([0], np.int8)), resamples=0)
    assert found.measured.term_difference.tolist() == [250]
    assert found.measured.text_difference.tolist() == [0]


def test_scores_are_in_the_order_of_the_input(tmp_path: Path, pages: list[dict[str, Any]]) -> None:
    path = tmp_path / "pages.jsonl"
    path.write_text("".join(json.dumps(page) + "\n" for page in pages), encoding="utf-8")
    names = [("7", "3"), ("0", "1"), ("5", "5"), (pages[2]["url"], "9")]
    made = Judged([a for a, _ in names], [b for _, b in names], np.array([0, 1, 0, 2], np.int8))
    found = evaluate_pairs(InputSpec([str(path)]), made, ["combined", "minhash(threshold=0.9)"], resamples=20)
    write_evaluation(found, tmp_path / "out")
    table = pq.read_table(tmp_path / "out" / "scores.parquet")
    assert table.column_names == ["a", "b", "label", "combined", "minhash(threshold=0.9)"]
    assert list(zip(table["a"].to_pylist(), table["b"].to_pylist(), strict=True)) == names
    assert table["combined"].to_pylist()[2] == 1.0
    assert (tmp_path / "out" / "roc.svg").exists()
    again = tmp_path / "again"
    write_evaluation(found, again)
    for file in again.iterdir():
        assert file.read_bytes() == (tmp_path / "out" / file.name).read_bytes(), file.name


@pytest.mark.parametrize("ending", ["jsonl", "csv", "tsv", "parquet"])
def test_pairs_are_read_from_any_table(tmp_path: Path, ending: str) -> None:
    import pandas as pd

    frame = pd.DataFrame({"a": ["1", "2"], "b": ["2", "3"], "label": ["cut", "non"], "reason": ["x", None]})
    path = tmp_path / f"pairs.{ending}"
    if ending == "jsonl":
        frame.to_json(path, orient="records", lines=True)
    elif ending == "parquet":
        frame.to_parquet(path)
    else:
        frame.to_csv(path, index=False, sep="\t" if ending == "tsv" else ",")
    read = read_judged(path, Labels(correct=["cut"], incorrect=["non"]))
    assert (read.a, read.b, read.label.tolist(), read.reason) == (["1", "2"], ["2", "3"], [0, 1], ["x", None])


def test_bad_pairs_are_named(tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    path.write_text('{"a": "x", "b": "y", "label": "perhaps"}\n')
    with pytest.raises(UsageError, match="'perhaps' stands for nothing"):
        read_judged(path)
    path.write_text('{"a": "x", "label": 1}\n')
    with pytest.raises(InputError, match="no 'b'"):
        read_judged(path)
    path.write_text("nonsense\n")
    with pytest.raises(InputError, match="line 1"):
        read_judged(path)
    with pytest.raises(InputError, match="cannot be read"):
        read_judged(tmp_path / "none.csv")
    pages = tmp_path / "pages.jsonl"
    pages.write_text('{"id": "x", "text": "one two three"}\n')
    with pytest.raises(InputError, match="no page has the id or URL 'y'"):
        evaluate_pairs(InputSpec([str(pages)]), Judged(["x"], ["y"], np.array([0], np.int8)))
