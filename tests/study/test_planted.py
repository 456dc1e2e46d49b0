"""A collection of which everything is known beforehand: the study finds exactly that."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from neardup.cli.main import application
from neardup.graph.power_law import fit_power_law
from neardup.study import Study, open_study, study
from neardup.testing.planted import Planted, planted


@pytest.fixture(scope="module")
def collection() -> Planted:
    return planted(seed=5, pages=1500)


@pytest.fixture(scope="module")
def folder(collection: Planted, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("planted")
    collection.write_jsonl(place / "pages.jsonl")
    return place


@pytest.fixture(scope="module")
def made(folder: Path) -> Study:
    return study(folder / "pages.jsonl", folder / "study", steps=10)


def duplicates(sizes: list[int]) -> int:
    return sum(sizes) - len(sizes)


def only_row(made: Study, name: str) -> dict[str, Any]:
    (row,) = made.tables[name].rows
    return row


def test_the_planted_collection_is_worth_studying(collection: Planted) -> None:
    assert collection.sizes()[0] > 20
    assert collection.sizes()[-1] == 2
    assert all(count > 50 for count in collection.parts().values())


def test_general_statistics(made: Study, collection: Planted) -> None:
    told, sizes = only_row(made, "table2"), collection.sizes()
    assert told["documents"] == len(collection.pages)
    assert told["clusters"] == len(sizes)
    assert told["duplicates"] == duplicates(sizes)
    assert told["unique"] == len(collection.unique())
    assert told["useful"] == len(collection.pages) - duplicates(sizes)
    assert told["largest_cluster"] == sizes[0]
    assert told["clusters_of_two"] == sizes.count(2)
    for row in made.tables["table3"].rows:
        assert row["duplicates"] == row["duplicates_repetitions_counted"]


def test_parts_and_coverage(made: Study, collection: Planted) -> None:
    expected = {
        "complete": collection.pages,
        "connected": collection.connected(),
        "disconnected": collection.disconnected(),
    }
    for row in made.tables["table4"].rows:
        sizes = collection.sizes(expected[row["part"]])
        assert (row["documents"], row["clusters"]) == (len(expected[row["part"]]), len(sizes))
        assert row["duplicates"] == duplicates(sizes)
    assert only_row(made, "table5")["in_connected"] == collection.clusters_with_connected()
    unique = collection.unique()
    reached = sum(page.connected for page in unique)
    assert only_row(made, "table6") == {
        "total": len(unique),
        "in_connected": reached,
        "percent_in_connected": round(100 * reached / len(unique), 2),
    }
    useful = only_row(made, "useful")
    assert useful["total"] == len(unique) + len(collection.sizes())
    assert useful["in_connected"] == reached + collection.clusters_with_connected()


def test_the_bow_tie_of_every_page(made: Study, collection: Planted) -> None:
    assert made.report["link_graph"]["bow_tie"] == collection.parts()
    assert made.pages["part"].to_pylist() == [page.part for page in collection.pages]
    assert made.pages["connected"].to_pylist() == [page.connected for page in collection.pages]


def test_sizes_of_clusters(made: Study, collection: Planted) -> None:
    told = {row["size"]: row["clusters"] for row in made.tables["sizes"].rows if row["part"] == "complete"}
    sizes = collection.sizes()
    assert told == {size: sizes.count(size) for size in set(sizes)}
    law = fit_power_law(sizes, resamples=0)
    assert law is not None
    assert law.low < 2.5 < law.high + 0.3
    row = next(row for row in made.tables["size_laws"].rows if row["part"] == "complete")
    assert (row["xmin"], row["tail"]) == (law.xmin, law.tail)
    # A law that is true is doubted in one case of ten.
    shown = round(law.exponent, 4) if row["p_value"] >= 0.1 else None
    assert (row["power_law"], row["exponent"]) == ("plausible" if shown else "no power law", shown)


def test_growth_ends_at_the_totals_and_only_rises(made: Study, collection: Planted) -> None:
    rows = made.tables["growth"].rows
    assert [row["step"] for row in rows] == list(range(1, 11))
    for name in ("documents", "clusters", "duplicates"):
        values = [row[name] for row in rows]
        assert values == sorted(values)
    assert rows[-1]["documents"] == len(collection.pages)
    assert rows[-1]["duplicates"] == duplicates(collection.sizes())
    # The largest clusters are found first: more than their share after a fifth of the steps.
    assert rows[1]["duplicates"] > 0.3 * rows[-1]["duplicates"]


def test_what_is_written_says_the_same_in_every_form(made: Study, folder: Path) -> None:
    names = {"report.html", "study.json", "pages.parquet", "tables"}
    assert {path.name for path in (folder / "study").iterdir()} == names
    for name, table in made.tables.items():
        parquet = pq.read_table(folder / "study" / "tables" / f"{name}.parquet")
        assert parquet.to_pylist() == table.rows
        assert pyarrow.csv.read_csv(folder / "study" / "tables" / f"{name}.csv").num_rows == len(table.rows)
    again = open_study(folder / "study")
    assert again.tables["table2"].rows == made.tables["table2"].rows
    assert again.pages.equals(made.pages)
    page = (folder / "study" / "report.html").read_text(encoding="utf-8")
    assert "http" not in page.split("<main")[1].split("</main>")[0].replace("http://site", "").replace("https://", "")
    assert f"{only_row(made, 'table2')['duplicates']:,}" in page


@pytest.mark.parametrize("detector", ["exact", "minhash(threshold=0.95)"])
def test_another_detector_finds_the_planted_clusters_too(detector: str, folder: Path, made: Study) -> None:
    # Pages of a cluster have the same text, and those of different ones differ in a number in every sentence.
    other = study(folder / "pages.jsonl", detector=detector, steps=10)
    for name in ("table4", "table5", "table6", "useful", "sizes", "bow_tie"):
        assert other.tables[name].rows == made.tables[name].rows
    assert other.tables["growth"].rows[-1]["duplicates"] == only_row(made, "table2")["duplicates"]
    assert [row["clusters"] for row in other.tables["growth"].rows] == [
        row["clusters"] for row in made.tables["growth"].rows
    ]


def test_the_command_and_its_estimate(folder: Path, collection: Planted, capfd: pytest.CaptureFixture[str]) -> None:
    arguments = [
        "study",
        str(folder / "pages.jsonl"),
        "--out",
        str(folder / "part"),
        "--stop-at",
        "20%",
        "--json",
        "-q",
    ]
    arguments += ["--like", str(folder / "study"), "--steps", "10"]
    study(folder / "pages.jsonl", folder / "study", steps=10, overwrite=True)
    application.main(arguments, standalone_mode=False)
    told = json.loads(capfd.readouterr().out)
    assert told["steps"]["done"] == 2
    assert "table4" not in told["tables"]
    true = duplicates(collection.sizes())
    estimates = [row for row in told["tables"]["estimates"]["rows"] if row["of"] == "duplicates"]
    for row in estimates:
        if row["share_of_steps"] == 0.2:
            assert row["low"] <= true <= row["high"]
            assert abs(row["estimate"] - true) < 0.2 * true
    # Its own growth, all of it, leaves nothing to estimate.
    exact = [row for row in estimates if row["way"] != "by chance" and row["share_of_steps"] == 0.2]
    assert [round(row["estimate"]) for row in exact] == [true]
