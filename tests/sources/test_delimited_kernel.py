"""CSV rows that a kernel takes are those that the patient reader reads, and nothing else changes."""

from __future__ import annotations

import csv
import gzip
import io
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reading import Read, read_all

from neardup.errors import InputError
from neardup.sources import delimited, patience
from neardup.sources.unpack import Unpacked


def without_kernel(path: Path, **options: Any) -> Read:
    """Every record read patiently."""

    def advance(self: patience.PlainText, **form: Any) -> list[Any]:
        self.stop = "odd"
        return [pa.array([], pa.int64())] * (len(form["wanted"]) + 3)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(patience.PlainText, "advance", advance)
        patch.setattr(patience.PlainText, "pass_wrong_rows", lambda _self, **_form: [])
        return read_all(path, **options)


def assert_same(path: Path) -> Read:
    found, expected = read_all(path), without_kernel(path)
    assert found.pages == expected.pages
    assert found.skipped == expected.skipped
    assert found.nbytes == expected.nbytes == path.stat().st_size
    return found


#: What is special to the format, in any order; and rows as a program writes them.
ODD = st.lists(st.sampled_from([*'ab",é\0\r\n', "\r\n", '""', ',"', '",', '"\n', "\udce9"]), max_size=40)
FIELD = st.text(st.sampled_from('ab ,"\n\ré'), max_size=6)
WRITTEN = st.lists(st.tuples(FIELD, FIELD), max_size=6)


def as_written(rows: list[tuple[str, str]], end: str) -> str:
    text = io.StringIO()
    # All quoted: the writer takes a carriage return for a character like others, where lines end without one.
    csv.writer(text, lineterminator=end, quoting=csv.QUOTE_ALL).writerows(rows)
    return text.getvalue()


@given(st.lists(st.one_of(ODD.map("".join), st.builds(as_written, WRITTEN, st.sampled_from(["\n", "\r\n"])))))
def test_the_same_as_the_patient_reader(parts: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.csv")
        path.write_bytes(b"id,text\n" + "".join(parts).encode("utf-8", "surrogateescape"))
        assert_same(path)


@given(WRITTEN, st.sampled_from(["\n", "\r\n"]))
def test_what_was_written_comes_back(rows: list[tuple[str, str]], end: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.csv")
        path.write_bytes(("id,text\n" + as_written(rows, end)).encode())
        read = assert_same(path)
    assert read.contents() == [text.encode() for _, text in rows if text]


def test_across_blocks_and_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that end behind what was read so far, in groups that depend on the rows alone."""
    monkeypatch.setattr("neardup.sources.gathering.ENOUGH", 1)
    for module in (delimited, patience):
        monkeypatch.setattr(module, "BATCH_BYTES", 500)
    monkeypatch.setattr(delimited, "Unpacked", partial(Unpacked, read_bytes=64))
    rows = [(str(n), f'row {n}, "quoted"\n' * (n % 7) + "é" * (n % 90)) for n in range(500)]
    text = "id,text\n" + as_written(rows, "\n")
    for there, instead in (('"100",', '100,"never closed'), ('"200",', "200"), ('"300"', "\n300")):
        text = text.replace(f"\n{there}", f"\n{instead}")
    path = tmp_path / "a.csv"
    path.write_bytes(text.encode())
    read = assert_same(path)
    assert read.chunks > 20
    assert {"100", "200"}.isdisjoint(read.ids())
    assert {"99", "101", "199", "201", "300", "499"} <= set(read.ids())
    path.write_bytes(gzip.compress(text.encode()))
    packed = assert_same(path)
    assert [page | {"source": ""} for page in packed.pages] == [page | {"source": ""} for page in read.pages]
    assert packed.chunks == read.chunks


def test_a_record_without_end_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A long line, a long row of several lines, and a quote that is not closed: the first two are passed, of the last
    only its line."""
    monkeypatch.setattr(patience, "BATCH_BYTES", 1000)
    path = tmp_path / "a.csv"
    several = b'3,"' + b"y\n" * 6000 + b'"\n'
    rest = b'4,four\n5,"open\n' + b"6,six\n" * 3000
    path.write_bytes(b"id,text\n1,one\n2," + b"x" * 50_000 + b"\n" + several + rest)
    with pytest.MonkeyPatch.context() as patch:
        most = 0
        read_on = patience.PlainText.read_on

        def watched(self: patience.PlainText, *given: int) -> bool:
            nonlocal most
            came = read_on(self, *given)
            most = max(most, len(self.data))
            return came

        patch.setattr(patience.PlainText, "read_on", watched)
        patch.setattr(delimited, "Unpacked", partial(Unpacked, read_bytes=512))
        read = read_all(path, max_page=10_000)
    assert most < 40_000
    unclosed = "a quote that is not closed within --max-page (10,000 bytes)"
    assert [(bad.position, bad.reason) for bad in read.skipped if bad.reason != "1 field, not 2"] == [
        ("line 3", "a line of 50,002 bytes, more than --max-page (10,000)"),
        ("line 4", unclosed),
        ("line 6004", "',' expected after '\"'"),
        ("line 6006", unclosed),
    ]
    assert read.ids() == ["1", "4", *["6"] * 3000]


def test_rows_that_are_too_long(tmp_path: Path) -> None:
    """The limit is that of a row, wherever blocks are cut, and the others keep their numbers."""
    path = tmp_path / "a.csv"
    rows = [f'{at},"{"x" * (1 + at * 7 % 40)}"\n' for at in range(500)]
    path.write_text("id,text\n" + "".join(rows))
    read = read_all(path, max_page=30)
    long = [at for at, row in enumerate(rows) if len(row) - 1 > 30]
    assert [int(bad.position.removeprefix("line ")) - 2 for bad in read.skipped] == long
    assert read.skipped[0].reason == f"a line of {len(rows[long[0]]) - 1} bytes, more than --max-page (30)"
    assert [page["record"] for page in read.pages] == [at for at in range(500) if at not in long]
    assert without_kernel(path, max_page=30).skipped == read.skipped


def test_a_header_that_is_wrong(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    for header, reason in ((b'id,"text\n1,x\n', "a quote that is not closed"), (b"id,text,caf\xe9\n", "invalid UTF-8")):
        path.write_bytes(header)
        with pytest.raises(InputError, match=f"no header that can be read: {reason}"):
            read_all(path)
