"""Every CSV that is written for people: no text in it is a formula, and what is read back is what was written."""

from __future__ import annotations

import ast
import csv
import io
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup
from neardup import dedup
from neardup.evaluation.judged import read_judged
from neardup.evaluation.judging import Judging
from neardup.evaluation.judging_exchange import export_judgements
from neardup.evaluation.judging_sample import draw_pairs
from neardup.spreadsheet import as_text, from_text, write_csv

NAMES = ['=HYPERLINK("http://evil.example","x")', "+1", "-2+3", "@SUM(A1)", "\t=1", "'=quoted", "plain"]
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
TEXT = "the same ten words stand here in every one of these pages and they are alike "


@given(st.text(alphabet="=+-@'a\t\r\n é"))
def test_a_text_is_no_formula_and_comes_back(value: str) -> None:
    cell = as_text(value)
    assert not cell.startswith(FORMULA)
    assert from_text(cell) == value
    assert cell == value or cell == f"'{value}"
    file = io.BytesIO()
    write_csv(pa.table({"name": [value, None], "number": [-1.5, 2]}), file)
    (_, first, second) = csv.reader(io.StringIO(file.getvalue().decode(), newline=""))
    assert first == [cell, "-1.5"]
    assert second[0] == ""


def cells(path: Path) -> list[str]:
    delimiter = "\t" if path.suffix == ".tsv" else ","
    with open(path, newline="", encoding="utf-8") as file:
        return [cell for row in csv.reader(file, delimiter=delimiter) for cell in row]


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    path = tmp_path / "pages.jsonl"
    rows: list[dict[str, Any]] = [{"id": name, "text": TEXT * 4 + str(at)} for at, name in enumerate(NAMES)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.mark.parametrize("ending", ["csv", "tsv"])
def test_judgements(pages: Path, tmp_path: Path, ending: str) -> None:
    dedup(pages, tmp_path / "run", detector="minhash(threshold=0.5)")
    Judging.create(tmp_path / "judging.sqlite", draw_pairs([tmp_path / "run"], 50))
    judging = Judging(tmp_path / "judging.sqlite")
    for number in range(judging.count):
        judging.say("ada", number, "correct", None, "=note")
    export_judgements(judging, tmp_path / f"out.{ending}")
    judging.close()
    found = cells(tmp_path / f"out.{ending}")
    assert not any(cell.startswith(FORMULA) for cell in found)
    assert {as_text(name) for name in NAMES} <= set(found)
    read = read_judged(tmp_path / f"out.{ending}")
    assert {*read.a, *read.b} == set(NAMES)


def test_page_files(tmp_path: Path) -> None:
    folder = tmp_path / "pages"
    folder.mkdir()
    for at, name in enumerate(("=1.txt", "+a.txt", "-b.txt", "@c.txt", "plain.txt")):
        (folder / name).write_text(TEXT * 4 + str(at), encoding="utf-8")
    dedup(folder, tmp_path / "out", detector="minhash(threshold=0.5)", write="all")
    found = cells(tmp_path / "out" / "written" / "neardup.csv")
    assert not any(cell.startswith(FORMULA) for cell in found)
    assert {"'=1.txt", "'+a.txt", "'-b.txt", "'@c.txt", "plain.txt"} <= set(found)


def test_added_columns(tmp_path: Path) -> None:
    path = tmp_path / "pages.csv"
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["id", "text"], *([name, TEXT * 4 + str(at)] for at, name in enumerate(NAMES))])
    dedup(path, tmp_path / "out", detector="minhash(threshold=0.5)", write="all")
    with open(tmp_path / "out" / "written" / "pages.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    # What was there keeps its bytes.
    assert [row["id"] for row in rows] == NAMES
    assert {row["neardup_kept_instead"] for row in rows} == {"", as_text(NAMES[0])}
    assert not any(row[name].startswith(FORMULA) for row in rows for name in row if name.startswith("neardup_"))


def test_nothing_else_writes_csv() -> None:
    """A table of texts is written by one function; who uses a writer of rows says in the call that texts are safe."""
    root = Path(neardup.__file__).parent
    for path in root.rglob("*.py"):
        name = path.relative_to(root).as_posix()
        if name == "spreadsheet.py" or name.startswith("testing/"):
            continue
        source = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(source)):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
                continue
            call = ast.unparse(node)
            assert not call.startswith("pyarrow.csv.write_csv"), name
            if node.func.attr in ("writerow", "writerows"):
                assert "as_text" in call or "'id', *ADDED.names" in call, f"{name}: {call}"
