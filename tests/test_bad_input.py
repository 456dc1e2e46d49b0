"""Inputs as they should not be, through ``neardup dedup`` from end to end.

The rule behind every case: a page that cannot be read is named in ``run.json`` with its place and reason, the rest
goes on, memory stays bounded, and nobody sees a traceback. With ``--strict`` the same place ends the run.
"""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

PROGRAM = [sys.executable, "-m", "neardup"]
LATIN = "caf\xe9 cr\xe8me br\xfbl\xe9e ".encode("latin-1") * 10

# A small process between the tests and the program, for the memory of a process is counted from that of the one
# that started it: runs the rest of its arguments, and prints the exit code and the peak resident bytes. Its first
# argument is the size from which on files cannot grow, or 0.
LAUNCHER = """
import resource, subprocess, sys
if limit := int(sys.argv[1]):
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
code = subprocess.call(sys.argv[2:], stdout=sys.stderr)
unit = 1 if sys.platform == "darwin" else 1024
print(code, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * unit)
"""


@dataclass(frozen=True)
class Ended:
    """How a call of ``neardup dedup`` ended, and what its result folder says."""

    code: int
    errors: str
    #: Peak resident bytes of the process.
    peak: int
    report: dict[str, Any]
    pages: list[dict[str, Any]]

    @property
    def skipped(self) -> list[tuple[str, str]]:
        return [(entry["position"], entry["reason"]) for entry in self.report["skipped"]]


Dedup = Callable[..., Ended]


@pytest.fixture
def dedup(tmp_path: Path) -> Dedup:
    """Runs ``neardup dedup`` as a process of its own, into the folder ``out``."""

    def call(*args: str | Path, out: Path = tmp_path / "out", file_bytes: int = 0) -> Ended:
        command = [*PROGRAM, "dedup", *map(str, args), "--out", str(out), "--quiet", "--overwrite"]
        launch = [sys.executable, "-SE", "-c", LAUNCHER, str(file_bytes), *command]
        ended = subprocess.run(launch, capture_output=True, timeout=120)
        code, peak = map(int, ended.stdout.split())
        said = ended.stderr.decode("utf-8", "replace")
        assert "Traceback" not in said
        assert "unexpected" not in said
        assert "panicked" not in said
        assert not list(out.parent.glob(f".{out.name}.*")), "a temporary folder was left behind"
        if code:
            assert said.startswith("neardup: ")
            assert not (out / "run.json").exists()
            return Ended(code, said, peak, {}, [])
        assert said == ""
        report = json.loads((out / "run.json").read_text(encoding="utf-8"))
        pages = pq.read_table(out / "pages.parquet").to_pylist()
        assert len(pages) == report["counts"]["pages"]
        return Ended(code, said, peak, report, pages)

    return call


def text(number: int, words: int = 30) -> str:
    return " ".join(f"word{number}x{at}" for at in range(words))


def lines(count: int) -> list[bytes]:
    return [json.dumps({"id": f"p{at}", "text": text(at)}).encode() + b"\n" for at in range(count)]


def response(number: int, body: bytes, headers: bytes = b"Content-Type: text/html") -> bytes:
    """A WARC record of an HTTP answer."""
    block = b"HTTP/1.1 200 OK\r\n" + headers + b"\r\n\r\n" + body
    head = (
        f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:test:{number}>\r\n"
        f"WARC-Target-URI: http://site.example/{number}\r\nContent-Type: application/http; msgtype=response\r\n"
        f"Content-Length: {len(block)}\r\n\r\n"
    )
    return head.encode() + block + b"\r\n\r\n"


def archive(count: int) -> list[bytes]:
    """Compressed records; the bodies are random enough that damage in a record's middle is damage in its data."""
    return [gzip.compress(response(at, b"<p>" + text(at, 300).encode())) for at in range(count)]


def cut_jsonl(folder: Path) -> Path:
    data = gzip.compress(b"".join(lines(3000)))
    (folder / "cut.jsonl.gz").write_bytes(data[: len(data) // 2])
    return folder / "cut.jsonl.gz"


def cut_warc(folder: Path) -> Path:
    (folder / "cut.warc.gz").write_bytes(b"".join(archive(10))[:-200])
    return folder / "cut.warc.gz"


def broken_record(folder: Path) -> Path:
    records = archive(10)
    records[5] = records[5][:150] + b"\0" * 200 + records[5][350:]
    (folder / "middle.warc.gz").write_bytes(b"".join(records))
    return folder / "middle.warc.gz"


def broken_line(folder: Path) -> Path:
    made = lines(1000)
    made[811] = b'{"id": "p811", "text": "it does not end\n'
    (folder / "line.jsonl").write_bytes(b"".join(made))
    return folder / "line.jsonl"


def deep_json(folder: Path) -> Path:
    nested = b'{"id": "deep", "text": "one two", "more": ' + b"[" * 100_000 + b"]" * 100_000 + b"}\n"
    (folder / "deep.jsonl").write_bytes(lines(1)[0] + nested + b'{"a":' * 100_000 + b"\n" + lines(2)[1])
    return folder / "deep.jsonl"


def packed_bomb(folder: Path) -> Path:
    bomb = gzip.compress(b"\0" * (200 << 20), 1)
    records = archive(2)
    packed = response(7, bomb, b"Content-Type: text/html\r\nContent-Encoding: gzip")
    (folder / "bomb.warc.gz").write_bytes(records[0] + gzip.compress(packed) + records[1])
    return folder / "bomb.warc.gz"


def cut_page(folder: Path) -> Path:
    (folder / "tree").mkdir()
    (folder / "tree" / "a.html").write_bytes(b"<p>one two")
    (folder / "tree" / "b.html.gz").write_bytes(gzip.compress(b"<p>three four")[:-9])
    return folder / "tree"


BROKEN: dict[Callable[[Path], Path], tuple[int | None, str, str]] = {
    # what is made: pages that are read, the place named, and a word of the reason
    cut_jsonl: (None, "line 1", "ends inside a gzip member"),
    cut_warc: (9, "offset ", "ends inside a gzip member"),
    broken_record: (9, "offset ", "damaged gzip data"),
    broken_line: (999, "line 812", "invalid JSON"),
    deep_json: (2, "line 2", "invalid JSON"),
    packed_bomb: (2, "offset ", "unpacks to more than --max-page (67,108,864 bytes)"),
    cut_page: (1, "whole file", "ends inside a gzip member"),
}


@pytest.mark.parametrize("make", BROKEN, ids=lambda make: make.__name__)
def test_what_cannot_be_read_is_named_and_the_rest_goes_on(
    make: Callable[[Path], Path], tmp_path: Path, dedup: Dedup
) -> None:
    path = make(tmp_path)
    count, place, reason = BROKEN[make]
    done = dedup(path)
    assert done.code == 0
    if count is not None:
        assert done.report["counts"]["pages"] == count
    assert done.report["counts"]["pages"] > 0
    assert done.report["counts"]["skipped"] == len(done.skipped) > 0
    position, why = done.skipped[0]
    assert position.startswith(place)
    assert reason in why
    assert any("could not be read" in warning for warning in done.report["warnings"])
    assert done.peak < 600 << 20
    strict = dedup(path, "--strict", out=tmp_path / "strict")
    assert strict.code == 1
    assert position in strict.errors
    assert path.name in strict.errors
    assert "--strict" in strict.errors


def test_a_parquet_file_without_the_named_column(tmp_path: Path, dedup: Dedup) -> None:
    pq.write_table(pa.table({"id": ["a"], "body": ["x y z"]}), tmp_path / "in.parquet")
    for arguments, named in (([], "'html'"), (["--text-field", "content"], "'content'")):
        done = dedup(tmp_path / "in.parquet", *arguments)
        assert done.code == 1
        assert all(word in done.errors for word in (named, "in.parquet", "body"))


def test_wrong_and_unknown_charsets_cost_no_page(tmp_path: Path, dedup: Dedup) -> None:
    records = [
        response(0, LATIN, b"Content-Type: text/html; charset=utf-8"),
        response(1, LATIN, b"Content-Type: text/html; charset=no-such-charset"),
        response(2, b"<meta charset=utf-8>" + LATIN),
        response(3, LATIN, b"Content-Type: text/html; charset=latin1"),
    ]
    (tmp_path / "in.warc").write_bytes(b"".join(records))
    done = dedup(tmp_path / "in.warc", "--strict")
    assert done.code == 0
    assert done.report["counts"]["wrong_charset"] == 2  # pages 0 and 2
    assert done.pages[1]["identity"] == done.pages[3]["identity"], "an unknown label counts as none"


def test_nul_bytes(tmp_path: Path, dedup: Dedup) -> None:
    (tmp_path / "a.html").write_bytes(b"<p>one\0two thr\0ee " * 20)
    (tmp_path / "b.txt").write_bytes(b"one\0two thr\0ee " * 20)
    (tmp_path / "c.jsonl").write_bytes(
        b'{"id": "escaped", "text": "one\\u0000two"}\n'
        b'{"id": "raw", "text": "one\0two"}\n'
        b'{"id": "i\\u0000d", "text": "x"}\n'
    )
    done = dedup(tmp_path / "a.html", tmp_path / "b.txt", tmp_path / "c.jsonl")
    assert done.code == 0
    ids = [page["id"] for page in done.pages]
    assert {"a.html", "b.txt", "escaped", "i\0d"} <= set(ids)
    assert ("raw" in ids) + len(done.skipped) == 1  # read, or named: never just gone


def test_lone_surrogates_in_json(tmp_path: Path, dedup: Dedup) -> None:
    odd = [b'{"id": "a", "text": "half \\ud800 a pair"}\n', b'{"id": "\\udc00", "text": "x"}\n']
    (tmp_path / "in.jsonl").write_bytes(b"".join(odd + lines(2)))
    done = dedup(tmp_path / "in.jsonl")
    assert done.code == 0
    assert len(done.pages) + len(done.skipped) == 4  # read, or named: never just gone
    assert [page["id"] for page in done.pages][-2:] == ["p0", "p1"]


# Size and depth


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(lambda: b"<div>" * (20 << 20), id="100 MB of <div>"),
        pytest.param(lambda: b"<div><table><b><svg>" * 100_000 + b"deep", id="nested 400,000 deep"),
        pytest.param(lambda: b"&CounterClockwiseContourIntegral;&#x10FFFF;&#9999999999;&amp" * 300_000, id="entities"),
        pytest.param(lambda: b"<a " + b"x=y " * 3_000_000, id="a tag that never ends"),
        pytest.param(lambda: b"<!--" * 4_000_000, id="comments"),
    ],
)
def test_monstrous_html(page: Callable[[], bytes], tmp_path: Path, dedup: Dedup) -> None:
    (tmp_path / "in.html").write_bytes(page())
    done = dedup(tmp_path / "in.html", "--max-page", "128MiB")
    assert done.code == 0
    assert done.report["counts"]["pages"] == 1
    assert done.peak < 1_200_000_000


def test_a_line_of_50_mb(tmp_path: Path, dedup: Dedup) -> None:
    (tmp_path / "in.jsonl").write_bytes(b'{"id": "long", "text": "' + b"word " * (10 << 20) + b'"}\n' + lines(1)[0])
    done = dedup(tmp_path / "in.jsonl", "--strict")
    assert [page["id"] for page in done.pages] == ["long", "p0"]
    assert done.pages[0]["tokens"] == 10 << 20
    assert done.peak < 1_200_000_000


# Ids, short pages, no pages


def test_repeated_ids_are_made_unique_and_counted(tmp_path: Path, dedup: Dedup) -> None:
    ids = ["x", "x", "x#1", "x", "x#1"]
    rows = "".join(json.dumps({"id": name, "text": text(at)}) + "\n" for at, name in enumerate(ids))
    (tmp_path / "in.jsonl").write_text(rows)
    done = dedup(tmp_path / "in.jsonl", "--strict")
    made = [page["id"] for page in done.pages]
    assert len(set(made)) == len(ids)
    assert (made[0], made[2]) == ("x", "x#1")  # a page's own id is not given to another
    assert done.report["counts"]["repeated_ids"] == 3
    assert any("ids that occurred before" in warning for warning in done.report["warnings"])


@pytest.mark.parametrize("detector", ["site-aware", "minhash(threshold=0.1)", "broder", "charikar"])
def test_short_pages_match_only_their_equals_and_empty_pages_nothing(
    detector: str, tmp_path: Path, dedup: Dedup
) -> None:
    seven = "one two three four five six seven"
    pages = [seven, seven.replace("seven", "eight"), seven.upper(), "", " ... ", "", "<p>"]
    rows = "".join(json.dumps({"html": page, "url": "http://a.example/"}) + "\n" for page in pages)
    (tmp_path / "in.jsonl").write_text(rows)
    done = dedup(tmp_path / "in.jsonl", "--detector", detector)
    assert [page["kept"] for page in done.pages] == [True, True, False, True, True, True, True]
    assert [page["reason"] for page in done.pages] == ["chosen", "short", "identical"] + ["empty"] * 4
    counts = done.report["counts"]
    assert (counts["short"], counts["empty"], counts["clusters"], counts["pairs"]) == (3, 4, 1, 0)


@pytest.mark.parametrize("name", ["in.jsonl", "in.warc.gz", "in.csv", "in.parquet", "folder"])
def test_no_pages_at_all(name: str, tmp_path: Path, dedup: Dedup) -> None:
    path = tmp_path / name
    if name == "folder":
        path.mkdir()
    elif name == "in.parquet":
        pq.write_table(pa.table({"text": pa.array([], pa.string())}), path)
    else:
        path.write_bytes(b"id,text\n" if name == "in.csv" else b"")
    done = dedup(path)
    assert done.code == 1
    assert "no pages" in done.errors or "no file of a known format" in done.errors


# File systems


def test_symlink_loops(tmp_path: Path, dedup: Dedup) -> None:
    folder = tmp_path / "tree"
    (folder / "sub").mkdir(parents=True)
    (folder / "page.html").write_text("<p>one two")
    (folder / "sub" / "up").symlink_to("..")
    (folder / "self").symlink_to("self")
    (folder / "loop.html").symlink_to("loop.html")
    (folder / "nowhere.html").symlink_to("gone.html")
    done = dedup(folder, "--strict")
    assert [page["id"] for page in done.pages] == ["page.html"]


@pytest.fixture
def odd_name(tmp_path: Path) -> Path:
    """A folder with a file whose name is not UTF-8."""
    folder = tmp_path / "odd"
    folder.mkdir()
    try:
        (folder / os.fsdecode(b"caf\xe9.html")).write_bytes(b"<p>one two three")
    except OSError:
        pytest.skip("this file system takes only names that are UTF-8")
    (folder / "fine.html").write_bytes(b"<p>one two three four")
    return folder


def test_file_names_that_are_not_utf8(odd_name: Path, dedup: Dedup) -> None:
    done = dedup(odd_name, "--base-url", "http://a.example/", "--write", "kept")
    assert done.code == 0
    assert len(done.pages) == 2


def test_a_result_folder_whose_name_is_not_utf8(tmp_path: Path, odd_name: Path, dedup: Dedup) -> None:
    out = tmp_path / os.fsdecode(b"r\xe9sultat")
    (tmp_path / "in.jsonl").write_bytes(lines(1)[0])
    with (tmp_path / "log").open("wb") as log:
        for call in (["dedup", str(tmp_path / "in.jsonl"), "-o"], ["show"]):
            assert subprocess.run([*PROGRAM, *call, str(out)], stdout=log, stderr=log).returncode == 0


def test_output_below_a_file(tmp_path: Path, dedup: Dedup) -> None:
    (tmp_path / "in.jsonl").write_bytes(lines(1)[0])
    for place in ("in.jsonl/out", "in.jsonl/more/out"):
        done = dedup(tmp_path / "in.jsonl", out=tmp_path / place)
        assert done.code == 1
        assert "in.jsonl" in done.errors


def test_output_where_one_may_not_write(tmp_path: Path, dedup: Dedup) -> None:
    if os.geteuid() == 0:
        pytest.skip("the superuser may write everywhere")
    (tmp_path / "in.jsonl").write_bytes(lines(1)[0])
    (tmp_path / "locked").mkdir(mode=0o555)
    done = dedup(tmp_path / "in.jsonl", out=tmp_path / "locked" / "out")
    assert done.code == 1
    assert "Permission denied" in done.errors


@pytest.mark.parametrize("write", [True, False])
def test_a_full_disk(write: bool, disk_of: Callable[[str], Path], tmp_path: Path, dedup: Dedup) -> None:
    small_disk = disk_of("64k")
    (tmp_path / "in.jsonl").write_bytes(b"".join(lines(1000)))
    if not write:
        (small_disk / "ballast").write_bytes(b"x" * (60 << 10))
    before = sorted(small_disk.iterdir())
    done = dedup(tmp_path / "in.jsonl", *(["--write", "all"] if write else []), out=small_disk / "out")
    assert done.code == 1
    assert "No space left on device" in done.errors
    # Tables are written beside each other: any may be the first that finds no room.
    tables = [f"{name}.parquet" for name in ("pages", "pairs", "clusters")]
    told = [str(small_disk / "out" / name) for name in (["written/in.jsonl"] if write else tables)]
    assert any(name in done.errors for name in told), done.errors
    assert sorted(small_disk.iterdir()) == before


def test_a_file_larger_than_allowed(tmp_path: Path, dedup: Dedup) -> None:
    """What a full disk is to those who cannot mount one."""
    (tmp_path / "in.jsonl").write_bytes(b"".join(lines(1000)))
    done = dedup(tmp_path / "in.jsonl", file_bytes=4096)
    assert done.code == 1
    assert "File too large" in done.errors
    assert str(tmp_path / "out") in done.errors
    assert not (tmp_path / "out").exists()
