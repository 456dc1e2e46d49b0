"""WARC: pages among records, bodies decoded, and files damaged in every way that crawls are."""

from __future__ import annotations

import gzip
import io
import zlib
from pathlib import Path
from typing import Any

import pytest
import zstandard
from reading import Read, read_all
from warc_records import body, chunked, record, response

from neardup import dedup
from neardup.errors import InputError
from neardup.sources import framing, open_inputs
from neardup.sources.framing import frame
from neardup.sources.unpack import Unpacked

PACKERS = {"plain": lambda data: data, "gzip": gzip.compress, "zstd": zstandard.compress}


def read_bytes(tmp_path: Path, data: bytes, name: str = "crawl.warc", **options: Any) -> Read:
    (tmp_path / name).write_bytes(data)
    return read_all(tmp_path / name, **options)


@pytest.mark.parametrize("packing", PACKERS)
def test_records_and_positions(tmp_path: Path, packing: str) -> None:
    pack = PACKERS[packing]
    records = [
        record("warcinfo", 0, b"software: test\r\n", "application/warc-fields"),
        record("request", 1, b"GET / HTTP/1.1\r\n\r\n", "application/http; msgtype=request"),
        response(2),
        record("metadata", 3, b"x: y", "application/warc-fields"),
        record("resource", 4, b"<p>resource", "text/html"),
        record("conversion", 5, "käse".encode(), "text/plain"),
        response(6, b"\x89PNG", b"Content-Type: image/png"),
        response(7, b"", b"Location: /", b"301 Moved"),
        record("resource", 8, b"dns", "text/dns"),
    ]
    stored = [pack(raw) for raw in records]
    read = read_bytes(tmp_path, b"".join(stored))
    assert read.ids() == ["urn:uuid:2", "urn:uuid:4", "urn:uuid:5"]
    assert read.contents() == [body(2), b"<p>resource", "käse".encode()]
    assert [page["html"] for page in read.pages] == [True, True, False]
    assert [page["charset"] for page in read.pages] == ["iso-8859-1", None, "utf-8"]
    assert [page["url"] for page in read.pages] == [f"http://site.example/{n}" for n in (2, 4, 5)]
    assert read.pages[0]["date"] == "2020-01-01T00:00:02Z"
    assert [page["record"] for page in read.pages] == [2, 4, 5]
    for page, at in zip(read.pages, (2, 4, 5), strict=True):
        assert page["offset"] == sum(map(len, stored[:at]))
        assert page["length"] == len(stored[at])
    assert not read.skipped
    assert read.ignored == {
        "warcinfo": 1,
        "request": 1,
        "metadata": 1,
        "neither HTML nor plain text": 2,
        "response with status 3xx": 1,
    }
    assert read.nbytes == sum(map(len, stored))


def test_one_gzip_member_for_all_has_no_offsets(tmp_path: Path) -> None:
    read = read_bytes(tmp_path, gzip.compress(response(1) + response(2)), "a.warc.gz")
    assert read.ids() == ["urn:uuid:1", "urn:uuid:2"]
    assert [page["offset"] for page in read.pages] == [None, None]


PAGE = b"<html>" + b"hello world " * 300
RAW_DEFLATE = zlib.compressobj(wbits=-15)
ENCODINGS = {
    "chunked": (chunked(PAGE), b"Transfer-Encoding: chunked"),
    "chunked gzip": (chunked(gzip.compress(PAGE)), b"Transfer-Encoding: chunked\r\nContent-Encoding: gzip"),
    "gzip": (gzip.compress(PAGE), b"CONTENT-ENCODING: GZIP"),
    "x-gzip": (gzip.compress(PAGE), b"Content-Encoding: x-gzip"),
    "twice": (gzip.compress(gzip.compress(PAGE)), b"Content-Encoding: gzip, gzip"),
    "deflate": (zlib.compress(PAGE), b"Content-Encoding: deflate"),
    "raw deflate": (RAW_DEFLATE.compress(PAGE) + RAW_DEFLATE.flush(), b"Content-Encoding: deflate"),
    "zstd": (zstandard.compress(PAGE), b"Content-Encoding: zstd"),
    "labelled gzip": (PAGE, b"Content-Encoding: gzip"),
    "labelled chunked": (PAGE, b"Transfer-Encoding: chunked"),
    "no encoding": (PAGE, b"Content-Encoding: utf-8"),
    "identity": (PAGE, b"Content-Encoding: identity"),
    "chunked without end": (chunked(PAGE)[:-5], b"Transfer-Encoding: chunked"),
}


@pytest.mark.parametrize("name", ENCODINGS)
def test_encodings_are_undone(tmp_path: Path, name: str) -> None:
    content, header = ENCODINGS[name]
    read = read_bytes(tmp_path, response(1, content, b'Content-Type: text/html; charset="UTF-8"\r\n' + header))
    assert not read.skipped
    assert read.contents() == [PAGE]
    assert read.pages[0]["charset"] == "utf-8"


def test_brotli(tmp_path: Path) -> None:
    import brotli

    content = brotli.compress(PAGE)
    assert read_bytes(tmp_path, response(1, content, b"Content-Encoding: br")).contents() == [PAGE]


@pytest.mark.parametrize(
    ("content", "header", "reason"),
    [
        (gzip.compress(body(1))[:-300], b"Content-Encoding: gzip", "ends early"),
        (gzip.compress(body(1))[:500] + b"\xff" * 99, b"Content-Encoding: gzip", "content encoding gzip"),
        (chunked(PAGE)[:-900], b"Transfer-Encoding: chunked", "ends inside a chunk"),
        (chunked(PAGE)[:702] + b"\r\nzz\r\n", b"Transfer-Encoding: chunked", "no chunk size"),
        (PAGE, b"Content-Encoding: lzma2", "unknown content encoding 'lzma2'"),
        (b"\x28\xb5\x2f\xfd" + b"\xff" * 90, b"Content-Encoding: zstd", "content encoding zstd"),
        (b"\xff" * 90, b"Content-Encoding: br", "content encoding br"),
    ],
)
def test_a_body_that_cannot_be_decoded_is_skipped(tmp_path: Path, content: bytes, header: bytes, reason: str) -> None:
    read = read_bytes(tmp_path, response(1, content, b"Content-Type: text/html\r\n" + header) + response(2))
    assert read.ids() == ["urn:uuid:2"]
    (entry,) = read.skipped
    assert entry.position == "offset 0"
    assert reason in entry.reason


def test_a_truncated_record_gives_what_it_has(tmp_path: Path) -> None:
    content = gzip.compress(body(1))[:-300]
    read = read_bytes(tmp_path, response(1, content, b"Content-Encoding: gzip", extra=b"WARC-Truncated: length\r\n"))
    assert body(1).startswith(read.contents()[0])
    assert len(read.contents()[0]) > 2000


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
@pytest.mark.parametrize("label", ["gzip", "zstd", "deflate"])
def test_a_bomb_is_skipped(tmp_path: Path, pack: object, label: str) -> None:
    assert callable(pack)
    bomb = {"gzip": gzip.compress, "zstd": zstandard.compress, "deflate": zlib.compress}[label](bytes(20 << 20))
    data = pack(response(1, bomb, b"Content-Type: text/html\r\nContent-Encoding: " + label.encode()))
    read = read_bytes(tmp_path, data + pack(response(2)), max_page=1 << 20)
    assert read.ids() == ["urn:uuid:2"]
    assert "unpacks to more than --max-page (1,048,576 bytes)" in read.skipped[0].reason


def test_missing_content_type_is_sniffed(tmp_path: Path) -> None:
    data = response(1, b"\n<!DOCTYPE html><p>x", b"A: b") + response(2, b"just words", b"A: b")
    read = read_bytes(tmp_path, data + response(3, b"\x89PNG\r\n\x1a\n\0\0", b"A: b"))
    assert [page["html"] for page in read.pages] == [True, False]
    assert read.ignored == {"neither HTML nor plain text": 1}


@pytest.mark.parametrize("packing", ["gzip", "zstd"])
@pytest.mark.parametrize("filler", [b"\0", b"\xff"])
def test_a_damaged_member(tmp_path: Path, packing: str, filler: bytes) -> None:
    pack = PACKERS[packing]
    stored = [pack(response(n)) for n in range(5)]
    damaged = bytearray(stored[2])
    damaged[600:640] = filler * 40
    read = read_bytes(tmp_path, b"".join([*stored[:2], bytes(damaged), *stored[3:]]))
    assert read.ids() == [f"urn:uuid:{n}" for n in (0, 1, 3, 4)]
    (entry,) = read.skipped
    assert entry.position == f"offset {len(stored[0]) + len(stored[1])}"
    assert read.pages[2]["offset"] == sum(map(len, stored[:3]))


def test_a_wrong_checksum(tmp_path: Path) -> None:
    stored = [gzip.compress(response(n)) for n in range(3)]
    stored[1] = stored[1][:-8] + b"\0\0\0\0" + stored[1][-4:]
    read = read_bytes(tmp_path, b"".join(stored))
    assert read.ids() == ["urn:uuid:0", "urn:uuid:2"]
    assert "incorrect data check" in read.skipped[0].reason


@pytest.mark.parametrize("packing", ["gzip", "zstd"])
def test_a_member_cut_in_the_middle_of_the_file(tmp_path: Path, packing: str) -> None:
    stored = [PACKERS[packing](response(n)) for n in range(4)]
    read = read_bytes(tmp_path, stored[0] + stored[1][:900] + stored[2] + stored[3])
    assert read.ids() == [f"urn:uuid:{n}" for n in (0, 2, 3)]
    assert [entry.position for entry in read.skipped] == [f"offset {len(stored[0])}"]


@pytest.mark.parametrize("packing", PACKERS)
@pytest.mark.parametrize("rubbish", [b"GARBAGE" * 20, b"\x1f\x8b\x08 not really", b"<html>" * 9000])
def test_rubbish_between_records(tmp_path: Path, packing: str, rubbish: bytes) -> None:
    stored = [PACKERS[packing](response(n)) for n in range(3)]
    read = read_bytes(tmp_path, stored[0] + rubbish + stored[1] + stored[2])
    assert read.ids() == [f"urn:uuid:{n}" for n in range(3)]
    (entry,) = read.skipped
    assert entry.position == f"offset {len(stored[0])}"


@pytest.mark.parametrize("packing", PACKERS)
def test_a_truncated_file(tmp_path: Path, packing: str) -> None:
    stored = [PACKERS[packing](response(n)) for n in range(3)]
    read = read_bytes(tmp_path, b"".join(stored)[:-500])
    assert read.ids() == ["urn:uuid:0", "urn:uuid:1"]
    (entry,) = read.skipped
    assert entry.position == f"offset {len(stored[0]) + len(stored[1])}"


def test_rubbish_at_the_end(tmp_path: Path) -> None:
    data = gzip.compress(response(1)) + b"RUBBISH" * 100
    read = read_bytes(tmp_path, data)
    assert read.ids() == ["urn:uuid:1"]
    assert [entry.reason for entry in read.skipped] == ["bytes that are no gzip member"]
    assert read.nbytes == len(data)


def test_zero_padding_is_no_damage(tmp_path: Path) -> None:
    data = gzip.compress(response(1)) + bytes(5000) + gzip.compress(response(2)) + bytes(70_000)
    read = read_bytes(tmp_path, data)
    assert read.ids() == ["urn:uuid:1", "urn:uuid:2"]
    assert not read.skipped


@pytest.mark.parametrize("packing", PACKERS)
@pytest.mark.parametrize("wrong", [b"x31", b"", b"-5", b"999", b"4000", b"60000000", b"99999999999"])
def test_a_wrong_length_costs_one_record(tmp_path: Path, packing: str, wrong: bytes) -> None:
    good = [response(n) for n in range(4)]
    right = b"Content-Length: %d" % int(good[1].split(b"Content-Length: ")[1].split(b"\r\n")[0])
    good[1] = good[1].replace(right, b"Content-Length: " + wrong)
    read = read_bytes(tmp_path, b"".join(map(PACKERS[packing], good)))
    assert read.ids() == [f"urn:uuid:{n}" for n in (0, 2, 3)]
    assert read.skipped[0].position == f"offset {len(PACKERS[packing](good[0]))}"


def test_a_plain_record_cut_in_the_middle(tmp_path: Path) -> None:
    read = read_bytes(tmp_path, response(0) + response(1)[:900] + response(2) + response(3))
    assert read.ids()[-1] == "urn:uuid:3"
    assert "urn:uuid:1" not in read.ids()
    assert read.skipped


def test_a_body_that_speaks_of_warc_is_one_page(tmp_path: Path) -> None:
    inner = b"<pre>\nWARC/1.0\r\nWARC-Type: response\r\nContent-Length: 3\r\n\r\nabc\r\n\r\n</pre>"
    for pack in PACKERS.values():
        read = read_bytes(tmp_path, pack(response(1, inner)) + pack(response(2)))
        assert read.ids() == ["urn:uuid:1", "urn:uuid:2"]
        assert not read.skipped


def test_huge_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(framing, "HEAD_BYTES", 1 << 10)
    big = b"x" * (5 << 20)
    for pack in PACKERS.values():
        data = pack(response(1, big)) + pack(response(2, big, b"Content-Type: video/mp4")) + pack(response(3))
        read = read_bytes(tmp_path, data, max_page=1 << 20)
        assert read.ids() == ["urn:uuid:3"]
        assert ["more than" in entry.reason for entry in read.skipped] == [True]
        assert read.ignored == {"neither HTML nor plain text": 1}


def test_no_warc_at_all(tmp_path: Path) -> None:
    read = read_bytes(tmp_path, b"<html>this is a page</html>\n" * 100)
    assert not read.pages
    assert read.skipped[0].describe().endswith("offset 0: 2800 bytes that belong to no record")
    assert not read_bytes(tmp_path, b"").skipped


def test_arc_is_told(tmp_path: Path) -> None:
    (tmp_path / "old.warc").write_bytes(b"filedesc://a.arc 0.0.0.0 19960923142103 text/plain 76\n")
    with pytest.raises(InputError, match="ARC"):
        open_inputs([tmp_path / "old.warc"])


def test_zstd_dictionary(tmp_path: Path) -> None:
    dictionary = zstandard.train_dictionary(4096, [response(n) for n in range(200)])
    pack = zstandard.ZstdCompressor(dict_data=dictionary).compress
    for stored in (dictionary.as_bytes(), zstandard.compress(dictionary.as_bytes())):
        frame_head = b"\x5d\x2a\x4d\x18" + len(stored).to_bytes(4, "little")
        data = frame_head + stored + pack(response(1)) + pack(response(2))
        read = read_bytes(tmp_path, data, "a.warc.zst")
        assert read.contents() == [body(1), body(2)]


def test_odd_ends_of_records() -> None:
    head = b"WARC/1.1\nWARC-Type: resource\nContent-Length: 5\n\nhello"
    for between in (b"\r\n\r\n", b"\n\n", b"", b"\r\n\r\n\r\n\r\n"):
        framed = list(frame(Unpacked(io.BytesIO(head + between + head))))
        assert [entry.block for entry in framed] == [b"hello", b"hello"]


def test_every_cut_of_a_file_is_survived() -> None:
    """Whatever byte a file ends at, whole records before it are there and nothing is raised."""
    for pack in PACKERS.values():
        stored = [pack(response(n, b"<p>%d" % n)) for n in range(3)]
        data = b"".join(stored)
        for end in range(len(data)):
            framed = list(frame(Unpacked(io.BytesIO(data[:end]))))
            whole = sum(end >= sum(map(len, stored[: n + 1])) for n in range(3))
            assert sum(entry.damage is None for entry in framed) >= whole


def test_every_broken_byte_is_survived() -> None:
    for pack in PACKERS.values():
        stored = [pack(response(n, b"<p>%d" % n)) for n in range(3)]
        data = b"".join(stored)
        for at in range(len(stored[0]), len(stored[0]) + len(stored[1])):
            broken = data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :]
            blocks = [entry.block for entry in frame(Unpacked(io.BytesIO(broken))) if entry.damage is None]
            assert any(block.endswith(b"<p>0") for block in blocks)
            assert any(block.endswith(b"<p>2") for block in blocks)


@pytest.mark.parametrize("packing", ["plain", "gzip", "one member"])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize("length", [0, 10, 219, 70_000, 1 << 40])
def test_an_old_archive_whose_first_record_has_a_wrong_length(
    tmp_path: Path, packing: str, end: bytes, length: int
) -> None:
    """As ClueWeb09 has them: WARC/0.18, line feeds alone, and a Content-Length that is too short or too long."""

    def record(kind: bytes, block: bytes, size: int) -> bytes:
        lines = [
            b"WARC/0.18",
            b"WARC-Type: " + kind,
            b"WARC-Target-URI: http://a.example/",
            b"WARC-Date: 2009-03-65T08:43:19-0800",
            b"Content-Type: application/http;msgtype=response",
            b"Content-Length: %d" % size,
        ]
        return end.join([*lines, b"", block, b"", b""])

    answer = end.join([b"HTTP/1.1 200 OK", b"Content-Type: text/html", b"", b"<p>some words on a page"])
    info = b"software: Nutch 1.0-dev (modified for clueweb09)\nformat: WARC File Format 0.18\n"
    records = [record(b"warcinfo", info, length), *[record(b"response", answer, len(answer))] * 23]
    pack = {"plain": bytes, "gzip": gzip.compress}.get(packing)
    data = b"".join(map(pack, records)) if pack else gzip.compress(b"".join(records))
    read = read_bytes(tmp_path, data)
    assert read.contents() == [b"<p>some words on a page"] * 23
    assert {page["url"] for page in read.pages} == {"http://a.example/"}
    (entry,) = read.skipped
    assert entry.position in ("offset 0", "unpacked offset 0")
    assert f"{len(records[0])} bytes passed over" in entry.reason


@pytest.mark.parametrize("kind", [b"application/http; msgtype=response", b"text/html"])
def test_markup_without_a_status_line_is_read_and_counted(tmp_path: Path, kind: bytes) -> None:
    header = b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.example/\r\nContent-Type: %s\r\n" % kind
    blocks = [
        b"<!doctype html><title>x</title><p>some words",
        b"Server: x\r\nContent-Type: text/html\r\n\r\n<html><p>more words",
        b"words without any markup",
        b"\x00\x01\x02 a.example IN A",
    ]
    data = b"".join(header + b"Content-Length: %d\r\n\r\n" % len(block) + block + b"\r\n\r\n" for block in blocks)
    (tmp_path / "a.warc").write_bytes(data)
    with open_inputs([tmp_path / "a.warc"]) as source:
        (loaded,) = [chunk.load() for chunk in source.chunks()]
    assert loaded.pages["content"].to_pylist() == [blocks[0], b"<html><p>more words"]
    assert loaded.pages["html"].to_pylist() == [True, True]
    assert loaded.tolerated == {"response without an HTTP status line": 2}
    assert loaded.ignored == {"response other than HTTP": 2}
    report = dedup(tmp_path / "a.warc", detector="exact").report
    assert report["tolerated"] == {"response without an HTTP status line": 2}
