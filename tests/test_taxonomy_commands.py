"""The taxonomy on the command line: any method, its plan, and statistics that are frozen and used again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from neardup.methods import detectors
from neardup.testing import Web
from test_command_line import ok, report, told


@pytest.fixture(scope="module")
def crawl(small_web: Web, tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("crawl") / "pages.jsonl"
    small_web.write_jsonl(file)
    return file


def test_any_method_by_its_text_form(crawl: Path, tmp_path: Path) -> None:
    ok("dedup", crawl, "-o", tmp_path / "out", "--detector", "winnowing(n=5,w=10)", "-q")
    found = report(tmp_path / "out")
    assert (found["detector"], found["statistics"]) == ("winnowing", None)
    assert found["counts"]["pairs"] > 0
    ok("dedup", crawl, "-o", tmp_path / "spex", "--detector", "spex(n=4)", "-q")
    found = report(tmp_path / "spex")
    assert found["statistics"]["chunks"].keys() == {"4"}
    assert [stage["name"] for stage in found["stages"]] == [
        "reading",
        "statistics",
        "matching",
        "clustering",
        "writing",
        "report",
    ]


def test_every_method_is_listed() -> None:
    listed = json.loads(ok("detectors", "--json").stdout)
    assert [detector["name"] for detector in listed] == list(detectors())


def test_statistics_are_frozen_and_used_again(crawl: Path, tmp_path: Path, small_web: Web) -> None:
    frozen = tmp_path / "crawl.statistics"
    said = ok("statistics", crawl, "--out", frozen, "--detector", "i-match").stdout
    ok("dedup", crawl, "-o", tmp_path / "out", "-d", "i-match", "-q")
    digest = report(tmp_path / "out")["statistics"]["digest"]
    assert digest in said
    ok("dedup", crawl, "-o", tmp_path / "again", "-d", "i-match", "--statistics", frozen, "-q")
    assert report(tmp_path / "again")["statistics"]["digest"] == digest
    for table in ("pages", "pairs", "clusters"):
        name = f"{table}.parquet"
        assert (tmp_path / "again" / name).read_bytes() == (tmp_path / "out" / name).read_bytes()
    one, other = small_web.pages[:2]
    for name, page in (("a", one), ("b", other)):
        (tmp_path / f"{name}.html").write_text(page.html, encoding="utf-8")
    pages = [tmp_path / "a.html", tmp_path / "b.html"]
    plain = json.loads(ok("compare", *pages, "--all", "--json").stdout)["decisions"]
    informed = json.loads(ok("compare", *pages, "--all", "--statistics", frozen, "--json").stdout)["decisions"]
    assert informed.keys() - plain.keys() == {"i-match", "randomised-i-match"}
    assert plain.keys() == {name for name, kind in detectors().items() if not kind().counted()}


def test_plans_of_methods(monkeypatch: pytest.MonkeyPatch) -> None:
    said = ok("plan", "--detector", "supershingling(kappa=2)").stdout
    assert "0.90     0.4151" in said
    curve = json.loads(ok("plan", "-d", "hyperplane-lsh", "--json").stdout)
    assert curve["measure"] == "cosine similarity of term frequencies"
    assert (len(curve["curve"]), curve["curve"][-1]) == (61, [1.0, 1.0])
    code, _, said = told("plan", "-d", "winnowing", monkeypatch=monkeypatch)
    assert code == 2
    assert "no closed form is known" in said
    assert "supershingling" in said


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["statistics", "none.jsonl", "-o", "x", "-d", "winnowing"], "needs no statistics"),
        (["dedup", "CRAWL", "-o", "OUT", "-d", "i-match", "--statistics", "CRAWL"], "this is no file of neardup"),
        (["dedup", "CRAWL", "-o", "OUT", "-d", "i-match", "--statistics", "nowhere"], "cannot read"),
    ],
)
def test_what_cannot_be_done_says_so(
    arguments: list[str], message: str, crawl: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = {"CRAWL": str(crawl), "OUT": str(tmp_path / "out")}
    code, _, said = told(*(places.get(word, word) for word in arguments), monkeypatch=monkeypatch)
    assert code in (1, 2)
    assert message in said
    assert not (tmp_path / "out").exists()
