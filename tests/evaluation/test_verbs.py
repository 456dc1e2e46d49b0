"""The laboratory's verbs as a user meets them."""

from __future__ import annotations

import builtins
import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

from neardup.cli.main import application
from neardup.errors import MissingExtra, OutputError
from neardup.testing import Web


def call(*args: str | Path) -> Result:
    """A call in this process that must go well."""
    result = CliRunner().invoke(application, [str(arg) for arg in args], prog_name="neardup")
    if result.exception is not None:
        raise result.exception
    return result


def reported(folder: Path, command: str) -> str:
    """The report that every evaluation leaves: one small file that loads nothing, and says how to repeat it."""
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert len(page.encode()) < 3_000_000
    assert "default-src 'none'" in page
    assert 'id="stages"' in page
    assert f"<pre><code>neardup {command}" in page
    assert json.loads((folder / "run.json").read_text())["command"].startswith(f"neardup {command}")
    return page


@pytest.fixture(scope="module")
def pages(small_web: Web, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pages") / "pages.jsonl"
    rows = ({"id": f"p{at}", "html": page.html, "url": page.url} for at, page in enumerate(small_web.pages))
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_a_run_is_certified_and_shown(pages: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    told = call("dedup", pages, "--out", out, "--certify")
    assert "Certificate: agreement with Jaccard similarity of 5-token" in told.stdout
    assert "true pairs that are accepted" in told.stdout
    report = json.loads((out / "run.json").read_text())
    assert report["settings"]["hold_tokens"] is True
    assert [stage["name"] for stage in report["stages"]][-3:] == ["certifying", "writing", "report"]
    assert "Certificate" in call("show", out).stdout
    again = json.loads(call("certify", out, "--json").stdout)
    assert again == report["certificate"]


def test_standard_input_is_certified_while_it_is_there(pages: Path, tmp_path: Path) -> None:
    runner = CliRunner()
    arguments = ["dedup", "-", "--out", str(tmp_path / "out"), "--certify", "--format", "jsonl", "--json"]
    result = runner.invoke(application, arguments, input=pages.read_bytes())
    assert result.exception is None, result.output
    assert json.loads(result.stdout)["certificate"]["kept"]["repeats"]["estimate"] is not None


def test_another_notion_can_be_asked_for(pages: Path, tmp_path: Path) -> None:
    call("dedup", pages, "--out", tmp_path / "out")
    told = call("certify", tmp_path / "out", "--threshold", "0.9", "--sample", "50", "--seed", "4")
    assert "at least 0.9" in " ".join(told.stdout.split())


def test_graph_tells_laws_and_labels(pages: Path, tmp_path: Path) -> None:
    call("dedup", pages, "--out", tmp_path / "out", "--detector", "broder")
    printed = " ".join(call("evaluate", "graph", tmp_path / "out", "--resamples", "5").stdout.split())
    assert "Pairs by b_similarity" in printed
    assert "Power laws" in printed
    told = json.loads(call("evaluate", "graph", tmp_path / "out", "--resamples", "0", "--json").stdout)
    assert told["edges"] == pq.read_table(tmp_path / "out" / "pairs.parquet").num_rows
    # An earlier one is replaced, in the run's own folder only.
    report = reported(tmp_path / "out" / "graph", "evaluate graph")
    assert json.loads((tmp_path / "out" / "graph" / "run.json").read_text()) == told
    assert f"{told['edges']:,} pairs</h1>" in report
    assert report.count("data-plot=") == 5, "labels, degrees, sizes, and two of the stages"
    call("evaluate", "graph", tmp_path / "out", "--out", tmp_path / "graph", "--resamples", "3")
    assert "exponent" in reported(tmp_path / "graph", "evaluate graph")
    with pytest.raises(OutputError, match="exists already"):
        call("evaluate", "graph", tmp_path / "out", "--out", tmp_path / "graph")
    call("dedup", pages, "--out", tmp_path / "none", "--detector", "exact")
    assert "no edge" in call("evaluate", "graph", tmp_path / "none").stdout
    assert "no edge" in reported(tmp_path / "none" / "graph", "evaluate graph")


def test_the_oracle_writes_its_pairs(pages: Path, tmp_path: Path) -> None:
    told = call("evaluate", "oracle", pages, "--out", tmp_path / "exact", "--measure", "containment")
    assert "at containment ≥ 0.8, exactly" in told.stdout
    report = json.loads((tmp_path / "exact" / "run.json").read_text())
    table = pq.read_table(tmp_path / "exact" / "pairs.parquet")
    assert table.num_rows == report["pairs"] > 0
    assert min(table["similarity"].to_pylist()) >= 0.8
    assert f"{report['pairs']:,} pairs of" in reported(tmp_path / "exact", "evaluate oracle")
    with pytest.raises(OutputError, match="exists already"):
        call("evaluate", "oracle", pages, "--out", tmp_path / "exact")


def test_pairs_and_curves_are_printed_and_written(pages: Path, tmp_path: Path) -> None:
    judged = tmp_path / "judged.csv"
    judged.write_text("a,b,label\np0,p1,0\np2,p2,1\np3,p4,0\n")
    command = ("evaluate", "pairs", "--pages", pages, "--pairs", judged, "-d", "exact")
    left_out = call(*command, "--out", tmp_path / "without")
    assert "2 judged pairs: 0 correct, 2 incorrect" in left_out.stdout
    assert "Left out: 1 pairs of identical pages (--count-identical counts them)." in left_out.stdout
    told = call(*command, "--out", tmp_path / "pairs", "--count-identical")
    assert "3 judged pairs: 1 correct, 2 incorrect" in told.stdout
    assert {"scores.parquet", "pairs.parquet", "roc.svg", "run.json"} <= {
        p.name for p in (tmp_path / "pairs").iterdir()
    }
    assert "1 detectors on 3 judged pairs" in reported(tmp_path / "pairs", "evaluate pairs --pages")
    corpus = tmp_path / "versions.jsonl"
    text = "one two three four five six seven eight nine ten "
    rows = [{"id": str(at), "doc": f"d{at // 2}", "text": text * 3 + f"end {at // 2}"} for at in range(6)]
    corpus.write_text("".join(json.dumps(row) + "\n" for row in rows))
    told = call("evaluate", "curves", corpus, "--out", tmp_path / "curves", "-m", "broder", "-m", "exact")
    assert "6 revisions of 3 articles, 5 pairs compared" in told.stdout
    assert "Methods and their cost" in reported(tmp_path / "curves", "evaluate curves")


def test_missing_plots_are_told_before_the_work(pages: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usual = builtins.__import__

    def without(name: str, *args: Any, **options: Any) -> Any:
        if name.split(".")[0] == "matplotlib":
            raise ImportError(name)
        return usual(name, *args, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtra, match=r"neardup\[plots\]"):
        call("evaluate", "curves", pages, "--out", tmp_path / "out")
    assert not (tmp_path / "out").exists()
