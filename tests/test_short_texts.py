"""Pages that are too short to compare: wherever that is said, it is said what compares them, and that does."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from neardup.cli.main import application
from neardup.report.explain import explain
from neardup.text import Reading

ADVICE = "--min-tokens 2 -d 'minhash(k=1,threshold=0.6)'"
TEXTS = ["buy cheap red shoes online", "buy cheap red shoes online now", "word", "other"]


def run(*words: str | Path) -> str:
    done = CliRunner().invoke(application, [str(word) for word in words])
    assert done.exception is None, done.exception
    return done.output


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    path = tmp_path / "pages.jsonl"
    path.write_text(
        "".join(json.dumps({"id": str(at), "text": text}) + "\n" for at, text in enumerate(TEXTS)), encoding="utf-8"
    )
    return path


def test_the_advice_stands_wherever_pages_are_too_short_and_works(pages: Path, tmp_path: Path) -> None:
    assert Reading().for_short == ADVICE
    summary = run("dedup", pages, "-o", tmp_path / "out")
    assert f"to compare them: {ADVICE}" in summary
    assert ADVICE in run("show", tmp_path / "out")
    assert "compared with --min-tokens 2" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    told = " ".join(run("explain", "0", "1", "--run", tmp_path / "out").split())
    assert f"A run with {ADVICE} compares them" in told
    for at in (0, 1):
        (tmp_path / f"{at}.txt").write_text(TEXTS[at], encoding="utf-8")
    files = [tmp_path / "0.txt", tmp_path / "1.txt"]
    assert ADVICE in " ".join(run("explain", *files).split())
    assert ADVICE in run("compare", *files)
    # What is advised does it, and needs no more advice.
    advised = run("dedup", pages, "-o", tmp_path / "again", *shlex.split(ADVICE))
    assert "1 of 4 pages" in advised
    assert "to compare them" not in advised
    assert explain(tmp_path / "again", "0", "1").relation == "paired"
    assert ADVICE not in " ".join(run("compare", *files, "--min-tokens", "2").split())


def test_of_one_token_nothing_is_advised(pages: Path, tmp_path: Path) -> None:
    run("dedup", pages, "-o", tmp_path / "out")
    for a, b in (("2", "3"), ("0", "2")):
        assert ADVICE not in " ".join(explain(tmp_path / "out", a, b).because)


def test_where_no_page_is_short_nothing_is_said(tmp_path: Path) -> None:
    (tmp_path / "long.txt").write_text(" ".join(f"w{number}" for number in range(20)), encoding="utf-8")
    assert "--min-tokens" not in run("dedup", tmp_path / "long.txt", "-o", tmp_path / "out")
    report = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "compared with --min-tokens" not in report
