"""A new crawl against what earlier runs kept: what one run over both would have removed."""

from __future__ import annotations

import json
import random
import re
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import neardup.engines.local.run as local
from neardup import Settings
from neardup.cli.main import application
from neardup.engines.common.earlier import STATISTICS
from neardup.errors import InputError, UsageError
from neardup.job import dedup
from neardup.methods import parse
from neardup.report.run_report import write_report
from neardup.results import open_result

#: The last three need statistics: tokens that are rare, chunks that are, and blocks of content.
DETECTORS = [
    "site-aware", "minhash(threshold=0.6)", "winnowing", "broder", "exact", "i-match", "rare-chunks", "template-aware",
]  # fmt: skip


def write(path: Path, pages: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(page) + "\n" for page in pages), encoding="utf-8")
    return path


@pytest.fixture
def halves(web_pages: list[dict[str, Any]], tmp_path: Path) -> tuple[Path, Path, list[dict[str, Any]]]:
    pages = list(web_pages)
    random.Random(3).shuffle(pages)
    pages += [{"id": "again", "html": pages[0]["html"], "url": pages[0]["url"]}, {"id": "nothing", "html": ""}]
    return write(tmp_path / "may.jsonl", pages[:150]), write(tmp_path / "june.jsonl", pages[150:]), pages


@pytest.mark.parametrize("detector", DETECTORS)
def test_removes_what_one_run_over_both_would(
    halves: tuple[Path, Path, list[dict[str, Any]]], tmp_path: Path, detector: str
) -> None:
    may, june, pages = halves
    earlier = dedup(may, tmp_path / "may", detector=detector, keep_fingerprints=True)
    found = dedup(june, tmp_path / "june", detector=detector, against=[tmp_path / "may"])
    kept = set(earlier.kept["id"].to_pylist())
    # Pages that the earlier run kept are not alike, so over both only new ones go.
    both = [page for page in pages[:150] if page["id"] in kept] + pages[150:]
    frozen = tmp_path / "may" / STATISTICS
    assert frozen.exists() == bool(parse(detector).counted())
    settings = Settings(statistics=str(frozen) if frozen.exists() else None)
    whole = dedup(write(tmp_path / "both.jsonl", both), detector=detector, settings=settings)
    behind = whole.pages.slice(len(kept))
    for name in ("id", "kept", "kept_instead", "cluster", "identity"):
        assert found.pages[name].to_pylist() == behind[name].to_pylist(), name
    seen = [row for row in found.pages.to_pylist() if row["kept_instead"] in kept]
    assert seen
    assert {row["reason"] for row in seen} <= {"seen-identical", "seen-near-duplicate"}
    pairs = pq.read_table(tmp_path / "june" / "against.parquet")
    assert set(pairs["a"].to_pylist()) <= kept
    assert set(pairs["run"].to_pylist()) <= {str(tmp_path / "may")}
    near = {row["id"] for row in seen if row["reason"] == "seen-near-duplicate"}
    assert near <= set(pairs["b"].to_pylist())


def test_a_third_crawl_is_held_against_both(halves: tuple[Path, Path, list[dict[str, Any]]], tmp_path: Path) -> None:
    may, june, _ = halves
    dedup(may, tmp_path / "may", detector="minhash", keep_fingerprints=True)
    dedup(june, tmp_path / "june", detector="minhash", against=[tmp_path / "may"], keep_fingerprints=True)
    # Both crawls again: nothing of them is new but what has no words.
    for again in (may, june):
        result = dedup(
            again, detector="minhash", against=[tmp_path / "may", tmp_path / "june"], settings=Settings(keep="longest")
        )
        assert set(result.kept["reason"].to_pylist()) <= {"empty"}


def test_it_goes_on_behind_what_was_matched_unless_the_earlier_run_is_another(
    halves: tuple[Path, Path, list[dict[str, Any]]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    may, june, _ = halves
    dedup(may, tmp_path / "may", detector="minhash", keep_fingerprints=True)
    dedup(june, tmp_path / "june", detector="minhash", keep_fingerprints=True)
    against = {name: [tmp_path / name] for name in ("may", "june")}
    whole = {
        name: dedup(june, detector="minhash", against=folders).pages.to_pylist() for name, folders in against.items()
    }
    assert whole["may"] != whole["june"]
    for then, now in (("may", "may"), ("may", "june")):
        with monkeypatch.context() as patched:
            patched.setattr("neardup.job.run.write_outcome", lambda *_, **__: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                dedup(
                    june, tmp_path / "out", detector="minhash", against=against[then], overwrite=True,
                    settings=Settings(commit_every=0),
                )  # fmt: skip
        with monkeypatch.context() as patched:
            match = Mock(wraps=local.match)
            patched.setattr(local, "match", match)
            found = dedup(june, tmp_path / "out", detector="minhash", against=against[now], overwrite=True, resume=True)
        assert found.pages.to_pylist() == whole[now]
        assert match.call_count == (0 if then == now else 1)


def test_what_does_not_fit_is_refused(halves: tuple[Path, Path, list[dict[str, Any]]], tmp_path: Path) -> None:
    may, june, _ = halves
    dedup(may, tmp_path / "plain", detector="minhash")
    with pytest.raises(InputError, match="--keep-fingerprints"):
        dedup(june, detector="minhash", against=[tmp_path / "plain"])
    dedup(may, tmp_path / "kept", detector="minhash", keep_fingerprints=True)
    with pytest.raises(UsageError, match="the same detector"):
        dedup(june, detector="broder", against=[tmp_path / "kept"])


def test_statistics_are_those_of_the_first_crawl(
    halves: tuple[Path, Path, list[dict[str, Any]]], tmp_path: Path
) -> None:
    may, june, _ = halves
    dedup(may, tmp_path / "may", detector="i-match", keep_fingerprints=True)
    second = dedup(june, tmp_path / "june", detector="i-match", against=[tmp_path / "may"], keep_fingerprints=True)
    assert (tmp_path / "may" / STATISTICS).read_bytes() == (tmp_path / "june" / STATISTICS).read_bytes()
    third = dedup(may, detector="i-match", against=[tmp_path / "may", tmp_path / "june"])
    assert third.report["statistics"] == second.report["statistics"]
    assert set(third.kept["reason"].to_pylist()) <= {"empty"}
    # One that counted for itself has other fingerprints, whatever it kept.
    dedup(june, tmp_path / "alone", detector="i-match", keep_fingerprints=True)
    with pytest.raises(UsageError, match="only where they come of the same statistics"):
        dedup(june, tmp_path / "out", detector="i-match", against=[tmp_path / "may", tmp_path / "alone"])
    assert not (tmp_path / "out").exists()


def test_pairs_with_earlier_pages_are_counted_beside_its_own(tmp_path: Path) -> None:
    """Of pages that are like earlier ones only, no pair is the run's own: both numbers are there."""
    words = [[f"page{at}word{place}" for place in range(90)] for at in range(3)]
    may, june = (
        write(tmp_path / f"{month}.jsonl", [{"id": one[0], "text": " ".join([*one, month])} for one in words])
        for month in ("may", "june")
    )
    dedup(may, tmp_path / "may", detector="minhash", keep_fingerprints=True)
    result = dedup(june, tmp_path / "june", detector="minhash", against=[tmp_path / "may"])
    assert (result.pairs.num_rows, result.against.num_rows, result.clusters.num_rows) == (0, 3, 3)
    shown = CliRunner().invoke(application, ["show", str(tmp_path / "june")]).stdout
    assert re.search(r"\n *0  pairs of near-duplicates accepted between pages of this run *\n", shown)
    assert re.search(r"\n *3  pairs of near-duplicates accepted with pages of earlier runs *\n", shown)
    for page in ((tmp_path / "june" / "report.html"), write_report(tmp_path / "june")):
        report = page.read_text(encoding="utf-8")
        assert "<dt>pairs accepted between pages of this run</dt><dd>0" in report
        assert "<dt>pairs accepted with pages of earlier runs</dt><dd>3" in report
    # Where pairs are left out, neither number is sure.
    assert replace(result.accepted, exact=False).in_words() == (
        "at least 0 between pages of this run and at least 3 with pages of earlier runs"
    )
    assert "between" not in open_result(tmp_path / "may").accepted.in_words()
