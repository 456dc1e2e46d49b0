"""The command: what it prints, what it refuses, and two studies compared."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import click
import pytest

from neardup.cli.main import application
from neardup.errors import NeardupError
from neardup.study import Study, compare_studies, study

TEXT = "".join(f"This is sentence number {number} of a page. " for number in range(20))


def crawl(folder: Path, name: str, pages: Mapping[str, str]) -> Study:
    """A study of pages given by URL and what tells their text from others."""
    lines = (json.dumps({"url": f"http://a.example/{url}", "text": TEXT + body}) for url, body in pages.items())
    (folder / f"{name}.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return study(folder / f"{name}.jsonl", folder / name)


def run(*arguments: str) -> None:
    application.main(list(arguments), standalone_mode=False)


def test_every_fate_of_a_cluster(tmp_path: Path) -> None:
    before = {"a1": "A", "a2": "A", "b1": "B", "b2": "B", "c1": "C", "c2": "C", "d1": "D", "d2": "D"}
    before |= {"e1": "E", "e2": "E", "f1": "F", "f2": "F", "g1": "G", "g2": "G", "g3": "G", "g4": "G", "h": "H"}
    after = {"a1": "A", "a2": "A", "b1": "B", "b2": "B", "b3": "B", "c1": "C", "c2": "C", "d1": "C", "d2": "C"}
    after |= {"f1": "F", "f2": "changed", "g1": "G", "g2": "G", "g3": "new", "g4": "new", "i1": "I", "i2": "I"}
    found = compare_studies(crawl(tmp_path, "before", before), crawl(tmp_path, "after", after))
    assert {kind: count for kind, count in found.counts["clusters"].items() if count} == {
        "unchanged": 1,  # a
        "stable": 1,  # b
        "merged": 1,  # c and d
        "split": 1,  # g
        "born": 1,  # i
        "dead": 2,  # e is gone, f is no longer alike
    }
    assert found.counts["dead_with_all_but_one_page_gone"] == 1
    assert found.counts["dead_though_pages_are_there"] == 1
    assert found.counts["pages"]["in_both"] == 14
    again = compare_studies(tmp_path / "before", tmp_path / "after")
    assert again.clusters.equals(found.clusters)


def test_printed_tables(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    crawl(tmp_path, "one", {"a": "A", "b": "A", "c": "C"})
    run("study", str(tmp_path / "one.jsonl"), "--out", str(tmp_path / "two"), "--levels", "80%,0.6")
    said = capfd.readouterr().out
    assert "3 pages, of which 3 were compared: 1 duplicates (33.3 %) in 1 clusters" in said
    assert "80%" in said
    assert "60%" in said
    assert "! no link leads from a page to another" in said
    run("study", "compare", str(tmp_path / "one"), str(tmp_path / "two"), "--out", str(tmp_path / "groups.parquet"))
    assert "1  unchanged" in capfd.readouterr().out
    assert (tmp_path / "groups.parquet").exists()
    run("study", "compare", str(tmp_path / "one"), str(tmp_path / "two"), "--json")
    assert json.loads(capfd.readouterr().out)["clusters"]["unchanged"] == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--levels", "high"], "'high' is no share"),
        (["--levels", "100"], "levels are shares between 0 and 1"),
        (["--stop-at", "0%"], "stop_at is a share"),
        (["--like", "nowhere"], "not a study"),
        (["--detector", "none"], "unknown detector"),
        (["--links", "nowhere.tsv"], "nowhere.tsv"),
    ],
)
def test_what_is_refused_leaves_nothing_behind(tmp_path: Path, arguments: list[str], said: str) -> None:
    (tmp_path / "pages.jsonl").write_text(json.dumps({"text": TEXT}))
    with pytest.raises(NeardupError, match=said):
        run("study", str(tmp_path / "pages.jsonl"), "--out", str(tmp_path / "out"), "-q", *arguments)
    assert [path.name for path in tmp_path.iterdir()] == ["pages.jsonl"]


def test_only_studies_are_overwritten_and_compared(tmp_path: Path) -> None:
    crawl(tmp_path, "one", {"a": "A"})
    with pytest.raises(NeardupError, match="exists already"):
        study(tmp_path / "one.jsonl", tmp_path / "one")
    study(tmp_path / "one.jsonl", tmp_path / "one", overwrite=True)
    (tmp_path / "else").mkdir()
    (tmp_path / "else" / "run.json").write_text("{}")
    with pytest.raises(NeardupError, match="not a result"):
        study(tmp_path / "one.jsonl", tmp_path / "else", overwrite=True)
    with pytest.raises(NeardupError, match="not a study"):
        compare_studies(tmp_path / "one", tmp_path / "else")
    (tmp_path / "one" / "study.json").write_text("[]")
    with pytest.raises(NeardupError, match="the study is damaged"):
        compare_studies(tmp_path / "one", tmp_path / "one")
    with pytest.raises(click.UsageError):
        run("study", "compare", str(tmp_path / "one"))


def test_growth_of_a_part_is_no_guide(tmp_path: Path) -> None:
    crawl(tmp_path, "one", {name: name for name in "abcdefgh"})
    study(tmp_path / "one.jsonl", tmp_path / "part", steps=4, stop_at=0.5)
    with pytest.raises(NeardupError, match="only a study of all steps"):
        study(tmp_path / "one.jsonl", like=[tmp_path / "part"])


def test_a_hostile_name_stays_text_on_the_page(tmp_path: Path) -> None:
    (tmp_path / "pages.jsonl").write_text(json.dumps({"text": TEXT}))
    study(tmp_path / "pages.jsonl", tmp_path / "out", name="<script>alert(1)</script>")
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert" in page
