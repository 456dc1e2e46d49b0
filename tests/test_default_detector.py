"""The default detector goes by the kind of the pages, whatever road they come by and whatever else they have.

Pages are generated texts, each with a copy that differs in a small planted edit. The same pages come with a URL, with
an empty one, and without; from files, from standard input, from a folder, from Python and from tables: the default is
the same, and so is what it keeps.
"""

from __future__ import annotations

import ast
import csv
import io
import json
import random
import sys
from collections.abc import Callable, Iterator
from html import escape
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import neardup.engines.local.reading
from neardup import dedup, find_duplicates
from neardup.cli.main import application
from neardup.comparison import compare
from neardup.engines import Settings
from neardup.index import Index
from neardup.methods import detectors
from neardup.methods.default import compared_detectors, default_detector, default_without_statistics
from neardup.page import Kinds
from neardup.results import Result
from neardup.sources import inputs as inputs_module

PACKAGE = Path(neardup.__file__).parent
COUNT, LENGTHS = 60, (80, 110, 150, 250)
Rows = list[dict[str, Any]]


def edited(words: list[str], edit: int, number: int) -> list[str]:
    """Words with one of four small edits: a word replaced, put in or left out, or two that change places."""
    at = 20 + 7 * (edit % 8)
    behind = words[at + 1 :]
    return {
        0: [*words[:at], f"other{number}", *behind],
        1: [*words[: at + 1], f"more{number}", *behind],
        2: [*words[:at], *behind],
        3: [*words[:at], words[at + 1], words[at], *words[at + 2 :]],
    }[number % 4]


def generated() -> list[tuple[str, str]]:
    """Ids and texts: every original, and behind all of them a copy of each with a planted edit."""
    chance = random.Random(20061)
    vocabulary = [f"word{number}" for number in range(4000)]
    originals = [chance.choices(vocabulary, k=LENGTHS[number % 7 % 4]) for number in range(COUNT)]
    pages = [(f"o{number}", " ".join(words)) for number, words in enumerate(originals)]
    return pages + [(f"c{number}", " ".join(edited(words, number, number))) for number, words in enumerate(originals)]


PAGES = generated()
#: What a page has beside its content: nothing, an empty URL, one in three, or each its own on one of a few sites.
URLS: dict[str, Callable[[int], dict[str, str]]] = {
    "without": lambda _: {},
    "empty": lambda _: {"url": ""},
    "some": lambda row: {"url": f"https://site{row % 7}.example/{row}"} if row % 3 == 0 else {},
    "all": lambda row: {"url": f"https://site{row % 7}.example/{row}"},
}


def rows_of(kind: str, urls: str) -> Rows:
    made: Rows = []
    for row, (name, text) in enumerate(PAGES):
        content = text if kind == "text" else f"<html><body><p>{escape(text)}</p></body></html>"
        made.append({"id": name, kind: content} | URLS[urls](row))
    return made


def lines(rows: Rows) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


class Stdin:
    def __init__(self, data: bytes) -> None:
        self.buffer = io.BytesIO(data)


def whole(rows: Rows) -> dict[str, list[Any]]:
    """Columns, with a column of URLs if any row has one."""
    names = {name for row in rows for name in row}
    return {name: [row.get(name) for row in rows] for name in sorted(names)}


def from_csv(rows: Rows, folder: Path, patch: pytest.MonkeyPatch) -> Result:
    columns = whole(rows)
    with open(folder / "a.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return dedup(folder / "a.csv")


def from_lines(rows: Rows, folder: Path, patch: pytest.MonkeyPatch) -> Result:
    (folder / "a.jsonl").write_bytes(lines(rows))
    return dedup(folder / "a.jsonl")


def from_input(rows: Rows, folder: Path, patch: pytest.MonkeyPatch) -> Result:
    patch.setattr(sys, "stdin", Stdin(lines(rows)))
    return dedup("-", folder / "piped")


def from_several(rows: Rows, folder: Path, patch: pytest.MonkeyPatch) -> Result:
    place = folder / "several"
    place.mkdir()
    for at in range(0, len(rows), 25):
        (place / f"{at:03}.jsonl").write_bytes(lines(rows[at : at + 25]))
    return dedup(place)


def from_parquet(rows: Rows, folder: Path, patch: pytest.MonkeyPatch) -> Result:
    pq.write_table(pa.table(whole(rows)), folder / "a.parquet")
    return dedup(folder / "a.parquet")


def from_duckdb(rows: Rows, folder: Path, patch: pytest.MonkeyPatch) -> Result:
    table = pa.table(whole(rows))
    return find_duplicates(duckdb.connect().from_arrow(table))


ROADS: dict[str, Callable[[Rows, Path, pytest.MonkeyPatch], Result]] = {
    "a file of lines": from_lines,
    "standard input": from_input,
    "a folder": from_several,
    "CSV": from_csv,
    "Parquet": from_parquet,
    "a list": lambda rows, _, __: find_duplicates(rows),
    "a generator": lambda rows, _, __: find_duplicates(row for row in rows),
    "Arrow": lambda rows, _, __: find_duplicates(pa.table(whole(rows))),
    "pandas": lambda rows, _, __: find_duplicates(pd.DataFrame(whole(rows))),
    "Polars": lambda rows, _, __: find_duplicates(pl.DataFrame(whole(rows))),
    "DuckDB": from_duckdb,
}


def kept(result: Result) -> list[str]:
    names: list[str] = result.kept["id"].to_pylist()
    return names


@pytest.fixture(scope="module")
def by_name() -> dict[str, list[str]]:
    """What each kind's default keeps where it is asked for by name, and no page has a URL."""
    return {
        kind: kept(find_duplicates(rows_of(kind, "without"), detector=str(default_detector(kinds))))
        for kind, kinds in (("text", Kinds(text=1)), ("html", Kinds(html=1)))
    }


@pytest.mark.parametrize("road", ROADS)
@pytest.mark.parametrize("urls", URLS)
@pytest.mark.parametrize("kind", ["text", "html"])
def test_the_same_pages_have_the_same_answer_by_every_road(
    kind: str, urls: str, road: str, by_name: dict[str, list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = ROADS[road](rows_of(kind, urls), tmp_path, monkeypatch)
    assert result.report["detector"] == str(default_detector(Kinds(**{kind: 1})))
    assert result.report["by_default"]
    assert result.report["kinds"] == {"html": 0, "text": 0} | {kind: len(PAGES)}
    # On these pages sites make no difference: there is no template.
    assert kept(result) == by_name[kind]


@pytest.mark.parametrize("urls", URLS)
def test_small_edits_are_found(urls: str) -> None:
    removed = len(PAGES) - len(kept(find_duplicates(rows_of("text", urls))))
    assert removed >= 0.9 * COUNT
    assert removed <= COUNT


def test_the_detector_between_sites_does_not_find_them() -> None:
    """What the default was on text with URLs: the check above sees the difference."""
    result = find_duplicates(rows_of("text", "all"), detector=default_without_statistics())
    assert len(PAGES) - len(kept(result)) < 0.6 * COUNT


# Both kinds in one input.


def mixed(plain_first: bool, plain: int = 5) -> Rows:
    text, html = rows_of("text", "all"), rows_of("html", "all")
    both = text[:plain] + html[plain:] if plain_first else html[:-plain] + text[-plain:]
    assert len(both) == len(PAGES)
    return both


@pytest.mark.parametrize("plain_first", [True, False])
@pytest.mark.parametrize("road", ROADS)
@pytest.mark.parametrize("batch", [None, 8 << 10])
def test_of_both_kinds_all_are_compared_as_text(
    plain_first: bool, road: str, batch: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if batch is not None:
        # So small that plain text is met when much was read.
        for module in ("jsonl", "delimited", "parquet", "memory"):
            monkeypatch.setattr(f"neardup.sources.{module}.BATCH_BYTES", batch)
    rows = mixed(plain_first)
    result = ROADS[road](rows, tmp_path, monkeypatch)
    assert result.report["detector"] == str(default_detector(Kinds(html=1, text=1)))
    assert result.report["kinds"] == {"html": len(PAGES) - 5, "text": 5}
    assert any("115 pages of markup and 5 of plain text" in warning for warning in result.report["warnings"])
    assert kept(result) == kept(find_duplicates(rows, detector="minhash"))
    assert "collection.statistics" not in {path.name for path in (tmp_path / "piped").glob("*")}


def test_a_named_detector_is_not_a_default() -> None:
    report = find_duplicates(mixed(False), detector="minhash").report
    assert not report["by_default"]
    assert not report["warnings"]


def test_the_summary_says_why(tmp_path: Path) -> None:
    for name, rows, said in (
        ("a", rows_of("text", "all"), "minhash, the default for pages of plain text"),
        ("b", rows_of("html", "all"), "template-aware, the default for pages of markup"),
        ("c", mixed(False), "minhash, the default for 115 pages of markup and 5 of plain text"),
    ):
        (tmp_path / f"{name}.jsonl").write_bytes(lines(rows))
        done = CliRunner(env={"COLUMNS": "160"}).invoke(
            application, ["dedup", str(tmp_path / f"{name}.jsonl"), "--out", str(tmp_path / name)]
        )
        assert said in done.output
        assert said in (tmp_path / name / "report.html").read_text()


def test_page_files_are_of_the_kind_that_their_names_say(tmp_path: Path) -> None:
    for name, text in PAGES[:4]:
        (tmp_path / f"{name}.txt").write_text(f"<p>{text}")
    assert dedup(tmp_path).report["detector"] == "minhash"
    for path in list(tmp_path.iterdir()):
        path.rename(path.with_suffix(".html"))
    assert dedup(tmp_path).report["detector"] == "template-aware"
    (tmp_path / "z.txt").write_text(PAGES[9][1])
    assert dedup(tmp_path).report["kinds"] == {"html": 4, "text": 1}


@pytest.mark.parametrize("urls", ["without", "all"])
def test_markup_from_standard_input_is_what_it_is_from_a_file(
    urls: str, small_web: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Real templates, so that statistics of sites decide where there are sites."""
    small_web.write_jsonl(tmp_path / "web.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "web.jsonl").read_text().splitlines()]
    if urls == "without":
        rows = [{name: value for name, value in row.items() if name != "url"} for row in rows]
    (tmp_path / "a.jsonl").write_bytes(lines(rows))
    from_file = dedup(tmp_path / "a.jsonl")
    monkeypatch.setattr(sys, "stdin", Stdin(lines(rows)))
    piped = dedup("-", tmp_path / "out")
    assert from_file.report["detector"] == piped.report["detector"] == "template-aware"
    assert kept(piped) == kept(from_file)
    assert 0 < len(from_file.removed) < 0.5 * len(rows)
    warned = any("structure alone" in warning for warning in piped.report["warnings"])
    assert warned == (urls == "without")


def test_standard_input_is_copied_only_as_far_as_it_may_be_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("neardup.sources.jsonl.BATCH_BYTES", 8 << 10)
    opened: list[Any] = []
    replayed = inputs_module.standard_input

    def remembered(again: bool = False) -> Any:
        place = replayed(again)
        opened.append(place.once)
        return place

    monkeypatch.setattr(inputs_module, "standard_input", remembered)
    for kind, all_of_it in (("text", False), ("html", True)):
        data = lines(rows_of(kind, "all")) * 100
        monkeypatch.setattr(sys, "stdin", Stdin(data))
        dedup("-")
        assert (opened[-1].copied == len(data)) == all_of_it, kind
        assert all_of_it or 0 < opened[-1].copied < len(data) / 2


# A run that was stopped goes on with what it had begun.


class Stopped(Exception):
    pass


@pytest.mark.parametrize(
    ("name", "rows"), [("text", rows_of("text", "all")), ("html", rows_of("html", "all")), ("mixed", mixed(False))]
)
def test_a_run_by_default_goes_on(name: str, rows: Rows, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("neardup.sources.jsonl.BATCH_BYTES", 8 << 10)
    (tmp_path / "a.jsonl").write_bytes(lines(rows))
    often = Settings(commit_every=0, threads=1)
    expected = kept(dedup(tmp_path / "a.jsonl", tmp_path / "whole", settings=often))

    def stop(*_: object, **__: object) -> None:
        raise Stopped

    with monkeypatch.context() as patch:
        patch.setattr("neardup.engines.local.run._matched", stop)
        with pytest.raises(Stopped):
            dedup(tmp_path / "a.jsonl", tmp_path / "out", settings=often)
    read: list[int] = []
    real = neardup.engines.local.reading.PageColumns.load
    with monkeypatch.context() as patch:
        patch.setattr(
            "neardup.engines.local.reading.PageColumns.load", lambda self, chunk: read.append(1) or real(self, chunk)
        )
        result = dedup(tmp_path / "a.jsonl", tmp_path / "out", settings=often, resume=True)
    assert kept(result) == expected
    assert not read, "what was read before is not read again"
    assert result.report["by_default"]


# One place says which.


def literals() -> Iterator[tuple[str, int, str]]:
    """Every text in the package's code that is the name of a detector that may be a default, but for documentation."""
    names = {default_without_statistics(), *(str(default_detector(kinds)) for kinds in (Kinds(1), Kinds(0, 1)))}
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and node.value in names:
                yield path.relative_to(PACKAGE).as_posix(), node.lineno, node.value


#: Where a detector says its own name, and where one is listed. Rates are of the detector they were measured with.
MAY = {
    "methods/default.py", "methods/registry.py", "methods/shingles.py", "methods/combinations.py",
    "methods/content.py", "estimate.py",
}  # fmt: skip


def test_no_other_place_spells_a_default() -> None:
    assert [found for found in literals() if found[0] not in MAY] == []
    assert sum(place == "estimate.py" for place, _, _ in literals()) == 1


def test_help_says_what_the_default_is() -> None:
    usual, plain, html = default_without_statistics(), default_detector(Kinds(0, 1)), default_detector(Kinds(1))
    asked = {
        ("dedup",): f"{html} where all are markup, else {plain}",
        ("searcheval",): f"default: {html} where all pages are markup, else {plain}",
        ("index", "create"): f"default: {usual}, which needs no statistics",
        ("estimate",): f"default: {usual}, that of the built-in rates",
    }
    for verb, said in asked.items():
        text = " ".join(CliRunner(env={"COLUMNS": "200"}).invoke(application, [*verb, "--help"]).output.split())
        assert said in text, verb


def test_every_default_is_compared_by_default() -> None:
    found = compare("one two three", "one two three four")
    assert tuple(found.decisions) == compared_detectors()
    assert set(compared_detectors()) <= detectors().keys()
    assert found.alone == (str(default_detector(Kinds(1))),)


def test_an_index_without_statistics_takes_a_detector_that_needs_none(tmp_path: Path) -> None:
    Index.create(tmp_path / "seen")
    with Index(tmp_path / "seen") as index:
        assert str(index.about.detector) == default_without_statistics()
        assert index.about.statistics is None
