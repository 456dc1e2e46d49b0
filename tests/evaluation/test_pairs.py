"""Judged pairs: labels, scores against runs, measures against their definitions, the paper's tables."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import neardup
from neardup.detectors import detectors, parse
from neardup.errors import InputError, UsageError
from neardup.evaluation import henzinger
from neardup.evaluation.henzinger import Measured
from neardup.evaluation.judged import Judged, Labels, read_judged
from neardup.evaluation.measures import quality, roc
from neardup.evaluation.pairs import evaluate_pairs, write_evaluation
from neardup.evaluation.scoring import PagePairs, Scores
from neardup.results import Opened
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
    tokens = result.pages["tokens"].to_pylist()
    found = all_pairs.score(parse(name))
    assert found.accepted.any()
    sites = result.pages["site"].to_pylist()
    alone = [first.count(one) == 1 for one in first]
    for at, (a, b) in enumerate(zip(all_pairs.rows[all_pairs.a], all_pairs.rows[all_pairs.b], strict=True)):
        # A set with copies on several sites is on all of them; a judged pair is of two pages, each on its own.
        if (alone[a] and alone[b]) or sites[a] == sites[b]:
            pair = (min(first[a], first[b]), max(first[a], first[b]))
            expected = pair in accepted or (first[a] == first[b] and tokens[a] > 0)
            if not (alone[a] and alone[b]) and name == "site-aware":
                continue
            assert bool(found.accepted[at]) == expected, (a, b)
    assert ((found.score >= 0) & (found.score <= 1)).all()


def test_detectors_of_unknown_rules_are_run(all_pairs: PagePairs, monkeypatch: pytest.MonkeyPatch) -> None:
    direct = all_pairs.score(parse("minhash"))
    monkeypatch.setattr("neardup.evaluation.scoring.is_known", lambda rule: False)
    by_run = all_pairs.score(parse("minhash"))
    assert (by_run.accepted == direct.accepted).all()
    assert by_run.score[by_run.accepted] == pytest.approx(direct.score[direct.accepted])
    assert (by_run.score[~by_run.accepted] == 0).all()


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
    reasons = ["url", "url", None, "form", "other", "time"]
    table = measured(labels, [372, 373, 380, 384, 376, 100], [2, 3, 2, 6, 0, 0], reason=reasons)
    scores = Scores(np.array([0.9, 0.9, 0.8, 0.8, 0.9, 0.0]), np.array([True] * 5 + [False]))
    rows = henzinger.returned(table, scores)
    assert rows[0] == {
        "pairs of": "all", "pairs": 5, "correct": 0.4, "incorrect": 0.2, "undecided": 0.4, "forms": 0.2,
        "precision with forms": 0.6,
    }  # fmt: skip
    assert [row["pairs"] for row in rows] == [5, 3, 2, 2, 3]
    assert henzinger.reasons(table, scores.accepted, "correct") == [
        {"reason": "url", "pairs": 2, "share": 1.0, "same site": 1, "share on the same site": 1.0}
    ]
    correlation = henzinger.correlation(table)
    assert correlation["by B-similarity"][0] == {"B-similarity": 2, "pairs": 2, "mean C-similarity": 376.0}
    assert correlation["by C-similarity"][0] == {"C-similarity": "372–375", "pairs": 2, "mean B-similarity": 2.5}
    differences = henzinger.term_differences(table, scores.accepted)
    assert (differences["mean"], differences["median"]) == (20, 20)
    assert henzinger.term_differences(table, np.zeros(6, bool)) == {"pairs": 0}


def test_images_are_told_apart(tmp_path: Path) -> None:
    words = " ".join(f"word{at}" for at in range(40))
    images = "".join(f"<img src=/i{at}.png>" for at in range(250))
    path = tmp_path / "pages.jsonl"
    rows = [{"id": "a", "html": f"<p>{words}"}, {"id": "b", "html": f"<p>{words}{images}"}]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = evaluate_pairs(Opened([str(path)]), Judged(["a"], ["b"], np.array([0], np.int8)), resamples=0)
    assert found.measured.term_difference.tolist() == [250]
    assert found.measured.text_difference.tolist() == [0]


def test_scores_are_in_the_order_of_the_input(tmp_path: Path, pages: list[dict[str, Any]]) -> None:
    path = tmp_path / "pages.jsonl"
    path.write_text("".join(json.dumps(page) + "\n" for page in pages), encoding="utf-8")
    names = [("7", "3"), ("0", "1"), ("5", "5"), (pages[2]["url"], "9")]
    made = Judged([a for a, _ in names], [b for _, b in names], np.array([0, 1, 0, 2], np.int8))
    found = evaluate_pairs(Opened([str(path)]), made, ["combined", "minhash(threshold=0.9)"], resamples=20)
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
        evaluate_pairs(Opened([str(pages)]), Judged(["x"], ["y"], np.array([0], np.int8)))
