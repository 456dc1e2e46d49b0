"""Odd inputs: repeated ids, empty and short pages, nothing at all, records that cannot be read."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from neardup import Settings, dedup, find_duplicates
from neardup.errors import InputError, OutputError, UsageError
from neardup.methods import detectors

LONG = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"


def test_ids_that_repeat_or_are_missing() -> None:
    pages: list[dict[str, Any]] = [
        {"id": "x", "text": "a"},
        {"id": "x", "text": "b"},
        {"id": None, "text": "c"},
        {"text": "d"},
        {"id": "x#1", "text": "e"},
        {"id": 5, "text": "f"},
        {"id": "x", "text": "g"},
    ]
    result = find_duplicates(pages, detector="exact")
    ids = result.pages["id"].to_pylist()
    # A page whose own id looks like a made one keeps it.
    assert ids == ["x", "x#1#1", "memory#2", "memory#3", "x#1", "5", "x#6"]
    assert result.report["counts"]["repeated_ids"] == 2
    assert any("ids that occurred before" in warning for warning in result.report["warnings"])


def test_a_repeated_id_names_one_page_only() -> None:
    pages = [
        {"id": "same", "text": LONG},
        {"id": "same", "text": LONG + " more"},
        {"id": "same", "text": LONG},
    ]
    result = find_duplicates(pages, detector="minhash(threshold=0.5)")
    assert result.pages["id"].to_pylist() == ["same", "same#1", "same#2"]
    assert result.pages["identity"].to_pylist() == ["same", "same#1", "same"]
    assert result.pages["kept_instead"].to_pylist() == [None, "same", "same"]
    assert (result.pairs["a"][0].as_py(), result.pairs["b"][0].as_py()) == ("same", "same#1")


@pytest.mark.parametrize("name", sorted(detectors()))
def test_empty_and_short_pages(name: str) -> None:
    short, longer = "just seven words are on this page", "but eight whole words are on this page"
    pages: list[str | dict[str, str]] = [
        "",
        " ... ",
        short,
        short,
        short + "s",
        longer,
        longer,
        "",
        {"html": "<script>x</script>"},
        {"html": ""},
    ]
    result = find_duplicates(pages, detector=name)
    assert result.pages["tokens"].to_pylist() == [0, 0, 7, 7, 7, 8, 8, 0, 0, 0]
    rows = [f"memory#{row}" for row in (0, 1, 2, 2, 4, 5, 5, 7, 8, 9)]
    assert result.pages["identity"].to_pylist() == rows
    assert result.pages["kept"].to_pylist() == [True, True, True, False, True, True, False, True, True, True]
    reasons = [
        "empty",
        "empty",
        "chosen",
        "identical",
        "short",
        "chosen",
        "identical",
        "empty",
        "empty",
        "empty",
    ]
    assert result.pages["reason"].to_pylist() == reasons
    assert result.pairs.num_rows == 0
    counts = result.report["counts"]
    assert (counts["empty"], counts["short"], counts["identical"]) == (5, 3, 2)


@pytest.mark.parametrize("name", ["broder", "charikar(t=1)", "combined(t=0)", "minhash(k=1,threshold=0.1)"])
def test_short_pages_are_compared_with_nothing(name: str) -> None:
    pages = ["a b c d e f g", "a b c d e f g h", "a b c d e f g h i"]
    rows = {row for pair in find_duplicates(pages, detector=name).pairs.to_pylist() for row in (pair["row_a"],)}
    assert 0 not in rows


def test_one_page(tmp_path: Path) -> None:
    (tmp_path / "one.jsonl").write_text(json.dumps({"id": "only", "text": LONG}) + "\n")
    result = dedup(tmp_path / "one.jsonl", tmp_path / "out")
    assert result.pages["reason"].to_pylist() == ["unique"]
    assert pq.read_table(tmp_path / "out" / "pairs.parquet").num_rows == 0
    assert pq.read_schema(tmp_path / "out" / "clusters.parquet").equals(result.clusters.schema)


def test_no_pages_at_all(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no pages were found"):
        find_duplicates([])
    (tmp_path / "empty.jsonl").write_bytes(b"")
    with pytest.raises(InputError, match="no pages were found"):
        dedup(tmp_path / "empty.jsonl", tmp_path / "out")
    # Nothing is left behind by a run that failed.
    assert [path.name for path in tmp_path.iterdir()] == ["empty.jsonl"]
    with pytest.raises(UsageError, match="no input was given"):
        dedup([])


@pytest.fixture
def damaged(tmp_path: Path) -> Path:
    good = json.dumps({"id": "good", "text": LONG})
    (tmp_path / "damaged.jsonl").write_text(f'{good}\n{{"id": "bad", "text": \n{good}\n')
    return tmp_path / "damaged.jsonl"


def test_what_cannot_be_read_is_told(damaged: Path) -> None:
    result = dedup(damaged)
    assert result.pages.num_rows == 2
    (skipped,) = result.report["skipped"]
    assert (skipped["source"], skipped["position"]) == (str(damaged), "line 2")
    assert result.report["counts"]["skipped"] == 1
    assert any("could not be read" in warning for warning in result.report["warnings"])


def test_strict_ends_the_run(damaged: Path) -> None:
    with pytest.raises(InputError, match=r"cannot be read.*line 2.*without --strict"):
        dedup(damaged, damaged.parent / "out", settings=Settings(strict=True))
    assert not (damaged.parent / "out").exists()


def test_a_result_is_overwritten_only_when_told(damaged: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    dedup(damaged, out)
    before = (out / "pages.parquet").read_bytes()
    with pytest.raises(OutputError, match="has finished there"):
        dedup(damaged, out)
    dedup(damaged, out, overwrite=True)
    assert (out / "pages.parquet").read_bytes() == before
    other = tmp_path / "other"
    other.mkdir()
    (other / "precious.txt").write_text("mine")
    with pytest.raises(OutputError, match="not a result"):
        dedup(damaged, other, overwrite=True)
    assert os.listdir(other) == ["precious.txt"]


def test_beyond_max_pairs_the_forest_is_held() -> None:
    pages = [f"{LONG} {LONG} {LONG} number{n}" for n in range(30)]
    everything = find_duplicates(pages, detector="minhash(threshold=0.5)")
    forest = find_duplicates(pages, detector="minhash(threshold=0.5)", settings=Settings(max_pairs=1))
    assert everything.pairs.num_rows == 30 * 29 // 2
    assert everything.pairs["tree"].to_pylist().count(True) == 29
    assert forest.pairs.equals(everything.pairs.filter(everything.pairs["tree"]))
    assert forest.pages.equals(everything.pages)
    assert forest.clusters.equals(everything.clusters)
    assert forest.report["pairs"] == {"in_all": 435, "exact": True, "held": "spanning forest", "at_most": 435}
    assert any("spanning forest" in warning for warning in forest.report["warnings"])


def test_where_next_to_nothing_stays_it_is_said() -> None:
    dice = random.Random(2006)
    # Every number begins with "0.": half of all words, which Alg. C goes by, are the same.
    tables = [" ".join(str(dice.random()) for _ in range(100)) for _ in range(1000)]
    misled = find_duplicates(tables, detector="charikar(terms=0)")
    assert misled.report["counts"]["kept"] < 100
    assert any("different pages only" in warning for warning in misled.report["warnings"])
    right = find_duplicates(tables, detector="minhash")
    assert right.report["counts"]["kept"] == 1000
    assert right.report["warnings"] == []
