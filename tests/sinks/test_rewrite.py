"""Pages written out in the form they came in: kept ones as they are, or all with what was decided."""

from __future__ import annotations

import csv
import gzip
import io
import json
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from neardup.errors import OutputError
from neardup.sinks.rewrite import write_pages
from neardup.sources import open_inputs

PACKERS = {"": lambda data: data, ".gz": gzip.compress, ".zst": zstandard.compress}


def unzstd(data: bytes) -> bytes:
    return zstandard.ZstdDecompressor().stream_reader(io.BytesIO(data), read_across_frames=True).read()


UNPACKERS = {"": lambda data: data, ".gz": gzip.decompress, ".zst": unzstd}


def decisions(kept: list[bool]) -> pa.Table:
    return pa.table(
        {
            "row": pa.array(range(len(kept)), pa.int64()),
            "kept": kept,
            "identity": [f"i{n}" for n in range(len(kept))],
            "cluster": pa.array([None] * len(kept), pa.string()),
            "kept_instead": [None if keep else 'the "first", é' for keep in kept],
            "reason": [None if keep else "near-duplicate" for keep in kept],
        },
        schema=pa.schema(
            {
                "row": pa.int64(),
                "kept": pa.bool_(),
                "identity": pa.string(),
                "cluster": pa.string(),
                "kept_instead": pa.string(),
                "reason": pa.string(),
            }
        ),
    )


def rewrite(inputs: Any, kept: list[bool], out: Path, what: Any = "kept") -> list[Path]:
    given = inputs if isinstance(inputs, list) else [inputs]
    with open_inputs(given, spool=True) as source:
        return write_pages(source, decisions(kept), out, what)


@pytest.mark.parametrize("ending", PACKERS)
def test_jsonl(tmp_path: Path, ending: str) -> None:
    lines = [
        b'{"id": "a",  "text": "\xe2\x80\xa8 odd  spaces", "n": 1.0e3 }\r\n',
        b"not json\n",
        b"\n",
        b'{"id": "b", "text": "x"}\n',
        b'{"text": "y", "neardup_kept": null}',
    ]
    path = tmp_path / f"in.jsonl{ending}"
    path.write_bytes(PACKERS[ending](b"".join(lines)))
    (kept,) = rewrite(path, [True, False, True], tmp_path / "kept")
    assert kept.name == path.name
    assert UNPACKERS[ending](kept.read_bytes()) == lines[0] + lines[4] + b"\n"
    (everything,) = rewrite(path, [True, False, True], tmp_path / "all", "all")
    data = UNPACKERS[ending](everything.read_bytes())
    assert data.startswith(lines[0].rstrip()[:-1].rstrip() + b', "neardup_identity"')
    rows = [json.loads(line) for line in data.split(b"\n")[:-1]]
    assert [row["neardup_kept"] for row in rows] == [True, False, True]
    assert rows[1]["neardup_kept_instead"] == 'the "first", é'
    assert rows[1]["neardup_reason"] == "near-duplicate"


@pytest.mark.parametrize("ending", PACKERS)
def test_csv(tmp_path: Path, ending: str) -> None:
    header, *rows = [b"id,text\r\n", b'1,"two\nlines"\r\n', b"wrong\r\n", b"2,x\r\n", b"3,y"]
    path = tmp_path / f"in.csv{ending}"
    path.write_bytes(PACKERS[ending](b"".join([header, *rows])))
    (kept,) = rewrite(path, [True, False, True], tmp_path / "kept")
    assert UNPACKERS[ending](kept.read_bytes()) == header + rows[0] + rows[3] + b"\n"
    (everything,) = rewrite(path, [True, False, True], tmp_path / "all", "all")
    text = UNPACKERS[ending](everything.read_bytes()).decode()
    table = list(csv.DictReader(io.StringIO(text, newline="")))
    assert [row["neardup_kept"] for row in table] == ["true", "false", "true"]
    assert table[1]["neardup_kept_instead"] == 'the "first", é'
    assert table[0]["text"] == "two\nlines"


@pytest.mark.parametrize("codec", ["snappy", "none", "zstd"])
def test_parquet(tmp_path: Path, codec: str) -> None:
    table = pa.table({"id": range(7), "text": ["a", "b", None, "d", "e", "f", "g"], "list": [[n] for n in range(7)]})
    table = table.replace_schema_metadata({"made": "here"})
    path = tmp_path / "in.parquet"
    pq.write_table(table, path, row_group_size=3, compression=codec)
    keep = [True, False, False, True, False, True]
    (kept,) = rewrite(path, keep, tmp_path / "kept")
    assert pq.read_table(kept).to_pylist() == table.take([0, 4, 6]).to_pylist()
    assert pq.read_schema(kept).equals(pq.read_schema(path), check_metadata=True)
    codec_name = "UNCOMPRESSED" if codec == "none" else codec.upper()
    assert pq.ParquetFile(kept).metadata.row_group(0).column(0).compression == codec_name
    (everything,) = rewrite(path, keep, tmp_path / "all", "all")
    rows = pq.read_table(everything).to_pylist()
    assert [row["neardup_kept"] for row in rows] == keep
    assert [row["id"] for row in rows] == [0, 1, 3, 4, 5, 6]
    (again,) = rewrite(everything, keep, tmp_path / "again", "all")
    assert pq.read_schema(again).names == pq.read_schema(everything).names
    (none,) = rewrite(path, [False] * 6, tmp_path / "none")
    assert pq.read_table(none).num_rows == 0


@pytest.mark.parametrize("ending", [".jsonl", ".jsonl.gz", ".csv.zst", ".warc", ".warc.gz"])
@pytest.mark.parametrize("what", ["kept", "all"])
def test_threads_leave_no_trace(tmp_path: Path, ending: str, what: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("neardup.sinks.records._GATHERED", 500)
    for module in ("sources.delimited", "sources.jsonl", "sinks.rewrite"):
        monkeypatch.setattr(f"neardup.{module}.BATCH_BYTES", 700)
    kind, _, packing = ending[1:].partition(".")
    make = {
        "jsonl": lambda n: b'{"id": %d, "text": "%s"}\n' % (n, b"word " * (n % 7)),
        "csv": lambda n: b'%d,"%s"\n' % (n, b"word\n" * (n % 7 + 1)),
        "warc": response,
    }[kind]
    pack = PACKERS["." + packing if packing else ""]
    made = [make(n) for n in range(300)]
    packed = pack(b"id,text\n" + b"".join(made)) if kind == "csv" else b"".join(map(pack, made))
    path = tmp_path / f"in{ending}"
    path.write_bytes(packed)
    kept = [n % 3 > 0 for n in range(300)]
    with open_inputs([path]) as source:
        (one,) = write_pages(source, decisions(kept), tmp_path / "one", what)
        (several,) = write_pages(source, decisions(kept), tmp_path / "several", what, 4)
    assert several.read_bytes() == one.read_bytes()
    if what == "kept" and kind != "csv":
        plain = UNPACKERS["." + packing if packing else ""](one.read_bytes())
        assert plain == b"".join(line for line, stays in zip(made, kept, strict=True) if stays)


def response(number: int, content_type: bytes = b"text/html") -> bytes:
    block = b"HTTP/1.1 200 OK\r\nContent-Type: %s\r\n\r\n<p>page %d" % (content_type, number)
    return (
        b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:%d>\r\n"
        b"Content-Type: application/http\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n" % (number, len(block), block)
    )


WARCINFO = b"WARC/1.0\r\nWARC-Type: warcinfo\r\nContent-Length: 3\r\n\r\na:b\r\n\r\n"


@pytest.mark.parametrize("ending", PACKERS)
def test_warc(tmp_path: Path, ending: str) -> None:
    pack = PACKERS[ending]
    path = tmp_path / f"in.warc{ending}"
    stored = [pack(raw) for raw in (WARCINFO, response(1), response(2, b"image/png"), response(3), response(4))]
    path.write_bytes(b"".join([*stored[:3], b"rubbish", *stored[3:]]))
    (kept,) = rewrite(path, [True, False, True], tmp_path / "kept")
    assert kept.read_bytes() == stored[0] + stored[1] + stored[4]
    (everything,) = rewrite(path, [True, False, True], tmp_path / "all", "all")
    plain = UNPACKERS[ending](everything.read_bytes())
    assert plain.count(b"WARC/1.0") == 4
    assert b"Neardup-Kept: false\r\nNeardup-Kept-Instead: the" in plain
    with open_inputs([everything]) as source:
        loaded = [chunk.load() for chunk in source.chunks()]
    assert [page for one in loaded for page in one.pages["id"].to_pylist()] == [f"urn:uuid:{n}" for n in (1, 3, 4)]
    assert not any(one.skipped for one in loaded)


def test_warc_pages_known_by_their_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stored = [gzip.compress(raw) for raw in (WARCINFO, response(1), response(2, b"image/png"), response(3))]
    path = tmp_path / "in.warc.gz"
    path.write_bytes(b"".join(stored))
    places = pa.array([len(stored[0]), sum(map(len, stored[:3]))])

    def look(framed: Any, longest: int) -> None:
        raise AssertionError("a record was looked into")

    monkeypatch.setattr("neardup.sinks.records.gives_page", look)
    table = decisions([False, True]).append_column("offset", places)
    with open_inputs([path]) as source:
        (kept,) = write_pages(source, table, tmp_path / "kept")
        assert kept.read_bytes() == stored[0] + stored[3]
        # The file is another one by now: a page is not where it was.
        path.write_bytes(b"".join([stored[0], stored[0], *stored[1:]]))
        with pytest.raises(OutputError, match="do not give the 2 pages"):
            write_pages(source, table, tmp_path / "other")


def test_warc_in_one_member(tmp_path: Path) -> None:
    path = tmp_path / "in.warc.gz"
    path.write_bytes(gzip.compress(response(1) + response(2)))
    (kept,) = rewrite(path, [False, True], tmp_path / "kept")
    assert gzip.decompress(kept.read_bytes()) == response(2)


def test_page_files(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    (tree / "sub").mkdir(parents=True)
    (tree / "a.html").write_bytes(b"<p>a")
    (tree / "bad.html.gz").write_bytes(gzip.compress(b"x" * 1000)[:-9])
    (tree / "sub" / "b.html.gz").write_bytes(gzip.compress(b"<p>b"))
    written = rewrite(tree, [False, True], tmp_path / "kept")
    assert [path.relative_to(tmp_path / "kept").as_posix() for path in written] == ["sub/b.html.gz"]
    assert written[0].read_bytes() == (tree / "sub" / "b.html.gz").read_bytes()
    written = rewrite(tree, [False, True], tmp_path / "all", "all")
    table = list(csv.DictReader((tmp_path / "all" / "neardup.csv").read_text().splitlines()))
    assert [(row["id"], row["neardup_kept"]) for row in table] == [
        ("a.html", "false"),
        ("sub/b.html.gz", "true"),
    ]
    assert len(written) == 3


def test_equal_names_and_mixed_inputs(tmp_path: Path) -> None:
    for folder in ("x", "y"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "in.jsonl.gz").write_bytes(gzip.compress(b'{"id": "%s", "text": "t"}\n' % folder.encode()))
        (tmp_path / folder / "index.html").write_bytes(folder.encode())
    written = rewrite([tmp_path / "x", tmp_path / "y"], [True] * 4, tmp_path / "out")
    inside = [path.relative_to(tmp_path / "out").as_posix() for path in written]
    assert inside == ["x/in.jsonl.gz", "x/index.html", "y/in.jsonl.gz", "y/index.html"]
    assert (tmp_path / "out" / "y" / "index.html").read_bytes() == b"y"
    # The same file once more is another one.
    twice = rewrite([tmp_path / "x" / "in.jsonl.gz"] * 2, [True] * 2, tmp_path / "twice")
    assert [path.name for path in twice] == ["in.jsonl.gz", "in-2.jsonl.gz"]


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet", "warc.gz", "html"])
@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (["h"], ["lang=de/p", "lang=en/p", "lang=en/sub/q"]),
        (["h/"], ["lang=de/p", "lang=en/p", "lang=en/sub/q"]),
        (["./h/../h"], ["lang=de/p", "lang=en/p", "lang=en/sub/q"]),
        (["h/lang=en"], ["p", "sub/q"]),
        (["h/*/p.*"], ["lang=de/p", "lang=en/p"]),
        (["h/lang=e*"], ["lang=en/p", "lang=en/sub/q"]),
        (["h/**/q.*"], ["lang=en/sub/q"]),
        (["h/lang=en", "h/lang=de"], ["lang=en/p", "lang=en/sub/q", "lang=de/p"]),
        (["h/lang=en/p.ENDING"], ["p"]),
        (["h/lang=en/p.ENDING", "h/lang=de/p.ENDING"], ["lang=en/p", "lang=de/p"]),
        (["h/lang=en/p.ENDING", "../other/p.ENDING"], ["here/h/lang=en/p", "other/p"]),
    ],
)
def test_files_are_written_below_the_same_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str, given: list[str], expected: list[str]
) -> None:
    """Of every format, from every kind of input: relative to the folder that the inputs have in common."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    for at, place in enumerate(("h/lang=en/p", "h/lang=en/sub/q", "h/lang=de/p", "../other/p")):
        path = Path(f"{place}.{ending}")
        path.parent.mkdir(parents=True, exist_ok=True)
        if ending == "parquet":
            pq.write_table(pa.table({"text": [str(at)]}), path)
        else:
            content = {"jsonl": b'{"text": "%d"}\n', "csv": b"text\n%d\n", "html": b"<p>%d"}.get(ending)
            path.write_bytes(gzip.compress(response(at)) if content is None else content % at)
    named = [name.replace("ENDING", ending) for name in given]
    written = rewrite(named, [True] * len(expected), tmp_path / "out")
    assert [path.relative_to(tmp_path / "out").as_posix() for path in written] == [
        f"{one}.{ending}" for one in expected
    ]
    originals = sorted(path.read_bytes() for path in Path("..").rglob(f"*.{ending}") if "out" not in path.parts)
    if ending != "parquet":
        assert {path.read_bytes() for path in written} <= set(originals)


def test_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Stdin:
        buffer = io.BytesIO(b'{"id": "a", "text": "t"}\n')

    monkeypatch.setattr(sys, "stdin", Stdin())
    (path,) = rewrite("-", [True], tmp_path / "out")
    assert path.name == "stdin.jsonl"
    assert path.read_bytes() == Stdin.buffer.getvalue()


def test_an_input_is_never_overwritten(tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_bytes(b'{"text": "t"}\n')
    (tmp_path / "a.html").write_bytes(b"x")
    for name in ("in.jsonl", "a.html"):
        with pytest.raises(OutputError, match="overwritten"):
            rewrite(tmp_path / name, [True], tmp_path)
    assert (tmp_path / "in.jsonl").read_bytes() == b'{"text": "t"}\n'


def test_inputs_that_changed_are_told(tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_bytes(b'{"text": "t"}\n')
    for count in (0, 2):
        with pytest.raises(OutputError, match="do not give"):
            rewrite(tmp_path / "in.jsonl", [True] * count, tmp_path / f"out{count}")
    assert not list((tmp_path / "out0").iterdir())
