"""A run keeps the statistics it counted, and whoever asks about its pages judges them by these, unasked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from neardup import Settings, dedup, explain, open_result
from neardup.cli.main import application
from neardup.engines.common.earlier import STATISTICS
from neardup.errors import UsageError
from neardup.index import Index, build
from neardup.methods import detectors, parse
from neardup.methods.default import default_detector
from neardup.page import Kinds
from neardup.report.explain import explain_pages
from neardup.results.pages import RunPages
from neardup.testing.same_template import directory

MARKUP = str(default_detector(Kinds(html=1)))
COUNTING = sorted(name for name in detectors() if parse(name).counted())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run over a directory whose pages agree in all but five words, and one of them fetched again."""
    place = tmp_path_factory.mktemp("run")
    pages = directory("businessline", 40) + directory("businessline", 1, fetched=3)
    (place / "pages.jsonl").write_text("".join(json.dumps(page) + "\n" for page in pages))
    for number in (0, 1):
        (place / f"{number}.html").write_text(pages[number]["html"])
    dedup(place / "pages.jsonl", place / "out")
    return place


def said(*arguments: object) -> str:
    done = CliRunner(env={"COLUMNS": "160"}).invoke(application, [str(argument) for argument in arguments])
    assert done.exit_code == 0, done.output
    return done.output


def test_they_are_in_the_folder(folder: Path) -> None:
    result = open_result(folder / "out")
    assert result.report["detector"] == MARKUP
    assert result.statistics is not None
    assert result.statistics.digest == result.report["statistics"]["digest"]
    in_memory = dedup(folder / "pages.jsonl")
    assert in_memory.statistics is not None
    assert in_memory.statistics.digest == result.statistics.digest


@pytest.mark.parametrize("name", sorted(detectors()))
def test_every_detector_that_counts_keeps_what_it_counted(name: str, folder: Path, tmp_path: Path) -> None:
    result = dedup(folder / "pages.jsonl", tmp_path / "out", detector=name)
    assert (tmp_path / "out" / STATISTICS).exists() == (name in COUNTING)
    assert (result.statistics is not None) == (name in COUNTING)
    if name in COUNTING:
        again = dedup(
            folder / "pages.jsonl",
            tmp_path / "again",
            detector=name,
            settings=Settings(statistics=str(tmp_path / "out" / STATISTICS)),
        )
        assert again.pages.equals(result.pages)
        assert again.report["statistics"] == result.report["statistics"]


def test_explain_asks_the_detector_of_the_run(folder: Path) -> None:
    for run in (folder / "out", dedup(folder / "pages.jsonl")):
        different = explain(run, 0, 1)
        own = different.verdicts[0]
        assert (own.detector, own.note, own.accepted) == (MARKUP, None, False)
        same = explain(run, 0, "businessline 0 again 3")
        assert same.verdicts[0].accepted
        assert same.relation == "paired"


def test_a_detector_that_counts_other_things_is_not_asked(folder: Path) -> None:
    told = explain(folder / "out", 0, 1, judges=COUNTING)
    notes = {verdict.detector: verdict.note for verdict in told.verdicts}
    assert notes.pop(MARKUP) is None
    assert all(note is not None and "did not count" in note for note in notes.values())


def test_compare_judges_as_the_run_did(folder: Path) -> None:
    decided = [
        line for line in said("compare", "row 0", "row 1", "--run", folder / "out").splitlines() if MARKUP in line
    ]
    assert decided[0].split() == [MARKUP, "different"]
    # The two pages alone: what they share may be what they are about.
    alone = said("compare", folder / "0.html", folder / "1.html").splitlines()
    assert next(line for line in alone if line.startswith(MARKUP)).split() == [MARKUP, "duplicates", "*"]
    assert "by the two pages alone" in alone[-1]
    frozen = said("compare", "row 0", "row 1", "--run", folder / "out", "--statistics", folder / "out" / STATISTICS)
    assert frozen.splitlines()[-1] == decided[0]


def test_compare_reads_pages_of_a_run_as_the_run_did(folder: Path, tmp_path: Path) -> None:
    said("dedup", folder / "pages.jsonl", "-o", tmp_path / "out", "--min-tokens", 3, "-q")
    assert said("compare", "row 0", "row 1", "--run", tmp_path / "out")
    with_same = said("compare", "row 0", "row 1", "--run", tmp_path / "out", "--min-tokens", 3)
    assert with_same == said("compare", "row 0", "row 1", "--run", tmp_path / "out")
    done = CliRunner().invoke(
        application, ["compare", "row 0", "row 1", "--run", str(tmp_path / "out"), "--min-tokens", "5"]
    )
    assert done.exit_code == 2
    assert "compared as it read them" in done.output


def test_two_pages_alone_are_explained_by_their_own_statistics(folder: Path) -> None:
    pages = [{"html": (folder / f"{number}.html").read_text()} for number in (0, 1)]
    told = explain_pages(*pages)
    compared = said("compare", folder / "0.html", folder / "1.html", "--json")
    decisions = json.loads(compared)["decisions"]
    assert {verdict.detector: verdict.accepted for verdict in told.verdicts} == decisions


def test_an_index_of_a_run_has_its_statistics(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def counted_again(*_: Any, **__: Any) -> None:
        raise AssertionError("the run has them")

    monkeypatch.setattr("neardup.engines.local.run.count", counted_again)
    monkeypatch.setattr("neardup.job.run.count", counted_again)
    for _ in build(tmp_path / "seen", folder / "out"):
        pass
    counted = open_result(folder / "out").statistics
    with Index(tmp_path / "seen") as index:
        assert index.about.statistics is not None
        assert counted is not None
        assert index.about.statistics.digest == counted.digest
        page = {"html": (folder / "0.html").read_text(), "url": directory("businessline", 1)[0]["url"], "id": "x"}
        assert {match.id for match in index.query(page).matches} == {"businessline 0", "businessline 0 again 3"}


def test_an_empty_index_with_statistics_of_sites_takes_the_default_for_markup(folder: Path, tmp_path: Path) -> None:
    Index.create(tmp_path / "seen", statistics=folder / "out" / STATISTICS)
    with Index(tmp_path / "seen") as index:
        assert str(index.about.detector) == MARKUP


def test_statistics_of_another_kind_are_refused(folder: Path, tmp_path: Path) -> None:
    dedup(folder / "pages.jsonl", tmp_path / "chunks", detector="spex")
    settings = Settings(statistics=str(tmp_path / "chunks" / STATISTICS))
    with pytest.raises(UsageError, match="not such as"):
        dedup(folder / "pages.jsonl", settings=settings)
    assert RunPages(folder / "out").settings.statistics == str(folder / "out" / STATISTICS)
