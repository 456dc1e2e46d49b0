"""What is said of accepted pairs where not all are held: at least so many, or nothing; never a number of some as one of
all."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from neardup import Settings, dedup, find_duplicates
from neardup.cli.main import application
from neardup.engines.common.accepted import FOREST, AcceptedPairs
from neardup.errors import UsageError
from neardup.evaluation.graph import evaluate_graph
from neardup.evaluation.judging_sample import draw_pairs
from neardup.graph.cut import cut
from neardup.results import Result, open_result
from neardup.results.revision import Decisions, revise, shape_of
from test_hot_keys import EVERY_PAIR, STRUCTURES, near_identical


def call(*arguments: object) -> Any:
    return CliRunner().invoke(application, [str(one) for one in arguments], prog_name="neardup")


def cohesion(result: Result) -> dict[str, float | None]:
    return dict(zip(result.clusters["cluster"].to_pylist(), result.clusters["cohesion"].to_pylist(), strict=True))


@pytest.mark.parametrize("detector", ["minhash", "combined", "site-aware", "broder"])
@pytest.mark.parametrize("structure", STRUCTURES)
def test_every_number_is_the_truth_or_none(structure: Any, detector: str) -> None:
    """Whatever limits a run keeps to, against a run that keeps to none."""
    pages = structure(300)
    every = find_duplicates(pages, detector=detector, settings=EVERY_PAIR)
    truth, alike = every.pairs.num_rows, cohesion(every)
    longest = dict(zip(every.clusters["cluster"].to_pylist(), every.clusters["diameter"].to_pylist(), strict=True))
    assert AcceptedPairs.of_report(every.report) == AcceptedPairs(truth, True, "all", truth)
    for settings in (Settings(hot=2), Settings(hot=30), Settings(max_pairs=1), Settings(hot=2, max_pairs=1)):
        found = find_duplicates(pages, detector=detector, settings=settings)
        accepted = AcceptedPairs.of_report(found.report)
        assert found.report["counts"]["pairs"] == accepted.in_all
        assert accepted.in_all <= truth <= accepted.at_most
        assert not accepted.exact or accepted.in_all == truth
        assert not accepted.complete or found.pairs.num_rows == truth
        for name, value in cohesion(found).items():
            assert value is None or value == pytest.approx(alike[name]), name
        for name, value in zip(
            found.clusters["cluster"].to_pylist(), found.clusters["diameter"].to_pylist(), strict=True
        ):
            assert value is None or value == longest[name]
        if accepted.exact:
            assert None not in cohesion(found).values()


def in_a_row(length: int) -> list[dict[str, str]]:
    """Each page is like the one before it and the one behind it, and like no other."""
    texts = [" ".join(f"row{word}" for word in range(20 * at, 20 * at + 100)) for at in range(length)]
    return [{"id": f"row{at}", "text": text} for at, text in enumerate(texts)]


@pytest.mark.parametrize("settings", [Settings(hot=20), Settings(hot=20, max_pairs=1)])
def test_only_what_hot_keys_leave_out_is_unknown(settings: Settings) -> None:
    """A cluster of which not every two pages are alike, beside one of which not all pairs are scored."""
    pages = [*near_identical(200), *in_a_row(3)]
    found = find_duplicates(pages, detector="minhash(threshold=0.6)", settings=settings)
    assert not AcceptedPairs.of_report(found.report).complete
    assert cohesion(found) == {"0": None, "row0": pytest.approx(2 / 3)}
    assert found.clusters["diameter"].to_pylist() == [None, 2]


@pytest.fixture(scope="module")
def partly(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that knows only some of the pairs of its one large cluster, and all of a small one."""
    folder = tmp_path_factory.mktemp("partly")
    other = [{"id": f"o{at}", "text": " ".join(f"other{word}" for word in range(80)) + f" {at}"} for at in range(3)]
    lines = [json.dumps(page) for page in [*near_identical(200), *other]]
    (folder / "pages.jsonl").write_text("\n".join(lines))
    dedup(folder / "pages.jsonl", folder / "out", detector="minhash", settings=Settings(hot=20))
    return folder


def test_what_needs_all_pairs_is_refused_and_says_what_to_do(partly: Path, tmp_path: Path) -> None:
    for refused in (
        call("evaluate", "graph", partly / "out"),
        call("judge", "new", "--from", partly / "out", "--out", tmp_path / "judging.sqlite"),
    ):
        assert isinstance(refused.exception, UsageError)
        assert "needs all accepted pairs; of at least" in str(refused.exception)
        asked = re.search(r"--max-pairs (\d+)", str(refused.exception))
        assert asked is not None
    assert not (tmp_path / "judging.sqlite").exists()
    assert not (partly / "out" / "graph").exists()
    # Whoever does as told has them all.
    told = call("dedup", partly / "pages.jsonl", "-d", "minhash", "--max-pairs", asked[1], "--out", tmp_path / "all")
    truth = 200 * 199 // 2 + 3
    assert f"{truth:,}  pairs of near-duplicates accepted" in told.stdout
    graph = evaluate_graph(tmp_path / "all", resamples=0)
    assert (graph["edges"], graph["degrees"]) == (truth, {"2": 3, "199": 200})
    drawn = draw_pairs([tmp_path / "all"], 50, [])
    assert drawn.strata[0].population == truth


def test_more_pairs_than_are_held_are_counted_as_at_least(tmp_path: Path) -> None:
    """1,700 pages that are all alike: more than a million pairs, of which a run by default scores next to none."""
    pages = tmp_path / "pages.jsonl"
    pages.write_text("\n".join(json.dumps(page) for page in near_identical(1700)))
    told = call("dedup", pages, "-d", "broder", "--out", tmp_path / "out").stdout
    truth = int(json.loads((tmp_path / "out" / "run.json").read_text())["pairs"]["at_most"])
    assert re.search(r"at least [\d,]+  pairs of near-duplicates accepted", told)
    assert "–" in call("show", tmp_path / "out").stdout, "no cohesion of the one cluster"
    refused = call("evaluate", "graph", tmp_path / "out").exception
    asked = re.search(r"--max-pairs (\d+)", str(refused))
    assert asked is not None
    more = call("dedup", pages, "-d", "broder", "--max-pairs", asked[1], "--out", tmp_path / "all", "--json").stdout
    accepted = AcceptedPairs(**json.loads(more)["pairs"])
    assert accepted.exact
    assert accepted.in_all <= truth
    assert evaluate_graph(tmp_path / "all", resamples=0)["edges"] == accepted.in_all


def test_the_report_tells_no_degrees_of_some_pairs(partly: Path, tmp_path: Path) -> None:
    page = (partly / "out" / "report.html").read_text()
    assert "at least" in page
    assert "Degrees are not told" in page
    assert "near-duplicates of a page" not in page
    assert "of those alone" in page
    assert "cohesion not known" in page
    dedup(partly / "pages.jsonl", tmp_path / "all", detector="minhash")
    page = (tmp_path / "all" / "report.html").read_text()
    assert "near-duplicates of a page" in page
    assert "Degrees are not told" not in page


def test_the_application_knows_what_it_does_not_know(partly: Path) -> None:
    shape = shape_of(open_result(partly / "out"))
    at_run, higher = cut(shape, shape.floor), cut(shape, float(np.quantile(shape.score, 0.9)))
    assert at_run.size.tolist() == [200, 3]
    assert np.isnan(at_run.cohesion).tolist() == [True, False]
    assert np.isnan(higher.cohesion).all()


def test_a_revised_run_knows_no_more_than_the_run(partly: Path, tmp_path: Path) -> None:
    changed = revise(partly / "out", tmp_path / "new", Decisions(representatives={200: 202}))
    assert cohesion(changed) == {"0": None, "o0": 1.0}
    assert AcceptedPairs.of_report(changed.report).exact is False
    with pytest.raises(UsageError, match="needs all accepted pairs"):
        evaluate_graph(tmp_path / "new")


def test_all_scored_and_not_all_held_is_counted_exactly() -> None:
    result = find_duplicates(near_identical(60), detector="minhash", settings=Settings(max_pairs=1))
    accepted = AcceptedPairs.of_report(result.report)
    assert (accepted.exact, accepted.in_all, accepted.held) == (True, 60 * 59 // 2, FOREST)
    assert cohesion(result) == {"0": 1.0}
