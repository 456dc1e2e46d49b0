"""Parquet, CSV and TSV: columns of many types, missing ones, and rows that are wrong."""

from __future__ import annotations

import datetime
import gzip
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from reading import read_all

from neardup.errors import InputError
from neardup.sources import Fields, open_inputs, parquet


def write(path: Path, columns: dict[str, Any], **options: Any) -> Path:
    pq.write_table(pa.table(columns), path, **options)
    return path


def test_parquet_types(tmp_path: Path) -> None:
    moment = datetime.datetime(2020, 1, 2, 3, 4, 5, 600_000)
    columns = {
        "id": pa.array([1, 2, 3], pa.int32()),
        "url": pa.array(["http://a/", None, "http://c/"], pa.large_string()),
        "html": pa.array([b"<p>\xe9", None, None], pa.binary()),
        "text": pa.array([None, "zwei", None]).dictionary_encode(),
        "date": pa.array([moment, None, moment], pa.timestamp("us", tz="Europe/Berlin")),
        "other": pa.array([[1], [2], [3]]),
    }
    read = read_all(write(tmp_path / "a.parquet", columns))
    assert read.ids() == ["1", "2"]
    assert read.contents() == [b"<p>\xe9", b"zwei"]
    assert [page["html"] for page in read.pages] == [True, False]
    assert [page["charset"] for page in read.pages] == [None, "utf-8"]
    assert read.pages[0]["date"] == "2020-01-02T03:04:05Z"
    assert [entry.describe() for entry in read.skipped] == [f"{tmp_path}/a.parquet, record 2: no html or text"]
    assert read.nbytes == (tmp_path / "a.parquet").stat().st_size


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.binary_view()])
def test_parquet_content_types(tmp_path: Path, kind: pa.DataType) -> None:
    path = write(tmp_path / "a.parquet", {"id": pa.array([b"\xff\x01", b"ok"]), "text": pa.array(["x", "y"], kind)})
    read = read_all(path)
    assert read.contents() == [b"x", b"y"]
    assert read.ids() == ["ff01", "ok"]


def test_parquet_naive_dates_and_days(tmp_path: Path) -> None:
    for kind, shown in ((pa.timestamp("ns"), "2020-01-02T00:00:00"), (pa.date32(), "2020-01-02")):
        column = pa.array([datetime.date(2020, 1, 2)]).cast(kind)
        read = read_all(write(tmp_path / "a.parquet", {"text": ["x"], "date": column}))
        assert read.pages[0]["date"] == shown


def test_parquet_batches_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "BATCH_BYTES", 10_000)
    monkeypatch.setattr("neardup.sources.gathering.ENOUGH", 1)
    texts = ["x" * (100 if n % 100 else 30_000) for n in range(1000)]
    path = write(tmp_path / "a.parquet", {"id": range(1000), "text": texts}, row_group_size=300)
    read = read_all(path)
    assert read.chunks > 20
    assert read.ids() == [str(n) for n in range(1000)]
    assert [page["record"] for page in read.pages] == list(range(1000))
    assert read.nbytes == path.stat().st_size


def test_parquet_without_the_column(tmp_path: Path) -> None:
    path = write(tmp_path / "a.parquet", {"id": [1], "body": ["x"]})
    with pytest.raises(InputError, match=r"neither a column 'html' nor 'text'.*there are: id, body"):
        open_inputs([path])
    with pytest.raises(InputError, match="no column 'key' for id"):
        open_inputs([path], Fields(id="key", text="body"))
    assert read_all(path, fields=Fields(text="body")).contents() == [b"x"]
    with pytest.raises(InputError, match=r"list<.*not text or bytes"):
        open_inputs([write(tmp_path / "b.parquet", {"text": [["x"]]})])


def test_parquet_columns_inside_of_others(tmp_path: Path) -> None:
    rows = [
        {"text": "a", "meta": {"url": "http://a.example/", "page": {"date": "2026-01-31"}}, "flat.id": 1},
        {"text": "b", "meta": {"url": None, "page": None}, "flat.id": 2},
        {"text": "c", "meta": None, "flat.id": 3},
    ]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "a.parquet")
    fields = Fields(id="flat.id", url="meta.url", date="meta.page.date")
    read = read_all(tmp_path / "a.parquet", fields=fields)
    assert [(page["id"], page["url"], page["date"]) for page in read.pages] == [
        ("1", "http://a.example/", "2026-01-31"), ("2", None, None), ("3", None, None)
    ]  # fmt: skip
    for wrong in ("meta.link", "text.url", "nothing.url", "meta.page.date.year"):
        with pytest.raises(InputError, match=f"no column {wrong!r} for url.*there are: .*meta.url.*meta.page.date"):
            read_all(tmp_path / "a.parquet", fields=Fields(url=wrong))
    with pytest.raises(InputError, match=r"column 'meta.page' is struct<.*not a single value"):
        read_all(tmp_path / "a.parquet", fields=Fields(url="meta.page"))


def test_parquet_that_is_none(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    for data in (b"", b"PAR1 and no more", b"x" * 1000):
        path.write_bytes(data)
        with pytest.raises(InputError, match="cannot be read as Parquet"):
            open_inputs([path])


def test_parquet_damaged_row_group(tmp_path: Path) -> None:
    path = write(
        tmp_path / "a.parquet",
        {"id": [f"d{n}" for n in range(300)], "text": [f"text {n} " * 20 for n in range(300)]},
        row_group_size=100,
        compression="gzip",
        use_dictionary=False,
    )
    column = pq.ParquetFile(path).metadata.row_group(1).column(1)
    data = bytearray(path.read_bytes())
    at = column.data_page_offset + column.total_compressed_size // 2
    data[at : at + 100] = b"\xff" * 100
    path.write_bytes(data)
    read = read_all(path)
    assert read.ids() == [f"d{n}" for n in (*range(100), *range(200, 300))]
    assert [entry.position for entry in read.skipped] == ["record 100"]
    assert read.skipped[0].reason.startswith("100 rows of row group 1 cannot be read")
    assert read.nbytes == len(data)


def test_csv_quotes_and_line_ends(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(
        b"\xef\xbb\xbfid,text,url\r\n"
        b'1,"two\r\nlines, and ""quotes""",http://a/\r\n'
        b"\r\n"
        b"2,plain,\r\n"
        b"3,nul\0byte,\r\n"
        b'4,5" disk,\r\n'
        b'5,"odd" quotes,\r\n'
        b"6,last,"
    )
    read = read_all(path)
    assert read.ids() == ["1", "2", "3", "4", "5", "6"]
    assert read.contents() == [
        b'two\r\nlines, and "quotes"', b"plain", b"nul\0byte", b'5" disk', b"odd quotes", b"last"
    ]  # fmt: skip
    assert [page["url"] for page in read.pages][:2] == ["http://a/", None]
    assert not read.skipped
    assert read.nbytes == path.stat().st_size


def test_csv_wrong_rows_are_named(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    rows = [b'%d,"text\nof %d"\n' % (n, n) for n in range(10)]
    rows[3] = b"3\n"
    rows[5] = b"5,caf\xe9\n"
    rows[7] = b'7,"never closed\n'
    rows[9] = b"9,\n"
    path.write_bytes(b"id,text\n" + b"".join(rows))
    read = read_all(path)
    assert read.ids() == ["0", "1", "2", "4", "6", "8"]
    assert [(entry.position, entry.reason) for entry in read.skipped if "field" in entry.reason] == [
        ("line 8", "1 field, not 2")
    ]
    named = {entry.position: entry.reason for entry in read.skipped}
    assert named["line 11"] == "invalid UTF-8"
    assert "line 14" in named
    assert named["line 17"] == "no html or text"
    assert [page["record"] for page in read.pages] == [0, 1, 2, 4, 6, 8]


def test_csv_quote_never_closed_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b'id,text\n1,one\n2,"open\n3,three\n')
    read = read_all(path)
    assert read.ids() == ["1", "3"]
    assert [entry.position for entry in read.skipped] == ["line 3"]


def test_tsv_and_compression(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv.gz"
    path.write_bytes(gzip.compress(b'id\ttext\n1\tsays "hi"\n2\t"quoted\tfield"\n'))
    read = read_all(path)
    assert read.contents() == [b'says "hi"', b"quoted\tfield"]


def test_csv_truncated_gzip(tmp_path: Path) -> None:
    noise = [f"{n},{hash(str(n) * 9)}\n" for n in range(5000)]
    packed = gzip.compress(("id,text\n" + "".join(noise)).encode())
    path = tmp_path / "a.csv.gz"
    path.write_bytes(packed[: len(packed) // 2])
    read = read_all(path)
    assert len(read.pages) > 1500
    assert read.ids() == [str(n) for n in range(len(read.pages))]
    (entry,) = read.skipped
    assert entry.position == f"line {len(read.pages) + 2}"


def test_csv_large_fields(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"id,html\n1," + b"<div>" * 1_000_000 + b"\n2,x\n")
    assert [len(content) for content in read_all(path).contents()] == [5_000_000, 1]


def test_csv_header(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"key,value\n1,x\n")
    with pytest.raises(InputError, match="neither a column"):
        open_inputs([path])
    path.write_bytes("id,text\n1,x\n".encode("utf-16"))
    with pytest.raises(InputError, match="UTF-16"):
        open_inputs([path])
    path.write_bytes(b"")
    assert not read_all(path).pages
    path.write_bytes(b"id,text,text\n1,a,b\n")
    with pytest.raises(InputError, match="two columns are named 'text'"):
        open_inputs([path])
