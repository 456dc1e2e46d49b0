"""Inputs of any mix: files, folders, globs, standard input, remote file systems."""

from __future__ import annotations

import gzip
import io
import json
import os
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from reading import read_all, read_source
from warc_records import response

from neardup import dedup
from neardup.errors import InputError, MissingExtra, NeardupError, UsageError
from neardup.sources import expand, files, open_inputs, tree
from neardup.sources.files import Place


def jsonl(*ids: str) -> bytes:
    return b"".join(json.dumps({"id": name, "text": f"text of {name}"}).encode() + b"\n" for name in ids)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "sub").mkdir()
    (tmp_path / ".hidden").mkdir()
    (tmp_path / "b.html").write_bytes(b"<p>b")
    (tmp_path / "B.HTM").write_bytes(b"<p>B")
    (tmp_path / "sub" / "a b.txt").write_bytes(b"a")
    (tmp_path / "sub" / "z.html.gz").write_bytes(gzip.compress(b"<p>z"))
    (tmp_path / "sub" / "picture.png").write_bytes(b"\x89PNG")
    (tmp_path / ".hidden" / "x.html").write_bytes(b"<p>x")
    (tmp_path / ".x.html").write_bytes(b"<p>x")
    return tmp_path


def test_page_tree(folder: Path) -> None:
    read = read_all(folder, base_url="https://example.org/docs")
    assert read.ids() == ["B.HTM", "b.html", "sub/a b.txt", "sub/z.html.gz"]
    assert read.contents() == [b"<p>B", b"<p>b", b"a", b"<p>z"]
    assert [page["html"] for page in read.pages] == [True, True, False, True]
    assert read.pages[2]["url"] == "https://example.org/docs/sub/a%20b.txt"
    assert read.pages[3]["url"] == "https://example.org/docs/sub/z.html"
    assert read.pages[1]["source"] == f"{folder}/b.html"
    assert [page["length"] for page in read.pages] == [4, 4, 1, None]
    assert read.chunks == 1


def test_page_tree_urls(folder: Path) -> None:
    assert read_all(folder).pages[0]["url"] is None
    assert read_all(folder, base_url="http://x/").pages[0]["url"] == "http://x/B.HTM"


def test_page_tree_does_not_follow_links_out(folder: Path) -> None:
    with tempfile.TemporaryDirectory() as outside:
        Path(outside, "secret.html").write_bytes(b"secret")
        (folder / "link.html").symlink_to(Path(outside, "secret.html"))
        (folder / "links").symlink_to(outside)
        (folder / "inner.html").symlink_to(folder / "b.html")
        (folder / "broken.html").symlink_to(folder / "nothing.html")
        ids = read_all(folder).ids()
    assert "inner.html" in ids
    assert not [name for name in ids if "link" in name or "broken" in name]


def test_damaged_page_files_are_named(folder: Path) -> None:
    (folder / "bad.html.gz").write_bytes(gzip.compress(b"<p>x" * 100)[:-9])
    (folder / "empty.html").write_bytes(b"")
    read = read_all(folder)
    assert [entry.describe() for entry in read.skipped] == [
        f"{folder}/bad.html.gz, whole file: the file ends inside a gzip member"
    ]
    assert read.contents()[read.ids().index("empty.html")] == b""


def test_page_files_that_are_too_long(folder: Path) -> None:
    (folder / "bomb.html.gz").write_bytes(gzip.compress(bytes(30 << 20)))
    (folder / "long.html").write_bytes(bytes(3 << 20))
    told = [entry.reason for entry in read_all(folder, max_page=1 << 20).skipped]
    assert told == [
        "a file that unpacks to more than --max-page (1,048,576 bytes)",
        "a file of 3,145,728 bytes, more than --max-page (1,048,576)",
    ]


def test_a_file_that_vanishes_is_named(folder: Path) -> None:
    source = open_inputs([folder])
    chunks = list(source.chunks())
    (folder / "b.html").unlink()
    loaded = chunks[0].load()
    assert [entry.reason for entry in loaded.skipped] == ["no such file"]
    assert loaded.pages.num_rows == 3


def test_many_files_make_many_chunks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree, "_CHUNK_FILES", 7)
    for n in range(30):
        (tmp_path / f"{n:03}.html").write_bytes(b"x")
    read = read_all(tmp_path)
    assert read.ids() == [f"{n:03}.html" for n in range(30)]
    assert read.chunks == 5


def test_small_files_share_chunks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A chunk for each of very many small files would cost more than their pages."""
    monkeypatch.setattr("neardup.sources.gathering.ENOUGH", 200)
    for n in range(40):
        pack = gzip.compress if n % 3 == 0 else bytes
        (tmp_path / f"{n:03}.jsonl").write_bytes(pack(jsonl(f"a{n}", f"b{n}") + (b"{\n" if n % 8 == 0 else b"")))
    (tmp_path / "020-archive.warc").write_bytes(response(1) + response(2))
    read = read_all(tmp_path)
    alone = [read_all(path) for path in sorted(tmp_path.iterdir())]
    assert read.pages == [page for one in alone for page in one.pages]
    assert read.skipped == [bad for one in alone for bad in one.skipped]
    assert [entry.position for entry in read.skipped] == ["line 3"] * 5
    assert read.nbytes == sum(path.stat().st_size for path in tmp_path.iterdir())
    assert 5 < read.chunks < 25
    monkeypatch.setattr("neardup.sources.gathering.MOST", 1)
    assert read_all(tmp_path).chunks == 41


def test_what_is_gathered_is_measured_unpacked(tmp_path: Path) -> None:
    """Small compressed files may be large; together they are no more than a few."""
    for n in range(6):
        (tmp_path / f"{n}.jsonl.gz").write_bytes(gzip.compress(jsonl(*map(str, range(30_000)))))
        (tmp_path / f"{n}.warc.gz").write_bytes(gzip.compress(response(n, b"x" * (1 << 20))))
    with open_inputs([tmp_path]) as source:
        sizes = [chunk.load().pages["content"].nbytes for chunk in source.chunks()]
    assert max(sizes) < 8 << 20
    assert len(sizes) >= 3


def test_a_folder_that_cannot_be_listed_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """To pass over it would lose its pages without a word."""
    (tmp_path / "open").mkdir()
    (tmp_path / "closed").mkdir()
    (tmp_path / "open" / "a.html").write_bytes(b"x")
    listed = os.scandir

    def scandir(path: str) -> Any:
        if path.endswith("closed"):
            raise PermissionError(13, "Permission denied", path)
        return listed(path)

    monkeypatch.setattr(os, "scandir", scandir)
    with pytest.raises(InputError, match="cannot be listed: Permission denied") as caught:
        open_inputs([tmp_path])
    assert caught.value.where == str(tmp_path / "closed")


def test_mixed_inputs_in_the_given_order(tmp_path: Path) -> None:
    (tmp_path / "c.jsonl").write_bytes(jsonl("c1", "c2"))
    (tmp_path / "a.warc.gz").write_bytes(gzip.compress(response(1)))
    pq.write_table(pa.table({"id": ["p"], "text": ["x"]}), tmp_path / "b.parquet")
    (tmp_path / "page.html").write_bytes(b"<p>")
    (tmp_path / "d.csv").write_bytes(b"id,text\nd,x\n")
    assert read_all(tmp_path).ids() == ["urn:uuid:1", "p", "c1", "c2", "d", "page.html"]
    given = [tmp_path / "page.html", tmp_path / "c.jsonl", str(tmp_path / "a*")]
    assert read_all(given).ids() == ["page.html", "c1", "c2", "urn:uuid:1"]
    with open_inputs([tmp_path]) as source:
        assert source.nbytes() == sum(path.stat().st_size for path in tmp_path.iterdir())
        once, twice = read_source(source), read_source(source)
        assert once.pages == twice.pages


def test_globs(tmp_path: Path) -> None:
    for name in ("x/1.html", "x/2.html", "y/1.html", "y/deep/3.html"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"<p>")
    assert read_all(f"{tmp_path}/*/1.html").ids() == ["x/1.html", "y/1.html"]
    assert read_all(f"{tmp_path}/**/*.html").ids() == ["x/1.html", "x/2.html", "y/1.html", "y/deep/3.html"]
    assert read_all(f"{tmp_path}/[x]").ids() == ["1.html", "2.html"]
    with pytest.raises(InputError, match="nothing matches"):
        open_inputs([f"{tmp_path}/*.jsonl"])


def test_a_file_whose_name_is_a_pattern(tmp_path: Path) -> None:
    (tmp_path / "a[1].jsonl").write_bytes(jsonl("a"))
    assert read_all(tmp_path / "a[1].jsonl").ids() == ["a"]


def test_format_by_content_and_by_hand(tmp_path: Path) -> None:
    (tmp_path / "one").write_bytes(jsonl("a"))
    (tmp_path / "two.dat").write_bytes(b"id,text\nb,x\n")
    assert read_all(tmp_path / "one").ids() == ["a"]
    assert read_all(tmp_path / "two.dat", format="csv").ids() == ["b"]
    with pytest.raises(InputError, match="unknown format"):
        open_inputs([tmp_path / "two.dat"])
    with pytest.raises(UsageError, match="unknown format 'xml'"):
        open_inputs([tmp_path / "one"], format="xml")


def test_a_name_that_lies_about_compression(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl.gz").write_bytes(jsonl("a"))
    (tmp_path / "b.jsonl").write_bytes(zstandard.compress(jsonl("b")))
    assert read_all(tmp_path).ids() == ["a", "b"]


def test_missing_inputs(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file or folder"):
        open_inputs([tmp_path / "nothing.jsonl"])
    with pytest.raises(InputError, match="no file of a known format"):
        open_inputs([tmp_path])
    with pytest.raises(UsageError, match="no input"):
        open_inputs([])


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
@pytest.mark.parametrize("pattern", ["pages.jsonl", "*.jsonl"])
def test_a_pipe_is_refused_and_not_waited_for(pattern: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pages.jsonl")
    with pytest.raises(InputError, match="a pipe or device is read only as standard input"):
        open_inputs([tmp_path / pattern])


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(jsonl("a"))
    (tmp_path / "a.jsonl").chmod(0)
    with pytest.raises(InputError, match="Permission denied"):
        read_all(tmp_path / "a.jsonl")


class Stdin:
    def __init__(self, data: bytes) -> None:
        self.buffer = io.BytesIO(data)


def parquet_bytes() -> bytes:
    target = io.BytesIO()
    pq.write_table(pa.table({"id": ["p"], "text": ["x"]}), target)
    return target.getvalue()


STREAMS = {
    "jsonl": (jsonl("a", "b"), ["a", "b"]),
    "jsonl.gz": (gzip.compress(jsonl("a")), ["a"]),
    "jsonl.zst": (zstandard.compress(jsonl("a") * 1) + zstandard.compress(jsonl("b")), ["a", "b"]),
    "warc": (response(1) + response(2), ["urn:uuid:1", "urn:uuid:2"]),
    "warc.gz": (gzip.compress(response(1)), ["urn:uuid:1"]),
    "parquet": (parquet_bytes(), ["p"]),
    "page": (b"<!doctype html><p>x", ["-"]),
    "nothing": (b"", []),
}


@pytest.mark.parametrize("spool", [False, True])
@pytest.mark.parametrize("name", STREAMS)
def test_standard_input(name: str, spool: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    data, ids = STREAMS[name]
    monkeypatch.setattr(sys, "stdin", Stdin(data))
    with open_inputs(["-"], spool=spool) as source:
        read = read_source(source)
        assert read.ids() == ids
        assert {page["source"] for page in read.pages} <= {"-"}
        assert read.nbytes == len(data) or not spool
        if spool:
            assert read_source(source).pages == read.pages
    assert not list(tmp_path.iterdir())


def test_standard_input_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", Stdin(jsonl("a")))
    with open_inputs(["-"]) as source:
        assert source.nbytes() is None
        read_source(source)
        with pytest.raises(InputError, match="only once"):
            read_source(source)
    with pytest.raises(UsageError, match="twice"):
        open_inputs(["-", "-"])


def test_standard_input_of_unknown_format(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    for spool in (False, True):
        monkeypatch.setattr(sys, "stdin", Stdin(b"id,text\na,x\n"))
        with pytest.raises(InputError, match="unknown format"):
            open_inputs(["-"], spool=spool)
    assert not list(tmp_path.iterdir())
    monkeypatch.setattr(sys, "stdin", Stdin(b"id,text\na,x\n"))
    assert read_all("-", format="csv").ids() == ["a"]


def test_remote_file_systems() -> None:
    import fsspec

    memory = fsspec.filesystem("memory")
    memory.store.clear()
    try:
        memory.pipe_file("/crawl/a.jsonl", jsonl("a"))
        memory.pipe_file("/crawl/sub/b.warc.gz", gzip.compress(response(1)))
        memory.pipe_file("/crawl/p.parquet", parquet_bytes())
        memory.pipe_file("/crawl/page.html", b"<p>x")
        assert read_all("memory://crawl/a.jsonl").ids() == ["a"]
        read = read_all("memory://crawl")
        assert read.ids() == ["a", "p", "page.html", "urn:uuid:1"]
        assert read.pages[0]["source"] == "memory://crawl/a.jsonl"
        assert read.pages[0]["offset"] is None
        assert read_all("memory://crawl/*.jsonl").ids() == ["a"]
        assert open_inputs(["memory://crawl/a.jsonl"]).nbytes() == len(jsonl("a"))
        with pytest.raises(InputError, match="no such file or folder"):
            open_inputs(["memory://crawl/nothing.jsonl"])
    finally:
        memory.store.clear()


def test_file_urls(tmp_path: Path) -> None:
    (tmp_path / "a b.jsonl").write_bytes(jsonl("a"))
    assert read_all(f"file://{tmp_path}/a%20b.jsonl").ids() == ["a"]


def test_unknown_file_system() -> None:
    with pytest.raises(InputError, match="file system cannot be opened"):
        open_inputs(["nonsense://host/a.jsonl"])


def test_real_data() -> None:
    data = os.environ.get("NEARDUP_DATA")
    if not data:
        pytest.skip("NEARDUP_DATA does not name a folder with data")
    files = sorted(Path(data).rglob("docs.jsonl*"))
    if not files:
        pytest.skip(f"no docs.jsonl in {data}")
    smallest = min(files, key=lambda path: path.stat().st_size)
    with open_inputs([smallest]) as source:
        assert any(chunk.load().pages.num_rows for chunk in source.chunks())


def test_files_that_are_left_out_are_named(tmp_path: Path) -> None:
    """Whatever stands in a folder is read, or counted and named; but for what is hidden."""
    folder, outside = tmp_path / "in", tmp_path / "outside.html"
    (folder / "sub").mkdir(parents=True)
    outside.write_text("<p>not of this folder")
    (folder / "a.html").write_text("<p>a page of some words")
    for name in ("README.md", "sub/old.arc.gz", "_SUCCESS", ".hidden.pdf"):
        (folder / name).write_text("x")
    os.mkfifo(folder / "pipe.html")
    (folder / "nowhere.html").symlink_to("gone.html")
    (folder / "out.html").symlink_to(outside)
    (folder / "linked").symlink_to("sub")
    (folder / "inside.html").symlink_to("a.html")
    bound = socket.socket(socket.AF_UNIX)
    bound.bind(str(folder / "b.html"))
    bound.close()
    report = dedup(folder, tmp_path / "out").report
    told = {entry["source"].removeprefix(f"{folder}/"): entry["reason"] for entry in report["left_out_files"]}
    assert told == {
        "README.md": "a file of no known format",
        "_SUCCESS": "a file of no known format",
        "sub/old.arc.gz": "an ARC file, which neardup does not read",
        "pipe.html": "a pipe, not a file",
        "b.html": "a socket, not a file",
        "nowhere.html": "a link that leads nowhere",
        "out.html": "a link that leads out of the folder",
        "linked": "a link to a folder, not a file",
    }
    assert report["counts"]["left_out_files"] == len(told)
    assert report["counts"]["pages"] == 2


def test_a_file_of_which_nothing_could_be_read_comes_first(tmp_path: Path) -> None:
    for name, field in (("a", "text"), ("b", "body"), ("c", "text")):
        lines = [json.dumps({field: f"some words on page {at} of {name}"}) for at in range(3)]
        (tmp_path / f"{name}.jsonl").write_text("\n".join([*lines, "{"] if name == "c" else lines))
    report = dedup(tmp_path, tmp_path / "out").report
    assert report["counts"] | {"failed_files": 1, "skipped": 4, "pages": 6} == report["counts"]
    (failed,) = report["failed_files"]
    assert failed["source"].endswith("b.jsonl")
    assert failed["reason"] == (
        "no record could be read; the first of its 3 records, line 1: "
        'no field "html" or "text"; there are: body (see --text-field)'
    )
    command = [sys.executable, "-m", "neardup", "show", str(tmp_path / "out")]
    said = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"COLUMNS": "400"}, check=True)
    assert said.stdout.startswith(f"! {tmp_path}/b.jsonl: no record could be read")


def test_a_thousand_are_named_and_all_are_listed(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for at in range(1200):
        (tmp_path / "in" / f"{at:04}.pdf").write_text("x")
    (tmp_path / "in" / "a.jsonl").write_text('{"text": "a page"}\n' + "x\n" * 700 + "[1]\n" * 800)
    out = tmp_path / "out"
    report = dedup(tmp_path / "in", out).report
    assert [len(report[name]) for name in ("skipped", "left_out_files", "failed_files")] == [1000, 1000, 0]
    assert report["skipped_reasons"] == {"not a JSON object": 1500}
    listed = pq.read_table(out / "skipped.parquet").to_pylist()
    assert len(listed) == 2700
    assert listed[:1000] == report["skipped"]
    assert [row["position"] for row in listed[:1500]] == [f"line {at}" for at in range(2, 1502)]
    assert listed[1500:2500] == report["left_out_files"]


def test_remote_inputs_that_cannot_be_had_are_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the library, without a network, and whatever error a library has for that."""

    class ConnectError(Exception):
        """As the library behind hf:// raises it: no OSError."""

    def fails(url: str) -> Any:
        raise ConnectError("[Errno -3] Temporary failure in name resolution\nand more lines")

    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "huggingface_hub", None)
        with pytest.raises(MissingExtra, match=r"read through huggingface_hub, which is not installed .*: pip install"):
            open_inputs(["hf://datasets/some/where/a.parquet"])
    for module in (expand, files):
        with monkeypatch.context() as patch:
            patch.setattr(module, "file_system", fails)
            with pytest.raises(InputError) as failed:
                list(Place.at("hf://datasets/a.jsonl").open()) if module is files else open_inputs(["hf://datasets/a"])
        assert str(failed.value).splitlines() == [str(failed.value)]
        assert "cannot be reached: [Errno -3] Temporary failure" in str(failed.value)
    with pytest.raises(NeardupError, match=r"cannot be reached|is read through") as failed:
        open_inputs(["https://localhost:1/a.jsonl"])
    assert "no such file or folder" not in str(failed.value)
