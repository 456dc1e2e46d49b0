"""The kernel that reads WARC files against plain twins: its framing, and its pages against the patient way."""

from __future__ import annotations

import gzip
import io
import random
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_framing import naive_frame
from reading import Read, read_all
from warc_records import record, response

from neardup import _native
from neardup.page import Skipped
from neardup.sources import framing, warc
from neardup.sources.base import PAGE_BYTES
from neardup.sources.files import Place
from neardup.sources.framing import frame
from neardup.sources.unpack import Unpacked
from neardup.sources.warc import PAGE_KINDS

PACKERS = {"plain": lambda data: data, "gzip": gzip.compress, "zstd": zstandard.compress}


class Trickle(io.BytesIO):
    """A file that gives few bytes at a time."""

    def __init__(self, data: bytes, most: int) -> None:
        super().__init__(data)
        self.most = most

    def read(self, size: int | None = -1) -> bytes:
        return super().read(self.most if size is None or size < 0 else min(size, self.most))


def assert_same_frames(data: bytes, most: int = 1 << 20, longest: int = PAGE_BYTES) -> None:
    kernel, naive = Unpacked(Trickle(data, most)), Unpacked(io.BytesIO(data))
    assert list(frame(kernel, longest)) == list(naive_frame(naive, longest))
    assert kernel.taken == naive.taken


def small(number: int) -> bytes:
    return response(number, b"<p>%d" % number)


@pytest.mark.parametrize("packing", PACKERS)
def test_every_cut_and_every_broken_byte(packing: str) -> None:
    data = b"".join(PACKERS[packing](small(number)) for number in range(3))
    for at in range(len(data)):
        assert_same_frames(data[:at])
        assert_same_frames(data[:at] + bytes([data[at] ^ 0x55]) + data[at + 1 :])


@pytest.mark.parametrize("packing", PACKERS)
def test_any_size_of_reads(packing: str) -> None:
    data = b"".join(PACKERS[packing](small(number) + b"rubbish" * (number % 2)) for number in range(4))
    for most in (1, 2, 3, 7, 64, 1000):
        assert_same_frames(data, most)


def test_members_larger_than_the_kernel_takes() -> None:
    noise = random.Random(1).randbytes(5 << 20)
    for block in (b"x" * (9 << 20), noise):
        data = gzip.compress(small(1), 1) + gzip.compress(response(2, block), 1) + gzip.compress(small(3), 1)
        assert_same_frames(data)
        assert_same_frames(data[:-60])
        assert [len(framed.block) > 1000 for framed in frame(Unpacked(io.BytesIO(data)))] == [False, True, False]


def test_an_archive_inside_an_archive_is_one_record() -> None:
    """Stored without compression, the members inside are members to whoever looks for them by their first bytes."""
    inner = gzip.compress(small(1)) + gzip.compress(small(2))
    data = gzip.compress(record("resource", 0, inner, "application/warc"), 0) + gzip.compress(small(3))
    assert_same_frames(data)
    assert [framed.kind for framed in frame(Unpacked(io.BytesIO(data)))] == ["resource", "response"]


def test_huge_records_are_passed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(framing, "HTTP_BYTES", 1000)
    monkeypatch.setattr(framing, "HEAD_BYTES", 1000)
    for pack in PACKERS.values():
        data = b"".join(pack(response(number, b"y" * (4000 * number))) for number in range(1, 4))
        assert_same_frames(data, longest=4000)
        for end in range(1, len(data), 97):
            assert_same_frames(data[:end], longest=4000)


PARTS = st.one_of(
    st.integers(0, 9).map(small),
    st.integers(0, 9).map(lambda number: small(number).replace(b"\r\n", b"\n")),
    st.integers(0, 9).map(lambda number: small(number).rstrip(b"\r\n")),
    st.tuples(st.integers(0, 9), st.integers(0, 400)).map(lambda cut: small(cut[0])[: cut[1]]),
    st.sampled_from([b"request", b"x", b"Metadata", b"two words", b"7"]).map(
        lambda kind: small(1).replace(b"response", kind, 1)
    ),
    st.sampled_from([b"0", b"9999", b"-1", b"1e3", b"99999999999", b"9" * 19, b" 7 ", b"12"]).map(
        lambda length: b"WARC/1.0\r\nContent-Length: " + length + b"\r\n\r\n<p>some words\r\n\r\n"
    ),
    st.sampled_from([b"", b"\r\n", b"\n\n\n", b"WARC/", b"WARC/1.0\r\n", b"WARC/1.0\r\nWARC-Type: x", b"\0" * 30]),
    st.sampled_from([b"WARC/1.0\r\nWARC-" + b"a" * 45 + b": b", b"WARC/1.0\r\n" + b"a: b\r\n" * 11000]),
    st.binary(max_size=50),
)


@settings(max_examples=400, deadline=None)
@given(st.data())
def test_any_file_is_framed_as_the_rules_say(data: st.DataObject) -> None:
    pack = PACKERS[data.draw(st.sampled_from(sorted(PACKERS)))]
    members = data.draw(st.lists(st.lists(PARTS, max_size=4).map(b"".join), max_size=6))
    between = data.draw(st.sampled_from([b"", b"", b"", b"\0\0", b"\x1f\x8b\x08", b"rubbish"]))
    stored = bytearray(between.join(pack(member) for member in members))
    for _ in range(data.draw(st.integers(0, 2))):
        if stored:
            stored[data.draw(st.integers(0, len(stored) - 1))] = data.draw(st.integers(0, 255))
    end = data.draw(st.integers(0, len(stored))) if data.draw(st.booleans()) else len(stored)
    assert_same_frames(bytes(stored[:end]), data.draw(st.sampled_from([1, 5, 100, 1 << 20])))


def patiently(data: bytes, name: str) -> Read:
    """All pages read patiently, none through the kernel's columns."""
    read = Read()
    number = 0
    for framed in naive_frame(Unpacked(io.BytesIO(data))):
        if framed.damage is not None:
            read.skipped.append(Skipped(name, framed.position, framed.damage))
            continue
        number += 1
        if framed.kind not in PAGE_KINDS:
            read.ignored[framed.kind or "record without a type"] += 1
            continue
        try:
            found = framed.page(PAGE_BYTES)
        except _native.NotAPage as kind:
            read.ignored[str(kind)] += 1
        except _native.BodyError as error:
            read.skipped.append(Skipped(name, framed.position, str(error)))
        else:
            names = ("id", "url", "content", "html", "charset", "date")
            page: dict[str, Any] = {name: getattr(found, name) for name in names}
            page |= {"source": name, "record": number - 1}
            read.pages.append(page | {"offset": framed.offset, "length": framed.length})
    return read


FIELDS = st.sampled_from(
    [
        b"Content-Type: text/html",
        b"content-type:TEXT/HTML ; charset = 'Latin1'",
        b"Content-Type: text/plain; charset=utf-8; charset=b",
        b"Content-Type: application/xhtml+xml;charset=",
        b"Content-Type: image/png",
        b"Content-Type:",
        b"Content-Type: text/html\r\n\tfolded",
        b"Content-Type: text/h\xe4",
        b"Content-Type : text/html",
        b"Transfer-Encoding: chunked",
        b"Content-Encoding: gzip",
        b"Content-Encoding: identity",
        b"X-No: 1",
        b"X_Y: \xff",
        b"no colon",
        b": no name",
        b"A: b\nContent-Type: text/html",
        b"A: b\rc",
        b"WARC-Record-ID: < <urn:x> >",
        b"WARC-Target-URI: http://b.example/\xc3\xa4",
        b"WARC-Date: 2001",
        b"WARC-Truncated: length",
        b"Content-Length: 3",
    ]
)
STATUS = st.sampled_from(
    [
        b"HTTP/1.1 200 OK",
        b"HTTP/1.0 206",
        b"HTTP/1.1 301 Moved",
        b"HTTP/1.1 404 ",
        b"HTTP/1.1 099 x",
        b"HTTP/2 200",
        b"HTTP/1.1  200 OK",
        b"HTTP/1.1 2000 OK",
        b"HTTP/1.1 600 x",
        b"HTTP/1.1 200\tOK",
        b"http/1.1 200 OK",
        b"",
    ]
)
HTTP_TYPES = st.sampled_from(
    ["application/http; msgtype=response"] * 4 + ["application/http", "Application/HTTP", "text/dns", "text/html", ""]
)


@st.composite
def warc_record(draw: st.DrawFn) -> bytes:
    fields = b"".join(line + b"\r\n" for line in draw(st.lists(FIELDS, max_size=4)))
    body = draw(st.sampled_from([b"<html>hello", b"words", b"", b"5\r\nhello\r\n0\r\n\r\n", b"\0\1", b"\r\n\r\nx"]))
    kind = draw(st.sampled_from(["response"] * 5 + ["resource", "conversion", "Response", "request"]))
    block = draw(STATUS) + b"\r\n" + fields + draw(st.sampled_from([b"\r\n", b"\r\n", b"\n", b""])) + body
    extra = b"".join(line + b"\r\n" for line in draw(st.lists(FIELDS, max_size=2)) if b"gth" not in line)
    made = record(kind, draw(st.integers(0, 9)), block if kind[0] in "Rr" else body, draw(HTTP_TYPES), extra)
    return made.replace(b"WARC/1.0", draw(st.sampled_from([b"WARC/1.0", b"WARC/1.1", b"WARC/0.18", b"WARC/1.01"])), 1)


@settings(max_examples=400, deadline=None)
@given(records=st.lists(warc_record(), max_size=8), packing=st.sampled_from(["plain", "gzip"]))
def test_pages_are_those_of_the_patient_way(
    tmp_path_factory: pytest.TempPathFactory, records: list[bytes], packing: str
) -> None:
    path = tmp_path_factory.mktemp("kernel") / "a.warc"
    data = b"".join(map(PACKERS[packing], records))
    path.write_bytes(data)
    read, expected = read_all(path), patiently(data, str(path))
    assert read.pages == expected.pages
    assert sorted(read.skipped, key=repr) == sorted(expected.skipped, key=repr)
    assert read.ignored == expected.ignored


def test_chunks_are_cut_by_records_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that goes on counts chunks, so they must not depend on how the file is compressed or read."""
    monkeypatch.setattr(warc, "BATCH_BYTES", 10_000)
    monkeypatch.setattr(warc, "_CHUNK_RECORDS", 4)
    records = [response(number, b"z" * (number * 997 % 6000)) for number in range(60)]
    records[5] = record("request", 5, b"GET /", "application/http; msgtype=request")
    expected: list[list[int]] = [[]]
    size = 0
    for number, framed in enumerate(naive_frame(Unpacked(io.BytesIO(b"".join(records))))):
        if framed.kind == "response":
            expected[-1].append(number)
            size += len(framed.block)
            if size >= 10_000 or len(expected[-1]) == 4:
                expected.append([])
                size = 0
    assert {2, 4} < {len(cut) for cut in expected}
    for name, pack in PACKERS.items():
        path = tmp_path / f"{name}.warc"
        path.write_bytes(b"".join(map(pack, records)))
        loaded = [chunk.load() for chunk in warc.WarcFile(Place.at(str(path))).chunks()]
        assert [part.pages.column("record").to_pylist() for part in loaded] == expected


def test_bytes_behind_the_last_chunk_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warc, "_CHUNK_RECORDS", 2)
    data = gzip.compress(small(1)) + gzip.compress(small(2)) + bytes(200_000)
    (tmp_path / "a.warc.gz").write_bytes(data)
    read = read_all(tmp_path / "a.warc.gz")
    assert (len(read.pages), read.nbytes) == (2, len(data))
