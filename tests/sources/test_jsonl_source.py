"""JSONL: lines end at a line feed only, bad lines are named, damaged files give what they have."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from reading import read_all

from neardup.errors import InputError
from neardup.sources import Fields, jsonl, open_inputs


def lines_of(count: int) -> bytes:
    noise = random.Random(1)
    rows = (
        {"id": f"d{n}", "url": f"http://a/{n}", "text": "".join(noise.choices("abcdefgh ", k=50))} for n in range(count)
    )
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def test_fields_and_positions(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(
        b'{"id": "a", "url": "http://x/", "html": "<p>one", "text": "t", "date": "2020"}\n\n{"id": "b", "text": "two"}'
    )
    read = read_all(path)
    assert read.ids() == ["a", "b"]
    assert read.contents() == [b"<p>one", b"two"]
    assert [page["html"] for page in read.pages] == [True, False]
    assert [page["record"] for page in read.pages] == [0, 2]
    assert {page["charset"] for page in read.pages} == {"utf-8"}
    assert {page["source"] for page in read.pages} == {str(path)}
    for page in read.pages:
        line = path.read_bytes()[page["offset"] : page["offset"] + page["length"]]
        assert json.loads(line)["id"] == page["id"]
    assert read.nbytes == path.stat().st_size


def test_line_separators_in_strings_end_no_line(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    text = "one\u2028two\u2029three\u0085four"
    path.write_bytes(json.dumps({"id": "a", "text": text}, ensure_ascii=False).encode() + b"\n")
    assert read_all(path).contents() == [text.encode()]


def test_crlf_and_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"id": "a", "text": "x"}\r\n{"id": "b", "text": "y"}\r\n')
    read = read_all(path)
    assert read.ids() == ["a", "b"]
    assert not read.skipped
    assert read.pages[0]["offset"] == 3


def test_bad_lines_are_named_across_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonl, "BATCH_BYTES", 2000)
    monkeypatch.setattr("neardup.sources.gathering.ENOUGH", 1)
    lines = lines_of(1000).splitlines(keepends=True)
    lines[811] = b'{"id": "x", "text": "unclosed\n'
    lines[900] = b"\0\0\0\n"
    lines[901] = b'{"id": "nothing"}\n'
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"".join(lines))
    read = read_all(path)
    assert [entry.position for entry in read.skipped] == ["line 812", "line 901", "line 902"]
    assert "html" in read.skipped[2].reason
    assert read.ids() == [f"d{n}" for n in range(1000) if n not in (811, 900, 901)]
    assert [page["record"] for page in read.pages][-1] == 999


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_fields_inside_of_others(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    lines = [
        {"text": "a", "meta": {"url": "http://a.example/", "page": {"date": "2026-01-31"}}},
        {"text": "b", "meta": {"url": None, "page": 7}},
        {"text": "c", "meta": None},
        {"text": "d", "meta.url": "http://d.example/"},
    ]
    path = tmp_path / "a.jsonl"
    path.write_bytes(pack(b"".join(json.dumps(line).encode() + b"\n" for line in lines)))
    fields = Fields(url="meta.url", date="meta.page.date")
    read = read_all(path, fields=fields)
    assert [(page["url"], page["date"]) for page in read.pages] == [
        ("http://a.example/", "2026-01-31"), (None, None), (None, None), ("http://d.example/", None)
    ]  # fmt: skip
    with pytest.raises(InputError, match=r"no field 'meta.link' for url.*there are: meta, .*meta.url, text"):
        read_all(path, fields=Fields(url="meta.link"))


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_compressed(tmp_path: Path, pack: object) -> None:
    assert callable(pack)
    data = lines_of(3000)
    half = data.index(b"\n", len(data) // 2) - 20  # members need not end at line ends
    path = tmp_path / "a.jsonl.packed"
    path.write_bytes(pack(data[:half]) + pack(data[half:]))
    read = read_all(path, format="jsonl")
    assert read.ids() == [f"d{n}" for n in range(3000)]
    assert read.pages[0]["offset"] is None
    assert read.nbytes == path.stat().st_size


def test_large_zstd_window(tmp_path: Path) -> None:
    parameters = zstandard.ZstdCompressionParameters.from_level(3, window_log=27, enable_ldm=True)
    path = tmp_path / "a.jsonl.zst"
    compressor = zstandard.ZstdCompressor(compression_params=parameters).compressobj()  # no size in the header
    path.write_bytes(compressor.compress(lines_of(100)) + compressor.flush())
    assert len(read_all(path).pages) == 100


def test_truncated_gzip_gives_all_whole_lines(tmp_path: Path) -> None:
    data = lines_of(2000)
    packed = gzip.compress(data)
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(packed[: len(packed) // 2])
    read = read_all(path)
    assert 800 < len(read.pages) < 1200
    assert read.ids() == [f"d{n}" for n in range(len(read.pages))]
    (entry,) = read.skipped
    assert entry.position == f"line {len(read.pages) + 1}"
    assert "ends inside a gzip member" in entry.reason
    assert read.nbytes == path.stat().st_size


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_damage_in_the_middle_costs_one_member(tmp_path: Path, pack: object) -> None:
    assert callable(pack)
    parts = [lines_of(3000)[:-1].replace(b'"d', b'"%d-' % n) + b"\n" for n in range(3)]
    packed = [pack(part) for part in parts]
    middle = bytearray(packed[1])
    middle[len(middle) // 2 : len(middle) // 2 + 50] = b"\xff" * 50
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(packed[0] + bytes(middle) + packed[2])
    read = read_all(path)
    ids = read.ids()
    assert ids[:3000] == [f"0-{n}" for n in range(3000)]
    assert ids[-3000:] == [f"2-{n}" for n in range(3000)]
    assert read.skipped
    assert f"at byte {len(packed[0])} " in read.skipped[-1].reason


@pytest.mark.parametrize("size", [3 << 20, 9 << 20, 40 << 20])
def test_a_line_that_is_too_long_is_passed(tmp_path: Path, size: int) -> None:
    """Shorter than a block, longer, and much longer; plain and packed."""
    path = tmp_path / "a.jsonl"
    long = b'{"id": "long", "text": "' + b"x" * size + b'"}\n'
    path.write_bytes(lines_of(10) + long + lines_of(10))
    read = read_all(path, max_page=2 << 20)
    assert len(read.pages) == 20
    reason = f"a line of {size + 26:,} bytes, more than --max-page (2,097,152)"
    assert [(entry.position, entry.reason) for entry in read.skipped] == [("line 11", reason)]
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(path.read_bytes(), 1))
    packed = read_all(tmp_path / "b.jsonl.gz", max_page=2 << 20)
    assert packed.ids() == read.ids()
    assert [(entry.position, entry.reason) for entry in packed.skipped] == [("line 11", reason)]
    assert [page["record"] for page in packed.pages] == [page["record"] for page in read.pages]
    # The last line, without an end.
    path.write_bytes(lines_of(2) + long[:-1])
    assert [entry.reason for entry in read_all(path, max_page=2 << 20).skipped] == [reason]
    path.write_bytes(lines_of(10) + long + lines_of(10))
    assert read.pages[-1]["record"] == 20
    page = read.pages[-1]
    assert json.loads(path.read_bytes()[page["offset"] : page["offset"] + page["length"]])["id"] == "d9"


def test_a_long_line_grows_its_block(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(lines_of(5) + b'{"id": "long", "text": "' + b"x" * (20 << 20) + b'"}\n' + lines_of(5))
    read = read_all(path)
    assert len(read.pages) == 11
    assert len(read.pages[5]["content"]) == 20 << 20


def test_renamed_fields(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"doc": "a", "body": "one", "link": "http://x/"}\n')
    read = read_all(path, fields=Fields(id="doc", text="body", url="link"))
    assert (read.pages[0]["id"], read.pages[0]["url"]) == ("a", "http://x/")
    with pytest.raises(InputError, match=r"no field 'content' for text.*there are: body, doc, link"):
        open_inputs([path], Fields(text="content"))


def test_empty_file(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(b"")
    read = read_all(path)
    assert not read.pages
    assert not read.skipped
