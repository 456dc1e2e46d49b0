"""``Result.filter``: the rows that are kept, by their place, out of whatever the pages came in, as the same kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from neardup import Result, dedup, find_duplicates
from neardup.client import Client
from neardup.errors import UsageError
from neardup.index.incoming import page_list

DETECTOR = "minhash(threshold=0.7)"
SCORES = [3, 9, 1, 2, 5, 8, 7, 6]
#: Each text twice, the copy with a word more, so that half of the rows go.
TEXTS = [
    " ".join(f"{word}{number}" for word in ("ferry", "noon", "pier", "four", "goes", "town", "rain", "hill"))
    for number in (1, 1, 2, 2, 3, 3, 4, 4)
]
ROWS = [
    {"text": text + " more" * (at % 2), "score": score}
    for at, (text, score) in enumerate(zip(TEXTS, SCORES, strict=True))
]
#: The rows as somebody sorts them to keep the best of each.
SORTED = sorted(ROWS, key=lambda row: -row["score"])


#: Places of the kept rows among the sorted ones.
KEPT = [0, 1, 2, 6]


class Dataset:
    """What is used of a Hugging Face dataset: rows gone through one by one, a length, rows chosen by their number."""

    __module__ = "datasets.arrow_dataset"

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        self.rows = rows
        self.column_names = ["text", "score"]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.rows)

    def select(self, indices: Any) -> Dataset:
        return Dataset([self.rows[at] for at in indices])


@dataclass(frozen=True)
class Kind:
    """How rows come in a kind of table, and how they are read out of it."""

    make: Callable[[list[dict[str, Any]]], Any]
    rows: Callable[[Any], list[dict[str, Any]]]


def sorted_frame(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """The rows with the index that sorting leaves, which is not their places."""
    return (
        pd.DataFrame(ROWS).sort_values("score", ascending=False)
        if rows is SORTED
        else pd.DataFrame(rows, columns=["text", "score"])
    )


def relation(rows: list[dict[str, Any]]) -> Any:
    connection = duckdb.connect()
    connection.execute("CREATE TABLE pages (text VARCHAR, score BIGINT)")
    for row in rows:
        connection.execute("INSERT INTO pages VALUES (?, ?)", list(row.values()))
    return connection.table("pages")


def of_texts(column: Any) -> list[dict[str, Any]]:
    """Texts alone, with the score that belongs to them."""
    scores = {row["text"]: row["score"] for row in ROWS}
    return [{"text": text, "score": scores[text]} for text in column]


KINDS = {
    "list": Kind(list, list),
    "tuple": Kind(tuple, list),
    "texts": Kind(lambda rows: [row["text"] for row in rows], of_texts),
    "NumPy": Kind(lambda rows: np.array([row["text"] for row in rows]), lambda found: of_texts(found.tolist())),
    "Arrow table": Kind(pa.Table.from_pylist, pa.Table.to_pylist),
    "Arrow batch": Kind(pa.RecordBatch.from_pylist, pa.RecordBatch.to_pylist),
    "Arrow column": Kind(
        lambda rows: pa.array([row["text"] for row in rows]), lambda found: of_texts(found.to_pylist())
    ),
    "pandas": Kind(sorted_frame, lambda frame: frame.to_dict("records")),
    "pandas, one index": Kind(
        lambda rows: pd.DataFrame(rows, index=[7] * len(rows)), lambda frame: frame.to_dict("records")
    ),
    "pandas column": Kind(lambda rows: sorted_frame(rows)["text"], of_texts),
    "Polars": Kind(pl.DataFrame, pl.DataFrame.to_dicts),
    "Polars column": Kind(lambda rows: pl.Series([row["text"] for row in rows]), of_texts),
    "DuckDB": Kind(relation, lambda found: pa.table(found).to_pylist()),
    "Hugging Face": Kind(Dataset, list),
}


def best(found: list[dict[str, Any]]) -> list[int]:
    return [row["score"] for row in found]


@pytest.mark.parametrize("name", KINDS)
def test_the_kept_rows_come_back_as_they_came(name: str) -> None:
    kind = KINDS[name]
    rows = kind.make(SORTED)
    result = find_duplicates(rows, detector=DETECTOR)
    found = result.filter(rows)
    assert type(found) is type(rows)
    # Of each pair the better one, in the order of the rows.
    assert best(kind.rows(found)) == [9, 8, 7, 2]
    assert best(kind.rows(rows)) == best(SORTED), "what was given is as it was"
    if name.startswith("pandas"):
        assert found.index.tolist() == [rows.index.tolist()[at] for at in KEPT]


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("count", [0, 7, 9])
def test_other_rows_than_the_result_has_pages_are_refused(name: str, count: int) -> None:
    result = find_duplicates(SORTED, detector=DETECTOR)
    rows = KINDS[name].make([*SORTED, *SORTED][:count])
    with pytest.raises(UsageError, match=f"{count} rows were given, and the result is of 8 pages"):
        result.filter(rows)


def test_rows_of_a_file_and_of_a_result_read_back(tmp_path: Path) -> None:
    table = pa.Table.from_pylist(SORTED)
    pq.write_table(table, tmp_path / "pages.parquet")
    result: Result = dedup(tmp_path / "pages.parquet", tmp_path / "out", detector=DETECTOR)
    assert best(result.filter(table).to_pylist()) == [9, 8, 7, 2]
    assert result.filter(pd.read_parquet(tmp_path / "pages.parquet"))["score"].tolist() == [9, 8, 7, 2]


def test_a_relation_stays_on_its_connection() -> None:
    rows = relation(SORTED)
    found = find_duplicates(rows, detector=DETECTOR).filter(rows)
    joined = found.set_alias("kept").join(rows.set_alias("pages"), "kept.score = pages.score").aggregate("count(*)")
    assert joined.fetchall() == [(4,)]


class Datasets(dict[str, Any]):
    """As a Hugging Face ``DatasetDict`` is a mapping of datasets."""


TAKING_PAGES: dict[str, Callable[[Any], object]] = {
    "find_duplicates": find_duplicates,
    "Result.filter": lambda pages: find_duplicates(["one text"]).filter(pages),
    "Index.add_many, as the index reads them": page_list,
    "Client.add_many": lambda pages: Client("http://127.0.0.1:1").add_many(pages),
}
NO_PAGES: dict[str, tuple[Any, str]] = {
    "columns": ({"text": ["a text", "another"]}, "a mapping of columns: make it a table"),
    "arrays": ({"text": pa.array(["a text"])}, "a mapping of columns: make it a table"),
    "by id": ({"a": "a text", "b": "another"}, "a mapping: give a list of pages"),
    "one page": ({"id": "a", "text": "a text"}, "a single page: put it into a list"),
    "nothing": ({}, "a mapping: give a list of pages"),
    "datasets": (
        Datasets(train=Dataset(ROWS), test=Dataset(ROWS)),
        r"a mapping of datasets: give one of them: …\['train"
    ),
    "a text": ("a text", "a single text: put it into a list"),
}  # fmt: skip


@pytest.mark.parametrize("function", TAKING_PAGES)
@pytest.mark.parametrize("name", NO_PAGES)
def test_what_is_no_list_of_pages_is_refused(function: str, name: str) -> None:
    pages, message = NO_PAGES[name]
    with pytest.raises(UsageError, match=message):
        TAKING_PAGES[function](pages)
