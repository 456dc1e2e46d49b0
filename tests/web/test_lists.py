"""Lists, cuts and revisions against plain answers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import networkx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup import Settings, dedup, open_result
from neardup.errors import FormatError, UsageError
from neardup.graph.cut import Shape, cut, steps
from neardup.results.revision import Decisions, revise, shape_of
from neardup.results.rows import StoredTable, TableRows
from neardup.sinks import write_table
from neardup.web.decisions import DecisionStore, digest
from neardup.web.listing import Lists, Query
from neardup.web.run import OpenRun


@st.composite
def graphs(draw: st.DrawFn) -> Shape:
    """Small graphs with identity sets and scores that repeat."""
    pages = draw(st.integers(2, 14))
    identity = np.arange(pages)
    for row in range(1, pages):
        if draw(st.integers(0, 4)) == 0:
            identity[row] = identity[draw(st.integers(0, row - 1))]
    heads = np.unique(identity).tolist()
    possible = [(a, b) for a in heads for b in heads if a < b]
    pairs = draw(st.lists(st.sampled_from(possible), unique=True, max_size=20)) if possible else []
    pairs.sort()
    score = np.array([draw(st.sampled_from([0.5, 0.6, 0.7, 0.8, 0.9, 1.0])) for _ in pairs])
    a, b = (np.array([pair[side] for pair in pairs], np.uint32) for side in (0, 1))
    plain = Shape(identity.astype(np.uint32), np.zeros(pages, np.int32), np.ones(pages, bool), a, b, score,
                  np.ones(len(pairs), bool), True)  # fmt: skip
    return plain.without(np.zeros(len(pairs), bool))


def components(shape: Shape, threshold: float) -> list[list[int]]:
    graph = networkx.Graph()
    graph.add_nodes_from(range(shape.pages))
    graph.add_edges_from(enumerate(shape.identity.tolist()))
    edges = zip(shape.a.tolist(), shape.b.tolist(), shape.score.tolist(), strict=True)
    graph.add_edges_from((a, b) for a, b, score in edges if score >= threshold)
    return sorted(sorted(part) for part in networkx.connected_components(graph) if len(part) > 1)


@given(graphs())
def test_the_forest_gives_the_components_of_all_pairs_at_every_threshold(shape: Shape) -> None:
    for threshold in [*steps(shape).tolist(), 0.65, 1.0]:
        found = cut(shape, threshold)
        assert [found.members(int(first)).tolist() for first in found.first] == components(shape, threshold)


@given(graphs(), st.data())
def test_what_goes_was_accepted_against_what_stays(shape: Shape, data: st.DataObject) -> None:
    threshold = data.draw(st.sampled_from([0.0, 0.7, 0.9]))
    chosen = data.draw(st.lists(st.integers(0, shape.pages - 1), unique=True, max_size=2))
    found = cut(shape, threshold, np.array(chosen, np.uint32))
    held = shape.score >= threshold
    pairs = {frozenset(pair) for pair in zip(shape.a[held].tolist(), shape.b[held].tolist(), strict=True)}
    for row, instead in enumerate(found.instead.tolist()):
        assert found.kept[instead]
        own, other = int(shape.identity[row]), int(shape.identity[instead])
        assert own == other or frozenset((own, other)) in pairs
    if chosen:
        assert found.kept[chosen[0]], "who was chosen first stays"


@pytest.fixture(scope="module")
def run(run_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenRun]:
    opened = OpenRun(run_folder, tmp_path_factory.mktemp("lists") / "decisions.sqlite")
    yield opened
    opened.close()


def test_the_numbers_are_those_of_the_tables(run: OpenRun) -> None:
    clusters = open_result(run.folder).clusters
    found = run.cut()
    ids = run.pages.take(found.first, ["id"]).column(0)
    assert ids.to_pylist() == clusters["cluster"].to_pylist()
    for name, values in (("size", found.size), ("sites", found.sites), ("kept", found.kept_count)):
        assert values.tolist() == clusters[name].to_pylist(), name
    assert np.allclose(found.cohesion, clusters["cohesion"].to_numpy())
    assert (found.kept == run.shape.kept).all()


@pytest.mark.parametrize(
    "words",
    [
        {}, {"sort": "cohesion", "ascending": "1"}, {"least": "3", "most": "6"}, {"cohesion_to": "0.9"},
        {"reason": "identical"}, {"text": "ARTICLE"}, {"sort": "sites"}, {"sort": "first"},
        {"text": "no such text anywhere"},
    ],
)  # fmt: skip
def test_a_list_is_what_a_plain_filter_finds(run: OpenRun, words: dict[str, str]) -> None:
    result = open_result(run.folder)
    pages = result.pages.to_pylist()
    expected = []
    for row in result.clusters.to_pylist():
        members = [page for page in pages if page["cluster"] == row["cluster"]]
        if not int(words.get("least", 0)) <= row["size"] <= int(words.get("most", 10**9)):
            continue
        if row["cohesion"] > float(words.get("cohesion_to", 1)):
            continue
        if "reason" in words and words["reason"] not in {page["reason"] for page in members}:
            continue
        text = words.get("text", "").lower()
        if text and not any(text in f"{p['url']}\n{p['id']}\n{p['title']}".lower() for p in members):
            continue
        expected.append(row)
    key = words.get("sort", "size")
    if key != "first":
        expected.sort(key=lambda row: row[key] if words.get("ascending") else -row[key])
    lists, query = Lists(run), Query.of(words)
    blocks = [lists.rows(query, start, 7) for start in range(0, len(expected) + 7, 7)]
    found = [row for block in blocks for row in block]
    assert [row["id"] for row in found] == [row["cluster"] for row in expected]
    assert [row["size"] for row in found] == [row["size"] for row in expected]


def test_every_site_and_every_state_can_be_asked_for(run: OpenRun) -> None:
    lists, pages = Lists(run), open_result(run.folder).pages.to_pylist()
    sizes: dict[str, int] = {}
    for page in pages:
        sizes[page["cluster"]] = sizes.get(page["cluster"], 0) + 1
    for site in run.site_names[:5]:
        expected = {p["cluster"] for p in pages if p["site"] == site and sizes[p["cluster"]] > 1}
        found = {row["id"] for row in lists.rows(Query(site=site), 0, 10_000)}
        assert found == expected
    first = int(run.cut().first[0])
    run.store.put("cluster", str(first), "accepted", digest(run.cut().members(first)))
    accepted = lists.rows(Query(state="accepted"), 0, 10)
    assert [row["first"] for row in accepted] == [first]
    assert first not in {row["first"] for row in lists.rows(Query(state="open"), 0, 10_000)}
    run.store.put("cluster", str(first), "accepted", 1)
    assert lists.rows(Query(state="accepted"), 0, 10) == [], "it had other pages then"
    assert run.decisions()[1] == 1
    run.store.remove("cluster", str(first))


def test_a_rejected_pair_splits_a_cluster_and_comes_back(run: OpenRun) -> None:
    whole = run.cut()
    pairs = next(first for first in whole.first if len(whole.pairs_of(first)) == 1 == len(whole.members(first)) - 1)
    place = whole.pairs_of(int(pairs))
    a, b = int(whole.shape.a[place[0]]), int(whole.shape.b[place[0]])
    run.store.put("pair", f"{a} {b}", "rejected")
    assert int(pairs) not in run.cut().first
    run.store.remove("pair", f"{a} {b}")
    assert int(pairs) in run.cut().first


def test_a_revision_without_decisions_is_the_run(run_folder: Path, tmp_path: Path) -> None:
    old, new = open_result(run_folder), revise(run_folder, tmp_path / "new", Decisions())
    assert new.pages.equals(old.pages)
    assert new.pairs.equals(old.pairs)
    assert new.clusters.equals(old.clusters)
    assert new.report["counts"] == old.report["counts"]


def test_a_revision_at_a_threshold_is_the_run_at_that_threshold(run_folder: Path, tmp_path: Path) -> None:
    report = open_result(run_folder).report
    inputs = report["input"]["paths"]
    # All pairs of the higher threshold were found at the lower one: their bands are made for it.
    detector = report["detector"].replace("threshold=0.6", "threshold=0.9,bands=40,rows=4")
    low = dedup(inputs, tmp_path / "low", detector=detector.replace("0.9", "0.6"), settings=Settings(threads=1))
    high = dedup(inputs, tmp_path / "high", detector=detector, settings=Settings(threads=1))
    new = revise(tmp_path / "low", tmp_path / "new", Decisions(threshold=0.9))
    assert low.clusters.num_rows > 0
    assert new.pairs.select(["a", "b"]).equals(high.pairs.select(["a", "b"]))
    assert new.pages["cluster"].equals(high.pages["cluster"])
    assert new.clusters.select(["size", "cohesion", "diameter"]).equals(
        high.clusters.select(["size", "cohesion", "diameter"])
    )
    with pytest.raises(UsageError, match="no pairs below"):
        revise(tmp_path / "low", tmp_path / "none", Decisions(threshold=0.1))


def test_a_revision_with_the_forest_alone_removes_nothing_for_nothing(tmp_path: Path) -> None:
    words = np.array([f"w{number}" for number in range(400)])
    starts = np.cumsum(np.tile([1, 9, 2, 7, 3], 8))
    texts = [" ".join(words[start : start + 200]) for start in starts.tolist()]
    lines = [json.dumps({"id": f"p{at}", "text": text}) + "\n" for at, text in enumerate(texts)]
    (tmp_path / "chain.jsonl").write_text("".join(lines))
    settings = Settings(threads=1, max_pairs=1)
    old = dedup(tmp_path / "chain.jsonl", tmp_path / "forest", detector="minhash(threshold=0.6)", settings=settings)
    assert old.report["pairs"]["held"] == "spanning forest"
    same = revise(tmp_path / "forest", tmp_path / "same", Decisions())
    assert same.pages.equals(old.pages)
    new = revise(tmp_path / "forest", tmp_path / "new", Decisions(threshold=0.95))
    assert 0 < new.pairs.num_rows < old.pairs.num_rows
    pairs = {(row["row_a"], row["row_b"]) for row in new.pairs.to_pylist()}
    shape = shape_of(old)
    rows = {page["id"]: page["row"] for page in new.pages.to_pylist()}
    for page in new.pages.to_pylist():
        if not page["kept"] and page["reason"] == "near-duplicate":
            ends = sorted(int(shape.identity[row]) for row in (page["row"], rows[page["kept_instead"]]))
            assert tuple(ends) in pairs
    assert any("spanning forest" in warning for warning in new.report["warnings"])


def stored(path: Path) -> StoredTable:
    return StoredTable([open(path, "rb")], path)


def test_rows_of_a_table_by_number(tmp_path: Path) -> None:
    table = pa.table({"id": [f"p{row}" for row in range(1000)], "n": range(1000)})
    with pq.ParquetWriter(tmp_path / "t.parquet", table.schema) as writer:
        for start in range(0, 1000, 64):
            writer.write_table(table.slice(start, 64))
    rows = TableRows(stored(tmp_path / "t.parquet"))
    wanted = np.random.default_rng(0).integers(0, 1000, 300)
    assert rows.take(wanted, ["n", "id"]).column("n").to_pylist() == wanted.tolist()
    assert len(rows) == 1000
    assert rows.take([], ["id"]).num_rows == 0
    with pytest.raises(IndexError):
        rows.take([1000], ["id"])
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 and nothing")
    with pytest.raises(FormatError, match="damaged"):
        stored(tmp_path / "bad.parquet")


def test_decisions_belong_to_their_run(tmp_path: Path) -> None:
    DecisionStore(tmp_path / "d.sqlite", "one").close()
    with pytest.raises(FormatError, match="another run"):
        DecisionStore(tmp_path / "d.sqlite", "two")
    (tmp_path / "x.sqlite").write_bytes(json.dumps({}).encode() * 50)
    with pytest.raises(Exception, match=r"cannot be stored|not a file"):
        DecisionStore(tmp_path / "x.sqlite", "one")
    write_table(pa.table({"a": [1]}), tmp_path / "t.parquet")
