"""Explanations: of every relation two pages can have, from every kind of input, and the same as the run decided."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from neardup import dedup, explain, open_result, parse
from neardup.comparison import compare_batch
from neardup.errors import InputError
from neardup.methods import detectors
from neardup.report.explain import Explanation, explain_pages
from neardup.report.explain_page import explain_page
from neardup.report.paths import PairGraph
from neardup.report.verdicts import verdict_of
from neardup.results.pages import RunPages
from neardup.sources.memory import texts
from neardup.testing import Web
from neardup.text import read


@pytest.fixture(scope="module", params=[None, "site-aware"])
def run(request: pytest.FixtureRequest, small_web: Web, tmp_path_factory: pytest.TempPathFactory) -> RunPages:
    """A run by default, which counts statistics, and one by several rules."""
    folder = tmp_path_factory.mktemp("run")
    small_web.write_warc(folder / "web.warc.gz")
    dedup(folder / "web.warc.gz", folder / "out", detector=request.param)
    return RunPages(folder / "out")


def records(run: RunPages) -> list[dict[str, Any]]:
    table: list[dict[str, Any]] = run.result.pages.to_pylist()
    return table


def check(told: Explanation) -> None:
    """What holds of every explanation."""
    a, b = told.sides
    at_a = at_b = 0
    for start_a, end_a, start_b, end_b in told.hunks.tolist():
        assert a.terms[at_a:start_a] == b.terms[at_b:start_b]
        at_a, at_b = end_a, end_b
    assert a.terms[at_a:] == b.terms[at_b:]
    assert told.comparison.term_difference is not None
    assert told.unmatched >= told.comparison.term_difference
    json.dumps(told.to_json())
    page = explain_page(told).render()
    assert "<script>" not in page


def test_a_page_that_goes_is_tied_to_the_page_kept(run: RunPages) -> None:
    gone = [page for page in records(run) if page["reason"] == "near-duplicate"]
    by_id = {page["id"]: page for page in records(run)}
    for page in gone[:8]:
        told = explain(run, page["id"], page["kept_instead"])
        check(told)
        assert told.relation == "paired"
        assert told.verdicts[0].accepted
        fate = told.fates[0]
        assert (fate.page, fate.kept_instead) == (page["id"], page["kept_instead"])
        assert fate.path[0].a == page["identity"]
        assert fate.path[-1].b == by_id[page["kept_instead"]]["identity"]
        assert [step.b for step in fate.path[:-1]] == [step.a for step in fate.path[1:]]


def test_identical_pages(run: RunPages) -> None:
    page = next(page for page in records(run) if page["reason"] == "identical")
    told = explain(run, page["row"], page["kept_instead"])
    check(told)
    assert told.relation == "identical"
    assert len(told.hunks) == 0
    assert told.verdicts[0].accepted


def test_pages_that_are_not_joined_say_what_kept_them_apart(run: RunPages) -> None:
    unique = [page for page in records(run) if page["reason"] == "unique"]
    told = explain(run, unique[0]["url"], unique[1]["id"])
    check(told)
    assert told.relation == "apart"
    assert not told.verdicts[0].accepted
    assert "different clusters" in told.because[0]
    rules = told.verdicts[0].rules
    assert any(rule.speaks and rule.margin < 0 for rule in rules)
    assert any("too few" in sentence or "below the" in sentence for sentence in told.because)


@pytest.mark.parametrize("run", ["site-aware"], indirect=True)
def test_one_cluster_without_a_pair(run: RunPages) -> None:
    pages = records(run)
    pairs = {frozenset((pair["row_a"], pair["row_b"])) for pair in run.result.pairs.to_pylist()}
    first_of = {page["identity"]: page["row"] for page in reversed(pages)}
    found = 0
    for a in pages:
        for b in pages[a["row"] + 1 :]:
            ends = frozenset((first_of[a["identity"]], first_of[b["identity"]]))
            if a["cluster"] == b["cluster"] and len(ends) == 2 and ends not in pairs:
                told = explain(run, a["row"], b["row"])
                check(told)
                assert told.relation == "connected"
                assert len(told.path) >= 2
                found += 1
                break
        if found == 3:
            break
    assert found


def test_the_same_page_twice_and_short_pages(run: RunPages) -> None:
    check(explain(run, 0, 0))
    assert explain(run, 0, 0).relation == "same page"
    short = [page for page in records(run) if page["reason"] in ("short", "empty")]
    for page in short[:2]:
        told = explain(run, page["row"], 0)
        check(told)
        assert told.verdicts[0].note is not None


def test_verdicts_say_what_a_run_over_the_two_decides(web_pages: list[dict[str, Any]]) -> None:
    dice = random.Random(5)
    judges = [parse(name) for name in detectors() if not parse(name).counted()]
    pairs = [(pages[0], pages[1]) for pages in (dice.sample(web_pages, 2) for _ in range(2))]
    near = sorted(web_pages, key=lambda page: page["url"])
    pairs += [(near[at], near[at + 1]) for at in range(0, 100, 12)]
    accepted = 0
    for a, b in pairs:
        batch = texts([a, b]).batches[0]
        found = compare_batch(batch, judges=judges)
        tokens = read(batch).tokens
        for judge in judges:
            told = verdict_of(judge, batch, tokens, same_site=found.same_site, identical=found.identical)
            assert told is not None
            # A pair at exactly 12 differing bits may share no piece; the run misses it too.
            assert told.accepted == found.decisions[str(judge)], (str(judge), a["id"], b["id"], told)
            accepted += told.accepted
    assert accepted > 10


@pytest.mark.parametrize("kind", ["jsonl", "jsonl.gz", "parquet", "tree"])
def test_from_every_kind_of_input(kind: str, web_pages: list[dict[str, Any]], tmp_path: Path) -> None:
    import gzip

    lines = "".join(json.dumps(page) + "\n" for page in web_pages[:60])
    source = tmp_path / f"pages.{kind}"
    if kind == "tree":
        source.mkdir()
        for at, page in enumerate(web_pages[:60]):
            (source / f"{at:03}.html").write_text(page["html"], encoding="utf-8")
    elif kind == "parquet":
        pq.write_table(pa.Table.from_pylist(web_pages[:60]), source)
    else:
        source.write_bytes(gzip.compress(lines.encode()) if kind.endswith("gz") else lines.encode())
    dedup(source, tmp_path / "out", detector="minhash")
    told = explain(tmp_path / "out", 7, 31)
    check(told)
    assert told.sides[0].record is not None
    assert told.comparison.tokens[0] == told.sides[0].record["tokens"]


def test_standard_input_is_explained_from_the_store(web_pages: list[dict[str, Any]], tmp_path: Path) -> None:
    lines = "".join(json.dumps(page) + "\n" for page in web_pages[:40]).encode()
    command = [sys.executable, "-m", "neardup", "dedup", "-", "--format", "jsonl", "-q", "-d", "broder", "--out"]
    subprocess.run([*command, tmp_path / "without"], input=lines, check=True)
    with pytest.raises(InputError, match="--store"):
        explain(tmp_path / "without", 3, 5)
    subprocess.run([*command, tmp_path / "with", "--store"], input=lines, check=True)
    check(explain(tmp_path / "with", 3, 5))
    for file in ("pairs.parquet", "clusters.parquet"):
        assert (tmp_path / "with" / file).read_bytes() == (tmp_path / "without" / file).read_bytes()


def test_an_input_that_changed_is_an_error(web_pages: list[dict[str, Any]], tmp_path: Path) -> None:
    source = tmp_path / "pages"
    source.mkdir()
    for at in range(3):
        (source / f"{at}.html").write_text(web_pages[at]["html"], encoding="utf-8")
    dedup(source, tmp_path / "out")
    (source / "1.html").write_text("<p>something else", encoding="utf-8")
    with pytest.raises(InputError, match="is not what the run read"):
        explain(tmp_path / "out", 0, 1)
    with pytest.raises(InputError, match="no page has the id or URL 'nobody'"):
        explain(tmp_path / "out", "nobody", 1)
    with pytest.raises(InputError, match="no page has the row 99"):
        explain(tmp_path / "out", 99, 1)


def test_paths_are_the_shortest(tmp_path: Path) -> None:
    networkx = pytest.importorskip("networkx", reason="the shortest paths are held against those of networkx")
    generator = np.random.default_rng(4)
    for _ in range(20):
        edges = np.unique(np.sort(generator.integers(0, 40, (50, 2)), axis=1), axis=0)
        edges = edges[edges[:, 0] != edges[:, 1]]
        scores = generator.random(len(edges))
        graph = PairGraph(pa.table({"row_a": edges[:, 0], "row_b": edges[:, 1], "score": scores}))
        twin = networkx.Graph(edges.tolist())
        for start, goal in generator.integers(0, 40, (20, 2)).tolist():
            path = graph.path(start, goal)
            if start not in twin or goal not in twin or not networkx.has_path(twin, start, goal):
                assert path == ([] if start == goal else None)
            else:
                assert path is not None
                assert len(path) == networkx.shortest_path_length(twin, start, goal)
                best = max(
                    min((scores[_edge(edges, pair)] for pair in pairwise(way)), default=1.0)
                    for way in networkx.all_shortest_paths(twin, start, goal)
                )
                assert min((pair["score"] for pair in path), default=1.0) == pytest.approx(best)


def _edge(edges: Any, pair: tuple[int, int]) -> int:
    return int(np.flatnonzero((edges == sorted(pair)).all(axis=1))[0])


def test_hostile_texts_are_shown_not_obeyed() -> None:
    planted = "<script>alert(1)</script> \x1b[31m \u202e"
    a = {"text": f"{planted} one two three four five six seven eight", "id": "<b>A</b>", "url": "javascript:alert(1)"}
    told = explain_pages(a, {"text": "one two three four five six seven nine", "id": "B\x1b]0;x\x07"})
    page = explain_page(told).render()
    assert "<b>A</b>" not in page
    assert "\x1b" not in page
    assert "\u202e" not in page
    assert 'href="javascript' not in page


def test_the_command(run: RunPages, tmp_path: Path) -> None:
    folder = run.result.folder
    gone = next(page for page in records(run) if page["reason"] == "near-duplicate")
    command = [sys.executable, "-m", "neardup", "explain", gone["url"], gone["kept_instead"], "--run", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={"COLUMNS": "80", "PATH": ""})
    assert "Kind of difference: " in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    told = json.loads(subprocess.run([*command, "--json"], capture_output=True, text=True, check=True).stdout)
    assert told["relation"] == "paired"
    subprocess.run([*command, "--html", tmp_path / "e.html"], check=True, capture_output=True)
    assert (tmp_path / "e.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    files = [tmp_path / "a.html", tmp_path / "b.html"]
    for at, file in enumerate(files):
        file.write_text(f"<p>one two three four five six seven eight {at}")
    done = subprocess.run([*command[:4], *map(str, files)], capture_output=True, text=True, check=True)
    assert "Two pages" in done.stdout
    assert open_result(str(folder)).report["counts"]["pages"] == len(run)
