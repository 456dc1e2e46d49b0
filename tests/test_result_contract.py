"""The result folder is a contract: names, columns, types, what they mean, and the same bytes every time."""

from __future__ import annotations

import hashlib
import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from neardup import Settings, _native, dedup, find_duplicates, open_result, parse
from neardup.engines import run
from neardup.errors import InputError
from neardup.methods import detectors
from neardup.sources.memory import Memory, texts
from neardup.testing import Web

TABLES = ("pages.parquet", "pairs.parquet", "clusters.parquet")

PAGES = {
    "row": "uint64", "id": "string", "url": "string", "site": "string", "title": "string", "tokens": "int64",
    "identity": "string", "cluster": "string", "kept": "bool", "kept_instead": "string", "reason": "string",
    "source": "string", "offset": "int64", "length": "int64",
}  # fmt: skip
PAIRS = {
    "a": "string", "b": "string", "row_a": "uint64", "row_b": "uint64", "same_site": "bool", "score": "double",
    "b_similarity": "int32", "c_similarity": "int32", "jaccard": "double", "rule": "string", "tree": "bool",
}  # fmt: skip
CLUSTERS = {
    "cluster": "string", "size": "int64", "sites": "int64", "kept": "int64", "diameter": "int64",
    "cohesion": "double",
}  # fmt: skip
NULLABLE = {
    "url", "site", "title", "kept_instead", "offset", "length", "b_similarity", "c_similarity", "jaccard",
    "diameter", "cohesion",
}  # fmt: skip


@pytest.fixture(scope="module")
def jsonl(small_web: Web, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("input") / "pages.jsonl"
    small_web.write_jsonl(path)
    return path


@pytest.fixture(scope="module")
def folder(jsonl: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A result folder as a user gets it."""
    out = tmp_path_factory.mktemp("result") / "out"
    dedup(jsonl, out)
    return out


def table(folder: Path, name: str) -> pa.Table:
    return pq.read_table(folder / f"{name}.parquet")


# The tables.


def test_the_files(folder: Path) -> None:
    assert sorted(path.name for path in folder.iterdir()) == sorted(
        [*TABLES, "collection.statistics", "report.html", "run.json"]
    )
    assert [path.name for path in folder.parent.iterdir()] == ["out"]


@pytest.mark.parametrize(("name", "columns"), [("pages", PAGES), ("pairs", PAIRS), ("clusters", CLUSTERS)])
def test_columns_and_types(folder: Path, name: str, columns: dict[str, str]) -> None:
    schema = pq.read_schema(folder / f"{name}.parquet")
    assert {field.name: str(field.type) for field in schema} == columns
    assert schema.names == list(columns)
    assert {field.name for field in schema if field.nullable} == NULLABLE & columns.keys()


def test_what_the_pages_say(folder: Path, small_web: Web) -> None:
    pages = table(folder, "pages").to_pylist()
    by_id = {page["id"]: page for page in pages}
    assert [page["row"] for page in pages] == list(range(len(small_web.pages)))
    assert [page["id"] for page in pages] == [page.id for page in small_web.pages]
    assert [page["url"] for page in pages] == [page.url for page in small_web.pages]
    assert [page["site"] for page in pages] == [page.site for page in small_web.pages]
    for page in pages:
        for label in ("identity", "cluster"):
            members = [other for other in pages if other[label] == page[label]]
            # Named by the first member, whichever page is kept.
            assert members[0]["id"] == page[label]
        # An identity set is never torn between clusters.
        assert by_id[page["identity"]]["cluster"] == page["cluster"]
        assert page["kept"] == (page["kept_instead"] is None)
        if not page["kept"]:
            instead = by_id[page["kept_instead"]]
            assert instead["kept"]
            assert instead["cluster"] == page["cluster"]
            same = instead["identity"] == page["identity"]
            assert page["reason"] == ("identical" if same else "near-duplicate")
        else:
            assert page["reason"] in {"unique", "chosen", "apart", "empty", "short"}
    instead_of = Counter(page["kept_instead"] for page in pages if not page["kept"])
    assert {page["id"] for page in pages if page["reason"] == "chosen"} == set(instead_of)


def test_offsets_lead_back_to_the_record(folder: Path, jsonl: Path) -> None:
    data = jsonl.read_bytes()
    for page in table(folder, "pages").to_pylist():
        record = json.loads(data[page["offset"] : page["offset"] + page["length"]])
        assert (record["id"], page["source"]) == (page["id"], str(jsonl))


def test_what_the_pairs_say(folder: Path) -> None:
    pages, pairs = table(folder, "pages").to_pylist(), table(folder, "pairs").to_pylist()
    rows = [(pair["row_a"], pair["row_b"]) for pair in pairs]
    assert rows == sorted(set(rows))
    unit: dict[Any, int] = {}
    for page in pages:
        unit.setdefault((page["identity"], page["site"]), page["row"])
    for pair in pairs:
        a, b = pages[pair["row_a"]], pages[pair["row_b"]]
        assert pair["row_a"] < pair["row_b"]
        assert (pair["a"], pair["b"]) == (a["id"], b["id"])
        # Pairs are of pages with the same tokens on one site, told by the first of them, and never of identical ones.
        assert [unit[page["identity"], page["site"]] for page in (a, b)] == [pair["row_a"], pair["row_b"]]
        assert a["identity"] != b["identity"]
        assert a["cluster"] == b["cluster"]
        assert 0 <= pair["score"] <= 1
        assert min(a["tokens"], b["tokens"]) >= 8
    forest = sum(pair["tree"] for pair in pairs)
    sets = {page["identity"] for page in pages}
    assert forest == len(sets) - len({page["cluster"] for page in pages})


def test_what_the_clusters_say(folder: Path) -> None:
    pages, clusters = table(folder, "pages").to_pylist(), table(folder, "clusters").to_pylist()
    sizes = Counter(page["cluster"] for page in pages)
    order = [page["id"] for page in pages if sizes[page["id"]] >= 2 and page["cluster"] == page["id"]]
    assert [cluster["cluster"] for cluster in clusters] == order
    for cluster in clusters:
        members = [page for page in pages if page["cluster"] == cluster["cluster"]]
        assert cluster["size"] == len(members)
        assert cluster["kept"] == sum(page["kept"] for page in members) >= 1
        assert cluster["sites"] == len({page["site"] for page in members} - {None})
        assert 0 < cluster["cohesion"] <= 1
        assert (cluster["diameter"] == 0) == (len({page["identity"] for page in members}) == 1)


def test_what_the_report_says(folder: Path, jsonl: Path) -> None:
    pages, report = table(folder, "pages").to_pylist(), json.loads((folder / "run.json").read_text())
    identity = Counter(page["identity"] for page in pages)
    assert report["format"] == _native.FORMAT_VERSION
    assert report["detector"] == "template-aware"
    assert report["by_default"]
    assert report["kinds"] == {"html": len(pages), "text": 0}
    assert report["input"]["paths"] == [str(jsonl)]
    assert report["warnings"] == report["skipped"] == []
    pairs = table(folder, "pairs").num_rows
    assert report["pairs"] == {"in_all": pairs, "exact": True, "held": "all", "at_most": pairs}
    expected = {
        "pages": len(pages),
        "empty": sum(page["tokens"] == 0 for page in pages),
        "short": sum(0 < page["tokens"] < 8 for page in pages),
        "identity_sets": len(identity),
        "identical": len(pages) - len(identity),
        "pairs": table(folder, "pairs").num_rows,
        "clusters": table(folder, "clusters").num_rows,
        "clustered": sum(table(folder, "clusters")["size"].to_pylist()),
        "kept": sum(page["kept"] for page in pages),
        "removed": sum(not page["kept"] for page in pages),
        "repeated_ids": 0,
        "wrong_charset": 0,
        "skipped": 0,
        "ignored": 0,
        "undated": 0,
        "failed_files": 0,
        "left_out_files": 0,
    }
    assert report["counts"] == expected
    stages = [stage["name"] for stage in report["stages"]]
    assert stages == ["reading", "statistics", "matching", "clustering", "writing", "report"]
    assert all(stage["seconds"] >= 0 for stage in report["stages"])
    assert report["peak_memory"] > 0
    for rule in report["rules"]:
        assert rule["accepted"] <= rule["candidates"]


def test_a_result_reads_back(folder: Path) -> None:
    result = open_result(folder)
    assert result.folder == folder
    assert result.kept.num_rows + result.removed.num_rows == result.pages.num_rows
    for name in ("pages", "pairs", "clusters"):
        assert getattr(result, name).equals(table(folder, name))
    with pytest.raises(InputError, match="not a result folder"):
        open_result(folder.parent)


# The same answer every time.


def digests(folder: Path) -> dict[str, str]:
    return {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in TABLES}


@pytest.mark.parametrize("name", sorted(detectors()))
def test_same_bytes_for_any_number_of_threads_and_again(name: str, jsonl: Path, tmp_path: Path) -> None:
    seen = []
    for number, threads in enumerate((1, 2, 5, 5)):
        out = tmp_path / str(number)
        dedup(jsonl, out, detector=name, settings=Settings(threads=threads))
        seen.append(digests(out))
    assert seen == [seen[0]] * 4


def answer(result: Any) -> dict[str, list[Any]]:
    """What a result says, apart from where its pages stood."""
    place = {"source", "offset", "length"}
    pages = result.pages.select([name for name in PAGES if name not in place])
    return {
        "pages": pages.to_pylist(),
        "pairs": result.pairs.to_pylist(),
        "clusters": result.clusters.to_pylist(),
    }


@pytest.mark.parametrize("name", sorted(detectors()))
def test_same_answer_however_the_input_is_cut(name: str, web_pages: list[dict[str, Any]]) -> None:
    whole = texts(web_pages).batches
    dice = random.Random(7)
    expected = answer(run(Memory(whole), parse(name)))
    for longest in (1, 7, 50):
        pieces, start = [], 0
        (batch,) = whole
        while start < batch.num_rows:
            length = dice.randint(1, longest)
            pieces.append(batch.slice(start, length))
            start += length
        assert answer(run(Memory(pieces), parse(name), Settings(threads=3))) == expected


def test_same_answer_from_one_file_and_from_many(jsonl: Path, tmp_path: Path, small_web: Web) -> None:
    lines = jsonl.read_bytes().splitlines(keepends=True)
    for number in range(0, len(lines), 17):
        (tmp_path / f"{number:05}.jsonl").write_bytes(b"".join(lines[number : number + 17]))
    expected = answer(dedup(jsonl))
    assert answer(dedup(tmp_path)) == expected
    assert answer(dedup(sorted(tmp_path.iterdir()))) == expected
    # Another format, the same pages: WARC has ids of its own, so rows are compared.
    small_web.write_warc(tmp_path / "pages.warc.gz")
    from_warc = dedup(tmp_path / "pages.warc.gz")
    for column in ("row_a", "row_b", "score", "tree", "same_site"):
        assert from_warc.pairs[column].to_pylist() == [pair[column] for pair in expected["pairs"]]
    for column in ("kept", "reason", "tokens", "title", "site", "url"):
        assert from_warc.pages[column].to_pylist() == [page[column] for page in expected["pages"]]


def test_a_permuted_input_gives_the_same_pairs_and_clusters(web_pages: list[dict[str, Any]]) -> None:
    shuffled = random.Random(5).sample(web_pages, len(web_pages))

    def described(pages: list[dict[str, Any]]) -> tuple[Any, Any]:
        result = find_duplicates(pages, detector="combined")
        identity = dict(zip(*(result.pages[name].to_pylist() for name in ("id", "identity")), strict=True))
        members: dict[str, set[str]] = {}
        for page, first in identity.items():
            members.setdefault(first, set()).add(page)
        name = {first: min(of_set) for first, of_set in members.items()}
        pairs = {(frozenset((name[pair["a"]], name[pair["b"]])), pair["score"]) for pair in result.pairs.to_pylist()}
        clusters: dict[str, set[str]] = {}
        for page, cluster in zip(*(result.pages[name].to_pylist() for name in ("id", "cluster")), strict=True):
            clusters.setdefault(cluster, set()).add(page)
        return pairs, {frozenset(of_cluster) for of_cluster in clusters.values()}

    assert described(shuffled) == described(web_pages)


# Other people's libraries.


def test_pandas_reads_it(folder: Path) -> None:
    pandas = pytest.importorskip("pandas")
    pages = pandas.read_parquet(folder / "pages.parquet")
    clusters = pandas.read_parquet(folder / "clusters.parquet")
    assert list(pages.columns) == list(PAGES)
    sizes = pages.groupby("cluster").size()
    assert sizes[sizes >= 2].sort_index().to_dict() == dict(zip(clusters["cluster"], clusters["size"], strict=True))
    assert len(open_result(folder).pages.to_pandas()) == len(pages)


def test_polars_reads_it(folder: Path) -> None:
    polars = pytest.importorskip("polars")
    pages = polars.read_parquet(folder / "pages.parquet")
    pairs = polars.read_parquet(folder / "pairs.parquet")
    assert pages.columns == list(PAGES)
    joined = pairs.join(pages, left_on="row_a", right_on="row")
    assert joined["a"].to_list() == joined["id"].to_list()
    assert polars.from_arrow(open_result(folder).pages).equals(pages)


def test_duckdb_reads_it(folder: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as connection:
        query = "select count(*) from read_parquet(?) where not kept and kept_instead is null"
        assert connection.execute(query, [str(folder / "pages.parquet")]).fetchone() == (0,)
        query = (
            "select count(*) from read_parquet(?) pairs "
            "join read_parquet(?) pages on pages.row = pairs.row_b where pages.id = pairs.b"
        )
        paths = [str(folder / "pairs.parquet"), str(folder / "pages.parquet")]
        assert connection.execute(query, paths).fetchone() == (table(folder, "pairs").num_rows,)
