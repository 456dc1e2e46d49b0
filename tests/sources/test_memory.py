"""Pages in memory: lists, and the tables of every library that speaks Arrow."""

from __future__ import annotations

from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from neardup import Fields, dedup, find_duplicates
from neardup.errors import InputError, UsageError
from neardup.sources import memory, parquet
from neardup.sources.memory import in_memory

TEXT = "the ferry leaves at noon from the northern pier and comes back at four in the afternoon"
COLUMNS = {
    "key": [7, 8, 9, 10],
    "body": [TEXT, "nothing of the kind, but eight words all the same", None, f"{TEXT} today"],
    "url": ["http://a.example/", None, None, "http://b.example/"],
}
FIELDS = Fields(id="key", text="body")
TABLE = pa.table(COLUMNS)


def rows_of(pages: Any, fields: Fields = FIELDS) -> list[dict[str, Any]]:
    return [row for batch in in_memory(pages, fields).batches for row in batch.to_pylist()]


TABLES = {
    "Arrow table": TABLE,
    "Arrow batch": TABLE.to_batches()[0],
    "chunked": pa.concat_tables([TABLE.slice(0, 1), TABLE.slice(1)]),
    "dictionary": TABLE.set_column(1, "body", TABLE["body"].dictionary_encode()),
    "views": TABLE.set_column(1, "body", TABLE["body"].cast(pa.string_view())),
    "pandas": pd.DataFrame(COLUMNS),
    "pandas, other index": pd.DataFrame(COLUMNS, index=[5, 5, 6, 6]),
    "polars": pl.DataFrame(COLUMNS),
}


@pytest.mark.parametrize("name", [*TABLES, "DuckDB"])
def test_a_table_is_its_rows(name: str) -> None:
    table: Any = duckdb.from_arrow(TABLE) if name == "DuckDB" else TABLES[name]
    expected = [row | {"body": row["body"] or ""} for row in TABLE.to_pylist()]
    assert rows_of(table) == rows_of(expected)
    result = find_duplicates(table, fields=FIELDS, detector="minhash(threshold=0.7)")
    assert result.pages["id"].to_pylist() == ["7", "8", "9", "10"]
    assert result.pages["reason"].to_pylist() == ["chosen", "unique", "empty", "near-duplicate"]


@pytest.mark.parametrize(
    "texts",
    [
        pa.array([TEXT, "x"]),
        pa.chunked_array([[TEXT], ["x"]]),
        pa.array([TEXT.encode(), b"x"]),
        pd.Series([TEXT, "x"]),
        pl.Series([TEXT, "x"]),
        (text for text in (TEXT, "x")),
    ],
)
def test_a_column_is_taken_for_texts(texts: Any) -> None:
    assert [row["content"] for row in rows_of(texts, Fields())] == [TEXT.encode(), b"x"]


def test_html_goes_before_text_and_nothing_is_an_empty_page() -> None:
    both = pa.table({"html": ["<p>a", None, None], "text": [None, "b", None]})
    assert [(row["content"], row["html"]) for row in rows_of(both, Fields())] == [
        (b"<p>a", True), (b"b", False), (b"", False)
    ]  # fmt: skip
    only = pa.table({"html": ["<p>a", None]})
    assert [row["content"] for row in rows_of(only, Fields())] == [b"<p>a", b""]
    assert [row["content"] for row in rows_of(pa.table({"text": pa.nulls(2)}), Fields())] == [b"", b""]
    assert not rows_of(pa.table({"text": pa.array([], pa.string())}), Fields())


def test_large_tables_come_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "BATCH_BYTES", 10_000)
    table = pa.table({"text": ["x" * (100 if n % 100 else 30_000) for n in range(1000)]})
    batches = in_memory(table).batches
    assert len(batches) > 20
    assert [record for batch in batches for record in batch["record"].to_pylist()] == list(range(1000))


def test_what_holds_no_pages_is_named() -> None:
    with pytest.raises(InputError, match=r"nor 'text' \(the table\).*there are: key, body, url"):
        find_duplicates(TABLE)
    with pytest.raises(InputError, match="column 'text' is int64, not text or bytes"):
        find_duplicates(pd.DataFrame({"text": [1]}))
    for one in ("a single text", b"bytes"):
        with pytest.raises(UsageError, match="put it into a list"):
            find_duplicates(one)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="from a int"):
        find_duplicates(7)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="page 1 is neither text nor a mapping but int"):
        find_duplicates(["x", 1])  # type: ignore[list-item]
    with pytest.raises(UsageError, match="find_duplicates takes pages that are in memory"):
        dedup(pd.DataFrame(COLUMNS))  # type: ignore[arg-type]


def test_mappings_under_other_names() -> None:
    assert rows_of([{"key": 1, "body": "x"}, "y"])[0]["id"] == "1"
    assert memory.texts(["y"]).batches[0]["content"].to_pylist() == [b"y"]


def test_columns_inside_of_others() -> None:
    rows = [{"id": 1, "page": {"body": "a", "url": "http://a.example/"}}, {"id": 2, "page": None}]
    fields = Fields(text="page.body", url="page.url")
    for table in (pa.Table.from_pylist(rows), pl.DataFrame(rows)):
        read = rows_of(table, fields)
        assert [(row["content"], row["url"]) for row in read] == [(b"a", "http://a.example/"), (b"", None)]
